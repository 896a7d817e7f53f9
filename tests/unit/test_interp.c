// The interpreter on programs built by hand: the sound ones are silent and exact, and each planted
// fault is told as what it is.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp_recipe.h"
#include "model/interp/interp.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

Suite *suite_interp(void);

static Arena *arena;

static void setup(void) {
  arena = arena_new("test interp");
  recipe_use(arena);
}
static void teardown(void) { arena_free(arena); }

// ---- sound programs -----------------------------------------------------------------------------

static void print_findings(const InterpCheck *check) {
  for (int i = 0; i < check->n_findings; i++) puts(check->finding[i].text);
  if (check->n_wrong)
    printf("wrong: %lld cells, first C[%lld, %lld] = %g, expected %g\n", (long long)check->n_wrong,
           (long long)check->wrong_row, (long long)check->wrong_column, check->wrong_got,
           check->wrong_expected);
}

static InterpCheck run_check(const Recipe *recipe) {
  return interpret_check(arena, recipe_build(recipe), &(InterpOptions){.seed = 7});
}

static const Recipe sound[] = {
    {.problem = {.m = 32, .n = 32, .k = 32},
     .bm = 8,
     .bn = 8,
     .fm = 1,
     .fn = 1,
     .bk = 8,
     .slabs = 1,
     .splits = 1},
    {.problem = {.m = 37, .n = 29, .k = 21},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 3,
     .bk = 8,
     .slabs = 1,
     .splits = 1},
    {.problem = {.m = 37, .n = 29, .k = 21},
     .bm = 6,
     .bn = 7,
     .fm = 3,
     .fn = 1,
     .bk = 5,
     .slabs = 1,
     .splits = 1},
    {.problem = {.m = 40, .n = 40, .k = 40},
     .bm = 16,
     .bn = 4,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 2,
     .splits = 1,
     .pad = 1},
    {.problem = {.m = 33, .n = 31, .k = 47},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 3,
     .splits = 1},
    {.problem = {.m = 33, .n = 31, .k = 47},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 1,
     .splits = 1,
     .async = true},
    {.problem = {.m = 33, .n = 31, .k = 63},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 2,
     .splits = 1,
     .async = true},
    {.problem = {.m = 33, .n = 31, .k = 63},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 4,
     .splits = 1,
     .async = true},
    {.problem = {.m = 32, .n = 32, .k = 64},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 1,
     .splits = 4},
    {.problem = {.m = 31, .n = 33, .k = 61},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 2,
     .splits = 3},
    {.problem = {.m = 31, .n = 33, .k = 61},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 2,
     .splits = 3,
     .partials = true},
};
enum { N_SOUND = sizeof sound / sizeof sound[0] };

START_TEST(sound_programs_are_silent_and_exact) {
  InterpCheck check = run_check(&sound[_i]);
  if (!check.ok) print_findings(&check);
  ck_assert(check.ok);
  ck_assert_int_eq(check.n_found, 0);
  ck_assert(check.result->finished);
}
END_TEST

START_TEST(naive_nest_agrees_with_the_loop) {
  Problem problem = {.m = 9, .n = 7, .k = 13};
  Program *naive = recipe_naive(problem);
  InterpCheck check = interpret_check(arena, naive, &(InterpOptions){.seed = 3});
  ck_assert(check.ok);
  ck_assert_int_eq(check.result->lanes[OP_FMA], 9 * 7 * 13);
  ck_assert_int_eq(check.result->lanes[OP_LOAD], 2 * 9 * 7 * 13);
  ck_assert_int_eq(check.result->lanes[OP_STORE], 9 * 7);
}
END_TEST

START_TEST(naive_and_tiled_agree_with_each_other) {
  Recipe recipe = sound[2];
  InterpCheck check = interpret_check_naive(arena, recipe_naive(recipe.problem),
                                            recipe_build(&recipe), &(InterpOptions){.seed = 11});
  ck_assert(check.ok);
}
END_TEST

