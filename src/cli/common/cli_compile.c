// State → model → text → worker → show.
//
// A text that does not compile ends with status 4 and NVRTC's words on stderr; without NVRTC, or
// without nvdisasm where that is asked for, with status 3 and the sentence that says what is
// missing.
#include "cli/common/cli_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_clock.h"
#include "cli/common/cli_model.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/machine_code.h"
#include "model/ir/program.h"

// The first one where the clock may be asked, the second where there is an assembler, the last two
// where there is a listing.
static const Option options[] = {
    {.name = "compile", .kind = OPTION_KIND_FLAG, .offset = offsetof(CompileGiven, clock)},
    {.name = "ptxas-opt", .kind = OPTION_KIND_TEXT, .offset = offsetof(CompileGiven, ptxas_opt)},
    OPTION_STATE(CompileGiven),
    OPTION_JSON(CompileGiven),
    OPTION_WORKER(CompileGiven),
    {.name = "lines", .kind = OPTION_KIND_FLAG, .offset = offsetof(CompileGiven, lines)},
    {.name = "counts", .kind = OPTION_KIND_FLAG, .offset = offsetof(CompileGiven, counts)},
};
enum { N_OPTIONS = sizeof options / sizeof options[0], N_LISTING_OPTIONS = 2 };

// A typed command may wait longer than a screen: the article's final kernel has all of its steps
// written out, and takes the compiler half a minute beside other work.
enum { COMPILE_DEADLINE_MS = 120000 };

static const char *words_of_compiler(const WorkerAnswer *answer) {
  const CompileResult *results[] = {answer->ptx, answer->cubin};
  for (int i = 0; i < 2; i++)
    if (results[i] && !results[i]->ok && *results[i]->log) return results[i]->log;
  return NULL;
}

// Says on stderr why there is nothing to show.
static int fail(const WorkerAnswer *answer) {
  const char *words = words_of_compiler(answer);
  cli_error(answer->status, "%s", answer->error);
  if (words) fprintf(stderr, "%s\n", words);
  return answer->status;
}

static int compile(const CompileCommand *command, Compiled *compiled, CliWorker *worker) {
  Arena *arena = compiled->arena;
  const Model *model = compiled->model;
  compiled->emission = emit_model(arena, model, model->program);
  Plan *plan =
      plan_from_emission(arena, compiled->emission, model->program, model->target, command->name);
  plan->ptxas_opt = compiled->given->ptxas_opt;
  ClientRequest request = {.kind = MESSAGE_COMPILE,
                           .plan = plan,
                           .want = compiled->given->clock ? command->want_clock : command->want,
                           .state = schedule_record_text(arena, &model->schedule),
                           .deadline_ms = COMPILE_DEADLINE_MS};
  WorkerAnswer *answer = cli_worker_submit(worker, &request, "compiling");
  compiled->answer = answer;
  bool done = cli_worker_wait(worker, answer);
  bool late = answer->status == CLI_TIMEOUT;
  bool shows = late || answer->status == CLI_MISSING;
  if (!done && !(command->shows_failure && shows)) return fail(answer);
  command->show(compiled);
  bool compiled_it = answer->cubin && answer->cubin->ok;
  if (!done && !compiled_it)
    cli_error(0, "%s%s", late ? "the compiler did not answer: " : "", answer->error);
  return late ? answer->status : CLI_OK;
}

int cli_compile_given(const CompileCommand *command, Arena *arena, const CompileGiven *given,
                      Diags *diags) {
  if (!option_check_ptxas_opt(given->ptxas_opt, diags)) return cli_fail(diags);
  Compiled compiled = {.arena = arena, .command = command->name, .given = given};
  compiled.model = cli_model(arena, given->state, diags);
  if (!compiled.model) return cli_fail(diags);
  CliWorker *worker = cli_worker_open(arena, &given->worker, false, diags);
  if (!worker) return cli_fail(diags);
  compiled.fits = cli_fits(worker, arena, compiled.model->target);
  int status = compile(command, &compiled, worker);
  cli_worker_close(worker);
  return status;
}

int cli_compile_run(const CompileCommand *command, Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  CompileGiven given = {0};
  int first = command->want_clock ? 0 : strstr(command->want, "cubin") ? 1 : 2;
  int n = N_OPTIONS - first - (command->takes_listing ? 0 : N_LISTING_OPTIONS);
  if (!options_parse(options + first, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1)
    return cli_error(CLI_USAGE, "%s takes no argument \"%s\"; give a state with -k", command->name,
                     str_sanitise(arena, argv[1]));
  return cli_compile_given(command, arena, &given, &diags);
}

const Model *cli_compiled_model(const Compiled *c) {
  const CompileResult *cubin = c->answer->cubin;
  int kernel = c->model->program->main_kernel;
  if (!cubin || !cubin->ok || kernel >= cubin->n_kernels) return c->model;
  const SassResult *sass = c->answer->sass;
  const MachineAccesses *machine =
      sass && sass->ok ? machine_accesses(c->arena, sass, c->emission, c->model) : NULL;
  const KernelResources *counted = &cubin->kernels[kernel];
  return model_compiled(c->arena, c->model, counted->registers, kernel_spill_bytes(counted),
                        machine);
}

#define FORM_FILE "cli/common/cli_compile.form"
#include "base/form_make.h"
