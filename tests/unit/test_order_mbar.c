// An mbarrier's phases and what is handed on at their ends: none, one and too many arrivals, bytes
// that come before they are expected, phases that come back, the last phase there is.
#include <check.h>

#include "order/order_mbar.h"

Suite *suite_order_mbar(void);

enum { PRODUCER, CONSUMER, PARTIES = 4, MBARRIER = 3, WAITERS = 2 };

static Arena *arena;
static Order *order;
static uint32_t *producer, *consumer;
static void setup(void) {
  arena = arena_new("test mbarrier");
  order = order_new(arena, PARTIES, PARTIES, ORDER_FACTS);
  producer = order_clock(order);
  consumer = order_clock(order);
  producer[PRODUCER] = consumer[CONSUMER] = 1;
}
static void teardown(void) { arena_free(arena); }

// ---- phases -------------------------------------------------------------------------------------

START_TEST(a_phase_is_over_behind_the_last_arrival) {
  OrderPhases p = {0};
  order_phases_init(&p, 2);
  ck_assert(order_phases_passes(&p, 1) && !order_phases_passes(&p, 0) &&
            order_phases_passes(&p, 2));
  ck_assert(order_phases_arrive(&p, 1) && !order_phases_are_complete(&p));
  ck_assert(order_phases_arrive(&p, 1) && order_phases_are_complete(&p));
  order_phases_next(&p);
  ck_assert(p.phase == 1 && p.pending == 2 && order_phases_passes(&p, 0));
  ck_assert(order_phases_arrive(&p, 2) && order_phases_are_complete(&p));
}
END_TEST

START_TEST(bytes_keep_a_phase_open_whichever_sign_they_have) {
  OrderPhases p = {0};
  order_phases_init(&p, 1);
  p.bytes = -64;  // a box that came before anybody expected it
  ck_assert(order_phases_arrive(&p, 1) && !order_phases_are_complete(&p));
  p.bytes += 64;
  ck_assert(order_phases_are_complete(&p));
  p.bytes++;
  ck_assert(!order_phases_are_complete(&p));
}
END_TEST

START_TEST(more_arrivals_than_are_awaited_are_told_and_do_not_count) {
  OrderPhases p = {0};
  order_phases_init(&p, 1);
  p.bytes = 16;
  ck_assert(order_phases_arrive(&p, 0) && p.pending == 1);
  ck_assert(order_phases_arrive(&p, 1) && p.pending == 0);
  ck_assert(!order_phases_arrive(&p, 1) && p.pending == 0);
  p.bytes = 0;
  order_phases_next(&p);
  ck_assert(!order_phases_arrive(&p, 2) && p.pending == 0);  // all that were awaited have come
}
END_TEST

// Dropping out takes effect from the next phase on.
START_TEST(who_drops_out_is_awaited_no_more) {
  OrderPhases p = {0};
  order_phases_init(&p, 2);
  order_phases_arrive(&p, 1);
  p.expected--;
  ck_assert(!order_phases_are_complete(&p));
  order_phases_arrive(&p, 1);
  order_phases_next(&p);
  ck_assert(p.pending == 1);
}
END_TEST

START_TEST(phases_count_on_where_one_is_initialised_again) {
  OrderPhases p = {0};
  order_phases_init(&p, 1);
  for (int i = 0; i < 3; i++) order_phases_next(&p);
  order_phases_init(&p, 5);
  ck_assert(p.first == 3 && p.phase == 0 && p.pending == 5 && p.expected == 5 && p.bytes == 0);
  order_phases_next(&p);
  order_phases_init(&p, 5);
  ck_assert(p.first == 4);
}
END_TEST

START_TEST(the_bit_goes_on_where_the_count_begins_anew) {
  OrderPhases p = {0};
  order_phases_init(&p, 1);
  p.phase = UINT32_MAX;
  ck_assert(!order_phases_passes(&p, 1) && order_phases_passes(&p, 0));
  order_phases_next(&p);
  ck_assert(p.phase == 0 && !order_phases_passes(&p, 0) && order_phases_passes(&p, 1));
}
END_TEST

