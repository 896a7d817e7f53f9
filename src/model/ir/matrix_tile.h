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
#include "model/ir/program.h"
#include "model/words/fragment.h"

// What a descriptor of the operand must say; is_described is false where none can.
MatrixTile matrix_tile_of(const Program *program, const Op *op, AtomOperand operand);

// Gives every operation that reads tiles the descriptors that its buffers ask for; after each pass.
void program_describe_tiles(Program *program);

// The descriptor's 64 bits but for the start address.
uint64_t matrix_tile_bits(const MatrixTile *tile);
// "128B": the name of the swizzle.
const char *matrix_tile_swizzle(const MatrixTile *tile);
// Whether both say the same.
bool matrix_tile_equal(const MatrixTile *a, const MatrixTile *b);

// Bytes from the start address to element (row, k) of the tile, before the swizzle; row counts M or
// N. The addresses' bits 4 … 4 + swizzle - 1 are then xored with bits 7 and up.
int64_t matrix_tile_offset(const MatrixTile *tile, int element_bytes, int64_t row, int64_t k);
int64_t matrix_tile_swizzled(const MatrixTile *tile, int64_t address);
