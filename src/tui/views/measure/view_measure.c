// measure: timed, estimated and claimed numbers, each marked as such.
//
//   LADDER A|B SWEEP HISTORY CLAIMS TUNE ERRORS  m here p comp r rec e est c claim
//
// Left and Right choose the picture (measure.h); the letters of the title line stand beside every
// number, so that none is ever taken for another.
#include "tui/views/measure/measure.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "model/readings/rules/knob_use.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/claim_rows.h"
#include "tui/session/tuning.h"
#include "tui/views/data/view_data.h"

static const MeasurePicture *const pictures[] = {&measure_ladder,  &measure_numbers, &measure_sweep,
                                                 &measure_history, &measure_claims,  &measure_tune,
                                                 &measure_errors};
enum { PICTURES = sizeof pictures / sizeof *pictures };

// ---- where a number comes from ------------------------------------------------------------------

static const struct {
  Style style;
  char mark;
} origins[] = {
    [ORIGIN_NONE] = {STYLE_TEXT, ' '},           [ORIGIN_CLAIM] = {STYLE_CLAIM, 'c'},
    [ORIGIN_ESTIMATED] = {STYLE_ESTIMATED, 'e'}, [ORIGIN_COMPILED] = {STYLE_NUMBER, 'p'},
    [ORIGIN_RECORDED] = {STYLE_RECORDED, 'r'},   [ORIGIN_MEASURED] = {STYLE_MEASURED, 'm'},
};

Style measure_origin_style(Origin origin) { return origins[origin].style; }
char measure_origin_mark(Origin origin) { return origins[origin].mark; }

char *measure_estimate_text(char *out, const Estimate *estimate) {
  char figure[FMT_MAX];
  snprintf(out, FMT_MAX, "%s%.20s", estimate->by == ESTIMATE_STAND_IN ? "~" : "",
           estimate->tflops > 0 ? fmt_figure(figure, estimate->tflops) : "–");
  return out;
}

// ---- drawing ------------------------------------------------------------------------------------

typedef struct MeasureChosen {
  int picture;
  bool compares;  // the picture began to compare, which ends with it
} MeasureChosen;

static MeasureChosen *chosen_of(const Session *session) {
  return view_chosen(session, &measure_view);
}

static const MeasurePicture *picture_of(const Session *session) {
  return pictures[chosen_of(session)->picture];
}

static void measure_prepare(Session *session) {
  session->prepared = picture_of(session)->prepare(session);
}

typedef struct Legend {
  Origin origin;
  const char *name;
} Legend;

// With whole words, and with short ones.
static const Legend legends[][6] = {{{ORIGIN_MEASURED, "measured here"},
                                     {ORIGIN_COMPILED, "compiler"},
                                     {ORIGIN_RECORDED, "recorded"},
                                     {ORIGIN_ESTIMATED, "estimate"},
                                     {ORIGIN_CLAIM, "claim"}},
                                    {{ORIGIN_MEASURED, "here"},
                                     {ORIGIN_COMPILED, "comp"},
                                     {ORIGIN_RECORDED, "rec"},
                                     {ORIGIN_ESTIMATED, "est"},
                                     {ORIGIN_CLAIM, "claim"}}};

static int legend_cols(const Legend *legend, int gap) {
  int width = gap - 1;
  for (; legend->name; legend++) width += utf8_columns(legend->name) + 2 + gap;
  return width;
}

static void draw_legend(Canvas *canvas, Rect row, int from) {
  const Legend *legend = legends[row.cols - legend_cols(legends[0], 2) < from];
  int gap = row.cols - legend_cols(legend, 2) < from ? 1 : 2;
  int col = row.cols - legend_cols(legend, gap);
  if (col < from) return;
  for (; legend->name; legend++) {
    col = canvas_printf(canvas, row, 0, col, origins[legend->origin].style, "%c",
                        origins[legend->origin].mark);
    col = canvas_text(canvas, row, 0, col + 1, STYLE_DIM, legend->name) + gap;
  }
}

static int titles_cols(int gap) {
  int width = 1;
  for (int i = 0; i < PICTURES; i++) width += utf8_columns(pictures[i]->title) + gap;
  return width;
}

static void draw_titles(Canvas *canvas, Rect row, const Session *session) {
  int col = 1, picture = chosen_of(session)->picture;
  const int gap = titles_cols(2) + legend_cols(legends[1], 1) <= row.cols ? 2 : 1;
  for (int i = 0; i < PICTURES; i++) {
    int begin = col;
    col = canvas_text(canvas, row, 0, col, i == picture ? STYLE_TITLE : STYLE_DIM,
                      pictures[i]->title);
    Rect area = {row.row, row.col + begin, 1, col - begin};
    if (i == picture) canvas_over(canvas, area, STYLE_SELECTED);
    canvas_spot(canvas, area, SPOT_MEASURE_MODE, i);
    col += gap;
  }
  draw_legend(canvas, row, col);
}

static void measure_draw(Canvas *canvas, Rect in, const Session *session) {
  draw_titles(canvas, rect_take_top(&in, 1), session);
  picture_of(session)->draw(canvas, in, session, session->prepared);
}

// ---- keys ---------------------------------------------------------------------------------------

static void show_picture(Session *session, int picture) {
  MeasureChosen *chosen = chosen_of(session);
  if (chosen->compares) session_compare_off(session);
  const bool compared = session->doc.comparing;
  chosen->picture = picture;
  session_view_state(session)->cursor = 0;
  session->prepared = NULL;
  if (pictures[picture]->enter) pictures[picture]->enter(session);
  chosen->compares = !compared && session->doc.comparing;
}

