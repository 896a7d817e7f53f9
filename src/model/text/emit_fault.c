// Tells what the emitter asks of a program beyond what makes it run: programs of passes have it
// all, one that a user wrote may not.
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/text/emit_value.h"

typedef struct Faults {
  const Emitter *emitter;
  const char *first;
} Faults;

static bool is_small_float(DType type) { return dtype_bytes(type) == 1 && type != DTYPE_S8; }

// There is an instruction that rounds to f16 or bf16, and none here that rounds to 8 bits.
static bool rounds_to_8_bits(const Op *op) {
  const Buffer *dst = op->dst.buffer, *src = op->src.buffer;
  bool alone = !op_is_collective(op->kind);
  bool computes = alone && op_facts(op->kind)->dst.read && !op_takes_mbarrier(op->kind);
  bool converts = alone && dst && src && dst->type != src->type;
  return dst && is_small_float(dst->type) && (computes || converts);
}

// A tile that no descriptor finds: it lies in global memory, or not as a descriptor can say.
static const Buffer *lost_tile(const Op *op) {
  const Buffer *buffer[] = {op->src.buffer, op->src2.buffer};
  if (op_moves_factors(op->kind) && !op->tile[0].is_described) return op->src.buffer;
  for (int i = 0; i < 2 && op_reads_tiles(op->kind); i++)
    if (buffer[i]->space != SPACE_REGISTER && !op->tile[i].is_described) return buffer[i];
  return NULL;
}

static void find_fault(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Faults *faults = context;
  if (faults->first || stmt->kind != STMT_OP) return;
  const Buffer *lost = lost_tile(&stmt->op);
  if (lost)
    faults->first = arena_printf(
        faults->emitter->arena,
        "%s reads %s where it lies, and no descriptor can say where: %s (statement %d)",
        op_name(stmt->op.kind), lost->name,
        lost->space == SPACE_GLOBAL ? "it is in global memory" : "its rows are no panels",
        stmt->id);
  if (!rounds_to_8_bits(&stmt->op)) return;
  faults->first =
      arena_printf(faults->emitter->arena, "%s has no way to round to %s (statement %d)",
                   op_name(stmt->op.kind), dtype_name(stmt->op.dst.buffer->type), stmt->id);
}

// Values that share a register fill it, in each row of a buffer.
static const char *packing_fault(const Emitter *emitter) {
  const Program *program = emitter->program;
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    int per = emit_values_per_register(emitter, buffer);
    if (buffer->dim[buffer->rank - 1] % per)
      return arena_printf(emitter->arena, "%s has rows of %lld values, and %d share a register",
                          buffer->name, (long long)buffer->dim[buffer->rank - 1], per);
  }
  return NULL;
}

const char *emit_fault(Arena *arena, const Program *program) {
  Emitter emitter = {.arena = arena, .program = program};
  emit_values_collect(&emitter);
  Faults faults = {&emitter, packing_fault(&emitter)};
  for (int i = 0; i < program->n_kernels; i++)
    stmt_walk(program->kernel[i].body, find_fault, &faults);
  return faults.first;
}
