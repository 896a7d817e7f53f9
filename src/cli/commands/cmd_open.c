// gemmview open: the user's own kernel, run on the CPU, with what its lines cost in shared memory.
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
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/watch.h"
#include "cli/common/cli.h"
#include "cli/common/cli_every.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/open/against/open_against.h"
#include "cli/open/library/open_library.h"
#include "cli/open/open_capsule.h"
#include "cli/open/open_compare.h"
#include "cli/open/open_limit.h"
#include "cli/open/open_needs.h"
#include "cli/open/open_parts.h"
#include "cli/open/open_run.h"
#include "cli/open/open_screen.h"
#include "cli/record/record_main.h"

CommandRun cmd_open;

typedef struct OpenOptions {
  OpenRequest request;
  OptionList fail_above, allow;
  const char *nvcc;  // flags
  bool json, markdown, text, list, opcodes, watch, main, strict, what_if, cold;
  int mhz;
  int64_t before;  // wavefronts of the last run of --watch, −1
} OpenOptions;

enum { BUDGET_MILLIONS = 20000, MHZ_MAX = 10000 };

#define OPEN(key, type, field) \
  { .name = key, .kind = OPTION_KIND_##type, .offset = offsetof(OpenOptions, field) }

static const Option OPTIONS[] = {
    OPEN("kernel", TEXT, request.kernel),
    OPEN("launch", TEXT, request.launch),
    OPEN("arg", LIST, request.args),
    OPEN("blocks", TEXT, request.blocks),
    OPEN("slab", LIST, request.slabs),
    OPEN("dump", LIST, request.dumps),
    OPEN("ncu", TEXT, request.ncu),
    OPEN("fail-above", LIST, fail_above),
    OPEN("allow", LIST, allow),
    {.name = "budget",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(OpenOptions, request.budget),
     .lo = 1,
     .hi = 1000000000},
    OPEN("list", FLAG, list),
    OPEN("predict", FLAG, request.predict),
    OPEN("main", FLAG, main),
    OPEN("nvcc", TEXT, nvcc),
    OPEN("machine", FLAG, request.machine),
    OPEN("why", FLAG, request.follow),
    OPEN("what-if", FLAG, what_if),
    OPEN("cold", FLAG, cold),
    {.name = "mhz",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(OpenOptions, mhz),
     .lo = 100,
     .hi = MHZ_MAX},
    OPEN("compare", FLAG, request.compare),
    OPEN("against", TEXT, request.against),
    OPEN("reduce", FLAG, request.reduce),
    OPEN("tolerance", TEXT, request.tolerance),
    OPEN("every-order", FLAG, request.orders),
    OPEN("strict", FLAG, strict),
    OPEN("markdown", FLAG, markdown),
    OPEN("text", FLAG, text),
    OPEN("detail", FLAG, request.detail),
    OPEN("watch", FLAG, watch),
    OPEN("opcodes", FLAG, opcodes),
    OPTION_JSON(OpenOptions),
};

// ---- one run ------------------------------------------------------------------------------------

static bool as_json(const OpenOptions *given) { return given->json || given->request.detail; }

static void print(const OpenResult *result, OpenOptions *given) {
  if (as_json(given))
    open_print_json(result);
  else if (given->markdown)
    open_print_markdown(result);
  else
    open_print_text(result);
  if (!as_json(given) && !given->markdown) open_print_compared(result);
  if (given->before >= 0 && !as_json(given))
    printf("\n%" PRId64 " -> %" PRId64 " wavefronts\n", given->before, result->lines->wavefronts);
  given->before = result->lines->wavefronts;
}

static int judge(const OpenResult *result, const OpenOptions *given, const OpenLimit *limits,
                 Diags *diags) {
  bool above = false;
  fflush(stdout);  // what is exceeded stands behind the report
  if (!open_above_limits(result, limits, given->fail_above.count, &above, diags))
    return cli_fail(diags);
  if (result->outcome == PTX_BUDGET) return CLI_TIMEOUT;
  const OpenCompared *compared = result->compared;
  const bool differs = compared && compared->different > compared->close;
  return open_has_findings(result) || above || differs ? CLI_NO : CLI_OK;
}

// ---- every order --------------------------------------------------------------------------------

enum { ORDERS_SECONDS = 20, ORDERS_STATES = 400000, CALLS_MAX = 64 };

typedef struct OrdersProgress {
  double began, next;
  bool shows;
} OrdersProgress;

// Says how far it is; ends it after its time. Ctrl-C ends the program, as everywhere.
static bool goes_on(void *context, int64_t states) {
  OrdersProgress *p = context;
  const double now = clock_seconds() - p->began;
  if (p->shows && now > p->next) {
    fprintf(stderr, "\r%" PRId64 " states in %.0f s ", states, now);
    p->next = now + 1;
  }
  return now < ORDERS_SECONDS;
}

// Tags are places in the code, from 1. Of what was inlined, the line that calls it.
static int line_of(const void *context, int tag, const char **file) {
  const OpenResult *r = context;
  const PtxInst *inst = tag > 0 ? &r->module->code[tag - 1] : NULL;
  if (!inst) return 0;
  const PtxLoc *loc = inst->loc >= 0 ? &r->module->locs[inst->loc] : NULL;
  for (int depth = 0; loc && loc->inlined_at >= 0 && depth < CALLS_MAX; depth++)
    loc = &r->module->locs[loc->inlined_at];
  *file = ptx_base_name(loc ? ptx_file_name(r->module, loc->file) : r->path);
  return loc ? loc->line : inst->line;
}

// Threads among each other are none of the search: one run says what nothing keeps apart.
static void look_at_run(EveryTurn *every, const OpenResult *r) {
  const char *cure = NULL, *text = open_order_finding(r, &cure);
  if (!text || every->result.verdict == SEARCH_FOUND) return;
  every->result.verdict = SEARCH_FOUND;
  every->result.fault = SEARCH_SEEN;
  every->result.root = text;
  every->result.cure =
      cure ? cure : "none is proposed: gemmview open without --every-order tells more";
}

static int print_orders(Arena *arena, const OpenOptions *given, const OpenResult *r) {
  OrdersProgress progress = {clock_seconds(), 1, isatty(STDERR_FILENO) && !given->json};
  EveryTurn every = {.search = r->orders, .runs = 1, .tiles = 1};
  every.result = search_run(
      r->orders,
      &(SearchOptions){.states = ORDERS_STATES, .goes_on = goes_on, .context = &progress});
  if (every.result.verdict == SEARCH_BOUNDED)
    every.left_out[every.n_left_out++] = "orders beyond the limits of time and memory";
  for (int i = 0; i < r->n_left_out && every.n_left_out < EVERY_LEFT_OUT; i++)
    every.left_out[every.n_left_out++] = r->left_out[i];
  every.n_left_out +=
      open_order_questions(r, every.left_out + every.n_left_out, EVERY_LEFT_OUT - every.n_left_out);
  if (every.n_left_out && every.result.verdict == SEARCH_PROVED)
    every.result.verdict = SEARCH_BOUNDED;
  look_at_run(&every, r);
  const EveryGiven how = {
      .what = arena_printf(arena, "%s, %s, %s", r->path, r->kernel->name, r->launch_text),
      .json = given->json,
      .strict = given->strict,
      .line_of = line_of,
      .context = r};
  return cli_print_every(arena, &every, &how);
}

static void print_launches(const OpenResult *r, const OpenOptions *given) {
  const OpenLaunches of = {str_line(r->arena, r->text.capsule->program), r->launches,
                           r->n_launches};
  if (given->json) {
    cli_print_document(r->arena, &open_launches_form, &of, NULL);
    return;
  }
  printf("launches of %s; the file holds the memory of a launch that is marked\n\n", of.program);
  open_print_launches(r->arena, stdout, of.launch, of.n);
}

// A kernel that is named is listed with the parameters of the entry that would be opened.
static int list_library(Arena *arena, const OpenOptions *given, OpenLibrary *library,
                        Diags *diags) {
  const OpenRequest *request = &given->request;
  const int status = open_print_library(arena, library, request->kernel, given->json, diags);
  OpenResult result;
  if (status == CLI_OK && !given->json && (request->kernel || library->kernel) &&
      open_read_kernel(arena, request, false, &result, diags) == CLI_OK)
    open_print_parameters(result.kernel);
  return status;
}

static int open_file(Arena *arena, OpenOptions *given, Diags *diags) {
  const OpenRequest *request = &given->request;
  const OpenLimit *limits =
      open_read_limits(arena, given->fail_above.items, given->fail_above.count, diags);
  if (!limits) return cli_fail(diags);
  OpenLibrary library;
  if (given->list && open_library(arena, request->path, &library))
    return list_library(arena, given, &library, diags);
  OpenResult result;
  int status = open_read_kernel(arena, request, given->list, &result, diags);
  if (given->list && result.n_launches > 0) {
    print_launches(&result, given);
    return CLI_OK;
  }
  if (status == CLI_OK && given->list) {
    open_print_kernels(arena, result.module, given->json);
    return CLI_OK;
  }
  if (status == CLI_OK && request->against) {
    status = open_against(request, &result, diags);
    if (diags->count) cli_fail(diags);
    return status;
  }
  if (status == CLI_OK) status = open_run(request, &result, diags);
  if (status != CLI_OK) {
    if (request->detail) open_print_needs(request, &result, diags);
    cli_fail(diags);
    return status;
  }
  if (!open_ncu_is_of(&result, request->ncu, diags)) return cli_fail(diags);
  if (request->orders) return print_orders(arena, given, &result);
  if (request->follow)
    return open_why(
        &result,
        &(OpenWhy){
            .json = given->json, .what_if = given->what_if, .cold = given->cold, .mhz = given->mhz},
        diags);
  print(&result, given);
  const int written = open_write_dumps(&result);
  if (written != CLI_OK) return written;
  return judge(&result, given, limits, diags);
}

// ---- again after every save ---------------------------------------------------------------------

// Until it is interrupted. Each run has an arena of its own: what one kernel took, the next has
// again.
static _Noreturn void watch_files(const OpenOptions *given) {
  const struct timespec pause = {0, 50000000};
  WatchList list = watch_new();
  int64_t before = -1;
  watch_set(&list, &given->request.path, 1);
  for (bool saved = true;; saved = watch_saved(&list)) {
    if (saved) {
      Arena *arena = arena_new("open");
      Diags diags = diags_new(arena);
      OpenOptions round = *given;
      round.before = before;
      round.request.watched = &list;
      open_file(arena, &round, &diags);
      before = round.before;
      if (!as_json(given)) printf("watching %s\n", watch_text(arena, &list));
      fflush(stdout);
      arena_free(arena);
    }
    nanosleep(&pause, NULL);
  }
}

// A user at a terminal who asked for no report gets the screen.
static bool wants_screen(const OpenOptions *given) {
  const bool report = given->request.orders || given->request.against || given->request.follow ||
                      as_json(given) || given->markdown || given->text || given->list ||
                      given->request.ncu || given->request.dumps.count > 0 ||
                      given->fail_above.count > 0;
  return !report && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
}

static int show_screen(Arena *arena, int n_words, char **words, bool watches, Diags *diags) {
  const char **kept = ARENA_ARRAY(arena, const char *, n_words + 1);
  int n = 0;
  for (int i = 0; i < n_words; i++)
    if (!str_equal(words[i], "--watch")) kept[n++] = words[i];
  return open_screen(arena, kept, n, watches, diags);
}

// "libfoo.so:KERNEL"
static bool is_in_library(Arena *arena, const char *path) {
  OpenLibrary library;
  if (!open_library(arena, path, &library)) return false;
  open_library_close(&library);
  return true;
}

// The file comes first: arguments behind the options are put there.
static char **file_first(Arena *arena, int argc, char **argv, const char *file) {
  char **words = ARENA_ARRAY(arena, char *, argc + 1);
  int n = 0;
  words[n++] = arena_strdup(arena, file);
  bool taken = false;
  for (int i = 1; i < argc; i++) {
    if (!taken && str_equal(argv[i], file))
      taken = true;
    else
      words[n++] = argv[i];
  }
  return words;
}

// --nvcc's flags stand in front of those behind the dashes.
static void take_flags(Arena *arena, OpenOptions *given) {
  int n = 0;
  if (!given->nvcc) return;
  char **words = open_split_words(arena, given->nvcc, &n);
  char **all = ARENA_ARRAY(arena, char *, n + given->request.n_flags + 1);
  memcpy(all, words, sizeof *all * (size_t)n);
  if (given->request.n_flags)
    memcpy(all + n, given->request.flags, sizeof *all * (size_t)given->request.n_flags);
  given->request.flags = all;
  given->request.n_flags += n;
}

// The program that the source is, run and recorded; then its launch, as any capsule.
static int open_main(Arena *arena, OpenOptions *given, Diags *diags) {
  OpenRequest *request = &given->request;
  RecordMain main_ = {.source = request->path,
                      .flags = given->nvcc,
                      .words = request->flags,
                      .kernel = request->kernel,
                      .launch = request->launch,
                      .blocks = request->blocks,
                      .aside = as_json(given) || given->markdown};
  if (!record_main(arena, &main_, diags)) {
    if (diags->count > 0) cli_fail(diags);
    return main_.status;
  }
  request->path = main_.capsule;
  request->made_here = true;
  request->launch = request->kernel = NULL;
  request->flags = NULL;
  request->n_flags = 0;
  const int status = open_file(arena, given, diags);
  record_main_end(&main_);
  return status;
}

// False after a finding: options that need each other, or exclude each other.
static bool goes_together(const OpenOptions *given, Diags *diags) {
  const OpenRequest *r = &given->request;
  const struct {
    bool wrong;
    const char *text;
  } rules[] = {
      {!r->follow && (given->what_if || given->cold || given->mhz),
       "--what-if, --cold and --mhz need --why"},
      {r->follow && (r->orders || r->against || given->markdown || r->detail),
       "--why goes without --every-order, --against, --markdown and --detail"},
      {r->orders && (r->against || given->markdown || r->detail || r->compare || r->ncu ||
                     given->fail_above.count),
       "--every-order goes without --against, --markdown, --detail, --compare, --ncu and "
       "--fail-above"},
      {r->orders && (r->blocks || r->dumps.count || r->predict || r->machine),
       "--every-order goes without --blocks, --dump, --predict and --machine"},
      {r->reduce && !r->against, "--reduce needs --against machine"},
      {r->machine && r->against, "--against runs the PTX beside machine code: leave out --machine"},
  };
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].wrong) diag_add(diags, "usage", "%s", rules[i].text);
  return diags->count == 0;
}

