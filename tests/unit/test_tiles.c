// The grid and tiles views by mouse and key: what a click chooses, what a second one opens, that
// numbers follow edits and undo, and that both sides of a comparison are their own.
#include "tui/frame/explorer.h"
#include "tui/views/places/tiles.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/program.h"
#include "model/ir/role.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/pins.h"
#include "tui/views/places/grid_view.h"
#include "tui/views/program/explore.h"

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  canvas = canvas_new(arena, 40, 100, false);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static void keys(const char *text) {
  ck_assert_msg(drive_keys(session, canvas, text, &diags), "%s", diags_text(arena, &diags));
}

static void show(const char *view) {
  view_show(session, view_find(view));
  drive_frame(session, canvas);
}

static bool sees(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

// Presses the middle of the nth spot of that kind.
static void click(int what, int nth) {
  for (int i = 0; i < canvas->n_spots; i++) {
    const Spot *spot = &canvas->spots[i];
    if (spot->what != what || nth-- > 0) continue;
    Event event = {.kind = EVENT_MOUSE,
                   .mouse = MOUSE_PRESS,
                   .button = 1,
                   .row = spot->area.row + spot->area.rows / 2,
                   .col = spot->area.col + spot->area.cols / 2};
    ck_assert(drive_event(session, canvas, &event, &diags));
    return;
  }
  ck_abort_msg("no such spot");
}

static int count_spots(int what) {
  int n = 0;
  for (int i = 0; i < canvas->n_spots; i++) n += canvas->spots[i].what == what;
  return n;
}

START_TEST(grid_clicks) {
  show("grid");
  click(GRID_SPOT_SPAN, GRID_SPAN_WAVE);
  ck_assert(sees("wave 1/4"));
  ck_assert_int_gt(count_spots(GRID_SPOT_CELL), 100);
  click(GRID_SPOT_CELL, count_spots(GRID_SPOT_CELL) - 1);
  ck_assert(sees("wave 4/4"));
  ck_assert(strstr(session->prompt.message, "wave 4: tile (") != NULL);
  keys("Enter");
  ck_assert_str_eq(view_table[session->at.view].name, "tiles");
  ck_assert_int_eq(tiles_chosen(session)->level, 1);
  ck_assert_int_eq(tiles_of(session)->at.i, 792 / 32 * 128);
  ck_assert_int_eq(tiles_of(session)->at.j, 792 % 32 * 128);
}
END_TEST

// A click chooses a tile, a second one goes into it, and so on down to the element.
START_TEST(tiles_clicks_lead_down) {
  show("tiles");
  click(TILES_SPOT_CELL, count_spots(TILES_SPOT_CELL) - 1);
  TraceAt at = tiles_of(session)->at;
  ck_assert_int_gt(at.i, 2048);
  ck_assert_int_gt(at.j, 2048);
  ck_assert_int_eq(tiles_chosen(session)->level, 0);
  click(TILES_SPOT_CELL, count_spots(TILES_SPOT_CELL) - 1);
  ck_assert_int_eq(tiles_chosen(session)->level, 1);
  for (int level = 1; level < TILES_LEVELS; level++) {
    int last = count_spots(TILES_SPOT_CELL) - 1;
    click(TILES_SPOT_CELL, last);
    if (tiles_chosen(session)->level == level) click(TILES_SPOT_CELL, last);
    ck_assert_int_eq(tiles_chosen(session)->level, level + 1 < TILES_LEVELS ? level + 1 : level);
  }
  const TilesSide *side = &tiles_of(session)->side[1];
  ck_assert_int_eq(side->at.i / 128, at.i / 128);
  ck_assert_int_eq(side->at.i % 128, 127);
  ck_assert_int_eq(side->at.j % 128, 127);
  ck_assert_int_eq(side->owner.thread, 255);
  ck_assert_int_eq(side->owner.value, 63);
  click(TILES_SPOT_LEVEL, 0);
  ck_assert_int_eq(tiles_chosen(session)->level, 0);
  click(TILES_SPOT_K, 0);
  ck_assert_int_lt(tiles_of(session)->at.k, 4096);
}
END_TEST

// Every place of an old program is gone with it: found by pressing u at random.
START_TEST(traces_follow_edits_and_undo) {
  show("tiles");
  ck_assert(view_run(session, "element", "C[0][0]"));
  ck_assert(view_run(session, "element", "A[130][21]"));
  drive_frame(session, canvas);
  ck_assert(sees("acc[2, 0]"));
  session_set_knob(session, KNOB_FM, 4);
  drive_frame(session, canvas);
  ck_assert(!sees("acc[2, 0], ") && sees("C[130][0]"));
  int thread = tiles_of(session)->side[1].owner.thread;
  ck_assert_int_eq(thread, (130 % 64) / 4 * 16);
  for (int i = 0; i < 6; i++) {
    ck_assert(i % 2 ? session_redo(session) : session_undo(session));
    drive_frame(session, canvas);
    const TilesSide *side = &tiles_of(session)->side[1];
    ck_assert_ptr_eq(side->model, session_model(session));
    ck_assert_int_eq(side->owner.thread, i % 2 ? thread : 130 % 128 / 8 * 16);
    ck_assert_ptr_eq(side->trace[ATOM_C].move[0].from.buffer,
                     program_buffer(session_model(session)->program, ROLE_ACC));
  }
}
END_TEST

START_TEST(comparison_has_two_orders) {
  show("grid");
  keys("o");
  ck_assert(session->doc.comparing);
  ck_assert_int_eq(session->doc.then.picture->model->schedule.value[KNOB_GROUP_M], 8);
  ck_assert_int_eq(session_model(session)->schedule.value[KNOB_GROUP_M], 1);
  ck_assert(sees("18 MiB  30 %") && sees("66 MiB 110 %"));
  show("tiles");
  ck_assert(view_run(session, "element", "C[0][130]"));
  drive_frame(session, canvas);
  ck_assert_int_eq(tiles_of(session)->side[0].cta.index, 8);
  ck_assert_int_eq(tiles_of(session)->side[1].cta.index, 1);
  keys("C");
  ck_assert_int_eq(tiles_of(session)->side[0].cta.index, 1);
  ck_assert_int_eq(tiles_of(session)->side[1].cta.index, 8);
  keys("Esc");
  ck_assert(!session->doc.comparing);
}
END_TEST

// A canvas has places for so many clicks; the footer's come last and must be among them.
START_TEST(clicks_leave_room_for_the_footer) {
  static const char *const states[] = {"M=4096", "M=128,N=128,K=65536,SPLITK=512"};
  static const struct { int rows, cols; } sizes[] = {{24, 80}, {40, 120}, {60, 200}, {120, 250}};
  ck_assert(session_set_text(session, states[_i], &diags));
  for (int s = 0; s < 4; s++)
    for (int comparing = 0; comparing < 2; comparing++)
      for (int level = 0; level <= TILES_LEVELS; level++) {
        show(level ? "tiles" : "grid");
        if (level) tiles_chosen(session)->level = level - 1;
        session_compare_off(session);
        if (comparing) session_compare(session, NULL, NULL);
        canvas_resize(canvas, sizes[s].rows, sizes[s].cols);
        drive_frame(session, canvas);
        ck_assert_int_lt(canvas->n_spots, CANVAS_SPOTS);
        ck_assert_int_eq(canvas->spots[canvas->n_spots - 1].what, SPOT_ACTION);
      }
}
END_TEST

// The loop that is selected in the nest decides what stands out when the tiles come up; a statement
// of no tier leaves the picture as it was.
START_TEST(selected_loop_lights_its_tile) {
  static const struct {
    NestGroup group;
    int level;
  } loops[] = {{NEST_THREAD, 2}, {NEST_BLOCK, 0}, {NEST_REGISTER, 3}, {NEST_SERIAL, 3}};
  show("explore");
  keys("Tab");
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
    show("explore");
    const Nest *nest = explore_nest(session);
    int row = 0;
    while (row < nest->n_rows && nest->row[row].group != loops[i].group) row++;
    ck_assert_int_lt(row, nest->n_rows);
    ck_assert_int_eq(session_view_state(session)->pane, 1);
    session_view_state(session)->cursor = row;
    keys("9");
    ck_assert_int_eq(tiles_chosen(session)->level, loops[i].level);
  }
}
END_TEST

