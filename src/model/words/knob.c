// The state line: reading, writing and stepping through values.
//
// Worked example: "BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,TMA=1,STAGE=11" sets eight knobs in that
// order and echoes exactly so, although SPLITK=1 is the default: what was given stays given. The
// rest is auto, and settled once the whole line is read (knob_auto.c).
//
// Parsing works on a copy of the schedule and hands it over only when nothing was found wrong.
#include "model/words/knob.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/whole.h"

const Knob knob_table[KNOB_COUNT] = {
#define KNOB(id, type, unit, lo, hi, value, tier, aliases, help) \
  [KNOB_##id] = {#id, KNOB_TYPE_##type, unit, lo, hi, value, tier, aliases, help},
#include "model/words/knob.def"
#undef KNOB
};

// Names of the values that are not numbers. The index is the value.
static const char *const dtype_names[] = {"f32",  "f16",  "bf16", "tf32",     "f64",  "s8",
                                          "e4m3", "e5m2", "mxf8", "mxf8e5m2", "mxf4", "nvfp4"};
static const char *const acc_names[] = {"f32", "f16"};
static const char *const stage_names[] = {"00", "01", "10", "11"};
static const char *const stage_said[] = {"none", "B", "A", "A+B"};
static const char *const order_names[] = {
#define TILE_ORDER(id, name, grouped, met) name,
#include "model/words/tile_order.def"
};
static const char *const program_names[] = {"matmul", "attention"};
static const char *const roles_names[] = {"cooperative", "pingpong"};
static const char *const split_names[] = {
#define SPLIT(id, name, type, bits, parts, products) name,
#include "model/words/split.def"
};
static const char *const atom_names[] = {"fma",
                                         "mma_m16n8k16_f16",
                                         "mma_m16n8k16_bf16",
                                         "mma_m16n8k8_f16",
                                         "mma_m16n8k8_bf16",
                                         "mma_m16n8k8_tf32",
                                         "mma_m16n8k4_tf32",
                                         "mma_m16n8k32_s8",
                                         "mma_m16n8k16_s8",
                                         "mma_m16n8k32_e4m3",
                                         "mma_m16n8k32_e5m2",
                                         "mma_m8n8k4_f64",
                                         "wgmma_m64n256k16_f16",
                                         "wgmma_m64n256k16_bf16",
                                         "wgmma_m64n256k8_tf32",
                                         "tcgen05_m128n256k16_bf16",
                                         "wgmma_m64n256k32_e4m3",
                                         "wgmma_m64n256k32_e5m2",
                                         "wgmma_m64n256k32_s8",
                                         "tcgen05_m128n256k16_f16",
                                         "tcgen05_m128n256k8_tf32",
                                         "tcgen05_m128n256k32_e4m3",
                                         "tcgen05_m128n256k32_e5m2",
                                         "mma_m16n8k32_mxf8",
                                         "mma_m16n8k32_mxf8e5m2",
                                         "mma_m16n8k64_mxf4",
                                         "mma_m16n8k64_nvfp4",
                                         "tcgen05_m128n256k32_mxf8",
                                         "tcgen05_m128n256k32_mxf8e5m2",
                                         "tcgen05_m128n256k64_mxf4",
                                         "tcgen05_m128n256k64_nvfp4"};

typedef struct Names {
  const char *const *name;
  int n;
} Names;

#define NAMES(list) \
  { list, (int)(sizeof list / sizeof *list) }

// By type; no name where values are numbers or a text.
static const Names value_names[KNOB_TYPES] = {
    [KNOB_TYPE_STAGE] = NAMES(stage_names),     [KNOB_TYPE_DTYPE] = NAMES(dtype_names),
    [KNOB_TYPE_ACC] = NAMES(acc_names),         [KNOB_TYPE_ATOM] = NAMES(atom_names),
    [KNOB_TYPE_ORDER] = NAMES(order_names),     [KNOB_TYPE_ROLES] = NAMES(roles_names),
    [KNOB_TYPE_PROGRAM] = NAMES(program_names), [KNOB_TYPE_SPLIT] = NAMES(split_names),
};

static const struct {
  bool grouped, met;
} tile_orders[] = {
#define TILE_ORDER(id, name, grouped, met) {grouped, met},
#include "model/words/tile_order.def"
};

bool tile_order_is_grouped(int64_t order) { return tile_orders[order].grouped; }

int64_t tile_order_met(int64_t other) {
  for (int order = 0; order < TILE_ORDERS; order++)
    if (tile_orders[order].met) return order;
  return other;
}

static const Names *names_of(KnobType type) {
  return value_names[type].n ? &value_names[type] : NULL;
}

Schedule schedule_default(void) {
  Schedule schedule = {.target = "h200"};
  for (int i = 0; i < KNOB_COUNT; i++) schedule.value[i] = knob_table[i].value;
  return schedule;
}

const char *schedule_reference(const Schedule *schedule) {
  return schedule->value[KNOB_PROGRAM] == COMPUTES_ATTENTION ? "torch" : "cuBLAS";
}

const char *schedule_of_reference(Arena *arena, const Schedule *schedule) {
  return arena_printf(arena, "of %s", schedule_reference(schedule));
}

Schedule schedule_plain(void) {
  Schedule schedule = schedule_default();
  schedule_set(&schedule, KNOB_AUTO, 0);
  return schedule;
}

// ---- finding ------------------------------------------------------------------------------------

static bool has_alias(const Knob *knob, const char *name) {
  size_t length = strlen(name);
  for (const char *at = knob->aliases; *at;) {
    size_t n = strcspn(at, " ");
    if (n == length && strncasecmp(at, name, n) == 0) return true;
    at += n + (at[n] == ' ');
  }
  return false;
}

KnobId knob_find(const char *name, const char **nearest) {
  const char *names[KNOB_COUNT];
  // Nearly all come as they are spelled: a session reads some thousand of them.
  for (int i = 0; i < KNOB_COUNT; i++)
    if (knob_table[i].name[0] == name[0] && strcmp(knob_table[i].name, name) == 0) return (KnobId)i;
  for (int i = 0; i < KNOB_COUNT; i++) {
    names[i] = knob_table[i].name;
    if (str_equal_fold(name, names[i]) || has_alias(&knob_table[i], name)) return (KnobId)i;
  }
  if (nearest) *nearest = nearest_name(name, names, KNOB_COUNT);
  return KNOB_NONE;
}

// "m16n8k16.f16" and "mma_m16n8k16_f16" are the same atom.
static void atom_spelling(const char *text, char *out, size_t size) {
  bool plain = strchr(text, '.') && !strchr(text, '_');
  size_t n = 0;
  for (const char *p = plain ? "mma_" : ""; *p && n + 1 < size; p++) out[n++] = *p;
  for (const char *p = text; *p && n + 1 < size; p++) out[n++] = *p == '.' ? '_' : *p;
  out[n] = '\0';
}

static int atom_dtype(int64_t atom);

static int name_index(const Names *names, const char *text) {
  for (int i = 0; i < names->n; i++)
    if (str_equal_fold(names->name[i], text)) return i;
  return -1;
}

// ---- values -------------------------------------------------------------------------------------

static bool value_allowed(const Knob *knob, int64_t value) {
  if (value < knob->lo || value > knob->hi) return false;
  return knob->type != KNOB_TYPE_POWER || value == 0 || is_power_of_two(value);
}

// The allowed value closest to `value`.
static int64_t value_nearest(const Knob *knob, int64_t value) {
  if (value < knob->lo) value = knob->lo;
  if (value > knob->hi) value = knob->hi;
  while (!value_allowed(knob, value)) value--;
  return value;
}

static bool set_number(Schedule *schedule, KnobId id, const char *text, Diags *diags) {
  const Knob *knob = &knob_table[id];
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end || isspace((unsigned char)*text)) {
    const size_t word = strcspn(text, " \t");
    if (word > 0 && strchr(text + word, '=')) {
      const char *rest = text + word + strspn(text + word, " \t");
      diag_add(diags, "value", "%s=%s: a comma stands between knobs", knob->name, text)->nearest =
          arena_printf(diags->arena, "%s=%.*s,%s", knob->name, (int)word, text, rest);
      return false;
    }
    Diag *diag = diag_add(diags, "value", "%s=%s: not a whole number", knob->name, text);
    bool fraction = end > text && *end == '.' && errno == 0;
    long long nearest = fraction ? value_nearest(knob, value) : (long long)knob->value;
    diag->nearest = arena_printf(diags->arena, "%s=%lld", knob->name, nearest);
    return false;
  }
  if (errno == ERANGE || !value_allowed(knob, value)) {
    const char *kind = knob->type == KNOB_TYPE_POWER ? "a power of two in " : "";
    Diag *diag = diag_add(diags, "range", "%s=%s: %s is %s%lld..%lld%s%s", knob->name, text,
                          knob->name, kind, (long long)knob->lo, (long long)knob->hi,
                          *knob->unit ? " " : "", knob->unit);
    long long nearest = value_nearest(knob, value);
    diag->nearest = arena_printf(diags->arena, "%s=%lld", knob->name, nearest);
    return false;
  }
  schedule->value[id] = value;
  return true;
}

