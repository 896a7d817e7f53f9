// Running a program: kernels in order, blocks one at a time, warps from barrier to barrier.
//
// Requires nothing of the program: a fault in it becomes a finding, never a crash. The machine is
// built once and may run many times; epochs only grow, so nothing is cleared between runs. Worked
// example, 3 warps and two barriers, a seed that draws 2 0 1 and then 1 2 0:
//
//   warp 2 ──► barrier   warp 0 ──► barrier   warp 1 ──► barrier      epoch 5 → 6
//   warp 1 ──► barrier   warp 2 ──► barrier   warp 0 ──► end          deadlock: 1 and 2 wait for 0
//
// A warp runs as far as it can before the next one starts, which is the most unfair legal schedule.
// Happens-before finds the faults of every other schedule (interp_shadow.c).
#include "model/interp/interp.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/whole.h"
#include "model/interp/interp_machine.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

enum { DEFAULT_RUNS = 2, ELECT_STEP = 11 };

double interp_poison(void) { return (double)NAN; }

float interp_alpha(const InterpOptions *options) {
  return fpclassify(options->alpha) == FP_ZERO ? 2.0f : options->alpha;
}

// ---- variables ----------------------------------------------------------------------------------

static void set_scalar(const Machine *m, Warp *w, const Var *var, int64_t value) {
  w->scalar[var->id] = value;
  if (!m->code->broadcast[var->id]) return;
  int64_t *lanes = &w->lanes[var->id * LANES];
  for (int l = 0; l < LANES; l++) lanes[l] = value;
}

// Lanes beyond the block repeat its last thread, so that their numbers stay in range, and so do
// producers with the numbers of those that multiply.
static void set_digit(const Machine *m, Warp *w, const HardwareDigit *digit, bool of_thread) {
  const Launch *launch = &m->code->launch;
  bool any = digit->var == m->program->any_thread;
  int64_t last = (any ? launch->block_threads : launch->n_threads) - 1;
  int64_t *lanes = &w->lanes[digit->var->id * LANES];
  for (int l = 0; l < LANES; l++) {
    int64_t thread = w->place * LANES + l;
    int64_t index = !of_thread ? m->block : thread < last ? thread : last;
    lanes[l] = index / digit->stride % digit->var->extent;
  }
  w->scalar[digit->var->id] = lanes[0];
}

// Puts every lane's value into the variable's range; says which lanes were not in it.
static uint32_t clamp_lanes(const Var *var, int64_t *lanes) {
  uint32_t bad = 0;
  for (int l = 0; l < LANES; l++) {
    if (lanes[l] >= 0 && lanes[l] < var->extent) continue;
    bad |= 1u << l;
    lanes[l] = lanes[l] < 0 ? 0 : var->extent - 1;
  }
  return bad;
}

static void report_range(Machine *m, const Warp *w, const Stmt *stmt, uint32_t bad) {
  if (!bad) return;
  interp_report(m, FINDING_VARIABLE_RANGE, w, lowest_lane(bad), stmt, NULL, 0,
                "gives %s a value outside 0 to %lld", stmt->var->name,
                (long long)(stmt->var->extent - 1));
}

static void run_early_let(Machine *m, Warp *w, int index) {
  const EarlyLet *early = &m->code->early[index];
  const Var *var = early->stmt->var;
  int64_t *lanes = &w->lanes[var->id * LANES];
  expr_eval_warp(early->stmt->expr, w->lanes, lanes);
  w->early_bad[index] = clamp_lanes(var, lanes);
  w->scalar[var->id] = lanes[0];
  if (early->checked_at_start) report_range(m, w, early->stmt, w->early_bad[index] & w->alive);
}

static void fill_slot(const Machine *m, Warp *w, int index) {
  const Slot *slot = &m->code->slot[index];
  int64_t term[LANES];
  Lanes *out = &w->slot[index];
  out->all = (LaneInts){0};
  for (int i = 0; i < slot->n; i++) {
    expr_eval_warp(slot->term[i].expr, w->lanes, term);
    for (int l = 0; l < LANES; l++)
      out->lane[l] = (int32_t)(out->lane[l] + slot->term[i].coef * term[l]);
  }
}

