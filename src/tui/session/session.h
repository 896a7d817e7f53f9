// The session: all that the explorer knows, with or without a terminal. Views draw it; keys, the
// mouse, scripts, the command line and the worker change it, through the functions below.
//
//   Session *session = session_open(&(SessionOptions){.state = "BM=16,BN=16,FM=8,FN=8"}, &diags);
//   session_step_knob(session, KNOB_FM, +1);
//   session_prepare(session, 40, 120, false);   what every frame of this size needs
//   session_close(session);
//
// No view is known here: what each keeps between frames lies in session->at.own, which the frame
// fills (explorer.h), and the code that draws opens a session there.
//
// Side `now` is being edited; side `then` is the one it is compared with, if any. Every edit can be
// undone; a rung that is left keeps what was made of it.
#pragma once
#include "base/arena.h"
#include "model/readings/cost/estimate.h"
#include "model/words/device.h"
#include "model/words/ladder.h"
#include "tui/canvas/key.h"
#include "tui/canvas/keymap.h"
#include "tui/canvas/textfield.h"
#include "tui/session/knob_trials.h"
#include "tui/session/knobsweep.h"
#include "tui/session/picture.h"
#include "tui/session/result_store.h"

enum {
  SESSION_RUNGS_MAX = 128,
  SESSION_VIEWS_MAX = 20,
  SESSION_PINS_MAX = 2,
  SESSION_UNDO = 256,
  SESSION_MESSAGE_BYTES = 512,
  SESSION_FAR = 4  // knobs from a rung
};

// Where a view stands, in what every view has; what else is chosen in it is the view's own
// (ViewBody.chosen_bytes).
typedef struct ViewState {
  int cursor, pane;
  bool as_written;  // accesses are shown as the program says them, not as they are executed
} ViewState;

typedef struct UndoEntry {
  Schedule schedule;
  const Ladder *ladder;
  int rung;
  bool replaces;      // the schedule came from elsewhere and took the place of
  Schedule replaced;  // what had been made of the rung: undo puts that back
} UndoEntry;

// How much of what the last edit changed is still marked: all at first, faintly after the next key,
// nothing after the one that follows.
typedef enum ChangeShown { CHANGE_FRESH, CHANGE_FADED, CHANGE_GONE } ChangeShown;

// PROMPT_FIELD: the view's own field (ViewBody.typed); PROMPT_KNOB: the filter of the list of
// knobs.
typedef enum Prompt {
  PROMPT_NONE,
  PROMPT_COMMAND,
  PROMPT_SEARCH,
  PROMPT_FIELD,
  PROMPT_KNOB
} Prompt;
typedef enum Said { SAID_NOTE, SAID_WARNING, SAID_ERROR } Said;

// Requests of the session to its surroundings; app.c and the scripts take note and reset it.
typedef struct Wishes {
  bool quit, suspend, redraw, toggle_mouse, bench, probe, trace;
  bool bench_sweep, stop;  // time every value of the sweep; take back what has not begun
  bool history;            // the newest rows of the history
  const char *copy;        // text for the clipboard; NULL: none
  const char *save_path;   // a file for the picture of the screen; NULL: none
  bool keep_progress;      // the marks of the lessons changed
  double tune_seconds;     // search for the best kernel so long; 0: no
  bool known;              // what the history knows of the problem may have changed
} Wishes;

// The worker as the screen shows it.
typedef struct WorkerState {
  bool present;         // there is one
  char line[160];       // "compiling", "timing, 2nd in the queue", "no GPU: …"
  char gpu[96];         // "" = none known
  char gpu_error[160];  // why there is none; "" = not known yet
  bool can_compile, busy;
} WorkerState;

// All that else than the state at hand and its neighbours shows numbers by the clock.
typedef enum ClocksShown { CLOCKS_OF_STATE, CLOCKS_OF_LADDER, CLOCKS_OF_SWEEP } ClocksShown;

// A rung's stand-in, and the key of its schedule, under which the clock's number would be.
typedef struct StandIn {
  uint64_t key;
  Estimate estimate;
} StandIn;

// A view that stands beside the one at hand (frame/pins.h).
typedef struct Pin {
  int view;
  struct Session *shown;  // in this frame: the session as it draws it; NULL: it has no room
} Pin;

