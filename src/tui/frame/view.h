// Views and actions: the tables that the dispatcher, the footer, the help page, the palette, the
// mouse and the scripts read.
//
//   view_prepare(session, 40, 120);        everything the frame needs; drawing allocates nothing
//   view_draw(canvas, session);
//   view_key(session, key_parse("]"));     what a key press does
//   view_run(session, "rung-next", NULL);  the same by name
//
// `draw` is a pure function of the session: it allocates nothing and waits for nothing. What it
// needs beyond the session, `prepare` puts into session->frame and session->prepared.
#pragma once
#include "base/form.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/event.h"
#include "tui/session/session.h"

// One thing a person can do. `keys` are names separated by blanks, the first is the one shown.
typedef struct Action {
  const char *name;   // "rung-next": for scripts, the palette and key bindings
  const char *keys;   // "" when only the palette has it
  const char *label;  // in the footer; NULL: not there
  const char *pair;   // another action; its key is named beside this one: "[ ] rung"
  const char *help;
  void (*run)(Session *session, const char *argument);
} Action;

// Whether something may come to a view from elsewhere.
typedef enum ViewWait {
  VIEW_WAITS_NOT,
  VIEW_WATCHES,  // perhaps, some time
  VIEW_EXPECTS,  // it is under way
} ViewWait;

typedef struct ViewBody {
  // The size of the state that the view keeps between frames (view_own() gives it); 0: nothing but
  // its ViewState. The frame zeroes it, then calls `open`, and `close` at the end; either may be
  // NULL.
  size_t state_bytes;
  // The size of the part of the view that keys choose (view_chosen() gives it): all 0 to begin
  // with, and again where a lesson shows the view.
  size_t chosen_bytes;
  void (*open)(void *state);
  void (*close)(void *state);
  void (*enter)(Session *session);    // when the view comes up; may be NULL
  void (*prepare)(Session *session);  // may be NULL
  void (*draw)(Canvas *canvas, Rect in, const Session *session);
  // The same as data, units in the keys (id##_data_form): what the form is of, after prepare, `in`
  // being the session. NULL, or a function that gives NULL: none.
  const void *(*data)(Session *session);
  // Moves the cursor by `delta` places; NULL: through the `count` lines of the view.
  void (*move)(Session *session, int delta);
  const char *move_label;  // what Up and Down choose, for the footer: "knob"
  const char *pane_label;  // what Tab goes to: "operand"; NULL: not said in the footer
  int (*count)(const Session *session);
  // The text of line i, for searching; NULL function: nothing to search.
  const char *(*line)(const Session *session, int i);
  // The line from which searching goes on, and the way to the line it found; NULL: the view's
  // cursor.
  int (*at)(const Session *session);
  void (*go)(Session *session, int i);
  void (*click)(Session *session, int what, int value);
  // With session->prompt.kind = PROMPT_FIELD keys go to session->prompt.field; called after each
  // change with TEXTFIELD_CHANGED, and with ACCEPTED or CANCELLED at the end.
  void (*typed)(Session *session, TextFieldResult result);
  const char *field_label;
  void (*site_chosen)(Session *session);  // by a key that every view has; may be NULL
  // Decide whether the view takes a text behind its name at the prompt, and run it: ":banks lds32
  // lane*32". A text that is not taken goes to the command line. NULL: nothing is.
  bool (*takes)(const char *argument);
  bool (*command)(Session *session, const char *argument, Diags *diags);
  // Takes what came from elsewhere, a child of the view's own, without waiting; true: draw again.
  // Asked while `waits` says so, whichever view is shown. NULL: nothing comes.
  bool (*poll)(Session *session);
  // Does a little work that can wait, while the view is shown and no key comes; false: no work was
  // left. NULL: there is never any.
  bool (*idle)(Session *session);
  ViewWait (*waits)(const Session *session);
  // The line below the tabs in place of the schedule; NULL: the schedule.
  const char *(*standing)(const Session *session);
  // The kernel that the view brings along, in session->frame; NULL: none now. NULL function: never.
  const struct Subject *(*subject)(Session *session);
  bool shows_subject;  // it draws whichever kernel was brought; others are about the schedule
  // Text that was pasted while no prompt was open; NULL: it goes into one.
  void (*paste)(Session *session, const char *text);
  // Gives the footer's word for an action now; NULL: no word. NULL function: the table's label.
  const char *(*hint)(const Session *session, const Action *action);
  const Action *actions;
  int n_actions, n_panes;
  // Leaves what the view opened over itself, such as a list; false: nothing is open. NULL: never.
  bool (*back)(Session *session);
  bool filters;     // letters that are typed go into its field, and its footer is its own
  bool reads_code;  // it shows nothing much without the compiler's machine code
  bool estimates;   // goes by the model's registers, whatever the compiler counted
} ViewBody;

