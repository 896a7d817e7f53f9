// gemmview why: what it says of schedules and cubins, and of files that are none.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "cli_harness.h"
#include "kernels/device/history/history.h"
#include "kernels/toolchain/machine/clock_answer.h"
#include "kernels/toolchain/machine/kernel_text.h"
#include "sass/sass_line.h"
#include "sass/sass_text.h"

Suite *suite_why(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test why"); }
static void teardown(void) { arena_free(arena); }

static const char cubin_path[] = "tests/data/cubins/sm_90a.cubin";

static double number(const JsonValue *object, const char *key) {
  double value = NAN;
  Diags diags = diags_new(arena);
  json_read_double(json_object_get(object, key), &value, &diags);
  return value;
}

// ---- a schedule ---------------------------------------------------------------------------------

// The names of stalls_per_issue, as Nsight Compute has them.
static const char *const stall_names[] = {"barrier",
                                          "dispatch_stall",
                                          "drain",
                                          "gmma",
                                          "imc_miss",
                                          "lg_throttle",
                                          "long_scoreboard",
                                          "math_pipe_throttle",
                                          "membar",
                                          "mio_throttle",
                                          "misc",
                                          "no_instruction",
                                          "not_selected",
                                          "selected",
                                          "short_scoreboard",
                                          "sleeping",
                                          "tex_throttle",
                                          "wait"};
enum { N_STALLS = sizeof stall_names / sizeof *stall_names };

// The causes of a loop are all of its clocks.
static void check_loop(const JsonValue *loop) {
  const JsonValue *lost = json_object_get(loop, "lost"), *clocks = json_object_get(loop, "clocks");
  double sum = number(loop, "issued");
  for (int i = 0; i < json_count(lost); i++) sum += number(lost, json_key_at(lost, i));
  ck_assert_double_eq_tol(sum, number(clocks, "value"), 0.005 * sum + 0.5);
  ck_assert_double_le(number(clocks, "low"), number(clocks, "value"));
  ck_assert_double_ge(number(clocks, "high"), number(clocks, "value"));
}

START_TEST(a_schedule_is_played) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, "why -k fp32/block_order --json --what-if");
  ck_assert_msg(run.status == 0, "%s", run.err);
  const JsonValue *root = cli_json(arena, &run), *kernel = json_object_get(root, "kernel"),
                  *stalls = json_object_get(root, "stalls"),
                  *instructions = json_object_get(root, "instructions"),
                  *loops = json_object_get(root, "loops");
  if (strstr(run.out, "\"stand_in\":true")) return;  // no NVRTC, or no nvdisasm, here
  ck_assert_int_eq(json_count(stalls), N_STALLS);
  for (int i = 0; i < N_STALLS; i++)
    ck_assert_msg(json_object_get(stalls, stall_names[i]), "%s", stall_names[i]);
  const double tflops = number(kernel, "tflops"),
               clocks = number(json_object_get(kernel, "clocks"), "value");
  ck_assert_double_eq_tol(2 * pow(4096, 3) / clocks * number(root, "mhz") * 1e-6, tflops, 1e-6);
  ck_assert_int_ge(json_count(loops), 1);
  check_loop(json_at(loops, 0));
  ck_assert_ptr_nonnull(
      json_object_get(json_object_get(json_at(loops, 0), "what_if"), "banks_free"));
  double lost = 0;
  for (int i = 0; i < json_count(instructions); i++) {
    const JsonValue *inst = json_at(instructions, i);
    ck_assert_double_eq(number(inst, "pc"), 16.0 * i);
    lost += number(inst, "lost");
  }
  ck_assert_double_gt(lost, 0);
  ck_assert_double_lt(lost, clocks);
}
END_TEST

START_TEST(the_screen_adds_up) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, "why -k fp32/padded --what-if");
  ck_assert_int_eq(run.status, 0);
  if (strstr(run.out, "stand-in")) return;
  ck_assert_ptr_nonnull(strstr(run.out, "clocks a turn"));
  ck_assert_ptr_nonnull(strstr(run.out, "one register bank: R"));
  ck_assert_ptr_nonnull(strstr(run.out, "waits for LDS at"));
  ck_assert_ptr_nonnull(strstr(run.out, "register banks free: "));
}
END_TEST

