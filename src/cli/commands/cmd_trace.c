// gemmview trace: what one block did on the GPU, and when, beside what the model thinks of it;
// where there are clusters, all blocks of one.
//
//   $ gemmview trace -k hopper/roles --block 7
//   NVIDIA H200, driver 580.95.05, CUDA 13.0, SM 1755 MHz by the block's own clock
//   4096 x 4096 x 4096: block 7 on SM 13; C is right in every cell
//   a launch takes 275.3 us with stamps, 273.9 us without: +0.5 %
//
//   measured     0         1000      2000 …
//   producer 0   cc┄┄empty┄┄cc …
//   estimated …
//
//   warp  role          clk         ns   busy clk    ns   waiting clk    ns   for
//
// The stamps are of one launch; the times of many, in turns, both verified. Exit status 5 when C is
// wrong or the stamps contradict the order that barriers make.
#include <stdio.h>

#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/tables/cli_timing.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/time/timeline_measured.h"
#include "tui/canvas/export.h"
#include "tui/views/time/pipeline.h"

typedef struct TraceGiven {
  const char *state;
  int block;
  bool json, all;
  OptionSize size;
  OptionList worker;
} TraceGiven;

static const Option options[] = {
    OPTION_STATE(TraceGiven),
    OPTION_JSON(TraceGiven),
    OPTION_SIZE(TraceGiven),
    OPTION_WORKER(TraceGiven),
    {.name = "block",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(TraceGiven, block),
     .lo = 0,
     .hi = INT32_MAX},
    {.name = "all", .kind = OPTION_KIND_FLAG, .offset = offsetof(TraceGiven, all)},
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

// The two plans, what came back, and both timelines.
typedef struct Traced {
  Arena *arena;
  const TraceGiven *given;
  CliWorker *worker;
  const Model *model;
  const Emission *emission;  // with stamps
  Plan *traced, *plain;
  const TraceResult *result;
  const Timeline *measured, *estimated;
  TimelineOrder order;
} Traced;

// ---- text ---------------------------------------------------------------------------------------

static double ns_of(const Traced *t, double clocks) {
  return t->result->clock_mhz > 0 ? 1000 * clocks / t->result->clock_mhz : 0;
}

static const char *clocks_text(const Traced *t, double clocks) {
  if (!(t->result->clock_mhz > 0)) return arena_printf(t->arena, "%8.0f %8s", clocks, "-");
  return arena_printf(t->arena, "%8.0f %8.0f", clocks, ns_of(t, clocks));
}

static const BenchEntry *entry_of(const Traced *t, int side) {
  return &t->result->bench.entries[side];
}

static void print_head(const Traced *t) {
  const BenchResult *bench = &t->result->bench;
  printf("%s, driver %s, CUDA %s", bench->gpu ? bench->gpu : "unknown",
         bench->driver ? bench->driver : "unknown", bench->cuda ? bench->cuda : "unknown");
  if (t->result->clock_mhz > 0)
    printf(", SM %.0f MHz by the block's own clock", t->result->clock_mhz);
  printf("\n%lld x %lld x %lld: %s; C is right in every cell\n", (long long)t->plain->m,
         (long long)t->plain->n, (long long)t->plain->k, trace_where(t->arena, t->result));
  const double with = entry_of(t, 0)->time.median_ns, without = entry_of(t, 1)->time.median_ns;
  printf("a launch takes %s with stamps, %s without: %+.1f %%\n\n", cli_time_text(t->arena, with),
         cli_time_text(t->arena, without), 100 * (with / without - 1));
}

// For the time from the first to the last event of each warp, the part in events.
static double covered(const Traced *t) {
  double clocks = 0, other = 0;
  for (int warp = 0; warp < t->measured->n_warps; warp++) {
    const TimelineTotals totals = timeline_totals(t->arena, t->measured, warp);
    clocks += totals.clocks;
    other += totals.other;
  }
  return clocks > 0 ? 1 - other / clocks : 0;
}

static void print_block(const Traced *t) {
  const double ns = ns_of(t, t->measured->all_clocks);
  printf("\n%s: %.0f clk", t->measured->n_blocks > 1 ? "cluster" : "block",
         t->measured->all_clocks);
  if (ns > 0)
    printf(", %.0f ns, %.1f %% of a launch", ns, 100 * ns / entry_of(t, 0)->time.median_ns);
  printf("; events cover %.1f %% of the time of its warps\n", 100 * covered(t));
}

static PipelineSpan span_of(const Traced *t, const Timeline *timeline, int cols) {
  const double clocks = t->given->all ? timeline->clocks : pipeline_clocks_at_first(timeline);
  PipelineSpan span = {.cols = max_int(cols - PIPELINE_LABEL_COLS, 8)};
  span.scale = clocks > 0 ? clocks / span.cols : 1;
  return span;
}

static void print_picture(const Traced *t, const Timeline *timeline, PipelineSpan span) {
  const PipelineOwn nobody = {0};
  unsigned signs = 0;
  span.signs = &signs;
  const Lanes lanes = pipeline_lanes(t->arena, timeline, false, false);
  const int cols = PIPELINE_LABEL_COLS + span.cols;
  Canvas *canvas = canvas_new(t->arena, lanes.n + 1, cols, false);
  Rect in = {0, 0, lanes.n + 1, cols};
  pipeline_draw_axis(canvas, rect_take_top(&in, 1), timeline, span);
  for (int i = 0; i < lanes.n; i++)
    pipeline_draw_lane(canvas, rect_take_top(&in, 1), &nobody, &lanes, i, span);
  const int legend_rows = pipeline_legend_rows(signs, cols);
  Canvas *legend = canvas_new(t->arena, legend_rows, cols, false);
  pipeline_draw_legend(legend, (Rect){0, 0, legend_rows, cols}, signs);
  fputs(export_text(t->arena, canvas), stdout);
  fputs(export_text(t->arena, legend), stdout);
}

static void print_pictures(const Traced *t) {
  PipelineSpan span = span_of(t, t->measured, t->given->size.width);
  printf("measured: %.0f clk%s\n", t->measured->all_clocks,
         t->measured->full ? ", until the room for stamps was full" : "");
  print_picture(t, t->measured, span);
  if (t->given->all) span = span_of(t, t->estimated, t->given->size.width);
  printf("\nestimated, alone on its SM: %.0f clk\n", t->estimated->all_clocks);
  print_picture(t, t->estimated, span);
}

static void print_totals(const Traced *t) {
  printf("\n%4s  %-10s %17s %17s %17s  %s\n", "warp", "role", "clk       ns", "busy clk       ns",
         "waits clk       ns", "for (clk)");
  for (int warp = 0; warp < t->measured->n_warps; warp++) {
    const TimelineTotals totals = timeline_totals(t->arena, t->measured, warp);
    const char *role = timeline_role(t->measured, warp);
    if (t->measured->n_blocks > 1 && timeline_warp(t->measured, warp) == 0)
      printf("block %lld\n", (long long)t->result->block + timeline_rank(t->measured, warp));
    printf("%4d  %-10s %s %s %s ", timeline_warp(t->measured, warp), role ? role : "-",
           clocks_text(t, totals.clocks), clocks_text(t, totals.busy),
           clocks_text(t, totals.waiting));
    for (int i = 0; i < totals.n_waits; i++)
      printf("%s %s %.0f", i ? "," : "", timeline_waits_for(t->arena, totals.wait[i].first),
             totals.wait[i].clocks);
    putchar('\n');
  }
}

static void print_text(const Traced *t) {
  print_head(t);
  print_pictures(t);
  print_totals(t);
  print_block(t);
  printf("%lld ends of waits compared with their signals: %s\n", (long long)t->order.checked,
         t->order.broken ? arena_printf(t->arena, "%lld came too early", (long long)t->order.broken)
                         : "all came after it");
}

// ---- JSON ---------------------------------------------------------------------------------------

// One warp of what was measured, with its events.
typedef struct TracedWarp {
  int warp;
  const StampedWarp *stamped;
  TimelineTotals totals;
  int n_events;
  const TimelineEvent **event;
} TracedWarp;

typedef struct TraceShown {
  const Traced *t;
  int status;
  const char *error;
  TracedWarp *warp;  // of t->measured
} TraceShown;

#define FORM_FILE "cli/commands/forms/cmd_trace.form"
#include "base/form_make.h"

static TracedWarp warp_of(const Traced *t, int warp) {
  const Timeline *measured = t->measured;
  TracedWarp out = {.warp = warp,
                    .stamped = &t->result->warp[warp],
                    .totals = timeline_totals(t->arena, measured, warp),
                    .event = ARENA_ARRAY(t->arena, const TimelineEvent *, measured->n_events)};
  for (int i = 0; i < measured->n_events; i++)
    if (measured->event[i].warp == warp) out.event[out.n_events++] = &measured->event[i];
  return out;
}

static void print_json(const Traced *t, int status, const char *error) {
  const int n = t->measured ? t->measured->n_warps : 0;
  const TraceShown shown = {t, status, error, ARENA_ARRAY(t->arena, TracedWarp, n)};
  for (int i = 0; i < n; i++) shown.warp[i] = warp_of(t, i);
  cli_print_document(t->arena, &trace_form, &shown, &shown);
}

// ---- running ------------------------------------------------------------------------------------

static bool prepare(Traced *t, Diags *diags) {
  TargetTable *targets = ARENA_NEW(t->arena, TargetTable);
  Schedule schedule;
  if (!cli_schedule(t->given->state, &schedule, diags) || !cli_targets(t->arena, targets, diags))
    return false;
  cli_worker_take_device(t->worker, targets);
  cli_worker_set_target(t->worker, targets, &schedule);
  t->model = cli_model_of(t->arena, targets, &schedule, diags);
  if (!t->model) return false;
  t->emission = emit_traced(t->arena, t->model);
  t->traced = plan_traced(t->arena, t->model, t->emission, t->given->block);
  t->plain = plan_from_model(t->arena, t->model, "");
  const int64_t blocks = t->traced->kernels[t->model->program->main_kernel].grid[0];
  if (t->given->block < blocks) return true;
  diag_add(diags, "usage", "--block %d: there are blocks 0 to %lld", t->given->block,
           (long long)blocks - 1)
      ->nearest = arena_printf(t->arena, "%lld", (long long)blocks - 1);
  return false;
}

// All that a worker sends is held against the text before anything is read off it.
static bool take(Traced *t, const TraceResult *result, Diags *diags) {
  if (result->bench.n_entries != 2) {
    diag_add(diags, "stamps", "%d times came back; expected one with stamps and one without",
             result->bench.n_entries);
    return false;
  }
  t->result = result;
  t->measured = timeline_measured(t->arena, t->model->program, t->emission, result->warp,
                                  result->n_warps, diags);
  if (!t->measured) return false;
  t->order = timeline_check_order(t->arena, t->measured);
  t->estimated = timeline_run(t->arena, t->model, NULL, &(TimelineOptions){.whole = false});
  return true;
}

static int run(Traced *t, Diags *diags) {
  if (!prepare(t, diags)) return cli_fail(diags);
  const int missing = cli_worker_need_gpu(t->worker);
  if (missing) return missing;
  const ClientRequest request = {.kind = MESSAGE_TRACE, .plan = t->traced, .plan_b = t->plain};
  const WorkerAnswer *answer = cli_worker_submit(t->worker, &request, "trace");
  cli_worker_wait(t->worker, (WorkerAnswer *)answer);
  int status = answer->status;
  const char *error = answer->error;
  if (status == CLI_OK && !answer->trace) {
    status = CLI_BENCH;
    error = "no trace came back";
  } else if (status == CLI_OK && !take(t, answer->trace, diags)) {
    status = CLI_BENCH;
    error = diags_text(t->arena, diags);
  } else if (status == CLI_OK && t->order.broken) {
    status = CLI_BENCH;
    error = "the stamps contradict the order of the barriers";
  }
  if (t->given->json)
    print_json(t, status, error);
  else if (t->measured)
    print_text(t);
  return error ? cli_error(status, "%s", error) : status;
}

int cmd_trace(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  TraceGiven given = {.size = {100, 24}};
  if (options_parse(options, N_OPTIONS, &given, &argc, argv, &diags) && argc > 1)
    diag_add(&diags, "usage", "trace takes no argument \"%s\"; give a state with -k",
             str_sanitise(arena, argv[1]));
  Schedule unused;
  cli_schedule(given.state, &unused, &diags);
  if (diags.count) return cli_fail(&diags);
  Traced traced = {.arena = arena, .given = &given};
  traced.worker = cli_worker_open(arena, &given.worker, false, &diags);
  if (!traced.worker) return cli_fail(&diags);
  const int status = run(&traced, &diags);
  cli_worker_close(traced.worker);
  return status;
}