// Every operation is counted by lane, a partial warp's missing lanes are not.
START_TEST(counts_are_those_of_the_nest) {
  Recipe recipe = sound[2];  // 42 threads, 18 × 7 tiles, 5 slabs of 5
  const InterpResult *result = interpret(arena, recipe_build(&recipe), &(InterpOptions){.seed = 1});
  int64_t blocks = 3 * 5, threads = blocks * 42;
  ck_assert_int_eq(result->lanes[OP_FMA], threads * 5 * 5 * 3);
  ck_assert_int_eq(result->lanes[OP_BARRIER], threads * 5 * 2);
  ck_assert_int_eq(result->lanes[OP_STORE], threads * 3 + blocks * 5 * (18 * 5 + 5 * 7));
  for (int64_t i = 0; i < (int64_t)37 * 29; i++) ck_assert(result->c_written[i]);
}
END_TEST

// One thread runs all of the naive nest: 3 · 2 cells of an INIT, 5 rounds of LOAD, LOAD, FMA, and a
// STORE, under 1 + 3 + 3 · 2 loops; what it is seen to store is what lies in C.
START_TEST(a_thread_that_is_looked_at) {
  const Problem problem = {.m = 3, .n = 2, .k = 5};
  InterpTrace trace = {.limit = 1000, .text = str_new(arena)};
  const InterpResult *result =
      interpret(arena, recipe_naive(problem), &(InterpOptions){.seed = 1, .trace = &trace});
  ck_assert_int_eq(trace.n_lines, 6 * (1 + 5 * 3 + 1) + 3 + 3 * 2 + 3 * 2 * 5);
  for (int i = 0; i < 6; i++) {
    const char *stored = arena_printf(arena, "C[%d, %d] = %g\n", i / 2, i % 2, result->c[i]);
    ck_assert_msg(strstr(trace.text.text, stored) != NULL, "no %s in %s", stored, trace.text.text);
  }
  trace = (InterpTrace){.limit = 2, .text = str_new(arena)};
  interpret(arena, recipe_naive(problem), &(InterpOptions){.seed = 1, .trace = &trace});
  ck_assert_int_gt(trace.n_lines, 100);
  ck_assert_uint_lt(trace.text.length, 100);
}
END_TEST

START_TEST(same_seed_same_run) {
  const Recipe *recipe = &sound[4];
  InterpOptions options = {.seed = 5};
  const InterpResult *a = interpret(arena, recipe_build(recipe), &options);
  const InterpResult *b = interpret(arena, recipe_build(recipe), &options);
  ck_assert_int_eq(a->steps, b->steps);
  ck_assert_mem_eq(a->c, b->c, sizeof(double) * 33 * 31);
}
END_TEST

START_TEST(inputs_are_small_whole_numbers_without_zero) {
  const float *x = interpret_inputs(arena, 1000, 9, 0), *y = interpret_inputs(arena, 1000, 9, 1);
  double sum = 0;
  for (int i = 0; i < 1000; i++) {
    ck_assert(x[i] == floorf(x[i]) && fabsf(x[i]) >= 1 && fabsf(x[i]) <= 8);
    sum += (double)(x[i] * y[i]);
  }
  ck_assert(fabs(sum) < 4000);  // the two matrices are not alike
  ck_assert_mem_ne(x, y, sizeof(float) * 1000);
}
END_TEST

// ---- planted faults -----------------------------------------------------------------------------

typedef struct Planted {
  Recipe recipe;
  FindingKind kind;  // one of the findings must be of this kind …
  const char *says;  // … and its text must hold this
  bool wrong;        // cells must be wrong as well
} Planted;

#define PLAIN .bm = 8, .bn = 8, .fm = 2, .fn = 2, .bk = 8, .splits = 1
#define EVEN .problem = {.m = 32, .n = 32, .k = 40}
#define ODD .problem = {.m = 33, .n = 31, .k = 43}

