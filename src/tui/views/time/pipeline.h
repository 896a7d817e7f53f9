// The pipeline view's data: timelines, their lanes, and the part of time that is on the screen.
//
// pipeline_lanes.c makes lanes of a timeline, pipeline_picture.c draws them, pipeline_signs.c has
// the signs and their legend, pipeline_card.c says what the event under the cursor is,
// pipeline_time.c has the cursor of time and the waits at it, pipeline_breaks.c the list
// of breakages, pipeline_data.c writes the events as data, pipeline_trial.c is about broken
// programs, pipeline_checklist.c has the other picture, pipeline_beside.c what stands beside;
// view_pipeline.c has the keys.
#pragma once
#include "base/form.h"
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/readings/rules/skeleton.h"
#include "model/readings/time/timeline.h"
#include "model/words/knob.h"
#include "model/words/target.h"
#include "tui/canvas/canvas.h"
#include "tui/session/session.h"
#include "tui/views/time/pipeline_trial.h"

// The pipeline view's proof: whether the program is right in every order, asked for by a key.
//
// The search goes on beside, on a thread; no key waits for it. It says how far it is, and the key
// that asked for it, or another question, gives it up.
//
//   PipelineOrders *orders = orders_new();
//   orders_ask(orders, &targets, &schedule, BREAK_COUNT);
//   if (orders_poll(orders)) …                     the answer has come
//   orders_draw(canvas, in, orders, step);         as far as it is; a step of the witness in the
//   middle orders_free(orders);                           waits until it has given up
typedef struct PipelineOrders PipelineOrders;

PipelineOrders *orders_new(void);
void orders_free(PipelineOrders *orders);
// The last question counts; the same one again keeps its answer. `breakage`: BREAK_COUNT: none.
void orders_ask(PipelineOrders *orders, const TargetTable *targets, const Schedule *schedule,
                BreakageId breakage);
void orders_give_up(PipelineOrders *orders);
bool orders_is_under_way(const PipelineOrders *orders);
// Without waiting; true: something is there that was not when it was asked for last.
bool orders_poll(PipelineOrders *orders);
int orders_count(const PipelineOrders *orders);  // steps of a witness; 0: there is none
void orders_draw(Canvas *canvas, Rect in, const PipelineOrders *orders, int step);
int orders_rows(const PipelineOrders *orders, int cols);  // that all of it needs

// A row of the picture.
typedef enum LaneKind { LANE_UNIT, LANE_SLOT, LANE_WARPS } LaneKind;

typedef struct Lane {
  const Timeline *timeline;
  LaneKind kind;
  const char *name;
  unsigned kinds;     // UNIT: bits 1 << TIMELINE_… of its events
  int rank;           // UNIT, SLOT: which CTA's of a pair
  int ring, slot;     // SLOT
  int warp, n_warps;  // WARPS: the number that the one shown stands for
  int n;
  const TimelineEvent *const *event;  // by the clock at which they begin
} Lane;

typedef struct Lanes {
  const Timeline *timeline;
  const char *title;  // of a half; NULL: there is one timeline alone
  int n;
  const Lane *lane;
} Lanes;

// `each`: a lane for every warp, not for every role.
Lanes pipeline_lanes(Arena *arena, const Timeline *timeline, bool each, bool slots);

// Where a line of the checklist stands: numbers from 1 on, 0: nowhere.
typedef struct ChecklistPlace {
  int loops, cuda;
  const char *text;  // of the loops
} ChecklistPlace;

typedef struct Checklist {
  const Program *program;
  const Skeleton *skeleton;     // NULL: not made
  const ChecklistPlace *place;  // of each line
  const char *broken;           // the breakage; NULL: none
} Checklist;

// `broken`: the breakage that the program has; NULL: none.
Checklist pipeline_checklist(Arena *arena, const Model *model, const Program *program,
                             const char *broken);