// A block starts with a share of the register file, as much for each thread.
static void start_registers_of(Machine *m, Warp *w) {
  const Kernel *kernel = &m->program->kernel[m->kernel];
  w->registers = program_start_registers(m->code->launch.block_threads, kernel->min_blocks);
  m->own->free_registers = 0;
}

static void start_warp(Machine *m, Warp *w, bool first_block) {
  w->rank = w->index / m->block_warps;
  w->place = w->index % m->block_warps;
  interp_at_rank(m, w->rank);
  const Launch *launch = &m->code->launch;
  int64_t left = launch->block_threads - (int64_t)w->place * LANES;
  w->alive = w->active = left >= LANES ? UINT32_MAX : (1u << left) - 1;
  w->state = WARP_RUNNABLE;
  w->is_early = m->kernel > 0 && m->program->kernel[m->kernel].dependent;
  w->pc = w->depth = w->n_copies = w->n_stores = 0;
  start_registers_of(m, w);
  if (w->tensor) tensor_start(m, w);
  if (w->agent) tmem_start(m, w);
  *w->groups = (WarpGroups){.products = {0}};
  memset(w->written, 0, sizeof *w->written * (size_t)m->n_rows);
  HardwareDigit thread = {(Var *)(uintptr_t)m->program->thread, 1};
  HardwareDigit block = {(Var *)(uintptr_t)m->program->block, 1};
  set_digit(m, w, &thread, true);
  if (m->program->any_thread) set_digit(m, w, &(HardwareDigit){m->program->any_thread, 1}, true);
  set_digit(m, w, &block, false);
  set_scalar(m, w, m->program->persistent.grid, m->lists);
  set_scalar(m, w, m->program->persistent.list,
             INT32_MAX);  // without tiles, until one is chosen
  set_scalar(m, w, m->program->persistent.epoch, m->launches);
  for (int i = 0; i < launch->n_thread_digits; i++) set_digit(m, w, &launch->thread[i], true);
  for (int i = 0; i < launch->n_block_digits; i++) set_digit(m, w, &launch->block[i], false);
  for (int i = 0; i < m->code->n_early; i++) run_early_let(m, w, i);
  for (int i = 0; i < m->code->n_slots; i++)
    if (first_block || m->code->slot[i].per_block) fill_slot(m, w, i);
}

// ---- one warp -----------------------------------------------------------------------------------

static void run_let(Machine *m, Warp *w, const Code *code) {
  const Var *var = code->stmt->var;
  if (code->early >= 0) {
    report_range(m, w, code->stmt, w->early_bad[code->early] & w->active);
    return;
  }
  if (value_is_uniform(&code->value)) {
    int64_t value = interp_scalar(w, &code->value), last = var->extent - 1;
    if (value < 0 || value > last) report_range(m, w, code->stmt, w->active);
    set_scalar(m, w, var, value < 0 ? 0 : value > last ? last : value);
    return;
  }
  Lanes value;
  int64_t *lanes = &w->lanes[var->id * LANES];
  interp_lanes(w, &code->value, &value);
  for (int l = 0; l < LANES; l++) lanes[l] = value.lane[l];
  report_range(m, w, code->stmt, clamp_lanes(var, lanes) & w->active);
}

static void run_op(Machine *m, Warp *w, const Code *code) {
  if (code->fault) {
    interp_report(m, FINDING_OPERAND, w, lowest_lane(w->active), code->stmt, NULL, 0, "%s",
                  code->fault);
    return;
  }
  OpKind kind = code->stmt->op.kind;
  m->lanes[kind] += __builtin_popcount(w->active);
  op_machine(kind)->run(m, w, code);
  if (m->watch && w->state != WARP_ASLEEP) watch_op(m, w, code);
}

void interp_tell_list(Machine *m, const bool *takes_part) {
  if (m->claimer < 0 || !takes_part[m->claimer]) return;
  for (int i = 0; i < m->n_warps; i++)
    if (takes_part[i]) set_scalar(m, &m->warp[i], m->program->persistent.list, m->list);
}

