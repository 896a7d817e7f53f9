// The program as a shell sees it: what it prints where, and its exit status.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/common/cli.h"

Suite *suite_program(void);

static Arena *arena;
static int status;

static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const char *program(void) {
  const char *given = getenv("GEMMVIEW");
  return given ? given : "build/plain/gemmview";
}

// What `command` prints on stdout; its exit status goes to `status`. %s stands for the program.
static const char *run(const char *format, ...) {
  Str line = str_new(arena);
  va_list args;
  va_start(args, format);
  str_vprintf(&line, format, args);
  va_end(args);
  FILE *pipe = popen(line.text, "r");
  ck_assert_ptr_nonnull(pipe);
  Str out = str_new(arena);
  char bytes[4096];
  for (size_t n; (n = fread(bytes, 1, sizeof bytes, pipe)) > 0;) str_add_bytes(&out, bytes, n);
  int ended = pclose(pipe);
  ck_assert_msg(WIFEXITED(ended), "%s", line.text);
  status = WEXITSTATUS(ended);
  return out.text;
}

START_TEST(help_and_version_go_to_stdout) {
  ck_assert_str_eq(run("%s --version 2>&1", program()),
                   arena_printf(arena, "gemmview %s\n", cli_version));
  ck_assert_int_eq(status, 0);
  const char *help = run("%s --help 2>/dev/null", program());
  ck_assert_int_eq(status, 0);
  for (int i = 0; i < cli_command_count; i++)
    ck_assert_msg(strstr(help, cli_commands[i].name) != NULL, "%s", cli_commands[i].name);
}
END_TEST

START_TEST(every_command_explains_itself) {
  for (int i = 0; i < cli_command_count; i++) {
    const char *name = cli_commands[i].name;
    const char *text = run("%s %s --help 2>/dev/null </dev/null", program(), name);
    ck_assert_int_eq(status, 0);
    ck_assert_ptr_nonnull(strstr(text, arena_printf(arena, "usage: gemmview %s", name)));
    ck_assert_ptr_nonnull(strstr(text, cli_commands[i].help));
  }
}
END_TEST

START_TEST(an_unknown_command_or_option_is_2_and_silent_on_stdout) {
  ck_assert_str_eq(run("%s tragets 2>/dev/null", program()), "");
  ck_assert_int_eq(status, 2);
  ck_assert_ptr_nonnull(strstr(run("%s tragets 2>&1", program()), "nearest: targets"));
  for (int i = 0; i < cli_command_count; i++) {
    ck_assert_str_eq(
        run("%s %s --no-such-option 2>/dev/null </dev/null", program(), cli_commands[i].name), "");
    ck_assert_msg(status == 2, "%s --no-such-option: exit %d", cli_commands[i].name, status);
  }
}
END_TEST

START_TEST(a_full_disk_is_told) {
  run("%s targets >/dev/full 2>/dev/null", program());
  ck_assert_int_ne(status, 0);
}
END_TEST

START_TEST(json_documents_are_one_legal_object) {
  static const char *const commands[] = {"targets --json", "targets h100 --json", "knobs --json",
                                         "knobs BM --json", "doctor --json"};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    const char *text = run("%s %s", program(), commands[i]);
    Diags diags = diags_new(arena);
    const JsonValue *v = json_parse(arena, text, strlen(text), &diags, commands[i]);
    ck_assert_msg(v != NULL, "%s", diags_text(arena, &diags));
    const char *schema = "";
    ck_assert(json_require_string(v, "schema", &schema, &diags));
    ck_assert_str_eq(schema, "gemmview/1");
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
  }
}
END_TEST

START_TEST(csv_rows_have_the_columns_of_the_head) {
  const char *text = run("%s targets --csv", program());
  int head = 0, n = 0, lines = 0;
  for (const char *at = text; *at; at++) {
    n += *at == ',';
    if (*at != '\n') continue;
    if (lines++ == 0) head = n;
    ck_assert_int_eq(n, head);
    n = 0;
  }
  ck_assert_int_ge(lines, 11);
}
END_TEST

