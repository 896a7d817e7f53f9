// A disagreement between PTX and its machine code → a reproducer of at most 30 lines.
//
// A ptxas that is wrong is made of the real one: a script whose first step changes the text, a
// maximum into a minimum. What is reduced then has to keep that instruction.
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/open/against/reduce_parts.h"
#include "cli/open/open_parts.h"
#include "cli_harness.h"
#include "kernels/toolchain/machine/sass.h"
#include "open_case.h"
#include "stress.h"

Suite *suite_machine_reduce(void);

enum { LINES_MOST = 30 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- cutting ------------------------------------------------------------------------------------

// Each kernel of tests/data/open, cut and put together again, has its instructions, and leaves what
// it left.
START_TEST(test_a_text_in_pieces_is_the_same_text) {
  const OpenCase whole = open_case_load(arena, _i, NULL);
  const char *ptx = open_case_text(arena, arena_printf(arena, "%s.ptx", whole.id));
  PieceText t = pieces_read(arena, ptx, strlen(ptx), whole.kernel->name);
  ck_assert_int_eq(t.n_insts, whole.kernel->end - whole.kernel->first - 1);
  ck_assert_int_eq(t.n_params, whole.kernel->n_params);
  pieces_settle(&t);
  const char *again = pieces_text(&t);
  const OpenCase cut = open_case_load(arena, _i, again),
                 moved = open_case_load(arena, _i, pieces_moved(arena, again));
  const PtxOutcome outcome = ptx_machine_run(whole.machine, 0, 0, 0);
  ck_assert_int_eq(ptx_machine_run(cut.machine, 0, 0, 0), outcome);
  ck_assert_int_eq(ptx_machine_run(moved.machine, 0, 0, 0), outcome);
  ck_assert_int_eq(ptx_machine_lane_instructions(whole.machine),
                   ptx_machine_lane_instructions(cut.machine));
  for (int arg = 0; arg < whole.n_args; arg++) {
    if (!whole.bytes[arg]) continue;
    const void *bytes = ptx_machine_bytes(whole.machine, whole.buffers[arg], whole.bytes[arg]);
    ck_assert_int_eq(memcmp(bytes, ptx_machine_bytes(cut.machine, cut.buffers[arg], cut.bytes[arg]),
                            (size_t)whole.bytes[arg]),
                     0);
    ck_assert_int_eq(
        memcmp(bytes, ptx_machine_bytes(moved.machine, moved.buffers[arg], moved.bytes[arg]),
               (size_t)whole.bytes[arg]),
        0);
  }
}
END_TEST

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
#define REGS ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n"

// What stays of a text where instructions are left out: nothing that reads what nobody writes, that
// writes what nobody reads, or that nobody names.
START_TEST(test_what_nobody_needs_goes_along) {
  static const char text[] = HEAD
      ".global .b32 table[2] = {1, 2};\n"
      ".func (.param .b32 out) twice(.param .b32 in) { ret; }\n"
      ".visible .entry other(.param .u64 y) { ret; }\n"
      ".visible .entry k(.param .u64 x, .param .u32 n) .maxntid 32 {\n" REGS
      ".shared .align 4 .b8 tile[128];\n"
      "ld.param.u64 %rd1, [x];\n"
      "ld.param.u32 %r1, [n];\n"
      "mov.u32 %r5, tile;\n"
      "setp.eq.u32 %p1, %r1, 0;\n"
      "@%p1 bra $L1;  // skips\n"
      "{ .reg .b32 %t; mov.u32 %t, 3; add.u32 %r2, %t, %r1; }\n"
      "st.shared.u32 [%r5], %r2;\n"
      "$L1: st.global.u32 [%rd1], %r1;\n"
      "ret;\n}\n";
  PieceText t = pieces_read(arena, text, strlen(text), "k");
  ck_assert_int_eq(t.n_insts, 10);
  const char *drops[] = {"@%p1 bra", "st.shared"};
  for (int i = 0; i < t.n; i++)
    for (int d = 0; d < 2; d++)
      if (str_starts(t.pieces[i].text, drops[d])) t.pieces[i].kept = false;
  Diags diags = diags_new(arena);
  const PtxModule *module = ptx_module_read(arena, text, strlen(text), "test", &diags);
  ck_assert_msg(module && diags.count == 0, "%s", diags_text(arena, &diags));
  flow_close(&t, module, ptx_module_kernel(module, "k", &diags), true);
  pieces_settle(&t);
  ck_assert_str_eq(pieces_text(&t), HEAD
                   ".visible .entry k(.param .u64 x, .param .u32 n) .maxntid 32 {\n"
                   ".reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n"
                   "ld.param.u64 %rd1, [x];\n"
                   "ld.param.u32 %r1, [n];\n"
                   "st.global.u32 [%rd1], %r1;\n"
                   "ret;\n}\n");
}
END_TEST

START_TEST(test_operands_and_words_of_a_piece) {
  Piece p = {.kind = PIECE_INST};
  piece_set_text(arena, &p, "@!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+8];");
  ck_assert_str_eq(piece_operand(arena, &p, 0), "{%r1, %r2}");
  ck_assert_str_eq(piece_operand(arena, &p, 1), "[%rd1+8]");
  ck_assert_ptr_null(piece_operand(arena, &p, 2));
  ck_assert_str_eq(piece_with(arena, &p, "%r1", "%r11"),
                   "@!%p1 ld.global.v2.u32 {%r11, %r2}, [%rd1+8];");
}
END_TEST

// One step each, from the same text: the line that it makes, and one that it takes away; NULL: it
// changes nothing.
static const struct {
  Edit *edit;
  int at, n;
  const char *makes, *takes;
} steps[] = {
    {edit_same, 2, 0, "add.u32 %r3, %r1, %r2;", "mov.u32 %r4, %tid.x;"},
    {edit_same, -1, 0, "add.u32 %r3, %r1, %r2;", "mov.u32 %r4, %tid.x;"},
    {edit_same, 3, 0, NULL, NULL},
    {edit_inline, 3, 0, "add.u32 %r3, %r4, 60;", "mov.b32 %r2, 60;"},
    {edit_inline, 5, 0, "add.f32 %f2, 0f3F800000, 0f3F800000;", "mov.b32 %f1, 1065353216;"},
    {edit_inline, -1, 0, "add.u32 %r3, %r4, 60;", "mov.b32 %f1, 1065353216;"},
    {edit_inline, 1, 0, NULL, NULL},
    {edit_inline, 9, 0, NULL, NULL},  // an address wants its register
    {edit_plain, 3, 0, "mov.b32 %r8, 0;", "mov.b32 %r2, 60;"},
    {edit_plain, 3, 1, "mov.b32 %r2, 0;", "mov.b32 %r2, 60;"},
    {edit_plain, 7, 2, "shl.b32 %r5, %r3, 7;", "shl.b32 %r5, %r3, 8;"},
    {edit_plain, 7, 3, "shl.b32 %r5, %r3, 4;", "shl.b32 %r5, %r3, 8;"},
    {edit_plain, 3, 2, NULL, NULL},  // no step of many
    {edit_plain, 12, 1, "mov.f32 %f3, 0f3F800000;", "mov.f32 %f3, 0f00000000;"},
    {edit_twin, 7, 0, "shl.b32 %r5, %r3, 6;", "shl.b32 %r5, %r3, 8;"},
    {edit_twin, 7, 1, NULL, NULL},
    {edit_scalar, 10, 0, "ld.global.u32 %r6, [%rd1];", "ld.global.v2.u32 {%r6, %r7}, [%rd1];"},
    {edit_scalar, 10, 1, "st.global.v2.u32 [%rd1+8], {%r7, %r7};",
     "st.global.v2.u32 [%rd1+8], {%r6, %r7};"},
    {edit_scalar, 11, 1, "st.global.u32 [%rd1+8], %r7;", "st.global.v2.u32 [%rd1+8], {%r6, %r7};"},
    {edit_scalar, 10, 2, NULL, NULL},
    {edit_scalar, 1, 0, NULL, NULL},
};

START_TEST(test_a_step_changes_what_it_says) {
  static const char text[] = HEAD
      ".visible .entry k(.param .u64 x) {\n.reg .b32 %r<9>;\n.reg .f32 %f<4>;\n.reg .b64 "
      "%rd<2>;\n"
      "ld.param.u64 %rd1, [x];\n"
      "mov.u32 %r1, %tid.x;\n"
      "mov.u32 %r4, %tid.x;\n"
      "mov.b32 %r2, 60;\n"
      "add.u32 %r3, %r4, %r2;\n"
      "mov.b32 %f1, 1065353216;\n"
      "add.f32 %f2, %f1, %f1;\n"
      "shl.b32 %r5, %r3, 8;\n"
      "shl.b32 %r5, %r5, 6;\n"
      "mov.b32 %r8, 60;\n"
      "ld.global.v2.u32 {%r6, %r7}, [%rd1];\n"
      "st.global.v2.u32 [%rd1+8], {%r6, %r7};\n"
      "mov.f32 %f3, 0f00000000;\n"
      "ld.shared.u32 %r5, [%r8];\n"
      "ret;\n}\n";
  Diags diags = diags_new(arena);
  const char *args[] = {"mem:64"};
  const Reduce r = {.arena = arena, .kernel = "k", .budget = 1000};
  Scratch s = {.arena = arena,
               .t = pieces_read(arena, text, strlen(text), "k"),
               .module = ptx_module_read(arena, text, strlen(text), "test", &diags),
               .next = {.launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}}, .args = {args, 1}}};
  ck_assert_msg(s.module && diags.count == 0, "%s", diags_text(arena, &diags));
  s.kernel = ptx_module_kernel(s.module, "k", &diags);
  const bool changed = steps[_i].edit(&r, &s, steps[_i].at, steps[_i].n);
  const char *made = pieces_text(&s.t);
  ck_assert_msg(changed == (steps[_i].makes != NULL), "%s", made);
  if (!changed) return;
  ck_assert_msg(strstr(made, steps[_i].makes) != NULL, "%s", made);
  ck_assert_msg(strstr(made, steps[_i].takes) == NULL, "%s", made);
}
END_TEST

