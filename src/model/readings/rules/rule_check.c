// Asking the rules of rule.def: of knobs before a program is built, of the program, of one rule.
//
// All that does not hold becomes a finding with the rule's id, its text and the nearest legal
// values (rule_nearest.c). Of a typed layout nothing is said where the slab itself cannot be.
#include "base/str.h"
#include "model/readings/rules/rule_facts.h"

static const char *nearest_of(int rule, const Facts *facts, const bool *kept, Arena *arena) {
  const int side = rule_layout_side(rule);
  return side < 0 ? rule_nearest(rule, facts, kept, arena) : rule_nearest_layout(facts, side);
}

static void add_finding(int rule, const Facts *facts, Diags *diags) {
  const char *id = rule_table[rule].id;
  if (str_starts(id, "not_built")) id = "not_built";
  Diag *diag = diag_add(diags, id, "%s", rule_text(diags->arena, rule, facts));
  diag->nearest = nearest_of(rule, facts, NULL, diags->arena);
}

static void check(RulePhase phase, const Facts *facts, Diags *diags) {
  for (int i = 0; i < rule_count; i++) {
    if (rule_phase(i) != phase || rule_holds(i, facts)) continue;
    // A fault of the slab itself comes before one of its layout.
    if (rule_layout_side(i) < 0 || diags->count == 0) add_finding(i, facts, diags);
  }
}

void rules_check_knobs(const Schedule *schedule, const Target *target, Diags *diags) {
  Facts facts = rule_facts(diags->arena, schedule, target, NULL);
  check(PHASE_KNOBS, &facts, diags);
}

bool rules_allow(Arena *scratch, const Schedule *schedule, const Target *target) {
  Facts facts = rule_facts(scratch, schedule, target, NULL);
  for (int i = 0; i < rule_count; i++)
    if (rule_phase(i) == PHASE_KNOBS && !rule_holds(i, &facts)) return false;
  return true;
}

const char *rules_first_nearest(Arena *arena, const Schedule *schedule, const Target *target,
                                const bool *kept) {
  Facts facts = rule_facts(arena, schedule, target, NULL);
  int rule = 0;
  while (rule < rule_count && (rule_phase(rule) != PHASE_KNOBS || rule_holds(rule, &facts))) rule++;
  return rule < rule_count ? nearest_of(rule, &facts, kept, arena) : NULL;
}

void rules_check_program(const Model *model, Diags *diags) {
  Facts facts = rule_facts(diags->arena, &model->schedule, model->target, &model->resources);
  check(PHASE_PROGRAM, &facts, diags);
}

RuleVerdict rule_judge(const Model *model, int rule, Diags *diags) {
  Facts facts = rule_facts(diags->arena, &model->schedule, model->target,
                           model->program ? &model->resources : NULL);
  if (rule_phase(rule) == PHASE_PROGRAM && !model->program) return RULE_OPEN;
  if (rule_holds(rule, &facts)) return RULE_HOLDS;
  add_finding(rule, &facts, diags);
  return RULE_FAILS;
}
