// One line of text → a command, and the completion of its words.
//
// The first word is looked up in the commands, then among actions, then among views; what has a '='
// in it is knobs. Worked example: ":compare 5" finds the command compare with the argument "5";
// ":CELL_GROUP=4" is an edit; ":bnaks" finds nothing and names the nearest, banks.
#include "tui/frame/palette.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/disk.h"
#include "base/nearest.h"
#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/export/export_cu.h"
#include "model/lessons/fact.h"
#include "model/schedules/decode.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/offers.h"
#include "tui/frame/palette_commands.h"
#include "tui/frame/tutor.h"
#include "tui/frame/verbs.h"
#include "tui/frame/view.h"

// ---- completion ---------------------------------------------------------------------------------

static size_t common_length(const Offers *all) {
  size_t n = strlen(all->offer[0].name);
  for (int i = 1; i < all->n; i++) {
    size_t same = 0;
    while (same < n && tolower((unsigned char)all->offer[i].name[same]) ==
                           tolower((unsigned char)all->offer[0].name[same]))
      same++;
    n = same;
  }
  return n;
}

// `text` with its last word replaced by `n` bytes of a name and a tail.
static void put_word(Session *session, const char *text, const char *name, int n,
                     const char *tail) {
  char line[TEXTFIELD_BYTES];
  const int kept = (int)(offers_word(text) - text);
  snprintf(line, sizeof line, "%.*s%.*s%s", kept, text, n, name, tail);
  textfield_set(&session->prompt.field, line);
}

// Tab: as far as all offers agree, then through them one by one.
static void complete(Session *session, int step) {
  const bool going = session->prompt.menu_at >= 0;
  const char *text = going ? session->prompt.menu_stem : session->prompt.field.text;
  const Offers all = offers_of(session, text);
  if (all.n == 0) return;
  const char *word = offers_word(text), *name = all.offer[0].name;
  const size_t common = common_length(&all);
  if (all.n == 1) {
    const bool knob = knob_find(name, NULL) != KNOB_NONE && !str_starts(text, "knob ");
    put_word(session, text, name, (int)strlen(name), knob ? "=" : " ");
    session->prompt.menu_at = -1;
    return;
  }
  if (!going && common > strlen(word)) {
    put_word(session, text, name, (int)common, "");
    return;
  }
  if (!going) snprintf(session->prompt.menu_stem, sizeof session->prompt.menu_stem, "%.100s", text);
  session->prompt.menu_at = going      ? (session->prompt.menu_at + step + all.n) % all.n
                            : step > 0 ? 0
                                       : all.n - 1;
  name = all.offer[session->prompt.menu_at].name;
  put_word(session, arena_strdup(session->frame, session->prompt.menu_stem), name,
           (int)strlen(name), "");
}

// ---- running ------------------------------------------------------------------------------------

static const PaletteCommand *find_command(const char *name) {
  for (int i = 0; i < palette_command_count; i++)
    if (str_equal_fold(palette_commands[i].name, name)) return &palette_commands[i];
  return NULL;
}

static bool fail_unknown(const Session *session, const char *name, Diags *diags) {
  const Offers all = offers_of(session, "");
  const char *names[OFFERS_MAX];
  for (int i = 0; i < all.n; i++) names[i] = all.offer[i].name;
  Diag *diag = diag_add(diags, "command", "there is no command \"%s\"; %s lists them",
                        str_sanitise(diags->arena, name), view_key_name(session, "view help"));
  diag->nearest = nearest_name(name, names, all.n);
  return false;
}

static bool run_verb(Session *session, const char *line, Diags *diags) {
  if (!verbs_start(pager_of(session)->verbs, line, session_state_text(session->frame, session),
                   diags))
    return false;
  int help = view_find("help");
  view_show(session, help);
  pager_of(session)->shown = true;
  session->at.state[help].cursor = 0;
  return true;
}

