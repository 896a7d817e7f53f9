// The actions that every view has. A view's own table is looked up before this one.
//
// Names are words for scripts, the palette and key bindings; keys follow the conventions of the
// terminal tools people know. No view may take one of these keys for anything else.
#include <string.h>

#include "base/str.h"
#include "tui/frame/palette.h"
#include "tui/frame/pins.h"
#include "tui/frame/tutor.h"
#include "tui/frame/verbs.h"
#include "tui/frame/view.h"
#include "tui/session/subject.h"

static void move_up(Session *s, const char *a) { (void)a, view_move(s, -1); }
static void move_down(Session *s, const char *a) { (void)a, view_move(s, 1); }
static void move_page_up(Session *s, const char *a) { (void)a, view_move(s, -(s->rows - 6)); }
static void move_page_down(Session *s, const char *a) { (void)a, view_move(s, s->rows - 6); }
static void move_half_up(Session *s, const char *a) { (void)a, view_move(s, -(s->rows - 6) / 2); }
static void move_half_down(Session *s, const char *a) { (void)a, view_move(s, (s->rows - 6) / 2); }
static void move_top(Session *s, const char *a) { (void)a, view_move(s, -1000000); }
static void move_bottom(Session *s, const char *a) { (void)a, view_move(s, 1000000); }

static void step_pane(Session *session, int step) {
  int n = view_table[session->at.view].body->n_panes;
  ViewState *state = session_view_state(session);
  if (n > 1)
    state->pane = (state->pane + step + n) % n;
  else
    session_say(session, SAID_NOTE, "this view has one pane");
}

static void pane_next(Session *s, const char *a) { (void)a, step_pane(s, 1); }
static void pane_previous(Session *s, const char *a) { (void)a, step_pane(s, -1); }

static void rung_next(Session *s, const char *a) { (void)a, session_go_rung(s, s->doc.rung + 1); }
static void rung_previous(Session *s, const char *a) {
  (void)a, session_go_rung(s, s->doc.rung - 1);
}
static void ladder_next(Session *s, const char *a) { (void)a, session_step_ladder(s, 1); }
static void ladder_previous(Session *s, const char *a) { (void)a, session_step_ladder(s, -1); }
static void undo(Session *s, const char *a) { (void)a, session_undo(s); }
static void redo(Session *s, const char *a) { (void)a, session_redo(s); }
static void reset(Session *s, const char *a) { (void)a, session_reset_rung(s); }
static void swap(Session *s, const char *a) { (void)a, session_swap(s); }

// The knob in hand, from whichever view; what it did is said where the view may not show it.
static void turn_knob(Session *session, int direction) {
  const KnobId knob = session->at.knob;
  char speed[2][SESSION_SPEED_BYTES];
  if (session->at.subject) {
    session_say(session, SAID_NOTE, "knobs turn schedules; this is a kernel of your own");
    return;
  }
  const char *old = knob_value_said(session->frame, &session->doc.now.schedule, knob);
  session_speed_said(session, &session->doc.now, speed[0]);
  session_step_knob(session, knob, direction);
  if (session->prompt.message[0] || session->doc.now.reasons) return;
  session_say(session, SAID_NOTE, "%s %s %s %s   %s %s %s", knob_table[knob].name, old,
              session->ascii ? "->" : "→",
              knob_value_said(session->frame, &session->doc.now.schedule, knob), speed[0],
              session->ascii ? "->" : "→",
              session_speed_said(session, &session->doc.now, speed[1]));
}

static void knob_less(Session *s, const char *a) { (void)a, turn_knob(s, -1); }
static void knob_more(Session *s, const char *a) { (void)a, turn_knob(s, 1); }

// Another knob in hand: by its name, or from the list of all of them.
static void choose_knob(Session *session, const char *argument) {
  if (!argument || !*argument) {
    palette_open(session, PROMPT_KNOB);
    return;
  }
  const char *nearest = NULL;
  const KnobId knob = knob_find(argument, &nearest);
  if (knob == KNOB_NONE)
    session_say(session, SAID_ERROR, "there is no knob \"%s\"; nearest: %s", argument,
                nearest ? nearest : "none");
  else
    session_take_knob(session, knob);
}

static void fix(Session *session, const char *argument) {
  (void)argument;
  if (!session->doc.now.reasons)
    session_say(session, SAID_NOTE, "this schedule is legal: there is nothing to mend");
  else if (!session_fix(session))
    session_say(session, SAID_NOTE, "no legal value was found here; %s takes the change back",
                view_key_name(session, "undo"));
}