typedef struct View {
  const char *name, *key, *title, *help;
  int beside;  // columns from which others stand beside it by themselves; 0: never
  const ViewBody *body;
} View;

#define VIEW(id, key, title, beside, help) \
  extern const ViewBody id##_view;         \
  extern const Form id##_data_form;
#include "tui/frame/views.def"
#undef VIEW

extern const View view_table[];
extern const int view_count;
// By its name, in singular or plural; -1: none.
int view_find(const char *name);

extern const Action global_actions[];
extern const int global_action_count;

const void *view_prepared(Session *session);  // ViewBody.data: what `prepare` left

// The smallest screen a view is drawn on; below it a line says so.
enum { VIEW_ROWS_MIN = 12, VIEW_COLS_MIN = 40 };

// The meanings of a click on the frame around a view; views number theirs from SPOT_VIEW.
enum { SPOT_TAB = 1, SPOT_ACTION, SPOT_KNOB_LESS, SPOT_KNOB_MORE, SPOT_PIN, SPOT_VIEW = 16 };

// The state that a view keeps between frames (ViewBody.state_bytes); also another view's, as when
// grid sends an element to tiles.
void *view_own(const Session *session, const ViewBody *body);
// The choices in a view (ViewBody.chosen_bytes).
void *view_chosen(const Session *session, const ViewBody *body);
// The view at hand as it is before anything was chosen in it.
void view_choose_nothing(Session *session);

// Takes the kernel that the view at hand brings along, if it does.
void view_take_subject(Session *session);
void view_bind_keys(Keymap *keymap);
// Everything the next frame of this size needs, in session->frame; then view_draw() allocates
// nothing.
void view_prepare(Session *session, int rows, int cols);
void view_show(Session *session, int view);
// Polls every view that waits for something; true: draw again.
bool views_poll(Session *session);
ViewWait views_wait(const Session *session);
// One step of what can wait, the shown view's before the session's own; false: all is done. `news`:
// the view has something else to show.
bool view_idle(Session *session, bool *news);
// Runs an action by name; false when no action here has that name.
bool view_run(Session *session, const char *action, const char *argument);

// Halves a pane for A|B: gives the left half for A and leaves `in` the right one for B, a line and
// `gap` columns of it between them.
Rect view_take_a(Canvas *canvas, Rect *in, int gap);
// The first row to show of `n` when the cursor's is to be seen in the middle of `rows`.
int view_scroll(int cursor, int n, int rows);
// Arrows in the left margin where lines above or below are not shown.
void view_draw_more(Canvas *canvas, Rect in, int first, int n);

// The lines of a list around its cursor, as many as there are rows, and behind the last one those
// arrows.
//
//   ViewList list = view_list(in, cursor, n);
//   while (view_list_next(canvas, &list)) {
//     draw_line(canvas, list.row, &line[list.at]);
//     view_list_mark(canvas, &list, SPOT_LINE, in.cols);
//   }
typedef struct ViewList {
  Rect in;
  int cursor, n, first;
  int at;    // the line at hand …
  Rect row;  // … and where it is
} ViewList;
ViewList view_list(Rect in, int cursor, int n);
bool view_list_next(Canvas *canvas, ViewList *list);
// Marks the line at hand: for the mouse, and where it is the cursor's over its first columns.
void view_list_mark(Canvas *canvas, const ViewList *list, int spot, int cols);

// Moves the cursor of the view by `delta` within its lines.
void view_move(Session *session, int delta);
// The key for an action here: "q", or ":quit" when no key is bound to it. In the frame arena.
const char *view_key_name(const Session *session, const char *action);
// "4096³ bf16", "128×128×16384 f32", "64 heads 4096×4096×128 bf16"; gives `out` back.
const char *view_problem(const Session *session, const Schedule *schedule, char *out, size_t size);
// The action of that name in this view or globally; NULL: none.
const Action *view_find_action(const Session *session, const char *name);
const Action *view_find_in(const Action *action, int n, const char *name);  // in one table

// ---- the screen around the view (screen.c) -----------------------------------------------------

void view_draw(Canvas *canvas, const Session *session);
// Whatever was pressed, typed into a prompt or looked up in the keymap.
void view_key(Session *session, Key key);
void view_paste(Session *session, const char *text);
void view_mouse(Session *session, const Canvas *canvas, const Event *event);
