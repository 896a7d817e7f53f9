// Instructions of PTX at the edges of their operands: tests/data/ptx_edges.txt lists them
// (edges.h), and tests/golden/told/ptx.txt holds what each of 32 lanes gets, and what is found;
// ptx_unknown.txt the lanes whose result is not known where eight lanes have an unknown operand,
// and by a sum how often instructions ran, and what their accesses cost.
//
// Registers 1 to 3 of each kind hold a, b and c of the lane: %rd1 all 64 bits of a, %r1, %f1 and
// %h1 the lower ones; %p1 holds in odd lanes, %p2 where lane & 2. What a body puts into %r0, %rd0,
// %h0, %f0, %fd0, %p0 and %p4 is told.
#include <check.h>
#include <string.h>

#include "base/hash.h"
#include "edges.h"
#include "ptx_kernel.h"

Suite *suite_told_ptx(void);

enum { REGISTERS = 7 };

// What is told of a register: its name, how it is stored, as how many words of so many digits.
static const struct {
  const char *name, *store;
  int words, digits;
} registers[REGISTERS] = {
    {"%r0", "st.global.b32 [%o+AT], %r0;", 1, 8},
    {"%rd0", "st.global.b64 [%rd29+AT], %rd0;", 2, 8},
    {"%h0", "cvt.u32.u16 %r28, %h0;\nst.global.b32 [%o+AT], %r28;", 1, 4},
    {"%f0", "st.global.f32 [%o+AT], %f0;", 1, 8},
    {"%fd0", "st.global.f64 [%rd29+AT], %fd0;", 2, 8},
    {"%p0", "selp.b32 %r28, 1, 0, %p0;\nst.global.b32 [%o+AT], %r28;", 1, 1},
    {"%p4", "selp.b32 %r28, 1, 0, %p4;\nst.global.b32 [%o+AT], %r28;", 1, 1},
};

static const char loads[] =
    "mul.wide.u32 %rd30, %t, 8;\nadd.s64 %rd29, %out, %rd30;\nadd.s64 %rd30, %in, %rd30;\n"
    "ld.global.b64 %rd1, [%rd30];\nld.global.b64 %rd2, [%rd30+256];\n"
    "ld.global.b64 %rd3, [%rd30+512];\n";
static const char parts[] =
    "cvt.u32.u64 %r1, %rd1;\ncvt.u32.u64 %r2, %rd2;\ncvt.u32.u64 %r3, %rd3;\n"
    "cvt.u16.u64 %h1, %rd1;\ncvt.u16.u64 %h2, %rd2;\ncvt.u16.u64 %h3, %rd3;\n"
    "mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\nmov.b32 %f3, %r3;\n"
    "mov.b64 %fd1, %rd1;\nmov.b64 %fd2, %rd2;\nmov.b64 %fd3, %rd3;\n"
    "and.b32 %r28, %t, 1;\nsetp.ne.u32 %p1, %r28, 0;\n"
    "and.b32 %r28, %t, 2;\nsetp.ne.u32 %p2, %r28, 0;\n"
    "mov.u32 %r0, 0;\nmov.u64 %rd0, 0;\nmov.u16 %h0, 0;\nmov.b32 %f0, %r0;\nmov.b64 %fd0, %rd0;\n"
    "setp.ne.u32 %p0, 0, 0;\nsetp.ne.u32 %p4, 0, 0;\n";

static const char *with_number(Arena *arena, const char *text, int number) {
  const char *at = strstr(text, "AT");
  return arena_printf(arena, "%.*s%d%s", (int)(at - text), text, number, at + 2);
}

// The words of register `r` lie behind those of the registers before it.
static int place_of(int r) {
  int words = 0;
  for (int i = 0; i < r; i++) words += registers[i].words;
  return words * EDGE_LANES;
}

// `between` the operands and their parts stands what makes one of them unknown; "": nothing.
static const char *kernel_of(Arena *arena, const char *between, const char *body) {
  Str text = str_new(arena);
  str_printf(&text, "%s%s%s%s;\n", loads, between, parts, body);
  for (int r = 0; r < REGISTERS; r++)
    if (edges_name(body, registers[r].name))
      str_printf(&text, "%s\n", with_number(arena, registers[r].store, 4 * place_of(r)));
  return ptx_kernel_text(arena, text.text);
}

