// The search over all orders: against brute force on random programs, and a ring with what may be
// wrong with it.
#include <check.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "golden.h"
#include "order/search.h"
#include "search_ring.h"
#include "search_told.h"

Suite *suite_search(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test search"); }
static void teardown(void) { arena_free(arena); }

// ---- brute force --------------------------------------------------------------------------------

enum { BARS = 2, PLACES = 2, START = 0, LATER = 1 };

static int draw(uint64_t *seed, int lo, int hi) { return (int)random_between(seed, lo, hi); }

static SearchScope draw_scope(uint64_t *seed) {
  return (SearchScope)draw(seed, SEARCH_OF_CLUSTER, SEARCH_RELAXED);
}

// One event, with its accesses; of a copy also the process that lands.
static void add_random(Search *s, uint64_t *seed, int process, int n_meet) {
  const int bar = draw(seed, 0, BARS - 1), place = draw(seed, 0, PLACES - 1),
            what = draw(seed, 0, 11);
  const int at = s->process[process].n_events;
  switch (what) {
    case 0:
    case 1:
      search_add(
          s, process,
          (SearchEvent){.kind = SEARCH_ARRIVE, .object = bar, .n = 1, .scope = draw_scope(seed)});
      break;
    case 2:
    case 3:
    case 4:
      search_add(s, process,
                 (SearchEvent){.kind = SEARCH_WAIT,
                               .object = bar,
                               .bit = (uint32_t)draw(seed, 0, 1),
                               .scope = draw_scope(seed)});
      break;
    case 5:
    case 6:
      search_add(s, process, (SearchEvent){.kind = SEARCH_WORK});
      search_touch(s, process, at, place, draw(seed, 0, 1));
      break;
    case 7:
      search_add(
          s, process,
          (SearchEvent){
              .kind = draw(seed, 0, 3) ? SEARCH_MEET : SEARCH_PASS, .object = LATER, .n = n_meet});
      break;
    case 8:
      search_add(s, process,
                 (SearchEvent){.kind = draw(seed, 0, 2) ? SEARCH_FENCE : SEARCH_TELL,
                               .n = draw(seed, 0, 1)});
      break;
    case 9:
      search_add(s, process, (SearchEvent){.kind = SEARCH_TAKE, .n = draw(seed, -2, 2)});
      break;
    default: {
      if (draw(seed, 0, 1))
        search_add(s, process,
                   (SearchEvent){.kind = SEARCH_ARRIVE, .object = bar, .n = 1, .bytes = 8});
      const int ask = search_add(s, process, (SearchEvent){.kind = SEARCH_WORK});
      const int box = search_agent(s, "box", 0);
      const int land = search_add(s, box,
                                  (SearchEvent){.kind = SEARCH_LAND,
                                                .object = bar,
                                                .bytes = 8,
                                                .after = process + 1,
                                                .after_at = ask});
      search_access(s, (SearchAccess){.place = place,
                                      .write = true,
                                      .async = true,
                                      .process = process,
                                      .begin = ask,
                                      .ends = box,
                                      .end = land});
    }
  }
}

static Search *random_program(uint64_t *seed) {
  Search *s = search_new(arena);
  const int n_warps = draw(seed, 2, 3), left = draw(seed, 4, 9), n_meet = draw(seed, 1, n_warps);
  s->scopes = draw(seed, 0, 1);
  const uint32_t cluster = (uint32_t)draw(seed, SEARCH_MEET_ALL, SEARCH_MEET_BLOCK);
  s->registers = draw(seed, 0, 2);
  for (int i = 0; i < n_warps; i++) search_process(s, "warp", draw(seed, 0, 3) ? 0 : 1, i);
  for (int i = 0; i < BARS; i++) search_bar(s, "bar", draw(seed, 0, 5) ? 0 : 1);
  for (int i = 0; i < PLACES; i++) search_place(s, "place", 0, i);
  search_barrier(s, "start", 0);
  search_barrier(s, "later", 0);
  for (int i = 0; i < BARS; i++)
    search_add(s, draw(seed, 0, 9) ? 0 : 1,
               (SearchEvent){.kind = SEARCH_INIT,
                             .object = i,
                             .n = draw(seed, 1, 2),
                             .bit = (uint32_t)draw(seed, 0, 2) > 0});
  if (draw(seed, 0, 1)) search_add(s, 0, (SearchEvent){.kind = SEARCH_INIT_SAID});
  if (draw(seed, 0, 4))
    for (int i = 0; i < n_warps; i++)
      search_add(s, i, (SearchEvent){.kind = SEARCH_MEET, .n = n_warps, .bit = cluster});
  for (int i = 0; i < left; i++) add_random(s, seed, draw(seed, 0, n_warps - 1), n_meet);
  for (int i = 0; i < n_warps; i++) search_add(s, i, (SearchEvent){.kind = SEARCH_EXIT});
  return s;
}

// A ring with nothing wrong, or with some.
static Search *random_ring(uint64_t *seed) {
  Ring ring = {
      .stages = draw(seed, 1, 2), .turns = draw(seed, 1, 3), .consumers = draw(seed, 1, 2)};
  RingFaults *f = &ring.faults;
  f->generic = draw(seed, 0, 1);
  bool *const fault[] = {&f->no_empty_wait,   &f->no_full_wait,  &f->empty_phase_0,
                         &f->full_phase_0,    &f->early_release, &f->silent,
                         &f->no_init_barrier, &f->no_fence,      &f->fetch_short};
  for (int i = draw(seed, 0, 2); i > 0; i--)
    *fault[draw(seed, 0, (int)(sizeof fault / sizeof *fault) - 1)] = true;
  if (draw(seed, 0, 4) == 0) f->more_arrivals = draw(seed, -ring.consumers + 1, 1);
  if (draw(seed, 0, 4) == 0) f->more_bytes = draw(seed, -1, 1) * 8;
  return ring_make(arena, &ring);
}

// Two warps of one block write, fence and arrive at mbarriers of another, whose warps wait and have
// a copy or a load in the same place; scopes, fences and who does what are drawn.
static Search *random_handover(uint64_t *seed) {
  Search *s = search_new(arena);
  s->scopes = true;
  for (int p = 0; p < 4; p++) search_process(s, p < 2 ? "writer" : "reader", p / 2, p / 2);
  const int n_bars = draw(seed, 1, 2);
  for (int i = 0; i < n_bars; i++) search_bar(s, "bar", 1);
  search_place(s, "place", 0, 0);
  search_barrier(s, "start", 0);
  for (int i = 0; i < n_bars; i++)
    search_add(s, 2,
               (SearchEvent){.kind = SEARCH_INIT, .object = i, .n = draw(seed, 1, 2), .bit = 1});
  for (int p = 0; p < 4; p++)
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 4, .bit = SEARCH_MEET_CLUSTER});
  for (int i = draw(seed, 3, 6); i > 0; i--) {
    const int p = draw(seed, 0, 1), what = draw(seed, 0, 3), at = s->process[p].n_events;
    if (what == 0) search_add(s, p, (SearchEvent){.kind = SEARCH_FENCE, .n = 1});
    if (what == 1) search_add(s, p, (SearchEvent){.kind = SEARCH_WORK});
    if (what == 1) search_touch(s, p, at, 0, draw(seed, 0, 3));
    if (what > 1)
      search_add(s, p,
                 (SearchEvent){.kind = draw(seed, 0, 5) ? SEARCH_ARRIVE : SEARCH_TELL,
                               .object = draw(seed, 0, n_bars - 1),
                               .n = 1,
                               .scope = draw_scope(seed)});
  }
  search_barrier(s, "the readers'", 1);
  const bool meets = draw(seed, 0, 2) == 0;
  for (int p = 2; p < 4; p++) {
    search_add(
        s, p,
        (SearchEvent){
            .kind = SEARCH_WAIT, .object = draw(seed, 0, n_bars - 1), .scope = draw_scope(seed)});
    if (draw(seed, 0, 2) == 0) search_add(s, p, (SearchEvent){.kind = SEARCH_FENCE, .n = 1});
    if (draw(seed, 0, 2) == 0) search_add(s, p, (SearchEvent){.kind = SEARCH_TELL});
    if (meets) search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .object = 1, .n = 2});
    const int ask = search_add(s, p, (SearchEvent){.kind = SEARCH_WORK});
    search_add(s, p, (SearchEvent){.kind = SEARCH_WORK});
    search_access(s, (SearchAccess){.write = p == 3,
                                    .async = draw(seed, 0, 1),
                                    .process = p,
                                    .begin = ask,
                                    .ends = p,
                                    .end = ask + 1});
    if (!meets && draw(seed, 0, 1)) p++;
  }
  for (int p = 0; p < 4; p++)
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 4, .bit = SEARCH_MEET_CLUSTER});
  for (int p = 0; p < 4; p++) search_add(s, p, (SearchEvent){.kind = SEARCH_EXIT});
  return s;
}

