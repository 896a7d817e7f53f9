// Recorded accesses in other layouts, and the phases that the solver makes of accesses, held
// against what follows from their definitions lane by lane.
#include <check.h>
#include <string.h>

#include "banks/solver/recorded_slab.h"
#include "banks/solver/slab_pattern.h"
#include "base/random.h"
#include "base/str.h"

Suite *suite_recorded(void);

static Arena *arena, *scratch;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  scratch = arena_new("scratch");
  diags = diags_new(arena);
}
static void teardown(void) {
  arena_free(scratch);
  arena_free(arena);
}

// ---- what a layout costs ------------------------------------------------------------------------

static const char *const ops[] = {"lds8",    "lds16",   "lds32",   "lds64",    "lds128",
                                  "sts8",    "sts32",   "sts64",   "sts128",   "ldsm_x1",
                                  "ldsm_x2", "ldsm_x4", "stsm_x2", "cpasync4", "cpasync8"};
enum { N_OPS = sizeof ops / sizeof *ops };

// A layout, and where it puts a byte of an array of rows.
static const struct {
  const char *text;
  int pad, bits, base, shift;
} layouts[] = {{"none", 0, 0, 0, 0},          {"pad:1", 1, 0, 0, 0},
               {"pad:4", 4, 0, 0, 0},         {"pad:8", 8, 0, 0, 0},
               {"swizzle:3,4,3", 0, 3, 4, 3}, {"swizzle:2,4,3", 0, 2, 4, 3},
               {"swizzle:1,3,4", 0, 1, 3, 4}};
enum { N_LAYOUTS = sizeof layouts / sizeof *layouts };

static int64_t placed(const RecordedArray *array, int layout, int64_t at) {
  const int64_t row = at / array->row_bytes, col = at % array->row_bytes;
  if (layouts[layout].pad)
    return row * (array->row_bytes + layouts[layout].pad * array->elem_bytes) + col;
  const int64_t bits =
      (at >> (layouts[layout].base + layouts[layout].shift)) & ((1 << layouts[layout].bits) - 1);
  return at ^ bits << layouts[layout].base;
}

static RecordedArray random_array(uint64_t *random) {
  static const int rows_of[] = {32, 64, 96, 128, 256}, bases[] = {0, 16, 128, 400};
  RecordedArray array = {.base = bases[random_between(random, 0, 3)],
                         .row_bytes = rows_of[random_between(random, 0, 4)],
                         .elem_bytes = random_between(random, 0, 1) ? 4 : 2,
                         .has_rows = true};
  // As many rows as any swizzle here wants: eight lines of 128 bytes.
  array.bytes = array.row_bytes * 8 * random_between(random, 1, 5) * (array.row_bytes % 64 ? 4 : 1);
  if (array.row_bytes == 64 || array.row_bytes == 32) array.bytes *= 4;
  return array;
}

static RecordedPattern *random_pattern(uint64_t *random, const RecordedArray *array,
                                       const BankOp *op) {
  RecordedPattern *p = ARENA_NEW(arena, RecordedPattern);
  const int idle = (int)random_between(random, 0, 3);  // one in four lanes, or none
  const int64_t stride = random_between(random, 0, 2) ? array->row_bytes : op->bytes;
  const int64_t from = random_between(random, 0, array->bytes / op->bytes - 1) * op->bytes;
  *p = (RecordedPattern){.times = random_between(random, 1, 1000)};
  for (int lane = 0; lane < BANK_LANES; lane++) {
    const int64_t at = (from + lane * stride) % array->bytes / op->bytes * op->bytes;
    const bool asks = lane < op->n_addresses && !(idle == 1 && random_between(random, 0, 3) == 0);
    p->addr[lane] = asks && at + op->bytes <= array->bytes ? array->base + at : BANK_INACTIVE;
  }
  return p;
}

