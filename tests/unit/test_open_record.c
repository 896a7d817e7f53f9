// What gemmview open keeps of a kernel's accesses: patterns whose sum is the tally's, formulas of
// addresses, arrays with their rows, and what another layout costs.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/open_declared.h"
#include "open_case.h"
#include "ptx/record/record.h"

Suite *suite_open_record(void);

static Arena *arena;
static Diags diags;
static OpenCase given;
static PtxRecord *record;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

static PtxArrays run(int index, const PtxPitch *pitches, int n) {
  given = open_case_load(arena, index, NULL);
  record = ptx_record_new(arena, given.module, given.kernel, given.tally, &given.launch);
  ptx_record_block(record);
  ck_assert_int_eq(ptx_machine_run(given.machine, 0, 0, 0), PTX_DONE);
  return ptx_record_arrays(arena, record, given.machine, pitches, n);
}

static RecordedCost cost_of(const PtxArrays *arrays, int array, const char *layout) {
  int n;
  const RecordedSite *sites = ptx_record_of_array(arena, record, array, &n);
  return recorded_cost(arena, &arrays->items[array].at, sites, n, layout, &diags);
}

// Every kernel of the tests: nothing that the tally counted is missing, nothing is there twice.
START_TEST(test_patterns_are_what_was_counted) {
  const PtxArrays arrays = run(_i, NULL, 0);
  int64_t sum = 0;
  for (int i = 0; i < arrays.n; i++) sum += cost_of(&arrays, i, NULL).wavefronts;
  for (int pc = 0; pc < given.module->n_code; pc++) {
    const PtxSite *site = ptx_record_site(record, pc);
    if (!site || site->space != PTX_SPACE_SHARED) continue;
    ck_assert_msg(site->array >= 0, "%s: instruction %d lies in no array", given.id, pc);
    int64_t times = site->recorded.left_out;
    for (const RecordedPattern *p = site->recorded.patterns; p; p = p->next) times += p->times;
    ck_assert_int_eq(times, ptx_tally_site(given.tally, pc)->executions);
  }
  ck_assert_int_eq(sum, ptx_tally_lines(arena, given.tally)->wavefronts);
}
END_TEST

static const struct {
  int index;
  const char *inst, *formula;
} formulas[] = {
    {0, "st.shared.f32", "4*tid.x + 128*tid.y"},
    {0, "ld.shared.f32", "128*tid.x + 4*tid.y"},
    {5, "cp.async", "16*tid.x"},
    {5, "ldmatrix", "64*(tid.x % 16) + 16*(tid.x / 16 % 2) + 4096*(tid.x / 64) + 8192*(n % 2)"},
};

START_TEST(test_addresses_as_formulas) {
  const PtxArrays arrays = run(formulas[_i].index, NULL, 0);
  for (int pc = 0; pc < given.module->n_code; pc++) {
    const PtxSite *site = ptx_record_site(record, pc);
    if (!site || site->space != PTX_SPACE_SHARED) continue;
    const char *text = ptx_inst_text(arena, given.module, &given.module->code[pc]), *why;
    if (!str_starts(text, formulas[_i].inst)) continue;
    ck_assert_str_eq(
        ptx_record_formula(arena, record, site, arrays.items[site->array].at.base, &why),
        formulas[_i].formula);
    return;
  }
  ck_abort_msg("no %s", formulas[_i].inst);
}
END_TEST

// Copies into the other half of a double buffer: a ring that begins at its second slot.
START_TEST(test_a_ring_that_begins_elsewhere) {
  const PtxArrays arrays = run(5, NULL, 0);
  int n = 0;
  for (int pc = 0; pc < given.module->n_code; pc++) {
    const PtxSite *site = ptx_record_site(record, pc);
    const char *why;
    if (!site || site->space != PTX_SPACE_SHARED || !site->recorded.op) continue;
    const char *text =
        ptx_record_formula(arena, record, site, arrays.items[site->array].at.base, &why);
    n += text && str_equal(text, "16*tid.x + 8192*((n + 1) % 2)");
  }
  ck_assert_int_eq(n, 2);  // As and Bs
}
END_TEST

// k03 swizzles by XOR; k15 goes where its data says.
START_TEST(test_what_is_no_sum) {
  const PtxArrays xors = run(1, NULL, 0);
  int n_xors = 0, n_why = 0;
  for (int pc = 0; pc < given.module->n_code; pc++) {
    const PtxSite *site = ptx_record_site(record, pc);
    const char *why;
    if (!site || site->space != PTX_SPACE_SHARED) continue;
    const char *text = ptx_record_formula(arena, record, site, xors.items[0].at.base, &why);
    n_xors += text && strstr(text, " ^ ") != NULL;
  }
  ck_assert_int_gt(n_xors, 0);
  run(7, NULL, 0);
  for (int pc = 0; pc < given.module->n_code; pc++) {
    const PtxSite *site = ptx_record_site(record, pc);
    const char *why = NULL;
    if (!site || !site->recorded.atomic || site->space != PTX_SPACE_SHARED) continue;
    if (!ptx_record_formula(arena, record, site, 0, &why)) n_why += why != NULL;
  }
  ck_assert_int_gt(n_why, 0);
}
END_TEST

