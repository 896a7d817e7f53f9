// Time without values: the same events as the interpreter sees, in the same order, over all rungs;
// what is left out of a long loop; who waits for ever; how long it takes.
#include "model/readings/time/timeline.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/embed.h"
#include "base/str.h"
#include "model/interp/breakage.h"
#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/random_schedule.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "stress.h"

Suite *suite_timeline(void);

enum { WORK_MAX = 1 << 19, LOG_MAX = 1 << 20, WARPS_MAX = 32 };

// ---- what the interpreter sees ------------------------------------------------------------------

// An event that orders, or asks for a box: who, where, at which mbarrier, in which phase.
typedef struct Mark {
  int warp, stmt, at;
  const Buffer *mbarrier;
  uint32_t phase;
  bool is_box;
} Mark;

typedef struct Log {
  int n, n_warps, n_stmts;
  Mark *mark;
  const Mark *latest[WARPS_MAX];
  int64_t *count;  // [warp][stmt] executions of moves and multiplies
  uint32_t phases[BUFFERS_MAX][64];
} Log;

static bool is_register(const Buffer *buffer) { return !buffer || buffer->space == SPACE_REGISTER; }

// What moves from registers to registers is no event.
static bool is_work(const Op *op) {
  const OpAction action = op_facts(op->kind)->action;
  if (action == ACTION_MOVE) return !is_register(op->dst.buffer) || !is_register(op->src.buffer);
  return action == ACTION_MULTIPLY || action == ACTION_POWER;
}

// Registers are set, scaled and combined without an event; so are the single copies of a group.
static bool is_marked(const Op *op) {
  const bool of_rows = op->dst.buffer && is_register(op->dst.buffer) && is_register(op->src.buffer);
  if (of_rows && !is_work(op)) return false;
  const OpAction action = op_facts(op->kind)->action;
  if (action == ACTION_SET) return op->dst.buffer->space == SPACE_BARRIER;
  if (action == ACTION_ADD || action == ACTION_SCALE) return false;
  return !is_work(op) || op_facts(op->kind)->completes == COMPLETES_BY_MBARRIER;
}

// Boxes of one statement that a warp asks for one after the other are one event.
static void add_mark(Log *log, Mark mark) {
  ck_assert_int_lt(log->n, LOG_MAX);
  const Mark *last = log->latest[mark.warp];
  bool again = last && last->stmt == mark.stmt && last->at == mark.at;
  if (mark.is_box && again) return;
  log->latest[mark.warp] = &log->mark[log->n];
  log->mark[log->n++] = mark;
}

static void see(void *context, const InterpSeen *seen) {
  Log *log = context;
  const Op *op = &seen->stmt->op;
  if (seen->mbarrier) log->phases[seen->mbarrier->id][seen->at] = seen->phase;
  if (seen->warp < 0) return;
  if (is_work(op)) log->count[seen->warp * log->n_stmts + seen->stmt->id]++;
  if (is_marked(op))
    add_mark(log, (Mark){seen->warp, seen->stmt->id, seen->at, seen->mbarrier, seen->phase,
                         is_work(op)});
}

static Log new_log(const Program *program) {
  Launch launch = kernel_launch(program_main(program));
  Log log = {.n_warps = launch_block_warps(&launch), .n_stmts = program->n_stmt_ids};
  log.mark = ARENA_ARRAY(property_arena, Mark, LOG_MAX);
  log.count = ARENA_ARRAY(property_arena, int64_t, log.n_warps * log.n_stmts);
  return log;
}

static Log log_interpreter(const Program *program, InterpAsync async, const InterpResult **result) {
  Log log = new_log(program);
  InterpWatch watch = {program->main_kernel, 0, see, &log};
  const Launch launch = kernel_launch(program_main(program));
  // As many blocks as the GPU holds: of these small problems, one for each tile.
  InterpOptions options = {
      .seed = 3, .async = async, .watch = &watch, .grid = launch.n_blocks / launch.cluster};
  *result = interpret(property_arena, program, &options);
  return log;
}

// ---- what the run without values sees -----------------------------------------------------------

