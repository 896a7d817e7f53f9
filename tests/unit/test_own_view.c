// The view of one's own kernel: what it shows of documents that gemmview open wrote, layouts on
// trial, a file that is saved while it looks, and documents that nobody wrote.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/str.h"
#include "cli_harness.h"
#include "golden.h"
#include "kernels/toolchain/nvrtc.h"
#include "own_harness.h"
#include "stress.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette.h"
#include "tui/frame/view.h"
#include "tui/session/subject.h"
#include "tui/views/memory/swizzle.h"
#include "tui/views/own/own_work.h"

Suite *suite_own_view(void);

#define K01                                                                               \
  "tests/data/open/k01.ptx --predict --launch grid=8x7,block=32x8 --arg mem:200000:zero " \
  "--arg mem:200000 --arg 250 --arg 200"
#define K11                                                                                        \
  "tests/data/open/k11.ptx --predict --launch grid=2x3,block=128 --arg mem:98304 --arg mem:65536 " \
  "--arg mem:393216:unwritten --arg 384 --arg 256 --arg 128"

static void setup(void) { own_enter(24, 80); }

START_TEST(test_without_a_kernel_it_says_how) {
  drive_frame(own_session, own_canvas);
  ck_assert(own_shows("gemmview open k.cu --launch"));
  own_keys("x , . + - s r w L Esc a f o y Tab j");
  ck_assert_ptr_null(own_work(own_session)->opened);
  own_keys("1");
  drive_frame(own_session, own_canvas);
  ck_assert(own_shows(" O own"));  // each view has its tab, whatever it has to show
}
END_TEST

static const struct {
  const char *name, *words, *keys;
  int rows, cols;
} screens[] = {
    {"own_80x24", K01, "", 24, 80},          {"own_120x40_solved", K01, "s", 40, 120},
    {"own_sectors", K01, "Tab", 24, 80},     {"own_ptx", K01, "Tab Tab", 40, 120},
    {"own_inlined", K11, "f x", 40, 120},    {"own_calls_padded", K11, "+ Right Right", 40, 120},
    {"own_copies", K11, ". . Tab", 40, 120}, {"own_no_source", K01, "o", 24, 80},
};

START_TEST(test_screens) {
  if (!cli_has_program()) return;
  canvas_resize(own_canvas, screens[_i].rows, screens[_i].cols);
  own_open(screens[_i].words);
  if (*screens[_i].keys) own_keys(screens[_i].keys);
  golden_check(arena_printf(own_arena, "screens/%s.txt", screens[_i].name), own_shown());
}
END_TEST

// The worst line first, then one after the other down to the best and no further.
START_TEST(test_lines_by_badness) {
  if (!cli_has_program()) return;
  own_open(K01);
  ck_assert(own_shows("line 39 "));
  own_keys(".");
  ck_assert(own_shows("line 28 "));
  own_keys(".");
  ck_assert(own_shows("line 28 "));
  own_keys(",");
  ck_assert(own_shows("line 39 "));
  own_keys("g x");
  ck_assert(own_shows("line 39 "));
}
END_TEST

START_TEST(test_layouts_on_trial) {
  if (!cli_has_program()) return;
  own_open(K01);
  const OwnWork *work = own_work(own_session);
  own_keys("+");
  ck_assert_str_eq(work->trial.layout, "pad:1");
  ck_assert_int_eq(work->trial.total, 64);
  ck_assert(own_shows("tile pad:1") && own_shows("1024→32") && own_shows("tile[32][32 + 1]"));
  own_keys("+");
  ck_assert_int_eq(work->trial.total, 96);
  own_keys("- -");
  ck_assert_ptr_null(work->trial.layout);
  ck_assert(view_run(own_session, "layout", "xor:'col ^ (row & 15)'"));
  ck_assert_int_eq(work->trial.total, 32 + 2 * 32);
  ck_assert(view_run(own_session, "layout", "swizzle:9,9,9"));
  ck_assert_int_eq(own_session->prompt.said, SAID_ERROR);
  own_keys("s");
  ck_assert_int_eq(work->trial.total, 64);
  own_session->wishes.copy = NULL;
  view_run(own_session, "copy", NULL);
  ck_assert_str_eq(own_session->wishes.copy, "tile[row][col ^ (row & 31)]");
  own_keys("Backspace");
  ck_assert_ptr_null(work->trial.layout);
}
END_TEST

