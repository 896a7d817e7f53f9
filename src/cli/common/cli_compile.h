// The common part of ptx, sass and resources: the worker compiles a state, and one of its results
// is shown.
#pragma once
#include "base/form.h"
#include "cli/common/cli_worker.h"
#include "model/text/emit.h"

typedef struct CompileGiven {
  const char *state, *ptxas_opt;
  bool json, clock, lines, counts;
  OptionList worker;
} CompileGiven;

typedef struct Compiled {
  Arena *arena;
  const char *command;
  const CompileGiven *given;
  const Model *model;
  const Emission *emission;
  const WorkerAnswer *answer;
  const Calibration *fits;  // that a stand-in goes by (cli_clock.h); NULL: none
} Compiled;

typedef struct CompileCommand {
  const char *name, *want;  // "sass", "cubin,sass": as in ClientRequest
  const char *want_clock;   // the same with --compile; NULL: there is no such option
  bool takes_listing;       // --lines and --counts
  bool shows_failure;       // there is something to show although nothing was compiled
  void (*show)(const Compiled *compiled);
} CompileCommand;

// The whole command: options, worker, waiting, exit status.
int cli_compile_run(const CompileCommand *command, Arena *arena, int argc, char **argv);

// The same behind options that the caller has read.
int cli_compile_given(const CompileCommand *command, Arena *arena, const CompileGiven *given,
                      Diags *diags);

// The model with what the compiler said of it; the model itself where it said nothing.
const Model *cli_compiled_model(const Compiled *compiled);

// The common members of their documents, of a Compiled: command, state, target, compiler, error.
extern const Form compiled_heading_form;
