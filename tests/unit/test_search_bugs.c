// Published bugs of pipelines (search_bugs.c): each is found with its cause, and proved once it is
// cured.
#include <check.h>
#include <string.h>

#include "base/hash.h"
#include "golden.h"
#include "search_bugs.h"
#include "search_told.h"

Suite *suite_search_bugs(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test search bugs"); }
static void teardown(void) { arena_free(arena); }

// What the pull request changes does not reach the mbarrier at fault. A later one, 25, is about a
// deadlock again, and speaks of a semaphore in both directions.
START_TEST(a_published_cure_leaves_the_fault) {
  const SearchResult r = search_run(search_bug_work_ring(arena), &(SearchOptions){0});
  ck_assert_int_eq(r.fault, SEARCH_LAPPED);
  ck_assert_msg(strstr(r.root, "data warp arrives at bready"), "%s", r.root);
}
END_TEST

START_TEST(a_bug_is_found_and_its_cure_is_proved) {
  const SearchResult r = search_run(search_bugs[_i].make(arena, false), &(SearchOptions){0});
  ck_assert_msg(r.verdict == SEARCH_FOUND && r.fault == search_bugs[_i].fault, "%s: %s",
                search_fault_name(r.fault), r.root);
  ck_assert_msg(strstr(r.root, search_bugs[_i].root), "%s", r.root);
  ck_assert_msg(strstr(r.cure, search_bugs[_i].cure), "%s", r.cure);
  const SearchResult cured = search_run(search_bugs[_i].make(arena, true), &(SearchOptions){0});
  ck_assert_msg(cured.verdict == SEARCH_PROVED, "cured: %s", cured.root);
}
END_TEST

START_TEST(bugs_are_told_as_reviewed) {
  enum { STEPS_SHOWN = 8 };
  Str out = str_new(arena);
  for (int i = 0; i < search_bugs_count; i++) {
    Search *s = search_bugs[i].make(arena, false);
    const SearchResult r = search_run(s, &(SearchOptions){0});
    str_printf(&out, "bug %d", i);
    search_tell_verdict(&out, &r);
    str_add(&out, "\n");
    search_tell_witness(&out, s, &r, STEPS_SHOWN);
  }
  golden_check("orders/bugs.txt", out.text);
}
END_TEST

// ---- programs that differ in one thing ----------------------------------------------------------

typedef enum Change { WORKS, MORE, LESS, TWICE, OTHER_BIT, SCOPE, OTHER, LATER, CHANGES } Change;
static const char *const change_names[] = {"work", "more",  "less",  "twice",
                                           "bit",  "scope", "other", "later"};

static bool change_event(const Search *s, int process, int at, Change change) {
  SearchEvent *e = &s->process[process].event[at], was = *e;
  const bool counted = e->kind == SEARCH_INIT || e->kind == SEARCH_ARRIVE || e->kind == SEARCH_MEET;
  if (change == WORKS)
    *e = (SearchEvent){.kind = SEARCH_WORK, .after = e->after, .after_at = e->after_at};
  if (change == MORE && counted) e->n++;
  if (change == LESS && counted && e->n > 1) e->n--;
  if (change == TWICE) e->bytes *= 2;
  if (change == OTHER_BIT && e->kind == SEARCH_WAIT) e->bit ^= 1;
  if (change == SCOPE) e->scope = (SearchScope)((e->scope + 1) % 3);
  if (change == OTHER && s->n_bars && e->kind != SEARCH_MEET)
    e->object = (e->object + 1) % s->n_bars;
  if (change == LATER && at + 1 < s->process[process].n_events && !e->after && !e[1].after)
    *e = e[1], e[1] = was;
  return memcmp(e, &was, sizeof was) != 0;
}

static unsigned sum_of(Search *s, SearchFault *fault) {
  const SearchResult r = search_run(s, &(SearchOptions){0});
  *fault = r.fault;
  return (unsigned)search_told_sum(HASH_START, s, &r) & 0xffff;
}

// The reduced search of a sound program that was changed finds what the one over all orders finds.
static void compare(Arena *scratch, const SearchBug *bug, int process, int at, Change change) {
  Search *s = bug->make(scratch, true);
  change_event(s, process, at, change);
  const SearchResult all = search_run(s, &(SearchOptions){.all = true, .plain = true});
  s = bug->make(scratch, true);
  change_event(s, process, at, change);
  const SearchResult some = search_run(s, &(SearchOptions){.plain = true});
  ck_assert_msg(all.verdict == some.verdict, "%s, %s: %s of all, %s of some",
                search_event_text(s, process, at), change_names[change],
                search_fault_name(all.fault), search_fault_name(some.fault));
}

// Of each event the changes after which something else is said: the fault's number, and a sum over
// all of it.
static void tell_changes(Arena *scratch, Str *out, const SearchBug *bug, bool cured) {
  SearchFault fault;
  Search *s = bug->make(arena, cured);
  const unsigned plain = sum_of(s, &fault);
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      str_printf(out, "  %s: %s:", s->process[p].name, search_event_text(s, p, i));
      for (Change change = WORKS; change < CHANGES; change++, arena_reset(scratch)) {
        Search *other = bug->make(scratch, cured);
        if (!change_event(other, p, i, change)) continue;
        const unsigned sum = sum_of(other, &fault);
        if (cured) compare(scratch, bug, p, i, change);
        if (sum != plain) str_printf(out, " %s %d:%04x", change_names[change], fault, sum);
      }
      str_add(out, "\n");
    }
}

START_TEST(programs_that_differ_in_one_thing_are_told_as_reviewed) {
  Arena *scratch = arena_new("a program");
  Str out = str_new(arena);
  for (int i = 0; i < 2 * search_bugs_count; i++) {
    str_printf(&out, "bug %d%s\n", i / 2, i % 2 ? ", cured" : "");
    tell_changes(scratch, &out, &search_bugs[i / 2], i % 2);
  }
  golden_check("orders/bugs_changed.txt", out.text);
  arena_free(scratch);
}
END_TEST

Suite *suite_search_bugs(void) {
  Suite *suite = suite_create("search_bugs");
  TCase *tests = tcase_create("search_bugs");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, a_bug_is_found_and_its_cure_is_proved, 0, search_bugs_count);
  tcase_add_test(tests, bugs_are_told_as_reviewed);
  tcase_add_test(tests, programs_that_differ_in_one_thing_are_told_as_reviewed);
  tcase_add_test(tests, a_published_cure_leaves_the_fault);
  suite_add_tcase(suite, tests);
  return suite;
}
