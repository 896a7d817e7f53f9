// Allocations of tensor memory one after another, copies into it of every shape, and copies of
// cp.async with every size: what each gives, by the PTX ISA's words alone.
#include <check.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "kernel_log.h"
#include "ptx_kernel.h"

Suite *suite_open_copies(void);

static Arena *arena;
static uint32_t in[PTX_KERNEL_WORDS];
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- tensor memory ------------------------------------------------------------------------------

// 512 columns in units of 32. An allocation begins at a multiple of its own size: the first that is
// free.
enum { UNITS = 16, UNIT = 32, STEPS = 40, KEPT_MAX = 16 };

typedef struct Tmem {
  bool taken[UNITS];
  int n, at[KEPT_MAX], units[KEPT_MAX];  // allocations, in units
} Tmem;

static int first_free(const Tmem *t, int units) {
  for (int at = 0; at < UNITS; at += units) {
    int taken = 0;
    for (int u = at; u < at + units; u++) taken += t->taken[u];
    if (!taken) return at;
  }
  return -1;
}

static void mark(Tmem *t, int at, int units, bool taken) {
  for (int u = at; u < at + units; u++) t->taken[u] = taken;
}

// Each allocation is told in a word of the output of its own.
static void allocate(Tmem *t, Str *text, int units, uint32_t *wanted, int n) {
  const int at = first_free(t, units);
  mark(t, at, units, true);
  t->at[t->n] = at;
  t->units[t->n++] = units;
  wanted[n] = (uint32_t)(at * UNIT);
  str_printf(text,
             "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], %d;\nbar.sync 0;\n"
             "ld.shared.b32 %%r0, [s];\n@%%p0 st.global.b32 [%%out+%d], %%r0;\nbar.sync 0;\n",
             units * UNIT, 4 * n);
}

static void give_back(Tmem *t, Str *text, int index) {
  str_printf(text, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, %d;\n", t->at[index] * UNIT,
             t->units[index] * UNIT);
  mark(t, t->at[index], t->units[index], false);
  t->n--;
  t->at[index] = t->at[t->n];
  t->units[index] = t->units[t->n];
}

static PtxKernel run_body(const char *body) {
  return ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, 32, in);
}

START_TEST(columns_are_the_first_that_are_free) {
  uint64_t seed = (uint64_t)_i;
  uint32_t wanted[STEPS] = {0};
  Tmem t = {0};
  Str text = str_new(arena);
  str_add(&text, "setp.eq.u32 %p0, %t, 0;\n");
  int n = 0;
  for (int step = 0; step < STEPS; step++) {
    const int units = 1 << random_between(&seed, 0, 4);
    const bool fits = t.n < KEPT_MAX && first_free(&t, units) >= 0;
    if (t.n && (!fits || random_between(&seed, 0, 2) == 0))
      give_back(&t, &text, (int)random_between(&seed, 0, t.n - 1));
    else if (fits)
      allocate(&t, &text, units, wanted, n++);
  }
  while (t.n) give_back(&t, &text, 0);
  const PtxKernel k = run_body(text.text);
  ck_assert_msg(k.outcome == PTX_DONE && ptx_machine_findings(k.machine) == 0, "%s", text.text);
  ck_assert_int_gt(n, 10);
  for (int i = 0; i < n; i++)
    ck_assert_msg(k.out[i] == wanted[i], "allocation %d: %u, not %u", i, k.out[i], wanted[i]);
}
END_TEST

