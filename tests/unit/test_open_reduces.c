// Reductions of every operation and type by each instruction that has them: atom, red, redux,
// red.async and cp.reduce.async.bulk into global and shared memory. What is wanted is computed here
// from the PTX ISA's words.
#include <check.h>
#include <string.h>

#include "kernel_log.h"
#include "ptx_kernel.h"

Suite *suite_open_reduces(void);

enum { LANES = 32, CELLS = 4 };

static Arena *arena;

static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- operations ---------------------------------------------------------------------------------

typedef struct Type {
  const char *name;
  int bytes;
  bool is_signed;
} Type;
static const Type b32 = {"b32", 4, false}, u32 = {"u32", 4, false}, s32 = {"s32", 4, true},
                  b64 = {"b64", 8, false}, u64 = {"u64", 8, false}, s64 = {"s64", 8, true};

static uint64_t cut(Type type, uint64_t bits) { return type.bytes == 4 ? (uint32_t)bits : bits; }

static bool is_less(Type type, uint64_t x, uint64_t y) {
  if (!type.is_signed) return cut(type, x) < cut(type, y);
  return type.bytes == 4 ? (int32_t)x < (int32_t)y : (int64_t)x < (int64_t)y;
}

static uint64_t do_add(Type type, uint64_t old, uint64_t b) { return cut(type, old + b); }
static uint64_t do_and(Type type, uint64_t old, uint64_t b) { return cut(type, old & b); }
static uint64_t do_or(Type type, uint64_t old, uint64_t b) { return cut(type, old | b); }
static uint64_t do_xor(Type type, uint64_t old, uint64_t b) { return cut(type, old ^ b); }
static uint64_t do_min(Type type, uint64_t old, uint64_t b) {
  return is_less(type, b, old) ? b : old;
}
static uint64_t do_max(Type type, uint64_t old, uint64_t b) {
  return is_less(type, old, b) ? b : old;
}
static uint64_t do_exch(Type type, uint64_t old, uint64_t b) {
  (void)old;
  return cut(type, b);
}
// inc: from the bound on it begins again at 0; dec: at 0 and above the bound it begins at the
// bound.
static uint64_t do_inc(Type type, uint64_t old, uint64_t b) {
  return is_less(type, old, b) ? old + 1 : 0;
}
static uint64_t do_dec(Type type, uint64_t old, uint64_t b) {
  return old == 0 || is_less(type, b, old) ? b : old - 1;
}

enum { ATOM = 1, RED = 2, REDUX = 4, ASYNC = 8, BULK = 16, BULK_SHARED = 32 };
static const struct {
  const char *name;
  const Type *type;
  uint64_t (*apply)(Type, uint64_t old, uint64_t b);
  unsigned forms;
  bool in_turn;  // the order of lanes does not matter to what a cell holds at the end
} operations[] = {
    {"add", &u32, do_add, ATOM | RED | REDUX | ASYNC | BULK | BULK_SHARED, true},
    {"add", &s32, do_add, ATOM | RED | REDUX | ASYNC | BULK | BULK_SHARED, true},
    {"add", &u64, do_add, ATOM | RED | ASYNC | BULK | BULK_SHARED, true},
    {"and", &b32, do_and, ATOM | RED | REDUX | ASYNC | BULK | BULK_SHARED, true},
    {"or", &b32, do_or, ATOM | RED | REDUX | ASYNC | BULK | BULK_SHARED, true},
    {"xor", &b32, do_xor, ATOM | RED | REDUX | ASYNC | BULK | BULK_SHARED, true},
    {"and", &b64, do_and, ATOM | RED | BULK, true},
    {"or", &b64, do_or, ATOM | RED | BULK, true},
    {"xor", &b64, do_xor, ATOM | RED | BULK, true},
    {"min", &u32, do_min, ATOM | RED | REDUX | ASYNC | BULK | BULK_SHARED, true},
    {"max", &u32, do_max, ATOM | RED | REDUX | ASYNC | BULK | BULK_SHARED, true},
    {"min", &s32, do_min, ATOM | RED | REDUX | ASYNC | BULK | BULK_SHARED, true},
    {"max", &s32, do_max, ATOM | RED | REDUX | ASYNC | BULK | BULK_SHARED, true},
    {"min", &u64, do_min, ATOM | RED | BULK, true},
    {"max", &u64, do_max, ATOM | RED | BULK, true},
    {"min", &s64, do_min, ATOM | RED | BULK, true},
    {"max", &s64, do_max, ATOM | RED | BULK, true},
    {"inc", &u32, do_inc, ATOM | RED | ASYNC | BULK | BULK_SHARED, false},
    {"dec", &u32, do_dec, ATOM | RED | ASYNC | BULK | BULK_SHARED, false},
    {"exch", &b32, do_exch, ATOM, false},
    {"exch", &b64, do_exch, ATOM, false},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

// ---- numbers ------------------------------------------------------------------------------------

// Ends of ranges beside each other: number l of a list is at l, of the other at 7 · l + 3.
static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 UINT64_C(0x7fffffff),
                                 UINT64_C(0x80000000),
                                 UINT64_C(0xffffffff),
                                 UINT64_C(0x7fffffffffffffff),
                                 UINT64_C(0x8000000000000000),
                                 UINT64_C(0xffffffffffffffff),
                                 UINT64_C(0x123456789abcdef0),
                                 5};
