// The explore view while a person turns knobs: what changed is marked and fades, a row of the nest
// lights its lines of CUDA, an illegal knob is mended by one key, the footer keeps the way out.
#include "tui/frame/explorer.h"
#include "tui/views/program/explore.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/stmt.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/pins.h"
#include "tui/frame/view.h"
#include "tui/views/memory/bank_card.h"

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
  drive_frame(session, canvas);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static void keys(const char *names) {
  ck_assert_msg(drive_keys(session, canvas, names, &diags), "%s", names);
}

static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

static int cells_of(StyleRole role) {
  int n = 0;
  for (int i = 0; i < canvas->rows * canvas->cols; i++)
    n += (canvas->cells[i].style & 0xFF) == role || canvas->cells[i].style >> 8 == role;
  return n;
}

// Blocks that share a tile are no tiles of their own.
START_TEST(tiles_are_those_of_c) {
  explorer_close(session);
  const char *state = "M=128,N=128,K=16384,BM=16,BN=16,FM=2,FN=2,BK=32,STAGE=11,SPLITK=8";
  session = explorer_open(&(SessionOptions){.state = state}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  drive_frame(session, canvas);
  ck_assert(shows("16 tiles 32×32 × 8 splits"));
  ck_assert(shows("C ← zero"));
  keys(": S P L I T K = 1 Enter");
  ck_assert(shows("16 tiles 32×32 "));
  ck_assert(!shows("splits"));
}
END_TEST

// The card is that of b <- B_s: 8 wavefronts, 4 with groups of cells.
START_TEST(a_change_is_marked_and_fades) {
  keys(": C E L L _ G R O U P = 4 Enter");
  ck_assert(shows("8 → 4 wavefronts, ideal 4"));
  ck_assert(shows("shared 11.5→7.50"));
  int bright = cells_of(STYLE_CHANGED);
  keys("Ctrl-L");  // a key that does nothing
  ck_assert(shows("8 → 4 wavefronts, ideal 4"));
  int faded = cells_of(STYLE_CHANGED);
  ck_assert_int_lt(faded, bright);
  keys("Ctrl-L");
  ck_assert(!shows("8 → 4"));
  ck_assert(!shows("2752→1728"));
  ck_assert(!shows("LAST CHANGE"));
  ck_assert(shows("4 wavefronts, ideal 4"));
  keys("u");  // what is undone is a change too
  ck_assert(shows("4 → 8 wavefronts, ideal 4"));
}
END_TEST

START_TEST(what_an_illegal_knob_leaves_is_not_a_change) {
  keys("F12 F12 l l l l l l l l");
  ck_assert(session->doc.now.reasons != NULL);
  ck_assert(shows("not legal"));
  char *fix = arena_strdup(arena, session->doc.fix_text);
  ck_assert(shows(fix));
  keys("f");
  ck_assert(session->doc.now.reasons == NULL);
  ck_assert(strstr(session_state_text(arena, session), fix) != NULL);
}
END_TEST

// A neighbour that is not legal says why, with numbers, not by the name of a rule.
START_TEST(an_illegal_neighbour_says_why) {
  keys("F12 F12 : l a d d e r Space h o p p e r Enter : r u n g Space c o n s u m e r s Enter");
  keys("K F M Enter");
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  ck_assert_msg(shows("2: illegal: FM=2, FN=1, ATOM_N=256: 256 registers"), "%.1200s",
                export_text(arena, canvas));
}
END_TEST

// At 80 columns too the sentence is there to its end.
START_TEST(a_reason_is_whole) {
  canvas_resize(canvas, 24, 80);
  keys(": B M = 1 0 2 4 , B N = 6 4 Enter");
  ck_assert(session->doc.now.reasons != NULL);
  const char *end = strrchr(session->doc.now.reasons->first->text, ' ');
  ck_assert_msg(shows(end + 1), "%.1200s", export_text(arena, canvas));
  ck_assert_str_eq(end, " h200");
  ck_assert(shows("65536 threads in a block"));
}
END_TEST

// Whoever presses the key before the idle moments have judged every neighbour gets the same advice.
START_TEST(advice_does_not_depend_on_idle_moments) {
  static const char *const before[] = {"a", "F12 a"};
  for (int waits = 0; waits < 2; waits++) {
    session_go_rung(session, ladder_find_rung(session->doc.ladder, "padded", &diags));
    drive_frame(session, canvas);
    while (waits && session_idle(session)) {
    }
    keys(before[waits]);
    ck_assert_msg(shows("CELL_GROUP 4"), "%.1200s", export_text(arena, canvas));
    ck_assert(!shows("no single change"));
    keys("u");
  }
  session->at.knob = KNOB_BM;
  keys("l l l l l l l l a");
  ck_assert(session->doc.now.reasons != NULL);
  ck_assert(shows("not legal f: BM="));
  ck_assert(!shows("no single change"));
}
END_TEST

static int col_of(const char *row, const char *text) {
  const char *at = strstr(row, text);
  int cols = 0;
  for (; at && row < at; row++) cols += (*row & 0xC0) != 0x80;
  return at ? cols : -1;
}

START_TEST(the_arrows_of_a_knob_can_be_clicked) {
  for (int up = 0; up < 2; up++) {
    int row = 0, col = -1;
    for (; col < 0 && row < canvas->rows; row++)
      col = col_of(export_row(arena, canvas, row), up ? "▶" : "◀");
    int64_t was = session->doc.now.schedule.value[KNOB_BM];
    Event click = {.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .row = row - 1, .col = col};
    ck_assert(drive_event(session, canvas, &click, &diags));
    ck_assert_int_eq(session->doc.now.schedule.value[KNOB_BM], up ? 2 * was : was / 2);
  }
}
END_TEST

// Not by colour alone: a changed row, an access that costs less, and a knob unlike its rung's have
// a mark; and what moved stands in LIMIT on a narrow screen too.
START_TEST(changes_are_marked_by_a_glyph) {
  keys("F12 : C E L L _ G R O U P = 4 Enter");
  ck_assert(shows("•│ ┊ b[8] ← B_s"));
  ck_assert(shows("LAST CHANGE"));
  keys("Down");
  ck_assert(shows("•CELL_GROUP 4"));
  ck_assert(!shows("•│"));
  session_go_ladder(session, "hgemm", &diags);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "ldmatrix", &diags));
  canvas_resize(canvas, 24, 80);
  drive_frame(session, canvas);
  keys("a");
  ck_assert_msg(shows("L2 1.01 … shared 4→0.50 clk/kFMA"), "%.1200s", export_text(arena, canvas));
  keys("c");
  ck_assert_msg(shows("free  A 32 → B 4 wavefronts\n"), "%.1200s", export_text(arena, canvas));
}
END_TEST

