// The state that the view of the user's own kernel keeps between frames, and the layout that is on
// trial.
#pragma once
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "kernels/toolchain/machine/clock_answer.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/view.h"
#include "tui/views/own/opened.h"

// The questions of a run before it can begin (`gemmview open --detail`, where it could not).
typedef struct OpenedNeeds {
  const char *sentence;                // what is missing or wrong
  const char *signature;               // of the kernel whose launch is wanted; NULL: a kernel is
  const char *options;                 // "--launch … --arg …", to be put right
  int n;                               // kernels to choose from
  const char **entry, **signature_of;  // [n]
} OpenedNeeds;

// NULL: the document is not one of these.
const OpenedNeeds *opened_needs_read(Arena *arena, const char *json, size_t n);

// The child that runs the user's own kernel, and the file that it is made of.
//
//   OpenedRun *run = opened_run_new();
//   opened_run_set(run, argv, n);                 {"k.cu", "--launch", …}
//   opened_run_start(run);
//   while (…) if (opened_run_poll(run)) …         a document, an error or a stage came
//
// Nothing waits: a key that is pressed meanwhile is answered at once, and opened_run_stop() ends
// the child.
typedef struct OpenedRun OpenedRun;

OpenedRun *opened_run_new(void);
void opened_run_free(OpenedRun *run);
// The words behind `gemmview open`; the first is the file.
void opened_run_set(OpenedRun *run, const char *const *words, int n);
// Takes an option and its values out of the words, as often as it is there: "--arg".
void opened_run_drop(OpenedRun *run, const char *option);
bool opened_run_has(const OpenedRun *run, const char *option);
// Puts words behind the file.
void opened_run_put(OpenedRun *run, const char *const *words, int n);
// The program that runs it, where it is not this very one.
void opened_run_program(OpenedRun *run, const char *program);
bool opened_run_given(const OpenedRun *run);  // false: no file is known
// The words again, quoted for a shell where they need it.
const char *opened_run_text(Arena *arena, const OpenedRun *run);
const char *opened_run_file(const OpenedRun *run);

bool opened_run_start(OpenedRun *run);  // false: no child could be made
void opened_run_stop(OpenedRun *run);
bool opened_run_going(const OpenedRun *run);
const char *opened_run_stage(const OpenedRun *run);  // "running block 3 of 56"; "" when not going

// The files that the kernel is made of, in place of the one that was opened.
void opened_run_files(OpenedRun *run, const char *const *paths, int n);
int opened_run_n_watched(const OpenedRun *run);
const char *opened_run_watched(Arena *arena, const OpenedRun *run);  // "k.cu and tile.h"
// Runs again after every save of one of them.
void opened_run_watch(OpenedRun *run, bool on);
bool opened_run_watches(const OpenedRun *run);

// Takes what has come, without waiting; true when there is something new. A document is given out
// once; what went wrong stays until the next start.
bool opened_run_poll(OpenedRun *run);
const char *opened_run_take(OpenedRun *run, size_t *bytes);  // NULL: none
const char *opened_run_error(const OpenedRun *run);          // "": none

typedef enum OwnPane { OWN_CARD, OWN_GLOBAL, OWN_PTX, OWN_SASS, OWN_FINDINGS, OWN_PANES } OwnPane;

// A layout for one array, instead of what it is.
typedef struct OwnTrial {
  const char *layout;  // NULL: none
  int array;
  const Layout *read;
  RecordedCost cost;
  int64_t *then;      // [n_sites] wavefronts of each
  int64_t total;      // of the kernel
  const char *write;  // in the words of CUDA
} OwnTrial;

// Layouts of the array that was looked at last.
typedef struct OwnLayouts {
  bool there;
  int array;
  const Layout *plain, *best;  // as it is, and the solver's; NULL: none
} OwnLayouts;

// PTX and machine code as they belong to the lines of a source.
typedef struct OwnTexts {
  bool there, calls;
  int source;
  Compiled compiled;
} OwnTexts;

// The clock's answer about its machine code, once somebody asks.
typedef struct OwnClock {
  bool there;
  const ClockAnswer *answer;  // NULL: nothing
} OwnClock;

