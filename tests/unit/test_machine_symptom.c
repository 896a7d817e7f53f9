// A symptom: what an event of machine code left in registers, found again in a run of the same code
// and in no other.
#include <check.h>

#include "machine/back/mc_follow.h"
#include "machine_case.h"
#include "open_case.h"

Suite *suite_machine_symptom(void);

enum { KERNELS = 10 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

typedef struct Kernel {
  int index;
  const PtxModule *module;
} Kernel;

static bool again(void *self, bool machine_code, PtxTrace *trace, PtxAccessSink *sink,
                  void *context) {
  const Kernel *k = self;
  const OpenCase c = open_case_load_module(arena, k->index, k->module);
  ck_assert(machine_code);
  if (trace) ptx_machine_trace(c.machine, trace, context);
  if (sink) ptx_machine_watch(c.machine, sink, context);
  return ptx_machine_run(c.machine, 0, 0, 0) == PTX_DONE;
}

static bool is_there(Kernel *k, McSymptom symptom) {
  ck_assert(again(k, true, mc_symptom_watch, NULL, &symptom));
  return symptom.is_there;
}

// Of some events of a thread: there; with another value, at another time, in other lanes it is not.
START_TEST(test_a_symptom_is_what_an_event_left) {
  enum { EVENTS = 2 };
  const McThread thread = {.lane = 3};
  Kernel k = {_i, machine_case_recorded(arena, open_case_id(_i))};
  const int *line = ARENA_ARRAY(arena, int, k.module->n_code);
  const McFollowed t =
      mc_follow_thread(arena, again, &k, &thread, line, k.module->n_code, MC_EVENTS_MAX);
  int n = 0;
  for (int i = t.n - 1; i >= 0 && n < EVENTS; i--) {
    if (!t.events[i].n_wrote) continue;
    const McSymptom as_it_is = mc_symptom_of(&thread, &t.events[i]);
    ck_assert_int_eq(as_it_is.n, t.events[i].n_wrote);
    ck_assert_msg(is_there(&k, as_it_is), "%s at 0x%x", open_case_id(_i), 16 * as_it_is.pc);
    McSymptom other = as_it_is;
    other.lanes[other.n - 1] ^= 1;
    ck_assert(!is_there(&k, other));
    other = as_it_is;
    other.when++;
    ck_assert(!is_there(&k, other));
    other = as_it_is;
    other.mask ^= 1u << 31;
    ck_assert(!is_there(&k, other));
    n++;
  }
  ck_assert_int_gt(n, 0);
}
END_TEST

Suite *suite_machine_symptom(void) {
  Suite *suite = suite_create("machine_symptom");
  TCase *tcase = tcase_create("symptom");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_a_symptom_is_what_an_event_left, 0, KERNELS);
  suite_add_tcase(suite, tcase);
  return suite;
}
