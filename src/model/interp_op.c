// What each operation does, for the active lanes of one warp.
//
// One row of interp_op_table per row of op.def: the handler, and the kinds of memory each operand
// may be in. An access goes through three gates, all evaluated for 32 lanes together:
//
//   guard     the program's own: outside the matrix a load gives 0 and a store does nothing
//   bounds    ours: whoever passes the guard must be inside the buffer, dimension by dimension
//   shadow    ours: written before, not racing, not in flight (interp_shadow.c)
//
// Worked example, N = 30 and a 16-byte load of B[k, n_b·16 + n_t·4 ..] in block n_b = 1: lanes with
// n_t = 0, 1, 2 pass the guard n < 30 (n = 16, 20, 24), n_t = 3 (n = 28) passes it too, but 28 + 4
// is more than 30: out of bounds, which is why the rules want N to be a multiple of the width.
#include <math.h>
#include <string.h>

#include "model/interp_machine.h"

// ---- values -------------------------------------------------------------------------------------

int64_t interp_scalar(const Warp *warp, const Value *value) {
  int64_t sum = value->constant;
  for (int i = 0; i < value->n_uniform; i++) {
    const Term *term = &value->uniform[i];
    int64_t x = term->var >= 0 ? warp->scalar[term->var] : expr_eval(term->expr, warp->scalar);
    sum += term->coef * x;
  }
  return sum;
}

void interp_lanes(const Warp *warp, const Value *value, Lanes *out) {
  int32_t scalar = (int32_t)interp_scalar(warp, value);
  out->all = (LaneInts){0} + scalar;
  if (value->slot >= 0) out->all += warp->slot[value->slot].all;
  for (int i = 0; i < value->n_mixed; i++) {
    int64_t term[WARP_LANES];
    expr_eval_warp(value->mixed[i].expr, warp->lanes, term);
    for (int l = 0; l < WARP_LANES; l++)
      out->lane[l] = (int32_t)(out->lane[l] + value->mixed[i].coef * term[l]);
  }
}

static uint32_t condition_mask(const Warp *warp, const Condition *condition) {
  if (value_is_uniform(&condition->value)) {
    int64_t value = interp_scalar(warp, &condition->value);
    return (condition->negative ? value < 0 : value != 0) ? UINT32_MAX : 0;
  }
  Lanes value;
  interp_lanes(warp, &condition->value, &value);
  uint32_t mask = 0;
  for (int l = 0; l < WARP_LANES; l++) {
    bool holds = condition->negative ? value.lane[l] < 0 : value.lane[l] != 0;
    mask |= (uint32_t)holds << l;
  }
  return mask;
}

uint32_t interp_conditions(const Warp *warp, const Condition *condition, int n, uint32_t active) {
  for (int i = 0; i < n && active; i++) active &= condition_mask(warp, &condition[i]);
  return active;
}

// ---- reaching memory ----------------------------------------------------------------------------

// Which lanes of an access get where.
typedef struct Reach {
  const Memory *memory;
  uint32_t inside;   // reach an element of the buffer
  uint32_t guarded;  // stopped by the program's guard
  Lanes at;          // offsets of those inside
} Reach;

#define EACH_LANE(lane, mask)                                                                \
  for (uint32_t left_ = (mask), lane = 0; left_ && (lane = (uint32_t)lowest_lane(left_), 1); \
       left_ &= left_ - 1)

static void report_index(Machine *m, const Warp *w, const Code *code, int lane,
                         const Operand *operand, int64_t offset, int64_t index, int64_t limit) {
  interp_report(m, FINDING_OUT_OF_BOUNDS, w, lane, code->stmt, operand->buffer, offset,
                "has index %lld, %d wide, where 0 to %lld is inside", (long long)index,
                code->stmt->op.width, (long long)(limit - 1));
}

