// LIMIT, FIT, SLABS; the ladder as a strip of bars.
//
// After a change the figures show what they were: "shared 2752 → 1728". While A|B is on, "before"
// is A. A number measured here, recorded elsewhere, estimated or claimed differs in word and in
// style.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/at_hand.h"
#include "tui/views/measure/measure.h"
#include "tui/views/program/explore.h"

// Widths of " clk", "; ~124 regs" (and " registers").
enum { CLK_COLS = 4, REGS_COLS = 11 };

typedef struct Clocks {
  const char *name;
  double clocks, before;
  bool shown;
} Clocks;

// The numbers to compare the present ones with: the numbers before the last change, or A's.
// Estimates stand beside estimates and counts beside counts. Where the compiler has counted only
// the present state, numbers that depend on registers have no "before".
static PictureNumbers before_of(const Session *session) {
  const Picture *picture = session->doc.now.picture, *a = session->doc.then.picture;
  PictureNumbers now = picture_numbers(picture->model), old = picture->before;
  PictureNumbers guess = picture->before_estimate;
  if (!session->doc.comparing && (!picture->has_before || session->at.change == CHANGE_GONE))
    return now;
  if (session->doc.comparing) {
    old = picture_numbers(a->model);
    guess = picture_numbers(a->estimate);
  }
  if (now.resources.counted == old.resources.counted) return old;
  if (!now.resources.counted) return guess;
  now.resources.smem_bytes = old.resources.smem_bytes;
  old.traffic.dram_clocks = now.traffic.dram_clocks;
  return (PictureNumbers){now.resources, old.traffic};
}

// Descending; unknown ones last.
static void sort_clocks(Clocks *clocks, int n) {
  for (int i = 1; i < n; i++)
    for (int at = i; at > 0 && clocks[at].clocks > clocks[at - 1].clocks; at--) {
      Clocks swap = clocks[at];
      clocks[at] = clocks[at - 1];
      clocks[at - 1] = swap;
    }
}

// A changed figure is bright until the next key, then like the others with the old one beside it.
static Style changed_style(const Session *session, Style style) {
  return session->doc.comparing || session->at.change == CHANGE_FRESH ? STYLE_CHANGED : style;
}

static int draw_change(Canvas *canvas, Rect in, int row, int col, const Session *session,
                       double before, double now, Style style) {
  char a[FMT_MAX], b[FMT_MAX];
  fmt_figure(a, before);
  fmt_figure(b, now);
  if (!str_equal(a, b))
    col = canvas_printf(canvas, in, row, col, STYLE_DIM, "%s%s", a, canvas->ascii ? "->" : "→");
  return canvas_text(canvas, in, row, col, str_equal(a, b) ? style : changed_style(session, style),
                     b);
}

// " > shared 2752→1728"
static int limit_cols(const Clocks *clocks, bool ascii) {
  char a[FMT_MAX], b[FMT_MAX];
  fmt_figure(a, clocks->before);
  fmt_figure(b, clocks->clocks);
  int changed = str_equal(a, b) ? 0 : (int)strlen(a) + 1 + ascii;
  return 4 + (int)strlen(clocks->name) + changed + (int)strlen(b);
}

// If not all fit: the limit itself, then the units that the change moved, then the largest.
static void choose_clocks(Clocks *clocks, int n, int cols, bool ascii) {
  for (int pass = 0; pass < 3; pass++)
    for (int i = 0; i < n; i++) {
      char a[FMT_MAX], b[FMT_MAX];
      bool moved = !str_equal(fmt_figure(a, clocks[i].before), fmt_figure(b, clocks[i].clocks));
      if (clocks[i].shown || !(clocks[i].clocks > 0)) continue;
      if ((pass == 0 && i > 0) || (pass == 1 && !moved)) continue;
      int need = limit_cols(&clocks[i], ascii) - (i ? 0 : 3);
      clocks[i].shown = need <= cols;
      if (clocks[i].shown)
        cols -= need;
      else if (pass == 2)
        return;
    }
}

