// Writes an operation by the rules of its family (model/ops). What the families share stands here:
// which widths one instruction moves, guards, and lines under them.
#include "model/text/emit_op.h"

#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/stmt.h"

enum { LINE_COLUMNS = 100, REGISTER_BYTES = 4, ACCESS_BYTES_MAX = 16 };

// ---- what a wide access is done by --------------------------------------------------------------

// tf32 lies in memory and in registers as f32.
DType emit_stored_type(DType type) { return type == DTYPE_TF32 ? DTYPE_F32 : type; }

bool emit_is_same_type(const Buffer *a, const Buffer *b) {
  return emit_stored_type(a->type) == emit_stored_type(b->type);
}

// One instruction moves it: 4, 8 or 16 bytes, whole registers, and more than one element.
bool emit_is_one_move(const Buffer *buffer, int width) {
  int bytes = width * dtype_bytes(buffer->type);
  return width > 1 && bytes >= REGISTER_BYTES && bytes <= ACCESS_BYTES_MAX &&
         is_power_of_two(bytes);
}

// The first with cvt.rn.f16x2.f32.
enum { CC_CONVERTS_TWO = 80 };

static bool lacks_pairs(const Emitter *emitter) {
  return emitter->options->cc && emitter->options->cc < CC_CONVERTS_TWO;
}

Prelude emit_move_of(const Emitter *emitter, PreludeKind kind, const Buffer *memory,
                     const Buffer *registers, int width) {
  return (Prelude){.kind = kind,
                   .type = emit_stored_type(memory->type),
                   .registers = kind == PRELUDE_STORE ? emit_stored_type(registers->type) : 0,
                   .by_one = kind == PRELUDE_STORE && lacks_pairs(emitter) &&
                             !emit_is_same_type(memory, registers),
                   .packed = registers && emitter->packed[registers->id],
                   .width = width};
}

// ---- lines --------------------------------------------------------------------------------------

const char *emit_condition(Emitter *emitter, const Expr *expr) {
  Str out = str_new(emitter->arena);
  ExprText text = emit_expr_text(emitter, &out);
  emit_expr(&text, expr);
  return out.text;
}

const char *emit_corner(Emitter *emitter, const Access *global) {
  const Buffer *matrix = global->buffer;
  const char *column = emit_condition(emitter, global->idx[buffer_fast_dimension(matrix)]);
  const char *row = emit_condition(emitter, global->idx[buffer_slow_dimension(matrix)]);
  const char *which = "";
  if (buffer_matrices(matrix))
    which = arena_printf(emitter->arena, ", %s", emit_condition(emitter, global->idx[0]));
  return arena_printf(emitter->arena, "%s, %s%s", column, row, which);
}

const char *emit_guard_text(Emitter *emitter, const Access *access) {
  Str out = str_new(emitter->arena);
  ExprText text = emit_expr_text(emitter, &out);
  return emit_guard(&text, emitter->program, access) ? out.text : NULL;
}

// A statement under a guard, on one line where it fits.
void emit_guarded_line(Emitter *emitter, const char *guard, const char *statement) {
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

const char *emit_given(Emitter *emitter, const PreludeText *given) {
  return emit_helper(emitter, (Prelude){.kind = PRELUDE_GIVEN, .given = given});
}

// helper(&to, &from); or helper_or_zero(&to, &from, guard);
void emit_move(Emitter *emitter, const Op *op, PreludeKind kind, const Buffer *registers) {
  const char *guard = emit_guard_text(emitter, &op->src);
  if (guard) kind++;  // the kind "or zero" follows its plain one
  const char *name =
      emit_helper(emitter, emit_move_of(emitter, kind, op->src.buffer, registers, op->width));
  emitter_line(emitter, "%s(&%s, &%s%s%s);", name, emit_element(emitter, &op->dst),
               emit_element(emitter, &op->src), guard ? ", " : "", guard ? guard : "");
}

// ---- operations ---------------------------------------------------------------------------------

bool emit_op_is_split(const Emitter *emitter, const Op *op) {
  const OpEmission *text = op_emission(op->kind);
  return op->width > 1 && text->is_split && text->is_split(emitter, op);
}

static void write_one(Emitter *emitter, const Op *op) {
  const OpEmission *text = op_emission(op->kind);
  if (text->call)
    emitter_line(emitter, "%s();", emit_given(emitter, text->call));
  else
    text->write(emitter, op);
}

static void emit_one_by_one(Emitter *emitter, const Op *op) {
  for (int j = 0; j < op->width; j++) {
    Op one = *op;
    one.width = 1;
    one.dst = emit_neighbour(emitter->arena, &op->dst, j);
    one.src = emit_neighbour(emitter->arena, &op->src, j);
    write_one(emitter, &one);
  }
}

void emit_op(Emitter *emitter, const Op *op) {
  if (emit_op_is_split(emitter, op))
    emit_one_by_one(emitter, op);
  else
    write_one(emitter, op);
}
