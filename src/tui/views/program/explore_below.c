// Fills the room that the nest leaves below it: the lines that the last change took and brought,
// the CUDA text of the row under the cursor, or, on a large screen, the kernel from its main loop
// on with an arrow where the cursor points.
#include <string.h>

#include "tui/frame/view.h"
#include "tui/views/program/explore.h"

enum { CHANGE_ROWS_MIN = 5, CODE_ROWS_MIN = 4, KERNEL_ROWS_MIN = 6 };

// The lines that the last change took and brought.
static void draw_last_change(Canvas *canvas, Rect in, const Session *session) {
  const TextDiff *diff = session->doc.now.picture->diff;
  if (!diff || in.rows < CHANGE_ROWS_MIN || diff->n_added + diff->n_removed == 0) return;
  bool fresh = session->at.change == CHANGE_FRESH;
  canvas_printf(canvas, in, 0, 1, STYLE_HEADER, "LAST CHANGE  +%d -%d lines", diff->n_added,
                diff->n_removed);
  for (int i = 0, row = 1; i < diff->n_lines && row < in.rows; i++) {
    const DiffLine *line = &diff->line[i];
    if (line->kind == DIFF_SAME) continue;
    bool added = line->kind == DIFF_ADDED;
    Style style = !fresh ? STYLE_DIM : added ? STYLE_DIFF_ADD : STYLE_DIFF_DELETE;
    canvas_text(canvas, in, row, 1, style, added ? "+" : "-");
    canvas_fit(canvas, in, row++, 3 + 2 * line->depth, in.cols - 3 - 2 * line->depth, ALIGN_LEFT,
               style, line->text);
  }
}

// The lines of CUDA that the row under the cursor stands for.
static void draw_code(Canvas *canvas, Rect in, const SourcePart *code) {
  if (in.rows < CODE_ROWS_MIN) return;
  int col = canvas_text(canvas, in, 0, 1, STYLE_HEADER, "CUDA");
  canvas_printf(canvas, in, 0, col + 2, STYLE_DIM, "lines %d to %d of %d", code->first, code->last,
                code->n_all);
  for (int i = 0, row = 1; i < code->n && row < in.rows; i++) {
    Rect line = {in.row + row, in.col, 1, in.cols};
    if (i && code->line[i].number != code->line[i - 1].number + 1)
      canvas_text(canvas, line, 0, 0, STYLE_DIM, "…");
    canvas_printf(canvas, line, 0, 1, STYLE_DIM, "%4d", code->line[i].number);
    source_draw_text(canvas, line, 6, &code->line[i], 0);
    row++;
  }
}

// Whether a line of the text is what the cursor is on: made by its knob, or of its row of the nest.
static bool is_pointed_at(const Session *session, const SourceLine *line) {
  const Explore *explore = session->prepared;
  if (!line->text || !line->text[strspn(line->text, " ")]) return false;
  if (session_view_state_const(session)->pane == 0) return line->knob == session->at.knob;
  for (int i = 0; i < explore->code.n; i++)
    if (explore->code.line[i].number == line->number) return true;
  return false;
}

// From the main loop on, unless the cursor was moved to what lies elsewhere.
static int first_of_kernel(const Session *session, int rows, bool *points) {
  const Explore *explore = session->prepared;
  const SourcePart *part = &explore->kernel.part;
  int first = source_kernel_first(&explore->kernel, rows), at = -1;
  for (int i = 0; i < part->n && (at < first || at >= first + rows); i++)
    if ((at < 0 || i >= first) && is_pointed_at(session, &part->line[i])) at = i;
  bool seen = at >= first && at < first + rows;
  *points = at >= 0 && (seen || !session->at.arrived);
  return *points && !seen ? view_scroll(at + rows / 4, part->n, rows) : first;
}

// Where there is room left on a large screen: the kernel's text, with an arrow where the cursor
// points.
static void draw_kernel(Canvas *canvas, Rect in, const Session *session) {
  const Explore *explore = session->prepared;
  const SourcePart *part = &explore->kernel.part;
  Rect head = rect_take_top(&in, 1);
  bool points;
  const int first = first_of_kernel(session, in.rows, &points);
  const int n = part->n - first < in.rows ? part->n - first : in.rows;
  int col = canvas_text(canvas, head, 0, 1, STYLE_HEADER, "CUDA");
  col = canvas_printf(canvas, head, 0, col + 2, STYLE_DIM, "lines %d to %d of %d",
                      part->first + first, part->first + first + n - 1, part->n_all);
  if (points && session_view_state_const(session)->pane == 0)
    canvas_printf(canvas, head, 0, col, STYLE_DIM, ", ▸ by %s", knob_table[session->at.knob].name);
  for (int i = 0; i < n; i++) {
    const SourceLine *line = &part->line[first + i];
    Rect row = {in.row + i, in.col, 1, in.cols};
    bool here = is_pointed_at(session, line);
    if (here) canvas_glyph(canvas, row, 0, 0, STYLE_ACCENT, GLYPH_POINTER);
    canvas_printf(canvas, row, 0, 1, here ? STYLE_ACCENT : STYLE_DIM, "%4d", line->number);
    source_draw_text(canvas, row, 6, line, 0);
  }
}

// Whether there is room for it, and all lines of the row under the cursor are in it.
static bool has_kernel(Rect in, const Explore *explore) {
  const SourcePart *part = &explore->kernel.part, *code = &explore->code;
  bool holds = code->n == 0 || (code->first >= part->first && code->last <= part->last);
  return part->n > 0 && in.rows > KERNEL_ROWS_MIN && holds;
}

void explore_draw_kernel(Canvas *canvas, Rect in, const Session *session) {
  if (has_kernel(in, session->prepared)) draw_kernel(canvas, in, session);
}

// After a turn of a knob it shows what that changed, while the cursor walks the nest its code.
// Without an access to draw the card's place has the kernel.
void explore_draw_below(Canvas *canvas, Rect in, const Session *session) {
  const Explore *explore = session->prepared;
  const bool fresh = session->at.change == CHANGE_FRESH && session->doc.now.picture->diff;
  const bool reads = explore->code.n && !fresh;
  const bool here = has_kernel(in, explore) && session_site(session);
  if (reads && !here)
    draw_code(canvas, in, &explore->code);
  else if (!reads && session->at.change != CHANGE_GONE && session->doc.now.picture->diff)
    draw_last_change(canvas, in, session);
  else if (here)
    draw_kernel(canvas, in, session);
}
