// The grid view's facts about places on the chip: who shares one, what merges there, whose map it
// is.
#pragma once
#include "tui/views/places/grid_picture.h"

// Whether each list of tiles is meant for a place, and somebody knows which.
bool grid_has_places(const Grid *grid);

// Lines of the facts below: 0 where there is nothing to say.
int grid_merge_lines(const GridHalf *half);
// Fetches of a turn and those that merge before L2, beside clusters that are put anywhere.
void grid_draw_merge(Canvas *canvas, Rect *in, const GridHalf *half);

// Whose map it is, and what every place has; the sentence is cut where there is no room.
void grid_draw_places(Canvas *canvas, Rect in, const GridHalf *half);

// A GridHalf whose kernel has a map of the chip.
bool grid_half_has_map(const GridHalf *half);
extern const Form grid_places_form;
