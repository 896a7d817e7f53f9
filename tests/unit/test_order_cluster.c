// The life of blocks in a cluster: of whom one has heard, and who is known of at the end.
#include <check.h>

#include "order/order_cluster.h"

Suite *suite_order_cluster(void);

// Two blocks of two warps.
enum { RANKS = 2, BLOCK = 2, WARPS = RANKS * BLOCK };

static Arena *arena;
static Order *order;
static OrderCluster *cluster;
static uint32_t *clock[WARPS], *barrier;
static void setup(void) {
  arena = arena_new("test cluster");
  order = order_new(arena, WARPS, WARPS, ORDER_FACTS);
  cluster = order_cluster(order, RANKS, WARPS);
  for (int w = 0; w < WARPS; w++) {
    clock[w] = order_clock(order);
    clock[w][w] = 1;
  }
  barrier = order_clock(order);
}
static void teardown(void) { arena_free(arena); }

static bool heard_of(int warp, int rank) {
  return order_has_heard(clock[warp], rank * BLOCK, BLOCK, 0);
}
static void tell(int warp) { order_tell(order, barrier, clock[warp], warp, clock[warp][warp] + 1); }

START_TEST(one_warp_of_a_block_is_enough_to_hear_of_it) {
  ck_assert(heard_of(0, 0) && !heard_of(0, 1));
  tell(3);
  order_join(order, clock[0], barrier);
  ck_assert(heard_of(0, 1) && !heard_of(1, 1));
  ck_assert(!order_has_heard(clock[0], 2, 1, 0));  // of warp 2 itself it has not
}
END_TEST

// Who knows of its first tick alone knows that it has begun, and nothing of what it did.
START_TEST(all_have_begun_for_those_who_met) {
  order_hear_of_all(clock[0], WARPS);
  ck_assert(heard_of(0, 1) && !order_is_over(order, clock[0], 3, 1));
  ck_assert(clock[0][0] == 1);
  clock[0][2] = 7;
  order_hear_of_all(clock[0], WARPS);
  ck_assert(clock[0][2] == 7);
  order_hear_of_all(clock[1], 2);
  ck_assert(clock[1][0] == 1 && clock[1][2] == 0);
}
END_TEST

// Where ticks are of all blocks that ever ran, what was before this one began says nothing.
START_TEST(a_block_before_is_another_one) {
  clock[0][2] = 5;
  ck_assert(order_has_heard(clock[0], 2, BLOCK, 4));
  ck_assert(!order_has_heard(clock[0], 2, BLOCK, 5));
}
END_TEST

START_TEST(an_access_that_nobody_there_knows_of_outlives_the_block) {
  order_reach(cluster, 1, 0, (OrderReach){1, 77, 3});
  for (int w = 2; w < WARPS; w++) order_end(order, cluster, 1, clock[w]);
  ck_assert_int_eq(order_outlived(order, cluster, 1, 0, 1), 0);
  ck_assert(order_reach_of(cluster, 1, 0)->tag == 77 && order_reach_of(cluster, 1, 0)->lane == 3);
  ck_assert_int_eq(order_outlived(order, cluster, 1, 1, 1), -1);
  ck_assert_int_eq(order_outlived(order, cluster, 0, 0, 1), -1);
  ck_assert_int_eq(order_outlived(order, cluster, 1, 0, 2), -1);
}
END_TEST

START_TEST(one_warp_that_knows_is_enough) {
  order_reach(cluster, 1, 0, (OrderReach){1, 0, 0});
  tell(0);
  order_join(order, clock[3], barrier);
  order_end(order, cluster, 1, clock[2]);
  ck_assert_int_eq(order_outlived(order, cluster, 1, 0, 1), 0);
  order_end(order, cluster, 1, clock[3]);
  ck_assert_int_eq(order_outlived(order, cluster, 1, 0, 1), -1);
  order_reach(cluster, 1, 0, (OrderReach){clock[0][0], 0, 0});  // once more, behind what it told
  ck_assert_int_eq(order_outlived(order, cluster, 1, 0, 1), 0);
}
END_TEST

Suite *suite_order_cluster(void) {
  Suite *suite = suite_create("order_cluster");
  TCase *tcase = tcase_create("cluster");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, one_warp_of_a_block_is_enough_to_hear_of_it);
  tcase_add_test(tcase, all_have_begun_for_those_who_met);
  tcase_add_test(tcase, a_block_before_is_another_one);
  tcase_add_test(tcase, an_access_that_nobody_there_knows_of_outlives_the_block);
  tcase_add_test(tcase, one_warp_that_knows_is_enough);
  suite_add_tcase(suite, tcase);
  return suite;
}
