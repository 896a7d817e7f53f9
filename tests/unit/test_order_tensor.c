// Tensor memory: every step between two accesses taken away on its own, whose turn it is, what is
// old, and what was not waited for.
#include <check.h>

#include "order/order_tensor.h"

Suite *suite_order_tensor(void);

// Warps 0 and 1, their shares of the tensor core, and what an mbarrier was told.
enum { W0, W1, SHARE0, SHARE1, PARTIES };

static Arena *arena;
static Order *order;
static uint32_t *clock[2], *told;
static OrderMoves *moves;
static OrderPlace *place;
static void setup(void) {
  arena = arena_new("test tensor memory");
  order = order_new(arena, PARTIES, PARTIES, ORDER_FACTS);
  for (int w = 0; w < 2; w++) {
    clock[w] = order_clock(order);
    clock[w][w] = 1;
  }
  told = order_clock(order);
  moves = order_piece(order, 2 * sizeof *moves);
  place = order_piece(order, sizeof *place);
}
static void teardown(void) { arena_free(arena); }

static OrderVisit visit(int warp, int party, uint32_t tick, bool reads) {
  const OrderMoves *of = &moves[warp];
  return (OrderVisit){.order = order,
                      .moves = moves,
                      .shares = SHARE0,
                      .clock = clock[warp],
                      .asker = warp,
                      .now = {.tick = tick,
                              .group = reads ? of->loads.closed : of->stores.closed,
                              .party = (uint16_t)party},
                      .reader = warp};
}
static OrderConflict reads(int warp, int party, uint32_t tick) {
  const OrderVisit by = visit(warp, party, tick, true);
  return order_place_read(place, &by);
}
static OrderConflict writes(int warp, int party, uint32_t tick) {
  const OrderVisit by = visit(warp, party, tick, false);
  return order_place_write(place, &by);
}
static OrderConflict frees(int warp) {
  const OrderVisit by = visit(warp, warp, clock[warp][warp], false);
  return order_place_free(place, &by);
}
static void waits_for_stores(int warp) {
  order_wait_for_moves(&moves[warp].stores, &moves[warp].stored, clock[warp][warp]);
}
static void waits_for_loads(int warp) {
  order_wait_for_moves(&moves[warp].loads, &moves[warp].loaded, clock[warp][warp]);
}
static void fences_before(int warp) {
  order_fact(order, clock[warp], ORDER_BEFORE)[warp] = ++clock[warp][warp];
}
static void tells(int warp) { order_tell(order, told, clock[warp], warp, clock[warp][warp] + 1); }
static void learns(int warp) { order_join(order, clock[warp], told); }
static void fences_after(int warp) { order_come_after(order, clock[warp]); }

// ---- a warp stores, another one loads -----------------------------------------------------------

// st · wait::st · fence before · tell || learn · fence after · ld, without one of them.
enum { STEP_WAIT, STEP_BEFORE, STEP_TELL, STEP_AFTER, STEPS };
static OrderConflict stored_and_loaded(int without) {
  writes(W0, W0, clock[W0][W0]);
  if (without != STEP_WAIT) waits_for_stores(W0);
  if (without != STEP_BEFORE) fences_before(W0);
  if (without != STEP_TELL) tells(W0);
  learns(W1);
  if (without != STEP_AFTER) fences_after(W1);
  return reads(W1, W1, clock[W1][W1]);
}

static const struct {
  OrderGap gap;
  OrderFault fault;
  const char *text;
} gaps[STEPS + 1] = {
    [STEP_WAIT] = {ORDER_GAP_WAIT, ORDER_MISSING_WAIT, "with no tcgen05.wait::st after that"},
    [STEP_BEFORE] = {ORDER_GAP_BEFORE, ORDER_MISSING_FENCE,
                     "with no tcgen05.fence::before_thread_sync after that"},
    [STEP_TELL] = {ORDER_GAP_SYNC, ORDER_RACE, "with no barrier between"},
    [STEP_AFTER] = {ORDER_GAP_AFTER, ORDER_MISSING_FENCE,
                    "with no tcgen05.fence::after_thread_sync after the signal"},
    [STEPS] = {ORDER_NO_GAP, ORDER_RACE, NULL}};