static bool expected(const RecordedArray *array, const RecordedSite *site, int layout,
                     int64_t *sum) {
  for (const RecordedPattern *p = site->patterns; p; p = p->next) {
    int64_t addr[BANK_LANES];
    for (int lane = 0; lane < BANK_LANES; lane++) {
      addr[lane] = BANK_INACTIVE;
      if (p->addr[lane] < 0) continue;
      const int64_t at = p->addr[lane] - array->base, first = placed(array, layout, at);
      for (int byte = 0; byte < site->bytes; byte++)
        if (placed(array, layout, at + byte) != first + byte) return false;
      addr[lane] = array->base + first;
      if (addr[lane] % site->bytes) return false;
    }
    *sum += p->times * banks_count(site->op, addr).profiled;
  }
  return true;
}

START_TEST(a_layout_costs_what_the_moved_addresses_cost) {
  uint64_t random = 7;
  int n_legal = 0, n_torn = 0;
  for (int round = 0; round < 600; round++) {
    arena_reset(arena);
    diags = diags_new(arena);
    const RecordedArray array = random_array(&random);
    const int layout = (int)random_between(&random, 0, N_LAYOUTS - 1);
    RecordedSite sites[3];
    int64_t sum = 0;
    bool legal = true;
    const int n = (int)random_between(&random, 1, 3);
    for (int i = 0; i < n; i++) {
      const BankOp *op = banks_op_find(ops[random_between(&random, 0, N_OPS - 1)]);
      RecordedPattern *first = random_pattern(&random, &array, op);
      if (i) first->next = random_pattern(&random, &array, op);
      sites[i] = (RecordedSite){
          .op = op, .bytes = op->bytes, .patterns = first, .n_patterns = 1 + (i > 0)};
      if (op->kind == BANK_CPASYNC) sites[i].op = banks_op_find("sts32"), sites[i].bytes = 4;
      legal = legal && expected(&array, &sites[i], layout, &sum);
    }
    const RecordedCost cost = recorded_cost(arena, &array, sites, n, layouts[layout].text, &diags);
    ck_assert_msg(cost.legal == legal, "%s, round %d: %s", layouts[layout].text, round,
                  diags_text(arena, &diags));
    n_legal += legal;
    n_torn += !legal;
    if (!legal) continue;
    ck_assert(cost.known);
    ck_assert_int_eq(cost.wavefronts, sum);
    const int64_t rows = array.bytes / array.row_bytes;
    ck_assert_int_ge(cost.storage_bytes, array.bytes);
    ck_assert_int_le(cost.storage_bytes,
                     array.bytes + rows * layouts[layout].pad * array.elem_bytes);
    if (layout) continue;
    const RecordedCost as_is = recorded_cost(arena, &array, sites, n, NULL, &diags);
    ck_assert(as_is.legal && as_is.known && as_is.wavefronts == sum &&
              as_is.storage_bytes == array.bytes);
  }
  ck_assert_int_gt(n_legal, 100);
  ck_assert_int_gt(n_torn, 50);
}
END_TEST

// 4 rows of 64 bytes at 256; one lane alone.
static RecordedArray small = {
    .base = 256, .bytes = 256, .row_bytes = 64, .elem_bytes = 4, .has_rows = true};

static RecordedSite one_lane(const char *op, int64_t addr, int64_t times) {
  RecordedPattern *p = ARENA_NEW(arena, RecordedPattern);
  *p = (RecordedPattern){.times = times};
  for (int lane = 0; lane < BANK_LANES; lane++) p->addr[lane] = BANK_INACTIVE;
  p->addr[5] = addr;
  const BankOp *row = banks_op_find(op);
  return (RecordedSite){.op = row, .bytes = row->bytes, .patterns = p, .n_patterns = 1};
}

