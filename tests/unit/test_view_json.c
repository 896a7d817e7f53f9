// Every view as data: one strict object on every rung, and the same facts as the picture and as the
// model.
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"
#include "tui/frame/view_json.h"

static Arena *arena;
static Diags diags;
static Session *session;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_ptr_nonnull(session);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static const JsonValue *document(const char *view, const char *keys) {
  Canvas *canvas = canvas_new(arena, 40, 120, false);
  view_show(session, view_find(view));
  drive_frame(session, canvas);
  if (keys) ck_assert_msg(drive_keys(session, canvas, keys, &diags), "%s", keys);
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  view_document(&w, session, canvas, NULL);
  const JsonValue *root = json_parse(arena, out.text, out.length, &diags, view);
  ck_assert_msg(root != NULL, "%s", diags_text(arena, &diags));
  ck_assert_ptr_null(strstr(out.text, "nan"));
  return root;
}

static const JsonValue *data(const char *view, const char *keys) {
  return json_object_get(document(view, keys), "data");
}

static double number(const JsonValue *object, const char *key) {
  double value = NAN;
  const JsonValue *member = json_object_get(object, key);
  if (!json_is_null(member)) ck_assert(json_read_double(member, &value, &diags));
  return value;
}

static const char *text(const JsonValue *object, const char *key) {
  const char *value = "";
  ck_assert_msg(json_require_string(object, key, &value, &diags), "%s", diags_text(arena, &diags));
  return value;
}

static const char *const views[] = {"explore", "loops",     "banks",   "source",
                                    "measure", "fragments", "swizzle", "pipeline"};
enum { VIEWS = sizeof views / sizeof *views };

START_TEST(is_one_object_on_every_rung) {
  for (int rung = 0; rung < session->doc.ladder->n_rungs; rung++) {
    session_go_rung(session, rung);
    if (rung % 2) session_compare(session, NULL, NULL);
    const JsonValue *root = document(views[_i], NULL);
    ck_assert_str_eq(text(root, "view"), views[_i]);
    ck_assert_int_gt(json_count(json_object_get(root, "data")), 2);
    ck_assert_int_gt(json_count(json_object_get(root, "numbers")), 20);
    session_compare_off(session);
  }
}
END_TEST

START_TEST(explore_says_what_the_model_says) {
  const JsonValue *explore = data("explore", NULL), *sites = json_object_get(explore, "sites");
  const Model *model = session_model(session);
  ck_assert_int_eq(json_count(sites), model->n_sites);
  for (int i = 0; i < model->n_sites; i++) {
    const JsonValue *site = json_at(sites, i);
    ck_assert_int_eq((int)number(site, "wavefronts"), model->site[i].count.wavefronts);
    ck_assert_int_eq((int)number(site, "ideal"), model->site[i].count.ideal);
  }
  const JsonValue *knobs = json_object_get(explore, "knobs");
  ck_assert_int_gt(json_count(knobs), 30);
  Str state = str_new(arena);
  for (int i = 0; i < json_count(knobs); i++)
    str_printf(&state, "%s%s=%s", i ? "," : "", text(json_at(knobs, i), "name"),
               text(json_at(knobs, i), "value"));
  Schedule schedule = schedule_plain();
  ck_assert_msg(schedule_parse(&schedule, state.text, &diags), "%s", diags_text(arena, &diags));
  for (int i = 0; i < json_count(knobs); i++) {
    KnobId knob = knob_find(text(json_at(knobs, i), "name"), NULL);
    ck_assert(knob >= 0 && !schedule_differs(&schedule, &session->doc.now.schedule, knob));
  }
}
END_TEST

