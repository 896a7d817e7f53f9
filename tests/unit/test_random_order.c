// Random schedules of an H100 (tests/data/h100_random.tsv), 80 of each family: the order that the
// calibrated roofline gives those that it was not fitted to.
//
// Half of them, drawn at random, are fitted to, the other half predicted, and the other way round;
// the mean of Spearman's rank correlation over many such splits is a family's figure. 40 points are
// as few as a fit takes: on 64 fma has 0.90, mma.sync 0.88, attention by wgmma 0.91. With
// GEMMVIEW_ORDERS=FILE the figures are added to a file.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/random.h"
#include "base/str.h"
#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/readings/calibration.h"
#include "stress.h"

Suite *suite_random_order(void);

enum { POINTS = 80, FAMILIES = 5, SPLITS = 8, LINE = 8192 };

// What ptxas 13.0 made of the main kernel.
typedef struct Said {
  int registers, stored_bytes, loaded_bytes;
} Said;

typedef struct Family {
  CalibrationFamily family;
  int n;
  CalibrationPoint counted[POINTS], estimated[POINTS];
  double roofline_ns[POINTS];
} Family;

static Arena *arena;
static TargetTable targets;
static Family families[FAMILIES];
static int n_families;

// Looks at one line's model; `scratch` has it.
typedef void Look(Arena *scratch, const Model *model, double time_ns, const Said *said);

static void read_line(const char *line, const char *problem, Look *look) {
  Arena *scratch = arena_new("line");
  Diags diags = diags_new(scratch);
  Schedule schedule = schedule_plain();
  Said said;
  int at = 0;
  ck_assert_int_eq(sscanf(line, "%*f\t%d\t%d\t%d\t%n", &said.registers, &said.stored_bytes,
                          &said.loaded_bytes, &at),
                   3);
  const char *text = arena_printf(scratch, "AUTO=0,TARGET=h100,%s,%s", problem, line + at);
  ck_assert_msg(schedule_parse(&schedule, text, &diags), "%s", diags_text(scratch, &diags));
  const Model *model = model_build(scratch, &targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", text, diags_text(scratch, &model->diags));
  look(scratch, model, strtod(line, NULL), &said);
  arena_free(scratch);
}

static void read_lines(Look *look) {
  static char line[LINE];
  const char *problem = NULL;
  FILE *file = fopen("tests/data/h100_random.tsv", "r");
  ck_assert_ptr_nonnull(file);
  n_families = 0;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] >= '0' && line[0] <= '9') {
      read_line(line, problem, look);
      continue;
    }
    problem = arena_strdup(arena, strchr(line, '\t') + 1);
    ck_assert_int_lt(n_families, FAMILIES);
    families[n_families++].n = 0;
  }
  ck_assert_int_eq(n_families, FAMILIES);
  fclose(file);
}

static void add_point(Arena *scratch, const Model *model, double time_ns, const Said *said) {
  (void)scratch;
  Family *family = &families[n_families - 1];
  CalibrationBasis basis = calibration_basis(model);
  ck_assert_int_lt(family->n, POINTS);
  const int i = family->n++;
  family->family = basis.family;
  family->estimated[i] = (CalibrationPoint){calibration_terms_of(&basis), time_ns};
  calibration_count(&basis, said->registers, (said->stored_bytes + said->loaded_bytes) / 2);
  family->counted[i] = (CalibrationPoint){calibration_terms_of(&basis), time_ns};
  family->roofline_ns[i] = model->traffic.flop / model->traffic.roofline_tflops * 1e-3;
}

static void setup(void) {
  arena = arena_new("test");
  Diags diags = diags_new(arena);
  const EmbeddedFile *embedded = embed_find(arena, "gpus.json");
  ck_assert(targets_parse(arena, embedded->text, embedded->size, &diags, &targets));
  read_lines(add_point);
}
static void teardown(void) { arena_free(arena); }

// ---- orders -------------------------------------------------------------------------------------

static double order_of(const Calibration *fit, const CalibrationPoint *points, int n) {
  double predicted[POINTS], measured[POINTS];
  for (int i = 0; i < n; i++) {
    predicted[i] = calibration_ns(fit, &points[i].terms);
    measured[i] = points[i].time_ns;
  }
  return rank_correlation(arena, predicted, measured, n);
}

static double order_of_roofline(const Family *family) {
  double measured[POINTS];
  for (int i = 0; i < POINTS; i++) measured[i] = family->counted[i].time_ns;
  return rank_correlation(arena, family->roofline_ns, measured, POINTS);
}