START_TEST(what_has_no_room_is_cut_between_words) {
  canvas_resize(canvas, 24, 80);
  ck_assert(
      session_compare(session, &session->doc.now.schedule, "the one with the interleaved loads"));
  drive_frame(session, canvas);
  const char *head = export_row(arena, canvas, 1);
  ck_assert_msg(strstr(head, " A = the one with the") && strstr(head, "…  B = rung 6 padded "),
                "%s", head);
  ck_assert_msg(strstr(head, "  4096³ f32") != NULL, "%s", head);
  canvas_resize(canvas, 24, 120);
  drive_frame(session, canvas);
  ck_assert(shows("A = the one with the interleaved loads  B = rung 6 padded "));
}
END_TEST

// A narrow screen says of both neighbours what matters most, a wide one all of it.
START_TEST(both_neighbours_have_room) {
  session->at.knob = KNOB_FN;
  session->at.arrived = false;  // the story of the rung was read
  while (session_idle(session)) {
  }
  keys("Ctrl-L");
  ck_assert(shows("registers 118 → "));
  canvas_resize(canvas, 24, 80);
  keys("Ctrl-L");
  int row = 0;
  while (row < 24 && !strstr(export_row(arena, canvas, row), " ◀ 7: stand-in")) row++;
  ck_assert_int_lt(row, 24);
  const char *line = export_row(arena, canvas, row);
  ck_assert_msg(strstr(line, "   ▶ 9: stand-in ") && !strstr(line, "…"), "%s", line);
  canvas_resize(canvas, 40, 120);
  session_go_ladder(session, "hgemm", &diags);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "ldmatrix", &diags));
  keys("Ctrl-L");  // what has a row left goes on there
  ck_assert_msg(shows("\n eight ways, so nothing is gained."), "%.1200s",
                export_text(arena, canvas));
}
END_TEST

