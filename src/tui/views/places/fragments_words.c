// The fragment view's last picture: what each word of the instruction's name says, and what WMMA
// would hide of it.
#include "tui/canvas/utf8.h"
#include "tui/views/places/fragments.h"

static int word_cols(const Fragments *f) {
  int cols = 0;
  for (int i = 0; i < f->n_words; i++)
    if (utf8_columns(f->word[i].text) > cols) cols = utf8_columns(f->word[i].text);
  return cols;
}

void fragments_draw_words(Canvas *canvas, Rect in, const Fragments *f) {
  rect_take_top(&in, 1);
  int at = 1 + word_cols(f) + 2;
  for (int i = 0; i < f->n_words; i++) {
    canvas_text(canvas, in, i, 1, STYLE_ACCENT, f->word[i].text);
    canvas_fit(canvas, in, i, at, in.cols - at - 1, ALIGN_LEFT, STYLE_TEXT, f->word[i].meaning);
  }
  rect_take_top(&in, f->n_words + 1);
  if (f->wmma) canvas_wrap(canvas, rect_inset(in, 0, 1), STYLE_DIM, f->wmma);
}
