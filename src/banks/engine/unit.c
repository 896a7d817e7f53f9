#include "banks/engine/unit.h"

#include "base/nearest.h"
#include "base/str.h"

const Unit unit_table[] = {
    {"bytes", 1}, {"f16", 2},   {"f32", 4},    {"f64", 8},    {"byte", 1},    {"s8", 1},
    {"e4m3", 1},  {"e5m2", 1},  {"half", 2},   {"bf16", 2},   {"float", 4},   {"tf32", 4},
    {"s32", 4},   {"int", 4},   {"double", 8}, {"float2", 8}, {"float4", 16}, {"u8", 1},
    {"e8m0", 1},  {"ue8m0", 1}, {"ue4m3", 1},  {"e2m1x2", 1}, {"u16", 2},     {"u32", 4},
    {"u64", 8},   {"s16", 2},   {"s64", 8},
};
enum { N_UNITS = sizeof unit_table / sizeof unit_table[0] };
const int unit_count = N_UNITS;

// The driver's words for the types of a tensor map, behind CU_TENSOR_MAP_DATA_TYPE_ or alone.
static const char *const MAP_TYPES[][2] = {
    {"UINT8", "u8"},         {"UINT16", "u16"},    {"UINT32", "u32"},      {"INT32", "s32"},
    {"UINT64", "u64"},       {"INT64", "s64"},     {"FLOAT16", "f16"},     {"FLOAT32", "f32"},
    {"FLOAT64", "f64"},      {"BFLOAT16", "bf16"}, {"FLOAT32_FTZ", "f32"}, {"TFLOAT32", "tf32"},
    {"TFLOAT32_FTZ", "tf32"}};

static const char *own_word(const char *name) {
  static const char prefix[] = "CU_TENSOR_MAP_DATA_TYPE_";
  const char *word = str_starts(name, prefix) ? name + sizeof prefix - 1 : name;
  for (size_t i = 0; i < sizeof MAP_TYPES / sizeof MAP_TYPES[0]; i++)
    if (str_equal(word, MAP_TYPES[i][0])) return MAP_TYPES[i][1];
  return name;
}

int unit_find(const char *name) {
  name = own_word(name);
  for (int i = 0; i < N_UNITS; i++)
    if (str_equal(name, unit_table[i].name)) return i;
  return -1;
}

int unit_bytes(const char *name, Diags *diags) {
  int at = unit_find(name);
  if (at >= 0) return unit_table[at].bytes;
  if (str_equal(name, "e2m1") || str_equal(name, "s4") || str_equal(name, "u4")) {
    diag_add(diags, "unit", "%s has 4 bits, but a unit has whole bytes: use a unit of two", name)
        ->nearest = "e2m1x2";
    return 0;
  }
  const char *names[N_UNITS];
  for (int i = 0; i < N_UNITS; i++) names[i] = unit_table[i].name;
  diag_add_unknown(diags, "unit", "unit", name, names, N_UNITS);
  return 0;
}