// Under a lane stands how many more share its word, and the legend says so.
START_TEST(sharers_are_named) {
  canvas_resize(canvas, 30, 100);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "vectorized", &diags));
  session->at.site = 0;  // a store: nobody shares
  keys("Ctrl-L");
  ck_assert(shows("0-9 a-v = lane   w = 32 lanes") || shows("lanes\n"));
  while (!card_shares(&session->doc.now.picture->map[session->at.site])) session->at.site++;
  keys("Ctrl-L");
  ck_assert_msg(shows("0-9 a-v = lane, +n: n more share"), "%.1200s", export_text(arena, canvas));
}
END_TEST

// A figure without its unit is left out, marks that begin again say so, and one is not many.
START_TEST(a_huge_grid_stays_legible) {
  canvas_resize(canvas, 30, 100);
  keys("8 : M = 1 6 7 7 7 2 1 6 Enter");
  ck_assert_msg(shows("15888 waves of 264 = 132 SMs × 2\n"), "%.1200s", export_text(arena, canvas));
  ck_assert(shows("1-9 a-z wave, modulo 36 "));
  keys(": M = 1 Enter : N = 1 Enter");
  ck_assert_msg(shows("tail 1 CTA:"), "%.1200s", export_text(arena, canvas));
  ck_assert(!shows("modulo"));
}
END_TEST

// a <- A_s of four matrices, 8 wavefronts each: a folded one takes a row, a whole one eight. As
// many are whole as fit, in order.
START_TEST(phases_unfold_where_they_have_room) {
  session_go_ladder(session, "hgemm", &diags);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "ldmatrix", &diags));
  const BankMap *map = &session->doc.now.picture->map[2];
  ck_assert_int_eq(card_rows(map, -1), 1 + 32);
  for (int rows = 2; rows < 40; rows++) {
    Canvas *paper = canvas_new(arena, rows, CARD_COLS, false);
    int used = card_draw(paper, (Rect){0, 0, rows, CARD_COLS}, map, -1), whole = 0;
    ck_assert_int_le(used, rows);
    const char *text = export_text(arena, paper);
    for (const char *at = text; (at = strstr(at, "m")); at++) {
      const char *folded = strstr(at, "×"), *end = strchr(at, '\n');
      whole += at[2] == ' ' && (!folded || folded > end);
    }
    int most = rows < 12 ? (rows > 4) : 1 + (rows - 12) / 7;
    ck_assert_msg(whole == (most > 4 ? 4 : most), "%d rows:\n%s", rows, text);
  }
}
END_TEST

// In the loops the arrows turn the knob of the line and the cursor stays with it, so that right and
// left undo each other.
START_TEST(the_arrows_turn_the_knob_of_the_line) {
  int turned = 0;
  keys("Tab");
  const int n = explore_nest(session)->n_rows;
  for (int i = 0; i < n; i++) {
    ViewState *state = session_view_state(session);
    const Schedule before = session->doc.now.schedule;
    state->pane = 1;
    state->cursor = i;
    drive_frame(session, canvas);
    keys("Right");
    if (schedule_same(&before, &session->doc.now.schedule)) continue;
    const KnobId knob = session->at.knob;
    keys("Left");
    ck_assert_int_eq(session->at.knob, knob);
    ck_assert_msg(schedule_same(&before, &session->doc.now.schedule), "row %d, %s", i,
                  knob_table[knob].name);
    turned++;
  }
  ck_assert_int_gt(turned, 4);
}
END_TEST