// Where a character is several tiles the legend says how many, and the marks of the next CTAs begin
// behind the one at hand, though some of its character's rows are computed later.
START_TEST(a_character_of_several_tiles) {
  ck_assert(session_go_ladder(session, "hopper", &diags));
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "roles", &diags));
  canvas_resize(canvas, 24, 80);
  show("tiles");
  ck_assert_msg(sees("A character of C: 4 × 2 tiles"), "%s", export_text(arena, canvas));
  ck_assert_msg(sees(" ▓▓▓▓▓▓C123456789"), "%s", export_text(arena, canvas));
  ck_assert(sees(" abcdefghijklmnop"));
  keys("Enter");
  ck_assert_msg(sees("A character of C: 16 × 8 elements"), "%s", export_text(arena, canvas));
  ck_assert(session_set_text(session, "M=1024,N=1024", &diags));
  tiles_chosen(session)->level = 0;
  show("tiles");
  ck_assert_msg(!sees("A character"), "%s", export_text(arena, canvas));
}
END_TEST

// The last element of every rung at 80 columns: its sentences are the longest, and end in words.
START_TEST(sentences_are_whole_at_80_columns) {
  static const char *const ladders[] = {"fp32", "hgemm", "tf32"};
  unsetenv("GEMMVIEW_DATA");
  Canvas *small = canvas_new(arena, 24, 80, false);
  for (size_t l = 0; l < sizeof ladders / sizeof *ladders; l++)
    for (int rung = 0; rung < 6; rung++) {
      const SessionOptions options = {.ladder = ladders[l],
                                      .rung = arena_printf(arena, "%d", rung)};
      Session *other = explorer_open(&options, &diags);
      ck_assert(other != NULL);
      tiles_of(other)->at = (TraceAt){INT32_MAX, INT32_MAX, INT32_MAX, 0};
      view_show(other, view_find("tiles"));
      drive_frame(other, small);
      const char *screen = export_text(arena, small), *text = strstr(screen, "\n C[");
      ck_assert_msg(text && !strstr(text, "…"), "%s", screen);
      explorer_close(other);
    }
}
END_TEST