// Warps that arrive at mbarriers, expect bytes with an arrival or without one, copy and wait.
static Search *random_counts(uint64_t *seed) {
  Search *s = search_new(arena);
  const int n_warps = draw(seed, 2, 3), n_bars = draw(seed, 1, 2);
  for (int i = 0; i < n_warps; i++) search_process(s, "warp", 0, i);
  for (int i = 0; i < n_bars; i++) {
    search_bar(s, "bar", 0);
    search_add(s, 0,
               (SearchEvent){.kind = SEARCH_INIT, .object = i, .n = draw(seed, 1, 2), .bit = 1});
  }
  search_place(s, "place", 0, 0);
  search_barrier(s, "start", 0);
  for (int i = 0; i < n_warps; i++)
    search_add(s, i, (SearchEvent){.kind = SEARCH_MEET, .n = n_warps});
  for (int i = draw(seed, 3, 8); i > 0; i--) {
    const int p = draw(seed, 0, n_warps - 1), what = draw(seed, 0, 5),
              bar = draw(seed, 0, n_bars - 1);
    SearchEvent e = {.kind = what < 2 ? SEARCH_WAIT : SEARCH_ARRIVE, .object = bar};
    if (what < 2) e.bit = (uint32_t)draw(seed, 0, 1);
    if (what > 1) e.n = draw(seed, 0, 2) > 0;
    if (what > 1 && (e.n == 0 || draw(seed, 0, 1))) e.bytes = 8;
    if (what < 5) search_add(s, p, e);
    if (what < 5) continue;
    const int ask = search_add(s, p, (SearchEvent){.kind = SEARCH_WORK});
    const int box = search_agent(s, "box", 0);
    search_add(
        s, box,
        (SearchEvent){
            .kind = SEARCH_LAND, .object = bar, .bytes = 8, .after = p + 1, .after_at = ask});
  }
  return s;
}

