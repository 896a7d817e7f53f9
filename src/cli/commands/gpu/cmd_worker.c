// `gemmview worker`: three processes under one name. Without options it serves the protocol
// (kernels/worker/worker.h); --job makes it one of that server's own children
// (kernels/worker/job_child.h);
// --fake makes it a scripted stand-in for tests (kernels/worker/worker_fake.h).
#include "cli/common/cli.h"
#include "cli/common/options.h"
#include "kernels/worker/job_child.h"
#include "kernels/worker/worker.h"
#include "kernels/worker/worker_fake.h"

typedef struct WorkerGiven {
  const char *job, *fake;
  int gpu, compiles;
} WorkerGiven;

CommandRun cmd_worker;

static const Option options[] = {
    {.name = "job", .kind = OPTION_KIND_TEXT, .offset = offsetof(WorkerGiven, job)},
    {.name = "fake", .kind = OPTION_KIND_TEXT, .offset = offsetof(WorkerGiven, fake)},
    {.name = "gpu", .kind = OPTION_KIND_INT, .offset = offsetof(WorkerGiven, gpu), .hi = 1023},
    {.name = "compiles",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(WorkerGiven, compiles),
     .lo = 1,
     .hi = 64},
};

static int run(const WorkerGiven *given) {
  if (given->job && given->fake)
    return cli_error(CLI_USAGE, "--job and --fake exclude each other; nearest: --fake %s",
                     given->fake);
  if (given->job && !job_child_exists(given->job))
    return cli_error(CLI_USAGE, "--job is one of compile, bench, machine; nearest: --job compile");
  if (given->job) return job_child_run(given->job, given->gpu);
  if (given->fake) return worker_fake_run(given->fake);
  return worker_run(
      &(WorkerOptions){.version = cli_version, .gpu = given->gpu, .compiles = given->compiles});
}

int cmd_worker(Arena *arena, int argc, char **argv) {
  WorkerGiven given = {0};
  Diags diags = diags_new(arena);
  if (!options_parse(options, sizeof options / sizeof *options, &given, &argc, argv, &diags))
    return cli_fail(&diags);
  if (argc > 1)
    return cli_error(CLI_USAGE, "worker takes no arguments, found 1 or more; nearest: worker");
  return run(&given);
}
