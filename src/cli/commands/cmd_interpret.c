// gemmview interpret: run a schedule's program on the CPU and say what is wrong with it.
//
//   $ gemmview interpret -k BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11
//   M=4096, N=4096, K=4096 is cut down to M=256, N=256, K=32: same tiles, same edges (--full: all)
//   4 blocks of 256 threads, 2 orders from seed 1
//   C equals the float64 loop in all 65536 cells; no race, no deadlock, nothing unwritten
//
// gemmview interpret FILE runs a program that is written down, one that loops --full or --dump
// printed and a user changed; findings name its statements by their lines.
//
// --trace BLOCK,THREAD tells what one thread executes in the first run, statement by statement,
// with the values that it sees.
//
// --break NAME runs a deliberately faulty copy instead (model/interp/breakage.h lists them): what a
// missing barrier or a lax wait looks like.
//
// --symptom NAME lists what may be the cause of what is seen on a GPU
// (cli/common/tables/cli_symptoms.h).
//
// Exit status 1 when a cell is wrong or anything was found, 2 when it would take too long or too
// much memory: that is estimated before anything is begun.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/team.h"
#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/cli_every.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_program.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/common/tables/cli_symptoms.h"
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/reduce.h"

typedef struct InterpretOptions {
  const char *state, *pass, *breakage, *trace, *symptom;
  const char *file;  // of a program; NULL: a state's
  int seed, runs, limit, minutes;
  bool full, dump, json, every_order, strict;
} InterpretOptions;

static const Option options[] = {
    OPTION_STATE(InterpretOptions),
    OPTION_JSON(InterpretOptions),
    {.name = "seed",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(InterpretOptions, seed),
     .lo = 0,
     .hi = 2147483647},
    {.name = "runs",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(InterpretOptions, runs),
     .lo = 1,
     .hi = 1000},
    {.name = "pass", .kind = OPTION_KIND_TEXT, .offset = offsetof(InterpretOptions, pass)},
    {.name = "break", .kind = OPTION_KIND_TEXT, .offset = offsetof(InterpretOptions, breakage)},
    {.name = "symptom", .kind = OPTION_KIND_TEXT, .offset = offsetof(InterpretOptions, symptom)},
    {.name = "trace", .kind = OPTION_KIND_TEXT, .offset = offsetof(InterpretOptions, trace)},
    {.name = "minutes",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(InterpretOptions, minutes),
     .lo = 1,
     .hi = 100000},
    {.name = "limit",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(InterpretOptions, limit),
     .lo = 1,
     .hi = 1000000},
    {.name = "full", .kind = OPTION_KIND_FLAG, .offset = offsetof(InterpretOptions, full)},
    {.name = "every-order",
     .kind = OPTION_KIND_FLAG,
     .offset = offsetof(InterpretOptions, every_order)},
    {.name = "strict", .kind = OPTION_KIND_FLAG, .offset = offsetof(InterpretOptions, strict)},
    {.name = "dump", .kind = OPTION_KIND_FLAG, .offset = offsetof(InterpretOptions, dump)},
};
enum { N_OPTIONS = sizeof options / sizeof options[0], MAP_MAX = 64, MINUTES = 10 };

// The schedule that is run, and the one that was asked for.
typedef struct Subject {
  const InterpretOptions *given;
  Schedule asked, run;  // of a file: its problem alone
  const Model *model;   // NULL: a file
  const Program *program;
  InterpCheck check;
} Subject;

static bool is_reduced(const Subject *s) { return !schedule_same(&s->asked, &s->run); }

static long long extent(const Schedule *schedule, KnobId knob) { return schedule->value[knob]; }

static const Program *broken(Arena *arena, const Program *program, const char *name, Diags *diags) {
  const char *names[BREAK_COUNT];
  for (int id = 0; id < BREAK_COUNT; id++) {
    names[id] = breakage_name((BreakageId)id);
    if (!str_equal(names[id], name)) continue;
    const Program *result = program_break(arena, program, (BreakageId)id);
    if (!result)
      diag_add(diags, "break", "%s: %s: this program has nothing that it could break", name,
               breakage_help((BreakageId)id));
    return result;
  }
  diag_add_unknown(diags, "break", "breakage", name, names, BREAK_COUNT);
  return NULL;
}