static bool set_name(Schedule *schedule, KnobId id, const Names *names, const char *text,
                     Diags *diags) {
  const Knob *knob = &knob_table[id];
  char spelled[64];
  atom_spelling(text, spelled, sizeof spelled);
  int index = name_index(names, knob->type == KNOB_TYPE_ATOM ? spelled : text);
  if (index < 0 && knob->type == KNOB_TYPE_STAGE)
    index = name_index(&(Names)NAMES(stage_said), text);
  if (index < 0) {
    Diag *diag = diag_add(diags, "value", "%s=%s: no such value", knob->name, text);
    const char *near = nearest_name(spelled, names->name, names->n);
    diag->nearest = arena_printf(diags->arena, "%s=%s", knob->name, near ? near : names->name[0]);
    return false;
  }
  schedule->value[id] = index;
  return true;
}

static bool set_target(Schedule *schedule, const char *text, Diags *diags) {
  if (!*text || strlen(text) >= sizeof schedule->target) {
    diag_add(diags, "value", "TARGET=%.40s: unknown GPU or arch", text)->nearest = "TARGET=h200";
    return false;
  }
  strcpy(schedule->target, text);
  return true;
}

// The slab that a LAYOUT knob is about: 0 for A, 1 for B.
static int layout_side(KnobId id) { return id == KNOB_LAYOUT_B; }

