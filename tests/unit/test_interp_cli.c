// gemmview interpret as a user calls it: the program itself is run, where the runner of the tests
// names it in $GEMMVIEW.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/str.h"
#include "cli_harness.h"

Suite *suite_interp_cli(void);

#define SMALL "AUTO=0,M=68,N=64,K=44,BM=8,BN=8,FM=4,FN=4,BK=8,STAGE=11"

#define HALF                                                                                       \
  "AUTO=0,M=80,N=64,K=64,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=1,FN=2,BK=4,STAGE=11,LDMATRIX=1," \
  "SWIZZLE=2"

static Arena *arena;
static const char *said;

static void setup(void) { arena = arena_new("test interp cli"); }
static void teardown(void) { arena_free(arena); }

// The exit status; what it printed is in `said`.
static int interpret_command(const char *arguments) {
  char *command = arena_printf(arena, "%s interpret %s 2>&1", getenv("GEMMVIEW"), arguments);
  FILE *pipe = popen(command, "r");
  ck_assert_ptr_nonnull(pipe);
  Str out = str_new(arena);
  char block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, pipe)) > 0;) str_add_bytes(&out, block, n);
  int status = pclose(pipe);
  said = out.text;
  ck_assert_msg(WIFEXITED(status), "%s: %s", command, said);
  return WEXITSTATUS(status);
}

