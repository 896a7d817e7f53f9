// explore: knobs on the loops they make, the worst access as a punch card, what limits the kernel.
//
//   ┌ how fast, compared with what, limited by what ───────────┐
//   ├ nest and knobs ──────────────┬ card of the selected site ┤
//   │ rows scroll with the cursor  │ and why it costs that     │
//   ├ LIMIT FIT SLABS ─────────────┼ origin, ladder ───────────┤
//   └ what the cursor is on, what one step would do, what would help ┘
//
// Pane 0 moves among knobs, pane 1 among the rows of the nest; the row of an access selects its
// site. Narrow screens (under 60 columns) leave out the card, short ones the sentences.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/stmt.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/better_kernel.h"
#include "tui/views/data/view_data.h"
#include "tui/views/memory/bank_card.h"
#include "tui/views/memory/sector_card.h"
#include "tui/views/program/explore.h"
#include "tui/views/program/tier_style.h"

enum { TIER_COLS = 7, CARD_MIN_SCREEN = 64, ROOMY_ROWS = 28 };
enum { KERNEL_COLS = 160, KERNEL_ROWS = 44 };  // of a screen that has room for its text
enum { SPOT_KNOB = SPOT_VIEW, SPOT_ROW, SPOT_LESS, SPOT_MORE };

// ---- layout -------------------------------------------------------------------------------------

typedef struct Panes {
  Rect headline, nest, card, numbers, speed, text;
  int split;  // column of the line between left and right; 0: there is no right
} Panes;

static int left_cols(int cols) {
  if (cols < CARD_MIN_SCREEN) return cols;
  int left = cols - CARD_COLS - 1;
  if (cols >= 110) left = cols - 54;
  if (cols >= 180) left = cols - 72;
  return left;
}

static Panes split_panes(Rect in) {
  Panes panes = {.split = left_cols(in.cols) < in.cols ? left_cols(in.cols) : 0};
  const bool roomy = in.rows >= ROOMY_ROWS;
  panes.headline = rect_take_top(&in, roomy ? 2 : 1);
  rect_take_top(&in, roomy);
  int text_rows = in.rows >= 34 ? 6 : in.rows >= 33 ? 5 : in.rows >= 18 ? 3 : in.rows >= 13 ? 2 : 1;
  panes.text = rect_take_bottom(&in, text_rows);
  rect_take_bottom(&in, in.rows > 11);
  Rect low = rect_take_bottom(&in, in.rows > 11 ? 3 : 1);
  rect_take_bottom(&in, 1);
  panes.numbers = rect_take_left(&low, panes.split ? panes.split : low.cols);
  panes.nest = rect_take_left(&in, panes.split ? panes.split : in.cols);
  rect_take_left(&low, 1);
  rect_take_left(&in, 1);
  panes.speed = low;
  panes.card = in;
  return panes;
}

static int loops_cols(const Session *session) { return left_cols(session->cols) - TIER_COLS - 2; }

static void explore_prepare(Session *session) {
  Explore *explore = explore_layout(session->frame, session, loops_cols(session));
  const ViewState *state = session_view_state_const(session);
  if (state->pane == 1 && state->cursor < explore->nest->n_rows)
    explore->code = source_part(session, &explore->nest->row[state->cursor]);
  if (session->cols >= KERNEL_COLS && session->rows >= KERNEL_ROWS)
    explore->kernel = source_kernel(session);
  explore_explain(session->frame, session, explore);
  explore_find_limit(session->frame, session, explore);
  session->prepared = explore;
}

// ---- the nest -----------------------------------------------------------------------------------

// The number of a row's access and what it costs, at the right end: "3 ok".
typedef struct RowBadge {
  char text[16];
  Style style;
  int cols;    // 0: the row touches no memory
  bool alone;  // the number stands alone
} RowBadge;

// `left`: columns between the text and the end. Where they are few, an access without a count has
// its number only.
static RowBadge row_badge(const Model *model, const NestRow *row, int left) {
  RowBadge badge = {.style = STYLE_TEXT};
  if (!row->site) return badge;
  const int digits = 1 + (row->site > 9);
  const bool known = site_badge(model, row->site, badge.text, &badge.style);
  badge.cols = digits + 1 + utf8_columns(badge.text);
  badge.alone = !known && left < badge.cols + 1;
  if (badge.alone) badge.cols = digits;
  return badge;
}

