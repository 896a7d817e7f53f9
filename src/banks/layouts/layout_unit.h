// A typed swizzle in the other unit: its numbers may count bytes or elements, and texts do not
// always say which.
//
//   S<3,4,3> o 0 o (8,64):(64,1) of halves is what CuTe prints of both of its uses. Composed with a
//   layout, as it stands there, it moves offsets of elements; used as the swizzle of a pointer
//   beside the outer layout, it moves bytes. Read as it stands it is swizzle:2,5,3, in bytes
//   swizzle:3,4,3.
#pragma once
#include "banks/layouts/layout.h"

const char *layout_unit_name(LayoutUnit unit);  // "bytes", "elements"; NULL: no swizzle was typed

typedef struct LayoutOther {
  LayoutUnit unit;        // NONE: there is no other reading
  const char *text;       // to type it
  const Layout *layout;   // NULL where it does not fit this slab
  const char *canonical;  // what it is in this program's own words; else why it is none
} LayoutOther;

LayoutOther layout_other(Arena *arena, const Layout *layout);

// "swizzle of elements; of bytes swizzle:2,3,3", "swizzle of bytes"; "" where no swizzle was typed.
const char *layout_unit_phrase(Arena *arena, const Layout *layout);