static bool set_layout(Schedule *schedule, KnobId id, const char *text, Diags *diags) {
  if (strlen(text) >= LAYOUT_TEXT_MAX) {
    diag_add(diags, "value", "%s: a layout of %zu characters, at most %d", knob_table[id].name,
             strlen(text), LAYOUT_TEXT_MAX - 1)
        ->nearest = arena_printf(diags->arena, "%s=none", knob_table[id].name);
    return false;
  }
  bool none = !*text || str_equal_fold(text, "none");
  strcpy(schedule->layout[layout_side(id)], none ? "" : text);
  return true;
}

static bool set_auto(Schedule *schedule, KnobId id) {
  const Schedule defaults = schedule_default();
  schedule->value[id] = defaults.value[id];
  if (id == KNOB_TARGET) memcpy(schedule->target, defaults.target, sizeof schedule->target);
  if (knob_table[id].type == KNOB_TYPE_LAYOUT) schedule->layout[layout_side(id)][0] = '\0';
  return schedule->automatic[id] = true;
}

static bool set_text(Schedule *schedule, KnobId id, const char *text, Diags *diags) {
  if (str_equal_fold(text, "auto")) return set_auto(schedule, id);
  schedule->automatic[id] = false;
  const Names *names = names_of(knob_table[id].type);
  if (id == KNOB_TARGET) return set_target(schedule, text, diags);
  if (knob_table[id].type == KNOB_TYPE_LAYOUT) return set_layout(schedule, id, text, diags);
  if (names) return set_name(schedule, id, names, text, diags);
  return set_number(schedule, id, text, diags);
}

