// The configuration: what is read, what is refused and where, and what becomes of the file.
#include "tui/frame/config.h"
#include "tui/frame/explorer.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cli_harness.h"
#include "tui/app.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/view.h"
#include "vterm_harness.h"

static Arena *arena;
static Diags diags;
static Config config;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
  config = config_default();
}

static void teardown(void) { arena_free(arena); }

static bool read_text(const char *text) {
  return config_read(arena, text, strlen(text), "config.json", &config, &diags);
}

// An empty folder of its own, and XDG_CONFIG_HOME in it.
static const char *own_folder(void) {
  const char *tmp = getenv("TMPDIR");
  char *folder = arena_printf(arena, "%s/gemmview-config-XXXXXX", tmp ? tmp : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("XDG_CONFIG_HOME", folder, 1);
  return folder;
}

static void remove_folder(const char *folder) {
  unlink(arena_printf(arena, "%s/gemmview/config.json", folder));
  rmdir(arena_printf(arena, "%s/gemmview", folder));
  ck_assert_msg(rmdir(folder) == 0, "something is left in %s", folder);
  unsetenv("XDG_CONFIG_HOME");
}

START_TEST(says_what_it_says) {
  ck_assert_msg(read_text("{\"theme\":\"light\",\"color\":\"16\",\"ascii\":true,\"mouse\":false,"
                          "\"worker\":[\"ssh box gemmview worker\"],"
                          "\"keys\":{\"global\":{\"^u\":\"\",\"F2\":\"view banks\"},"
                          "\"explore\":{\"x\":\"fix\"}}}"),
                "%s", diags_text(arena, &diags));
  ck_assert_str_eq(config.theme, "light");
  ck_assert_str_eq(config.color, "16");
  ck_assert(config.ascii && !config.mouse);
  ck_assert_int_eq(config.worker.n, 1);
  ck_assert_int_eq(config.n_bindings, 3);
  ck_assert_str_eq(config.binding[0].key, "Ctrl-U");
  // What is written says the same.
  Config again = config_default();
  const char *text = config_text(arena, &config, false);
  ck_assert(config_read(arena, text, strlen(text), "again", &again, &diags));
  ck_assert_str_eq(config_text(arena, &again, false), text);
}
END_TEST

static const struct {
  const char *text, *says, *nearest;
} wrong[] = {
    {"{\"theem\":\"light\"}", "config.json:1:10: theem: unknown key", "theme"},
    {"{\"theme\":\"ligth\"}", "config.json:1:10: theme: \"ligth\" is not a theme", "light"},
    {"{\n\n \"color\":\"mauve\"}", "config.json:3:10: color: --color=mauve: choose", NULL},
    {"{\"ascii\":1}", "config.json:1:10: ascii: 1 is not", NULL},
    {"{\"worker\":\"ssh\"}", "worker: expected a list of at most 16", NULL},
    {"{\"worker\":[1]}", "worker[0]: 1 is not", NULL},
    {"{\"keys\":3}", "keys: expected an object of views", NULL},
    {"{\"keys\":{\"bnaks\":{}}}", "there is no view \"bnaks\"", "banks"},
    {"{\"keys\":{\"banks\":[]}}", "keys.banks: expected an object of keys", NULL},
    {"{\"keys\":{\"explore\":\n{\"x\":\"fixx\"}}}", "config.json:2:6: keys.explore.x: no action",
     "fix"},
    {"{\"keys\":{\"explore\":{\"Entr\":\"fix\"}}}", "\"Entr\" is not a key", "Enter"},
    {"{\"keys\":{\"banks\":{\"x\":\"take-advice\"}}}", "no action \"take-advice\" exists in banks",
     NULL},
    {"{\"keys\":{\"global\":{\"x\":\"view bnaks\"}}}", "no action", "view banks"},
    {"{\"theme\":\"light\",\"theme\":\"mono\"}", "given twice", NULL},
    {"{\"theme\":\"light\"} x", "config.json:1:19", NULL},
    {"[]", "expected an object: the configuration", NULL},
    {"{\"theme\":\"\\u001b[31m\"}", "is not a theme", NULL},
    {"", "config.json:1:1", NULL},
};

START_TEST(refuses_with_line_and_nearest) {
  ck_assert(!read_text(wrong[_i].text));
  ck_assert_msg(strstr(diags.first->text, wrong[_i].says) != NULL, "%s", diags.first->text);
  ck_assert_ptr_null(strchr(diags.first->text, 033));
  if (wrong[_i].nearest) ck_assert_str_eq(diags.first->nearest, wrong[_i].nearest);
  ck_assert_int_eq(config.n_bindings, 0);
}
END_TEST

START_TEST(what_is_right_counts_beside_what_is_wrong) {
  ck_assert(
      !read_text("{\"theme\":\"light\",\"keys\":{\"explore\":{\"x\":\"fixx\",\"z\":\"undo\"}}}"));
  ck_assert_int_eq(diags.count, 1);
  ck_assert_str_eq(config.theme, "light");
  ck_assert_int_eq(config.n_bindings, 1);
}
END_TEST

// The printed defaults bind every key to what it is bound to without them.
START_TEST(the_defaults_change_nothing) {
  const char *text = config_text(arena, &config, true);
  ck_assert_msg(read_text(text), "%s", diags_text(arena, &diags));
  ck_assert_int_gt(config.n_bindings, 60);
  Keymap *plain = keymap_new(arena), *bound = keymap_new(arena);
  view_bind_keys(plain);
  view_bind_keys(bound);
  config_bind(&config, bound, &diags);
  ck_assert_int_eq(diags.count, 0);
  for (int view = 0; view < view_count; view++) {
    const char *name = view_table[view].name;
    for (Key key = 1; key < KEY_LIMIT; key = key == 0x7F ? KEY_FIRST : key + 1) {
      const char *a = keymap_action(plain, name, key), *b = keymap_action(bound, name, key);
      ck_assert_msg(str_equal(a ? a : "", b ? b : ""), "%s: %s, %s", name, a, b);
    }
    for (int i = 0; i < global_action_count; i++)
      ck_assert_uint_eq(keymap_key(plain, name, global_actions[i].name),
                        keymap_key(bound, name, global_actions[i].name));
  }
}
END_TEST

// A key that was moved is the one that footer, tabs and sentences name, and the one that works.
START_TEST(moved_keys_are_the_ones_named) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  ck_assert(read_text(
      "{\"keys\":{\"global\":{\"u\":\"\",\"F5\":\"undo\",\"3\":\"\",\"B\":\"view banks\"}}}"));
  Session *session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_ptr_nonnull(session);
  config_bind(&config, session->keymap, &diags);
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  drive_frame(session, canvas);
  const char *text = export_text(arena, canvas);
  ck_assert_ptr_nonnull(strstr(text, "F5 undo"));
  ck_assert_ptr_nonnull(strstr(text, "B bank"));
  ck_assert(drive_keys(session, canvas, "Right u", &diags));
  ck_assert_int_eq(session_edits(session), 1);
  ck_assert(drive_keys(session, canvas, "F5 B", &diags));
  ck_assert_int_eq(session_edits(session), 0);
  ck_assert_int_eq(session->at.view, view_find("banks"));
  explorer_close(session);
  unsetenv("GEMMVIEW_DATA");
}
END_TEST

