// Random schedules of an H200 (tests/data/h200_random.tsv): the order that the calibrated roofline
// gives those that it was not fitted to.
//
// 100 of a problem and family, drawn at random, are fitted to and the others predicted; the mean of
// Spearman's rank correlation over some such splits is its figure. With GEMMVIEW_ORDERS=FILE the
// figures are added to a file.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/program.h"
#include "model/readings/cost/calibration.h"
#include "property.h"
#include "stress.h"

Suite *suite_random_order(void);

enum { POINTS_MAX = 300, FITTED = 100, FAMILIES = 7, SPLITS = 6, LINE = 8192 };

// What ptxas 13.0 made of the main kernel.
typedef CompiledKernel Said;

typedef struct Family {
  CalibrationFamily family;
  int n, n_given;
  CalibrationPoint counted[POINTS_MAX], estimated[POINTS_MAX];
  double roofline_ns[POINTS_MAX];
} Family;

static Arena *arena;
static TargetTable targets;
static Family families[FAMILIES];
static int n_families;

// Looks at one line's model; `scratch` has it.
typedef void Look(Arena *scratch, const Model *model, double time_ns, const Said *said);
static Look add_point;

// The fields of a loop; `at` moves behind them.
static CompiledLoop read_loop(const char *line, int *at) {
  CompiledLoop loop;
  int n = 0;
  ck_assert_int_eq(
      sscanf(line + *at, "%d\t%d\t%d\t%lf\t%lf\t%n", &loop.multiplies, &loop.instructions,
             &loop.spills, &loop.near_clocks, &loop.far_clocks, &n),
      5);
  *at += n;
  return loop;
}

static void read_line(const char *line, const char *problem, Look *look) {
  Arena *scratch = arena_new("line");
  Diags diags = diags_new(scratch);
  Schedule schedule = schedule_plain();
  Said said;
  int at = 0;
  ck_assert_int_eq(sscanf(line, "%*f\t%d\t%d\t%n", &said.registers, &said.spill_bytes, &at), 2);
  said.code.inner = read_loop(line, &at);
  said.code.outer = read_loop(line, &at);
  // They were timed before elect.sync picked who issues.
  const char *text = arena_printf(scratch, "AUTO=0,TARGET=h200,ELECT=0,%s,%s", problem, line + at);
  ck_assert_msg(schedule_parse(&schedule, text, &diags), "%s", diags_text(scratch, &diags));
  const Model *model = model_build(scratch, &targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", text, diags_text(scratch, &model->diags));
  look(scratch, model, strtod(line, NULL), &said);
  arena_free(scratch);
}

// Two families of seven in make test, four in CI, all in the long one.
static bool is_asked(int family) { return stress_has_turn(family, 4); }

// Looks at one line of so many, in `make stress` at all; returns how many there are.
static int read_lines(Look *look, int one_in) {
  static char line[LINE];
  char *problem = NULL;
  int n = 0;
  FILE *file = fopen("tests/data/h200_random.tsv", "r");
  ck_assert_ptr_nonnull(file);
  n_families = 0;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] >= '0' && line[0] <= '9') {
      const bool looks = n++ % one_in == 0 || stress_is_whole();
      if (looks && (look != add_point || is_asked(n_families - 1))) read_line(line, problem, look);
      continue;
    }
    problem = arena_strdup(arena, strchr(line, '\t') + 1);
    char *count = strchr(problem, '\t');
    ck_assert_ptr_nonnull(count);
    ck_assert_int_lt(n_families, FAMILIES);
    Family *family = &families[n_families++];
    family->n = 0;
    family->n_given = atoi(count);
    *count = 0;
  }
  ck_assert_int_eq(n_families, FAMILIES);
  fclose(file);
  return n;
}

static void add_point(Arena *scratch, const Model *model, double time_ns, const Said *said) {
  (void)scratch;
  Family *family = &families[n_families - 1];
  CalibrationBasis basis = calibration_basis(model);
  ck_assert_int_lt(family->n, POINTS_MAX);
  const int i = family->n++;
  family->family = basis.family;
  family->estimated[i] = (CalibrationPoint){calibration_terms_of(&basis), time_ns};
  calibration_count(&basis, said);
  family->counted[i] = (CalibrationPoint){calibration_terms_of(&basis), time_ns};
  family->roofline_ns[i] = model->traffic.flop / model->traffic.roofline_tflops * 1e-3;
}