// Blocks, or clusters, so few that each has all of its turns; 0: any number fewer than tiles will
// do, for one of two blocks then has two tiles.
static int grid_to_see(const Schedule *schedule) {
  const int64_t see = schedule_turns_to_see(schedule);
  return see > 2 ? (int)max64(1, schedule_turns(schedule) / see) : 0;
}

static bool prepare_state(Arena *arena, Subject *s, Diags *diags) {
  TargetTable targets;
  const Model *asked = cli_model(arena, s->given->state, diags);
  if (!asked || !cli_targets(arena, &targets, diags)) return false;
  s->asked = s->run = asked->schedule;
  if (!s->given->full) s->run = schedule_reduce_turns(arena, &targets, &s->asked, REDUCE_WORK_MAX);
  s->model = is_reduced(s) ? model_build(arena, &targets, &s->run) : asked;
  int stage = s->model->pipeline.n_stages - 1;
  if (s->given->pass) stage = cli_find_stage(s->model, s->given->pass, diags);
  if (stage < 0) return false;
  s->program = s->model->pipeline.stage[stage].program;
  return true;
}

static bool prepare_file(Arena *arena, Subject *s, Diags *diags) {
  s->program = cli_program(arena, s->given->file, diags);
  if (!s->program) return false;
  s->run = schedule_plain();
  s->run.value[KNOB_M] = s->program->problem.m;
  s->run.value[KNOB_N] = s->program->problem.n;
  s->run.value[KNOB_K] = s->program->problem.k;
  s->asked = s->run;
  return true;
}

static bool prepare(Arena *arena, Subject *s, Diags *diags) {
  bool ready = s->given->file ? prepare_file(arena, s, diags) : prepare_state(arena, s, diags);
  if (!ready) return false;
  if (s->given->breakage) s->program = broken(arena, s->program, s->given->breakage, diags);
  return s->program != NULL;
}

// Copies that are asynchronous are run early and late.
static double estimate_seconds(const Subject *s) {
  if (!s->model) return program_work(s->program) * REDUCE_WORK_SECONDS * s->given->runs;
  int extremes = program_works_in_background(s->program) ? 2 : 1;
  return schedule_work(&s->run) * REDUCE_WORK_SECONDS / 2 * s->given->runs * extremes;
}

static bool is_affordable(const Subject *s, Diags *diags) {
  double minutes = estimate_seconds(s) / 60, bytes = interpret_bytes(s->program);
  if (minutes <= s->given->minutes && bytes <= INTERP_BYTES_MAX) return true;
  diag_add(diags, "size",
           "M=%lld, N=%lld, K=%lld would take about %.0f min and %.1f GiB here, the limits are "
           "%d min and %.0f GiB%s",
           extent(&s->run, KNOB_M), extent(&s->run, KNOB_N), extent(&s->run, KNOB_K), minutes,
           bytes * 0x1p-30, s->given->minutes, INTERP_BYTES_MAX * 0x1p-30,
           s->given->full   ? "; without --full a part of it is run"
           : s->given->file ? "; make its loops shorter, or raise --minutes"
                            : "");
  return false;
}

// ---- one thread ---------------------------------------------------------------------------------

// "BLOCK,THREAD" of the kernel that multiplies.
static bool parse_trace(Arena *arena, const Subject *s, InterpTrace *trace, Diags *diags) {
  const Launch launch = kernel_launch(program_main(s->program));
  const char *text = s->given->trace, *comma = strchr(text, ',');
  if (!comma) {
    diag_add(diags, "usage", "--trace takes BLOCK,THREAD, such as 0,5; not \"%s\"",
             str_sanitise(arena, text));
    return false;
  }
  const char *block = arena_strndup(arena, text, (size_t)(comma - text));
  int last_block = (int)min64(launch.n_blocks - 1, INT32_MAX);
  bool ok = option_parse_int(block, 0, last_block, "--trace, block", &trace->block, diags);
  return option_parse_int(comma + 1, 0, (int)launch.block_threads - 1, "--trace, thread",
                          &trace->thread, diags) &&
         ok;
}

static void print_trace(const InterpTrace *trace) {
  printf("thread %d of block %d (warp %d, lane %d), in the first run\n%s", trace->thread,
         trace->block, trace->thread / LANES, trace->thread % LANES, trace->text.text);
  if (trace->n_lines > trace->limit)
    printf("  … and %d more; --limit %d prints all\n", trace->n_lines - trace->limit,
           trace->n_lines);
}

// ---- text ---------------------------------------------------------------------------------------