// ---- reducing -----------------------------------------------------------------------------------

static bool has_tools(void) {
  return cli_has_program() && open_find_tool(arena, "ptxas") && sass_find_tool(arena);
}

// The text in front of the comments, in a file, and the line that runs it.
static const char *reproducer(const char *out, const char *name, const char **run) {
  const char *end = strstr(out, "\n// "), *how = strstr(out, "open FILE ");
  ck_assert_msg(end && how, "%s", out);
  const char *file =
      cli_write_file(arena, name, arena_strndup(arena, out, (size_t)(end + 1 - out)));
  how += strlen("open FILE ");
  *run = arena_printf(arena, "open %s %.*s", file, (int)strcspn(how, "\n"), how);
  return file;
}

static int lines_of(const char *out) {
  int n = 0;
  for (const char *at = out; at && !str_starts(at, "// "); at = strchr(at, '\n') + 1) n++;
  return n;
}

#define LOST "tests/data/machine/lost_sign"

// The published miscompile, by the ptxas that is here: where it is one without it, there is nothing
// to reduce, and a sentence says so.
START_TEST(test_a_published_miscompile_is_reduced) {
  if (!has_tools()) return;
  const char *run_it, *asked =
                          " --against machine --reduce --launch grid=1,block=32 "
                          "--arg mem:128:random --arg 3";
  const CliRun run = cli_run(arena, arena_printf(arena, "open " LOST ".ptx%s", asked));
  if (run.status == CLI_OK) {
    ck_assert_msg(strstr(run.out, "memory is equal"), "%s", run.out);
    return;
  }
  ck_assert_msg(run.status == CLI_NO, "%s%s", run.out, run.err);
  ck_assert_int_le(lines_of(run.out), 17);
  ck_assert_msg(strstr(run.out, "\nneg.s32 ") && strstr(run.out, "\nmax.s32 "), "%s", run.out);
  reproducer(run.out, "reduced.ptx", &run_it);
  const CliRun again = cli_run(arena, run_it);
  ck_assert_msg(again.status == CLI_NO && strstr(again.out, "memory differs"), "%s\n%s%s", run_it,
                again.out, again.err);
  if (!stress_is_on()) return;  // a second time, the same
  const CliRun same = cli_run(arena, arena_printf(arena, "open " LOST ".ptx%s", asked));
  ck_assert_str_eq(same.out, run.out);
}
END_TEST

