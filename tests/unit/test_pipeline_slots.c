// What slots hold, over all rungs: nothing is filled before its last read is proved over, products
// by descriptor read too, and the picture draws what the time line says, with signs that its legend
// has.
#include <check.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "property.h"
#include "stress.h"
#include "tui/canvas/export.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/pins.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

Suite *suite_pipeline_slots(void);

typedef void AskRung(const Ladder *ladder, const Rung *rung);

// Every rung of its own kind that there is; one in so many of them in `make test`.
static void ask_rungs(int one_in, AskRung *ask) {
  const EmbeddedList list = embed_list(property_data, "ladders/");
  Seen *kinds = NULL;
  int n = 0;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++) {
      if (ladder->rung[r].not_built || !property_is_new_kind(&kinds, &ladder->rung[r])) continue;
      if (stress_has_turn(n++, one_in)) ask(ladder, &ladder->rung[r]);
      arena_reset(property_arena);
    }
  }
  ck_assert_int_gt(n, 50);
}

// ---- the time line ------------------------------------------------------------------------------

// The hold that a slot has next; NULL: it is the last.
static const TimelineHold *next_hold(const Timeline *timeline, const TimelineHold *hold) {
  for (const TimelineHold *h = hold + 1; h < timeline->hold + timeline->n_holds; h++)
    if (h->ring == hold->ring && h->slot == hold->slot) return h;
  return NULL;
}

// What an event reads.
static const TimelineHold *hold_of(const Timeline *timeline, const TimelineEvent *e) {
  for (int i = 0; i < timeline->n_holds; i++) {
    const TimelineHold *h = &timeline->hold[i];
    if (h->ring == e->ring && h->slot == e->slot && h->read <= e->begin && h->over >= e->end)
      return h;
  }
  return NULL;
}

// A hold may begin before the turns that were left out, and be read behind them.
static bool same_slab(const Timeline *timeline, const TimelineHold *h, const TimelineEvent *e) {
  const TimelineCut *cut = &timeline->cut[0];
  const bool goes_on = timeline->n_cuts == 1 && h->asked < cut->at && e->begin >= cut->at;
  return h->slab + (goes_on ? cut->turns : 0) == e->slab;
}

static bool reads_shared(const Op *op) {
  return op_multiplies(op->kind) && op->src2.buffer && op->src2.buffer->space == SPACE_SHARED;
}

static void holds_are_sound(const Ladder *ladder, const Rung *rung) {
  const Model *model = model_build(property_arena, &property_targets, &rung->schedule);
  const Timeline *timeline = timeline_run(property_arena, model, NULL, &(TimelineOptions){0});
  for (int i = 0; i < timeline->n_holds; i++) {
    const TimelineHold *h = &timeline->hold[i], *next = next_hold(timeline, h);
    ck_assert_msg(h->asked <= h->landed && h->landed <= h->read && h->read < h->over,
                  "%s/%s: slot %d, slab %lld", ladder->name, rung->name, h->slot,
                  (long long)h->slab);
    if (next)
      ck_assert_msg(next->asked >= h->over,
                    "%s/%s: slot %d has slab %lld until %g, and %lld from %g on", ladder->name,
                    rung->name, h->slot, (long long)h->slab, h->over, (long long)next->slab,
                    next->asked);
  }
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (!reads_shared(&e->stmt->op)) continue;
    const TimelineHold *h = e->slot >= 0 ? hold_of(timeline, e) : NULL;
    ck_assert_msg(h && same_slab(timeline, h, e), "%s/%s: products of slab %lld in slot %d",
                  ladder->name, rung->name, (long long)e->slab, e->slot);
  }
}

START_TEST(a_slot_is_free_when_its_reads_are_over) { ask_rungs(1, holds_are_sound); }
END_TEST

// wgmma with one group in flight: the wait that proves a product over stands behind the next one.
START_TEST(a_product_reads_until_it_is_proved_over) {
  const Model *model = property_rung("hopper", "in_flight", "");
  const Timeline *timeline = timeline_run(property_arena, model, NULL, &(TimelineOptions){0});
  const TimelineHold *h = &timeline->hold[0];
  double first = INFINITY, last = 0, next = INFINITY;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (!reads_shared(&e->stmt->op) || e->slab > 1 || e->begin > h->over) continue;
    if (e->slab == 0) first = fmin(first, e->begin), last = fmax(last, e->end);
    if (e->slab == 1) next = fmin(next, e->begin);
  }
  ck_assert(h->read <= first && h->over >= last && h->over > next);
}
END_TEST

