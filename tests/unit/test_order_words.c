// interpret and open speak of one fault in the same words.
#include <check.h>

#include "model/interp/interp.h"
#include "order/order_words.h"
#include "ptx/run/machine.h"

Suite *suite_order_words(void);

static const struct {
  FindingKind interpreted;
  PtxFindingKind opened;
} pairs[] = {{FINDING_RACE, PTX_FINDING_RACE},
             {FINDING_MISSING_WAIT, PTX_FINDING_MISSING_WAIT},
             {FINDING_MISSING_FENCE, PTX_FINDING_MISSING_FENCE},
             {FINDING_UNWRITTEN_READ, PTX_FINDING_UNWRITTEN},
             {FINDING_DEADLOCK, PTX_FINDING_DEADLOCK},
             {FINDING_EXITED, PTX_FINDING_ENDED}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

START_TEST(a_kind_means_the_same_in_both) {
  ck_assert_str_eq(finding_help(pairs[_i].interpreted), ptx_finding_helps[pairs[_i].opened]);
}
END_TEST

START_TEST(a_phase_says_what_it_lacks) {
  Arena *arena = arena_new("test words");
  OrderPhases p = {0};
  order_phases_init(&p, 4);
  ck_assert_str_eq(order_phases_text(arena, &p),
                   "phase 0 is under way, with 4 of 4 arrivals missing and 0 bytes to come");
  order_phases_next(&p);
  order_phases_arrive(&p, 4);
  p.bytes = 16;
  ck_assert_str_eq(order_phases_text(arena, &p),
                   "phase 1 is under way, with 0 of 4 arrivals missing and 16 bytes to come");
  p.bytes = -16;
  ck_assert_str_eq(order_phases_text(arena, &p),
                   "phase 1 is under way, with 0 of 4 arrivals missing and 16 bytes more than were "
                   "expected");
  arena_free(arena);
}
END_TEST

Suite *suite_order_words(void) {
  Suite *suite = suite_create("order_words");
  TCase *tcase = tcase_create("words");
  tcase_add_loop_test(tcase, a_kind_means_the_same_in_both, 0, PAIRS);
  tcase_add_test(tcase, a_phase_says_what_it_lacks);
  suite_add_tcase(suite, tcase);
  return suite;
}