// A block's tiles are bid, bid + grid, bid + 2·grid, …, or the tiles of the list that it has
// claimed; every other loop counts from 0.
static bool is_over_tiles(const Code *code) { return code->stmt->var->tier == TIER_TILE; }

static int64_t end_of(const Warp *w, const Code *code) {
  return code->stmt->end ? interp_scalar(w, &code->end) : code->stmt->var->extent;
}

static void run_loop(Machine *m, Warp *w, const Code *code) {
  const Var *var = code->stmt->var;
  int64_t first = is_over_tiles(code) ? m->block / m->code->launch.cluster : 0;
  if (code->stmt->expr) first = interp_scalar(w, &code->value);
  if (first >= end_of(w, code))
    w->pc = code->jump;
  else
    set_scalar(m, w, var, first);
}

static void run_next(Machine *m, Warp *w, const Code *code) {
  const Var *var = code->stmt->var;
  int64_t next = w->scalar[var->id] + (is_over_tiles(code) ? m->lists : 1);
  if (next >= end_of(w, code)) return;
  set_scalar(m, w, var, next);
  w->pc = code->jump;
}

// One lane of a warp that is all there: whichever, so each run takes another one.
static uint32_t elect(Machine *m, const Warp *w, const Code *code, uint32_t asked) {
  const uint32_t missing = w->alive & ~asked;
  const int lane = lowest_lane(w->active), other = (lane + m->elected) % LANES;
  if (missing)
    interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(asked), code->stmt, NULL, 0,
                  "asks elect.sync for one lane of its warp, but lane %d is not there",
                  lowest_lane(missing));
  if (w->active & (w->active - 1))
    interp_report(m, FINDING_DIVERGENCE, w, lane, code->stmt, NULL, 0,
                  "is one of %d lanes from which elect.sync picks one",
                  __builtin_popcount(w->active));
  return 1u << (w->alive >> other & 1 ? other : lane);
}

static void run_if(Machine *m, Warp *w, const Code *code) {
  const uint32_t asked = w->saved[w->depth++] = w->active;
  w->active = interp_conditions(w, code->condition, code->n_conditions, asked);
  if (w->active && code->stmt->elects) w->active = elect(m, w, code, asked);
  if (!w->active) w->pc = code->jump;
}

// The end of a warp. Its copies still write to the shared memory of the block that comes next.
static void run_exit(Machine *m, Warp *w) {
  w->state = WARP_DONE;
  if (w->tensor) tensor_end(m, w);
  if (w->agent) tmem_end_warp(m, w);
  for (int i = 0; i < w->n_copies; i++) {
    const Copy *copy = &w->copy[i];
    const Code *code = &m->code->code[copy->code];
    int lane = lowest_lane(copy->lanes);
    interp_report(m, FINDING_ABANDONED_COPY, w, lane, code->stmt, code->dst.buffer, copy->dst[lane],
                  "ends without a wait for its copy");
  }
  bulk_end(m, w);
  if (m->code->cluster > 1) order_end(m->order, m->life, w->rank, clock_of(m, w->index));
}

// Runs a warp until the next barrier, its end, or the end of everything.
static void run_warp(Machine *m, Warp *w) {
  int64_t limit = m->options->step_limit > 0 ? m->options->step_limit : (int64_t)1 << 31;
  interp_at_rank(m, w->rank);
  m->is_early = w->is_early;
  while (w->state == WARP_RUNNABLE && !m->stopped) {
    const Code *code = &m->code->code[w->pc++];
    if (++m->steps > limit) {
      interp_report(m, FINDING_TOO_LONG, w, -1, code->stmt, NULL, 0, "%lld steps are over at",
                    (long long)limit);
      m->stopped = true;
      return;
    }
    const bool traced = m->trace && trace_wants(m, w);
    if (traced) trace_begin(m, w, code);
    switch (code->kind) {
      case CODE_OP:
        run_op(m, w, code);
        break;
      case CODE_LET:
        run_let(m, w, code);
        break;
      case CODE_LOOP:
        run_loop(m, w, code);
        break;
      case CODE_NEXT:
        run_next(m, w, code);
        break;
      case CODE_IF:
        run_if(m, w, code);
        break;
      case CODE_FI:
        w->active = w->saved[--w->depth];
        break;
      case CODE_EXIT:
        run_exit(m, w);
        break;
    }
    if (traced) trace_end(m, w, code);
  }
  m->is_early = false;
}

