// The 16-byte chunks of each slab row are xored with the row.
//
// Requires: stage, rows of a power of two of bytes (no pad). Ensures: both slabs carry
// Swizzle<B, 4, S>; no index changes, because an address is always derived from the buffer.
//
// S is chosen so that the bits xored in are those of the row: byte offset bits [4, 4+B) ^= bits
// [4+S, 4+S+B) with 4 + S = log2(row bytes), and at least 7, for a shorter row shares its 128-byte
// line with others. B of a 4-byte atom, read by plain loads (lane / 4 along the row, lane % 4 down
// the column), is xored in 32-byte pieces instead: its eight columns of a row stay together and its
// four rows part (Swizzle<B, 5, S>); a row of 128 bytes has four such pieces, so B is 2 there at
// most, or bits that are read would be flipped too. Worked example: rows of 64 f16 are 128 bytes,
// so S = 3 and chunk c of row r lies at chunk c ^ (r % 8): the eight rows of an ldmatrix matrix
// fall on eight different bank groups.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

bool pass_swizzle_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_SWIZZLE] > 0 && schedule->value[KNOB_STAGE] != 0;
}

enum { CHUNK_BITS = 4, LINE_BITS = 7 };

bool slab_is_read_plainly(const Program *program, const Product *product) {
  const Buffer *slab = operand_slab(program, product, ATOM_B);
  return product->atom && !slab_runs_along_k(product, ATOM_B, slab) &&
         dtype_bytes(problem_operand_type(&program->problem)) == 4;
}

static int piece_bits(const Program *program, const Product *product, int operand) {
  bool plain = operand == ATOM_B && slab_is_read_plainly(program, product);
  return plain ? CHUNK_BITS + 1 : CHUNK_BITS;
}

void pass_swizzle(Program *program, Product *product, const Schedule *schedule) {
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    Buffer *slab = operand_slab(program, product, operand);
    if (!slab) continue;
    int base = piece_bits(program, product, operand);
    // TMA permutes chunks alone: pass_stage.c says what it does instead.
    if (pass_tma_wanted(schedule) && base != CHUNK_BITS) continue;
    int row_bits = log2_up(slab->stride[slab->rank - 2] * dtype_bytes(slab->type));
    int bits = (int)schedule->value[KNOB_SWIZZLE];
    slab->swizzle_base = base;
    slab->swizzle_shift = (row_bits > LINE_BITS ? row_bits : LINE_BITS) - slab->swizzle_base;
    slab->swizzle_bits = bits < slab->swizzle_shift ? bits : slab->swizzle_shift;
    slab->knob = KNOB_SWIZZLE;
  }
}
