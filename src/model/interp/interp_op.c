// What each operation does, for the active lanes of one warp.
//
// One row of interp_op_table per row of op.def: the handler, and the kinds of memory each operand
// may be in. How an access is checked on its way is in interp_reach.c, what the tensor core does in
// interp_tensor.c. Arithmetic on f32 registers, nearly all there is, goes by 32 lanes at once;
// every other type lane by lane through a double, rounded to the type of the destination. Worked
// example, acc of f16, 2048 + 1: the sum 2049 does not fit 11 bits, the register keeps 2048.
#include <math.h>
#include <string.h>

#include "model/interp/interp_machine.h"

// ---- operations ---------------------------------------------------------------------------------

static void run_init(Machine *m, Warp *w, const Code *code) {
  Registers to = reach_registers(m, w, code, &code->dst);
  for (int j = 0; to.row && j < code->dst.width; j++) {
    Row *row = &to.row[j * to.rows];
    EACH_LANE(lane, w->active) row_put(row, to.type, lane, code->stmt->op.value);
    mark_written(w, &to, j);
  }
}

static void run_load(Machine *m, Warp *w, const Code *code) {
  Registers to = reach_registers(m, w, code, &code->dst);
  if (!to.row) return;
  Reach reach;
  reach_memory(m, w, code, &code->src, w->active, &reach);
  uint32_t outside = w->active & ~reach.inside;
  Touch now = touch_of(m, w, code);
  for (int j = 0; j < code->dst.width; j++) {
    Row *row = &to.row[j * to.rows];
    EACH_LANE(lane, reach.inside) {
      now.thread = thread_of(w, lane);
      read_element(m, w, code, &now, reach.memory, reach.at.lane[lane] + j, row, lane);
    }
    EACH_LANE(lane, outside)
    row_put(row, to.type, lane, reach.guarded >> lane & 1 ? 0.0 : interp_poison());
    mark_written(w, &to, j);
  }
}

static inline void write_element(const Memory *memory, int64_t at, const Row *from, DType type,
                                 uint32_t lane) {
  if (memory->type == DTYPE_F32 && type == DTYPE_F32)
    memcpy(memory_at(memory, at), &from->lane[lane], sizeof(float));
  else
    number_write(memory->type, memory_at(memory, at), row_get(from, type, lane));
}

static void run_store(Machine *m, Warp *w, const Code *code) {
  Registers from = read_registers(m, w, code, &code->src);
  if (!from.row) return;
  Reach reach;
  reach_memory(m, w, code, &code->dst, w->active, &reach);
  Touch now = touch_of(m, w, code);
  EACH_LANE(lane, reach.inside) {
    now.thread = thread_of(w, lane);
    for (int j = 0; j < code->src.width; j++) {
      int64_t at = reach.at.lane[lane] + j;
      shadow_write(m, reach.memory, at, &now);
      write_element(reach.memory, at, &from.row[j * from.rows], from.type, lane);
    }
  }
}

static inline bool is_single(DType type) { return type != DTYPE_F64 && type != DTYPE_S32; }

// The destination of fma and add must hold a sum already.
static void run_fma(Machine *m, Warp *w, const Code *code) {
  Registers a = read_registers(m, w, code, &code->src), b = read_registers(m, w, code, &code->src2);
  Registers acc = read_registers(m, w, code, &code->dst);
  if (!a.row || !b.row || !acc.row) return;
  bool single = acc.type == DTYPE_F32 && is_single(a.type) && is_single(b.type);
  if (single && w->active == UINT32_MAX) {
    acc.row->all += a.row->all * b.row->all;
    return;
  }
  EACH_LANE(lane, w->active) {
    double product = row_get(a.row, a.type, lane) * row_get(b.row, b.type, lane);
    row_put(acc.row, acc.type, lane, row_get(acc.row, acc.type, lane) + product);
  }
}

static void run_add(Machine *m, Warp *w, const Code *code) {
  Registers a = read_registers(m, w, code, &code->src);
  Registers sum = read_registers(m, w, code, &code->dst);
  if (!a.row || !sum.row) return;
  for (int j = 0; j < code->dst.width; j++) {
    const Row *term = &a.row[j * a.rows];
    Row *row = &sum.row[j * sum.rows];
    EACH_LANE(lane, w->active)
    row_put(row, sum.type, lane, row_get(row, sum.type, lane) + row_get(term, a.type, lane));
  }
}

