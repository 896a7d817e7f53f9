// The nearest legal value to one that breaks a rule.
//
// The rule's knobs are walked outwards from their present values, one step up, one down, two up, …,
// and the first value with which the rule holds is the nearest. Worked example: BM=8, BN=256 on a
// GPU with 1024 threads per block fails threads_fit; BN is tried first: 512 (no), 128 (yes), so
// "nearest: BN=128". Extents of the problem, atoms and typed layouts have their own ways out.
#include <string.h>

#include "base/str.h"
#include "model/readings/derive.h"
#include "model/readings/rules/rule_facts.h"
#include "model/words/schedule_atom.h"

// The search for a nearest value: the rule that fails, and where it starts from.
typedef struct Hunt {
  Arena *arena;
  int rule;
  const Schedule *from;
  const Target *target;
  bool strict;       // it may break no rule that holds now; else it must at least be built
  const bool *kept;  // by knob: it is not to be moved; NULL: all may be
} Hunt;

static bool is_not_built(int rule) { return str_starts(rule_table[rule].id, "not_built"); }

// Whether all that rule `other` turns is turned by `rule` too.
static bool turns_same(int rule, int other) {
  return strstr(rule_table[rule].knobs, rule_table[other].knobs) != NULL;
}

// Whether a rule that holds now would fail: of the quick ones, which layouts are not.
static bool breaks_another(const Hunt *hunt, const Schedule *trial) {
  const Facts now = rule_facts(hunt->arena, hunt->from, hunt->target, NULL);
  const Facts then = rule_facts(hunt->arena, trial, hunt->target, NULL);
  for (int i = 0; i < rule_count; i++) {
    if (i == hunt->rule || rule_phase(i) != PHASE_KNOBS || rule_layout_side(i) >= 0) continue;
    if (!hunt->strict && !(is_not_built(i) && turns_same(hunt->rule, i))) continue;
    if (!rule_holds(i, &then) && rule_holds(i, &now)) return true;
  }
  return false;
}

// Does the rule hold with this schedule? Rules about the program need the program.
static bool holds_with(const Hunt *hunt, const Schedule *schedule) {
  Facts facts = rule_facts(hunt->arena, schedule, hunt->target, NULL);
  if (rule_phase(hunt->rule) == PHASE_KNOBS)
    return rule_holds(hunt->rule, &facts) && !breaks_another(hunt, schedule);
  for (int i = 0; i < rule_count; i++)
    if (rule_phase(i) == PHASE_KNOBS && !rule_holds(i, &facts)) return false;
  Pipeline pipeline = pipeline_run(hunt->arena, schedule);
  Resources resources =
      derive_resources(pipeline.stage[pipeline.n_stages - 1].program, hunt->target);
  facts.resources = &resources;
  return rule_holds(hunt->rule, &facts);
}

// One more step of a knob away from where it was; false at the end of its range.
static bool step_away(Schedule *trial, KnobId knob, int direction) {
  int64_t value;
  if (!knob_step(trial, knob, direction, &value)) return false;
  trial->value[knob] = value;
  return true;
}

// Steps go from power to power where a knob has many values, as the keys do. From K = 4095 that
// would pass over 4096, from ATOM_N = 256 over 208; so the extents of the problem, and numbers that
// hardware takes in steps of 8, are looked at one by one first.
static char *nearest_number(const Hunt *hunt, KnobId id) {
  enum { REACH = 64, REACH_OF_ALL = 256 };
  const Knob *knob = &knob_table[id];
  bool in_steps = id == KNOB_ATOM_N || id == KNOB_PRODUCER_REGS;
  int64_t reach = in_steps ? REACH_OF_ALL : REACH;
  if ((id > KNOB_K && !in_steps) || rule_phase(hunt->rule) != PHASE_KNOBS) return NULL;
  for (int64_t away = 1; away <= reach; away++)
    for (int sign = -1; sign <= 1; sign += 2) {
      Schedule trial = *hunt->from;
      int64_t value = trial.value[id] += sign * away;
      if (value < knob->lo || value > knob->hi || !holds_with(hunt, &trial)) continue;
      return arena_printf(hunt->arena, "%s=%s", knob->name,
                          knob_value_text(hunt->arena, &trial, id));
    }
  return NULL;
}

// The traits that an atom shall share with the one that cannot be, for it to be the nearest.
// SAME_ELEMENT: a block-scaled atom's elements without their factors, e4m3 for mxf8. SAME_SUMS:
// sums of the same type, so that floats do not become integers.
typedef enum Likeness {
  SAME_TYPE_AND_DEPTH,
  SAME_TYPE,
  SAME_ELEMENT,
  SAME_SUMS,
  SAME_DEPTH,
  N_LIKENESS
} Likeness;

