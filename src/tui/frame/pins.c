// The frame is cut once: the left half for the view at hand, the right one for the pinned views,
// one above the other. Worked example, 200 × 60 with two of them: the view at hand has 100 columns,
// each pinned one 99 columns and 28 rows below a line with its name.
#include "tui/frame/pins.h"

#include "base/nearest.h"
#include "tui/frame/view.h"

enum { FRAME_ROWS = 3 };  // tabs, the state and the footer, which a pinned view has not

_Static_assert(sizeof(Session) <= 16 << 10, "every frame copies the session for each pinned view");

bool pins_takes(int view) {
  return view >= 0 && view != view_find("help") && view != view_find("lesson");
}

// Pinned views that a screen of this size has room for.
static int pins_room(int rows, int cols) {
  if (cols >= PINS_WIDE_COLS && rows >= PINS_WIDE_ROWS) return SESSION_PINS_MAX;
  return cols >= PINS_COLS && rows >= VIEW_ROWS_MIN;
}

bool pins_has(const Session *session, int view) {
  for (int i = 0; i < session->at.n_pins; i++)
    if (session->at.pin[i].view == view) return true;
  return false;
}

void pins_none(Session *session) {
  session->at.n_pins = 0;
  session->at.pins_chosen = true;
}

void pins_choose(Session *session, int rows, int cols) {
  static const char *const companions[] = {"explore", "pipeline", "grid"};
  const int beside = view_table[session->at.view].beside;
  if (session->at.pins_chosen) return;
  session->at.n_pins = 0;
  // A|B needs the columns, and a view about a user's kernel has no schedule to follow.
  if (beside == 0 || cols < beside || session->doc.comparing ||
      view_table[session->at.kernel_view].body->subject)
    return;
  for (size_t i = 0; i < sizeof companions / sizeof *companions; i++) {
    const int view = view_find(companions[i]);
    if (view != session->at.view && session->at.n_pins < pins_room(rows, cols))
      session->at.pin[session->at.n_pins++] = (Pin){.view = view};
  }
}

void pins_set(Session *session, int view) {
  if (!session->at.pins_chosen) pins_none(session);
  if (!pins_takes(view) || pins_has(session, view)) return;
  if (session->at.n_pins == SESSION_PINS_MAX) session->at.n_pins--;
  session->at.pin[session->at.n_pins++] = (Pin){.view = view};
}

bool pins_take(Session *session, const char *const *names, int n, Diags *diags) {
  const char *known[SESSION_VIEWS_MAX];
  int n_known = 0;
  for (int i = 0; i < view_count; i++)
    if (pins_takes(i)) known[n_known++] = view_table[i].name;
  for (int i = 0; i < n; i++) {
    const int view = view_find(names[i]);
    if (pins_takes(view))
      pins_set(session, view);
    else
      diag_add_unknown(diags, "view", "view to pin", names[i], known, n_known);
  }
  return diags->count == 0;
}

void pins_drop(Session *session, int view) {
  int n = 0;
  session->at.pins_chosen = true;
  for (int i = 0; i < session->at.n_pins; i++)
    if (session->at.pin[i].view != view) session->at.pin[n++] = session->at.pin[i];
  session->at.n_pins = n;
}

// The pinned views that a screen of this size has beside the view at hand, into `out`.
static int shown_pins(const Session *session, int rows, int cols, int out[SESSION_PINS_MAX]) {
  const int room = pins_room(rows, cols);
  int n = 0;
  if (!pins_takes(session->at.view)) return 0;
  for (int i = 0; i < session->at.n_pins && n < room; i++)
    if (session->at.pin[i].view != session->at.view) out[n++] = i;
  return n;
}

int pins_cols(const Session *session, int rows, int cols) {
  int shown[SESSION_PINS_MAX];
  return shown_pins(session, rows, cols, shown) ? cols / 2 : cols;
}

// The part of the i-th of n pinned views, the line with its name included; `in` lies below the
// state.
static Rect part_of(Rect in, int i, int n) {
  const int top = in.rows * i / n, end = in.rows * (i + 1) / n;
  return (Rect){in.row + top, in.col, end - top, in.cols};
}

// Does something as if a pinned view were the one at hand, on a screen of that size.
typedef bool PinStep(Session *session, const ViewBody *body);

static bool as_view(Session *session, int view, int rows, int cols, PinStep *step, Pin *keep) {
  const int view_here = session->at.view, rows_here = session->rows, cols_here = session->cols;
  const void *prepared_here = session->prepared;
  session->at.view = view;
  session->rows = rows;
  session->cols = cols;
  session->prepared = keep->shown ? keep->shown->prepared : NULL;
  const bool done = step(session, view_table[view].body);
  if (keep->shown) *keep->shown = *session;
  session->at.view = view_here;
  session->rows = rows_here;
  session->cols = cols_here;
  session->prepared = prepared_here;
  return done;
}

static bool prepare(Session *session, const ViewBody *body) {
  session->prepared = NULL;
  if (body->prepare) body->prepare(session);
  return true;
}

static bool idle(Session *session, const ViewBody *body) {
  return body->idle && body->idle(session);
}

void pins_prepare(Session *session, int rows, int cols) {
  int shown[SESSION_PINS_MAX];
  const int n = shown_pins(session, rows, cols, shown);
  for (int i = 0; i < session->at.n_pins; i++) session->at.pin[i].shown = NULL;
  const Rect all = {0, 0, rows - FRAME_ROWS, cols - cols / 2 - 1};
  for (int i = 0; i < n; i++) {
    Pin *pin = &session->at.pin[shown[i]];
    const Rect part = part_of(all, i, n);
    pin->shown = ARENA_NEW(session->frame, Session);
    as_view(session, pin->view, part.rows - 1 + FRAME_ROWS, part.cols, prepare, pin);
  }
}

bool pins_idle(Session *session) {
  bool news = false;
  for (int i = 0; i < session->at.n_pins; i++) {
    Pin *pin = &session->at.pin[i];
    if (pin->shown)
      news |= as_view(session, pin->view, pin->shown->rows, pin->shown->cols, idle, pin);
  }
  return news;
}

static void draw_pin(Canvas *canvas, Rect part, const Pin *pin) {
  const View *view = &view_table[pin->view];
  const Rect all = part;
  Rect head = rect_take_top(&part, 1);
  canvas_hline(canvas, head, 0, 0, head.cols, STYLE_BORDER);
  canvas_printf(canvas, head, 0, 1, STYLE_HEADER, " %s ", view->title);
  if (part.rows > 0) view->body->draw(canvas, part, pin->shown);
  canvas_spot(canvas, all, SPOT_PIN, pin->view);
}

void pins_draw(Canvas *canvas, Rect *in, const Session *session) {
  int n = 0, at = 0;
  for (int i = 0; i < session->at.n_pins; i++) n += session->at.pin[i].shown != NULL;
  if (n == 0) return;
  Rect right = *in;
  *in = rect_take_left(&right, session->cols);
  canvas_vline(canvas, right, 0, 0, right.rows, STYLE_BORDER);
  rect_take_left(&right, 1);
  for (int i = 0; i < session->at.n_pins; i++)
    if (session->at.pin[i].shown) draw_pin(canvas, part_of(right, at++, n), &session->at.pin[i]);
}

void pins_click(Session *session, int view) {
  const int old = session->at.view;
  for (int i = 0; i < session->at.n_pins; i++)
    if (session->at.pin[i].view == view) session->at.pin[i] = (Pin){.view = old};
  view_show(session, view);
}