// Nothing is advised that is estimated to reach less than what was timed already.
START_TEST(advice_beats_what_was_timed) {
  while (session_idle(session)) {
  }
  const Trial *best = explore_best(session);
  ck_assert_ptr_nonnull(best);
  BenchEntry entry = {
      .ok = true, .time = {.median_ns = 1e6}, .tflops = best->traffic.roofline_tflops};
  BenchResult bench = {.gpu = "Test GPU", .reference = {.tflops = 51, .name = "cublas"}};
  results_add_bench(&session->background.results, &session->doc.now.schedule, &entry, &bench);
  ck_assert_ptr_null(explore_best(session));
  drive_frame(session, canvas);
  ck_assert(!shows("try "));
}
END_TEST

// A time that a key press asked for is one of short turns, and says so.
START_TEST(short_turns_say_so) {
  BenchEntry entry = {.ok = true, .time = {.median_ns = 1e6}, .tflops = 30};
  BenchResult bench = {.gpu = "H200", .method = "short turns, cool: median of batches"};
  results_add_bench(&session->background.results, &session->doc.now.schedule, &entry, &bench);
  drive_frame(session, canvas);
  ck_assert_msg(shows("measured here, H200, short turns, cool"), "%.1200s",
                export_text(arena, canvas));
  bench.method = "hot: batches of 300 ms";
  results_add_bench(&session->background.results, &session->doc.now.schedule, &entry, &bench);
  keys("Ctrl-L");
  ck_assert_msg(shows("measured here, H200, hot"), "%.1200s", export_text(arena, canvas));
}
END_TEST

// A limit among what is known may not be the limit: what nobody states stands beside it.
START_TEST(an_unknown_limit_is_said) {
  session_go_ladder(session, "hgemm", &diags);
  keys("Ctrl-L");
  ck_assert(!shows(" ? clk"));
  keys(": T A R G E T = b 2 0 0 Enter");
  ck_assert_msg(shows(" · mma ? · L2 ? clk"), "%.1200s", export_text(arena, canvas));
}
END_TEST

// What has no room is folded to a line of counts, and counts are told from lanes.
START_TEST(counts_are_told_from_lanes) {
  session_go_ladder(session, "hgemm", &diags);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "ldmatrix", &diags));
  canvas_resize(canvas, 24, 80);
  drive_frame(session, canvas);
  ck_assert(shows("m2 ×8──····"));
  keys("Ctrl-L");  // the message goes, the legend has room
  ck_assert_msg(shows("×n = words a bank"), "%.1200s", export_text(arena, canvas));
  keys("a");
  ck_assert(shows("m2 88889999"));
  ck_assert(!shows("words a bank"));
}
END_TEST

// A|B in the views that draw one picture: the nest with what differs marked in its place, the slab
// as it lies in A, what each access costs in A.
START_TEST(a_beside_b_in_every_view) {
  session_go_ladder(session, "hgemm", &diags);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "swizzle", &diags));
  keys("c 2");
  ck_assert(shows("against rung 1 ldmatrix: +2 -2"));
  ck_assert(shows("- shared A_s [128 x 64] f16  16 KiB"));
  ck_assert(shows("for k_i in 0..4 STAGE_INNER"));
  keys("d h h");  // to the pass that swizzles: in the nest, then in CUDA
  ck_assert(shows("PASS 3 of 5  swizzle  SWIZZLE"));
  ck_assert(shows("+ shared A_s [128 x 64] f16  Swizzle<3,4,3>"));
  keys("d");
  ck_assert_msg(shows("PASS 3 of 5  swizzle  SWIZZLE  in CUDA: +12 -9"), "%.1200s",
                export_text(arena, canvas));
  ck_assert(shows("+   __shared__ __align__(1024) f16 smem[16384];"));
  keys("d 3");
  ck_assert(shows("share A wavef."));
  ck_assert(shows(" 50 %      32"));
  keys("7");
  ck_assert(shows("A none  B now swizzle:3,4,3"));
  ck_assert(shows("A_s <- A  LDGSTS.E.BYPASS.128 "));
  ck_assert(shows("A's layout  8 wavefronts "));
  ck_assert_msg(shows("now  1 wavefront "), "%.1200s", export_text(arena, canvas));
  keys("c");
  ck_assert(shows("no layout  8 wavefronts"));
  keys("Down");  // 128 executions: no room for the sentence, and no half of a number
  ck_assert(shows("lanes 0-7, run 1/128 "));
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "ldmatrix", &diags));
  keys("6 c");
  ck_assert(shows("16×16 m×k  the same in A"));
  keys("c : c o m p a r e Space A T O M _ K I N D = m m a _ m 1 6 n 8 k 8 _ f 1 6 Enter");
  ck_assert_msg(shows(" A  A B C of m16n8k8.f16.f16  16×8"), "%.1200s", export_text(arena, canvas));
  ck_assert(shows("│ B  A B C of m16n8k16.f16.f16  16×16"));
  canvas_resize(canvas, 24, 80);
  session_go_ladder(session, "fp32", &diags);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "cell_groups", &diags));
  keys("9 c c");
  ck_assert_msg(shows("lane 0 › acc[…"), "%.1200s", export_text(arena, canvas));
  keys("1");
  ck_assert_msg(shows("→ B 36 TFLOP/s recorded · 0.70 of cuBLAS "), "%.1200s",
                export_text(arena, canvas));
  ck_assert(!shows("cuBLA\n") && !shows("cuBL\n"));
}
END_TEST

