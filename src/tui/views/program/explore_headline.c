// The headline: how fast, compared with what, limited by what, because of what.
//
//   36.7 TFLOP/s recorded · 0.72 of cuBLAS    clock 36.1 ±3 %    limited by shared memory: 11.5
//   clk, FMA needs 8
//                                                                b <- B_s takes 8 wavefronts, 4
//                                                                would do
//
// The number is one that was timed where there is one, else the estimate. Parts that have no room
// are left out whole: the clock's number first, then the words of the limit become fewer. Where a
// kernel is far below what every unit allows, no unit is to blame, and the headline says so. Where
// neither a time nor the clock says how far below it is, the headline names the busiest unit and
// calls nothing the limit.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/at_hand.h"
#include "tui/views/measure/measure.h"
#include "tui/views/program/explore.h"

enum { RATIO_COLS = 18, GAP = 3 };  // RATIO_COLS: " · 0.004 of cuBLAS"

// Below this part of the speed that the units allow it is not a unit that limits.
static const double full_from = 0.75;

// ---- limited by ---------------------------------------------------------------------------------

// The units in words, in the order of traffic_units().
static const char *unit_words(int i, bool atom) {
  static const char *const words[TRAFFIC_UNITS] = {
      "FMA", "shared memory", "L1 and global memory", "L2", "DRAM", "exp2 (SFU)", "the FP32 lanes"};
  return i == 0 && atom ? "the tensor core" : words[i];
}

typedef struct Limits {
  int n, first;  // units, and the busiest of them; -1: nothing is known
  TrafficUnit unit[TRAFFIC_UNITS];
  bool atom, power, waits;
  bool known;      // whether its speed is known: without one, waits may be the limit
  double allowed;  // TFLOP/s, by the busiest unit and by power
} Limits;

// The speed to hold against what the units allow.
static double speed_here(const Session *session) {
  const Timed *timed = results_find(&session->background.results, &session->doc.now.schedule);
  if (timed && timed->ok) return timed->tflops;
  const Estimate estimate = session_estimate(session, session->doc.now.picture->estimate);
  return estimate.by == ESTIMATE_CLOCK ? estimate.tflops : (double)NAN;
}

static Limits find_limits(const Session *session) {
  const Model *model = session_model(session);
  const Traffic *traffic = &model->traffic;
  Limits limits = {.first = -1, .atom = program_atom(model->program) != NULL};
  limits.n = traffic_units(traffic, limits.atom, limits.unit);
  for (int i = 0; i < limits.n; i++)
    if (limits.unit[i].clocks > 0 &&
        (limits.first < 0 || limits.unit[i].clocks > limits.unit[limits.first].clocks))
      limits.first = i;
  limits.power = traffic_power_limits(traffic);
  limits.allowed = traffic->roofline_tflops;
  if (limits.power && traffic->power_tflops < limits.allowed)
    limits.allowed = traffic->power_tflops;
  const double speed = speed_here(session);
  limits.known = !isnan(speed);
  limits.waits = speed < full_from * limits.allowed;
  return limits;
}

// "limited by shared memory: 11.5 clk, FMA needs 8"; "busiest is L2: 1.01 clk, mma
// needs 0.50", where no time is known.
static const char *unit_said(Arena *arena, const Session *session, const Limits *limits,
                             bool brief) {
  const Traffic *traffic = &session_model(session)->traffic;
  char first[FMT_MAX], needs[FMT_MAX];
  const char *name = unit_words(limits->first, limits->atom);
  fmt_figure(first, traffic_per_kfma(traffic, limits->unit[limits->first].clocks));
  fmt_figure(needs, traffic_per_kfma(traffic, limits->unit[0].clocks));
  const char *said = limits->known ? brief ? "limit:" : "limited by"
                     : brief       ? "busiest:"
                                   : "busiest is";
  if (limits->first == 0 || !(limits->unit[0].clocks > 0))
    return arena_printf(arena, "%s %s, %s clk", said, name, first);
  if (brief) name = limits->unit[limits->first].title;
  return arena_printf(arena, brief ? "%s %s %s clk, %s %s" : "%s %s: %s clk, %s needs %s", said,
                      name, first, limits->atom ? "mma" : "FMA", needs);
}

