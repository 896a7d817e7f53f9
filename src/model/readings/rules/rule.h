// The rules: why a schedule is not legal, with numbers and the nearest legal value.
#pragma once
#include "model/readings/model.h"

typedef struct Rule {
  const char *id;     // "threads_fit"
  const char *knobs;  // knobs to move for the nearest legal value, best first
  const char *help;   // the rule in one line
} Rule;

extern const Rule rule_table[];
extern const int rule_count;

// Checks the rules that need only the knobs and the target. Adds a finding for each that fails.
void rules_check_knobs(const Schedule *schedule, const Target *target, Diags *diags);

// Whether all of those hold: the same answer without its words, and without a search for the
// nearest legal values. What facts take comes from `scratch`.
bool rules_allow(Arena *scratch, const Schedule *schedule, const Target *target);

// "BN=128": the nearest legal value of the first of them that fails, of a knob that is not kept
// (`kept` by KnobId); NULL: none fails, or there is no such value.
const char *rules_first_nearest(Arena *arena, const Schedule *schedule, const Target *target,
                                const bool *kept);

// Checks the rules that need the program's resources.
void rules_check_program(const Model *model, Diags *diags);

// The verdict of one rule on a model whose target is known; OPEN: it looks at the program, and
// there is none because a rule about the knobs fails. A failing rule adds its finding.
typedef enum RuleVerdict { RULE_HOLDS, RULE_FAILS, RULE_OPEN } RuleVerdict;
RuleVerdict rule_judge(const Model *model, int rule, Diags *diags);

// Whether the rows of the slabs take the schedule's SWIZZLE, in boxes of TMA where it has them.
bool rule_rows_take_swizzle(const Schedule *schedule);
