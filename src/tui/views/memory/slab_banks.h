// A slab as it lies in shared memory: a row of the picture is a row of the slab, a cell an element,
// the character its bank (0-9 a-v), the colour too. Elements that the selected access touches are
// lit, all others stay in the shadow.
#pragma once
#include "model/readings/model.h"
#include "tui/canvas/canvas.h"

//
// If it does not fit, the touched part is shown, and the head says which part it is.
void slab_draw(Canvas *canvas, Rect in, const Site *site);
int slab_cols(const Site *site);  // that all of it takes