static const Planted planted[] = {
    {{EVEN, PLAIN, .slabs = 1, .fault = NO_BARRIER_AFTER_FILL},
     FINDING_RACE,
     "with no barrier between",
     false},
    {{EVEN, PLAIN, .slabs = 1, .fault = NO_BARRIER_BEFORE_FILL},
     FINDING_RACE,
     "race on A_s[0, ",
     false},
    {{EVEN, PLAIN, .slabs = 2, .fault = NO_BARRIER_AFTER_FILL}, FINDING_RACE, "race on", false},
    {{EVEN, PLAIN, .slabs = 1, .fault = ROW_TOO_SHORT}, FINDING_RACE, "writes (store", false},
    {{EVEN, PLAIN, .slabs = 1, .fault = SLAB_TOO_SMALL},
     FINDING_OUT_OF_BOUNDS,
     "of 120 elements",
     false},
    {{EVEN, PLAIN, .slabs = 2, .fault = SLOT_CONSTANT}, FINDING_RACE, "race on", false},
    {{EVEN, PLAIN, .slabs = 3, .async = true, .fault = SLOT_CONSTANT},
     FINDING_RACE,
     "copies into",
     false},
    {{EVEN, .bm = 8, .bn = 8, .fm = 2, .fn = 2, .bk = 8, .slabs = 1, .splits = 2,
      .fault = SPLIT_GUARDED},
     FINDING_RACE,
     "blocks of one kernel have no order",
     false},
    {{EVEN, .bm = 8, .bn = 8, .fm = 2, .fn = 2, .bk = 8, .slabs = 1, .splits = 2, .fault = NO_ZERO},
     FINDING_UNWRITTEN_READ,
     "reads a place that was never written (atomic_add",
     true},
    {{EVEN, PLAIN, .slabs = 1, .async = true, .fault = NO_WAIT},
     FINDING_MISSING_WAIT,
     "with no wait for that copy between",
     true},
    {{EVEN, PLAIN, .slabs = 1, .async = true, .fault = WAIT_LAX},
     FINDING_MISSING_WAIT,
     "missing wait on",
     true},
    {{EVEN, PLAIN, .slabs = 3, .async = true, .fault = NO_WAIT},
     FINDING_MISSING_WAIT,
     "missing wait on",
     true},
    {{EVEN, PLAIN, .slabs = 3, .async = true, .fault = WAIT_LAX},
     FINDING_MISSING_WAIT,
     "missing wait on",
     true},
    {{EVEN, PLAIN, .slabs = 3, .async = true, .fault = NO_BARRIER_AFTER_FILL},
     FINDING_RACE,
     "race on",
     false},
    {{EVEN, PLAIN, .slabs = 1, .fault = FRAGMENT_OFF}, FINDING_COUNT, NULL, true},
    {{EVEN, PLAIN, .slabs = 1, .fault = FRAGMENT_BEYOND},
     FINDING_OUT_OF_BOUNDS,
     "out of bounds on a[2]",
     true},
    {{EVEN, PLAIN, .slabs = 1, .fault = FRAGMENT_UNREAD},
     FINDING_UNWRITTEN_READ,
     "unwritten read on a[1]",
     true},
    {{ODD, PLAIN, .slabs = 1, .fault = K_TAIL_LOST}, FINDING_COUNT, NULL, true},
    {{EVEN, PLAIN, .slabs = 1, .fault = NO_INIT},
     FINDING_UNWRITTEN_READ,
     "unwritten read on acc[0, 0]",
     true},
    {{EVEN, PLAIN, .slabs = 1, .fault = BARRIER_IN_LANES},
     FINDING_DIVERGENCE,
     "but lane 16 of its warp does not",
     false},
    {{EVEN, PLAIN, .slabs = 2, .fault = BARRIER_IN_WARP},
     FINDING_RACE,  // warp 0 goes on when warp 1 has ended, which read what was being written
     "with no barrier between",
     false},
    {{EVEN, PLAIN, .slabs = 1, .fault = BARRIER_IN_WARP},
     FINDING_DIVERGENCE,
     "warp 1 is at the barrier",
     false},
    {{ODD, PLAIN, .slabs = 1, .fault = LAST_ROW_UNSTORED},
     FINDING_UNWRITTEN_RESULT,
     "C[32, 0]: no thread stores this cell; 31 of 1023 cells",
     true},
    {{EVEN, PLAIN, .slabs = 1, .fault = SAME_TARGET}, FINDING_RACE, "race on A_s[0, ", true},
    {{EVEN, .bm = 8, .bn = 8, .fm = 2, .fn = 2, .bk = 8, .slabs = 1, .splits = 2, .partials = true,
      .fault = REDUCE_EARLY},
     FINDING_UNWRITTEN_RESULT,
     "1024 of 1024",
     true},
};
enum { N_PLANTED = sizeof planted / sizeof planted[0] };

