// Facts about roundings: how far off the sums of a schedule are, simulated (cost/sum_error.h).
//
// Worked example, split/promoted and normal data: 4.0 billionths of |A| |B|, of fp32 multiply-adds
// one after the other 26.
#include "base/str.h"
#include "model/lessons/fact_compute.h"
#include "model/schedules/sum_error.h"

// DATA: which numbers are summed.
static bool data_of(const FactArgs *args, SumData *data, Diags *diags) {
  *data = str_equal(args->word[0], "positive") ? SUMS_OF_POSITIVE : SUMS_OF_NORMAL;
  if (*data == SUMS_OF_POSITIVE || str_equal(args->word[0], "normal")) return true;
  diag_add(diags, "fact", "data \"%s\": choose normal or positive",
           str_sanitise(diags->arena, args->word[0]));
  return false;
}

bool fact_sum_error(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  SumData data;
  if (!data_of(args, &data, diags)) return false;
  const SumError error = sum_error(scene->arena, &scene->model->schedule, data, SUM_CELLS_TOLD);
  value->number = error.rms * 1e9;
  if (!error.known) diag_add(diags, "fact", "sums of another type than f32 are not simulated");
  return error.known;
}

bool fact_fma_error(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  SumData data;
  if (!data_of(args, &data, diags)) return false;
  value->number =
      sum_error_of_fma(scene->arena, &scene->model->schedule, data, SUM_CELLS_TOLD).rms * 1e9;
  return true;
}