enum { EDGES = sizeof edges / sizeof *edges };
static uint64_t first_of(int lane) { return edges[lane % EDGES]; }
static uint64_t second_of(int lane) { return edges[(lane / EDGES + 3 * lane + 2) % EDGES]; }

// in[0 … 31] and in[32 … 63] as numbers of 64 bits: a and b of each lane.
static void give(uint32_t in[PTX_KERNEL_WORDS]) {
  uint64_t numbers[2 * LANES];
  for (int lane = 0; lane < LANES; lane++) {
    numbers[lane] = first_of(lane);
    numbers[LANES + lane] = second_of(lane);
  }
  memset(in, 0, PTX_KERNEL_WORDS * sizeof *in);
  memcpy(in, numbers, sizeof numbers);
}

// ---- programs -----------------------------------------------------------------------------------

// %rd1 and %rd2, %r1 and %r2 are the lane's a and b; [%rd29] its cell, [%rd28] where it tells what
// an atom gives, both of the type's size one behind the other.
static const char *program(Type type, const char *body) {
  return arena_printf(
      arena,
      "mul.wide.u32 %%rd30, %%t, 8;\nadd.s64 %%rd30, %%in, %%rd30;\n"
      "ld.global.b64 %%rd1, [%%rd30];\nld.global.b64 %%rd2, [%%rd30+256];\n"
      "cvt.u32.u64 %%r1, %%rd1;\ncvt.u32.u64 %%r2, %%rd2;\n"
      "mul.lo.u32 %%r20, %%t, %d;\ncvt.u64.u32 %%rd27, %%r20;\n"
      "add.s64 %%rd29, %%out, %%rd27;\nadd.s64 %%rd28, %%rd29, 256;\n"
      "mov.u32 %%r21, s;\nadd.u32 %%r21, %%r21, %%r20;\nsetp.eq.u32 %%p1, %%t, 0;\n%s\n",
      type.bytes, body);
}

static const char *prefix(Type type) { return type.bytes == 4 ? "%r" : "%rd"; }

static PtxKernel run_form(Type type, const char *body) {
  uint32_t in[PTX_KERNEL_WORDS];
  give(in);
  const char *text = ptx_kernel_text(arena, program(type, body));
  const PtxKernel k = ptx_kernel_run(arena, text, NULL, LANES, in);
  const bool sound = k.outcome == PTX_DONE && ptx_machine_findings(k.machine) == 0;
  ck_assert_msg(sound, "%s: %s\n%s",
                sound ? "" : ptx_finding_names[ptx_machine_finding(k.machine, 0)->kind],
                sound ? "" : ptx_machine_finding(k.machine, 0)->text, body);
  return k;
}

static uint64_t told(const PtxKernel *k, Type type, int byte, int n) {
  uint64_t bits = 0;
  memcpy(&bits, (const char *)k->out + byte + n * type.bytes, (size_t)type.bytes);
  return bits;
}

static void check_cells(const PtxKernel *k, int op, const char *body) {
  const Type type = *operations[op].type;
  for (int lane = 0; lane < LANES; lane++) {
    const uint64_t wanted =
        operations[op].apply(type, cut(type, first_of(lane)), cut(type, second_of(lane)));
    ck_assert_msg(told(k, type, 0, lane) == wanted, "lane %d: %llx, wanted %llx\n%s", lane,
                  (unsigned long long)told(k, type, 0, lane), (unsigned long long)wanted, body);
  }
}

