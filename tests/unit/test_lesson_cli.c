// gemmview lesson, teach and join as a user calls them, without a terminal.
#include <check.h>
#include <string.h>

#include "base/json.h"
#include "cli_harness.h"

Suite *suite_lesson_cli(void);

static Arena *arena;

static void setup(void) { arena = arena_new("test lesson cli"); }
static void teardown(void) { arena_free(arena); }

static const struct {
  const char *arguments;
  int status;
  const char *says, *hides;
} calls[] = {
    {"lesson", 0, " 4 banks       7 steps  Banks and broadcast\n", NULL},
    {"lesson --list", 0, "24 beat ", NULL},
    {"lesson banks", 0, "## Lesson 4: Banks and broadcast", "**Answer:**"},
    {"lesson 4 --markdown", 0, "Answer: ____________________", "For the teacher"},
    {"lesson banks --answers", 0, "**Answer:** 4 wavefronts (counted by the bank model)", "____"},
    {"lesson banks --answers", 0, "*For the teacher:*", NULL},
    {"lesson padding", 0, "`gemmview lesson padding --at 2`", "gemmview show"},
    {"lesson padding --answers", 0, "STAGE=11,TRANSPOSE_A=1,PAD_SMEM=2\"`", NULL},
    {"lesson beat --at 5 --answers", 0, "ASYNC_COPY=1,LDMATRIX=1,SWIZZLE=3\"`", NULL},
    {"lesson banks --at 6", 0, "### 6. The worst case", "### 5."},
    {"lesson --markdown --answers", 0, "## Lesson 24: Beat the ladder", NULL},
    {"lesson descriptor --answers", 0, "**Answer:** 8192 B (read from the program)", "____"},
    {"lesson in_flight --answers", 0, "race (found by the interpreter)", "____"},
    {"lesson own_kernel --answers", 0,
     "--arg 32\" --keys \": l a y o u t Space p a d : 1 Enter\"`\n", "show own -k"},
    {"lesson order --answers", 0, "- a) `GROUP_M=1`: 80 MiB, 0.381 GiB from DRAM\n", NULL},
    {"lesson softmax --at 7 --answers", 0, "A_REGS=1,FRAG_ORDER=1: 44 B, 255 registers", NULL},
    {"lesson --facts", 0, "wavefronts         SITE", NULL},
    {"lesson bnaks", 2, "there is no lesson \"bnaks\"; lessons are 1 to 25; nearest: banks", NULL},
    {"lesson 26", 2, "there is no lesson \"26\"", NULL},
    {"lesson banks --at 9", 2, "the lesson banks has steps 1 to 7, not 9; nearest: 7", NULL},
    {"lesson --at 3", 2, "--at needs the name of a lesson", NULL},
    {"lesson banks tiers", 2, "\"tiers\" is one argument too many", NULL},
    {"lesson --markdwon", 2, "nearest: --markdown", NULL},
    {"teach", 2, "teach needs a lesson", NULL},
    {"teach banks", 2, "a class needs a terminal", NULL},
    {"lesson barriers --markdown", 0, "  m) deadlock  n) abandoned copy", NULL},
    {"join", 2, "a class needs a terminal", NULL},
    {"join banks --at 3", 2, "--at", NULL},
    {"teach banks --as ana", 2, "--as", NULL},
};

START_TEST(calls_answer_as_documented) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, calls[_i].arguments);
  const char *text = run.status ? run.err : run.out;
  ck_assert_msg(run.status == calls[_i].status, "%s: %d", calls[_i].arguments, run.status);
  ck_assert_msg(strstr(text, calls[_i].says) != NULL, "%s: %.1000s", calls[_i].arguments, text);
  if (calls[_i].hides) ck_assert_ptr_null(strstr(text, calls[_i].hides));
}
END_TEST

START_TEST(json_has_answers_only_when_asked) {
  if (!cli_has_program()) return;
  for (int answers = 0; answers < 2; answers++) {
    CliRun run = cli_run(arena, answers ? "lesson tiers --json --answers" : "lesson tiers --json");
    const JsonValue *lessons = json_object_get(cli_json(arena, &run), "lessons");
    ck_assert_int_eq(json_count(lessons), 1);
    const JsonValue *steps = json_object_get(json_at(lessons, 0), "steps");
    ck_assert_int_gt(json_count(steps), 1);
    const JsonValue *answer = json_object_get(json_at(steps, 1), "answer");
    ck_assert_int_eq(answer != NULL, answers);
    ck_assert_int_eq(json_object_get(json_at(steps, 1), "answer_state") != NULL, answers);
    ck_assert(!json_is_null(json_object_get(json_at(steps, 1), "hint")));
    double value = 0;
    Diags diags = diags_new(arena);
    if (answer) ck_assert(json_require_double(answer, "value", &value, &diags));
    if (answer) ck_assert(value > 65535.5 && value < 65536.5);
  }
}
END_TEST

// A folder's lesson stands in for, or beside, those of the program; a wrong one is told by its
// line.
START_TEST(a_lesson_of_ones_own) {
  if (!cli_has_program()) return;
  CliRun run =
      cli_shell(arena,
                "(d=$(mktemp -d) && mkdir $d/lessons && "
                "printf '{\"name\":\"own\",\"title\":\"T\",\"about\":\"a\",\"steps\":[\\n"
                "{\"title\":\"s\",\"text\":[\"has {blocks} blocks\"],\"state\":\"BM=8\"}]}'"
                " > $d/lessons/99_own.json && "
                "GEMMVIEW_DATA=$d $GEMMVIEW lesson own; rm -r $d)");
  ck_assert_msg(strstr(run.out, "has 131072 blocks") != NULL, "%s%s", run.out, run.err);
  run = cli_shell(arena,
                  "(d=$(mktemp -d) && mkdir $d/lessons && "
                  "printf '{\"name\":\"own\",\"title\":\"T\",\"about\":\"a\",\"steps\":[\\n"
                  "{\"title\":\"s\",\"text\":[\"has {blocs} blocks\"],\"state\":\"BM=8\"}]}'"
                  " > $d/lessons/99_own.json && "
                  "GEMMVIEW_DATA=$d $GEMMVIEW lesson own; s=$?; rm -r $d; exit $s)");
  ck_assert_int_eq(run.status, 2);
  ck_assert_msg(strstr(run.err,
                       "lessons/99_own.json:2:21: steps[0].text: {blocs}: there is no fact "
                       "\"blocs\"; nearest: blocks") != NULL,
                "%s", run.err);
  run = cli_shell(arena,
                  "(d=$(mktemp -d) && mkdir $d/lessons && "
                  "printf '{\"name\":\"Tiers\",\"title\":\"T\",\"about\":\"a\",\"steps\":[\n"
                  "{\"title\":\"s\",\"text\":[\"t\"],\"state\":\"BM=8\"}]}'"
                  " > $d/lessons/99_own.json && "
                  "GEMMVIEW_DATA=$d $GEMMVIEW lesson tiers; s=$?; rm -r $d; exit $s)");
  ck_assert_int_eq(run.status, 2);
  ck_assert_msg(strstr(run.err, "99_own.json: another lesson is named \"Tiers\"") != NULL, "%s",
                run.err);
}
END_TEST

Suite *suite_lesson_cli(void) {
  Suite *suite = suite_create("lesson_cli");
  TCase *tcase = tcase_create("lesson_cli");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, calls_answer_as_documented, 0, sizeof calls / sizeof *calls);
  tcase_add_test(tcase, json_has_answers_only_when_asked);
  tcase_add_test(tcase, a_lesson_of_ones_own);
  suite_add_tcase(suite, tcase);
  return suite;
}
