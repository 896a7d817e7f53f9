// The error of sums: the steps that round, the steps that are exact, and the cost of other parts
// and promotions.
//
//   recorded: 3.9e-09, cuBLAS 2.8e-08
//      error of a cell            normal  positive   1e-9     1e-8     1e-7     1e-6
//    ▸ 6xbf16, PROMOTE 2         4.0e-09   1.9e-07   █████░░░░░░░┊░░░░
//      6xbf16                    1.2e-07   1.4e-05   ████████████┊███████░░░░░░░░░░░░░
//      fp32 multiply-adds        2.7e-08   1.0e-06   ████████████┊░░░░░░░░░░░░
//
// An error is |c - exact| over the product of |A| and |B|, the root of the mean square of the cells
// that model/schedules/sum_error.h simulates, for normal data (the bar) and positive data (its
// shade). The scale is logarithmic: four times as far off is six tenths of a decade.
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "model/words/schedule_atom.h"
#include "model/words/split.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/views/measure/measure.h"

enum {
  NAME_COL = 3,
  NORMAL_COL = 27,
  POSITIVE_COL = 37,
  BAR_COL = 49,
  FIGURE_COLS = 8,
  DECADES = 5,  // of the scale, from 10^-9 on
  FIRST_DECADE = -9,
  PRODUCTS_PER_STEP = 1 << 17  // simulated before keys are looked at again: some 2 ms
};

#define LEGEND                                                                             \
  "simulated: |c - exact| over |A|·|B|, root mean square of 128 cells. █ normal data, " \
  "░ positive data, ┊ fp32 multiply-adds, normal data."

void measure_sums_open(void *state) {
  MeasureSums *sums = state;
  sums->arena = arena_new("errors of sums");
  sums->scratch = arena_new("cells that are summed");
}

void measure_sums_close(void *state) {
  MeasureSums *sums = state;
  arena_free(sums->arena);
  arena_free(sums->scratch);
}

// ---- rows ---------------------------------------------------------------------------------------

static SumRow *add_row(MeasureSums *sums, const Schedule *schedule, const char *name) {
  SumRow *row = &sums->row[sums->n++];
  *row = (SumRow){.name = name, .schedule = *schedule};
  return row;
}

static const char *name_of(Arena *arena, const Schedule *schedule) {
  const int64_t *v = schedule->value;
  const Split32 *split = v[KNOB_SPLIT_F32] ? split_facts((SplitKind)v[KNOB_SPLIT_F32]) : NULL;
  const Atom *atom = schedule_atom_row(schedule);
  const char *what = split ? split->name : atom ? "tf32 products" : "fp32 multiply-adds";
  if (!v[KNOB_PROMOTE]) return what;
  return arena_printf(arena, "%s, PROMOTE %lld", what, (long long)v[KNOB_PROMOTE]);
}

// The other ways that the atom allows: parts of its type, promoted as here, every two slabs, never.
static void add_splits(MeasureSums *sums, const Schedule *here) {
  const int64_t *v = here->value;
  const DType type = split_facts((SplitKind)v[KNOB_SPLIT_F32])->type;
  const int64_t promoted = v[KNOB_PROMOTE] ? v[KNOB_PROMOTE] : 2;
  for (int kind = SPLIT_NONE + 1; kind < SPLIT_KINDS; kind++) {
    if (split_facts((SplitKind)kind)->type != type) continue;
    for (int i = 0; i < 2 && sums->n < SUM_ROWS_MAX - 1; i++) {
      Schedule schedule = *here;
      schedule.value[KNOB_SPLIT_F32] = kind;
      schedule.value[KNOB_PROMOTE] = i ? 0 : promoted;
      SumRow *row = add_row(sums, &schedule, name_of(sums->arena, &schedule));
      row->is_here = kind == v[KNOB_SPLIT_F32] && schedule.value[KNOB_PROMOTE] == v[KNOB_PROMOTE];
    }
  }
}

// Products of 16-bit operands are not told: what their rounding costs lies before the kernel.
static bool is_told(const Schedule *schedule) {
  const DType type = (DType)schedule->value[KNOB_DTYPE];
  return sum_error_is_known(schedule) && (type == DTYPE_F32 || type == DTYPE_TF32);
}

void measure_sums_prepare(MeasureSums *sums, const Session *session) {
  const Schedule *here = &session->doc.now.pictured;
  if (sums->n && schedule_same(&sums->of, here)) return;
  arena_reset(sums->arena);
  sums->n = 0;
  sums->of = *here;
  if (!is_told(here)) return;
  if (here->value[KNOB_SPLIT_F32])
    add_splits(sums, here);
  else
    add_row(sums, here, name_of(sums->arena, here))->is_here = true;
  const Schedule plain = sum_by_fma(here);
  if (schedule_atom_row(here)) add_row(sums, &plain, name_of(sums->arena, &plain));
}