// The schedule that is edited, and the one it is compared with.
typedef struct SessionDocument {
  TargetTable targets;
  int n_ladders;
  const Ladder **ladders;
  const Ladder *ladder;
  int rung;
  Schedule **works;  // [n_ladders][n_rungs] what has been made of each rung
  Schedule *work;    // of the present ladder
  Side now, then;
  bool comparing;
  char then_name[64];  // "rung 6 padding"
  UndoEntry *undo;     // [SESSION_UNDO]
  int undo_at, undo_top;
  bool has_fix;  // there is a legal schedule near the one that is not
  Schedule fix;
  char fix_text[64];  // "BM=64"
  bool narrated;      // a lesson tells of this state: it stays on the GPU told of
} SessionDocument;

// The place that is looked at.
typedef struct SessionPlace {
  int view, view_before;  // view_before: where Esc and q go back to from help
  int n_pins;
  Pin pin[SESSION_PINS_MAX];
  bool pins_chosen;  // by the user; else each view has its companions beside it
  int kernel_view;   // whose kernel is shown; the schedule's unless the view brings one
  const struct Subject *subject;  // that kernel (subject.h); NULL: the schedule's
  ViewState state[SESSION_VIEWS_MAX];
  void *chosen[SESSION_VIEWS_MAX];  // what was chosen in each view (ViewBody.chosen_bytes)
  void *own[SESSION_VIEWS_MAX];     // what else it keeps between frames (ViewBody.state_bytes)
  KnobId knob;                      // the knob in hand: every view turns it
  const char *knob_value;           // its value, in this frame
  bool touched[KNOB_COUNT];         // chosen or turned on this ladder: it stays in sight
  int site;   // index into doc.now.picture->model->site, and beyond it into its global.site
  int phase;  // of the selected site, in the banks view
  ChangeShown change;
  bool new_rung;  // the next picture is another rung's: it shows its worst site
  bool arrived;   // at a rung, where nothing was looked at yet: its story goes first
} SessionPlace;

// All that is found out about it, while keys go on.
typedef struct SessionBackground {
  Results results;
  const Ladder *estimated;        // the ladder with the rungs of `stand_ins`
  StandIn *stand_ins;             // [SESSION_RUNGS_MAX]
  ClocksShown clocks_shown;       // by the frame being prepared
  struct Published **published;   // [n_ladders] (claim_rows.h); NULL: not worked out yet
  const struct FactWorld *facts;  // session_facts(); NULL: not asked yet
  struct ClaimRuns *claim_runs;   // claim_runs.h; NULL: no claim has asked for a run
  Advice *advice;
  KnobSweep *sweep;
  WorkerState worker;
  struct Tuning *tuning;       // tuning.h; NULL: nothing was searched for yet
  struct PlacedLoads *placed;  // placed_loads.h; NULL: no view has looked yet
  // The rooflines of the GPU at hand as they were found to be, for the target of that name.
  const Calibration *fits;  // [CALIBRATION_FAMILIES]; NULL: nothing is known
  const char *fits_target;
  bool device_known;
  Device device;  // the GPU at hand, as its driver describes it; name "": none, or not known yet
} SessionBackground;

// The line that is typed, and the answer to it.
typedef struct SessionPrompt {
  Prompt kind;
  TextField field;
  const struct Offers *offers;      // what may be typed (frame/offers.h); NULL: no prompt is open
  int menu_at;                      // the offer that is chosen above the prompt; -1: none
  char menu_stem[128];              // what was typed before offers were gone through
  TextHistory *history, *searches;  // of commands, of what was searched for
  char search[128];
  char message[SESSION_MESSAGE_BYTES];
  Said said;
  bool fresh;       // nothing was asked for and nothing pressed yet: Enter is for lessons
  bool asked_quit;  // the last key was a q that has to be pressed again
} SessionPrompt;

typedef struct Session {
  Arena *app;    // as long as the session
  Arena *frame;  // until the next session_prepare
  Arena *trial;  // of one model build
  SessionDocument doc;
  SessionPlace at;
  SessionBackground background;
  SessionPrompt prompt;
  Keymap *keymap;
  Wishes wishes;
  int rows, cols;  // of the frame being prepared
  bool ascii;
  const void *prepared;  // what the view made for this frame
} Session;

typedef struct SessionOptions {
  const char *state;   // one-line state; NULL: the ladder's rung
  const char *ladder;  // NULL: the first one
  const char *rung;    // name or number; NULL: the rung nearest to `state`, or the opening one
  bool ascii;
} SessionOptions;

