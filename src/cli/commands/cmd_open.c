// gemmview open: one's own kernel, run on the CPU, with what its lines cost in shared memory.
//
//   gemmview open k.ptx                                        its kernels
//   gemmview open k.cu --launch grid=8x7,block=32x8 --arg mem:200000 --arg 250
//   gemmview open k.cu … --blocks all --json -- -I include -std=c++17
//
// Launch and arguments are remembered in the user's state folder, per file and kernel: the second
// time `gemmview open k.cu` is enough. The folder of the source is never written to.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/options.h"
#include "cli/open/open_compiled.h"
#include "cli/open/open_input.h"
#include "cli/open/open_ncu.h"
#include "cli/open/open_report.h"

CommandRun cmd_open;

typedef struct OpenOptions {
  const char *kernel, *launch, *blocks, *ncu;
  OptionList args;
  int fail_above, budget;
  bool json, markdown, list, predict, opcodes, watch;
  int64_t before;  // wavefronts of the last run of --watch, −1
} OpenOptions;

enum { BUDGET_MILLIONS = 20000, NO_LIMIT = -1 };

static const Option OPTIONS[] = {
    {.name = "kernel", .kind = OPTION_KIND_TEXT, .offset = offsetof(OpenOptions, kernel)},
    {.name = "launch", .kind = OPTION_KIND_TEXT, .offset = offsetof(OpenOptions, launch)},
    {.name = "arg", .kind = OPTION_KIND_LIST, .offset = offsetof(OpenOptions, args)},
    {.name = "blocks", .kind = OPTION_KIND_TEXT, .offset = offsetof(OpenOptions, blocks)},
    {.name = "ncu", .kind = OPTION_KIND_TEXT, .offset = offsetof(OpenOptions, ncu)},
    {.name = "fail-above",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(OpenOptions, fail_above),
     .lo = 0,
     .hi = 2000000000},
    {.name = "budget",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(OpenOptions, budget),
     .lo = 1,
     .hi = 1000000000},
    {.name = "list", .kind = OPTION_KIND_FLAG, .offset = offsetof(OpenOptions, list)},
    {.name = "predict", .kind = OPTION_KIND_FLAG, .offset = offsetof(OpenOptions, predict)},
    {.name = "markdown", .kind = OPTION_KIND_FLAG, .offset = offsetof(OpenOptions, markdown)},
    {.name = "watch", .kind = OPTION_KIND_FLAG, .offset = offsetof(OpenOptions, watch)},
    {.name = "opcodes", .kind = OPTION_KIND_FLAG, .offset = offsetof(OpenOptions, opcodes)},
    OPTION_JSON(OpenOptions),
};

// ---- what was given last time -------------------------------------------------------------------

static const char *memory_path(Arena *arena, const char *file, const char *entry) {
  char *whole = realpath(file, NULL);
  const uint64_t hash = hash_text(hash_text(HASH_START, whole ? whole : file), entry);
  free(whole);
  return disk_path(arena, DISK_STATE,
                   arena_printf(arena, "open/%016llx.json", (unsigned long long)hash));
}

static void remember(Arena *arena, const char *path, const OpenOptions *given) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "launch", given->launch);
  json_key(&w, "args");
  json_begin_array(&w);
  for (int i = 0; i < given->args.count; i++) json_put_string(&w, given->args.items[i]);
  json_end_array(&w);
  json_end_object(&w);
  // Not being able to remember is no reason not to answer.
  if (path) (void)disk_replace(path, out.text);
}

static void recall(Arena *arena, const char *path, OpenOptions *given) {
  Diags ignored = diags_new(arena);
  size_t bytes = 0;
  const char *text = path ? open_read_file(arena, path, &bytes, &ignored) : NULL;
  const JsonValue *root = text ? json_parse(arena, text, bytes, &ignored, "memory") : NULL;
  if (!root) return;
  if (!given->launch) json_optional_string(root, "launch", &given->launch, &ignored);
  const JsonValue *args = json_object_get(root, "args");
  if (given->args.count > 0 || json_count(args) == 0) return;
  given->args.items = ARENA_ARRAY(arena, const char *, json_count(args));
  for (int i = 0; i < json_count(args); i++)
    if (json_read_string(json_at(args, i), &given->args.items[i], &ignored))
      given->args.count = i + 1;
}

// ---- running ------------------------------------------------------------------------------------

static PtxOutcome run_blocks(PtxMachine *machine, const OpenBlocks *blocks, int64_t *n) {
  PtxOutcome outcome = PTX_DONE;
  for (int z = blocks->first[2]; z <= blocks->last[2]; z++)
    for (int y = blocks->first[1]; y <= blocks->last[1]; y++)
      for (int x = blocks->first[0]; x <= blocks->last[0] && outcome == PTX_DONE; x++, ++*n)
        outcome = ptx_machine_run(machine, x, y, z);
  return outcome;
}

static int print_and_judge(const OpenResult *result, OpenOptions *given) {
  if (given->json)
    open_print_json(result);
  else if (given->markdown)
    open_print_markdown(result);
  else
    open_print_text(result);
  if (given->before >= 0 && !given->json)
    printf("\n%" PRId64 " -> %" PRId64 " wavefronts\n", given->before, result->lines->wavefronts);
  given->before = result->lines->wavefronts;
  if (result->outcome == PTX_BUDGET) return CLI_TIMEOUT;
  if (open_has_findings(result)) return CLI_NO;
  const bool above = given->fail_above != NO_LIMIT &&
                     (result->lines->wavefronts > given->fail_above || !result->lines->countable);
  return above ? CLI_NO : CLI_OK;
}