// A ptxas that reads another text than the one that it is given: `change` is a command of sed.
static const char *wrong_ptxas(const char *change) {
  const char *ptxas = open_find_tool(arena, "ptxas");
  const char *script = cli_write_file(
      arena, "wrong_ptxas",
      arena_printf(arena,
                   "#!/bin/sh\n"
                   "t=$(mktemp -d) || exit 1\n"
                   "trap 'rm -rf \"$t\"' EXIT\n"
                   "n=$#\n"
                   "while [ $n -gt 0 ]; do\n"
                   "  case $1 in /proc/*) sed '%s' \"$1\" > \"$t/in\"; set -- \"$@\" \"$t/in\" ;;\n"
                   "  *) set -- \"$@\" \"$1\" ;; esac\n"
                   "  shift; n=$((n - 1))\n"
                   "done\n"
                   "%s \"$@\"\n",
                   change, ptxas));
  ck_assert_int_eq(chmod(script, 0700), 0);
  return script;
}

#define K11                                                                              \
  "grid=2x3,block=128 --arg mem:98304 --arg mem:65536 --arg mem:393216 --arg 384 --arg " \
  "256 --arg 128"

static const struct {
  const char *file, *change, *keeps, *launch;
} wrongs[] = {
    {"k11", "s/shl.b32/shr.u32/", "shl.b32", K11},
    {"k01", "s/bar.sync.*;//", "bar.sync",
     "grid=8x7,block=32x8 --arg mem:200000 --arg mem:200000 "
     "--arg 250 --arg 200"},
    {"k13", "s/add.f32/sub.f32/", "add.f32",
     "grid=8x8,block=32x8 --arg mem:60000 --arg mem:60000 --arg 250 --arg 60 --arg 0.5"},
    {"k15", "s/atom.shared.add/atom.shared.max/", "atom.shared.add",
     "grid=20,block=192 --arg mem:120004 --arg mem:1032:zero --arg 30001"},
    {"k17", "s/max.f32/min.f32/", "max.f32",
     "grid=8x2,block=128 --arg mem:32768 --arg mem:32768 --arg mem:32768 --arg mem:32768 "
     "--arg 128 --arg 0.125"},
    {"k09", "s/mul.f32/add.f32/", "mul.f32",
     "grid=3x4,block=256 --arg 256 --arg 192 --arg 80 --arg 1.25 --arg mem:81920 --arg mem:61440 "
     "--arg 0.5 --arg mem:196608"},
    {"k09", "s/bar.sync.*;//", "bar.sync",
     "grid=3x4,block=256 --arg 256 --arg 192 --arg 80 --arg 1.25 --arg mem:81920 --arg mem:61440 "
     "--arg 0.5 --arg mem:196608"},
    {"k05", "s/bar.sync.*;//", "bar.sync",
     "grid=4x4,block=256 --arg mem:262144 --arg mem:262144 --arg mem:262144 --arg 256"},
};