static const struct {
  const char *arguments;
  int status;
  const char *says;
} rows[] = {
    {"-k " SMALL, 0, "C equals the float64 loop in all 4352 cells"},
    {"-k AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11", 0, "is cut down to M=256, N=256, K=32"},
    {"-k " SMALL " --pass stage --runs 1", 0, "6 blocks of 64 threads, 1 order from seed 1"},
    {"-k " SMALL " --break first_barrier", 1, "with no barrier between"},
    {"-k " SMALL ",BUFFER_COUNT=2 --break last_slab", 1, "cells of C are wrong, the first C[0, 0]"},
    {"-k " SMALL ",SPLITK=2 --break guarded_split", 1, "blocks of one kernel have no order"},
    {"-k " SMALL " --break wait", 2, "this program has nothing that it could break"},
    {"-k " SMALL " --break pads", 2, "nearest: pad"},
    // Rows of one element cannot be closer together: this once divided by zero.
    {"-k BK=1,STAGE=11 --break pad", 2, "this program has nothing that it could break"},
    // Cells of C cost, too: this once took 17 s and 3 GB.
    {"-k AUTO=0,M=8192,N=4096,K=1,BK=1,ATOM_KIND=mma_m8n8k4_f64", 0, "down to M=64, N=64, K=1:"},
    {"--full -k M=262144,N=262144,K=4096", 2, "without --full a part of it is run"},
    {"--full -k M=262144,N=262144,K=262144", 2, "the limits are"},
    {"--full -k M=65536,N=65536,K=1", 2, "would take about"},
    {"-k " SMALL " --pass stagr", 2, "nearest: stage"},
    {"-k " SMALL " --runs 0", 2, "not a whole number from 1 to 1000"},
    {"-k " HALF, 0, "6 blocks of 128 threads"},
    {"-k " HALF " --pass atomize", 0, "C equals the float64 loop in all 5120 cells"},
    {"-k " HALF " --break trans", 1, "cells of C are wrong, the first C[0, 0]"},
    {"-k " HALF " --break layout", 1, "'#' wrong everywhere"},
    {"-k " HALF " --break first_barrier", 1, "reads (ldmatrix"},
    {"-k " SMALL " --break trans", 2, "this program has nothing that it could break"},
    {"-k " SMALL " --trace 0,5 --runs 1", 0, "A[0, 5] is -3; r_a[0] = -3\n"},
    {"-k " SMALL " --trace 0,5 --limit 1 --runs 1", 0, "more; --limit "},
    {"-k scaled/mxf4 --trace 0,5 --limit 2000 --runs 1", 0, "is (4 -2) (3 -2) (4 6) (-4 0.5) …"},
    {"-k " SMALL " --trace 9,0", 2, "--trace, block: \"9\" is not a whole number from 0 to 5"},
    {"-k " SMALL " --trace 0,64", 2, "is not a whole number from 0 to 63"},
    {"-k " SMALL " --trace 5", 2, "--trace takes BLOCK,THREAD"},
    {"-k " SMALL " --trace 0,0 --json", 2, "leave out --dump and --json"},
    // Sums are seen to be used again: a pair has more than one tile, and all sets have their turn.
    {"-k blackwell/consumers --break tensor_reuse", 1, "with no barrier between (tcgen05.mma"},
    {"-k blackwell/pair,ACC_BUFFERS=2 --break tensor_reuse", 1, "\n6 tiles dealt"},
    {"-k blackwell/roles,ACC_BUFFERS=4 --break tensor_reuse --runs 1", 1, "(tcgen05.mma"},
    {"-k blackwell/consumers,M=512,N=256 --break tensor_reuse", 0,
     "a block has 1 tile here; only from 2"},
    // What descriptors read has the layout that these say: a box of the piece of C is what is
    // broken.
    {"-k blackwell/tma --break layout", 2, "this program has nothing that it could break"},
    {"-k blackwell/roles --break layout", 1, "cells of C are wrong, the first C["},
    // A product reads its tiles; what it writes lies in tensor memory.
    {"-k blackwell/roles --break slot_after", 1, "lane 0 reads (tcgen05.mma"},
    {"-k BM=64,BN=64", 2, "4096 threads in a block"},
    {"some.txt", 2, "give a state with -k"},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

START_TEST(answers) {
  if (!getenv("GEMMVIEW")) return;
  ck_assert_msg(interpret_command(rows[_i].arguments) == rows[_i].status, "%s", said);
  ck_assert_msg(strstr(said, rows[_i].says) != NULL, "no \"%s\" in\n%s", rows[_i].says, said);
}
END_TEST

static const JsonValue *parse(void) {
  Diags diags = diags_new(arena);
  const JsonValue *root = json_parse(arena, said, strlen(said), &diags, "reply");
  ck_assert_msg(root != NULL, "%s in %s", diags_text(arena, &diags), said);
  return root;
}

START_TEST(json_tells_the_same) {
  if (!getenv("GEMMVIEW")) return;
  Diags diags = diags_new(arena);
  bool ok = true;
  int wrong = 0;
  ck_assert_int_eq(interpret_command("--json -k " SMALL), 0);
  const JsonValue *root = parse();
  ck_assert(json_require_bool(root, "ok", &ok, &diags) && ok);
  ck_assert_int_eq(json_count(json_require_array(root, "findings", &diags)), 0);
  ck_assert_int_eq(interpret_command("--json --break phase -k " SMALL ",BUFFER_COUNT=2"), 1);
  root = parse();
  ck_assert(json_require_bool(root, "ok", &ok, &diags) && !ok);
  ck_assert(json_require_int(root, "wrong_cells", 0, 4352, &wrong, &diags));
  const JsonValue *first = json_at(json_require_array(root, "findings", &diags), 0);
  const char *kind = NULL, *buffer = NULL;
  ck_assert(json_require_string(first, "kind", &kind, &diags));
  ck_assert(json_require_string(first, "buffer", &buffer, &diags));
  ck_assert_str_eq(kind, "race");
  ck_assert_ptr_nonnull(strstr(buffer, "_s"));
  ck_assert_int_eq(json_count(json_object_get(first, "index")), 3);
}
END_TEST

// A loop over threads twice, one behind the other: what stands there for it in the trace is no
// operation.
START_TEST(a_doubled_loop_is_told_of_in_a_trace) {
  const CliRun run =
      cli_shell(arena,
                "($GEMMVIEW interpret -k BK=16,SPLITK=4,M=64,N=64,K=64 --dump | sed '16{p}' | "
                "$GEMMVIEW interpret - --trace 0,5)");
  ck_assert_int_eq(run.status, 1);
  ck_assert_msg(strstr(run.out, "a statement stands behind a loop over blocks or threads") != NULL,
                "%s", run.err);
}
END_TEST

Suite *suite_interp_cli(void) {
  Suite *suite = suite_create("interp_cli");
  TCase *tc = tcase_create("interp_cli");
  tcase_add_test(tc, a_doubled_loop_is_told_of_in_a_trace);
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, answers, 0, N_ROWS);
  tcase_add_test(tc, json_tells_the_same);
  suite_add_tcase(suite, tc);
  return suite;
}
