// The list of what a kernel with roles must contain: all of it stands in every rung that has roles
// or tensor memory, and a breakage shows as the line that one would expect.
#include "model/readings/rules/skeleton.h"

#include <check.h>
#include <string.h>

#include "model/interp/breakage.h"
#include "model/ir/program.h"
#include "property.h"

static const char *const ladders[] = {"fp16", "hgemm", "hopper", "blackwell", "attention"};
enum { N_LADDERS = sizeof ladders / sizeof *ladders };

static const Program *program_of(const char *ladder, const char *rung, const char *knobs) {
  return property_rung(ladder, rung, knobs)->program;
}

static const char *told(const Skeleton *skeleton) {
  Str out = str_new(property_arena);
  for (int i = 0; i < skeleton->n; i++) {
    const SkeletonLine *line = &skeleton->line[i];
    if (line->state != SKELETON_OK)
      str_printf(&out, "%s: %s: %s\n", skeleton_state_name(line->state), line->asked,
                 line->found ? line->found : "");
  }
  return out.text;
}

START_TEST(every_rung_with_roles_has_all_of_it) {
  const Ladder *all = property_ladder(ladders[_i]);
  int n = 0;
  for (int r = 0; r < all->n_rungs; r++) {
    const Model *model = model_build(property_arena, &property_targets, &all->rung[r].schedule);
    ck_assert(model->ok);
    const bool asked =
        program_main(model->program)->n_roles || program_buffer(model->program, ROLE_SUMS);
    const Skeleton *skeleton = skeleton_of(property_arena, model->program);
    ck_assert_int_eq(skeleton->n > 0, asked);
    ck_assert_msg(skeleton->n_bad == 0, "%s/%s\n%s", ladders[_i], all->rung[r].name,
                  told(skeleton));
    n += asked;
  }
  ck_assert_int_gt(n, 0);
}
END_TEST

// What is broken, and which line says so.
static const struct {
  const char *ladder, *rung;
  BreakageId id;
  SkeletonState state;
  const char *asked, *found;  // words of both; found NULL: nothing more is said
} broken[] = {
    {"blackwell", "roles", BREAK_TENSOR_INIT, SKELETON_WRONG, "initialises", "meets its cond"},
    {"blackwell", "roles", BREAK_INIT_FENCE, SKELETON_MISSING, "fence.mbarrier_init", NULL},
    {"hopper", "persistent", BREAK_INIT_FENCE, SKELETON_MISSING, "fence.mbarrier_init", NULL},
    {"blackwell", "roles", BREAK_TENSOR_LANE, SKELETON_WRONG, "allocates", "1 lane of a warp does"},
    {"blackwell", "roles", BREAK_TENSOR_FREE_LANE, SKELETON_WRONG, "gives tensor memory back",
     "1 lane of a warp does"},
    {"blackwell", "roles", BREAK_TENSOR_LEAK, SKELETON_MISSING, "gives tensor memory back", NULL},
    {"blackwell", "roles", BREAK_TENSOR_FREE_EARLY, SKELETON_MISSING, "before anything is freed",
     NULL},
    {"blackwell", "pair", BREAK_PAIR_END, SKELETON_WRONG, "before anything is freed",
     "threads of only one meet"},
    {"blackwell", "pair", BREAK_NO_CLUSTER_START, SKELETON_WRONG, "then all threads meet",
     "threads of only one meet"},
    {"blackwell", "pair", BREAK_PAIR_ALLOC, SKELETON_WRONG, "the allocated columns",
     "of 1 CTA were allocated, 512 of 2"},
    {"blackwell", "pair", BREAK_PAIR_BYTES, SKELETON_WRONG, "the bytes of the boxes",
     "32768 bytes are expected, the boxes have 65536"},
    {"blackwell", "roles", BREAK_POOL_LATE, SKELETON_WRONG, "the launch asks", "73728 asked for"},
    {"blackwell", "roles", BREAK_EMPTY_PHASE, SKELETON_WRONG, "names phase 1",
     "empty is asked for phase 0"},
    {"blackwell", "roles", BREAK_TENSOR_PHASE, SKELETON_WRONG, "names phase 1",
     "acc_empty is asked for phase 0"},
    {"blackwell", "roles", BREAK_TILE_KEPT, SKELETON_WRONG, "the same tiles",
     "writeback goes through 2048 tiles, producer through 1024"},
    {"blackwell", "roles", BREAK_FETCH_SHORT, SKELETON_WRONG, "the same slabs",
     "through 64 slabs, producer through 63"},
    {"blackwell", "roles", BREAK_LAST_SLAB, SKELETON_WRONG, "the same slabs",
     "consumer goes through 63"},
    {"blackwell", "roles", BREAK_BLOCK_BARRIER, SKELETON_WRONG, "the whole block",
     "writeback meets"},
    {"blackwell", "roles", BREAK_ALL_ASK, SKELETON_WRONG, "one thread asks for the boxes",
     "32 lanes"},
    {"blackwell", "roles", BREAK_TENSOR_ALL_COMMIT, SKELETON_WRONG, "the same one commits",
     "32 lanes of a warp do"},
    {"blackwell", "roles", BREAK_TENSOR_ALL_ASK, SKELETON_WRONG, "the same one commits",
     "32 lanes"},
    {"blackwell", "roles", BREAK_EMPTY_WAIT, SKELETON_MISSING, "the slot has been read", NULL},
    {"blackwell", "roles", BREAK_FULL_WAIT, SKELETON_MISSING, "until the slab is there", NULL},
    {"blackwell", "roles", BREAK_MORE_BYTES, SKELETON_WRONG, "the bytes of the boxes", "49152"},
    {"blackwell", "roles", BREAK_TENSOR_RELEASE, SKELETON_MISSING, "commits to empty", NULL},
    {"blackwell", "roles", BREAK_TENSOR_COMMIT, SKELETON_MISSING, "commits to acc_full", NULL},
    {"blackwell", "roles", BREAK_TENSOR_WAIT, SKELETON_MISSING, "the sums are complete", NULL},
    {"blackwell", "roles", BREAK_TENSOR_REUSE, SKELETON_MISSING, "the tile before", NULL},
    {"blackwell", "roles", BREAK_TENSOR_AFTER, SKELETON_MISSING, "after_thread_sync", NULL},
    {"blackwell", "roles", BREAK_TENSOR_BEFORE, SKELETON_MISSING, "before_thread_sync", NULL},
    {"blackwell", "roles", BREAK_TENSOR_LOADS, SKELETON_MISSING, "tcgen05.wait::ld", NULL},
    {"blackwell", "roles", BREAK_STORE_FENCE, SKELETON_MISSING, "the piece and its box", NULL},
    {"blackwell", "roles", BREAK_STORE_WAIT_READ, SKELETON_MISSING, "before has been read", NULL},
    {"blackwell", "roles", BREAK_STORE_WAIT, SKELETON_MISSING, "no box is left", NULL},
    {"blackwell", "roles", BREAK_ELECT_DIVERGED, SKELETON_WRONG, "elect.sync picks",
     "only a part of a warp asks it"},
    {"blackwell", "roles", BREAK_TENSOR_RELEASE_EARLY, SKELETON_WRONG, "arrives at acc_empty",
     NULL},
    {"hopper", "roles", BREAK_ELECT_DIVERGED, SKELETON_WRONG, "elect.sync picks", "a part of"},
    {"hopper", "roles", BREAK_EMPTY_PHASE, SKELETON_WRONG, "names phase 1", "phase 0"},
    {"hopper", "roles", BREAK_ARRIVE, SKELETON_MISSING, "arrives at empty", NULL},
    {"hopper", "roles", BREAK_RELEASE_EARLY, SKELETON_WRONG, "arrives at empty", "too early"},
    {"hopper", "multicast", BREAK_RELEASE_EARLY, SKELETON_WRONG, "arrives at empty", "too early"},
    {"hopper", "roles", BREAK_MORE_ARRIVALS, SKELETON_WRONG, "the arrivals that come",
     "empty expects 5, 4 come"},
    {"hopper", "roles", BREAK_WG_FENCE, SKELETON_MISSING, "wgmma.fence", NULL},
    {"hopper", "roles", BREAK_WG_COMMIT, SKELETON_MISSING, "wgmma.commit", NULL},
    {"hopper", "roles", BREAK_WG_WAIT, SKELETON_MISSING, "wgmma.wait", NULL},
    {"hopper", "multicast", BREAK_LOCAL_ARRIVE_ONLY, SKELETON_WRONG, "gets an arrival",
     "boxes go to 2 CTAs, 1 is told"},
    {"hopper", "multicast", BREAK_MASK_SHORT, SKELETON_WRONG, "the bytes of the boxes", "49152"},
    {"hgemm", "roles", BREAK_FENCE, SKELETON_MISSING, "threads read the slab", NULL},
    {"hgemm", "roles", BREAK_EARLY_FENCE, SKELETON_WRONG, "threads read the slab",
     "is missing there"},
};
enum { N_BROKEN = sizeof broken / sizeof *broken };