// Copies of 16 bytes pass over pads that would tear them.
START_TEST(test_pads_that_tear_are_passed_over) {
  if (!cli_has_program()) return;
  own_open(K11);
  own_keys("+");
  ck_assert_str_eq(own_work(own_session)->trial.layout, "pad:8");
}
END_TEST

START_TEST(test_another_block) {
  if (!cli_has_program()) return;
  canvas_resize(own_canvas, 40, 120);
  own_open(K01);
  view_run(own_session, "launch", "grid=8x7,block=32x4");
  drive_wait(own_session);
  drive_frame(own_session, own_canvas);
  ck_assert(own_shows("blocks of 32x4x1"));
  ck_assert(own_shows("wavefronts 1056 → "));
}
END_TEST

START_TEST(test_mistakes_are_told) {
  if (!cli_has_program()) return;
  own_open("tests/data/open/missing.ptx");
  ck_assert(own_shows("cannot be read"));
  own_open("tests/data/open/k01.ptx --predict");
  ck_assert(own_shows("--launch is missing: the grid and block of transpose_naive("));
  own_open(K01);
  view_run(own_session, "launch", "block=9999");
  drive_wait(own_session);
  drive_frame(own_session, own_canvas);
  ck_assert(own_shows("9999 in direction x"));
  ck_assert(own_shows("line 39 "));  // what was there is still to be read
}
END_TEST

// The kernel that the program brings along: what lesson own_kernel says of it.
START_TEST(test_the_example_of_the_lesson) {
  if (!cli_has_program()) return;
  canvas_resize(own_canvas, 40, 120);
  const char *words =
      "example:sums.ptx --predict --launch grid=1,block=32x8 --arg mem:128 "
      "--arg mem:128 --arg mem:4096 --arg 32";
  view_run(own_session, "open", words);
  view_run(own_session, "layout", "pad:4");  // while it is under way: tried when it is there
  drive_wait(own_session);
  drive_frame(own_session, own_canvas);
  ck_assert(own_shows("line 27 ") && own_shows("tile + 128*tid.x + 4*tid.y B"));
  ck_assert(own_shows("1024→128"));  // 4 wavefronts each
  own_keys("+ -");
  ck_assert(own_shows("tile pad:4"));
  view_run(own_session, "layout", "pad:1");
  drive_frame(own_session, own_canvas);
  ck_assert(own_shows("1024→32"));
  own_keys("s");
  ck_assert(own_shows("1024→32") && own_shows("tile[row][col ^ (row & 31)]"));
}
END_TEST

// ---- what a run asks for ------------------------------------------------------------------------

static void run_keys(const char *names) {
  own_keys(names);
  drive_wait(own_session);
  drive_frame(own_session, own_canvas);
}

// Of several kernels one is chosen, its launch is asked for, and both are remembered.
START_TEST(test_a_kernel_is_chosen_and_launched) {
  if (!cli_has_program()) return;
  canvas_resize(own_canvas, 24, 100);
  own_open("tests/data/open/widths.ptx --predict");
  ck_assert(own_shows("widths.ptx has 58 kernels") && own_shows("a1(.u64, .u32)"));
  golden_check("screens/own_choice.txt", own_shown());
  run_keys("Down Down Down Enter");
  ck_assert_ptr_null(own_work(own_session)->opened);
  ck_assert(own_shows("--launch is missing: the grid and block of a4(.u64, .u32)"));
  ck_assert_str_eq(own_session->prompt.field.text,
                   "--launch grid=1,block=128 --arg mem:65536 --arg 64");
  golden_check("screens/own_asks_launch.txt", own_shown());
  textfield_set(&own_session->prompt.field, "--launch grid=1,block=9999 --arg mem:65536 --arg 64");
  run_keys("Enter");
  ck_assert(own_shows("9999 in direction x"));
  textfield_set(&own_session->prompt.field, "--launch grid=1,block=64 --arg mem:65536 --arg x");
  run_keys("Enter");
  ck_assert(own_shows("expected a whole number of 32 bits"));
  ck_assert_str_eq(own_session->prompt.field.text,
                   "--launch grid=1,block=64 --arg mem:65536 --arg x");
  textfield_set(&own_session->prompt.field, "--launch grid=1,block=64 --arg mem:65536 --arg 1");
  run_keys("Enter");
  ck_assert_ptr_nonnull(own_work(own_session)->opened);
  ck_assert_str_eq(own_work(own_session)->opened->kernel, "a4");
  ck_assert_int_eq(own_session->prompt.kind, PROMPT_NONE);
  own_open("tests/data/open/widths.ptx --predict");
  ck_assert_str_eq(own_work(own_session)->opened->kernel, "a4");
  ck_assert(own_work(own_session)->opened->as_last_time);
  ck_assert(own_shows("grid=1,block=64"));
}
END_TEST