static bool is_like(const Hunt *hunt, const Schedule *trial, Likeness likeness) {
  const Facts now = rule_facts(hunt->arena, hunt->from, hunt->target, NULL);
  const Facts then = rule_facts(hunt->arena, trial, hunt->target, NULL);
  const Atom *from = rule_atom_of(&now), *to = rule_atom_of(&then);
  bool same_type = rule_dtype_of_atom(&then) == (int64_t)schedule_operand_type(trial);
  bool same_depth = from && to && from->k == to->k && from->bits == to->bits;
  if (likeness == SAME_ELEMENT)
    return same_depth && atom_scales(from) &&
           str_equal(dtype_element((DType)rule_dtype_of_atom(&now)), to->type);
  if (likeness == SAME_SUMS) return same_depth && str_equal(from->acc, to->acc);
  return (likeness == SAME_DEPTH || same_type) && (likeness == SAME_TYPE || same_depth);
}

// The atom nearest in the list of names, among those that are alike.
static char *nearest_atom(const Hunt *hunt) {
  const Knob *knob = &knob_table[KNOB_ATOM_KIND];
  int64_t now = hunt->from->value[KNOB_ATOM_KIND];
  for (int likeness = 0; likeness < N_LIKENESS; likeness++)
    for (int64_t away = 1; away <= knob->hi; away++)
      for (int sign = -1; sign <= 1; sign += 2) {
        Schedule trial = *hunt->from;
        int64_t value = trial.value[KNOB_ATOM_KIND] = now + sign * away;
        if (value < knob->lo || value > knob->hi) continue;
        if (is_like(hunt, &trial, (Likeness)likeness) && holds_with(hunt, &trial))
          return arena_printf(hunt->arena, "%s=%s", knob->name,
                              knob_value_text(hunt->arena, &trial, KNOB_ATOM_KIND));
      }
  return NULL;
}

// A typed layout has no neighbours: without it, or without both.
static char *nearest_untyped(const Hunt *hunt, KnobId knob) {
  int side = knob == KNOB_LAYOUT_A ? FM_BM : FN_BN;
  Schedule trial = *hunt->from;
  if (!trial.layout[side][0]) return NULL;
  trial.layout[side][0] = '\0';
  if (holds_with(hunt, &trial)) return arena_printf(hunt->arena, "%s=none", knob_table[knob].name);
  trial.layout[FM_BM][0] = trial.layout[FN_BN][0] = '\0';
  return holds_with(hunt, &trial) ? arena_strdup(hunt->arena, "LAYOUT_A=none,LAYOUT_B=none") : NULL;
}

static char *nearest_of_knob(const Hunt *hunt, KnobId knob) {
  if (knob_table[knob].type == KNOB_TYPE_LAYOUT) return nearest_untyped(hunt, knob);
  char *closer = knob == KNOB_ATOM_KIND ? nearest_atom(hunt) : nearest_number(hunt, knob);
  if (closer) return closer;
  Schedule up = *hunt->from, down = *hunt->from;
  for (bool more = true; more;) {
    more = false;
    Schedule *trial[] = {&down, &up};
    for (int i = 0; i < 2; i++) {
      if (!step_away(trial[i], knob, i ? 1 : -1)) continue;
      more = true;
      if (!holds_with(hunt, trial[i])) continue;
      return arena_printf(hunt->arena, "%s=%s", knob_table[knob].name,
                          knob_value_text(hunt->arena, trial[i], knob));
    }
  }
  return NULL;
}

static const char *hunt_knobs(const Hunt *hunt) {
  char name[32];
  for (const char *at = rule_table[hunt->rule].knobs; *at;) {
    size_t n = strcspn(at, ",");
    memcpy(name, at, n);
    name[n] = '\0';
    const KnobId knob = knob_find(name, NULL);
    const bool kept = hunt->kept && hunt->kept[knob];
    const char *nearest = kept ? NULL : nearest_of_knob(hunt, knob);
    if (nearest) return nearest;
    at += n + (at[n] == ',');
  }
  return NULL;
}

// A value that breaks nothing else; if there is none, one that is built.
const char *rule_nearest(int rule, const Facts *facts, const bool *kept, Arena *arena) {
  Hunt hunt = {arena, rule, facts->schedule, facts->target, true, kept};
  const char *nearest = hunt_knobs(&hunt);
  hunt.strict = false;
  return nearest ? nearest : hunt_knobs(&hunt);
}
