// Bad input of every kind about atoms, fragments and layouts: what is said names the value, the
// rule with its numbers and the nearest legal value, and nothing is left behind in the explorer.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"

Suite *suite_bad_input(void);

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test bad input");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

enum { OK = 0, NO = 1, USAGE = 2 };

typedef struct Bad {
  const char *arguments;
  int status;
  const char *says, *nearest;  // nearest: NULL where there is none to name
} Bad;

#define SLAB " --rows 128 --row-bytes 64 --elem 4"
#define TF32 "AUTO=0,ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11"
#define HALF "AUTO=0,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11"

#define ODD                                                                                   \
  "AUTO=0,M=96,N=64,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=2,FM=6,FN=4,BK=1,STAGE=11,LDMATRIX=1," \
  "ASYNC_COPY="                                                                               \
  "1,"                                                                                        \
  "LAYOUT_A=xoroff:'off ^ ((off >> 9 ^ off >> 10) & 1) * 1536'"

static const Bad bad[] = {
    // ---- layouts: no bijection, outside the row, divided by zero, no expression
    {"swizzle 'xor:col & 3'" SLAB, USAGE, "row 0, col 0 and row 0, col 4 both lie at byte 0", NULL},
    {"swizzle 'xor:col * 2 % 16'" SLAB, USAGE, "not a bijection: row 0, col 0 and row 0, col 8",
     NULL},
    {"swizzle 'xor:col ^ row'" SLAB, USAGE, "row 16, col 0 goes to column 16, outside 0 to 15",
     NULL},
    {"swizzle 'xor:col / row'" SLAB, USAGE, "divides by zero for row 0, col 0", NULL},
    {"swizzle 'xor:col % (row - 5)'" SLAB, USAGE, "row 5, col 0", NULL},
    {"swizzle 'xor:col ^ (row'" SLAB, USAGE, "column 11: a ')' is missing", NULL},
    {"swizzle 'xor:col ^ rwo'" SLAB, USAGE, "\"rwo\"", NULL},
    {"swizzle 'xor:'" SLAB, USAGE, "ends before a number or a variable", NULL},
    {"swizzle 'xor:col << 63'" SLAB, USAGE, "more than 62 bits", NULL},
    {"swizzle 'swizzle:3,4,2'" SLAB, USAGE, "|S| < B", "swizzle:3,4,3"},
    {"swizzle 'swizle:3,4,3'" SLAB, USAGE, "swizle", "swizzle"},
    {"swizzle 'pad:99999999'" SLAB, USAGE, "99999999", "pad:"},
    {"swizzle none --rows 128 --row-bytes 66 --elem 4", USAGE, "66", NULL},
    {"swizzle none --rows 0 --row-bytes 64 --elem 4", USAGE, "0", NULL},
    // ---- the same as knobs
    {"check --failing -k \"" TF32 ",LAYOUT_A=xor:'col & 3'\"", NO,
     "128 rows of 64 bytes: xor:'col & 3': bytes 0 and 16 of the slab would have one place",
     "nearest: LAYOUT_A=swizzle:3:4:3"},
    {"check --failing -k \"" TF32 ",LAYOUT_A=xor:'col ^ (row & 1)'\"", NO,
     "only chunks of 4 bytes stay whole, but copies and ldmatrix move 16",
     "nearest: LAYOUT_A=swizzle"},
    {"check --failing -k \"" TF32 ",LAYOUT_B=xor:'col / row'\"", NO,
     "LAYOUT_B on 16 rows of 512 bytes: the expression divides by zero for row 0, col 0",
     "nearest: LAYOUT_B=swizzle:3:4:5"},
    {"check --failing -k \"" TF32 ",LAYOUT_B=pad:4\"", NO, "pads have their own knobs, PAD_SMEM",
     "nearest: LAYOUT_B=swizzle"},
    {"check --failing -k \"" TF32 ",SWIZZLE=2,LAYOUT_A=none,LAYOUT_B=swizzle:2:4:3\"", NO,
     "SWIZZLE=2: this slab has a typed layout", "nearest: SWIZZLE=0"},
    {"loops -k \"" TF32 ",LAYOUT_A=xor:'col & 3'\"", USAGE, "bytes 0 and 16", "nearest: LAYOUT_A="},
    {"check --failing -k \"" TF32 ",LAYOUT_A=xor:'col ^ 4'\"", NO, "this moves it to 16",
     "nearest: LAYOUT_A=swizzle"},
    // 96 rows of 32 bytes, two halves of 1024 bytes exchanged: right in one slab, not in a ring.
    {"check --failing -k \"" ODD ",BUFFERS=2,PIPELINE=1\"", NO,
     "bytes move within pieces of 4096, but a slab has 3072 bytes, not a whole number of pieces",
     "nearest: LAYOUT_A=swizzle:3:4:3"},
    {"check --failing -k \"" ODD "\"", OK, "", NULL},
    // ---- atoms
    {"fragment m16n8k17.f16 A", USAGE, "m16n8k17.f16", "nearest: m16n8k16.f16"},
    {"fragment m16n8k16.f16 Q", USAGE, "\"Q\"", "nearest: "},
    {"fragment m16n8k16.f16 E", USAGE, "takes no metadata", "nearest: "},
    {"fragment m16n8k16.f16 A --lane 32", USAGE, "0 to 31", "nearest: 31"},
    {"fragment m16n8k16.f16 A --lane -1", USAGE, "-1", "nearest: 0"},
    {"fragment m16n8k16.f16 B --element 16,0", USAGE, "rows 0 to 15 and columns 0 to 7",
     "nearest: 15,0"},
    {"fragment m16n8k16.f16 A --element 3,", USAGE, "3,", "nearest: "},
    {"check --failing -k " HALF ",TARGET=sm_70", NO, "needs sm_80 or later: v100 is sm_70",
     "nearest: ATOM_KIND="},
    {"check --failing -k ATOM_KIND=mma_m16n8k32_e4m3,STAGE=11,TARGET=a100", NO,
     "needs sm_89 or later: a100 is sm_80", "nearest: ATOM_KIND="},
    {"check --failing -k " HALF ",DTYPE=bf16", NO,
     "ATOM_KIND=mma_m16n8k16_f16 does not multiply it", "nearest: DTYPE=f16"},
    {"check -k ATOM_KIND=m16n8k17", USAGE, "m16n8k17", "nearest: ATOM_KIND="},
    {"check --failing -k ATOM_KIND=mma_m16n8k16_bf16,ACC=f16", NO, "sums in another type",
     "nearest: ACC=f32"},
    {"check --failing -k ATOM_KIND=tcgen05_m128n256k16_bf16", NO,
     "ATOM_KIND=tcgen05_m128n256k16_bf16 needs sm_100 to sm_110: h200 is sm_90a",
     "nearest: ATOM_KIND="},
    {"check --failing -k "
     "ATOM_KIND=tcgen05_m128n256k16_bf16,STAGE=11,B_COL=1,FN=3,TARGET=b200",
     NO, "FN=3, ATOM_N=256, ACC_BUFFERS=1: 768 columns of sums, but tensor memory has 512",
     "nearest: FN=2"},
    {"check --failing -k ATOM_KIND=wgmma_m64n256k16_bf16,STAGE=01", NO,
     "reads its operands by descriptor, and STAGE=01 leaves one operand in global memory",
     "nearest: STAGE=11"},
    {"check --failing -k scaled/mxf4,TARGET=h100", NO, "needs sm_120a",
     "nearest: ATOM_KIND=wgmma_m64n256k32_e"},
    {"check --failing -k scaled/mxf4,K=48", NO, "rows of A have 48 elements", "a multiple of 32"},
    {"check --failing -k scaled/mxf4,K=48", NO, "rows of A have 48 elements", "nearest: K=32"},
    {"check --failing -k ATOM_KIND=wgmma_m64n256k32_s8,B_COL=1,ATOM_N=40", NO,
     "of s8 above 32 in steps of 16", "nearest: ATOM_N=32"},
    {"fragment wgmma.m64n264k16.f16 C", USAGE, "N must be a multiple of 8 from 8 to 256",
     "nearest: wgmma.m64n256k16.f16"},
    {"check -k FRAG_ORDER=3", USAGE, "FRAG_ORDER is 0..2", "nearest: FRAG_ORDER=2"},
    {"fragment m16n8k17 A", USAGE, "m16n8k17", "nearest: m16n8k16.f16"},
    // ---- names that are like none: all there are
    {"show nosuch", USAGE, "there is no view \"nosuch\": there are explore, loops, banks", NULL},
    {"show bnaks", USAGE, "there is no view \"bnaks\"", "nearest: banks"},
    {"show explore --ladder nosuch", USAGE, "there are fp32, hgemm, tf32, fp16", NULL},
    {"ladders nosuch", USAGE, "there are fp32, hgemm, tf32", NULL},
    {"interpret --break nosuchthing", USAGE, "there are first_barrier, ", NULL},
    {"loops -k =5", USAGE, "=5 is not a knob; gemmview knobs lists them", NULL},
    {"sass --ptxas-opt 9", USAGE, "the levels are 0 to 3", "nearest: 3"},
    {"lesson banks --at 99", USAGE, "the lesson banks has steps 1 to 7, not 99", "nearest: 7"},
    {"loops -k QUUX=1", USAGE, "QUUX is not a knob; gemmview knobs lists them", NULL},
    {"loops -k STAG=1", USAGE, "STAG is not a knob", "nearest: STAGE"},
    {"show explore --size 99999x0", USAGE, "from 1 to 1000", "nearest: 1000x1"},
    {"bench-ui --view nosuch", USAGE, "there are explore, loops", NULL},
    {"loops -k BM=16,BN=16 --pass stage", USAGE,
     "the pass stage does nothing for this state: see STAGE BK; passes that run here: tile", NULL},
    {"cuda -k BM=16,BN=16 --pass tlie", USAGE,
     "there is no pass \"tlie\"; passes that run here: tile", "nearest: tile"},
    // ---- tiles and copies
    {"check --failing -k " HALF ",K=4095", NO, "rows of A have 4095 elements", "nearest: K=4096"},
    {"check --failing -k " HALF ",N=4100", NO, "rows of B have 4100", "nearest: N=4096"},
    {"check --failing -k " HALF ",PAD_SMEM=3", NO, "a multiple of 8 keeps them so",
     "nearest: PAD_SMEM="},
    {"check --failing -k "
     "AUTO=0,ATOM_KIND=mma_m16n8k16_f16,WN=2,FN=16,STAGE=11,BK=3,SWIZZLE=3",
     NO, "SWIZZLE=3 needs rows of 128 bytes or more, and those of A have 96", "nearest: SWIZZLE=0"},
    {"check --failing -k AUTO=0,ATOM_KIND=mma_m16n8k16_f16,STAGE=11,WM=8,WN=8", NO,
     "2048 threads in a block, at most 1024", "nearest: WN=4"},
    {"check --failing -k " HALF ",EPILOGUE=1,N=4090", NO, "8 elements at a time",
     "nearest: EPILOGUE=0"},
    {"check --failing -k " HALF ",K=100,N=100", NO, "rows of A have 100 elements", "nearest: K=96"},
    {"check --failing -k " HALF ",K=100,N=100", NO, "rows of B have 100 elements", "nearest: N=96"},
    {"check --failing -k WM=2,WN=4", NO, "WN=4 is not built yet with ATOM_KIND=fma",
     "nearest: WN=1"},
    // The nearest atom is one that is built and there; on a GPU without any, plain fma.
    {"check --failing -k " HALF ",TARGET=v100", NO, "needs sm_80 or later: v100 is sm_70",
     "nearest: ATOM_KIND=fma"},
    {"check --failing -k ATOM_KIND=mma_m16n8k32_e4m3,TARGET=a100", NO, "needs sm_89 or later",
     "nearest: ATOM_KIND=mma_m16n8k"},
    {"check --failing -k ATOM_KIND=mma_m8n8k4_f64,STAGE=11,LDMATRIX=1", NO,
     "it has nothing to load", "nearest: LDMATRIX=0"},
    // ---- of a rule of several conditions the one that fails is told
    {"check --failing -k " HALF ",MIN_BLOCKS=17", NO, "2176 threads on an SM, at most 2048",
     "nearest: MIN_BLOCKS="},
    {"check --failing -k " HALF ",MIN_BLOCKS=8", NO, "131072 registers of sums on an SM, at most",
     "nearest: MIN_BLOCKS="},
    {"check --failing -k hgemm/roles,FM=5", NO,
     "320 rows of 64 elements, and a box may have at most 256 rows", "nearest: FM=4"},
    {"check --failing -k fp32/tma,PAD_SMEM=4", NO, "TMA=1 with PAD_SMEM=4: it lays slabs out",
     NULL},
    {"check --failing -k " HALF ",EPILOGUE=1,SPLITK=2", NO, "EPILOGUE=1 with SPLITK=2: only rows",
     NULL},
    {"sweep --predict -k " HALF ",SWIZZLE=3 --knob PAD_SMEM=8,16", USAGE,
     "none of the 2 points is legal; of PAD_SMEM=8: SWIZZLE=3 needs rows without a pad", NULL},
    // ---- rings
    {"check --failing -k " HALF ",BUFFER_COUNT=8", NO,
     "shared memory: 262144 B needed, at most 232448 B", "nearest: BUFFER_COUNT=7"},
    {"check --failing -k " HALF ",BUFFER_COUNT=9", USAGE, "9", "nearest: BUFFER_COUNT=8"},
    {"check --failing -k " HALF ",ASYNC_COPY=1,PIPELINE_STAGES=1", NO,
     "the next slab would land in the one being read", "nearest: BUFFER_COUNT=2"},
    {"check --failing -k " HALF ",LDMATRIX=1,FRAG_ORDER=1", NO,
     "128 registers hold the fragments of BK=4 k-steps and 128 the sums, at most 255",
     "nearest: FRAG_ORDER=0"},
};
enum { N_BAD = sizeof bad / sizeof *bad };