// There is something to see: a tile amid the others, its panels across A and B, who comes next.
START_TEST(opens_amid_the_tiles) {
  canvas_resize(canvas, 40, 120);
  show("tiles");
  ck_assert_int_eq(tiles_of(session)->at.i, 12 * 128);
  ck_assert_int_eq(tiles_of(session)->at.j, 12 * 128);
  ck_assert_int_eq(tiles_of(session)->at.k, 2048);
  ck_assert(sees("▓▓▓▓C123456789abcdef"));
  ck_assert(sees("░░▒▒▒▒") || sees("▒▒A▒▒"));
  ck_assert(sees("CTA 396 of 1024, launched in wave 2 of 4"));
  ck_assert(sees("1 a  the next CTAs: 1-9, a-z"));
  ck_assert(!sees("·····"));
}
END_TEST

// In groups of eight rows the order goes down; a character of this picture is two rows of tiles.
START_TEST(the_order_has_a_shape) {
  canvas_resize(canvas, 40, 120);
  session_set_knob(session, KNOB_GROUP_M, 8);
  show("tiles");
  ck_assert_int_eq(tiles_of(session)->side[1].cta.index, 256 + 12 * 8 + 4);
  ck_assert(sees("▓▓26aei"));
  ck_assert(sees("▓▓37bfj"));
  ck_assert(sees("▓C48cgk"));
  ck_assert(sees("▓159dhl"));
}
END_TEST

static int cells_of(Style style) {
  int n = 0;
  for (int i = 0; i < canvas->rows * canvas->cols; i++) n += canvas->cells[i].style == style;
  return n;
}

