// Tiles of A and B as the tensor core finds them: by descriptors, in shared memory.
//
// The elements are those that a descriptor leads to, not those that the program means: its fields
// are decoded (ir/matrix_tile.h), and where they and the buffer disagree that is a finding. Worked
// example, A of bf16 in panels of 64 columns, swizzled by 128B, LBO 16, SBO 1024: element (9, 3)
// lies 1,024 + 128 + 6 bytes behind the corner, and bits 4 to 6 of that address are xored with bits
// 7 to 9.
//
// Before slabs are staged, tiles lie in global memory, where no instruction finds them: that is
// interpreted, and never emitted.
#include "model/ops/tile_operand.h"

#include "model/ir/matrix_tile.h"
#include "model/ir/stmt.h"

enum { K_BYTES = 32 };

// ---- compiling ----------------------------------------------------------------------------------

const char *tile_type_fault(Arena *arena, const Atom *atom, AtomOperand which,
                            const Buffer *buffer) {
  const char *wanted = which == ATOM_C ? atom->acc : atom->type;
  if (str_equal(dtype_name(buffer->type), wanted)) return NULL;
  return arena_printf(arena, "%s of %s is %s, but %s holds %s", atom_operand_name(which),
                      atom->name, wanted, buffer->name, dtype_name(buffer->type));
}

// Which way tiles run is free for types of 16 bits alone.
const char *tile_turned_fault(Arena *arena, const Op *op) {
  for (int operand = ATOM_A; operand <= ATOM_B; operand++)
    if (op->tile[operand].is_described && op->tile[operand].trans && op->atom->bits != 16)
      return arena_printf(arena, "%s of %s runs along M or N, and its tiles run only along K",
                          atom_operand_name((AtomOperand)operand), op->atom->name);
  return NULL;
}

// The tile as the buffer has it, described or not: a panel is a step of its own.
static int64_t meant_offset(const Buffer *slab, bool trans, int64_t row, int64_t k) {
  int last = slab->rank - 1;
  int64_t fast = trans ? row : k, slow = trans ? k : row;
  int64_t offset = slow * slab->stride[last - 1];
  if (slab->panel)
    offset += fast / slab->panel * slab->stride[last - 2] + fast % slab->panel;
  else
    offset += fast * slab->stride[last];
  return offset * dtype_bytes(slab->type);
}

static int64_t offset_of(const Op *op, int i, const Buffer *slab, bool trans, int64_t row,
                         int64_t k) {
  if (!op->tile[i].is_described) return meant_offset(slab, trans, row, k);
  return matrix_tile_offset(&op->tile[i], dtype_bytes(slab->type), row, k);
}

void tile_prepare(Arena *arena, const Program *program, Code *code, int i) {
  TileCode *tile = &code->tile[i];
  const Op *op = &code->stmt->op;
  const Buffer *buffer = i == 0 ? op->src.buffer : op->src2.buffer;
  tile->rows = i == 0 ? op->atom->m : op->atom->n / (op->cta_group > 1 ? op->cta_group : 1);
  tile->depth = op->atom->k;
  if (!tile->in_memory || buffer->space == SPACE_GLOBAL) return;
  bool trans = matrix_tile_runs_across(program, buffer, (AtomOperand)i);
  MatrixTile meant = matrix_tile_of(program, op, (AtomOperand)i);
  if (op->tile[i].is_described) trans = op->tile[i].trans;
  int32_t *at = ARENA_ARRAY(arena, int32_t, (int64_t)tile->rows * tile->depth);
  for (int64_t row = 0; row < tile->rows; row++)
    for (int64_t k = 0; k < tile->depth; k++)
      at[row * tile->depth + k] = (int32_t)offset_of(op, i, buffer, trans, row, k);
  tile->at = at;
  tile->swizzle = op->tile[i];
  const TileShape shape = {(AtomOperand)i, tile->rows, tile->depth, K_BYTES / tile->depth};
  tile->wrong = matrix_tile_difference(arena, &shape, &op->tile[i], &meant);
}

// ---- reading ------------------------------------------------------------------------------------

static double number_at(const Memory *memory, int64_t at) {
  return number_tensor(memory->type, number_read(memory->type, memory_at(memory, at)));
}

// A descriptor may lead anywhere.
static bool is_there(Machine *m, const Warp *w, const Code *code, const Memory *memory,
                     int64_t at) {
  if (at >= 0 && at < memory->elements) return true;
  interp_report(m, FINDING_OUT_OF_BOUNDS, w, -1, code->stmt, memory->buffer, at,
                "reads element %lld of %lld by its descriptor", (long long)at,
                (long long)memory->elements);
  return false;
}

// One element of a tile in shared memory.
static double shared_element(Machine *m, const Warp *w, const Code *code, const Touch *now,
                             uint16_t reader, const Memory *memory, int64_t at) {
  if (!now) return at < 0 || at >= memory->elements ? interp_poison() : number_at(memory, at);
  if (!is_there(m, w, code, memory, at)) return interp_poison();
  if (shadow_read_by(m, memory, at, now, reader)) return number_at(memory, at);
  shadow_report_unwritten(m, w, code, now, memory, at);
  return interp_poison();
}

