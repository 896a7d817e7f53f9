// The table of views, and what every view shares: its own state, its keys and actions, moving.
//
// A key is bound to the name of an action, which is looked up in the view's own table first and
// then in the global one. Worked example: no view has a "rung-next", so "]" runs the global one
// everywhere; "Right" is "phase-after" in banks and "window-after" in grid.
#include "tui/frame/view.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

const View view_table[] = {
#define VIEW(id, key, title, beside, help) {#id, key, title, help, beside, &id##_view},
#include "tui/frame/views.def"
#undef VIEW
};
const int view_count = sizeof view_table / sizeof *view_table;

// Whether both are the same word, one of them perhaps its plural.
static bool is_same_word(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  if (n > 0 && tolower((unsigned char)a[n - 1]) == 's') n--;
  if (m > 0 && tolower((unsigned char)b[m - 1]) == 's') m--;
  return n == m && n > 0 && strncasecmp(a, b, n) == 0;
}

int view_find(const char *name) {
  for (int i = 0; i < view_count; i++)
    if (is_same_word(view_table[i].name, name)) return i;
  return -1;
}

static int index_of(const ViewBody *body) {
  int i = 0;
  while (view_table[i].body != body) i++;
  return i;
}

void *view_own(const Session *session, const ViewBody *body) {
  return session->at.own[index_of(body)];
}

void *view_chosen(const Session *session, const ViewBody *body) {
  return session->at.chosen[index_of(body)];
}

void view_choose_nothing(Session *session) {
  const int view = session->at.view;
  const size_t bytes = view_table[view].body->chosen_bytes;
  session->at.state[view] = (ViewState){0};
  if (bytes) memset(session->at.chosen[view], 0, bytes);
}

const void *view_prepared(Session *session) { return session->prepared; }

void view_take_subject(Session *session) {
  const ViewBody *from = view_table[session->at.kernel_view].body;
  session->at.subject = from->subject ? from->subject(session) : NULL;
}

ViewWait views_wait(const Session *session) {
  ViewWait most = VIEW_WAITS_NOT;
  for (int i = 0; i < view_count; i++) {
    const ViewBody *body = view_table[i].body;
    const ViewWait waits = body->waits ? body->waits(session) : VIEW_WAITS_NOT;
    if (waits > most) most = waits;
  }
  return most;
}

bool views_poll(Session *session) {
  bool news = false;
  for (int i = 0; i < view_count; i++) {
    const ViewBody *body = view_table[i].body;
    if (body->waits && body->waits(session)) news |= body->poll(session);
  }
  if (news) view_take_subject(session);
  return news;
}

// ---- keys ---------------------------------------------------------------------------------------

// The last key that is bound is the one that is shown, so they are bound from the last to the
// first.
static void bind_all(Keymap *keymap, const char *context, const char *keys, const char *action,
                     Diags *diags) {
  size_t n = strcspn(keys, " ");
  if (keys[n]) bind_all(keymap, context, keys + n + 1, action, diags);
  char name[KEY_PRINT_MAX];
  snprintf(name, sizeof name, "%.*s", (int)n, keys);
  if (n) keymap_bind(keymap, context, name, action, NULL, diags);
}

static void bind_actions(Keymap *keymap, const char *context, const Action *action, int n,
                         Diags *diags) {
  for (int i = 0; i < n; i++) bind_all(keymap, context, action[i].keys, action[i].name, diags);
}

void view_bind_keys(Keymap *keymap) {
  Arena *arena = arena_new("keys");
  Diags diags = diags_new(arena);
  bind_actions(keymap, KEYMAP_GLOBAL, global_actions, global_action_count, &diags);
  for (int i = 0; i < view_count; i++) {
    const View *view = &view_table[i];
    char action[40];
    snprintf(action, sizeof action, "view %s", view->name);
    bind_all(keymap, KEYMAP_GLOBAL, view->key, action, &diags);
    bind_actions(keymap, view->name, view->body->actions, view->body->n_actions, &diags);
  }
  arena_free(arena);
}

const Action *view_find_in(const Action *action, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (str_equal(action[i].name, name)) return &action[i];
  return NULL;
}

const Action *view_find_action(const Session *session, const char *name) {
  const ViewBody *body = view_table[session->at.view].body;
  const Action *action = view_find_in(body->actions, body->n_actions, name);
  return action ? action : view_find_in(global_actions, global_action_count, name);
}

