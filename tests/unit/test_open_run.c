// The machine that runs PTX: lanes that part and meet, barriers, mistakes that are named; kernels
// in several styles by what they compute. Single instructions: test_open_results.c.
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kernel_log.h"
#include "open_case.h"
#include "ptx_kernel.h"

Suite *suite_open_run(void);

static Arena *arena;
static uint32_t in[PTX_KERNEL_WORDS];

static void setup(void) {
  arena = arena_new("test");
  ptx_kernel_numbers(in);
}
static void teardown(void) { arena_free(arena); }

// ---- lanes --------------------------------------------------------------------------------------

START_TEST(test_lanes_part_and_meet) {
  const char *ptx = ptx_kernel_text(
      arena,
      "and.b32 %r1, %t, 7;\nmov.u32 %r0, 0;\n"
      "LOOP: setp.ge.u32 %p0, %r0, %r1;\n@%p0 bra DONE;\nadd.u32 %r0, %r0, 1;\nbra LOOP;\n"
      "DONE: activemask.b32 %r2;\nsetp.eq.u32 %p1, %r2, 0xffffffff;\n"
      "@!%p1 mov.u32 %r0, 99;\nst.global.u32 [%o], %r0;");
  const PtxKernel k = ptx_kernel_run(arena, ptx, NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  for (uint32_t t = 0; t < 32; t++) ck_assert_uint_eq(k.out[t], t & 7);
}
END_TEST

START_TEST(test_lanes_give_each_other_values) {
  const char *ptx = ptx_kernel_text(
      arena,
      "shfl.sync.down.b32 %r0|%p0, %t, 4, 31, -1;\nshfl.sync.bfly.b32 %r1, %t, 1, 31, -1;\n"
      "setp.lt.u32 %p1, %t, 5;\nvote.sync.ballot.b32 %r2, %p1, -1;\n"
      "redux.sync.add.s32 %r3, %t, -1;\nshr.u32 %r4, %t, 3;\nmatch.any.sync.b32 %r5, %r4, -1;\n"
      "selp.u32 %r6, 1000, 0, %p0;\nadd.u32 %r0, %r0, %r6;\nmul.lo.u32 %r1, %r1, 10000;\n"
      "add.u32 %r0, %r0, %r1;\nst.global.u32 [%o], %r0;\nst.global.u32 [%o+128], %r2;\n"
      "st.global.u32 [%o+256], %r3;\nst.global.u32 [%o+384], %r5;");
  const PtxKernel k = ptx_kernel_run(arena, ptx, NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  for (uint32_t t = 0; t < 32; t++) {
    const uint32_t down = t + 4 < 32 ? t + 4 + 1000 : t;
    ck_assert_uint_eq(k.out[t], down + (t ^ 1) * 10000);
    ck_assert_uint_eq(k.out[32 + t], 31);
    ck_assert_uint_eq(k.out[64 + t], 496);
    ck_assert_uint_eq(k.out[96 + t], 0xffu << (t / 8 * 8));
  }
}
END_TEST

START_TEST(test_lanes_of_one_warp_name_different_tiles) {
  const char *ptx = ptx_kernel_text(
      arena,
      "and.b32 %r1, %t, 16;\nshl.b32 %r2, 0xffff, %r1;\nredux.sync.add.s32 %r3, %t, %r2;\n"
      "shr.u32 %r4, %t, 4;\nsetp.eq.u32 %p0, %r4, 0;\nvote.sync.ballot.b32 %r5, %p0, %r2;\n"
      "bar.warp.sync %r2;\nmatch.any.sync.b32 %r6, 7, %r2;\n"
      "st.global.u32 [%o], %r3;\nst.global.u32 [%o+128], %r5;\nst.global.u32 [%o+256], %r6;");
  const PtxKernel k = ptx_kernel_run(arena, ptx, NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_int_eq(ptx_machine_findings(k.machine), 0);
  for (uint32_t t = 0; t < 32; t++) {
    ck_assert_uint_eq(k.out[t], t < 16 ? 120 : 376);
    ck_assert_uint_eq(k.out[32 + t], t < 16 ? 0xffff : 0);
    ck_assert_uint_eq(k.out[64 + t], t < 16 ? 0xffff : 0xffff0000);
  }
}
END_TEST

// ---- mistakes, named ----------------------------------------------------------------------------

static const struct {
  const char *body;
  PtxFindingKind kind;
  PtxOutcome outcome;
} mistakes[] = {
    {"mov.u32 %r1, s;\nld.shared.u32 %r0, [%r1];", PTX_FINDING_UNWRITTEN, PTX_DONE},
    {"ld.global.u32 %r0, [%in+4096];", PTX_FINDING_OUT_OF_BOUNDS, PTX_STOPPED},
    {"ld.global.u32 %r0, [%in+2];", PTX_FINDING_MISALIGNED, PTX_STOPPED},
    {"st.shared.u32 [s], %t;", PTX_FINDING_RACE, PTX_DONE},
    {"setp.lt.u32 %p0, %t, 16;\n@%p0 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 0;\nB:",
     PTX_FINDING_DIVERGENT_BARRIER, PTX_DONE},
    {"setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 1, 64;", PTX_FINDING_DEADLOCK, PTX_DEADLOCK},
    {"trap;", PTX_FINDING_TRAP, PTX_STOPPED},
    {"mapa.u64 %rd0, %in, 1;", PTX_FINDING_OUT_OF_BOUNDS, PTX_STOPPED},
    {"mov.u32 %r1, 0x08400010;\n"
     "tcgen05.mma.cta_group::2.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;",
     PTX_FINDING_NOT_RUN, PTX_STOPPED},
    {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r0], %rd0, %rd1, %r1, %p0;",
     PTX_FINDING_NOT_RUN, PTX_STOPPED},
    {"tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, {%r1, %r1}, %p0;",
     PTX_FINDING_NOT_RUN, PTX_STOPPED},
    {"tcgen05.ld.sync.aligned.16x64b.x2.b32 {%r0, %r1, %r2, %r3}, [%r2];", PTX_FINDING_NOT_RUN,
     PTX_STOPPED},
    {"tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r0}, [%r2];", PTX_FINDING_NOT_RUN, PTX_STOPPED},
    {"mov.u32 %r1, 40; tcgen05.alloc.cta_group::1.sync.aligned.b32 [%r0], %r1;",
     PTX_FINDING_TENSOR_MEMORY, PTX_STOPPED},
    {"frobnicate.b32 %r0, %r1;", PTX_FINDING_NOT_RUN, PTX_STOPPED},
    {"mov.u32 %r1, s;\ncp.async.ca.shared.global [%r1], [%in], 4;\nld.shared.u32 %r0, [%r1];",
     PTX_FINDING_MISSING_WAIT, PTX_DONE},
    {"mov.u32 %r1, s;\nmbarrier.arrive.shared.b64 %rd0, [%r1];", PTX_FINDING_MBARRIER, PTX_STOPPED},
    {"mov.u32 %r1, s;\nmbarrier.init.shared.b64 [%r1], 2147483648;", PTX_FINDING_MBARRIER,
     PTX_STOPPED},
    {"mov.u32 %r1, s;\nsetp.eq.u32 %p0, %t, 0;\n@%p0 mbarrier.init.shared.b64 [%r1], 1;\n"
     "@%p0 mbarrier.arrive.shared.b64 %rd0, [%r1], 4294967295;",
     PTX_FINDING_MBARRIER, PTX_STOPPED},
    {"mov.u32 %r1, s;\nsetp.eq.u32 %p0, %t, 0;\n@%p0 mbarrier.init.shared.b64 [%r1], 32;\n"
     "mbarrier.arrive.shared.b64 %rd0, [%r1];",
     PTX_FINDING_RACE, PTX_DONE},
    {"mov.u32 %r1, s;\nadd.u32 %r2, %t, 1;\nmbarrier.init.shared.b64 [%r1], %r2;", PTX_FINDING_RACE,
     PTX_DONE},
    {"mov.u32 %r1, s;\nsetp.eq.u32 %p0, %t, 0;\n@%p0 mbarrier.init.shared.b64 [%r1], 33;\n"
     "bar.sync 0;\nmbarrier.arrive.shared.b64 %rd0, [%r1];\n"
     "AGAIN: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd0;\n@!%p1 bra AGAIN;",
     PTX_FINDING_DEADLOCK, PTX_DEADLOCK},
};
enum { MISTAKES = sizeof mistakes / sizeof mistakes[0] };

START_TEST(test_a_mistake_is_named) {
  const PtxKernel k =
      ptx_kernel_run(arena, ptx_kernel_text(arena, mistakes[_i].body), NULL, 32, in);
  const PtxFinding *found = ptx_kernel_finding(&k, mistakes[_i].kind);
  ck_assert_msg(found != NULL, "%s", mistakes[_i].body);
  ck_assert_int_eq(k.outcome, mistakes[_i].outcome);
  ck_assert_int_ge(k.module->code[found->pc].line, 20);
}
END_TEST

// ---- styles -------------------------------------------------------------------------------------

static PtxKernel run_style(const char *name, int threads) {
  for (uint32_t i = 0; i < PTX_KERNEL_WORDS; i++) in[i] &= 1023;
  const PtxKernel k = ptx_kernel_run(arena, open_case_text(arena, "styles.ptx"), name, threads, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_msg(ptx_machine_findings(k.machine) == 0, "%s: %s", name,
                ptx_finding_names[ptx_machine_finding(k.machine, 0)->kind]);
  return k;
}

static int by_value(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

START_TEST(test_cub_sorts_scans_and_reduces) {
  PtxKernel k = run_style("block_sort", 128);
  uint32_t sorted[512];
  memcpy(sorted, in, sizeof sorted);
  qsort(sorted, 512, sizeof *sorted, by_value);
  for (int i = 0; i < 512; i++) ck_assert_uint_eq(k.out[i], sorted[i]);
  k = run_style("block_scan", 128);
  uint32_t sum = 0;
  for (int i = 0; i < 128; sum += in[i++]) ck_assert_uint_eq(k.out[i], sum);
  k = run_style("block_reduce", 256);
  for (int i = 128; i < 256; i++) sum += in[i];
  ck_assert_uint_eq(k.out[0], sum);
}
END_TEST

START_TEST(test_groups_structs_and_a_lock) {
  PtxKernel k = run_style("groups", 256);
  for (int t = 0; t < 256; t++) {
    uint32_t sum = 0;
    for (int i = 0; i < 16; i++) sum += in[((t ^ 16) & ~15) + i];
    ck_assert_uint_eq(k.out[t], sum);
  }
  k = run_style("structs", 128);
  for (uint32_t t = 0; t < 128; t++) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 4; i++) sum += 3 * in[(t + i) % 128] + (t + i) % 128;
    ck_assert_uint_eq(k.out[t], sum);
  }
  k = run_style("lock", 64);
  uint32_t sum = 0;
  for (int i = 0; i < 64; i++) sum += in[i];
  ck_assert_uint_eq(k.out[0], sum);
}
END_TEST

START_TEST(test_wmma_multiplies_and_is_not_counted) {
  const PtxKernel k = run_style("fragments", 32);
  for (uint32_t row = 0; row < 16; row++)
    for (uint32_t col = 0; col < 16; col++) {
      uint32_t sum = 1;
      for (uint32_t x = 0; x < 16; x++) sum += (in[16 * row + x] & 7) * (in[16 * col + x] >> 3 & 7);
      ck_assert_uint_eq(k.out[16 * row + col], sum);
    }
  ck_assert(!ptx_tally_lines(arena, k.tally)->countable);
}
END_TEST

// ---- findings, folded ---------------------------------------------------------------------------

static int count_kind(const PtxKernel *k, PtxFindingKind kind) {
  int n = 0;
  for (int i = 0; i < ptx_machine_findings(k->machine); i++)
    n += ptx_machine_finding(k->machine, i)->kind == kind;
  return n;
}

// Of a generic address that stands where one of shared memory is wanted the low half counts, as
// ThunderKittens hands one to tcgen05.alloc.
START_TEST(test_a_generic_address_of_shared_memory) {
  const PtxKernel k =
      ptx_kernel_run(arena,
                     ptx_kernel_text(arena,
                                     "mov.u64 %rd1, s;\ncvta.shared.u64 %rd2, %rd1;\n"
                                     "mad.wide.u32 %rd2, %t, 4, %rd2;\n"
                                     "st.shared.u32 [%rd2+8], %t;\nld.shared.u32 %r1, "
                                     "[%rd2+8];\nst.global.u32 [%o], %r1;"),
                     NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_int_eq(ptx_machine_findings(k.machine), 0);
  for (uint32_t t = 0; t < 32; t++) ck_assert_uint_eq(k.out[t], t);
}
END_TEST

// All lanes of a warp may initialize an mbarrier, each with the same count: it is one
// initialization.
START_TEST(test_a_whole_warp_initializes_an_mbarrier) {
  const PtxKernel k = ptx_kernel_run(
      arena,
      ptx_kernel_text(arena,
                      "mov.u32 %r1, s;\nmbarrier.init.shared.b64 [%r1], 32;\nbar.sync 0;\n"
                      "mbarrier.arrive.shared.b64 %rd0, [%r1];\n"
                      "AGAIN: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd0;\n@!%p1 bra AGAIN;"),
      NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_ptr_null(ptx_kernel_finding(&k, PTX_FINDING_RACE));
}
END_TEST

// 300 copies of one racing store, as of a loop unrolled, on one source line; a wild store on
// another.
START_TEST(test_findings_of_one_line_are_one) {
  Str body = str_new(arena);
  str_add(&body, ".loc 1 4 1\nmov.u32 %r1, s;\n");
  for (int i = 0; i < 300; i++) str_printf(&body, "st.shared.u32 [%%r1+%d], %%t;\n", 4 * i);
  str_add(&body, ".loc 1 9 1\nst.global.u32 [%out+4096], %t;\n");
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, body.text), NULL, 64, in);
  ck_assert_int_eq(k.outcome, PTX_STOPPED);
  ck_assert_int_eq(count_kind(&k, PTX_FINDING_RACE), 1);
  ck_assert_int_eq(ptx_machine_findings_left_out(k.machine), 0);
  ck_assert_int_gt((int)ptx_kernel_finding(&k, PTX_FINDING_RACE)->count, 300);
  ck_assert_ptr_nonnull(ptx_kernel_finding(&k, PTX_FINDING_OUT_OF_BOUNDS));
}
END_TEST

// Four lines, one after the other and again: each stays one finding, with both of its times.
START_TEST(test_findings_of_lines_by_turns_are_one_each) {
  Str body = str_new(arena);
  str_add(&body, "mov.u32 %r1, s;\n");
  for (int i = 0; i < 12; i++)
    str_printf(&body, ".loc 1 %d 1\nst.shared.u32 [%%r1+%d], %%t;\n", 4 + i % 4, 4 * i);
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, body.text), NULL, 64, in);
  ck_assert_int_eq(count_kind(&k, PTX_FINDING_RACE), 4);
  const int count = (int)ptx_machine_finding(k.machine, 0)->count;
  ck_assert_int_eq(count % 3, 0);
  for (int i = 0; i < 4; i++)
    ck_assert_int_eq((int)ptx_machine_finding(k.machine, i)->count, count);
}
END_TEST