START_TEST(test_layouts_of_a_transpose) {
  const PtxPitch rows = {.name = "tile", .bytes = 128, .from = "given"};
  const PtxArrays arrays = run(0, &rows, 1);
  ck_assert_int_eq(arrays.n, 1);
  ck_assert_str_eq(arrays.items[0].name, "tile");
  ck_assert_int_eq(arrays.items[0].at.row_bytes, 128);
  ck_assert_int_eq(cost_of(&arrays, 0, NULL).wavefronts, 32 + 4 * 8 * 32);
  ck_assert_int_eq(cost_of(&arrays, 0, "pad:1").wavefronts, 64);
  ck_assert_int_eq(cost_of(&arrays, 0, "pad:2").wavefronts, 32 + 4 * 8 * 2);
  ck_assert_int_eq(cost_of(&arrays, 0, "xor:'col ^ (row & 31)'").wavefronts, 64);
  ck_assert(!cost_of(&arrays, 0, "pad:x").legal);
  ck_assert_int_eq(diags.count, 1);
  int n;
  const RecordedSite *sites = ptx_record_of_array(arena, record, 0, &n);
  Arena *scratch = arena_new("scratch");
  const RecordedBest best = recorded_solve(arena, scratch, &arrays.items[0].at, "tile", sites, n);
  arena_free(scratch);
  ck_assert(best.found);
  ck_assert_int_eq(best.cost.wavefronts, 64);
  ck_assert_str_eq(best.write, "tile[row][col ^ (row & 31)]");
  ck_assert_str_eq(recorded_write(arena, &arrays.items[0].at, "tile", "pad:1"), "tile[32][32 + 1]");
  static const struct {
    const char *layout, *write;
  } dialects[] = {
      {"Sw<5,0,5> o _0 o (_32,_32):(_32,_1)", "tile[row][col ^ (row & 31)]"},
      {"Swizzle<5,2,5>", "tile[row][col ^ (row & 31)]"},
      {"make_layout(make_shape(_32{}, _32{}), make_stride(_33{}, _1{}))", "tile[32][32 + 1]"},
      {"#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 32, order = [1, 0]}>",
       "tile[row][col ^ (row & 31)]"},
      {"(_32,_32):(_32,_1)", "tile[row][col]"},
      {"(_32,_32):(_1,_40)", "(_32,_32):(_1,_40)"},
  };
  for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++)
    ck_assert_str_eq(recorded_write(arena, &arrays.items[0].at, "tile", dialects[i].layout),
                     dialects[i].write);
  RecordedArray flat = arrays.items[0].at;  // of no known rows
  flat.has_rows = false;
  ck_assert_str_eq(recorded_write(arena, &flat, "a", "pad:1"), "a[i + i / 32 * 1]");
  ck_assert_str_eq(recorded_write(arena, &flat, "a", "swizzle:5,2,5"), "a[i ^ ((i >> 5) & 31)]");
}
END_TEST

// A copy of 16 bytes is not torn apart by a pad of one float.
START_TEST(test_a_pad_that_misaligns_is_refused) {
  const PtxPitch rows = {.name = "As", .bytes = 64, .from = "given"};
  const PtxArrays arrays = run(5, &rows, 1);
  ck_assert(!cost_of(&arrays, 0, "pad:1").legal);
  ck_assert_str_eq(diags.first->rule, "layout");
  ck_assert(cost_of(&arrays, 0, "pad:8").legal);
  ck_assert_int_lt(cost_of(&arrays, 0, "pad:8").wavefronts, cost_of(&arrays, 0, NULL).wavefronts);
}
END_TEST

static const struct {
  const char *text, *name;
  int64_t bytes, all;
} declared[] = {
    {"constexpr int BK = 32, PAD = 8;\n__shared__ half As[2][64][BK + PAD];", "As", 80, 10240},
    {"#define T 16\n  __shared__ __align__(16) float tile[T][T+1];", "tile", 68, 1088},
    {"__shared__ alignas(128) uint8_t raw[4096];", "raw", 0, 4096},
    {"// __shared__ float no[2][2];\n__shared__ float4 v[8][3];", "v", 48, 384},
};

START_TEST(test_declarations) {
  int n;
  const PtxPitch *found = open_declared(arena, declared[_i].text, &n);
  ck_assert_int_eq(n, 1);
  ck_assert_str_eq(found->name, declared[_i].name);
  ck_assert_int_eq(found->bytes, declared[_i].bytes);
  ck_assert_int_eq(found->array_bytes, declared[_i].all);
}
END_TEST

START_TEST(test_declarations_that_say_nothing) {
  static const char *const texts[] = {
      "template <int N> __global__ void f() { __shared__ float a[N][N]; }",
      "__shared__ Tile t[4][4];",
      "extern __shared__ float all[];",
      "__shared__ float a[0][4];",
      "__shared__ float a[4",
      "__shared__",
      "#define N (1 << 70)\n__shared__ float a[2][N];",
      "__shared__ float a[99999999][99999999];",
  };
  int n;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    open_declared(arena, texts[i], &n);
    ck_assert_msg(n == 0, "%s", texts[i]);
  }
}
END_TEST

Suite *suite_open_record(void) {
  Suite *suite = suite_create("open_record");
  TCase *tcase = tcase_create("record");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, test_patterns_are_what_was_counted, 0, open_case_count());
  tcase_add_loop_test(tcase, test_addresses_as_formulas, 0,
                      (int)(sizeof formulas / sizeof *formulas));
  tcase_add_test(tcase, test_a_ring_that_begins_elsewhere);
  tcase_add_test(tcase, test_what_is_no_sum);
  tcase_add_test(tcase, test_layouts_of_a_transpose);
  tcase_add_test(tcase, test_a_pad_that_misaligns_is_refused);
  tcase_add_loop_test(tcase, test_declarations, 0, (int)(sizeof declared / sizeof *declared));
  tcase_add_test(tcase, test_declarations_that_say_nothing);
  suite_add_tcase(suite, tcase);
  return suite;
}
