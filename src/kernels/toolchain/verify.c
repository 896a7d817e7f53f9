// The bound, the size of the error map, and the sentence. The comparison itself is problem.c's.
//
// The map's entry is the block's tile of C, so that "one block computed nonsense" is one dark
// entry. With more than 64 tiles in a direction an entry takes the whole tiles that it must: 8192
// rows in tiles of 32 are 256 tiles, so an entry covers 4 tiles = 128 rows and the map has 64 rows.
// A plan that names no tile is mapped as if it had tiles of 16.
#include "kernels/toolchain/verify.h"

#include <math.h>

#include "base/str.h"
#include "base/whole.h"

enum { UNNAMED_TILE = 16 };

// The largest relative error of one rounding: half a unit in the last place of 1.
static double unit_roundoff(PlanType type) {
  static const double units[PLAN_N_TYPES] = {
      [PLAN_F32] = 0x1p-24, [PLAN_F16] = 0x1p-11, [PLAN_BF16] = 0x1p-8, [PLAN_F64] = 0x1p-53};
  return units[type];
}

// The relative roundoff of one addition inside the sum.
static double sum_roundoff(const Plan *plan) {
  bool eight_bit_floats = plan->operand_type == PLAN_E4M3 || plan->operand_type == PLAN_E5M2 ||
                          plan_scale_elements(plan->operand_type);
  if (plan->accumulate_type == PLAN_F32 && eight_bit_floats) return 0x1p-13;
  return unit_roundoff(plan->accumulate_type) * (plan->accumulate_type == PLAN_F64 ? 2 : 1);
}

// Each weight is rounded to the operands' type before it is multiplied, and comes of a power that
// is right to 2^-20 for scores of some 100, so that is what each term of the sum may be off by.
static double attention_tolerance(const Plan *plan) {
  const double growth = 8 + sqrt((double)plan->n) / 4;
  const PlanType type = plan->operand_type;
  const bool rounds = plan_type_bytes(type) < 4;
  const double weights = rounds ? unit_roundoff(type) : type == PLAN_TF32 ? 0x1p-8 : 0;
  return weights + 0x1p-18 + sum_roundoff(plan) * growth;
}

double verify_tolerance(const Plan *plan) {
  if (plan->tolerance > 0) return plan->tolerance;
  if (plan_is_attention(plan)) return attention_tolerance(plan);
  double root = sqrt((double)plan->k);
  double growth = plan->accumulate_type == PLAN_F16 ? 8 : 8 + root / 4;
  double operands = plan->operand_type == PLAN_TF32 ? 0x1p-9 * fmin(1, 3 / root) : 0;
  return sum_roundoff(plan) * growth + operands;
}

double verify_rounding(const Plan *plan) {
  bool rounds = plan_type_bytes(plan->output_type) < plan_type_bytes(plan->accumulate_type);
  double output = rounds ? unit_roundoff(plan->output_type) : 0;
  return output + (plan->operand_type == PLAN_TF32 ? 0x1p-10 : 0);
}

double verify_floor(const Plan *plan) {
  // Half the distance of neighbouring subnormal numbers; f64's is below what a double holds.
  static const double half_step[PLAN_N_TYPES] = {
      [PLAN_F32] = 0x1p-150, [PLAN_F16] = 0x1p-25, [PLAN_BF16] = 0x1p-134};
  bool rounds = plan_type_bytes(plan->output_type) < plan_type_bytes(plan->accumulate_type);
  double n_sums = fmin((double)plan->k, 8);
  return half_step[plan->accumulate_type] * n_sums + (rounds ? half_step[plan->output_type] : 0);
}

double verify_bound(const Plan *plan, double exact, double magnitude) {
  return verify_tolerance(plan) * magnitude + verify_rounding(plan) * fabs(exact) +
         verify_floor(plan);
}

static int size_direction(int64_t extent, int64_t tile, int64_t *entry) {
  if (tile <= 0) tile = UNNAMED_TILE;
  int64_t tiles = ceil_div(extent, tile);
  int64_t per_entry = ceil_div(tiles, VERIFY_MAP_MAX);
  *entry = tile * per_entry;
  return (int)ceil_div(tiles, per_entry);
}

void verify_size_map(const Plan *plan, VerifyResult *result) {
  result->map_rows = size_direction(plan_rows(plan), plan->tile_m, &result->map_tile_m);
  result->map_cols = size_direction(plan_columns(plan), plan->tile_n, &result->map_tile_n);
}

const char *verify_sentence(Arena *arena, const VerifyResult *result) {
  if (!result->ran) return "not verified";
  if (result->ok)
    return arena_printf(arena, "all %lld cells right, the largest error at %.2f of its bound",
                        (long long)result->n_cells, result->worst);
  Str text = str_new(arena);
  str_printf(&text, "%lld of %lld cells wrong", (long long)result->n_wrong,
             (long long)result->n_cells);
  if (result->n_unwritten)
    str_printf(&text, " (%lld never written)", (long long)result->n_unwritten);
  if (result->n_wrong)
    str_printf(&text, ", first C[%lld, %lld] = %.9g, expected %.9g ± %.2g",
               (long long)result->first_row, (long long)result->first_col, result->first_got,
               result->first_expected, result->first_bound);
  if (result->n_outside)
    str_printf(&text, "; %lld words next to C were overwritten", (long long)result->n_outside);
  return text.text;
}