START_TEST(test_a_wrong_assembler_is_shown_by_few_lines) {
  if (!has_tools()) return;
  const char *script = wrong_ptxas(wrongs[_i].change), *run_it;
  const CliRun run = cli_shell(
      arena, arena_printf(arena,
                          "GEMMVIEW_PTXAS=%s $GEMMVIEW open tests/data/open/%s.ptx --against "
                          "machine --reduce --launch %s",
                          script, wrongs[_i].file, wrongs[_i].launch));
  ck_assert_msg(run.status == CLI_NO, "%s%s", run.out, run.err);
  ck_assert_msg(lines_of(run.out) <= LINES_MOST, "%s", run.out);
  const char *file = reproducer(run.out, "reduced.ptx", &run_it);
  size_t n = 0;
  ck_assert_msg(strstr(open_case_bytes(arena, file, &n), wrongs[_i].keeps), "%s", run.out);
  const CliRun wrong =
      cli_shell(arena, arena_printf(arena, "GEMMVIEW_PTXAS=%s $GEMMVIEW %s", script, run_it));
  ck_assert_msg(wrong.status == CLI_NO, "%s%s", wrong.out, wrong.err);
  // With the right one it is right: the text itself has nothing that may be taken otherwise.
  const CliRun right = cli_run(arena, run_it);
  ck_assert_msg(right.status == CLI_OK, "%s\n%s%s", run.out, right.out, right.err);
}
END_TEST