// ---- the other views ----------------------------------------------------------------------------

static const struct {
  const char *name, *words, *keys;
  int rows, cols;
} elsewhere[] = {
    {"own_as_banks_80x24", K01, "3", 24, 80},       {"own_as_banks_120x40", K11, "3 .", 40, 120},
    {"own_as_swizzle_80x24", K01, "7", 24, 80},     {"own_as_swizzle_120x40", K11, "7", 40, 120},
    {"own_as_fragments_120x40", K11, "6", 40, 120}, {"own_as_source_80x24", K01, "4", 24, 80},
    {"own_as_source_200x60", K01, "4", 60, 200},
};

START_TEST(test_other_views_show_it) {
  if (!cli_has_program()) return;
  canvas_resize(own_canvas, elsewhere[_i].rows, elsewhere[_i].cols);
  own_open(elsewhere[_i].words);
  own_keys(elsewhere[_i].keys);
  golden_check(arena_printf(own_arena, "screens/%s.txt", elsewhere[_i].name), own_shown());
}
END_TEST

// What is done there is done to the same line: Esc comes back to it.
START_TEST(test_one_cursor_in_all_views) {
  if (!cli_has_program()) return;
  own_open(K01);
  own_keys("3");
  ck_assert(own_shows("line 39 <- tile  LDS") && own_shows("32-WAY  32 wavefronts, ideal 1"));
  own_keys("Esc");
  ck_assert_int_eq(own_session->at.view, view_find("own"));
  ck_assert(own_shows("line 39 "));
  own_keys("3 Up Up Up Up");
  ck_assert(own_shows("SITE 1  tile <- line 28  STS"));
  own_keys("Esc");
  ck_assert(own_shows("line 28 "));
  own_keys("x 7 Enter");  // the solver's layout goes on trial
  ck_assert(own_shows("on trial; write tile[row][col ^ (row & 31)]"));
  own_keys("Esc");
  ck_assert(own_shows("on trial tile swizzle:5,2,5"));
  own_keys("4 Right");
  ck_assert(own_shows("ld.shared.f32"));
  own_keys("1 3");  // explore is about the schedule, and so is what follows it
  ck_assert(own_shows("a <- A_s"));
  own_keys("O 3 ]");  // and so is what changes it
  ck_assert(!own_shows("line 39"));
}
END_TEST

// What the order of arrival leaves open is shown with both ends, here and in the banks view.
START_TEST(test_copies_past_l1_have_bounds) {
  if (!cli_has_program()) return;
  own_open(K11);
  own_keys(". .");
  ck_assert(own_shows("wavefronts 6912 to 10240") && own_shows("~576>"));
  ck_assert(own_shows("worst of 12 runs: 8 to 32 wavefronts") &&
            own_shows("A 16-byte cp.async bypasses L1"));
  own_keys("3");
  ck_assert(own_shows("8 to 32 wavefronts"));
}
END_TEST