// ---- the picture --------------------------------------------------------------------------------

enum { LANES_ROW = 4, SIZES = 3 };
static const int sizes[SIZES][2] = {{24, 80}, {40, 120}, {50, 160}};

static Diags diags;
static Session *session;
static Canvas *canvas;

static const PipelineOwn *own(void) { return view_own(session, &pipeline_view); }

static void show(const Ladder *ladder, const Rung *rung, int size) {
  diags = diags_new(property_arena);
  session = explorer_open(&(SessionOptions){.ladder = ladder->name, .rung = rung->name}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(property_arena, &diags));
  canvas = canvas_new(property_arena, sizes[size][0], sizes[size][1], false);
  view_show(session, view_find("pipeline"));
  pins_none(session);
  drive_frame(session, canvas);
}

static bool is_border(int row) {
  const Cell *cell = canvas_cell(canvas, row, 0);
  return !cell || !strcmp(cell->text, "─") || (*cell->text == '-' && cell->style == STYLE_BORDER);
}

static const char *cell_at(int row, int col) {
  return canvas_cell(canvas, row, PIPELINE_LABEL_COLS + col)->text;
}

// In a column that a hold is read through stands its slab; where nothing is held, that it is free.
static void column_says(const char *name, const Lane *lane, int row, int col) {
  const Timeline *timeline = lane->timeline;
  const double from = own()->from + col * own()->scale, to = from + own()->scale;
  bool held = false, is_read = false;
  for (int i = 0; i < timeline->n_holds; i++) {
    const TimelineHold *h = &timeline->hold[i];
    if (h->ring != lane->ring || h->slot != lane->slot) continue;
    held = held || (h->asked < to && h->over > from);
    is_read = is_read || (h->read < to && h->over > from);
  }
  const char *shown = cell_at(row, col);
  if (!strcmp(shown, "┊")) return;
  ck_assert_msg(held || !strcmp(shown, "·"), "%s, column %d: \"%s\" where it is free", name, col,
                shown);
  ck_assert_msg(!is_read || strchr("0123456789abcdefghijklmnopqrstuvwxyz=", *shown),
                "%s, column %d: \"%s\" while it is read", name, col, shown);
}

static void slots_are_drawn(const Ladder *ladder, const Rung *rung) {
  for (int i = 0; i < own()->now.n && !is_border(LANES_ROW + i); i++) {
    const Lane *lane = &own()->now.lane[i];
    const char *name =
        arena_printf(property_arena, "%s/%s, %s", ladder->name, rung->name, lane->name);
    for (int col = 0; lane->kind == LANE_SLOT && col < canvas->cols - PIPELINE_LABEL_COLS; col++)
      column_says(name, lane, LANES_ROW + i, col);
  }
}

// ---- the legend ---------------------------------------------------------------------------------

static bool is_bar(const char *text) {
  uint32_t code = 0;
  utf8_decode(text, &code);
  return code >= 0x2581 && code <= 0x2588;
}

static bool is_address(Style style) {
  for (int i = 0; i < STYLE_ADDRESSES; i++)
    if (style == style_address(i)) return true;
  return style == STYLE_TEXT;
}

// What the legend must have for a cell of a lane; NULL: nothing, it is blank or of a name.
static const char *legend_of(const Cell *cell) {
  static const char *const glyphs[][2] = {
#define X(id, text, says) {text, text " " says},
      PIPELINE_SIGN_TABLE(X)
#undef X
  };
  const char *text = cell->text;
  if (!*text || *text == ' ') return NULL;
  for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++)
    if (!strcmp(text, glyphs[i][0])) return glyphs[i][1];
  if (is_bar(text)) return glyphs[SIGN_SHARE][1];
  if (cell->style == STYLE_BARRIER || cell->style == STYLE_BAD) return NULL;
  if (cell->style == style_over(STYLE_BARRIER, STYLE_CURSOR)) return NULL;
  if (is_address(cell->style) || isdigit(*text)) return glyphs[SIGN_SLAB][1];
  for (int kind = 0; kind < TIMELINE_KINDS; kind++)
    if (!strcmp(text, timeline_kind_letter((TimelineKind)kind)))
      return arena_printf(property_arena, "%s %s", text, timeline_kind_name((TimelineKind)kind));
  return "a sign that nobody knows";
}

