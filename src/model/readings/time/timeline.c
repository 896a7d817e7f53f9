// The run without values: the warps of a block, the units that they share, and time.
//
// The warp that is furthest behind goes on, so units are asked in the order of time. A unit serves
// one after the other: what it is asked for begins when the warp has asked and the unit is free. A
// warp that needs a value waits for it (the registers of a fragment, by the set that it reads); one
// at an mbarrier, at a barrier or before registers sleeps until another lets it go on; the warps of
// a warpgroup stand at a product of theirs until all have come. A box of TMA lands at its own time
// and then counts at its mbarrier.
//
// Worked example, a ring of two slabs with roles: the producer asks for slabs 0 and 1 and sleeps
// before empty[0]; at clock 900 slab 0 lands and a phase of full[0] ends; the consumers read and
// multiply until 1,400, arrive at empty[0], and the producer goes on at 1,400 + 34.
//
// If no warp can go on and nothing is under way, all that sleep wait for ever: their waits are
// events that are `stuck`.
#include "model/readings/time/timeline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/stmt.h"
#include "model/readings/time/timeline_machine.h"

// ---- environments -------------------------------------------------------------------------------

static void set_var(TimeWarp *w, const Var *var, int64_t value) {
  w->scalar[var->id] = value;
  lanes_set_all(w->lanes, var, value);
}

static uint32_t lanes_that(const TimeWarp *w, const Expr *condition) {
  int64_t holds[LANES];
  uint32_t mask = 0;
  expr_eval_warp(condition, w->lanes, holds);
  for (int i = 0; i < LANES; i++) mask |= (uint32_t)(holds[i] != 0) << i;
  return mask;
}

static void run_let(TimeWarp *w, const TimeCode *code) {
  const Var *var = code->stmt->var;
  if (!code->by_lane) {
    set_var(w, var, expr_eval(code->stmt->expr, w->scalar));
    return;
  }
  lanes_let(w->lanes, code->stmt);
  w->scalar[var->id] = w->lanes[(ptrdiff_t)var->id * LANES];
}

static void run_if(TimeWarp *w, const TimeCode *code) {
  assert(w->depth < TIME_DEPTH_MAX);
  w->saved[w->depth++] = w->active;
  if (code->by_lane)
    w->active &= lanes_that(w, code->stmt->expr);
  else if (!expr_eval(code->stmt->expr, w->scalar))
    w->active = 0;
  if (!w->active) w->pc = code->jump;
}

// ---- loops, and what is left out of them --------------------------------------------------------

// The first warp that multiplies says when the turns of a loop begin: with what was left out of the
// loops in it, for the turns of a loop over tiles are as long as that.
static void note_turn(TimeMachine *m, const TimeWarp *w, const TimeCode *code, int64_t turn) {
  const WarpRole *multiplies = kernel_role(program_main(m->code->program), WORK_MULTIPLIES);
  int first = multiplies ? (int)(multiplies->first_thread / LANES) : 0;
  if (w->index != first || !code->skip || turn > code->head) return;
  Timeline *out = m->out;
  const bool tiles = code->stmt->var->tier == TIER_TILE;
  double *turn_at = tiles ? m->tile_at : m->turn_at;
  turn_at[turn] = timeline_clock(out, w->clock);
  if (turn < code->head || out->n_cuts == TIMELINE_CUTS_MAX) return;
  const int64_t half = code->head / 2;
  const int64_t period = tiles ? half : min64(code->turns - code->head, half);
  double late = (turn_at[turn] - turn_at[turn - period]) / (double)period;
  double early = (turn_at[turn - period] - turn_at[turn - 2 * period]) / (double)period;
  if (out->turn_clocks == 0 || !tiles) out->turn_clocks = late;
  out->cut[out->n_cuts++] = (TimelineCut){.at = w->clock,
                                          .clocks = late * (double)code->skip,
                                          .turns = code->skip,
                                          .var = code->stmt->var,
                                          .repeats = fabs(late - early) <= 0.02 * late};
}

static void begin_turn(TimeMachine *m, TimeWarp *w, const TimeCode *code, int64_t turn) {
  note_turn(m, w, code, turn);
  int64_t at = turn < code->head ? turn : turn + w->cut[code->first].skip;
  set_var(w, code->stmt->var, code->stmt->var->tier == TIER_TILE ? at * m->code->grid : at);
}

