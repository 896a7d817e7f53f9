// All that holds the blocks on an SM down, in words.
#include <check.h>

#include "model/readings/model.h"

Suite *suite_resources(void);

START_TEST(limits_that_tie_are_all_named) {
  char text[LIMITERS_BYTES];
  Resources r = {.limiters = {"shared memory"}};
  ck_assert_str_eq(resources_limiters(text, &r), "shared memory");
  r.limiters[1] = "registers";
  ck_assert_str_eq(resources_limiters(text, &r), "shared memory and registers");
  r.limiters[2] = "warps";
  ck_assert_str_eq(resources_limiters(text, &r), "shared memory, registers and warps");
}
END_TEST

Suite *suite_resources(void) {
  Suite *suite = suite_create("resources");
  TCase *tests = tcase_create("resources");
  tcase_add_test(tests, limits_that_tie_are_all_named);
  suite_add_tcase(suite, tests);
  return suite;
}
