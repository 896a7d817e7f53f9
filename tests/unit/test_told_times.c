// The time of each schedule of tests/data/reading_states.txt, and of broken copies, as it is read:
// tests/golden/told/times.txt holds the numbers of each timeline and sums over all of its
// events, phases and slots, what warps wait for at sixteen clocks, the steps of a slab and the use
// of each barrier. Of the rungs of all ladders it holds sums. test_timeline_times.c shows events
// one by one.
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/embed.h"
#include "base/hash.h"
#include "base/str.h"
#include "edges.h"
#include "golden.h"
#include "model/interp/breakage.h"
#include "model/readings/time/barrier_use.h"
#include "model/readings/time/steps.h"
#include "model/readings/time/timeline_chain.h"
#include "model/readings/time/waits.h"
#include "property.h"

Suite *suite_told_times(void);

enum { CLOCKS = 16, WARPS = 12, BREAKS_EVERY = 5 };

static uint64_t sum_number(uint64_t sum, int64_t number) {
  return hash_bytes(sum, &number, sizeof number);
}
// To a quarter of a clock: what lies behind is the compiler's. Eighths are clear of the halves.
static uint64_t sum_clock(uint64_t sum, double clock) {
  return sum_number(sum, isfinite(clock) ? llround(4 * clock + 1e-3) : -1);
}

static uint64_t sum_events(const Timeline *t) {
  uint64_t sum = HASH_START;
  for (int i = 0; i < t->n_events; i++) {
    const TimelineEvent *e = &t->event[i];
    sum = sum_number(sum_number(sum_number(sum, e->kind), e->warp), e->order);
    sum = sum_clock(sum_clock(sum_clock(sum_clock(sum, e->begin), e->end), e->work), e->busy);
    sum = sum_number(sum_number(sum_number(sum, e->count), e->ring), e->slot);
    sum = sum_number(sum_number(sum_number(sum, e->slab), e->phase), e->stuck);
    if (!e->bar.buffer) continue;
    sum = sum_number(sum_number(sum_number(sum, e->bar.at), e->bar.rank), e->bar.phase);
    sum = sum_number(sum_number(sum, e->bar.expected), e->bar.arrived);
    sum = sum_number(sum_number(sum, e->bar.bytes), e->bar.landed);
  }
  return sum;
}

static uint64_t sum_slots(const Timeline *t) {
  uint64_t sum = HASH_START;
  for (int i = 0; i < t->n_phases; i++) {
    const TimelinePhase *p = &t->phase[i];
    sum = sum_number(sum_number(sum_number(sum, p->at), p->rank), p->phase);
    sum = sum_number(sum_clock(sum, p->end), p->bytes);
  }
  for (int i = 0; i < t->n_holds; i++) {
    const TimelineHold *h = &t->hold[i];
    sum = sum_number(sum_number(sum_number(sum_number(sum, h->ring), h->slot), h->rank), h->slab);
    sum = sum_clock(sum_clock(sum_clock(sum_clock(sum, h->asked), h->landed), h->read), h->over);
  }
  return sum;
}

static void tell_waits(Str *out, const Timeline *t) {
  uint64_t sum = HASH_START;
  int n = 0;
  const char *shown = "";
  for (int i = 0; i < CLOCKS; i++)
    for (int warp = 0; warp < t->n_warps && warp < WARPS; warp++) {
      const TimelineChain chain = timeline_chain(t, warp, t->clocks * (2 * i + 1) / (2 * CLOCKS));
      const char *text = timeline_chain_text(property_arena, t, &chain);
      sum = hash_text(sum, text);
      n += chain.n;
      if (strlen(text) > strlen(shown)) shown = text;
    }
  str_printf(out, "    %d links of %08x\n", n, (unsigned)sum);
  if (*shown) str_printf(out, "    %s\n", shown);
}

static void tell_timeline(Str *out, const char *what, const Model *model, const Timeline *t) {
  const TimelineWhole whole = timeline_whole(t, model);
  str_printf(out,
             "  %s: %d events of %08x, %d phases and %d holds of %08x, %d warps of %d blocks%s\n"
             "    %.1f clocks, %.1f with what is left out, a turn %.1f, a slab %.1f, %lld tiles; a "
             "launch %.1f in %.2f rounds at %.0f MHz, %.0f ns\n",
             what, t->n_events, (unsigned)sum_events(t), t->n_phases, t->n_holds,
             (unsigned)sum_slots(t), t->n_warps, t->n_blocks, t->full ? ", full" : "", t->clocks,
             t->all_clocks, t->turn_clocks, timeline_slab_clocks(t), (long long)t->n_tiles,
             whole.clocks, whole.rounds, whole.mhz, whole.ns);
  for (int i = 0; i < t->n_cuts; i++)
    str_printf(out, "    cut at %.1f: %lld turns of %s, %.1f clocks%s, %.1f behind\n", t->cut[i].at,
               (long long)t->cut[i].turns, t->cut[i].var->name, t->cut[i].clocks,
               t->cut[i].repeats ? " each the same" : "", timeline_clock(t, t->cut[i].at + 1));
  for (int i = 0; i < t->n_rings; i++)
    str_printf(out, "    ring %s of %d\n", t->ring[i].name, t->ring[i].n_slots);
  tell_waits(out, t);
}