START_TEST(the_first_and_the_last_byte_are_inside) {
  static const struct {
    const char *op;
    int64_t addr;
    bool inside;
  } cases[] = {{"lds32", 252, false}, {"lds32", 256, true},  {"lds32", 508, true},
               {"lds32", 512, false}, {"lds128", 496, true}, {"lds128", 512, false},
               {"lds8", 255, false},  {"lds8", 256, true},   {"lds8", 511, true},
               {"lds8", 512, false},  {"lds64", 504, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const RecordedSite site = one_lane(cases[i].op, cases[i].addr, 1);
    SolverProblem problem;
    int of[SOLVER_SITES_MAX];
    Diags own = diags_new(arena);
    ck_assert_int_eq(recorded_cost(arena, &small, &site, 1, "none", &own).legal, cases[i].inside);
    ck_assert_int_eq(own.count > 0, !cases[i].inside);
    ck_assert_int_eq(recorded_problem(arena, &small, "s", &site, 1, &problem, of, &own),
                     cases[i].inside);
    ck_assert_int_eq(recorded_cost(arena, &small, &site, 1, NULL, &own).wavefronts, 1);
  }
}
END_TEST

START_TEST(rows_are_rounded_up) {
  LayoutSlab slab;
  RecordedArray array = small;
  static const struct {
    int64_t bytes;
    int rows;
  } cases[] = {{1, 1}, {63, 1}, {64, 1}, {65, 2}, {128, 2}, {1000, 16}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    array.bytes = cases[i].bytes;
    ck_assert(recorded_slab(&array, &slab, &diags));
    ck_assert_int_eq(slab.rows, cases[i].rows);
    ck_assert_int_eq(slab.row_bytes, 64);
    ck_assert_int_eq(slab.elem_bytes, 4);
  }
  array.row_bytes = 0;
  ck_assert(!recorded_slab(&array, &slab, &diags));
}
END_TEST

START_TEST(an_operation_without_a_count_makes_the_sum_unknown) {
  RecordedSite sites[2] = {one_lane("lds32", 256, 3), one_lane("lds32", 260, 5)};
  sites[1].op = NULL;
  const RecordedCost cost = recorded_cost(arena, &small, sites, 2, NULL, &diags);
  ck_assert(!cost.known && cost.legal);
  ck_assert_int_eq(cost.wavefronts, 3);
  SolverProblem problem;
  ck_assert(recorded_problem(arena, &small, "s", sites, 2, &problem, NULL, &diags));
  ck_assert_int_eq(problem.n_sites, 1);
}
END_TEST

// ---- the solver's sites -------------------------------------------------------------------------

// Patterns of one operation that came equally often are one site; the costliest is the first.
START_TEST(patterns_are_put_together) {
  RecordedSite sites[4] = {one_lane("lds32", 256, 2), one_lane("lds32", 260, 7),
                           one_lane("lds32", 264, 2), one_lane("sts32", 268, 2000000)};
  SolverProblem problem;
  int of[SOLVER_SITES_MAX];
  ck_assert(recorded_problem(arena, &small, "s", sites, 4, &problem, NULL, &diags));
  static const struct {
    const char *op;
    int weight, repeat, first;
  } together[] = {{"sts32", 1000000, 1, 12}, {"lds32", 7, 1, 4}, {"lds32", 2, 2, 0}};
  ck_assert_int_eq(problem.n_sites, 3);
  for (int i = 0; i < 3; i++) {
    ck_assert_str_eq(problem.sites[i].op->name, together[i].op);
    ck_assert_int_eq(problem.sites[i].weight, together[i].weight);
    ck_assert_int_eq(problem.sites[i].repeat, together[i].repeat);
    ck_assert_int_eq(problem.sites[i].logical[0][5], together[i].first);
    ck_assert_int_eq(problem.sites[i].logical[0][4], -1);
  }
  ck_assert_int_eq(problem.sites[2].logical[1][5], 8);
  ck_assert(recorded_problem(arena, &small, "s", sites, 4, &problem, of, &diags));
  ck_assert_int_eq(problem.n_sites, 4);
  ck_assert_int_eq(of[0], 3);
  ck_assert_int_eq(of[1], 1);
  ck_assert_int_eq(of[2] + of[3], 2);
}
END_TEST

// A list of patterns grows without losing any, whatever its length.
START_TEST(no_pattern_is_lost) {
  for (int n = 1; n <= 37; n++) {
    RecordedSite site = one_lane("lds32", 256, 4);
    for (int i = 1; i < n; i++) {
      RecordedPattern *p = ARENA_NEW(arena, RecordedPattern);
      *p = *site.patterns;
      p->addr[5] = 256 + 4 * i;
      p->next = site.patterns;
      site.patterns = p;
    }
    SolverProblem problem;
    ck_assert(recorded_problem(arena, &small, "s", &site, 1, &problem, NULL, &diags));
    ck_assert_int_eq(problem.n_sites, 1);
    ck_assert_int_eq(problem.sites[0].repeat, n);
    for (int i = 0; i < n; i++) ck_assert_int_eq(problem.sites[0].logical[i][5], 4 * (n - 1 - i));
  }
}
END_TEST

START_TEST(the_rarest_kinds_are_left_to_the_end) {
  enum { N = 80 };
  RecordedSite sites[N];
  for (int i = 0; i < N; i++) sites[i] = one_lane("lds32", 256, 1 + i);
  SolverProblem problem;
  ck_assert(recorded_problem(arena, &small, "s", sites, N, &problem, NULL, &diags));
  ck_assert_int_eq(problem.n_sites, SOLVER_SITES_MAX);
  for (int i = 0; i < problem.n_sites; i++) ck_assert_int_eq(problem.sites[i].weight, N - i);
}
END_TEST

// A column of floats, row after row: 32 wavefronts as it is, one with a swizzle or a pad.
START_TEST(a_column_is_solved) {
  RecordedArray array = {.bytes = 4096, .row_bytes = 128, .elem_bytes = 4, .has_rows = true};
  RecordedSite site = one_lane("lds32", 0, 10);
  RecordedPattern *p = (RecordedPattern *)(uintptr_t)site.patterns;
  for (int lane = 0; lane < BANK_LANES; lane++) p->addr[lane] = 128 * lane;
  const RecordedBest best = recorded_solve(arena, scratch, &array, "t", &site, 1);
  ck_assert(best.found);
  ck_assert_int_eq(best.cost.wavefronts, 10);
  ck_assert_ptr_nonnull(strstr(best.write, "t["));
  ck_assert_int_eq(recorded_cost(arena, &array, &site, 1, best.layout, &diags).wavefronts, 10);
  // A layout that costs the least already is left as it is.
  for (int lane = 0; lane < BANK_LANES; lane++) p->addr[lane] = 4 * lane;
  ck_assert(!recorded_solve(arena, scratch, &array, "t", &site, 1).found);
}
END_TEST

// ---- in the words of CUDA -----------------------------------------------------------------------

START_TEST(a_layout_is_written_in_cuda) {
  static const struct {
    int row_bytes, elem_bytes;
    int64_t bytes;
    bool has_rows;
    const char *layout, *written;
  } cases[] = {
      {128, 4, 4096, true, "none", "t[row][col]"},
      {128, 4, 4096, false, "none", "t[i]"},
      {128, 4, 4096, true, "pad:1", "t[32][32 + 1]"},
      {128, 2, 4097, true, "pad:8", "t[33][64 + 8]"},
      {128, 4, 4096, false, "pad:1", "t[i + i / 32 * 1]"},
      {128, 2, 4096, true, "swizzle:3,4,3", "t[row][col ^ ((row & 7) << 3)]"},
      {64, 2, 4096, true, "swizzle:2,4,3", "t[row][col ^ (((row >> 1) & 3) << 3)]"},
      {128, 4, 4096, true, "swizzle:5,2,5", "t[row][col ^ (row & 31)]"},
      {128, 4, 4096, false, "swizzle:3,4,3", "t[i ^ ((i >> 3) & 28)]"},
      {128, 4, 4096, true, "swizzle:3,4,4", "t[row][col ^ (((row >> 1) & 7) << 2)]"},
      {96, 4, 3072, true, "swizzle:1,4,3", "t[i ^ ((i >> 3) & 4)]"},
      // Bits of the row that a shift does not reach, or columns beyond the row: by the element's
      // number.
      {128, 4, 4096, true, "swizzle:3,4,2", "t[i ^ ((i >> 2) & 28)]"},
      {64, 4, 4096, true, "swizzle:3,4,3", "t[i ^ ((i >> 3) & 28)]"},
      {128, 4, 4096, true, "xor:'col ^ row'", "t[row][col ^ row]"},
      {128, 4, 4096, false, "xor:'col ^ row'", "t[row][col ^ row], row = i / 32, col = i % 32"},
      {128, 4, 4096, true, "xoroff:'off ^ 4'", "t[off ^ 4], off = row * 32 + col"},
      {128, 4, 4096, true, "pad:1;swizzle:3,4,3", "pad:1;swizzle:3,4,3"},
      {128, 4, 4096, true, "swizzle:3,1,3", "swizzle:3,1,3"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const RecordedArray array = {.bytes = cases[i].bytes,
                                 .row_bytes = cases[i].row_bytes,
                                 .elem_bytes = cases[i].elem_bytes,
                                 .has_rows = cases[i].has_rows};
    ck_assert_str_eq(recorded_write(arena, &array, "t", cases[i].layout), cases[i].written);
  }
}
END_TEST

// ---- phases -------------------------------------------------------------------------------------

static SlabSite random_site(uint64_t *random, const LayoutSlab *slab) {
  const BankOp *op = banks_op_find(ops[random_between(random, 0, N_OPS - 1)]);
  const int repeat = (int)random_between(random, 1, 3), bytes = slab->rows * slab->row_bytes;
  int32_t(*logical)[BANK_LANES] = arena_alloc(arena, sizeof *logical * 3);
  for (int i = 0; i < repeat; i++) {
    const int all = bytes / op->bytes, few = random_between(random, 0, 1) && all > 8 ? 8 : all;
    for (int lane = 0; lane < BANK_LANES; lane++) {
      const bool asks = lane < op->n_addresses && random_between(random, 0, 7);
      logical[i][lane] = asks ? (int32_t)random_between(random, 0, few - 1) * op->bytes : -1;
    }
  }
  return (SlabSite){.name = op->name,
                    .op = op,
                    .weight = (int)random_between(random, 0, 5),
                    .repeat = repeat,
                    .logical = (const int32_t(*)[BANK_LANES])logical};
}

// For one phase: what no layout that keeps `whole` bytes together can bring below, 0 where no lane
// asks.
static int least(const SlabSite *site, const int32_t *logical, int n, int whole, bool whole_rows) {
  int found = 0;
  const int unit = site->op->bytes > 4 ? site->op->bytes : 4;
  for (int mine = 0; mine < n; mine++) {
    int at_position = 0, together = 0;
    if (logical[mine] < 0) continue;
    for (int lane = 0; lane < n; lane++) {
      if (logical[lane] < 0) continue;
      bool again = false;
      for (int other = 0; other < lane && site->op->shares_words; other++)
        again |= logical[other] >= 0 && logical[other] / unit == logical[lane] / unit;
      if (again) continue;
      at_position += logical[lane] % whole / unit == logical[mine] % whole / unit;
      together += logical[lane] / unit == logical[mine] / unit;
    }
    const int columns = BANK_LINE_BYTES / whole, spread = (at_position + columns - 1) / columns;
    if (whole_rows && spread > found) found = spread;
    if (together > found) found = together;
    if (found < 1) found = 1;
  }
  return found;
}

START_TEST(floors_follow_from_the_addresses) {
  static const int rows_of[] = {32, 48, 64, 128, 144};
  uint64_t random = 3;
  for (int round = 0; round < 400; round++) {
    arena_reset(arena);
    diags = diags_new(arena);
    const LayoutSlab slab = {.rows = (int)random_between(&random, 1, 64),
                             .row_bytes = rows_of[random_between(&random, 0, 4)],
                             .elem_bytes = 4};
    const SlabSite sites[2] = {random_site(&random, &slab), random_site(&random, &slab)};
    const SlabPatterns p = slab_patterns_build(arena, &slab, sites, 2);
    int whole = 4;
    for (int s = 0; s < 2; s++)
      if (sites[s].op->bytes > whole) whole = sites[s].op->bytes;
    const bool whole_rows = slab.row_bytes % whole == 0;
    ck_assert_int_eq(p.whole_bytes, whole);
    ck_assert_int_eq(1 << p.column_bits, BANK_LINE_BYTES / whole);
    ck_assert_int_ge(1 << p.chunk_bits, (slab.rows * slab.row_bytes + whole - 1) / whole);
    int64_t all = 0, weights = 0, has = 0;
    for (int s = 0; s < 2; s++) {
      int64_t floor = 0;
      for (int i = 0; i < sites[s].repeat; i++) {
        int n_lanes, n_phases = slab_site_phases(&sites[s], i, &n_lanes);
        for (int phase = 0; phase < n_phases; phase++) {
          const int one =
              least(&sites[s], &sites[s].logical[i][phase * n_lanes], n_lanes, whole, whole_rows);
          floor += one;
          weights += one > 0 ? sites[s].weight : 0;
        }
      }
      ck_assert_int_eq(p.site_floor[s], floor);
      all += floor * sites[s].weight;
      const Layout *layout = layout_parse(arena, &slab, "none", &diags);
      ck_assert_int_ge(slab_site_cost(&sites[s], layout).wavefronts, (int)floor);
    }
    for (int i = 0; i < p.n; i++) {
      has += p.patterns[i].weight;
      ck_assert_int_eq(p.patterns[i].chunk[0], 0);
      for (int other = 0; other < i; other++)
        ck_assert(
            p.patterns[i].n != p.patterns[other].n ||
            memcmp(p.patterns[i].chunk, p.patterns[other].chunk, sizeof p.patterns[i].chunk) != 0 ||
            memcmp(p.patterns[i].position, p.patterns[other].position,
                   sizeof p.patterns[i].position) != 0);
    }
    ck_assert_int_eq(p.floor, all);
    ck_assert_int_eq(has, weights);
  }
}
END_TEST

// The example of slab_pattern.c: a store of one float a lane, 4 rows apart, in rows of 64 bytes,
// chunks of 16.
START_TEST(a_store_of_rows_has_its_floor) {
  const LayoutSlab slab = {.rows = 128, .row_bytes = 64, .elem_bytes = 4};
  static const struct {
    const char *op, *col;
    int chunks, patterns;
    int64_t floor;
  } cases[] = {{"sts32", "0", 32, 1, 4}, {"sts32", "1", 32, 1, 4}, {"sts128", "0", 8, 1, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const SlabSiteText texts[2] = {{"a", cases[i].op, "4*lane", cases[i].col, 1, 1},
                                   {"whole", "lds128", "0", "0", 0, 1}};
    SlabSite sites[2];
    for (int s = 0; s < 2; s++)
      ck_assert(slab_site_build(arena, &slab, &texts[s], &sites[s], &diags));
    const SlabPatterns p = slab_patterns_build(arena, &slab, sites, 2);
    ck_assert_int_eq(p.whole_bytes, 16);
    ck_assert_int_eq(p.column_bits, 3);
    ck_assert_int_eq(p.chunk_bits, 9);
    ck_assert_int_eq(p.n, cases[i].patterns);
    ck_assert_int_eq(p.floor, cases[i].floor);
    ck_assert_int_eq(p.site_chunks[0], cases[i].chunks);
  }
}
END_TEST

Suite *suite_recorded(void) {
  Suite *suite = suite_create("recorded");
  TCase *tcase = tcase_create("recorded");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, a_layout_costs_what_the_moved_addresses_cost);
  tcase_add_test(tcase, the_first_and_the_last_byte_are_inside);
  tcase_add_test(tcase, rows_are_rounded_up);
  tcase_add_test(tcase, an_operation_without_a_count_makes_the_sum_unknown);
  tcase_add_test(tcase, patterns_are_put_together);
  tcase_add_test(tcase, no_pattern_is_lost);
  tcase_add_test(tcase, the_rarest_kinds_are_left_to_the_end);
  tcase_add_test(tcase, a_column_is_solved);
  tcase_add_test(tcase, a_layout_is_written_in_cuda);
  tcase_add_test(tcase, floors_follow_from_the_addresses);
  tcase_add_test(tcase, a_store_of_rows_has_its_floor);
  suite_add_tcase(suite, tcase);
  return suite;
}
