// The state of what comes before what: clocks by hand, ties, the last tick, and states that are
// copied, compared and hashed.
#include <check.h>
#include <string.h>

#include "order/order.h"

Suite *suite_order(void);

enum { A, B, C, PARTIES };

static Arena *arena;
static void setup(void) { arena = arena_new("test order"); }
static void teardown(void) { arena_free(arena); }

// ---- clocks -------------------------------------------------------------------------------------

START_TEST(what_was_told_is_over_and_the_tick_behind_is_not) {
  Order *o = order_new(arena, PARTIES, PARTIES, ORDER_FACTS);
  uint32_t *a = order_clock(o), *b = order_clock(o), *barrier = order_clock(o);
  a[A] = 3;
  ck_assert(!order_is_over(o, b, A, 3));
  order_tell(o, barrier, a, A, 4);
  ck_assert_int_eq((int)a[A], 4);
  order_join(o, b, barrier);
  ck_assert(order_is_over(o, b, A, 3));
  ck_assert(!order_is_over(o, b, A, 4));
  ck_assert_int_eq((int)order_known(o, b, ORDER_PASSED, A), 4);
  ck_assert(!order_is_over(o, b, C, 0));  // of C nothing is known, not even tick 0
}
END_TEST

START_TEST(a_join_keeps_what_is_larger_on_either_side) {
  Order *o = order_new(arena, PARTIES, PARTIES, ORDER_FACTS);
  uint32_t *into = order_clock(o), *from = order_clock(o);
  for (int fact = 0; fact < ORDER_FACTS; fact++) {
    uint32_t *to = order_fact(o, into, (OrderFact)fact), *of = order_fact(o, from, (OrderFact)fact);
    to[A] = 5, of[A] = 6;
    to[B] = 7, of[B] = 7;
    to[C] = UINT32_MAX, of[C] = 0;
  }
  order_join(o, into, from);
  for (int fact = 0; fact < ORDER_FACTS; fact++) {
    ck_assert_int_eq((int)order_known(o, into, (OrderFact)fact, A), fact == ORDER_AFTER ? 5 : 6);
    ck_assert_int_eq((int)order_known(o, into, (OrderFact)fact, B), 7);
    ck_assert(order_known(o, into, (OrderFact)fact, C) == UINT32_MAX);
  }
  order_adopt(o, from, into);
  ck_assert_int_eq((int)order_known(o, from, ORDER_BEFORE, A), 6);
  ck_assert_int_eq((int)order_known(o, from, ORDER_AFTER, A), 6);  // its own, not the 5
  order_assign(o, from, into);
  ck_assert_int_eq((int)order_known(o, from, ORDER_AFTER, A), 5);
}
END_TEST

// Of the last tick that there is nobody can be told.
START_TEST(the_last_tick_is_never_over) {
  Order *o = order_new(arena, PARTIES, PARTIES, ORDER_FACTS);
  uint32_t *clock = order_clock(o);
  order_fill(o, clock, UINT32_MAX);
  ck_assert(order_is_over(o, clock, A, UINT32_MAX - 1));
  ck_assert(!order_is_over(o, clock, A, UINT32_MAX));
  order_forget(o, clock, A);
  ck_assert(!order_is_over(o, clock, A, 0));
  ck_assert(order_is_over(o, clock, B, 0));
  order_clear(o, clock);
  ck_assert(!order_is_over(o, clock, B, 0));
}
END_TEST

START_TEST(a_fence_is_about_what_is_known_of_its_parties) {
  Order *o = order_new(arena, PARTIES, PARTIES, ORDER_FACTS);
  uint32_t *clock = order_clock(o);
  clock[A] = 3, clock[B] = 4, clock[C] = 5;
  order_fact(o, clock, ORDER_FENCED)[B] = 9;
  order_fence(o, clock, A, 2);
  ck_assert_int_eq((int)order_known(o, clock, ORDER_FENCED, A), 3);
  ck_assert_int_eq((int)order_known(o, clock, ORDER_FENCED, B), 9);
  ck_assert_int_eq((int)order_known(o, clock, ORDER_FENCED, C), 0);
  order_fence(o, clock, C, 0);
  ck_assert_int_eq((int)order_known(o, clock, ORDER_FENCED, C), 0);
  clock[B] = 11;
  order_fence(o, clock, B, 1);
  ck_assert_int_eq((int)order_known(o, clock, ORDER_FENCED, A), 3);
  ck_assert_int_eq((int)order_known(o, clock, ORDER_FENCED, B), 11);
  ck_assert(order_is_fenced(o, clock, B, 10) && !order_is_fenced(o, clock, B, 11));
}
END_TEST

