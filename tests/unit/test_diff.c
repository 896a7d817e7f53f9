// gemmview diff as a user calls it, and a child of the program that prints too much or too long.
#include <check.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cli_harness.h"

Suite *suite_diff(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

#define LAUNCH \
  " --launch grid=8x7,block=32x8 --arg mem:200000:zero --arg mem:200000 --arg 250 --arg 200"
#define K01 "tests/data/open/k01.ptx"
#define CUBIN "tests/data/cubins/sm_90a.cubin"

static const struct {
  const char *arguments;
  int status;
  const char *says;
} CALLS[] = {
    {"diff " K01 " " K01 LAUNCH, 0,
     "  wavefronts                                             1056"},
    {"diff " K01 " " K01 LAUNCH " --json", 0,
     "\"kind\":\"source\",\"target\":\"sm_90a\",\"verdict\":\"same\",\"rows\":[{\"metric\":"
     "\"wavefronts\",\"a\":1056,\"b\":1056,\"verdict\":\"same\""},
    {"diff " K01 " tests/data/open/k03.ptx" LAUNCH, 1, "findings"},
    {"diff " CUBIN " " CUBIN " --kernel dots", 0, "clocks_of_loop_1"},
    {"diff " CUBIN " " CUBIN " --kernel dots --markdown", 0, "| registers | 1"},
    {"diff " CUBIN " " CUBIN, 2, "choose one with --kernel NAME"},
    {"diff " CUBIN " " CUBIN " --kernel none", 2, "no such kernel"},
    {"diff " CUBIN " tests/data/cubins/sm_80.cubin --kernel dots", 2,
     "one is built for sm_90, the other for sm_80"},
    {"diff fp32/naive " K01, 2, "a state and a source cannot be compared"},
    {"diff fp32/naive,M=64,N=64,K=64 fp32/naive,M=128,N=64,K=64", 2, "different problems"},
    {"diff fp32/naive,M=64,N=64,K=64 fp32/naive,M=64,N=64,KK=64", 2, "KK"},
    {"diff a.capsule b.capsule", 2, "a.capsule"},
    {"diff tests/data/record/add.capsule tests/data/record/add.capsule", 0, "registers"},
    {"diff fp32/naive", 2, "two states, sources, cubins or capsules"},
    {"diff a b --json --markdown", 2, "exclude each other"},
};

START_TEST(calls_answer) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, CALLS[_i].arguments);
  ck_assert_msg(run.status == CALLS[_i].status, "%s: %d\n%.900s%.900s", CALLS[_i].arguments,
                run.status, run.out, run.err);
  ck_assert_msg(strstr(run.out, CALLS[_i].says) || strstr(run.err, CALLS[_i].says), "%s:\n%s%s",
                CALLS[_i].arguments, run.out, run.err);
}
END_TEST

// A pad takes the conflicts away: fewer wavefronts, and nothing else that decides gets worse.
START_TEST(a_pad_is_better) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena,
                       "diff fp32/padded,PAD_SMEM=0,M=512,N=512,K=512 "
                       "fp32/padded,M=512,N=512,K=512 --json");
  ck_assert_msg(strstr(run.out, "\"metric\":\"wavefronts_per_slab\""), "%s%s", run.out, run.err);
  Diags diags = diags_new(arena);
  const JsonValue *root = json_parse(arena, run.out, strlen(run.out), &diags, "diff");
  const JsonValue *row = json_at(json_object_get(root, "rows"), 0);
  double a = 0, b = 0;
  const char *verdict = "";
  ck_assert(json_require_double(row, "a", &a, &diags) &&
            json_require_double(row, "b", &b, &diags) &&
            json_require_string(row, "verdict", &verdict, &diags));
  ck_assert_msg(b < a, "%g %g", a, b);
  ck_assert_str_eq(verdict, "better");
}
END_TEST

Suite *suite_diff(void) {
  Suite *suite = suite_create("diff");
  TCase *calls = tcase_create("calls");
  tcase_add_checked_fixture(calls, setup, teardown);
  tcase_set_timeout(calls, 120);
  tcase_add_loop_test(calls, calls_answer, 0, (int)(sizeof CALLS / sizeof CALLS[0]));
  tcase_add_test(calls, a_pad_is_better);
  suite_add_tcase(suite, calls);
  return suite;
}
