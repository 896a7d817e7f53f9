// The why view, with machine code handed in as a worker would: the total and its causes, the
// costliest instructions, whose fault they are, a turn stepped clock by clock, and what is said
// where nothing can be played.
#include "kernels/toolchain/machine/clock_number.h"
#include "tui/frame/explorer.h"
#include "tui/views/time/why_frame.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "golden.h"
#include "padded_code.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/view.h"
#include "tui/frame/view_json.h"

Suite *suite_why_view(void);

enum { REGISTERS = 115 };

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static void open_view(int cols, int rows, bool ascii) {
  const SessionOptions options = {
      .state = "M=1024,N=1024,K=1024", .ladder = "fp32", .rung = "padded", .ascii = ascii};
  session = explorer_open(&options, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  canvas = canvas_new(arena, rows, cols, ascii);
  view_show(session, view_find("why"));
  drive_frame(session, canvas);
}

static void setup(void) {
  arena = arena_new("test why view");
  diags = diags_new(arena);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
}

static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }
static void keys(const char *text) { ck_assert(drive_keys(session, canvas, text, &diags)); }
static const WhyFrame *frame(void) { return session->prepared; }

// The answers of a worker, then those of the thread that plays.
static void compile(void) {
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  const KernelTexts code = {1, {{"matmul", padded_code()}}};
  results_add_compile(compiled,
                      &(CompileResult){.ok = true,
                                       .ptx_ms = 1,
                                       .cubin_ms = 1,
                                       .n_kernels = 1,
                                       .kernels = {{.name = "matmul", .registers = REGISTERS}}});
  results_add_code(compiled, &code);
  drive_frame(session, canvas);
  drive_wait(session);
  drive_frame(session, canvas);
  ck_assert_ptr_null(frame()->missing);
}

// ---- reviewed screens ---------------------------------------------------------------------------

static const struct {
  const char *name, *keys;
  int cols, rows;
  bool ascii;
} screens[] = {
    {"why_40x12", NULL, 40, 12, false},      {"why_80x24", NULL, 80, 24, false},
    {"why_80x24_ascii", NULL, 80, 24, true}, {"why_120x40", "w l l l", 120, 40, false},
    {"why_160x50", NULL, 160, 50, false},    {"why_200x60", "Enter", 200, 60, false},
    {"why_other_loop", "o", 120, 40, false},
};

START_TEST(reviewed_screen) {
  open_view(screens[_i].cols, screens[_i].rows, screens[_i].ascii);
  compile();
  if (screens[_i].keys) keys(screens[_i].keys);
  golden_check(arena_printf(arena, "screens/%s.txt", screens[_i].name), export_text(arena, canvas));
}
END_TEST

// ---- what it says -------------------------------------------------------------------------------

START_TEST(causes_are_all_of_the_total) {
  open_view(120, 40, false);
  compile();
  const WhyFrame *now = frame();
  double sum = now->loop->turn.issued;
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++) sum += now->loop->turn.lost_to[i];
  ck_assert_double_eq_tol(sum, now->loop->clocks.value, 0.001 * sum);
  ClockPart part[CLOCK_PARTS_MAX];
  const int n =
      clock_parts(now->loop->clocks.value, now->loop->turn.issued, now->loop->turn.lost_to, part);
  double shares = 0;
  for (int i = 0; i < n; i++) shares += part[i].share;
  ck_assert_double_eq_tol(shares, 1, 0.006);
  ck_assert_int_eq(part[0].cause, CLOCK_SELECTED);
  ck_assert(shows("register banks free"));
  ck_assert(shows("registers exchanged"));
}
END_TEST

// The row of the bar has as many marks as the row of words below it, and no mark twice there.
START_TEST(no_two_causes_look_alike) {
  static const char *const marks[] = {"█ ", "▓ ", "▒ ", "░ "};
  open_view(120, 40, false);
  compile();
  const char *legend = export_row(arena, canvas, 5);
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    const char *first = strstr(legend, marks[i]);
    ck_assert_msg(first && !strstr(first + 1, marks[i]), "%s", legend);
  }
  ck_assert_msg(strstr(legend, " b ") && strchr(export_row(arena, canvas, 4), 'b'), "%s", legend);
}
END_TEST