START_TEST(each_step_that_is_missing_is_a_gap_of_its_own) {
  const OrderConflict c = stored_and_loaded(_i);
  ck_assert_int_eq((int)c.gap, (int)gaps[_i].gap);
  if (!c.gap) return;
  ck_assert_int_eq((int)order_fault(&c), (int)gaps[_i].fault);
  ck_assert_str_eq(order_gap_text(&c), gaps[_i].text);
  ck_assert(c.then.party == W0 && !c.read && !c.by_share);
}
END_TEST

// What is known holds in front of a tick, not in it. Where both fences stand, a signal between them
// that orders no memory is enough.
START_TEST(an_access_in_the_very_tick_is_not_covered) {
  const OrderFact facts[] = {ORDER_SEEN, ORDER_BEFORE, ORDER_AFTER};
  const OrderGap missing[] = {ORDER_NO_GAP, ORDER_GAP_BEFORE, ORDER_GAP_AFTER};
  writes(W0, SHARE0, 3);
  for (int i = 0; i < 3; i++) order_fact(order, clock[W1], facts[i])[SHARE0] = 4;
  ck_assert_int_eq((int)reads(W1, W1, 1).gap, ORDER_NO_GAP);
  for (int i = 0; i < 3; i++) {
    order_fact(order, clock[W1], facts[i])[SHARE0] = 3;
    ck_assert_int_eq((int)reads(W1, W1, 1).gap, (int)missing[i]);
    order_fact(order, clock[W1], facts[i])[SHARE0] = 4;
  }
}
END_TEST

// A fence between the store and its wait stands in front of neither.
START_TEST(a_store_counts_from_its_wait) {
  writes(W0, W0, clock[W0][W0]);
  fences_before(W0);
  waits_for_stores(W0);
  tells(W0);
  learns(W1);
  fences_after(W1);
  ck_assert_int_eq((int)reads(W1, W1, 1).gap, ORDER_GAP_BEFORE);
}
END_TEST

// Nor is a warp behind its own store before it has waited; then it needs nothing else.
START_TEST(a_warp_waits_for_its_own) {
  writes(W0, W0, 1);
  ck_assert_int_eq((int)reads(W0, W0, 1).gap, ORDER_GAP_WAIT);
  waits_for_stores(W0);
  ck_assert_int_eq((int)reads(W0, W0, 1).gap, ORDER_NO_GAP);
  const OrderConflict c = writes(W0, W0, 1);
  ck_assert(c.gap == ORDER_GAP_WAIT && c.read);
  ck_assert_str_eq(order_gap_text(&c), "with no tcgen05.wait::ld after that");
}
END_TEST

START_TEST(the_read_of_another_warp_is_in_the_way_of_a_write) {
  writes(W0, W0, 1);
  waits_for_stores(W0);
  fences_before(W0);
  tells(W0);
  learns(W1);
  fences_after(W1);
  reads(W1, W1, 1);
  waits_for_loads(W1);
  const OrderConflict c = writes(W0, W0, clock[W0][W0]);
  ck_assert(c.gap == ORDER_GAP_SYNC && c.read && c.then.party == W1);
  ck_assert_int_eq((int)order_fault(&c), ORDER_RACE);
}
END_TEST

// ---- the tensor core ----------------------------------------------------------------------------

static void commits(int warp, int share, uint32_t products) {
  tells(warp);
  order_tell_done(order, told, share, products + 1);
}

START_TEST(products_of_one_warp_come_one_after_the_other) {
  ck_assert_int_eq((int)writes(W0, SHARE0, 1).gap, ORDER_NO_GAP);
  ck_assert_int_eq((int)reads(W0, SHARE0, 2).gap, ORDER_NO_GAP);
  ck_assert_int_eq((int)writes(W0, SHARE0, 2).gap, ORDER_NO_GAP);
  const OrderConflict c = writes(W1, SHARE1, 1);
  ck_assert(c.gap == ORDER_GAP_SYNC && c.by_share);
  ck_assert_int_eq((int)order_fault(&c), ORDER_MISSING_WAIT);
  ck_assert_str_eq(order_gap_text(&c), "and has not waited for a commit after that");
}
END_TEST

// But the warp itself is not behind what the tensor core does for it.
START_TEST(a_warp_waits_for_a_commit_of_its_own) {
  writes(W0, SHARE0, 1);
  ck_assert_int_eq((int)reads(W0, W0, 1).gap, ORDER_GAP_SYNC);
  commits(W0, SHARE0, 1);
  learns(W0);
  ck_assert_int_eq((int)reads(W0, W0, 1).gap, ORDER_GAP_AFTER);
  fences_after(W0);
  ck_assert_int_eq((int)reads(W0, W0, 1).gap, ORDER_NO_GAP);
}
END_TEST

