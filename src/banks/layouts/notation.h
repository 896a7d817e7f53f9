// Layouts in the dialects of others: each text is read to a Layout, each Layout printed in every
// dialect that can say it.
//
//   cute            Sw<3,3,3> o _0 o (_8,_64):(_64,_1)
//                   Layout<Shape<_8,_64>,Stride<_64,_1>>{} and what else cute_cxx.h reads of C++
//   smem_ptr        Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)
//   swizzle         swizzle:3,4,3                        as layout.h reads it, of bytes
//   pad             pad:8                                the same
//   xor             xor:col ^ ((row << 3) & 56)          the same
//   swizzled_shared #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
//   nvmma_shared    #ttg.nvmma_shared<{swizzlingByteWidth = 128, …}>
//   padded_shared   #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [8, 64]}>
//   shared_linear   #ttg.shared_linear<{offset = [[0, 1], …]}, alignment = 16>
//                   and Gluon's SwizzledSharedLayout(vec=8, …) and its like
//   sf:128x4        factors of a block-scaled product, in tiles; sf:128x4,16: of elements, 16
//   sharing bases           offset=1 -> (0, 1), …                where each bit of the offset comes
//   from
//
// A layout of CuTe has rows and columns so: its first mode runs down, all others across, the
// fastest first. Of three modes or more the one with stride 1 runs across, if it is not the first,
// and all others down, the nearest first: (2,64,64):(4096,64,1) is 128 rows of 64. CuTe's, bases
// and padded_shared say how large the matrix is;
// "!ttg.memdesc<8x64xf16, #…>" says it for Triton's other encodings, and for the rest the slab must
// be known.
#pragma once
#include "banks/layouts/layout_form.h"

typedef struct Notation {
  const char *name;
  const char *says;  // what it can say
  // NULL with a sentence in *why.
  const char *(*print)(Arena *arena, const LayoutForm *form, const char **why);
} Notation;

extern const Notation notation_table[];
extern const int notation_count;

// Finds a dialect by its name; "triton" is the first encoding that can say a layout, here the first
// of them. NULL after a finding of rule "dialect" with the nearest name.
const Notation *notation_find(const char *name, Diags *diags);
// Whether "triton" means this one too.
bool notation_is_triton(const Notation *notation);

// Whether the text is one of these and none of layout.h's own.
bool notation_is(const char *text);

// Whether it lays out scale factors, which are bytes.
bool notation_is_of_scales(const char *text);

// The text must describe `slab`. rows = 0: it has to say its shape itself; elem_bytes = 0: it may
// say them, and has 2 where it does not. NULL after findings (rules "layout", "slab").
const Layout *notation_parse(Arena *arena, const LayoutSlab *slab, const char *text, Diags *diags);

// The printed text has been read again and lies the same. NULL with a sentence in *why: it names
// what this dialect cannot say, and which of its kin can.
const char *notation_print(Arena *arena, const Notation *notation, const LayoutForm *form,
                           const char **why);

// The shortest text of the layout: the first of swizzle, pad, cute and xor that can say it; its own
// text where none can.
const char *notation_canonical(Arena *arena, const Layout *layout);

// Whether every byte lies in the same place; storage may differ by padding behind the last one.
bool notation_same(const Layout *a, const Layout *b);