// A sign in the legend is drawn somewhere.
static void legend_is_used(const char *name, const char *text, int end) {
  static const char *const glyphs[] = {"=", "░", "▒", "·", "┄", "┊"};
  for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++) {
    bool drawn = false;
    for (int row = LANES_ROW; row < end; row++)
      for (int col = 0; col < canvas->cols - PIPELINE_LABEL_COLS; col++)
        drawn = drawn || !strcmp(cell_at(row, col), glyphs[i]);
    const char *listed = strstr(text, arena_printf(property_arena, " %s ", glyphs[i]));
    ck_assert_msg(drawn || !listed, "%s: \"%s\" is in the legend, and nowhere else", name,
                  glyphs[i]);
  }
}

// The rows from the line below the lanes on that the legend takes, at the bottom.
static const char *legend_text(void) {
  Str text = str_new(property_arena);
  for (int row = canvas->rows - 3; row < canvas->rows - 1; row++)
    for (int col = 0; col < canvas->cols; col++)
      str_add(&text, canvas_cell(canvas, row, col)->text);
  return text.text;
}

static void legend_has_all(const Ladder *ladder, const Rung *rung) {
  const char *legend = legend_text();
  const char *name =
      arena_printf(property_arena, "%s/%s at %d columns", ladder->name, rung->name, canvas->cols);
  int row = LANES_ROW;
  for (; !is_border(row); row++)
    for (int col = 0; col < canvas->cols - PIPELINE_LABEL_COLS; col++) {
      const char *wanted = legend_of(canvas_cell(canvas, row, PIPELINE_LABEL_COLS + col));
      ck_assert_msg(!wanted || strstr(legend, wanted), "%s, row %d, column %d: no \"%s\" in\n%s",
                    name, row, col, wanted, legend);
    }
  legend_is_used(name, legend, row);
}

static void picture_is_sound(const Ladder *ladder, const Rung *rung) {
  for (int size = 0; size < SIZES; size++) {
    show(ladder, rung, size);
    if (size == 1) slots_are_drawn(ladder, rung);
    legend_has_all(ladder, rung);
    explorer_close(session);
  }
}

START_TEST(a_slot_is_drawn_as_it_is_and_the_legend_has_every_sign) {
  ask_rungs(3, picture_is_sound);
}
END_TEST

// In ASCII too each sign of a row of slots is a sign of its own.
START_TEST(ascii_tells_signs_apart) {
  static const Glyph signs[] = {GLYPH_SHADE_LIGHT,  GLYPH_SHADE_MEDIUM, GLYPH_MIDDLE_DOT,
                                GLYPH_VLINE_DOTTED, GLYPH_HLINE_DOTTED, GLYPH_BAR_2,
                                GLYPH_BAR_3};
  enum { N = sizeof signs / sizeof *signs };
  for (int i = 0; i < N; i++)
    for (int k = 0; k < i; k++)
      ck_assert_str_ne(glyph_text(signs[i], true), glyph_text(signs[k], true));
}
END_TEST

// Blocks of keys are counted, of K and of V.
START_TEST(blocks_of_keys_have_numbers) {
  const Model *model = property_rung("attention", "three_groups", "");
  const Timeline *timeline = timeline_run(property_arena, model, NULL, &(TimelineOptions){0});
  int64_t most = 0;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->kind == TIMELINE_MULTIPLY) ck_assert_int_ge(e->slab, 0);
    if (e->kind == TIMELINE_MULTIPLY && e->slab > most) most = e->slab;
  }
  ck_assert_int_eq(most, 31);
  ck_assert_int_eq(timeline->n_rings, 3);
}
END_TEST

Suite *suite_pipeline_slots(void) {
  Suite *suite = suite_create("pipeline_slots");
  TCase *tests = tcase_create("pipeline_slots");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_set_timeout(tests, 300);
  tcase_add_test(tests, a_slot_is_free_when_its_reads_are_over);
  tcase_add_test(tests, a_product_reads_until_it_is_proved_over);
  tcase_add_test(tests, a_slot_is_drawn_as_it_is_and_the_legend_has_every_sign);
  tcase_add_test(tests, ascii_tells_signs_apart);
  tcase_add_test(tests, blocks_of_keys_have_numbers);
  suite_add_tcase(suite, tests);
  return suite;
}