START_TEST(unknown_is_null) {
  session_set_knob(session, KNOB_PAD_SMEM, 8);
  const JsonValue *numbers = json_object_get(document("explore", NULL), "numbers");
  ck_assert(json_is_null(json_object_get(numbers, "time_ns")));
  ck_assert(number(numbers, "smem_bytes") > 0);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "cp_async", NULL));
  const JsonValue *sites = json_object_get(data("banks", NULL), "sites");
  int n_null = 0;
  for (int i = 0; i < json_count(sites); i++)
    n_null += json_is_null(json_object_get(json_at(sites, i), "wavefronts"));
  ck_assert_int_gt(n_null, 0);
  ck_assert_int_lt(n_null, json_count(sites));
}
END_TEST

static void same_keys(const JsonValue *a, const JsonValue *b) {
  ck_assert_int_gt(json_count(a), 0);
  ck_assert_int_eq(json_count(a), json_count(b));
  for (int i = 0; i < json_count(a); i++) ck_assert_str_eq(json_key_at(a, i), json_key_at(b, i));
}

// Whoever writes it, and beside each key its older name.
START_TEST(an_access_has_the_same_keys_everywhere) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, "resources --json -k AUTO=0,M=256,N=256,K=256,BM=16,BN=16,STAGE=11");
  const JsonValue *told = cli_json(arena, &run), *shown = data("banks", NULL);
  static const char *const lists[] = {"sites", "global_sites"};
  for (int i = 0; i < 2; i++) {
    const JsonValue *site = json_at(json_object_get(told, lists[i]), 1);
    same_keys(site, json_at(json_object_get(shown, lists[i]), 1));
    ck_assert_double_eq(number(site, "site"), number(site, "number"));
    const JsonValue *addr = json_object_get(site, "addr_bytes");
    ck_assert_int_eq(json_count(addr), BANK_LANES);
    ck_assert_int_eq(json_count(json_object_get(site, "addr")), BANK_LANES);
  }
}
END_TEST

START_TEST(an_illegal_state_says_why) {
  session_set_knob(session, KNOB_BM, 1024);
  const JsonValue *root = document("explore", NULL);
  bool legal = true;
  ck_assert(json_require_bool(root, "legal", &legal, &diags) && !legal);
  ck_assert_int_gt(json_count(json_object_get(root, "reasons")), 0);
  ck_assert_ptr_nonnull(strstr(text(root, "nearest"), "BM="));
}
END_TEST

// Lane by lane, the words of the addresses are those that the wavefronts serve.
START_TEST(the_card_serves_every_address) {
  const JsonValue *card = json_object_get(data("banks", NULL), "card");
  const JsonValue *addr = json_object_get(card, "addr_bytes"),
                  *rows = json_object_get(card, "rows");
  ck_assert_int_eq(json_count(addr), BANK_LANES);
  ck_assert_int_eq(json_count(rows), (int)number(card, "wavefronts"));
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int word = 0, found = 0;
    ck_assert(json_read_int(json_at(addr, lane), 0, 1 << 20, &word, &diags));
    for (int r = 0; r < json_count(rows); r++) {
      const JsonValue *served = json_object_get(json_at(rows, r), "served");
      for (int i = 0; i < json_count(served); i++)
        found |= (int)number(json_at(served, i), "word") == word / 4;
    }
    ck_assert_msg(found, "lane %d", lane);
  }
}
END_TEST

START_TEST(fragments_hold_every_element_once) {
  const JsonValue *fragment = data("fragments", NULL);
  const JsonValue *list = json_object_get(fragment, "elements_lane_register_part_row_col");
  int rows = (int)number(fragment, "operand_rows"), cols = (int)number(fragment, "operand_cols");
  ck_assert_int_eq(json_count(list), rows * cols);
  bool *seen = ARENA_ARRAY(arena, bool, rows *cols);
  for (int i = 0; i < json_count(list); i++) {
    int row = -1, col = -1;
    ck_assert(json_read_int(json_at(json_at(list, i), 3), 0, rows - 1, &row, &diags));
    ck_assert(json_read_int(json_at(json_at(list, i), 4), 0, cols - 1, &col, &diags));
    ck_assert(!seen[row * cols + col]);
    seen[row * cols + col] = true;
  }
}
END_TEST