// Every execution can be looked at, the worst first; all of them come to what the line costs.
START_TEST(test_executions_are_stepped_through) {
  if (!cli_has_program()) return;
  canvas_resize(own_canvas, 40, 120);
  own_open(K11);
  own_keys("3");
  const Subject *subject = own_session->at.subject;
  const Site *site = session_site(own_session);
  const double all = site->clocks;
  ck_assert_ptr_nonnull(strstr(subject->execution, "the worst of"));
  double sum = 0;
  for (own_keys("."); !strstr(own_session->at.subject->execution, "the worst"); own_keys(".")) {
    int of, at;
    long long times;
    ck_assert_int_eq(
        sscanf(own_session->at.subject->execution, "addresses %d of %d, %lld", &at, &of, &times),
        3);
    sum += (double)times * session_site(own_session)->count.profiled;
  }
  ck_assert_double_eq(sum, all);
}
END_TEST

// The slab view costs what the kernel costs, in the layout that is and in the one on trial.
START_TEST(test_the_slab_costs_what_the_array_costs) {
  if (!cli_has_program()) return;
  own_open(K01);
  own_keys("7");
  const Swizzle *work = view_own(own_session, &swizzle_view);
  const OwnWork *own = own_work(own_session);
  ck_assert_int_eq((int)work->column[SWIZZLE_NOW].total, (int)own->opened->arrays[0].wavefronts);
  ck_assert_int_eq((int)work->column[SWIZZLE_TRIAL].total,
                   (int)own->opened->arrays[0].best_wavefronts);
}
END_TEST

// The instruction of the line, and of ldmatrix the one that its registers go to.
START_TEST(test_fragments_of_a_line) {
  if (!cli_has_program()) return;
  canvas_resize(own_canvas, 40, 120);
  own_open(K11);
  ck_assert(view_run(own_session, "top", NULL));
  view_table[own_session->at.view].body->go(own_session, 121 - 1);
  own_keys("6");
  ck_assert(own_shows("m16n8k16.f16") && own_shows("mma.sync.aligned.m16n8k16"));
  own_keys("Esc");
  view_table[own_session->at.view].body->go(own_session, 113 - 1);
  own_keys("6");
  ck_assert(own_shows("ldmatrix.sync.aligned.m8n8.x4.shared.b16 loads A of m16n8k16.f16"));
  own_keys("Esc");
  view_table[own_session->at.view].body->go(own_session, 116 - 1);
  own_keys("6");
  ck_assert(own_shows("loads B of m16n8k16.f16"));
  own_keys("Esc x g 6");
  ck_assert(own_shows("line 1 has no mma"));
  own_keys("Esc");
  own_open(
      "tests/data/open/triton_matmul.ptx --predict --launch grid=1,block=128,smem=24576 --arg "
      "mem:65536 --arg mem:65536 --arg mem:65536:unwritten --arg 64 --arg 64 --arg 64 --arg "
      "mem:4096 --arg mem:4096");
  view_table[own_session->at.view].body->go(own_session, 23 - 1);  // both operands by descriptors
  own_keys("6");
  ck_assert(own_shows("C of wgmma.m64n64k16.f16  64×64 m×n"));
}
END_TEST

// ---- saving -------------------------------------------------------------------------------------

static void save(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
}