static void report_offset(Machine *m, const Warp *w, const Code *code, int lane,
                          const Operand *operand, int64_t offset) {
  interp_report(m, FINDING_OUT_OF_BOUNDS, w, lane, code->stmt, operand->buffer, offset,
                "touches offsets %lld to %lld of %lld elements", (long long)offset,
                (long long)(offset + code->stmt->op.width - 1),
                (long long)buffer_elements(operand->buffer));
}

static void check_dims(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                       Reach *reach) {
  for (int i = 0; i < operand->n_checks && reach->inside; i++) {
    const DimCheck *check = &operand->check[i];
    Lanes index;
    interp_lanes(w, &check->value, &index);
    EACH_LANE(lane, reach->inside) {
      if (index.lane[lane] >= 0 && index.lane[lane] < check->limit) continue;
      report_index(m, w, code, (int)lane, operand, reach->at.lane[lane], index.lane[lane],
                   check->limit);
      reach->inside &= ~(1u << lane);
    }
  }
}

static void check_offsets(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                          Reach *reach) {
  int64_t last = reach->memory->elements - code->stmt->op.width;
  EACH_LANE(lane, reach->inside) {
    int64_t at = reach->at.lane[lane];
    if (at >= 0 && at <= last) continue;
    report_offset(m, w, code, (int)lane, operand, at);
    reach->inside &= ~(1u << lane);
  }
}

static void check_alignment(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                            const Reach *reach) {
  int width = code->stmt->op.width;
  int64_t base = operand->buffer->offset_bytes / dtype_bytes(operand->buffer->type);
  EACH_LANE(lane, reach->inside) {
    int64_t at = reach->at.lane[lane];
    if ((base + at) % width == 0) continue;
    interp_report(m, FINDING_MISALIGNED, w, (int)lane, code->stmt, operand->buffer, at,
                  "moves %d bytes at byte %lld, which is not a multiple of %d", width * 4,
                  (long long)(base + at) * 4, width * 4);
    return;
  }
}

static void reach_memory(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                         Reach *reach) {
  reach->memory = &m->memory[operand->buffer->id];
  reach->inside = interp_conditions(w, operand->guard, operand->n_guards, w->active);
  reach->guarded = w->active & ~reach->inside;
  interp_lanes(w, &operand->offset, &reach->at);
  if (operand->n_checks) check_dims(m, w, code, operand, reach);
  if (!operand->offset_proven) check_offsets(m, w, code, operand, reach);
  if (code->stmt->op.width > 1) check_alignment(m, w, code, operand, reach);
}

// The first of `width` registers; NULL after a finding. Registers are checked as one access: their
// index is the same in all lanes.
static Row *reach_register(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                           int width, int *row) {
  const Memory *memory = &m->memory[operand->buffer->id];
  int64_t at = interp_scalar(w, &operand->offset);
  int lane = lowest_lane(w->active);
  for (int i = 0; i < operand->n_checks; i++) {
    const DimCheck *check = &operand->check[i];
    int64_t index = interp_scalar(w, &check->value);
    if (index >= 0 && index < check->limit) continue;
    report_index(m, w, code, lane, operand, at, index, check->limit);
    return NULL;
  }
  if (at < 0 || at + width > memory->elements) {
    report_offset(m, w, code, lane, operand, at);
    return NULL;
  }
  *row = memory->first_row + (int)at;
  return &w->row[*row];
}

static void read_register(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                          int row, int j) {
  uint32_t missing = w->active & ~w->written[row + j];
  if (!missing) return;
  int64_t at = row + j - m->memory[operand->buffer->id].first_row;
  interp_report(m, FINDING_UNWRITTEN_READ, w, lowest_lane(missing), code->stmt, operand->buffer, at,
                "reads a register that it never wrote");
  EACH_LANE(lane, missing) w->row[row + j].lane[lane] = interp_poison();
  // Told once; the poison goes on from here.
  w->written[row + j] |= missing;
}