// The profiler counts it as waiting at a barrier; the reason names what is waited for.
START_TEST(a_wait_for_wgmma_is_named) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, "why -k hopper/wgmma,M=1024,N=1024,K=1024");
  ck_assert_int_eq(run.status, 0);
  if (strstr(run.out, "stand-in")) return;
  const char *line = strstr(run.out, "WARPGROUP.DEPBAR");
  ck_assert_msg(line != NULL, "%s", run.out);
  ck_assert_msg(strstr(line, "waits for wgmma") != NULL, "%s", run.out);
}
END_TEST

static double clocks_of(const char *arguments) {
  const CliRun run = cli_run(arena, arguments);
  ck_assert_msg(run.status == 0, "%s", run.err);
  return number(json_object_get(json_object_get(cli_json(arena, &run), "kernel"), "clocks"),
                "value");
}

// All that is not in L2 is farther away; a slower clock gives the same clocks.
START_TEST(cold_caches_cost_clocks) {
  static const char state[] = "why -k hgemm/4,M=1024,N=1024,K=1024 --json";
  if (!cli_has_program()) return;
  const double warm = clocks_of(state), cold = clocks_of(arena_printf(arena, "%s --cold", state));
  if (strstr(cli_run(arena, state).out, "\"stand_in\":true")) return;
  ck_assert_double_gt(cold, warm * 1.01);
  ck_assert_double_eq(clocks_of(arena_printf(arena, "%s --mhz 1000", state)), warm);
}
END_TEST

// Of a GPU whose launches the clock cannot play each loop is played alone; the total stands in.
START_TEST(loops_are_played_where_launches_cannot_be) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, "why -k blackwell/pair --json");
  ck_assert_msg(run.status == 0, "%s", run.err);
  const JsonValue *root = cli_json(arena, &run), *loops = json_object_get(root, "loops");
  ck_assert_ptr_nonnull(strstr(run.out, "\"stand_in\":true"));
  if (!strstr(run.out, "\"arch\":\"sm_100a\"") || !json_count(loops)) return;  // no NVRTC here
  ck_assert_ptr_nonnull(strstr(run.out, "\"unchecked\":true"));
  ck_assert_ptr_nonnull(strstr(run.out, "its loops are played, one turn of each alone"));
  double longest = 0;
  for (int i = 0; i < json_count(loops); i++)
    longest = fmax(longest, number(json_object_get(json_at(loops, i), "clocks"), "value"));
  ck_assert_double_gt(longest, 1000);
  ck_assert_int_gt(json_count(json_object_get(root, "instructions")), 500);
  const CliRun text = cli_run(arena, "why -k blackwell/pair");
  ck_assert_ptr_nonnull(strstr(text.out, "clocks a turn"));
  ck_assert_ptr_nonnull(strstr(text.out, "no GPU of sm_100a has been measured"));
  const CliRun view = cli_run(arena, "show why -k blackwell/pair --compile");
  ck_assert_ptr_nonnull(strstr(view.out, "stand-in "));
  ck_assert_ptr_nonnull(strstr(view.out, "each loop is played alone, by published facts"));
}
END_TEST

// Without a compiler the calibrated roofline stands in, and says so.
START_TEST(a_stand_in_says_so) {
  if (!cli_has_program()) return;
  const char *worker = cli_fake_worker(arena, NULL, NULL, NULL);
  CliRun run = cli_run(arena, arena_printf(arena, "why -k fp32/padded %s", worker));
  ck_assert_int_eq(run.status, 0);
  ck_assert_ptr_nonnull(strstr(run.out, "a calibrated stand-in for the clock"));
  ck_assert_ptr_nonnull(strstr(run.out, "TFLOP/s"));
  run = cli_run(arena, arena_printf(arena, "why -k fp32/padded --strict --json %s", worker));
  ck_assert_int_eq(run.status, 3);
  const JsonValue *root = cli_json(arena, &run);
  ck_assert_ptr_nonnull(strstr(run.out, "\"stand_in\":true"));
  ck_assert(json_is_null(json_object_get(root, "stalls")));
  ck_assert_int_eq(json_count(json_object_get(root, "loops")), 0);
}
END_TEST

static double stand_in_tflops(const char *command) {
  const CliRun run = cli_run(arena, command);
  ck_assert_msg(run.status == 0 && strstr(run.out, "\"stand_in\":true"), "%s", run.err);
  return number(json_object_get(cli_json(arena, &run), "kernel"), "tflops");
}