// ---- simulating ---------------------------------------------------------------------------------

static int cells_of_a_step(const SumRow *row) {
  const int64_t products = schedule_products(&row->schedule);
  const int64_t cells = PRODUCTS_PER_STEP / (row->schedule.value[KNOB_K] * products);
  return cells < 1 ? 1 : cells > SUM_CELLS_TOLD ? SUM_CELLS_TOLD : (int)cells;
}

static void simulate(MeasureSums *sums, SumRow *row, SumData data) {
  SumTally *tally = &row->tally[data];
  const int left = SUM_CELLS_TOLD - tally->cells, step = cells_of_a_step(row);
  arena_reset(sums->scratch);
  sum_tally_add(sums->scratch, tally, &row->schedule, data, step < left ? step : left);
}

bool measure_sums_idle(MeasureSums *sums) {
  for (int i = 0; i < sums->n; i++)
    for (int data = SUMS_OF_NORMAL; data <= SUMS_OF_POSITIVE; data++) {
      if (sums->row[i].tally[data].cells >= SUM_CELLS_TOLD) continue;
      simulate(sums, &sums->row[i], (SumData)data);
      return true;
    }
  return false;
}

// NaN until all its cells are known.
static double error_of(const SumRow *row, SumData data) {
  const bool done = row->tally[data].cells >= SUM_CELLS_TOLD;
  return done ? sum_tally_error(&row->tally[data]).rms : (double)NAN;
}

// ---- what is exact, in words --------------------------------------------------------------------

// Parts i and j have a product of order i + j: the number of products up to an order.
static int products_up_to(int parts, int order) {
  int n = 0;
  for (int i = 0; i < parts; i++)
    for (int j = 0; j < parts; j++) n += i + j <= order;
  return n;
}

static void say_split(Str *out, const Split32 *split) {
  enum { F32_BITS = 24, LEAST_EXPONENT = -126, LARGEST_EXPONENT = 127 };
  const int bits = split->bits * split->parts;
  str_printf(
      out, "%s: %d parts of %d bits have %s of an f32. ", split->name, split->parts, split->bits,
      bits >= F32_BITS ? "all 24 bits" : arena_printf(out->arena, "%d of the 24 bits", bits));
  int order = 0;
  while (products_up_to(split->parts, order) < split->products) order++;
  const int all = split->parts * split->parts;
  if (split->products == all)
    str_printf(out, "All %d products are summed. ", all);
  else
    str_printf(out, "%d of %d products are summed; each other one is below 2^-%d of the whole. ",
               split->products, all, split->bits * (order + 1));
  str_add(out, "Each product is exact in f32: only sums are rounded. ");
  const int least = LEAST_EXPONENT - (split->bits - 1) + bits;
  str_printf(out,
             "An infinite element gives NaN, and so does one from 2^%d times (2 - 2^-%d) on; below "
             "2^%d an element loses its last bits. ",
             LARGEST_EXPONENT, split->bits, least);
}

static const char *words_of(Arena *arena, const SumRow *row) {
  const int64_t *v = row->schedule.value;
  Str out = str_new(arena);
  if (!schedule_atom_row(&row->schedule)) {
    str_add(&out,
            "fp32 multiply-adds, one after the other along K: each rounds its sum to nearest.");
    return out.text;
  }
  if (v[KNOB_SPLIT_F32])
    say_split(&out, split_facts((SplitKind)v[KNOB_SPLIT_F32]));
  else
    str_add(&out, "tf32: the tensor core takes 11 of the 24 bits of each element. ");
  str_add(
      &out,
      "The tensor core cuts off the bits that a sum has no room for, towards 0: losses add up. ");
  if (v[KNOB_PROMOTE])
    str_printf(&out,
               "After every %lld slabs the sum moves to a register by an fp32 add, which "
               "rounds to nearest.",
               (long long)v[KNOB_PROMOTE]);
  return out.text;
}

// ---- drawing ------------------------------------------------------------------------------------

static double share(double error) {
  return fmin(fmax((log10(error) - FIRST_DECADE) / DECADES, 0), 1);
}

static void draw_figure(Canvas *canvas, Rect row, int col, double error) {
  char text[24];
  snprintf(text, sizeof text, "%.1e", error);
  canvas_fit(canvas, row, 0, col, FIGURE_COLS, ALIGN_RIGHT, STYLE_ESTIMATED,
             isnan(error) ? "…" : text);
}

