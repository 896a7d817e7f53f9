// Published bugs of pipelines, rebuilt from their descriptions as programs of events: each is found
// with its cause, and proved once it is cured.
#include <check.h>
#include <string.h>

#include "order/search.h"

Suite *suite_search_bugs(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test search bugs"); }
static void teardown(void) { arena_free(arena); }

enum { BYTES = 128, TURNS = 4 };

static int does(Search *s, int process, SearchKind kind, int object, int64_t n, int64_t bytes) {
  return search_add(s, process,
                    (SearchEvent){.kind = kind, .object = object, .n = n, .bytes = bytes});
}
static void waits(Search *s, int process, int bar, int turn) {
  search_add(s, process,
             (SearchEvent){.kind = SEARCH_WAIT, .object = bar, .bit = (uint32_t)turn & 1});
}
static void init(Search *s, int bar, int64_t n) {
  search_add(s, 0, (SearchEvent){.kind = SEARCH_INIT, .object = bar, .n = n, .bit = 1});
}
// A box for a place, counted at an mbarrier; it reads another place meanwhile, or none (-1).
static void box(Search *s, int process, int place, int bar, int reads) {
  const int at = does(s, process, SEARCH_WORK, 0, 0, 0), agent = search_agent(s, "the box", 0);
  search_add(s, agent,
             (SearchEvent){.kind = SEARCH_LAND,
                           .object = bar,
                           .bytes = BYTES,
                           .after = process + 1,
                           .after_at = at});
  search_access(s, (SearchAccess){.place = place,
                                  .write = true,
                                  .async = true,
                                  .process = process,
                                  .begin = at,
                                  .ends = agent});
  if (reads >= 0)
    search_access(s,
                  (SearchAccess){.place = reads, .process = process, .begin = at, .ends = agent});
}
static void touches(Search *s, int process, int place, bool write) {
  search_touch(s, process, does(s, process, SEARCH_WORK, 0, 0, 0), place, write);
}

// DeepEP, pull request 642: what lanes have read of a stage is not known to the copy that fills it
// again.
static Search *reads_before_a_copy(bool cured) {
  Search *s = search_new(arena);
  const int warp = search_process(s, "warp", 0, 0), full = search_bar(s, "full", 0),
            stage = search_place(s, "the stage", 0, 0);
  init(s, full, 1);
  for (int turn = 0; turn < TURNS; turn++) {
    if (cured) does(s, warp, SEARCH_FENCE, 0, 0, 0);
    does(s, warp, SEARCH_ARRIVE, full, 1, BYTES);
    box(s, warp, stage, full, -1);
    waits(s, warp, full, turn);
    touches(s, warp, stage, false);
  }
  does(s, warp, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// DeepGEMM, pull request 343: a tensor map is changed in place while a copy that goes by it is
// under way.
static Search *map_in_flight(bool cured) {
  Search *s = search_new(arena);
  const int producer = search_process(s, "producer", 0, 0),
            consumer = search_process(s, "consumer", 0, 1), full = search_bar(s, "full", 0),
            stage = search_place(s, "the stage", 0, 0), map = search_place(s, "the map", 0, 1);
  init(s, full, 1);
  search_barrier(s, "barrier", 0);
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_MEET, 0, 2, 0);
  does(s, producer, SEARCH_ARRIVE, full, 1, BYTES);
  box(s, producer, stage, full, map);
  if (cured) waits(s, producer, full, 0);
  touches(s, producer, map, true);
  waits(s, consumer, full, 0);
  touches(s, consumer, stage, false);
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// DeepEP, issue 657: of two stages the wait lets one group stay in flight, which is the one whose
// stage is filled next.
static Search *store_in_flight(bool cured) {
  Search *s = search_new(arena);
  const int warp = search_process(s, "warp", 0, 0), full = search_bar(s, "full", 0),
            stage = search_place(s, "stage 0", 0, 0);
  init(s, full, 1);
  for (int turn = 0; turn < 2; turn++) {
    does(s, warp, SEARCH_ARRIVE, full, 1, BYTES);
    box(s, warp, stage, full, -1);
    waits(s, warp, full, turn);
    const int send = does(s, warp, SEARCH_WORK, 0, 0, 0);
    const int early = does(s, warp, SEARCH_WORK, 0, 0, 0);  // at most one group is in flight
    if (turn == 0) continue;
    const int late = does(s, warp, SEARCH_WORK, 0, 0, 0);  // none is
    (void)early;
    search_access(s, (SearchAccess){.place = stage,
                                    .async = true,
                                    .process = warp,
                                    .begin = send,
                                    .ends = warp,
                                    .end = late});
  }
  const int first = 4;  // the store of turn 0: behind init, arrival, box and wait
  search_access(s, (SearchAccess){.place = stage,
                                  .async = true,
                                  .process = warp,
                                  .begin = first,
                                  .ends = warp,
                                  .end = cured ? first + 1 : first + 5});
  does(s, warp, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// tilelang, pull request 3087: one mbarrier is waited for with the parity of a ring of two.
static Search *parity_of_a_ring(bool cured) {
  Search *s = search_new(arena);
  const int warp = search_process(s, "warp", 0, 0), done = search_bar(s, "done", 0),
            core = search_agent(s, "the tensor core", 0);
  init(s, done, 1);
  for (int turn = 0; turn < TURNS; turn++) {
    const int stage = search_place(s, "the stage", 0, turn % 2);
    touches(s, warp, stage, true);
    does(s, warp, SEARCH_FENCE, 0, 1, 0);
    const int ask = does(s, warp, SEARCH_WORK, 0, 0, 0);
    const int end = search_add(
        s, core,
        (SearchEvent){
            .kind = SEARCH_ARRIVE, .object = done, .n = 1, .after = warp + 1, .after_at = ask});
    search_access(s, (SearchAccess){.place = stage,
                                    .async = true,
                                    .process = warp,
                                    .begin = ask,
                                    .ends = core,
                                    .end = end,
                                    .queue = 1});
    waits(s, warp, done, cured ? turn : turn / 2);
  }
  does(s, warp, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// vLLM, pull request 26026: who has no work arrives at a named barrier and comes round again,
// before those have met whom it arrived for.
static Search *arrives_again(bool cured) {
  Search *s = search_new(arena);
  for (int p = 0; p < 3; p++) search_process(s, p < 2 ? "compute warp" : "load warp", 0, p / 2);
  search_barrier(s, "the named barrier", 0);
  const int slot = search_place(s, "the table", 0, 0);
  for (int turn = 0; turn < 2; turn++) {
    touches(s, 1, slot, false);
    for (int p = 0; p < 3; p++) does(s, p, p == 0 && !cured ? SEARCH_PASS : SEARCH_MEET, 0, 3, 0);
    touches(s, 2, slot, true);
    search_barrier(s, "the block's barrier", 0);
    for (int p = 1; p < 3; p++) does(s, p, SEARCH_MEET, 1 + turn, 2, 0);
  }
  for (int p = 0; p < 3; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// CUTLASS, issue 3643: only the leader's half of the factors is waited for, and a product of the
// pair reads both.
static Search *half_waited_for(bool cured) {
  Search *s = search_new(arena);
  const int leader = search_process(s, "leader", 0, 0), peer = search_process(s, "peer", 1, 0);
  int full[2], half[2];
  for (int r = 0; r < 2; r++) full[r] = search_bar(s, r ? "full of the peer" : "full", r);
  const int told = search_bar(s, "both are full", 0);
  for (int r = 0; r < 2; r++) half[r] = search_place(s, r ? "the peer's factors" : "factors", r, 0);
  init(s, full[0], 1), init(s, told, 1);
  search_add(s, peer, (SearchEvent){.kind = SEARCH_INIT, .object = full[1], .n = 1, .bit = 1});
  search_barrier(s, "the cluster's barrier", 0);
  for (int p = 0; p < 2; p++)
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 2, .bit = 1});
  for (int p = 0; p < 2; p++) {
    does(s, p, SEARCH_ARRIVE, full[p], 1, BYTES);
    box(s, p, half[p], full[p], -1);
  }
  waits(s, leader, full[0], 0);
  waits(s, peer, full[1], 0);
  if (cured) does(s, peer, SEARCH_ARRIVE, told, 1, 0);
  if (cured) waits(s, leader, told, 0);
  touches(s, leader, half[0], false);
  touches(s, leader, half[1], false);
  for (int p = 0; p < 2; p++)
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 2, .bit = 1});
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

static const struct {
  Search *(*make)(bool cured);
  SearchFault fault;
  const char *root;
} bugs[] = {
    {reads_before_a_copy, SEARCH_UNFENCED, "warp writes the stage in the background"},
    {map_in_flight, SEARCH_REFILLED, "producer writes the map while producer reads the map"},
    {store_in_flight, SEARCH_REFILLED,
     "warp writes stage 0 in the background while warp reads stage 0"},
    {parity_of_a_ring, SEARCH_LAPPED, "the tensor core arrives at done and ends its phase 1"},
    {arrives_again, SEARCH_RACE, "the table"},
    {half_waited_for, SEARCH_REFILLED, "while leader reads the peer's factors"},
};

START_TEST(a_bug_is_found_and_its_cure_is_proved) {
  const SearchResult r = search_run(bugs[_i].make(false), &(SearchOptions){0});
  ck_assert_msg(r.verdict == SEARCH_FOUND && r.fault == bugs[_i].fault, "%s: %s",
                search_fault_name(r.fault), r.root);
  ck_assert_msg(strstr(r.root, bugs[_i].root), "%s", r.root);
  const SearchResult cured = search_run(bugs[_i].make(true), &(SearchOptions){0});
  ck_assert_msg(cured.verdict == SEARCH_PROVED, "cured: %s", cured.root);
}
END_TEST

Suite *suite_search_bugs(void) {
  Suite *suite = suite_create("search_bugs");
  TCase *tests = tcase_create("search_bugs");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, a_bug_is_found_and_its_cure_is_proved, 0, sizeof bugs / sizeof *bugs);
  suite_add_tcase(suite, tests);
  return suite;
}
