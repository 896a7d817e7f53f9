// What is read off schedules: tests/data/reading_states.txt has a state a line, drawn at random
// once; tests/golden/told/readings.txt holds the data of each view of it, member by member, those
// that are long by their sum, and what rules say of one knob changed (names to every
// other one, numbers to the next and the double).
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "edges.h"
#include "golden.h"
#include "model/readings/rules/rule.h"
#include "property.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"
#include "tui/frame/view_json.h"

Suite *suite_told_readings(void);

// ---- views --------------------------------------------------------------------------------------

enum { SHORT = 90, ROWS = 50, COLUMNS = 160 };

static const char *const views[] = {"loops", "banks",    "fragments",  "swizzle", "grid",
                                    "tiles", "pipeline", "descriptor", "memory"};
enum { VIEWS = sizeof views / sizeof *views };

// Fractions to six digits: what lies behind them is the compiler's.
static void cut_fractions(char *text) {
  char *to = text;
  int behind = -1;  // digits behind a point
  for (const char *at = text; *at; at++) {
    behind = *at == '.' ? 0 : behind >= 0 && *at >= '0' && *at <= '9' ? behind + 1 : -1;
    if (behind <= 6) *to++ = *at;
  }
  *to = 0;
}

static void tell_member(Arena *arena, Str *out, const char *key, const JsonValue *value) {
  Str text = str_new(arena);
  JsonWriter w = json_writer(&text);
  json_put_value(&w, value);
  cut_fractions(text.text);
  if (strlen(text.text) <= SHORT)
    str_printf(out, "    %s %s\n", key, text.text);
  else
    str_printf(out, "    %s: %d of %08x\n", key, json_count(value),
               (unsigned)hash_text(HASH_START, text.text));
}

static void tell_object(Arena *arena, Str *out, const JsonValue *object) {
  for (int i = 0; i < json_count(object); i++)
    if (strncmp(json_key_at(object, i), "clock_", 6) != 0)  // suites of the clock hold them
      tell_member(arena, out, json_key_at(object, i), json_at(object, i));
}

static void tell_view(Arena *arena, Str *out, Session *session, const char *view) {
  Diags diags = diags_new(arena);
  Canvas *canvas = canvas_new(arena, ROWS, COLUMNS, false);
  view_show(session, view_find(view));
  drive_frame(session, canvas);
  Str text = str_new(arena);
  JsonWriter w = json_writer(&text);
  view_document(&w, session, canvas, NULL);
  const JsonValue *root = json_parse(arena, text.text, text.length, &diags, view);
  ck_assert_msg(root != NULL, "%s", diags_text(arena, &diags));
  str_printf(out, "  %s\n", view);
  tell_object(arena, out, json_object_get(root, "data"));
  if (strcmp(view, views[0]) == 0) tell_object(arena, out, json_object_get(root, "numbers"));
}

// ---- rules --------------------------------------------------------------------------------------

static void tell_change(Arena *scratch, Str *out, const Schedule *state, KnobId knob,
                        int64_t value) {
  const Knob *k = &knob_table[knob];
  if (value < k->lo || value > k->hi || value == state->value[knob]) return;
  Schedule changed = *state;
  schedule_set(&changed, knob, value);
  const Model *model = model_build(scratch, &property_targets, &changed);
  for (const Diag *d = model->diags.first; d; d = d->next)
    str_printf(out, "  %s=%lld %s: %s; nearest: %s\n", k->name, (long long)value, d->rule, d->text,
               d->nearest ? d->nearest : "none");
  arena_reset(scratch);
}

// Of names every one is tried, of numbers the next and the double.
static bool is_name(KnobType type) {
  return type == KNOB_TYPE_DTYPE || type == KNOB_TYPE_ATOM || type == KNOB_TYPE_ORDER ||
         type == KNOB_TYPE_ROLES || type == KNOB_TYPE_SPLIT;
}

static void tell_rules(Str *out, const Schedule *state) {
  Arena *scratch = arena_new("scratch");
  for (KnobId knob = 0; knob < KNOB_COUNT; knob++) {
    if (knob_table[knob].type == KNOB_TYPE_LAYOUT) continue;
    const Knob *k = &knob_table[knob];
    const int64_t value = state->value[knob];
    if (is_name(k->type)) {
      for (int64_t other = k->lo; other <= k->hi; other++)
        tell_change(scratch, out, state, knob, other);
      continue;
    }
    tell_change(scratch, out, state, knob, value + 1);
    tell_change(scratch, out, state, knob, 2 * value);
  }
  arena_free(scratch);
}

// ---- states -------------------------------------------------------------------------------------

enum { RULES_EVERY = 6 };  // states

static void open_session(Session **session) {
  Diags diags = diags_new(property_data);
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  *session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_msg(*session != NULL, "%s", diags_text(property_data, &diags));
}

START_TEST(schedules_are_read_as_reviewed) {
  Session *session = NULL;
  open_session(&session);
  char *rows = edges_read(property_data, "reading_states.txt");
  Str out = str_new(property_data);
  int states = 0;
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"), arena_reset(property_arena)) {
    const Schedule state = property_read_state(row);
    str_printf(&out, "%s\n", row);
    session_set_schedule(session, &state);
    for (int i = 0; i < VIEWS; i++) tell_view(property_arena, &out, session, views[i]);
    if (states++ % RULES_EVERY == 0) tell_rules(&out, &state);
  }
  golden_check("told/readings.txt", out.text);
  explorer_close(session);
  unsetenv("GEMMVIEW_DATA");
}
END_TEST

Suite *suite_told_readings(void) {
  Suite *suite = suite_create("told_readings");
  TCase *tcase = tcase_create("readings");
  tcase_set_timeout(tcase, 240);
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, schedules_are_read_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
