// The frame around every view: tabs, the state in a line, the message, the footer; and the way from
// a key to an action.
//
//   row 0     gemmview  1 explore  2 loops …                                     ? help
//   row 1     fp32 · 7 of 18 · double_buffer +2 edits   ‹ FM 8 ›    4096³ f32  H200
//   …         the view
//   row n-2   a message, or why the schedule is not legal (only when there is one)
//   row n-1   footer: the keys that matter here, or the prompt
//
// A key goes to the prompt when one is open, else through the keymap (view first, then global) to
// the name of an action, which is looked up in the same two tables.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/palette.h"
#include "tui/frame/pins.h"
#include "tui/frame/view.h"

// ---- preparing ---------------------------------------------------------------------------------

void view_prepare(Session *session, int rows, int cols) {
  const ViewBody *body = view_table[session->at.view].body;
  session->at.subject = NULL;  // it lay in the frame before
  pins_choose(session, rows, cols);
  session_prepare(session, rows, pins_cols(session, rows, cols), body->estimates);
  palette_prepare(session);
  view_take_subject(session);
  if (body->prepare) body->prepare(session);
  pins_prepare(session, rows, cols);
}

bool view_idle(Session *session, bool *news) {
  const ViewBody *body = view_table[session->at.view].body;
  *news = body->idle && body->idle(session);
  *news |= pins_idle(session);
  return *news || session_idle(session);
}

// ---- events -------------------------------------------------------------------------------------

// The marks of the last edit fade with every key that is not an edit itself.
static void fade(Session *session) {
  if (session->at.change < CHANGE_GONE) session->at.change++;
}

// Whether the key is a letter that the view takes into its filter; those that move in a text,
// search it or leave it stay what they are.
static bool begins_filter(const Session *session, Key key) {
  const bool letter = (key >= 'a' && key <= 'z') || (key >= 'A' && key <= 'Z');
  return view_table[session->at.view].body->filters && letter && !strchr("jkgGnNq", (int)key);
}

void view_key(Session *session, Key key) {
  if (session->prompt.kind != PROMPT_NONE) {
    palette_key(session, key);
    return;
  }
  if (begins_filter(session, key)) {
    palette_filter(session, key);
    return;
  }
  const char *action = keymap_action(session->keymap, view_table[session->at.view].name, key);
  if (session->prompt.fresh && key == KEY_CODE_ENTER) action = "view lesson";
  bool asked = session->prompt.asked_quit;
  session->prompt.fresh = false;
  session->prompt.message[0] = '\0';
  fade(session);
  char name[KEY_PRINT_MAX];
  if (action)
    view_run(session, action, NULL);
  else if (!view_table[session->at.view].body->filters)
    session_say(session, SAID_NOTE, "%s does nothing here; %s lists the keys", key_print(key, name),
                view_key_name(session, "view help"));
  if (asked) session->prompt.asked_quit = false;
}

void view_paste(Session *session, const char *text) {
  const ViewBody *body = view_table[session->at.view].body;
  if (session->prompt.kind == PROMPT_NONE && body->paste) {
    session->prompt.message[0] = '\0';
    body->paste(session, text);
    return;
  }
  if (session->prompt.kind == PROMPT_NONE) {
    session->prompt.kind = PROMPT_COMMAND;
    textfield_set(&session->prompt.field, "");
  }
  bool changed = textfield_insert(&session->prompt.field, text);
  if (changed && session->prompt.kind == PROMPT_FIELD) body->typed(session, TEXTFIELD_CHANGED);
}

