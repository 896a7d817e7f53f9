// Instructions of machine code at the edges of their operands: tests/data/code_edges.txt lists them
// (edges.h), and tests/golden/told/code.txt holds what each of 32 lanes gets, and what is found.
//
// R8, R10 and R12 hold a, b and c of the lane, the registers behind them their upper words; R0 is
// the lane, P0 holds in odd lanes, P3 where lane & 2. What a body puts into R16 to R19, P1 and P2
// is told.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "edges.h"
#include "machine_case.h"
#include "open_case.h"

Suite *suite_told_code(void);

enum { K03 = 1, WORDS = 6 };  // R16 to R19, P1, P2

// The kernel is k03: c[0x0][0x210] is where it stores, c[0x0][0x218] what it reads.
static const char before[] =
    "S2R R1, SR_TID.Y;ISETP.NE.AND P6, PT, R1, RZ, PT;@P6 EXIT;S2R R0, SR_TID.X;"
    "ULDC.64 UR4, c[0x0][0x208];LDC.64 R6, c[0x0][0x218];IMAD.WIDE R6, R0, 0x18, R6;"
    "LDG.E.64 R8, desc[UR4][R6.64];LDG.E.64 R10, desc[UR4][R6.64+0x8];"
    "LDG.E.64 R12, desc[UR4][R6.64+0x10];LDC.64 R2, c[0x0][0x210];IMAD.WIDE R2, R0, 0x18, R2;"
    "R2P PR, R0, 0x1;LOP3.LUT P3, RZ, R0, 0x2, RZ, 0xc0, !PT;MOV R16, RZ;MOV R17, RZ;"
    "MOV R18, RZ;MOV R19, RZ;PLOP3.LUT P1, P2, PT, PT, PT, 0x0, 0x0;";
static const char behind[] =
    ";P2R R14, PR, RZ, 0x6;STG.E.64 desc[UR4][R2.64], R16;STG.E.64 desc[UR4][R2.64+0x8], R18;"
    "STG.E desc[UR4][R2.64+0x10], R14;EXIT;";

// "S2R R1, SR_TID.Y;@P6 EXIT;" as nvdisasm lists it.
static const char *listing_of(Arena *arena, const char *code) {
  Str out = str_new(arena);
  int address = 0;
  str_add(&out, "_Z13transpose_xorPfPKfjj:\n.text._Z13transpose_xorPfPKfjj:\n");
  for (const char *at = code; *at; at += strcspn(at, ";") + 1, address += 16) {
    at += strspn(at, " ");
    str_printf(&out, "        /*%04x*/    %.*s ;\n", address, (int)strcspn(at, ";"), at);
  }
  return out.text;
}

static void tell_findings(Str *out, const PtxMachine *machine) {
  for (int i = 0; i < ptx_machine_findings(machine); i++) {
    const PtxFinding *f = ptx_machine_finding(machine, i);
    str_printf(out, " %s in lanes %08x, first in thread %d: %d bytes at %llx, %lld times %s\n",
               ptx_finding_names[f->kind], f->lanes, f->thread, f->bytes,
               (unsigned long long)f->address, (long long)f->count, f->text ? f->text : "");
  }
  if (ptx_machine_approximations(machine))
    str_printf(out, " %lld approximations\n", (long long)ptx_machine_approximations(machine));
}

static void tell_words(Str *out, const char *body, const uint32_t *stored) {
  static const char *const names[WORDS] = {"R16", "R17", "R18", "R19", "P1", "P2"};
  for (int word = 0; word < WORDS; word++) {
    uint32_t of_lanes[EDGE_LANES];
    const bool is_register = word < 4;
    for (int lane = 0; lane < EDGE_LANES; lane++)
      of_lanes[lane] =
          is_register ? stored[6 * lane + word] : stored[6 * lane + 4] >> (word - 3) & 1;
    bool told = edges_name(body, names[word]);
    for (int lane = 0; lane < EDGE_LANES; lane++) told |= of_lanes[lane] != 0;
    if (told) edges_tell(out, names[word], of_lanes, 1, is_register ? 8 : 1);
  }
}

static void tell(Arena *arena, Str *out, const char *body, const uint64_t operands[3][EDGE_LANES]) {
  size_t n = 0;
  Diags diags = diags_new(arena);
  const char *cubin = machine_case_file(arena, "k03", ".cubin", &n);
  const char *code = arena_printf(arena, "%s%s%s", before, body, behind);
  const PtxModule *module =
      machine_case_read(arena, cubin, n, listing_of(arena, code), NULL, &diags);
  if (!module) {
    str_printf(out, " %s\n", diags_text(arena, &diags));
    return;
  }
  const OpenCase c = open_case_load_module(arena, K03, module);
  uint64_t *in = (uint64_t *)(uintptr_t)ptx_machine_bytes(c.machine, c.buffers[1],
                                                          3 * EDGE_LANES * sizeof(uint64_t));
  for (int lane = 0; lane < EDGE_LANES; lane++)
    for (int i = 0; i < 3; i++) in[3 * lane + i] = operands[i][lane];
  const PtxOutcome outcome = ptx_machine_run(c.machine, 0, 0, 0);
  tell_findings(out, c.machine);
  if (outcome == PTX_DONE)
    tell_words(out, body, ptx_machine_bytes(c.machine, c.buffers[0], 4 * 6 * EDGE_LANES));
  else
    str_add(out, " does not end\n");
}

START_TEST(instructions_at_their_edges_are_as_reviewed) {
  edges_check("code_edges.txt", "told/code.txt", tell);
}
END_TEST

Suite *suite_told_code(void) {
  Suite *suite = suite_create("told_code");
  TCase *tcase = tcase_create("edges");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, instructions_at_their_edges_are_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
