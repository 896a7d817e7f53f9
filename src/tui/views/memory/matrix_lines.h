// ldmatrix drawn as what it is: eight lanes, each addressing 16 bytes of a line of 128.
//
//          0       8       16      24
//   lane 0 [c0] c1  c2  c3  c4  c5  c6  c7       no layout: the eight chunks stand in one column
//   lane 1  c1 [c0] c3  c2  c5  c4  c7  c6       Swizzle<3,4,3>: on a diagonal, in eight columns
//
// A column of brackets is a collision, a diagonal is free; no colour is needed to see it.
#pragma once
#include "tui/canvas/canvas.h"
#include "tui/session/subject.h"

typedef struct MatrixLines {
  const Site *site;  // NULL: nothing to draw
  const BankMap *map;
  const Layout *layout;
  const char *layout_text;
  const int32_t *logical_of_word;  // [storage / 4]; -1: a pad
  int64_t offset[BANK_LANES];      // in the slab; -1 inactive
} MatrixLines;

bool matrix_lines_fit(const Site *site);  // ldmatrix and stmatrix
MatrixLines matrix_lines_make(Arena *arena, const Site *site, const BankMap *map,
                              AccessLayout layout);

enum { MATRIX_LINES_ROWS = 11, MATRIX_LINES_COLS = 40 };

// `matrix` counts from 0.
void matrix_lines_draw(Canvas *canvas, Rect in, const MatrixLines *lines, int matrix);
// "matrix 1 of 4: lanes 0-7, rows 0-7, columns 0-7"
const char *matrix_lines_say(Arena *arena, const MatrixLines *lines, int matrix);