// ---- blocks that run together -------------------------------------------------------------------

static void shuffle(uint64_t *random, int32_t *list, int n) {
  for (int i = 0; i < n; i++) list[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int j = (int)random_between(random, 0, i);
    int32_t swap = list[i];
    list[i] = list[j];
    list[j] = swap;
  }
}

// The blocks of a cluster that reach each other, or one block.
static void run_cluster(Machine *m, int cluster, bool first_one) {
  m->cluster = cluster;
  m->claimer = -1;
  m->block_first = ++m->epoch;
  interp_join_none(m);
  interp_forget_passed(m);
  for (int i = 0; i < m->n_warps; i++) start_warp(m, &m->warp[i], first_one);
  while (!m->stopped) {
    shuffle(&m->random, m->warp_order, m->n_warps);
    for (int i = 0; i < m->n_warps; i++) run_warp(m, &m->warp[m->warp_order[i]]);
    if (!m->stopped && !interp_wake(m) && !interp_go_on(m)) break;
  }
  interp_abandon_boxes(m);
  if (m->warp[0].tensor) tensor_compare_warps(m);
  if (m->has_tmem) tmem_end_block(m);
  if (m->code->cluster > 1) interp_check_exits(m);
}

// ---- one run ------------------------------------------------------------------------------------

// The blocks of a kernel. A persistent one is right with any number of them. The number drawn gives
// some block several tiles and, where it can, different blocks different numbers of tiles.
static int64_t choose_grid(Machine *m, const Launch *launch) {
  int64_t tiles = launch->n_blocks / launch->cluster;
  if (!launch->tiles || tiles == 1) return tiles;
  if (m->options->grid) return min64(m->options->grid, tiles);
  int64_t grid = random_between(&m->random, 1, tiles - 1);
  return tiles % grid == 0 && grid > 2 ? grid - 1 : grid;
}

// Each launch has one list for each cluster. Where the grid is drawn, the last two clusters, at
// most, may have no tiles.
static int64_t choose_lists(Machine *m) {
  const Kernel *kernel = &m->program->kernel[m->kernel];
  if (!stmt_find_action(kernel->body, ACTION_CLAIM, ROLE_COUNT)) return m->grid;
  memcpy(m->claimed_before, m->claimed, sizeof *m->claimed * (size_t)m->max_clusters);
  m->launches++;
  if (m->options->grid) return m->grid;
  return random_between(&m->random, max64(1, m->grid - 2), m->grid);
}

// Memory beyond the shared memory that the launch asks for does not belong to the block.
static void check_asked(Machine *m) {
  const int64_t asked = program_smem_asked(m->program);
  for (int i = 0; m->kernel == m->program->main_kernel && i < m->program->n_buffers; i++) {
    const Buffer *buffer = m->program->buffer[i];
    const int64_t end = buffer->offset_bytes + buffer_bytes(buffer);
    if (!buffer_is_in_shared(buffer) || end <= asked) continue;
    interp_report(m, FINDING_OUT_OF_BOUNDS, NULL, -1, NULL, buffer, 0,
                  "shared memory is laid out up to byte %lld, but the launch asks for %lld bytes",
                  (long long)end, (long long)asked);
  }
}

static void run_kernel(Machine *m, int kernel) {
  m->kernel = kernel;
  m->code = m->kernel_code[kernel];
  m->block_warps = launch_block_warps(&m->code->launch);
  m->n_warps = m->code->cluster * m->block_warps;
  check_asked(m);
  m->kernel_first = m->epoch + 1;
  m->grid = choose_grid(m, &m->code->launch);
  if (kernel <= m->program->main_kernel) m->lists = choose_lists(m);  // later ones ask for its grid
  // Blocks of a cluster that do not reach each other run one by one.
  int n_runs = (int)(m->grid * m->code->launch.cluster / m->code->cluster);
  shuffle(&m->random, m->cluster_order, n_runs);
  for (int i = 0; i < n_runs && !m->stopped; i++) run_cluster(m, m->cluster_order[i], i == 0);
}

