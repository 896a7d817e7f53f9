// gemmview open --every-order: a ring of one's own, sound and with faults.
#include <check.h>
#include <string.h>

#include "cli_harness.h"

Suite *suite_open_orders(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test open orders"); }
static void teardown(void) { arena_free(arena); }

static const struct {
  const char *name, *says[3];
  int status;
} rings[] = {
    {"sound", {"verdict: proved"}, 0},
    {"more",
     {"verdict: found",
      "deadlock: warp 0 waits for the mbarrier at shared + 1024 phase 1; warp 4, which would end "
      "that, waits for the mbarrier at shared + 1040 phase 0, which expects 5 arrivals and gets 4",
      "cure: initialise the mbarrier at shared + 1040 for 4 arrivals"},
     1},
    {"early", {"verdict: found", "refilled: warp 4 writes shared + 0 … 511 in the background"}, 1},
    {"silent", {"verdict: found", "which expects 4 arrivals and gets 3"}, 1},
    {"bytes", {"verdict: found", "which expects 16 bytes more than come"}, 1},
    {"unfenced",
     {"verdict: found", "missing fence: warp 4 writes shared + 0 … 511", "fence.proxy.async"},
     1},
};

static CliRun run_ring(const char *name, const char *option) {
  return cli_run(arena, arena_printf(arena,
                                     "open tests/data/orders/ring_%s.ptx %s --launch "
                                     "grid=1,block=160 --arg mem:8192 --arg mem:8192 --arg 6",
                                     name, option));
}

START_TEST(a_ring_is_proved_or_broken) {
  if (!cli_has_program()) return;
  const CliRun run = run_ring(rings[_i].name, "--every-order");
  ck_assert_msg(run.status == rings[_i].status, "%d: %s%s", run.status, run.out, run.err);
  for (int i = 0; i < 3 && rings[_i].says[i]; i++)
    ck_assert_msg(strstr(run.out, rings[_i].says[i]), "no \"%s\" in %s", rings[_i].says[i],
                  run.out);
}
END_TEST

// What stands in front of griddepcontrol.wait the grid before may still write; a pair of blocks
// with a multicast, arrivals from afar and a barrier of the cluster at its end, or none.
static const struct {
  const char *file, *launch, *says;
  int status;
} others[] = {
    {"ring_grid", "grid=1,block=160", "verdict: proved", 0},
    {"ring_grid_late", "grid=1,block=160", "left out: late writes of the grid before", 0},
    {"pair_sound", "grid=2,block=64,cluster=2", "verdict: proved", 0},
    {"pair_one", "grid=2,block=64,cluster=2",
     "cure: initialise the mbarrier at shared + 264 of rank 0 for 2 arrivals: tried, and then "
     "proved",
     1},
    {"pair_no_end", "grid=2,block=64,cluster=2",
     "block of the cluster gone: warp 0 of rank 1 arrives at the mbarrier at shared + 264 of rank "
     "0",
     1},
};

START_TEST(grids_and_clusters_are_followed) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(
      arena, arena_printf(arena,
                          "open tests/data/orders/%s.ptx --every-order --launch %s --arg mem:8192 "
                          "--arg mem:8192 --arg 5",
                          others[_i].file, others[_i].launch));
  ck_assert_msg(run.status == others[_i].status, "%d: %s%s", run.status, run.out, run.err);
  ck_assert_msg(strstr(run.out, others[_i].says), "%s", run.out);
}
END_TEST

// Threads of one block that read what those of another wrote: arrivals and waits must both be of
// the cluster's scope, or stand beside fences that are.
static const struct {
  const char *name, *says[2];
} handovers[] = {
    {"sound", {"verdict: proved", ""}},
    {"fenced", {"verdict: proved", ""}},
    {"told", {"released it only in the scope of their own block", ".release.cluster: tried"}},
    {"waited", {"the wait for it has only the scope of one block", ".acquire.cluster: tried"}},
    {"relaxed", {"verdict: found", ".release.cluster and .acquire.cluster"}},
};

