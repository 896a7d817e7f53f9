// Blocks per SM by CUDA's rules: published examples, and the rules by hand.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "model/readings/cost/occupancy.h"

Suite *suite_occupancy(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// Limits of compute capability 8.0, as the CUDA C++ Programming Guide has them.
static Target a100(void) {
  return (Target){.max_threads_per_block = 1024,
                  .max_warps_per_sm = 64,
                  .max_blocks_per_sm = 32,
                  .regs_per_sm = 65536,
                  .max_regs_per_thread = 255,
                  .reg_alloc_unit = 256,
                  .warp_alloc_unit = 4,
                  .smem_per_sm = 167936,
                  .smem_per_block = 166912,
                  .smem_reserved_per_block = 1024,
                  .smem_alloc_unit = 128};
}

START_TEST(each_step_has_its_rule) {
  static const struct {
    BlockNeeds needs;
    int64_t step[OCCUPANCY_STEPS], blocks;
  } cases[] = {
      // A warp of 92 registers takes 3072; 5 fit into a part of 16384, 20 in all, 2 blocks of 7.
      {{92, 224, 16384}, {2, 9, 9, 32}, 2},
      // CUDA's best practices: 32 registers leave room for all 2048 threads, 33 take 40.
      {{32, 256, 0}, {8, 164, 8, 32}, 8},
      {{33, 256, 0}, {6, 164, 8, 32}, 6},
      {{37, 128, 0}, {12, 164, 16, 32}, 12},
      // Shared memory: 1 KiB is the system's for each block.
      {{32, 32, 166912}, {64, 1, 64, 32}, 1},
      {{32, 32, 82944}, {64, 2, 64, 32}, 2},
      {{32, 32, 82945}, {64, 1, 64, 32}, 1},
      // 33 threads are two warps.
      {{16, 33, 0}, {64, 164, 32, 32}, 32},
      {{16, 65, 0}, {42, 164, 21, 32}, 21},
      {{255, 256, 0}, {1, 164, 8, 32}, 1},
      {{0, 1, 0}, {32, 164, 64, 32}, 32},
  };
  const Target target = a100();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const Occupancy o = occupancy_of(&target, &cases[i].needs);
    for (int step = 0; step < OCCUPANCY_STEPS; step++)
      ck_assert_msg(o.step[step] == cases[i].step[step], "%zu %s: %lld", i,
                    occupancy_step_name((OccupancyStep)step), (long long)o.step[step]);
    ck_assert_int_eq(o.blocks, cases[i].blocks);
    ck_assert_ptr_null(o.illegal);
  }
}
END_TEST

START_TEST(no_block_can_be_launched_beyond_a_limit) {
  static const struct {
    BlockNeeds needs;
    const char *says;
  } cases[] = {{{32, 1025, 0}, "threads"},
               {{256, 32, 0}, "registers than a thread"},
               {{32, 32, 166913}, "shared memory"},
               {{128, 1024, 0}, "registers than an SM"}};
  const Target target = a100();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const Occupancy o = occupancy_of(&target, &cases[i].needs);
    ck_assert_int_eq(o.blocks, 0);
    ck_assert(o.illegal && strstr(o.illegal, cases[i].says));
  }
}
END_TEST

// The next better value against a search through all of them.
START_TEST(the_next_value_is_the_largest_that_helps) {
  const Target target = a100();
  for (int registers = 1; registers <= 255; registers += 7)
    for (int threads = 1; threads <= 1024; threads += 93) {
      const BlockNeeds needs = {registers, threads, registers * 300};
      const int64_t now = occupancy_of(&target, &needs).blocks;
      int64_t found = -1;
      for (int r = registers - 1; r >= 1 && found < 0; r--) {
        const BlockNeeds trial = {r, threads, needs.smem_bytes};
        if (occupancy_of(&target, &trial).blocks > now) found = r;
      }
      Occupancy then;
      const int64_t next = occupancy_next(&target, &needs, OCCUPANCY_REGISTERS, &then);
      ck_assert_msg(next == found, "%d registers, %d threads: %lld, not %lld", registers, threads,
                    (long long)next, (long long)found);
    }
}
END_TEST

static const struct {
  const char *arguments;
  int status;
  const char *says;
} CALLS[] = {
    {"occupancy --regs 32 --threads 128 --smem 999999 --target h200", 1,
     "limits  with 232448 bytes: 1 block\n"},
    {"occupancy --regs 92 --threads 224 --smem 16384 --target a100 --json", 0,
     "\"blocks_per_sm\":2,\"warps_per_sm\":14,\"occupancy\":0.21875,\"limiter\":\"registers\""},
    {"occupancy --regs 92 --threads 224 --smem 16384 --target a100", 0,
     "registers         2 blocks  limits  with 80 registers: 3 blocks\n"},
    {"occupancy --regs 32 --threads 256 --smem 131072 --target rtx4090", 1,
     "more shared memory than a block may ask for"},
    {"occupancy --regs 32 --threads 256", 2, "--target is needed"},
    {"occupancy --regs 32 --target a100", 2, "--regs and --threads are needed"},
    {"occupancy --regs 32 --threads 256 --target a1000", 2, "nearest: a100"},
    {"occupancy --regs 32 --threads 0 --target a100", 2, "from 1 to"},
    {"occupancy --regs -1 --threads 32 --target a100", 2, "from 0 to"},
    {"occupancy 92 --regs 32 --threads 256 --target a100", 2, "only options"},
};

START_TEST(calls_answer) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, CALLS[_i].arguments);
  ck_assert_msg(run.status == CALLS[_i].status, "%s: %d\n%s%s", CALLS[_i].arguments, run.status,
                run.out, run.err);
  ck_assert_msg(strstr(run.out, CALLS[_i].says) || strstr(run.err, CALLS[_i].says), "%s:\n%s%s",
                CALLS[_i].arguments, run.out, run.err);
}
END_TEST

Suite *suite_occupancy(void) {
  Suite *suite = suite_create("occupancy");
  TCase *rules = tcase_create("rules");
  tcase_add_checked_fixture(rules, setup, teardown);
  tcase_add_test(rules, each_step_has_its_rule);
  tcase_add_test(rules, no_block_can_be_launched_beyond_a_limit);
  tcase_add_test(rules, the_next_value_is_the_largest_that_helps);
  tcase_add_loop_test(rules, calls_answer, 0, (int)(sizeof CALLS / sizeof CALLS[0]));
  suite_add_tcase(suite, rules);
  return suite;
}