void view_mouse(Session *session, const Canvas *canvas, const Event *event) {
  if (event->mouse == MOUSE_WHEEL_UP) view_move(session, -3);
  if (event->mouse == MOUSE_WHEEL_DOWN) view_move(session, 3);
  if (event->mouse != MOUSE_PRESS) return;
  const Spot *spot = canvas_spot_at(canvas, event->row, event->col);
  if (!spot) return;
  const ViewBody *body = view_table[session->at.view].body;
  session->prompt.message[0] = '\0';
  session->prompt.fresh = false;
  fade(session);
  if (spot->what == SPOT_TAB)
    view_show(session, spot->value);
  else if (spot->what == SPOT_PIN)
    pins_click(session, spot->value);
  else if (spot->what == SPOT_KNOB_LESS || spot->what == SPOT_KNOB_MORE)
    view_run(session, spot->what == SPOT_KNOB_LESS ? "knob-less" : "knob-more", NULL);
  else if (spot->what == SPOT_ACTION && spot->value >= 0 && spot->value < body->n_actions)
    body->actions[spot->value].run(session, NULL);
  else if (spot->what == SPOT_ACTION && spot->value >= 0)
    global_actions[spot->value - body->n_actions].run(session, NULL);
  else if (body->click)
    body->click(session, spot->what, spot->value);
}

// ---- the frame ----------------------------------------------------------------------------------

// Its key, and its title where `titled`.
static int draw_tab(Canvas *canvas, Rect row, int col, const Session *session, int i, bool titled) {
  const View *view = &view_table[i];
  bool here = i == session->at.view;
  int begin = col;
  char action[40], name[KEY_PRINT_MAX];
  snprintf(action, sizeof action, "view %s", view->name);
  // A view that is shown may have another use for its own key.
  const char *context = here ? KEYMAP_GLOBAL : view_table[session->at.view].name;
  Key key = keymap_key(session->keymap, context, action);
  if (key != KEY_NONE) col = canvas_text(canvas, row, 0, col, STYLE_KEY, key_print(key, name));
  if (titled)
    col = canvas_text(canvas, row, 0, col + (key != KEY_NONE), here ? STYLE_TITLE : STYLE_TEXT,
                      view->title);
  Rect area = rect_intersect(row, (Rect){row.row, row.col + begin, 1, col - begin});
  if (here) canvas_over(canvas, area, STYLE_SELECTED);
  canvas_spot(canvas, area, SPOT_TAB, i);
  return col;
}

static int title_cols(int view) { return 1 + utf8_columns(view_table[view].title); }

// A title that is not written yet: that of the lessons, where a beginner begins, then the shortest,
// of equal ones the later, whose key is no digit; help's after all others. -1: none is left.
static int next_title(const bool titled[SESSION_VIEWS_MAX]) {
  int next = view_find("lesson");
  if (!titled[next]) return next;
  next = -1;
  for (int i = 0; i < view_count - 1; i++)
    if (!titled[i] && (next < 0 || title_cols(i) <= title_cols(next))) next = i;
  return next < 0 && !titled[view_count - 1] ? view_count - 1 : next;
}

// A title is written whole or not at all: the present view's first, then those that fit. Returns
// the columns that are left.
static int choose_titles(const Session *session, int cols, bool titled[SESSION_VIEWS_MAX]) {
  for (int next = session->at.view; next >= 0 && title_cols(next) <= cols;
       next = next_title(titled)) {
    titled[next] = true;
    cols -= title_cols(next);
  }
  return cols;
}

// The number of views whose keys stand there. Where the present view's title has no room beside all
// keys, the last ones before the lessons give way.
static int keys_shown(const Session *session, int cols, bool shown[SESSION_VIEWS_MAX]) {
  int n = view_count;
  for (int i = 0; i < view_count; i++) shown[i] = true;
  for (int i = view_find("lesson") - 1; i > 0; i--) {
    if (2 * n + title_cols(session->at.view) <= cols) break;
    if (i == session->at.view) continue;
    shown[i] = false;
    n--;
  }
  return n;
}

// Each with its key, help at the right end; with the program's name and wider gaps where there is
// room.
static void draw_tabs(Canvas *canvas, Rect row, const Session *session) {
  enum { NAME_COLS = 10 };
  bool titled[SESSION_VIEWS_MAX] = {false}, shown[SESSION_VIEWS_MAX];
  const int n = keys_shown(session, row.cols, shown), help = view_count - 1;
  int col = 1;
  int left = choose_titles(session, row.cols - 2 * n, titled);
  int gap = left > n - 1 ? 2 : 1;
  if (left > n - 1 + NAME_COLS) col = canvas_text(canvas, row, 0, 1, STYLE_TITLE, "gemmview") + 2;
  for (int i = 0; i < help; i++)
    if (shown[i]) col = draw_tab(canvas, row, col, session, i, titled[i]) + gap;
  int help_cols = 1 + (titled[help] ? title_cols(help) : 0) + (left > 0);
  draw_tab(canvas, row, row.cols - help_cols, session, help, titled[help]);
}

