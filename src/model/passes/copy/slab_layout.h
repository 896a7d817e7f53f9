// A layout typed by the user, for a slab of a program.
#pragma once
#include "banks/layouts/layout.h"
#include "base/diag.h"
#include "model/ir/buffer.h"
#include "model/ir/names.h"

// The slab as it lies in shared memory, one ring slot. One in panels is the panels' rows one below
// the other: B_s [3 x 4 x 64 x 64] of f16 has 256 rows of 128 bytes.
LayoutSlab slab_shape(const Buffer *slab);

// Reads the text of LAYOUT_A or LAYOUT_B ("swizzle:3:4:3", "xor:'…'", a whole text in quotes) for a
// slab of `rows` rows. False after findings that name the exact fault: it does not parse, is no
// bijection, is not linear over bits, or breaks the 16-byte chunks that copies and ldmatrix move.
// On success terms[0..*n) make it: at most XOR_TERMS_MAX.
bool slab_layout_read(const char *text, LayoutSlab slab, XorTerm terms[XOR_TERMS_MAX], int *n,
                      Diags *diags);

// Whether slab after slab of a ring may lie so: bits are flipped within pieces of a power of two of
// bytes, and `slab_bytes` must be whole pieces, or bytes of one slab would lie outside of it. Fills
// *piece_bytes.
bool slab_layout_repeats(const XorTerm *terms, int n, int64_t slab_bytes, int64_t *piece_bytes);