// A loop that says where it ends may have fewer turns than its variable's range. Where it can it
// leaves out the same number as the others: one that has asked for its first scores in front of the
// loop has a turn less than the one that fetches for it, and both have to jump by the same slabs.
static TurnCut cut_of(const TimeMachine *m, const TimeWarp *w, const TimeCode *code) {
  TurnCut cut = {code->turns, code->skip};
  if (!code->stmt->end) return cut;
  int64_t all = expr_eval(code->stmt->end, w->scalar);
  if (code->stmt->var->tier == TIER_TILE) all = ceil_div(all, m->code->grid);
  int64_t over = all - code->turns;
  if (all - code->skip <= code->head)
    cut.skip = over > 0 ? over / m->code->comes_back * m->code->comes_back : 0;
  cut.turns = all - cut.skip;
  return cut;
}

static void run_loop(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  w->cut[code->first] = cut_of(m, w, code);
  if (w->cut[code->first].turns <= 0) {
    w->pc = code->jump;
    return;
  }
  w->turn[code->first] = 0;
  begin_turn(m, w, code, 0);
}

static void run_next(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  int64_t turn = ++w->turn[code->first];
  if (turn >= w->cut[code->first].turns) return;
  begin_turn(m, w, code, turn);
  w->pc = code->jump;
}

// ---- one statement ------------------------------------------------------------------------------

static void run_op(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const Op *op = &code->stmt->op;
  switch (op_facts(op->kind)->action) {
    case ACTION_MOVE:
      time_run_move(m, w, code);
      break;
    case ACTION_MULTIPLY:
      time_run_multiply(m, w, code);
      break;
    case ACTION_ADD:
    case ACTION_SCALE:
    case ACTION_LARGER:
    case ACTION_FACTOR:
    case ACTION_COMBINE:
      time_run_add(m, w, code);
      break;
    case ACTION_POWER:
      time_run_power(m, w, code);
      break;
    case ACTION_SET:
      if (op->dst.buffer->space == SPACE_BARRIER)
        time_run_init(m, w, code->stmt);
      else
        w->clock += (double)code->count;
      break;
    default:
      time_run_order(m, w, code);
  }
}

static void step(TimeMachine *m, TimeWarp *w) {
  const TimeCode *code = &m->code->code[w->pc++];
  switch (code->kind) {
    case TIME_OP:
      run_op(m, w, code);
      break;
    case TIME_LET:
      run_let(w, code);
      break;
    case TIME_LOOP:
      run_loop(m, w, code);
      break;
    case TIME_NEXT:
      run_next(m, w, code);
      break;
    case TIME_IF:
      run_if(w, code);
      break;
    case TIME_FI:
      w->active = w->saved[--w->depth];
      break;
    case TIME_EXIT:
      w->state = TIME_DONE;
      break;
  }
}

// ---- the block ----------------------------------------------------------------------------------

static void start_warp(TimeMachine *m, int index) {
  const Program *program = m->code->program;
  const Kernel *kernel = program_main(program);
  TimeWarp *w = &m->warp[index];
  bool active[LANES];
  w->index = index;
  w->rank = index / m->block_warps;
  w->asleep_at = -1;
  w->lanes = ARENA_ARRAY(m->arena, int64_t, (size_t)program->n_vars * LANES);
  w->scalar = ARENA_ARRAY(m->arena, int64_t, program->n_vars);
  w->turn = ARENA_ARRAY(m->arena, int64_t, m->code->n_codes);
  w->cut = ARENA_ARRAY(m->arena, TurnCut, m->code->n_codes);
  w->event = ARENA_ARRAY(m->arena, int, program->n_stmt_ids);
  lanes_enter(program, &m->code->launch, w->rank, index % m->block_warps, w->lanes, active);
  for (int i = 0; i < LANES; i++) w->active |= (uint32_t)active[i] << i;
  lanes_enter_grid(program, &m->code->launch, m->code->grid, w->lanes);
  for (int i = 0; i < program->n_vars; i++) w->scalar[i] = w->lanes[(ptrdiff_t)i * LANES];
  memset(w->slab, -1, sizeof w->slab);
  w->registers = program_start_registers(m->code->launch.block_threads, kernel->min_blocks);
}

// A pair multiplies together where a product says so.
static bool is_of_pair(const TimeProgram *code) {
  for (int i = 0; i < code->n_codes; i++)
    if (code->code[i].kind == TIME_OP && op_multiplies(code->code[i].stmt->op.kind) &&
        code->code[i].stmt->op.cta_group > 1)
      return true;
  return false;
}

static void start_block(TimeMachine *m, TimeBlock *block) {
  const Program *program = m->code->program;
  memset(block->slab, -1, sizeof block->slab);
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (buffer->space == SPACE_BARRIER)
      block->bar[buffer->id] = ARENA_ARRAY(m->arena, TimeBar, buffer->dim[0]);
  }
}

