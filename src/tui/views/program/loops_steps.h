// The loops view's third picture: what a thread issues in one iteration of k_o, row by row, and the
// orders in which it could read its fragments.
#pragma once
#include "model/readings/time/steps.h"
#include "model/schedules/strategies.h"
#include "tui/canvas/canvas.h"

// The texts of one row, by column, on a narrow and on a wide screen.
enum { CELL_COPY, CELL_WAIT, CELL_READ, CELL_MULTIPLY, CELLS };
typedef struct StepText {
  const char *narrow[CELLS], *wide[CELLS];
  const char *line;  // all of them, to be searched and copied
  const char *why;   // what makes its copies or its barrier right
} StepText;

typedef struct StepsPicture {
  Steps steps;
  const StepText *text;  // [steps.n]
  const char *units;     // what a transfer and a computation are; "" without an atom
  int n_strategies;
  Strategy strategy[STRATEGIES_MAX];
} StepsPicture;

StepsPicture *steps_picture(Arena *arena, const Model *model);
// `spot`: what a click on a row means, its value being the row.
void steps_picture_draw(Canvas *canvas, Rect in, const StepsPicture *picture, int cursor, int spot);
// The meaning of the row under the cursor.
void steps_picture_why(Canvas *canvas, Rect in, const StepsPicture *picture, int cursor);