static void print_setting(const Subject *s) {
  const Schedule *a = &s->asked, *r = &s->run;
  if (is_reduced(s))
    printf(
        "M=%lld, N=%lld, K=%lld is cut down to M=%lld, N=%lld, K=%lld: same tiles, same edges "
        "(--full: all)\n",
        extent(a, KNOB_M), extent(a, KNOB_N), extent(a, KNOB_K), extent(r, KNOB_M),
        extent(r, KNOB_N), extent(r, KNOB_K));
  if (s->model && (is_reduced(s) || s->given->breakage) &&
      schedule_slabs(r) < schedule_slabs_to_see(r))
    printf(
        "a split has %lld slab%s here; only from %lld on is a slot of the ring of %lld used "
        "again: faults of reused slots are not found\n",
        (long long)schedule_slabs(r), plural_s(schedule_slabs(r)),
        (long long)schedule_slabs_to_see(r), (long long)schedule_ring_slots(r));
  if (s->model && (is_reduced(s) || s->given->breakage) &&
      schedule_turns(r) < schedule_turns_to_see(r))
    printf(
        "a block has %lld tile%s here; only from %lld on do tiles take turns with the sums: "
        "faults between tiles are not found\n",
        (long long)schedule_turns(r), plural_s(schedule_turns(r)),
        (long long)schedule_turns_to_see(r));
  Launch launch = kernel_launch(program_main(s->program));
  const char *what = launch.tiles ? "tile" : "block",
             *where = launch.tiles ? "dealt to blocks " : "";
  printf("%lld %s%s %sof %lld thread%s, %d order%s from seed %d\n", (long long)launch.n_blocks,
         what, plural_s(launch.n_blocks), where, (long long)launch.block_threads,
         plural_s(launch.block_threads), s->given->runs, plural_s(s->given->runs), s->given->seed);
}

// One character a tile: '.' right, '#' wrong in every cell, '+' in some.
static void print_map(const Subject *s) {
  const InterpCheck *c = &s->check;
  if (c->n_wrong == 0 || c->tiles_m > MAP_MAX || c->tiles_n > MAP_MAX) return;
  printf("C by tiles of %lld x %lld: '#' wrong everywhere, '+' somewhere, '.' nowhere\n",
         (long long)c->tile_m, (long long)c->tile_n);
  for (int64_t i = 0; i < c->tiles_m; i++) {
    fputs("  ", stdout);
    for (int64_t j = 0; j < c->tiles_n; j++) {
      int64_t rows = problem_rows(&s->program->problem) - i * c->tile_m;
      int64_t columns = problem_columns(&s->program->problem) - j * c->tile_n;
      if (rows > c->tile_m) rows = c->tile_m;
      if (columns > c->tile_n) columns = c->tile_n;
      int wrong = c->wrong_in_tile[i * c->tiles_n + j];
      putchar(wrong == 0 ? '.' : wrong == rows * columns ? '#' : '+');
    }
    putchar('\n');
  }
}

static void print_text(const Subject *s) {
  const InterpCheck *c = &s->check;
  const long long cells = (long long)c->n_cells;
  print_setting(s);
  for (int i = 0; i < c->n_findings; i++) {
    printf("%s", c->finding[i].text);
    if (c->finding[i].times > 1) printf(" (%lld times)", (long long)c->finding[i].times);
    putchar('\n');
  }
  if (c->n_wrong)
    printf("%lld of %lld cells of C are wrong, the first C[%lld, %lld] = %g, expected %g\n",
           (long long)c->n_wrong, cells, (long long)c->wrong_row, (long long)c->wrong_column,
           c->wrong_got, c->wrong_expected);
  print_map(s);
  if (!c->result->finished) puts("the run did not end");
  if (c->result->finished && !c->n_wrong)
    printf("C equals the float64 loop in all %lld cells%s\n", cells,
           c->ok ? "; no race, no deadlock, no unwritten read" : "");
}

// ---- JSON ---------------------------------------------------------------------------------------

static const char *operation_name(int op) { return op_name((OpKind)op); }

#define FORM_FILE "cli/commands/forms/cmd_interpret.form"
#include "base/form_make.h"

// Tells the program to run, as a text to be looked at, changed and run again.
static int dump(Arena *arena, const Subject *s) {
  Str from = str_new(arena);
  str_add(&from, "gemmview interpret");
  if (s->model)
    str_printf(&from, " -k %s", schedule_text(arena, &s->run));
  else
    str_printf(&from, " %s", cli_program_name(arena, s->given->file));
  if (s->given->pass) str_printf(&from, " --pass %s", s->given->pass);
  if (s->given->breakage) str_printf(&from, " --break %s", s->given->breakage);
  cli_print_program(arena, s->program, from.text);
  return CLI_OK;
}