// Warps that take registers and give them back between waits; some of them do the same.
static Search *random_takers(uint64_t *seed) {
  enum { EVENTS = 5 };
  Search *s = search_new(arena);
  const int n_warps = draw(seed, 2, 5);
  s->registers = draw(seed, 0, 4);
  search_bar(s, "bar", 0);
  search_barrier(s, "start", 0);
  search_barrier(s, "later", 0);
  SearchEvent event[EVENTS];
  for (int p = 0, n = 0; p < n_warps; p++) {
    search_process(s, "warp", draw(seed, 0, 5) == 0, 0);
    if (p == 0)
      search_add(s, 0, (SearchEvent){.kind = SEARCH_INIT, .n = draw(seed, 1, n_warps), .bit = 1});
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = n_warps});
    const bool again = p > 0 && draw(seed, 0, 2) > 0;
    if (!again) n = draw(seed, 1, EVENTS);
    for (int i = 0; i < n; i++) {
      const int what = draw(seed, 0, 7);
      SearchEvent e = {.kind = SEARCH_TAKE, .n = draw(seed, 0, 1) ? 2 : draw(seed, -2, 3)};
      if (what == 4) e = (SearchEvent){.kind = SEARCH_ARRIVE, .n = 1};
      if (what == 5) e = (SearchEvent){.kind = SEARCH_WAIT, .bit = (uint32_t)draw(seed, 0, 1)};
      if (what == 6) e = (SearchEvent){.kind = SEARCH_MEET, .object = LATER, .n = 2};
      if (what == 7) e = (SearchEvent){.kind = SEARCH_EXIT};
      if (!again) event[i] = e;
      search_add(s, p, event[i]);
    }
  }
  return s;
}

static Search *random_one(uint64_t i) {
  static Search *(*const kind[])(uint64_t * seed) = {random_ring, random_program, random_program,
                                                     random_handover};
  uint64_t seed = i;
  return kind[i % 4](&seed);
}

