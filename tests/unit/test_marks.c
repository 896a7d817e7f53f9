// States differ by a sign, not by colour alone: in ASCII, without any colour, at 80 x 24.
#include <check.h>
#include <string.h>

#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"

Suite *suite_marks(void);

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}

static void teardown(void) { arena_free(arena); }

static Session *session_of(const char *ladder, const char *rung) {
  const SessionOptions options = {.ladder = ladder, .rung = rung, .ascii = true};
  Session *session = explorer_open(&options, &diags);
  ck_assert_msg(session != NULL, "%s/%s", ladder, rung);
  return session;
}

// The screen of a view as text alone, at 80 x 24.
static const char *screen_of(Session *session, int view) {
  Canvas *canvas = canvas_new(arena, 24, 80, true);
  view_show(session, view);
  drive_frame(session, canvas);
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  return export_text(arena, canvas);
}

static const char *shown(const char *ladder, const char *rung, const char *view) {
  Session *session = session_of(ladder, rung);
  const char *text = screen_of(session, view_find(view));
  explorer_close(session);
  return text;
}

static const struct {
  const char *ladder, *rung;
} rungs[] = {{"fp32", "naive"},    {"fp32", "padded"},      {"hgemm", "swizzle"},
             {"hopper", "roles"},  {"attention", "slices"}, {"blackwell", "consumers"},
             {"split", "promoted"}};

START_TEST(ascii_holds_only_printable_bytes) {
  Session *session = session_of(rungs[_i].ladder, rungs[_i].rung);
  for (int view = 0; view < view_count; view++) {
    const char *text = screen_of(session, view);
    for (const char *at = text; *at; at++)
      ck_assert_msg(*at == '\n' || (*at >= 0x20 && *at <= 0x7e), "%s/%s, %s: byte 0x%02x",
                    rungs[_i].ladder, rungs[_i].rung, view_table[view].name, (unsigned char)*at);
  }
  explorer_close(session);
}
END_TEST

// A state and its opposite, each by the text that a screen without colour has for it.
static const struct {
  const char *state, *ladder, *rung, *view, *text, *opposite;
} marks[] = {
    {"an access without and with a conflict", "fp32", "padded", "explore", "1 ok", "2 x2"},
    {"the same in the banks view", "fp32", "padded", "banks", " ok ", " x2 "},
    {"recorded and expected speeds", "fp32", "padded", "measure", " r ", "~"},
    {"the selected rung and another", "fp32", "padded", "measure", " 11> padded",
     " 10  transposed"},
    {"the knob in hand and another", "fp32", "padded", "explore", "<BM 16>", " FM 8"},
    {"a slab that is read and one on its way", "hopper", "roles", "pipeline", "000000", "~~~~"},
    {"a free slot and one on its way", "hopper", "roles", "pipeline", " .~~", "000000"},
    {"tiers of loops", "fp32", "padded", "loops", "\n B for ", "\n T   for "},
};

START_TEST(states_differ_without_colour) {
  const char *text = shown(marks[_i].ladder, marks[_i].rung, marks[_i].view);
  ck_assert_msg(strstr(text, marks[_i].text) != NULL, "%s: no \"%s\" in\n%s", marks[_i].state,
                marks[_i].text, text);
  ck_assert_msg(strstr(text, marks[_i].opposite) != NULL, "%s: no \"%s\" in\n%s", marks[_i].state,
                marks[_i].opposite, text);
}
END_TEST

Suite *suite_marks(void) {
  Suite *suite = suite_create("marks");
  TCase *tcase = tcase_create("marks");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, ascii_holds_only_printable_bytes, 0, sizeof rungs / sizeof *rungs);
  tcase_add_loop_test(tcase, states_differ_without_colour, 0, sizeof marks / sizeof *marks);
  suite_add_tcase(suite, tcase);
  return suite;
}