static int unknown_cols(const Clocks *clocks, int n) {
  int cols = 0;
  for (int i = 0; i < n; i++)
    if (clocks[i].clocks < 0) cols += (int)strlen(clocks[i].name) + 5;
  return cols;
}

// " · mma ?": a unit without a stated number may be the limit after all.
static int draw_unknown(Canvas *canvas, Rect in, int col, const Clocks *clocks, int n) {
  for (int i = 0; i < n; i++) {
    int need = (int)strlen(clocks[i].name) + 5;
    if (clocks[i].clocks >= 0 || col + need > in.cols - CLK_COLS) continue;
    col = canvas_printf(canvas, in, 0, col, STYLE_DIM, " · %s ?", clocks[i].name);
  }
  return col;
}

// The clocks of each unit, now and before, in the order of traffic_units().
static int find_clocks(const Session *session, bool per_slab, Clocks clocks[TRAFFIC_UNITS]) {
  const Traffic *now = &session_model(session)->traffic;
  const PictureNumbers before = before_of(session);
  const bool atom = program_atom(session_model(session)->program) != NULL;
  TrafficUnit unit[TRAFFIC_UNITS], was[TRAFFIC_UNITS];
  const int n = traffic_units(now, atom, unit);
  traffic_units(&before.traffic, atom, was);
  for (int i = 0; i < n; i++) {
    const double here = unit[i].clocks, there = was[i].clocks;
    clocks[i] = (Clocks){unit[i].title, per_slab ? here : traffic_per_kfma(now, here),
                         per_slab ? there : traffic_per_kfma(&before.traffic, there), false};
  }
  return n;
}

// "power > " where the board's cap allows less than any unit of the SM does.
static int draw_power(Canvas *canvas, Rect in, int col, bool limits) {
  if (!limits) return col;
  col = canvas_text(canvas, in, 0, col, STYLE_ACCENT, "power");
  return canvas_text(canvas, in, 0, col, STYLE_DIM, " > ");
}

void explore_draw_limit(Canvas *canvas, Rect in, const Session *session) {
  const ExploreOwn *own = view_own(session, &explore_view);
  const char *brief = own->per_slab ? "clk" : "clk/kFMA";
  const char *whole = own->per_slab ? "clk of one SM per slab" : "clk of one SM per 1024 FMA";
  Clocks clocks[TRAFFIC_UNITS];
  const int n = find_clocks(session, own->per_slab, clocks);
  sort_clocks(clocks, n);
  const bool power = traffic_power_limits(&session_model(session)->traffic);
  int col = canvas_text(canvas, in, 0, 1, STYLE_HEADER, "LIMIT") + 2;
  col = draw_power(canvas, in, col, power);
  int unit_cols = 1 + (int)strlen(brief);
  int room = in.cols - col - unit_cols - unknown_cols(clocks, n);
  choose_clocks(clocks, n, room, canvas->ascii);
  for (int i = 0; i < n; i++) {
    const Style style = i || power ? STYLE_TEXT : STYLE_ACCENT;
    if (!clocks[i].shown) continue;
    if (i) col = canvas_text(canvas, in, 0, col, STYLE_DIM, clocks[i - 1].shown ? " > " : " … ");
    col = canvas_text(canvas, in, 0, col, style, clocks[i].name) + 1;
    col = draw_change(canvas, in, 0, col, session, clocks[i].before, clocks[i].clocks, style);
  }
  col = draw_unknown(canvas, in, col, clocks, n);
  bool fits = col + 1 + (int)strlen(whole) <= in.cols;
  canvas_text(canvas, in, 0, col + 1, STYLE_UNIT, fits ? whole : brief);
}

// The registers that setmaxnreg leaves a consumer and a producer.
static void draw_roles(Canvas *canvas, Rect in, int col, const Resources *now) {
  char text[48];
  if (!now->consumer_registers) return;
  snprintf(text, sizeof text, ", %lld/%lld by role", (long long)now->consumer_registers,
           (long long)now->producer_registers);
  if (col + (int)strlen(text) <= in.cols) canvas_text(canvas, in, 1, col, STYLE_DIM, text);
}

