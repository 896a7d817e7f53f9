// The ways of warps that a run on the CPU leaves, held against those that are computed from the
// launch alone: where no branch and no address follows from memory, they are the same, instruction
// by instruction, and what their accesses cost, too. Then the command that plays them.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/open/open_input.h"
#include "cli_harness.h"
#include "kernels/toolchain/machine/access_costs.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/tool.h"
#include "machine/mc_ways.h"
#include "machine_case.h"
#include "open_case.h"
#include "ptx/run/run.h"

Suite *suite_machine_ways(void);

enum { WARPS_MAX = 16, SM = 90, PARAMETERS = 0x210 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static SassCode code_of(const char *id, const char *kernel) {
  size_t n = 0;
  const char *cubin = machine_case_file(arena, id, ".cubin", &n);
  const ElfBytes text = elf_section(cubin, n, arena_printf(arena, ".text.%s", kernel));
  ck_assert_ptr_nonnull(text.at);
  return sass_decode(arena, text.at, (size_t)(text.end - text.at), SM);
}

static int index_of(const char *id) {
  int i = 0;
  while (i < open_case_count() && strcmp(open_case_id(i), id) != 0) i++;
  ck_assert_int_lt(i, open_case_count());
  return i;
}

static void check_way(const char *id, int warp, const SassWay *ran, const SassWay *computed) {
  ck_assert_msg(ran->ended && computed->ended, "%s, warp %d: not to the end", id, warp);
  ck_assert_msg(ran->n_stretches == computed->n_stretches,
                "%s, warp %d: %d stretches in the run, %d computed", id, warp, ran->n_stretches,
                computed->n_stretches);
  for (int i = 0; i < ran->n_stretches; i++)
    ck_assert_msg(ran->stretch[i].first == computed->stretch[i].first &&
                      ran->stretch[i].last == computed->stretch[i].last,
                  "%s, warp %d, stretch %d: %x-%x in the run, %x-%x computed", id, warp, i,
                  ran->stretch[i].first, ran->stretch[i].last, computed->stretch[i].first,
                  computed->stretch[i].last);
  ck_assert_int_eq(ran->instructions, computed->instructions);
  ck_assert_int_eq(ran->n_events, computed->n_events);
  for (int i = 0; i < ran->n_events; i++)
    ck_assert_mem_eq(&ran->event[i], &computed->event[i], sizeof ran->event[i]);
}

// Kernels in which block (x, 0, 0) of threads (x, 0, 0) goes a way that follows from the launch.
static const char *const plain[] = {"k05", "k09", "k11", "k19"};
enum { N_PLAIN = sizeof plain / sizeof plain[0] };

START_TEST(test_ways_of_a_run_are_those_of_the_launch) {
  const char *id = plain[_i];
  const OpenCase c = open_case_load_module(arena, index_of(id), machine_case_recorded(arena, id));
  const SassCode code = code_of(id, c.kernel->name);
  const int threads = c.launch.block[0], warps = threads / SASS_LANES;
  ck_assert(c.launch.block[1] == 1 && warps <= WARPS_MAX);
  AccessCosts ran = access_costs_new(arena, &code), computed = access_costs_new(arena, &code);
  McWays *ways = mc_ways_new(arena, &code, warps, &(SassListener){access_costs_note, &ran});
  ptx_machine_trace(c.machine, mc_ways_step, ways);
  ptx_machine_watch(c.machine, mc_ways_access, ways);
  ck_assert_int_eq(ptx_machine_run(c.machine, 1, 0, 0), PTX_DONE);
  const SassWay *way = mc_ways_take(ways);

  SassLaunch launch = {.threads = threads, .block = 1, .blocks = c.launch.grid[0]};
  memcpy(launch.constant, &threads, sizeof threads);
  memcpy(launch.constant + PARAMETERS, c.machine->param.bytes, (size_t)c.kernel->param_bytes);
  const SassPlan *plan = sass_plan(arena, &code);
  const SassListener listener = {access_costs_note, &computed};
  for (int w = 0; w < warps; w++) {
    const SassWay of_launch = sass_run(arena, plan, &launch, w, &listener);
    check_way(id, w, &way[w], &of_launch);
  }
  access_costs_finish(&ran);
  access_costs_finish(&computed);
  int told = 0;
  for (int i = 0; i < code.n; i++) {
    // Of what is carried out more often, the first executions alone are computed.
    if (!ran.n[i] || ran.n[i] != computed.n[i]) continue;
    told++;
    ck_assert_msg(ran.wavefronts[i] == computed.wavefronts[i] && ran.lines[i] == computed.lines[i],
                  "%s, instruction %x: %g wavefronts and %g lines in the run, %g and %g computed",
                  id, i, ran.wavefronts[i], ran.lines[i], computed.wavefronts[i],
                  computed.lines[i]);
  }
  ck_assert_int_gt(told, 3);
}
END_TEST

// A question that is asked again in vain has been asked once: the waits of c10 follow from data
// that bulk copies bring, and the warps that wait poll.
START_TEST(test_polls_are_one_question) {
  const SassInst *asks = NULL;
  SassInst inst[4];
  const uint64_t nop[2] = {0x0000000000007918, 0x000fc00000000000},
                 // SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R2;  @!P0 BRA -0x20;  EXIT
      wait[2] = {0x00000002ff0075a7, 0x000e240008000144},
                 back[2] = {0xfffffffc00f88947, 0x000fea000383ffff},
                 end[2] = {0x000000000000794d, 0x000fea0003800000};
  uint64_t words[8];
  memcpy(words, nop, 16), memcpy(words + 2, wait, 16), memcpy(words + 4, back, 16);
  memcpy(words + 6, end, 16);
  const SassCode code = sass_decode(arena, (const unsigned char *)words, sizeof words, SM);
  ck_assert_int_eq(code.n, 4);
  memcpy(inst, code.inst, sizeof inst);
  asks = &inst[1];
  ck_assert(sass_asks_mbarrier(asks));
  ck_assert(!sass_asks_mbarrier(&inst[0]) && !sass_asks_mbarrier(&inst[3]));

  // The machine's part in it: what it tells of a warp that asks three times.
  uint64_t *frame = ARENA_ARRAY(arena, uint64_t, 512 * SASS_LANES);
  PtxBlock block = {.rank = 0};
  PtxMachine *machine = ARENA_NEW(arena, PtxMachine);
  PtxWarp *warp = ARENA_NEW(arena, PtxWarp);
  *warp = (PtxWarp){.block = &block, .frame = frame, .mask = ~0u};
  McWays *ways = mc_ways_new(arena, &code, 1, NULL);
  static const int steps[][2] = {{0, 1}, {1, 2}, {2, 1}, {1, 2}, {2, 1}, {1, 2}, {3, 4}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    warp->pc = steps[i][0], warp->next = steps[i][1];
    mc_ways_step(ways, machine, warp, warp->pc, ~0u);
  }
  const SassWay *way = mc_ways_take(ways);
  ck_assert(way->ended);
  ck_assert_int_eq(way->n_events, 1);
  ck_assert_int_eq(way->n_stretches, 1);
  ck_assert_int_eq(way->stretch[0].first, 0);
  ck_assert_int_eq(way->stretch[0].last, 3);
  ck_assert_int_eq(way->instructions, 4);
}
END_TEST

// ---- the command --------------------------------------------------------------------------------

static double json_number(const JsonValue *object, const char *key) {
  Diags diags = diags_new(arena);
  double out = 0;
  ck_assert_msg(json_require_double(object, key, &out, &diags), "%s", diags_text(arena, &diags));
  return out;
}

static bool has_tool(void) { return cli_has_program() && sass_find_tool(arena); }

#define K09 \
  "open tests/data/machine/open/k09.cubin --launch grid=3x4,block=256 --arg 256 --arg 192 "
#define K09_ARGS \
  "--arg 80 --arg f32:1.25 --arg mem:81920 --arg mem:61440 --arg f32:0.5 --arg mem:196608 "

START_TEST(test_why_of_a_run_names_loops_and_lines) {
  if (!has_tool()) return;
  const CliRun run = cli_run(arena, K09 K09_ARGS "--why --what-if --json");
  ck_assert_msg(run.status == 0, "%s%s", run.out, run.err);
  const JsonValue *json = cli_json(arena, &run), *kernel = json_object_get(json, "kernel"),
                  *clocks = json_object_get(kernel, "clocks"),
                  *loops = json_object_get(json, "loops");
  const double value = json_number(clocks, "value");
  ck_assert(value > 3000 && value < 60000);
  ck_assert(json_number(clocks, "low") < value && json_number(clocks, "high") > value);
  ck_assert_int_ge(json_count(loops), 1);
  // K is 80, a slab 8 or 16: the loop's turns follow from the argument.
  const double turns = json_number(json_at(loops, 0), "turns");
  const CliRun twice =
      cli_run(arena, K09
              "--arg 160 --arg f32:1.25 --arg mem:163840 --arg mem:122880 --arg f32:0.5 "
              "--arg mem:196608 --why --json");
  ck_assert_msg(twice.status == 0, "%s%s", twice.out, twice.err);
  const JsonValue *longer = json_object_get(cli_json(arena, &twice), "loops");
  ck_assert_double_eq_tol(json_number(json_at(longer, 0), "turns"), 2 * turns, 1.01);
  const CliRun text = cli_run(arena, K09 K09_ARGS "--why");
  ck_assert_ptr_nonnull(strstr(text.out, "played clock by clock"));
  ck_assert_ptr_nonnull(strstr(text.out, "clocks from launch to end"));
}
END_TEST

// Kernels of users against the clocks that an H200 counted: each lies in the range that is told,
// and half of them within 8 %.
START_TEST(test_clocks_of_users_are_those_counted) {
  if (!has_tool()) return;
  FILE *file = fopen("tests/data/h200_user_clocks.tsv", "r");
  ck_assert_ptr_nonnull(file);
  char line[512];
  int n = 0, near = 0;
  while (fgets(line, sizeof line, file)) {
    char id[8], args[512];
    int counted = 0, mhz = 0;
    if (line[0] == '#') continue;
    line[strcspn(line, "\n")] = 0;
    ck_assert_int_eq(sscanf(line, "%7s %d %d %511[^\n]", id, &counted, &mhz, args), 4);
    const CliRun run = cli_run(
        arena,
        arena_printf(arena, "open tests/data/machine/open/%s.cubin %s --why --cold --mhz %d --json",
                     id, args, mhz));
    ck_assert_msg(run.status == 0, "%s: %s", id, run.err);
    const JsonValue *clocks =
        json_object_get(json_object_get(cli_json(arena, &run), "kernel"), "clocks");
    const double value = json_number(clocks, "value");
    ck_assert_msg(json_number(clocks, "low") <= counted && counted <= json_number(clocks, "high"),
                  "%s: %.0f clocks, %d were counted", id, value, counted);
    near += fabs(value / counted - 1) <= 0.08;
    n++;
  }
  fclose(file);
  ck_assert_int_eq(n, 10);
  ck_assert_int_ge(2 * near, n);
}
END_TEST

// BAR: number and threads are immediates or registers, or one register has both.
static const struct {
  uint64_t word[2];
  uint32_t r9, number, threads;
  bool arrives;
} barriers[] = {
    {{0x0042000000007b1d, 0x004fec0000010000}, 0, 1, 128, false},         // BAR.SYNC 0x1, 0x80
    {{0x000200090000751d, 0x0001ec0000010000}, 3, 3, 128, false},         // R9, 0x80
    {{0x000000090000731d, 0x0001e40000010000}, 0x800003, 3, 128, false},  // BAR.SYNC R9, R9
    {{0x00c000090000791d, 0x000ff00000002000}, 96, 3, 96, true},          // BAR.ARV 0x3, R9
    {{0x0000000000007b1d, 0x03cfe20000010000}, 0, 0, 0, false},           // BAR.SYNC 0x0
};

static uint32_t only_r9(void *context, bool uniform, int number, uint32_t lanes) {
  (void)lanes;
  return !uniform && number == 9 ? *(const uint32_t *)context : 0;
}

START_TEST(test_a_barrier_says_its_number_and_threads) {
  const SassCode code =
      sass_decode(arena, (const unsigned char *)barriers[_i].word, sizeof barriers[_i].word, SM);
  uint32_t r9 = barriers[_i].r9;
  SassEvent event;
  ck_assert_int_eq(code.n, 1);
  ck_assert(sass_event_of(&code.inst[0], 0, ~0u, only_r9, &r9, &event));
  ck_assert_int_eq(event.address, barriers[_i].number);
  ck_assert_int_eq(event.value, barriers[_i].threads);
  ck_assert_int_eq(sass_only_arrives(&code.inst[0]), barriers[_i].arrives);
}
END_TEST

// Named barriers, some of which warps pass by; bulk copies; number and threads in one register.
static const char *const signals[] = {
    "open tests/data/open/c04.ptx --launch grid=4,block=128 --arg mem:147456 --arg mem:1024 --arg "
    "9 ",
    "open tests/data/open/c10.ptx --launch grid=3,block=160 --arg mem:36864 --arg mem:6144 --arg "
    "6 ",
    "open tests/data/machine/barrier.ptx --launch grid=1,block=128 --arg mem:512 --arg mem:512 "
    "--arg 3 --arg 128 ",
};

START_TEST(test_signals_of_all_kinds_come) {
  if (!has_tool() || !open_find_tool(arena, "ptxas")) return;
  const CliRun run = cli_run(arena, arena_printf(arena, "%s--why --json", signals[_i]));
  const JsonValue *kernel = json_object_get(cli_json(arena, &run), "kernel");
  const double value = json_number(json_object_get(kernel, "clocks"), "value");
  ck_assert(value > 3000 && value < 60000);
  const CliRun against = cli_run(arena, arena_printf(arena, "%s--against machine", signals[_i]));
  ck_assert_msg(strstr(against.out, "memory is equal"), "%s%s", against.out, against.err);
}
END_TEST

// Options that would be passed over are refused.
static const char *const together[] = {"--what-if",        "--cold",
                                       "--mhz 1700",       "--why --every-order",
                                       "--why --markdown", "--machine --against machine"};

START_TEST(test_options_that_do_not_go_together) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, arena_printf(arena, K09 K09_ARGS "%s", together[_i]));
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "--"));
}
END_TEST