START_TEST(bad_input_is_told) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, bad[_i].arguments);
  const char *said = bad[_i].status == NO ? run.out : run.err;
  ck_assert_msg(run.status == bad[_i].status, "%s: exit %d\n%.800s%.800s", bad[_i].arguments,
                run.status, run.out, run.err);
  ck_assert_msg(strstr(said, bad[_i].says) != NULL, "%s: \"%s\" is not in\n%.800s",
                bad[_i].arguments, bad[_i].says, said);
  if (bad[_i].nearest)
    ck_assert_msg(strstr(said, bad[_i].nearest) != NULL, "%s: \"%s\" is not in\n%.800s",
                  bad[_i].arguments, bad[_i].nearest, said);
}
END_TEST

// ---- the solver's problems ----------------------------------------------------------------------

#define FLOATS16 "{\"slab\":{\"rows\":128,\"row_bytes\":64,\"elem\":4},\"sites\":["
#define SITE(row, col) "{\"name\":\"a\",\"op\":\"lds32\",\"row\":\"" row "\",\"col\":\"" col "\"}"

static const Bad problems[] = {
    {FLOATS16 SITE("lane/(i*0)", "0") "]}", USAGE,
     "site \"a\", lane 0, i = 0: the expression divides by zero", NULL},
    {FLOATS16 SITE("lane*5", "0") "]}", USAGE, "row 130, col 0 is outside the 128 x 16 slab", NULL},
    {FLOATS16 "]}", USAGE, "0 sites; a problem has 1 to 64", NULL},
    {FLOATS16 "{\"name\":\"a\",\"op\":\"ldsm_x4\",\"row\":\"lane\",\"col\":\"2\"}]}", USAGE,
     "col 2 (byte 8) does not begin a whole 16-byte ldsm_x4", NULL},
    {FLOATS16 "{\"name\":\"a\",\"op\":\"lds32\",\"row\":\"0\",\"col\":\"0\",\"weight\":-1}]}",
     USAGE, "-1 is outside 0 to 1000000", "nearest: 0"},
    {"{\"slab\":{\"rows\":100000,\"row_bytes\":128,\"elem\":4},\"sites\":[" SITE("0", "0") "]}",
     USAGE, "100000 rows of 128 bytes are 12800000 bytes", "nearest: 1824 rows"},
    {"{\"slab\":{\"rows\":8,\"row_bytes\":64,\"elem\":3},\"sites\":[" SITE("0", "0") "]}", USAGE,
     "elem = 3", "nearest: 4"},
    {"nonsense", USAGE, "problem.json:1:1", NULL},
};