static int by_order(const void *a, const void *b) {
  return ((const TimelineEvent *)a)->order - ((const TimelineEvent *)b)->order;
}

static Log log_timeline(const Timeline *timeline) {
  Log log = new_log(timeline->program);
  size_t n = (size_t)timeline->n_events;
  TimelineEvent *event = ARENA_ARRAY(property_arena, TimelineEvent, n);
  memcpy(event, timeline->event, n * sizeof *event);
  qsort(event, n, sizeof *event, by_order);
  for (size_t i = 0; i < n; i++) {
    const TimelineEvent *e = &event[i];
    if (e->stuck) continue;
    if (is_work(&e->stmt->op)) log.count[e->warp * log.n_stmts + e->stmt->id] += e->count;
    if (is_marked(&e->stmt->op))
      add_mark(&log, (Mark){e->warp, e->stmt->id, e->bar.at, e->bar.buffer, e->bar.phase,
                            is_work(&e->stmt->op)});
  }
  for (int i = 0; i < timeline->n_phases; i++)
    log.phases[timeline->phase[i].buffer->id][timeline->phase[i].at] = timeline->phase[i].phase + 1;
  return log;
}

// ---- the comparison -----------------------------------------------------------------------------

// The next mark of a warp from `at` on; -1: there is none.
static int next_of(const Log *log, int warp, int at) {
  while (at < log->n && log->mark[at].warp != warp) at++;
  return at < log->n ? at : -1;
}

static void same_order(const char *name, const Log *a, const Log *b) {
  for (int w = 0; w < a->n_warps; w++) {
    int i = next_of(a, w, 0), j = next_of(b, w, 0), n = 0;
    for (; i >= 0 && j >= 0; n++) {
      const Mark *x = &a->mark[i], *y = &b->mark[j];
      ck_assert_msg(x->stmt == y->stmt && x->mbarrier == y->mbarrier && x->at == y->at,
                    "%s: warp %d, event %d: stmt %d at %d, and stmt %d at %d", name, w, n, x->stmt,
                    x->at, y->stmt, y->at);
      i = next_of(a, w, i + 1);
      j = next_of(b, w, j + 1);
    }
    ck_assert_msg(i < 0 && j < 0, "%s: warp %d has more events than %d", name, w, n);
  }
}

// Other blocks of a cluster end a phase of this one's unseen, when no event of its own follows.
static void same_counts(const char *name, const Log *a, const Log *b, bool cluster) {
  for (int w = 0; w < a->n_warps; w++)
    for (int s = 0; s < a->n_stmts; s++)
      ck_assert_msg(a->count[w * a->n_stmts + s] == b->count[w * a->n_stmts + s],
                    "%s: warp %d executes stmt %d %lld times, and %lld", name, w, s,
                    (long long)a->count[w * a->n_stmts + s],
                    (long long)b->count[w * a->n_stmts + s]);
  for (int i = 0; i < BUFFERS_MAX; i++)
    for (int at = 0; at < 64; at++)
      ck_assert_msg(a->phases[i][at] == b->phases[i][at] ||
                        (cluster && a->phases[i][at] + 1 == b->phases[i][at]),
                    "%s: %u and %u phases of mbarrier %d[%d]", name, a->phases[i][at],
                    b->phases[i][at], i, at);
}

// The wait for a phase is over when it has ended, no sooner.
static void waits_are_behind(const char *name, const Timeline *timeline) {
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->kind != TIMELINE_WAIT || !e->bar.buffer || e->bar.phase == 0 || e->stuck) continue;
    for (int p = 0; p < timeline->n_phases; p++) {
      const TimelinePhase *phase = &timeline->phase[p];
      if (phase->buffer != e->bar.buffer || phase->at != e->bar.at) continue;
      if (phase->phase + 1 == e->bar.phase)
        ck_assert_msg(e->end >= phase->end, "%s: %s[%d]", name, phase->buffer->name, phase->at);
    }
  }
}

static const Model *small_model(const Schedule *schedule) {
  Schedule small = schedule_reduce(property_arena, &property_targets, schedule, WORK_MAX);
  const Model *model = model_build(property_arena, &property_targets, &small);
  ck_assert_msg(model->ok, "%s", diags_text(property_arena, (Diags *)(uintptr_t)&model->diags));
  return model;
}

