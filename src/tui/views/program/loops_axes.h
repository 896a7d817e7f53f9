// How the indices of a program are rebuilt from the digits that loops count, an axis each.
//
//   m = m_b·128 + m_w·64 + m_r·16 + m_a      32 × 2 × 4 × 16 for 4096      m_a = lane / 4 … in C
#pragma once
#include "model/ir/names.h"
#include "tui/canvas/canvas.h"

typedef struct AxesPicture {
  const Program *program;
  const char *sum[AXIS_COUNT], *factors[AXIS_COUNT];
  const char *atom[AXIS_COUNT], *atom_is[AXIS_COUNT];  // "m_a", "m_a = lane / 4 …"; NULL: no atom
} AxesPicture;

AxesPicture axes_picture(Arena *arena, const Program *program);
// On AXIS_COUNT rows, each digit in the colour of its tier.
void axes_picture_draw(Canvas *canvas, Rect in, const AxesPicture *picture);