typedef struct Tally {
  Arena *kept;
  Str sums;  // of what is said of every hundred programs
  uint64_t sum;
  int proved, alike, found, fewer, same, as_short, said, by_fault[SEARCH_FAULTS];
} Tally;

static Tally tally_new(void) {
  Arena *kept = arena_new("sums");
  return (Tally){.kept = kept, .sums = str_new(kept), .sum = HASH_START};
}

static void tally_check(const Tally *t, const char *name) {
  golden_check(name, t->sums.text);
  arena_free(t->kept);
}

static void sum_told(Tally *t, int i, const Search *s, const SearchResult *r) {
  t->sum = search_told_sum(t->sum, s, r);
  if (i % 100 < 99) return;
  str_printf(&t->sums, "programs %d to %d: %016llx\n", i - 99, i, (unsigned long long)t->sum);
  t->sum = HASH_START;
}

// The same program twice: all of its orders, and those that stand for all.
static void compare(Tally *t, int i, Search *whole, Search *reduced) {
  const SearchResult all = search_run(whole, &(SearchOptions){.all = true});
  const SearchResult some = search_run(reduced, &(SearchOptions){0});
  sum_told(t, i, reduced, &some);
  if (all.verdict == SEARCH_BOUNDED) return;
  ck_assert_msg(all.verdict == some.verdict, "program %d: %s of all, %s of some (%s, %s)", i,
                search_verdict_name(all.verdict), search_verdict_name(some.verdict),
                search_fault_name(all.fault), search_fault_name(some.fault));
  t->proved += all.verdict == SEARCH_PROVED;
  t->alike += some.alike;
  ck_assert(!some.alike || some.verdict == SEARCH_PROVED);
  t->found += all.verdict == SEARCH_FOUND;
  t->fewer += some.states < all.states;
  t->by_fault[some.fault]++;
  if (!some.fault || some.fault != all.fault) return;
  t->same++;
  t->as_short += some.n_steps == all.n_steps;
  t->said += some.shortest;
  ck_assert_int_ge(some.n_steps, all.n_steps);
  ck_assert_msg(!some.shortest || some.n_steps == all.n_steps,
                "program %d: %s in %d steps is said to be shortest, brute force has %d", i,
                search_fault_name(some.fault), some.n_steps, all.n_steps);
}

START_TEST(agrees_with_brute_force) {
  Tally t = tally_new();
  for (uint64_t i = 0; i < 6000; i++, arena_reset(arena))
    compare(&t, (int)i, random_one(i), random_one(i));
  ck_assert_int_ge(t.proved, 300);
  ck_assert_msg(t.alike * 3 >= t.proved * 2 && t.alike < t.proved,
                "of %d proved one order stands for all of %d", t.proved, t.alike);
  ck_assert_int_ge(t.found, 1000);
  ck_assert_int_ge(t.fewer, 1000);
  ck_assert_int_ge(t.same, 1000);
  ck_assert_msg(t.as_short * 100 >= t.same * 99 && t.said * 100 >= t.same * 99,
                "of %d witnesses %d are as short as any, %d say so", t.same, t.as_short, t.said);
  for (int f = 1; f < SEARCH_SEEN; f++)
    ck_assert_msg(t.by_fault[f] > 0, "no program with: %s", search_fault_name((SearchFault)f));
  tally_check(&t, "orders/sums.txt");
}
END_TEST

// Bytes may land before they are expected, and be expected behind the last arrival: whether a phase
// ends then depends on the order.
START_TEST(counts_of_bytes_agree_with_brute_force) {
  Tally t = tally_new();
  for (uint64_t i = 0; i < 6000; i++, arena_reset(arena)) {
    uint64_t seed = i, again = i;
    compare(&t, (int)i, random_counts(&seed), random_counts(&again));
  }
  ck_assert_int_ge(t.proved, 300);
  ck_assert_int_ge(t.found, 3000);
  ck_assert_int_ge(t.by_fault[SEARCH_DEADLOCK], 1000);
  ck_assert_msg(t.as_short * 100 >= t.same * 98, "of %d witnesses %d are as short as any", t.same,
                t.as_short);
  tally_check(&t, "orders/sums_counts.txt");
}
END_TEST