START_TEST(a_breakage_is_a_line) {
  const Program *program = program_of(broken[_i].ladder, broken[_i].rung, "");
  const Program *faulty = program_break(property_arena, program, broken[_i].id);
  ck_assert_msg(faulty != NULL, "%s breaks nothing", breakage_name(broken[_i].id));
  const Skeleton *skeleton = skeleton_of(property_arena, faulty);
  for (int i = 0; i < skeleton->n; i++) {
    const SkeletonLine *line = &skeleton->line[i];
    if (line->state != broken[_i].state || !strstr(line->asked, broken[_i].asked)) continue;
    const char *found = broken[_i].found;
    ck_assert_msg(!found || (line->found && strstr(line->found, found)), "%s: %s",
                  breakage_name(broken[_i].id), line->found);
    return;
  }
  ck_abort_msg("%s of %s/%s:\n%s", breakage_name(broken[_i].id), broken[_i].ladder, broken[_i].rung,
               told(skeleton));
}
END_TEST

// Lines come in the order of the kernel, and each that is answered says where.
START_TEST(lines_stand_in_order) {
  const Skeleton *skeleton = skeleton_of(property_arena, program_of("blackwell", "pair", ""));
  for (int i = 0; i < skeleton->n; i++) {
    const SkeletonLine *line = &skeleton->line[i];
    ck_assert(i == 0 || skeleton->line[i - 1].part <= line->part);
    const bool of_launch = strstr(line->asked, "the launch asks") != NULL;
    ck_assert_msg(line->at || of_launch, "%s", line->asked);
  }
}
END_TEST

Suite *suite_skeleton(void);
Suite *suite_skeleton(void) {
  Suite *suite = suite_create("skeleton");
  TCase *tests = tcase_create("skeleton");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_loop_test(tests, every_rung_with_roles_has_all_of_it, 0, N_LADDERS);
  tcase_add_loop_test(tests, a_breakage_is_a_line, 0, N_BROKEN);
  tcase_add_test(tests, lines_stand_in_order);
  suite_add_tcase(suite, tests);
  return suite;
}