static void draw_row(Canvas *canvas, Rect in, const SumRow *row, double fma) {
  const double normal = error_of(row, SUMS_OF_NORMAL), positive = error_of(row, SUMS_OF_POSITIVE);
  const int cols = in.cols - BAR_COL - 2;
  if (row->is_here) canvas_text(canvas, in, 0, 1, STYLE_ACCENT, "▸");
  canvas_fit(canvas, in, 0, NAME_COL, NORMAL_COL - NAME_COL - 1, ALIGN_LEFT, STYLE_TEXT, row->name);
  draw_figure(canvas, in, NORMAL_COL, normal);
  draw_figure(canvas, in, POSITIVE_COL, positive);
  if (cols < 2 * DECADES || isnan(normal)) return;
  const int whole = (int)lround(share(normal) * cols);
  if (!isnan(positive))
    for (int i = whole; i < (int)lround(share(positive) * cols); i++)
      canvas_text(canvas, in, 0, BAR_COL + i, STYLE_DIM, "░");
  canvas_bar(canvas, in, 0, BAR_COL, cols, share(normal),
             normal < fma ? STYLE_BAR_BEST : STYLE_BAR);
  if (!isnan(fma))
    canvas_text(canvas, in, 0, BAR_COL + (int)lround(share(fma) * cols), STYLE_TEXT, "┊");
}

static void draw_scale(Canvas *canvas, Rect row) {
  canvas_text(canvas, row, 0, NAME_COL, STYLE_HEADER, "error of a cell of C");
  canvas_fit(canvas, row, 0, NORMAL_COL, FIGURE_COLS, ALIGN_RIGHT, STYLE_HEADER, "normal");
  canvas_fit(canvas, row, 0, POSITIVE_COL, FIGURE_COLS, ALIGN_RIGHT, STYLE_HEADER, "positive");
  const int cols = row.cols - BAR_COL - 2;
  for (int d = 0; cols >= 2 * DECADES && d < DECADES; d++) {
    char text[8];
    snprintf(text, sizeof text, "1e%d", FIRST_DECADE + d);
    canvas_text(canvas, row, 0, BAR_COL + d * cols / DECADES, STYLE_DIM, text);
  }
}

static void draw_known(Canvas *canvas, Rect row, const Session *session) {
  const Timed *timed = results_find(&session->background.results, &session->doc.now.pictured);
  if (!timed || !(timed->rms > 0)) {
    canvas_fit(canvas, row, 0, 1, row.cols - 2, ALIGN_LEFT, STYLE_DIM,
               "No check has failed. b checks each cell of C and measures its error.");
    return;
  }
  char text[160], beside[48] = "";
  if (timed->reference_rms > 0)
    snprintf(beside, sizeof beside, ", cuBLAS %.1e", timed->reference_rms);
  snprintf(text, sizeof text, "%s on %s, normal data: %.1e%s",
           timed->origin == ORIGIN_RECORDED ? "recorded" : "measured", timed->gpu, timed->rms,
           beside);
  canvas_fit(canvas, row, 0, 1, row.cols - 2, ALIGN_LEFT, measure_origin_style(timed->origin),
             text);
}

static void draw_foot(Canvas *canvas, Rect in, const char *words) {
  canvas_hline(canvas, in, 0, 0, in.cols, STYLE_BORDER);
  rect_take_top(&in, 1);
  rect_take_top(&in, canvas_wrap(canvas, rect_inset(in, 0, 1), STYLE_TEXT, words));
  canvas_wrap(canvas, rect_inset(in, 0, 1), STYLE_DIM, LEGEND);
}

void measure_sums_draw(Canvas *canvas, Rect in, const Session *session, const MeasureSums *sums) {
  draw_known(canvas, rect_take_top(&in, 1), session);
  if (!sums->n) {
    canvas_wrap(
        canvas, rect_inset(in, 1, 1), STYLE_DIM,
        "The rounding of sums is simulated for products of f32 and tf32. A kernel that fails "
        "its check gets no speed, and this picture shows its wrong cells.");
    return;
  }
  const int at = session_view_state_const(session)->cursor;
  const int cursor = at < sums->n ? at : sums->n - 1;
  const char *words = words_of(session->frame, &sums->row[cursor]);
  const int wanted =
      1 + canvas_wrap_rows(words, in.cols - 2) + canvas_wrap_rows(LEGEND, in.cols - 2);
  if (in.rows > wanted + 3) draw_foot(canvas, rect_take_bottom(&in, wanted), words);
  rect_take_top(&in, 1);
  draw_scale(canvas, rect_take_top(&in, 1));
  const SumRow *last = &sums->row[sums->n - 1];
  const double fma = error_of(last, SUMS_OF_NORMAL);
  ViewList list = view_list(in, cursor, sums->n);
  while (view_list_next(canvas, &list)) {
    draw_row(canvas, list.row, &sums->row[list.at], fma);
    view_list_mark(canvas, &list, SPOT_MEASURE_LINE, BAR_COL - 1);
  }
}
