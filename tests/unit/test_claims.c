// Claims of the articles: every file that is shipped is computed, a claim is judged by what is
// found and not by what the file hopes, and a wrong file is told with its place.
#include <check.h>
#include <string.h>
#include <time.h>

#include "base/embed.h"
#include "base/str.h"
#include "cli_harness.h"
#include "golden.h"
#include "stress.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/tutor.h"
#include "tui/frame/view.h"
#include "tui/session/claim_rows.h"

Suite *suite_claims(void);

static Arena *arena;
static Diags diags;
static Session *session;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(&(SessionOptions){.ladder = "tf32"}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
}

// ---- what is shipped ----------------------------------------------------------------------------

START_TEST(every_claim_is_computed) {
  for (int i = 0; i < session->doc.n_ladders; i++) {
    const Published *said = published_of(session, session->doc.ladders[i]);
    ck_assert_msg(!said->trouble, "%s: %s", session->doc.ladders[i]->name, said->trouble);
    ck_assert_ptr_eq(said, published_of(session, session->doc.ladders[i]));
    for (int r = 0; r < said->list->n; r++) {
      const ClaimFound *found = &said->found[r];
      ck_assert_ptr_null(strchr(found->why, '{'));
      ck_assert_msg(*found->says && strlen(found->why) > 20, "%s", said->list->row[r].what);
      bool judged = found->verdict != CLAIM_TOLD;
      ck_assert(!judged || *found->model);
    }
  }
}
END_TEST

// What the articles and the model are known to say of each other.
static const struct {
  const char *ladder, *what, *model;
  ClaimVerdict verdict;
} known[] = {
    {"tf32", "transposing store of B, no swizzle", "32 ways", CLAIM_AGREES},
    {"tf32", "ldmatrix of B, as the code prints it: row >> 2", "2 ways", CLAIM_AGREES},
    {"tf32", "the least that store can reach, reads free", "4 ways", CLAIM_DIFFERS},
    {"tf32", "wavefronts of the kernel without conflicts", "100663296 wavefronts", CLAIM_AGREES},
    {"tf32", "panels of a row of 32 blocks, 4096^3", "66 MiB", CLAIM_AGREES},
    {"tf32", "work per byte, 128 x 128 over 64 x 256", "1.25 x", CLAIM_AGREES},
    {"hgemm", "which bits flip: the prose says 10-8", "2 ways", CLAIM_DIFFERS},
    {"hgemm", "Swizzle<2,4,2>, which the rule gives for BK=32", "2 ways", CLAIM_DIFFERS},
    {"fp32", "blocks, one cell a thread", "16384 blocks", CLAIM_AGREES},
    {"fp32", "occupancy of the 26 x 4 tile", "16.7 % of the warps", CLAIM_AGREES},
    {"fp32", "shared memory of the 26 x 4 tile", "84 KiB", CLAIM_AGREES},
    {"fp32", "registers of the 26 x 4 tile", "239 registers", CLAIM_DIFFERS},
    {"fp32", "from load-bound to FMA-bound", "fma", CLAIM_AGREES},
    {"fp32", "the staged listing: floats of its slabs", "8448 B", CLAIM_AGREES},
    {"fp32", "a pad for each thread's cells, 128 to 160", "44564480 wavefronts", CLAIM_TOLD},
    {"fp16", "threads", "160 threads", CLAIM_AGREES},
    {"fp16", "bar.sync 1, 128", "4 arrivals", CLAIM_DIFFERS},
    {"tf32", "bank conflicts of the last kernel with B transposed: 150M+", "150994944 conflicts",
     CLAIM_AGREES},
    {"tf32", "hits in L2, row by row", "66.4 % of the bytes", CLAIM_DIFFERS},
    {"tf32", "hits in L2, in groups of 8", "91.1 % of the bytes", CLAIM_AGREES},
    {"hgemm", "Swizzle<1,4,1>, which the rule gives for BK=16", "2 ways", CLAIM_DIFFERS},
    {"fp32", "split-K 32: atomic adds", "524288 atomic adds", CLAIM_TOLD},
    {"tf32", "the profiler's average, store conflicts", "32 ways", CLAIM_ABOVE},
    {"tf32", "16.61 TFLOP/s, above the roofline", "16.3 TFLOP/s", CLAIM_ABOVE},
    {"fp16", "tensor cores, 94 us at 2048^3", "180 TFLOP/s", CLAIM_ABOVE},
    {"hgemm", "16384^3, groups of 8", "310 TFLOP/s", CLAIM_DIFFERS},
};