// Of tensor memory a fence behind is one's own business: it is about what one was told of by then.
START_TEST(a_fence_behind_takes_what_stands_in_front_of_fences) {
  Order *o = order_new(arena, PARTIES, PARTIES, ORDER_FACTS);
  uint32_t *writer = order_clock(o), *reader = order_clock(o);
  order_fact(o, writer, ORDER_BEFORE)[A] = 2;
  order_come_after(o, reader);
  order_join(o, reader, writer);
  ck_assert_int_eq((int)order_known(o, reader, ORDER_AFTER, A), 0);
  order_come_after(o, reader);
  ck_assert_int_eq((int)order_known(o, reader, ORDER_AFTER, A), 2);
  order_join(o, writer, reader);
  ck_assert_int_eq((int)order_known(o, writer, ORDER_AFTER, A), 0);
}
END_TEST

// A driver that keeps two facts has no third one; parties that come later are joined from then on.
START_TEST(a_clock_has_the_facts_and_parties_that_there_are) {
  Order *o = order_new(arena, 1, PARTIES, ORDER_FENCED + 1);
  uint32_t *into = order_clock(o), *from = order_clock(o);
  ck_assert_int_eq(order_clock_words(o), 2 * PARTIES);
  from[A] = from[B] = 2;
  order_join(o, into, from);
  ck_assert(into[A] == 2 && into[B] == 0);
  o->parties++;
  order_join(o, into, from);
  ck_assert(into[B] == 2);
  order_tell(o, into, from, A, 3);  // there is no PASSED to be told of
  ck_assert(into[A] == 3 && order_known(o, into, ORDER_FENCED, A) == 0);
}
END_TEST

// ---- states -------------------------------------------------------------------------------------

typedef struct Pair {
  Order *order;
  uint32_t *clock, *more;
} Pair;

static Pair make(void) {
  Order *o = order_new(arena, 2, PARTIES, ORDER_FACTS);
  return (Pair){o, order_clock(o), order_piece(o, 3 * sizeof(uint32_t))};
}

START_TEST(states_are_copied_compared_and_hashed) {
  Pair one = make(), two = make();
  ck_assert(order_same(one.order, two.order) && order_hash(one.order) == order_hash(two.order));
  one.clock[B] = 1;
  ck_assert(!order_same(one.order, two.order) && order_hash(one.order) != order_hash(two.order));
  one.more[2] = 7;
  order_copy(two.order, one.order);
  ck_assert(order_same(one.order, two.order) && order_hash(one.order) == order_hash(two.order));
  ck_assert(two.clock[B] == 1 && two.more[2] == 7);
  two.more[2] = 8;
  ck_assert(!order_same(one.order, two.order) && one.more[2] == 7);
  one.order->parties++;
  two.more[2] = 7;
  ck_assert(!order_same(one.order, two.order) && order_hash(one.order) != order_hash(two.order));
  order_piece(two.order, 1);
  two.order->parties++;
  ck_assert(!order_same(one.order, two.order));
}
END_TEST

START_TEST(a_state_starts_again_with_nothing) {
  Pair one = make(), two = make();
  order_fill(one.order, one.clock, 5);
  one.more[0] = 1;
  one.order->parties = PARTIES;
  order_reset(one.order, 2);
  ck_assert(order_same(one.order, two.order));
}
END_TEST

// More pieces than there is room for at first keep what the first ones hold.
START_TEST(pieces_stay_where_they_are) {
  Order *o = order_new(arena, PARTIES, PARTIES, ORDER_FACTS);
  uint32_t *first = order_piece(o, sizeof *first);
  *first = 42;
  const uint64_t before = order_hash(o);
  for (int i = 0; i < 500; i++) order_piece(o, 8);
  ck_assert(*first == 42 && o->piece[0].at == (void *)first && o->n_pieces == 501);
  ck_assert(order_hash(o) != before);
}
END_TEST

Suite *suite_order(void) {
  Suite *suite = suite_create("order");
  TCase *clocks = tcase_create("clocks"), *states = tcase_create("states");
  tcase_add_checked_fixture(clocks, setup, teardown);
  tcase_add_test(clocks, what_was_told_is_over_and_the_tick_behind_is_not);
  tcase_add_test(clocks, a_join_keeps_what_is_larger_on_either_side);
  tcase_add_test(clocks, the_last_tick_is_never_over);
  tcase_add_test(clocks, a_fence_is_about_what_is_known_of_its_parties);
  tcase_add_test(clocks, a_fence_behind_takes_what_stands_in_front_of_fences);
  tcase_add_test(clocks, a_clock_has_the_facts_and_parties_that_there_are);
  tcase_add_checked_fixture(states, setup, teardown);
  tcase_add_test(states, states_are_copied_compared_and_hashed);
  tcase_add_test(states, a_state_starts_again_with_nothing);
  tcase_add_test(states, pieces_stay_where_they_are);
  suite_add_tcase(suite, clocks);
  suite_add_tcase(suite, states);
  return suite;
}