// "11 of 18": the number that one types, and that of the main line's last rung; "24, a side
// branch".
static void rung_place(const Session *session, char *out, size_t size) {
  const Ladder *ladder = session->doc.ladder;
  int last = ladder->n_rungs - 1;
  while (last > 0 && ladder->rung[last].aside) last--;
  if (session_rung(session)->aside)
    snprintf(out, size, "%d, a side branch", session->doc.rung);
  else
    snprintf(out, size, "%d of %d", session->doc.rung, last);
}

// "fp32 · 7 of 18 · double_buffer +2 edits"; "fp32 · own schedule, 7 knobs from rung 1" where no
// rung is near enough to lend its name. Returns the column after it.
static int draw_standing(Canvas *canvas, Rect row, const Session *session) {
  int edits = session_edits(session);
  char place[48];
  int col = canvas_text(canvas, row, 0, 1, STYLE_ACCENT, session->doc.ladder->name);
  col = canvas_text(canvas, row, 0, col, STYLE_DIM, " · ");
  if (session_departures(session) > SESSION_FAR) {
    col = canvas_text(canvas, row, 0, col, STYLE_TITLE, "own schedule");
    return canvas_printf(canvas, row, 0, col, STYLE_DIM, ", %d knobs from rung %d", edits,
                         session->doc.rung);
  }
  rung_place(session, place, sizeof place);
  col = canvas_text(canvas, row, 0, col, STYLE_TEXT, place);
  col = canvas_text(canvas, row, 0, col, STYLE_DIM, " · ");
  col = canvas_text(canvas, row, 0, col, STYLE_TITLE, session_rung(session)->name);
  if (!edits) return col;
  return canvas_printf(canvas, row, 0, col + 1, STYLE_WARN, "+%d edit%s", edits, plural_s(edits));
}

// "fp32 A = rung 10 transposed  B = rung 11 padded +1 edit": A, which stands in the column
// that is called so, first. What has no room is cut from A. Returns the column after it.
static int draw_sides(Canvas *canvas, Rect row, const Session *session, int room) {
  char b[160];
  const int edits = session_edits(session);
  int n = session_departures(session) > SESSION_FAR
              ? snprintf(b, sizeof b, "B = own schedule")
              : snprintf(b, sizeof b, "B = rung %d %.100s", session->doc.rung,
                         session_rung(session)->name);
  if (edits && n < (int)sizeof b)
    snprintf(b + n, sizeof b - (size_t)n, " +%d edit%s", edits, plural_s(edits));
  char a[sizeof session->doc.then_name + 8];
  snprintf(a, sizeof a, "A = %s", session->doc.then_name);
  int col = canvas_text(canvas, row, 0, 1, STYLE_ACCENT, session->doc.ladder->name) + 1;
  const int left = room - col - 2 - utf8_columns(b);
  const int cols = utf8_columns(a) < left ? utf8_columns(a) : left;
  if (cols > 4) col = canvas_fit(canvas, row, 0, col, cols, ALIGN_LEFT, STYLE_SIDE_A, a) + 2;
  return canvas_text(canvas, row, 0, col, STYLE_SIDE_B, b);
}

// "‹ BUFFER_COUNT 4 ›" at the right end of `row`, where it has room behind column `col`.
static void draw_knob_in_hand(Canvas *canvas, Rect row, int col, const Session *session) {
  char text[64];
  if (session->at.knob < 0) return;
  const char *value = session->at.knob_value;
  snprintf(text, sizeof text, "%s %s %.20s %s", canvas->ascii ? "<" : "‹",
           knob_table[session->at.knob].name, value, canvas->ascii ? ">" : "›");
  const int begin = row.cols - utf8_columns(text);
  if (begin < col + 2) return;
  const Rect area = {row.row, row.col + begin, 1, utf8_columns(text)};
  canvas_text(canvas, area, 0, 0, STYLE_KNOB, text);
  canvas_spot(canvas, area, SPOT_KNOB_MORE, 0);
  canvas_spot(canvas, (Rect){area.row, area.col, 1, 2}, SPOT_KNOB_LESS, 0);
}

