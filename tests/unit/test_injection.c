// Escape injection: hostile texts through every door by which a text comes in. Nothing that a
// terminal could act on comes out, on the screen or in what is said.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banks/layouts/layout.h"
#include "base/json.h"
#include "base/str.h"
#include "kernels/device/history/history.h"
#include "kernels/device/history/recorded.h"
#include "model/lessons/lesson.h"
#include "model/schedules/decode.h"
#include "model/words/fragment.h"
#include "model/words/ladder.h"
#include "model/words/target.h"
#include "stress.h"
#include "tui/canvas/export.h"
#include "tui/frame/class_socket.h"
#include "tui/frame/config.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette.h"
#include "tui/frame/script.h"
#include "tui/frame/view.h"
#include "tui/views/program/source.h"
#include "unclean.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
}

static void teardown(void) {
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

// ---- what nobody should print -------------------------------------------------------------------

static const char *const sequences[] = {
    "\033[2J",
    "\033[31m",
    "\033[?1049h",
    "\033]52;c;AAAA\007",
    "\033]0;title\033\\",
    "\033P$q\033\\",
    "\033c",
    "\033(0",
    "\033[6n",
    "\033[?25l",
    "\033[200~",
    "\033_x\033\\",
    "\033[1;1H",
    "\033#8",
    "\033[4h",
    "\033[?1002h",
    "\302\233"
    "2J",
    "\302\235"
    "0;x\007",
    "\302\220q",
    "\r\n\r\n",
    "\016",
    "\010\010\010",
    "\177\177",
    "\342\200\256",
};
enum { SEQUENCES = sizeof sequences / sizeof *sequences, CONTROLS = 65 };

// Payload i: a control character of C0, DEL or C1, or one of the sequences.
static const char *payload(int i) {
  if (i >= CONTROLS) return arena_printf(arena, "a%sz", sequences[i - CONTROLS]);
  if (i < 31) return arena_printf(arena, "a%c[31mz", 1 + i);
  if (i == 31) return "a\177z";
  return arena_printf(arena, "a\302%cz", 0x80 + (i - 32) % 32);
}

static Session *session;
static Canvas *canvas;

static const char *screen(const char *view) {
  if (view) view_show(session, view_find(view));
  drive_frame(session, canvas);
  return export_text(arena, canvas);
}

static const char *findings(void) { return diags_text(arena, &diags); }

static const char *by_message(const char *p) {
  session_say(session, SAID_ERROR, "%s", p);
  return screen("explore");
}
static const char *by_palette(const char *p) {
  palette_open(session, PROMPT_COMMAND);
  view_paste(session, p);
  const char *text = screen("explore");
  view_key(session, KEY_CODE_ENTER);
  return arena_printf(arena, "%s%s", text, screen(NULL));
}
static const char *by_search(const char *p) {
  palette_open(session, PROMPT_SEARCH);
  view_paste(session, p);
  view_key(session, KEY_CODE_ENTER);
  return screen("source");
}
static const char *by_worker_line(const char *p) {
  session->background.worker.present = true;
  snprintf(session->background.worker.line, sizeof session->background.worker.line, "%s", p);
  view_show(session, view_find("source"));
  source_chosen(session)->mode = SOURCE_PTX;
  return screen(NULL);
}
static const char *by_compile(const char *p) {
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  results_add_compile(compiled, &(CompileResult){.ok = true,
                                                 .ptx_ms = 1,
                                                 .cubin_ms = -1,
                                                 .compiler = p,
                                                 .ptx = arena_printf(arena, "mov %s;\n", p)});
  view_show(session, view_find("source"));
  source_chosen(session)->mode = SOURCE_PTX;
  return screen(NULL);
}
static const char *by_compile_error(const char *p) {
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  results_add_compile(compiled, &(CompileResult){.error = p, .ptx_ms = -1, .cubin_ms = -1});
  view_show(session, view_find("source"));
  source_chosen(session)->mode = SOURCE_PTX;
  return screen(NULL);
}
static const char *by_bench(const char *p) {
  BenchEntry entry = {.ok = true, .time = {.median_ns = 3e6}, .tflops = 45.8, .ratio = 0.9};
  BenchResult bench = {.gpu = p, .driver = p, .reference = {.tflops = 51, .name = p}};
  results_add_bench(&session->background.results, &session->doc.now.schedule, &entry, &bench);
  return arena_printf(arena, "%s%s", screen("explore"), screen("measure"));
}
static const char *by_bench_error(const char *p) {
  BenchEntry entry = {.ok = false, .error = p};
  BenchResult bench = {.gpu = p};
  results_add_bench(&session->background.results, &session->doc.now.schedule, &entry, &bench);
  return arena_printf(arena, "%s%s", screen("explore"), screen("measure"));
}
static const char *by_own_paste(const char *p) {
  screen("banks");
  view_paste(session, p);
  view_paste(session, arena_printf(arena, "0:128 _%s", p));
  const char *text = screen(NULL);
  view_paste(session, arena_printf(arena, "{%s: 0:128}", p));
  return arena_printf(arena, "%s%s", text, screen(NULL));
}
static const char *by_swizzle_field(const char *p) {
  screen("swizzle");
  drive_keys(session, canvas, "e", &diags);
  view_paste(session, p);
  return screen(NULL);
}
static const char *by_state(const char *p) {
  Schedule schedule = schedule_plain();
  schedule_parse(&schedule, arena_printf(arena, "BM=%s,%s=1,LAYOUT_A=%s", p, p, p), &diags);
  return findings();
}
static const char *by_target(const char *p) {
  session_set_text(session, arena_printf(arena, "TARGET=%s", p), &diags);
  return arena_printf(arena, "%s%s", findings(), screen("explore"));
}
static const char *by_rung(const char *p) {
  ladder_find_rung(session->doc.ladder, p, &diags);
  session_go_ladder(session, p, &diags);
  return findings();
}
static const char *by_view_name(const char *p) {
  palette_run(session, arena_printf(arena, "view %s", p), &diags);
  palette_run(session, p, &diags);
  return findings();
}
static const char *by_theme(const char *p) {
  theme_find(arena, p, &diags);
  theme_read(arena, p, strlen(p), p, &diags);
  return findings();
}
static const char *by_config(const char *p) {
  Config config = config_default();
  Str text = str_new(arena);
  JsonWriter w = json_writer(&text);
  str_add(&text, "{\"theme\":");
  json_put_string(&w, p);
  str_add(&text, ",\"keys\":{\"explore\":{\"x\":");
  w = json_writer(&text);
  json_put_string(&w, p);
  str_add(&text, "}}}");
  config_read(arena, text.text, text.length, "config.json", &config, &diags);
  config_set(arena, &config, p, &diags);
  return findings();
}
static const char *by_key_name(const char *p) {
  key_parse(p, &diags);
  return findings();
}
static const char *by_script(const char *p) {
  script_read(arena, arena_printf(arena, "keys %s\n%s\nexpect %s\n", p, p, p), "x.keys", &diags);
  return findings();
}
static const char *by_layout(const char *p) {
  layout_parse(arena, &(LayoutSlab){8, 128, 4}, arena_printf(arena, "xor:'col ^ %s'", p), &diags);
  layout_parse(arena, &(LayoutSlab){8, 128, 4}, p, &diags);
  return findings();
}
static const char *by_atom(const char *p) {
  Atom atom;
  atom_parse(p, &atom, &diags);
  return findings();
}
static const char *by_kernel_name(const char *p) {
  DecodedKernel kernel;
  decode_kernel(arena, p, &kernel, &diags);
  palette_run(session, arena_printf(arena, "decode %s", p), &diags);
  return arena_printf(arena, "%s%s", findings(), screen("explore"));
}
static const char *by_json(const char *p) {
  json_parse(arena, p, strlen(p), &diags, "file");
  Str text = str_new(arena);
  JsonWriter w = json_writer(&text);
  json_put_string(&w, p);
  const JsonValue *value = json_parse(arena, text.text, text.length, &diags, "file");
  int n;
  json_read_int(value, 0, 1, &n, &diags);
  return findings();
}
static const char *by_ladder_file(const char *p) {
  Str text = str_new(arena);
  JsonWriter w = json_writer(&text);
  json_begin_object(&w);
  json_member_string(&w, p, p);
  json_member_string(&w, "name", p);
  json_end_object(&w);
  ladder_read(arena, text.text, text.length, "ladder.json", &diags);
  return findings();
}
static const char *by_format(const char *p) {
  ExportFormat format;
  ColorDepth depth;
  export_format(p, &format, &diags);
  color_depth(&(ColorSettings){.option = p}, &depth, &diags);
  return findings();
}
static const char *by_saved_picture(const char *p) {
  session_say(session, SAID_NOTE, "%s", p);
  screen("explore");
  const Theme *theme = theme_find(arena, "default", &diags);
  return export_svg(arena, canvas, theme, DEPTH_TRUE, p);
}

static const char *by_sass(const char *p) {
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  const char *listing = arena_printf(
      arena, ".text.%s:\n//## File \"%s\", line 3\n        /*0000*/   LDS.128 R4, [%s] ;\n", p, p,
      p);
  results_add_sass(compiled, sass_parse(arena, listing));
  view_show(session, view_find("source"));
  source_chosen(session)->mode = SOURCE_SASS;
  return screen(NULL);
}
static const char *by_recorded_file(const char *p) {
  RecordedRow row = {.state = "BM=16", .rung = p, .cublas_row = p, .verified = true};
  Recorded recorded = {.gpu = p, .driver = p, .date = p, .method = p, .n_rows = 1, .rows = &row};
  const char *text = form_document(arena, &recorded_form, &recorded, NULL);
  results_load(&session->background.results, text, strlen(text), p, &diags);
  return arena_printf(arena, "%s%s", findings(), screen("measure"));
}
static const char *by_targets_file(const char *p) {
  Str text = str_new(arena);
  JsonWriter w = json_writer(&text);
  json_begin_object(&w);
  json_member_string(&w, p, p);
  json_end_object(&w);
  TargetTable table;
  targets_parse(arena, text.text, text.length, &diags, &table);
  return findings();
}
static const char *by_lesson_file(const char *p) {
  Str text = str_new(arena);
  JsonWriter w = json_writer(&text);
  json_begin_object(&w);
  json_member_string(&w, "name", p);
  json_member_string(&w, p, p);
  json_end_object(&w);
  lesson_read(arena, text.text, text.length, p, &(LessonWorld){0}, &diags);
  return findings();
}
static const char *by_room(const char *p) {
  bool shared;
  class_socket_path(arena, arena_printf(arena, "%s/", p), &shared, &diags);
  return findings();
}

// A row of the history, which whoever shares it may have written.
static HistoryRow row_with(const char *p) {
  return (HistoryRow){.user = p,
                      .host = p,
                      .gpu = p,
                      .gpu_uuid = p,
                      .driver = p,
                      .state = p,
                      .text_hash = p,
                      .problem = p,
                      .time_ns = 3e6,
                      .cublas_time_ns = 2e6,
                      .tflops = 45.8,
                      .status = p,
                      .method = p};
}
static const char *by_past(const char *p) {
  HistoryRow rows[] = {row_with(p), row_with(p)};
  rows[1].time_ns = 0;
  results_set_past(&session->background.results, rows, 2);
  screen("measure");
  view_choose_nothing(session);  // whichever picture stood there before
  drive_keys(session, canvas, "Right Right Right Enter", &diags);
  return screen(NULL);
}
static const char *by_shared(const char *p) {
  HistoryRow row = row_with(p);
  results_add_shared(&session->background.results, &session->doc.now.schedule, &row);
  return arena_printf(arena, "%s%s", screen("explore"), screen("measure"));
}
static const char *by_history_file(const char *p) {
  char path[] = "/tmp/gemmview-injected-XXXXXX";
  close(mkstemp(path));
  HistoryRow row = row_with(p), read = {0};
  History *history = history_open(arena, path, &diags);
  ck_assert(history_add(history, &row, &diags));
  ck_assert_int_eq(history_recent(history, arena, &read, 1), 1);
  history_close(history);
  unlink(path);
  return arena_printf(arena, "%s%s%s%s%s%s%s%s%s%s", read.user, read.host, read.gpu, read.gpu_uuid,
                      read.driver, read.state, read.problem, read.status, read.method,
                      history_age(arena, &read, read.when_unix + 100));
}

typedef const char *Door(const char *payload);
static Door *const doors[] = {
    by_message,       by_palette,       by_search,       by_worker_line,   by_compile,
    by_compile_error, by_bench,         by_bench_error,  by_swizzle_field, by_own_paste,
    by_state,         by_target,        by_rung,         by_view_name,     by_theme,
    by_config,        by_key_name,      by_script,       by_layout,        by_atom,
    by_kernel_name,   by_json,          by_ladder_file,  by_format,        by_saved_picture,
    by_sass,          by_recorded_file, by_targets_file, by_lesson_file,   by_room,
    by_past,          by_shared,        by_history_file,
};
enum { DOORS = sizeof doors / sizeof *doors, PAYLOADS = CONTROLS + SEQUENCES };

static void open_session(void) {
  arena_reset(arena);
  diags = diags_new(arena);
  session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_ptr_nonnull(session);
  canvas = canvas_new(arena, 24, 80, false);
  drive_frame(session, canvas);
}

// What is sent through a door is seen behind it; else the tests would prove nothing.
static void check_door_leads_somewhere(int door) {
  const char *shown = doors[door]("zebra");
  ck_assert_msg(strstr(shown, "zebra") != NULL, "door %d: %s", door, shown);
}

START_TEST(every_door_leads_somewhere) {
  open_session();
  check_door_leads_somewhere(_i);
  explorer_close(session);
}
END_TEST

// 33 doors × 89 payloads here, and as many messages of a worker in the suite `client`. A session
// takes all payloads of a door, one after another, and the door is still open at the end.
START_TEST(nothing_acts_on_the_terminal) {
  int step = stress_is_on() ? 1 : 4;
  open_session();
  for (int i = _i % step; i < PAYLOADS; i += step) {
    const char *shown = doors[_i](payload(i));
    const char *bad = unclean(shown);
    ck_assert_msg(!bad, "door %d, payload %d: %.80s", _i, i, bad ? str_sanitise(arena, bad) : "");
  }
  check_door_leads_somewhere(_i);
  explorer_close(session);
  ck_assert_int_ge(DOORS * PAYLOADS, 2800);
}
END_TEST

Suite *suite_injection(void);
Suite *suite_injection(void) {
  Suite *suite = suite_create("injection");
  TCase *tcase = tcase_create("injection");
  tcase_set_timeout(tcase, 600);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, every_door_leads_somewhere, 0, DOORS);
  tcase_add_loop_test(tcase, nothing_acts_on_the_terminal, 0, DOORS);
  suite_add_tcase(suite, tcase);
  return suite;
}
