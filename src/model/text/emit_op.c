// The operations: one row each says how it is written. Register buffers are C arrays indexed by
// loop variables of unrolled loops; shared and global ones are pointers indexed by their offset:
//   LOAD  width 1   a[m_r] = A_s[k_i * 132 + m_t * 8 + m_r];
//   LOAD  width 4   load4(&a[m_g * 4], &A_s[k_i * 132 + m_t * 8 + m_g * 4]);
//   with a guard    a[m_r] = m_b * 16 + m_t < M ? A[(m_b * 16 + m_t) * K + k] : 0.0f;
//   FMA             acc[m_r][n_r] += a[m_r] * b[n_r];    contracted to one fma.rn by the compiler
//   MMA             mma_m16n8k16_f32_f16(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0]);
//
// A width for which there is no instruction (two values of 8 bits, a conversion that does not go in
// pairs) becomes as many accesses of one element.
#include "model/text/emit_op.h"

#include <assert.h>
#include <string.h>

#include "base/whole.h"
#include "model/text/emit_value.h"

enum { LINE_COLUMNS = 100, REGISTER_BYTES = 4, ACCESS_BYTES_MAX = 16 };

// ---- what a wide access is done by --------------------------------------------------------------

// tf32 lies in memory and in registers as f32.
static DType stored_type(DType type) { return type == DTYPE_TF32 ? DTYPE_F32 : type; }

static bool is_same_type(const Buffer *a, const Buffer *b) {
  return stored_type(a->type) == stored_type(b->type);
}

// One instruction moves it: 4, 8 or 16 bytes, whole registers, and more than one element.
static bool is_one_move(const Buffer *buffer, int width) {
  int bytes = width * dtype_bytes(buffer->type);
  return width > 1 && bytes >= REGISTER_BYTES && bytes <= ACCESS_BYTES_MAX &&
         is_power_of_two(bytes);
}

// The first with cvt.rn.f16x2.f32.
enum { CC_CONVERTS_TWO = 80 };

static bool lacks_pairs(const Emitter *emitter) {
  return emitter->options->cc && emitter->options->cc < CC_CONVERTS_TWO;
}

static Prelude move_of(const Emitter *emitter, PreludeKind kind, const Buffer *memory,
                       const Buffer *registers, int width) {
  return (Prelude){
      .kind = kind,
      .type = stored_type(memory->type),
      .registers = kind == PRELUDE_STORE ? stored_type(registers->type) : 0,
      .by_one = kind == PRELUDE_STORE && lacks_pairs(emitter) && !is_same_type(memory, registers),
      .packed = registers && emitter->packed[registers->id],
      .width = width};
}

// ---- lines --------------------------------------------------------------------------------------

static ExprText expr_text(Emitter *emitter, Str *out) {
  return (ExprText){emitter->arena, out, &emitter->symbols, emitter->names, emitter->n_threads};
}

const char *emit_condition(Emitter *emitter, const Expr *expr) {
  Str out = str_new(emitter->arena);
  ExprText text = expr_text(emitter, &out);
  emit_expr(&text, expr);
  return out.text;
}

static const char *print_guard(Emitter *emitter, const Access *access) {
  Str out = str_new(emitter->arena);
  ExprText text = expr_text(emitter, &out);
  return emit_guard(&text, emitter->program, access) ? out.text : NULL;
}

// A statement under a guard, on one line where it fits.
static void guarded_line(Emitter *emitter, const char *guard, const char *statement) {
  if (!guard) {
    emitter_line(emitter, "%s", statement);
    return;
  }
  size_t columns = strlen(guard) + strlen(statement) + sizeof "if () " - 1;
  if ((size_t)emitter->depth * 2 + columns <= LINE_COLUMNS) {
    emitter_line(emitter, "if (%s) %s", guard, statement);
    return;
  }
  emitter_line(emitter, "if (%s)", guard);
  emitter->depth++;
  emitter_line(emitter, "%s", statement);
  emitter->depth--;
}

// ---- plain memory -------------------------------------------------------------------------------

