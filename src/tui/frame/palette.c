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
#include "tui/frame/tutor.h"
#include "tui/frame/verbs.h"
#include "tui/frame/view.h"

// ---- commands -----------------------------------------------------------------------------------

// False after a finding: a command that is told of knobs says how where there are none.
static bool names_knobs(const char *command, const char *argument, Diags *diags) {
  if (*argument) return true;
  diag_add(diags, "usage", "%s needs knobs, as in %s BM=16,FN=4", command, command);
  return false;
}

static bool run_set(Session *session, const char *argument, Diags *diags) {
  return names_knobs("set", argument, diags) && session_set_text(session, argument, diags);
}

// "padded" and "7" of the present ladder, "hgemm/swizzle" and "fp32/0" of any; NULL after findings.
static const Rung *find_rung(const Session *session, const char *name, const Ladder **ladder,
                             Diags *diags) {
  const FactWorld world = {.ladders = session->ladders, .n_ladders = session->n_ladders};
  *ladder = session->ladder;
  if (strchr(name, '/')) return fact_find_rung(&world, name, ladder, diags);
  int rung = ladder_find_rung(session->ladder, name, diags);
  return rung < 0 ? NULL : &session->ladder->rung[rung];
}

static bool run_rung(Session *session, const char *argument, Diags *diags) {
  const Ladder *ladder;
  const Rung *rung = find_rung(session, argument, &ladder, diags);
  return rung && session_go_rung_of(session, ladder, (int)(rung - ladder->rung));
}

static bool run_ladder(Session *session, const char *argument, Diags *diags) {
  return session_go_ladder(session, argument, diags);
}

static bool run_state(Session *session, const char *argument, Diags *diags) {
  Schedule schedule = schedule_default();
  if (!names_knobs("state", argument, diags)) return false;
  if (!schedule_parse(&schedule, argument, diags)) return false;
  session_set_schedule(session, &schedule);
  return true;
}

static bool run_compare(Session *session, const char *argument, Diags *diags) {
  if (!*argument) {
    session_compare(session, NULL, NULL);
    return true;
  }
  if (strchr(argument, '=')) {
    Schedule schedule = session->now.schedule;
    if (!schedule_parse(&schedule, argument, diags)) return false;
    return session_compare(session, &schedule, argument);
  }
  const Ladder *ladder;
  const Rung *with = find_rung(session, argument, &ladder, diags);
  if (!with) return false;
  const char *of = ladder == session->ladder ? "" : ladder->name;
  const char *name = arena_printf(session->frame, "%s%srung %d %s", of, *of ? " " : "",
                                  (int)(with - ladder->rung), with->title);
  return session_compare(session, &with->schedule, name);
}

static bool run_view(Session *session, const char *argument, Diags *diags) {
  int view = view_find(argument);
  const char **names = ARENA_ARRAY(diags->arena, const char *, view_count);
  for (int i = 0; i < view_count; i++) names[i] = view_table[i].name;
  if (view < 0) diag_add_unknown(diags, "view", "view", argument, names, view_count);
  view_show(session, view);
  return view >= 0;
}

// The nearest schedule becomes B, what was there A.
static bool run_decode(Session *session, const char *argument, Diags *diags) {
  DecodedKernel kernel;
  if (!decode_kernel(session->frame, argument, &kernel, diags)) return false;
  Schedule now = session->now.schedule;
  DecodedSchedule near = decode_schedule(session->frame, &kernel, &now);
  if (!session_compare(session, &now, "the state before")) return true;
  session_set_schedule(session, &near.schedule);
  if (session->now.reasons) return true;
  Str said = str_new(session->frame);
  for (int i = 0; i < near.n_notes; i++) str_printf(&said, "%s%s", i ? "; " : "", near.note[i]);
  session_say(session, SAID_NOTE, "B as decoded: %s", near.n_notes ? said.text : near.knobs);
  return true;
}

