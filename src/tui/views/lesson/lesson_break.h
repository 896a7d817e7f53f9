// A step that asks what happens when something is left out shows just that: the program beside the
// broken one, as a diff.
//
//     for k_o in 0..6 SERIAL_OUTER
//       barrier
//       …
//   -   barrier
#pragma once
#include "model/interp/breakage.h"
#include "model/ir/notation/print.h"
#include "model/lessons/lesson.h"
#include "tui/canvas/canvas.h"

typedef struct BreakLine {
  DiffKind kind;
  int depth, rank;  // rank: 0 matters most
  const char *text;
} BreakLine;

typedef struct LessonBreak {
  const char *help;  // "the last barrier is left out"
  int n_lines;
  const BreakLine *line;
} LessonBreak;

// NULL where the step asks about no breakage, or the program has nothing of the kind to break.
const LessonBreak *lesson_break(Arena *arena, const LessonStep *step, const Program *program);
void lesson_break_draw(Canvas *canvas, Rect in, const LessonBreak *broken);