static Memory *result_memory(Machine *m) {
  return &m->of_rank[0].memory[program_buffer(m->program, ROLE_C)->id];
}

static void report_holes(Machine *m) {
  const Memory *c = result_memory(m);
  int64_t holes = 0, first = -1;
  for (int64_t i = 0; i < c->elements; i++) {
    if (shadow_is_written(m, c, i)) continue;
    if (holes++ == 0) first = i;
  }
  if (!holes) return;
  m->code = NULL;
  m->kernel = -1;
  interp_report(m, FINDING_UNWRITTEN_RESULT, NULL, -1, NULL, c->buffer, first,
                "no thread stores this cell; %lld of %lld cells are never stored", (long long)holes,
                (long long)c->elements);
}

static void machine_run(Machine *m, uint64_t seed, InterpAsync async) {
  m->random = seed;
  m->async = async;
  m->stopped = false;
  m->steps = 0;
  memset(m->lanes, 0, sizeof m->lanes);
  m->run_first = m->epoch + 1;
  for (int i = 0; i < m->program->n_kernels && !m->stopped; i++) run_kernel(m, i);
  if (!m->stopped) report_holes(m);
  m->trace = NULL;
  m->watch = NULL;
}

// C as numbers; NaN where nothing was stored.
static const double *result_values(Machine *m, double *c) {
  const Memory *memory = result_memory(m);
  for (int64_t i = 0; i < memory->elements; i++)
    c[i] = shadow_is_written(m, memory, i) ? number_read(memory->type, memory_at(memory, i))
                                           : interp_poison();
  return c;
}

static InterpResult *machine_result(Machine *m, bool finished) {
  InterpResult *result = ARENA_NEW(m->arena, InterpResult);
  int64_t n = m->warp ? buffer_elements(program_buffer(m->program, ROLE_C)) : 0;
  double *c = ARENA_ARRAY(m->arena, double, n);
  uint8_t *written = ARENA_ARRAY(m->arena, uint8_t, n);
  for (int64_t i = 0; i < n; i++) written[i] = shadow_is_written(m, result_memory(m), i);
  if (n) result_values(m, c);
  int64_t *lanes = ARENA_ARRAY(m->arena, int64_t, OP_COUNT);
  memcpy(lanes, m->lanes, sizeof m->lanes);
  *result = (InterpResult){
      .finished = finished, .c = c, .c_written = written, .steps = m->steps, .lanes = lanes};
  return result;
}

static void result_findings(const Machine *m, InterpResult *result) {
  result->n_findings = m->n_findings;
  result->n_found = m->n_found;
  result->finding = m->finding;
}

const InterpResult *interp_run_all(Arena *arena, const Program *program,
                                   const InterpOptions *options, InterpVisit *visit,
                                   void *context) {
  Machine *m = interp_build(arena, program, options);
  if (m->stopped) {
    InterpResult *result = machine_result(m, false);
    result_findings(m, result);
    return result;
  }
  InterpResult *result = NULL;
  double *c = ARENA_ARRAY(arena, double, result_memory(m)->elements);
  int runs = options->runs > 0 ? options->runs : DEFAULT_RUNS;
  int extremes = program_works_in_background(program) ? 2 : 1;
  for (int i = 0; i < runs * extremes; i++) {
    m->elected = i / extremes * ELECT_STEP % LANES;
    machine_run(m, options->seed + (uint64_t)(i / extremes), (InterpAsync)(i % extremes));
    if (!result) result = machine_result(m, true);
    result->finished = result->finished && !m->stopped;
    if (visit && !m->stopped) visit(result_values(m, c), context);
  }
  result_findings(m, result);
  return result;
}

const InterpResult *interpret(Arena *arena, const Program *program, const InterpOptions *options) {
  Machine *m = interp_build(arena, program, options);
  if (!m->stopped) machine_run(m, options->seed, options->async);
  InterpResult *result = machine_result(m, !m->stopped);
  result_findings(m, result);
  return result;
}
