// Parts of the banks view.
#pragma once
#include "banks/solver/own_access.h"
#include "tui/canvas/canvas.h"
#include "tui/session/session.h"
#include "tui/session/subject.h"

// ---- matrix_lines.c -----------------------------------------------------------------------------
// ldmatrix drawn as what it is: eight lanes, each addressing 16 bytes of a line of 128.
//
//          0       8       16      24
//   lane 0 [c0] c1  c2  c3  c4  c5  c6  c7       no layout: the eight chunks stand in one column
//   lane 1  c1 [c0] c3  c2  c5  c4  c7  c6       Swizzle<3,4,3>: on a diagonal, in eight columns
//
// A column of brackets is a collision, a diagonal is free; no colour is needed to see it.

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

// ---- banks_panes.c ------------------------------------------------------------------------------
// The pictures of one access, side by side as far as there is room: its punch card, lanes by banks,
// the slab with what is touched lit, the table of addresses; of ldmatrix first the lines that its
// lanes address; of a typed access the card of what to write instead.

typedef enum BanksPane {
  PANE_CARD,
  PANE_LANES,
  PANE_SLAB,
  PANE_LINES,
  PANE_BEST,
  PANE_TABLE,
  PANES,
} BanksPane;

typedef struct AccessPicture {
  const BankMap *map;
  const int64_t *addr;       // [BANK_LANES]
  const Site *site;          // NULL: an access of no program, which has no slab
  const MatrixLines *lines;  // NULL: none are drawn
  const BankMap *best;       // of the replacement; NULL: none
  int phase;                 // -1: all
} AccessPicture;

// `first` stands on the left; companions follow it.
void banks_panes_draw(Canvas *canvas, Rect in, const AccessPicture *picture, BanksPane first);

// ---- banks_global.c -----------------------------------------------------------------------------
// The banks view's part about global memory: its accesses have sectors where those of shared memory
// have banks.

// The chosen access to global memory, or while A|B is on that of A beside it.
void banks_global_draw(Canvas *canvas, Rect in, const Session *session);
// Its line under the picture.
void banks_global_legend(Canvas *canvas, Rect in, const Session *session);
// The heading and a row for each access; rows tell `spot` and the access's place in the session.
void banks_global_list(Canvas *canvas, Rect in, const Session *session, int spot);

// ---- banks_own.c --------------------------------------------------------------------------------
// The user's own addresses in the banks view: typed, pasted, drawn as a card, and what to write
// instead.
//
//   Own *own = view_own(session, &banks_view);
//   own_read(own, "lds32 (tid % 8) * 32 + lane / 8", &diags);
//   own_draw(canvas, in, own, -1, PANE_CARD);

typedef struct Own {
  Arena *arena, *spare, *scratch;  // of the access, of the next one, of the solver
  bool set;                        // there is one
  bool shown;                      // it is the one under the cursor
  OwnAccess access;
  BankMap map, best;  // as it is, and with the first layout that is offered
} Own;

void own_init(void *state);
void own_done(void *state);

// Each keeps what there was and returns false after findings.
bool own_read(Own *own, const char *line, Diags *diags);
bool own_step_op(Own *own, int step, Diags *diags);    // to the next operation that takes them
bool own_step_unit(Own *own, int step, Diags *diags);  // of an expression
void own_drop(Own *own);

// The text that a copy takes: the replacement if there is one.
const char *own_line(const Own *own);
void own_draw(Canvas *canvas, Rect in, const Own *own, int phase, BanksPane first);