static void draw_badge(Canvas *canvas, Rect in, int at, const RowBadge *badge, int site,
                       bool selected) {
  const int begin = in.cols - badge->cols;
  int col = canvas_printf(canvas, in, at, begin, selected ? STYLE_ACCENT : STYLE_DIM, "%d", site);
  if (!badge->alone) canvas_text(canvas, in, at, col + 1, badge->style, badge->text);
  if (selected)
    canvas_over(canvas, (Rect){in.row + at, in.col + begin, 1, badge->cols}, STYLE_LINKED);
}

static Style nest_text_style(const Session *session, const NestRow *row) {
  Style style = row->stmt && row->stmt->kind == STMT_OP ? STYLE_TEXT : nest_style(row->group);
  if (row->site) style = STYLE_SITE;
  if (tier_is_barrier(row->stmt)) style = STYLE_BARRIER;
  if (row->changed && session->at.change == CHANGE_FRESH) style = style_over(style, STYLE_CHANGED);
  return style;
}

// The text, its guides, and the badge of its site: "│ a[8] ← A_s  3 ok".
static void draw_nest_text(Canvas *canvas, Rect in, int at, const Session *session, int index) {
  const Explore *explore = session->prepared;
  const NestRow *row = &explore->nest->row[index];
  int col = 0;
  for (int i = 0; i < row->depth; i++, col += 2)
    canvas_text(canvas, in, at, col, STYLE_BORDER, i % 2 ? "┊" : "│");
  const int left = in.cols - col;
  const char *text = row->wide && utf8_columns(row->wide) <= left ? row->wide : row->text;
  int width = utf8_columns(text);
  const RowBadge badge = row_badge(session_model(session), row, left - width);
  const int room = left - badge.cols - (badge.cols > 0);
  if (width > room && row->tight) width = utf8_columns(text = row->tight);
  canvas_fit(canvas, in, at, col, width < room ? width : room, ALIGN_LEFT,
             nest_text_style(session, row), text);
  if (badge.cols) draw_badge(canvas, in, at, &badge, row->site, row->site - 1 == session->at.site);
}

// Whether the last change shows in this row: in its text, or in what its access costs.
static bool row_changed(const Session *session, const NestRow *row) {
  const Picture *picture = session->doc.now.picture;
  if (session->at.change != CHANGE_FRESH) return false;
  bool shared = row->site > 0 && row->site <= picture->model->n_sites;
  if (row->changed || !shared || !picture->has_before) return row->changed;
  const BankCount *count = &picture->model->site[row->site - 1].count;
  int before = picture->before_wavefronts[row->site - 1];
  return count->known && before >= 0 && before != count->wavefronts;
}

static void draw_row(Canvas *canvas, Rect in, int at, const Session *session, int index) {
  const Explore *explore = session->prepared;
  const ExploreRow *row = &explore->row[index];
  Rect line = {in.row + at, in.col, 1, in.cols};
  NestGroup group = row->nest >= 0 ? explore->nest->row[row->nest].group : NEST_KERNEL;
  if (row->label)
    canvas_text(canvas, line, 0, 1, row->nest >= 0 ? nest_style(group) : STYLE_DIM, row->label);
  if (row->nest < 0) return;
  Rect loops = {line.row, line.col + TIER_COLS + 1, 1, explore->knob_col - 1};
  if (row_changed(session, &explore->nest->row[row->nest]))
    canvas_glyph(canvas, line, 0, TIER_COLS, STYLE_CHANGED, GLYPH_BULLET);
  draw_nest_text(canvas, loops, 0, session, row->nest);
  canvas_spot(canvas, loops, SPOT_ROW, row->nest);
  const ViewState *state = session_view_state_const(session);
  if (state->pane == 1 && state->cursor == row->nest) canvas_over(canvas, loops, STYLE_CURSOR);
}

// Whether the knob differs from what the schedule is held against: A, or the rung as it was.
static bool knob_differs(const Session *session, KnobId knob) {
  const Schedule *other =
      session->doc.comparing ? &session->doc.then.pictured : &session_rung(session)->schedule;
  return schedule_differs(other, &session->doc.now.schedule, knob);
}