int checklist_first_bad(const Checklist *list);  // 0: all of it stands
// The breakage of which no line tells, for all of them stand; NULL: none, or one does.
const char *checklist_no_line_about(const Checklist *list);
void checklist_draw(Canvas *canvas, Rect in, const Checklist *list, int cursor);
extern const Form checklist_form;  // of Checklist

// The picture that stands beside (PipelineOwn.mode), but for the other state while two are
// compared.
enum { PIPELINE_ALONE, PIPELINE_SEQUENTIAL, PIPELINE_MEASURED };

// The picture on the screen: the lanes, or a list over them.
typedef enum PipelineOver {
  PIPELINE_LANES,
  PIPELINE_CHECKLIST,
  PIPELINE_WAYS,
  PIPELINE_EVERY_ORDER
} PipelineOver;

// The state that the view keeps between frames.
typedef struct PipelineOwn {
  Arena *arena;  // of what follows, made anew when the picture is another
  const void *made_of;
  int serial, broken, mode, other_serial, traced_serial;
  bool each, each_shown;  // every warp: as it was asked for otherwise, as it is
  Lanes now, beside;      // beside.timeline NULL: there is none
  PipelineTrial *trial;
  PipelineVerdict verdict;   // as far as it has come
  const char *problem;       // of a broken program's time line; NULL: it is the session's
  const char *root;          // of a deadlock, in words; "": none
  int first_lane, first_at;  // where the cursor was put: what is found later may move it on
  const char *no_beside;     // why there is none; NULL
  int lane, at;              // of `now`: the lane, and its event
  double from, scale;        // clock at the left edge, clocks of a column; scale 0: not chosen yet
  bool all;                  // all of it on the screen
  PipelineOver over;
  PipelineOrders *orders;  // pipeline_orders.c
  int step;                // of its witness
  int line;                // of the checklist
  Checklist checklist;     // of what is shown, made when it is asked for
  double clock;            // the cursor of time, through all lanes
  bool plays;              // it moves by itself, last at `played_ms`
  int64_t played_ms;
  const Program *ways_of;  // the program that the breakages are of
  int n_ways, way_line;    // breakages of the program, and the line of their list; 0: none
  BreakageId way[BREAK_COUNT];
} PipelineOwn;

// The cursor: a lane and its event, or a lane and a clock; the other of both follows.
void pipeline_go_event(PipelineOwn *own, int lane, int at);
void pipeline_go_clock(PipelineOwn *own, int lane, double clock);
void pipeline_step_clock(PipelineOwn *own, int columns);
void pipeline_play(PipelineOwn *own, bool on);
// As far as time has gone on since it was asked last; false: not a column.
bool pipeline_play_on(PipelineOwn *own);
// In words: the work of each role at the cursor, the chain of waits there, the one that goes to the
// root of a deadlock, and the time of the whole kernel beside the one that is known of it; "" where
// there is nothing to say.
const char *pipeline_said_at(Arena *arena, const PipelineOwn *own);
const char *pipeline_said_chain(Arena *arena, const PipelineOwn *own);
const char *pipeline_said_root(Arena *arena, const PipelineOwn *own);  // of a deadlock
const char *pipeline_said_whole(Arena *arena, const Session *session, const PipelineOwn *own);

// Breaks the program, by a BreakageId + 1; 0: as it is.
void pipeline_break(Session *session, int broken);
// The line of the breakage at hand in their list, from 1 on; 0: none.
int pipeline_way_now(Session *session);
void pipeline_break_next(Session *session, const char *argument);
void pipeline_break_before(Session *session, const char *argument);
bool pipeline_takes(const char *argument);
bool pipeline_command(Session *session, const char *argument, Diags *diags);
void pipeline_open_ways(Session *session, const char *argument);
void pipeline_go_way(Session *session, int line);
void pipeline_take_way(Session *session);
void pipeline_draw_ways(Canvas *canvas, Rect in, const PipelineOwn *own);