// --allow: kinds of findings by their names.
static bool take_allowed(OpenOptions *given, Diags *diags) {
  for (int i = 0; i < given->allow.count; i++) {
    int kind = 0;
    while (kind < PTX_FINDINGS && !str_equal(ptx_finding_names[kind], given->allow.items[i]))
      kind++;
    if (kind < PTX_FINDINGS) {
      given->request.allowed |= 1u << kind;
      continue;
    }
    diag_add(diags, "usage", "--allow: there is no finding \"%s\"",
             str_sanitise(diags->arena, given->allow.items[i]))
        ->nearest = nearest_name(given->allow.items[i], ptx_finding_names, PTX_FINDINGS);
    return false;
  }
  return true;
}

int cmd_open(Arena *arena, int argc, char **argv) {
  const int n_given = argc;
  char **as_given = ARENA_ARRAY(arena, char *, argc + 1);
  memcpy(as_given, argv, sizeof *argv * (size_t)argc);
  Diags diags = diags_new(arena);
  OpenOptions given = {.request = {.budget = BUDGET_MILLIONS}, .before = -1};
  OpenRequest *request = &given.request;
  request->flags = options_behind(&argc, argv);
  while (request->flags[request->n_flags]) request->n_flags++;
  const int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (as_json(&given) + given.markdown + given.text > 1) {
    diag_add(&diags, "usage", "give one of --json, --markdown and --text");
    return cli_fail(&diags);
  }
  if (given.opcodes) {
    open_print_opcodes();
    return CLI_OK;
  }
  if (argc != 2) {
    Diag *diag = diag_add(&diags, "usage", "one file is needed: FILE.cu, FILE.ptx or FILE.capsule");
    diag->nearest = "gemmview open kernel.ptx --list";
    return cli_fail(&diags);
  }
  request->path = argv[1];
  request->machine |= request->follow;
  if (!goes_together(&given, &diags) || !take_allowed(&given, &diags)) return cli_fail(&diags);
  request->record = !request->follow && (request->detail || !given.json);
  if (given.main && !(wants_screen(&given) && access(argv[1], R_OK) == 0))
    return open_main(arena, &given, &diags);
  take_flags(arena, &given);
  const bool once = open_reads_once(argv[1]), is_file = !once && access(argv[1], R_OK) == 0,
             there =
                 is_file || open_is_example(argv[1]) || (!once && is_in_library(arena, argv[1]));
  if (given.watch && once) {
    diag_add(&diags, "usage", "--watch needs a file: %s can be read only once",
             str_sanitise(arena, argv[1]));
    return cli_fail(&diags);
  }
  if (wants_screen(&given) && there)
    return show_screen(arena, n_given - 1, file_first(arena, n_given, as_given, argv[1]),
                       given.watch, &diags);
  if (given.watch && is_file) watch_files(&given);
  return open_file(arena, &given, &diags);
}