static bool limited_by_registers(const Resources *r) { return str_equal(r->limiter, "registers"); }

// A limiter by its first word where its whole name has no room: "shared" of "shared memory".
static int limiter_length(const char *limiter, bool brief) {
  return brief ? (int)strcspn(limiter, " ") : (int)strlen(limiter);
}

// Columns of all of them, each behind a comma.
static int limiters_cols(const char *const *limiter, bool brief) {
  int cols = 0;
  for (int i = 0; limiter[i]; i++) cols += 2 + limiter_length(limiter[i], brief);
  return cols;
}

// "125 registers, 8 B spilled", "~124 registers": the sign says that no compiler has counted. What
// limits beside them has room behind.
static int draw_registers(Canvas *canvas, Rect in, int col, const Session *session,
                          const Resources *old, const Resources *now) {
  Counted counted = results_counted(&session->background.results, &session->doc.now.pictured);
  Style style = now->counted ? measure_origin_style(counted.origin) : STYLE_ESTIMATED;
  if (!now->counted) col = canvas_text(canvas, in, 1, col, style, "~");
  col = draw_change(canvas, in, 1, col, session, old->n_registers, now->n_registers, style);
  bool whole = limited_by_registers(now) &&
               col + REGS_COLS + limiters_cols(now->limiters + 1, true) <= in.cols;
  col = canvas_text(canvas, in, 1, col, style, whole ? " registers" : " regs");
  if (now->counted && counted.spill_bytes > 0)
    col = canvas_printf(canvas, in, 1, col, STYLE_BAD, ", %d B spilled", counted.spill_bytes);
  if (counted.note)  // up to the reason, which the source view has
    col = canvas_printf(canvas, in, 1, col, STYLE_BAD, ", %.*s", (int)strcspn(counted.note, ":"),
                        counted.note);
  return col;
}

// Each behind a comma; one that has no room leaves a sign that there are more.
static int draw_limiters(Canvas *canvas, Rect in, int col, const char *const *limiter,
                         const char *before) {
  const bool brief = col + limiters_cols(limiter, false) > in.cols;
  for (int i = 0; limiter[i]; i++, before = ", ") {
    const int length = limiter_length(limiter[i], brief);
    if (col + length + (int)strlen(before) > in.cols)
      return canvas_text(canvas, in, 1, col, STYLE_TEXT, " …");
    col = canvas_printf(canvas, in, 1, col, STYLE_TEXT, "%s%.*s", before, length, limiter[i]);
  }
  return col;
}

static void draw_fit(Canvas *canvas, Rect in, const Session *session) {
  const Resources *now = &session_model(session)->resources;
  const PictureNumbers before = before_of(session);
  const Resources *old = &before.resources;
  int col = canvas_text(canvas, in, 1, 1, STYLE_HEADER, "FIT") + 4;
  col =
      draw_change(canvas, in, 1, col, session, old->blocks_per_sm, now->blocks_per_sm, STYLE_TEXT);
  col =
      canvas_printf(canvas, in, 1, col, STYLE_TEXT,
                    " block%s/SM = %.0f %%: ", plural_s(now->blocks_per_sm), 100 * now->occupancy);
  if (!limited_by_registers(now)) {
    col = draw_limiters(canvas, in, col, now->limiters, "");
    if (col + REGS_COLS > in.cols) return;  // no half of a number
    col = canvas_text(canvas, in, 1, col, STYLE_TEXT, "; ");
  }
  col = draw_registers(canvas, in, col, session, old, now);
  if (limited_by_registers(now)) col = draw_limiters(canvas, in, col, now->limiters + 1, ", ");
  draw_roles(canvas, in, col, now);
}

