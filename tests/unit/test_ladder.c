// Ladder files: what is read, what is refused and with which words.
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "model/readings/model.h"
#include "model/words/ladder.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

static const Ladder *read_text(const char *text) {
  return ladder_read(arena, text, strlen(text), "x.json", &diags);
}

static bool said(const char *text) {
  for (const Diag *d = diags.first; d; d = d->next)
    if (strstr(d->text, text)) return true;
  return false;
}

START_TEST(reads_a_whole_ladder) {
  const Ladder *ladder = read_text(
      "{\"name\":\"l\",\"title\":\"t\",\"rungs\":["
      "{\"name\":\"a\",\"title\":\"A\",\"knobs\":\"BM=8\",\"line\":\"one\"},"
      "{\"name\":\"b\",\"title\":\"B\",\"knobs\":\"BM=8,FM=4\",\"line\":\"two\",\"aside\":true,"
      "\"claim\":{\"text\":\"fast\",\"value\":5.2,\"unit\":\"x\",\"gpu\":\"g\",\"source\":\"s\"}}]"
      "}");
  ck_assert_ptr_nonnull(ladder);
  ck_assert_int_eq(ladder->n_rungs, 2);
  ck_assert_int_eq(ladder->rung[1].schedule.value[KNOB_FM], 4);
  ck_assert_int_eq(ladder->rung[0].schedule.value[KNOB_FM], 1);
  ck_assert(ladder->rung[1].aside && !ladder->rung[0].aside);
  ck_assert_ptr_null(ladder->rung[0].claim);
  ck_assert(ladder->rung[1].claim->has_value && ladder->rung[1].claim->value > 5.1);
}
END_TEST

static const struct {
  double value;
  const char *unit, *gpu;
  double tflops;
} claimed[] = {{0.104, "ms", "B200, 4096^3", 1321.5},
               {1000, "us", "RTX 5090, 128 x 128 x 16384", 0.537},
               {62, "TFLOP/s", "RTX 5090", 62},
               {0.104, "ms", "B200", NAN},
               {0.104, "ms", "B200, 4096^3 or so", NAN},
               {0.104, "ms", "RTX 3090, 64 queries x 64 keys, head dimension 128", NAN},
               {5.2, "x", "B200, 4096^3", NAN}};
enum { CLAIMED = sizeof claimed / sizeof *claimed };

START_TEST(a_claimed_time_is_a_speed_by_its_own_problem) {
  for (int i = 0; i < CLAIMED; i++) {
    const Claim claim = {"fast", true, claimed[i].value, claimed[i].unit, claimed[i].gpu, NULL};
    const double tflops = claim_tflops(&claim), wanted = claimed[i].tflops;
    ck_assert_msg(isnan(wanted) ? isnan(tflops) : fabs(tflops - wanted) < 1e-3 * wanted,
                  "%g %s on %s: %g", claim.value, claim.unit, claim.gpu, tflops);
  }
}
END_TEST

static const struct {
  const char *text, *said;
} wrong[] = {
    {"{", "x.json:1"},
    {"{\"name\":\"l\",\"title\":\"t\"}", "rungs"},
    {"{\"name\":\"l\",\"title\":\"t\",\"rungs\":[]}", "at least one rung"},
    {"{\"name\":\"l\",\"title\":\"t\",\"rungs\":[{\"name\":\"a\"}]}", "knobs"},
    {"{\"name\":\"l\",\"title\":\"t\",\"rungs\":[{\"name\":\"a\",\"title\":\"A\",\"line\":\"\","
     "\"knobs\":\"BMM=8\"}]}",
     "rungs[0].knobs"},
    {"{\"name\":\"l\",\"title\":\"t\",\"rungs\":[{\"name\":\"a\",\"title\":\"A\",\"line\":\"\","
     "\"knobs\":\"\",\"clam\":1}]}",
     "clam"},
    {"{\"name\":\"l\",\"title\":\"t\",\"opens\":\"z\",\"rungs\":[{\"name\":\"a\",\"title\":\"A\","
     "\"line\":\"\",\"knobs\":\"\"}]}",
     "opens"},
    {"{\"name\":\"l\",\"title\":\"t\",\"rungs\":["
     "{\"name\":\"a\",\"title\":\"A\",\"line\":\"\",\"knobs\":\"\"},"
     "{\"name\":\"a\",\"title\":\"B\",\"line\":\"\",\"knobs\":\"\"}]}",
     "taken by rungs[0]"},
};

