// Slabs that only descriptors read: no view says of them that nobody touches shared memory, and the
// swizzle view shows how they lie.
#include "model/readings/place/described.h"

#include <check.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "model/ir/buffer.h"
#include "property.h"
#include "stress.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"

Suite *suite_described(void);

static const char *shown(Session *session, Canvas *canvas, const char *view) {
  view_show(session, view_find(view));
  drive_frame(session, canvas);
  return export_text(property_arena, canvas);
}

// A_s of 128 bytes a row in Swizzle<3,4,3>: row 1 begins with bank 4, row 2 with bank 8.
static void shows_the_map(const char *text, const Buffer *slab) {
  if (slab->swizzle_bits != 3 || slab->swizzle_shift != 3) return;
  ck_assert_msg(strstr(text, "45670123cdef89abklmnghijstuvopqr") != NULL, "%s\n%s", slab->name,
                text);
}

static void ask_rung(const Ladder *ladder, const Rung *rung) {
  static const char *const views[] = {"explore", "banks", "swizzle", "memory"};
  Diags diags = diags_new(property_arena);
  Session *session =
      explorer_open(&(SessionOptions){.ladder = ladder->name, .rung = rung->name}, &diags);
  Canvas *canvas = canvas_new(property_arena, 40, 120, false);
  const Model *model = session_model(session);
  const DescribedSlabs slabs = described_slabs(model->program);
  for (size_t i = 0; slabs.n && i < sizeof views / sizeof *views; i++)
    ck_assert_msg(!strstr(shown(session, canvas, views[i]), "not touch shared"), "%s/%s: %s",
                  ladder->name, rung->name, views[i]);
  if (slabs.n && model->n_sites == 0) {
    const char *text = shown(session, canvas, "swizzle");
    ck_assert_msg(strstr(text, "No lane addresses ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, slabs.slab[0]->name) != NULL, "%s", text);
    shows_the_map(text, slabs.slab[0]);
  }
  explorer_close(session);
}

START_TEST(no_view_says_that_nobody_touches_them) {
  const EmbeddedList list = embed_list(property_data, "ladders/");
  Seen *kinds = NULL;
  int n = 0;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++, arena_reset(property_arena)) {
      if (ladder->rung[r].not_built || !property_is_new_kind(&kinds, &ladder->rung[r])) continue;
      if (stress_has_turn(n++, 2)) ask_rung(ladder, &ladder->rung[r]);
    }
  }
}
END_TEST

START_TEST(says_who_writes_and_who_reads) {
  const Model *model = property_rung("hopper", "consumers", "");
  const DescribedSlabs slabs = described_slabs(model->program);
  ck_assert_str_eq(described_sentence(property_arena, &slabs),
                   "No lane addresses A_s, B_s in shared memory: TMA writes, wgmma reads, 128-byte "
                   "swizzle. D shows the descriptor.");
  ck_assert_int_eq(described_slabs(property_rung("hgemm", "swizzle", "")->program).n, 0);
}
END_TEST

Suite *suite_described(void) {
  Suite *suite = suite_create("described");
  TCase *tests = tcase_create("described");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_set_timeout(tests, 300);
  tcase_add_test(tests, no_view_says_that_nobody_touches_them);
  tcase_add_test(tests, says_who_writes_and_who_reads);
  suite_add_tcase(suite, tests);
  return suite;
}
