// Cutting a problem down for the interpreter keeps tiles, edges and legality.
#include <check.h>

#include "base/embed.h"
#include "base/whole.h"
#include "model/readings/model.h"
#include "model/schedules/reduce.h"
#include "model/words/ladder.h"
#include "property.h"

Suite *suite_interp_reduce(void);

static Arena *arena;
static TargetTable targets;

static void setup(void) {
  arena = arena_new("test reduce");
  targets = *property_gpus();
}

static void teardown(void) { arena_free(arena); }

static Schedule reduced(const char *state) {
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(arena);
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(arena, &diags));
  return schedule_reduce(arena, &targets, &schedule, REDUCE_WORK_MAX);
}

static void check_extents(const char *state, int64_t m, int64_t n, int64_t k) {
  Schedule schedule = reduced(state);
  ck_assert_int_eq(schedule.value[KNOB_M], m);
  ck_assert_int_eq(schedule.value[KNOB_N], n);
  ck_assert_int_eq(schedule.value[KNOB_K], k);
}

START_TEST(two_tiles_and_the_same_edge) {
  check_extents("BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,BUFFER_COUNT=2", 256, 256, 48);
  check_extents("M=4100,N=4095,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11", 260, 256 + 127, 32);
  check_extents("BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,SPLITK=4", 256, 256, 128);
}
END_TEST

// By mbarriers two turns and a slab, for a phase bit comes back after two; tiles are given up
// first, and splits that are many still have theirs.
START_TEST(rings_are_gone_round) {
  check_extents("BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TMA=1,BUFFER_COUNT=2", 256, 256, 80);
  check_extents(
      "BM=32,BN=16,FM=8,FN=8,BK=32,STAGE=11,TMA=1,BUFFER_COUNT=4,WARP_SPECIALIZE=1,"
      "SPLITK=8",
      256, 128, 9 * 8 * 32);
}
END_TEST

START_TEST(groups_get_a_whole_one_and_a_started_one) {
  check_extents("BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11,GROUP_M=8", 576, 128, 32);
  check_extents("BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11,GROUP_N=8", 128, 576, 32);
  check_extents("BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11,GROUP_M=4,GROUP_N=2", 320, 192, 32);
}
END_TEST

START_TEST(small_problems_stay) {
  check_extents("M=100,N=70,K=33,BM=16,BN=16", 100, 70, 33);
  check_extents("M=1,N=1,K=2000000000,BM=1,BN=1", 1, 1, 32);
}
END_TEST

START_TEST(small_tiles_make_a_picture) { check_extents("BM=1,BN=1", 64, 64, 32); }
END_TEST

#define HALF "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,"

// Tiles are counted in atoms, and copies of 16 bytes keep their extents multiples of 8.
START_TEST(atoms_count_in_tiles) {
  check_extents(HALF "BUFFER_COUNT=3,M=8192,N=8200,K=8200", 256, 256 + 8, 256 + 8);
  check_extents(HALF "GROUP_M=8,M=8192,N=8192,K=8192", 9 * 128, 256, 128);
  check_extents("ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11", 256, 256, 32);
}
END_TEST

// A pair's tile of 512 x 256 is more than the limit: of two, the second overwrites sums.
START_TEST(persistent_blocks_have_turns) {
  const EmbeddedFile *file = embed_find(arena, "ladders/blackwell.json");
  Diags diags = diags_new(arena);
  const Ladder *ladder = ladder_read(arena, file->text, file->size, "blackwell", &diags);
  ck_assert_ptr_nonnull(ladder);
  for (int r = 0; r < ladder->n_rungs; r++) {
    const Schedule *rung = &ladder->rung[r].schedule;
    const int64_t see = rung->value[KNOB_PERSISTENT] ? rung->value[KNOB_ACC_BUFFERS] + 1 : 1;
    Schedule small = schedule_reduce_turns(arena, &targets, rung, REDUCE_WORK_MAX / 8);
    ck_assert_int_eq(schedule_turns_to_see(rung), see);
    ck_assert_msg(schedule_turns(&small) >= see, "%s", ladder->rung[r].name);
    ck_assert_int_le(schedule_turns(&small), 9);
    ck_assert(model_build(arena, &targets, &small)->ok);
  }
}
END_TEST

static void check_ladder(const char *path) {
  const EmbeddedFile *file = embed_find(arena, path);
  Diags diags = diags_new(arena);
  const Ladder *ladder = ladder_read(arena, file->text, file->size, path, &diags);
  ck_assert_ptr_nonnull(ladder);
  for (int r = 0; r < ladder->n_rungs; r++) {
    if (ladder->rung[r].not_built) continue;
    Schedule small = schedule_reduce(arena, &targets, &ladder->rung[r].schedule, REDUCE_WORK_MAX);
    ck_assert(model_build(arena, &targets, &small)->ok);
    ck_assert(schedule_fma(&small) <= REDUCE_WORK_MAX);
    // An eighth of the limit is what the self test gives; the ring is gone round all the same.
    small = schedule_reduce(arena, &targets, &ladder->rung[r].schedule, REDUCE_WORK_MAX / 8);
    const int64_t had = schedule_slabs(&ladder->rung[r].schedule);
    ck_assert_msg(schedule_slabs(&small) >= min64(had, schedule_slabs_to_see(&small)),
                  "%s: %d slabs", ladder->rung[r].name, (int)schedule_slabs(&small));
    ck_assert(schedule_fma(&small) <= REDUCE_WORK_MAX);
  }
}

START_TEST(every_rung_stays_legal_and_small) {
  EmbeddedList list = embed_list(arena, "ladders/");
  ck_assert_int_ge(list.count, 1);
  for (int f = 0; f < list.count; f++) check_ladder(list.paths[f]);
}
END_TEST

Suite *suite_interp_reduce(void) {
  Suite *suite = suite_create("interp_reduce");
  TCase *tc = tcase_create("interp_reduce");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_test(tc, two_tiles_and_the_same_edge);
  tcase_add_test(tc, rings_are_gone_round);
  tcase_add_test(tc, groups_get_a_whole_one_and_a_started_one);
  tcase_add_test(tc, small_problems_stay);
  tcase_add_test(tc, small_tiles_make_a_picture);
  tcase_add_test(tc, atoms_count_in_tiles);
  tcase_add_test(tc, persistent_blocks_have_turns);
  tcase_add_test(tc, every_rung_stays_legal_and_small);
  suite_add_tcase(suite, tc);
  return suite;
}