// 128 MiB that L2 does not hold take 55,364 clocks at 4,800 GB/s and 1,980 MHz, the rate on paper,
// whatever would be if; what L2 holds takes no such time.
START_TEST(test_dram_bounds_what_it_has_to_move) {
  if (!has_tool() || !open_find_tool(arena, "ptxas")) return;
#define COPY "open tests/data/machine/copy.ptx --launch grid="
  const CliRun large = cli_run(
      arena, COPY "16384,block=256 --arg mem:67108864 --arg mem:67108864 --why --what-if --json");
  ck_assert_msg(large.status == 0, "%s%s", large.out, large.err);
  const JsonValue *kernel = json_object_get(cli_json(arena, &large), "kernel"),
                  *clocks = json_object_get(kernel, "clocks"),
                  *what_if = json_object_get(kernel, "what_if");
  ck_assert_double_gt(json_number(clocks, "value"), 55364);
  ck_assert_double_lt(json_number(clocks, "value"), 61000);
  ck_assert_double_gt(json_number(what_if, "loads_near"), 55364);
  const CliRun small =
      cli_run(arena, COPY "1024,block=256 --arg mem:4194304 --arg mem:4194304 --why --json");
  const JsonValue *few = json_object_get(cli_json(arena, &small), "kernel");
  ck_assert_double_lt(json_number(json_object_get(few, "clocks"), "value"), 12000);
}
END_TEST

