// The list of lessons, as the lesson view shows it before one is open and with L.
#pragma once
#include "tui/canvas/canvas.h"
#include "tui/frame/tutor.h"

// `spot` is what a click on a row means; its value is the lesson.
void lesson_draw_list(Canvas *canvas, Rect in, const Tutor *tutor, int spot);
