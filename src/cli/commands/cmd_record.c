// gemmview record: one launch of a program as it happened, into a file that `gemmview open` takes.
//
//   gemmview record -- ./program args                       the first launch → program.capsule
//   gemmview record --kernel 'hgemm*' --launch 3 -o k.capsule -- python3 train.py
//   gemmview record --list -- ./program                     its launches, on a GPU with times
//   gemmview record --list --json -- ./program              the same for another program
//
// Standard input and output are the program's; with --json its output goes to stderr, so that
// stdout has the document alone. Where there is no GPU, or with --cpu, the launches
// run on the CPU, as `gemmview open` runs them.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/open/launches/open_launches.h"
#include "cli/record/record_run.h"

CommandRun cmd_record;

typedef struct RecordOptions {
  RecordRequest request;
  const char *output, *target;
  bool list, json;
} RecordOptions;

// A run of a program: what record --json prints.
typedef struct RecordShown {
  const RecordOutcome *outcome;
  const char *program;
  const OpenLaunch *launch;
  int n;
} RecordShown;

enum { BUDGET_MILLIONS = 2000, LAUNCH_MAX = 1000000000 };

#define TAKE(key, type, field) \
  { .name = key, .kind = OPTION_KIND_##type, .offset = offsetof(RecordOptions, field) }
static const Option OPTIONS[] = {
    TAKE("kernel", TEXT, request.kernel),
    TAKE("blocks", TEXT, request.blocks),
    TAKE("cpu", FLAG, request.cpu),
    TAKE("no-data", FLAG, request.no_data),
    TAKE("list", FLAG, list),
    TAKE("target", TEXT, target),
    {.name = "launch",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(RecordOptions, request.launch),
     .hi = LAUNCH_MAX},
    {.name = "budget",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(RecordOptions, request.budget),
     .lo = 1,
     .hi = INT_MAX / 1000},
    {.name = "limit",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(RecordOptions, request.limit),
     .lo = 1,
     .hi = INT_MAX},
    {.name = "seconds",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(RecordOptions, request.seconds),
     .hi = LAUNCH_MAX},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_KIND_TEXT,
     .offset = offsetof(RecordOptions, output)},
    OPTION_JSON(RecordOptions),
};

#define FORM_FILE "cli/commands/forms/cmd_record.form"
#include "base/form_make.h"

// The program may change its folder: the file is where the command was typed.
static const char *capsule_path(Arena *arena, const RecordOptions *given) {
  const char *word = given->request.argv[0], *slash = strrchr(word, '/');
  const char *name =
      given->output ? given->output : arena_printf(arena, "%s.capsule", slash ? slash + 1 : word);
  char here[PATH_MAX];
  if (name[0] == '/' || !getcwd(here, sizeof here)) return name;
  return arena_printf(arena, "%s/%s", here, name);
}

// Told before the program has run for minutes.
static bool check_output(const char *path, Diags *diags) {
  const char *slash = strrchr(path, '/');
  const char *folder =
      slash == path ? "/" : arena_strndup(diags->arena, path, (size_t)(slash - path));
  if (!slash || access(folder, W_OK | X_OK) == 0) return true;
  diag_add(diags, "file", "-o %s: its folder cannot be written to: %s",
           str_sanitise(diags->arena, path), strerror(errno));
  return false;
}

static bool check_blocks(const char *text, Diags *diags) {
  int at[3], end = -1;
  if (str_equal(text, "all")) return true;
  const int n = sscanf(text, "%9d,%9d,%9d%n", &at[0], &at[1], &at[2], &end);
  if (str_equal(text, "0") ||
      (n == 3 && end > 0 && !text[end] && at[0] >= 0 && at[1] >= 0 && at[2] >= 0))
    return true;
  diag_add(diags, "usage", "--blocks \"%s\": give a block as X,Y,Z, or all",
           str_sanitise(diags->arena, text));
  return false;
}

// No launch ran, for there was no driver and no PTX.
static bool nothing_to_run(const RecordOutcome *outcome) {
  const SeenTable *seen = outcome->seen;
  if (outcome->by_gpu || !seen) return false;
  if (seen->missed && seen->launches == 0) return true;
  bool ptx = seen->launches == 0;
  for (int i = 0; i < SEEN_ROWS; i++) ptx |= seen->rows[i].taken && seen->rows[i].has_ptx;
  return !ptx;
}