START_TEST(claims_are_judged) {
  ck_assert(session_go_ladder(session, known[_i].ladder, &diags));
  const Published *said = published_of(session, session->doc.ladder);
  int at = 0;
  while (at < said->list->n && !str_equal(said->list->row[at].what, known[_i].what)) at++;
  ck_assert_msg(at < said->list->n, "nothing is claimed of: %s", known[_i].what);
  ck_assert_str_eq(said->found[at].model, known[_i].model);
  ck_assert_int_eq(said->found[at].verdict, known[_i].verdict);
}
END_TEST

// ---- files --------------------------------------------------------------------------------------

#define CLAIM(fields)                                                                \
  "{\"ladder\":\"fp32\",\"source\":\"s\",\"gpu\":\"g\",\"claims\":[{\"what\":\"w\"," \
  "\"why\":\"because\"," fields "}]}"

static const struct {
  const char *file, *finding;
} wrong[] = {
    {CLAIM("\"fact\":\"registers\""), "needs a \"value\", or text"},
    {CLAIM("\"value\":1,\"says\":\"one\""), "needs a \"value\", or text"},
    {CLAIM("\"value\":1,\"rung\":\"fp32/paded\""), "no rung \"paded\""},
    {CLAIM("\"value\":1,\"state\":\"BMM=4\""), "claims[0].state: BMM is not a knob; nearest: BM"},
    {CLAIM("\"value\":1,\"vaule\":2"), "vaule"},
    {"{\"ladder\":\"fp32\"}", "source"},
    {"[", "claims/x.json"},
};

START_TEST(a_wrong_file_is_told_with_its_place) {
  const char *text = wrong[_i].file;
  ck_assert_ptr_null(
      claims_read(arena, text, strlen(text), "claims/x.json", session_facts(session), &diags));
  const char *found = diags_text(arena, &diags);
  ck_assert_msg(strstr(found, wrong[_i].finding) != NULL, "%s", found);
  ck_assert_ptr_nonnull(strstr(found, "claims/x.json"));
}
END_TEST

static bool find(const char *text, ClaimFound *found) {
  const ClaimList *list =
      claims_read(arena, text, strlen(text), "claims/x.json", session_facts(session), &diags);
  ck_assert_msg(list != NULL, "%s", diags_text(arena, &diags));
  return claims_find(arena, session_facts(session), &list->row[0], found, &diags);
}

// Two digits of a published figure count; a count that is off by one of eight differs.
START_TEST(figures_agree_within_two_percent) {
  ClaimFound found;
  ck_assert(find(CLAIM("\"value\":101,\"state\":\"BM=10,BN=10\",\"fact\":\"threads\""), &found));
  ck_assert_int_eq(found.verdict, CLAIM_AGREES);
  ck_assert(find(CLAIM("\"value\":103,\"state\":\"BM=10,BN=10\",\"fact\":\"threads\""), &found));
  ck_assert_int_eq(found.verdict, CLAIM_DIFFERS);
  ck_assert(find(CLAIM("\"value\":7,\"state\":\"BM=2,BN=4\",\"fact\":\"threads\""), &found));
  ck_assert_int_eq(found.verdict, CLAIM_DIFFERS);
  ck_assert(
      find(CLAIM("\"says\":\"fma\",\"rung\":\"fp32/final_26x4\",\"fact\":\"limit\""), &found));
  ck_assert_int_ne(found.verdict, CLAIM_TOLD);
}
END_TEST

// No figure agrees with a limit that it is above, however close; what it was rounded by aside.
START_TEST(a_figure_above_a_limit_does_not_agree) {
  static const char *const conflicts =
      CLAIM("\"value\":%s,\"state\":\"BM=8,BN=32,BK=32,STAGE=01\",\"fact\":\"conflict_share\"");
  static const struct {
    const char *value, *text;
  } figures[] = {{"100.04", "differs"}, {"101", "above the limit by 1 %"}};
  ClaimFound found;
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
    ck_assert(find(arena_printf(arena, conflicts, figures[i].value), &found));
    ck_assert_double_eq(found.value.limit, 100);
    ck_assert_str_eq(claim_verdict_text(arena, &found), figures[i].text);
  }
  ck_assert(find(CLAIM("\"value\":1e9,\"state\":\"BM=10\",\"fact\":\"estimate\""), &found));
  ck_assert(found.value.limit > 0 && found.value.limit <= found.value.number);
  ck_assert_ptr_nonnull(strstr(claim_verdict_text(arena, &found), "above the estimated limit by "));
}
END_TEST

