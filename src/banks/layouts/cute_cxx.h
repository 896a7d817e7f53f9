// CuTe's layouts as C++ writes them → as print() writes them, which cute_text.h reads.
//
//   Layout<Shape<_8,_64>,Stride<_64,_1>>{}                    (_8,_64):(_64,_1)
//   make_layout(make_shape(Int<8>{}, _64{}), LayoutRight{})   the same
//   composition(Swizzle<3,3,3>{}, Layout<…>{})                Sw<3,3,3> o _0 o (_8,_64):(_64,_1)
//   ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<…>>
//   GMMA::Layout_K_SW128_Atom<half_t>{}                       Sw<3,4,3> o smem_ptr[16b](unset) o …
//   tile_to_shape(ATOM, make_shape(_128{}, _64{}))            … o
//   ((_8,_16),(_64,_1)):((_64,_512),…)
//
// Operations such as logical_divide stay as they are around them.
#pragma once
#include "banks/layouts/cute_text.h"

// Whether the text looks like one of these or as print() writes them, and like no layout that
// layout.h reads.
bool cute_text_is(const char *text);
// False after a finding of rule "layout" with the column.
bool cute_text_parse(Arena *arena, const char *text, CuteText *out, Diags *diags);