static void emit_init(Emitter *emitter, const Op *op) {
  const Buffer *buffer = op->dst.buffer;
  if (op->width == 1) {
    const char *value = emit_constant(emitter, buffer->type, op->value);
    emitter_line(emitter, "%s", emit_assignment(emitter, &op->dst, value));
    return;
  }
  const char *fill =
      emit_helper(emitter, move_of(emitter, PRELUDE_FILL, buffer, buffer, op->width));
  const char *value = emitter->packed[buffer->id]
                          ? emit_packed_constant(emitter, buffer->type, op->value)
                          : emit_constant(emitter, buffer->type, op->value);
  emitter_line(emitter, "%s(&%s, %s);", fill, emit_element(emitter, &op->dst), value);
}

// helper(&to, &from); or helper_or_zero(&to, &from, guard);
static void emit_move(Emitter *emitter, const Op *op, PreludeKind kind, const Buffer *registers) {
  const char *guard = print_guard(emitter, &op->src);
  if (guard) kind++;  // the kind "or zero" follows its plain one
  const char *name =
      emit_helper(emitter, move_of(emitter, kind, op->src.buffer, registers, op->width));
  emitter_line(emitter, "%s(&%s, &%s%s%s);", name, emit_element(emitter, &op->dst),
               emit_element(emitter, &op->src), guard ? ", " : "", guard ? guard : "");
}

// A tensor-core program's plain read of a slab of 4-byte values; plain FMA has the registers that
// 64-bit addresses take.
static bool reads_slab_by_offset(const Emitter *emitter, const Op *op) {
  return emitter->program->atom && op->width == 1 && op->src.buffer->space == SPACE_SHARED &&
         stored_type(op->src.buffer->type) == DTYPE_F32;
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
  const char *guard = print_guard(emitter, &op->src);
  const char *value = emit_converted(emitter, to->type, &op->src);
  if (guard)
    value = arena_printf(emitter->arena, "%s ? %s : %s", guard, value,
                         emit_constant(emitter, to->type, 0));
  emitter_line(emitter, "%s", emit_assignment(emitter, &op->dst, value));
}

static void emit_store(Emitter *emitter, const Op *op) {
  const Buffer *memory = op->dst.buffer, *registers = op->src.buffer;
  const char *guard = print_guard(emitter, &op->dst), *statement;
  if (op->width > 1) {
    const char *store =
        emit_helper(emitter, move_of(emitter, PRELUDE_STORE, memory, registers, op->width));
    statement = arena_printf(emitter->arena, "%s(&%s, &%s);", store,
                             emit_element(emitter, &op->dst), emit_element(emitter, &op->src));
  } else {
    statement = emit_assignment(emitter, &op->dst, emit_converted(emitter, memory->type, &op->src));
  }
  guarded_line(emitter, guard, statement);
}

static void emit_atomic_add(Emitter *emitter, const Op *op) {
  DType type = op->dst.buffer->type;
  const char *add = "atomicAdd";
  if (prelude_type_is_struct(type))
    add = emit_helper(emitter, (Prelude){.kind = PRELUDE_ATOMIC_ADD, .type = type});
  const char *statement =
      arena_printf(emitter->arena, "%s(&%s, %s);", add, emit_element(emitter, &op->dst),
                   emit_converted(emitter, type, &op->src));
  guarded_line(emitter, print_guard(emitter, &op->dst), statement);
}

// ---- arithmetic ---------------------------------------------------------------------------------

// dst `sign`= number, rounded where dst is a type that C does not compute with.
static void emit_update(Emitter *emitter, const Access *dst, char sign, const char *number) {
  DType type = dst->buffer->type;
  if (!prelude_type_is_struct(type)) {
    emitter_line(emitter, "%s %c= %s;", emit_element(emitter, dst), sign, number);
    return;
  }
  const char *sum =
      arena_printf(emitter->arena, "%s %c %s", emit_number(emitter, dst), sign, number);
  emitter_line(emitter, "%s", emit_assignment(emitter, dst, emit_rounded(emitter, type, sum)));
}

static void emit_fma(Emitter *emitter, const Op *op) {
  const char *a = emit_number(emitter, &op->src), *b = emit_number(emitter, &op->src2);
  emit_update(emitter, &op->dst, '+', arena_printf(emitter->arena, "%s * %s", a, b));
}

static void emit_add(Emitter *emitter, const Op *op) {
  emit_update(emitter, &op->dst, '+', emit_number(emitter, &op->src));
}