static void compare(Session *session, const char *argument) {
  (void)argument;
  if (session->at.subject)
    session_say(session, SAID_NOTE,
                "A|B compares schedules; a trial layout is shown beside the present one already");
  else if (session->doc.comparing)
    session_compare_off(session);
  else
    session_compare(session, NULL, NULL);
}

static void step_site(Session *session, int step) {
  int n = session_site_count(session);
  if (n) session_choose(session, (session_at(session) + step + n) % n);
  session->at.phase = 0;
  for (int i = 0; i < view_count; i++)
    if (view_table[i].body->site_chosen) view_table[i].body->site_chosen(session);
}

static void site_next(Session *s, const char *a) { (void)a, step_site(s, 1); }
static void site_previous(Session *s, const char *a) { (void)a, step_site(s, -1); }

// The view that was shown before, or the one that is named, beside this one; a pinned one goes
// away.
static void pin(Session *session, const char *argument) {
  const bool named = argument && *argument;
  int view = named ? view_find(argument) : session->at.view_before;
  if (!named && view == session->at.view) view = view_find("pipeline");
  if (!pins_takes(view)) {
    session_say(session, SAID_ERROR, "there is no view \"%s\" to pin", named ? argument : "");
    return;
  }
  if (!named && session->at.n_pins) {
    pins_none(session);
    return;
  }
  if (session->at.pins_chosen && pins_has(session, view))
    pins_drop(session, view);
  else
    pins_set(session, view);
  if (pins_has(session, view))
    session_say(session, SAID_NOTE, "%s is pinned; it needs %d columns", view_table[view].title,
                PINS_COLS);
}

static void copy_state(Session *session, const char *argument) {
  (void)argument;
  session->wishes.copy = session_state_text(session->app, session);
  session_say(session, SAID_NOTE, "%s", session->wishes.copy);
}

static void bench(Session *session, const char *argument) {
  (void)argument;
  session->wishes.bench = true;
}

// The prompt with a name in it that Enter takes: "hgemm-swizzle-banks.svg".
static void save(Session *session, const char *argument) {
  (void)argument;
  palette_open(session, PROMPT_COMMAND);
  textfield_set(&session->prompt.field,
                arena_printf(session->frame, "save-display %s-%s-%s.svg", session->doc.ladder->name,
                             session_rung(session)->name, view_table[session->at.view].name));
}

static void copy_line(Session *session, const char *argument) {
  (void)argument;
  const ViewBody *body = view_table[session->at.view].body;
  int at = body->at ? body->at(session) : session_view_state(session)->cursor;
  const char *line =
      body->line && body->count && at < body->count(session) ? body->line(session, at) : NULL;
  if (!line) {
    session_say(session, SAID_NOTE, "there is no line of text under the cursor here");
    return;
  }
  session->wishes.copy = arena_strdup(session->app, line + strspn(line, " "));
  session_say(session, SAID_NOTE, "%s", session->wishes.copy);
}

static void help(Session *session, const char *argument) {
  (void)argument;
  int view = view_find("help");
  view_show(session, session->at.view == view ? session->at.view_before : view);
}

// Out of whatever is open; out of the program last, and only by q.
static bool step_back(Session *session) {
  if (session->at.view == view_find("help")) {
    if (pager_of(session)->shown) verbs_stop(pager_of(session)->verbs);
    view_show(session, session->at.view_before);
    return true;
  }
  if (session->at.subject && session->at.view != session->at.kernel_view) {
    view_show(session, session->at.kernel_view);
    return true;
  }
  const ViewBody *body = view_table[session->at.view].body;
  if (body->back && body->back(session)) return true;
  if (!session->doc.comparing) return false;
  session_compare_off(session);
  return true;
}

static void back(Session *session, const char *argument) {
  (void)argument;
  if (!step_back(session))
    session_say(session, SAID_NOTE, "%s quits", view_key_name(session, "quit"));
}

// A teacher who quits ends the class for every follower, so quitting asks first.
static bool asks_first(Session *session) {
  const ClassState *class = &tutor_of(session)->class;
  if (class->role != CLASS_TEACHER || session->prompt.asked_quit) return false;
  session->prompt.asked_quit = true;
  session_say(session, SAID_WARNING, "%s again ends the class, %d here; any other key goes on",
              view_key_name(session, "quit"), class->n_here);
  return true;
}

static void quit(Session *session, const char *argument) {
  (void)argument;
  session->wishes.quit = !step_back(session) && !asks_first(session);
}