static bool run_sweep(Session *session, const char *argument, Diags *diags) {
  (void)diags;
  view_show(session, view_find("measure"));
  return view_run(session, "sweep", argument);
}

// "lesson banks 3"; without a name the lesson that is open, or the list.
static bool run_lesson(Session *session, const char *argument, Diags *diags) {
  size_t n = strcspn(argument, " ");
  const char *name = arena_strndup(session->frame, argument, n);
  const char *step = argument + n + strspn(argument + n, " ");
  if (*name && !tutor_open(session, name, atoi(step), diags)) return false;
  view_show(session, view_find("lesson"));
  return true;
}

// The view that a lesson shows beside its text; any other is shown itself.
static int shown_view(const Session *session) {
  const Tutor *tutor = tutor_of(session);
  bool staged = session->view == view_find("lesson") && tutor_step(tutor) && !tutor->listing;
  return staged ? view_find(tutor_view(tutor)) : session->view;
}

// In the view at hand where it shows elements by themselves, else in the tiles.
static bool run_element(Session *session, const char *argument, Diags *diags) {
  const int view = session->view;
  const Action *action = view_find_action(session, "element");
  if (!*argument && action) return view_run(session, "element", NULL);
  if (!*argument) {
    diag_add(diags, "usage", "element needs its name, as in element C[130][7]");
    return false;
  }
  session->view = shown_view(session);
  action = view_find_action(session, "element");
  if (action) action->run(session, argument);
  session->view = view;
  if (action) return true;
  view_show(session, view_find("tiles"));
  return view_run(session, "element", argument);
}

static bool run_save_display(Session *session, const char *argument, Diags *diags) {
  if (!*argument || *argument == '-') {
    diag_add(diags, "usage", "save-display needs a file: .txt, .ansi, .svg or .json");
    return false;
  }
  session->wishes.save_path = arena_strdup(session->app, argument);
  return true;
}

// A standalone .cu; anything else is a picture of the screen.
static bool run_export(Session *session, const char *argument, Diags *diags) {
  size_t n = strlen(argument);
  if (n < 3 || *argument == '-' || !str_equal(argument + n - 3, ".cu")) {
    if (*argument && *argument != '-') return run_save_display(session, argument, diags);
    diag_add(diags, "usage", "export needs a file: .cu for the kernel, .svg for this screen");
    return false;
  }
  const Model *model = session->now.picture->model;
  const Emission *emission = emit_model(session->frame, model, model->program);
  const char *text = export_cu(session->frame, emission, model->program, model->target);
  if (disk_write(argument, text)) {
    session_say(session, SAID_NOTE, "saved %s, which checks and times itself", argument);
    return true;
  }
  diag_add(diags, "file", "%s: %s", argument, strerror(errno));
  return false;
}

const PaletteCommand palette_commands[] = {
    {"set", "KNOB=value,…", "change knobs; \":FM=4\" alone does the same", run_set},
    {"state", "STATE", "replace the whole state by this one", run_state},
    {"rung", "[LADDER/]NAME | NUMBER", "go to a rung of this ladder or of another", run_rung},
    {"ladder", "NAME", "another ladder", run_ladder},
    {"compare", "[RUNG | KNOB=value,…]", "show another schedule as A beside this one", run_compare},
    {"decode", "KERNEL", "the schedule nearest to a cuBLAS or CUTLASS kernel, as B", run_decode},
    {"view", "NAME", "another view", run_view},
    {"sweep", "[KNOB]", "a knob through all its values, in the measure view", run_sweep},
    {"element", "C[130][7]", "an element of A, B or C: who holds it, how it got there",
     run_element},
    {"lesson", "[NAME [STEP]]", "a lesson, or the list of them", run_lesson},
    {"export", "FILE", "the kernel as a standalone .cu, or this screen by another suffix",
     run_export},
    {"save-display", "FILE", "this screen as .txt, .ansi, .svg or .json", run_save_display},
};
const int palette_command_count = sizeof palette_commands / sizeof *palette_commands;

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
  textfield_set(&session->field, line);
}