// PTX where there is an assembler: the same report from its machine code.
START_TEST(test_machine_code_is_run_in_place_of_ptx) {
  if (!has_tool() || !open_find_tool(arena, "ptxas")) return;
#define K01                                                                                      \
  "open tests/data/open/k01.ptx --launch grid=8x7,block=32x8 --arg mem:200000 --arg mem:200000 " \
  "--arg 250 --arg 200 --json"
  const CliRun ptx = cli_run(arena, K01), machine = cli_run(arena, K01 " --machine");
  ck_assert_msg(ptx.status == 0 && machine.status == 0, "%s%s", ptx.err, machine.err);
  const JsonValue *a = cli_json(arena, &ptx), *b = cli_json(arena, &machine);
  ck_assert_double_eq(json_number(a, "wavefronts"), json_number(b, "wavefronts"));
  ck_assert(json_number(a, "lane_instructions") != json_number(b, "lane_instructions"));
}
END_TEST

Suite *suite_machine_ways(void) {
  Suite *suite = suite_create("machine_ways");
  TCase *tcase = tcase_create("ways");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_ways_of_a_run_are_those_of_the_launch, 0, N_PLAIN);
  tcase_add_test(tcase, test_polls_are_one_question);
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, test_why_of_a_run_names_loops_and_lines);
  tcase_add_test(tcase, test_machine_code_is_run_in_place_of_ptx);
  tcase_add_loop_test(tcase, test_options_that_do_not_go_together, 0,
                      sizeof together / sizeof *together);
  tcase_add_loop_test(tcase, test_a_barrier_says_its_number_and_threads, 0,
                      sizeof barriers / sizeof *barriers);
  tcase_add_loop_test(tcase, test_signals_of_all_kinds_come, 0, sizeof signals / sizeof *signals);
  tcase_add_test(tcase, test_clocks_of_users_are_those_counted);
  tcase_add_test(tcase, test_dram_bounds_what_it_has_to_move);
  suite_add_tcase(suite, tcase);
  return suite;
}