const char *view_key_name(const Session *session, const char *action) {
  char name[KEY_PRINT_MAX];
  Key key = keymap_key(session->keymap, view_table[session->at.view].name, action);
  return key == KEY_NONE ? arena_printf(session->frame, ":%s", action)
                         : arena_strdup(session->frame, key_print(key, name));
}

void view_show(Session *session, int view) {
  if (view < 0 || view >= view_count || view == session->at.view) return;
  if (session->prompt.kind == PROMPT_FIELD) session->prompt.kind = PROMPT_NONE;
  session->at.view_before = session->at.view;
  session->at.view = view;
  session->prepared = NULL;
  if (view_table[view].body->subject || !view_table[view].body->shows_subject)
    session->at.kernel_view = view;
  view_take_subject(session);
  if (view_table[view].body->enter) view_table[view].body->enter(session);
}

bool view_run(Session *session, const char *name, const char *argument) {
  if (str_starts(name, "view ")) {
    int view = view_find(name + 5);
    // The key that opens help closes it.
    if (view == session->at.view && view == view_find("help")) view = session->at.view_before;
    view_show(session, view);
    return view >= 0;
  }
  const Action *action = view_find_action(session, name);
  if (!action) return false;
  action->run(session, argument);
  return true;
}

// ---- moving -------------------------------------------------------------------------------------

Rect view_take_a(Canvas *canvas, Rect *in, int gap) {
  const Rect all = *in, left = rect_take_left(in, in->cols / 2);
  canvas_vline(canvas, all, 0, in->col - all.col, in->rows, STYLE_BORDER);
  rect_take_left(in, gap);
  return left;
}

int view_scroll(int cursor, int n, int rows) {
  int first = cursor - rows / 2;
  if (first > n - rows) first = n - rows;
  return first < 0 ? 0 : first;
}

void view_draw_more(Canvas *canvas, Rect in, int first, int n) {
  if (first + in.rows < n) canvas_text(canvas, in, in.rows - 1, 0, STYLE_DIM, "↓");
  if (first > 0) canvas_text(canvas, in, 0, 0, STYLE_DIM, "↑");
}

ViewList view_list(Rect in, int cursor, int n) {
  const int first = view_scroll(cursor, n, in.rows);
  return (ViewList){.in = in, .cursor = cursor, .n = n, .first = first, .at = first - 1};
}

bool view_list_next(Canvas *canvas, ViewList *list) {
  const Rect in = list->in;
  const int i = ++list->at - list->first;
  list->row = (Rect){in.row + i, in.col, 1, in.cols};
  const bool more = i < in.rows && list->at < list->n;
  if (!more) view_draw_more(canvas, in, list->first, list->n);
  return more;
}

void view_list_mark(Canvas *canvas, const ViewList *list, int spot, int cols) {
  const Rect row = list->row;
  canvas_spot(canvas, row, spot, list->at);
  if (list->at == list->cursor)
    canvas_over(canvas, (Rect){row.row, row.col, 1, cols}, STYLE_CURSOR);
}

void view_move(Session *session, int delta) {
  const ViewBody *body = view_table[session->at.view].body;
  if (body->move) {
    body->move(session, delta);
    return;
  }
  int n = body->count ? body->count(session) : 0;
  ViewState *state = session_view_state(session);
  int64_t to = (int64_t)state->cursor + delta;
  if (to > n - 1) to = n - 1;
  state->cursor = to < 0 ? 0 : (int)to;
}

const char *view_problem(const Session *session, const Schedule *schedule, char *out, size_t size) {
  const int64_t *value = schedule->value;
  long long m = value[KNOB_M], n = value[KNOB_N], k = value[KNOB_K];
  const char *type = dtype_name((DType)value[KNOB_DTYPE]);
  if (value[KNOB_PROGRAM] == COMPUTES_ATTENTION)
    snprintf(out, size, "%lld heads %lld×%lld×%lld %s", (long long)value[KNOB_HEADS], m, n, k,
             type);
  else if (m == n && n == k)
    snprintf(out, size, "%lld%s %s", m, session->ascii ? "^3" : "³", type);
  else
    snprintf(out, size, "%lld×%lld×%lld %s", m, n, k, type);
  return out;
}