static void setup(void) {
  arena = arena_new("test");
  targets = *property_gpus();
  read_lines(add_point, 1);
}
static void teardown(void) { arena_free(arena); }

// ---- orders -------------------------------------------------------------------------------------

static double order_of(const Calibration *fit, const CalibrationPoint *points, int n) {
  double predicted[POINTS_MAX], measured[POINTS_MAX];
  for (int i = 0; i < n; i++) {
    predicted[i] = calibration_ns(fit, &points[i].terms);
    measured[i] = points[i].time_ns;
  }
  return calibration_rank_correlation(arena, predicted, measured, n);
}

static double order_of_roofline(const Family *family) {
  double measured[POINTS_MAX];
  for (int i = 0; i < family->n; i++) measured[i] = family->counted[i].time_ns;
  return calibration_rank_correlation(arena, family->roofline_ns, measured, family->n);
}

static double order_of_split(const CalibrationPoint *points, int n, uint64_t *random) {
  static CalibrationPoint drawn[POINTS_MAX];
  memcpy(drawn, points, sizeof *drawn * (size_t)n);
  for (int i = n - 1; i > 0; i--) {
    const int other = (int)random_between(random, 0, i);
    const CalibrationPoint its = drawn[i];
    drawn[i] = drawn[other];
    drawn[other] = its;
  }
  const Calibration fit = calibration_fit(arena, drawn, FITTED);
  return order_of(&fit, drawn + FITTED, n - FITTED);
}

typedef struct Crossed {
  double mean, spread;
} Crossed;

static Crossed cross(const CalibrationPoint *points, int n) {
  uint64_t random = 7;
  double sum = 0, squares = 0;
  for (int i = 0; i < SPLITS; i++) {
    const double order = order_of_split(points, n, &random);
    sum += order;
    squares += order * order;
  }
  const double mean = sum / SPLITS;
  return (Crossed){mean, sqrt(fmax(0, squares / SPLITS - mean * mean))};
}

static void note(const char *text) {
  const char *path = getenv("GEMMVIEW_ORDERS");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s\n", text);
  fclose(file);
}

// The least that each has by fits and by the usual factors alone, in the order of the record.
START_TEST(it_orders_random_schedules_of_every_family) {
  static const struct {
    double fitted, usual;
  } least[FAMILIES] = {{0.92, 0.92},  {0.905, 0.90}, {0.90, 0.90},  {0.95, 0.945},
                       {0.96, 0.955}, {0.93, 0.93},  {0.925, 0.915}};
  const Calibration none = calibration_none();
  for (int i = 0; i < FAMILIES; i++) {
    const Family *family = &families[i];
    if (!is_asked(i)) continue;
    const Crossed fitted = cross(family->counted, family->n);
    const double usual = order_of(&none, family->counted, family->n),
                 roofline = order_of_roofline(family);
    const char *text = arena_printf(arena, "%s: %.3f ±%.3f, usual factors %.3f, roofline %.3f",
                                    calibration_family_name(family->family), fitted.mean,
                                    fitted.spread, usual, roofline);
    note(text);
    ck_assert_int_eq(family->n, family->n_given);
    ck_assert_msg(fitted.mean > least[i].fitted && usual > least[i].usual &&
                      fitted.mean > roofline && usual > roofline,
                  "%s", text);
  }
}
END_TEST