// The same of all that is shipped; and whoever reads it as data has the share.
START_TEST(shipped_figures_above_a_limit_are_told) {
  int n = 0;
  for (int i = 0; i < session->doc.n_ladders; i++) {
    const Published *said = published_of(session, session->doc.ladders[i]);
    for (int r = 0; r < said->list->n; r++) {
      const ClaimRow *row = &said->list->row[r];
      const ClaimFound *found = &said->found[r];
      if (!row->has_value || !(found->value.limit > 0)) continue;
      const bool above = row->value > 1.0005 * found->value.limit;
      ck_assert_msg(above == (found->verdict == CLAIM_ABOVE), "%s", row->what);
      n += above;
    }
  }
  ck_assert_int_ge(n, 4);
  if (!cli_has_program()) return;
  const char *text = cli_run(arena, "claims tf32").out,
             *data = cli_run(arena, "claims tf32 --json").out;
  ck_assert_ptr_nonnull(strstr(text, "counted by the bank model: above the limit by 1.9 %"));
  ck_assert_ptr_nonnull(strstr(data, "\"verdict\":\"above\",\"above_limit_percent\":1.87"));
  ck_assert_ptr_nonnull(strstr(data, "\"verdict\":\"agrees\",\"above_limit_percent\":null"));
}
END_TEST

// The sentence stays where nobody has a record of the rung.
START_TEST(without_records_a_sentence_has_dashes) {
  ClaimFound found;
  FactWorld world = *session_facts(session);
  world.recorded = NULL;
  const char *file = CLAIM("\"value\":1,\"says\":null,\"fact\":\"threads\"");
  const ClaimList *list = claims_read(arena, file, strlen(file), "claims/x.json", &world, &diags);
  ck_assert_msg(list != NULL, "%s", diags_text(arena, &diags));
  ClaimRow row = list->row[0];
  row.why = "recorded {recorded fp32/tma} TFLOP/s by {threads} threads";
  ck_assert(claims_find(arena, &world, &row, &found, &diags));
  ck_assert_str_eq(found.why, "recorded – TFLOP/s by 256 threads");
}
END_TEST

START_TEST(what_cannot_be_computed_is_a_finding) {
  ClaimFound found;
  ck_assert(!find(CLAIM("\"value\":1,\"fact\":\"wavefronts 1\""), &found));
  ck_assert_ptr_nonnull(strstr(diags_text(arena, &diags), "does not touch shared memory"));
  diags = diags_new(arena);
  ck_assert(!find(CLAIM("\"value\":1,\"state\":\"BM=64,BN=64\""), &found));
  ck_assert_ptr_nonnull(strstr(diags_text(arena, &diags), "4096 threads"));
}
END_TEST

// ---- screens ------------------------------------------------------------------------------------

static const struct {
  const char *name, *keys;
  int rows, cols;
  const char *shows;
} screens[] = {
    {"claims_80x24", "Left Left Left", 24, 80, "100663296 wave"},
    {"claims_120x40", "Left Left Left Down Down Down Down Down Down Down", 40, 120,
     "gemmview solve --example tf32-b proves"},
};

START_TEST(the_claims_have_a_picture) {
  Canvas *canvas = canvas_new(arena, screens[_i].rows, screens[_i].cols, false);
  view_show(session, view_find("measure"));
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, screens[_i].keys, &diags));
  drive_frame(session, canvas);
  const char *text = export_text(arena, canvas);
  golden_check(arena_printf(arena, "screens/%s.txt", screens[_i].name), text);
  ck_assert_msg(strstr(text, screens[_i].shows) != NULL, "%s", text);
}
END_TEST

// Enter goes to the state that a claim is about.
START_TEST(enter_goes_where_the_claim_was_made) {
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  view_show(session, view_find("measure"));
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, "Left Left Left Enter", &diags));
  const Published *said = published_of(session, session->doc.ladder);
  ck_assert(schedule_same(&session->doc.now.schedule, &said->list->row[0].schedule));
}
END_TEST

// ---- runs on a thread ---------------------------------------------------------------------------

static int waiting(const Published *said) {
  int n = 0;
  for (int i = 0; i < said->list->n; i++) n += said->waits[i];
  return n;
}

static bool same_found(const ClaimFound *a, const ClaimFound *b) {
  return str_equal(a->says, b->says) && str_equal(a->model, b->model) &&
         str_equal(a->why, b->why) && a->verdict == b->verdict;
}

static void check_waiting_rows(const Published *said) {
  for (int i = 0; i < said->list->n; i++) {
    if (!said->waits[i]) continue;
    ck_assert(strstr(said->found[i].why, "in a moment") && *said->found[i].says);
    ck_assert_str_eq(said->found[i].model, said->list->row[i].fact ? "a run is under way" : "");
  }
}