START_TEST(half_a_formula_is_cut_visibly) {
  session_go_ladder(session, "hgemm", &diags);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "ldmatrix", &diags));
  keys("6 : c o m p a r e Space A T O M _ K I N D = m m a _ m 1 6 n 8 k 8 _ f 1 6 Enter");
  canvas_resize(canvas, 24, 80);
  keys("Ctrl-L");
  ck_assert_msg(shows("v = row / 8 * 2 + col % 2 + col / 8 *…"), "%.1200s",
                export_text(arena, canvas));
}
END_TEST

// Every row with a statement has lines; those of a loop are those of all that is inside it.
START_TEST(rows_light_their_lines) {
  static const char *const rungs[] = {"naive", "padded", "pipelined", "splitk_partials"};
  for (int r = 0; r < 4; r++) {
    session_go_rung(session, ladder_find_rung(session->doc.ladder, rungs[r], &diags));
    drive_frame(session, canvas);
    const Nest *nest = explore_nest(session);
    int n_lit = 0;
    for (int i = 0; i < nest->n_rows; i++) {
      SourcePart part = source_part(session, &nest->row[i]);
      n_lit += part.n > 0;
      ck_assert_int_le(part.n, part.n_all);
      for (int l = 1; l < part.n; l++)
        ck_assert_int_gt(part.line[l].number, part.line[l - 1].number);
      bool loop = nest->row[i].stmt && nest->row[i].stmt->kind == STMT_LOOP;
      if (loop)
        ck_assert_msg(part.n >= 2, "%s: %s has %d lines", rungs[r], nest->row[i].text, part.n);
    }
    ck_assert_int_ge(n_lit, nest->n_rows - 2);
  }
}
END_TEST

static int rows_in_use(int from, int to, int first_col, int end_col) {
  int n = 0;
  for (int row = from; row < to; row++) {
    bool used = false;
    for (int col = first_col; col < end_col && !used; col++) {
      const char *text = canvas->cells[row * canvas->cols + col].text;
      used = text[0] && !str_equal(text, " ") && !str_equal(text, "│");
    }
    n += used;
  }
  return n;
}

// What a large screen has left is no waste: the kernel's text from its loop on, below the nest or
// in place of the card, with the lines of the knob under the cursor pointed at.
START_TEST(a_large_screen_is_filled) {
  pins_none(session);
  canvas_resize(canvas, 60, 200);
  session_go_ladder(session, "fp32", &diags);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "vectorized", &diags));
  keys("Ctrl-L Ctrl-L");
  ck_assert(shows("CUDA  lines "));
  ck_assert(shows("for (int k_o = 0; k_o < 256; ++k_o) {"));
  ck_assert_int_ge(rows_in_use(2, 49, 0, 120), 45);
  session->at.arrived = false;
  session->at.knob = KNOB_VECTORIZE;  // where the cursor goes the arrows go
  keys("Ctrl-L");
  ck_assert(shows(", ▸ by VECTORIZE"));
  ck_assert_int_gt(rows_in_use(30, 49, 0, 1), 2);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "naive", &diags));
  session->at.knob = KNOB_BM;
  keys("Ctrl-L Ctrl-L");
  ck_assert(shows("NO SHARED MEMORY YET"));
  ck_assert(shows("extern \"C\" __global__"));
  ck_assert(shows("▸  11   const int m_b = blockIdx.x / "));
  canvas_resize(canvas, 40, 120);
  keys("Ctrl-L");
  ck_assert(!shows("CUDA  lines "));
}
END_TEST