// Reads data/, builds the first picture. NULL after findings: an unknown ladder, a state that
// cannot be read or breaks a rule.
Session *session_open(const SessionOptions *options, Diags *diags);
void session_close(Session *session);

// ---- editing; each is one step of undo ----------------------------------------------------------

void session_set_schedule(Session *session, const Schedule *schedule);
void session_set_knob(Session *session, KnobId knob, int64_t value);
void session_step_knob(Session *session, KnobId knob, int direction);
// Takes another knob in hand; it stays in sight from now on.
void session_take_knob(Session *session, KnobId knob);
// Knobs given as text, over the present schedule. False after findings, nothing changed then.
bool session_set_text(Session *session, const char *text, Diags *diags);
bool session_go_rung(Session *session, int rung);
// The same on any ladder, in one step.
bool session_go_rung_of(Session *session, const Ladder *ladder, int rung);
// Edits stay with their rungs here too, and undo leads back.
bool session_go_ladder(Session *session, const char *name, Diags *diags);
// The state at the rung that it stands at (nearest_rung.h), on whichever ladder.
void session_go_state(Session *session, const Schedule *schedule);
void session_step_ladder(Session *session, int direction);
void session_reset_rung(Session *session);
bool session_undo(Session *session);
bool session_redo(Session *session);
// Applies the nearest legal value (session->doc.fix_text); false when there is none.
bool session_fix(Session *session);
// Looks for it after an edit that broke a rule.
void session_find_fix(Session *session);

// ---- comparing ----------------------------------------------------------------------------------

// With NULL: the rung as it is in the ladder when it was edited, the rung before otherwise.
bool session_compare(Session *session, const Schedule *with, const char *name);
bool session_has_comparison(const Session *session);  // one to take where none is named
void session_compare_off(Session *session);
void session_swap(Session *session);

// ---- reading ------------------------------------------------------------------------------------

// The model of the schedule being edited; the last legal schedule's where it breaks a rule.
static inline const Model *session_model(const Session *session) {
  return session->doc.now.picture->model;
}
char *session_state_text(Arena *arena, const Session *session);
int session_edits(const Session *session);  // knobs in which the schedule differs from its rung
// The same without the knobs of size and GPU: at 0 the rung's text holds, and beyond SESSION_FAR
// the schedule is no longer called after it.
int session_departures(const Session *session);
const Rung *session_rung(const Session *session);
// The access that is chosen: one of both is NULL, or the kernel has no such access.
const Site *session_site(const Session *session);
const GlobalSite *session_global(const Session *session);
// The first where one of global memory is chosen: for screens about slabs.
const Site *session_slab_site(const Session *session);
int session_site_count(const Session *session);  // of both kinds
// The other side's access of the same slab, a store for a store; -1 when there is none.
int session_matching(const Picture *other, const Site *site);
// The same for the selected site, where need be any store or load; -1 when there is none.
int session_matching_site(const Session *session, const Picture *other);
ViewState *session_view_state(Session *session);
const ViewState *session_view_state_const(const Session *session);

void session_say(Session *session, Said said, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The fits that estimates of a schedule go by; NULL: nothing is known of its GPU.
const Calibration *session_fits(const Session *session, const Schedule *schedule);
// The one number of a legal model as it is before the compiler's word (Picture.estimate): by the
// clock once it was compiled, else the stand-in, which is the same wherever it is shown.
Estimate session_estimate(const Session *session, const Model *model);
// "clock 36.5 TFLOP/s ±10 %", of the picture of a side, into `out`; "" where it is not known.
enum { SESSION_SPEED_BYTES = 96 };
char *session_speed_said(const Session *session, const Side *side, char out[SESSION_SPEED_BYTES]);
// The stand-in all the same.
Estimate session_stand_in(const Session *session, const Model *model);
// Starts, or goes on with, the trials of the schedule's knobs and the sweep of the chosen one.
void session_start_advice(Session *session);
void session_start_sweep(Session *session);

// The targets, ladders and records of the session, as facts are computed with them (fact.h).
const struct FactWorld *session_facts(Session *session);

// Prepares what every frame of this size needs, whichever view it shows; `estimates`: the model's
// registers count, not the compiler's. Cheap when nothing changed.
void session_prepare(Session *session, int rows, int cols, bool estimates);
// A little work that can wait until no key comes; true while there is more.
bool session_idle(Session *session);
