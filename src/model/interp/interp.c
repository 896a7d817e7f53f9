// Running a program: kernels in order, blocks one at a time, warps from barrier to barrier.
//
// Requires nothing of the program: what is wrong with it becomes a finding, never a crash. The
// machine is built once and may run many times; epochs only grow, so nothing is cleared between
// runs. Worked example, 3 warps and two barriers, a seed that draws 2 0 1 and then 1 2 0:
//
//   warp 2 ──► barrier   warp 0 ──► barrier   warp 1 ──► barrier      epoch 5 → 6
//   warp 1 ──► barrier   warp 2 ──► barrier   warp 0 ──► end          deadlock: 1 and 2 wait for 0
//
// A warp runs as far as it can before the next one starts, which is the most unfair legal schedule;
// what goes wrong under any other is found by happens-before (interp_shadow.c).
#include "model/interp/interp.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/whole.h"
#include "model/interp/interp_machine.h"

enum {
  DEFAULT_FINDINGS = 16,
  DEFAULT_RUNS = 2,
  BLOCKS_LIMIT = 1 << 24,
  REGISTERS_LIMIT = 1 << 16,
};

double interp_poison(void) { return (double)NAN; }

float interp_alpha(const InterpOptions *options) {
  return fpclassify(options->alpha) == FP_ZERO ? 2.0f : options->alpha;
}

// ---- building -----------------------------------------------------------------------------------

static bool is_input(const Buffer *buffer) {
  return buffer->space == SPACE_GLOBAL && (buffer->role == ROLE_A || buffer->role == ROLE_B);
}

// The register file in rows of 32 lanes.
static int64_t buffer_rows(const Buffer *buffer) {
  return buffer_elements(buffer) * rows_of_type(buffer->type);
}

typedef struct Sizes {
  int64_t watched, inputs, rows;  // elements that can be written, of A and B, of the registers
} Sizes;

static Sizes sizes_of(const Program *program) {
  Sizes sizes = {0};
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (buffer->space == SPACE_REGISTER)
      sizes.rows += buffer_rows(buffer);
    else
      *(is_input(buffer) ? &sizes.inputs : &sizes.watched) += buffer_elements(buffer);
  }
  return sizes;
}

// An input is kept as a float, in its type and, for the comparison, in float64; what can be written
// has its shadow; a cell of C is moreover a float64 that is expected and two that were found.
double interpret_bytes(const Program *program) {
  enum { INPUT_BYTES = 4 + 8 + 8, CELL_BYTES = 3 * 8 + 2, VALUE_BYTES = 8 };
  const Sizes sizes = sizes_of(program);
  double cells = (double)program->problem.m * (double)program->problem.n;
  return INPUT_BYTES * (double)sizes.inputs + CELL_BYTES * cells +
         (double)(sizeof(Shadow) + VALUE_BYTES) * (double)sizes.watched;
}

// NULL, or why the program is too large to be run here.
static const char *machine_size(Machine *m) {
  const double bytes = interpret_bytes(m->program);
  const int64_t rows = sizes_of(m->program).rows;
  if (bytes > INTERP_BYTES_MAX)
    return arena_printf(m->arena, "it takes %.1f GiB of memory, at most %.0f are given",
                        bytes * 0x1p-30, INTERP_BYTES_MAX * 0x1p-30);
  if (rows > REGISTERS_LIMIT)
    return arena_printf(m->arena, "a thread has %lld registers, at most %d can be held",
                        (long long)rows, REGISTERS_LIMIT);
  return NULL;
}

// The operand as bytes of its type.
static uint8_t *input_data(const Machine *m, const Buffer *buffer) {
  int which = buffer->role == ROLE_B;
  const float *given = which ? m->options->b : m->options->a;
  if (!given) given = interp_inputs_of(m->arena, &m->program->problem, m->options->seed, which);
  if (buffer->type == DTYPE_F32) return (uint8_t *)(uintptr_t)given;  // never written: op_fault()
  int64_t n = buffer_elements(buffer);
  int bytes = dtype_bytes(buffer->type);
  uint8_t *data = arena_alloc(m->arena, (size_t)(n * bytes));
  for (int64_t i = 0; i < n; i++) number_write(buffer->type, data + i * bytes, (double)given[i]);
  return data;
}

