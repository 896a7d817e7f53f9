// Script files: what they become, and what is told about wrong ones.
#include <check.h>
#include <string.h>

#include "tui/frame/script.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

static Script *read(const char *text) { return script_read(arena, text, "demo.keys", &diags); }

START_TEST(each_step_becomes_its_events) {
  Script *script = read(
      "# a comment\n"
      "keys j Ctrl-D  Enter\r\n"
      "\n"
      "type /b é\n"
      "  :set BM=64 \n"
      "resize 100x30\n"
      "mouse click 5 10\n"
      "mouse wheel-down 0 79 \n"
      "mouse press 1 2 3\n"
      "paste 0 16 32\n"
      "wait worker\n"
      "wait 1.5s\n"
      "expect 2 wavefronts\n"
      "absent error");
  ck_assert_msg(script != NULL, "%s", diags_text(arena, &diags));
  static const Event wanted[] = {
      {.kind = EVENT_KEY, .key = 'j', .line = 2},
      {.kind = EVENT_KEY, .key = KEY_CTRL | 'd', .line = 2},
      {.kind = EVENT_KEY, .key = KEY_CODE_ENTER, .line = 2},
      {.kind = EVENT_KEY, .key = '/', .line = 4},
      {.kind = EVENT_KEY, .key = 'b', .line = 4},
      {.kind = EVENT_KEY, .key = ' ', .line = 4},
      {.kind = EVENT_KEY, .key = 0xE9, .line = 4},
      {.kind = EVENT_COMMAND, .text = "set BM=64", .line = 5},
      {.kind = EVENT_RESIZE, .rows = 30, .cols = 100, .line = 6},
      {.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .button = 1, .row = 5, .col = 10, .line = 7},
      {.kind = EVENT_MOUSE, .mouse = MOUSE_RELEASE, .button = 1, .row = 5, .col = 10, .line = 7},
      {.kind = EVENT_MOUSE, .mouse = MOUSE_WHEEL_DOWN, .button = 1, .col = 79, .line = 8},
      {.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .button = 3, .row = 1, .col = 2, .line = 9},
      {.kind = EVENT_PASTE, .text = "0 16 32", .line = 10},
      {.kind = EVENT_WAIT, .text = "worker", .line = 11},
      {.kind = EVENT_WAIT, .text = "1.5s", .wait_ms = 1500, .line = 12},
      {.kind = EVENT_EXPECT, .text = "2 wavefronts", .line = 13},
      {.kind = EVENT_EXPECT, .text = "error", .absent = true, .line = 14},
  };
  enum { WANTED = sizeof wanted / sizeof wanted[0] };
  ck_assert_int_eq(script_count(script), WANTED);
  Event event;
  for (int i = 0; i < WANTED; i++) {
    ck_assert(script_next(script, &event));
    const Event *want = &wanted[i];
    ck_assert_msg(event.kind == want->kind && event.key == want->key &&
                      event.mouse == want->mouse && event.button == want->button &&
                      event.row == want->row && event.col == want->col &&
                      event.rows == want->rows && event.cols == want->cols &&
                      event.wait_ms == want->wait_ms && event.absent == want->absent &&
                      event.line == want->line,
                  "event %d", i);
    ck_assert_str_eq(event.text ? event.text : "", want->text ? want->text : "");
  }
  ck_assert(!script_next(script, &event));
}
END_TEST

START_TEST(all_wrong_lines_are_told) {
  static const struct {
    const char *line, *says, *nearest;
  } wrong[] = {
      {"kyes j", "demo.keys:1: \"kyes\" is not a step", "keys"},
      {"keys j Entr", "\"Entr\" is not a key", "Enter"},
      {"keys", "keys needs at least one key", NULL},
      {"type", "type needs a text", NULL},
      {":", ": needs a text", NULL},
      {"expect ", "expect needs a text", NULL},
      {"resize 100", "resize needs columns x rows", NULL},
      {"resize 0x30", "such as 80x24", NULL},
      {"resize 100x30x2", "resize needs", NULL},
      {"resize 100x999999999999", "resize needs", NULL},
      {"resize -1x30", "resize needs", NULL},
      {"mouse click 5", "mouse needs", NULL},
      {"mouse hover 5 5", "mouse needs", NULL},
      {"mouse click 5 5 4", "mouse needs", NULL},
      {"mouse click -5 5", "mouse needs", NULL},
      {"mouse", "mouse needs", NULL},
      {"wait", "wait needs one word", NULL},
      {"wait 5", "wait 5: expected a time", NULL},
      {"wait 1e9s", "expected a time", NULL},
      {"wait 5parsecs", "expected a time", NULL},
      {"\033[31m", "is not a step", NULL},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    diags = diags_new(arena);
    ck_assert_msg(read(wrong[i].line) == NULL, "%s", wrong[i].line);
    ck_assert_int_eq(diags.count, 1);
    ck_assert_msg(strstr(diags.first->text, wrong[i].says) != NULL, "%s", diags.first->text);
    ck_assert_ptr_null(strchr(diags.first->text, 033));
    if (wrong[i].nearest) ck_assert_str_eq(diags.first->nearest, wrong[i].nearest);
  }
  diags = diags_new(arena);
  ck_assert_ptr_null(read("keys j\nnonsense\nkeys k\nwait\nexpect x\nresize\n"));
  ck_assert_int_eq(diags.count, 3);
  ck_assert_ptr_nonnull(strstr(diags.last->text, "demo.keys:6:"));
}
END_TEST

START_TEST(an_empty_script_is_a_script) {
  Event event;
  Script *script = read("\n# nothing\n");
  ck_assert_ptr_nonnull(script);
  ck_assert(!script_next(script, &event));
}
END_TEST

Suite *suite_script(void);
Suite *suite_script(void) {
  Suite *suite = suite_create("script");
  TCase *tcase = tcase_create("script");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, each_step_becomes_its_events);
  tcase_add_test(tcase, all_wrong_lines_are_told);
  tcase_add_test(tcase, an_empty_script_is_a_script);
  suite_add_tcase(suite, tcase);
  return suite;
}