// Bits of the address in shared memory are swizzled; where no descriptor can say how a slab is laid
// out yet, as the buffer has it.
static int64_t permuted(const Buffer *slab, const TileCode *tile, int64_t byte) {
  if (tile->swizzle.is_described)
    return matrix_tile_swizzled(&tile->swizzle, slab->offset_bytes + byte) - slab->offset_bytes;
  int64_t out = byte, mask = ((int64_t)1 << slab->swizzle_bits) - 1;
  if (slab->swizzle_bits)
    out ^= (byte >> (slab->swizzle_base + slab->swizzle_shift) & mask) << slab->swizzle_base;
  return out;
}

void tile_read_shared(Machine *m, const Warp *w, const Code *code, const Touch *now,
                      uint16_t reader, int i, int64_t corner, TilePart part, double *out) {
  const TileCode *tile = &code->tile[i];
  const Memory *memory = &m->memory[(i == 0 ? &code->src : &code->src2)->buffer->id];
  int bytes = memory->bytes, first = part.first_row * tile->depth;
  for (int e = 0; e < part.n_rows * tile->depth; e++) {
    int64_t byte = permuted(memory->buffer, tile, corner * bytes + tile->at[first + e]);
    out[e] = shared_element(m, w, code, now, reader, memory, byte / bytes);
  }
}

bool tile_ask(Machine *m, const Warp *w, const Code *code, const Touch *now, uint16_t reader, int i,
              int64_t corner) {
  const TileCode *tile = &code->tile[i];
  const Memory *memory = &m->memory[(i == 0 ? &code->src : &code->src2)->buffer->id];
  for (int e = 0; e < tile->rows * tile->depth; e++) {
    int64_t at = permuted(memory->buffer, tile, corner * memory->bytes + tile->at[e]);
    at /= memory->bytes;
    if (!is_there(m, w, code, memory, at)) return false;
    if (shadow_read_by(m, memory, at, now, reader)) continue;
    shadow_report_unwritten(m, w, code, now, memory, at);
    return false;
  }
  return true;
}

// Outside of the matrix there are zeros, as TMA and guarded loads bring them. Of several matrices
// the first index says which.
void tile_read_global(Machine *m, const Code *code, int i, const int64_t *index, TilePart part,
                      double *out) {
  const TileCode *tile = &code->tile[i];
  const Memory *memory = &m->memory[(i == 0 ? &code->src : &code->src2)->buffer->id];
  const Buffer *buffer = memory->buffer;
  const int last = buffer->rank - 1;
  const int64_t *dim = buffer->dim + last - 1, *stride = buffer->stride + last - 1;
  const int64_t matrix = last == 2 ? index[0] * buffer->stride[0] : 0;
  for (int row = 0; row < part.n_rows; row++)
    for (int k = 0; k < tile->depth; k++) {
      int64_t across = part.first_row + row, at[] = {index[last - 1], index[last]};
      at[i == 0 ? 0 : 1] += across;
      at[i == 0 ? 1 : 0] += k;
      bool inside = at[0] < dim[0] && at[1] < dim[1];
      *out++ = inside ? number_at(memory, matrix + at[0] * stride[0] + at[1] * stride[1]) : 0;
    }
}

// A tile that begins inside a panel must end in it, as its descriptor steps over panels in whole.
void tile_check_corner(Machine *m, const Warp *w, const Code *code, int i, const int64_t *index) {
  const TileCode *tile = &code->tile[i];
  const Buffer *slab = (i == 0 ? &code->src : &code->src2)->buffer;
  if (!tile->swizzle.is_described) return;
  if (tile->wrong)
    interp_report(m, FINDING_DESCRIPTOR, w, -1, code->stmt, slab, 0, "%s", tile->wrong);
  int64_t fast = tile->swizzle.trans ? tile->rows : tile->depth, begin = index[slab->rank - 1];
  int64_t slow = index[slab->rank - 2];
  if (slab->panel && begin % slab->panel && begin + fast > slab->panel)
    interp_report(m, FINDING_DESCRIPTOR, w, -1, code->stmt, slab, 0,
                  "begins %lld elements into a panel of %lld and ends in the next panel: no "
                  "descriptor can describe that",
                  (long long)begin, (long long)slab->panel);
  if (slow % 8)
    interp_report(m, FINDING_DESCRIPTOR, w, -1, code->stmt, slab, 0,
                  "begins in row %lld, but tiles begin at multiples of 8", (long long)slow);
}

// ---- emit ---------------------------------------------------------------------------------------

// tile_of(A_s, at, 0x4000004000010000ull)
const char *tile_emit(Emitter *emitter, const Op *op, int i, int arch) {
  const Access *access = i == 0 ? &op->src : &op->src2;
  DType type = access->buffer->type;
  Buffer plain = *access->buffer;  // the descriptor swizzles; a corner is hardly ever moved by that
  plain.swizzle_bits = plain.n_xor = 0;
  Access at = *access;
  at.buffer = &plain;
  Arena *arena = emitter->arena;
  if (expr_equal(access_offset(arena, &at), access_offset(arena, access))) at = *access;
  emit_type_name(emitter, type);
  const char *name =
      emit_helper(emitter, (Prelude){.kind = PRELUDE_TILE, .type = emit_stored_type(type)});
  return arena_printf(emitter->arena, "%s(%s, 0x%llxull)", name, emit_place(emitter, &at),
                      (unsigned long long)matrix_tile_bits(&op->tile[i], arch));
}