static int say_nothing_to_run(Arena *arena, const RecordOutcome *outcome) {
  record_print_launches(arena, outcome);
  if (outcome->seen->missed)
    return cli_error(
        CLI_MISSING,
        "the CUDA runtime of this program accepts only NVIDIA's driver: its symbols were "
        "stripped, or it was loaded later. Without a GPU, do not strip the program, or link it "
        "with nvcc -cudart shared");
  return cli_error(CLI_MISSING,
                   "there is no GPU here, and the program has no PTX of its kernels: add -gencode "
                   "arch=compute_90,code=compute_90 to nvcc, or put nvdisasm on PATH, with which "
                   "their machine code runs");
}

// The exit status where the wanted launch was not there.
static int say_none(Arena *arena, const RecordOptions *given, const RecordOutcome *outcome) {
  const SeenTable *seen = outcome->seen;
  if (seen && seen->failed[0])
    return cli_error(CLI_NO, "nothing was recorded: %s", str_line(arena, seen->failed));
  record_print_launches(arena, outcome);
  if (!seen || seen->loaded == 0)
    return cli_error(CLI_NO, "the program ended with status %d and asked for no CUDA driver",
                     outcome->status);
  if (seen->launches == 0)
    return cli_error(CLI_NO, "the program ended with status %d and launched no kernel",
                     outcome->status);
  if (given->request.kernel)
    return cli_error(CLI_NO, "no launch %d of a kernel \"%s\": %llu of them, %llu launches in all",
                     given->request.launch, str_sanitise(arena, given->request.kernel),
                     (unsigned long long)seen->matched, (unsigned long long)seen->launches);
  if (!outcome->by_gpu && seen->matched == 0)
    return cli_error(CLI_NO,
                     "nothing was recorded: its kernels have no PTX. Name the one to record, by "
                     "--kernel; '*' is the first");
  return cli_error(CLI_NO, "no launch %d: there were %llu", given->request.launch,
                   (unsigned long long)seen->launches);
}

static const char *command_text(Arena *arena, char *const *argv) {
  Str words = str_new(arena);
  for (int i = 0; argv[i]; i++) str_printf(&words, "%s%s", i ? " " : "", argv[i]);
  return str_line(arena, words.text);
}

static void print_json(Arena *arena, const RecordOptions *given, const RecordOutcome *outcome) {
  RecordShown shown = {.outcome = outcome, .program = command_text(arena, given->request.argv)};
  shown.launch = record_launches(arena, outcome, &shown.n);
  cli_print_document(arena, &record_form, &shown, NULL);
}

static int record(Arena *arena, const RecordOptions *given, Diags *diags) {
  RecordOutcome outcome;
  if (!record_run(arena, &given->request, &outcome, diags)) return cli_fail(diags);
  if (nothing_to_run(&outcome)) return say_nothing_to_run(arena, &outcome);
  const bool any = outcome.seen && outcome.seen->launches > 0;
  if (given->json && (given->list ? any : outcome.capsule != NULL))
    print_json(arena, given, &outcome);
  if (given->list) {
    if (!given->json) record_print_launches(arena, &outcome);
    if (any) return given->request.skips ? CLI_OK : outcome.status;
    return say_none(arena, given, &outcome);
  }
  if (!outcome.capsule) return say_none(arena, given, &outcome);
  for (int i = 0; i < outcome.n_capsules; i++) record_print_capsule(arena, outcome.capsules[i]);
  return outcome.status;
}

int cmd_record(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  RecordOptions given = {.target = "h200",
                         .request = {.blocks = "0",
                                     .limit = CAPSULE_LIMIT_MB,
                                     .budget = BUDGET_MILLIONS,
                                     .seconds = RECORD_SECONDS}};
  given.request.argv = options_behind(&argc, argv);
  const int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  TargetTable targets;
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1 || !given.request.argv[0]) {
    Diag *diag = diag_add(&diags, "usage", "put the program after two dashes");
    diag->nearest = "gemmview record -- ./program";
    return cli_fail(&diags);
  }
  if (!check_blocks(given.request.blocks, &diags) || !cli_targets(arena, &targets, &diags))
    return cli_fail(&diags);
  given.request.target = target_find(&targets, given.target, &diags);
  if (!given.request.target) return cli_fail(&diags);
  if (!given.list) given.request.capsule = capsule_path(arena, &given);
  if (!given.list && !check_output(given.request.capsule, &diags)) return cli_fail(&diags);
  // To see which launches there are takes no results.
  given.request.skips = given.list && (given.request.cpu || !record_real_driver(arena));
  given.request.times = given.list && !given.request.skips;
  given.request.aside = given.json;
  return record(arena, &given, &diags);
}
