// The form of a layout, read off its table: nested shapes and strides, then one swizzle.
//
// Every dialect's text ends as a table of offsets, and every dialect is printed from this:
//   offset of (row, col) = swizzle(base + shape(row, col)), in elements
// `shape` has two modes, rows and columns, each coalesced, so two texts of one layout have one
// form; of several swizzles the one with the fewest bits is taken. A layout that is no such thing
// (most XOR expressions) may still be linear over bits: `facts`.
#pragma once
#include "banks/layouts/cute_text.h"
#include "banks/layouts/layout_stages.h"

typedef struct LayoutForm {
  const Layout *layout;
  LayoutFacts facts;
  int rows, cols;
  bool affine;          // the fields below say all of it
  CuteSwizzle swizzle;  // of element offsets; no bits: none
  int64_t base;         // where element (0, 0) lies
  CuteLayout shape;     // (rows, columns): strides
} LayoutForm;

LayoutForm layout_form(Arena *arena, const Layout *layout);

// The index of element (row, col) in memory; of one that is taken apart, of its first byte.
int64_t layout_form_element(const LayoutForm *form, int row, int col);

// Rows behind each other, the elements of a row side by side.
bool layout_form_is_row_major(const LayoutForm *form);
// The same with columns and rows changed round.
bool layout_form_is_column_major(const LayoutForm *form);
// Elements behind each row of one that lies row after row but for them; 0: it is another layout.
int64_t layout_form_pad(const LayoutForm *form);