static void step_picture(Session *session, int step) {
  show_picture(session, (chosen_of(session)->picture + step + PICTURES) % PICTURES);
}

static void picture_before(Session *s, const char *a) { (void)a, step_picture(s, -1); }
static void picture_after(Session *s, const char *a) { (void)a, step_picture(s, 1); }

static void take(Session *session, const char *argument) {
  (void)argument;
  const MeasurePicture *picture = picture_of(session);
  if (picture->take) picture->take(session, session_view_state(session)->cursor);
}

static void show(Session *session, const MeasurePicture *picture) {
  for (int i = 0; i < PICTURES; i++)
    if (pictures[i] == picture) show_picture(session, i);
}

static void show_sweep(Session *session) { show(session, &measure_sweep); }

// The next knob that says something here, in the order of the table.
static void step_knob(Session *session, int step) {
  int at = session->at.knob;
  do {
    at = (at + step + KNOB_COUNT) % KNOB_COUNT;
  } while (!knob_is_used((KnobId)at, &session->doc.now.schedule) ||
           knob_table[at].type == KNOB_TYPE_TARGET || knob_table[at].type == KNOB_TYPE_LAYOUT);
  session->at.knob = (KnobId)at;
  show_sweep(session);
}

static void knob_before(Session *s, const char *a) { (void)a, step_knob(s, -1); }
static void knob_after(Session *s, const char *a) { (void)a, step_knob(s, 1); }

// ":sweep PAD_SMEM", or the knob under the cursor.
static void sweep(Session *session, const char *argument) {
  const char *nearest = NULL;
  if (argument && *argument) {
    KnobId knob = knob_find(argument, &nearest);
    if (knob == KNOB_NONE) {
      session_say(session, SAID_ERROR, "there is no knob \"%.40s\"%s%s", argument,
                  nearest ? "; nearest: " : "", nearest ? nearest : "");
      return;
    }
    session->at.knob = knob;
  }
  show_sweep(session);
}

static void bench_all(Session *session, const char *argument) {
  (void)argument;
  session->wishes.bench_sweep = true;
}

static void stop(Session *session, const char *argument) {
  (void)argument;
  if (picture_of(session) == &measure_tune && tuning_runs(session))
    tuning_cancel(session);
  else
    session->wishes.stop = true;
}

// The first press shows what it would do, the next one does it; a number is the time it has.
static void tune_here(Session *session, const char *argument) {
  static const double usual_s = 60, least_s = 1, most_s = 86400;
  const bool shown = picture_of(session) == &measure_tune;
  const double asked = argument && *argument ? strtod(argument, NULL) : usual_s;
  if (!shown) show(session, &measure_tune);
  if (!(asked >= least_s && asked <= most_s))
    session_say(session, SAID_ERROR, "a search takes from one second to one day");
  else if (tuning_runs(session))
    session_say(session, SAID_NOTE, "a search is under way; %s ends it",
                view_key_name(session, "stop"));
  else if (shown || (argument && *argument))
    session->wishes.tune_seconds = asked;
}

static bool poll(Session *session) {
  const bool tuned = tuning_poll(session), published = published_poll(session);
  return tuned || published;
}

static bool measure_idle(Session *session) {
  return picture_of(session)->idle && picture_of(session)->idle(session);
}

MeasureSums *measure_sums_of(const Session *session) { return view_own(session, &measure_view); }

static ViewWait waits(const Session *session) {
  return tuning_runs(session) || published_is_under_way(session) ? VIEW_EXPECTS : VIEW_WAITS_NOT;
}

static void measure_enter(Session *session) {
  if (picture_of(session)->enter) picture_of(session)->enter(session);
}

static int measure_count(const Session *session) { return picture_of(session)->count(session); }

static const char *measure_line(const Session *session, int i) {
  const MeasurePicture *picture = picture_of(session);
  return picture->line ? picture->line(session, i) : NULL;
}

static void measure_click(Session *session, int what, int value) {
  if (what == SPOT_MEASURE_LINE) session_view_state(session)->cursor = value;
  if (what == SPOT_MEASURE_MODE && value >= 0 && value < PICTURES) show_picture(session, value);
}

static const Action actions[] = {
    {"picture-before", "Left h", "picture", "picture-after", "the previous picture: ladder, A|B, …",
     picture_before},
    {"picture-after", "Right l", NULL, NULL, "the next picture", picture_after},
    {"take", "Enter", "take", NULL, "take the rung, or the swept value, under the cursor", take},
    {"sweep", "w", "sweep", NULL, "show the explorer's knob at all its values", sweep},
    {"knob-before", "<", NULL, "knob-after", "sweep the knob before", knob_before},
    {"knob-after", ">", NULL, NULL, "sweep the next knob", knob_after},
    {"bench-sweep", "B", NULL, NULL, "verify and time every legal value of the sweep", bench_all},
    {"tune-here", "t", NULL, NULL,
     "search for the best kernel of this problem; press t again to "
     "begin",
     tune_here},
    {"stop", "x", NULL, NULL, "end the search; drop the timings that have not begun", stop},
};

const ViewBody measure_view = {
    .state_bytes = sizeof(MeasureSums),
    .chosen_bytes = sizeof(MeasureChosen),
    .open = measure_sums_open,
    .close = measure_sums_close,
    .enter = measure_enter,
    .prepare = measure_prepare,
    .draw = measure_draw,
    .data = measure_data,
    .count = measure_count,
    .line = measure_line,
    .click = measure_click,
    .poll = poll,
    .waits = waits,
    .idle = measure_idle,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
