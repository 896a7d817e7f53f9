// The times of a search, and the history's times for other problems on the same kind of GPU → the
// roofline of each family of kernels, fitted and kept.
//
// Half of the points, or all where there are fewer, are the search's own, spread evenly from its
// best to its worst; the others come from all over the history. A family that the search had
// nothing of keeps its fit. Worked example: after 120 s on a new GPU there are 400 of 800 own
// points and none of others; a year later, 400 own and 400 of the 90,000 that the file has by then.
#include "base/str.h"
#include "kernels/tune/tune_inside.h"

enum { OWN_MAX = 400, OTHERS_MAX = 400 };

typedef struct Known {
  int n, n_own;
  CalibrationPoint *point;  // [OWN_MAX + OTHERS_MAX]
} Known;

static void add_own(Known *known, const TuneField *field) {
  const int n = field->n_order < OWN_MAX ? field->n_order : OWN_MAX;
  for (int i = 0; i < n; i++) {
    const TunePoint *point = &field->point[field->order[(int64_t)i * field->n_order / n]];
    known->point[known->n++] = (CalibrationPoint){point->terms, point->time_ns};
  }
  known->n_own = known->n;
}

// With the registers and the loops that the kernel had, where the row says so.
static CalibrationTerms terms_of(const Model *model, const HistoryRow *row) {
  CalibrationBasis basis = calibration_basis(model);
  calibration_count(&basis, &row->compiled);
  return calibration_terms_of(&basis);
}

// A state that is no longer legal, or cannot be read any more, is passed over.
static void add_row(Known *known, const TuneField *field, const HistoryRow *row) {
  Arena *scratch = arena_new("row");
  Diags diags = diags_new(scratch);
  Schedule schedule = schedule_plain();
  if (*row->state && schedule_parse(&schedule, row->state, &diags)) {
    const Target *target = device_target(&field->targets, &field->device);
    device_take_target(&field->targets, target, &schedule);
    const Model *model = candidate_model(scratch, &field->targets, &schedule, NULL);
    if (model) known->point[known->n++] = (CalibrationPoint){terms_of(model, row), row->time_ns};
  }
  arena_free(scratch);
}

static void add_others(Arena *arena, Known *known, const TuneField *field, History *history) {
  HistoryRow *rows = ARENA_ARRAY(arena, HistoryRow, OTHERS_MAX);
  const int n =
      history_sample(history, arena, field->device.name, field->problem, rows, OTHERS_MAX);
  for (int i = 0; i < n; i++) add_row(known, field, &rows[i]);
}

static bool has_own(const Known *known, CalibrationFamily family) {
  for (int i = 0; i < known->n_own; i++)
    if (known->point[i].terms.family == family) return true;
  return false;
}

static Calibration fit_family(Arena *arena, const Known *known, CalibrationFamily family) {
  CalibrationPoint *points = ARENA_ARRAY(arena, CalibrationPoint, known->n + 1);
  int n = 0;
  if (!has_own(known, family)) return calibration_none();
  for (int i = 0; i < known->n; i++)
    if (known->point[i].terms.family == family) points[n++] = known->point[i];
  return calibration_fit(arena, points, n);
}

int tune_keep_calibrations(const TuneField *field, History *history, Diags *diags) {
  if (field->error || field->n_order == 0 || !history) return 0;
  Arena *arena = arena_new("calibrations");
  Known known = {0, 0, ARENA_ARRAY(arena, CalibrationPoint, OWN_MAX + OTHERS_MAX)};
  int n = 0;
  add_own(&known, field);
  add_others(arena, &known, field, history);
  for (int family = 0; family < CALIBRATION_FAMILIES; family++) {
    const HistoryCalibration row = {.gpu = field->device.name,
                                    .family = (CalibrationFamily)family,
                                    .fit = fit_family(arena, &known, (CalibrationFamily)family)};
    n += row.fit.n > 0 && history_keep_calibration(history, &row, diags);
  }
  arena_free(arena);
  return n;
}
