// Loads, stores and atomic adds of single lanes, and registers that take a constant.
//
//   LOAD  width 1   a[m_r] = A_s[k_i * 132 + m_t * 8 + m_r];
//   LOAD  width 4   load4(&a[m_g * 4], &A_s[k_i * 132 + m_t * 8 + m_g * 4]);
//   with a guard    a[m_r] = m_b * 16 + m_t < M ? A[(m_b * 16 + m_t) * K + k] : 0.0f;
//
// A width without an instruction (two values of 8 bits, a conversion that does not go in pairs)
// becomes accesses of one element, one for each.
#include <string.h>

#include "model/ir/stmt.h"
#include "model/ops/ops.h"

// ---- run ----------------------------------------------------------------------------------------

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
      interp_read_element(m, w, code, &now, reach.memory, reach.at.lane[lane] + j, row, lane);
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
  Registers from = interp_read_registers(m, w, code, &code->src);
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

static void add_to_cell(Machine *m, const Warp *w, const Code *code, const Touch *now,
                        const Memory *memory, int64_t at, double term) {
  uint8_t *cell = memory_at(memory, at);
  double old = interp_poison();
  if (shadow_atomic(m, memory, at, now))
    old = number_read(memory->type, cell);
  else
    shadow_report_unwritten(m, w, code, now, memory, at);
  number_write(memory->type, cell, old + term);
}