// Every letter of the chart stands in its legend, which is whole.
START_TEST(the_charts_letters_have_words) {
  open_view(120, 40, false);
  compile();
  ck_assert(shows(" i other"));
  ck_assert(shows(" - another warp"));
  ck_assert(shows("! bank conflict"));
}
END_TEST

// Worst first: w goes down the list of costly instructions, p up.
START_TEST(a_key_goes_to_the_costliest) {
  open_view(120, 40, false);
  compile();
  const double *lost = frame()->loop->turn.lost;
  const int first = frame()->at;
  for (int i = frame()->loop->loop.first; i <= frame()->loop->loop.last; i++)
    ck_assert_double_le(lost[i], lost[first]);
  keys("w");
  ck_assert_int_ne(frame()->at, first);
  ck_assert_double_le(lost[frame()->at], lost[first]);
  ck_assert(shows("2 of "));
  keys("p");
  ck_assert_int_eq(frame()->at, first);
  keys("j j");
  ck_assert_int_eq(frame()->at, first + 2);
}
END_TEST

START_TEST(enter_goes_to_whose_fault_it_is) {
  open_view(120, 40, false);
  compile();
  const int by = frame()->loop->turn.blame[frame()->at];
  ck_assert(shows("waits for LDS at"));
  ck_assert(shows(", 3 instructions before it"));
  keys("Enter");
  ck_assert_int_eq(frame()->at, by);
  ck_assert(str_starts(frame()->answer->code.inst[by].opcode->name, "LDS"));
}
END_TEST

// The clock and the cursor go together: the warp whose turn it is stands at the instruction.
START_TEST(the_chart_is_stepped_clock_by_clock) {
  open_view(120, 40, false);
  compile();
  const ClockWindow *window = &frame()->answer->window;
  ck_assert_int_gt(window->clocks, 100);
  ck_assert_int_eq(window->n, 2);
  int clock = frame()->clock;
  ck_assert_int_eq(clock_window_at(window, window->leader, clock).pc, frame()->at);
  for (int i = 0; i < 40; i++) {
    keys("l");
    ck_assert_int_eq(frame()->clock, ++clock);
    const int pc = clock_window_at(window, window->leader, clock).pc;
    ck_assert_int_eq(pc, frame()->at);
  }
  keys("> < h");
  ck_assert_int_eq(frame()->clock, clock - 1);
  keys("j");
  ck_assert_int_eq(clock_window_at(window, window->leader, frame()->clock).pc, frame()->at);
}
END_TEST

START_TEST(the_line_opens_in_the_source) {
  open_view(120, 40, false);
  compile();
  keys("e");  // lines come with the disassembler alone
  ck_assert(shows("the CUDA line of this instruction is not known"));
}
END_TEST

START_TEST(another_loop_has_no_chart) {
  open_view(120, 40, false);
  compile();
  ck_assert_int_eq(frame()->answer->n_loops, 2);
  ck_assert(shows("SCHEDULER"));
  keys("o");
  ck_assert(!shows("SCHEDULER"));
  keys("l");
  ck_assert(shows("the loop that takes most of the time"));
  keys("o");
  ck_assert(shows("SCHEDULER"));
}
END_TEST

// Until the compiler has answered the calibrated roofline stands in, and says so.
START_TEST(a_stand_in_is_marked) {
  open_view(80, 24, false);
  ck_assert(shows("stand-in: no machine code was played"));
  ck_assert(shows("from launch to end"));
  ck_assert(shows("No worker runs"));
  keys("j w Enter l o e");  // nothing to go about in
  golden_check("screens/why_stand_in.txt", export_text(arena, canvas));
  session->background.worker.present = true;
  drive_frame(session, canvas);
  ck_assert(shows("Compiling begins when you stop turning knobs"));
  compile();
  ck_assert(!shows("stand-in"));
  keys("]");  // another schedule: nothing is known of it
  ck_assert(shows("stand-in"));
}
END_TEST

