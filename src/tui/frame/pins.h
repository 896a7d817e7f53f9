// Pinned views: beside the view at hand, from 160 columns one more, from 200 columns and 50 rows
// two. They follow every key; a click makes one the view at hand, which takes the place of the
// pinned one. Until the user pins a view or hides them, a view that would leave half of a wide
// screen empty has companions: explore, with the knobs that it follows, the pipeline, the grid.
//
//   pins_choose(session, rows, cols);              the companions, unless the user chose
//   pins_set(session, view_find("pipeline"));
//   int left = pins_cols(session, rows, cols);     the columns of the view at hand
//   pins_prepare(session, rows, cols);             after the view at hand has prepared itself
//   pins_draw(canvas, in, session);                takes its part of `in` and leaves the rest
//
// A pinned view draws a copy of the session in which it is the view at hand; the large parts of a
// session lie behind pointers.
#pragma once
#include "tui/canvas/canvas.h"
#include "tui/session/session.h"

enum { PINS_COLS = 160, PINS_WIDE_COLS = 200, PINS_WIDE_ROWS = 50 };

// Whether it can stand beside others: not help, and no lesson, which has a view beside its text.
bool pins_takes(int view);
void pins_choose(Session *session, int rows, int cols);
void pins_set(Session *session, int view);  // one more; the third takes the place of the second
void pins_none(Session *session);           // the view at hand has the screen to itself
// The same by names. False after findings.
bool pins_take(Session *session, const char *const *names, int n, Diags *diags);
void pins_drop(Session *session, int view);  // takes it away
bool pins_has(const Session *session, int view);
int pins_cols(const Session *session, int rows, int cols);
void pins_prepare(Session *session, int rows, int cols);
// One idle step of the pinned views; true: they have something else to show.
bool pins_idle(Session *session);
void pins_draw(Canvas *canvas, Rect *in, const Session *session);
// Answers a click on a pinned view.
void pins_click(Session *session, int view);