// ---- a cell for each lane -----------------------------------------------------------------------

static const char *named(int op) {
  return arena_printf(arena, "%s.%s", operations[op].name, operations[op].type->name);
}

START_TEST(atoms_give_what_was_there) {
  const Type type = *operations[_i].type;
  if (!(operations[_i].forms & ATOM)) return;
  const char *p = prefix(type);
  const int bits = 8 * type.bytes;
  const char *body =
      arena_printf(arena,
                   "st.global.b%d [%%rd29], %s1;\natom.global.%s %s3, [%%rd29], %s2;\n"
                   "st.global.b%d [%%rd28], %s3;",
                   bits, p, named(_i), p, p, bits, p);
  const PtxKernel k = run_form(type, body);
  check_cells(&k, _i, body);
  for (int lane = 0; lane < LANES; lane++)
    ck_assert(told(&k, type, 256, lane) == cut(type, first_of(lane)));
}
END_TEST

START_TEST(reds_change_their_cell) {
  const Type type = *operations[_i].type;
  if (!(operations[_i].forms & RED)) return;
  const char *p = prefix(type);
  const char *body =
      arena_printf(arena, "st.global.b%d [%%rd29], %s1;\nred.global.%s [%%rd29], %s2;",
                   8 * type.bytes, p, named(_i), p);
  const PtxKernel k = run_form(type, body);
  check_cells(&k, _i, body);
}
END_TEST

// Four cells, each reached by eight lanes: what they hold at the end is the same in every order.
START_TEST(reds_of_many_lanes_meet_in_a_cell) {
  const Type type = *operations[_i].type;
  if (!(operations[_i].forms & RED) || !operations[_i].in_turn) return;
  const char *p = prefix(type);
  const char *body = arena_printf(
      arena,
      "st.global.b%d [%%rd29], %s1;\nbar.sync 0;\nand.b32 %%r20, %%t, %d;\n"
      "mul.lo.u32 %%r20, %%r20, %d;\ncvt.u64.u32 %%rd27, %%r20;\nadd.s64 %%rd27, %%out, %%rd27;\n"
      "red.global.%s [%%rd27], %s2;",
      8 * type.bytes, p, CELLS - 1, type.bytes, named(_i), p);
  const PtxKernel k = run_form(type, body);
  for (int cell = 0; cell < LANES; cell++) {
    uint64_t wanted = cut(type, first_of(cell));
    for (int lane = cell; lane < LANES && cell < CELLS; lane += CELLS)
      wanted = operations[_i].apply(type, wanted, cut(type, second_of(lane)));
    ck_assert_msg(told(&k, type, 0, cell) == wanted, "cell %d\n%s", cell, body);
  }
}
END_TEST

// ---- redux --------------------------------------------------------------------------------------

// Lanes of a mask join, each gets what all of them have; the others run none.
START_TEST(redux_joins_the_lanes_of_its_mask) {
  static const uint32_t masks[] = {0xffffffff, 0x0000ffff, 0x80000001, 0x00000010, 0xfffffffe};
  const Type type = *operations[_i].type;
  if (!(operations[_i].forms & REDUX)) return;
  for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
    const char *body = arena_printf(
        arena,
        "mov.u32 %%r3, 7;\nmov.u32 %%r9, 1;\nshl.b32 %%r9, %%r9, %%t;\nand.b32 %%r9, %%r9, %u;\n"
        "setp.ne.u32 %%p2, %%r9, 0;\n@%%p2 redux.sync.%s %%r3, %%r2, %u;\nst.global.b32 [%%rd29], "
        "%%r3;",
        masks[m], named(_i), masks[m]);
    const PtxKernel k = run_form(type, body);
    const int first = __builtin_ctz(masks[m]);
    uint64_t joined = cut(type, second_of(first));
    for (int lane = first + 1; lane < LANES; lane++)
      if (masks[m] >> lane & 1)
        joined = operations[_i].apply(type, joined, cut(type, second_of(lane)));
    for (int lane = 0; lane < LANES; lane++)
      ck_assert_msg(told(&k, type, 0, lane) == (masks[m] >> lane & 1 ? joined : 7), "lane %d\n%s",
                    lane, body);
  }
}
END_TEST

// ---- in the background --------------------------------------------------------------------------

