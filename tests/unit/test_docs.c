// README, docs and words: short, true, linked; names that people type keep their spelling.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "cli_harness.h"
#include "model/interp/breakage.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette_commands.h"
#include "tui/frame/view.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}

static void teardown(void) { arena_free(arena); }

static void runs(const char *command) {
  CliRun run = cli_shell(arena, command);
  ck_assert_msg(run.status == 0, "%s\n%.2000s%.2000s", command, run.out, run.err);
}

START_TEST(the_readme_is_short_and_has_its_commands) {
  runs("test $(wc -l < README.md) -le 130");
  runs("grep -q '^make run ' README.md && grep -q '^make test ' README.md");
  struct stat tour;
  ck_assert_int_eq(stat("screenshots/tour.svg", &tour), 0);
  ck_assert_int_lt(tour.st_size, 400000);
}
END_TEST

// Every file that a document links to is there.
START_TEST(links_lead_somewhere) {
  runs(
      "for doc in README.md docs/[!c]*.md; do"
      "  for to in $(grep -o '](\\([^)#]*\\))' $doc | sed 's/^](//; s/)$//' | grep -v '://\\|…'); "
      "do"
      "    test -e $(dirname $doc)/$to || { echo $doc: $to; exit 1; };"
      "  done; done");
}
END_TEST

// Every command that a document names is one.
START_TEST(commands_of_the_documents_are_there) {
  if (!cli_has_program()) return;
  runs(
      "for name in $(cat README.md docs/[!c]*.md | grep -o '`gemmview [a-z][a-z-]*' | "
      "cut -d' ' -f2 | sort -u); do $GEMMVIEW help $name > /dev/null || { echo $name; exit 1; }; "
      "done");
  runs("tools/docs.sh $GEMMVIEW docs check");
}
END_TEST

START_TEST(strings_are_plain) {
  runs("command -v python3 > /dev/null || exit 0; tools/words.py > /dev/null");
}
END_TEST

// A comment names its subject: it begins with no bare Of, What, Who, That, Nor or Nobody.
START_TEST(comments_begin_with_their_subject) {
  runs("! grep -rnE '^\\s*(//|/?\\*)\\s*(Of|What|Who|That|Nor|Nobody)\\b' src");
}
END_TEST

// tests/data/names_typed.txt: options of each command, keys of all JSON, exit codes; none goes
// away.
START_TEST(options_keys_and_codes_keep_their_spelling) {
  if (!cli_has_program()) return;
  const char *typed = "tests/data/names_typed.txt";
  if (getenv("GEMMVIEW_ACCEPT")) runs(arena_printf(arena, "tools/names.sh $GEMMVIEW > %s", typed));
  runs(arena_printf(arena, "test $(wc -l < %s) -gt 1000", typed));
  runs(arena_printf(arena,
                    "tools/names.sh $GEMMVIEW > build/names_now.txt && "
                    "! LC_ALL=C comm -23 %s build/names_now.txt | grep .",
                    typed));
}
END_TEST

// tests/data/names.txt: names that people have typed or stored, one a line. A new name is a new
// line; none goes away.
START_TEST(names_keep_their_spelling) {
  Session *session = explorer_open(&(SessionOptions){0}, &diags);
  Str all = str_new(arena);
  str_add(&all, "\n");
  for (int i = 0; i < KNOB_COUNT; i++) str_printf(&all, "knob %s\n", knob_table[i].name);
  for (int i = 0; i < session->doc.n_ladders; i++)
    for (int k = 0; k < session->doc.ladders[i]->n_rungs; k++)
      str_printf(&all, "rung %s/%s\n", session->doc.ladders[i]->name,
                 session->doc.ladders[i]->rung[k].name);
  for (int i = 0; i < BREAK_COUNT; i++)
    str_printf(&all, "break %s\n", breakage_name((BreakageId)i));
  for (int i = 0; i < palette_command_count; i++)
    str_printf(&all, "prompt %s\n", palette_commands[i].name);
  for (int i = 0; i < view_count; i++) {
    str_printf(&all, "view %s\n", view_table[i].name);
    for (int k = 0; k < view_table[i].body->n_actions; k++)
      str_printf(&all, "action %s %s\n", view_table[i].name, view_table[i].body->actions[k].name);
  }
  for (int i = 0; i < global_action_count; i++)
    str_printf(&all, "action %s\n", global_actions[i].name);
  explorer_close(session);
  if (getenv("GEMMVIEW_ACCEPT")) {
    FILE *out = fopen("tests/data/names.txt", "w");
    fputs(all.text + 1, out);
    fclose(out);
  }
  FILE *file = fopen("tests/data/names.txt", "r");
  ck_assert_ptr_nonnull(file);
  char line[256];
  while (fgets(line, sizeof line, file))
    ck_assert_msg(strstr(all.text, arena_printf(arena, "\n%s", line)) != NULL, "%s is gone", line);
  fclose(file);
}
END_TEST

// ---- help ---------------------------------------------------------------------------------------

static Session *session;
static Canvas *canvas;

static void keys(const char *names) {
  ck_assert_msg(drive_keys(session, canvas, names, &diags), "%s", names);
}

static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

START_TEST(help_closes_filters_and_explains) {
  session = explorer_open(&(SessionOptions){.ladder = "hopper", .rung = "roles"}, &diags);
  canvas = canvas_new(arena, 40, 120, false);
  drive_frame(session, canvas);
  keys("P ?");
  ck_assert_int_eq(session->at.view, view_find("help"));
  ck_assert(shows("letters filter") && !shows("rung  {"));
  keys("F9");  // nothing is answered to a key without a meaning
  ck_assert(!shows("does nothing here"));
  keys("m b a r r i e r");
  ck_assert_msg(shows("A counter in shared memory") && !shows("Four warps"), "%s",
                export_row(arena, canvas, 3));
  keys("?");
  ck_assert_int_eq(session->at.view, view_find("pipeline"));
  keys("? ?");
  ck_assert_int_eq(session->at.view, view_find("pipeline"));
  keys("i q");  // q leaves the list, not the program
  ck_assert(!session->wishes.quit);
  keys("q");
  ck_assert(session->wishes.quit);
  explorer_close(session);
}
END_TEST

Suite *suite_docs(void);
Suite *suite_docs(void) {
  Suite *suite = suite_create("docs");
  TCase *tcase = tcase_create("docs");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, the_readme_is_short_and_has_its_commands);
  tcase_add_test(tcase, links_lead_somewhere);
  tcase_add_test(tcase, commands_of_the_documents_are_there);
  tcase_add_test(tcase, strings_are_plain);
  tcase_add_test(tcase, comments_begin_with_their_subject);
  tcase_add_test(tcase, names_keep_their_spelling);
  tcase_add_test(tcase, options_keys_and_codes_keep_their_spelling);
  tcase_add_test(tcase, help_closes_filters_and_explains);
  suite_add_tcase(suite, tcase);
  return suite;
}