// One number: the total, and by how much it may be off, are those of every other view.
START_TEST(the_total_is_that_of_the_other_views) {
  char said[SESSION_SPEED_BYTES];
  open_view(120, 40, false);
  const Estimate *estimate = &frame()->estimate;
  session_speed_said(session, &session->doc.now, said);
  const Estimate other = session_estimate(session, session->doc.now.picture->estimate);
  ck_assert_int_eq(estimate->by, ESTIMATE_STAND_IN);
  ck_assert_double_eq_tol(estimate->tflops, other.tflops, 1e-9);
  ck_assert_double_eq_tol(frame()->answer->tflops, other.tflops, 1e-9);
  ck_assert_double_eq_tol(frame()->ns, frame()->answer->clocks.value / frame()->answer->mhz * 1e3,
                          1);
  const char *figure = strchr(said, ' ') + 1;  // "36.7 TFLOP/s ±62 %"
  ck_assert_msg(shows(figure), "%s", said);
  compile();
  ck_assert_int_eq(frame()->estimate.by, ESTIMATE_CLOCK);
  const ClockedSpeed speed = clock_speed(session_model(session), frame()->answer);
  ck_assert_double_eq_tol(frame()->estimate.low, speed.low, 1e-9);
}
END_TEST

// Code that cannot be played is a sentence.
START_TEST(bad_code_is_a_sentence) {
  open_view(80, 24, false);
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  const KernelTexts code = {1, {{"matmul", "00"}}};
  results_add_code(compiled, &code);
  drive_frame(session, canvas);
  drive_wait(session);
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(frame()->missing);
  ck_assert(shows("stand-in"));
}
END_TEST

START_TEST(the_data_has_the_chart) {
  open_view(120, 40, false);
  compile();
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  view_document(&w, session, canvas, "show");
  const JsonValue *root = json_parse(arena, out.text, out.length, &diags, "show why");
  ck_assert_msg(root, "%s", diags_text(arena, &diags));
  ck_assert_ptr_nonnull(strstr(out.text, "\"turn_of_warp\":"));
  ck_assert_ptr_nonnull(strstr(out.text, "\"assignment\":{\"conflicts\":"));
  ck_assert_ptr_nonnull(strstr(out.text, "\"registers_exchanged\":"));
}
END_TEST

// Turned while it is played: the answer of the schedule that was left is given up, and asked for
// again when somebody comes back.
START_TEST(a_schedule_is_left_and_found_again) {
  open_view(80, 24, false);
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  const KernelTexts code = {1, {{"matmul", padded_code()}}};
  results_add_code(compiled, &code);
  drive_frame(session, canvas);
  keys("]");
  keys("[");
  drive_wait(session);
  drive_frame(session, canvas);
  drive_wait(session);
  drive_frame(session, canvas);
  ck_assert_ptr_null(frame()->missing);
}
END_TEST

Suite *suite_why_view(void) {
  Suite *suite = suite_create("why_view");
  TCase *tcase = tcase_create("why_view");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, reviewed_screen, 0, sizeof screens / sizeof *screens);
  tcase_add_test(tcase, causes_are_all_of_the_total);
  tcase_add_test(tcase, no_two_causes_look_alike);
  tcase_add_test(tcase, the_charts_letters_have_words);
  tcase_add_test(tcase, a_key_goes_to_the_costliest);
  tcase_add_test(tcase, enter_goes_to_whose_fault_it_is);
  tcase_add_test(tcase, the_chart_is_stepped_clock_by_clock);
  tcase_add_test(tcase, the_line_opens_in_the_source);
  tcase_add_test(tcase, another_loop_has_no_chart);
  tcase_add_test(tcase, a_stand_in_is_marked);
  tcase_add_test(tcase, the_total_is_that_of_the_other_views);
  tcase_add_test(tcase, bad_code_is_a_sentence);
  tcase_add_test(tcase, the_data_has_the_chart);
  tcase_add_test(tcase, a_schedule_is_left_and_found_again);
  suite_add_tcase(suite, tcase);
  return suite;
}