// What was fitted to the GPU at hand counts as in the explorer; what was fitted to another does
// not.
START_TEST(a_stand_in_goes_by_the_fits_of_the_gpu_at_hand) {
  if (!cli_has_program()) return;
  const char *why = arena_printf(arena, "why -k fp32/padded --json %s",
                                 cli_fake_worker(arena, "NVIDIA H200", NULL, NULL));
  const double before = stand_in_tflops(why);
  Diags diags = diags_new(arena);
  History *history = history_open(arena, NULL, &diags);
  ck_assert_ptr_nonnull(history);
  HistoryCalibration row = {
      .gpu = "NVIDIA H100 80GB HBM3", .family = CALIBRATION_FAMILY_FMA, .fit = calibration_none()};
  row.fit.factor[CALIBRATION_SHARED] = 4;
  row.fit.n = 212;
  row.fit.error = 0.157;
  ck_assert(history_keep_calibration(history, &row, &diags));
  ck_assert_double_eq(stand_in_tflops(why), before);
  row.gpu = "NVIDIA H200";
  ck_assert(history_keep_calibration(history, &row, &diags));
  history_close(history);
  ck_assert_double_lt(stand_in_tflops(why), 0.9 * before);
}
END_TEST

// Samples of an H200 for the machine code of this state, which NVRTC 13.0 makes again.
START_TEST(samples_stand_beside) {
  static const char why[] = "why -k fp32/padded,M=2048,N=2048,K=2048 --ncu ";
  static const char csv[] = "tests/data/machine/fp32_padded_ncu.csv";
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, arena_printf(arena, "%s%s --json", why, csv));
  if (strstr(run.out, "\"stand_in\":true")) return;
  if (run.status == 2 && strstr(run.err, "another kernel")) return;  // another NVRTC
  ck_assert_msg(run.status == 0, "%s", run.err);
  const JsonValue *ncu = json_object_get(cli_json(arena, &run), "ncu"),
                  *places = json_object_get(ncu, "places");
  double sampled = 0, played = 0, before = 2;
  for (int i = 0; i < json_count(places); i++) {
    const JsonValue *place = json_at(places, i);
    const double a = number(place, "sampled_share"), b = number(place, "played_share");
    sampled += a;
    played += b;
    ck_assert_double_le(fabs(a - b), before + 1e-9);
    before = fabs(a - b);
  }
  ck_assert_double_eq_tol(sampled, 1, 1e-6);
  ck_assert_double_eq_tol(played, 1, 1e-6);
  run = cli_run(arena, arena_printf(arena, "%s%s", why, csv));
  ck_assert_ptr_nonnull(strstr(run.out, "the largest disagreements"));
  run = cli_run(arena, arena_printf(arena, "why -k fp32/naive,M=512,N=512,K=512 --ncu %s", csv));
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "another kernel"));
  run = cli_run(arena, arena_printf(arena, "%sREADME.md", why));
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "expected the CSV of the source page"));
}
END_TEST

// ---- a cubin ------------------------------------------------------------------------------------

START_TEST(a_cubin_has_clocks_a_turn) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, arena_printf(arena, "why %s --kernel dots --json", cubin_path));
  ck_assert_int_eq(run.status, 0);
  const JsonValue *root = cli_json(arena, &run), *loops = json_object_get(root, "loops");
  ck_assert(json_is_null(json_object_get(json_object_get(root, "kernel"), "clocks")));
  ck_assert_int_eq(json_count(loops), 1);
  check_loop(json_at(loops, 0));
  // Two loads, one after the other's address, and three FFMA in a chain.
  ck_assert_double_gt(number(json_object_get(json_at(loops, 0), "clocks"), "value"), 30);
  run = cli_run(arena, arena_printf(arena, "why %s", cubin_path));
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "dots, pairs"));
}
END_TEST