START_TEST(bad_problems_are_told) {
  if (!cli_has_program()) return;
  const Bad *problem = &problems[_i];
  const char *path = cli_write_file(arena, "problem.json", problem->arguments);
  CliRun run = cli_run(arena, arena_printf(arena, "solve %s", path));
  ck_assert_int_eq(run.status, problem->status);
  ck_assert_msg(strstr(run.err, problem->says) != NULL, "%s", run.err);
  if (problem->nearest) ck_assert_msg(strstr(run.err, problem->nearest) != NULL, "%s", run.err);
}
END_TEST

// A finding of `check` must be one of its JSON, too, with ok false.
START_TEST(check_counts_layouts_among_the_rules) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, "check --json -k \"STAGE=11,LAYOUT_A=xor:'col & 3'\"");
  ck_assert_int_eq(run.status, NO);
  ck_assert_ptr_nonnull(strstr(run.out, "\"ok\":false"));
  ck_assert_ptr_nonnull(strstr(run.out, "{\"rule\":\"typed_layout_a\",\"holds\":false"));
  ck_assert_ptr_nonnull(strstr(run.out, "\"nearest\":\"LAYOUT_A=swizzle:3:4:3\""));
}
END_TEST

// ---- ten thousand characters --------------------------------------------------------------------

static const char *long_expression(int n) {
  Str text = str_new(arena);
  str_add(&text, "xor:col");
  while ((int)text.length < n) str_add(&text, " ^ row");
  return text.text;
}