static const char *limit_said(Arena *arena, const Session *session, bool brief) {
  const Limits limits = find_limits(session);
  char allowed[FMT_MAX];
  if (limits.first < 0) return brief ? "limit unknown" : "the limit is not known";
  fmt_figure(allowed, limits.allowed);
  if (limits.waits)
    return arena_printf(
        arena, brief ? "limit: waits (%s allowed)" : "limited by waits: the units allow %s TFLOP/s",
        allowed);
  // The board's own bound, as the LIMIT of measure has it: the last wave takes off some more.
  if (limits.power) {
    fmt_figure(allowed, session_model(session)->traffic.power_tflops);
    if (!limits.known)
      return arena_printf(arena, brief ? "power: at most %s" : "power allows at most %s TFLOP/s",
                          allowed);
    return arena_printf(arena, brief ? "limit: power (%s)" : "limited by power: %s TFLOP/s allowed",
                        allowed);
  }
  return unit_said(arena, session, &limits, brief);
}

// The conflict that costs most; NULL: there is no conflict.
static const Site *worst_site(const Model *model) {
  const Site *worst = NULL;
  for (int i = 0; i < model->n_sites; i++) {
    const Site *site = &model->site[i];
    if (!site->count.known || site->count.conflicts == 0 || !(site->clocks > site->ideal)) continue;
    if (!worst || site->clocks - site->ideal > worst->clocks - worst->ideal) worst = site;
  }
  return worst;
}

static const char *shared_cause(Arena *arena, const Model *model) {
  const Site *site = worst_site(model);
  if (!site) return "no bank conflict; larger tiles read fewer bytes for each multiply-add";
  return arena_printf(arena, "%.*s takes %d wavefronts, %d would do",
                      (int)(strstr(site->text, "  ") ? strstr(site->text, "  ") - site->text
                                                     : (long)strlen(site->text)),
                      site->text, site->count.wavefronts, site->count.ideal);
}

static const char *bytes_cause(Arena *arena, const char *from, double flop_per_byte) {
  char figure[FMT_MAX];
  return arena_printf(arena, "%s FLOP for each byte from %s; larger tiles fetch fewer bytes",
                      fmt_figure(figure, flop_per_byte), from);
}

// Where the grid has fewer blocks than the GPU has SMs: "16 blocks for 132 SMs: 116 have no work".
static const char *idle_sms_cause(Arena *arena, const Model *model) {
  const int sms = model->target->sm_count, blocks = (int)model->resources.n_blocks;
  return arena_printf(arena, "%d block%s for %d SMs: %d of them have no work", blocks,
                      plural_s(blocks), sms, sms - blocks);
}

static const char *cause_said(Arena *arena, const Session *session) {
  const Model *model = session_model(session);
  const Limits limits = find_limits(session);
  if (limits.first < 0) return "";
  if (limits.waits && model->resources.n_blocks < model->target->sm_count)
    return idle_sms_cause(arena, model);
  if (!limits.known && limits.first == 0 && !limits.power)
    return "no time is known here, so waits are not counted";
  if (limits.waits)
    return arena_printf(arena, "warps wait and no unit is busy; %s shows the waits",
                        view_key_name(session, "view why"));
  if (limits.power) return "moving fewer bytes for each product saves power";
  const char *const of_unit[TRAFFIC_UNITS] = {
      limits.atom ? "the tensor core itself is the limit: nothing else is in the way"
                  : "the multiply-adds themselves are the limit: nothing else is in the way",
      shared_cause(arena, model),
      "the loads and stores of the lanes fill the pipe to L1",
      bytes_cause(arena, "L2", model->traffic.flop_per_l2_byte),
      bytes_cause(arena, "DRAM", model->traffic.flop_per_dram_byte),
      "one exp2 for each score: the softmax is the limit",
      "additions and scalings of the softmax are the limit"};
  return of_unit[limits.first];
}

void explore_find_limit(Arena *arena, const Session *session, Explore *explore) {
  explore->limit = limit_said(arena, session, false);
  explore->limit_brief = limit_said(arena, session, true);
  explore->cause = cause_said(arena, session);
}

// ---- the number ---------------------------------------------------------------------------------

// "A 111 → B ": only numbers of one origin stand beside each other; the column behind it.
static int draw_a(Canvas *canvas, Rect in, double tflops) {
  char figure[FMT_MAX];
  if (!(tflops > 0)) return 1;
  return canvas_printf(canvas, in, 0, 1, STYLE_SIDE_A, "A %s %s B ", fmt_figure(figure, tflops),
                       canvas->ascii ? "->" : "→");
}

