// The rules: why a schedule is not legal, with numbers and the nearest legal value.
#pragma once
#include "model/model.h"

typedef struct Rule {
  const char *id;      // "threads_fit"
  const char *knobs;   // knobs to move for the nearest legal value, best first
  const char *help;    // the rule in one line
} Rule;

extern const Rule rule_table[];
extern const int rule_count;

// Checks the rules that need only the knobs and the target. Adds a finding for each that fails.
void rules_check_knobs(const Schedule *schedule, const Target *target, Diags *diags);

// Checks the rules that need the program's resources.
void rules_check_program(const Model *model, Diags *diags);
