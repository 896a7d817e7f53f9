// Every barrier of the kernels of tests/data/open taken away, one at a time: the race that it
// prevents is found, with both lines. With all barriers there is none.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "open_case.h"
#include "stress.h"

Suite *suite_open_races(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// The text without its n-th barrier; NULL when there are not so many. Its length stays.
static char *without_barrier(const char *ptx, const char *barrier, int n) {
  char *text = arena_strdup(arena, ptx);
  char *at = strstr(text, barrier);
  for (int i = 0; at && i < n; i++) at = strstr(at + 1, barrier);
  if (!at) return NULL;
  memset(at, ' ', strcspn(at, ";"));
  return text;
}

static bool is_race(const OpenCase *given, const PtxFinding *f) {
  const PtxInst *code = given->module->code;
  const bool kind = f->kind == PTX_FINDING_RACE || f->kind == PTX_FINDING_MISSING_WAIT;
  return kind && f->other_pc >= 0 && code[f->pc].loc >= 0 && code[f->other_pc].loc >= 0 &&
         f->thread != f->other_thread;
}

static bool finds_race(int index, const char *ptx) {
  const OpenCase given = open_case_load(arena, index, ptx);
  open_case_run(&given);
  for (int i = 0; i < ptx_machine_findings(given.machine); i++)
    if (is_race(&given, ptx_machine_finding(given.machine, i))) return true;
  return false;
}

// Barriers that nothing depends on: before the first query of a tile, the block has met already.
static const struct {
  const char *id, *barrier;
  int n;
} spare[] = {{"k17", "bar.warp.sync", 0}};

static bool is_spare(const char *id, const char *barrier, int n) {
  for (size_t i = 0; i < sizeof spare / sizeof spare[0]; i++)
    if (str_equal(spare[i].id, id) && str_equal(spare[i].barrier, barrier) && spare[i].n == n)
      return true;
  return false;
}

START_TEST(test_a_missing_barrier_is_a_race) {
  static const char *const barriers[] = {"bar.sync", "bar.warp.sync", "cp.async.wait_group"};
  const char *id = open_case_id(_i);
  const char *ptx = open_case_text(arena, arena_printf(arena, "%s.ptx", id));
  int n_deleted = 0;
  for (int b = 0; b < 3; b++)
    for (int n = 0;; n++) {
      const char *text = without_barrier(ptx, barriers[b], n);
      if (!text) break;
      n_deleted++;
      ck_assert_msg(finds_race(_i, text) != is_spare(id, barriers[b], n), "%s: %s number %d", id,
                    barriers[b], n);
    }
  ck_assert_int_ge(n_deleted, 1);
}
END_TEST

Suite *suite_open_races(void) {
  Suite *suite = suite_create("open_races");
  TCase *tcase = tcase_create("races");
  tcase_set_timeout(tcase, 200);
  tcase_add_checked_fixture(tcase, setup, teardown);
  stress_add_turns(tcase, test_a_missing_barrier_is_a_race, 10, 3);
  suite_add_tcase(suite, tcase);
  return suite;
}
