// The pictures of the measure view, one file each: view_measure.c chooses among them.
//
// A picture works out what it draws in `prepare`, draws it below the line of titles, and says how
// many lines its cursor moves over.
#pragma once
#include "model/schedules/sum_error.h"
#include "tui/canvas/canvas.h"
#include "tui/session/picture_numbers.h"
#include "tui/session/session.h"

enum { SPOT_MEASURE_MODE = 16, SPOT_MEASURE_LINE };

typedef struct MeasurePicture {
  const char *title, *help;
  const void *(*prepare)(Session *session);
  void (*draw)(Canvas *canvas, Rect in, const Session *session, const void *prepared);
  int (*count)(const Session *session);
  const char *(*line)(const Session *session, int i);  // for searching; NULL: nothing
  void (*enter)(Session *session);                     // may be NULL
  void (*take)(Session *session, int i);               // Enter; NULL: nothing
  bool (*idle)(Session *session);                      // see ViewBody; NULL: nothing can wait
} MeasurePicture;

extern const MeasurePicture measure_ladder, measure_numbers, measure_sweep, measure_history,
    measure_errors, measure_claims, measure_tune;

typedef struct RungLine {
  const Timed *timed;  // NULL: never timed
  double before;       // TFLOP/s of the rung that it builds on, where both can be compared; 0: none
  bool elsewhere;      // on another GPU than this one
  Estimate estimate;   // the one number; unknown: it breaks a rule here
  // An article's TFLOP/s, as a factor of the rung before that it has a time for, and of the first
  // one; 0: none, or nothing to compare it with. Never beside a number of ours.
  double claimed, claimed_before, claimed_first;
} RungLine;

typedef struct LadderLines {
  int n;
  RungLine *line;
  double top, reference;  // TFLOP/s; 0 = not known
  const Timed *referred;  // the timing that `reference` stood beside
  const char *reasons;    // of the present state's roofline; "" none
} LadderLines;

LadderLines *measure_ladder_lines(Session *session);

// The style and the letter of a number's origin: m, r, e, c; a blank where it is counted, exact.
Style measure_origin_style(Origin origin);
char measure_origin_mark(Origin origin);
// "36.5" by the clock, "~34.1" of a stand-in, "–" where it is not known; gives `out` back.
char *measure_estimate_text(char *out, const Estimate *estimate);

// How far off sums are (measure_sums.c): drawn by the picture of errors, until a check fails. The
// cells are simulated a few at a time, by `idle`.
typedef struct SumRow {
  const char *name;   // "6xbf16, PROMOTE 2"
  Schedule schedule;  // with the row's knobs
  bool is_here;
  SumTally tally[2];  // by SumData
} SumRow;

enum { SUM_ROWS_MAX = 16 };

typedef struct MeasureSums {  // the view's own state
  Arena *arena, *scratch;
  Schedule of;  // the schedule of these rows, where n > 0
  int n;
  SumRow row[SUM_ROWS_MAX];
} MeasureSums;

void measure_sums_open(void *state);
void measure_sums_close(void *state);
MeasureSums *measure_sums_of(const Session *session);
void measure_sums_prepare(MeasureSums *sums, const Session *session);
void measure_sums_draw(Canvas *canvas, Rect in, const Session *session, const MeasureSums *sums);
bool measure_sums_idle(MeasureSums *sums);  // false: all is known