static void start_blocks(TimeMachine *m, bool pair) {
  m->n_blocks = pair && m->code->launch.cluster == TIME_BLOCKS_MAX && is_of_pair(m->code) ? 2 : 1;
  m->block_warps = min_int(launch_block_warps(&m->code->launch), TIME_WARPS_MAX);
  m->n_warps = m->n_blocks * m->block_warps;
  m->warp = ARENA_ARRAY(m->arena, TimeWarp, m->n_warps);
  for (int i = 0; i < m->n_warps; i++) start_warp(m, i);
  for (int i = 0; i < m->n_blocks; i++) start_block(m, &m->block[i]);
  time_find_rings(m);
  int64_t turns = 0;
  for (int i = 0; i < m->code->n_codes; i++) turns = max64(turns, m->code->code[i].head);
  m->turn_at = ARENA_ARRAY(m->arena, double, turns + 1);
  m->tile_at = ARENA_ARRAY(m->arena, double, turns + 1);
}

// The warp that is furthest behind, and how far the others are; NULL: none can go on.
static TimeWarp *next_warp(TimeMachine *m, double *others) {
  TimeWarp *first = NULL;
  *others = INFINITY;
  for (int i = 0; i < m->n_warps; i++) {
    TimeWarp *w = &m->warp[i];
    if (w->state != TIME_READY) continue;
    if (first && w->clock >= first->clock) {
      *others = fmin(*others, w->clock);
      continue;
    }
    if (first) *others = first->clock;
    first = w;
  }
  return first;
}

static int next_box(const TimeMachine *m) {
  int first = -1;
  for (int i = 0; i < m->n_boxes; i++)
    if (first < 0 || m->box[i].lands < m->box[first].lands) first = i;
  return first;
}

// A whole run ends where there is no room for what happens.
static void run_block(TimeMachine *m) {
  while (!m->code->whole || !m->out->full) {
    double others, until;
    TimeWarp *w = next_warp(m, &others);
    int box = next_box(m);
    if (!w && box < 0) return;
    if (!w || (box >= 0 && m->box[box].lands <= w->clock)) {
      time_land(m, box);
      continue;
    }
    int n_boxes = m->n_boxes;
    until = box >= 0 ? fmin(others, m->box[box].lands) : others;
    m->woke = false;
    do step(m, w);
    while (w->state == TIME_READY && w->clock <= until && !m->woke && m->n_boxes == n_boxes);
  }
}

// ---- the result ---------------------------------------------------------------------------------

// Tells what the warps that will never go on wait for.
static void end_stuck(TimeMachine *m, double end) {
  for (int i = 0; i < m->n_warps; i++) {
    TimeWarp *w = &m->warp[i];
    if (w->state == TIME_DONE) continue;
    const bool meets = w->state == TIME_AT_BARRIER, sleeps = w->state == TIME_ASLEEP;
    const Stmt *stmt = m->code->code[sleeps ? w->pc : w->pc - 1].stmt;
    if (sleeps) w->clock = w->asleep_at;
    TimelineEvent *event = time_new_order(m, w, stmt, meets ? TIMELINE_MEET : TIMELINE_WAIT);
    event->end = fmax(end, event->begin);
    event->stuck = true;
    m->out->n_stuck++;
    if (!stmt->op.dst.buffer || stmt->op.dst.buffer->space != SPACE_BARRIER) continue;
    int at = time_bar_at(w, &stmt->op.dst);
    time_set_bar(event, stmt->op.dst.buffer, at, w->rank,
                 time_bar(m, w->rank, stmt->op.dst.buffer, at));
    if (stmt->op.phase) event->phase = expr_eval(stmt->op.phase, w->scalar);
  }
}

static int by_begin(const void *a, const void *b) {
  const TimelineEvent *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return x->order - y->order;
}

// A slab that was asked for before the cut is used behind it, and the other way round: each event
// and each hold says the slab that would be there at its clock.
static void number_slab(int64_t *slab, double begin, const TimelineCut *cut, int64_t head) {
  if (*slab < 0) return;
  const bool early = *slab < head + cut->turns;
  if (begin < cut->at && !early) *slab -= cut->turns;
  if (begin >= cut->at && early) *slab += cut->turns;
}

static void number_slabs(const TimeMachine *m) {
  Timeline *out = m->out;
  if (out->n_cuts != 1) return;
  const TimelineCut *cut = &out->cut[0];
  int64_t head = 0;
  for (int i = 0; i < m->code->n_codes; i++)
    head = max64(head, m->code->code[i].skip ? m->code->code[i].head : 0);
  for (int i = 0; i < out->n_events; i++)
    number_slab(&m->event[i].slab, m->event[i].begin, cut, head);
  for (int i = 0; i < out->n_holds; i++) number_slab(&m->hold[i].slab, m->hold[i].asked, cut, head);
}