START_TEST(a_loop_leads_to_the_source) {
  keys("Tab g");
  while (!str_equal(explore_nest(session)->row[session_view_state(session)->cursor].text,
                    "k_i in 0..16"))
    keys("j");
  ck_assert(shows("for (int k_i = 0; k_i < 16; ++k_i)"));
  keys("Enter");
  ck_assert_int_eq(session->at.view, view_find("source"));
  ck_assert(cells_of(STYLE_CURSOR) > 0);
  int cursor = session_view_state(session)->cursor;
  ck_assert(strstr(view_table[session->at.view].body->line(session, cursor), "k_i < 16") != NULL);
  int bars = 0;
  for (int i = 0; i < canvas->rows * canvas->cols; i++)
    bars += str_equal(canvas->cells[i].text, "┃");
  ck_assert_int_ge(bars, 8);
  keys("1 s S Enter");  // an access leads to its card
  ck_assert_int_eq(session->at.view, view_find("source"));
  keys("1 Tab Enter");
  ck_assert_int_eq(session->at.view, view_find("banks"));
}
END_TEST

// Where the table of lanes is drawn, all 32 are in it.
START_TEST(the_lane_table_is_whole) {
  int n = 0;
  keys("t");
  for (int rows = 24; rows <= 60; rows += 4)
    for (int cols = 80; cols <= 200; cols += 10) {
      canvas_resize(canvas, rows, cols);
      keys("s");
      const char *head = NULL;
      const char *text = export_text(arena, canvas);
      if (!strstr(text, "ln  byte bank")) continue;
      n++;
      for (int i = 0; i < rows * cols; i++) {
        const Cell *cell = &canvas->cells[i];
        if (cell->text[0] == '3' && i + 1 < rows * cols && canvas->cells[i + 1].text[0] == '1' &&
            cell->style == STYLE_DIM && i % cols > cols / 3)
          head = cell->text;
      }
      ck_assert_msg(head != NULL, "%dx%d: lane 31 is missing", cols, rows);
    }
  ck_assert_int_gt(n, 15);
}
END_TEST

static void click(int row, int col) {
  Event event = {.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .row = row, .col = col};
  ck_assert(drive_event(session, canvas, &event, &diags));
}

// "← → change": a click on the first key is that key, one on the second the other.
START_TEST(both_keys_of_a_hint_can_be_clicked) {
  const int row = canvas->rows - 1;
  int64_t bm = session->doc.now.schedule.value[KNOB_BM];
  int rung = session->doc.rung;
  session->at.knob = KNOB_BM;
  click(row, col_of(export_row(arena, canvas, row), "→ change"));
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_BM], 2 * bm);
  click(row, col_of(export_row(arena, canvas, row), "← → change"));
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_BM], bm);
  click(row, col_of(export_row(arena, canvas, row), "] rung"));
  ck_assert_int_eq(session->doc.rung, rung + 1);
  click(row, col_of(export_row(arena, canvas, row), "[ ] rung"));
  ck_assert_int_eq(session->doc.rung, rung);
  click(row, col_of(export_row(arena, canvas, row), "↓ knob"));
  ck_assert_int_eq(session->at.knob, KNOB_BN);
}
END_TEST

