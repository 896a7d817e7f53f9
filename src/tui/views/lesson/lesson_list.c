// A row for each lesson: its number, name and title, the number of its questions guessed right,
// and what it is about where there is room. Worked example:
//    4 banks       Banks and broadcast                    3 of 7 right
#include "tui/views/lesson/lesson_view.h"

#include "tui/frame/view.h"

static int count_bits(uint32_t bits) {
  int n = 0;
  for (; bits; bits &= bits - 1) n++;
  return n;
}

static int count_questions(const Lesson *lesson) {
  int n = 0;
  for (int i = 0; i < lesson->n_steps; i++) n += lesson->step[i].ask.kind != ASK_NOTHING;
  return n;
}

static void draw_lesson(Canvas *canvas, Rect row, const Tutor *tutor, int i, int spot) {
  enum { NAME_COLS = 12, TITLE_COLS = 38 };
  const Lesson *lesson = tutor->lesson[i];
  const LessonMark *mark = &tutor->mark[i];
  int right = count_bits(mark->right), asked = count_questions(lesson);
  int seen = count_bits(mark->right | mark->shown);
  canvas_printf(canvas, row, 0, 1, STYLE_DIM, "%2d", i + 1);
  canvas_fit(canvas, row, 0, 4, NAME_COLS, ALIGN_LEFT, STYLE_ACCENT, lesson->name);
  canvas_fit(canvas, row, 0, 4 + NAME_COLS, TITLE_COLS, ALIGN_LEFT, STYLE_TEXT, lesson->title);
  int col = 5 + NAME_COLS + TITLE_COLS;
  Style style = right == asked ? STYLE_OK : seen ? STYLE_TEXT : STYLE_DIM;
  canvas_printf(canvas, row, 0, col, style, "%d of %d right", right, asked);
  col += 15;
  if (row.cols > col + 10)
    canvas_fit(canvas, row, 0, col, row.cols - col - 1, ALIGN_LEFT, STYLE_DIM, lesson->about);
  canvas_spot(canvas, row, spot, i);
  if (i == tutor->list_at) canvas_over(canvas, row, STYLE_CURSOR);
}

// The steps of the lesson under the cursor, as many as the list leaves room for.
static void draw_steps(Canvas *canvas, Rect in, const Lesson *lesson) {
  enum { LEAST_ROWS = 5 };
  if (in.rows < LEAST_ROWS) return;
  rect_take_top(&in, 1);
  canvas_printf(canvas, rect_take_top(&in, 1), 0, 1, STYLE_HEADER, "STEPS of %s", lesson->name);
  const int n = lesson->n_steps <= in.rows ? lesson->n_steps : in.rows - 1;
  if (n < lesson->n_steps)
    canvas_printf(canvas, in, n, 4, STYLE_DIM, "… %d more", lesson->n_steps - n);
  for (int i = 0; i < n; i++) {
    canvas_printf(canvas, in, i, 0, STYLE_NUMBER, "%2d", i + 1);
    canvas_fit(canvas, in, i, 4, in.cols - 5, ALIGN_LEFT, STYLE_TEXT, lesson->step[i].title);
  }
}

void lesson_draw_list(Canvas *canvas, Rect in, const Tutor *tutor, int spot) {
  Rect head = rect_take_top(&in, 1);
  canvas_text(canvas, head, 0, 1, STYLE_HEADER,
              "LESSONS  read, predict, reveal; Enter begins or goes on");
  Rect foot = rect_take_bottom(&in, tutor->trouble ? 2 : 1);
  ViewList list = view_list(in, tutor->list_at, tutor->n_lessons);
  while (view_list_next(canvas, &list)) draw_lesson(canvas, list.row, tutor, list.at, spot);
  rect_take_top(&in, min_int(in.rows, tutor->n_lessons));
  if (tutor->n_lessons) draw_steps(canvas, in, tutor->lesson[tutor->list_at]);
  rect_take_left(&foot, 1);
  if (tutor->trouble)
    canvas_wrap(canvas, foot, STYLE_BAD, tutor->trouble);
  else if (tutor->n_lessons)
    canvas_fit(canvas, foot, 0, 0, foot.cols, ALIGN_LEFT, STYLE_NOTE,
               tutor->lesson[tutor->list_at]->about);
}
