// Layouts of registers: which thread holds which element of a tensor, and in which register.
//
// A place is a register of a lane of a warp of a block of a cluster; of tensor memory the registers
// are its columns and the lanes its 128 lanes. Every notation ends as one table, place → element,
// and where sizes are powers of two also as the matrix over GF(2) that the table is: bit b of a
// register, lane, warp or block flips the bits of basis[holder][b] in the row-major index of the
// element.
//
//   register_element(layout, (RegisterPlace){{2, 5, 0, 0}})       -1: this place holds nothing
//   #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order =
//   [1, 0]}> over 8 x 16: register 1 -> (0, 1), 2 -> (0, 8); lane 1 -> (0, 2), 2 -> (0, 4), 4 ->
//   (1, 0), …
//
// An element may have several places: a tensor that is smaller than the tile of its layout repeats,
// and a slice drops a dimension over which threads still differ.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

typedef enum Holder { HOLDER_REGISTER, HOLDER_LANE, HOLDER_WARP, HOLDER_BLOCK, HOLDERS } Holder;

enum {
  TENSOR_DIMS_MAX = 5,
  HOLDER_BITS_MAX = 24,
  TENSOR_SIZE_MAX = 1 << 22,      // elements
  REGISTER_PLACES_BITS_MAX = 26,  // of all holders together
};

typedef struct TensorShape {
  int rank, extent[TENSOR_DIMS_MAX];
} TensorShape;

typedef struct RegisterLayout {
  const char *text;  // as it was typed
  const char *kind;  // "blocked", "TiledMMA, operand A"
  bool tensor_memory;
  TensorShape shape;
  int n[HOLDERS];
  const int32_t *element;  // [block][warp][lane][register], row-major index or -1; NULL: linear
  bool linear;             // the rest says all of it
  int n_bits[HOLDERS];
  int32_t basis[HOLDERS][HOLDER_BITS_MAX];
  const int32_t *flips[HOLDERS];  // [n of the holder]: the XOR of the bases of its bits
} RegisterLayout;

typedef struct RegisterPlace {
  int at[HOLDERS];
} RegisterPlace;

const char *holder_name(const RegisterLayout *layout, Holder holder);  // "lane", "column"

int tensor_size(const TensorShape *shape);
void tensor_coordinate(const TensorShape *shape, int element, int out[TENSOR_DIMS_MAX]);
int tensor_element(const TensorShape *shape, const int coordinate[TENSOR_DIMS_MAX]);
// "64x128" or "2x64x64"; at most 2^22 elements. False after a finding of rule "usage".
bool tensor_shape_parse(const char *text, TensorShape *out, Diags *diags);
// "64x128", and "(3, 5)" of an element.
const char *tensor_shape_text(Arena *arena, const TensorShape *shape);
const char *tensor_element_text(Arena *arena, const TensorShape *shape, int element);

int register_places(const RegisterLayout *layout);
RegisterPlace register_place_at(const RegisterLayout *layout, int place);
int register_element(const RegisterLayout *layout, RegisterPlace at);
// Puts the places that hold `element` into an array of the arena; *n: their number.
const RegisterPlace *register_owners(Arena *arena, const RegisterLayout *layout, int element,
                                     int *n);

// The layout with this table; `linear` and the matrix are read off it.
const RegisterLayout *register_layout_of(Arena *arena, const char *text, const char *kind,
                                         const TensorShape *shape, const int n[HOLDERS],
                                         const int32_t *element);

// ---- matrices under construction ----------------------------------------------------------------

// Bases as coordinates; a dimension has grown to 1 << size[dim].
typedef struct RegisterBits {
  int rank, size[TENSOR_DIMS_MAX];
  int n[HOLDERS];
  int32_t basis[HOLDERS][HOLDER_BITS_MAX][TENSOR_DIMS_MAX];
  bool full;  // there were more bits than places
} RegisterBits;

// The next bits of the holder count on along `dim`, which grows; or they repeat (zeros).
void register_bits_count(RegisterBits *bits, Holder holder, int n, int dim);
void register_bits_repeat(RegisterBits *bits, Holder holder, int n);
// A basis of its own; the dimensions grow to what it reaches.
void register_bits_add(RegisterBits *bits, Holder holder, const int32_t basis[TENSOR_DIMS_MAX]);
// A dimension that is larger than 1 << size repeats beyond it.
void register_bits_clip(RegisterBits *bits, int dim, int size);
// Registers that repeat are taken out.
void register_bits_drop(RegisterBits *bits);

// NULL after a finding of rule "layout": more than 2^26 places.
const RegisterLayout *register_layout_linear(Arena *arena, const char *text, const char *kind,
                                             const TensorShape *shape, const RegisterBits *bits,
                                             Diags *diags);

// "register=1 -> (0, 1)", a line for each basis.
void register_layout_print(Str *out, const RegisterLayout *layout);