// How an allocation or its end is wrong.
START_TEST(what_cannot_be_allocated_is_told) {
#define ALLOC "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], "
#define DEALLOC "tcgen05.dealloc.cta_group::1.sync.aligned.b32 "
  static const struct {
    const char *body, *says;
  } cases[] = {
      {ALLOC "16;", "16 columns: allocate a power of two from 32 to 512"},
      {ALLOC "96;", "96 columns: allocate a power of two from 32 to 512"},
      {ALLOC "1024;", "1024 columns: allocate a power of two from 32 to 512"},
      {ALLOC "512;" ALLOC "32;", "not enough columns are free: the block waits for ever"},
      {ALLOC "32;" ALLOC "512;", "not enough columns are free: the block waits for ever"},
      {ALLOC "32;tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ALLOC "32;",
       "an allocation after relinquish_alloc_permit"},
      {ALLOC "64;" DEALLOC "0, 32;",
       "the columns freed are not those that were allocated together"},
      {ALLOC "64;" DEALLOC "32, 64;",
       "the columns freed are not those that were allocated together"},
      {ALLOC "64;" DEALLOC "1, 64;",
       "the columns freed are not those that were allocated together"},
      {ALLOC "64;" DEALLOC "512, 64;",
       "the columns freed are not those that were allocated together"},
      {ALLOC "64;" DEALLOC "0, 64;" DEALLOC "0, 64;",
       "the columns freed are not those that were allocated together"},
      {DEALLOC "0, 0;", "the columns freed are not those that were allocated together"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++, arena_reset(arena)) {
    const PtxKernel k = run_body(cases[i].body);
    const PtxFinding *f = ptx_kernel_finding(&k, PTX_FINDING_TENSOR_MEMORY);
    ck_assert_msg(k.outcome == PTX_STOPPED && f, "%s", cases[i].body);
    ck_assert_str_eq(f->text, cases[i].says);
  }
}
END_TEST

// ---- shared memory to tensor memory -------------------------------------------------------------

// Rows and words of a copy, and the rows that a warp's lanes get (PTX ISA, tcgen05.cp).
static const struct {
  const char *shape;
  int words, row_of_warp[4];
} shapes[] = {{"128x256b", 8, {0, 32, 64, 96}},
              {"128x128b", 4, {0, 32, 64, 96}},
              {"64x128b.warpx2::02_13", 4, {0, 32, 0, 32}},
              {"64x128b.warpx2::01_23", 4, {0, 0, 32, 32}},
              {"32x128b.warpx4", 4, {0, 0, 0, 0}}};
enum { SHAPES = sizeof shapes / sizeof *shapes, TILE_ROWS = 128, WORDS = 8 };

// Thread t lays row t down in pieces of 16 bytes, eight rows together (no swizzle): 2,048 bytes
// from piece to piece along the row, 128 from eight rows to the next.
static const char copy_rows[] =
    ".shared .align 16 .b8 bar[32];\n.reg .b32 %%v<8>;\nmov.u32 %%r20, s;\nshl.b32 %%r21, %%t, 4;\n"
    "add.u32 %%r21, %%r20, %%r21;\nshl.b32 %%r22, %%t, 5;\ncvt.u64.u32 %%rd20, %%r22;\n"
    "add.u64 %%rd21, %%in, %%rd20;\nadd.u64 %%rd22, %%out, %%rd20;\n"
    "ld.global.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%rd21];\n"
    "ld.global.v4.b32 {%%v4, %%v5, %%v6, %%v7}, [%%rd21+16];\n"
    "st.shared.v4.b32 [%%r21], {%%v0, %%v1, %%v2, %%v3};\n"
    "st.shared.v4.b32 [%%r21+2048], {%%v4, %%v5, %%v6, %%v7};\n"
    "setp.eq.u32 %%p1, %%t, 0;\nsetp.lt.u32 %%p2, %%t, 32;\nmov.u32 %%r23, bar;\n"
    "@%%p1 mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async;\n"
    "@%%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar+16], 32;\nbar.sync 0;\n"
    "ld.shared.b32 %%r24, [bar+16];\nshr.u32 %%r25, %%r20, 4;\ncvt.u64.u32 %%rd23, %%r25;\n"
    "or.b64 %%rd23, %%rd23, 0x%llx;\n@%%p1 tcgen05.cp.cta_group::1.%s [%%r24], %%rd23;\n"
    "@%%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%%r23];\n"
    "W: mbarrier.try_wait.parity.shared.b64 %%p3, [bar], 0;\n@!%%p3 bra W;\n"
    "tcgen05.fence::after_thread_sync;\nshr.u32 %%r26, %%t, 5;\nshl.b32 %%r26, %%r26, 21;\n"
    "add.u32 %%r26, %%r26, %%r24;\n"
    "tcgen05.ld.sync.aligned.32x32b.x%d.b32 {%s}, [%%r26];\ntcgen05.wait::ld.sync.aligned;\n"
    "st.global.v4.b32 [%%rd22], {%%v0, %%v1, %%v2, %%v3};\n%sbar.sync 0;\n"
    "@%%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r24, 32;";

START_TEST(rows_go_to_the_lanes_of_their_warps) {
  const int words = shapes[_i].words;
  const uint64_t rest = UINT64_C(1) << 46 | (uint64_t)(128 >> 4) << 32 | (2048 >> 4) << 16;
  ptx_kernel_numbers(in);
  const char *body =
      arena_printf(arena, copy_rows, (unsigned long long)rest, shapes[_i].shape, words,
                   ptx_kernel_registers(arena, "%v", words),
                   words == WORDS ? "st.global.v4.b32 [%rd22+16], {%v4, %v5, %v6, %v7};\n" : "");
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, TILE_ROWS, in);
  const PtxFinding *f = ptx_machine_findings(k.machine) ? ptx_machine_finding(k.machine, 0) : NULL;
  ck_assert_msg(k.outcome == PTX_DONE && !f, "%s %s", f ? ptx_finding_names[f->kind] : "",
                f && f->text ? f->text : "");
  for (int t = 0; t < TILE_ROWS; t++)
    for (int word = 0; word < WORDS; word++) {
      const int row = shapes[_i].row_of_warp[t / 32] + t % 32;
      const uint32_t wanted = word < words ? in[WORDS * row + word] : 0;
      ck_assert_msg(k.out[WORDS * t + word] == wanted, "lane %d, column %d", t, word);
    }
}
END_TEST