// ---- what is handed on --------------------------------------------------------------------------

START_TEST(the_end_of_a_phase_hands_on_what_arrivals_knew) {
  OrderMbar *bar = order_mbar(order, MBARRIER, WAITERS);
  order_mbar_init(order, bar, 1);
  order_tell(order, order_mbar_gathered(bar), producer, PRODUCER, 2);
  order_join(order, consumer, order_mbar_ended(order, bar));
  ck_assert(!order_is_over(order, consumer, PRODUCER, 1));  // the phase has not ended
  order_phases_arrive(&bar->phases, 1);
  order_mbar_next(order, bar);
  order_join(order, consumer, order_mbar_ended(order, bar));
  ck_assert(order_is_over(order, consumer, PRODUCER, 1));
  ck_assert(!order_is_over(order, consumer, PRODUCER, 2));
  // Its own ticks are its phases: what landed in phase 0 is over, what lands now is not.
  ck_assert(order_is_over(order, consumer, MBARRIER, 0));
  ck_assert(!order_is_over(order, consumer, MBARRIER, 1));
  ck_assert_int_eq((int)order_known(order, consumer, ORDER_BEFORE, MBARRIER), 1);
}
END_TEST

START_TEST(one_that_is_no_party_tells_nothing_of_itself) {
  OrderMbar *bar = order_mbar(order, -1, 0);
  order_mbar_init(order, bar, 1);
  order_mbar_next(order, bar);
  for (int party = 0; party < PARTIES; party++)
    ck_assert(!order_is_over(order, order_mbar_ended(order, bar), party, 0));
}
END_TEST

// consumer   wait 0 · … · wait 0 again      the phase after its own ends with no word of the first
START_TEST(a_wait_that_nobody_knows_of_may_come_late) {
  OrderMbar *bar = order_mbar(order, -1, WAITERS);
  order_mbar_init(order, bar, 1);
  order_mbar_next(order, bar);
  order_mbar_wait(order, bar, CONSUMER, (OrderWait){1, 77});
  ck_assert_int_eq(order_mbar_late(order, bar, 0, 1), CONSUMER);
  ck_assert_int_eq((int)order_mbar_waits(order, bar, 0)[CONSUMER].tag, 77);
  ck_assert_int_eq(order_mbar_late(order, bar, CONSUMER + 1, 1), -1);
  ck_assert_int_eq(order_mbar_late(order, bar, 0, 2), -1);  // that was another block
  order_fact(order, order_mbar_gathered(bar), ORDER_PASSED)[CONSUMER] = 1;  // in front of tick 1
  ck_assert_int_eq(order_mbar_late(order, bar, 0, 1), CONSUMER);
  // It arrives elsewhere, and the producer that knows of it arrives here.
  order_tell(order, producer, consumer, CONSUMER, 2);
  order_tell(order, order_mbar_gathered(bar), producer, PRODUCER, 2);
  ck_assert_int_eq(order_mbar_late(order, bar, 0, 1), -1);
}
END_TEST

START_TEST(waits_of_both_bits_are_kept_apart) {
  OrderMbar *bar = order_mbar(order, -1, WAITERS);
  order_mbar_init(order, bar, 1);
  order_mbar_wait(order, bar, PRODUCER, (OrderWait){1, 5});  // for bit 1, which is free
  order_mbar_next(order, bar);
  ck_assert_int_eq(order_mbar_late(order, bar, 0, 1), -1);  // nobody waited for phase 0
  order_mbar_next(order, bar);
  ck_assert_int_eq(order_mbar_late(order, bar, 0, 1), PRODUCER);
  order_mbar_init(order, bar, 1);
  order_mbar_next(order, bar);
  ck_assert_int_eq(order_mbar_late(order, bar, 0, 1), -1);
}
END_TEST

