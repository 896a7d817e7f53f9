// CuTe layouts as text: what print() writes, and expressions over it.
//
//   (_8,_64):(_64,_1)    ((8,16),64):((64,512),1)    a layout; "_" is as good as none
//   (8,64):LayoutRight   (8,64):LayoutLeft           its strides by name
//   Sw<3,3,3> o _0 o (_8,_64):(_64,_1)               a swizzle of element offsets
//   Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)     of bytes, elements of 16 bits; of 1 or
//                                                    4 bits strides count those
//   (_4,_2):(_2,_1) o (_2,_2):(_1,_4)                any layouts, the last one is applied first
//   logical_divide((8,64):(64,1), <4:1, 16:1>)       also zipped_, tiled_, flat_divide, logical_,
//                                                    zipped_, tiled_product, composition,
//                                                    complement(L, n), coalesce, right_inverse
// A tiler by mode is <L, L>, or a tuple of numbers: (4,16) is <4:1, 16:1>. Shapes alone, as in
// make_layout, are no layout: strides are always written.
#pragma once
#include "banks/layouts/cute.h"
#include "base/diag.h"

enum { CUTE_PARTS_MAX = 6 };

typedef enum CutePartKind { CUTE_PART_LAYOUT, CUTE_PART_OFFSET, CUTE_PART_SWIZZLE } CutePartKind;

// Swizzle<bits, base, shift>: the bits from base + shift up are XORed onto those from base up.
typedef struct CuteSwizzle {
  int bits, base, shift;
} CuteSwizzle;

// One function of a composition; parts[0] is applied first and gives the domain.
typedef struct CutePart {
  CutePartKind kind;
  CuteLayout layout;
  int64_t offset;
  CuteSwizzle swizzle;
  bool bytes;  // the swizzle is of byte offsets
} CutePart;

typedef struct CuteText {
  int n;
  CutePart part[CUTE_PARTS_MAX];
  int element_bits;  // as smem_ptr says; 0: it does not
} CuteText;

// Whether the text looks like one of these, and like no layout that layout.h reads.
bool cute_printed_is(const char *text);
// False after a finding of rule "layout" with the column.
bool cute_printed_parse(Arena *arena, const char *text, CuteText *out, Diags *diags);

int64_t cute_swizzle(CuteSwizzle swizzle, int64_t offset);