static const char *nested_expression(int depth) {
  Str text = str_new(arena);
  str_add(&text, "xor:");
  str_add_repeat(&text, '(', depth);
  str_add(&text, "col");
  str_add_repeat(&text, ')', depth);
  return text.text;
}

START_TEST(ten_thousand_characters) {
  if (!cli_has_program()) return;
  const char *texts[] = {long_expression(10000), nested_expression(5000), nested_expression(450)};
  for (int i = 0; i < 3; i++) {
    CliRun run = cli_run(arena, arena_printf(arena, "swizzle '%s'" SLAB, texts[i]));
    ck_assert_int_eq(run.status, USAGE);
    ck_assert_msg(strstr(run.err, i < 2 ? "at most 1000 are read" : "deep"), "%.300s", run.err);
    run = cli_run(arena, arena_printf(arena, "check -k \"STAGE=11,LAYOUT_A=%s\"", texts[i]));
    ck_assert_int_eq(run.status, USAGE);
    ck_assert_msg(strstr(run.err, "at most 255"), "%.300s", run.err);
    ck_assert_ptr_nonnull(strstr(run.err, "nearest: LAYOUT_A=none"));
    ck_assert_uint_lt(strlen(run.err), 400);
  }
}
END_TEST

// ---- the live editor ----------------------------------------------------------------------------