bool palette_run(Session *session, const char *line, Diags *diags) {
  while (*line == ' ' || *line == ':') line++;
  size_t n = strcspn(line, " ");
  const char *name = arena_strndup(session->frame, line, n);
  const char *argument = line + n + strspn(line + n, " ");
  if (!*name) return true;
  // A line of an article's listing is a whole state.
  if (knobs_of_export(session->frame, line)) return palette_run_state(session, line, diags);
  if (strchr(name, '=')) return session_set_text(session, line, diags);
  // ":174" where lines have numbers.
  if (!name[strspn(name, "0123456789")] && view_run(session, "line", name)) return true;
  const bool verb = verbs_has(pager_of(session)->verbs, name);
  const PaletteCommand *command = find_command(name);
  // ":export x.cu" is the explorer's; with options, as in ":export -o x.cu", the command line's.
  if (command && !(verb && *argument == '-')) return command->run(session, argument, diags);
  // "lessons" is what a lesson's own key does, elsewhere it is the view.
  const int view = view_find(name);
  const bool exact = view >= 0 && str_equal_fold(view_table[view].name, name);
  if (view >= 0 && !*argument && (exact || !view_find_action(session, name))) {
    view_show(session, view);
    return true;
  }
  const ViewBody *body = view >= 0 ? view_table[view].body : NULL;
  if (body && body->takes && body->takes(argument)) {
    view_show(session, view);
    return body->command(session, argument, diags);
  }
  // "bench" alone is the key b; "bench --seconds 2" is the command.
  if (verb && (*argument || !view_find_action(session, name)))
    return run_verb(session, line, diags);
  return view_run(session, name, argument) || fail_unknown(session, name, diags);
}

static void run_line(Session *session) {
  Diags diags = diags_new(session->frame);
  session->prompt.message[0] = '\0';
  if (palette_run(session, session->prompt.field.text, &diags) || !diags.first) return;
  session_say(session, SAID_ERROR, "%s%s%s", diags.first->text,
              diags.first->nearest ? "; nearest: " : "",
              diags.first->nearest ? diags.first->nearest : "");
}

// ---- searching ----------------------------------------------------------------------------------

bool palette_search(Session *session, int direction) {
  const ViewBody *body = view_table[session->at.view].body;
  int n = body->line && body->count ? body->count(session) : 0;
  ViewState *state = session_view_state(session);
  int from = body->at ? body->at(session) : state->cursor;
  for (int i = 1; i <= n && *session->prompt.search; i++) {
    int at = ((from + direction * i) % n + n) % n;
    const char *line = body->line(session, at);
    if (!line || !strcasestr(line, session->prompt.search)) continue;
    if (body->go)
      body->go(session, at);
    else
      state->cursor = at;
    return true;
  }
  if (*session->prompt.search)
    session_say(session, SAID_NOTE, "\"%s\" was not found here", session->prompt.search);
  else
    session_say(session, SAID_NOTE, "no search yet: / begins one");
  return false;
}

// ---- typing -------------------------------------------------------------------------------------

void palette_open(Session *session, Prompt prompt) {
  session->prompt.kind = prompt;
  session->prompt.menu_at = prompt == PROMPT_KNOB ? 0 : -1;
  session->prompt.field.history = prompt == PROMPT_SEARCH    ? session->prompt.searches
                                  : prompt == PROMPT_COMMAND ? session->prompt.history
                                                             : NULL;
  textfield_set(&session->prompt.field, "");
}

// Keys in the field of the view.
static void type_into_view(Session *session, Key key) {
  TextFieldResult result = textfield_key(&session->prompt.field, key);
  if (result == TEXTFIELD_ACCEPTED || result == TEXTFIELD_CANCELLED)
    session->prompt.kind = PROMPT_NONE;
  if (result == TEXTFIELD_IGNORED || result == TEXTFIELD_MOVED) return;
  view_table[session->at.view].body->typed(session, result);
}

void palette_filter(Session *session, Key key) {
  palette_open(session, PROMPT_FIELD);
  type_into_view(session, key);
}

// Keys in the list of knobs: Up, Down and Tab choose, everything else is the filter.
static void type_knob(Session *session, Key key) {
  const Offers all = offers_of_knobs(session, session->prompt.field.text);
  const int step = key == KEY_CODE_DOWN || key == KEY_CODE_TAB ? 1 : key == KEY_CODE_UP ? -1 : 0;
  if (step && all.n) {
    session->prompt.menu_at = (session->prompt.menu_at + step + all.n) % all.n;
    return;
  }
  const TextFieldResult result = textfield_key(&session->prompt.field, key);
  if (result == TEXTFIELD_CHANGED) session->prompt.menu_at = 0;
  if (result != TEXTFIELD_ACCEPTED && result != TEXTFIELD_CANCELLED) return;
  session->prompt.kind = PROMPT_NONE;
  if (result == TEXTFIELD_ACCEPTED && session->prompt.menu_at < all.n)
    session_take_knob(session, knob_find(all.offer[session->prompt.menu_at].name, NULL));
  else if (result == TEXTFIELD_ACCEPTED)
    session_say(session, SAID_NOTE, "no knob has \"%s\" in its name or help",
                session->prompt.field.text);
}