static void compare(const char *name, const Schedule *schedule) {
  const Model *model = small_model(schedule);
  const Timeline *timeline =
      timeline_run(property_arena, model, NULL, &(TimelineOptions){.whole = true});
  ck_assert_msg(!timeline->full && timeline->n_stuck == 0, "%s", name);
  Log mine = log_timeline(timeline);
  for (int async = 0; async < 2; async++) {
    const InterpResult *result;
    Log his = log_interpreter(model->program, (InterpAsync)async, &result);
    ck_assert_msg(result->finished, "%s", name);
    same_order(name, &his, &mine);
    same_counts(name, &his, &mine, kernel_launch(program_main(model->program)).cluster > 1);
  }
  waits_are_behind(name, timeline);
}

// Each sixth kind of rung, in `make stress` all of them.
START_TEST(sees_what_the_interpreter_sees) {
  EmbeddedList list = embed_list(property_data, "ladders/");
  int n_kinds = 0;
  Seen *kinds = NULL;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++) {
      if (ladder->rung[r].not_built || !property_is_new_kind(&kinds, &ladder->rung[r])) continue;
      if (!stress_has_turn(n_kinds++, 6)) continue;
      compare(ladder->rung[r].name, &ladder->rung[r].schedule);
      arena_reset(property_arena);
    }
  }
}
END_TEST

// ---- warpgroups ---------------------------------------------------------------------------------

static const char *const of_groups[][2] = {{"hopper", "consumers"},       {"hopper", "gpc"},
                                           {"hopper", "pingpong"},        {"hopper", "a_registers"},
                                           {"attention", "three_groups"}, {"attention", "overlap"}};

// The wgmma of a warp that follows event `at`; NULL: there is none.
static const TimelineEvent *next_product(const Timeline *timeline, int warp, int *at) {
  while (++*at < timeline->n_events) {
    const TimelineEvent *e = &timeline->event[*at];
    if (e->warp == warp && e->kind == TIMELINE_MULTIPLY) return e;
  }
  return NULL;
}

// How many wgmma the warp carries out, all of them together with the first warp of its warpgroup.
static int products_together(const Timeline *timeline, int warp) {
  int at = -1, first_at = -1, n = 0;
  for (;; n++) {
    const TimelineEvent *e = next_product(timeline, warp, &at);
    const TimelineEvent *first = next_product(timeline, warp - warp % 4, &first_at);
    if (!e && !first) return n;
    ck_assert_msg(e && first && e->stmt == first->stmt && e->slab == first->slab &&
                      e->begin == first->begin && e->end == first->end && e->busy == first->busy,
                  "warp %d, product %d", warp, n);
  }
}

START_TEST(a_warpgroup_multiplies_together) {
  const Model *model = property_rung(of_groups[_i][0], of_groups[_i][1], "");
  const Timeline *timeline = timeline_run(property_arena, model, NULL, &(TimelineOptions){0});
  ck_assert_int_eq(timeline->n_warps % 4, 0);
  int n = 0;
  for (int w = 0; w < timeline->n_warps; w++) n += products_together(timeline, w);
  ck_assert_int_gt(n, 4 * 8);
}
END_TEST

// ---- breakages ----------------------------------------------------------------------------------

#define ROLES                                                                                \
  "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=4,BK=2,STAGE=11,TMA=1,LDMATRIX=1,SWIZZLE=2," \
  "BUFFER_COUNT=3,WARP_SPECIALIZE=1,FRAG_BUFFER=2"

static const BreakageId deadlocks[] = {BREAK_MORE_BYTES, BREAK_ARRIVE, BREAK_MORE_ARRIVALS};
enum { DEADLOCKS = sizeof deadlocks / sizeof *deadlocks };

static bool must_end_in_one(BreakageId id) {
  for (int i = 0; i < DEADLOCKS; i++)
    if (deadlocks[i] == id) return true;
  return false;
}