static void draw_state(Canvas *canvas, Rect row, const Session *session) {
  const int teller = session->at.subject ? session->at.kernel_view : session->at.view;
  const ViewBody *body = view_table[teller].body;
  const char *other = body->standing ? body->standing(session) : NULL;
  if (other) {
    canvas_fit(canvas, row, 0, 1, row.cols - 1, ALIGN_LEFT, STYLE_ACCENT, other);
    return;
  }
  char problem[64], right[112];
  const Target *target = target_find(&session->doc.targets, session->doc.now.schedule.target, NULL);
  snprintf(right, sizeof right, "  %s  %s ",
           view_problem(session, &session->doc.now.schedule, problem, sizeof problem),
           target ? target->name : session->doc.now.schedule.target);
  int width = utf8_columns(right);
  const int col = session->doc.comparing ? draw_sides(canvas, row, session, row.cols - width)
                                         : draw_standing(canvas, row, session);
  if (col > row.cols - width) return;
  canvas_text(canvas, row, 0, row.cols - width, STYLE_TEXT, right);
  draw_knob_in_hand(canvas, rect_take_left(&row, row.cols - width), col, session);
}

enum { REASON_ROWS_MAX = 4, REASON_SCREEN_ROWS = 20 };

// Writes what mends the schedule; returns the column after it.
static int draw_mending(Canvas *canvas, Rect row, const Session *session) {
  char name[KEY_PRINT_MAX];
  Key key = keymap_key(session->keymap, view_table[session->at.view].name, "fix");
  int col = canvas_text(canvas, row, 0, 1, STYLE_BAD, "not legal") + 1;
  if (!session->doc.has_fix || key == KEY_NONE) return col;
  col = canvas_text(canvas, row, 0, col, STYLE_KEY, key_print(key, name));
  return canvas_printf(canvas, row, 0, col, STYLE_ACCENT, ": %s", session->doc.fix_text) + 2;
}

// A sentence that is longer than the row goes on under its beginning.
static int reason_rows(const Session *session, Rect screen, int col) {
  if (screen.rows < REASON_SCREEN_ROWS) return 1;
  int rows = canvas_wrap_rows(session->doc.now.reasons->first->text, screen.cols - col - 1);
  return rows < REASON_ROWS_MAX ? rows : REASON_ROWS_MAX;
}

static void draw_reasons(Canvas *canvas, Rect in, const Session *session) {
  int col = draw_mending(canvas, in, session);
  const char *text = session->doc.now.reasons->first->text;
  Rect body = {in.row, in.col + col, in.rows, in.cols - col - 1};
  if (in.rows > 1)
    canvas_wrap(canvas, body, STYLE_TEXT, text);
  else
    canvas_fit(canvas, body, 0, 0, body.cols, ALIGN_LEFT, STYLE_TEXT, text);
}

static void draw_message(Canvas *canvas, Rect row, const Session *session) {
  static const Style styles[] = {
      [SAID_NOTE] = STYLE_NOTE, [SAID_WARNING] = STYLE_WARN, [SAID_ERROR] = STYLE_BAD};
  canvas_fit(canvas, row, 0, 1, row.cols - 1, ALIGN_LEFT, styles[session->prompt.said],
             session->prompt.message);
}

// The short name of a key: arrows are drawn as such, but not in ASCII, where '<' is a key of its
// own.
static const char *hint_key(const Canvas *canvas, Key key, char name[KEY_PRINT_MAX]) {
  static const struct {
    Key key;
    const char *arrow;
  } arrows[] = {
      {KEY_CODE_UP, "↑"}, {KEY_CODE_DOWN, "↓"}, {KEY_CODE_LEFT, "←"}, {KEY_CODE_RIGHT, "→"}};
  for (int i = 0; i < 4 && !canvas->ascii; i++)
    if (arrows[i].key == key) return arrows[i].arrow;
  return key_print(key, name);
}