// With its launch and the turns of its loop known it has clocks from launch to end; as many more
// turns take as many more clocks.
START_TEST(a_launch_has_clocks) {
  static const char why[] =
      "why tests/data/cubins/sm_90a.cubin --kernel dots --json --launch "
      "grid=264,block=256";
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, why);
  ck_assert_int_eq(run.status, 0);
  ck_assert_ptr_nonnull(strstr(run.out, "--trips 0x1d0=N"));
  ck_assert(
      json_is_null(json_object_get(json_object_get(cli_json(arena, &run), "kernel"), "clocks")));
  const double some = clocks_of(arena_printf(arena, "%s --trips 0x1d0=64", why)),
               more = clocks_of(arena_printf(arena, "%s --trips 0x1d0=192", why));
  run = cli_run(arena, arena_printf(arena, "%s --trips 0x1d0=192", why));
  const JsonValue *loop = json_at(json_object_get(cli_json(arena, &run), "loops"), 0);
  ck_assert_double_eq(number(loop, "turns"), 192);
  const double turn = number(json_object_get(loop, "clocks"), "value");
  ck_assert_double_eq_tol(more - some, 128 * turn, 0.1 * 128 * turn);
  // Twice as many blocks as fit at once take another round.
  ck_assert_double_gt(clocks_of("why tests/data/cubins/sm_90a.cubin --kernel dots --json --launch "
                                "grid=4224,block=256 --trips 0x1d0=192"),
                      some);
}
END_TEST

START_TEST(bad_files_are_refused) {
  static const struct {
    const char *arguments, *says;
  } bad[] = {
      {"why tests/data/cubins/sm_75.cubin --kernel dots", "there are no clock facts for sm_75"},
      {"why tests/data/cubins/sm_90a.cubin --kernel nothing", "dots, pairs"},
      {"why tests/data/cubins/sm_90a.cubin --kernel dots --trips 0x40", "--trips takes"},
      {"why tests/data/cubins/sm_90a.cubin --kernel dots --trips 0x40=0", "--trips takes"},
      {"why tests/data/README.md", "the file is not a cubin"},
      {"why tests/data/none.cubin", "No such file"},
      {"why tests/data/cubins", "folder"},
      {"why /dev/null", ""},
      {"why one two", "takes one cubin"},
      {"why --kernel dots", "go with a cubin"},
      {"why --launch grid=1,block=32", "go with a cubin"},
      {"why tests/data/cubins/sm_90a.cubin --kernel dots --launch grid=1x1", "block"},
  };
  if (!cli_has_program()) return;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const CliRun run = cli_run(arena, bad[i].arguments);
    ck_assert_msg(run.status == 2 && strstr(run.err, bad[i].says), "%s: %d, %s", bad[i].arguments,
                  run.status, run.err);
  }
}
END_TEST

typedef struct Bytes {
  unsigned char *at;
  size_t n;
} Bytes;

static Bytes read_cubin(void) {
  FILE *file = fopen(cubin_path, "rb");
  ck_assert_ptr_nonnull(file);
  Bytes out = {malloc(1 << 16), 0};
  ck_assert_ptr_nonnull(out.at);
  out.n = fread(out.at, 1, 1 << 16, file);
  fclose(file);
  return out;
}

static TargetTable read_targets(void) {
  TargetTable out;
  Diags diags = diags_new(arena);
  const EmbeddedFile *file = embed_find(arena, "gpus.json");
  ck_assert(targets_parse(arena, file->text, file->size, &diags, &out));
  return out;
}

// An answer, or a sentence; never more.
static void ask_damaged(const unsigned char *bytes, size_t n, const TargetTable *targets) {
  Arena *own = arena_new("damaged");
  const ClockAsk ask = {.kernel = "dots",
                        .n_trips = 1,
                        .trip = {{0x1d0, 4}},
                        .launch = {.blocks = 300, .threads = 256}};
  unsigned char *copy = malloc(n ? n : 1);  // so that a byte behind the end is found
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, bytes, n);
  const ClockAnswer answer = clock_answer_cubin(own, copy, n, targets, &ask);
  if (answer.why_not)
    ck_assert_ptr_null(strchr(answer.why_not, '\n'));
  else
    ck_assert(answer.clocks.value > 0 || answer.loop[answer.main].clocks.value > 0);
  free(copy);
  arena_free(own);
}