static int draw_timed_a(Canvas *canvas, Rect in, const Session *session, Origin origin) {
  const Timed *a = session->doc.comparing
                       ? results_find(&session->background.results, &session->doc.then.schedule)
                       : NULL;
  return draw_a(canvas, in, a && a->ok && a->origin == origin ? a->tflops : (double)NAN);
}

static int draw_estimated_a(Canvas *canvas, Rect in, const Session *session, EstimateBy by) {
  if (!session->doc.comparing) return 1;
  const Estimate a = session_estimate(session, session->doc.then.picture->estimate);
  return draw_a(canvas, in, a.by == by ? a.tflops : (double)NAN);
}

// "36.7 TFLOP/s recorded · 0.72 of cuBLAS"; the column behind it.
static int draw_timed(Canvas *canvas, Rect in, const Session *session, const Timed *timed) {
  char a[FMT_MAX], b[FMT_MAX];
  if (!timed->ok) return canvas_text(canvas, in, 0, 1, STYLE_BAD, "no speed: it failed");
  const Style style = measure_origin_style(timed->origin);
  int col = draw_timed_a(canvas, in, session, timed->origin);
  col = canvas_printf(canvas, in, 0, col, STYLE_TITLE, "%s TFLOP/s", fmt_figure(a, timed->tflops));
  col = canvas_text(canvas, in, 0, col + 1, style, results_said(timed));
  if (!(timed->ratio > 0) || col + RATIO_COLS > in.cols) return col;
  return canvas_printf(canvas, in, 0, col, STYLE_TEXT, " · %s of %s", fmt_ratio(b, timed->ratio),
                       schedule_reference(&session->doc.now.pictured));
}

// "36.5 TFLOP/s clock ±10 %"; "44.3 TFLOP/s stand-in ±17 % on 212 points" until it is compiled. As
// much of it as there is room for, no half of a word.
static int draw_estimated(Canvas *canvas, Rect in, int col, int end, const Estimate *estimate) {
  char figure[FMT_MAX], said[2][ESTIMATE_SAID_BYTES], text[3][192];
  fmt_figure(figure, estimate->tflops);
  snprintf(text[0], sizeof text[0], "%s TFLOP/s %s %s", figure, estimate_word(estimate),
           estimate_said(said[0], estimate, canvas->ascii));
  snprintf(text[1], sizeof text[1], "%s TFLOP/s %s %s", figure, estimate_word(estimate),
           estimate_error_said(said[1], estimate, canvas->ascii));
  snprintf(text[2], sizeof text[2], "%s TFLOP/s %s", figure, estimate_word(estimate));
  int longest = 0;
  while (longest < 2 && col + utf8_columns(text[longest]) > end) longest++;
  return canvas_text(canvas, in, 0, col, STYLE_ESTIMATED, text[longest]);
}

// "clock 36.1 ±10 %" beside what was timed.
static void say_beside(const Session *session, char out[ESTIMATE_SAID_BYTES]) {
  const Estimate estimate = session_estimate(session, session->doc.now.picture->estimate);
  char figure[FMT_MAX], error[ESTIMATE_SAID_BYTES];
  out[0] = '\0';
  if (estimate.by)
    snprintf(out, ESTIMATE_SAID_BYTES, "%s %.12s %.16s", estimate_word(&estimate),
             fmt_figure(figure, estimate.tflops),
             estimate_error_said(error, &estimate, session->ascii));
}

// Draws the number; returns the column behind it.
static int draw_number(Canvas *canvas, Rect in, const Session *session, int limit_cols) {
  const Timed *timed = results_find(&session->background.results, &session->doc.now.schedule);
  if (!timed) {
    const Estimate estimate = session_estimate(session, session->doc.now.picture->estimate);
    const int col = draw_estimated_a(canvas, in, session, estimate.by);
    return draw_estimated(canvas, in, col, in.cols - limit_cols - GAP, &estimate);
  }
  char beside[ESTIMATE_SAID_BYTES];
  int col = draw_timed(canvas, in, session, timed);
  if (!timed->ok) return col;
  say_beside(session, beside);
  if (col + 2 * GAP + utf8_columns(beside) + limit_cols > in.cols) return col;
  return canvas_text(canvas, in, 0, col + GAP, STYLE_ESTIMATED, beside);
}

