// Accesses that the assembler is expected to merge: all that an unrolled block has, however many
// they are; where loops end to be unrolled, and what alignment allows.
#include <check.h>
#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/stmt.h"
#include "model/readings/cost/merge.h"
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

#define BLOCK "M=1600,N=1120,STAGE=11,BM=16,BN=16,K=840,"

// A of a slab whose rows are BK floats, read by FM rows of a thread in a loop over BK. One turn has
// (FM + 1) · (FN + 1) - 1 operations, and three more that keep the loop going.
static const struct {
  const char *knobs;
  int bytes;     // of an access to A that the loop makes; 0: as written
  int elements;  // that one takes, in the mean
} loops[] = {
    {BLOCK "FM=5,FN=7,BK=6", 8, 2},    // 6 · 50 = 300: whole
    {BLOCK "FM=5,FN=7,BK=8", 0, 1},    // 400, and 75 / 50 is one turn at a time
    {BLOCK "FM=2,FN=10,BK=10", 8, 2},  // 350, and 75 / 35 are two
    {BLOCK "FM=2,FN=10,BK=7", 8, 2},   // 245: whole, both rows of a thread follow each other
    {BLOCK "FM=1,FN=1,BK=12", 16, 4},  // whole
    {BLOCK "FM=1,FN=1,BK=14", 8, 2},   // whole; rows of 56 bytes
    {BLOCK "FM=1,FN=1,BK=15", 0, 1},   // rows of 60 bytes
    {BLOCK "FM=1,FN=1,BK=42", 8, 2},   // 42 · 6 = 252
    {BLOCK "FM=1,FN=1,BK=60", 16, 4},  // 360: 12 turns at a time
    // Rows of 16 bytes of which a part is read: three pieces of four are worth it, two are not.
    {BLOCK "FM=1,FN=1,BK=3,PAD_SMEM=1", 16, 3},
    {BLOCK "FM=1,FN=1,BK=2,PAD_SMEM=2", 8, 2},
};

// The site that reads A's slab.
static const Site *site_of_a(const Sites *written) {
  for (int i = 0; i < written->n; i++) {
    const Site *site = &written->site[i];
    if (site->slab->role == ROLE_SLAB_A && !site->is_store) return site;
  }
  return NULL;
}

START_TEST(loops_are_unrolled_so_far) {
  Schedule schedule = property_read_state(loops[_i].knobs);
  const Model *model = property_built(&schedule);
  const Sites written = derive_sites(property_arena, model->program);
  const MachineAccesses found = merge_predict(property_arena, model->program, &written);
  const Site *site = site_of_a(&written);
  int bytes = 0, n = 0;
  double executions = site->executions;
  for (int i = 0; i < found.n; i++) {
    if (found.access[i].stmt_id != site->stmt->id) continue;
    bytes = found.access[i].bytes;
    executions = found.access[i].executions;
    n++;
  }
  const double elements = site->executions / executions;
  ck_assert_msg(n <= 1 && bytes == loops[_i].bytes && elements == loops[_i].elements,
                "%s: %d forms, the last of %d bytes, %g elements each", loops[_i].knobs, n, bytes,
                elements);
}
END_TEST

Suite *suite_merge(void) {
  Suite *suite = suite_create("merge");
  TCase *tcase = tcase_create("merge");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, a_long_block_merges_as_a_short_one);
  tcase_add_loop_test(tcase, loops_are_unrolled_so_far, 0, sizeof loops / sizeof *loops);
  suite_add_tcase(suite, tcase);
  return suite;
}