static void draw_cell(Canvas *canvas, Rect in, int at, const Session *session,
                      const KnobCell *cell) {
  int width = utf8_columns(cell->text);
  Rect area = {in.row + at, in.col + TIER_COLS + 1 + cell->col, 1, width};
  bool off = cell->off;
  const char *value = cell->text + strcspn(cell->text, " ");
  canvas_text(canvas, area, 0, 0, off ? STYLE_KNOB_OFF : STYLE_KNOB, cell->text);
  canvas_text(canvas, area, 0, width - (int)utf8_columns(value),
              off ? STYLE_KNOB_OFF : STYLE_NUMBER, value);
  Rect around = {area.row, area.col - 1, 1, width + 2};
  if (knob_differs(session, cell->knob)) {
    canvas_over(canvas, area, STYLE_CHANGED);
    canvas_glyph(canvas, around, 0, 0, STYLE_CHANGED, GLYPH_BULLET);
  }
  canvas_spot(canvas, area, SPOT_KNOB, cell->knob);
  bool here = cell->knob == session->at.knob;
  bool focus = session_view_state_const(session)->pane == 0;
  if (here) canvas_over(canvas, area, focus ? STYLE_CURSOR : STYLE_SELECTED);
  if (!here || !focus) return;
  canvas_text(canvas, around, 0, 0, STYLE_ACCENT, "◀");
  canvas_text(canvas, around, 0, width + 1, STYLE_ACCENT, "▶");
  canvas_spot(canvas, (Rect){area.row, area.col - 1, 1, 1}, SPOT_LESS, cell->knob);
  canvas_spot(canvas, (Rect){area.row, area.col + width, 1, 1}, SPOT_MORE, cell->knob);
}

static int cursor_row(const Session *session) {
  const Explore *explore = session->prepared;
  const ViewState *state = session_view_state_const(session);
  for (int i = 0; state->pane == 1 && i < explore->n_rows; i++)
    if (explore->row[i].nest == state->cursor) return i;
  for (int i = 0; i < explore->n_cells; i++)
    if (explore->cell[i].knob == session->at.knob) return explore->cell[i].row;
  return 0;
}

// The story begins with the first row: rows scroll only as far as the cursor needs.
static int first_row(int cursor, int n, int rows) {
  enum { BELOW = 3 };
  int first = cursor + BELOW - rows;
  if (first > n - rows) first = n - rows;
  return first < 0 ? 0 : first;
}

// "+ 31 more (K)": the knobs that wait behind the picker.
static void draw_rest(Canvas *canvas, Rect row, const Session *session) {
  const Explore *explore = session->prepared;
  if (explore->n_rest == 0 || row.rows == 0) return;
  char name[KEY_PRINT_MAX];
  const Key key = keymap_key(session->keymap, "explore", "knob");
  canvas_printf(canvas, row, 0, TIER_COLS + 1 + explore->knob_col, STYLE_DIM, "+ %d more (%s)",
                explore->n_rest, key == KEY_NONE ? ":knob" : key_print(key, name));
}

static void draw_nest(Canvas *canvas, Rect in, const Session *session) {
  const Explore *explore = session->prepared;
  Rect head = rect_take_top(&in, 1);
  canvas_text(canvas, head, 0, 1, STYLE_HEADER, "TIER");
  canvas_text(canvas, head, 0, TIER_COLS + 1, STYLE_HEADER, "LOOPS");
  canvas_text(canvas, head, 0, TIER_COLS + 1 + explore->knob_col, STYLE_HEADER, "KNOBS");
  Rect body = in;
  const int n_rows = explore->n_rows, first = first_row(cursor_row(session), n_rows, in.rows);
  for (int i = 0; i < in.rows && first + i < n_rows; i++)
    draw_row(canvas, in, i, session, first + i);
  const KnobCell *here = NULL;  // drawn last: its arrows stand in its neighbours' margins
  for (int i = 0; i < explore->n_cells; i++) {
    const KnobCell *cell = &explore->cell[i];
    if (cell->row < first || cell->row >= first + in.rows || cell->row >= n_rows) continue;
    if (cell->knob == session->at.knob)
      here = cell;
    else
      draw_cell(canvas, in, cell->row - first, session, cell);
  }
  if (here) draw_cell(canvas, in, here->row - first, session, here);
  view_draw_more(canvas, body, first, n_rows);
  rect_take_top(&in, n_rows - first);
  draw_rest(canvas, rect_take_top(&in, 1), session);
  explore_draw_below(canvas, in, session);
}

// ---- all of it ----------------------------------------------------------------------------------

static void draw_lines(Canvas *canvas, Rect in, const Panes *panes) {
  const int top = panes->nest.row - in.row;
  if (top > panes->headline.rows) canvas_hline(canvas, in, top - 1, 0, in.cols, STYLE_BORDER);
  canvas_hline(canvas, in, panes->numbers.row - 1 - in.row, 0, in.cols, STYLE_BORDER);
  if (panes->text.row > panes->numbers.row + panes->numbers.rows)
    canvas_hline(canvas, in, panes->text.row - 1 - in.row, 0, in.cols, STYLE_BORDER);
  if (panes->split)
    canvas_vline(canvas, in, top, panes->split, panes->text.row - panes->nest.row, STYLE_BORDER);
}

