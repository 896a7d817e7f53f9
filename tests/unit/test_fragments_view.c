// The fragments view where there is room for the whole instruction: A left, B above, C at their
// corner, and one lane in all three.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "model/words/fragment.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette.h"
#include "tui/frame/pins.h"
#include "tui/frame/view.h"

Suite *suite_fragments_view(void);

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_ptr_nonnull(session);
  canvas = canvas_new(arena, 40, 120, false);
  view_show(session, view_find("fragments"));
  drive_frame(session, canvas);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static void run(const char *line) {
  ck_assert_msg(palette_run(session, line, &diags), "%s", line);
  drive_frame(session, canvas);
}

static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

// Cells of the grids that the chosen lane holds.
static int cells_held(void) {
  int n = 0;
  for (int i = 0; i < canvas->n_spots; i++) {
    const Rect *area = &canvas->spots[i].area;
    const Cell *cell = canvas_cell(canvas, area->row, area->col + 1);
    n += canvas->spots[i].what >= SPOT_VIEW && cell && cell->style >> 8 == STYLE_HELD;
  }
  return n;
}

START_TEST(one_lane_in_all_three) {
  run("atom m16n8k16.f16");
  run("lane 14");
  ck_assert(shows("A, lane 14       B, lane 14       C, lane 14"));
  ck_assert(shows("m×n") && shows("k×n"));
  ck_assert_int_eq(cells_held(), 4 + 4 + 2);  // pairs of A and C, elements of B
  drive_keys(session, canvas, "Tab", &diags);
  ck_assert_int_eq(session_view_state(session)->pane, ATOM_B);
  canvas_resize(canvas, 24, 80);
  drive_frame(session, canvas);
  ck_assert(!shows("C, lane"));
}
END_TEST

// A click on another operand makes it the one with the keys.
// Enter leads from an element of a fragment to its byte in shared memory; a kernel that multiplies
// by something else says so.
START_TEST(an_element_leads_to_its_slab) {
  run("atom m16n8k16.f16");
  drive_keys(session, canvas, "Enter", &diags);
  ck_assert(shows("this kernel has no such fragment: it multiplies on plain FMA"));
  ck_assert_int_eq(session->at.view, view_find("fragments"));
  run("state ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,LDMATRIX=2,SWIZZLE=3");
  run("fragments");
  run("element 5,3");
  drive_keys(session, canvas, "Enter", &diags);
  ck_assert_int_eq(session->at.view, view_find("tiles"));
  ck_assert_msg(shows("A[5][3]") && shows("warp 0 lane 21: a[0, 1], r0 high") &&
                    shows("A_s[0, 5, 3] byte 726 bank 21"),
                "%.1200s", export_text(arena, canvas));
}
END_TEST

START_TEST(a_click_chooses_operand_and_element) {
  run("atom m16n8k16.f16");
  const Spot *spot = NULL;
  for (int i = 0; i < canvas->n_spots; i++)
    if (canvas->spots[i].what >= SPOT_VIEW) spot = &canvas->spots[i];
  ck_assert_ptr_nonnull(spot);
  Event click = {
      .kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .row = spot->area.row, .col = spot->area.col};
  view_mouse(session, canvas, &click);
  ck_assert_int_eq(session_view_state(session)->pane, ATOM_C);
  drive_frame(session, canvas);
  ck_assert(shows("C[15][6] is value 2 of lane 31"));
}
END_TEST

// Every atom at every size at which the instruction is drawn: all elements of what fits, and the
// lane's cells in sight in each operand that registers hold; of tensor memory the cursor is on its
// one.
// Of a pair of CTAs the instruction is another one, though each CTA's lanes hold its rows alike.
START_TEST(a_pair_multiplies_by_its_own_instruction) {
  unsetenv("GEMMVIEW_DATA");
  static const char *const rung[] = {"roles", "pair"}, *const group[] = {"group::1", "group::2"};
  for (int i = 0; i < 2; i++) {
    explorer_close(session);
    session = explorer_open(&(SessionOptions){.ladder = "blackwell", .rung = rung[i]}, &diags);
    ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
    view_show(session, view_find("fragments"));
    drive_frame(session, canvas);
    ck_assert(shows(group[i]));
    ck_assert(!shows(group[!i]));
  }
}
END_TEST

START_TEST(every_atom_fits_or_scrolls) {
  static const int sizes[][2] = {{40, 120}, {60, 200}};
  for (int s = 0; s < 2; s++) {
    canvas_resize(canvas, sizes[s][0], sizes[s][1]);
    pins_none(session);
    for (int i = 0; i < atom_count; i++) {
      view_run(session, "atom", atom_table[i].name);
      view_run(session, "lane", "29");
      session->prompt.message[0] = '\0';  // that a lane holds nothing takes a row
      drive_frame(session, canvas);
      const FragmentMap map = fragment_map(&atom_table[i], ATOM_C);
      ck_assert_msg(shows(map.idle_lanes ? "C, lane 13" : "C, lane 29"), "%s", atom_table[i].name);
      ck_assert_int_ge(cells_held(), atom_is_of_thread(&atom_table[i])  ? 0
                                     : atom_reads_tiles(&atom_table[i]) ? 2
                                                                        : 3);
    }
  }
}
END_TEST

Suite *suite_fragments_view(void) {
  Suite *suite = suite_create("fragments_view");
  TCase *tcase = tcase_create("fragments_view");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, one_lane_in_all_three);
  tcase_add_test(tcase, an_element_leads_to_its_slab);
  tcase_add_test(tcase, a_click_chooses_operand_and_element);
  tcase_add_test(tcase, a_pair_multiplies_by_its_own_instruction);
  tcase_add_test(tcase, every_atom_fits_or_scrolls);
  suite_add_tcase(suite, tcase);
  return suite;
}
