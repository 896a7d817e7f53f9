// Groups: none, one, all but some, waits that ask for less than one before, numbers that go round.
#include <check.h>

#include "order/order_groups.h"

Suite *suite_order_groups(void);

START_TEST(a_wait_leaves_the_last_groups) {
  OrderGroups g = {0};
  g.closed = 3;
  ck_assert_int_eq((int)order_groups_wait(&g, 3), 0);
  ck_assert(!order_group_is_over(&g, 0));
  ck_assert_int_eq((int)order_groups_wait(&g, 1), 2);
  ck_assert(order_group_is_over(&g, 0) && order_group_is_over(&g, 1));
  ck_assert(!order_group_is_over(&g, 2) && !order_groups_are_over(&g));
  ck_assert_int_eq((int)order_groups_wait(&g, 0), 1);
  ck_assert(order_group_is_over(&g, 2) && order_groups_are_over(&g));
  ck_assert(!order_group_is_over(&g, 3));  // the open one
}
END_TEST

START_TEST(nothing_is_waited_for_twice) {
  OrderGroups g = {0};
  ck_assert(order_groups_wait(&g, 0) == 0 && order_groups_are_over(&g));
  g.closed = 2;
  order_groups_wait(&g, 0);
  ck_assert(order_groups_wait(&g, 0) == 0 && g.done == 2);
  ck_assert(order_groups_wait(&g, 2) == 0 && g.done == 2);  // a laxer wait takes nothing back
  ck_assert(order_groups_wait(&g, UINT32_MAX) == 0 && g.done == 2);
  g.closed++;
  ck_assert(order_groups_wait(&g, UINT32_MAX) == 0 && g.done == 2);
}
END_TEST

START_TEST(numbers_may_go_round) {
  OrderGroups g = {UINT32_MAX - 1, UINT32_MAX - 1};
  g.closed += 3;
  ck_assert_int_eq((int)g.closed, 1);
  ck_assert_int_eq((int)order_groups_wait(&g, 1), 2);
  ck_assert(order_group_is_over(&g, UINT32_MAX) && !order_group_is_over(&g, 0));
  ck_assert_int_eq((int)order_groups_wait(&g, 0), 1);
  ck_assert(order_group_is_over(&g, 0) && !order_group_is_over(&g, 1));
}
END_TEST

START_TEST(it_is_known_when_a_group_was_waited_for) {
  OrderGroups g = {0};
  OrderGroupTicks ticks = {{0}};
  uint32_t tick = 99;
  g.closed = 3;
  order_groups_wait_at(&g, &ticks, 1, 5);
  ck_assert(!order_group_when(&g, &ticks, 2, &tick) && tick == 99);
  order_groups_wait_at(&g, &ticks, 0, 8);
  ck_assert(order_group_when(&g, &ticks, 0, &tick) && tick == 5);
  ck_assert(order_group_when(&g, &ticks, 1, &tick) && tick == 5);
  ck_assert(order_group_when(&g, &ticks, 2, &tick) && tick == 8);
}
END_TEST

START_TEST(so_many_are_kept_and_no_more) {
  OrderGroups g = {0};
  OrderGroupTicks ticks = {{0}};
  uint32_t tick = 99;
  for (uint32_t i = 1; i <= ORDER_GROUPS_KEPT + 1; i++) {
    g.closed++;
    order_groups_wait_at(&g, &ticks, 0, i);
  }
  ck_assert(!order_group_when(&g, &ticks, 0, &tick) && tick == 99);
  ck_assert(order_group_when(&g, &ticks, 1, &tick) && tick == 2);
  ck_assert(order_group_when(&g, &ticks, ORDER_GROUPS_KEPT, &tick));
  ck_assert_int_eq((int)tick, ORDER_GROUPS_KEPT + 1);
}
END_TEST

Suite *suite_order_groups(void) {
  Suite *suite = suite_create("order_groups");
  TCase *tcase = tcase_create("groups");
  tcase_add_test(tcase, a_wait_leaves_the_last_groups);
  tcase_add_test(tcase, nothing_is_waited_for_twice);
  tcase_add_test(tcase, numbers_may_go_round);
  tcase_add_test(tcase, it_is_known_when_a_group_was_waited_for);
  tcase_add_test(tcase, so_many_are_kept_and_no_more);
  suite_add_tcase(suite, tcase);
  return suite;
}