// A wait for a compiler leaves it the processor.
static void poll_and_pause(void) {
  views_poll(own_session);
  nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

// Milliseconds until the screen has other numbers; -1: not within ten seconds.
static int64_t wait_for(int64_t wavefronts) {
  const int64_t begin = clock_ms();
  while (clock_ms() < begin + (int64_t)stress_wall(10000)) {
    poll_and_pause();
    if (own_work(own_session)->opened->wavefronts == wavefronts) return clock_ms() - begin;
  }
  return -1;
}

// One of the four reads down a column becomes one along a row: 32 wavefronts less one by warp.
START_TEST(test_a_save_moves_the_numbers) {
  if (!cli_has_program()) return;
  const char *text = cli_shell(own_arena, "cat tests/data/open/k01.ptx").out,
             *at = strstr(text, "[%r13+96]"),
             *path = arena_printf(own_arena, "%s/k.ptx", own_folder);
  ck_assert_ptr_nonnull(at);
  save(path, text);
  own_open(arena_printf(own_arena, "%s %s", path, strchr(K01, ' ')));
  own_keys("s w");
  ck_assert_int_eq(views_wait(own_session), VIEW_WATCHES);
  save(path, arena_printf(own_arena, "%.*s[%%r7+96] %s", (int)(at - text), text,
                          at + strlen("[%r13+96]")));
  const int64_t ms = wait_for(1056 - 8 * 31);
  ck_assert_int_ge(ms, 0);
  drive_frame(own_session, own_canvas);
  ck_assert(own_shows("wavefronts 1056 → 808"));
  ck_assert(own_shows("on trial tile swizzle"));  // it goes on over the new kernel
  // A broken text is told, and the numbers that were there stay.
  save(path, "not PTX\n");
  const int64_t until = clock_ms() + (int64_t)stress_wall(10000);
  while (!*opened_run_error(own_work(own_session)->run) && clock_ms() < until) poll_and_pause();
  drive_frame(own_session, own_canvas);
  ck_assert(own_shows("k.ptx:1:"));
  ck_assert(own_shows("wavefronts 1056 → 808"));
}
END_TEST

#define TRANSPOSE                                                              \
  "extern \"C\" __global__ void move(float *to, const float *from) {\n"        \
  "  __shared__ float tile[32][PITCH];\n"                                      \
  "  tile[threadIdx.y][threadIdx.x] = from[threadIdx.y * 32 + threadIdx.x];\n" \
  "  __syncthreads();\n"                                                       \
  "  to[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];\n"   \
  "}\n"

static void open_moves(const char *path) {
  own_open(arena_printf(
      own_arena, "%s --predict --launch grid=1,block=32x8 --arg mem:4096 --arg mem:4096", path));
  ck_assert_msg(own_work(own_session)->opened != NULL, "%s", own_shown());
  ck_assert_int_eq(own_work(own_session)->opened->wavefronts, 8 + 8 * 32);
  view_run(own_session, "watch", NULL);
}

// As editors do: a new file takes the place of the old one.
static void save_by_rename(const char *path, const char *text) {
  const char *other = arena_printf(own_arena, "%s~", path);
  save(other, text);
  ck_assert_int_eq(rename(other, path), 0);
}

static void wait_for_error(void) {
  const int64_t until = clock_ms() + (int64_t)stress_wall(20000);
  while (!*own_error(own_work(own_session)) && clock_ms() < until) poll_and_pause();
  drive_frame(own_session, own_canvas);
}

// From a save to other numbers: the first of three that is within the limit, or the best of them.
// The sanitizers take their share of it, the compiler takes most.
static int64_t edit_to_screen(const char *path, const char *before, const char *after,
                              int64_t limit) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < 3 && best >= limit; i++) {
    save_by_rename(path, before);
    ck_assert_int_ge(wait_for(8 + 8 * 32), 0);
    save_by_rename(path, after);
    const int64_t ms = wait_for(8 + 8);
    ck_assert_int_ge(ms, 0);
    if (ms < best) best = ms;
  }
  return best;
}

// NVRTC, one file: a save that does not compile leaves the numbers and tells its line.
START_TEST(test_nvrtc_within_a_second) {
  Arena *found_in = arena_new("nvrtc");
  bool found = false;
  nvrtc_describe(found_in, &found);
  arena_free(found_in);
  if (!cli_has_program() || !found) return;
  setenv("GEMMVIEW_NVCC", "/none", 1);
  const char *path = arena_printf(own_arena, "%s/move.cu", own_folder);
  const char *wide = "#define PITCH 33\n" TRANSPOSE, *narrow = "#define PITCH 32\n" TRANSPOSE;
  save(path, narrow);
  open_moves(path);
  const int64_t limit = (int64_t)stress_wall(1000), ms = edit_to_screen(path, narrow, wide, limit);
  ck_assert_msg(ms < limit, "%lld ms", (long long)ms);
  save_by_rename(path, "#define PITCH 33\nmistake\n" TRANSPOSE);
  wait_for_error();
  ck_assert(own_shows("move.cu(2): error"));
  ck_assert(own_shows("wavefronts 264 → 16"));
  save_by_rename(path, narrow);
  ck_assert_int_ge(wait_for(8 + 8 * 32), 0);
  unsetenv("GEMMVIEW_NVCC");
}
END_TEST

