// The nearest legal value that rules say, held against every value of that knob.
//
// Legal schedules are drawn, one or two knobs of each set to anything, and each finding's nearest
// value is taken at its word: with it the rule holds, and no value of the same knob that lies
// nearer would do.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/random.h"
#include "base/str.h"
#include "model/readings/rules/rule.h"
#include "model/schedules/random_schedule.h"
#include "stress.h"

Suite *suite_nearest(void);

static Arena *arena, *kept;
static TargetTable targets;

static void setup(void) {
  arena = arena_new("test");
  kept = arena_new("targets");
  Diags diags = diags_new(kept);
  const EmbeddedFile *file = embed_find(kept, "gpus.json");
  ck_assert(targets_parse(kept, file->text, file->size, &diags, &targets));
}
static void teardown(void) {
  arena_free(arena);
  arena_free(kept);
}

static const Diag *finding_of(const Diags *diags, const char *rule) {
  for (const Diag *d = diags->first; d; d = d->next)
    if (str_equal(d->rule, rule)) return d;
  return NULL;
}

static Diags judged(const Schedule *schedule, const Target *target) {
  Diags diags = diags_new(arena);
  rules_check_knobs(schedule, target, &diags);
  ck_assert_int_eq(rules_allow(arena, schedule, target), diags.count == 0);
  return diags;
}

// Whether all that `then` finds fault with `now` does, too.
static bool adds_nothing(const Diags *now, const Diags *then) {
  for (const Diag *d = then->first; d; d = d->next)
    if (!finding_of(now, d->rule)) return false;
  return true;
}

// Whether the rule would hold with that value, and no other fail that holds now.
static bool would_do(const Schedule *from, const Target *target, const Diags *now, const char *rule,
                     KnobId knob, int64_t value) {
  Schedule trial = *from;
  trial.value[knob] = value;
  const Diags then = judged(&trial, target);
  return !finding_of(&then, rule) && adds_nothing(now, &then);
}

// Numbers that are looked at one by one: none between the two, on either side, would have done.
static void check_none_nearer(const Schedule *from, const Target *target, const Diags *now,
                              const char *rule, KnobId knob, int64_t value) {
  const int64_t was = from->value[knob], away = llabs(value - was);
  if (away > 64) return;
  for (int64_t d = 1; d <= away; d++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const int64_t nearer = was + sign * d;
      if (nearer == value || nearer < knob_table[knob].lo || nearer > knob_table[knob].hi) continue;
      // The lower of two that are as near is named.
      if (d == away && sign > 0) continue;
      ck_assert_msg(!would_do(from, target, now, rule, knob, nearer),
                    "%s: %s=%lld is named, %lld is nearer\n%s", rule, knob_table[knob].name,
                    (long long)value, (long long)nearer, schedule_text(arena, from));
    }
}

// Steps of a knob: none of the fewer, up or down, would have done.
static void check_no_fewer_steps(const Schedule *from, const Target *target, const Diags *now,
                                 const char *rule, KnobId knob, int64_t value) {
  Schedule at[2] = {*from, *from};
  for (int steps = 0; steps < 40; steps++)
    for (int i = 0; i < 2; i++) {
      int64_t next;
      if (!knob_step(&at[i], knob, i ? 1 : -1, &next)) continue;
      at[i].value[knob] = next;
      if (next == value) return;
      ck_assert_msg(!would_do(from, target, now, rule, knob, next),
                    "%s: %s=%lld is named, %lld is fewer steps away\n%s", rule,
                    knob_table[knob].name, (long long)value, (long long)next,
                    schedule_text(arena, from));
    }
}

static int n_checked, n_strict, n_numbers;

static void check_nearest(const Schedule *from, const Target *target, const Diags *now,
                          const Diag *finding) {
  Schedule moved = *from;
  Diags none = diags_new(arena);
  ck_assert_msg(schedule_parse(&moved, finding->nearest, &none), "%s", finding->nearest);
  const Diags then = judged(&moved, target);
  ck_assert_msg(!finding_of(&then, finding->rule), "%s: %s does not help\n%s", finding->rule,
                finding->nearest, schedule_text(arena, from));
  n_checked++;
  if (strchr(finding->nearest, ',')) return;
  const char *equals = strchr(finding->nearest, '=');
  const KnobId knob =
      knob_find(arena_strndup(arena, finding->nearest, (size_t)(equals - finding->nearest)), NULL);
  ck_assert_int_ne(knob, KNOB_NONE);
  if (knob_table[knob].type == KNOB_TYPE_LAYOUT || knob == KNOB_ATOM_KIND ||
      !adds_nothing(now, &then))
    return;
  n_strict++;
  if (knob <= KNOB_K) {
    n_numbers++;
    check_none_nearer(from, target, now, finding->rule, knob, moved.value[knob]);
  } else if (knob != KNOB_ATOM_N && knob != KNOB_PRODUCER_REGS) {
    check_no_fewer_steps(from, target, now, finding->rule, knob, moved.value[knob]);
  }
}

// One knob, or two, somewhere in their range; extents of the problem near where they are.
static void disturb(Schedule *schedule, uint64_t *state) {
  for (int n = (int)random_between(state, 1, 2); n > 0; n--) {
    const KnobId knob = (KnobId)random_between(state, 0, KNOB_COUNT - 1);
    const Knob *row = &knob_table[knob];
    if (row->type == KNOB_TYPE_LAYOUT || knob == KNOB_PROGRAM) continue;
    int64_t value = random_between(state, row->lo, row->hi - row->lo > 64 ? row->lo + 64 : row->hi);
    if (knob <= KNOB_K) value = schedule->value[knob] + random_between(state, -9, 9);
    if (value >= row->lo && value <= row->hi) schedule->value[knob] = value;
  }
}

START_TEST(the_nearest_value_is_the_nearest) {
  static const struct {
    const char *target;
    RandomFamily family;
  } drawn[] = {{"h200", RANDOM_ANY},
               {"h200", RANDOM_HOPPER},
               {"h200", RANDOM_ATTENTION},
               {"b200", RANDOM_BLACKWELL}};
  Diags none = diags_new(kept);
  const Target *target = target_find(&targets, drawn[_i].target, &none);
  const RandomLimits limits = {.extent_max = 300, .fma_max = 1 << 22, .family = drawn[_i].family};
  uint64_t state = 41 + (uint64_t)_i;
  n_checked = n_strict = n_numbers = 0;
  for (int i = 0; i < stress_count(90, 3000); i++) {
    arena_reset(arena);
    Schedule schedule = schedule_random(arena, &targets, drawn[_i].target, &limits, &state, NULL);
    disturb(&schedule, &state);
    const Diags now = judged(&schedule, target);
    for (const Diag *d = now.first; d; d = d->next)
      if (d->nearest) check_nearest(&schedule, target, &now, d);
  }
  ck_assert_msg(n_checked >= 8 && n_strict >= 4, "%d checked, %d strictly, %d numbers", n_checked,
                n_strict, n_numbers);
}
END_TEST

Suite *suite_nearest(void) {
  Suite *suite = suite_create("nearest");
  TCase *tcase = tcase_create("nearest");
  tcase_set_timeout(tcase, 300);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, the_nearest_value_is_the_nearest, 0, 4);
  suite_add_tcase(suite, tcase);
  return suite;
}
