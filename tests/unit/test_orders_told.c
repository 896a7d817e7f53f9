// A search over every order tells of each fault that can be put into a rung, word by word: the
// verdict, how many states it looked at, the end of the shortest order, its cause and its cure
// (tests/golden/orders). The number of states is part of it: a search that looks at more, or at
// fewer, decides otherwise which orders are alike.
#include <check.h>
#include <stdio.h>

#include "base/str.h"
#include "golden.h"
#include "model/schedules/every_turn.h"
#include "property.h"
#include "search_told.h"

Suite *suite_orders_told(void);

enum { STEPS_SHOWN = 6 };

static const char *const rungs[][2] = {{"fp16", "tma"},       {"fp16", "roles"},
                                       {"hopper", "roles"},   {"hopper", "consumers"},
                                       {"blackwell", "pair"}, {"attention", "causal"}};

static void write_one(Str *out, const EveryTurn *every, const char *name) {
  const SearchResult *r = &every->result;
  if (every->fault) return;
  str_add(out, name);
  search_tell_verdict(out, r);
  str_printf(out, ", %d runs of %lld turns and %lld tiles\n", (int)every->runs,
             (long long)every->turns, (long long)every->tiles);
  if (r->verdict == SEARCH_FOUND) search_tell_witness(out, every->search, r, STEPS_SHOWN);
  if (every->spared) str_printf(out, "  %s\n", every->spared);
  for (int i = 0; i < every->n_left_out; i++) str_printf(out, "  but %s\n", every->left_out[i]);
}

START_TEST(faults_are_told_as_reviewed) {
  const char *const *rung = rungs[_i];
  const Model *model = property_rung(rung[0], rung[1], "");
  Str out = str_new(property_data);
  for (int id = 0; id <= BREAK_COUNT; id++) {
    EveryTurn every =
        every_turn_search(&property_targets, &model->schedule, (BreakageId)id, &(SearchOptions){0});
    write_one(&out, &every, id < BREAK_COUNT ? breakage_name((BreakageId)id) : "sound");
    every_turn_free(&every);
  }
  golden_check(arena_printf(property_data, "orders/%s_%s.txt", rung[0], rung[1]), out.text);
}
END_TEST

Suite *suite_orders_told(void) {
  Suite *suite = suite_create("orders_told");
  TCase *tests = tcase_create("orders_told");
  tcase_set_timeout(tests, 400);
  tcase_add_unchecked_fixture(tests, property_setup, property_teardown);
  tcase_add_loop_test(tests, faults_are_told_as_reviewed, 0, sizeof rungs / sizeof *rungs);
  suite_add_tcase(suite, tests);
  return suite;
}