// nvcc, with a header: the one that is saved is the header.
START_TEST(test_a_header_is_watched) {
  if (!cli_has_program() || cli_shell(own_arena, "nvcc --version").status != 0) return;
  const char *path = arena_printf(own_arena, "%s/move.cu", own_folder),
             *header = arena_printf(own_arena, "%s/pitch.h", own_folder);
  save(header, "#define PITCH 32\n");
  save(path, "#include <stdint.h>\n#include \"pitch.h\"\n" TRANSPOSE);
  open_moves(path);
  ck_assert(strstr(own_session->prompt.message, "move.cu and pitch.h"));
  const int64_t limit = (int64_t)stress_wall(1500),
                ms = edit_to_screen(header, "#define PITCH 32\n", "#define PITCH 33\n", limit);
  ck_assert_msg(ms < limit, "%lld ms", (long long)ms);
  save_by_rename(header, "#define PITCH 33 +\n");
  wait_for_error();
  ck_assert(own_shows("error"));
  ck_assert(own_shows("wavefronts 264 → 16") && own_shows("watching 2 files"));
}
END_TEST

// A run that is under way does not keep a key waiting, and ends when it is told to.
START_TEST(test_keys_do_not_wait) {
  if (!cli_has_program()) return;
  own_open(K01);
  view_run(own_session, "run", NULL);
  const int64_t begin = clock_ms();
  own_keys("j k Tab S-Tab");
  ck_assert_double_lt((double)(clock_ms() - begin), stress_wall(1000));
  ck_assert_int_eq(views_wait(own_session), VIEW_EXPECTS);
  own_keys("X");
  ck_assert_int_eq(views_wait(own_session), VIEW_WAITS_NOT);
  ck_assert(own_shows("wavefronts 1056"));
}
END_TEST

// The first run shows nothing yet: the footer has the key that ends it, and then the one that runs
// it again.
START_TEST(test_a_first_run_is_ended) {
  if (!cli_has_program()) return;
  Diags said = diags_new(own_arena);
  ck_assert(palette_run(own_session, "own " K01, &said));
  drive_frame(own_session, own_canvas);
  ck_assert(own_shows("X ends it") && own_shows("X stop") && !own_shows("pad"));
  own_keys("X");
  ck_assert(own_shows("was stopped; r runs it again"));
  own_keys("r");
  drive_wait(own_session);
  drive_frame(own_session, own_canvas);
  ck_assert_msg(own_shows("wavefronts 1056") && own_shows("+ - pad") && !own_shows("X stop"), "%s",
                own_shown());
}
END_TEST

// ---- sizes, documents ---------------------------------------------------------------------------

START_TEST(test_every_size_and_pane) {
  if (!cli_has_program()) return;
  own_open(K11);
  own_keys("s");
  for (int pane = 0; pane < OWN_PANES; pane++) {
    for (int rows = 10; rows <= 64; rows += 9)
      for (int cols = 36; cols <= 220; cols += 23) {
        canvas_resize(own_canvas, rows, cols);
        drive_frame(own_session, own_canvas);
        if (rows >= VIEW_ROWS_MIN && cols >= VIEW_COLS_MIN) ck_assert(own_shows("hgemm_ldmatrix"));
      }
    view_run(own_session, "pane-next", NULL);
  }
}
END_TEST

static const char *document(void) {
  const CliRun run = cli_run(own_arena, "open " K01 " --detail");
  ck_assert_int_eq(run.status, 0);
  return run.out;
}

// ---- launches of a recorded program -------------------------------------------------------------

