// From `-k STATE` to a model: what every subcommand that reads a schedule begins with.
#pragma once
#include "model/readings/model.h"

// For commands that open a session: takes the rung off *state, with a finding when *ladder or *rung
// says one already.
void cli_take_rung(const char **state, const char **ladder, const char **rung, Diags *diags);

// The schedule of a state line (NULL or "": the defaults); false after adding findings.
bool cli_schedule(const char *state, Schedule *schedule, Diags *diags);

// The table of GPUs that the program brings along; false after adding findings.
bool cli_targets(Arena *arena, TargetTable *targets, Diags *diags);

// The same for a schedule and a table at hand.
const Model *cli_model_of(Arena *arena, const TargetTable *targets, const Schedule *schedule,
                          Diags *diags);

// Says on stderr when a reading is of the default target and the GPU at hand is another.
void cli_note_gpu(Arena *arena, const TargetTable *targets, const Schedule *schedule);

// NULL after adding a finding for everything that is wrong with the state, illegal schedules
// included; otherwise a model that is ok.
const Model *cli_model(Arena *arena, const char *state, Diags *diags);

// The stage of the pipeline whose pass has this name; -1 after adding a finding of rule "pass": no
// such pass, with the nearest one, or one that this schedule does not want, with its knobs.
int cli_find_stage(const Model *model, const char *pass, Diags *diags);