// A source register that can be read: `width` rows from the answer on.
static Row *source_rows(Machine *m, const Warp *w, const Code *code, const Operand *operand) {
  int row = 0, width = code->stmt->op.width;
  Row *rows = reach_register(m, w, code, operand, width, &row);
  for (int j = 0; rows && j < width; j++) read_register(m, w, code, operand, row, j);
  return rows;
}

static inline uint16_t thread_of(const Warp *w, uint32_t lane) {
  return (uint16_t)((uint32_t)w->index * WARP_LANES + lane);
}

// The access of lane 0; the other lanes differ in `thread`.
static Touch touch_of(const Machine *m, const Warp *w, const Code *code) {
  return (Touch){m->epoch, (uint32_t)m->block, thread_of(w, 0), (uint16_t)(code - m->code->code)};
}

// ---- operations ---------------------------------------------------------------------------------

static void run_init(Machine *m, Warp *w, const Code *code) {
  int row = 0, width = code->stmt->op.width;
  Row *rows = reach_register(m, w, code, &code->dst, width, &row);
  for (int j = 0; rows && j < width; j++) {
    EACH_LANE(lane, w->active) rows[j].lane[lane] = (float)code->stmt->op.value;
    w->written[row + j] |= w->active;
  }
}

static void report_unwritten(Machine *m, const Warp *w, const Code *code, uint32_t lane,
                             const Memory *memory, int64_t at) {
  interp_report(m, FINDING_UNWRITTEN_READ, w, (int)lane, code->stmt, memory->buffer, at,
                "reads what nothing wrote");
}

// What a lane finds there; `now` is its access.
static inline float read_element(Machine *m, const Warp *w, const Code *code, const Touch *now,
                                 const Memory *memory, int64_t at) {
  if (!memory->shadow || shadow_read(m, memory, at, now)) return memory->data[at];
  report_unwritten(m, w, code, now->thread % WARP_LANES, memory, at);
  return interp_poison();
}

static void run_load(Machine *m, Warp *w, const Code *code) {
  int row = 0, width = code->stmt->op.width;
  Row *rows = reach_register(m, w, code, &code->dst, width, &row);
  if (!rows) return;
  Reach reach;
  reach_memory(m, w, code, &code->src, &reach);
  uint32_t outside = w->active & ~reach.inside;
  Touch now = touch_of(m, w, code);
  for (int j = 0; j < width; j++) {
    Row *to = &rows[j];
    EACH_LANE(lane, reach.inside) {
      now.thread = thread_of(w, lane);
      to->lane[lane] = read_element(m, w, code, &now, reach.memory, reach.at.lane[lane] + j);
    }
    EACH_LANE(lane, outside)
    to->lane[lane] = reach.guarded >> lane & 1 ? 0.0f : interp_poison();
    w->written[row + j] |= w->active;
  }
}

static void run_store(Machine *m, Warp *w, const Code *code) {
  const Row *rows = source_rows(m, w, code, &code->src);
  if (!rows) return;
  Reach reach;
  reach_memory(m, w, code, &code->dst, &reach);
  Touch now = touch_of(m, w, code);
  EACH_LANE(lane, reach.inside) {
    now.thread = thread_of(w, lane);
    for (int j = 0; j < code->stmt->op.width; j++) {
      int64_t at = reach.at.lane[lane] + j;
      shadow_write(m, reach.memory, at, &now);
      reach.memory->data[at] = rows[j].lane[lane];
    }
  }
}

// The destination of fma and add must hold a sum already.
static void run_fma(Machine *m, Warp *w, const Code *code) {
  const Row *a = source_rows(m, w, code, &code->src), *b = source_rows(m, w, code, &code->src2);
  Row *acc = source_rows(m, w, code, &code->dst);
  if (!a || !b || !acc) return;
  if (w->active == UINT32_MAX) {
    acc->all += a->all * b->all;
    return;
  }
  EACH_LANE(lane, w->active) acc->lane[lane] += a->lane[lane] * b->lane[lane];
}