// The proof over all orders (pipeline_proof.c): asked of the program that is shown, broken or not;
// whether something has come of it; steps further in its witness; the action of its key.
void pipeline_proof_ask(const Session *session, PipelineOwn *own);
bool pipeline_proof_poll(PipelineOwn *own);
void pipeline_proof_step(PipelineOwn *own, int delta);
void pipeline_proof_show(Session *session, const char *argument);

// Makes `beside`, or says why there is none (pipeline_beside.c).
void pipeline_make_beside(Session *session, PipelineOwn *own);

// The end of the first slabs, or of everything, where no turn stands for the others.
double pipeline_clocks_at_first(const Timeline *timeline);

// The clocks and columns of the picture, and the signs that have been drawn on it.
typedef struct PipelineSpan {
  double from, scale;
  int cols;
  double clock;     // the cursor of time
  unsigned *signs;  // bits, for the legend
} PipelineSpan;

enum { PIPELINE_LABEL_COLS = 17, PIPELINE_SPOT_LANE = 16, PIPELINE_SPOT_LINE, PIPELINE_SPOT_WAY };

// The signs of a row, besides names and the letters of timeline_kind.h. One row each: enum, how
// the legend writes it, what it says. The order is that of the legend.
#define PIPELINE_SIGN_TABLE(X)            \
  X(SLAB, "0-9 a-z", "slab")              \
  X(NO_SLAB, "=", "no slab")              \
  X(COMING, "░", "on its way")            \
  X(THERE, "▒", "full, unread")           \
  X(FREE, "·", "free")                    \
  X(WAITS, "┄", "waits")                  \
  X(SHARE, "▁-█", "busy share of a unit") \
  X(CUT, "┊", "turns left out")

typedef enum PipelineSign {
#define X(id, text, says) SIGN_##id,
  PIPELINE_SIGN_TABLE(X)
#undef X
      PIPELINE_SIGNS
} PipelineSign;

// Notes that a sign, or the letter of a kind, is drawn.
void pipeline_use_sign(PipelineSpan span, PipelineSign sign);
void pipeline_use_letter(PipelineSpan span, TimelineKind kind);
// The legend of signs in use; gives the rows that it takes.
int pipeline_legend_rows(unsigned signs, int cols);
void pipeline_draw_legend(Canvas *canvas, Rect in, unsigned signs);

// Characters for slabs, so that the picture says the same without colours: 0-9 a-z, modulo 36.
char pipeline_mark(int64_t slab);

void pipeline_draw_axis(Canvas *canvas, Rect in, const Timeline *timeline, PipelineSpan span);
void pipeline_draw_lane(Canvas *canvas, Rect in, const PipelineOwn *own, const Lanes *lanes,
                        int lane, PipelineSpan span);
const TimelineEvent *pipeline_event(const PipelineOwn *own);  // under the cursor; NULL: none

// The event under the cursor, in words.
typedef struct PipelineCard {
  const TimelineEvent *event, *before;    // NULL: none; the one that its warp did before
  const char *line, *waits_for;           // its statement
  const char *at, *chain, *whole, *root;  // pipeline_said_at() and others
  int way;                                // of the breakages; 0: none
} PipelineCard;

PipelineCard pipeline_card(Session *session, const PipelineOwn *own);
// "block 0, alone on its SM:", or which CTA of a cluster; the column behind it.
int pipeline_draw_which(Canvas *canvas, Rect in, int col, int64_t cluster, int drawn);
void pipeline_draw_card(Canvas *canvas, Rect in, const PipelineOwn *own, const PipelineCard *card);

// A frame of the view, made before it is drawn (pipeline_frame.c).
typedef struct PipelineFrame {
  PipelineSpan span;
  PipelineCard card;
} PipelineFrame;

void pipeline_draw(Canvas *canvas, Rect in, const Session *session);
