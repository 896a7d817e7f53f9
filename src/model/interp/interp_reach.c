// Reaching registers and memory: the gates that every access of a warp goes through.
//
// All of them are evaluated for 32 lanes together:
//
//   guard     the program's own: outside the matrix a load gives 0 and a store does nothing
//   bounds    ours: a lane that passes the guard must be inside the buffer, dimension by dimension
//   shadow    ours: written before, not racing, not in flight (interp_shadow.c)
//
// Worked example, N = 30 and a 16-byte load of B[k, n_b·16 + n_t·4 ..] in block n_b = 1: lanes with
// n_t = 0, 1, 2 pass the guard n < 30 (n = 16, 20, 24), n_t = 3 (n = 28) passes it too, but 28 + 4
// is more than 30: out of bounds, which is why the rules want N to be a multiple of the width.
#include <string.h>

#include "model/interp/interp_machine.h"

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
    int64_t term[LANES];
    expr_eval_warp(value->mixed[i].expr, warp->lanes, term);
    for (int l = 0; l < LANES; l++)
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
  for (int l = 0; l < LANES; l++) {
    bool holds = condition->negative ? value.lane[l] < 0 : value.lane[l] != 0;
    mask |= (uint32_t)holds << l;
  }
  return mask;
}

uint32_t interp_conditions(const Warp *warp, const Condition *condition, int n, uint32_t active) {
  for (int i = 0; i < n && active; i++) active &= condition_mask(warp, &condition[i]);
  return active;
}

// ---- memory -------------------------------------------------------------------------------------

static void report_index(Machine *m, const Warp *w, const Code *code, int lane,
                         const Operand *operand, int64_t offset, int64_t index, int64_t limit) {
  interp_report(m, FINDING_OUT_OF_BOUNDS, w, lane, code->stmt, operand->buffer, offset,
                "has index %lld, %d wide, where 0 to %lld is inside", (long long)index,
                operand->width, (long long)(limit - 1));
}

