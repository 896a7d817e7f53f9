// GPUs: limits, peaks and features, each number with where it comes from.
//
//   TargetTable table;
//   if (!targets_parse(arena, text, n, &diags, &table)) …     text: data/gpus.json
//   const Target *t = target_find(&table, "sm_90a", &diags);  the row h200
//
// A name is a row ("h200") or an architecture ("sm_90", "sm_90a"), which stands for the first row
// of that compute capability; case does not matter.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"

typedef enum TargetField {
#define TARGET_INT(field, owner, unit, lo, hi, help) TARGET_FIELD_##field,
#define TARGET_REAL(field, owner, unit, help) TARGET_FIELD_##field,
#include "model/words/target.def"
#undef TARGET_INT
#undef TARGET_REAL
  TARGET_FIELD_COUNT
} TargetField;

enum { TARGET_PLACES_MAX = 16 };

typedef struct TargetSource {
  const char *id;     // "h100_whitepaper"
  const char *title;  // "NVIDIA H100 Tensor Core GPU Architecture, table 3"
  const char *url;    // NULL when there is none
  bool measured;      // measured by a named setup, not stated by the vendor
} TargetSource;

typedef struct Target {
  const char *id;    // "h200"
  const char *name;  // "H200 SXM"
  const char *arch;  // the target of the compiler: "sm_90a"
  int cc;            // compute capability: 90
#define TARGET_INT(field, owner, unit, lo, hi, help) int field;
#define TARGET_REAL(field, owner, unit, help) double field;
#define TARGET_FEATURE(field, condition, help) bool field;
#include "model/words/target.def"
#undef TARGET_INT
#undef TARGET_REAL
#undef TARGET_FEATURE
  const TargetSource *source[TARGET_FIELD_COUNT];  // NULL where the number is unknown
  // The SMs of each place of one such GPU: what blocks of a cluster can share. Others of the same
  // name may have other SMs fused off. n_places 0: unknown.
  int n_places, place_sms[TARGET_PLACES_MAX];
  const TargetSource *place_source;
} Target;

typedef struct TargetTable {
  const Target *targets;
  int count;
  const TargetSource *sources;
  int n_sources;
} TargetTable;

// false after adding diagnostics for everything that is wrong with the text (rules "json" and
// "target"); `table` is complete or untouched.
bool targets_parse(Arena *arena, const char *text, size_t n, Diags *diags, TargetTable *table);

// NULL after adding a diagnostic of rule "unknown_target" with the nearest name. `diags` may be
// NULL.
const Target *target_find(const TargetTable *table, const char *name, Diags *diags);

// Whether a TARGET_REAL number is known.
static inline bool target_knows(double number) { return !isnan(number); }
// Bytes that L2 still has when a kernel runs again, of what SMs everywhere read.
double target_l2_kept(const Target *target);

// The tables' facts about a field: for listings, help and tests.
typedef struct TargetFieldInfo {
  const char *name, *unit, *help;
  bool is_int;
  size_t offset;  // in Target
} TargetFieldInfo;
extern const TargetFieldInfo target_fields[TARGET_FIELD_COUNT];

// The number of a field, NaN when unknown.
double target_number(const Target *target, TargetField field);

typedef struct TargetFeatureInfo {
  const char *name, *help;
  size_t offset;
} TargetFeatureInfo;
extern const TargetFeatureInfo target_features[];
extern const int target_feature_count;