// Who waits for ever without values waits for ever with them too. The other way round it depends on
// who is fast, but for faults after which nobody can go on.
START_TEST(the_same_breakages_end_in_a_deadlock) {
  Schedule schedule = property_read_state(ROLES);
  for (int b = 0; b < BREAK_COUNT; b++, arena_reset(property_arena)) {
    const char *name = breakage_name((BreakageId)b);
    const Model *model = small_model(&schedule);
    const Program *broken = program_break(property_arena, model->program, (BreakageId)b);
    ck_assert(broken || !must_end_in_one((BreakageId)b));
    if (!broken) continue;
    const InterpResult *result;
    log_interpreter(broken, INTERP_LATE, &result);
    const Timeline *timeline =
        timeline_run(property_arena, model, broken, &(TimelineOptions){.whole = true});
    if (timeline->n_stuck) ck_assert_msg(!result->finished, "%s", name);
    if (must_end_in_one((BreakageId)b)) ck_assert_msg(timeline->n_stuck > 0, "%s", name);
  }
}
END_TEST

// ---- what is left out ---------------------------------------------------------------------------

// Whoever multiplies has a turn less than who fetches: its first scores stand in front of the loop.
#define OVERLAP                                                                                   \
  "PROGRAM=attention,HEADS=1,M=128,K=128,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,WM=2,FUSE=1," \
  "STAGE=11,SWIZZLE=3,TMA=1,WARP_SPECIALIZE=1,MMA_GROUPS=1,"

static const char *const long_loops[] = {
    ROLES ",K=4096",
    "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1,LDMATRIX=1,"
    "SWIZZLE=3,BUFFER_COUNT=3,PIPELINE_STAGES=1,FRAG_BUFFER=2,K=4096",
    "BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,VECTORIZE=1,K=2048",
    "BM=16,BN=16,K=512",
    "BM=8,BN=32,FM=26,FN=4,BK=32,TMA=1,STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=1,K=2048",
    OVERLAP "N=4096,BUFFER_COUNT=2",
    OVERLAP "N=5120,BUFFER_COUNT=3",
    "ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,BK=4,STAGE=11,SWIZZLE=3,TMA=1,"
    "BUFFER_COUNT=3,WARP_SPECIALIZE=1,CLUSTER_M=2,CTA_GROUP=2,EPILOGUE=1,TMA_STORE=1,K=4096",
};

START_TEST(the_end_is_where_it_is_with_nothing_left_out) {
  Schedule schedule = property_read_state(long_loops[_i]);
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert(model->ok);
  const Timeline *cut = timeline_run(property_arena, model, NULL, &(TimelineOptions){0});
  const Timeline *whole =
      timeline_run(property_arena, model, NULL, &(TimelineOptions){.whole = true});
  ck_assert_int_eq(cut->n_cuts, 1);
  ck_assert_int_eq(whole->n_cuts, 0);
  ck_assert_int_eq(cut->n_stuck, 0);
  ck_assert_msg(fabs(cut->all_clocks / whole->all_clocks - 1) < 0.02, "%s: %g and %g clocks",
                long_loops[_i], cut->all_clocks, whole->all_clocks);
}
END_TEST

// Of persistent blocks slabs and tiles are left out, and where tiles are short these alone.
#define TILES                                                                                     \
  "M=16384,N=8192,ATOM_KIND=wgmma_m64n256k16_bf16,WM=2,ATOM_N=256,BK=4,STAGE=11,TMA=1,SWIZZLE=3," \
  "WARP_SPECIALIZE=1,PERSISTENT=1,MMA_GROUPS=1,CLUSTER_M=2,MULTICAST=1,"
static const char *const long_lists[] = {
    TILES "BUFFER_COUNT=4,K=2048",
    TILES "BUFFER_COUNT=4,K=2112,EPILOGUE=1,TMA_STORE=1,STMATRIX=1",
    TILES "BUFFER_COUNT=4,K=2048,EPILOGUE=1,TMA_STORE=1,SERPENTINE_K=1,TILE_ORDER=gpc",
    TILES "BUFFER_COUNT=3,K=2048,GROUP_M=8",
    TILES "BUFFER_COUNT=4,K=192,EPILOGUE=1,TMA_STORE=1",
    TILES "BUFFER_COUNT=4,K=128",
};