// ---- what is not reduced ------------------------------------------------------------------------

#define ASKED " --against machine --reduce --launch grid=1,block=32 --arg mem:128"

static const char *kernel_of(const char *body) {
  return cli_write_file(
      arena, "kernel.ptx",
      arena_printf(arena, "%s.visible .entry k(.param .u64 x) {\n%s%s}\n", HEAD, REGS, body));
}

START_TEST(test_what_cannot_be_reduced_is_said) {
  if (!has_tools()) return;
  const char *good = kernel_of(
      "ld.param.u64 %rd1, [x];\nmov.u32 %r1, 5;\nmax.s32 %r2, %r1, 3;\n"
      "st.global.u32 [%rd1], %r2;\nret;\n");
  CliRun run = cli_run(arena, arena_printf(arena, "open %s" ASKED, good));
  ck_assert_msg(run.status == CLI_OK && strstr(run.out, "memory is equal"), "%s", run.out);
  run = cli_shell(arena,
                  arena_printf(arena, "GEMMVIEW_PTXAS=/nowhere $GEMMVIEW open %s" ASKED, good));
  ck_assert_msg(run.status == CLI_MISSING && strstr(run.err, "there is no ptxas here"), "%s",
                run.err);
  run = cli_run(arena, arena_printf(arena, "open %s --reduce --launch grid=1,block=32", good));
  ck_assert_msg(run.status == CLI_USAGE && strstr(run.err, "--reduce needs --against"), "%s",
                run.err);
  run = cli_run(arena, "open " LOST ".ptx --against " LOST
                       ".cubin --reduce --launch "
                       "grid=1,block=32 --arg mem:128:zero --arg 3");
  ck_assert_int_eq(run.status, CLI_OK);
}
END_TEST

// A register that nothing wrote may have any value: ptxas is not to blame.
START_TEST(test_a_register_that_nothing_wrote_is_told) {
  if (!has_tools()) return;
  const char *script = wrong_ptxas("s/max.s32/min.s32/");
  const char *file = kernel_of(
      "ld.param.u64 %rd1, [x];\nmax.s32 %r2, %r7, 3;\nst.global.u32 [%rd1], %r2;\nret;\n");
  const CliRun run = cli_shell(
      arena, arena_printf(arena, "GEMMVIEW_PTXAS=%s $GEMMVIEW open %s" ASKED, script, file));
  ck_assert_msg(run.status == CLI_NO &&
                    strstr(run.err, "line 9 of the PTX reads a register before it is written"),
                "%s%s", run.out, run.err);
}
END_TEST

// Stores of the lanes to `base` and on, `pitch` bytes from one to the next.
static PtxAccess store_of(PtxSpace space, int warp, int64_t base, int pitch, int bytes) {
  static const PtxOpcode row = {.name = "st.global.u32"};
  static PtxInst inst;
  inst.row = &row;
  PtxAccess access = {
      .inst = &inst, .space = space, .mask = ~0u, .bytes = bytes, .warp = warp, .is_store = true};
  for (int l = 0; l < PTX_LANES; l++) access.addr[l] = base + pitch * l;
  return access;
}