// Without source lines each line of PTX is one: more of them than are kept, what stopped the block
// all the same, and how often the others were.
START_TEST(test_what_stopped_a_block_is_kept) {
  Str body = str_new(arena);
  str_add(&body, "mov.u32 %r1, s;\n");
  for (int i = 0; i < 600; i++) str_printf(&body, "st.shared.u32 [%%r1+%d], %%t;\n", 4 * i);
  str_add(&body, "st.global.u32 [%out+4096], %t;\n");
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, body.text), NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_STOPPED);
  ck_assert_int_eq(count_kind(&k, PTX_FINDING_RACE), 256);
  ck_assert_ptr_nonnull(ptx_kernel_finding(&k, PTX_FINDING_OUT_OF_BOUNDS));
  ck_assert_int_gt((int)ptx_machine_findings_left_out(k.machine), 600 - 256 - 1);
}
END_TEST

// ---- the least that would do
// ---------------------------------------------------------------------

static const struct {
  const char *type, *value;
  int bytes;
} widths[] = {{"u8", "%r1", 1},
              {"u16", "%h1", 2},
              {"u32", "%r1", 4},
              {"v2.u32", "{%r1, %r2}", 8},
              {"v4.u32", "{%r1, %r2, %r3, %r4}", 16}};
enum { WIDTHS = 5, DRAWS = 24 };