static void accept_line(Session *session, Prompt prompt) {
  session->prompt.kind = PROMPT_NONE;
  if (prompt == PROMPT_COMMAND) {
    run_line(session);
    return;
  }
  snprintf(session->prompt.search, sizeof session->prompt.search, "%.*s",
           (int)sizeof session->prompt.search - 1, session->prompt.field.text);
  palette_search(session, 1);
}

void palette_key(Session *session, Key key) {
  const Prompt prompt = session->prompt.kind;
  if (prompt == PROMPT_FIELD) {
    type_into_view(session, key);
    return;
  }
  if (prompt == PROMPT_KNOB) {
    type_knob(session, key);
    return;
  }
  const bool back = key == (KEY_CODE_TAB | KEY_SHIFT) && prompt == PROMPT_COMMAND;
  const TextFieldResult result =
      back ? TEXTFIELD_COMPLETE : textfield_key(&session->prompt.field, key);
  if (result == TEXTFIELD_COMPLETE && prompt == PROMPT_COMMAND)
    complete(session, back ? -1 : 1);
  else
    session->prompt.menu_at = -1;
  if (result == TEXTFIELD_CANCELLED) session->prompt.kind = PROMPT_NONE;
  if (result == TEXTFIELD_ACCEPTED) accept_line(session, prompt);
}

// ---- drawing ------------------------------------------------------------------------------------

// The offers above the prompt, a line on each; those around the chosen one where not all fit.
static void draw_menu(Canvas *canvas, Rect screen, const Session *session, const Offers *all) {
  enum { ROWS_MAX = 8, NAME_MAX = 26 };
  int rows = all->n < ROWS_MAX ? all->n : ROWS_MAX, cols = 0;
  if (rows > screen.rows / 3) rows = screen.rows / 3;
  const int at = session->prompt.menu_at, first = at < 0 ? 0 : view_scroll(at, all->n, rows);
  Rect menu = rect_take_bottom(&screen, rows);
  for (int i = first; i < first + rows; i++)
    if (utf8_columns(all->offer[i].name) > cols) cols = utf8_columns(all->offer[i].name);
  if (cols > NAME_MAX) cols = NAME_MAX;
  for (int i = 0; i < rows; i++) {
    const Offer *offer = &all->offer[first + i];
    Rect row = rect_take_top(&menu, 1);
    canvas_fill(canvas, row, STYLE_TEXT);
    canvas_text(canvas, row, 0, 1, STYLE_NOTE, offer->name);
    canvas_fit(canvas, row, 0, cols + 3, row.cols - cols - 4, ALIGN_LEFT, STYLE_DIM, offer->line);
    if (first + i == at) canvas_over(canvas, row, STYLE_CURSOR);
    if (i == rows - 1 && first + rows < all->n)
      canvas_printf(canvas, row, 0, row.cols - 10, STYLE_DIM, " %d more", all->n - first - rows);
  }
}

void palette_prepare(Session *session) {
  if (session->prompt.kind != PROMPT_COMMAND && session->prompt.kind != PROMPT_KNOB) return;
  const char *text =
      session->prompt.menu_at >= 0 ? session->prompt.menu_stem : session->prompt.field.text;
  Offers *all = ARENA_NEW(session->frame, Offers);
  *all = session->prompt.kind == PROMPT_KNOB ? offers_of_knobs(session, session->prompt.field.text)
                                             : offers_of(session, text);
  session->prompt.offers = all;
}

void palette_draw(Canvas *canvas, Rect screen, const Session *session) {
  const Rect line = rect_take_bottom(&screen, 1);
  canvas_fill(canvas, line, STYLE_TEXT);
  const char *const labels[] = {[PROMPT_COMMAND] = ":",
                                [PROMPT_SEARCH] = "/",
                                [PROMPT_FIELD] = view_table[session->at.view].body->field_label,
                                [PROMPT_KNOB] = "knob: "};
  textfield_draw(&session->prompt.field, canvas, line, STYLE_FIELD, labels[session->prompt.kind]);
  const Offers *all = session->prompt.offers;
  if (!all) return;
  draw_menu(canvas, screen, session, all);
  if (all->n || !all->usage) return;
  const Rect above = rect_take_bottom(&screen, 1);
  canvas_fill(canvas, above, STYLE_TEXT);
  canvas_fit(canvas, above, 0, 1, above.cols - 2, ALIGN_LEFT, STYLE_DIM, all->usage);
}