// ---- cp.async -----------------------------------------------------------------------------------

// 16 bytes of shared memory for each lane hold ones before; lane l copies from byte 16 · l on, of
// which so many are read as `read` says: the others of the copy are 0, the rest stays.
static const char copies[] =
    "shl.b32 %%r1, %%t, 4;\nmov.u32 %%r2, s;\nadd.u32 %%r2, %%r2, %%r1;\ncvt.u64.u32 %%rd1, %%r1;\n"
    "add.s64 %%rd2, %%in, %%rd1;\nadd.s64 %%rd3, %%out, %%rd1;\nmov.u32 %%r4, -1;\n"
    "st.shared.v4.b32 [%%r2], {%%r4, %%r4, %%r4, %%r4};\nand.b32 %%r3, %%t, 1;\n"
    "setp.eq.u32 %%p1, %%r3, 1;\nrem.u32 %%r5, %%t, %d;\nbar.sync 0;\n"
    "cp.async.%s.shared.global [%%r2], [%%rd2], %d%s;\ncp.async.commit_group;\n"
    "cp.async.wait_group 0;\nld.shared.v4.b32 {%%r6, %%r7, %%r8, %%r9}, [%%r2];\n"
    "st.global.v4.b32 [%%rd3], {%%r6, %%r7, %%r8, %%r9};";

typedef enum Read { ALL, ODD_IGNORED, EVEN_IGNORED, BY_SIZE, ALWAYS_3, READS } Read;

static int read_bytes(Read how, int lane, int bytes) {
  if (how == ODD_IGNORED) return lane % 2 ? 0 : bytes;
  if (how == EVEN_IGNORED) return lane % 2 ? bytes : 0;
  if (how == BY_SIZE) return lane % (bytes + 1);
  return how == ALWAYS_3 ? 3 : bytes;
}

START_TEST(cp_async_reads_so_many_bytes) {
  static const char *const operands[READS] = {"", ", %p1", ", !%p1", ", %r5", ", 3"};
  for (size_t w = 0; w < sizeof in / sizeof *in; w++) in[w] = (uint32_t)(w * 2654435761u | 1);
  for (int bytes = 4; bytes <= 16; bytes *= 2)
    for (int how = 0; how < READS; how++, arena_reset(arena)) {
      const char *cache = bytes == 16 && how % 2 ? "cg" : "ca";
      const PtxKernel k =
          run_body(arena_printf(arena, copies, bytes + 1, cache, bytes, operands[how]));
      ck_assert(k.outcome == PTX_DONE && ptx_machine_findings(k.machine) == 0);
      unsigned char wanted[32 * 16];
      memset(wanted, 0xff, sizeof wanted);
      for (int lane = 0; lane < 32; lane++) {
        memset(wanted + 16 * lane, 0, (size_t)bytes);
        memcpy(wanted + 16 * lane, (const char *)in + 16 * lane,
               (size_t)read_bytes((Read)how, lane, bytes));
      }
      ck_assert_msg(memcmp(k.out, wanted, sizeof wanted) == 0, "%d bytes%s", bytes, operands[how]);
    }
}
END_TEST

START_TEST(all_that_runs_say) { kernel_log_check("kernels/copies.txt"); }
END_TEST

Suite *suite_open_copies(void) {
  Suite *suite = suite_create("open_copies");
  kernel_log_begin();
  TCase *tcase = tcase_create("copies");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, columns_are_the_first_that_are_free, 0, 12);
  tcase_add_test(tcase, what_cannot_be_allocated_is_told);
  tcase_add_loop_test(tcase, rows_go_to_the_lanes_of_their_warps, 0, SHAPES);
  tcase_add_test(tcase, cp_async_reads_so_many_bytes);
  suite_add_tcase(suite, tcase);
  TCase *log = tcase_create("log");
  tcase_add_test(log, all_that_runs_say);
  suite_add_tcase(suite, log);
  return suite;
}