// Sectors that lanes touch, and how few hold as many bytes.
static void expect_sectors(const uint32_t *at, int bytes, int *sectors, int *least) {
  static uint8_t byte[4096];
  memset(byte, 0, sizeof byte);
  *sectors = 0;
  for (int lane = 0; lane < 32; lane++) memset(byte + at[lane], 1, (size_t)bytes);
  int all = 0;
  for (int s = 0; s < 4096; s += 32) {
    int n = 0;
    for (int b = 0; b < 32; b++) n += byte[s + b];
    *sectors += n > 0;
    all += n;
  }
  *least = (all + 31) / 32;
}

// Lanes at random places of a random range, many of them at the same: what would do is never above
// what is counted, in global memory or shared.
START_TEST(test_the_least_is_never_above_the_count) {
  const int bytes = widths[_i].bytes;
  uint32_t state = 12345u + (uint32_t)_i;
  for (int draw = 0; draw < DRAWS; draw++) {
    uint32_t at[32];
    const uint32_t range = 1u << (draw % 12);
    for (int t = 0; t < PTX_KERNEL_WORDS; t++) {
      state = state * 1664525u + 1013904223u;
      in[t] = (state >> 8) % range / (uint32_t)bytes * (uint32_t)bytes;
      if (t < 32) at[t] = in[t];
    }
    const char *body =
        arena_printf(arena,
                     "ld.global.u32 %%r0, [%%i];\nmov.u32 %%r5, s;\nadd.u32 %%r5, %%r5, %%r0;\n"
                     "cvt.u64.u32 %%rd1, %%r0;\nadd.u64 %%rd1, %%rd1, %%in;\n.loc 1 5 1\n"
                     "ld.global.%s %s, [%%rd1];\n.loc 1 6 1\nst.shared.%s [%%r5], %s;\n.loc 1 7 1\n"
                     "ld.shared.%s %s, [%%r5];\n",
                     widths[_i].type, widths[_i].value, widths[_i].type, widths[_i].value,
                     widths[_i].type, widths[_i].value);
    const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, 32, in);
    ck_assert_int_eq(k.outcome, PTX_DONE);
    const PtxLines *lines = ptx_tally_lines(arena, k.tally);
    int sectors, least;
    expect_sectors(at, bytes, &sectors, &least);
    for (int n = 0; n < lines->n; n++) {
      const PtxLine *line = &lines->items[n];
      ck_assert_int_le(line->ideal_sectors, line->sectors);
      ck_assert_int_le(line->ideal, line->wavefronts);
      if (line->line != 5) continue;
      ck_assert_int_eq(line->sectors, sectors);
      ck_assert_int_eq(line->ideal_sectors, least);
    }
  }
}
END_TEST

