// The signs that a picture is drawn of, and its legend: the list of those that it has.
//
// Whatever draws a sign notes it, so a sign that is drawn stands in the legend, and no other.
#include "base/whole.h"
#include "tui/canvas/utf8.h"
#include "tui/views/time/pipeline.h"

typedef struct SignRow {
  const char *text, *says;
} SignRow;

static const SignRow rows[PIPELINE_SIGNS] = {
#define X(id, text, says) [SIGN_##id] = {text, says},
    PIPELINE_SIGN_TABLE(X)
#undef X
};

static SignRow row_of(int sign) {
  if (sign < PIPELINE_SIGNS) return rows[sign];
  const TimelineKind kind = (TimelineKind)(sign - PIPELINE_SIGNS);
  return (SignRow){timeline_kind_letter(kind), timeline_kind_name(kind)};
}

void pipeline_use_sign(PipelineSpan span, PipelineSign sign) { *span.signs |= 1u << sign; }

void pipeline_use_letter(PipelineSpan span, TimelineKind kind) {
  *span.signs |= 1u << (PIPELINE_SIGNS + (int)kind);
}

// Where the next sign begins, and in which row: one that does not fit begins a new row.
static void place(const SignRow *sign, int cols, int *row, int *col) {
  const int needed = utf8_columns(sign->text) + 1 + utf8_columns(sign->says);
  if (*col + needed <= cols) return;
  ++*row;
  *col = 1;
}

int pipeline_legend_rows(unsigned signs, int cols) {
  int row = 0, col = 1;
  for (int i = 0; i < PIPELINE_SIGNS + TIMELINE_KINDS; i++) {
    if (!(signs >> i & 1)) continue;
    const SignRow sign = row_of(i);
    place(&sign, cols, &row, &col);
    col += utf8_columns(sign.text) + 1 + utf8_columns(sign.says) + 2;
  }
  return row + 1;
}

void pipeline_draw_legend(Canvas *canvas, Rect in, unsigned signs) {
  int row = 0, col = 1;
  for (int i = 0; i < PIPELINE_SIGNS + TIMELINE_KINDS; i++) {
    if (!(signs >> i & 1)) continue;
    const SignRow sign = row_of(i);
    place(&sign, in.cols, &row, &col);
    col = canvas_text(canvas, in, row, col, STYLE_TEXT, sign.text);
    col = canvas_text(canvas, in, row, col + 1, STYLE_DIM, sign.says) + 2;
  }
}
