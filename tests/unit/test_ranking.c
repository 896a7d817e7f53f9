// A search without a GPU: states ranked by the model alone, on the screen and by the command.
#include <check.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli_harness.h"
#include "model/schedules/ranking.h"
#include "property.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"
#include "tui/session/tuning.h"

Suite *suite_ranking(void);

// Fastest first, no two alike, each legal; the seed's speed at least; twice the same.
START_TEST(states_are_ranked_by_the_model) {
  const Ladder *ladder = property_ladder("hgemm");
  Schedule seeds[2] = {ladder->rung[0].schedule, ladder->rung[ladder->n_rungs - 1].schedule};
  Ranking *ranking[2];
  for (int i = 0; i < 2; i++) {
    ranking[i] = ranking_new(property_data, &property_targets, NULL, &seeds[0], seeds, 2);
    while (ranking_step(ranking[i])) {
    }
  }
  const Ranking *r = ranking[0];
  ck_assert_int_gt(r->n, 4);
  ck_assert_int_eq(r->n_tried, 2 + RANKING_TRIES);
  const Estimate seed = estimate_of(NULL, property_built(&seeds[0]));
  ck_assert(r->best[0].estimate.tflops >= seed.tflops);
  for (int i = 0; i < r->n; i++) {
    ck_assert(schedule_same(&r->best[i].schedule, &ranking[1]->best[i].schedule));
    ck_assert(model_build(property_arena, &property_targets, &r->best[i].schedule)->ok);
    if (i) ck_assert(r->best[i].estimate.tflops <= r->best[i - 1].estimate.tflops);
  }
  for (int i = 0; i < 2; i++) ranking_free(ranking[i]);
}
END_TEST

// A state for a B200 is ranked for a B200: its own atom is among the best.
START_TEST(the_ranking_keeps_the_gpu_of_the_state) {
  Arena *arena = arena_new("test");
  Diags diags = diags_new(arena);
  Session *session =
      explorer_open(&(SessionOptions){.ladder = "blackwell", .rung = "pair"}, &diags);
  const Schedule asked = session->doc.now.schedule;
  for (int i = 0; i < 20 && tuning_rank(session); i++) {
  }
  const Ranking *ranking = session->background.tuning->ranking;
  ck_assert_int_gt(ranking->n, 0);
  for (int i = 0; i < ranking->n; i++)
    ck_assert_str_eq(ranking->best[i].schedule.target, asked.target);
  ck_assert_int_eq(ranking->best[0].schedule.value[KNOB_ATOM_KIND], asked.value[KNOB_ATOM_KIND]);
  explorer_close(session);
  arena_free(arena);
}
END_TEST

// Two keys lead to the ranking, a third takes its first line.
START_TEST(the_screen_ranks_without_a_gpu) {
  Arena *arena = arena_new("test");
  Diags diags = diags_new(arena);
  Session *session = explorer_open(&(SessionOptions){.ladder = "fp32", .rung = "padded"}, &diags);
  Canvas *canvas = canvas_new(arena, 40, 120, false);
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, "5 t", &diags));
  bool news;
  for (int i = 0; i < 3000 && view_idle(session, &news); i++) {
  }
  drive_frame(session, canvas);
  const char *text = export_text(arena, canvas);
  ck_assert_msg(strstr(text, "legal, ranked by the stand-in ") != NULL, "%s", text);
  ck_assert_ptr_nonnull(strstr(text, "Nothing here was compiled or timed"));
  const Schedule best = session->background.tuning->ranking->best[0].schedule;
  ck_assert(drive_keys(session, canvas, "Enter", &diags));
  ck_assert(schedule_same(&session->doc.now.schedule, &best));
  explorer_close(session);
  arena_free(arena);
}
END_TEST

START_TEST(the_command_ranks_without_a_worker) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(property_arena, "tune 512,512,512 --seconds 1 --worker /bin/false");
  ck_assert_int_eq(run.status, CLI_MISSING);
  ck_assert_msg(strstr(run.out, "ranked by the ") != NULL, "%s%s", run.out, run.err);
  ck_assert_ptr_nonnull(strstr(run.out, "not compiled and not timed"));
}
END_TEST

Suite *suite_ranking(void) {
  Suite *suite = suite_create("ranking");
  TCase *tests = tcase_create("ranking");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, states_are_ranked_by_the_model);
  tcase_add_test(tests, the_ranking_keeps_the_gpu_of_the_state);
  tcase_add_test(tests, the_screen_ranks_without_a_gpu);
  tcase_add_test(tests, the_command_ranks_without_a_worker);
  suite_add_tcase(suite, tests);
  return suite;
}
