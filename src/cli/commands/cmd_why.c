// gemmview why: what a kernel's machine code costs, clock by clock, and why.
//
//   gemmview why -k fp32/block_order                     the compiled schedule
//   gemmview why -k … --what-if --mhz 1755               … what would be if; at another SM clock
//   gemmview why -k … --ncu source.csv                   … beside the profiler's samples
//   gemmview why kernel.cubin --kernel NAME              clocks a turn of each of its loops
//   gemmview why kernel.cubin --trips 0x340=16           … where the loop inside turns 16 times
//   gemmview why kernel.cubin --launch grid=132,block=256 --trips …    from launch to end
//
// A cubin is read by the program's own decoder: no tool is needed. A schedule is compiled by the
// worker; where that cannot be, the calibrated roofline stands in and says so.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/disk.h"
#include "base/str.h"
#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/cli_compile.h"
#include "cli/common/cli_model.h"
#include "cli/common/why/why.h"
#include "cli/open/open_input.h"
#include "model/ir/program.h"

enum { CUBIN_MAX = 256 << 20, MHZ_MAX = 10000 };

typedef struct WhyOptions {
  CompileGiven compile;  // first: the command is shown by it
  const char *kernel, *ncu, *launch;
  OptionList trips;
  int mhz;
  bool what_if, cold, strict;
  bool *stands_in;  // set where the answer is no code's
  int *status;      // of what came behind the compiler
} WhyOptions;

