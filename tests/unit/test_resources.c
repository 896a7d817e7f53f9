// All that holds the blocks on an SM down, in words.
#include <check.h>

#include "model/readings/derive.h"
#include "model/readings/model.h"
#include "property.h"

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

// 128 queries, 64 keys and a head of 128: what a block of keys takes, and its sums in registers.
START_TEST(attention_is_counted_by_its_blocks) {
  const Model *model = property_rung("attention", "causal", "");
  ck_assert_int_eq((int)model->traffic.slab_fma, 2 * 128 * 64 * 128);
  ck_assert_int_eq((int)(model->traffic.flop / 1e9), 274);  // half of 4 * 64 * 4096^2 * 128
  const AttentionPart warp = {
      .atom = program_atom(model->program), .rows = 32, .keys = 64, .dim = 128};
  ck_assert_int_eq((int)attention_sums(&warp), 32 * (64 + 128) / 32);
}
END_TEST

Suite *suite_resources(void) {
  Suite *suite = suite_create("resources");
  TCase *tests = tcase_create("resources");
  tcase_add_test(tests, limits_that_tie_are_all_named);
  tcase_add_unchecked_fixture(tests, property_setup, property_teardown);
  tcase_add_test(tests, attention_is_counted_by_its_blocks);
  suite_add_tcase(suite, tests);
  return suite;
}