// Tab: as far as all offers agree, then through them one by one.
static void complete(Session *session, int step) {
  const bool going = session->menu_at >= 0;
  const char *text = going ? session->menu_stem : session->field.text;
  const Offers all = offers_of(session, text);
  if (all.n == 0) return;
  const char *word = offers_word(text), *name = all.offer[0].name;
  const size_t common = common_length(&all);
  if (all.n == 1) {
    const bool knob = knob_find(name, NULL) != KNOB_NONE && !str_starts(text, "knob ");
    put_word(session, text, name, (int)strlen(name), knob ? "=" : " ");
    session->menu_at = -1;
    return;
  }
  if (!going && common > strlen(word)) {
    put_word(session, text, name, (int)common, "");
    return;
  }
  if (!going) snprintf(session->menu_stem, sizeof session->menu_stem, "%.100s", text);
  session->menu_at = going ? (session->menu_at + step + all.n) % all.n : step > 0 ? 0 : all.n - 1;
  name = all.offer[session->menu_at].name;
  put_word(session, arena_strdup(session->frame, session->menu_stem), name, (int)strlen(name), "");
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
  session->state[help].cursor = 0;
  return true;
}

bool palette_run(Session *session, const char *line, Diags *diags) {
  while (*line == ' ' || *line == ':') line++;
  size_t n = strcspn(line, " ");
  const char *name = arena_strndup(session->frame, line, n);
  const char *argument = line + n + strspn(line + n, " ");
  if (!*name) return true;
  // A line of an article's listing is a whole state.
  if (knobs_of_export(session->frame, line)) return run_state(session, line, diags);
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
  session->message[0] = '\0';
  if (palette_run(session, session->field.text, &diags) || !diags.first) return;
  session_say(session, SAID_ERROR, "%s%s%s", diags.first->text,
              diags.first->nearest ? "; nearest: " : "",
              diags.first->nearest ? diags.first->nearest : "");
}

// ---- searching ----------------------------------------------------------------------------------

bool palette_search(Session *session, int direction) {
  const ViewBody *body = view_table[session->view].body;
  int n = body->line && body->count ? body->count(session) : 0;
  ViewState *state = session_view_state(session);
  int from = body->at ? body->at(session) : state->cursor;
  for (int i = 1; i <= n && *session->search; i++) {
    int at = ((from + direction * i) % n + n) % n;
    const char *line = body->line(session, at);
    if (!line || !strcasestr(line, session->search)) continue;
    if (body->go)
      body->go(session, at);
    else
      state->cursor = at;
    return true;
  }
  if (*session->search)
    session_say(session, SAID_NOTE, "\"%s\" is not here", session->search);
  else
    session_say(session, SAID_NOTE, "nothing searched for yet: / begins a search");
  return false;
}

// ---- typing -------------------------------------------------------------------------------------

void palette_open(Session *session, Prompt prompt) {
  session->prompt = prompt;
  session->menu_at = prompt == PROMPT_KNOB ? 0 : -1;
  session->field.history = prompt == PROMPT_SEARCH    ? session->searches
                           : prompt == PROMPT_COMMAND ? session->history
                                                      : NULL;
  textfield_set(&session->field, "");
}

// Keys in the field of the view.
static void type_into_view(Session *session, Key key) {
  TextFieldResult result = textfield_key(&session->field, key);
  if (result == TEXTFIELD_ACCEPTED || result == TEXTFIELD_CANCELLED) session->prompt = PROMPT_NONE;
  if (result == TEXTFIELD_IGNORED || result == TEXTFIELD_MOVED) return;
  view_table[session->view].body->typed(session, result);
}