bool schedule_is_given(const Schedule *schedule, KnobId id) {
  for (int i = 0; i < schedule->n_given; i++)
    if (schedule->given[i] == id) return true;
  return false;
}

static void mark_given(Schedule *schedule, KnobId id) {
  if (!schedule_is_given(schedule, id)) schedule->given[schedule->n_given++] = id;
}

// The element type is the last part of the atom's name: mma_m16n8k16_f16 multiplies f16.
static int atom_dtype(int64_t atom) {
  const char *last = strrchr(atom_names[atom], '_');
  int index = last ? name_index(&value_names[KNOB_TYPE_DTYPE], last + 1) : 0;
  return index < 0 ? 0 : index;
}

void schedule_take_type(Schedule *schedule) {
  if (!schedule_is_given(schedule, KNOB_DTYPE) || schedule->automatic[KNOB_DTYPE])
    schedule->value[KNOB_DTYPE] =
        schedule->value[KNOB_SPLIT_F32] ? 0 : atom_dtype(schedule->value[KNOB_ATOM_KIND]);
}

// Sets what follows from a knob, unless it is given otherwise: an atom multiplies the type in its
// name, and TMA copies slabs, which both operands then have. The article's lines rely on both.
static void imply(Schedule *schedule, KnobId set) {
  int64_t *value = schedule->value;
  if (set == KNOB_ATOM_KIND || set == KNOB_DTYPE || set == KNOB_SPLIT_F32)
    schedule_take_type(schedule);
  if (set == KNOB_TMA && !schedule_is_given(schedule, KNOB_STAGE))
    value[KNOB_STAGE] = value[KNOB_TMA] ? STAGE_A | STAGE_B : 0;
}

void schedule_set(Schedule *schedule, KnobId knob, int64_t value) {
  schedule->value[knob] = value;
  schedule->automatic[knob] = false;
  mark_given(schedule, knob);
  // Turned by a key, it leaves the others as they are: knobs that are left out are still auto.
  if (knob == KNOB_VECTORIZE && schedule->value[KNOB_AUTO]) mark_given(schedule, KNOB_AUTO);
  if (knob == KNOB_AUTO && !value) schedule_switch_off(schedule);
  if (knob == KNOB_AUTO || knob == KNOB_TMA) imply(schedule, KNOB_TMA);
  // The type is the problem's: a key that turns the atom leaves it alone.
  schedule_settle(schedule);
}

// ---- the line -----------------------------------------------------------------------------------

// One "NAME=value" of the line; `seen` catches a knob given twice in the same line.
static void parse_item(Schedule *schedule, char *item, bool *seen, Diags *diags) {
  char *equals = strchr(item, '=');
  if (!equals) {
    diag_add(diags, "syntax", "\"%.60s\" is not NAME=value", item);
    return;
  }
  *equals = '\0';
  const char *nearest = NULL;
  KnobId id = knob_find(item, &nearest);
  if (id == KNOB_NONE) {
    const bool named = item[strspn(item, " \t")] != '\0';
    Diag *diag = diag_add(diags, "unknown_knob", "%.60s is not a knob%s",
                          named ? item : arena_printf(diags->arena, "=%.59s", equals + 1),
                          nearest ? "" : "; gemmview knobs lists them");
    diag->nearest = nearest;
    return;
  }
  if (seen[id]) {
    diag_add(diags, "duplicate_knob", "%s is given twice", knob_table[id].name);
    return;
  }
  seen[id] = true;
  if (set_text(schedule, id, equals + 1, diags)) mark_given(schedule, id);
}

// The first comma that stands outside quotes and brackets and before no number; NULL when there is
// none. Names of knobs begin with a letter: the part behind the commas of "LAYOUT_A=Swizzle<3,4,3>"
// is still its value, and so is the part between the commas of "LAYOUT_A=(_64,_64):(_64,_1)".
static char *item_end(char *text) {
  bool quoted = false;
  int depth = 0;
  for (; *text; text++) {
    if (*text == '\'') quoted = !quoted;
    depth += *text == '(' || *text == '[' || *text == '{';
    depth -= *text == ')' || *text == ']' || *text == '}';
    bool number = isdigit((unsigned char)text[1]) || (text[1] == '-' && text[2]);
    if (*text == ',' && !quoted && depth <= 0 && !number) return text;
  }
  return NULL;
}

