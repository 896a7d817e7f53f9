// Instructions of machine code that no kernel here has in the form that shows it: a carry that
// ends a product, a choice that each lane makes for itself, bytes from the upper half. Each is a
// few lines of a listing; what R4 holds behind them is stored, and told here from the lane's
// number.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "machine_case.h"
#include "open_case.h"

Suite *suite_machine_forms(void);

enum { K01 = 0, LANES = 32 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// R0 is the lane, R2 the address of its word, R1 the row of threads, of which the first one goes
// on.
static const char before[] =
    "S2R R1, SR_TID.Y;ISETP.NE.AND P6, PT, R1, RZ, PT;@P6 EXIT;S2R R0, SR_TID.X;"
    "LDC.64 R2, c[0x0][0x210];ULDC.64 UR4, c[0x0][0x208];IMAD.WIDE R2, R0, 0x4, R2;";
static const char behind[] = "STG.E desc[UR4][R2.64], R4;EXIT;";

static uint32_t below_five(uint32_t lane) { return lane < 5 ? 0x3f800000 : 0x40000000; }
static uint32_t from_one(uint32_t lane) { return lane >= 1; }
static uint32_t of_upper_bytes(uint32_t lane) { return 31 + 5 * lane; }
static uint32_t of_lower_bytes(uint32_t lane) { return 43 + 17 * lane; }
static uint32_t least(uint32_t lane) { return lane - lane - 3; }
static uint32_t most(uint32_t lane) { return lane - lane + 28; }
static uint32_t first_alone(uint32_t lane) { return lane == 7; }
static uint32_t upper_word(uint32_t lane) { return 0xfffffffe + (lane >= 31); }

static const struct {
  const char *code;
  uint32_t (*value)(uint32_t lane);
} forms[] = {
    // The smaller of 1 and 2 where the lane's predicate holds, else the larger one.
    {"ISETP.LT.AND P0, PT, R0, 0x5, PT;MOV R5, 0x3f800000;MOV R6, 0x40000000;"
     "FMNMX R4, R5, R6, P0;",
     below_five},
    // (2^32 - 1)^2 + (lane : 2^32 - 1): 64 bits are enough in lane 0, whose highest bit is set.
    {"MOV R5, 0xffffffff;MOV R8, 0xffffffff;MOV R9, R0;MOV R10, 0x1;"
     "IMAD.WIDE.U32 R12, P1, R5, R5, R8;SEL R4, R10, RZ, P1;",
     from_one},
    // The upper word of (2^32 - 1)^2 + (lane << 27): the low word carries in the last lane.
    {"MOV R5, 0xffffffff;IMAD.SHL.U32 R8, R0, 0x8000000, RZ;LOP3.LUT R6, R0, 0x1f, RZ, 0xc0, !PT;"
     "ISETP.EQ.AND P0, PT, R6, 0x1f, PT;MOV R7, 0xffffffff;SEL R8, R7, R8, P0;MOV R9, RZ;"
     "IMAD.HI.U32 R4, R5, R5, R8;",
     upper_word},
    // Halves (2 + lane, 3) by bytes 0x11, 3, 5 and 7: the upper two, then the lower two.
    {"IADD3 R5, R0, 0x30002, RZ;MOV R6, 0x7050311;IDP.2A.HI.U16.U8 R4, R5, R6, RZ;",
     of_upper_bytes},
    {"IADD3 R5, R0, 0x30002, RZ;MOV R6, 0x7050311;IDP.2A.LO.U16.U8 R4, R5, R6, RZ;",
     of_lower_bytes},
    // -3 to 28, with a sign.
    {"VIADD R5, R0, 0xfffffffd;REDUX.MIN.S32 UR6, R5;MOV R4, UR6;", least},
    {"VIADD R5, R0, 0xfffffffd;REDUX.MAX.S32 UR6, R5;MOV R4, UR6;", most},
    // The lane that the warp elects among those from 7 on.
    {"ISETP.GE.AND P0, PT, R0, 0x7, PT;MOV R10, 0x1;MOV R4, RZ;ELECT P1, URZ, P0;"
     "SEL R4, R10, RZ, P1;",
     first_alone},
};
enum { FORMS = sizeof forms / sizeof *forms };

// "S2R R1, SR_TID.Y;@P6 EXIT;" as nvdisasm lists it.
static const char *listing_of(const char *code) {
  Str out = str_new(arena);
  int address = 0;
  str_add(&out, "_Z15transpose_naivePfPKfii:\n.text._Z15transpose_naivePfPKfii:\n");
  for (const char *at = code; *at; at += strcspn(at, ";") + 1, address += 16)
    str_printf(&out, "        /*%04x*/    %.*s ;\n", address, (int)strcspn(at, ";"), at);
  return out.text;
}

START_TEST(a_form_gives_each_lane_its_value) {
  size_t n = 0;
  Diags diags = diags_new(arena);
  const char *cubin = machine_case_file(arena, "k01", ".cubin", &n);
  const char *code = arena_printf(arena, "%s%s%s", before, forms[_i].code, behind);
  const PtxModule *module = machine_case_read(arena, cubin, n, listing_of(code), NULL, &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const OpenCase c = open_case_load_module(arena, K01, module);
  const PtxOutcome outcome = ptx_machine_run(c.machine, 0, 0, 0);
  const PtxFinding *f = ptx_machine_findings(c.machine) ? ptx_machine_finding(c.machine, 0) : NULL;
  ck_assert_msg(outcome == PTX_DONE && !f, "%s: %s", forms[_i].code, f && f->text ? f->text : "?");
  uint32_t got[LANES];
  memcpy(got, ptx_machine_bytes(c.machine, c.buffers[0], sizeof got), sizeof got);
  for (uint32_t lane = 0; lane < LANES; lane++)
    ck_assert_msg(got[lane] == forms[_i].value(lane), "%s: 0x%x in lane %u, not 0x%x",
                  forms[_i].code, got[lane], lane, forms[_i].value(lane));
}
END_TEST

// ---- a cubin ------------------------------------------------------------------------------------

// The record of the last parameter, of 4 bytes at 20, says 8: four of them lie behind the 24 that
// the kernel has.
START_TEST(a_parameter_ends_where_they_all_end) {
  enum { OFFSET = 4 + 6, SIZE = 4 + 8, SIZE_FROM = 18, LAST = 20 };
  static const unsigned char record[] = {0x04, 0x17, 0x0c, 0x00};
  size_t n = 0;
  unsigned char *bytes = (unsigned char *)machine_case_file(arena, "k01", ".cubin", &n), *at = NULL;
  for (size_t i = 0; i + SIZE + 4 <= n; i++)
    if (memcmp(bytes + i, record, sizeof record) == 0 && bytes[i + OFFSET] == LAST) at = bytes + i;
  ck_assert_ptr_nonnull(at);
  McCubin cubin;
  for (uint32_t size = 4; size <= 8; size += 4) {
    uint32_t word;
    memcpy(&word, at + SIZE, sizeof word);
    word = (word & ((1u << SIZE_FROM) - 1)) | size << SIZE_FROM;
    memcpy(at + SIZE, &word, sizeof word);
    ck_assert(mc_cubin_read(arena, bytes, n, &cubin));
    const McKernel *kernel = &cubin.kernels[0];
    ck_assert_int_eq(kernel->parameter_bytes, LAST + 4);
    ck_assert_int_eq(kernel->parameters[kernel->n_parameters - 1].offset, LAST);
    ck_assert_int_eq(kernel->parameters[kernel->n_parameters - 1].bytes, 4);
  }
}
END_TEST

Suite *suite_machine_forms(void) {
  Suite *suite = suite_create("machine_forms");
  TCase *tcase = tcase_create("machine_forms");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, a_form_gives_each_lane_its_value, 0, FORMS);
  tcase_add_test(tcase, a_parameter_ends_where_they_all_end);
  suite_add_tcase(suite, tcase);
  return suite;
}
