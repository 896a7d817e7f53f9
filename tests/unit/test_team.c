// Work that threads share: each item once, whatever there is of threads and rounds.
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/team.h"

enum { ITEMS = 1000, ROUNDS = 200 };

typedef struct Counted {
  int times[ITEMS];
  int round;
} Counted;

static void count(void *context, int item) {
  Counted *counted = context;
  counted->times[item] += counted->round + 1;
}

START_TEST(each_item_is_done_once) {
  Counted counted = {{0}, 0};
  Team *team = team_new(_i);
  team_run(team, ITEMS, count, &counted);
  team_run(team, 0, count, &counted);
  for (int i = 0; i < ITEMS; i++) ck_assert_int_eq(counted.times[i], 1);
  team_end(team);
}
END_TEST

// A thread that has slept through a round takes no part in it, and one that is late in none twice.
START_TEST(rounds_follow_each_other) {
  Counted counted = {{0}, 0};
  Team *team = team_new(4);
  for (; counted.round < ROUNDS; counted.round++)
    team_run(team, 1 + counted.round % 7, count, &counted);
  int sum = 0, expected = 0;
  for (int i = 0; i < ITEMS; i++) sum += counted.times[i];
  for (int r = 0; r < ROUNDS; r++) expected += (1 + r % 7) * (r + 1);
  ck_assert_int_eq(sum, expected);
  team_end(team);
}
END_TEST

// Between the beginning and the end of a round the caller does what it likes; with no thread beside
// it the items are done at the end. Who goes away with a round begun waits for it.
START_TEST(a_round_goes_on_beside_its_caller) {
  Counted counted = {{0}, 0};
  Team *team = team_new(_i);
  for (int round = 0; round < ROUNDS; round++) {
    ck_assert(team_is_done(team));
    team_begin(team, 5, count, &counted);
    counted.times[ITEMS - 1]++;
    if (_i == 1) ck_assert(!team_is_done(team));
    ck_assert_int_eq(team_threads(team), _i - 1);
    while (_i > 1 && !team_is_done(team)) usleep(100);
    if (_i > 1) ck_assert_int_eq(counted.times[4], round + 1);
    team_finish(team);
    for (int i = 0; i < 5; i++) ck_assert_int_eq(counted.times[i], round + 1);
    team_finish(team);
  }
  ck_assert_int_eq(counted.times[ITEMS - 1], ROUNDS);
  team_begin(team, 5, count, &counted);
  team_end(team);
  for (int i = 0; i < 5; i++) ck_assert_int_eq(counted.times[i], ROUNDS + 1);
}
END_TEST

START_TEST(none_and_many_are_kept_in_bounds) {
  team_end(NULL);
  team_end(team_new(0));
  team_end(team_new(1000));
  ck_assert_int_ge(team_usual(), 1);
  ck_assert_int_le(team_usual(), 8);
}
END_TEST

static void *count_processors(void *context) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
    CPU_SET(i, &one);
    if (sched_setaffinity(0, sizeof one, &one)) CPU_CLR(i, &one);
  }
  *(int *)context = team_processors();
  return NULL;
}

// A thread's own, so that the other tests keep theirs.
START_TEST(processors_are_those_that_are_left_to_us) {
  int n = 0;
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, count_processors, &n), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(n, 1);
  ck_assert_int_ge(team_processors(), 1);
}
END_TEST

Suite *suite_team(void);
Suite *suite_team(void) {
  Suite *suite = suite_create("team");
  TCase *tests = tcase_create("team");
  tcase_add_loop_test(tests, each_item_is_done_once, 1, 9);
  tcase_add_test(tests, rounds_follow_each_other);
  tcase_add_loop_test(tests, a_round_goes_on_beside_its_caller, 1, 4);
  tcase_add_test(tests, none_and_many_are_kept_in_bounds);
  tcase_add_test(tests, processors_are_those_that_are_left_to_us);
  suite_add_tcase(suite, tests);
  return suite;
}