// The pictures of sums: who shares a row, and who has operand A's elements as sums.
START_TEST(fragments_say_rows_and_relayouts) {
  const JsonValue *row = json_object_get(data("fragments", "r j j j"), "row");
  ck_assert_int_eq((int)number(row, "row"), 3);
  ck_assert_int_eq(json_count(json_object_get(row, "lanes")), 4);
  ck_assert_int_eq(json_count(json_object_get(row, "steps")), 3);
  const JsonValue *relayout = json_object_get(data("fragments", "p"), "relayout");
  const int elements = (int)number(relayout, "elements");
  const JsonValue *places =
      json_object_get(relayout, "places_row_col_atom_lane_value_to_lane_value");
  ck_assert_int_eq(json_count(places), elements);
  int kept = 0;
  for (int i = 0; i < elements; i++) {
    int from = -1, to = -1;
    ck_assert(json_read_int(json_at(json_at(places, i), 3), 0, 31, &from, &diags));
    ck_assert(json_read_int(json_at(json_at(places, i), 5), 0, 31, &to, &diags));
    kept += from == to;
  }
  ck_assert_int_eq((int)number(relayout, "kept"), kept);
}
END_TEST

START_TEST(source_and_program_are_whole) {
  const JsonValue *lines = json_object_get(data("source", NULL), "source");
  Str all = str_new(arena);
  for (int i = 0; i < json_count(lines); i++)
    str_printf(&all, "%s\n", text(json_at(lines, i), "text"));
  ck_assert_ptr_nonnull(strstr(all.text, "__global__"));
  const JsonValue *program = data("loops", NULL);
  ck_assert_int_gt(json_count(json_object_get(program, "passes")), 5);
  ck_assert_int_gt(json_count(json_object_get(program, "program")), 20);
  const JsonValue *changed = data("loops", "d");
  int n = 0;
  const JsonValue *diff = json_object_get(changed, "program");
  for (int i = 0; i < json_count(diff); i++) n += !str_equal(text(json_at(diff, i), "kind"), "=");
  ck_assert_int_gt(n, 0);
}
END_TEST

START_TEST(layouts_have_their_totals) {
  const JsonValue *layouts = json_object_get(data("swizzle", NULL), "layouts");
  ck_assert_int_ge(json_count(layouts), 2);
  for (int i = 0; i < json_count(layouts); i++) {
    const JsonValue *layout = json_at(layouts, i), *sites = json_object_get(layout, "sites");
    double total = 0;
    for (int s = 0; s < json_count(sites); s++) {
      double wavefronts = number(json_at(sites, s), "wavefronts");
      total += isnan(wavefronts) ? 0 : wavefronts;
    }
    ck_assert_msg(total <= number(layout, "total_wavefronts") + 0.5, "layout %d: %g, %g", i, total,
                  number(layout, "total_wavefronts"));
    ck_assert(total > 0);
  }
}
END_TEST

Suite *suite_view_json(void);
Suite *suite_view_json(void) {
  Suite *suite = suite_create("view_json");
  TCase *tcase = tcase_create("view_json");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, is_one_object_on_every_rung, 0, VIEWS);
  tcase_add_test(tcase, explore_says_what_the_model_says);
  tcase_add_test(tcase, unknown_is_null);
  tcase_add_test(tcase, an_access_has_the_same_keys_everywhere);
  tcase_add_test(tcase, an_illegal_state_says_why);
  tcase_add_test(tcase, the_card_serves_every_address);
  tcase_add_test(tcase, fragments_hold_every_element_once);
  tcase_add_test(tcase, fragments_say_rows_and_relayouts);
  tcase_add_test(tcase, source_and_program_are_whole);
  tcase_add_test(tcase, layouts_have_their_totals);
  suite_add_tcase(suite, tcase);
  return suite;
}