static double order_of_split(const CalibrationPoint *points, uint64_t *random) {
  enum { HALF = POINTS / 2 };
  CalibrationPoint drawn[POINTS];
  memcpy(drawn, points, sizeof drawn);
  for (int i = POINTS - 1; i > 0; i--) {
    const int other = (int)random_between(random, 0, i);
    const CalibrationPoint its = drawn[i];
    drawn[i] = drawn[other];
    drawn[other] = its;
  }
  const Calibration first = calibration_fit(arena, drawn, HALF),
                    second = calibration_fit(arena, drawn + HALF, HALF);
  return (order_of(&first, drawn + HALF, HALF) + order_of(&second, drawn, HALF)) / 2;
}

typedef struct Crossed {
  double mean, spread;
} Crossed;

static Crossed cross(const CalibrationPoint *points) {
  uint64_t random = 7;
  double sum = 0, squares = 0;
  for (int i = 0; i < SPLITS; i++) {
    const double order = order_of_split(points, &random);
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

// The least that each family has by fits and by the usual factors alone.
START_TEST(it_orders_random_schedules_of_every_family) {
  static const struct {
    double fitted, usual;
  } least[CALIBRATION_FAMILIES] = {
      [CALIBRATION_FAMILY_FMA] = {0.88, 0.86},
      [CALIBRATION_FAMILY_MMA] = {0.87, 0.82},
      [CALIBRATION_FAMILY_WGMMA] = {0.96, 0.95},
      [CALIBRATION_FAMILY_ATTENTION_MMA] = {0.94, 0.94},
      [CALIBRATION_FAMILY_ATTENTION_WGMMA] = {0.89, 0.85},
  };
  const Calibration none = calibration_none();
  for (int i = 0; i < FAMILIES; i++) {
    const Family *family = &families[i];
    const Crossed fitted = cross(family->counted);
    const double usual = order_of(&none, family->counted, POINTS),
                 roofline = order_of_roofline(family);
    const char *text = arena_printf(arena, "%s: %.3f ±%.3f, usual factors %.3f, roofline %.3f",
                                    calibration_family_name(family->family), fitted.mean,
                                    fitted.spread, usual, roofline);
    note(text);
    ck_assert_int_eq(family->n, POINTS);
    ck_assert_msg(fitted.mean > least[family->family].fitted &&
                      usual > least[family->family].usual && fitted.mean > roofline &&
                      usual > roofline,
                  "%s", text);
  }
}
END_TEST

// Where registers decide how many blocks are resident, and where they spill.
START_TEST(what_the_compiler_says_orders_better) {
  double counted = 0, estimated = 0;
  for (int i = 0; i < FAMILIES; i++) {
    counted += cross(families[i].counted).mean / FAMILIES;
    estimated += cross(families[i].estimated).mean / FAMILIES;
  }
  ck_assert_msg(counted > estimated + 0.015, "%.3f, estimated %.3f", counted, estimated);
}
END_TEST

// ---- the record ---------------------------------------------------------------------------------

static int n_looked_at, n_compiled;

static void compile_again(Arena *scratch, const Model *model, double time_ns, const Said *said) {
  enum { ONE_IN = 50 };
  (void)time_ns;
  if (!stress_has_turn(n_looked_at++, ONE_IN)) return;
  const Plan *plan = plan_from_model(scratch, model, "");
  const CompileResult *result = compile_once(scratch, plan, COMPILE_CUBIN);
  if (!result->compiler || strcmp(result->compiler, "NVRTC 13.0") != 0) return;
  ck_assert_msg(result->ok, "%s", result->error);
  const KernelResources *main_one = &result->kernels[model->program->main_kernel];
  ck_assert_int_eq(main_one->registers, said->registers);
  ck_assert_int_eq(main_one->spill_store_bytes, said->stored_bytes);
  ck_assert_int_eq(main_one->spill_load_bytes, said->loaded_bytes);
  n_compiled++;
}

START_TEST(the_compiler_says_what_is_recorded) {
  n_looked_at = n_compiled = 0;
  read_lines(compile_again);
  ck_assert_int_eq(n_looked_at, FAMILIES * POINTS);
  bool found;
  const char *compiler = nvrtc_describe(arena, &found);
  if (found && str_starts(compiler, "NVRTC 13.0")) ck_assert_int_ge(n_compiled, 8);
}
END_TEST

Suite *suite_random_order(void) {
  Suite *suite = suite_create("random_order");
  TCase *cases = tcase_create("random_order");
  tcase_set_timeout(cases, 600);
  tcase_add_unchecked_fixture(cases, setup, teardown);
  tcase_add_test(cases, it_orders_random_schedules_of_every_family);
  tcase_add_test(cases, what_the_compiler_says_orders_better);
  tcase_add_test(cases, the_compiler_says_what_is_recorded);
  suite_add_tcase(suite, cases);
  return suite;
}