// Keys in the list of knobs: Up, Down and Tab choose, everything else is the filter.
static void type_knob(Session *session, Key key) {
  const Offers all = offers_of_knobs(session, session->field.text);
  const int step = key == KEY_CODE_DOWN || key == KEY_CODE_TAB ? 1 : key == KEY_CODE_UP ? -1 : 0;
  if (step && all.n) {
    session->menu_at = (session->menu_at + step + all.n) % all.n;
    return;
  }
  const TextFieldResult result = textfield_key(&session->field, key);
  if (result == TEXTFIELD_CHANGED) session->menu_at = 0;
  if (result != TEXTFIELD_ACCEPTED && result != TEXTFIELD_CANCELLED) return;
  session->prompt = PROMPT_NONE;
  if (result == TEXTFIELD_ACCEPTED && session->menu_at < all.n)
    session_take_knob(session, knob_find(all.offer[session->menu_at].name, NULL));
  else if (result == TEXTFIELD_ACCEPTED)
    session_say(session, SAID_NOTE, "no knob has \"%s\" in its name or help", session->field.text);
}

static void accept_line(Session *session, Prompt prompt) {
  session->prompt = PROMPT_NONE;
  if (prompt == PROMPT_COMMAND) {
    run_line(session);
    return;
  }
  snprintf(session->search, sizeof session->search, "%.*s", (int)sizeof session->search - 1,
           session->field.text);
  palette_search(session, 1);
}

void palette_key(Session *session, Key key) {
  const Prompt prompt = session->prompt;
  if (prompt == PROMPT_FIELD) {
    type_into_view(session, key);
    return;
  }
  if (prompt == PROMPT_KNOB) {
    type_knob(session, key);
    return;
  }
  const bool back = key == (KEY_CODE_TAB | KEY_SHIFT) && prompt == PROMPT_COMMAND;
  const TextFieldResult result = back ? TEXTFIELD_COMPLETE : textfield_key(&session->field, key);
  if (result == TEXTFIELD_COMPLETE && prompt == PROMPT_COMMAND)
    complete(session, back ? -1 : 1);
  else
    session->menu_at = -1;
  if (result == TEXTFIELD_CANCELLED) session->prompt = PROMPT_NONE;
  if (result == TEXTFIELD_ACCEPTED) accept_line(session, prompt);
}

// ---- drawing ------------------------------------------------------------------------------------

// The offers above the prompt, a line on each; those around the chosen one where not all fit.
static void draw_menu(Canvas *canvas, Rect screen, const Session *session, const Offers *all) {
  enum { ROWS_MAX = 8, NAME_MAX = 26 };
  int rows = all->n < ROWS_MAX ? all->n : ROWS_MAX, cols = 0;
  if (rows > screen.rows / 3) rows = screen.rows / 3;
  const int at = session->menu_at, first = at < 0 ? 0 : view_scroll(at, all->n, rows);
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
  if (session->prompt != PROMPT_COMMAND && session->prompt != PROMPT_KNOB) return;
  const char *text = session->menu_at >= 0 ? session->menu_stem : session->field.text;
  Offers *all = ARENA_NEW(session->frame, Offers);
  *all = session->prompt == PROMPT_KNOB ? offers_of_knobs(session, session->field.text)
                                        : offers_of(session, text);
  session->offers = all;
}

void palette_draw(Canvas *canvas, Rect screen, const Session *session) {
  const Rect line = rect_take_bottom(&screen, 1);
  canvas_fill(canvas, line, STYLE_TEXT);
  const char *const labels[] = {[PROMPT_COMMAND] = ":",
                                [PROMPT_SEARCH] = "/",
                                [PROMPT_FIELD] = view_table[session->view].body->field_label,
                                [PROMPT_KNOB] = "knob: "};
  textfield_draw(&session->field, canvas, line, STYLE_FIELD, labels[session->prompt]);
  const Offers *all = session->offers;
  if (!all) return;
  draw_menu(canvas, screen, session, all);
  if (all->n || !all->usage) return;
  const Rect above = rect_take_bottom(&screen, 1);
  canvas_fill(canvas, above, STYLE_TEXT);
  canvas_fit(canvas, above, 0, 1, above.cols - 2, ALIGN_LEFT, STYLE_DIM, all->usage);
}
