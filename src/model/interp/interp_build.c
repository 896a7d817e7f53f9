// Building a machine: memory, warps and clocks for the kernel that needs most of them.
//
// Requires nothing of the program: one that is too large becomes a finding, and the machine is
// stopped before anything of it was allocated. What blocks of a cluster share (global memory, the
// layout of registers) is built once, what each has of its own once for each of them. Worked
// example, 2 × 2 blocks of 9 warps with a ring of 48 KiB: four times 48 KiB and their shadows, 36
// warps, and clocks for 36 warps and 32 agents.
#include <string.h>

#include "base/whole.h"
#include "model/interp/interp_machine.h"
#include "model/ir/find_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

enum { DEFAULT_FINDINGS = 16, BLOCKS_LIMIT = 1 << 24, REGISTERS_LIMIT = 1 << 16 };

// ---- building -----------------------------------------------------------------------------------

static bool is_input(const Buffer *buffer) {
  return buffer->space == SPACE_GLOBAL && buffer_is_input(buffer);
}

// The register file in rows of 32 lanes.
static int64_t buffer_rows(const Buffer *buffer) {
  return buffer_elements(buffer) * rows_of_type(buffer->type);
}

// Blocks that run together, of the kernel that has most of them.
static int64_t most_together(const Program *program) {
  int64_t most = 1;
  for (int i = 0; i < program->n_kernels; i++)
    if (kernel_reaches_across(&program->kernel[i]))
      most = max64(most, kernel_launch(&program->kernel[i]).cluster);
  return most;
}

typedef struct Sizes {
  int64_t watched, inputs, rows;  // elements that can be written, of A and B, of the registers
} Sizes;

static Sizes sizes_of(const Program *program) {
  Sizes sizes = {0};
  int64_t together = most_together(program);
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (buffer->space == SPACE_REGISTER)
      sizes.rows += buffer_rows(buffer);
    else if (buffer->space == SPACE_TENSOR)
      continue;  // a block has all of it, whatever it says it has
    else if (is_input(buffer))
      sizes.inputs += buffer_elements(buffer);
    else
      sizes.watched += buffer_elements(buffer) * (buffer_is_in_shared(buffer) ? together : 1);
  }
  return sizes;
}

// An input is kept as a float, in its type and, for the comparison, in float64; what can be written
// has its shadow; a cell of C is moreover a float64 that is expected and two that were found.
double interpret_bytes(const Program *program) {
  enum { INPUT_BYTES = 4 + 8 + 8, CELL_BYTES = 3 * 8 + 2, VALUE_BYTES = 8 };
  const Sizes sizes = sizes_of(program);
  const Problem *problem = &program->problem;
  double cells = (double)problem_rows(problem) * (double)problem_columns(problem);
  return INPUT_BYTES * (double)sizes.inputs + CELL_BYTES * cells +
         (double)(sizeof(Shadow) + 2 * sizeof(Recent) + VALUE_BYTES) * (double)sizes.watched;
}

// NULL, or why the program is too large to be run here.
static const char *machine_size(Machine *m) {
  const double bytes = interpret_bytes(m->program);
  const int64_t rows = sizes_of(m->program).rows;
  if (bytes > INTERP_BYTES_MAX)
    return arena_printf(m->arena, "it takes %.1f GiB of memory, the limit is %.0f", bytes * 0x1p-30,
                        INTERP_BYTES_MAX * 0x1p-30);
  if (rows > REGISTERS_LIMIT)
    return arena_printf(m->arena, "a thread has %lld registers, at most %d can be held",
                        (long long)rows, REGISTERS_LIMIT);
  return NULL;
}

// The operand as bytes of its type.
static uint8_t *input_data(const Machine *m, const Buffer *buffer) {
  static const int order[ROLE_COUNT] = {[ROLE_B] = 1, [ROLE_V] = 2, [ROLE_SFA] = 2, [ROLE_SFB] = 3};
  const InterpOptions *options = m->options;
  const int which = order[buffer->role];
  const bool scaled = dtype_is_scaled(m->program->problem.dtype);
  const float *const inputs[] = {options->a, options->b, scaled ? options->scale[0] : options->v,
                                 options->scale[1]};
  const float *given = inputs[which];
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
  memory->read = ARENA_ARRAY(m->arena, Recent, memory->elements);
  memory->add = ARENA_ARRAY(m->arena, Recent, memory->elements);
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

static void look_for_async(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind == STMT_OP && op_facts(stmt->op.kind)->proxy == PROXY_ASYNC)
    *(bool *)context = true;
}

