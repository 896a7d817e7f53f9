// Addresses of one's own in the banks view: typed, pasted, drawn as a card, and what to write
// instead.
//
//   Own *own = view_own(session, &banks_view);
//   own_read(own, "lds32 (tid % 8) * 32 + lane / 8", &diags);
//   own_draw(canvas, in, own, -1, PANE_CARD);
#pragma once
#include "banks/solver/own_access.h"
#include "tui/views/memory/banks_panes.h"

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