START_TEST(takers_of_registers_agree_with_brute_force) {
  Tally t = tally_new();
  for (uint64_t i = 0; i < 6000; i++, arena_reset(arena)) {
    uint64_t seed = i, again = i;
    compare(&t, (int)i, random_takers(&seed), random_takers(&again));
  }
  ck_assert_int_ge(t.proved, 300);
  ck_assert_int_ge(t.by_fault[SEARCH_DEADLOCK], 3000);
  ck_assert_int_ge(t.fewer, 3000);
  ck_assert_msg(t.said * 100 >= t.same * 98, "of %d witnesses %d are shown to be the shortest",
                t.same, t.said);
  tally_check(&t, "orders/sums_takers.txt");
}
END_TEST

// What is found of them: which order, how many states, the cause, the cure.
START_TEST(random_programs_are_told_as_reviewed) {
  enum { PROGRAMS = 240, STEPS_SHOWN = 20 };
  Arena *kept = arena_new("report");
  Str out = str_new(kept);
  for (uint64_t i = 0; i < PROGRAMS; i++, arena_reset(arena)) {
    Search *s = random_one(i);
    const SearchResult r = search_run(s, &(SearchOptions){0});
    str_printf(&out, "program %d", (int)i);
    search_tell_verdict(&out, &r);
    str_printf(&out, "%s\n", r.shortest ? ", the shortest order" : "");
    if (r.verdict == SEARCH_FOUND) search_tell_witness(&out, s, &r, STEPS_SHOWN);
  }
  golden_check("orders/random.txt", out.text);
  arena_free(kept);
}
END_TEST

// ---- a ring ------------------------------------------------------------------------------------

// Each fault of a ring of four slots, and a word of its cause.
static const struct {
  RingFaults faults;
  SearchFault fault;
  const char *root;
} broken[] = {
    {{.more_arrivals = 1},
     SEARCH_DEADLOCK,
     "consumer waits for full[0] phase 1; producer, which would end that, waits for empty[0] "
     "phase 0, which expects 4 arrivals and gets 3"},
    {{.silent = true},
     SEARCH_DEADLOCK,
     "waits for empty[0] phase 0, which expects 3 arrivals and gets 2"},
    {{.more_bytes = 8},
     SEARCH_DEADLOCK,
     "waits for full[0] phase 0, which expects 8 bytes more than come"},
    {{.more_arrivals = -1, .generic = true, .no_fence = true},
     SEARCH_UNFENCED,
     "the async proxy does not see"},
    {{.more_arrivals = -1},
     SEARCH_LAPPED,
     "ends its phase 1 while a warp still waits for the phase"},
    {{.no_empty_wait = true},
     SEARCH_TOO_MANY,
     "producer arrives at full[0], expects 64 bytes once too often"},
    {{.early_release = true},
     SEARCH_EARLY,
     "consumer reads slot 0 while producer writes slot 0 in the background"},
    {{.no_full_wait = true}, SEARCH_EARLY, "while producer writes slot 0 in the background"},
    {{.full_phase_0 = true},
     SEARCH_LAPPED,
     "ends its phase 1 while a warp still waits for the phase"},
    {{.empty_phase_0 = true}, SEARCH_DEADLOCK, "at which none of them has arrived"},
    {{.fetch_short = true}, SEARCH_DEADLOCK, "whose phase 2 no warp will end"},
    {{.no_init_barrier = true}, SEARCH_UNBEGUN, "may not be initialised yet"},
    {{.generic = true, .no_fence = true}, SEARCH_UNFENCED, "no fence.proxy.async"},
};

START_TEST(finds_what_is_wrong_with_a_ring) {
  const Ring ring = {.stages = 4, .turns = 10, .consumers = 3, .faults = broken[_i].faults};
  const SearchResult r = search_run(ring_make(arena, &ring), &(SearchOptions){0});
  ck_assert_msg(r.verdict == SEARCH_FOUND && r.fault == broken[_i].fault, "%s: %s, %s",
                search_verdict_name(r.verdict), search_fault_name(r.fault), r.root);
  ck_assert_msg(strstr(r.root, broken[_i].root), "%s", r.root);
  ck_assert_int_gt(r.n_steps, 0);
}
END_TEST

