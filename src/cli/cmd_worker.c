// `gemmview worker`: three processes under one name. Without options it serves the protocol
// (kernels/worker.h); --job makes it one of that server's own children (kernels/job_child.h);
// --fake makes it a scripted stand-in for tests (kernels/worker_fake.h).
#include "cli/cli.h"
#include "cli/options.h"
#include "kernels/job_child.h"
#include "kernels/worker.h"
#include "kernels/worker_fake.h"

typedef struct WorkerGiven {
  const char *job, *fake;
} WorkerGiven;

CommandRun cmd_worker;

static const Option options[] = {
    {.name = "job", .kind = OPTION_KIND_TEXT, .offset = offsetof(WorkerGiven, job)},
    {.name = "fake", .kind = OPTION_KIND_TEXT, .offset = offsetof(WorkerGiven, fake)},
};

static int run(const WorkerGiven *given) {
  if (given->job && given->fake)
    return cli_error(CLI_USAGE, "--job and --fake exclude each other; nearest: --fake %s",
                     given->fake);
  if (given->job && !job_child_exists(given->job))
    return cli_error(CLI_USAGE, "--job is one of compile, bench, machine; nearest: --job compile");
  if (given->job) return job_child_run(given->job);
  if (given->fake) return worker_fake_run(given->fake);
  return worker_run(&(WorkerOptions){.version = cli_version});
}

int cmd_worker(int argc, char **argv) {
  WorkerGiven given = {0};
  Arena *arena = arena_new("cli");
  Diags diags = diags_new(arena);
  int status = CLI_USAGE;
  if (!options_parse(options, sizeof options / sizeof *options, &given, &argc, argv, &diags))
    status = cli_fail(&diags);
  else if (argc > 1)
    status = cli_error(CLI_USAGE, "worker takes no arguments, found 1 or more; nearest: worker");
  else
    status = run(&given);
  arena_free(arena);
  return status;
}