static const Option options[] = {
    OPTION_STATE(CompileGiven),
    OPTION_JSON(CompileGiven),
    OPTION_WORKER(CompileGiven),
    {.name = "ptxas-opt", .kind = OPTION_KIND_TEXT, .offset = offsetof(CompileGiven, ptxas_opt)},
    {.name = "kernel", .kind = OPTION_KIND_TEXT, .offset = offsetof(WhyOptions, kernel)},
    {.name = "ncu", .kind = OPTION_KIND_TEXT, .offset = offsetof(WhyOptions, ncu)},
    {.name = "launch", .kind = OPTION_KIND_TEXT, .offset = offsetof(WhyOptions, launch)},
    {.name = "trips", .kind = OPTION_KIND_LIST, .offset = offsetof(WhyOptions, trips)},
    {.name = "mhz",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(WhyOptions, mhz),
     .lo = 100,
     .hi = MHZ_MAX},
    {.name = "what-if", .kind = OPTION_KIND_FLAG, .offset = offsetof(WhyOptions, what_if)},
    {.name = "cold", .kind = OPTION_KIND_FLAG, .offset = offsetof(WhyOptions, cold)},
    {.name = "strict", .kind = OPTION_KIND_FLAG, .offset = offsetof(WhyOptions, strict)},
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

// ---- files ------------------------------------------------------------------------------------

// NULL after a sentence in `why`.
static unsigned char *read_file(Arena *arena, const char *path, size_t *n, const char **why) {
  FILE *file = disk_open(path, true, why);
  if (!file) {
    if (errno) *why = strerror(errno);
    return NULL;
  }
  size_t room = 1 << 16;
  unsigned char *bytes = malloc(room), *kept = NULL;
  *n = 0;
  for (size_t got; bytes && (got = fread(bytes + *n, 1, room - *n, file)) > 0;) {
    *n += got;
    if (*n < room) continue;
    room *= 2;
    unsigned char *more = room <= CUBIN_MAX ? realloc(bytes, room) : NULL;
    if (!more) break;
    bytes = more;
  }
  *why = "it is too large";
  if (bytes && *n < room) {
    kept = arena_alloc(arena, *n + 1);
    memcpy(kept, bytes, *n);
  }
  free(bytes);
  fclose(file);
  return kept;
}

// ---- a schedule ---------------------------------------------------------------------------------

static ClockTexts texts_of(const Compiled *c) {
  ClockTexts out = {0};
  for (int i = 0; i < c->emission->n_kernels; i++)
    out.text[i] = kernel_text_bytes(c->arena, c->answer->code, c->emission->kernel[i].name);
  const CompileResult *cubin = c->answer->cubin;
  const int which = c->model->program->main_kernel;
  if (cubin && which < cubin->n_kernels)
    out.stack_bytes = max_int(0, cubin->kernels[which].stack_bytes);
  return out;
}

static ClockAnswer answer_state(const Compiled *c, const ClockAsk *ask, const char **note) {
  *note = c->answer->error;
  if (c->answer->code) {
    const ClockTexts texts = texts_of(c);
    const ClockAnswer answer = clock_answer_state(c->arena, cli_compiled_model(c), c->emission,
                                                  &texts, c->answer->sass, ask);
    *note = answer.why_not ? answer.why_not : answer.no_clocks;
    if (!answer.why_not) return answer;
  }
  return clock_answer_stand_in(cli_compiled_model(c), ask);
}

static bool take_samples(const WhyOptions *given, Why *why) {
  Diags diags = diags_new(why->arena);
  size_t n = 0;
  const char *text = open_read_given(why->arena, given->ncu, &n, &diags);
  if (text) why->ncu = why_ncu_read(why->arena, why->answer, given->ncu, text, &diags);
  if (!why->ncu) *given->status = cli_fail(&diags);
  return why->ncu != NULL;
}

static void show_state(const Compiled *c) {
  const WhyOptions *given = (const WhyOptions *)(const void *)c->given;
  const ClockAsk ask = {
      .mhz = given->mhz, .fits = c->fits, .what_if = given->what_if, .cold = given->cold};
  Why why = {.arena = c->arena, .compiled = c, .emission = c->emission, .what_if = given->what_if};
  const ClockAnswer answer = answer_state(c, &ask, &why.note);
  why.answer = &answer;
  *given->stands_in = answer.stand_in;
  if (given->ncu && !answer.stand_in && !take_samples(given, &why)) return;
  if (given->compile.json)
    why_print_json(&why);
  else
    why_print(&why);
}

static int run_state(Arena *arena, WhyOptions *given, Diags *diags) {
  static const CompileCommand command = {
      .name = "why", .want = "cubin,code,sass", .shows_failure = true, .show = show_state};
  bool stands_in = false;
  int after = CLI_OK;
  given->stands_in = &stands_in;
  given->status = &after;
  const int status = cli_compile_given(&command, arena, &given->compile, diags);
  if (status == CLI_OK && after != CLI_OK) return after;
  return status == CLI_OK && stands_in && given->strict ? CLI_MISSING : status;
}

// ---- a cubin ------------------------------------------------------------------------------------

// "0x340=16".
static bool read_trips(const WhyOptions *given, ClockAsk *ask, Diags *diags) {
  for (int i = 0; i < given->trips.count; i++) {
    const char *text = given->trips.items[i];
    char *end, *last;
    const long pc = strtol(text, &end, 0), turns = *end == '=' ? strtol(end + 1, &last, 10) : 0;
    if (*end != '=' || end == text || *last || pc < 0 || pc > 1 << 28 || turns < 1 ||
        turns > 1 << 28 || ask->n_trips == CLOCK_TRIPS_MAX) {
      diag_add(diags, "usage",
               "--trips takes the address of a loop's branch and its number of "
               "turns: 0x340=16");
      return false;
    }
    ask->trip[ask->n_trips++] = (ClockTrip){(int)pc, (int)turns};
  }
  return true;
}

static bool read_launch(const WhyOptions *given, ClockAsk *ask, Diags *diags) {
  PtxLaunch launch = {0};
  if (!given->launch) return true;
  if (!open_read_launch(given->launch, &launch, diags)) return false;
  ask->launch = why_launch(&launch);
  return true;
}

static int run_cubin(Arena *arena, const WhyOptions *given, const char *path, Diags *diags) {
  ClockAsk ask = {
      .kernel = given->kernel, .mhz = given->mhz, .what_if = given->what_if, .cold = given->cold};
  TargetTable targets;
  size_t n = 0;
  const char *why_not = "it cannot be read";
  if (!read_trips(given, &ask, diags) || !read_launch(given, &ask, diags) ||
      !cli_targets(arena, &targets, diags))
    return cli_fail(diags);
  const unsigned char *bytes = read_file(arena, path, &n, &why_not);
  const char *name = str_line(arena, path);
  if (!bytes) return cli_error(CLI_USAGE, "%s: %s", name, why_not);
  const ClockAnswer answer = clock_answer_cubin(arena, bytes, n, &targets, &ask);
  if (answer.why_not) return cli_error(CLI_USAGE, "%s: %s", name, answer.why_not);
  const Why why = {.arena = arena, .path = path, .answer = &answer, .what_if = given->what_if};
  if (given->compile.json)
    why_print_json(&why);
  else
    why_print(&why);
  return CLI_OK;
}

// ---- the command --------------------------------------------------------------------------------

int cmd_why(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  WhyOptions given = {0};
  if (!options_parse(options, N_OPTIONS, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 2 || (argc == 2 && given.compile.state))
    return cli_error(CLI_USAGE, "why takes one cubin, or a state with -k");
  if (argc == 2 && given.ncu)
    return cli_error(CLI_USAGE, "--ncu goes with a state, the one whose code was profiled");
  if (argc == 2) return run_cubin(arena, &given, argv[1], &diags);
  if (given.kernel || given.launch || given.trips.count)
    return cli_error(CLI_USAGE, "--kernel, --launch and --trips go with a cubin");
  return run_state(arena, &given, &diags);
}