// ---- shared variables that a kernel has ---------------------------------------------------------

static const char variables[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".shared .align 4 .b8 big[16384];\n.shared .align 16 .b8 small[64];\n"
    ".extern .shared .align 1024 .b8 wide[];\n.extern .shared .align 16 .b8 thin[];\n"
    ".func f() {\n.reg .b32 %r<4>;\n.shared .align 4 .b8 inner[100];\n"
    "st.shared.u32 [inner], 5;\nst.shared.u32 [big], 6;\nret;\n}\n"
    ".visible .entry a(.param .u64 i, .param .u64 o) {\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
    "st.shared.u32 [small+8], 7;\nld.shared.u32 %r1, [small+8];\nmov.u32 %r2, small;\n"
    "mad.lo.u32 %r1, %r2, 100, %r1;\nld.param.u64 %rd1, [o];\nst.global.u32 [%rd1], %r1;\n"
    "mov.u32 %r2, thin;\nst.global.u32 [%rd1+4], %r2;\nret;\n}\n"
    ".visible .entry b(.param .u64 i, .param .u64 o) {\n.reg .b32 %r<4>;\n"
    ".shared .align 4 .b8 unused[2048];\ncall f;\nmov.u32 %r2, wide;\nret;\n}\n"
    ".visible .entry c(.param .u64 i, .param .u64 o) {\nret;\n}\n";

START_TEST(test_a_kernel_has_the_variables_that_it_names) {
  const PtxKernel a = ptx_kernel_run(arena, variables, "a", 1, in),
                  b = ptx_kernel_run(arena, variables, "b", 1, in),
                  c = ptx_kernel_run(arena, variables, "c", 1, in);
  ck_assert(a.outcome == PTX_DONE && b.outcome == PTX_DONE && c.outcome == PTX_DONE);
  ck_assert_int_eq(ptx_machine_static_smem(a.machine), 64);
  ck_assert(a.out[0] == 7 && a.out[1] == 64);  // small lies at 0, the dynamic memory behind it
  // big of the module and inner of the function it calls, its own behind them, to wide's alignment.
  ck_assert_int_eq(ptx_machine_static_smem(b.machine), 19456);
  ck_assert_int_eq(ptx_machine_static_smem(c.machine), 0);
  ck_assert_int_eq((int)ptx_machine_variable(a.machine, 0), -1);
}
END_TEST

// ---- calls --------------------------------------------------------------------------------------

// Registers and predicates of a caller stay as they are, those of a function are its own each time.
static const char calls[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".func (.reg .b32 %y) thrice(.reg .b32 %x) {\n.reg .b32 %q<40>;\n.reg .pred %p<4>;\n"
    "mul.lo.u32 %q1, %x, 2;\nadd.u32 %q39, %q1, %x;\nsetp.eq.u32 %p1, %q1, 1;\n"
    "setp.eq.u32 %p3, %q1, 1;\nmov.u32 %y, %q39;\nret;\n}\n"
    ".func (.reg .b32 %y) nine(.reg .b32 %x) {\n.reg .b32 %q<9>;\n.reg .pred %p<3>;\n"
    "mov.u32 %q8, 1000;\nsetp.eq.u32 %p2, 1, 1;\ncall (%q1), thrice, (%x);\n"
    "call (%q2), thrice, (%q1);\n@%p2 add.u32 %q2, %q2, %q8;\nmov.u32 %y, %q2;\nret;\n}\n"
    ".visible .entry k(.param .u64 i, .param .u64 o) {\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n"
    ".reg .pred %p<9>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r8, 100000;\nsetp.eq.u32 %p8, 1, 1;\n"
    "setp.eq.u32 %p1, 1, 1;\ncall (%r2), nine, (%r1);\n@%p8 add.u32 %r2, %r2, %r8;\n"
    "@%p1 add.u32 %r2, %r2, %r1;\nld.param.u64 %rd1, [o];\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.u64 %rd1, %rd1, %rd2;\nst.global.u32 [%rd1], %r2;\nret;\n}\n";

START_TEST(test_a_call_leaves_the_callers_registers) {
  const PtxKernel k = ptx_kernel_run(arena, calls, "k", 40, in);
  ck_assert_msg(k.outcome == PTX_DONE, "%s",
                k.outcome == PTX_STOPPED ? ptx_machine_finding(k.machine, 0)->text : "");
  for (uint32_t t = 0; t < 40; t++) ck_assert_uint_eq(k.out[t], 101000 + 10 * t);
}
END_TEST

// Arguments that are numbers, special registers and addresses, of each width, and results of them.
START_TEST(test_a_call_takes_what_is_no_register) {
  static const char text[] =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".func (.reg .b32 %r) f(.reg .b32 %a, .reg .b32 %b, .reg .b32 %c)\n{\n.reg .b32 %s;\n"
      "mad.lo.u32 %s, %a, 1000, %b;\nmad.lo.u32 %r, %s, 100, %c;\nret;\n}\n"
      ".func (.param .b64 r) g(.param .b32 a, .param .b64 b)\n{\n.reg .b32 %x;\n"
      ".reg .b64 %y, %z;\nld.param.u32 %x, [a];\nld.param.u64 %y, [b];\n"
      "mul.wide.u32 %z, %x, 3;\nadd.u64 %z, %z, %y;\nst.param.b64 [r], %z;\nret;\n}\n"
      ".visible .entry k(.param .u64 i, .param .u64 o)\n{\n"
      ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd0, [o];\nmov.u32 %r0, %tid.x;\n"
      "mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd0, %rd0, %rd1;\n"
      "call (%r1), f, (7, %tid.x, %laneid);\nst.global.u32 [%rd0], %r1;\n"
      "call (%r1), f, (%r0, 5, %ntid.x);\nst.global.u32 [%rd0+256], %r1;\n"
      "call (%r1), f, (%warpid, %r0, 9);\nst.global.u32 [%rd0+512], %r1;\n"
      "{\n.param .b32 p;\n.param .b64 q, s;\nst.param.b32 [p], 11;\nst.param.b64 [q], %rd1;\n"
      "call (s), g, (p, q);\nld.param.b64 %rd2, [s];\n}\n"
      "cvt.u32.u64 %r2, %rd2;\nst.global.u32 [%rd0+768], %r2;\nret;\n}\n";
  const PtxKernel k = ptx_kernel_run(arena, text, "k", 64, in);
  ck_assert_msg(k.outcome == PTX_DONE, "%s",
                k.outcome == PTX_STOPPED ? ptx_machine_finding(k.machine, 0)->text : "");
  for (uint32_t t = 0; t < 64; t++) {
    ck_assert_uint_eq(k.out[t], (7 * 1000 + t) * 100 + t % 32);
    ck_assert_uint_eq(k.out[64 + t], (t * 1000 + 5) * 100 + 64);
    ck_assert_uint_eq(k.out[128 + t], (t / 32 * 1000 + t) * 100 + 9);
    ck_assert_uint_eq(k.out[192 + t], 33 + 4 * t);
  }
}
END_TEST

// ---- bad text -----------------------------------------------------------------------------------

static const struct {
  const char *text, *says;
} texts[] = {
    {"hello", "does not begin a directive or an instruction"},
    {".version 5.0\n.target sm_50\n", "versions 6 to 9 are read"},
    {".version 8.0\n.frob 3;\n", ".frob is not a known directive"},
    {".version 8.0\n.entry k() { add.s32 %r1, %r2; }", "%r1 is not declared"},
    {".version 8.0\n.entry k() { .reg .b32 %r<3>; add.s32 %r1, %r2; }",
     "takes at least 3 operands"},
    {".version 8.0\n.entry k() { .reg .b32 %r<3>; ld.global.u32 %r1, %r2; }",
     "expected an address in brackets"},
    {".version 8.0\n.entry k() { bra NOWHERE; }", "the label NOWHERE is not in k"},
    {".version 8.0\n.entry k() { .reg .b32 %r<3>; mov.u32 5, %r1; }",
     "a result goes to a register"},
    {".version 8.0\n.entry k() {", "the text ends inside k"},
    {".version 8.0\n.shared .b8 s[4294967296][4294967296];", "an array of more than 4 GiB"},
    {".version 8.0\n.entry k(.param .b8 p[2147483648]) { ret; }",
     "parameters of more than 32764 bytes"},
    {".version 8.0\n.entry k(.param .b8 p[32760], .param .u64 q) { ret; }",
     "parameters of more than 32764 bytes"},
    {".version 8.0\n.shared .align 2147483648 .b8 s[16];", "an alignment of 2147483648"},
    {".version 8.0\n.shared .align 1073741824 .b8 s[16];", "an alignment of 1073741824"},
    {".version 8.0\n.shared .align 24 .b8 s[16];", "an alignment of 24"},
    {".version 8.0\n.shared .align -9223372036854775808 .b8 s[16];", "an alignment of -92233720"},
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

START_TEST(test_bad_text_is_told_with_its_line) {
  Diags diags = diags_new(arena);
  const char *text = texts[_i].text;
  ck_assert_ptr_null(ptx_module_read(arena, text, strlen(text), "k.ptx", &diags));
  const char *said = diags_text(arena, &diags);
  ck_assert_msg(strstr(said, texts[_i].says) != NULL, "%s: %s", text, said);
  ck_assert_msg(strstr(said, "k.ptx:") != NULL, "%s", said);
}
END_TEST

// NVRTC's size counts the NUL behind the text.
START_TEST(test_a_text_may_end_in_a_nul) {
  Diags diags = diags_new(arena);
  static const char text[] = ".version 8.0\n.target sm_90\n.entry k() { ret; }\n\0";
  ck_assert_msg(ptx_module_read(arena, text, sizeof text, "k.ptx", &diags) != NULL, "%s",
                diags_text(arena, &diags));
  ck_assert_ptr_null(ptx_module_read(arena, "\0.version 8.0\n", 15, "k.ptx", &diags));
}
END_TEST

// Warp 0 gives registers back, warp 1 asks for more, warp 2 for none: 24, 240 and those of the
// launch.
START_TEST(test_registers_that_warps_ask_for) {
  const PtxKernel k = ptx_kernel_run(
      arena,
      ptx_kernel_text(arena,
                      "shr.u32 %r1, %t, 5; setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r1, 1;\n"
                      "@%p0 setmaxnreg.dec.sync.aligned.u32 24;\n"
                      "@%p1 setmaxnreg.inc.sync.aligned.u32 240;"),
      NULL, 96, in);
  ck_assert_int_eq(ptx_machine_registers(k.machine, 168), 32 * (24 + 240 + 168));
  const PtxKernel none = ptx_kernel_run(arena, ptx_kernel_text(arena, ""), NULL, 96, in);
  ck_assert_int_eq(ptx_machine_registers(none.machine, 168), 0);
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/run.txt"); }
END_TEST

Suite *suite_open_run(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_run");
  TCase *tcase = tcase_create("run");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_lanes_part_and_meet);
  tcase_add_test(tcase, test_lanes_give_each_other_values);
  tcase_add_test(tcase, test_lanes_of_one_warp_name_different_tiles);
  tcase_add_loop_test(tcase, test_a_mistake_is_named, 0, MISTAKES);
  tcase_add_test(tcase, test_cub_sorts_scans_and_reduces);
  tcase_add_test(tcase, test_groups_structs_and_a_lock);
  tcase_add_test(tcase, test_wmma_multiplies_and_is_not_counted);
  tcase_add_test(tcase, test_registers_that_warps_ask_for);
  tcase_add_loop_test(tcase, test_the_least_is_never_above_the_count, 0, WIDTHS);
  tcase_add_test(tcase, test_a_generic_address_of_shared_memory);
  tcase_add_test(tcase, test_a_whole_warp_initializes_an_mbarrier);
  tcase_add_test(tcase, test_findings_of_one_line_are_one);
  tcase_add_test(tcase, test_findings_of_lines_by_turns_are_one_each);
  tcase_add_test(tcase, test_what_stopped_a_block_is_kept);
  tcase_add_test(tcase, test_a_kernel_has_the_variables_that_it_names);
  tcase_add_test(tcase, test_a_call_leaves_the_callers_registers);
  tcase_add_test(tcase, test_a_call_takes_what_is_no_register);
  tcase_add_test(tcase, test_a_text_may_end_in_a_nul);
  tcase_add_loop_test(tcase, test_bad_text_is_told_with_its_line, 0, TEXTS);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}