START_TEST(completions_are_legal_and_name_every_command) {
  static const char *const shells[] = {"bash", "zsh", "fish", "man"};
  for (int s = 0; s < 4; s++) {
    const char *text = run("%s completion %s", program(), shells[s]);
    ck_assert_int_eq(status, 0);
    for (int i = 0; i < cli_command_count; i++) {
      // troff wants its dashes escaped: bench\-ui.
      const char *name = cli_commands[i].name;
      int n = (int)strcspn(name, s == 3 ? "-" : "");
      const char *found = strstr(text, arena_printf(arena, "%.*s", n, name));
      ck_assert_msg(found != NULL, "%s %s", shells[s], name);
    }
  }
  run("%s completion bash | bash -n", program());
  ck_assert_int_eq(status, 0);
  run("%s completion tcsh 2>/dev/null", program());
  ck_assert_int_eq(status, 2);
}
END_TEST

START_TEST(bash_completes_the_last_knob_of_a_state) {
  const char *script =
      "compopt() { :; }; COMP_LINE='gemmview cuda -k BM=8,PAD'; COMP_POINT=${#COMP_LINE};"
      "COMP_WORDS=(gemmview cuda -k BM = 8,PAD); COMP_CWORD=5; _gemmview; echo ${COMPREPLY[*]}";
  setenv("SCRIPT", script, 1);
  ck_assert_str_eq(run("bash -c \"$(%s completion bash)\n$SCRIPT\"", program()),
                   "8,PAD_SMEM= 8,PAD_CELLS= 8,PAD_OPERANDS=\n");
  unsetenv("SCRIPT");
}
END_TEST

START_TEST(bash_completes_what_the_tables_hold) {
  static const char *const cases[][2] = {
      {"lesson b", "banks barriers beat"}, {"fragment m16n8k16.f", "m16n8k16.f16"},
      {"banks --op lds1", "lds16 lds128"}, {"show --theme l", "light"},
      {"show --format s", "svg"},          {"sweep --pre", "--predict"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *script = arena_printf(
        arena,
        "compopt() { :; }; COMP_LINE='gemmview %s'; COMP_POINT=${#COMP_LINE};"
        "read -ra COMP_WORDS <<< \"$COMP_LINE\"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1));"
        "_gemmview; echo ${COMPREPLY[*]}",
        cases[i][0]);
    setenv("SCRIPT", script, 1);
    ck_assert_str_eq(run("bash -c \"$(%s completion bash)\n$SCRIPT\"", program()),
                     arena_printf(arena, "%s\n", cases[i][1]));
  }
  unsetenv("SCRIPT");
}
END_TEST

START_TEST(the_data_folder_is_read_and_a_bad_file_is_told) {
  run("mkdir -p build/test-data && echo '{\"gpus\": 01}' > build/test-data/gpus.json");
  const char *text = run("GEMMVIEW_DATA=build/test-data %s targets 2>&1", program());
  ck_assert_int_eq(status, 2);
  ck_assert_ptr_nonnull(strstr(text, "gpus.json:1:12: a number may not start with an extra 0"));
  run("rm -r build/test-data");
}
END_TEST

Suite *suite_program(void) {
  Suite *suite = suite_create("program");
  TCase *tests = tcase_create("program");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, help_and_version_go_to_stdout);
  tcase_add_test(tests, every_command_explains_itself);
  tcase_add_test(tests, an_unknown_command_or_option_is_2_and_silent_on_stdout);
  tcase_add_test(tests, a_full_disk_is_told);
  tcase_add_test(tests, json_documents_are_one_legal_object);
  tcase_add_test(tests, csv_rows_have_the_columns_of_the_head);
  tcase_add_test(tests, completions_are_legal_and_name_every_command);
  tcase_add_test(tests, bash_completes_the_last_knob_of_a_state);
  tcase_add_test(tests, bash_completes_what_the_tables_hold);
  tcase_add_test(tests, the_data_folder_is_read_and_a_bad_file_is_told);
  suite_add_tcase(suite, tests);
  return suite;
}