START_TEST(a_commit_is_about_what_was_asked_for_before_it) {
  writes(W0, SHARE0, 1);
  commits(W0, SHARE0, 1);
  writes(W0, SHARE0, 2);
  learns(W1);
  fences_after(W1);
  ck_assert_int_eq((int)reads(W1, W1, 1).gap, ORDER_GAP_SYNC);
  commits(W0, SHARE0, 2);
  learns(W1);
  fences_after(W1);
  ck_assert_int_eq((int)reads(W1, W1, 1).gap, ORDER_NO_GAP);
}
END_TEST

// Nothing keeps a copy of factors behind the product that it is asked for after.
START_TEST(what_is_apart_waits_for_the_same_share) {
  OrderVisit by = visit(W0, SHARE0, 1, true);
  place->multiplied = by.now;
  by.now.tick = 2;
  ck_assert_int_eq((int)order_place_write(place, &by).gap, ORDER_NO_GAP);
  place->write = (OrderTouch){.tick = 0};
  by.apart = true;
  const OrderConflict c = order_place_write(place, &by);
  ck_assert(c.gap == ORDER_GAP_SYNC && c.read && c.by_share);
  commits(W0, SHARE0, 1);
  learns(W0);
  place->write = (OrderTouch){.tick = 0};
  ck_assert_int_eq((int)order_place_write(place, &by).gap, ORDER_NO_GAP);
}
END_TEST

// ---- allocations --------------------------------------------------------------------------------

START_TEST(what_is_older_than_the_allocation_is_nothing) {
  writes(W0, W0, 4);
  OrderVisit by = visit(W1, W1, 6, true);
  by.since = 3;
  ck_assert(order_place_is_written(place, &by));
  by.since = 4;  // in the tick of the allocation itself nobody had it
  ck_assert(!order_place_is_written(place, &by));
  ck_assert_int_eq((int)order_place_read(place, &by).gap, ORDER_NO_GAP);
  by.since = 6;
  ck_assert_int_eq((int)order_place_free(place, &by).gap, ORDER_NO_GAP);
  ck_assert_int_eq((int)order_place_write(place, &by).gap, ORDER_NO_GAP);
}
END_TEST

START_TEST(nobody_is_there_when_it_is_given_back) {
  ck_assert_int_eq((int)frees(W0).gap, ORDER_NO_GAP);
  writes(W1, W1, 1);
  ck_assert_int_eq((int)frees(W0).gap, ORDER_GAP_SYNC);
  waits_for_stores(W1);
  tells(W1);
  learns(W0);
  ck_assert_int_eq((int)frees(W0).gap, ORDER_NO_GAP);  // no fence is asked for
  reads(W0, W0, 1);
  ck_assert_int_eq((int)frees(W0).gap, ORDER_GAP_WAIT);
  waits_for_loads(W0);
  ck_assert_int_eq((int)frees(W0).gap, ORDER_NO_GAP);
  writes(W0, SHARE0, 1);
  ck_assert(frees(W0).gap == ORDER_GAP_SYNC && frees(W0).by_share);
}
END_TEST

Suite *suite_order_tensor(void) {
  Suite *suite = suite_create("order_tensor");
  TCase *tcase = tcase_create("tensor memory");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, each_step_that_is_missing_is_a_gap_of_its_own, 0, STEPS + 1);
  tcase_add_test(tcase, an_access_in_the_very_tick_is_not_covered);
  tcase_add_test(tcase, a_store_counts_from_its_wait);
  tcase_add_test(tcase, a_warp_waits_for_its_own);
  tcase_add_test(tcase, the_read_of_another_warp_is_in_the_way_of_a_write);
  tcase_add_test(tcase, products_of_one_warp_come_one_after_the_other);
  tcase_add_test(tcase, a_warp_waits_for_a_commit_of_its_own);
  tcase_add_test(tcase, a_commit_is_about_what_was_asked_for_before_it);
  tcase_add_test(tcase, what_is_apart_waits_for_the_same_share);
  tcase_add_test(tcase, what_is_older_than_the_allocation_is_nothing);
  tcase_add_test(tcase, nobody_is_there_when_it_is_given_back);
  suite_add_tcase(suite, tcase);
  return suite;
}