static bool has_passing(const Program *program) {
  bool passing = false;
  for (int i = 0; i < program->n_kernels; i++)
    passing |= stmt_find_action(program->kernel[i].body, ACTION_PASS, ROLE_COUNT) != NULL;
  return passing;
}

// Mbarriers, arrivals at barriers that go on, blocks that reach each other, or the async proxy,
// which fences have a say in.
static bool needs_clocks(const Program *program) {
  bool needs = most_together(program) > 1 || tmem_is_used(program) || has_passing(program);
  for (int i = 0; i < program->n_buffers; i++) needs |= program->buffer[i]->space == SPACE_BARRIER;
  for (int i = 0; i < program->n_kernels; i++)
    stmt_walk(program->kernel[i].body, look_for_async, &needs);
  return needs;
}

static void build_mbarriers(Machine *m, Memory *memory) {
  memory->mbar = ARENA_ARRAY(m->arena, Mbar, memory->elements);
  for (int64_t i = 0; i < memory->elements; i++)
    memory->mbar[i].order = order_mbar(m->order, -1, m->max_warps);
}

static const Reads *new_reads(const Machine *m, int64_t granules) {
  Reads *reads = ARENA_NEW(m->arena, Reads);
  const int readers = m->first_tensor ? 2 * m->n_readers : m->n_readers;
  const int64_t together = granules / READS_TOGETHER + 1;
  *reads = (Reads){.read = ARENA_ARRAY(m->arena, Touch, granules * readers),
                   .newest = ARENA_ARRAY(m->arena, NewestRead, together * readers),
                   .apart = granules};
  return reads;
}

// Shared buffers are windows of one memory, so that two that overlap are seen to.
static void build_shared(Machine *m, BlockState *block) {
  int64_t smem = program_smem_bytes(m->program), granule = shared_granule(m->program);
  uint8_t *shared = arena_alloc(m->arena, (size_t)smem);
  int64_t n = ceil_div(smem, granule);
  Shadow *shadow = ARENA_ARRAY(m->arena, Shadow, n);
  const Reads *reads = m->has_clocks ? new_reads(m, n) : NULL;
  Touch *stored = m->has_clocks ? ARENA_ARRAY(m->arena, Touch, n) : NULL;
  Recent *read = m->has_clocks ? NULL : ARENA_ARRAY(m->arena, Recent, n);
  for (int i = 0; i < m->program->n_buffers; i++) {
    const Buffer *buffer = m->program->buffer[i];
    Memory *memory = &block->memory[i];
    if (buffer->space != SPACE_SHARED) continue;
    const int64_t first = memory->first_granule = buffer->offset_bytes / granule;
    memory->data = shared + buffer->offset_bytes;
    memory->shadow = shadow + first;
    memory->reads = reads;
    if (read) memory->read = read + first;
    if (stored) memory->stored = stored + first;
    memory->n_shadows = (int)(memory->bytes / granule);
  }
}

static void build_tensor(const Machine *m, TensorMemory *tensor) {
  tensor->row = arena_alloc(m->arena, sizeof *tensor->row * TENSOR_QUARTERS);
  tensor->place = order_piece(m->order, sizeof *tensor->place * TENSOR_QUARTERS);
}

// All that blocks share is built once.
static void build_memory(Machine *m) {
  Memory *first = m->of_rank[0].memory;
  for (int i = 0; i < m->program->n_buffers; i++) {
    const Buffer *buffer = m->program->buffer[i];
    first[i] = (Memory){.buffer = buffer,
                        .type = buffer->type,
                        .bytes = dtype_bytes(buffer->type),
                        .elements = buffer_elements(buffer)};
    if (buffer->space == SPACE_REGISTER) build_registers(m, &first[i]);
    if (buffer->space == SPACE_GLOBAL) build_global(m, &first[i]);
  }
  for (int rank = 0; rank < m->max_cluster; rank++) {
    BlockState *block = &m->of_rank[rank];
    if (rank) memcpy(block->memory, first, sizeof block->memory);
    build_shared(m, block);
    if (m->has_tmem) build_tensor(m, &block->tensor);
    for (int i = 0; i < m->program->n_buffers; i++)
      if (block->memory[i].buffer->space == SPACE_BARRIER) build_mbarriers(m, &block->memory[i]);
  }
  m->memory = first;
}