// ---- how far it is ------------------------------------------------------------------------------

// A line at a terminal, from the second second on, while the interpreter has this thread.
typedef struct Progress {
  double estimate_s;
  atomic_bool over;
  bool runs, shown;
  pthread_t thread;
} Progress;

static void *progress_main(void *context) {
  Progress *p = context;
  const struct timespec tick = {.tv_nsec = 50000000};
  const double began = clock_seconds();
  double next = 1;
  while (!atomic_load(&p->over)) {
    nanosleep(&tick, NULL);
    const double now = clock_seconds() - began;
    if (now < next) continue;
    fprintf(stderr, "\rinterpreting for %.0f s, about %.0f s by the estimate ", now, p->estimate_s);
    next = now + 1;
    p->shown = true;
  }
  if (p->shown) fprintf(stderr, "\r\033[K");
  return NULL;
}

static void progress_begin(Progress *p) {
  p->runs = isatty(STDERR_FILENO) && thread_start(&p->thread, progress_main, p);
}

static void progress_end(Progress *p) {
  atomic_store(&p->over, true);
  if (p->runs) pthread_join(p->thread, NULL);
}

static int run(Arena *arena, const InterpretOptions *given, Diags *diags) {
  Subject subject = {.given = given};
  if (!prepare(arena, &subject, diags)) return cli_fail(diags);
  if (given->dump) return dump(arena, &subject);
  if (!is_affordable(&subject, diags)) return cli_fail(diags);
  InterpTrace trace = {.limit = given->limit, .text = str_new(arena)};
  if (given->trace && !parse_trace(arena, &subject, &trace, diags)) return cli_fail(diags);
  InterpOptions how = {
      .seed = (uint64_t)given->seed, .runs = given->runs, .trace = given->trace ? &trace : NULL};
  if (subject.model && !given->full) how.grid = grid_to_see(&subject.run);
  Progress progress = {.estimate_s = estimate_seconds(&subject)};
  progress_begin(&progress);
  subject.check = interpret_check(arena, subject.program, &how);
  progress_end(&progress);
  if (given->trace) print_trace(&trace);
  if (given->json)
    fputs(form_document(arena, &interpret_form, &subject, &subject), stdout);
  else
    print_text(&subject);
  return subject.check.ok ? CLI_OK : CLI_NO;
}

// ---- every order --------------------------------------------------------------------------------

static BreakageId breakage_of(const char *name) {
  for (int id = 0; name && id < BREAK_COUNT; id++)
    if (str_equal(breakage_name((BreakageId)id), name)) return (BreakageId)id;
  return BREAK_COUNT;
}

static void leave_out(EveryTurn *every, const char *what) {
  if (every->n_left_out < EVERY_LEFT_OUT) every->left_out[every->n_left_out++] = what;
  every->result.verdict = SEARCH_BOUNDED;
  every->spared = NULL;
}

// Claiming a list races with other clusters, in global memory.
static void find_claim(Stmt *stmt, int depth, void *claims) {
  (void)depth;
  if (stmt->kind == STMT_OP && stmt->op.in_steps) *(bool *)claims = true;
}

static InterpCheck run_once(Arena *arena, const Program *program, int grid, int runs) {
  const InterpOptions how = {.seed = 1, .runs = runs, .stop_at_first = true, .grid = grid};
  return interpret_check(arena, program, &how);
}

// Some clusters at work at once, and tiles that they do not come out even with: what shows only
// there.
static void run_together(Arena *arena, Subject *s, const TargetTable *targets) {
  enum { TILES = 4, CLUSTERS = 3, RUNS = 1 };
  const Schedule few = every_turn_schedule(&s->asked, every_turn_least_slabs(&s->asked), TILES);
  const Model *model = model_build(arena, targets, &few);
  if (!model->ok || schedule_turns(&few) <= CLUSTERS) return;
  const Program *broken = program_break(arena, model->program, breakage_of(s->given->breakage));
  if (broken) s->check = run_once(arena, broken, CLUSTERS, RUNS);
}