static bool has_finding(const InterpCheck *check, FindingKind kind, const char *says) {
  for (int i = 0; i < check->n_findings; i++)
    if (check->finding[i].kind == kind && strstr(check->finding[i].text, says)) return true;
  return false;
}

START_TEST(planted_faults_are_told) {
  const Planted *row = &planted[_i];
  InterpCheck check = run_check(&row->recipe);
  bool told = row->kind == FINDING_COUNT || has_finding(&check, row->kind, row->says);
  if (!told) {
    printf("row %d: no finding of kind \"%s\" that says \"%s\" among:\n", _i,
           row->kind == FINDING_COUNT ? "" : finding_name(row->kind), row->says);
    print_findings(&check);
  }
  ck_assert(told);
  ck_assert(!check.ok);
  if (row->wrong) ck_assert_int_gt(check.n_wrong, 0);
}
END_TEST

// The same recipe without its fault is silent: what was told above is the fault, nothing else.
START_TEST(planted_recipes_are_sound_without_their_fault) {
  Recipe recipe = planted[_i].recipe;
  recipe.fault = SOUND;
  InterpCheck check = run_check(&recipe);
  if (!check.ok) print_findings(&check);
  ck_assert(check.ok);
}
END_TEST

// A race is found whatever the order in which the two sides happened to run.
START_TEST(races_do_not_depend_on_the_seed) {
  Recipe recipe = planted[_i].recipe;
  Program *program = recipe_build(&recipe);
  for (uint64_t seed = 0; seed < 20; seed++) {
    const InterpResult *result = interpret(arena, program, &(InterpOptions){.seed = seed});
    ck_assert_int_gt(result->n_found, 0);
    ck_assert(recipe_says(result, planted[_i].kind, ""));
  }
}
END_TEST

START_TEST(a_statement_behind_the_hardware_loops_is_told) {
  Recipe recipe = sound[0];
  Program *p = recipe_build(&recipe);
  stmt_list(p->kernel[0].body, plain(p, OP_BARRIER, 0), NULL);
  ck_assert(recipe_says(interpret(arena, p, &(InterpOptions){0}), FINDING_OPERAND,
                        "a statement stands behind a loop over blocks or threads"));
}
END_TEST

START_TEST(endless_and_enormous_programs_end) {
  Recipe recipe = sound[0];
  const InterpResult *cut =
      interpret(arena, recipe_build(&recipe), &(InterpOptions){.step_limit = 1000});
  ck_assert(!cut->finished);
  ck_assert(recipe_says(cut, FINDING_TOO_LONG, "1000 steps"));
  Program *huge = recipe_naive((Problem){.m = 100000, .n = 100000, .k = 10});
  const InterpResult *result = interpret(arena, huge, &(InterpOptions){0});
  ck_assert(!result->finished);
  ck_assert(recipe_says(result, FINDING_TOO_LARGE, " GiB of memory, the limit is 4"));
  InterpCheck check = interpret_check(arena, huge, &(InterpOptions){0});
  ck_assert(!check.ok && check.n_wrong == 0 && check.n_findings == 1);
  ck_assert_uint_lt(arena_used(arena), 1 << 24);
}
END_TEST

START_TEST(findings_beyond_the_limit_are_counted) {
  Recipe recipe = planted[0].recipe;
  InterpOptions options = {.seed = 1, .max_findings = 1};
  const InterpResult *result = interpret(arena, recipe_build(&recipe), &options);
  ck_assert_int_eq(result->n_findings, 1);
  ck_assert_int_gt(result->n_found, 100);
  ck_assert_int_gt(result->finding[0].times, 10);
}
END_TEST

START_TEST(a_run_can_end_at_the_first_finding) {
  Recipe recipe = planted[0].recipe;
  InterpOptions options = {.seed = 1, .stop_at_first = true};
  InterpCheck check = interpret_check(arena, recipe_build(&recipe), &options);
  ck_assert(!check.ok);
  ck_assert(!check.result->finished);
  ck_assert_int_le(check.n_found, 64);
}
END_TEST