static void run_scale(Machine *m, Warp *w, const Code *code) {
  const double alpha = (double)interp_alpha(m->options);
  Registers to = read_registers(m, w, code, &code->dst);
  for (int j = 0; to.row && j < code->dst.width; j++) {
    Row *row = &to.row[j * to.rows];
    EACH_LANE(lane, w->active) row_put(row, to.type, lane, row_get(row, to.type, lane) * alpha);
  }
}

static void add_to_cell(Machine *m, const Warp *w, const Code *code, const Touch *now,
                        const Memory *memory, int64_t at, double term) {
  uint8_t *cell = memory_at(memory, at);
  double old = interp_poison();
  if (shadow_atomic(m, memory, at, now))
    old = number_read(memory->type, cell);
  else
    report_unwritten(m, w, code, now, memory, at);
  number_write(memory->type, cell, old + term);
}

static void run_atomic_add(Machine *m, Warp *w, const Code *code) {
  Registers from = read_registers(m, w, code, &code->src);
  if (!from.row) return;
  Reach reach;
  reach_memory(m, w, code, &code->dst, w->active, &reach);
  Touch now = touch_of(m, w, code);
  EACH_LANE(lane, reach.inside) {
    now.thread = thread_of(w, lane);
    for (int j = 0; j < code->src.width; j++)
      add_to_cell(m, w, code, &now, reach.memory, reach.at.lane[lane] + j,
                  row_get(&from.row[j * from.rows], from.type, lane));
  }
}

static void run_barrier(Machine *m, Warp *w, const Code *code) {
  uint32_t missing = w->alive & ~w->active;
  if (missing)
    interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                  "reaches a barrier that lane %d of its warp does not", lowest_lane(missing));
  w->state = WARP_AT_BARRIER;
}

// ---- asynchronous copies ------------------------------------------------------------------------

static Copy *new_copy(Machine *m, Warp *w) {
  if (w->n_copies == w->copy_capacity) {
    w->copy_capacity = w->copy_capacity ? 2 * w->copy_capacity : 16;
    Copy *more = ARENA_ARRAY(m->arena, Copy, w->copy_capacity);
    if (w->n_copies) memcpy(more, w->copy, sizeof(Copy) * (size_t)w->n_copies);
    w->copy = more;
  }
  return &w->copy[w->n_copies++];
}

// The moment when a lane's bytes move.
static void land(const Machine *m, const Copy *copy, uint32_t lane) {
  const Code *code = &m->code->code[copy->code];
  const Memory *src = &m->memory[code->src.buffer->id], *dst = &m->memory[code->dst.buffer->id];
  size_t bytes = (size_t)(code->dst.width * dst->bytes);
  if (copy->zeros >> lane & 1)
    memset(memory_at(dst, copy->dst[lane]), 0, bytes);
  else
    memcpy(memory_at(dst, copy->dst[lane]), memory_at(src, copy->src[lane]), bytes);
}

static void launch_lane(Machine *m, const Warp *w, const Code *code, uint32_t lane,
                        const Reach *from, const Reach *to) {
  Touch now = touch_of(m, w, code);
  now.thread = thread_of(w, lane);
  for (int j = 0; j < code->dst.width; j++) {
    shadow_launch(m, to->memory, to->at.lane[lane] + j, &now);
    if (from->inside >> lane & 1) may_read(m, w, code, &now, from->memory, from->at.lane[lane] + j);
  }
}

static void run_cp_async(Machine *m, Warp *w, const Code *code) {
  Reach from, to;
  reach_memory(m, w, code, &code->src, w->active, &from);
  reach_memory(m, w, code, &code->dst, w->active, &to);
  uint32_t lanes = to.inside & (from.inside | from.guarded);
  if (!lanes) return;
  Copy *copy = new_copy(m, w);
  copy->code = (int)(code - m->code->code);
  copy->lanes = lanes;
  copy->zeros = from.guarded;
  memcpy(copy->src, from.at.lane, sizeof copy->src);
  memcpy(copy->dst, to.at.lane, sizeof copy->dst);
  memcpy(copy->group, w->committed, sizeof copy->group);
  EACH_LANE(lane, lanes) {
    launch_lane(m, w, code, lane, &from, &to);
    if (m->async == INTERP_EARLY) land(m, copy, lane);
  }
}

static void run_cp_commit(Machine *m, Warp *w, const Code *code) {
  (void)m;
  (void)code;
  EACH_LANE(lane, w->active) w->committed[lane]++;
}