static void tell_broken(Str *out, const Model *model, int first) {
  for (int id = first; id < BREAK_COUNT; id += BREAKS_EVERY) {
    const Program *broken = program_break(property_arena, model->program, (BreakageId)id);
    if (!broken) continue;
    const Timeline *t = timeline_run(property_arena, model, broken, &(TimelineOptions){0});
    const TimelineChain chain = timeline_stuck_chain(t);
    str_printf(out, "  %s: %d events of %08x, %d stuck%s%s\n", breakage_name((BreakageId)id),
               t->n_events, (unsigned)sum_events(t), t->n_stuck, chain.n ? ": " : "",
               timeline_chain_text(property_arena, t, &chain));
  }
}

static void tell_steps(Str *out, const Program *program) {
  const Steps s = derive_steps(property_arena, program);
  uint64_t sum = HASH_START;
  const char *safe = "";
  for (int i = 0; i < s.n; i++) {
    const Step *p = &s.step[i];
    const int numbers[] = {p->produces,      p->n_copies,    p->n_stores,        p->copy_slab,
                           p->commit,        p->wait,        p->wait_multiplies, p->arrive,
                           p->barrier,       p->n_reads,     p->read_first,      p->read_last,
                           p->read_slab,     p->read_set,    p->n_multiplies,    p->multiply_first,
                           p->multiply_last, p->multiply_set};
    const char *text = steps_say_safe(property_arena, &s, p);
    sum = hash_bytes(sum, numbers, sizeof numbers);
    sum = hash_text(hash_text(sum, p->why ? p->why : "-"), p->mbarrier ? p->mbarrier : "-");
    sum = hash_text(sum, text);
    if (!*safe) safe = text;
  }
  str_printf(out,
             "  %d steps of %08x, %d slots, %.1f products, %.1f moved, %d reads, %d before, %d "
             "registers, intensity %.3f\n",
             s.n, (unsigned)sum, s.n_slots, s.products, s.moved, s.n_reads, s.reads_before,
             s.n_registers, steps_intensity(&s));
  if (*safe) str_printf(out, "    %s\n", safe);
}

static void tell_program(Str *out, const Program *program) {
  const BlockWaits w = derive_waits(property_arena, program);
  const BarrierUses uses = barrier_uses(program);
  str_printf(
      out,
      "  waits: %.2f fetches, depth %.2f, %.2f phases, %.1f steps, %.1f turns, %.2f and %.2f "
      "reads, %.1f instructions, %.2f and %.2f loads, %.1f rows of boxes, %.1f wasted\n",
      w.fetches, w.depth, w.phases, w.steps, w.turns, w.reads, w.near_reads, w.instructions,
      w.loads, w.near_loads, w.box_rows, w.box_waste);
  tell_steps(out, program);
  for (int i = 0; i < uses.n; i++) {
    const char *text = barrier_use_text(property_arena, &uses.use[i]);
    if (*text) str_printf(out, "  barrier %d: %s\n", i, text);
  }
}

START_TEST(times_are_read_as_reviewed) {
  char *rows = edges_read(property_data, "reading_states.txt");
  Str out = str_new(property_data);
  int states = 0;
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"), arena_reset(property_arena)) {
    const Schedule state = property_read_state(row);
    const Model *model = model_build(property_arena, &property_targets, &state);
    str_printf(&out, "%s\n", row);
    if (!model->ok) continue;
    tell_timeline(&out, "cut", model,
                  timeline_run(property_arena, model, NULL, &(TimelineOptions){0}));
    const Timeline *pair =
        timeline_run(property_arena, model, NULL, &(TimelineOptions){.pair = true});
    if (pair->n_blocks > 1) tell_timeline(&out, "of a pair", model, pair);
    tell_program(&out, model->program);
    tell_broken(&out, model, states++ % BREAKS_EVERY);
  }
  golden_check("told/times.txt", out.text);
}
END_TEST

// Sums alone of each rung, and some of its broken copies.
static void tell_rung(Str *out, const Ladder *ladder, const Rung *rung, int first) {
  const Model *model = property_built(&rung->schedule);
  const Timeline *t = timeline_run(property_arena, model, NULL, &(TimelineOptions){.pair = true});
  Str told = str_new(property_arena);
  tell_timeline(&told, "cut", model, t);
  tell_program(&told, model->program);
  str_printf(out, "%s/%s: %d events of %08x, %d warps, %.1f clocks, all of %08x\n", ladder->name,
             rung->name, t->n_events, (unsigned)sum_events(t), t->n_warps, t->clocks,
             (unsigned)hash_text(HASH_START, told.text));
  tell_broken(out, model, first);
}

START_TEST(times_of_rungs_are_as_reviewed) {
  const EmbeddedList list = embed_list(property_data, "ladders/");
  Str out = str_new(property_data);
  for (int i = 0, n = 0; i < list.count; i++) {
    const Ladder *ladder = property_read_ladder(list.paths[i]);
    for (int r = 0; r < ladder->n_rungs; r++, arena_reset(property_arena))
      tell_rung(&out, ladder, &ladder->rung[r], n++ % BREAKS_EVERY);
  }
  golden_check("told/times_rungs.txt", out.text);
}
END_TEST

Suite *suite_told_times(void) {
  Suite *suite = suite_create("told_times");
  TCase *tcase = tcase_create("times");
  tcase_set_timeout(tcase, 240);
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, times_are_read_as_reviewed);
  tcase_add_test(tcase, times_of_rungs_are_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