START_TEST(the_footer_keeps_the_way_out) {
  static const int sizes[][2] = {{12, 40}, {24, 80}, {40, 120}, {60, 200}};
  for (int view = 0; view < view_count; view++)
    for (int i = 0; i < 4; i++) {
      view_show(session, view);
      canvas_resize(canvas, sizes[i][0], sizes[i][1]);
      drive_frame(session, canvas);
      const char *footer = export_row(arena, canvas, canvas->rows - 1);
      const char *way_out = view == view_find("help") ? "q back" : "q quit";
      ck_assert_msg(strstr(footer, way_out) != NULL, "%s: %s", view_table[view].name, footer);
      int hints = 0;
      for (int s = 0; s < canvas->n_spots; s++) {
        const Spot *spot = &canvas->spots[s];
        // The first key of a pair is a spot upon that of the whole hint.
        bool of_pair = s > 0 && spot->area.col == canvas->spots[s - 1].area.col;
        hints += spot->what == SPOT_ACTION && !of_pair;
      }
      ck_assert_int_le(hints, sizes[i][1] < 110 ? 8 : 10);
      if (sizes[i][1] >= 80) ck_assert_int_ge(hints, view == view_find("help") ? 1 : 5);
    }
}
END_TEST

// Wherever there is room a knob has the name that one types; else its beginning, and no second
// name.
START_TEST(a_knob_has_one_name) {
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "padded", &diags));
  canvas_resize(canvas, 40, 120);
  drive_frame(session, canvas);
  ck_assert(shows(" PIPELINE_STAGES 0"));
  canvas_resize(canvas, 24, 80);
  drive_frame(session, canvas);
  ck_assert(shows(" PIPELINE_ST… 0") && !shows(" PIPELINE 0"));
}
END_TEST

// The store of padded: each lane writes 16 bytes, 32 bytes behind the lane before it.
START_TEST(wasted_sectors_have_a_cause) {
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "padded", &diags));
  canvas_resize(canvas, 40, 120);
  session->at.site = session_site_count(session) - 1;
  drive_frame(session, canvas);
  ck_assert(shows("Lanes are 32 bytes apart. Each has a sector of 32"));
  ck_assert(shows("uses 16 of them."));
}
END_TEST

Suite *suite_explore(void);
Suite *suite_explore(void) {
  Suite *suite = suite_create("explore");
  TCase *tcase = tcase_create("explore");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, tiles_are_those_of_c);
  tcase_add_test(tcase, a_change_is_marked_and_fades);
  tcase_add_test(tcase, what_an_illegal_knob_leaves_is_not_a_change);
  tcase_add_test(tcase, an_illegal_neighbour_says_why);
  tcase_add_test(tcase, a_reason_is_whole);
  tcase_add_test(tcase, advice_does_not_depend_on_idle_moments);
  tcase_add_test(tcase, the_arrows_of_a_knob_can_be_clicked);
  tcase_add_test(tcase, changes_are_marked_by_a_glyph);
  tcase_add_test(tcase, a_beside_b_in_every_view);
  tcase_add_test(tcase, half_a_formula_is_cut_visibly);
  tcase_add_test(tcase, what_has_no_room_is_cut_between_words);
  tcase_add_test(tcase, sharers_are_named);
  tcase_add_test(tcase, both_neighbours_have_room);
  tcase_add_test(tcase, a_huge_grid_stays_legible);
  tcase_add_test(tcase, phases_unfold_where_they_have_room);
  tcase_add_test(tcase, the_arrows_turn_the_knob_of_the_line);
  tcase_add_test(tcase, advice_beats_what_was_timed);
  tcase_add_test(tcase, short_turns_say_so);
  tcase_add_test(tcase, an_unknown_limit_is_said);
  tcase_add_test(tcase, counts_are_told_from_lanes);
  tcase_add_test(tcase, rows_light_their_lines);
  tcase_add_test(tcase, a_large_screen_is_filled);
  tcase_add_test(tcase, a_loop_leads_to_the_source);
  tcase_add_test(tcase, the_lane_table_is_whole);
  tcase_add_test(tcase, both_keys_of_a_hint_can_be_clicked);
  tcase_add_test(tcase, the_footer_keeps_the_way_out);
  tcase_add_test(tcase, a_knob_has_one_name);
  tcase_add_test(tcase, wasted_sectors_have_a_cause);
  suite_add_tcase(suite, tcase);
  return suite;
}