// SCALE multiplies by the launch's alpha; the check knows what the program makes of A·B.
START_TEST(alpha_scales_the_result) {
  Problem problem = {.m = 5, .n = 6, .k = 7};
  Program *naive = recipe_naive(problem), *scaled = recipe_naive(problem);
  Stmt *before = scaled->kernel[0].body->body->body->next;  // the loop over k
  Access acc = access1(program_buffer(scaled, ROLE_TEMP), num(0));
  Stmt *scale = stmt_op(scaled, KNOB_NONE, (Op){.kind = OP_SCALE, .dst = acc});
  scale->next = before->next;
  before->next = scale;
  ck_assert(interpret_check_naive(arena, naive, scaled, &(InterpOptions){.seed = 1}).ok);
  ck_assert(interpret_check(arena, scaled, &(InterpOptions){.seed = 1, .alpha = 3}).ok);
  InterpCheck check = interpret_check(arena, naive, &(InterpOptions){.seed = 1, .factor = 2});
  ck_assert_int_ge(check.n_wrong, 25);
  check = interpret_check(arena, scaled, &(InterpOptions){.seed = 1, .factor = 1});
  ck_assert_int_ge(check.n_wrong, 25);
}
END_TEST

// The sentence of a race names both sides; the record agrees with it.
START_TEST(a_race_names_both_sides) {
  Recipe recipe = planted[0].recipe;
  const InterpResult *result = interpret(arena, recipe_build(&recipe), &(InterpOptions){.seed = 1});
  const Finding *f = &result->finding[0];
  ck_assert_int_eq(f->kind, FINDING_RACE);
  ck_assert_ptr_nonnull(f->who.stmt);
  ck_assert_ptr_nonnull(f->other.stmt);
  ck_assert_int_ne(f->who.thread, f->other.thread);
  ck_assert_int_eq(f->who.block, f->other.block);
  char who[64], other[64];
  snprintf(who, sizeof who, "warp %d lane %d ", f->who.thread / 32, f->who.thread % 32);
  snprintf(other, sizeof other, "stmt %d)", f->other.stmt->id);
  ck_assert_ptr_nonnull(strstr(f->text, who));
  ck_assert_ptr_nonnull(strstr(f->text, other));
}
END_TEST

// Where the fault is, the map shows it: the K tail is lost in every tile, one block's slab in one.
START_TEST(the_error_map_counts_by_tile) {
  Recipe recipe = {ODD, PLAIN, .slabs = 1, .fault = LAST_ROW_UNSTORED};
  InterpCheck check = run_check(&recipe);
  ck_assert_int_eq(check.tile_m, 16);
  ck_assert_int_eq(check.tiles_m, 3);
  ck_assert_int_eq(check.tiles_n, 2);
  static const int expected[] = {0, 0, 0, 0, 16, 15};
  ck_assert_mem_eq(check.wrong_in_tile, expected, sizeof expected);
  ck_assert_int_eq(check.n_wrong, 31);
  ck_assert_int_eq(check.wrong_row, 32);
  ck_assert_int_eq(check.wrong_column, 0);
}
END_TEST

Suite *suite_interp(void) {
  Suite *suite = suite_create("interp");
  TCase *tc = tcase_create("interp");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, sound_programs_are_silent_and_exact, 0, N_SOUND);
  tcase_add_test(tc, naive_nest_agrees_with_the_loop);
  tcase_add_test(tc, naive_and_tiled_agree_with_each_other);
  tcase_add_test(tc, counts_are_those_of_the_nest);
  tcase_add_test(tc, a_thread_that_is_looked_at);
  tcase_add_test(tc, same_seed_same_run);
  tcase_add_test(tc, inputs_are_small_whole_numbers_without_zero);
  tcase_add_loop_test(tc, planted_faults_are_told, 0, N_PLANTED);
  tcase_add_loop_test(tc, planted_recipes_are_sound_without_their_fault, 0, N_PLANTED);
  tcase_add_loop_test(tc, races_do_not_depend_on_the_seed, 0, 4);
  tcase_add_test(tc, a_statement_behind_the_hardware_loops_is_told);
  tcase_add_test(tc, endless_and_enormous_programs_end);
  tcase_add_test(tc, findings_beyond_the_limit_are_counted);
  tcase_add_test(tc, a_run_can_end_at_the_first_finding);
  tcase_add_test(tc, alpha_scales_the_result);
  tcase_add_test(tc, a_race_names_both_sides);
  tcase_add_test(tc, the_error_map_counts_by_tile);
  suite_add_tcase(suite, tc);
  return suite;
}