START_TEST(refuses_with_the_place) {
  ck_assert_ptr_null(read_text(wrong[_i].text));
  ck_assert_msg(said(wrong[_i].said), "%s", diags_text(arena, &diags));
}
END_TEST

START_TEST(finds_rungs_by_name_and_number) {
  const Ladder *ladder = read_text(
      "{\"name\":\"l\",\"title\":\"t\",\"rungs\":["
      "{\"name\":\"naive\",\"title\":\"\",\"line\":\"\",\"knobs\":\"\"},"
      "{\"name\":\"padded\",\"title\":\"\",\"line\":\"\",\"knobs\":\"\"}]}");
  ck_assert_int_eq(ladder_find_rung(ladder, "PADDED", &diags), 1);
  ck_assert_int_eq(ladder_find_rung(ladder, "0", &diags), 0);
  ck_assert_int_eq(diags.count, 0);
  ck_assert_int_eq(ladder_find_rung(ladder, "2", &diags), -1);
  ck_assert_int_eq(ladder_find_rung(ladder, "1x", &diags), -1);
  ck_assert_int_eq(ladder_find_rung(ladder, "-1", &diags), -1);
  ck_assert_int_eq(ladder_find_rung(ladder, "", &diags), -1);
  ck_assert_int_eq(ladder_find_rung(ladder, "paded", &diags), -1);
  ck_assert_str_eq(diags.last->nearest, "padded");
}
END_TEST

START_TEST(ladders_stand_in_their_places) {
  const Ladder *first = read_text(
      "{\"name\":\"a\",\"title\":\"\",\"place\":2,\"rungs\":["
      "{\"name\":\"x\",\"title\":\"\",\"line\":\"\",\"knobs\":\"\"}]}");
  Ladder second = *first, third = *first;
  second.place = 0;
  third.place = 2;
  const Ladder *ladders[] = {first, &second, &third};
  ladders_sort(ladders, 3);
  ck_assert(ladders[0] == &second && ladders[1] == first && ladders[2] == &third);
  ck_assert_ptr_null(read_text("{\"name\":\"a\",\"title\":\"\",\"place\":-1,\"rungs\":[]}"));
}
END_TEST

START_TEST(distance_counts_knobs) {
  Schedule a = schedule_default(), b = a;
  ck_assert(schedule_same(&a, &b));
  schedule_set(&b, KNOB_FM, 8);
  ck_assert_int_eq(schedule_distance(&a, &b), 1);
  ck_assert(schedule_parse(&b, "TARGET=b200", &diags));
  ck_assert_int_eq(schedule_distance(&a, &b), 2);
}
END_TEST

// Every rung of every ladder we ship is legal, or says that it is not built.
START_TEST(shipped_ladders_hold) {
  const EmbeddedFile *gpus = embed_find(arena, "gpus.json");
  TargetTable targets;
  ck_assert(targets_parse(arena, gpus->text, gpus->size, &diags, &targets));
  EmbeddedList list = embed_list(arena, "ladders/");
  ck_assert_int_gt(list.count, 0);
  for (int i = 0; i < list.count; i++) {
    const EmbeddedFile *file = embed_find(arena, list.paths[i]);
    const Ladder *ladder = ladder_read(arena, file->text, file->size, file->path, &diags);
    ck_assert_msg(ladder != NULL, "%s", diags_text(arena, &diags));
    for (int r = 0; r < ladder->n_rungs; r++) {
      const Rung *rung = &ladder->rung[r];
      const Model *model = model_build(arena, &targets, &rung->schedule);
      ck_assert_msg(
          model->ok == (rung->not_built == NULL), "%s: %s", rung->name,
          model->ok ? "is legal but marked as not built" : diags_text(arena, &model->diags));
    }
  }
}
END_TEST

Suite *suite_ladder(void);
Suite *suite_ladder(void) {
  Suite *suite = suite_create("ladder");
  TCase *tcase = tcase_create("ladder");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, reads_a_whole_ladder);
  tcase_add_test(tcase, a_claimed_time_is_a_speed_by_its_own_problem);
  tcase_add_loop_test(tcase, refuses_with_the_place, 0, sizeof wrong / sizeof *wrong);
  tcase_add_test(tcase, finds_rungs_by_name_and_number);
  tcase_add_test(tcase, ladders_stand_in_their_places);
  tcase_add_test(tcase, distance_counts_knobs);
  tcase_add_test(tcase, shipped_ladders_hold);
  suite_add_tcase(suite, tcase);
  return suite;
}