// A sentence goes on in the next row if there are rows for it, the last one as far as they go; else
// each has one row, cut at its end.
static void draw_sentences(Canvas *canvas, Rect in, const Explore *explore) {
  const bool wraps = in.rows > 3;  // the story wherever it is told first
  rect_take_left(&in, 1);
  for (int i = 0; i < explore->n_sentences && in.rows > 0; i++) {
    const Sentence *sentence = &explore->sentence[i];
    int rows = canvas_wrap_rows(sentence->text, in.cols);
    if (wraps && i == explore->n_sentences - 1) rows = min_int(rows, in.rows);
    if ((wraps || sentence->whole) && rows <= in.rows) {
      canvas_wrap(canvas, rect_take_top(&in, rows), sentence->style, sentence->text);
      continue;
    }
    char line[CANVAS_COLS_MAX];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(sentence->text, "\n"), sentence->text);
    canvas_fit(canvas, rect_take_top(&in, 1), 0, 0, in.cols, ALIGN_LEFT, sentence->style, line);
  }
}

static void explore_draw(Canvas *canvas, Rect in, const Session *session) {
  Panes panes = split_panes(in);
  draw_lines(canvas, in, &panes);
  explore_draw_headline(canvas, panes.headline, session);
  draw_nest(canvas, panes.nest, session);
  explore_draw_numbers(canvas, panes.numbers, session);
  draw_sentences(canvas, panes.text, session->prepared);
  if (!panes.split) return;
  explore_draw_card(canvas, panes.card, session);
  explore_draw_speed(canvas, panes.speed, session);
}

// ---- keys ---------------------------------------------------------------------------------------

// The rows that are on the screen: which ones depends on its width.
const Nest *explore_nest(const Session *session) {
  return explore_nest_in(session, loops_cols(session));
}

static void move_knob(Session *session, int delta) {
  Explore *explore = explore_layout(session->frame, session, loops_cols(session));
  int at = 0;
  for (int i = 0; i < explore->n_cells; i++)
    if (explore->cell[i].knob == session->at.knob) at = i;
  at += delta;
  if (at >= explore->n_cells) at = explore->n_cells - 1;
  session->at.knob = explore->cell[at < 0 ? 0 : at].knob;
}

static void explore_move(Session *session, int delta) {
  ViewState *state = session_view_state(session);
  session->at.arrived = false;
  const Nest *nest = explore_nest(session);
  if (state->pane == 0) {
    move_knob(session, delta);
    return;
  }
  int to = state->cursor + delta;
  if (to >= nest->n_rows) to = nest->n_rows - 1;
  state->cursor = to < 0 ? 0 : to;
  int site = nest->row[state->cursor].site;
  if (!site) return;
  session->at.site = site - 1;
}

static int explore_count(const Session *session) {
  return session_view_state_const(session)->pane ? explore_nest(session)->n_rows : KNOB_COUNT;
}

static const char *explore_line(const Session *session, int i) {
  if (session_view_state_const(session)->pane) return explore_nest(session)->row[i].text;
  return knob_table[i].name;
}

static int explore_at(const Session *session) {
  const ViewState *state = session_view_state_const(session);
  return state->pane ? state->cursor : (int)session->at.knob;
}

static void explore_go(Session *session, int i) {
  ViewState *state = session_view_state(session);
  if (state->pane == 0)
    session_take_knob(session, (KnobId)i);
  else
    explore_move(session, i - state->cursor);
}

// The knob that stands on a row of the nest, else the one that put it there; KNOB_NONE: neither.
static KnobId knob_of_row(const Explore *explore, int nest_row) {
  for (int i = 0; i < explore->n_cells; i++) {
    const KnobCell *cell = &explore->cell[i];
    if (explore->row[cell->row].nest == nest_row) return cell->knob;
  }
  const NestRow *row = &explore->nest->row[nest_row];
  return row->seat != KNOB_NONE ? row->seat : row->knob;
}

// The cursor stays with the knob it turns: on the row where that stands now, else among the knobs.
static void follow_knob(Session *session) {
  ViewState *state = session_view_state(session);
  const Explore *explore = explore_layout(session->frame, session, loops_cols(session));
  int at = state->cursor < explore->nest->n_rows ? state->cursor : explore->nest->n_rows - 1;
  if (knob_of_row(explore, at) == session->at.knob) return;
  for (int i = 0; i < explore->nest->n_rows; i++) {
    if (knob_of_row(explore, i) != session->at.knob) continue;
    state->cursor = i;
    return;
  }
  state->pane = 0;
}