enum { N_LISTS = sizeof long_lists / sizeof *long_lists };

START_TEST(lists_of_tiles_end_where_they_do_with_nothing_left_out) {
  enum { EVENTS_MOST = 1 << 14 };
  Schedule schedule = property_read_state(long_lists[_i]);
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s", diags_text(property_arena, &model->diags));
  const Timeline *cut = timeline_run(property_arena, model, NULL, &(TimelineOptions){0});
  const Timeline *whole =
      timeline_run(property_arena, model, NULL, &(TimelineOptions){.whole = true});
  ck_assert(!whole->full);
  ck_assert_int_ge(cut->n_cuts, 1);
  ck_assert_int_lt(cut->n_events, EVENTS_MOST);
  ck_assert_msg(fabs(cut->all_clocks / whole->all_clocks - 1) < 0.02, "%s: %g and %g clocks",
                long_lists[_i], cut->all_clocks, whole->all_clocks);
}
END_TEST

START_TEST(no_size_makes_it_slow) {
  static const int sizes[] = {4096, 65536};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    Schedule schedule = property_read_state(long_loops[_i]);
    schedule_resize(&schedule, sizes[i], sizes[i], sizes[i]);
    const Model *model = model_build(property_arena, &property_targets, &schedule);
    ck_assert(model->ok);
    const Timeline *timeline = timeline_run(property_arena, model, NULL, &(TimelineOptions){0});
    ck_assert_int_lt(timeline->n_events, 1 << 14);
  }
}
END_TEST

// How many of those drawn leave turns out; none leaves anybody waiting.
static int draw_cuts(int n, const char *target, const RandomLimits *limits) {
  uint64_t seed = property_seed();
  int n_cut = 0;
  for (int i = 0; i < n; i++, arena_reset(property_arena)) {
    Schedule schedule =
        schedule_random(property_arena, &property_targets, target, limits, &seed, NULL);
    schedule_set(&schedule, KNOB_K, 64 * schedule_tile(&schedule, KNOB_K));
    const Model *model = model_build(property_arena, &property_targets, &schedule);
    if (!model->ok) continue;
    const Timeline *timeline = timeline_run(property_arena, model, NULL, &(TimelineOptions){0});
    ck_assert_msg(timeline->n_stuck == 0 && !timeline->full, "%s",
                  schedule_text(property_arena, &schedule));
    n_cut += timeline->n_cuts == 1;
  }
  return n_cut;
}

// Whatever is drawn ends, with nobody left waiting, and its turns say how long it takes.
START_TEST(random_schedules_end) {
  const int n = stress_part(300, 9), of_tensor_memory = stress_part(80, 9);
  const RandomLimits any = {.extent_max = 256, .fma_max = 1 << 24};
  const RandomLimits tensor = {.extent_max = 512, .fma_max = 1 << 24, .family = RANDOM_BLACKWELL};
  ck_assert_int_gt(draw_cuts(n, "h200", &any), n / 3);
  ck_assert_int_gt(draw_cuts(of_tensor_memory, "b200", &tensor), of_tensor_memory / 4);
}
END_TEST

Suite *suite_timeline(void) {
  enum { N_LONG = sizeof long_loops / sizeof *long_loops };
  enum { N_GROUPS = sizeof of_groups / sizeof *of_groups };
  Suite *suite = suite_create("timeline");
  TCase *tests = tcase_create("timeline");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_set_timeout(tests, 300);
  tcase_add_test(tests, sees_what_the_interpreter_sees);
  tcase_add_loop_test(tests, a_warpgroup_multiplies_together, 0, N_GROUPS);
  tcase_add_test(tests, the_same_breakages_end_in_a_deadlock);
  tcase_add_test(tests, random_schedules_end);
  stress_add_turns(tests, the_end_is_where_it_is_with_nothing_left_out, N_LONG, 6);
  stress_add_turns(tests, lists_of_tiles_end_where_they_do_with_nothing_left_out, N_LISTS, 6);
  tcase_add_loop_test(tests, no_size_makes_it_slow, 0, N_LONG);
  suite_add_tcase(suite, tests);
  return suite;
}