static char *trim(char *text) {
  while (isspace((unsigned char)*text)) text++;
  size_t n = strlen(text);
  while (n && isspace((unsigned char)text[n - 1])) text[--n] = '\0';
  return text;
}

const char *knobs_of_export(Arena *arena, const char *line) {
  static const char variable[] = "DEPLODOCK_KNOBS=", word[] = "export ";
  line += strspn(line, " \t\n");
  if (str_starts(line, word)) line += strlen(word) + strspn(line + strlen(word), " \t");
  if (!str_starts(line, variable)) return NULL;
  line += strlen(variable);
  const char quotes[] = {*line, '\0'};
  if (*line == '"' || *line == '\'')
    return arena_strndup(arena, line + 1, strcspn(line + 1, quotes));
  return arena_strndup(arena, line, strcspn(line, " \t\n"));
}

bool schedule_parse(Schedule *schedule, const char *text, Diags *diags) {
  const char *exported = knobs_of_export(diags->arena, text);
  if (exported) return schedule_parse(schedule, exported, diags);
  Schedule work = *schedule;
  bool seen[KNOB_COUNT] = {false};
  int found = diags->count;
  char *clean = str_sanitise(diags->arena, text);
  for (char *item = clean; item;) {
    char *comma = item_end(item);
    if (comma) *comma = '\0';
    char *trimmed = trim(item);
    if (*trimmed) parse_item(&work, trimmed, seen, diags);
    item = comma ? comma + 1 : NULL;
    if (diags->count - found > 20) break;  // a pasted file would give thousands
  }
  if (diags->count > found) return false;
  // A state that says how copies are made says all of it.
  bool told = schedule_is_given(&work, KNOB_AUTO);
  if (seen[KNOB_VECTORIZE] && !work.automatic[KNOB_VECTORIZE] && !told) {
    work.value[KNOB_AUTO] = 0;
    seen[KNOB_AUTO] = true;
  }
  if (seen[KNOB_AUTO] && !work.value[KNOB_AUTO]) {
    schedule_switch_off(&work);
    seen[KNOB_TMA] = true;
  }
  for (int i = 0; i < KNOB_COUNT; i++)
    if (seen[i]) imply(&work, (KnobId)i);
  schedule_settle(&work);
  *schedule = work;
  return true;
}

const char *knob_enum_text(KnobId knob, int64_t value) {
  const Names *names = names_of(knob_table[knob].type);
  return names ? names->name[value] : NULL;
}

const char *knob_value_text(Arena *arena, const Schedule *schedule, KnobId knob) {
  const Names *names = names_of(knob_table[knob].type);
  if (knob == KNOB_TARGET) return arena_strdup(arena, schedule->target);
  if (knob_table[knob].type == KNOB_TYPE_LAYOUT) {
    const char *text = schedule->layout[layout_side(knob)];
    return arena_strdup(arena, *text ? text : "none");
  }
  if (names) return arena_strdup(arena, names->name[schedule->value[knob]]);
  return arena_printf(arena, "%lld", (long long)schedule->value[knob]);
}

const char *knob_operands_said(int64_t value) { return stage_said[value]; }

char *schedule_text(Arena *arena, const Schedule *schedule) {
  Str out = str_new(arena);
  for (int i = 0; i < schedule->n_given; i++) {
    KnobId id = schedule->given[i];
    str_printf(&out, "%s%s=%s", i ? "," : "", knob_table[id].name,
               schedule->automatic[id] ? "auto" : knob_value_text(arena, schedule, id));
  }
  return out.text;
}

// ---- stepping -----------------------------------------------------------------------------------

// Numbers with a wide range step to the next power of two, others by one.
static int64_t step_number(const Knob *knob, int64_t value, int direction) {
  bool powers = knob->type == KNOB_TYPE_POWER || knob->hi > 64;
  if (!powers) return value + direction;
  if (direction > 0) {
    int64_t next = 1;
    while (next <= value) next *= 2;
    return next;
  }
  int64_t next = 1;
  if (value <= 1) return value - 1;
  while (next * 2 < value) next *= 2;
  return next;
}