// On a line of the nest it is that line's knob which is turned.
static void turn_knob(Session *session, int direction) {
  const ViewState *state = session_view_state_const(session);
  if (state->pane == 1) {
    const Explore *explore = explore_layout(session->frame, session, loops_cols(session));
    int last = explore->nest->n_rows - 1;
    KnobId knob = knob_of_row(explore, state->cursor < last ? state->cursor : last);
    if (knob == KNOB_NONE) {
      session_say(session, SAID_NOTE, "this line belongs to no knob; Tab goes to the knobs");
      return;
    }
    session->at.knob = knob;
  }
  session_step_knob(session, session->at.knob, direction);
  if (state->pane == 1) follow_knob(session);
}

static void knob_down(Session *s, const char *a) { (void)a, turn_knob(s, -1); }
static void knob_up(Session *s, const char *a) { (void)a, turn_knob(s, +1); }

// Trials are made in idle moments; a key that comes before the last of them waits for the rest. For
// an illegal schedule the screen says already what mends it.
static void take_advice(Session *session, const char *argument) {
  (void)argument;
  if (session->doc.now.reasons) return;
  session_start_advice(session);
  while (advice_step(session->background.advice, &session->doc.targets)) {
  }
  const Trial *best = explore_best(session);
  if (!best) {
    session_say(session, SAID_NOTE, "no single change is expected to be faster");
    return;
  }
  KnobId knob = best->knob;
  session_set_knob(session, knob, best->value);
  session->at.knob = knob;
}

static void take_tuned(Session *session, const char *argument) {
  (void)argument;
  const BetterKernel better = better_kernel(session->frame, session);
  if (!better.row) {
    session_say(session, SAID_NOTE,
                "the history has no faster kernel for this problem on this "
                "GPU");
    return;
  }
  const Schedule tuned = *better.schedule;
  session_set_schedule(session, &tuned);
  session_say(session, SAID_NOTE, "tuned by %.30s, %.10s; %s takes it back", better.row->user,
              history_date(session->frame, better.row), view_key_name(session, "undo"));
}

static void sweep(Session *session, const char *argument) {
  view_show(session, view_find("measure"));
  view_run(session, "sweep", argument);
}

static void zoom(Session *session, const char *argument) {
  (void)argument;
  const ViewState *state = session_view_state_const(session);
  const Nest *nest = explore_nest(session);
  bool loop = state->pane == 1 && state->cursor < nest->n_rows && !nest->row[state->cursor].site;
  view_show(session, view_find(loop ? "source" : session_site_count(session) ? "banks" : "loops"));
}

static void explore_click(Session *session, int what, int value) {
  ViewState *state = session_view_state(session);
  bool again = what == SPOT_KNOB && session->at.knob == (KnobId)value && state->pane == 0;
  if (again || what == SPOT_MORE) session_step_knob(session, session->at.knob, +1);
  if (what == SPOT_LESS) session_step_knob(session, session->at.knob, -1);
  session->at.arrived = false;
  if (what == SPOT_KNOB) session->at.knob = (KnobId)value;
  state->pane = what == SPOT_ROW;
  if (what != SPOT_ROW) return;
  state->cursor = value;
  explore_move(session, 0);
}

static void change_limit(Session *session, const char *argument) {
  (void)argument;
  ExploreOwn *own = view_own(session, &explore_view);
  own->per_slab = !own->per_slab;
}

static void change_table(Session *session, const char *argument) {
  (void)argument;
  ExploreOwn *own = view_own(session, &explore_view);
  own->table = !own->table;
}

static const Action actions[] = {
    {"knob-down", "Left h -", "change", "knob-up", "the knob's next value down", knob_down},
    {"knob-up", "Right l + =", NULL, NULL, "the knob's next value up", knob_up},
    {"take-advice", "a", NULL, NULL, "make the change that \"try\" proposes", take_advice},
    {"take-tuned", "A", NULL, NULL, "take the fastest kernel of this problem in the history",
     take_tuned},
    {"sweep", "w", NULL, NULL, "show the knob at all its values, in the measure view", sweep},
    {"limit", "L", NULL, NULL, "show LIMIT per 1024 multiply-adds or per slab", change_limit},
    {"table", "t", NULL, NULL, "show or hide the byte address and bank of each lane, and the slab",
     change_table},
    {"zoom", "Enter", NULL, NULL,
     "show the selected access in the banks view, or the loop in the source", zoom},
};

const ViewBody explore_view = {
    .state_bytes = sizeof(ExploreOwn),
    .prepare = explore_prepare,
    .draw = explore_draw,
    .data = view_prepared,
    .move = explore_move,
    .move_label = "knob",
    .count = explore_count,
    .line = explore_line,
    .at = explore_at,
    .go = explore_go,
    .click = explore_click,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
    .n_panes = 2,
};