// A row that asks for a run of the interpreter says so, and the others are there at once; when runs
// have ended each row says what it says to those who wait.
START_TEST(rows_that_ask_for_a_run_come_later) {
  ck_assert(session_go_ladder(session, "blackwell", &diags));
  const Published *said = published_so_far(session, session->doc.ladder);
  ck_assert_int_eq(waiting(said), 4);
  ck_assert(published_is_under_way(session));
  check_waiting_rows(said);
  while (!published_poll(session)) nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  ck_assert(!published_is_under_way(session) && !published_poll(session));
  ck_assert_int_eq(waiting(said), 0);

  Session *other = explorer_open(&(SessionOptions){.ladder = "blackwell"}, &diags);
  const Published *whole = published_of(other, other->doc.ladder);
  ck_assert(!published_is_under_way(other) && whole->list->n == said->list->n);
  for (int i = 0; i < said->list->n; i++)
    ck_assert_msg(same_found(&said->found[i], &whole->found[i]), "%s: %s", said->list->row[i].what,
                  said->found[i].why);
  explorer_close(other);
}
END_TEST

// Another ladder's claims are there while the run goes on; a session that is left meanwhile ends
// it.
START_TEST(a_run_that_is_under_way_is_in_nobodys_way) {
  ck_assert(session_go_ladder(session, "blackwell", &diags));
  published_so_far(session, session->doc.ladder);
  ck_assert(session_go_ladder(session, "fp32", &diags));
  const Published *other = published_so_far(session, session->doc.ladder);
  ck_assert(other->list->n > 0 && waiting(other) == 0);
  ck_assert(published_is_under_way(session));
}
END_TEST

// The screen is drawn again when they have come, without a key.
START_TEST(the_claims_on_the_screen_fill_in) {
  Canvas *canvas = canvas_new(arena, 60, 160, false);
  ck_assert(session_go_ladder(session, "blackwell", &diags));
  view_show(session, view_find("measure"));
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, "Left Left Left", &diags));
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "a run is under way"));
  ck_assert_int_eq(views_wait(session), VIEW_EXPECTS);
  drive_wait(session);
  drive_frame(session, canvas);
  ck_assert_ptr_null(strstr(export_text(arena, canvas), "a run is under way"));
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "deadlock"));
}
END_TEST

// ---- on the command line ------------------------------------------------------------------------

static const struct {
  const char *arguments;
  int status;
  const char *says;
} calls[] = {
    {"claims", 0, "article  255 registers (RTX 5090, 2048^3)"},
    {"claims fp32", 0, "78643200 without it, 110100480 with it, 1010 and 1140 us"},
    {"claims tf32", 0, "here     32 ways, counted by the bank model: agrees"},
    {"claims hgemm --csv", 0, "ladder,what,claim,found,verdict,state\n"},
    {"claims tf33", 2, "nearest: tf32"},
    {"claims tf32 hgemm", 2, "one ladder is needed"},
    {"claims --json --csv", 2, "exclude each other"},
};

START_TEST(calls_answer_as_documented) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, calls[_i].arguments);
  const char *text = run.status ? run.err : run.out;
  ck_assert_msg(run.status == calls[_i].status, "%s: %d", calls[_i].arguments, run.status);
  ck_assert_msg(strstr(text, calls[_i].says) != NULL, "%s", text);
}
END_TEST

START_TEST(json_tells_claim_and_model_apart) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, "claims fp32 --json");
  const JsonValue *claims = json_object_get(cli_json(arena, &run), "claims");
  ck_assert_int_gt(json_count(claims), 10);
  for (int i = 0; i < json_count(claims); i++) {
    const JsonValue *claim = json_at(claims, i);
    bool asked = !json_is_null(json_object_get(claim, "fact"));
    ck_assert_int_eq(asked, !json_is_null(json_object_get(claim, "found")));
    ck_assert_int_eq(asked, !json_is_null(json_object_get(claim, "origin")));
  }
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

Suite *suite_claims(void) {
  Suite *suite = suite_create("claims");
  TCase *tcase = tcase_create("claims");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, every_claim_is_computed);
  stress_add_turns(tcase, claims_are_judged, COUNT(known), 9);
  tcase_add_loop_test(tcase, a_wrong_file_is_told_with_its_place, 0, COUNT(wrong));
  tcase_add_test(tcase, a_figure_above_a_limit_does_not_agree);
  tcase_add_test(tcase, shipped_figures_above_a_limit_are_told);
  tcase_add_test(tcase, figures_agree_within_two_percent);
  tcase_add_test(tcase, without_records_a_sentence_has_dashes);
  tcase_add_test(tcase, what_cannot_be_computed_is_a_finding);
  tcase_add_loop_test(tcase, the_claims_have_a_picture, 0, COUNT(screens));
  tcase_add_test(tcase, enter_goes_where_the_claim_was_made);
  tcase_add_test(tcase, rows_that_ask_for_a_run_come_later);
  tcase_add_test(tcase, a_run_that_is_under_way_is_in_nobodys_way);
  tcase_add_test(tcase, the_claims_on_the_screen_fill_in);
  tcase_add_loop_test(tcase, calls_answer_as_documented, 0, COUNT(calls));
  tcase_add_test(tcase, json_tells_claim_and_model_apart);
  suite_add_tcase(suite, tcase);
  return suite;
}