// Two stores one after the other: whether a word has values of two threads.
START_TEST(test_words_of_several_threads_are_disputed) {
  static const struct {
    PtxSpace space;
    int base[2], pitch, bytes, warp;  // the second store's warp
    bool is_disputed;
  } rows[] = {
      {PTX_SPACE_GLOBAL, {0, 128}, 4, 4, 1, false},
      {PTX_SPACE_GLOBAL, {0, 0}, 4, 4, 0, false},  // the same threads again
      {PTX_SPACE_GLOBAL, {0, 0}, 4, 4, 1, true},
      {PTX_SPACE_GLOBAL, {0, 124}, 4, 4, 1, true},   // the last lane and the first
      {PTX_SPACE_GLOBAL, {0, 1024}, 0, 4, 0, true},  // all lanes, one word
      {PTX_SPACE_GLOBAL, {0, 32}, 1, 1, 1, false},   // bytes of one word
      {PTX_SPACE_GLOBAL, {0, 512}, 16, 16, 1, false},
      {PTX_SPACE_GLOBAL, {0, 500}, 16, 16, 1, true},  // the last of its words
      {PTX_SPACE_SHARED, {0, 0}, 4, 4, 1, false},     // a barrier may stand between
      {PTX_SPACE_SHARED, {0, 256}, 0, 4, 1, true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    StoredWords words = {.arena = arena};
    for (int k = 0; k < 2; k++) {
      const PtxAccess access = store_of(rows[i].space, k ? rows[i].warp : 0, rows[i].base[k],
                                        rows[i].pitch, rows[i].bytes);
      stored_words_note(&words, &access);
    }
    ck_assert_msg(words.is_disputed == rows[i].is_disputed, "row %zu", i);
  }
}
END_TEST

// What all threads store to one word is not what a wrong assembler is shown by.
START_TEST(test_a_disputed_word_shows_nothing) {
  if (!has_tools()) return;
  const char *script = wrong_ptxas("s/max.s32/min.s32/"), *run_it;
  const char *file = kernel_of(
      "ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nmax.s32 %r2, %r1, 3;\nst.global.u32 [%rd3], %r2;\nret;\n");
  const CliRun run = cli_shell(
      arena, arena_printf(arena, "GEMMVIEW_PTXAS=%s $GEMMVIEW open %s" ASKED, script, file));
  ck_assert_msg(run.status == CLI_NO, "%s%s", run.out, run.err);
  reproducer(run.out, "disputed.ptx", &run_it);
  const CliRun right = cli_run(arena, run_it);
  ck_assert_msg(right.status == CLI_OK, "%s\n%s", run.out, right.out);
}
END_TEST

Suite *suite_machine_reduce(void) {
  Suite *suite = suite_create("machine_reduce");
  TCase *tcase = tcase_create("reduce");
  tcase_set_timeout(tcase, 900);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_a_text_in_pieces_is_the_same_text, 0, 10);
  tcase_add_test(tcase, test_what_nobody_needs_goes_along);
  tcase_add_test(tcase, test_operands_and_words_of_a_piece);
  tcase_add_loop_test(tcase, test_a_step_changes_what_it_says, 0,
                      (int)(sizeof steps / sizeof *steps));
  tcase_add_test(tcase, test_a_published_miscompile_is_reduced);
  // Half a minute each and more; short texts are reduced by the tests around.
  if (stress_is_on())
    tcase_add_loop_test(tcase, test_a_wrong_assembler_is_shown_by_few_lines, 0,
                        (int)(sizeof wrongs / sizeof *wrongs));
  tcase_add_test(tcase, test_what_cannot_be_reduced_is_said);
  tcase_add_test(tcase, test_a_register_that_nothing_wrote_is_told);
  tcase_add_test(tcase, test_words_of_several_threads_are_disputed);
  tcase_add_test(tcase, test_a_disputed_word_shows_nothing);
  suite_add_tcase(suite, tcase);
  return suite;
}