static void arrive_lane(Machine *m, const Warp *w, Copy *copy, uint32_t lane) {
  const Code *code = &m->code->code[copy->code];
  const Memory *dst = &m->memory[code->dst.buffer->id];
  Touch now = touch_of(m, w, code);
  now.thread = thread_of(w, lane);
  if (m->async == INTERP_LATE) land(m, copy, lane);
  for (int j = 0; j < code->dst.width; j++) shadow_arrive(m, dst, copy->dst[lane] + j, &now);
  copy->lanes &= ~(1u << lane);
}

// Group g of a lane is complete when at most `count` groups were committed after it. A copy that
// was never committed has the group number that the next commit would give it: it stays.
static void run_cp_wait(Machine *m, Warp *w, const Code *code) {
  int kept = 0;
  for (int i = 0; i < w->n_copies; i++) {
    Copy *copy = &w->copy[i];
    EACH_LANE(lane, copy->lanes & w->active)
    if (copy->group[lane] < w->committed[lane] - code->stmt->op.count)
      arrive_lane(m, w, copy, lane);
    if (!copy->lanes) continue;
    if (kept != i) w->copy[kept] = *copy;
    kept++;
  }
  w->n_copies = kept;
}

enum {
  IN_GLOBAL = 1 << SPACE_GLOBAL,
  IN_SHARED = 1 << SPACE_SHARED,
  IN_REGISTER = 1 << SPACE_REGISTER,
  IN_BARRIER = 1 << SPACE_BARRIER,
  IN_MEMORY = IN_GLOBAL | IN_SHARED,
};

const OpRow interp_op_table[OP_COUNT] = {
    //                run                 dst          src          src2         converts
    [OP_INIT] = {run_init, IN_REGISTER, SPACES_NONE, SPACES_NONE, false},
    [OP_LOAD] = {run_load, IN_REGISTER, IN_MEMORY, SPACES_NONE, false},
    [OP_STORE] = {run_store, IN_MEMORY, IN_REGISTER, SPACES_NONE, true},
    [OP_FMA] = {run_fma, IN_REGISTER, IN_REGISTER, IN_REGISTER, true},
    [OP_ADD] = {run_add, IN_REGISTER, IN_REGISTER, SPACES_NONE, false},
    [OP_SCALE] = {run_scale, IN_REGISTER, SPACES_NONE, SPACES_NONE, false},
    [OP_ATOMIC_ADD] = {run_atomic_add, IN_GLOBAL, IN_REGISTER, SPACES_NONE, false},
    [OP_LDMATRIX] = {interp_run_ldmatrix, IN_REGISTER, IN_SHARED, SPACES_NONE, false},
    [OP_MMA] = {interp_run_mma, IN_REGISTER, IN_REGISTER, IN_REGISTER, true},
    [OP_BARRIER] = {run_barrier, SPACES_NONE, SPACES_NONE, SPACES_NONE, false},
    [OP_CP_ASYNC] = {run_cp_async, IN_SHARED, IN_GLOBAL, SPACES_NONE, false},
    [OP_CP_COMMIT] = {run_cp_commit, SPACES_NONE, SPACES_NONE, SPACES_NONE, false},
    [OP_CP_WAIT] = {run_cp_wait, SPACES_NONE, SPACES_NONE, SPACES_NONE, false},
    [OP_TMA_LOAD] = {interp_run_tma, IN_SHARED, IN_GLOBAL, IN_BARRIER, false},
    [OP_MBAR_INIT] = {interp_run_mbar_init, IN_BARRIER, SPACES_NONE, SPACES_NONE, false},
    [OP_MBAR_EXPECT] = {interp_run_mbar_expect, IN_BARRIER, SPACES_NONE, SPACES_NONE, false},
    [OP_MBAR_ARRIVE] = {interp_run_mbar_arrive, IN_BARRIER, SPACES_NONE, SPACES_NONE, false},
    [OP_MBAR_WAIT] = {interp_run_mbar_wait, IN_BARRIER, SPACES_NONE, SPACES_NONE, false},
    [OP_FENCE_ASYNC] = {interp_run_fence, SPACES_NONE, SPACES_NONE, SPACES_NONE, false},
    [OP_REGS_GIVE] = {interp_run_registers, SPACES_NONE, SPACES_NONE, SPACES_NONE, false},
    [OP_REGS_TAKE] = {interp_run_registers, SPACES_NONE, SPACES_NONE, SPACES_NONE, false},
};
