// Events that searches over all orders are asked about: of programs, as every_order.h walks them,
// and of PTX, as a run records them. tests/golden/told/orders.txt counts the processes, events and
// accesses of each, and has a sum over all that is said of them; a search itself is another
// suite's.
#include <check.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "edges.h"
#include "golden.h"
#include "model/readings/time/every_order.h"
#include "model/schedules/reduce.h"
#include "model/words/knob.h"
#include "order/search.h"
#include "property.h"
#include "ptx_kernel.h"

Suite *suite_told_orders(void);

enum { THREADS = 64 };

static uint64_t sum_numbers(uint64_t sum, const int64_t *number, int n) {
  return hash_bytes(sum, number, (size_t)n * sizeof *number);
}
#define SUM(sum, ...)                              \
  sum_numbers(sum, (const int64_t[]){__VA_ARGS__}, \
              (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

static uint64_t sum_access(uint64_t sum, const SearchAccess *a) {
  sum = SUM(sum, a->place, a->write, a->async, a->process, a->begin, a->ends, a->end, a->n_also,
            a->queue, a->apart);
  for (int i = 0; i < a->n_also; i++) sum = SUM(sum, a->also[i].process, a->also[i].at);
  return sum;
}

static void tell_search(Str *out, const Search *s) {
  uint64_t sum = SUM(HASH_START, s->ranks, s->threads_apart, s->cut, s->stopped, s->scopes,
                     s->registers, s->n_meets);
  for (int p = 0; p < s->n_processes; p++) {
    const SearchProcess *process = &s->process[p];
    sum = SUM(hash_text(sum, process->name), process->rank, process->group, process->agent);
    for (int i = 0; i < process->n_events; i++) {
      const SearchEvent *e = &process->event[i];
      sum = SUM(sum, e->kind, e->scope, e->object, e->n, e->bytes, e->bit, e->after, e->after_at);
    }
  }
  for (int b = 0; b < s->n_bars; b++)
    sum = SUM(hash_text(sum, s->bar[b].name), s->bar[b].rank, s->bar[b].given);
  for (int p = 0; p < s->n_places; p++) {
    sum = SUM(hash_text(sum, s->place[p].name), s->place[p].rank, s->place[p].memory);
    for (int d = 0; d < SEARCH_DIMS; d++) sum = SUM(sum, s->place[p].lo[d], s->place[p].hi[d]);
  }
  for (int i = 0; i < s->n_accesses; i++) sum = sum_access(sum, &s->access[i]);
  str_printf(out, "%d processes, %d events, %d mbarriers, %d places, %d accesses; %08x",
             s->n_processes, search_events(s), s->n_bars, s->n_places, s->n_accesses,
             (unsigned)sum);
}

// ---- programs -----------------------------------------------------------------------------------

static void tell_program(Str *out, const Program *program, int64_t grid) {
  Arena *arena = arena_new("events");
  const EveryOrder every = every_order_program(arena, program, grid);
  str_printf(out, "  grid %d: ", (int)grid);
  if (every.search)
    tell_search(out, every.search);
  else
    str_printf(out, "%s", every.fault);
  for (int i = 0; i < every.n_left_out; i++) str_printf(out, "; but %s", every.left_out[i]);
  str_add(out, "\n");
  arena_free(arena);
}

// With one tile more than a cluster has, and slabs for each slot, and one.
static void tell_state(Str *out, const Schedule *state) {
  Schedule schedule = property_of_two_heads(state);
  const int64_t *v = schedule.value;
  schedule_resize(&schedule, 2 * max64(schedule_tile(&schedule, KNOB_M) * v[KNOB_CLUSTER_M], 16),
                  max64(schedule_tile(&schedule, KNOB_N) * v[KNOB_CLUSTER_N], 16),
                  max64(schedule_tile(&schedule, schedule_walked(&schedule)) *
                            (v[KNOB_BUFFER_COUNT] + 1) * max64(v[KNOB_SPLITK], 1),
                        16));
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  if (!model->ok) return;
  tell_program(out, model->program, 1);
  if (schedule.value[KNOB_PERSISTENT]) tell_program(out, model->program, 2);
}

START_TEST(events_of_programs_are_as_reviewed) {
  char *rows = edges_read(property_data, "reading_states.txt");
  Str out = str_new(property_data);
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"), arena_reset(property_arena)) {
    const Schedule state = property_read_state(row);
    str_printf(&out, "%s\n", row);
    tell_state(&out, &state);
  }
  golden_check("told/orders.txt", out.text);
}
END_TEST

// ---- PTX ----------------------------------------------------------------------------------------

static const char operands[] =
    "mov.u32 %r1, %t; add.u32 %r2, %t4, 1; mov.u32 %r3, 7; cvt.u64.u32 %rd1, %t;\n"
    "cvt.u64.u32 %rd2, %t4; mov.u64 %rd3, 16; mov.b32 %f1, %r1; mov.b32 %f2, %r2;\n"
    "and.b32 %r28, %t, 1; setp.ne.u32 %p1, %r28, 0; and.b32 %r28, %t, 2;\n"
    "setp.ne.u32 %p2, %r28, 0; mov.u32 %r0, 0;\n";

static void tell_body(Str *out, const char *body) {
  Arena *arena = arena_new("a body"), *kept = arena_new("events");
  Diags diags = diags_new(arena);
  const char *text = ptx_kernel_text(arena, arena_printf(arena, "%s%s;", operands, body));
  const PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags);
  if (module) {
    const PtxLaunch launch = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .budget = 200000};
    PtxMachine *m =
        ptx_machine_new(arena, module, ptx_module_kernel(module, NULL, &diags), &launch, &diags);
    const int64_t bytes = 4 * PTX_KERNEL_WORDS;
    uint32_t in[PTX_KERNEL_WORDS];
    ptx_kernel_numbers(in);
    const uint64_t from = ptx_machine_buffer(m, "in", bytes, in, PTX_CONTENT_GIVEN),
                   to = ptx_machine_buffer(m, "out", bytes, NULL, PTX_CONTENT_ZERO);
    ptx_machine_param(m, 0, &from, 8);
    ptx_machine_param(m, 1, &to, 8);
    int n = 0;
    const char *const *left = NULL;
    ptx_machine_record_orders(m, kept, 32);
    const PtxOutcome outcome = ptx_machine_run(m, 0, 0, 0);
    const Search *search = ptx_machine_orders(m, outcome, &n, &left);
    str_printf(out, "%s\n  ends as %d: ", body, (int)outcome);
    if (search) tell_search(out, search);
    for (int i = 0; i < n; i++) str_printf(out, "; but %s", left[i]);
    str_add(out, "\n");
  }
  arena_free(kept);
  arena_free(arena);
}

static bool orders(const char *row) {
  static const char *const words[] = {"bar",     "cp.async",  "fence",       "wait",
                                      "commit",  "st.async",  "atom.shared", "st.shared",
                                      "tcgen05", "mma_async", "exit"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(row, words[i])) return true;
  return false;
}

START_TEST(events_of_ptx_are_as_reviewed) {
  char *rows = edges_read(property_data, "ptx_edges.txt");
  Str out = str_new(property_data);
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"))
    if (row[0] != '#' && orders(row)) tell_body(&out, row);
  golden_check("told/orders_ptx.txt", out.text);
}
END_TEST

Suite *suite_told_orders(void) {
  Suite *suite = suite_create("told_orders");
  TCase *tcase = tcase_create("orders");
  tcase_set_timeout(tcase, 240);
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, events_of_programs_are_as_reviewed);
  tcase_add_test(tcase, events_of_ptx_are_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