static void emit_scale(Emitter *emitter, const Op *op) {
  emit_update(emitter, &op->dst, '*', "alpha");
}

// ---- the tensor core ----------------------------------------------------------------------------

static void emit_ldmatrix(Emitter *emitter, const Op *op) {
  const char *name = emit_helper(emitter, (Prelude){.kind = PRELUDE_LDMATRIX,
                                                    .type = stored_type(op->src.buffer->type),
                                                    .width = (int)op->count,
                                                    .trans = op->trans});
  emit_type_name(emitter, op->src.buffer->type);
  emitter_line(emitter, "%s(&%s, %s);", name, emit_element(emitter, &op->dst),
               emit_place(emitter, &op->src));
}

static void emit_mma(Emitter *emitter, const Op *op) {
  const Atom *atom = emitter->program->atom;
  assert(atom && atom->warps == 1);
  const char *name = emit_helper(emitter, (Prelude){.kind = PRELUDE_MMA, .atom = atom});
  emitter_line(emitter, "%s(&%s, &%s, &%s);", name, emit_element(emitter, &op->dst),
               emit_element(emitter, &op->src), emit_element(emitter, &op->src2));
}

// ---- synchronization ----------------------------------------------------------------------------

static void emit_barrier(Emitter *emitter, const Op *op) {
  if (op->count == 0)
    emitter_line(emitter, "__syncthreads();");
  else
    emitter_line(emitter, "%s<%lld>();",
                 emit_helper(emitter, (Prelude){.kind = PRELUDE_BARRIER_OF}), (long long)op->count);
}

// cp_async4(slab, at, &from); with a guard and a predicate, which comes last,
// cp_async4_or_zero_if(slab, at, &from, guard, predicate);
static void emit_cp_async(Emitter *emitter, const Op *op) {
  const char *guard = print_guard(emitter, &op->src), *wanted = emitter->predicate;
  PreludeKind kind = wanted ? PRELUDE_CP_ASYNC_IF : PRELUDE_CP_ASYNC;
  if (guard) kind++;  // the kind "or zero" follows its plain one
  Prelude copy = move_of(emitter, kind, op->src.buffer, NULL, op->width);
  copy.l2_bytes = (int)op->count;
  const char *name = emit_helper(emitter, copy);
  emitter_line(emitter, "%s(%s, &%s%s%s%s%s);", name, emit_place(emitter, &op->dst),
               emit_element(emitter, &op->src), guard ? ", " : "", guard ? guard : "",
               wanted ? ", " : "", wanted ? wanted : "");
}

static void emit_cp_commit(Emitter *emitter, const Op *op) {
  (void)op;
  emitter_line(emitter, "%s();", emit_helper(emitter, (Prelude){.kind = PRELUDE_CP_ASYNC_COMMIT}));
}

static void emit_cp_wait(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>();",
               emit_helper(emitter, (Prelude){.kind = PRELUDE_CP_ASYNC_WAIT}),
               (long long)op->count);
}

// ---- mbarriers, TMA, roles ----------------------------------------------------------------------

// mbarrier_expect(full, slot, 49152);
static void emit_mbarrier(Emitter *emitter, const Op *op) {
  static const PreludeKind kinds[OP_COUNT] = {[OP_MBAR_INIT] = PRELUDE_MBARRIER_INIT,
                                              [OP_MBAR_EXPECT] = PRELUDE_MBARRIER_EXPECT,
                                              [OP_MBAR_ARRIVE] = PRELUDE_MBARRIER_ARRIVE,
                                              [OP_MBAR_WAIT] = PRELUDE_MBARRIER_WAIT};
  const char *last = "";
  if (op->kind == OP_MBAR_WAIT)
    last = arena_printf(emitter->arena, ", %s", emit_condition(emitter, op->phase));
  else if (op->kind != OP_MBAR_ARRIVE)
    last = arena_printf(emitter->arena, ", %lld", (long long)op->count);
  emitter_line(emitter, "%s(%s%s);", emit_helper(emitter, (Prelude){.kind = kinds[op->kind]}),
               emit_place(emitter, &op->dst), last);
}

