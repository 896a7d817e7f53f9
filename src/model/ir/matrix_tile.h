// From a slab to the matrix descriptor by which wgmma reads it.
//
//   matrix_tile_of(&program, &op, ATOM_A)     128B, LBO 16, SBO 1024
//
// Worked example, A of bf16, 128 rows of 64 along K, SWIZZLE=3: one panel of 128-byte rows. K runs
// fastest; eight rows are 1,024 bytes, so SBO = 1,024, and LBO is not looked at. B as [K][N], 256
// columns: four panels of 64 rows of 128 bytes. N runs fastest (trans); eight rows of K are 1,024
// bytes (SBO), the next 64 columns begin 64 * 128 = 8,192 bytes further (LBO).
//
// Source: PTX ISA, wgmma, "Strides" and "Matrix Descriptor Format"; the canonical layouts are those
// of banks/layouts/smem_descriptor.h.
#pragma once
#include "banks/layouts/instruction_descriptor.h"
#include "banks/layouts/smem_descriptor.h"
#include "model/ir/names.h"
#include "model/ir/tile.h"
#include "model/words/fragment.h"

// Whether M or N runs fastest in an operand's slab, not K: as the operand lies in global memory.
bool matrix_tile_runs_across(const Program *program, const Buffer *slab, AtomOperand operand);
// Tells what a descriptor of the operand must say; is_described is false where none can. Of a copy
// of factors there is one operand.
MatrixTile matrix_tile_of(const Program *program, const Op *op, AtomOperand operand);

// Gives every operation that reads tiles the descriptors that its buffers ask for; after each pass.
void program_describe_tiles(Program *program);

// The descriptor of a tile that begins at byte `start` of shared memory, as wgmma (arch 90) or
// tcgen05 (100) has it, and the way back; `trans` is not a field of it, but an operand of the
// instruction, or a field of its own descriptor.
SmemDescriptor matrix_tile_descriptor(const MatrixTile *tile, int64_t start, int arch);
MatrixTile matrix_tile_decode(const SmemDescriptor *descriptor, bool trans);
// The descriptor's 64 bits but for the start address.
uint64_t matrix_tile_bits(const MatrixTile *tile, int arch);
// The 32 bits that tell tcgen05.mma types, shape and which way its tiles run; 0: it has no atom.
// The IDs of scale factors are 0 in it: they are said by where the factors begin, Op.scale.
uint32_t matrix_tile_instruction(Arena *arena, const Op *op);
// The descriptor that an operation carries, with its kind; false where it has none.
bool matrix_tile_instruction_said(const Op *op, InstructionDescriptor *out);
// Tells what a field of it says: "bf16", "128". The ID of scale factors is where a step's begin in
// their words: "0-3" where there are four steps to a word, and each has its own.
const char *matrix_tile_instruction_field(Arena *arena, const Op *op,
                                          const InstructionDescriptor *said,
                                          const InstructionField *field);
// In which field two of them differ, as the rest of a sentence; NULL: in none.
const char *matrix_tile_instruction_difference(Arena *arena, const Op *op, uint32_t meant);
// "128B": the name of the swizzle.
const char *matrix_tile_swizzle(const MatrixTile *tile);

// Bytes from the start address to element (row, k) of the tile, before the swizzle; row counts M or
// N. The addresses' bits 4 … 4 + swizzle - 1 are then xored with bits 7 and up.
int64_t matrix_tile_offset(const MatrixTile *tile, int element_bytes, int64_t row, int64_t k);
int64_t matrix_tile_swizzled(const MatrixTile *tile, int64_t address);

// The place of an access in a buffer that nothing permutes, in elements: where a tile begins, for
// the descriptor permutes what lies behind it.
const Expr *matrix_tile_corner(Arena *arena, const Access *access);

// The byte of shared memory from which the hardware reads element (row, k). A base offset moves the
// beginning of the pattern by that number of lines of 128 bytes.
int64_t matrix_tile_address(const SmemDescriptor *descriptor, bool trans, int element_bytes,
                            int64_t row, int64_t k);
// The same for an element `offset` bytes from the start address before the swizzle; `tile` is the
// content of the descriptor.
int64_t matrix_tile_placed(const SmemDescriptor *descriptor, const MatrixTile *tile,
                           int64_t offset);

// A tile of an operand: M or N by K, in elements.
typedef struct TileShape {
  AtomOperand operand;
  int rows, depth, element_bytes;
} TileShape;

// In which way a descriptor finds other elements than those meant, as the rest of a sentence:
// "finds m 8, k 0 of A 128 bytes behind the first element, and it lies 1024 behind". NULL: in none.
const char *matrix_tile_difference(Arena *arena, const TileShape *shape, const MatrixTile *said,
                                   const MatrixTile *meant);
