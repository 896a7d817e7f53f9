// Tells what wgmma and tcgen05.mma share: tiles that descriptors find.
#pragma once
#include "model/ops/ops.h"

// Why a buffer cannot be an operand of the atom; why tiles that run as the operation says cannot.
const char *tile_type_fault(Arena *arena, const Atom *atom, AtomOperand which,
                            const Buffer *buffer);
const char *tile_turned_fault(Arena *arena, const Op *op);
// Tabulates the places of tile i, 0 of A and 1 of B, and how its descriptor and its buffer differ.
void tile_prepare(Arena *arena, const Program *program, Code *code, int i);
// Reports what no descriptor can say of a tile that begins at these indices.
void tile_check_corner(Machine *m, const Warp *w, const Code *code, int i, const int64_t *index);

// Rows of a tile, which count M of A and N of B.
typedef struct TilePart {
  int first_row, n_rows;
} TilePart;

// Its elements as numbers, row after row. `now` is the access by the async proxy; NULL: it was made
// when the operation was issued (tile_ask), and the present values are taken.
void tile_read_shared(Machine *m, const Warp *w, const Code *code, const Touch *now,
                      uint16_t reader, int i, int64_t corner, TilePart part, double *out);
void tile_read_global(Machine *m, const Code *code, int i, const int64_t *index, TilePart part,
                      double *out);
// All of its elements will be read by `reader`, which knows all that `now` knows; false after a
// finding.
bool tile_ask(Machine *m, const Warp *w, const Code *code, const Touch *now, uint16_t reader, int i,
              int64_t corner);

// A sum of products as registers hold it: s32 keeps its low bits.
static inline double tile_wrapped(double sum) {
  return sum == sum ? (double)(int32_t)(uint32_t)(int64_t)sum : sum;
}

// tile_of(A_s, at, 0x4000004000010000ull), for sm_90 or sm_100
const char *tile_emit(Emitter *emitter, const Op *op, int i, int arch);
