// Times of the timeline as a person reviewed them, a file for each ladder: how long each rung
// takes, and what the first warp of each role does when in the last rung. test_timeline.c holds the
// order of events against the interpreter's; nothing else holds the clocks.
//
//   padded            12345.0 clocks, 98765.0 with what is left out; a slab 123.0
#include <check.h>

#include "base/embed.h"
#include "base/str.h"
#include "golden.h"
#include "model/readings/time/timeline.h"
#include "property.h"

Suite *suite_timeline_times(void);

enum { EVENTS_SHOWN = 48 };

static const Timeline *timeline_of(const Rung *rung) {
  return timeline_run(property_arena, property_built(&rung->schedule), NULL, &(TimelineOptions){0});
}

static void add_rung(Str *out, const Rung *rung) {
  const Timeline *t = timeline_of(rung);
  str_printf(out, "%-24s %.1f clocks, %.1f with what is left out; a turn %.1f, a slab %.1f\n",
             rung->name, t->clocks, t->all_clocks, t->turn_clocks, timeline_slab_clocks(t));
}

static void add_event(Str *out, const TimelineEvent *e) {
  str_printf(out, "%10.1f %10.1f  busy %8.1f from %10.1f  x%-4lld %s", e->begin, e->end, e->busy,
             e->work, (long long)e->count, timeline_kind_name(e->kind));
  const char *what = timeline_waits_for(property_arena, e);
  if (e->slab >= 0) str_printf(out, " slab %lld", (long long)e->slab);
  str_printf(out, "%s%s\n", what[0] ? " " : "", what);
}

static void add_warp(Str *out, const Timeline *timeline, int warp) {
  const char *role = timeline_role(timeline, warp);
  int shown = 0;
  str_printf(out, "\nwarp %d%s%s: begins, ends\n", warp, role ? ", " : "", role ? role : "");
  for (int i = 0; i < timeline->n_events && shown < EVENTS_SHOWN; i++) {
    if (timeline->event[i].warp != warp) continue;
    add_event(out, &timeline->event[i]);
    shown++;
  }
}

static void add_warps(Str *out, const Timeline *timeline) {
  const char *before = "";
  for (int warp = 0; warp < timeline->n_warps; warp++) {
    const char *role = timeline_role(timeline, warp);
    if (warp > 0 && (!role || str_equal(role, before))) continue;
    add_warp(out, timeline, warp);
    if (role) before = role;
  }
}

START_TEST(times_of_a_ladder) {
  const EmbeddedList list = embed_list(property_data, "ladders/");
  if (_i >= list.count) return;
  const Ladder *ladder = property_read_ladder(list.paths[_i]);
  const Rung *last = NULL;
  Str out = str_new(property_data);
  str_printf(&out, "# Clocks of block 0 on its SM, estimated. Ladder %s.\n", ladder->name);
  for (int r = 0; r < ladder->n_rungs; r++) {
    if (ladder->rung[r].not_built) continue;
    add_rung(&out, &ladder->rung[r]);
    if (!ladder->rung[r].aside) last = &ladder->rung[r];
    arena_reset(property_arena);
  }
  ck_assert_ptr_nonnull(last);
  str_printf(&out, "\n%s\n", last->name);
  add_warps(&out, timeline_of(last));
  golden_check(arena_printf(property_data, "times/%s.txt", ladder->name), out.text);
}
END_TEST

Suite *suite_timeline_times(void) {
  enum { LADDERS_MOST = 16 };
  Suite *suite = suite_create("timeline_times");
  TCase *tests = tcase_create("timeline_times");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_set_timeout(tests, 300);
  tcase_add_loop_test(tests, times_of_a_ladder, 0, LADDERS_MOST);
  suite_add_tcase(suite, tests);
  return suite;
}