static void tell_findings(Str *out, const PtxKernel *k) {
  for (int i = 0; i < ptx_machine_findings(k->machine); i++) {
    const PtxFinding *f = ptx_machine_finding(k->machine, i);
    str_printf(out, " %s in lanes %08x, first in thread %d: %d bytes at %llx, %lld times%s%s\n",
               ptx_finding_names[f->kind], f->lanes, f->thread, f->bytes,
               (unsigned long long)f->address, (long long)f->count, f->text ? ": " : "",
               f->text ? f->text : "");
  }
  for (int pc = 0; pc < k->module->n_code; pc++)
    if (ptx_machine_unknown_why(k->machine, pc))
      str_printf(out, " unknown: %s\n", ptx_machine_unknown_why(k->machine, pc));
  if (ptx_machine_approximations(k->machine))
    str_printf(out, " %lld approximations\n", (long long)ptx_machine_approximations(k->machine));
  if (k->outcome != PTX_DONE) str_add(out, " does not end\n");
}

// Whether the text can be read; else it is told why not.
static bool can_be_read(Arena *arena, Str *out, const char *text) {
  Diags diags = diags_new(arena);
  const PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags);
  for (const Diag *d = diags.first; d; d = d->next) str_printf(out, " %s: %s\n", d->rule, d->text);
  return module != NULL;
}

static PtxKernel run_body(Arena *arena, const char *between, const char *body,
                          const uint64_t operands[3][EDGE_LANES]) {
  uint32_t in[PTX_KERNEL_WORDS];
  ptx_kernel_numbers(in);
  memcpy(in, operands, 3 * EDGE_LANES * sizeof(uint64_t));
  return ptx_kernel_run(arena, kernel_of(arena, between, body), NULL, EDGE_LANES, in);
}

// The same findings where only odd lanes come by the last instruction: whose they are.
static void tell_in_odd_lanes(Arena *arena, Str *out, const char *body,
                              const uint64_t operands[3][EDGE_LANES]) {
  const char *last = strrchr(body, ';');
  const int before = last ? (int)(last + 1 - body) : 0;
  const char *guarded = arena_printf(arena, "%.*s @%%p1 %s", before, body, body + before);
  if (strchr(body, '@') || !can_be_read(arena, out, kernel_of(arena, "", guarded))) return;
  str_add(out, " in odd lanes\n");
  const PtxKernel k = run_body(arena, "", guarded, operands);
  tell_findings(out, &k);
}

static void tell(Arena *arena, Str *out, const char *body, const uint64_t operands[3][EDGE_LANES]) {
  if (!can_be_read(arena, out, kernel_of(arena, "", body))) return;
  const PtxKernel k = run_body(arena, "", body, operands);
  tell_findings(out, &k);
  if (k.outcome != PTX_DONE) tell_in_odd_lanes(arena, out, body, operands);
  for (int r = 0; r < REGISTERS && k.outcome == PTX_DONE; r++)
    if (edges_name(body, registers[r].name))
      edges_tell(out, registers[r].name, k.out + place_of(r), registers[r].words,
                 registers[r].digits);
}

START_TEST(instructions_at_their_edges_are_as_reviewed) {
  edges_check("ptx_edges.txt", "told/ptx.txt", EDGE_ROUNDS_MAX, tell);
}
END_TEST

// ---- accesses -----------------------------------------------------------------------------------

static uint64_t sum_site(uint64_t sum, const PtxSiteCount *s) {
  const int64_t said[] = {s->executions,     s->wavefronts,    s->ideal,     s->wavefronts_most,
                          s->sectors,        s->ideal_sectors, s->countable, s->unknown,
                          s->data_addresses, s->data_mask,     s->worst,     s->space};
  return hash_bytes(sum, said, sizeof said);
}

// How often each instruction ran, and what its accesses cost.
static uint64_t sum_counts(uint64_t sum, const PtxKernel *k) {
  for (int pc = 0; pc < k->module->n_code; pc++) {
    const int64_t executions = ptx_machine_executions(k->machine, pc);
    const PtxSiteCount *site = ptx_tally_site(k->tally, pc);
    sum = hash_bytes(sum, &executions, sizeof executions);
    if (site) sum = sum_site(sum, site);
  }
  return sum;
}

// ---- operands that are not known ----------------------------------------------------------------

// Lanes 8 to 15 have an operand that is not known: what they read from a texture.
enum { UNKNOWN_FIRST = 8, UNKNOWN_END = 16 };

static const char *made_unknown(Arena *arena, int operand) {
  return arena_printf(arena,
                      "setp.ge.u32 %%p31, %%t, %d;\nsetp.lt.and.u32 %%p31, %%t, %d, %%p31;\n"
                      "@%%p31 tex.1d.v4.f32.s32 {%%f28, %%f29, %%f30, %%f31}, [%%rd1, {%%t}];\n"
                      "mov.b32 %%r27, %%f28;\n@%%p31 mov.b64 %%rd%d, {%%r27, %%r27};\n",
                      UNKNOWN_FIRST, UNKNOWN_END, operand + 1);
}

