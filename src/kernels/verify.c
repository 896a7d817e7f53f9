// The bound, the size of the error map, and the sentence. The comparison itself is problem.c's.
//
// The map's entry is the block's tile of C, so that "one block computed nonsense" is one dark
// entry. With more than 64 tiles in a direction an entry takes as many whole tiles as it must: 8192
// rows in tiles of 32 are 256 tiles, so an entry covers 4 tiles = 128 rows and the map has 64 rows.
// A plan that names no tile is mapped as if it had tiles of 16.
#include "kernels/verify.h"

#include <math.h>

#include "base/str.h"

enum { UNNAMED_TILE = 16 };

// Half a unit in the last place of 1: the largest relative error of one rounding.
static double unit_roundoff(PlanType type) {
  static const double units[PLAN_N_TYPES] = {[PLAN_F32] = 0x1p-24,
                                             [PLAN_F16] = 0x1p-11,
                                             [PLAN_BF16] = 0x1p-8,
                                             [PLAN_TF32] = 0x1p-11,
                                             [PLAN_F64] = 0x1p-53};
  return units[type];
}

double verify_tolerance(const Plan *plan) {
  if (plan->tolerance > 0) return plan->tolerance;
  double sum = unit_roundoff(plan->accumulate_type) * (8 + sqrt((double)plan->k) / 4);
  double operands = plan->operand_type == PLAN_TF32 ? 2 * unit_roundoff(PLAN_TF32) : 0;
  return sum + operands;
}

double verify_output_rounding(const Plan *plan) {
  bool rounds = plan_type_bytes(plan->output_type) < plan_type_bytes(plan->accumulate_type);
  return rounds ? unit_roundoff(plan->output_type) : 0;
}

static int size_direction(int64_t extent, int64_t tile, int64_t *entry) {
  if (tile <= 0) tile = UNNAMED_TILE;
  int64_t tiles = (extent + tile - 1) / tile;
  int64_t per_entry = (tiles + VERIFY_MAP_MAX - 1) / VERIFY_MAP_MAX;
  *entry = tile * per_entry;
  return (int)((tiles + per_entry - 1) / per_entry);
}

void verify_size_map(const Plan *plan, VerifyResult *result) {
  result->map_rows = size_direction(plan->m, plan->tile_m, &result->map_tile_m);
  result->map_cols = size_direction(plan->n, plan->tile_n, &result->map_tile_n);
}

const char *verify_sentence(Arena *arena, const VerifyResult *result) {
  if (!result->ran) return "not verified";
  if (result->ok)
    return arena_printf(arena, "all %lld cells right, the worst at %.2f of its bound",
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
