// A canvas as a document: plain text, text with escape sequences, SVG, or JSON.
//
// All of them show the same cells. Text and ANSI leave out blanks at the end of a row and end each
// row with '\n'. Nothing here depends on a terminal.
#pragma once
#include "base/arena.h"
#include "base/form.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/theme.h"

typedef enum ExportFormat { EXPORT_TEXT, EXPORT_ANSI, EXPORT_SVG, EXPORT_JSON } ExportFormat;

// "text", "ansi", "svg" or "json"; false, with a diagnostic, for anything else.
bool export_format(const char *name, ExportFormat *format, Diags *diags);

char *export_text(Arena *arena, const Canvas *canvas);
char *export_ansi(Arena *arena, const Canvas *canvas, const Theme *theme, ColorDepth depth);
// A picture of 8 x 16 pixels per cell, in the theme's colours at that `depth`; its text can be
// selected.
char *export_svg(Arena *arena, const Canvas *canvas, const Theme *theme, ColorDepth depth,
                 const char *title);
//   "rows":24,"cols":80,"lines":["…"],"styles":[[row,col,columns,"style","over"],…]
// Lines keep no blanks at the end; a style that is plain text is not listed.
extern const Form screen_form;  // of Canvas

// One row as text without blanks at the end: what the screen tests compare.
char *export_row(Arena *arena, const Canvas *canvas, int row);
