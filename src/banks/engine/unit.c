#include "banks/engine/unit.h"

#include "base/nearest.h"
#include "base/str.h"

const Unit unit_table[] = {
    {"bytes", 1}, {"f16", 2},  {"f32", 4},    {"f64", 8},    {"byte", 1},    {"s8", 1},
    {"e4m3", 1},  {"e5m2", 1}, {"half", 2},   {"bf16", 2},   {"float", 4},   {"tf32", 4},
    {"s32", 4},   {"int", 4},  {"double", 8}, {"float2", 8}, {"float4", 16},
};
enum { N_UNITS = sizeof unit_table / sizeof unit_table[0] };
const int unit_count = N_UNITS;

int unit_find(const char *name) {
  for (int i = 0; i < N_UNITS; i++)
    if (str_equal(name, unit_table[i].name)) return i;
  return -1;
}

int unit_bytes(const char *name, Diags *diags) {
  int at = unit_find(name);
  if (at >= 0) return unit_table[at].bytes;
  const char *names[N_UNITS];
  for (int i = 0; i < N_UNITS; i++) names[i] = unit_table[i].name;
  diag_add_unknown(diags, "unit", "unit", name, names, N_UNITS);
  return 0;
}