static Session *open_swizzle(void) {
  Session *session = explorer_open(&(SessionOptions){.ladder = "tf32", .rung = "bt"}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  view_show(session, view_find("swizzle"));
  return session;
}

static const char *type_layout(Session *session, Canvas *canvas, const char *text) {
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, "e x Ctrl-U", &diags));
  view_paste(session, text);
  drive_frame(session, canvas);
  return export_text(arena, canvas);
}

static const struct {
  const char *layout, *says;
} typed[] = {
    {"xor:col & 3", "not a bijection"},
    {"xor:col & 3", "row 0, col 4 both lie at byte 0"},
    {"xor:col ^ row", "goes to column 16, outside 0 to 15"},
    {"xor:col / row", "divides by zero for row 0, col 0"},
    {"xor:col ^ (row", "a ')' is missing"},
    {"xor:col ^ (row & 1)", "moves 16 bytes at a time, but the layout keeps only 4 together"},
    {"swizzle:3,4,2", "nearest: swizzle:3,4,3"},
    {"swizle:3,4,3", "nearest: swizzle"},
    {"pad:1", "cut apart"},
    {"pad:1", "LDSM.16.M88.2 moves 16 bytes at a time"},
    {"", "there is no layout"},
};

START_TEST(the_live_editor_says_why) {
  Session *session = open_swizzle();
  Canvas *canvas = canvas_new(arena, 40, 120, false);
  const char *state = arena_strdup(arena, schedule_text(arena, &session->doc.now.schedule));
  const char *screen = type_layout(session, canvas, typed[_i].layout);
  ck_assert_msg(strstr(screen, typed[_i].says) != NULL, "%s: \"%s\" is not on\n%.2500s",
                typed[_i].layout, typed[_i].says, screen);
  ck_assert(drive_keys(session, canvas, "Esc", &diags));
  ck_assert_str_eq(schedule_text(arena, &session->doc.now.schedule), state);
  explorer_close(session);
}
END_TEST