// Where registers decide how many blocks are resident, and the code how many loads are under way.
START_TEST(what_the_compiler_says_orders_better) {
  double counted = 0, estimated = 0;
  int n = 0;
  for (int i = 0; i < FAMILIES; i++) {
    if (!is_asked(i)) continue;
    counted += cross(families[i].counted, families[i].n).mean;
    estimated += cross(families[i].estimated, families[i].n).mean;
    n++;
  }
  // The families together gain 0.03 on average; some alone may gain less.
  const double better = (counted - estimated) / n, least = n == FAMILIES ? 0.03 : 0.005;
  ck_assert_msg(better > least, "%.3f, estimated %.3f", counted / n, estimated / n);
}
END_TEST

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double error_of(const CalibrationPoint *points, int n) {
  const Calibration none = calibration_none();
  double off[POINTS_MAX];
  for (int i = 0; i < n; i++)
    off[i] = fabs(log(calibration_ns(&none, &points[i].terms) / points[i].time_ns));
  qsort(off, (size_t)n, sizeof *off, by_size);
  return off[n / 2];
}

// The factors that the program brings along were rounded from these kernels; how far off they are
// before a kernel is compiled stands behind each family's name.
START_TEST(shipped_factors_are_off_by_as_much_as_they_say) {
  for (int i = 0; i < FAMILIES; i++) {
    const Family *family = &families[i];
    if (!is_asked(i)) continue;
    const double said = calibration_shipped_error(family->family),
                 found = error_of(family->estimated, family->n);
    ck_assert_msg(found < 1.01 * said && found > 0.85 * said, "%s: %.3f, found %.3f",
                  calibration_family_name(family->family), said, found);
  }
}
END_TEST

// ---- the record ---------------------------------------------------------------------------------

static int n_compiled;

// The texts of copies by TMA have changed by a fence and the like since they were compiled.
static void ck_assert_loop_eq(const CompiledLoop *has, const CompiledLoop *said, bool by_tma) {
  const double allowed = by_tma ? 0.03 : 1e-3;
  ck_assert_int_eq(has->multiplies, said->multiplies);
  ck_assert_int_eq(has->instructions, said->instructions);
  ck_assert_int_eq(has->spills, said->spills);
  ck_assert_double_eq_tol(has->near_clocks, said->near_clocks, allowed * said->near_clocks + 1e-9);
  ck_assert_double_eq_tol(has->far_clocks, said->far_clocks, allowed * said->far_clocks + 1e-9);
}

static void compile_again(Arena *scratch, const Model *model, double time_ns, const Said *said) {
  (void)time_ns;
  const Plan *plan = plan_from_model(scratch, model, "");
  const CompileResult *result = compile_once(scratch, plan, COMPILE_CUBIN);
  if (!result->compiler || strcmp(result->compiler, "NVRTC 13.0") != 0) return;
  ck_assert_msg(result->ok, "%s", result->error);
  const KernelResources *main_one = &result->kernels[model->program->main_kernel];
  ck_assert_int_eq(main_one->registers, said->registers);
  ck_assert_int_eq(kernel_spill_bytes(main_one), said->spill_bytes);
  if (said->code.inner.multiplies > 0) {
    const bool by_tma = model->schedule.value[KNOB_TMA] != 0;
    ck_assert_loop_eq(&main_one->code.inner, &said->code.inner, by_tma);
    ck_assert_loop_eq(&main_one->code.outer, &said->code.outer, by_tma);
  }
  n_compiled++;
}

START_TEST(the_compiler_says_what_is_recorded) {
  n_compiled = 0;
  const int n_lines = read_lines(compile_again, stress_is_on() ? 150 : 450);
  int n = 0;
  for (int i = 0; i < FAMILIES; i++) n += families[i].n_given;
  ck_assert_int_eq(n_lines, n);
  bool found;
  const char *compiler = nvrtc_describe(arena, &found);
  if (found && str_starts(compiler, "NVRTC 13.0"))
    ck_assert_int_ge(n_compiled, stress_is_on() ? 8 : 2);
}
END_TEST

Suite *suite_random_order(void) {
  Suite *suite = suite_create("random_order");
  TCase *cases = tcase_create("random_order");
  tcase_set_timeout(cases, 600);
  tcase_add_unchecked_fixture(cases, setup, teardown);
  tcase_add_test(cases, it_orders_random_schedules_of_every_family);
  tcase_add_test(cases, what_the_compiler_says_orders_better);
  tcase_add_test(cases, shipped_factors_are_off_by_as_much_as_they_say);
  tcase_add_test(cases, the_compiler_says_what_is_recorded);
  suite_add_tcase(suite, cases);
  return suite;
}