// What `open --main --detail` says of them, in front of the end of a document of any kernel.
static const char launches[] =
    "\"launches\":["
    "{\"kernel\":\"_Z4turnPi\",\"title\":\"turn\",\"grid\":[1,1,1],\"block\":[32,32,1],"
    "\"cluster\":[0,0,0],\"smem_bytes\":0,\"times\":4000,\"first\":0,\"note\":null},"
    "{\"kernel\":\"_Z9transposePf\",\"title\":\"transpose_naive\",\"grid\":[8,7,1],\"block\":[32,8,"
    "1],"
    "\"cluster\":[2,1,1],\"smem_bytes\":98304,\"times\":2,\"first\":3,\"note\":null,\"held\":true},"
    "{\"kernel\":\"k\",\"title\":\"void reduce<512, Op<…>, (Stage)2, false>\",\"grid\":[1024,16,4],"
    "\"block\":[1024,1,1],\"cluster\":[0,0,0],\"smem_bytes\":0,\"times\":1,\"first\":0,"
    "\"note\":\"its PTX was not found\"}]}\n";

static void take_with_launches(void) {
  const char *whole = document(), *end = strstr(whole, "\"launches\":[]}");
  ck_assert_ptr_nonnull(end);
  const char *text = arena_printf(own_arena, "%.*s%s", (int)(end - whole), whole, launches);
  OwnWork *work = own_work(own_session);
  opened_run_set(work->run, (const char *const[]){"dir/prog.cu", "--main"}, 2);
  ck_assert_msg(own_work_take(work, text, strlen(text)), "%s", work->error);
  drive_frame(own_session, own_canvas);
}

// The one that is shown is under the cursor; the key again, or Esc, leaves the list.
START_TEST(test_launches_are_listed) {
  if (!cli_has_program()) return;
  take_with_launches();
  ck_assert(own_shows("O launches"));
  own_keys("O");
  golden_check("screens/own_launches.txt", own_shown());
  own_keys("Down");
  golden_check("screens/own_launches_not_run.txt", own_shown());
  own_keys("O");
  ck_assert(own_shows("inlined lines at their calls") && !own_chooses(own_work(own_session)));
  own_keys("O Esc");
  ck_assert(!own_chooses(own_work(own_session)));
}
END_TEST

// Another launch than the one of a capsule is not there: the view says how to record it.
START_TEST(test_a_capsule_holds_one_launch) {
  if (!cli_has_program()) return;
  take_with_launches();
  OwnWork *work = own_work(own_session);
  opened_run_set(work->run, (const char *const[]){"dir/k.capsule"}, 1);
  own_keys("O Up Enter");
  ck_assert_msg(own_shows("to open this launch: gemmview record --kernel _Z4turnPi --launch 0 --"),
                "%s", own_shown());
  ck_assert(own_chooses(work));
  own_keys("Down Enter");
  ck_assert(!own_chooses(work));
}
END_TEST

START_TEST(test_a_capsule_says_its_program) {
  if (!cli_has_program()) return;
  own_open("tests/data/record/add.capsule");
  own_keys("O");
  ck_assert_msg(own_shows("./add add.ptx graph3 launched these kernels"), "%s", own_shown());
}
END_TEST

START_TEST(test_no_launches_without_a_program) {
  if (!cli_has_program()) return;
  own_open(K01);
  own_keys("O");
  ck_assert(own_shows("own FILE.cu --main, or own FILE.capsule") &&
            !own_chooses(own_work(own_session)));
}
END_TEST

// From the list to the kernel: fill was launched in two ways, the second from launch 1 on.
START_TEST(test_a_launch_is_chosen) {
  if (!cli_has_program() || cli_shell(own_arena, "nvcc --version").status != 0) return;
  own_open("tests/data/record/three.cu --main");
  const OwnWork *work = own_work(own_session);
  ck_assert_msg(work->opened != NULL, "%s", own_error(work));
  ck_assert_int_eq(work->opened->n_launches, 4);
  const OpenedLaunch *launch = work->opened->launches;
  ck_assert_str_eq(launch[0].title, "turn");
  ck_assert_int_eq(launch[0].times, 3);
  own_keys("O");
  ck_assert_int_eq(launch[work->choice].grid[0], 2);  // the program's first launch
  ck_assert_int_eq(launch[1].first, 1);
  ck_assert_int_eq(launch[1].times, 2);
  own_keys("g Down Enter");
  drive_wait(own_session);
  drive_frame(own_session, own_canvas);
  ck_assert_msg(work->opened->grid[0] == 8 && !own_chooses(work), "%s", own_shown());
  ck_assert(strstr(opened_run_text(own_arena, work->run), "--launch 1") != NULL);
  own_keys("O g Enter");
  drive_wait(own_session);
  drive_frame(own_session, own_canvas);
  ck_assert_msg(own_shows("turn(") && own_shows("write tile[row][col ^ (row & 31)]"), "%s",
                own_shown());
}
END_TEST