static void run_add(Machine *m, Warp *w, const Code *code) {
  const Row *a = source_rows(m, w, code, &code->src);
  Row *sum = source_rows(m, w, code, &code->dst);
  if (!a || !sum) return;
  EACH_LANE(lane, w->active) sum->lane[lane] += a->lane[lane];
}

static void run_scale(Machine *m, Warp *w, const Code *code) {
  const float alpha = interp_alpha(m->options);
  Row *row = source_rows(m, w, code, &code->dst);
  if (!row) return;
  EACH_LANE(lane, w->active) row->lane[lane] *= alpha;
}

static void run_atomic_add(Machine *m, Warp *w, const Code *code) {
  const Row *row = source_rows(m, w, code, &code->src);
  if (!row) return;
  Reach reach;
  reach_memory(m, w, code, &code->dst, &reach);
  Touch now = touch_of(m, w, code);
  EACH_LANE(lane, reach.inside) {
    now.thread = thread_of(w, lane);
    int64_t at = reach.at.lane[lane];
    float *cell = &reach.memory->data[at];
    if (!shadow_atomic(m, reach.memory, at, &now)) {
      report_unwritten(m, w, code, lane, reach.memory, at);
      *cell = interp_poison();
    }
    *cell += row->lane[lane];
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
  bool zero = copy->zeros >> lane & 1;
  for (int j = 0; j < code->stmt->op.width; j++)
    dst->data[copy->dst[lane] + j] = zero ? 0.0f : src->data[copy->src[lane] + j];
}

static void launch_lane(Machine *m, const Warp *w, const Code *code, uint32_t lane,
                        const Reach *from, const Reach *to) {
  Touch now = touch_of(m, w, code);
  now.thread = thread_of(w, lane);
  for (int j = 0; j < code->stmt->op.width; j++) {
    shadow_launch(m, to->memory, to->at.lane[lane] + j, &now);
    if (from->inside >> lane & 1)
      read_element(m, w, code, &now, from->memory, from->at.lane[lane] + j);
  }
}

static void run_cp_async(Machine *m, Warp *w, const Code *code) {
  Reach from, to;
  reach_memory(m, w, code, &code->src, &from);
  reach_memory(m, w, code, &code->dst, &to);
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
  for (int j = 0; j < code->stmt->op.width; j++) shadow_arrive(m, dst, copy->dst[lane] + j, &now);
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
  IN_MEMORY = IN_GLOBAL | IN_SHARED,
};

const OpRow interp_op_table[OP_COUNT] = {
    //                run             dst          src          src2
    [OP_INIT] = {run_init, IN_REGISTER, SPACES_NONE, SPACES_NONE},
    [OP_LOAD] = {run_load, IN_REGISTER, IN_MEMORY, SPACES_NONE},
    [OP_STORE] = {run_store, IN_MEMORY, IN_REGISTER, SPACES_NONE},
    [OP_FMA] = {run_fma, IN_REGISTER, IN_REGISTER, IN_REGISTER},
    [OP_ADD] = {run_add, IN_REGISTER, IN_REGISTER, SPACES_NONE},
    [OP_SCALE] = {run_scale, IN_REGISTER, SPACES_NONE, SPACES_NONE},
    [OP_ATOMIC_ADD] = {run_atomic_add, IN_GLOBAL, IN_REGISTER, SPACES_NONE},
    [OP_BARRIER] = {run_barrier, SPACES_NONE, SPACES_NONE, SPACES_NONE},
    [OP_CP_ASYNC] = {run_cp_async, IN_SHARED, IN_GLOBAL, SPACES_NONE},
    [OP_CP_COMMIT] = {run_cp_commit, SPACES_NONE, SPACES_NONE, SPACES_NONE},
    [OP_CP_WAIT] = {run_cp_wait, SPACES_NONE, SPACES_NONE, SPACES_NONE},
};
