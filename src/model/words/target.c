// data/gpus.json → a table of Target, every number checked against target.def and tied to its
// source.
//
// The file has three objects: `sources` (where numbers come from), `architectures` (the limits that
// all GPUs of a compute capability share) and `gpus` (the products). A GPU names its architecture
// and gets both halves:
//
//   "architectures": {"sm_90": {"max_warps_per_sm": {"value": 64, "source": "cuda_guide"}, …}}
//   "gpus": {"h200": {"name": "H200 SXM", "arch": "sm_90a", "sm_count": {"value": 132, …}, …}}
//
// This gives h200 with cc 90, 64 warps, 132 SMs and has_wgmma. `arch` may carry a feature suffix
// (90a) that the compiler wants; the limits belong to the number before it. A number without a
// source is null. Requires nothing of the text; ensures that warps × 32 = threads and that a
// block's shared memory and reserve fit into an SM, since the occupancy rules divide by these.
#include "model/words/target.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/str.h"

enum { ARCH, GPU };

const TargetFieldInfo target_fields[TARGET_FIELD_COUNT] = {
#define TARGET_INT(field, owner, unit, lo, hi, help) \
  {#field, unit, help, true, offsetof(Target, field)},
#define TARGET_REAL(field, owner, unit, help) {#field, unit, help, false, offsetof(Target, field)},
#include "model/words/target.def"
#undef TARGET_INT
#undef TARGET_REAL
};

typedef struct FieldRule {
  int owner, lo, hi;
} FieldRule;

static const FieldRule field_rules[TARGET_FIELD_COUNT] = {
#define TARGET_INT(field, owner, unit, lo, hi, help) {owner, lo, hi},
#define TARGET_REAL(field, owner, unit, help) {owner, 0, 0},
#include "model/words/target.def"
#undef TARGET_INT
#undef TARGET_REAL
};

const TargetFeatureInfo target_features[] = {
#define TARGET_FEATURE(field, condition, help) {#field, help, offsetof(Target, field)},
#include "model/words/target.def"
#undef TARGET_FEATURE
};
const int target_feature_count = sizeof target_features / sizeof target_features[0];

typedef struct Reader {
  Arena *arena;
  Diags *diags;
  TargetSource *sources;
  int n_sources;
  const JsonValue *architectures;
} Reader;

static const char *const source_keys[] = {"title", "url", "measured"};

static void read_sources(Reader *r, const JsonValue *list) {
  r->n_sources = json_count(list);
  r->sources = ARENA_ARRAY(r->arena, TargetSource, r->n_sources);
  for (int i = 0; i < r->n_sources; i++) {
    const JsonValue *item = json_at(list, i);
    TargetSource *source = &r->sources[i];
    source->id = json_key_at(list, i);
    json_require_string(item, "title", &source->title, r->diags);
    json_optional_string(item, "url", &source->url, r->diags);
    json_optional_bool(item, "measured", &source->measured, r->diags);
    json_check_keys(item, source_keys, 3, r->diags);
  }
}

static const TargetSource *find_source(Reader *r, const JsonValue *cell) {
  const char *id = NULL;
  if (!json_require_string(cell, "source", &id, r->diags)) return NULL;
  const char **ids = ARENA_ARRAY(r->arena, const char *, r->n_sources);
  for (int i = 0; i < r->n_sources; i++) {
    ids[i] = r->sources[i].id;
    if (str_equal(ids[i], id)) return &r->sources[i];
  }
  Diag *diag = json_diag(r->diags, json_object_get(cell, "source"), "this source does not exist");
  diag->nearest = nearest_name(id, ids, r->n_sources);
  return NULL;
}

static void read_int(Reader *r, const JsonValue *owner, TargetField field, Target *target) {
  int *out = (int *)(void *)((char *)target + target_fields[field].offset);
  const FieldRule *rule = &field_rules[field];
  const JsonValue *cell = json_require_object(owner, target_fields[field].name, r->diags);
  if (!cell || !json_require_int(cell, "value", rule->lo, rule->hi, out, r->diags)) return;
  target->source[field] = find_source(r, cell);
}

static void read_real(Reader *r, const JsonValue *owner, TargetField field, Target *target) {
  double *out = (double *)(void *)((char *)target + target_fields[field].offset);
  *out = NAN;
  const JsonValue *cell = json_object_get(owner, target_fields[field].name);
  if (json_is_null(cell)) return;
  if (json_kind(cell) != JSON_OBJECT) {
    json_diag(r->diags, cell, "neither null nor an object with \"value\" and \"source\"");
    return;
  }
  if (!json_require_double(cell, "value", out, r->diags)) return;
  if (!(*out > 0))
    json_diag(r->diags, cell,
              "%g is not greater than 0; write null for "
              "unknown",
              *out);
  target->source[field] = find_source(r, cell);
}

static void read_fields(Reader *r, const JsonValue *object, int owner, Target *target) {
  static const char *const cell_keys[] = {"value", "source"};
  for (int field = 0; field < TARGET_FIELD_COUNT; field++) {
    if (field_rules[field].owner != owner) continue;
    if (target_fields[field].is_int)
      read_int(r, object, (TargetField)field, target);
    else
      read_real(r, object, (TargetField)field, target);
    json_check_keys(json_object_get(object, target_fields[field].name), cell_keys, 2, r->diags);
  }
}

// "place_sms": {"value": [16, 18, …], "source": …}; left out where the places are not known.
static void read_places(Reader *r, const JsonValue *gpu, Target *target) {
  static const char *const cell_keys[] = {"value", "source"};
  if (!json_object_get(gpu, "place_sms")) return;
  const JsonValue *cell = json_require_object(gpu, "place_sms", r->diags);
  const JsonValue *list = json_require_array(cell, "value", r->diags);
  int n = json_count(list), all = 0;
  if (n > TARGET_PLACES_MAX) {
    json_diag(r->diags, list, "%d places; at most %d are allowed", n, TARGET_PLACES_MAX);
    return;
  }
  for (int i = 0; i < n; i++) {
    int sms = 0;
    if (!json_read_int(json_at(list, i), 1, 4096, &sms, r->diags)) return;
    all += target->place_sms[i] = sms;
  }
  if (!list) return;
  target->n_places = n;
  target->place_source = find_source(r, cell);
  json_check_keys(cell, cell_keys, 2, r->diags);
  if (all != target->sm_count)
    json_diag(r->diags, list, "%d SMs in all, but the GPU has %d", all, target->sm_count);
}

static void check_known_keys(Reader *r, const JsonValue *object, int owner) {
  const char *keys[TARGET_FIELD_COUNT + 3] = {"name", "arch", "place_sms"};
  int n = owner == GPU ? 3 : 0;
  for (int field = 0; field < TARGET_FIELD_COUNT; field++)
    if (field_rules[field].owner == owner) keys[n++] = target_fields[field].name;
  json_check_keys(object, keys, n, r->diags);
}

// "sm_90a" → 90, with *length the characters up to the suffix; -1 when it is no architecture.
static int parse_arch(const char *arch, size_t *length) {
  if (strncasecmp(arch, "sm_", 3) != 0) return -1;
  int cc = 0;
  size_t at = 3;
  for (; arch[at] >= '0' && arch[at] <= '9' && at < 7; at++) cc = cc * 10 + (arch[at] - '0');
  *length = at;
  bool suffix = arch[at] == 'a' || arch[at] == 'A';
  return at >= 5 && arch[at + suffix] == '\0' ? cc : -1;
}

static void derive_features(Target *target) {
  const int cc = target->cc;
#define TARGET_FEATURE(field, condition, help) target->field = (condition);
#include "model/words/target.def"
#undef TARGET_FEATURE
}

static void check_consistency(Reader *r, const JsonValue *object, const Target *t) {
  if (t->max_warps_per_sm * 32 != t->max_threads_per_sm)
    json_diag(r->diags, object, "%d warps are not %d threads", t->max_warps_per_sm,
              t->max_threads_per_sm);
  if (t->smem_per_block + t->smem_reserved_per_block > t->smem_per_sm)
    json_diag(r->diags, object, "a block's %d + %d B of shared memory exceed the SM's %d B",
              t->smem_per_block, t->smem_reserved_per_block, t->smem_per_sm);
}

static void read_gpu(Reader *r, const JsonValue *gpu, const char *id, Target *target) {
  int before = r->diags->count;
  target->id = id;
  json_require_string(gpu, "name", &target->name, r->diags);
  if (!json_require_string(gpu, "arch", &target->arch, r->diags)) return;
  size_t length = 0;
  target->cc = parse_arch(target->arch, &length);
  const char *base = arena_strndup(r->arena, target->arch, length);
  const JsonValue *limits = json_object_get(r->architectures, base);
  if (target->cc < 0 || !limits) {
    json_diag(r->diags, json_object_get(gpu, "arch"),
              "\"architectures\" does not have this "
              "member");
    return;
  }
  read_fields(r, limits, ARCH, target);
  read_fields(r, gpu, GPU, target);
  read_places(r, gpu, target);
  check_known_keys(r, gpu, GPU);
  derive_features(target);
  if (r->diags->count == before) check_consistency(r, gpu, target);
}

bool targets_parse(Arena *arena, const char *text, size_t n, Diags *diags, TargetTable *table) {
  static const char *const keys[] = {"sources", "architectures", "gpus"};
  int before = diags->count;
  const JsonValue *root = json_parse(arena, text, n, diags, "gpus.json");
  if (!root) return false;
  Reader r = {.arena = arena, .diags = diags};
  read_sources(&r, json_require_object(root, "sources", diags));
  r.architectures = json_require_object(root, "architectures", diags);
  for (int i = 0; i < json_count(r.architectures); i++)
    check_known_keys(&r, json_at(r.architectures, i), ARCH);
  const JsonValue *gpus = json_require_object(root, "gpus", diags);
  int count = json_count(gpus);
  if (gpus && count == 0) json_diag(diags, gpus, "there must be at least one GPU");
  Target *targets = ARENA_ARRAY(arena, Target, count);
  for (int i = 0; r.architectures && i < count; i++)
    read_gpu(&r, json_at(gpus, i), json_key_at(gpus, i), &targets[i]);
  if (json_kind(root) == JSON_OBJECT) json_check_keys(root, keys, 3, diags);
  if (diags->count != before) return false;
  *table = (TargetTable){targets, count, r.sources, r.n_sources};
  return true;
}

static void add_unknown(const TargetTable *table, const char *name, Diags *diags) {
  const char **names = ARENA_ARRAY(diags->arena, const char *, 2 * table->count);
  int n = 0;
  for (int i = 0; i < table->count; i++) names[n++] = table->targets[i].id;
  for (int i = 0; i < table->count; i++) names[n++] = table->targets[i].arch;
  Diag *diag = diag_add(diags, "unknown_target",
                        "there is no GPU or architecture \"%.40s\"; gemmview targets lists them",
                        str_sanitise(diags->arena, name));
  diag->nearest = nearest_name(name, names, n);
}

// "sm_90" and "sm_90a" name a row of sm_90a, but "sm_80a" does not name one of sm_80.
static bool has_suffix_of(const char *name, const char *arch) {
  return strlen(name) <= strlen(arch);
}

const Target *target_find(const TargetTable *table, const char *name, Diags *diags) {
  for (int i = 0; i < table->count; i++)
    if (str_equal_fold(table->targets[i].id, name)) return &table->targets[i];
  size_t length;
  int cc = parse_arch(name, &length);
  for (int i = 0; cc > 0 && i < table->count; i++)
    if (table->targets[i].cc == cc && has_suffix_of(name, table->targets[i].arch))
      return &table->targets[i];
  if (diags) add_unknown(table, name, diags);
  return NULL;
}

double target_number(const Target *target, TargetField field) {
  assert(field < TARGET_FIELD_COUNT);
  const char *at = (const char *)target + target_fields[field].offset;
  return target_fields[field].is_int ? (double)*(const int *)(const void *)at
                                     : *(const double *)(const void *)at;
}

double target_l2_kept(const Target *target) {
  return (double)target->l2_bytes / (target_knows(target->l2_copies) ? target->l2_copies : 1);
}