// Documents with a byte changed or cut off: refused with a sentence, or read and drawn; what was
// there before is never lost.
START_TEST(test_documents_that_nobody_wrote) {
  if (!cli_has_program()) return;
  const char *whole = document();
  const size_t n = strlen(whole);
  OwnWork *work = own_work(own_session);
  ck_assert(own_work_take(work, whole, n));
  uint64_t seed = 7;
  for (int i = 0; i < 300; i++) {
    char *text = arena_strdup(own_arena, whole);
    const size_t at = (size_t)(random_next(&seed) % n);
    const size_t length = i % 10 ? n : at;
    text[at] = (char)(' ' + random_next(&seed) % 95);
    if (!own_work_take(work, text, length)) ck_assert(*work->error != '\0');
    ck_assert_ptr_nonnull(work->opened);
    drive_frame(own_session, own_canvas);
    view_run(own_session, i % 3 ? "pad-more" : "solve", NULL);
    static const char *const views[] = {"3", "7", "4", "6"};
    own_keys(arena_printf(own_arena, "%s . Down O", views[i % 4]));
  }
  static const char *const others[] = {"", "{}", "null", "[]", "{\"schema\":\"gemmview/1\"}"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    ck_assert(!own_work_take(work, others[i], strlen(others[i])));
}
END_TEST

Suite *suite_own_view(void) {
  Suite *suite = suite_create("own_view");
  TCase *tcase = tcase_create("view");
  tcase_add_checked_fixture(tcase, setup, own_leave);
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, test_without_a_kernel_it_says_how);
  tcase_add_loop_test(tcase, test_screens, 0, (int)(sizeof screens / sizeof *screens));
  tcase_add_loop_test(tcase, test_other_views_show_it, 0,
                      (int)(sizeof elsewhere / sizeof *elsewhere));
  tcase_add_test(tcase, test_one_cursor_in_all_views);
  tcase_add_test(tcase, test_a_kernel_is_chosen_and_launched);
  tcase_add_test(tcase, test_copies_past_l1_have_bounds);
  tcase_add_test(tcase, test_executions_are_stepped_through);
  tcase_add_test(tcase, test_the_slab_costs_what_the_array_costs);
  tcase_add_test(tcase, test_fragments_of_a_line);
  tcase_add_test(tcase, test_lines_by_badness);
  tcase_add_test(tcase, test_layouts_on_trial);
  tcase_add_test(tcase, test_pads_that_tear_are_passed_over);
  tcase_add_test(tcase, test_another_block);
  tcase_add_test(tcase, test_mistakes_are_told);
  tcase_add_test(tcase, test_the_example_of_the_lesson);
  tcase_add_test(tcase, test_a_save_moves_the_numbers);
  tcase_add_test(tcase, test_nvrtc_within_a_second);
  tcase_add_test(tcase, test_a_header_is_watched);
  tcase_add_test(tcase, test_keys_do_not_wait);
  tcase_add_test(tcase, test_a_first_run_is_ended);
  tcase_add_test(tcase, test_every_size_and_pane);
  tcase_add_test(tcase, test_launches_are_listed);
  tcase_add_test(tcase, test_a_capsule_holds_one_launch);
  tcase_add_test(tcase, test_a_capsule_says_its_program);
  tcase_add_test(tcase, test_no_launches_without_a_program);
  tcase_add_test(tcase, test_a_launch_is_chosen);
  tcase_add_test(tcase, test_documents_that_nobody_wrote);
  suite_add_tcase(suite, tcase);
  return suite;
}