bool knob_step(const Schedule *schedule, KnobId id, int direction, int64_t *value) {
  const Knob *knob = &knob_table[id];
  const Names *names = names_of(knob->type);
  if (id == KNOB_TARGET || knob->type == KNOB_TYPE_LAYOUT) return false;
  int64_t now = schedule->value[id];
  int64_t next = names ? now + direction : step_number(knob, now, direction);
  int64_t hi = names ? names->n - 1 : knob->hi;
  if (next < knob->lo || next > hi) return false;
  *value = next;
  return true;
}

KnobId knob_first_to_turn(void) {
  int knob = 0;
  while (knob_is_problem((KnobId)knob)) knob++;
  return (KnobId)knob;
}

int knob_layout_side(KnobId knob) {
  return knob_table[knob].type == KNOB_TYPE_LAYOUT ? knob == KNOB_LAYOUT_B : -1;
}

bool knob_is_problem(KnobId knob) { return str_equal(knob_table[knob].tier, "PROBLEM"); }

// The word of a schedule on one knob, a number or a text: two schedules differ in the knob if it
// differs. AUTO says nothing.
typedef struct KnobSays {
  int64_t number;
  const char *text;  // NULL: it is the number
} KnobSays;

static inline KnobSays knob_says(const Schedule *schedule, KnobId knob) {
  const KnobType type = knob_table[knob].type;
  if (type == KNOB_TYPE_LAYOUT) return (KnobSays){0, schedule->layout[layout_side(knob)]};
  if (type == KNOB_TYPE_TARGET) return (KnobSays){0, schedule->target};
  return (KnobSays){knob == KNOB_AUTO ? 0 : schedule->value[knob], NULL};
}

// The letters of a layout count, the case of a GPU's name does not.
static bool any_case(KnobId knob) { return knob_table[knob].type == KNOB_TYPE_TARGET; }

bool schedule_differs(const Schedule *a, const Schedule *b, KnobId knob) {
  const KnobSays in_a = knob_says(a, knob), in_b = knob_says(b, knob);
  if (!in_a.text) return in_a.number != in_b.number;
  return any_case(knob) ? !str_equal_fold(in_a.text, in_b.text) : !str_equal(in_a.text, in_b.text);
}

// A knob is eight bytes, or a text and 255, which is part of no text.
uint64_t schedule_identity(const Schedule *schedule) {
  uint64_t hash = HASH_START;
  for (int i = 0; i < KNOB_COUNT; i++) {
    const KnobSays says = knob_says(schedule, (KnobId)i);
    if (!says.text) hash = hash_bytes(hash, &says.number, sizeof says.number);
    for (const char *c = says.text; c && *c; c++)
      hash =
          hash_byte(hash, (unsigned char)(any_case((KnobId)i) ? tolower((unsigned char)*c) : *c));
    if (says.text) hash = hash_byte(hash, 255);
  }
  return hash;
}

int schedule_distance(const Schedule *a, const Schedule *b) {
  int n = 0;
  for (int i = 0; i < KNOB_COUNT; i++) n += schedule_differs(a, b, (KnobId)i);
  return n;
}

bool schedule_same(const Schedule *a, const Schedule *b) {
  for (int i = 0; i < KNOB_COUNT; i++)
    if (schedule_differs(a, b, (KnobId)i)) return false;
  return true;
}

bool schedule_says_same(const Schedule *a, const Schedule *b) {
  if (!schedule_same(a, b) || a->value[KNOB_AUTO] != b->value[KNOB_AUTO]) return false;
  for (int i = 0; i < KNOB_COUNT; i++)
    if (knob_is_auto(a, (KnobId)i) != knob_is_auto(b, (KnobId)i)) return false;
  return true;
}

bool schedule_same_problem(const Schedule *a, const Schedule *b) {
  for (int i = 0; i < KNOB_COUNT; i++)
    if (knob_is_problem((KnobId)i) && schedule_differs(a, b, (KnobId)i)) return false;
  return true;
}