// Everything that a launch needs, or findings.
static PtxMachine *make_machine(OpenResult *r, const OpenOptions *given, OpenBlocks *blocks,
                                Diags *diags) {
  if (!given->launch) {
    Diag *diag = diag_add(diags, "usage", "--launch is missing: how %s is launched",
                          ptx_plain_name(r->arena, r->kernel->name));
    diag->nearest = "--launch grid=1,block=128,smem=0";
    return NULL;
  }
  if (!open_read_launch(given->launch, &r->launch, diags)) return NULL;
  if (!open_read_blocks(given->blocks, &r->launch, blocks, diags)) return NULL;
  r->launch.budget = (int64_t)given->budget * 1000000;
  PtxMachine *machine = ptx_machine_new(r->arena, r->module, r->kernel, &r->launch, diags);
  if (!machine ||
      !open_give_args(r->arena, machine, r->kernel, given->args.count, given->args.items, diags))
    return NULL;
  return machine;
}

static int run_kernel(OpenResult *r, const OpenText *text, OpenOptions *given, Diags *diags) {
  const char *memory = memory_path(r->arena, r->path, r->kernel->name);
  if (!given->launch || given->args.count == 0) recall(r->arena, memory, given);
  OpenBlocks blocks;
  PtxMachine *machine = make_machine(r, given, &blocks, diags);
  if (!machine) return cli_fail(diags);
  if (given->ncu && !open_read_ncu(r->arena, given->ncu, &r->counted, &r->n_counted, diags))
    return cli_fail(diags);
  remember(r->arena, memory, given);
  PtxTally *tally = ptx_tally_new(r->arena, r->module, r->kernel);
  if (given->predict)
    r->why_not = "widths are predicted: --predict asks for it";
  else
    r->as_compiled = open_reconcile(r->arena, text, r->module, r->kernel, tally, &r->why_not);
  ptx_machine_watch(machine, ptx_tally_access, tally);
  const double started = clock_seconds();
  r->outcome = run_blocks(machine, &blocks, &r->n_blocks);
  r->seconds = clock_seconds() - started;
  r->machine = machine;
  r->tally = tally;
  r->lines = ptx_tally_lines(r->arena, tally);
  return print_and_judge(r, given);
}

static int open_file(Arena *arena, const char *path, int n_flags, char **flags, OpenOptions *given,
                     Diags *diags) {
  const OpenText text = open_read_text(arena, path, n_flags, flags, diags);
  if (!text.ptx) {
    cli_fail(diags);
    return text.status;
  }
  OpenResult result = {.arena = arena, .path = path, .compiler = text.compiler};
  const char *what = str_sanitise(arena, ptx_base_name(path));
  result.module = ptx_module_read(arena, text.ptx, text.bytes, what, diags);
  if (!result.module) return cli_fail(diags);
  if (given->list) {
    open_print_kernels(arena, result.module, given->json);
    return CLI_OK;
  }
  result.kernel = ptx_module_kernel(result.module, given->kernel, diags);
  if (!result.kernel) return cli_fail(diags);
  return run_kernel(&result, &text, given, diags);
}

// ---- again after every save ---------------------------------------------------------------------

static bool has_changed(const char *path, struct stat *last) {
  struct stat now;
  if (stat(path, &now) != 0) return false;
  const bool changed = now.st_mtim.tv_sec != last->st_mtim.tv_sec ||
                       now.st_mtim.tv_nsec != last->st_mtim.tv_nsec ||
                       now.st_size != last->st_size || now.st_ino != last->st_ino;
  *last = now;
  return changed;
}

// Until it is interrupted. Each run has an arena of its own: what one kernel took, the next has
// again.
static _Noreturn void watch_file(const char *path, int n_flags, char **flags,
                                 const OpenOptions *given) {
  const struct timespec pause = {0, 50000000};
  struct stat last = {0};
  int64_t before = -1;
  for (;;) {
    if (has_changed(path, &last)) {
      Arena *arena = arena_new("open");
      Diags diags = diags_new(arena);
      OpenOptions round = *given;
      round.before = before;
      open_file(arena, path, n_flags, flags, &round, &diags);
      before = round.before;
      fflush(stdout);
      arena_free(arena);
    }
    nanosleep(&pause, NULL);
  }
}

// The compiler's flags stand behind "--".
static int split_flags(int *argc, char **argv, char ***flags) {
  for (int i = 1; i < *argc; i++) {
    if (!str_equal(argv[i], "--")) continue;
    const int n = *argc - i - 1;
    *flags = argv + i + 1;
    *argc = i;
    return n;
  }
  return 0;
}

int cmd_open(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  OpenOptions given = {.fail_above = NO_LIMIT, .budget = BUDGET_MILLIONS, .before = -1};
  char **flags = NULL;
  const int n_flags = split_flags(&argc, argv, &flags);
  const int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (given.opcodes) {
    open_print_opcodes();
    return CLI_OK;
  }
  if (argc != 2) {
    Diag *diag = diag_add(&diags, "usage", "one file is needed: FILE.cu or FILE.ptx");
    diag->nearest = "gemmview open kernel.ptx --list";
    return cli_fail(&diags);
  }
  if (given.watch && access(argv[1], R_OK) == 0) watch_file(argv[1], n_flags, flags, &given);
  return open_file(arena, argv[1], n_flags, flags, &given, &diags);
}