// On a large screen every wave has a colour beside its digit, and the legend says which and whose.
START_TEST(waves_have_colours_where_there_is_room) {
  canvas_resize(canvas, 24, 80);
  show("grid");
  ck_assert_int_eq(cells_of(style_address(1)), 0);
  canvas_resize(canvas, 40, 120);
  pins_none(session);
  drive_frame(session, canvas);
  for (int wave = 0; wave < 4; wave++) ck_assert_int_gt(cells_of(style_address(wave)), 100);
  ck_assert(sees(" 1  0–263 "));
  ck_assert(sees(" 4  792–1023 "));
  keys("v");
  ck_assert_int_eq(cells_of(style_address(1)), 0);
  canvas_resize(canvas, 30, 100);
  keys("v");
  ck_assert_int_gt(cells_of(style_address(1)), 100);
  ck_assert(view_run(session, "waves", "off"));
  drive_frame(session, canvas);
  ck_assert_int_eq(cells_of(style_address(1)), 0);
}
END_TEST

static int characters_of(const char *glyph) {
  int n = 0;
  for (const char *at = export_text(arena, canvas); (at = strstr(at, glyph)) != NULL; at++) n++;
  return n;
}

// S = Q·K, and with p the same cell as an element of P in O = P·V; keys that a query must not see
// are dots.
START_TEST(two_products_and_what_is_hidden) {
  explorer_close(session);
  session = explorer_open(&(SessionOptions){.ladder = "attention", .rung = "eager_kv"}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  canvas_resize(canvas, 40, 120);
  ck_assert(session_set_text(session, "M=512,N=512", &diags));
  show("tiles");
  ck_assert(sees("S[192][192]"));
  ck_assert(sees("K[64][192]"));
  ck_assert(sees("the block of keys at hand"));
  ck_assert_int_lt(characters_of("·"), 10);
  ck_assert(session_set_text(session, "CAUSAL=1", &diags));
  drive_frame(session, canvas);
  ck_assert_int_gt(characters_of("·"), 100);
  ck_assert(sees("hidden from its queries"));
  ck_assert(view_run(session, "element", "S[65][66]"));
  drive_frame(session, canvas);
  ck_assert(sees("hidden from this query"));
  keys("p");
  ck_assert(sees("P[65][66]"));
  ck_assert(sees("← exp2 of S_f["));
  ck_assert(view_run(session, "element", "K 3 500"));
  drive_frame(session, canvas);
  ck_assert(sees("S[65][500]"));
  ck_assert(view_run(session, "element", "O 3 500"));
  ck_assert(strstr(session->prompt.message, "O has 512 rows and 128 columns; nearest: O[3][127]"));
  ck_assert(view_run(session, "element", "A 3 5"));
  ck_assert(strstr(session->prompt.message, "not an element"));
}
END_TEST

// Three kernels, scores and P in global memory: the last product alone is that of the grid.
START_TEST(products_of_other_kernels) {
  explorer_close(session);
  session = explorer_open(
      &(SessionOptions){.state = "PROGRAM=attention,HEADS=2,M=40,N=72,K=32,BM=4,BN=8"}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  show("tiles");
  ck_assert(sees("P["));
  keys("p");
  ck_assert(strstr(session->prompt.message, "an earlier kernel, scores"));
  keys("Enter Enter Enter e V Space 3 Space 4 Enter");
  ck_assert(sees("V[3][4]"));
}
END_TEST

Suite *suite_tiles(void);
Suite *suite_tiles(void) {
  Suite *suite = suite_create("tiles");
  TCase *tcase = tcase_create("tiles");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, grid_clicks);
  tcase_add_test(tcase, waves_have_colours_where_there_is_room);
  tcase_add_test(tcase, tiles_clicks_lead_down);
  tcase_add_test(tcase, opens_amid_the_tiles);
  tcase_add_test(tcase, the_order_has_a_shape);
  tcase_add_test(tcase, a_character_of_several_tiles);
  tcase_add_test(tcase, sentences_are_whole_at_80_columns);
  tcase_add_test(tcase, selected_loop_lights_its_tile);
  tcase_add_test(tcase, traces_follow_edits_and_undo);
  tcase_add_test(tcase, comparison_has_two_orders);
  tcase_add_test(tcase, two_products_and_what_is_hidden);
  tcase_add_test(tcase, products_of_other_kernels);
  tcase_add_loop_test(tcase, clicks_leave_room_for_the_footer, 0, 2);
  suite_add_tcase(suite, tcase);
  return suite;
}