typedef struct OwnWork {
  OpenedRun *run;
  Arena *arena, *next, *scratch;  // of the kernel shown, of the one that is read, of the trial
  Arena *asking;                  // of the questions
  const OpenedNeeds *needs;       // what the run could not begin without; NULL: nothing
  int choice;                     // of the kernels that it names, or of the launches
  bool lists_launches;            // over the kernel that is shown
  const Opened *opened;           // NULL: none yet
  int64_t before;                 // wavefronts before the last save; -1: there was none
  OwnTrial trial;
  OwnLayouts layouts;
  OwnTexts texts;
  OwnClock clock;
  int source, nth;    // of opened->sources; of the sites of the line
  int execution;      // of the site: 0 the worst, else one of its patterns, from 1
  int execution_of;   // the site whose execution that is
  int generation;     // counts the documents
  int across;         // columns of the lines that are left of the screen
  bool calls;         // lines of helpers count at their calls
  bool arrives;       // the next document is of a kernel that was opened just now
  char pending[256];  // the layout to try then; "best": the solver's
  bool asks_launch;   // the field is for a launch, not for a layout
  char error[512];
} OwnWork;

// Runs a kernel: the words behind `gemmview open`. False after a finding.
bool own_begin(Session *session, const char *const *words, int n, bool watches, Diags *diags);
OwnWork *own_work(const Session *session);
void own_work_open(void *state);
void own_work_close(void *state);

// Whether a document asks for something; what was known before stays.
bool own_work_ask(OwnWork *work, const char *json, size_t n);
// Whether one of several kernels or launches is to be chosen: their number, a text for each, and
// the words that open the chosen one; returns the number of words.
bool own_chooses(const OwnWork *work);
int own_choices(const OwnWork *work);
const char *own_choice_text(const OwnWork *work, int i);
int own_choice_words(Arena *arena, const OwnWork *work, const char *words[4]);
// Lists the launches of the recorded program; false: none was recorded.
bool own_list_launches(OwnWork *work);
// The error: of the layout, the launch or the run; "": none.
const char *own_error(const OwnWork *work);
// A document that was read, in place of what there is. False after findings; what there was stays.
bool own_work_take(OwnWork *work, const char *json, size_t n);

// Tries a layout for an array: "pad:4", "swizzle:3,4,3", "xor:'…'", any dialect. NULL drops it.
bool own_trial_set(OwnWork *work, int array, const char *layout);
// Reads the layouts of an array into work->layouts; -1: there are none.
void own_layouts_of(OwnWork *work, int array);
// The next pad in this direction that tears nothing apart; 0 is none.
bool own_trial_step(OwnWork *work, int array, int step);

// ---- made for each frame ------------------------------------------------------------------------

typedef struct OwnFrame {
  Arena *arena;  // the frame's
  const OwnWork *work;
  const Opened *opened;
  const OpenedSource *source;
  const OpenedLine *lines;
  int across;       // columns of its lines that are left of the screen
  int line;         // under the cursor, from 1
  const int *here;  // sites of the line, the costliest first
  int n_here;
  const OpenedSite *site, *global;  // NULL: none
  const ClockAnswer *clock;         // of machine code that was run; NULL
  OwnPane pane;
} OwnFrame;

OwnFrame *own_look(Session *session);  // in session->frame; without a kernel `opened` is NULL
// The line of the source that a site is charged to, else one of the PTX, becomes the one under the
// cursor, and the site the one that is looked at.
void own_look_at(Session *session, int site);
// "tile + 128*tid.x + 4*tid.y B; n: how often the warp was here before", or why there is none.
const char *own_formula(const Opened *opened, const OpenedSite *site, char out[512]);
// The clock's answer about the machine code that was run; NULL: there is none.
const ClockAnswer *own_clock(Session *session);
// The kernel for the other views (session/subject.h).
const struct Subject *own_subject(Session *session);

void own_draw_head(Canvas *canvas, Rect in, const OwnFrame *frame);
void own_draw_choice(Canvas *canvas, Rect in, const OwnWork *work);
void own_draw_source(Canvas *canvas, Rect in, const OwnFrame *frame);
void own_draw_pane(Canvas *canvas, Rect in, const OwnFrame *frame);
// For machine code: the line's instructions with their control words, and where its clocks go.
void own_draw_control(Canvas *canvas, Rect in, const OwnFrame *frame);
void own_draw_clocks(Canvas *canvas, Rect in, const OwnFrame *frame);

enum { OWN_HEAD_ROWS = 3, OWN_SPOT_LINE = SPOT_VIEW, OWN_SPOT_KERNEL };
