// What the rules say of a third of the rungs of all ladders, and of the schedules of
// tests/data/reading_states.txt, with one knob changed: names to every other one, numbers to the
// ends of their range, the next, the double and none. tests/golden/told/rules.txt holds some
// sentences of each rule with what it offers instead, and of each rung a sum over all of them.
#include <check.h>
#include <string.h>

#include "base/embed.h"
#include "base/hash.h"
#include "base/str.h"
#include "edges.h"
#include "golden.h"
#include "model/readings/rules/rule.h"
#include "property.h"

Suite *suite_told_rules(void);

enum { RULES_MAX = 256, SHOWN = 8, ONE_IN = 3 };

typedef struct Told {
  Str *of_rule[RULES_MAX];  // its first sentences
  int n[RULES_MAX], shown[RULES_MAX];
  int findings, changes;
  uint64_t sum;
} Told;

static void hear(Told *t, const char *change, const Diag *d) {
  const char *nearest = d->nearest ? d->nearest : "none";
  t->findings++;
  t->sum = hash_text(hash_text(hash_text(t->sum, d->rule), d->text), nearest);
  for (int i = 0; i < rule_count; i++) {
    if (!str_equal(rule_table[i].id, d->rule)) continue;
    t->n[i]++;
    if (t->shown[i] == SHOWN || strstr(t->of_rule[i]->text, d->text)) continue;
    t->shown[i]++;
    str_printf(t->of_rule[i], "  %s: %s; nearest: %s\n", change, d->text, nearest);
  }
}

static void change_to(Told *t, Arena *scratch, const Schedule *state, KnobId knob, int64_t value) {
  const Knob *k = &knob_table[knob];
  if (value < k->lo || value > k->hi || value == state->value[knob]) return;
  Schedule changed = *state;
  Diags diags = diags_new(scratch);
  schedule_set(&changed, knob, value);
  const Target *target = target_find(&property_targets, changed.target, &diags);
  if (!target) return;
  rules_check_knobs(&changed, target, &diags);
  t->changes++;
  t->sum = hash_bytes(t->sum, &value, sizeof value);
  const char *change = arena_printf(scratch, "%s=%lld", k->name, (long long)value);
  for (const Diag *d = diags.first; d; d = d->next) hear(t, change, d);
  arena_reset(scratch);
}

static void change_all(Told *t, Arena *scratch, const Schedule *state) {
  t->sum = HASH_START;
  t->findings = t->changes = 0;
  for (KnobId knob = 0; knob < KNOB_COUNT; knob++) {
    const Knob *k = &knob_table[knob];
    const int64_t value = state->value[knob], to[] = {k->lo, k->hi, value + 1, 2 * value, 0};
    if (k->type == KNOB_TYPE_LAYOUT) continue;
    const bool few = k->hi - k->lo < 8;
    for (int64_t other = k->lo; few && other <= k->hi; other++)
      change_to(t, scratch, state, knob, other);
    for (int i = 0; i < 5 && !few; i++) change_to(t, scratch, state, knob, to[i]);
  }
}

START_TEST(rules_speak_as_reviewed) {
  Arena *scratch = arena_new("scratch");
  Str out = str_new(property_data);
  static Told t;
  const EmbeddedList list = embed_list(property_data, "ladders/");
  ck_assert_int_le(rule_count, RULES_MAX);
  for (int i = 0; i < rule_count; i++) {
    t.of_rule[i] = ARENA_NEW(property_data, Str);
    *t.of_rule[i] = str_new(property_data);
  }
  for (int i = 0; i < list.count; i++) {
    const Ladder *ladder = property_read_ladder(list.paths[i]);
    for (int r = i % ONE_IN; r < ladder->n_rungs; r += ONE_IN) {
      change_all(&t, scratch, &ladder->rung[r].schedule);
      str_printf(&out, "%s/%s: %d findings of %d changes, %08x\n", ladder->name,
                 ladder->rung[r].name, t.findings, t.changes, (unsigned)t.sum);
    }
  }
  char *rows = edges_read(property_data, "reading_states.txt");
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n")) {
    const Schedule state = property_read_state(row);
    change_all(&t, scratch, &state);
    str_printf(&out, "%d findings of %d changes, %08x\n", t.findings, t.changes, (unsigned)t.sum);
  }
  for (int i = 0; i < rule_count; i++)
    str_printf(&out, "%s: %d times\n%s", rule_table[i].id, t.n[i], t.of_rule[i]->text);
  golden_check("told/rules.txt", out.text);
  arena_free(scratch);
}
END_TEST

Suite *suite_told_rules(void) {
  Suite *suite = suite_create("told_rules");
  TCase *tcase = tcase_create("rules");
  tcase_set_timeout(tcase, 240);
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, rules_speak_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
