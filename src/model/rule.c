// Checking rules and finding the nearest legal value.
//
// Each row of rule.def becomes two functions, holds and text. When a rule fails, its knobs are walked
// outwards from their present values, one step up, one down, two up, …, and the first value with which
// the rule holds is the nearest. Worked example: BM=8, BN=256 on a GPU with 1024 threads per block
// fails threads_fit; BN is tried first: 512 (no), 128 (yes), so "nearest: BN=128".
//
// Ids that start with "not_built" are told to the user as the one rule `not_built`.
#include "model/rule.h"

#include <string.h>

#include "base/str.h"
#include "model/derive.h"

enum { FM_BM, FN_BN };
static const int64_t MATRIX_MAX = (int64_t)1 << 36;

typedef struct Facts {
  const Schedule *schedule;
  const Target *target;
  const Resources *resources;  // NULL in phase KNOBS
} Facts;

static bool divides_cells(int64_t group, int64_t cells) {
  return group == 0 || cells <= group || cells % group == 0;
}

// Elements of one slab that each thread of the block fetches.
static int64_t copy_share(const Facts *f, int side) {
  const int64_t *v = f->schedule->value;
  int64_t tile = side == FM_BM ? v[KNOB_FM] * v[KNOB_BM] : v[KNOB_FN] * v[KNOB_BN];
  int64_t threads = v[KNOB_BM] * v[KNOB_BN];
  return (tile * v[KNOB_BK] + threads - 1) / threads;
}

#define V(knob) (f->schedule->value[KNOB_##knob])
#define L(knob) ((long long)V(knob))
#define TEXT(knob) knob_value_text(arena, f->schedule, KNOB_##knob)
#define RULE(id, phase, knobs, help, holds, ...)              \
  static bool id##_holds(const Facts *f) {                    \
    const Target *t = f->target;                              \
    const Resources *r = f->resources;                        \
    (void)t, (void)r;                                         \
    return holds;                                             \
  }                                                           \
  static char *id##_text(Arena *arena, const Facts *f) {      \
    const Target *t = f->target;                              \
    const Resources *r = f->resources;                        \
    (void)t, (void)r, (void)f;                                \
    return arena_printf(arena, __VA_ARGS__);                  \
  }
#include "model/rule.def"
#undef RULE

typedef enum Phase { PHASE_KNOBS, PHASE_PROGRAM } Phase;

static const struct {
  Phase phase;
  bool (*holds)(const Facts *);
  char *(*text)(Arena *, const Facts *);
} rule_code[] = {
#define RULE(id, phase, knobs, help, holds, ...) {PHASE_##phase, id##_holds, id##_text},
#include "model/rule.def"
#undef RULE
};

const Rule rule_table[] = {
#define RULE(id, phase, knobs, help, holds, ...) {#id, knobs, help},
#include "model/rule.def"
#undef RULE
};
const int rule_count = sizeof rule_table / sizeof *rule_table;

// ---- nearest ------------------------------------------------------------------------------------

// Does the rule hold with this schedule? Rules about the program need the program.
static bool holds_with(Arena *arena, int rule, const Schedule *schedule, const Target *target) {
  Facts facts = {schedule, target, NULL};
  if (rule_code[rule].phase == PHASE_KNOBS) return rule_code[rule].holds(&facts);
  for (int i = 0; i < rule_count; i++)
    if (rule_code[i].phase == PHASE_KNOBS && !rule_code[i].holds(&facts)) return false;
  Pipeline pipeline = pipeline_run(arena, schedule);
  Resources resources =
      derive_resources(pipeline.stage[pipeline.n_stages - 1].program, schedule, target);
  facts.resources = &resources;
  return rule_code[rule].holds(&facts);
}

// One more step of a knob away from where it was; false at the end of its range.
static bool step_away(Schedule *trial, KnobId knob, int direction) {
  int64_t value;
  if (!knob_step(trial, knob, direction, &value)) return false;
  trial->value[knob] = value;
  return true;
}

static char *nearest_of_knob(Arena *arena, int rule, KnobId knob, const Schedule *schedule,
                             const Target *target) {
  Schedule up = *schedule, down = *schedule;
  for (bool more = true; more;) {
    more = false;
    Schedule *trial[] = {&down, &up};
    for (int i = 0; i < 2; i++) {
      if (!step_away(trial[i], knob, i ? 1 : -1)) continue;
      more = true;
      if (!holds_with(arena, rule, trial[i], target)) continue;
      return arena_printf(arena, "%s=%s", knob_table[knob].name,
                          knob_value_text(arena, trial[i], knob));
    }
  }
  return NULL;
}

static const char *nearest_value(Arena *arena, int rule, const Schedule *schedule,
                                 const Target *target) {
  char name[32];
  for (const char *at = rule_table[rule].knobs; *at;) {
    size_t n = strcspn(at, ",");
    memcpy(name, at, n);
    name[n] = '\0';
    const char *nearest =
        nearest_of_knob(arena, rule, knob_find(name, NULL), schedule, target);
    if (nearest) return nearest;
    at += n + (at[n] == ',');
  }
  return NULL;
}

// ---- checking -----------------------------------------------------------------------------------

static void add_finding(int rule, const Facts *facts, Diags *diags) {
  const char *id = rule_table[rule].id;
  if (str_starts(id, "not_built")) id = "not_built";
  Diag *diag = diag_add(diags, id, "%s", rule_code[rule].text(diags->arena, facts));
  diag->nearest = nearest_value(diags->arena, rule, facts->schedule, facts->target);
}

static void check(Phase phase, const Facts *facts, Diags *diags) {
  for (int i = 0; i < rule_count; i++)
    if (rule_code[i].phase == phase && !rule_code[i].holds(facts)) add_finding(i, facts, diags);
}

void rules_check_knobs(const Schedule *schedule, const Target *target, Diags *diags) {
  Facts facts = {schedule, target, NULL};
  check(PHASE_KNOBS, &facts, diags);
}

void rules_check_program(const Model *model, Diags *diags) {
  Facts facts = {&model->schedule, model->target, &model->resources};
  check(PHASE_PROGRAM, &facts, diags);
}

RuleVerdict rule_judge(const Model *model, int rule, Diags *diags) {
  Facts facts = {&model->schedule, model->target, model->program ? &model->resources : NULL};
  if (rule_code[rule].phase == PHASE_PROGRAM && !model->program) return RULE_OPEN;
  if (rule_code[rule].holds(&facts)) return RULE_HOLDS;
  add_finding(rule, &facts, diags);
  return RULE_FAILS;
}