// The largest power of two that divides every place and every size of an element in shared memory.
static int64_t shared_granule(const Program *program) {
  int64_t bits = 8;
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (buffer->space == SPACE_SHARED) bits |= buffer->offset_bytes | dtype_bytes(buffer->type);
  }
  return bits & -bits;
}

static void build_registers(Machine *m, Memory *memory) {
  memory->first_row = m->n_rows;
  memory->rows = rows_of_type(memory->type);
  m->n_rows += (int)buffer_rows(memory->buffer);
}

static void build_global(Machine *m, Memory *memory) {
  memory->n_shadows = 1;
  if (is_input(memory->buffer)) {
    memory->data = input_data(m, memory->buffer);
    return;
  }
  memory->data = arena_alloc(m->arena, (size_t)(memory->elements * memory->bytes));
  memory->shadow = ARENA_ARRAY(m->arena, Shadow, memory->elements);
}

// Any of the family: a text may have a fence without what it is for.
static void look_for_wgmma(Stmt *stmt, int depth, void *context) {
  (void)depth;
  *(bool *)context |= stmt->kind == STMT_OP && op_facts(stmt->op.kind)->family == FAMILY_WGMMA;
}

static bool has_wgmma(const Program *program) {
  bool any = false;
  for (int i = 0; i < program->n_kernels; i++)
    stmt_walk(program->kernel[i].body, look_for_wgmma, &any);
  return any;
}

// Whether there is more to an order than barriers that all threads meet: mbarriers, or the async
// proxy, which fences have a say in.
static bool has_mbarriers(const Program *program) {
  for (int i = 0; i < program->n_buffers; i++)
    if (program->buffer[i]->space == SPACE_BARRIER) return true;
  return has_wgmma(program);
}

// Shared buffers are windows of one memory, so that two that overlap are seen to.
static void build_memory(Machine *m) {
  m->has_mbarriers = has_mbarriers(m->program);
  int64_t smem = program_smem_bytes(m->program), granule = shared_granule(m->program);
  uint8_t *shared = arena_alloc(m->arena, (size_t)smem);
  int64_t n = ceil_div(smem, granule);
  Shadow *shadow = ARENA_ARRAY(m->arena, Shadow, n);
  Touch *reads = m->has_mbarriers ? ARENA_ARRAY(m->arena, Touch, n * m->max_warps) : NULL;
  for (int i = 0; i < m->program->n_buffers; i++) {
    const Buffer *buffer = m->program->buffer[i];
    Memory *memory = &m->memory[i];
    *memory = (Memory){.buffer = buffer,
                       .type = buffer->type,
                       .bytes = dtype_bytes(buffer->type),
                       .elements = buffer_elements(buffer)};
    if (buffer->space == SPACE_REGISTER) {
      build_registers(m, memory);
    } else if (buffer->space == SPACE_BARRIER) {
      memory->mbar = ARENA_ARRAY(m->arena, Mbar, memory->elements);
    } else if (buffer->space == SPACE_GLOBAL) {
      build_global(m, memory);
    } else {
      memory->data = shared + buffer->offset_bytes;
      memory->shadow = shadow + buffer->offset_bytes / granule;
      if (reads) memory->reads = reads + buffer->offset_bytes / granule * m->max_warps;
      memory->n_shadows = (int)(memory->bytes / granule);
    }
  }
}

static TensorQueue *new_queue(const Machine *m) {
  TensorQueue *queue = ARENA_NEW(m->arena, TensorQueue);
  queue->busy_until = ARENA_ARRAY(m->arena, int32_t, m->n_rows + 1);
  queue->touched = ARENA_ARRAY(m->arena, uint32_t, m->n_rows + 1);
  return queue;
}