// tma_load(slab, at, &A_map, column, row, full, slot); column and row as the matrix lies in memory.
static void emit_tma_load(Emitter *emitter, const Op *op) {
  const Buffer *from = op->src.buffer;
  int fast = buffer_fast_dimension(from);
  const char *name = emit_helper(
      emitter, (Prelude){.kind = PRELUDE_TMA_LOAD, .type = stored_type(op->dst.buffer->type)});
  emit_type_name(emitter, op->dst.buffer->type);
  emitter_line(emitter, "%s(%s, &%s_map, %s, %s, %s);", name, emit_place(emitter, &op->dst),
               from->name, emit_condition(emitter, op->src.idx[fast]),
               emit_condition(emitter, op->src.idx[1 - fast]), emit_place(emitter, &op->src2));
}

static void emit_fence(Emitter *emitter, const Op *op) {
  (void)op;
  emitter_line(emitter, "%s();", emit_helper(emitter, (Prelude){.kind = PRELUDE_FENCE_ASYNC}));
}

static void emit_registers(Emitter *emitter, const Op *op) {
  PreludeKind kind = op->kind == OP_REGS_TAKE ? PRELUDE_REGISTERS_TAKE : PRELUDE_REGISTERS_GIVE;
  emitter_line(emitter, "%s<%lld>();", emit_helper(emitter, (Prelude){.kind = kind}),
               (long long)op->count);
}

static void (*const writers[OP_COUNT])(Emitter *emitter, const Op *op) = {
    [OP_INIT] = emit_init,
    [OP_LOAD] = emit_load,
    [OP_STORE] = emit_store,
    [OP_FMA] = emit_fma,
    [OP_ADD] = emit_add,
    [OP_ATOMIC_ADD] = emit_atomic_add,
    [OP_BARRIER] = emit_barrier,
    [OP_CP_ASYNC] = emit_cp_async,
    [OP_CP_COMMIT] = emit_cp_commit,
    [OP_CP_WAIT] = emit_cp_wait,
    [OP_SCALE] = emit_scale,
    [OP_LDMATRIX] = emit_ldmatrix,
    [OP_MMA] = emit_mma,
    [OP_TMA_LOAD] = emit_tma_load,
    [OP_MBAR_INIT] = emit_mbarrier,
    [OP_MBAR_EXPECT] = emit_mbarrier,
    [OP_MBAR_ARRIVE] = emit_mbarrier,
    [OP_MBAR_WAIT] = emit_mbarrier,
    [OP_FENCE_ASYNC] = emit_fence,
    [OP_REGS_GIVE] = emit_registers,
    [OP_REGS_TAKE] = emit_registers,
};

// ---- widths without an instruction --------------------------------------------------------------

// Pairs of float sums become one register of two 16-bit values.
static bool rounds_in_pairs(const Emitter *emitter, const Op *op) {
  const Buffer *memory = op->dst.buffer, *registers = op->src.buffer;
  return dtype_bytes(memory->type) == 2 && registers->type == DTYPE_F32 &&
         !emitter->packed[registers->id];
}

bool emit_op_is_split(const Emitter *emitter, const Op *op) {
  if (op->width == 1) return false;
  if (op->kind == OP_INIT) return !is_one_move(op->dst.buffer, op->width);
  if (op->kind == OP_ATOMIC_ADD) return true;
  if (op->kind != OP_LOAD && op->kind != OP_STORE) return false;
  const Buffer *memory = op->kind == OP_LOAD ? op->src.buffer : op->dst.buffer;
  if (!is_one_move(memory, op->width)) return true;
  bool rounds = op->kind == OP_STORE && rounds_in_pairs(emitter, op);
  return !rounds && !is_same_type(op->dst.buffer, op->src.buffer);
}

static void emit_one_by_one(Emitter *emitter, const Op *op) {
  for (int j = 0; j < op->width; j++) {
    Op one = *op;
    one.width = 1;
    one.dst = emit_neighbour(emitter->arena, &op->dst, j);
    one.src = emit_neighbour(emitter->arena, &op->src, j);
    writers[op->kind](emitter, &one);
  }
}

void emit_op(Emitter *emitter, const Op *op) {
  assert(writers[op->kind]);
  if (emit_op_is_split(emitter, op))
    emit_one_by_one(emitter, op);
  else
    writers[op->kind](emitter, op);
}