// An mbarrier at s + 1024 for so many bytes, and the wait for them.
static const char *landing(int bytes) {
  return arena_printf(
      arena,
      "@%%p1 mbarrier.init.shared.b64 [s+1024], 1;\nfence.proxy.async;\nbar.sync 0;\n"
      "@%%p1 mbarrier.arrive.expect_tx.shared.b64 %%rd20, [s+1024], %d;\n",
      bytes);
}
static const char waiting[] =
    "W:\nmbarrier.try_wait.parity.shared.b64 %p3, [s+1024], 0;\n@!%p3 bra W;\n";

START_TEST(red_async_changes_shared_cells) {
  const Type type = *operations[_i].type;
  if (!(operations[_i].forms & ASYNC)) return;
  const char *p = prefix(type);
  const int bits = 8 * type.bytes;
  const char *body = arena_printf(
      arena,
      "st.shared.b%d [%%r21], %s1;\n%s"
      "mov.u32 %%r22, s;\nadd.u32 %%r22, %%r22, 1024;\nmapa.shared::cluster.u32 %%r23, %%r21, 0;\n"
      "mapa.shared::cluster.u32 %%r22, %%r22, 0;\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%s [%%r23], %s2, "
      "[%%r22];\n"
      "%sld.shared.b%d %s3, [%%r21];\nst.global.b%d [%%rd29], %s3;",
      bits, p, landing(LANES * type.bytes), named(_i), p, waiting, bits, p, bits, p);
  const PtxKernel k = run_form(type, body);
  check_cells(&k, _i, body);
}
END_TEST

START_TEST(bulk_reductions_change_global_cells) {
  const Type type = *operations[_i].type;
  if (!(operations[_i].forms & BULK)) return;
  const char *p = prefix(type);
  const int bits = 8 * type.bytes;
  const char *body = arena_printf(
      arena,
      "st.global.b%d [%%rd29], %s1;\nst.shared.b%d [%%r21], %s2;\nfence.proxy.async;\nbar.sync 0;\n"
      "@%%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%out], [s], %d;\n"
      "@%%p1 cp.async.bulk.commit_group;\n@%%p1 cp.async.bulk.wait_group 0;",
      bits, p, bits, p, named(_i), LANES * type.bytes);
  const PtxKernel k = run_form(type, body);
  check_cells(&k, _i, body);
}
END_TEST

START_TEST(bulk_reductions_change_shared_cells) {
  const Type type = *operations[_i].type;
  if (!(operations[_i].forms & BULK_SHARED)) return;
  const char *p = prefix(type);
  const int bits = 8 * type.bytes, bytes = LANES * type.bytes;
  const char *body = arena_printf(
      arena,
      "st.shared.b%d [%%r21], %s1;\nst.shared.b%d [%%r21+512], %s2;\n%s"
      "@%%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s [s], "
      "[s+512], %d, [s+1024];\n%sld.shared.b%d %s3, [%%r21];\nst.global.b%d [%%rd29], %s3;",
      bits, p, bits, p, landing(bytes), named(_i), bytes, waiting, bits, p, bits, p);
  const PtxKernel k = run_form(type, body);
  check_cells(&k, _i, body);
}
END_TEST

START_TEST(all_that_runs_say) { kernel_log_check("kernels/reduces.txt"); }
END_TEST

Suite *suite_open_reduces(void) {
  Suite *suite = suite_create("open_reduces");
  kernel_log_begin();
  TCase *tcase = tcase_create("reduces");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, atoms_give_what_was_there, 0, OPERATIONS);
  tcase_add_loop_test(tcase, reds_change_their_cell, 0, OPERATIONS);
  tcase_add_loop_test(tcase, reds_of_many_lanes_meet_in_a_cell, 0, OPERATIONS);
  tcase_add_loop_test(tcase, redux_joins_the_lanes_of_its_mask, 0, OPERATIONS);
  tcase_add_loop_test(tcase, red_async_changes_shared_cells, 0, OPERATIONS);
  tcase_add_loop_test(tcase, bulk_reductions_change_global_cells, 0, OPERATIONS);
  tcase_add_loop_test(tcase, bulk_reductions_change_shared_cells, 0, OPERATIONS);
  suite_add_tcase(suite, tcase);
  TCase *log = tcase_create("log");
  tcase_add_test(log, all_that_runs_say);
  suite_add_tcase(suite, log);
  return suite;
}