START_TEST(two_phases_further_on_the_bit_is_another_ones) {
  OrderMbar *bar = order_mbar(order, MBARRIER, 0);
  order_mbar_init(order, bar, 1);
  ck_assert(!order_mbar_is_missed(bar, consumer, 0));
  order_mbar_next(order, bar);
  ck_assert(!order_mbar_is_missed(bar, consumer, 0));
  order_mbar_next(order, bar);
  ck_assert(order_mbar_is_missed(bar, consumer, 0));
  ck_assert(!order_mbar_is_missed(bar, consumer, 1));
  order_join(order, consumer, order_mbar_ended(order, bar));
  ck_assert(!order_mbar_is_missed(bar, consumer, 0));
  // Phases of the mbarrier that was there before say nothing.
  order_mbar_init(order, bar, 1);
  consumer[MBARRIER] = 0;
  ck_assert(!order_mbar_is_missed(bar, consumer, 0));
}
END_TEST

// Of one that is initialised again the first phase is phase 0, however many there were before.
START_TEST(bits_begin_anew_with_an_mbarrier) {
  OrderMbar *bar = order_mbar(order, MBARRIER, 0);
  order_mbar_init(order, bar, 1);
  order_mbar_next(order, bar);
  order_mbar_init(order, bar, 1);
  for (int i = 0; i < 2; i++) order_mbar_next(order, bar);
  consumer[MBARRIER] = 1;
  ck_assert(order_mbar_is_missed(bar, consumer, 0) && !order_mbar_is_missed(bar, consumer, 1));
  order_mbar_next(order, bar);
  consumer[MBARRIER] = 2;
  ck_assert(order_mbar_is_missed(bar, consumer, 1) && !order_mbar_is_missed(bar, consumer, 0));
}
END_TEST

// Party 0 is one like any other.
START_TEST(the_first_party_may_be_an_mbarrier) {
  OrderMbar *bar = order_mbar(order, 0, 0);
  order_mbar_init(order, bar, 1);
  order_mbar_next(order, bar);
  ck_assert(order_is_over(order, order_mbar_ended(order, bar), 0, 0));
}
END_TEST

START_TEST(a_phase_is_missed_where_the_count_begins_anew) {
  OrderMbar *bar = order_mbar(order, MBARRIER, 0);
  order_mbar_init(order, bar, 1);
  bar->phases.phase = UINT32_MAX;
  consumer[MBARRIER] = UINT32_MAX;
  order_mbar_next(order, bar);
  ck_assert(!order_mbar_is_missed(bar, consumer, 1));
}
END_TEST

Suite *suite_order_mbar(void) {
  Suite *suite = suite_create("order_mbar");
  TCase *phases = tcase_create("phases"), *clocks = tcase_create("clocks");
  tcase_add_test(phases, a_phase_is_over_behind_the_last_arrival);
  tcase_add_test(phases, bytes_keep_a_phase_open_whichever_sign_they_have);
  tcase_add_test(phases, more_arrivals_than_are_awaited_are_told_and_do_not_count);
  tcase_add_test(phases, who_drops_out_is_awaited_no_more);
  tcase_add_test(phases, phases_count_on_where_one_is_initialised_again);
  tcase_add_test(phases, the_bit_goes_on_where_the_count_begins_anew);
  tcase_add_checked_fixture(clocks, setup, teardown);
  tcase_add_test(clocks, the_end_of_a_phase_hands_on_what_arrivals_knew);
  tcase_add_test(clocks, one_that_is_no_party_tells_nothing_of_itself);
  tcase_add_test(clocks, a_wait_that_nobody_knows_of_may_come_late);
  tcase_add_test(clocks, waits_of_both_bits_are_kept_apart);
  tcase_add_test(clocks, two_phases_further_on_the_bit_is_another_ones);
  tcase_add_test(clocks, bits_begin_anew_with_an_mbarrier);
  tcase_add_test(clocks, the_first_party_may_be_an_mbarrier);
  tcase_add_test(clocks, a_phase_is_missed_where_the_count_begins_anew);
  suite_add_tcase(suite, phases);
  suite_add_tcase(suite, clocks);
  return suite;
}