// One path: no more states than there are events.
START_TEST(proves_a_ring) {
  const int stages[] = {1, 2, 4, 7};
  for (int i = 0; i < 4; i++)
    for (int generic = 0; generic < 2; generic++) {
      const Ring ring = {.stages = stages[i],
                         .turns = 2 * stages[i] + 2,
                         .consumers = 8,
                         .faults.generic = generic};
      Search *s = ring_make(arena, &ring);
      const SearchResult r = search_run(s, &(SearchOptions){0});
      int64_t events = 0;
      for (int p = 0; p < s->n_processes; p++) events += s->process[p].n_events;
      ck_assert_msg(r.verdict == SEARCH_PROVED, "%s", r.root);
      ck_assert(r.alike);
      ck_assert_int_le(r.states, events + 1);
    }
}
END_TEST

// Two arrivals with a fence between them: who waits for the first one copies in front of the fence.
START_TEST(a_fence_behind_what_tells_of_a_write_is_late) {
  for (int first = 0; first < 2; first++) {
    Search *s = search_new(arena);
    const int writer = search_process(s, "writer", 0, 0),
              copier = search_process(s, "copier", 0, 1);
    const int bars[] = {search_bar(s, "first", 0), search_bar(s, "second", 0)};
    const int place = search_place(s, "slot", 0, 0);
    search_barrier(s, "barrier", 0);
    for (int i = 0; i < 2; i++)
      search_add(s, writer,
                 (SearchEvent){.kind = SEARCH_INIT, .object = bars[i], .n = 1, .bit = 1});
    for (int p = 0; p < 2; p++) search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 2});
    search_touch(s, writer, search_add(s, writer, (SearchEvent){.kind = SEARCH_WORK}), place,
                 first);
    search_add(s, writer, (SearchEvent){.kind = SEARCH_ARRIVE, .object = bars[0], .n = 1});
    search_add(s, writer, (SearchEvent){.kind = SEARCH_FENCE});
    search_add(s, writer, (SearchEvent){.kind = SEARCH_ARRIVE, .object = bars[1], .n = 1});
    search_add(s, copier, (SearchEvent){.kind = SEARCH_WAIT, .object = bars[first]});
    const int ask = search_add(s, copier, (SearchEvent){.kind = SEARCH_WORK});
    search_add(s, copier, (SearchEvent){.kind = SEARCH_WORK});
    search_access(s, (SearchAccess){.place = place,
                                    .write = true,
                                    .async = true,
                                    .process = copier,
                                    .begin = ask,
                                    .ends = copier,
                                    .end = ask + 1});
    for (int p = 0; p < 2; p++) search_add(s, p, (SearchEvent){.kind = SEARCH_EXIT});
    const SearchResult r = search_run(s, &(SearchOptions){0});
    ck_assert_int_eq(r.fault, first ? SEARCH_NO_FAULT : SEARCH_UNFENCED);
  }
}
END_TEST

static bool gives_up(void *context, int64_t states) {
  (void)context;
  return states < 2;
}

START_TEST(what_is_given_up_is_bounded) {
  const Ring ring = {.stages = 2, .turns = 6, .consumers = 2};
  SearchResult r = search_run(ring_make(arena, &ring), &(SearchOptions){.goes_on = gives_up});
  ck_assert_int_eq(r.verdict, SEARCH_PROVED);
  r = search_run(ring_make(arena, &ring), &(SearchOptions){.states = 10});
  ck_assert_int_eq(r.verdict, SEARCH_BOUNDED);
}
END_TEST

Suite *suite_search(void) {
  Suite *suite = suite_create("search");
  TCase *tests = tcase_create("search");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, agrees_with_brute_force);
  tcase_add_test(tests, counts_of_bytes_agree_with_brute_force);
  tcase_add_test(tests, takers_of_registers_agree_with_brute_force);
  tcase_add_test(tests, random_programs_are_told_as_reviewed);
  tcase_add_loop_test(tests, finds_what_is_wrong_with_a_ring, 0, sizeof broken / sizeof *broken);
  tcase_add_test(tests, proves_a_ring);
  tcase_add_test(tests, a_fence_behind_what_tells_of_a_write_is_late);
  tcase_add_test(tests, what_is_given_up_is_bounded);
  suite_add_tcase(suite, tests);
  return suite;
}