static void report_offset(Machine *m, const Warp *w, const Code *code, int lane,
                          const Operand *operand, int64_t offset) {
  interp_report(m, FINDING_OUT_OF_BOUNDS, w, lane, code->stmt, operand->buffer, offset,
                "touches offsets %lld to %lld of %lld elements", (long long)offset,
                (long long)(offset + operand->width - 1),
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
  int64_t last = reach->memory->elements - operand->width;
  EACH_LANE(lane, reach->inside) {
    int64_t at = reach->at.lane[lane];
    if (at >= 0 && at <= last) continue;
    report_offset(m, w, code, (int)lane, operand, at);
    reach->inside &= ~(1u << lane);
  }
}

static void check_alignment(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                            const Reach *reach) {
  int bytes = operand->width * reach->memory->bytes;
  EACH_LANE(lane, reach->inside) {
    int64_t at = reach->at.lane[lane];
    int64_t byte = operand->buffer->offset_bytes + at * reach->memory->bytes;
    if (byte % bytes == 0) continue;
    interp_report(m, FINDING_MISALIGNED, w, (int)lane, code->stmt, operand->buffer, at,
                  "moves %d bytes at byte %lld, which is not a multiple of %d", bytes,
                  (long long)byte, bytes);
    return;
  }
}

// The operand's memory: the own block's, or another block's in the cluster.
static const Memory *memory_of(Machine *m, const Warp *w, const Code *code,
                               const Operand *operand) {
  int id = operand->buffer->id;
  if (!operand->has_rank) return &m->memory[id];
  int rank = (int)interp_scalar(w, &operand->rank);
  interp_reach_rank(m, w, code, rank);
  return &m->of_rank[rank].memory[id];
}

void reach_memory(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                  uint32_t lanes, Reach *reach) {
  reach->memory = memory_of(m, w, code, operand);
  reach->inside = interp_conditions(w, operand->guard, operand->n_guards, lanes);
  reach->guarded = lanes & ~reach->inside;
  interp_lanes(w, &operand->offset, &reach->at);
  if (operand->n_checks) check_dims(m, w, code, operand, reach);
  if (!operand->offset_proven) check_offsets(m, w, code, operand, reach);
  if (operand->width > 1) check_alignment(m, w, code, operand, reach);
}

void shadow_report_unwritten(Machine *m, const Warp *w, const Code *code, const Touch *now,
                             const Memory *memory, int64_t at) {
  interp_report(m, FINDING_UNWRITTEN_READ, w, now->thread % LANES, code->stmt, memory->buffer, at,
                "reads a place that was never written");
}

bool shadow_may_read(Machine *m, const Warp *w, const Code *code, const Touch *now,
                     const Memory *memory, int64_t at) {
  if (!memory->shadow || shadow_read(m, memory, at, now)) return true;
  shadow_report_unwritten(m, w, code, now, memory, at);
  return false;
}

void interp_read_element(Machine *m, const Warp *w, const Code *code, const Touch *now,
                         const Memory *memory, int64_t at, Row *to, uint32_t lane) {
  if (!shadow_may_read(m, w, code, now, memory, at))
    row_put(to, memory->type, lane, interp_poison());
  else if (memory->type == DTYPE_F32)
    memcpy(&to->lane[lane], memory_at(memory, at), sizeof(float));
  else
    row_put(to, memory->type, lane, number_read(memory->type, memory_at(memory, at)));
}

// ---- registers ----------------------------------------------------------------------------------

// No value of the program's is that far out; of a NaN there is none among the whole numbers.
enum { WHOLE_POISON = INT32_MIN };

double row_get(const Row *row, DType type, uint32_t lane) {
  if (type == DTYPE_F64) return row[lane / 16].wide[lane % 16];
  if (type != DTYPE_S32) return (double)row->lane[lane];
  return row->whole[lane] == WHOLE_POISON ? interp_poison() : row->whole[lane];
}

// A row of floats keeps a NaN where the type itself (s8) has none.
void row_put(Row *row, DType type, uint32_t lane, double value) {
  bool poison = value != value;
  if (type == DTYPE_F64)
    row[lane / 16].wide[lane % 16] = value;
  else if (type == DTYPE_S32)
    row->whole[lane] = poison ? WHOLE_POISON : (int32_t)number_round(type, value);
  else
    row->lane[lane] = poison ? (float)value : (float)number_round(type, value);
}

static void tell_touched(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                         Registers touched, bool reads) {
  if (w->tensor && !code->tile) tensor_touch(m, w, code, operand, &touched);
  if (w->agent) tmem_touch_registers(m, w, code, operand, &touched, reads);
}

// Registers are checked as one access: their index is the same in all lanes. The result is written
// once, whole: a copy of a struct that was filled field by field waits for those stores.
static Registers touch_registers(Machine *m, const Warp *w, const Code *code,
                                 const Operand *operand, bool reads) {
  const Memory *memory = &m->memory[operand->buffer->id];
  const int64_t at = interp_scalar(w, &operand->offset);
  const int lane = lowest_lane(w->active);
  const Registers none = {.type = memory->type, .rows = memory->rows, .at = at};
  for (int i = 0; i < operand->n_checks; i++) {
    const DimCheck *check = &operand->check[i];
    int64_t index = interp_scalar(w, &check->value);
    if (index >= 0 && index < check->limit) continue;
    report_index(m, w, code, lane, operand, at, index, check->limit);
    return none;
  }
  if (at < 0 || at + operand->width > memory->elements) {
    report_offset(m, w, code, lane, operand, at);
    return none;
  }
  const int first = memory->first_row + (int)at * memory->rows;
  const Registers out = {&w->row[first], memory->type, memory->rows, first, at};
  if (w->tensor || w->agent) tell_touched(m, w, code, operand, out, reads);
  return out;
}

Registers reach_registers(Machine *m, const Warp *w, const Code *code, const Operand *operand) {
  return touch_registers(m, w, code, operand, false);
}

static void poison_missing(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                           const Registers *from, int j) {
  uint32_t *written = &w->written[from->first + j * from->rows];
  uint32_t missing = w->active & ~*written;
  interp_report(m, FINDING_UNWRITTEN_READ, w, lowest_lane(missing), code->stmt, operand->buffer,
                from->at + j, "reads a register that it never wrote");
  EACH_LANE(lane, missing)
  row_put(&from->row[j * from->rows], from->type, lane, interp_poison());
  // Told once; the poison goes on from here.
  *written |= missing;
}

Registers interp_read_registers(Machine *m, const Warp *w, const Code *code,
                                const Operand *operand) {
  Registers from = touch_registers(m, w, code, operand, true);
  for (int j = 0; from.row && j < operand->width; j++)
    if (w->active & ~w->written[from.first + j * from.rows])
      poison_missing(m, w, code, operand, &from, j);
  return from;
}
