// Accesses that the assembler is expected to merge: all that an unrolled block has, however many
// they are.
#include <check.h>
#include <string.h>

#include "model/ir/buffer.h"
#include "model/readings/model.h"
#include "property.h"

Suite *suite_merge(void);

#define TILE "BM=16,BN=16,FM=64,FN=2,BK=32,STAGE=11,BUFFER_COUNT=1"

// The loads from a slab, by the first of their widths and how often a warp executes them per slab.
static const SiteForm *loads_from(const char *state, const char *slab) {
  const Schedule schedule = property_read_state(state);
  const Model *model = property_built(&schedule);
  ck_assert_int_eq(model->diags.count, 0);
  for (int i = 0; i < model->n_sites; i++)
    if (!model->site[i].is_store && strcmp(model->site[i].slab->name, slab) == 0)
      return &model->site[i].form[0];
  ck_abort_msg("nothing reads %s in %s", slab, state);
}

// 64 rows of 8 steps are 512 accesses of a thread, four in a row; of 32 steps they are 2048.
START_TEST(a_long_block_merges_as_a_short_one) {
  const SiteForm *few = loads_from(TILE ",UNROLL_K=8", "A_s");
  const SiteForm *many = loads_from(TILE ",UNROLL_K=32", "A_s");
  ck_assert_str_eq(few->op->name, "lds128");
  ck_assert_str_eq(many->op->name, "lds128");
  ck_assert_double_eq(few->executions, 512);
  ck_assert_double_eq(many->executions, 512);
}
END_TEST

Suite *suite_merge(void) {
  Suite *suite = suite_create("merge");
  TCase *tcase = tcase_create("merge");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, a_long_block_merges_as_a_short_one);
  suite_add_tcase(suite, tcase);
  return suite;
}