// A click on an action: its place among the view's own, the global ones behind them.
static int spot_of(const Session *session, const Action *action) {
  const ViewBody *body = view_table[session->at.view].body;
  for (int i = 0; i < body->n_actions; i++)
    if (&body->actions[i] == action) return i;
  return body->n_actions + (int)(action - global_actions);
}

// The action whose key is named beside this one's: of the same table, itself where it has none.
static const Action *pair_of(const Session *session, const Action *action) {
  const ViewBody *body = view_table[session->at.view].body;
  if (!action->pair) return action;
  const bool own = spot_of(session, action) < body->n_actions;
  const Action *pair = own ? view_find_in(body->actions, body->n_actions, action->pair)
                           : view_find_in(global_actions, global_action_count, action->pair);
  return pair ? pair : action;
}

// "[ ]": the keys of an action and of its pair.
typedef struct HintKeys {
  char text[2 * KEY_PRINT_MAX + 2];
  int first;  // columns of the action's own
} HintKeys;

// False when no key leads to the action.
static bool hint_keys(const Canvas *canvas, const Session *session, const Action *action,
                      HintKeys *keys) {
  const char *context = view_table[session->at.view].name;
  char name[KEY_PRINT_MAX];
  Key key = keymap_key(session->keymap, context, action->name);
  Key other = action->pair ? keymap_key(session->keymap, context, action->pair) : KEY_NONE;
  if (key == KEY_NONE) return false;
  int n = snprintf(keys->text, sizeof keys->text, "%s", hint_key(canvas, key, name));
  keys->first = utf8_columns(keys->text);
  if (other != KEY_NONE)
    snprintf(keys->text + n, sizeof keys->text - (size_t)n, " %s", hint_key(canvas, other, name));
  return true;
}

// "[ ] rung": keys, and what they do. A click on the first key is the action, on the rest of the
// hint its pair. Returns the column behind it; row.cols when it has no room.
static int draw_hint(Canvas *canvas, Rect row, int col, const Session *session,
                     const Action *action, const char *label) {
  HintKeys keys;
  if (!hint_keys(canvas, session, action, &keys)) return col;
  const Action *pair = pair_of(session, action);
  Rect area = {row.row, row.col + col, 1, utf8_columns(keys.text) + 1 + utf8_columns(label)};
  if (col + area.cols >= row.cols) return row.cols;
  canvas_spot(canvas, area, SPOT_ACTION, spot_of(session, pair));
  area.cols = keys.first;
  if (pair != action) canvas_spot(canvas, area, SPOT_ACTION, spot_of(session, action));
  col = canvas_text(canvas, row, 0, col, STYLE_KEY, keys.text);
  return canvas_text(canvas, row, 0, col + 1, STYLE_DIM, label) + 2;
}

// The footer's word for an action of the view now; NULL: the footer leaves it out.
static const char *own_label(const Session *session, const Action *action) {
  const ViewBody *body = view_table[session->at.view].body;
  return action->label && body->hint ? body->hint(session, action) : action->label;
}

// Actions on the schedule, which the footer leaves out while another kernel is shown.
static bool is_of_schedule(const Action *action) {
  static const char *const names[] = {"rung-previous", "ladder-previous", "knob-less", "knob",
                                      "undo",          "compare",         "bench",     "copy"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_equal(names[i], action->name)) return true;
  return false;
}

static const char *global_label(const Session *session, const Action *action) {
  if (session->at.subject && is_of_schedule(action)) return NULL;
  if (view_find_action(session, action->name) != action) return NULL;  // the view has its own
  if (session->at.subject && session->at.view != session->at.kernel_view &&
      str_equal(action->name, "back"))
    return view_table[session->at.kernel_view].title;
  return str_equal(action->name, "quit") ? NULL : action->label;
}