static uint32_t unknown_lanes(const PtxKernel *k, int r) {
  const int bytes = 4 * registers[r].words;
  uint32_t lanes = 0;
  for (int lane = 0; lane < EDGE_LANES; lane++) {
    const uint64_t at = k->out_address + (uint64_t)(4 * place_of(r) + lane * bytes);
    if (ptx_machine_unknown_bytes(k->machine, at, bytes)) lanes |= 1u << lane;
  }
  return lanes;
}

// Lanes whose register is another one where lanes 8 to 15 have another operand.
static uint32_t changed_lanes(const PtxKernel *k, const PtxKernel *other, int r) {
  const int words = registers[r].words;
  uint32_t lanes = 0;
  for (int i = 0; i < EDGE_LANES * words; i++)
    if (k->out[place_of(r) + i] != other->out[place_of(r) + i]) lanes |= 1u << i / words;
  return lanes;
}

// A register that changes with an operand is not known where the operand is not.
static void check_unknown(Arena *arena, const char *body, int operand, const PtxKernel *known,
                          const PtxKernel *unknown, const uint64_t operands[3][EDGE_LANES]) {
  static const uint64_t flips[] = {1, UINT64_C(0x8000000080008000), UINT64_C(0x5a5a5a5a5a5a5a5a)};
  for (size_t f = 0; f < sizeof flips / sizeof *flips; f++) {
    uint64_t others[3][EDGE_LANES];
    memcpy(others, operands, sizeof others);
    for (int lane = UNKNOWN_FIRST; lane < UNKNOWN_END; lane++) others[operand][lane] ^= flips[f];
    const PtxKernel other = run_body(arena, "", body, others);
    if (other.outcome != PTX_DONE) continue;
    for (int r = 0; r < REGISTERS; r++) {
      if (!edges_name(body, registers[r].name)) continue;
      const uint32_t lost = changed_lanes(known, &other, r) & ~unknown_lanes(unknown, r);
      ck_assert_msg(!lost, "%s: %s of lanes %08x changes with operand %c of lanes 8 to 15", body,
                    registers[r].name, lost, "abc"[operand]);
    }
  }
}

// Whether a body names a register that holds a part of the operand.
static bool reads(Arena *arena, const char *body, int operand) {
  static const char *const kinds[] = {"r", "rd", "h", "f", "fd"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (edges_name(body, arena_printf(arena, "%%%s%d", kinds[i], operand + 1))) return true;
  return false;
}

// Registers that are unknown in other lanes than 8 to 15, and what ends the block.
static void tell_lanes(Str *out, const char *body, int operand, const PtxKernel *k) {
  const uint32_t plain = (1u << UNKNOWN_END) - (1u << UNKNOWN_FIRST);
  const PtxFinding *f = ptx_kernel_finding(k, PTX_FINDING_UNKNOWN);
  if (f) str_printf(out, " %c: %s\n", "abc"[operand], f -> text ? f -> text : "it is not known");
  for (int r = 0; r < REGISTERS && k->outcome == PTX_DONE; r++)
    if (edges_name(body, registers[r].name) && unknown_lanes(k, r) != plain)
      str_printf(out, " %c: %s %08x\n", "abc"[operand], registers[r].name, unknown_lanes(k, r));
}

static void tell_unknown(Arena *arena, Str *out, const char *body,
                         const uint64_t operands[3][EDGE_LANES]) {
  Str refused = str_new(arena);
  if (!can_be_read(arena, &refused, kernel_of(arena, "", body))) return;
  const PtxKernel known = run_body(arena, "", body, operands);
  uint64_t counts = sum_counts(HASH_START, &known);
  for (int operand = 0; operand < 3 && known.outcome == PTX_DONE; operand++) {
    if (!reads(arena, body, operand)) continue;
    const PtxKernel k = run_body(arena, made_unknown(arena, operand), body, operands);
    tell_lanes(out, body, operand, &k);
    counts = sum_counts(counts, &k);
    if (k.outcome == PTX_DONE) check_unknown(arena, body, operand, &known, &k, operands);
  }
  if (strchr(body, '[') || known.outcome != PTX_DONE)
    str_printf(out, " counts %08x\n", (unsigned)counts);
}

START_TEST(what_depends_on_an_unknown_operand_is_unknown) {
  edges_check("ptx_edges.txt", "told/ptx_unknown.txt", 1, tell_unknown);
}
END_TEST

Suite *suite_told_ptx(void) {
  Suite *suite = suite_create("told_ptx");
  TCase *tcase = tcase_create("edges");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, instructions_at_their_edges_are_as_reviewed);
  tcase_add_test(tcase, what_depends_on_an_unknown_operand_is_unknown);
  suite_add_tcase(suite, tcase);
  return suite;
}