static void quit_now(Session *s, const char *a) { (void)a, s->wishes.quit = true; }
static void suspend(Session *s, const char *a) { (void)a, s->wishes.suspend = true; }
static void redraw(Session *s, const char *a) { (void)a, s->wishes.redraw = true; }
static void mouse(Session *s, const char *a) { (void)a, s->wishes.toggle_mouse = true; }
static void command(Session *s, const char *a) { (void)a, palette_open(s, PROMPT_COMMAND); }
static void search(Session *s, const char *a) { (void)a, palette_open(s, PROMPT_SEARCH); }
static void search_next(Session *s, const char *a) { (void)a, palette_search(s, 1); }
static void search_previous(Session *s, const char *a) { (void)a, palette_search(s, -1); }

const Action global_actions[] = {
    {"up", "Up k", NULL, "down", "the line above", move_up},
    {"down", "Down j", NULL, NULL, "the line below", move_down},
    {"page-up", "PgUp", NULL, NULL, "a page up", move_page_up},
    {"page-down", "PgDn", NULL, NULL, "a page down", move_page_down},
    {"half-up", "Ctrl-U", NULL, NULL, "half a page up", move_half_up},
    {"half-down", "Ctrl-D", NULL, NULL, "half a page down", move_half_down},
    {"top", "g Home", NULL, NULL, "the first line", move_top},
    {"bottom", "G End", NULL, NULL, "the last line", move_bottom},
    {"pane-next", "Tab", NULL, NULL, "the next pane", pane_next},
    {"pane-previous", "S-Tab", NULL, NULL, "the pane before", pane_previous},
    {"rung-previous", "[", "rung", "rung-next", "go to the rung before; edits stay with their rung",
     rung_previous},
    {"rung-next", "]", NULL, NULL, "go to the next rung; edits stay with their rung", rung_next},
    {"ladder-previous", "{", "ladder", "ladder-next", "the ladder before: tf32, hgemm, fp32 …",
     ladder_previous},
    {"ladder-next", "}", NULL, NULL, "the next ladder: fp32, hgemm, tf32 …", ladder_next},
    {"knob-less", "(", "turn", "knob-more", "turn the knob in hand a step down, in every view",
     knob_less},
    {"knob-more", ")", NULL, NULL, "turn the knob in hand a step up, in every view", knob_more},
    {"knob", "K", "knobs", NULL, "choose another knob; typing filters the list", choose_knob},
    {"pin", "|", NULL, NULL,
     "hide the views beside this one, or show the last view there; `pin pipeline` shows that one",
     pin},
    {"undo", "u", "undo", NULL, "take the last change back", undo},
    {"redo", "Ctrl-R", NULL, NULL, "make the change again that u took back", redo},
    {"compare", "c", "compare", NULL,
     "A|B: compare with the rung before, or with this rung "
     "unedited",
     compare},
    {"swap", "C", NULL, NULL, "exchange A and B", swap},
    {"site-next", "s", NULL, NULL, "the next access to shared or global memory", site_next},
    {"site-previous", "S", NULL, NULL, "the one before", site_previous},
    {"fix", "f", NULL, NULL, "take the nearest legal value where a rule is broken", fix},
    {"reset", "", NULL, NULL, "put the rung back as the ladder has it", reset},
    {"bench", "b", "bench", NULL, "verify and time this schedule beside cuBLAS", bench},
    {"copy", "y", "copy", NULL, "copy the state as one line", copy_state},
    {"copy-line", "Y", NULL, NULL, "copy the line under the cursor", copy_line},
    {"save", "Ctrl-S", "save", NULL, "save this screen as a picture; Enter accepts the name", save},
    {"search", "/", NULL, NULL, "search in this view", search},
    {"search-next", "n", NULL, NULL, "the next match", search_next},
    {"search-previous", "N", NULL, NULL, "the match before", search_previous},
    {"command", ":", "command", NULL, "a command; Tab completes", command},
    {"help", "F1", NULL, NULL, "list every key and command", help},
    {"redraw", "Ctrl-L", NULL, NULL, "draw the screen again", redraw},
    {"suspend", "Ctrl-Z", NULL, NULL, "suspend to the shell; fg comes back", suspend},
    {"mouse", "m", NULL, NULL, "mouse on or off (off: the terminal's own selection)", mouse},
    {"back", "Esc", NULL, NULL, "leave help, a list or compare; go back to your own kernel", back},
    {"quit", "q", "quit", NULL, "leave help, a list or compare; then leave the program", quit},
    {"quit-now", "", NULL, NULL, "leave the program; it prints the state line", quit_now},
};
const int global_action_count = sizeof global_actions / sizeof *global_actions;