// A block has more tiles where fewer blocks fit on an SM: whole times of two schedules then tell
// nothing about each other.
static int64_t tiles_of_block(const TimeProgram *code) {
  for (int i = 0; i < code->n_codes; i++) {
    const TimeCode *at = &code->code[i];
    if (at->kind == TIME_LOOP && at->stmt->var->tier == TIER_TILE) return at->turns + at->skip;
  }
  return 1;
}

const Timeline *timeline_run(Arena *arena, const Model *model, const Program *program,
                             const TimelineOptions *options) {
  if (!program) program = model->program;
  TimeMachine *m = ARENA_NEW(arena, TimeMachine);
  m->arena = arena;
  m->out = ARENA_NEW(arena, Timeline);
  m->code = timeline_compile(arena, model, program, options->whole);
  start_blocks(m, options->pair);
  run_block(m);
  Timeline *out = m->out;
  out->program = program;
  out->n_blocks = m->n_blocks;
  out->n_warps = m->n_warps;
  for (int i = 0; i < out->n_events; i++) out->clocks = fmax(out->clocks, m->event[i].end);
  if (!out->full || !options->whole) end_stuck(m, out->clocks);
  number_slabs(m);
  time_end_holds(m);
  qsort(m->event, (size_t)out->n_events, sizeof *m->event, by_begin);
  out->event = m->event;
  out->phase = m->phase;
  out->all_clocks = timeline_clock(out, out->clocks);
  if (options->whole) out->turn_clocks = timeline_slab_clocks(out);
  out->n_tiles = tiles_of_block(m->code);
  out->origin = timeline_origin(arena, model);
  return out;
}

double timeline_clock(const Timeline *timeline, double clock) {
  double out = clock;
  for (int i = 0; i < timeline->n_cuts; i++)
    if (clock > timeline->cut[i].at) out += timeline->cut[i].clocks;
  return out;
}

double timeline_slab_clocks(const Timeline *timeline) {
  const TimelineEvent *first = NULL, *last = NULL;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->kind != TIMELINE_MULTIPLY || e->slab < 0) continue;
    if (!first) first = last = e;
    if (e->warp != first->warp || e->stmt != first->stmt) continue;
    if (e->slab < last->slab) break;
    last = e;
  }
  return first && last->slab > first->slab
             ? (last->begin - first->begin) / (double)(last->slab - first->slab)
             : 0;
}

int timeline_rank(const Timeline *timeline, int warp) {
  return warp / (timeline->n_warps / timeline->n_blocks);
}

int timeline_warp(const Timeline *timeline, int warp) {
  return warp % (timeline->n_warps / timeline->n_blocks);
}

const char *timeline_role(const Timeline *timeline, int warp) {
  const Kernel *kernel = program_main(timeline->program);
  for (int i = 0; i < kernel->n_roles; i++) {
    const WarpRole *role = kernel->role[i];
    int64_t thread = (int64_t)timeline_warp(timeline, warp) * LANES;
    if (thread >= role->first_thread && thread < role->first_thread + role->n_threads)
      return role->name;
  }
  return NULL;
}

const char *timeline_waits_for(Arena *arena, const TimelineEvent *event) {
  const Op *op = &event->stmt->op;
  if (event->kind == TIMELINE_MEET)
    return op->threads ? arena_printf(arena, "%lld threads", (long long)op->threads)
                       : "all threads";
  if (event->kind != TIMELINE_WAIT) return "";
  if (op_multiplies(op->kind)) return "all warps of its warpgroup";
  if (event->bar.buffer && event->bar.at < 0) return event->bar.buffer->name;
  if (event->bar.buffer)
    return arena_printf(arena, "%s[%d] phase %lld", event->bar.buffer->name, event->bar.at,
                        (long long)event->phase);
  if (op_ends_with_group(op->kind))
    return arena_printf(arena, "at most %lld group%s in flight", (long long)op->groups,
                        plural_s(op->groups));
  return arena_printf(arena, "%lld registers", (long long)op->registers);
}

double timeline_unit_clocks(const TimelineEvent *event) {
  const bool product = event->kind == TIMELINE_MULTIPLY;
  const bool own_quarter =
      product ? !atom_is_of_thread(event->stmt->op.atom) : event->kind == TIMELINE_POWER;
  return own_quarter ? event->busy / TIME_QUARTERS : event->busy;
}

// A persistent block has gone through all of its tiles.
TimelineWhole timeline_whole(const Timeline *timeline, const Model *model) {
  TimelineWhole out = {.clocks = timeline->all_clocks,
                       .rounds = timeline->n_tiles > 1 ? 1 : ceil(model->resources.waves),
                       .mhz = model->target->boost_mhz};
  if (out.mhz > 0) out.ns = out.clocks * out.rounds / out.mhz * 1e3;
  return out;
}