START_TEST(the_live_editor_survives_long_texts) {
  Session *session = open_swizzle();
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  const char *texts[] = {long_expression(10000), nested_expression(5000), nested_expression(450)};
  for (int i = 0; i < 3; i++) {
    const char *screen = type_layout(session, canvas, texts[i]);
    ck_assert_msg(strstr(screen, "trial") == NULL, "it was laid out\n%.3000s", screen);
    ck_assert(drive_keys(session, canvas, "Enter Enter", &diags));
    ck_assert(session->doc.now.schedule.layout[0][0] == 0 &&
              session->doc.now.schedule.layout[1][0] == 0);
    ck_assert(drive_keys(session, canvas, "Esc", &diags));
  }
  explorer_close(session);
}
END_TEST

// What the solver finds is applied by Enter and taken back by u, in this view as by any other edit.
START_TEST(a_solution_is_applied_and_undone) {
  Session *session = open_swizzle();
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  drive_frame(session, canvas);
  const char *before = arena_strdup(arena, schedule_text(arena, &session->doc.now.schedule));
  ck_assert(drive_keys(session, canvas, "G s Enter", &diags));
  ck_assert(!session->doc.now.reasons);
  ck_assert_str_ne(schedule_text(arena, &session->doc.now.schedule), before);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "256   4"));
  ck_assert(drive_keys(session, canvas, "u", &diags));
  ck_assert_str_eq(schedule_text(arena, &session->doc.now.schedule), before);
  explorer_close(session);
}
END_TEST

// The slab that was walked outlives the model it was walked in: an edit and its undo, made
// elsewhere, bring the same schedule back in a model of its own. Random keys found the solver
// naming an access of the one that was gone.
START_TEST(a_slab_outlives_its_model) {
  Session *session = open_swizzle();
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, "G", &diags));
  view_show(session, view_find("explore"));
  session_set_knob(session, KNOB_GROUP_M, 4);
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, "u", &diags));
  view_show(session, view_find("swizzle"));
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, "s", &diags));
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "B_s <- r_b  STS: one phase needs 32"));
  explorer_close(session);
}
END_TEST

Suite *suite_bad_input(void) {
  Suite *suite = suite_create("bad_input");
  TCase *tc = tcase_create("bad input");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, bad_input_is_told, 0, N_BAD);
  tcase_add_loop_test(tc, bad_problems_are_told, 0, sizeof problems / sizeof *problems);
  tcase_add_test(tc, check_counts_layouts_among_the_rules);
  tcase_add_test(tc, ten_thousand_characters);
  tcase_add_loop_test(tc, the_live_editor_says_why, 0, sizeof typed / sizeof *typed);
  tcase_add_test(tc, the_live_editor_survives_long_texts);
  tcase_add_test(tc, a_slab_outlives_its_model);
  tcase_add_test(tc, a_solution_is_applied_and_undone);
  suite_add_tcase(suite, tc);
  return suite;
}