// A search over events sees no wrong values, and no fences of registers and of tensor memory. A run
// with values finds them, and its findings hold in any order.
static void look_with_values(Arena *arena, Subject *s, const TargetTable *targets,
                             EveryTurn *every) {
  Diags none = diags_new(arena);
  if (!is_affordable(s, &none)) {
    leave_out(every, "wrong values, which a run would show: it is too large for one");
    return;
  }
  const unsigned seen = breakage_seen(breakage_of(s->given->breakage));
  bool claims = false;
  stmt_walk(program_main(s->program)->body, find_claim, &claims);
  s->check.ok = true;
  if (claims || seen & SEEN_WRONG) run_together(arena, s, targets);
  if (s->check.ok) s->check = run_once(arena, s->program, grid_to_see(&s->run), 1);
  if (s->check.ok && claims)
    leave_out(every, "other clusters of the grid, which claim lists at the same time");
  if (s->check.ok && seen == SEEN_WRONG)
    leave_out(every,
              "wrong values with other sizes and grids: with those that were run it shows "
              "none");
  if (s->check.ok) return;
  every->spared = NULL;
  const Finding *worst = interp_gravest(&s->check);
  every->result.verdict = SEARCH_FOUND;
  every->result.fault = SEARCH_SEEN;
  every->result.root = worst ? worst->text : "cells of C are wrong";
  every->result.cure = "none is known: gemmview interpret without --every-order tells more";
}

static int search_state(Arena *arena, const InterpretOptions *given, Diags *diags) {
  Subject subject = {.given = given};
  TargetTable targets;
  if (!prepare(arena, &subject, diags) || !cli_targets(arena, &targets, diags))
    return cli_fail(diags);
  const BreakageId breakage = breakage_of(given->breakage);
  const char *state = schedule_text(arena, &subject.asked);
  EveryGiven how = {
      .what = *state ? state : "the defaults", .json = given->json, .strict = given->strict};
  if (given->breakage) how.what = arena_printf(arena, "%s, %s", how.what, given->breakage);
  EveryTurn every = every_turn_search(&targets, &subject.asked, breakage, &(SearchOptions){0});
  if (!every.fault && every.result.verdict == SEARCH_PROVED && given->breakage)
    look_with_values(arena, &subject, &targets, &every);
  const int status = every.fault ? cli_print_unsearched(arena, every.fault, &how)
                                 : cli_print_every(arena, &every, &how);
  every_turn_free(&every);
  return status;
}

static int search_file(Arena *arena, const InterpretOptions *given, Diags *diags) {
  const Program *program = cli_program(arena, given->file, diags);
  const EveryGiven how = {
      .what = cli_program_name(arena, given->file), .json = given->json, .strict = given->strict};
  return program ? cli_every_program(arena, program, &how) : cli_fail(diags);
}

static int list_symptoms(Arena *arena, const InterpretOptions *given, Diags *diags) {
  Subject subject = {.given = given};
  if (given->state && !prepare(arena, &subject, diags)) return cli_fail(diags);
  const bool ok = cli_print_symptoms(arena, subject.program, given->symptom, given->json, diags);
  return ok ? CLI_OK : cli_fail(diags);
}

int cmd_interpret(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  InterpretOptions given = {.seed = 1, .runs = 2, .limit = 200, .minutes = MINUTES};
  if (options_parse(options, N_OPTIONS, &given, &argc, argv, &diags))
    given.file = cli_program_file("interpret", argc, argv, given.state, &diags);
  if (given.file && (given.pass || given.full || given.breakage))
    diag_add(&diags, "usage", "--pass, --break and --full go with a state: a FILE is run as it is");
  if (given.dump && given.json)
    diag_add(&diags, "usage", "give --dump (the program) or --json (a run of it), not both");
  if (given.trace && (given.dump || given.json))
    diag_add(&diags, "usage", "--trace prints text: leave out --dump and --json");
  if (given.symptom && (given.file || given.breakage || given.trace || given.dump))
    diag_add(&diags, "usage",
             "--symptom lists faults and runs nothing: it goes with -k and "
             "--json only");
  if (diags.count) return cli_fail(&diags);
  if (given.every_order && (given.trace || given.dump || given.symptom || given.pass))
    diag_add(&diags, "usage",
             "--every-order goes with -k, --break, --strict and --json, or a FILE");
  if (diags.count) return cli_fail(&diags);
  if (given.every_order)
    return given.file ? search_file(arena, &given, &diags) : search_state(arena, &given, &diags);
  return given.symptom ? list_symptoms(arena, &given, &diags) : run(arena, &given, &diags);
}
