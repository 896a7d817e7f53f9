// The places of a slab's elements in shared memory: pads, swizzles and XOR expressions, examined.
//
// A slab is a matrix of rows; without a layout, row r begins at byte r * row_bytes. A layout is a
// text of one or more stages, applied from left to right and separated by ';':
//
//   none
//   pad:4                           every row gets 4 more elements
//   pad:1,4                         every 4 elements of a row are followed by 1 more
//   swizzle:3,4,3                   Swizzle<B,M,S> on byte offsets: the B bits from bit M + S up
//                                   are XORed onto the B bits from bit M up (S < 0: the other way)
//   swizzle_elem:3,3,3              the same on offsets of elements
//   128B, 64B, 32B                  TMA's modes: swizzle:3,4,3, 2,4,3 and 1,4,3
//   xor:'col ^ ((row & 7) << 3)'    the new column, in elements, from row and col
//   xoroff:'off ^ (row & 4)'        the new linear element index, from off, row and col: it may
//                                   move elements across rows
//
//   LayoutSlab slab = {.rows = 128, .row_bytes = 64, .elem_bytes = 4};
//   const Layout *layout = layout_read_stages(arena, &slab, "swizzle:2,4,3", &diags);
//   layout->offset_of[row * slab.row_bytes + byte]         where that byte lies
//   LayoutFacts facts = layout_examine(arena, layout);     bijection? linear? what stays whole?
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

enum { LAYOUT_STAGES_MAX = 4, LAYOUT_BITS_MAX = 20 };

typedef struct LayoutSlab {
  int rows, row_bytes, elem_bytes;
} LayoutSlab;

// The unit that the numbers of a typed swizzle count.
typedef enum LayoutUnit {
  LAYOUT_UNIT_NONE,  // no swizzle stands in the text, or one that is named by its width (128B)
  LAYOUT_UNIT_BYTES,
  LAYOUT_UNIT_ELEMENTS
} LayoutUnit;

typedef struct Layout {
  const char *text;
  LayoutUnit unit;
  // The text with the same numbers in the other unit (layout_unit.h); NULL where the text says its
  // unit itself, as smem_ptr does, or where elements have one byte.
  const char *other;
  LayoutSlab slab;
  int shared;                // the elements that lie in each place, a broadcast; 0, 1: none
  int storage_bytes;         // what the slab takes in shared memory, pads included
  const int32_t *offset_of;  // [rows * row_bytes]: logical byte → byte in shared memory
} Layout;

// Rows, row bytes and element bytes must make a slab that fits into shared memory (rule "slab").
bool layout_check_slab(const LayoutSlab *slab, Diags *diags);

// The name of its first stage is known; otherwise a finding that lists them.
bool layout_is_known(Arena *arena, const char *text, Diags *diags);
// NULL after diagnostics (rules "layout", "expression"): unknown stage, numbers out of range, an
// expression that is undefined or leaves the slab for some element.
const Layout *layout_read_stages(Arena *arena, const LayoutSlab *slab, const char *text,
                                 Diags *diags);

typedef struct LayoutFacts {
  bool bijective;   // no two bytes in one place
  int clash[2];     // logical bytes that meet, when it is not
  int whole_bytes;  // the largest 1, 2, 4, … 128 whose aligned chunks stay whole and aligned
  bool linear;      // offset = constant ^ XOR of column[i] over the set bits i of the logical byte
  int n_bits;       // of a logical byte index
  int32_t constant;
  int32_t column[LAYOUT_BITS_MAX];
} LayoutFacts;

LayoutFacts layout_examine(Arena *arena, const Layout *layout);

// The other way round: for each word of shared memory the first logical byte in it; -1: padding.
int32_t *layout_words(Arena *arena, const Layout *layout);

// The linear map as a picture: one line per bit of the offset, one column per bit of the index.
void layout_print_bits(Str *out, const LayoutFacts *facts);
// 16-byte chunks of the first rows with the bank group (0-7: four banks each) each lies in.
void layout_print_groups(Str *out, const Layout *layout, int n_rows);