void explore_draw_headline(Canvas *canvas, Rect in, const Session *session) {
  enum { WIDE = 100 };
  const Explore *explore = session->prepared;
  const char *limit = in.cols < WIDE ? explore->limit_brief : explore->limit;
  const char *cause = in.rows > 1 ? explore->cause : "";
  int begin = in.cols - utf8_columns(limit) - 1;
  const int cause_begin = in.cols - utf8_columns(cause) - 1;
  if (cause_begin < begin && cause_begin > 1) begin = cause_begin;
  const int end = draw_number(canvas, in, session, in.cols - begin);
  if (end + 2 > begin) begin = end + 2;
  if (begin + utf8_columns(limit) <= in.cols)
    canvas_text(canvas, in, 0, begin, STYLE_ACCENT, limit);
  if (*cause && cause_begin > 0)
    canvas_text(canvas, in, 1, begin < cause_begin ? begin : cause_begin, STYLE_TEXT, cause);
}

// ---- where it is from ---------------------------------------------------------------------------

// "recorded, NVIDIA H200, 2026-11-22"; on a narrow screen the clock's number, which has no room
// above: "recorded; clock 36.1 ±10 %".
static void draw_timed_where(Canvas *canvas, Rect in, const Session *session, const Timed *timed) {
  enum { WIDE = 100 };
  char beside[ESTIMATE_SAID_BYTES];
  int col = canvas_text(canvas, in, 0, 1, measure_origin_style(timed->origin), results_said(timed));
  if (timed->by) col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, " by %s", timed->by);
  say_beside(session, beside);
  if (*beside && session->cols < WIDE) {
    col = canvas_text(canvas, in, 0, col, STYLE_DIM, "; ");
    canvas_fit(canvas, in, 0, col, in.cols - col, ALIGN_LEFT, STYLE_ESTIMATED, beside);
    return;
  }
  if (timed->gpu) col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, ", %s", timed->gpu);
  if (timed->date) col = canvas_printf(canvas, in, 0, col, STYLE_DIM, ", %.10s", timed->date);
  if (timed->turns && col + 2 + (int)strlen(timed->turns) <= in.cols)
    canvas_printf(canvas, in, 0, col, STYLE_DIM, ", %s", timed->turns);
}

// "no record; rung 6 is 1 knob off"
static void draw_nearest(Canvas *canvas, Rect in, const Session *session) {
  int distance, rung = 0;
  const Timed *nearest =
      results_nearest(&session->background.results, &session->doc.now.schedule, &distance);
  if (!nearest) {
    bool nowhere = session->background.worker.gpu_error[0] || !session->background.worker.present;
    char name[KEY_PRINT_MAX];
    Key key = keymap_key(session->keymap, "explore", "bench");
    int col = canvas_text(canvas, in, 0, 1, STYLE_DIM, "never timed; ");
    if (nowhere)
      canvas_text(canvas, in, 0, col, STYLE_DIM, "there is no GPU here");
    else if (key != KEY_NONE)
      canvas_printf(canvas, in, 0, col, STYLE_DIM, "%s times it", key_print(key, name));
    return;
  }
  while (rung < session->doc.ladder->n_rungs &&
         !schedule_same(&session->doc.ladder->rung[rung].schedule, &nearest->schedule))
    rung++;
  char name[24] = "the nearest", text[64];
  if (rung < session->doc.ladder->n_rungs) snprintf(name, sizeof name, "rung %d", rung);
  snprintf(text, sizeof text, "no record; %s is %d knob%s off", name, distance, plural_s(distance));
  canvas_fit(canvas, in, 0, 1, in.cols - 1, ALIGN_LEFT, STYLE_DIM, text);
}

static void draw_where(Canvas *canvas, Rect in, const Session *session) {
  const Timed *timed = results_find(&session->background.results, &session->doc.now.schedule);
  if (timed && !timed->ok)
    canvas_fit(canvas, in, 0, 1, in.cols - 1, ALIGN_LEFT, STYLE_TEXT,
               timed->error ? timed->error : "");
  else if (timed)
    draw_timed_where(canvas, in, session, timed);
  else if (session->background.worker.line[0])
    canvas_fit(canvas, in, 0, 1, in.cols - 1, ALIGN_LEFT, STYLE_DIM,
               session->background.worker.line);
  else
    draw_nearest(canvas, in, session);
}

void explore_draw_speed(Canvas *canvas, Rect in, const Session *session) {
  draw_where(canvas, rect_take_top(&in, 1), session);
  explore_draw_strip(canvas, in, session);
}
