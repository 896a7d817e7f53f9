// The facts that the grid view tells of one side, in lines and as data.
#pragma once
#include "tui/views/places/grid_picture.h"

// How many CTAs and of which tiles. Two rows where there are so many: the clusters go to the second
// one where the first is full.
void grid_facts_head(Canvas *canvas, Rect in, const Grid *grid);

// The lines under or beside the picture, the ones that matter most first.
void grid_facts_draw(Canvas *canvas, Rect in, const GridHalf *half);
int grid_facts_lines(const GridHalf *half);

// The members of an object, grid_data.c.
extern const Form grid_half_form;  // of GridHalf
