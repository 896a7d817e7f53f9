// The passes: each is one optimization, one file, one diff.
//
// pipeline.c lists them in order and is the table of contents of the program. A pass rewrites the
// program it is given in place (the pipeline hands it a private copy), for the product it is given,
// and is switched by knobs.
#pragma once
#include <stdbool.h>

#include "model/ir/names.h"
#include "model/words/knob.h"

typedef void PassRun(Program *program, Product *product, const Schedule *schedule);

// How often a pass runs: for each product, or once for what they share.
typedef enum PassRuns { PASS_EACH, PASS_ONCE } PassRuns;

typedef struct Pass {
  const char *name;   // "register_tile": the name of the file pass_register_tile.c
  const char *title;  // "register tile": for the screen
  const char *knobs;  // the knobs that switch it, space separated, first the one that names it
  const char *help;   // what it does for the kernel, one line
  PassRuns runs;
  bool (*wanted)(const Schedule *schedule);
  PassRun *run;
} Pass;

extern const Pass pass_table[];
extern const int pass_count;

// Runs a pass for each product of the program, in the order in which they are computed. A pass that
// runs once gets the last of them, which stores C: its rows and columns are the grid's.
void pass_run(const Pass *pass, Program *program, const Schedule *schedule);
void pass_each_product(PassRun *run, Program *program, const Schedule *schedule);

enum { PIPELINE_PROGRAMS_MAX = 64 };

// One program per stage of the pipeline: stage 0 is the naive nest, stage i the program after the
// i-th pass that the schedule wants. Later stages never alter earlier ones.
typedef struct PipelineStage {
  const Pass *pass;  // NULL for stage 0
  const Program *program;
} PipelineStage;

typedef struct Pipeline {
  int n_stages;
  PipelineStage stage[PIPELINE_PROGRAMS_MAX];
} Pipeline;

// The schedule must satisfy the rules of phase "knobs" (rule.h). Asserts `program_check` after
// every pass: an illegal program is our bug, an illegal schedule the user's.
Pipeline pipeline_run(Arena *arena, const Schedule *schedule);