START_TEST(damaged_cubins_are_refused) {
  enum { FLIPS = 1500, CUTS = 97 };
  const Bytes cubin = read_cubin();
  const TargetTable targets = read_targets();
  uint32_t state = 1;
  for (size_t n = 0; n < cubin.n; n += CUTS) ask_damaged(cubin.at, n, &targets);
  for (int i = 0; i < FLIPS; i++) {
    state = state * 1664525 + 1013904223;
    const size_t bit = state % (cubin.n * 8);
    cubin.at[bit / 8] ^= (unsigned char)(1 << bit % 8);
    ask_damaged(cubin.at, cubin.n, &targets);
    cubin.at[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  free(cubin.at);
}
END_TEST

// ---- small parts --------------------------------------------------------------------------------

START_TEST(instructions_are_printed) {
  static const struct {
    uint64_t low, high;
    const char *text;
  } words[] = {
      {0x00000045549e7223, 0x083fe200000000ad, "FFMA R158, R84, R69.reuse, R173"},
      {0x000080000000791a, 0x000fc80000000000, "DEPBAR.LE SB0, 0x0"},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    unsigned char text[SASS_BYTES];
    memcpy(text, &words[i].low, 8);
    memcpy(text + 8, &words[i].high, 8);
    ck_assert_str_eq(sass_text(arena, sass_decode(arena, text, sizeof text, 90).inst),
                     words[i].text);
  }
}
END_TEST

// The lines of lessons.
START_TEST(instructions_are_read_from_a_line) {
  static const char *const bad[] = {"",         "FMAF(R1)",   "FFMA(R1,R2", "FFMA(R1,R2,R3,R4,R5)",
                                    "FFMA:x1",  "FFMA:s",     "FFMA:w9",    "0FFMA",
                                    "600*FFMA", "FFMA(R999)", "FFMA)"};
  SassCode code;
  const char *why;
  ck_assert(sass_line_read(arena, "LDS(R8,R2):b0;2*FFMA(R20,R8.reuse,RZ,R20):w0:s4", &code, &why));
  ck_assert_int_eq(code.n, 3);
  ck_assert_int_eq(code.inst[0].writes_scoreboard, 0);
  ck_assert_int_eq(code.inst[0].bytes, 16);
  ck_assert_int_eq((int)code.inst[2].wait, 1);
  ck_assert_int_eq(code.inst[2].stall, 4);
  ck_assert_int_eq((int)code.inst[2].reuse, 1);
  ck_assert_int_eq(code.inst[2].read[1], SASS_NO_REGISTER);
  ck_assert_int_eq(code.inst[2].read[2], 20);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ck_assert_msg(!sass_line_read(arena, bad[i], &code, &why), "%s", bad[i]);
    ck_assert_ptr_nonnull(why);
  }
}
END_TEST

START_TEST(code_travels_as_digits) {
  KernelTexts texts = {2, {{"a", "00ff7f"}, {"b", "0g"}}};
  const ElfBytes a = kernel_text_bytes(arena, &texts, "a");
  ck_assert_int_eq(a.end - a.at, 3);
  ck_assert_mem_eq(a.at, "\x00\xff\x7f", 3);
  ck_assert_ptr_null(kernel_text_bytes(arena, &texts, "b").at);
  ck_assert_ptr_null(kernel_text_bytes(arena, &texts, "c").at);
}
END_TEST

Suite *suite_why(void) {
  Suite *suite = suite_create("why");
  TCase *tcase = tcase_create("why");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 300);
  tcase_add_test(tcase, a_schedule_is_played);
  tcase_add_test(tcase, the_screen_adds_up);
  tcase_add_test(tcase, a_wait_for_wgmma_is_named);
  tcase_add_test(tcase, cold_caches_cost_clocks);
  tcase_add_test(tcase, loops_are_played_where_launches_cannot_be);
  tcase_add_test(tcase, a_stand_in_says_so);
  tcase_add_test(tcase, a_stand_in_goes_by_the_fits_of_the_gpu_at_hand);
  tcase_add_test(tcase, samples_stand_beside);
  tcase_add_test(tcase, a_cubin_has_clocks_a_turn);
  tcase_add_test(tcase, a_launch_has_clocks);
  tcase_add_test(tcase, bad_files_are_refused);
  tcase_add_test(tcase, damaged_cubins_are_refused);
  tcase_add_test(tcase, instructions_are_printed);
  tcase_add_test(tcase, instructions_are_read_from_a_line);
  tcase_add_test(tcase, code_travels_as_digits);
  suite_add_tcase(suite, tcase);
  return suite;
}