static void build_warps(Machine *m) {
  const bool tiles = has_wgmma(m->program);
  int n_slots = 1, n_early = 1;
  for (int i = 0; i < m->program->n_kernels; i++) {
    n_slots = max_int(n_slots, m->kernel_code[i]->n_slots);
    n_early = max_int(n_early, m->kernel_code[i]->n_early);
  }
  m->warp = ARENA_ARRAY(m->arena, Warp, m->max_warps);
  for (int i = 0; i < m->max_warps; i++) {
    Warp *w = &m->warp[i];
    w->index = i;
    w->scalar = ARENA_ARRAY(m->arena, int64_t, m->program->n_vars);
    w->lanes = ARENA_ARRAY(m->arena, int64_t, m->program->n_vars * LANES);
    w->slot = ARENA_ARRAY(m->arena, Lanes, n_slots);
    w->early_bad = ARENA_ARRAY(m->arena, uint32_t, n_early);
    w->row = ARENA_ARRAY(m->arena, Row, m->n_rows + 1);
    w->written = ARENA_ARRAY(m->arena, uint32_t, m->n_rows + 1);
    if (tiles) w->tensor = new_queue(m);
  }
}

static const char *build_code(Machine *m) {
  int64_t max_blocks = 1;
  for (int i = 0; i < m->program->n_kernels; i++) {
    const KernelCode *code = m->kernel_code[i] = interp_compile(m->arena, m->program, i);
    const char *name = m->program->kernel[i].name;
    if (!code) return arena_printf(m->arena, "kernel %s is too large to be run here", name);
    const Launch *launch = &code->launch;
    if (launch->block_threads > INTERP_THREADS_MAX || launch->n_blocks > BLOCKS_LIMIT)
      return arena_printf(m->arena,
                          "kernel %s has %lld blocks of %lld threads, at most %d of %d run", name,
                          (long long)launch->n_blocks, (long long)launch->block_threads,
                          BLOCKS_LIMIT, INTERP_THREADS_MAX);
    m->max_warps = max_int(m->max_warps, launch_block_warps(launch));
    if (launch->n_blocks > max_blocks) max_blocks = launch->n_blocks;
  }
  m->order = ARENA_ARRAY(m->arena, int32_t, max_blocks);
  return NULL;
}

static Machine *machine_new(Arena *arena, const Program *program, const InterpOptions *options) {
  Machine *m = ARENA_NEW(arena, Machine);
  m->arena = arena;
  m->program = program;
  m->options = options;
  m->trace = options->trace;
  m->max_findings = options->max_findings > 0 ? options->max_findings : DEFAULT_FINDINGS;
  m->finding = ARENA_ARRAY(arena, Finding, m->max_findings);
  m->kernel = -1;
  const char *too_large = machine_size(m);
  if (!too_large) too_large = build_code(m);
  if (too_large) {
    interp_report(m, FINDING_TOO_LARGE, NULL, -1, NULL, NULL, 0, "%s", too_large);
    m->stopped = true;
    return m;
  }
  build_memory(m);
  build_warps(m);
  return m;
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
    int64_t thread = w->index * LANES + l;
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
  w->registers = start_registers(m->code->launch.block_threads, kernel->min_blocks);
  m->free_registers = 0;
}

static void start_warp(Machine *m, Warp *w, bool first_block) {
  const Launch *launch = &m->code->launch;
  int64_t left = launch->block_threads - (int64_t)w->index * LANES;
  w->alive = w->active = left >= LANES ? UINT32_MAX : (1u << left) - 1;
  w->state = WARP_RUNNABLE;
  w->pc = w->depth = w->n_copies = 0;
  start_registers_of(m, w);
  if (w->tensor) tensor_start(m, w);
  memset(w->committed, 0, sizeof w->committed);
  memset(w->written, 0, sizeof *w->written * (size_t)m->n_rows);
  HardwareDigit thread = {(Var *)(uintptr_t)m->program->thread, 1};
  HardwareDigit block = {(Var *)(uintptr_t)m->program->block, 1};
  set_digit(m, w, &thread, true);
  if (m->program->any_thread) set_digit(m, w, &(HardwareDigit){m->program->any_thread, 1}, true);
  set_digit(m, w, &block, false);
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
}

static void run_loop(Machine *m, Warp *w, const Code *code) {
  if (code->stmt->var->extent <= 0)
    w->pc = code->jump;
  else
    set_scalar(m, w, code->stmt->var, 0);
}