static void draw_slabs(Canvas *canvas, Rect in, const Session *session) {
  const Model *model = session_model(session);
  const int64_t old = before_of(session).resources.smem_bytes;
  char bytes[FMT_MAX], was[FMT_MAX], figure[FMT_MAX];
  int col = canvas_text(canvas, in, 2, 1, STYLE_HEADER, "SLABS") + 2;
  bool changed = old != model->resources.smem_bytes;
  if (changed)
    col = canvas_printf(canvas, in, 2, col, STYLE_DIM, "%s %s ", fmt_bytes(was, (double)old),
                        canvas->ascii ? "->" : "→");
  col = canvas_text(canvas, in, 2, col, changed ? changed_style(session, STYLE_TEXT) : STYLE_TEXT,
                    fmt_bytes(bytes, (double)model->resources.smem_bytes));
  char intensity[FMT_MAX + 16];
  snprintf(intensity, sizeof intensity, "%s FLOP/L2 byte",
           fmt_figure(figure, model->traffic.flop_per_l2_byte));
  if (col + 2 + (int)strlen(intensity) > in.cols) return;  // no half of a unit
  col = canvas_text(canvas, in, 2, col + 2, STYLE_TEXT, intensity);
  if (in.cols - col > 12)
    canvas_printf(canvas, in, 2, col + 2, STYLE_TEXT, "%s waves",
                  fmt_figure(figure, model->resources.waves));
}

void explore_draw_numbers(Canvas *canvas, Rect in, const Session *session) {
  explore_draw_limit(canvas, in, session);
  draw_fit(canvas, in, session);
  draw_slabs(canvas, in, session);
}

// ---- the ladder ---------------------------------------------------------------------------------

// The present rung counts as it is now, edits included.
static double rung_tflops(const Session *session, int rung, Origin *origin) {
  const Schedule *schedule = rung == session->doc.rung ? &session->doc.now.schedule
                                                       : &session->doc.ladder->rung[rung].schedule;
  const Timed *timed = results_find(&session->background.results, schedule);
  bool here = timed && timed->ok && !at_hand_is_other(session, timed);
  *origin = here ? timed->origin : ORIGIN_NONE;
  return *origin ? timed->tflops : NAN;
}

// The first rung to show where `cols` have not room for all: the present one stays in sight.
static int strip_first(const Session *session, int cols) {
  const int n = session->doc.ladder->n_rungs, first = session->doc.rung + 1 - cols * 3 / 4;
  return n <= cols || first < 0 ? 0 : min_int(first, n - cols);
}

// One column of eighths for each rung, the present one in brackets; a dot where there is no number.
void explore_draw_strip(Canvas *canvas, Rect in, const Session *session) {
  double top = 0;
  Origin origin;
  for (int i = 0; i < session->doc.ladder->n_rungs; i++)
    top = fmax(top, rung_tflops(session, i, &origin));
  enum { BRACKETS = 2, CUT_COLS = 1 };
  int col = canvas_text(canvas, in, 0, 1, STYLE_HEADER, "ladder") + 1;
  const int first = strip_first(session, in.cols - col - BRACKETS - 2 * CUT_COLS);
  if (first > 0) col = canvas_glyph(canvas, in, 0, col, STYLE_DIM, GLYPH_ELLIPSIS);
  for (int i = first; i < session->doc.ladder->n_rungs; i++) {
    if (col + BRACKETS + CUT_COLS >= in.cols && i + 1 < session->doc.ladder->n_rungs) {
      canvas_glyph(canvas, in, 0, col, STYLE_DIM, GLYPH_ELLIPSIS);
      return;
    }
    // Side branches stand apart from the main line.
    if (i > first && session->doc.ladder->rung[i].aside && !session->doc.ladder->rung[i - 1].aside)
      col++;
    bool here = i == session->doc.rung;
    double tflops = rung_tflops(session, i, &origin);
    int eighths = top > 0 && tflops > 0 ? 1 + (int)(7 * tflops / top) : 0;
    if (here) col = canvas_text(canvas, in, 0, col, STYLE_ACCENT, "[");
    Style style = here ? STYLE_ACCENT : origin ? measure_origin_style(origin) : STYLE_DIM;
    const char *bar = session->doc.ladder->rung[i].not_built ? "-" : "·";
    if (eighths) bar = glyph_bar(eighths, false);
    col = canvas_text(canvas, in, 0, col, style, bar);
    if (here) col = canvas_text(canvas, in, 0, col, STYLE_ACCENT, "]");
  }
}
