// The functions that the dialects' files offer to the table in notation.c, and the helpers that
// they build layouts with.
#pragma once
#include "banks/layouts/notation.h"
#include "banks/layouts/notation_scan.h"

typedef const char *NotationPrint(Arena *arena, const LayoutForm *form, const char **why);
NotationPrint notation_print_cute, notation_print_smem_ptr, notation_print_swizzle,
    notation_print_pad, notation_print_xor;
NotationPrint notation_print_swizzled_shared, notation_print_nvmma_shared,
    notation_print_padded_shared, notation_print_shared_linear;
NotationPrint notation_print_bases;

typedef const Layout *NotationRead(Arena *arena, const LayoutSlab *slab, const char *text,
                                   Diags *diags);
NotationRead notation_read_cute, notation_read_triton, notation_read_gluon, notation_read_bases,
    notation_read_scale;
bool triton_is(const char *text);
bool gluon_is(const char *text);
bool scale_is(const char *text);
bool bases_is(const char *text);

// A matrix as a text says it; 0: it does not.
typedef struct Extents {
  int64_t rows, cols;
  int elem_bytes;
} Extents;

// Puts together what the text says and what was known before into *out; false after a finding
// where they differ, where one is missing, or where it is too large for shared memory.
bool notation_slab(const char *text, const LayoutSlab *known, Extents said, LayoutSlab *out,
                   Diags *diags);
// Makes a layout from the first byte of each element, row after row. NULL after a finding.
const Layout *notation_layout(Arena *arena, const char *text, const LayoutSlab *slab,
                              const int64_t *offset, Diags *diags);

// Offset bits → (row, col), as bases of XORs; both powers of two. False with a finding where two
// offsets are one element.
typedef struct Bases {
  int n;
  int row[LAYOUT_BITS_MAX], col[LAYOUT_BITS_MAX];
} Bases;
// The bases of a layout without pads, of powers of two; false with a sentence in *why.
bool bases_of(Arena *arena, const LayoutForm *form, Bases *out, const char **why);
// place[row * cols + col]: the index in memory of an element. False after a finding.
bool bases_place(Arena *arena, const Bases *bases, const char *text, const LayoutSlab *slab,
                 int64_t *place, Diags *diags);
// "[[0, 1], [0, 2]]" (only [1], [2] of one dimension); blanks as Triton prints them.
bool bases_scan(Scan *scan, Bases *out);
void bases_print(Str *out, const Bases *bases);
// The powers of two that hold all bases.
Extents bases_extents(const Bases *bases);
