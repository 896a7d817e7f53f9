// The loops view's fourth picture: one turn of the loop over slabs, line by line, and beside it for
// each copy a bar of the places in which it may stand. What the bar says was tried: the program
// with the copy at that place, run by the interpreter on a small problem, one place in each idle
// moment.
//
//    V_s  K_s
//     ·    ·   S_f[0, t_r, 0] = 0
//     ·    ·   wait until no group is in flight
//     ·    ·   barrier: the slab is filled, the other one read
//     ●    ·   the warp's fragments of Q; the warp's fragments of K       202    0 B    3104
//
// Where there is a compiler each safe place is compiled (session/placed_loads.h), and its line says
// what the kernel takes with the chosen copy there.
#pragma once
#include "base/form.h"
#include "base/json.h"
#include "model/interp/load_places.h"
#include "tui/canvas/canvas.h"
#include "tui/session/placed_loads.h"
#include "tui/session/session.h"

// Kept between frames.
typedef struct PlacesWork {
  PlacedLoads *placed;  // the session's, of the last schedule that was looked at
  int copy;             // that the cursor's sentence is about
  bool can_compile;     // a compiler is there, or will answer
} PlacesWork;

// Looks at the session's schedule; tries nothing.
void places_look(PlacesWork *work, Session *session);
// Tries what the cursor asks about, then the others; false: nothing is left.
bool places_idle(PlacesWork *work, int cursor);
// Goes to the next copy, or the one before.
void places_turn(PlacesWork *work, int step);
int places_count(const PlacesWork *work);  // places, which are one more than lines
const char *places_text(const PlacesWork *work, int place);

void places_draw_head(Canvas *canvas, Rect in, const PlacesWork *work);
// `spot`: what a click on a row means, its value being the row.
void places_draw(Canvas *canvas, Rect in, Arena *frame, const PlacesWork *work, int cursor,
                 int spot);