START_TEST(scopes_are_asked_of_both_sides) {
  if (!cli_has_program()) return;
  const CliRun run =
      cli_run(arena, arena_printf(arena,
                                  "open tests/data/orders/handover_%s.ptx --every-order --launch "
                                  "grid=2,block=32,cluster=2 --arg mem:128",
                                  handovers[_i].name));
  ck_assert_int_eq(run.status, _i > 1);
  for (int i = 0; i < 2; i++) ck_assert_msg(strstr(run.out, handovers[_i].says[i]), "%s", run.out);
}
END_TEST

// In one order and in every order the same: no warp's product is over before all four asked for it.
START_TEST(four_warps_multiply_together) {
  if (!cli_has_program()) return;
  static const char *const says[] = {"no race, no unwritten read", "verdict: proved"};
  for (int every = 0; every < 2; every++) {
    const CliRun run =
        cli_run(arena, arena_printf(arena,
                                    "open tests/data/orders/four.ptx %s --launch grid=1,block=128 "
                                    "--arg mem:2048 --arg 4",
                                    every ? "--every-order" : ""));
    ck_assert_msg(run.status == 0 && strstr(run.out, says[every]), "%s%s", run.out, run.err);
  }
}
END_TEST

// Twelve groups of products in flight, and a tile that a copy stores from a part of a slot, are
// told apart from what else is there.
START_TEST(groups_and_parts_of_slots_are_told_apart) {
  if (!cli_has_program()) return;
  static const char *const says[] = {"verdict: proved",
                                     "refilled: warp 0 writes shared + 1024 … 1025 while warp 0 "
                                     "reads shared + 1024 … 1025 in the background"};
  for (int late = 0; late < 2; late++) {
    const CliRun run =
        cli_run(arena, arena_printf(arena,
                                    "open tests/data/orders/flight%s.ptx --every-order --launch "
                                    "grid=1,block=128 --arg mem:2048 --arg mem:1024 --arg 3",
                                    late ? "_late" : ""));
    ck_assert_msg(run.status == late && strstr(run.out, says[late]), "%s%s", run.out, run.err);
  }
}
END_TEST

// Barriers that await more, or get more, than come. A run that ends in a deadlock does not tell
// what would have come behind it: the cause is the mbarrier that has some of its arrivals.
static const struct {
  const char *file, *kernel, *launch, *says[2];
  int status;
} counts[] = {
    {"sound", "ring", "grid=1,block=160 --arg mem:8192", {"verdict: proved"}, 0},
    {"sound", "named", "grid=1,block=256", {"verdict: proved"}, 0},
    {"more",
     "ring",
     "grid=1,block=160 --arg mem:8192",
     {"deadlock: warp 0 waits for the mbarrier at shared + 1024 phase 0, which expects 32 arrivals "
      "and gets 1",
      "cure: initialise the mbarrier at shared + 1024 for 1 arrivals"},
     1},
    {"more",
     "named",
     "grid=1,block=256",
     {"where 8 have to meet and 4 come",
      "await the 4 warps that come, or let 4 more come: tried, and then proved"},
     1},
    {"whole",
     "ring",
     "grid=1,block=160 --arg mem:8192",
     {"one arrival too many: warp 0 arrives at the mbarrier at shared + 1040 once too often"},
     1},
};

START_TEST(barriers_await_what_comes) {
  if (!cli_has_program()) return;
  const CliRun run =
      cli_run(arena, arena_printf(arena,
                                  "open tests/data/orders/counts_%s.ptx --kernel %s --every-order "
                                  "--launch %s --arg mem:8192 --arg 6",
                                  counts[_i].file, counts[_i].kernel, counts[_i].launch));
  ck_assert_int_eq(run.status, counts[_i].status);
  for (int i = 0; i < 2 && counts[_i].says[i]; i++)
    ck_assert_msg(strstr(run.out, counts[_i].says[i]), "no \"%s\" in %.1500s", counts[_i].says[i],
                  run.out);
}
END_TEST

// Two warps hand tensor memory on at an mbarrier. Of fences that are missing behind one that orders
// memory the ISA leaves it open; they are missing behind one that does not, and so is a wait.
static const struct {
  const char *name, *says;
  int status;
} tensors[] = {
    {"fenced", "verdict: proved", 0},
    {"plain", "left out: fences of tcgen05 that the PTX ISA's patterns show", 0},
    {"relaxed", "verdict: found", 1},
    {"pattern", "verdict: proved", 0},
    {"early", "cure: put tcgen05.wait::st there", 1},
};

