// The explore view's data, made before it draws: which row says what, where each knob sits, and the
// sentences. Made by `prepare` in the frame arena.
//
//    TIER   LOOPS                KNOBS
//    BLOCK  1024 tiles 128×128   GROUP_M 8        the knobs of a tier flow down beside its rows,
//    THREAD 16×16 threads        BM 16  BN 16     two in a row where they are short
//    …
//                                + 31 more (K)    the picker has the others
#pragma once
#include "tui/canvas/canvas.h"
#include "tui/session/session.h"
#include "tui/views/program/source.h"

// The state that the view keeps between frames.
typedef struct ExploreOwn {
  bool per_slab;  // LIMIT in clocks of a slab instead of clocks per 1024 multiply-adds
  bool table;     // the card has the lanes' addresses below it
} ExploreOwn;

typedef struct ExploreRow {
  const char *label;  // "SERIAL"; NULL: as the row above
  int nest;           // index of the nest's row; -1: only knobs
} ExploreRow;

typedef struct KnobCell {
  KnobId knob;
  int row, col;  // col counts from the start of the loops' column
  bool off;
  const char *text;  // "BM 16"
} KnobCell;

typedef struct Sentence {
  Style style;
  const char *text;
  bool whole;  // goes on in the next row where there is one, however few there are
} Sentence;

enum { EXPLORE_SENTENCES = 6 };

typedef struct Explore {
  const Nest *nest;  // folded, or the full listing where there is room for it
  int n_rows, n_cells;
  int n_rest;  // knobs that are not shown, in `cell` behind the others: the picker has them
  ExploreRow *row;
  KnobCell *cell;
  int knob_col, knob_cols;  // the column of knobs
  int n_sentences;
  Sentence sentence[EXPLORE_SENTENCES];
  SourcePart code;      // of the row under the cursor of the nest
  SourceKernel kernel;  // all of it where the screen has room for it; part.n 0: it has none
  const char *limit, *limit_brief;  // "limited by shared memory: 11.5 clk, FMA needs 8"
  const char *cause;                // "b <- B_s takes 8 wavefronts, 4 would do"
  // Why the access under the card costs what it costs, and its first sentence; NULL: not counted.
  const char *reason, *reason_brief;
} Explore;

// The nest that the view shows on a screen as wide as the session's: its cursor is a row of it.
const Nest *explore_nest(const Session *session);
// The same where `cols` are left for loops and knobs.
const Nest *explore_nest_in(const Session *session, int cols);
Explore *explore_layout(Arena *arena, const Session *session, int cols);
// Says what the cursor is on, what its neighbours would do, the best single change, and what the
// rung tells: first where the user has just come to it, and not at all of a schedule that has left
// it.
void explore_explain(Arena *arena, const Session *session, Explore *explore);

// The best single change; NULL while there is none, and where what was timed of the present state
// beats what the change is estimated to reach.
const Trial *explore_best(const Session *session);

// In what the nest leaves: the last change, or CUDA text (explore_below.c); and the text alone.
void explore_draw_below(Canvas *canvas, Rect in, const Session *session);
void explore_draw_kernel(Canvas *canvas, Rect in, const Session *session);

// The selected access as a picture (explore_card.c).
void explore_draw_card(Canvas *canvas, Rect in, const Session *session);

// The headline: how fast, compared with what, limited by what, and on its second row because of
// what.
void explore_draw_headline(Canvas *canvas, Rect in, const Session *session);
// Finds the limit and its cause, in words.
void explore_find_limit(Arena *arena, const Session *session, Explore *explore);

// The numbers below: LIMIT, FIT, SLABS and, on the right, where the speed is from, the ladder.
void explore_draw_numbers(Canvas *canvas, Rect in, const Session *session);
// LIMIT alone, in one row.
void explore_draw_limit(Canvas *canvas, Rect in, const Session *session);
void explore_draw_strip(Canvas *canvas, Rect in, const Session *session);
void explore_draw_speed(Canvas *canvas, Rect in, const Session *session);