static void find_remote_read(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind != STMT_OP) return;
  const Op *op = &stmt->op;
  const bool pair = op_multiplies(op->kind) && op->cta_group > 1;
  if (op->src.rank || op->src2.rank || pair) *(bool *)context = true;
}

// Counts the warps with reads that are kept: a block's own warps, or all warps where others read
// too.
static int count_readers(const Machine *m) {
  int64_t warps = 1;
  bool remote = false;
  for (int i = 0; i < m->program->n_kernels; i++) {
    warps = max64(warps, launch_block_warps(&m->kernel_code[i]->launch));
    stmt_walk(m->program->kernel[i].body, find_remote_read, &remote);
  }
  return remote ? m->max_warps : (int)warps;
}

static void build_order(Machine *m) {
  m->has_clocks = needs_clocks(m->program);
  m->n_readers = count_readers(m);
  const int agents = m->max_warps + m->max_cluster * INTERP_AGENTS;
  m->has_tmem = tmem_is_used(m->program);
  const bool multiplies = m->has_tmem || (m->has_clocks && has_wgmma(m->program));
  if (multiplies) m->first_tensor = agents;
  m->n_clocks = agents + (multiplies ? m->max_warps : 0) + 1;
  m->of_rank = ARENA_ARRAY(m->arena, BlockState, m->max_cluster);
  m->warp_order = ARENA_ARRAY(m->arena, int32_t, m->max_warps);
  m->order =
      order_new(m->arena, m->n_clocks, m->n_clocks, m->has_tmem ? ORDER_FACTS : ORDER_PASSED + 1);
  if (!m->has_clocks) return;
  if (m->has_tmem) m->moves = order_piece(m->order, sizeof *m->moves * (size_t)m->max_warps);
  m->clock = ARENA_ARRAY(m->arena, uint32_t *, m->n_clocks);
  m->rest = ARENA_ARRAY(m->arena, uint32_t *, m->n_clocks);
  m->knows = order_piece(m->order, sizeof *m->knows * (size_t)m->n_clocks);
  for (int w = 0; w < m->n_clocks; w++) {
    m->clock[w] = order_clock(m->order);
    m->rest[w] = order_clock(m->order);
  }
  m->scratch = order_clock(m->order);
  for (int rank = 0; has_passing(m->program) && rank < m->max_cluster; rank++)
    for (int i = 0; i < BLOCK_BARRIERS; i++)
      m->of_rank[rank].passed[i].known = order_clock(m->order);
  m->life = order_cluster(m->order, m->max_cluster, m->max_warps);
}

static TensorQueue *new_queue(const Machine *m) {
  TensorQueue *queue = ARENA_NEW(m->arena, TensorQueue);
  queue->busy_until = ARENA_ARRAY(m->arena, uint32_t, m->n_rows + 1);
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
    w->groups = order_piece(m->order, sizeof *w->groups);
    if (tiles) w->tensor = new_queue(m);
    if (!m->has_tmem) continue;
    w->agent = ARENA_NEW(m->arena, TensorAgent);
    w->loads = ARENA_NEW(m->arena, TensorMoves);
    w->stores = ARENA_NEW(m->arena, TensorMoves);
    w->loads->busy = ARENA_ARRAY(m->arena, uint8_t, m->n_rows + 1);
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
    m->max_cluster = max_int(m->max_cluster, code->cluster);
    m->max_warps = max_int(m->max_warps, code->cluster * launch_block_warps(launch));
    if (launch->n_blocks > max_blocks) max_blocks = launch->n_blocks;
  }
  m->max_clusters = max_blocks;
  m->cluster_order = ARENA_ARRAY(m->arena, int32_t, max_blocks);
  m->claimed = ARENA_ARRAY(m->arena, uint32_t, max_blocks);
  m->claimed_before = ARENA_ARRAY(m->arena, uint32_t, max_blocks);
  return NULL;
}

Machine *interp_build(Arena *arena, const Program *program, const InterpOptions *options) {
  Machine *m = ARENA_NEW(arena, Machine);
  m->arena = arena;
  m->program = program;
  m->options = options;
  m->trace = options->trace;
  m->watch = options->watch;
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
  build_order(m);
  build_memory(m);
  build_warps(m);
  return m;
}
