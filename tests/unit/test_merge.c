// Which accesses of a thread the assembler is taken to merge: where loops end to be unrolled, and
// what alignment allows.
#include "model/readings/cost/merge.h"

#include <check.h>

#include "model/readings/model.h"
#include "property.h"

Suite *suite_merge(void);

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
  TCase *tests = tcase_create("merge");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_add_loop_test(tests, loops_are_unrolled_so_far, 0, sizeof loops / sizeof *loops);
  suite_add_tcase(suite, tests);
  return suite;
}
