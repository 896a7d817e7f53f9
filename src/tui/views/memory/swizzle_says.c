// The rows below the accesses: the findings of the solver, or why a typed layout is none.
#include "tui/canvas/canvas.h"
#include "tui/views/memory/swizzle.h"

enum { PROOF_ROWS = 3 };

static void draw_families(Canvas *canvas, Rect row, const SolverResult *result) {
  int col = 1;
  for (int f = 0; f < SOLVER_FAMILIES; f++) {
    const SolverCandidate *family = &result->families[f];
    if (!family->layout) continue;
    Style style = f == (int)result->family ? STYLE_OK : STYLE_DIM;
    col = canvas_printf(canvas, row, 0, col, style, "%s %lld", solver_family_name((SolverFamily)f),
                        (long long)family->total) +
          2;
  }
  canvas_text(canvas, row, 0, col, STYLE_DIM, "(best of each)");
}

static void draw_result(Canvas *canvas, Rect in, const SolverResult *result) {
  Rect head = rect_take_top(&in, 1);
  int col = canvas_printf(canvas, head, 0, 1, STYLE_TITLE, "total %lld, bound %lld",
                          (long long)result->best.total, (long long)result->bound);
  canvas_text(canvas, head, 0, col, result->optimal ? STYLE_OK : STYLE_WARN,
              result->optimal ? ": optimal" : ": not proven optimal");
  draw_families(canvas, rect_take_bottom(&in, 1), result);
  rect_take_left(&in, 1);
  canvas_wrap(canvas, in, STYLE_TEXT, result->proof);
}

int swizzle_says_rows(int screen_rows, const Swizzle *work, int cols) {
  if (work->error) return canvas_wrap_rows(work->error, cols - 2);
  if (!work->solved) return 0;
  int proof = canvas_wrap_rows(work->result.proof, cols - 2);
  int most = screen_rows > 30 ? 2 * PROOF_ROWS : PROOF_ROWS;
  return 2 + (proof < most ? proof : most);
}

void swizzle_draw_says(Canvas *canvas, Rect in, const Swizzle *work) {
  if (work->error) {
    rect_take_left(&in, 1);
    canvas_wrap(canvas, in, STYLE_BAD, work->error);
  } else if (work->solved) {
    draw_result(canvas, in, &work->result);
  }
}