static void run_next(Machine *m, Warp *w, const Code *code) {
  const Var *var = code->stmt->var;
  int64_t next = w->scalar[var->id] + 1;
  if (next >= var->extent) return;
  set_scalar(m, w, var, next);
  w->pc = code->jump;
}

static void run_if(Warp *w, const Code *code) {
  w->saved[w->depth++] = w->active;
  w->active = interp_conditions(w, code->condition, code->n_conditions, w->active);
  if (!w->active) w->pc = code->jump;
}

// The end of a warp. Its copies still write to the shared memory of the block that comes next.
static void run_exit(Machine *m, Warp *w) {
  w->state = WARP_DONE;
  if (w->tensor) tensor_end(m, w);
  for (int i = 0; i < w->n_copies; i++) {
    const Copy *copy = &w->copy[i];
    const Code *code = &m->code->code[copy->code];
    int lane = lowest_lane(copy->lanes);
    interp_report(m, FINDING_ABANDONED_COPY, w, lane, code->stmt, code->dst.buffer, copy->dst[lane],
                  "ends without a wait for its copy");
  }
}

// Runs a warp until the next barrier, its end, or the end of everything.
static void run_warp(Machine *m, Warp *w) {
  int64_t limit = m->options->step_limit > 0 ? m->options->step_limit : (int64_t)1 << 31;
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
        run_if(w, code);
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
}

// ---- one block ----------------------------------------------------------------------------------

static void shuffle(uint64_t *random, int32_t *list, int n) {
  for (int i = 0; i < n; i++) list[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int j = (int)random_between(random, 0, i);
    int32_t swap = list[i];
    list[i] = list[j];
    list[j] = swap;
  }
}

static void run_block(Machine *m, int block, bool first_block) {
  int32_t order[INTERP_THREADS_MAX / LANES];
  m->block = block;
  m->block_first = ++m->epoch;
  interp_join_none(m);
  for (int i = 0; i < m->n_warps; i++) start_warp(m, &m->warp[i], first_block);
  while (!m->stopped) {
    shuffle(&m->random, order, m->n_warps);
    for (int i = 0; i < m->n_warps; i++) run_warp(m, &m->warp[order[i]]);
    if (!m->stopped && !interp_wake(m) && !interp_go_on(m)) break;
  }
  interp_abandon_boxes(m);
  if (m->warp[0].tensor) tensor_compare_warps(m);
}

// ---- one run ------------------------------------------------------------------------------------

static void run_kernel(Machine *m, int kernel) {
  m->kernel = kernel;
  m->code = m->kernel_code[kernel];
  m->n_warps = launch_block_warps(&m->code->launch);
  m->kernel_first = m->epoch + 1;
  int n_blocks = (int)m->code->launch.n_blocks;
  shuffle(&m->random, m->order, n_blocks);
  for (int i = 0; i < n_blocks && !m->stopped; i++) run_block(m, m->order[i], i == 0);
}

static Memory *result_memory(Machine *m) {
  return &m->memory[program_buffer(m->program, ROLE_C)->id];
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
                "nothing stores this cell; %lld of %lld are never stored", (long long)holes,
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
  *result = (InterpResult){.finished = finished, .c = c, .c_written = written, .steps = m->steps};
  memcpy(result->lanes, m->lanes, sizeof m->lanes);
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
  Machine *m = machine_new(arena, program, options);
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
    machine_run(m, options->seed + (uint64_t)(i / extremes), (InterpAsync)(i % extremes));
    if (!result) result = machine_result(m, true);
    result->finished = result->finished && !m->stopped;
    if (visit && !m->stopped) visit(result_values(m, c), context);
  }
  result_findings(m, result);
  return result;
}

const InterpResult *interpret(Arena *arena, const Program *program, const InterpOptions *options) {
  Machine *m = machine_new(arena, program, options);
  if (!m->stopped) machine_run(m, options->seed, options->async);
  InterpResult *result = machine_result(m, !m->stopped);
  result_findings(m, result);
  return result;
}