// The hints of a table from column *col on, *left of them at most.
static void draw_hints(Canvas *canvas, Rect row, int *col, int *left, const Session *session,
                       const Action *action, int n,
                       const char *(*label_of)(const Session *, const Action *)) {
  for (int i = 0; i<n && * left> 0 && *col < row.cols; i++) {
    const char *label = label_of(session, &action[i]);
    if (!label) continue;
    *col = draw_hint(canvas, row, *col, session, &action[i], label);
    --*left;
  }
}

// A view that filters has a footer of its own; its way out leads back.
static void draw_filter_footer(Canvas *canvas, Rect row, const Session *session) {
  enum { BACK_COLS = 8 };
  const char *context = view_table[session->at.view].name;
  char help[KEY_PRINT_MAX];
  key_print(keymap_key(session->keymap, context, "view help"), help);
  const Action *quit = view_find_action(session, "quit");
  draw_hint(canvas, rect_take_right(&row, BACK_COLS), 0, session, quit, "back");
  canvas_printf(canvas, row, 0, 1, STYLE_DIM, "letters filter   %s line   / search   %s back",
                canvas->ascii ? "Up Down" : "↑ ↓", help);
}

// At most eight, on a wide screen ten, the view's own first; the way out has the right end to
// itself.
static void draw_footer(Canvas *canvas, Rect row, const Session *session) {
  if (view_table[session->at.view].body->filters) {
    draw_filter_footer(canvas, row, session);
    return;
  }
  enum { HINTS_MAX = 8, HINTS_WIDE_MAX = 10, WIDE_COLS = 110, QUIT_COLS = 8 };
  const ViewBody *body = view_table[session->at.view].body;
  const Action *quit = view_find_action(session, "quit");
  int most = row.cols < WIDE_COLS ? HINTS_MAX : HINTS_WIDE_MAX;
  int col = 1, left = most - 1 - (body->move_label != NULL) - (body->pane_label != NULL);
  draw_hint(canvas, rect_take_right(&row, QUIT_COLS), 0, session, quit, quit->label);
  if (body->move_label)
    col = draw_hint(canvas, row, col, session, view_find_action(session, "up"), body->move_label);
  if (body->pane_label)
    col = draw_hint(canvas, row, col, session, view_find_action(session, "pane-next"),
                    body->pane_label);
  draw_hints(canvas, row, &col, &left, session, body->actions, body->n_actions, own_label);
  draw_hints(canvas, row, &col, &left, session, global_actions, global_action_count, global_label);
}

static void draw_too_small(Canvas *canvas, Rect all) {
  char text[96];
  snprintf(text, sizeof text, "needs %dx%d, has %dx%d; q quits", VIEW_COLS_MIN, VIEW_ROWS_MIN,
           all.cols, all.rows);
  canvas_wrap(canvas, all, STYLE_WARN, text);
}

void view_draw(Canvas *canvas, const Session *session) {
  canvas_clear(canvas);
  Rect rest = canvas_rect(canvas);
  if (rest.rows < VIEW_ROWS_MIN || rest.cols < VIEW_COLS_MIN) {
    draw_too_small(canvas, rest);
    return;
  }
  draw_tabs(canvas, rect_take_top(&rest, 1), session);
  draw_state(canvas, rect_take_top(&rest, 1), session);
  Rect footer = rect_take_bottom(&rest, 1);
  bool only_note = session->prompt.said == SAID_NOTE || !session->prompt.message[0];
  bool reasons = session->doc.now.reasons && only_note;
  int says = reasons ? reason_rows(session, rest, draw_mending(canvas, (Rect){0}, session))
                     : session->prompt.message[0] != '\0';
  Rect message = rect_take_bottom(&rest, says);
  pins_draw(canvas, &rest, session);
  view_table[session->at.view].body->draw(canvas, rest, session);
  if (reasons)
    draw_reasons(canvas, message, session);
  else if (session->prompt.message[0])
    draw_message(canvas, message, session);
  if (session->prompt.kind != PROMPT_NONE)
    palette_draw(canvas, canvas_rect(canvas), session);
  else
    draw_footer(canvas, footer, session);
}