START_TEST(there_is_always_a_key_that_quits) {
  ck_assert(read_text("{\"keys\":{\"global\":{\"q\":\"\"},\"explore\":{\"q\":\"undo\"}}}"));
  Keymap *keymap = keymap_new(arena);
  view_bind_keys(keymap);
  config_bind(&config, keymap, &diags);
  ck_assert_int_eq(diags.count, 1);
  for (int i = 0; i < view_count; i++)
    ck_assert_str_eq(keymap_action(keymap, view_table[i].name, 'q'), "quit");
}
END_TEST

START_TEST(settings_are_set_one_by_one) {
  static const char *const good[] = {"theme=mono",         "ascii=true",
                                     "keys.explore.x=fix", "keys.global..=undo",
                                     "keys.global.==redo", "worker=[\"a\",\"b\"]"};
  static const char *const bad[] = {"theme",      "=x",
                                    "theem=mono", "keys.explore=fix",
                                    "ascii=yes",  "keys.explore.x=nothing",
                                    "worker=[",   "keys=true"};
  for (int i = 0; i < 6; i++)
    ck_assert_msg(config_set(arena, &config, good[i], &diags), "%s: %s", good[i],
                  diags_text(arena, &diags));
  ck_assert_int_eq(config.n_bindings, 3);
  ck_assert_str_eq(config.binding[1].key, ".");
  ck_assert_str_eq(config.binding[2].key, "=");
  for (int i = 0; i < 8; i++)
    ck_assert_msg(!config_set(arena, &config, bad[i], &diags), "%s", bad[i]);
}
END_TEST

