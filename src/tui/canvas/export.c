// Rows of cells as lines of text.
//
// Worked example: the row "BM  8" with BM in the style knob and six blanks behind it becomes
//   text  "BM  8"
//   ansi  "\e[1;36mBM\e[0m  8"
//   json  "BM  8" and [row, 0, 2, "knob"]
// The ANSI form is the terminal's own writer (sgr.c) without cursor movements, so that a file of it
// can be shown by cat and less -R.
#include "tui/canvas/export.h"

#include "base/nearest.h"
#include "base/str.h"
#include "tui/canvas/sgr.h"

static const char *const format_names[] = {"text", "ansi", "svg", "json"};

bool export_format(const char *name, ExportFormat *format, Diags *diags) {
  for (int i = 0; i < 4; i++)
    if (str_equal(name, format_names[i])) return *format = (ExportFormat)i, true;
  Diag *diag = diag_add(diags, "format", "\"%s\" is not a format: text, ansi, svg, json",
                        str_sanitise(diags->arena, name));
  diag->nearest = nearest_name(name, format_names, 4);
  return false;
}

static const Cell *row_of(const Canvas *canvas, int row) {
  return canvas->cells + row * canvas->cols;
}

// The columns up to the last that is not a blank.
static int text_end(const Canvas *canvas, int row) {
  const Cell *cells = row_of(canvas, row);
  int end = canvas->cols;
  while (end > 0 && str_equal(cells[end - 1].text, " ")) end--;
  return end;
}

static void add_row(Str *out, const Canvas *canvas, int row) {
  const Cell *cells = row_of(canvas, row);
  int end = text_end(canvas, row);
  for (int col = 0; col < end; col++) str_add(out, cells[col].text);
}

char *export_row(Arena *arena, const Canvas *canvas, int row) {
  Str out = str_new(arena);
  if (row >= 0 && row < canvas->rows) add_row(&out, canvas, row);
  return out.text;
}

char *export_text(Arena *arena, const Canvas *canvas) {
  Str out = str_new(arena);
  for (int row = 0; row < canvas->rows; row++) {
    add_row(&out, canvas, row);
    str_add_char(&out, '\n');
  }
  return out.text;
}

// A blank that shows: it has a background, a line under it, or is reversed.
static bool shows(Look look) {
  return look.bg.kind != COLOR_DEFAULT || look.attributes & (LOOK_REVERSE | LOOK_UNDERLINE);
}

static int ansi_end(const Canvas *canvas, int row, const Theme *theme, ColorDepth depth) {
  const Cell *cells = row_of(canvas, row);
  int end = canvas->cols, text = text_end(canvas, row);
  while (end > text && !shows(theme_look(theme, cells[end - 1].style, depth))) end--;
  return end;
}

char *export_ansi(Arena *arena, const Canvas *canvas, const Theme *theme, ColorDepth depth) {
  Str out = str_new(arena);
  for (int row = 0; row < canvas->rows; row++) {
    const Cell *cells = row_of(canvas, row);
    Look look = {0};
    int end = ansi_end(canvas, row, theme, depth);
    for (int col = 0; col < end; col++) {
      Look next = theme_look(theme, cells[col].style, depth);
      if (cells[col].width == 0) continue;
      bool invisible = str_equal(cells[col].text, " ") && !shows(next) && !shows(look);
      if (!invisible) sgr_change(&out, look, next, false), look = next;
      str_add(&out, cells[col].text);
    }
    if (!look_equal(look, (Look){0})) str_add(&out, "\033[0m");
    str_add_char(&out, '\n');
  }
  return out.text;
}

static const char **lines_of(Arena *arena, const Canvas *canvas) {
  const char **line = ARENA_ARRAY(arena, const char *, canvas->rows);
  for (int row = 0; row < canvas->rows; row++) line[row] = export_row(arena, canvas, row);
  return line;
}

static void put_span(JsonWriter *writer, int row, int col, int columns, Style style) {
  json_begin_array(writer);
  json_put_int(writer, row);
  json_put_int(writer, col);
  json_put_int(writer, columns);
  json_put_string(writer, style_name((StyleRole)(style & 0xFF)));
  if (style >> 8) json_put_string(writer, style_name((StyleRole)(style >> 8)));
  json_end_array(writer);
}

static void put_spans(JsonWriter *writer, const Canvas *canvas, int row) {
  const Cell *cells = row_of(canvas, row);
  for (int col = 0, end; col < canvas->cols; col = end) {
    for (end = col + 1; end < canvas->cols && cells[end].style == cells[col].style;) end++;
    if (cells[col].style != STYLE_TEXT) put_span(writer, row, col, end - col, cells[col].style);
  }
}

static void write_styles(JsonWriter *writer, const void *it, const void *in, Arena *arena) {
  (void)in;
  (void)arena;
  const Canvas *canvas = it;
  json_begin_array(writer);
  for (int row = 0; row < canvas->rows; row++) put_spans(writer, canvas, row);
  json_end_array(writer);
}

#define FORM_FILE "tui/canvas/export.form"
#include "base/form_make.h"
