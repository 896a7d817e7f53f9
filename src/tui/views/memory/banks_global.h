// The banks view's part about global memory: its accesses have sectors where those of shared memory
// have banks.
#pragma once
#include "tui/canvas/canvas.h"
#include "tui/session/session.h"

// The chosen access to global memory, or while A|B is on that of A beside it.
void banks_global_draw(Canvas *canvas, Rect in, const Session *session);
// Its line under the picture.
void banks_global_legend(Canvas *canvas, Rect in, const Session *session);
// The heading and a row for each access; rows tell `spot` and the access's place in the session.
void banks_global_list(Canvas *canvas, Rect in, const Session *session, int spot);
