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

#include "banks/engine/bank.h"
#include "base/disk.h"
#include "base/nearest.h"
#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/export/export_cu.h"
#include "model/lessons/fact.h"
#include "model/schedules/decode.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/tutor.h"
#include "tui/frame/verbs.h"
#include "tui/frame/view.h"

enum { CANDIDATES_MAX = 192 };

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

// ---- candidates ---------------------------------------------------------------------------------

typedef struct Candidates {
  const char *name[CANDIDATES_MAX];
  int n;
} Candidates;

static void offer(Candidates *all, const char *name, const char *prefix) {
  if (all->n == CANDIDATES_MAX || strncasecmp(name, prefix, strlen(prefix)) != 0) return;
  for (int i = 0; i < all->n; i++)
    if (str_equal(all->name[i], name)) return;
  all->name[all->n++] = name;
}

static void offer_actions(Candidates *all, const Action *action, int n, const char *prefix) {
  for (int i = 0; i < n; i++) offer(all, action[i].name, prefix);
}

static Candidates first_words(const Session *session, const char *prefix) {
  Candidates all = {.n = 0};
  const ViewBody *body = view_table[session->view].body;
  for (int i = 0; i < palette_command_count; i++) offer(&all, palette_commands[i].name, prefix);
  for (int i = 0; i < view_count; i++) offer(&all, view_table[i].name, prefix);
  offer_actions(&all, body->actions, body->n_actions, prefix);
  offer_actions(&all, global_actions, global_action_count, prefix);
  for (int i = 0; i < verbs_count(pager_of(session)->verbs); i++)
    offer(&all, verbs_name(pager_of(session)->verbs, i), prefix);
  for (int i = 0; i < KNOB_COUNT; i++) offer(&all, knob_table[i].name, prefix);
  return all;
}

static Candidates second_words(const Session *session, const char *command, const char *prefix) {
  Candidates all = {.n = 0};
  bool rungs = str_starts(command, "rung") || str_starts(command, "compare");
  for (int i = 0; rungs && i < session->ladder->n_rungs; i++)
    offer(&all, session->ladder->rung[i].name, prefix);
  for (int i = 0; str_starts(command, "view") && i < view_count; i++)
    offer(&all, view_table[i].name, prefix);
  bool of_ladders = str_starts(command, "ladder") || str_equal(command, "claims");
  for (int i = 0; of_ladders && i < session->n_ladders; i++)
    offer(&all, session->ladders[i]->name, prefix);
  for (int i = 0; str_starts(command, "banks") && i < banks_op_count(); i++)
    offer(&all, banks_op_at(i)->name, prefix);
  const Tutor *tutor = tutor_of(session);
  for (int i = 0; str_starts(command, "lesson") && i < tutor->n_lessons; i++)
    offer(&all, tutor->lesson[i]->name, prefix);
  bool knobs =
      str_starts(command, "set") || str_starts(command, "compare") || str_starts(command, "sweep");
  for (int i = 0; knobs && i < KNOB_COUNT; i++) offer(&all, knob_table[i].name, prefix);
  return all;
}

// The beginning of the word under completion: after the last blank or comma.
static const char *last_word(const char *text) {
  const char *word = text;
  for (const char *c = text; *c; c++)
    if (*c == ' ' || *c == ',') word = c + 1;
  return word;
}

static Candidates candidates(const Session *session) {
  const char *text = session->field.text, *word = last_word(text);
  return word == text || word[-1] == ',' ? first_words(session, word)
                                         : second_words(session, text, word);
}

static size_t common_length(const Candidates *all) {
  size_t n = strlen(all->name[0]);
  for (int i = 1; i < all->n; i++) {
    size_t same = 0;
    while (same < n &&
           tolower((unsigned char)all->name[i][same]) == tolower((unsigned char)all->name[0][same]))
      same++;
    n = same;
  }
  return n;
}

static void complete(Session *session) {
  Candidates all = candidates(session);
  if (all.n == 0) return;
  char text[TEXTFIELD_BYTES];
  const char *word = last_word(session->field.text);
  int kept = (int)(word - session->field.text);
  bool knob = all.n == 1 && knob_find(all.name[0], NULL) != KNOB_NONE;
  snprintf(text, sizeof text, "%.*s%.*s%s", kept, session->field.text, (int)common_length(&all),
           all.name[0],
           all.n > 1 ? ""
           : knob    ? "="
                     : " ");
  textfield_set(&session->field, text);
}

// ---- running ------------------------------------------------------------------------------------

static const PaletteCommand *find_command(const char *name) {
  for (int i = 0; i < palette_command_count; i++)
    if (str_equal_fold(palette_commands[i].name, name)) return &palette_commands[i];
  return NULL;
}

static bool fail_unknown(const Session *session, const char *name, Diags *diags) {
  Candidates all = first_words(session, "");
  Diag *diag = diag_add(diags, "command", "there is no command \"%s\"; %s lists them",
                        str_sanitise(diags->arena, name), view_key_name(session, "view help"));
  diag->nearest = nearest_name(name, all.name, all.n);
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
  session->field.history = prompt == PROMPT_SEARCH ? session->searches : session->history;
  textfield_set(&session->field, "");
}

// Keys in the field of the view.
static void type_into_view(Session *session, Key key) {
  TextFieldResult result = textfield_key(&session->field, key);
  if (result == TEXTFIELD_ACCEPTED || result == TEXTFIELD_CANCELLED) session->prompt = PROMPT_NONE;
  if (result == TEXTFIELD_IGNORED || result == TEXTFIELD_MOVED) return;
  view_table[session->view].body->typed(session, result);
}

void palette_key(Session *session, Key key) {
  Prompt prompt = session->prompt;
  if (prompt == PROMPT_FIELD) {
    type_into_view(session, key);
    return;
  }
  switch (textfield_key(&session->field, key)) {
    case TEXTFIELD_CANCELLED:
      session->prompt = PROMPT_NONE;
      break;
    case TEXTFIELD_COMPLETE:
      if (prompt == PROMPT_COMMAND) complete(session);
      break;
    case TEXTFIELD_ACCEPTED:
      session->prompt = PROMPT_NONE;
      if (prompt == PROMPT_COMMAND) {
        run_line(session);
        break;
      }
      snprintf(session->search, sizeof session->search, "%.*s", (int)sizeof session->search - 1,
               session->field.text);
      palette_search(session, 1);
      break;
    default:
      break;
  }
}

void palette_draw(Canvas *canvas, Rect screen, const Session *session) {
  Rect line = rect_take_bottom(&screen, 1), above = rect_take_bottom(&screen, 1);
  canvas_fill(canvas, line, STYLE_TEXT);
  const char *label = session->prompt == PROMPT_FIELD ? view_table[session->view].body->field_label
                      : session->prompt == PROMPT_SEARCH ? "/"
                                                         : ":";
  textfield_draw(&session->field, canvas, line, STYLE_FIELD, label);
  if (session->prompt != PROMPT_COMMAND) return;
  Candidates all = candidates(session);
  canvas_fill(canvas, above, STYLE_TEXT);
  int col = 1;
  for (int i = 0; i < all.n && col < above.cols; i++)
    col = canvas_text(canvas, above, 0, col, i ? STYLE_DIM : STYLE_NOTE, all.name[i]) + 2;
}