START_TEST(the_file_is_replaced_whole_or_not_at_all) {
  const char *folder = own_folder(), *path = config_path(arena);
  ck_assert(config_load(arena, path, &config, &diags));
  ck_assert_int_ne(access(path, F_OK), 0);
  config.ascii = true;
  ck_assert(config_save(arena, path, &config, &diags));
  Config again;
  ck_assert(config_load(arena, path, &again, &diags));
  ck_assert(again.ascii);
  // A folder that nothing can be made in: the old file stays, and nothing beside it.
  const char *blocked = arena_printf(arena, "%s/config.json/config.json", path);
  ck_assert(!config_save(arena, blocked, &config, &diags));
  ck_assert_int_eq(diags.count, 1);
  ck_assert(config_load(arena, path, &again, &diags));
  remove_folder(folder);
}
END_TEST

START_TEST(a_bad_file_is_told) {
  const char *folder = own_folder();
  ck_assert(!config_load(arena, folder, &config, &diags));  // a folder is no file
  ck_assert_ptr_nonnull(strstr(diags.first->text, folder));
  const char *path = arena_printf(arena, "%s/long", folder);
  FILE *file = fopen(path, "wb");
  for (int i = 0; i <= CONFIG_BYTES_MAX; i++) fputc(' ', file);
  fclose(file);
  diags = diags_new(arena);
  ck_assert(!config_load(arena, path, &config, &diags));
  ck_assert_ptr_nonnull(strstr(diags.first->text, "longer than"));
  unlink(path);
  remove_folder(folder);
}
END_TEST

START_TEST(the_command_writes_only_when_asked) {
  if (!cli_has_program()) return;
  const char *folder = own_folder(), *path = config_path(arena);
  static const char *const readers[] = {"config",       "config path",   "config defaults",
                                        "config check", "config --json", "config defaults --json"};
  for (int i = 0; i < 6; i++) {
    CliRun run = cli_run(arena, readers[i]);
    ck_assert_msg(run.status == 0, "%s: %s", readers[i], run.err);
    ck_assert_int_ne(access(path, F_OK), 0);
  }
  CliRun run = cli_run(arena, "config set theme=mono keys.explore.x=fix");
  ck_assert_msg(run.status == 0, "%s", run.err);
  run = cli_run(arena, "config --json");
  const JsonValue *root = cli_json(arena, &run);
  ck_assert_ptr_nonnull(json_object_get(json_object_get(root, "config"), "theme"));
  run = cli_run(arena, "config set theme=mnoo");
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "nearest: mono"));
  FILE *file = fopen(path, "wb");
  fputs("{\"keys\": {\"explore\":\n  {\"x\": \"fixx\"}}}", file);
  fclose(file);
  run = cli_run(arena, "config check");
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "config.json:2:9: keys.explore.x"));
  ck_assert_int_eq(cli_run(arena, "config set theme=mono").status, 2);  // nothing is lost by it
  ck_assert_int_eq(cli_run(arena, "config chekc").status, 2);
  ck_assert_int_eq(cli_run(arena, "config path 1").status, 2);
  remove_folder(folder);
}
END_TEST

static int run_explorer(void *argument) { return (int)app_run(argument, &(Diags){.arena = arena}); }

START_TEST(the_explorer_opens_beside_a_wrong_file) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  read_text("{\"keys\":{\"global\":{\"F5\":\"undo\"}}}");
  AppOptions options = {.session = {.rung = "padded"},
                        .config = &config,
                        .notice = "config.json:1:1: theem: unknown key; nearest: theme"};
  VtProgram *p = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, run_explorer, &options);
  vt_expect(p, "unknown key; nearest: theme");
  vt_expect(p, "F5 undo");
  vt_keys(p, "Right");
  vt_expect(p, "+1 edit");
  vt_keys(p, "F5");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_expect(p, "gemmview -k 'AUTO=0,BM=16,");
  vt_finish(p);
  unsetenv("GEMMVIEW_DATA");
}
END_TEST

Suite *suite_config(void);
Suite *suite_config(void) {
  Suite *suite = suite_create("config");
  TCase *tcase = tcase_create("config");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, says_what_it_says);
  tcase_add_loop_test(tcase, refuses_with_line_and_nearest, 0, sizeof wrong / sizeof *wrong);
  tcase_add_test(tcase, what_is_right_counts_beside_what_is_wrong);
  tcase_add_test(tcase, the_defaults_change_nothing);
  tcase_add_test(tcase, moved_keys_are_the_ones_named);
  tcase_add_test(tcase, there_is_always_a_key_that_quits);
  tcase_add_test(tcase, settings_are_set_one_by_one);
  tcase_add_test(tcase, the_file_is_replaced_whole_or_not_at_all);
  tcase_add_test(tcase, a_bad_file_is_told);
  tcase_add_test(tcase, the_command_writes_only_when_asked);
  tcase_add_test(tcase, the_explorer_opens_beside_a_wrong_file);
  suite_add_tcase(suite, tcase);
  return suite;
}