static void run_atomic_add(Machine *m, Warp *w, const Code *code) {
  Registers from = interp_read_registers(m, w, code, &code->src);
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

// ---- emit ---------------------------------------------------------------------------------------

static void emit_init(Emitter *emitter, const Op *op) {
  const Buffer *buffer = op->dst.buffer;
  if (op->width == 1) {
    const char *value = emit_constant(emitter, buffer->type, op->value);
    emitter_line(emitter, "%s", emit_assignment(emitter, &op->dst, value));
    return;
  }
  const char *fill =
      emit_helper(emitter, emit_move_of(emitter, PRELUDE_FILL, buffer, buffer, op->width));
  const char *value = emitter->packed[buffer->id]
                          ? emit_packed_constant(emitter, buffer->type, op->value)
                          : emit_constant(emitter, buffer->type, op->value);
  emitter_line(emitter, "%s(&%s, %s);", fill, emit_element(emitter, &op->dst), value);
}

// A tensor-core program's plain read of a slab of 4-byte values; plain FMA has the registers that
// 64-bit addresses take.
static bool reads_slab_by_offset(const Emitter *emitter, const Op *op) {
  return program_atom(emitter->program) && op->width == 1 && !op->src.rank &&
         op->src.buffer->space == SPACE_SHARED &&
         emit_stored_type(op->src.buffer->type) == DTYPE_F32;
}

static void emit_load(Emitter *emitter, const Op *op) {
  const Buffer *to = op->dst.buffer;
  if (reads_slab_by_offset(emitter, op)) {
    const Prelude load = {.kind = PRELUDE_LOAD_SHARED, .type = DTYPE_F32};
    const char *value = arena_printf(emitter->arena, "%s(%s)", emit_helper(emitter, load),
                                     emit_place(emitter, &op->src));
    emitter_line(emitter, "%s", emit_assignment(emitter, &op->dst, value));
    return;
  }
  if (op->width > 1) {
    emit_move(emitter, op, PRELUDE_LOAD, to);
    return;
  }
  const char *guard = emit_guard_text(emitter, &op->src);
  const char *value = emit_converted(emitter, to->type, &op->src);
  if (guard)
    value = arena_printf(emitter->arena, "%s ? %s : %s", guard, value,
                         emit_constant(emitter, to->type, 0));
  emitter_line(emitter, "%s", emit_assignment(emitter, &op->dst, value));
}

static void emit_store(Emitter *emitter, const Op *op) {
  const Buffer *memory = op->dst.buffer, *registers = op->src.buffer;
  const char *guard = emit_guard_text(emitter, &op->dst), *statement;
  if (op->width > 1) {
    const char *store =
        emit_helper(emitter, emit_move_of(emitter, PRELUDE_STORE, memory, registers, op->width));
    statement = arena_printf(emitter->arena, "%s(&%s, &%s);", store,
                             emit_element(emitter, &op->dst), emit_element(emitter, &op->src));
  } else {
    statement = emit_assignment(emitter, &op->dst, emit_converted(emitter, memory->type, &op->src));
  }
  emit_guarded_line(emitter, guard, statement);
}

static void emit_atomic_add(Emitter *emitter, const Op *op) {
  DType type = op->dst.buffer->type;
  const char *add = "atomicAdd";
  if (prelude_type_is_struct(type))
    add = emit_helper(emitter, (Prelude){.kind = PRELUDE_ATOMIC_ADD, .type = type});
  const char *statement =
      arena_printf(emitter->arena, "%s(&%s, %s);", add, emit_element(emitter, &op->dst),
                   emit_converted(emitter, type, &op->src));
  emit_guarded_line(emitter, emit_guard_text(emitter, &op->dst), statement);
}

// Pairs of float sums become one register of two 16-bit values.
static bool rounds_in_pairs(const Emitter *emitter, const Op *op) {
  const Buffer *memory = op->dst.buffer, *registers = op->src.buffer;
  return dtype_bytes(memory->type) == 2 && registers->type == DTYPE_F32 &&
         !emitter->packed[registers->id];
}

static bool init_is_split(const Emitter *emitter, const Op *op) {
  (void)emitter;
  return !emit_is_one_move(op->dst.buffer, op->width);
}

static bool load_is_split(const Emitter *emitter, const Op *op) {
  (void)emitter;
  return !emit_is_one_move(op->src.buffer, op->width) ||
         !emit_is_same_type(op->dst.buffer, op->src.buffer);
}

static bool store_is_split(const Emitter *emitter, const Op *op) {
  if (!emit_is_one_move(op->dst.buffer, op->width)) return true;
  return !rounds_in_pairs(emitter, op) && !emit_is_same_type(op->dst.buffer, op->src.buffer);
}

static bool always_split(const Emitter *emitter, const Op *op) {
  (void)emitter;
  (void)op;
  return true;
}

static const char *const loads[ROLE_COUNT] = {[ROLE_STAGE_A] = "fetch the slab of %s",
                                              [ROLE_STAGE_B] = "fetch the slab of %s",
                                              [ROLE_STAGE_V] = "fetch the slab of %s",
                                              [ROLE_FRAG_A] = "this thread's values of %s",
                                              [ROLE_STAGE_C] = "take a piece of it, in whole lines",
                                              [ROLE_FRAG_B] = "this thread's values of %s",
                                              [ROLE_FRAG_V] = "this thread's values of %s"};
static const char *const stores[ROLE_COUNT] = {
    [ROLE_SLAB_A] = "put the slab of %s into shared memory",
    [ROLE_SLAB_B] = "put the slab of %s into shared memory",
    [ROLE_SLAB_V] = "put the slab of %s into shared memory",
    [ROLE_SLAB_C] = "put a row of atoms into shared memory",
    [ROLE_C] = "write the cells of %s",
    [ROLE_PARTIAL] = "write this split's partial sums"};
static const char *const adds[ROLE_COUNT] = {[ROLE_C] = "add this split's part of the cells"};

const OpRules rules_INIT = {.text = {.write = emit_init, .is_split = init_is_split},
                            {.run = run_init}};
const OpRules rules_LOAD = {
    .text = {.write = emit_load, .is_split = load_is_split, .purposes = loads}, {.run = run_load}};
const OpRules rules_STORE = {
    .text = {.write = emit_store, .is_split = store_is_split, .purposes = stores},
    {.run = run_store}};
const OpRules rules_ATOMIC_ADD = {
    .text = {.write = emit_atomic_add, .is_split = always_split, .purposes = adds},
    {.run = run_atomic_add}};