START_TEST(tensor_memory_is_handed_on) {
  if (!cli_has_program()) return;
  const CliRun run =
      cli_run(arena, arena_printf(arena,
                                  "open tests/data/orders/tensor_%s.ptx --every-order --launch "
                                  "grid=1,block=160 --arg mem:128",
                                  tensors[_i].name));
  ck_assert_msg(run.status == tensors[_i].status && strstr(run.out, tensors[_i].says), "%s%s",
                run.out, run.err);
}
END_TEST

// setmaxnreg: who takes registers waits until others have given theirs back.
static const struct {
  const char *name, *says;
} registers[] = {
    {"sound", "verdict: proved"},
    {"more", "takes 3072 registers, of which 2048 are free"},
    {"late", "takes 2816 registers, of which 0 are free"},
};

START_TEST(registers_are_given_back_before_they_are_taken) {
  if (!cli_has_program()) return;
  const CliRun run =
      cli_run(arena, arena_printf(arena,
                                  "open tests/data/orders/registers_%s.ptx --every-order --launch "
                                  "grid=1,block=256 --arg mem:512",
                                  registers[_i].name));
  const bool predicts = strstr(run.out, "the number that a thread begins with is not known");
  ck_assert_msg(predicts || strstr(run.out, registers[_i].says), "%s", run.out);
  ck_assert_int_eq(run.status, !predicts && _i > 0);
}
END_TEST

// Each step says the line of the user's file; lanes that arrive together are one step.
START_TEST(steps_have_their_lines) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena,
                             "open tests/data/open/c10.ptx --every-order --json --launch "
                             "grid=3,block=160 --arg mem:36864 --arg mem:6144 --arg 6");
  ck_assert_int_eq(run.status, 1);
  const JsonValue *root = cli_json(arena, &run), *witness = json_object_get(root, "witness");
  const int n = json_count(witness), lines[] = {30, 31, 32};
  ck_assert_int_le(n, 40);
  for (int i = 0; i < 3; i++) {
    const JsonValue *step = json_at(witness, n - 3 + i);
    Diags diags = diags_new(arena);
    const char *file = "";
    int line = 0;
    ck_assert(json_require_string(step, "file", &file, &diags) &&
              json_require_int(step, "line", 1, 1000, &line, &diags));
    ck_assert_str_eq(file, "c10_mbarrier_bulk.cu");
    ck_assert_int_eq(line, lines[i]);
  }
}
END_TEST

// What no order changes one order says too: that readers of a slot have not fenced.
START_TEST(one_order_says_the_same_of_a_fence) {
  if (!cli_has_program()) return;
  const CliRun sound = run_ring("sound", ""), unfenced = run_ring("unfenced", "");
  ck_assert_int_eq(sound.status, 0);
  ck_assert_int_eq(unfenced.status, 1);
  ck_assert_msg(strstr(unfenced.out, "missing_fence: "), "%s", unfenced.out);
}
END_TEST

Suite *suite_open_orders(void) {
  Suite *suite = suite_create("open_orders");
  TCase *tests = tcase_create("open_orders");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, a_ring_is_proved_or_broken, 0, sizeof rings / sizeof *rings);
  tcase_add_loop_test(tests, grids_and_clusters_are_followed, 0, sizeof others / sizeof *others);
  tcase_add_loop_test(tests, scopes_are_asked_of_both_sides, 0,
                      sizeof handovers / sizeof *handovers);
  tcase_add_loop_test(tests, registers_are_given_back_before_they_are_taken, 0,
                      sizeof registers / sizeof *registers);
  tcase_add_test(tests, four_warps_multiply_together);
  tcase_add_loop_test(tests, tensor_memory_is_handed_on, 0, 5);
  tcase_add_test(tests, groups_and_parts_of_slots_are_told_apart);
  tcase_add_loop_test(tests, barriers_await_what_comes, 0, sizeof counts / sizeof *counts);
  tcase_add_test(tests, steps_have_their_lines);
  tcase_add_test(tests, one_order_says_the_same_of_a_fence);
  suite_add_tcase(suite, tests);
  return suite;
}
