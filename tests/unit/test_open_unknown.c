// Unknown values in the machine that runs PTX: what depends on them is marked, all else is as ever;
// a branch that depends on one ends the block.
#include <check.h>
#include <string.h>

#include "kernel_log.h"
#include "ptx_kernel.h"

Suite *suite_open_unknown(void);

static Arena *arena;
static uint32_t in[PTX_KERNEL_WORDS];

static void setup(void) {
  arena = arena_new("test");
  for (uint32_t i = 0; i < PTX_KERNEL_WORDS; i++) in[i] = i + 1;
}
static void teardown(void) { arena_free(arena); }

// A texture is not run: %f0 is unknown behind it, in the lanes that carry it out.
#define TEX "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd0, {%r9}];\n"
#define U0 TEX "mov.b32 %r0, %f0;\n"  // %r0 is unknown
#define OUT(value) "st.global.u32 [%o], " value ";\n"
#define DONE PTX_DONE

// What a body leaves in the 32 words of out[t]: whether each is unknown, and whether the run ended.
static const struct {
  const char *name, *body;
  uint32_t unknown;
  PtxOutcome outcome;
} cases[] = {
    {"its result", U0 OUT("%r0"), ~0u, DONE},
    {"not what was there before", "mov.u32 %r1, 5;" U0 OUT("%r1"), 0, DONE},
    {"a sum with it", U0 "add.u32 %r1, %r0, 1;" OUT("%r1"), ~0u, DONE},
    {"a register that is written anew", U0 "mov.u32 %r0, 7;" OUT("%r0"), 0, DONE},
    {"lanes under a guard", "setp.lt.u32 %p1, %t, 8;\n@%p1 " TEX "mov.b32 %r0, %f0;" OUT("%r0"),
     0xff, DONE},
    {"a predicate", U0 "setp.gt.u32 %p2, %r0, 3; selp.u32 %r1, 1, 2, %p2;" OUT("%r1"), ~0u, DONE},
    {"a move under an unknown guard",
     U0 "setp.gt.u32 %p2, %r0, 3; mov.u32 %r1, 4;\n@%p2 mov.u32 %r1, 5;" OUT("%r1"), ~0u, DONE},
    {"the carry", U0 "add.cc.u32 %r2, %r0, 1; addc.u32 %r1, 1, 1;" OUT("%r1"), ~0u, DONE},
    {"a later carry",
     U0 "add.cc.u32 %r2, %r0, 1; add.cc.u32 %r2, 1, 1; addc.u32 %r1, 1, 1;" OUT("%r1"), 0, DONE},
    {"another lane's",
     "setp.lt.u32 %p1, %t, 1; mov.u32 %r0, 3;\n@%p1 " TEX
     "@%p1 mov.b32 %r0, %f0; shfl.sync.bfly.b32 %r1, %r0, 16, 31, 0xffffffff;" OUT("%r1"),
     ~0u, DONE},
    {"by way of shared memory",
     "setp.lt.u32 %p1, %t, 4; mov.u32 %r0, 3;\n@%p1 " TEX
     "@%p1 mov.b32 %r0, %f0; mov.u32 %r2, s; add.u32 %r2, %r2, %t4; st.shared.u32 [%r2], %r0;"
     "bar.sync 0; ld.shared.u32 %r1, [%r2];" OUT("%r1"),
     0xf, DONE},
    {"memory that is written anew",
     U0 "mov.u32 %r2, s; add.u32 %r2, %r2, %t4; st.shared.u32 [%r2], %r0; st.shared.u32 [%r2], 1;"
        "ld.shared.u32 %r1, [%r2];" OUT("%r1"),
     0, DONE},
    {"a load at an unknown address",
     U0
     "mov.u32 %r2, s; and.b32 %r0, %r0, 12; add.u32 %r2, %r2, %r0; ld.shared.u32 %r1, [%r2];" OUT(
         "%r1"),
     ~0u, DONE},
    {"memory behind a store to an unknown address",
     "mov.u32 %r3, s; add.u32 %r3, %r3, %t4; st.shared.u32 [%r3], 9;" U0
     "mov.u32 %r2, s; and.b32 %r0, %r0, 12; add.u32 %r2, %r2, %r0; st.shared.u32 [%r2], 1;"
     "ld.shared.u32 %r1, [%r3];" OUT("%r1"),
     ~0u, DONE},
    {"a store that may not be", OUT("%t") U0 "setp.gt.u32 %p2, %r0, 3;\n@%p2 " OUT("%t"), ~0u,
     DONE},
    {"an atomic sum",
     "mov.u32 %r2, s; st.shared.u32 [%r2], 0;" U0
     "atom.shared.add.u32 %r1, [%r2], %r0; ld.shared.u32 %r1, [%r2];" OUT("%r1"),
     ~0u, DONE},
    {"a reduction",
     "setp.lt.u32 %p1, %t, 1; mov.u32 %r0, 3;\n@%p1 " TEX
     "@%p1 mov.b32 %r0, %f0; redux.sync.add.s32 %r1, %r0, 0xffffffff;" OUT("%r1"),
     ~0u, DONE},
    {"a copy of it",
     "st.global.u32 [%o], 1;" U0 "st.global.u32 [%o], %r0; mov.u32 %r2, s; add.u32 %r2, %r2, %t4;"
     "cp.async.ca.shared.global [%r2], [%o], 4; cp.async.wait_all; ld.shared.u32 %r1, [%r2];" OUT(
         "%r1"),
     ~0u, DONE},
    {"an mma that is not run",
     "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc"
     " {%r4, %r5, %r6, %r7}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r1, %r1, %r1, %r1};"
     "\nmov.b32 %r0, %r6;" OUT("%r0"),
     ~0u, DONE},
    {"a matrix of it",
     TEX "mov.f32 %f4, 0f00000000;"
         "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f4, %f5, %f6, %f7},"
         " {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f0, %f4, %f4, %f4}; mov.b32 %r0, %f7;" OUT("%r0"),
     ~0u, DONE},
    {"a branch", U0 "setp.gt.u32 %p2, %r0, 3;\n@%p2 bra L;\n" OUT("1") "L:\n", 0, PTX_STOPPED},
    {"a branch on something else", U0 "setp.gt.u32 %p2, %t, 3;\n@%p2 bra L;\n" OUT("%r0") "L:\n",
     0xf, DONE},
    {"an mbarrier's address", U0 "mbarrier.init.shared.b64 [%r0], 1;", 0, PTX_STOPPED},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static uint32_t unknown_words(const PtxKernel *k) {
  uint32_t words = 0;
  for (int t = 0; t < 32; t++)
    if (ptx_machine_unknown_bytes(k->machine, k->out_address + 4 * (uint64_t)t, 4) > 0)
      words |= 1u << t;
  return words;
}

START_TEST(test_what_depends_is_marked) {
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, cases[_i].body), NULL, 32, in);
  ck_assert_msg(k.outcome == cases[_i].outcome, "%s: outcome %d", cases[_i].name, (int)k.outcome);
  const uint32_t unknown = unknown_words(&k);
  ck_assert_msg(unknown == cases[_i].unknown, "%s: unknown in lanes 0x%08x, not in 0x%08x",
                cases[_i].name, unknown, cases[_i].unknown);
}
END_TEST

// The finding names the branch and the instruction that the value comes from.
START_TEST(test_a_branch_names_where_the_value_comes_from) {
  const PtxKernel k = ptx_kernel_run(
      arena, ptx_kernel_text(arena, U0 "setp.gt.u32 %p2, %r0, 3;\n@%p2 bra L;\nL:\n"), NULL, 32,
      in);
  const PtxFinding *f = ptx_kernel_finding(&k, PTX_FINDING_UNKNOWN);
  ck_assert(f != NULL);
  ck_assert_str_eq(k.module->code[f->pc].row->name, "bra");
  ck_assert_str_eq(k.module->code[f->other_pc].row->name, "tex");
  ck_assert(strstr(f->text, "a branch depends on a value that is not known here") != NULL);
}
END_TEST

// Lines whose accesses are left out have no count; the others keep theirs.
START_TEST(test_only_the_line_of_an_unknown_address_has_no_count) {
  const char *body = "mov.u32 %r3, s; add.u32 %r3, %r3, %t4;\nst.shared.u32 [%r3], 9;\n" U0
                     "mov.u32 %r2, s; and.b32 %r0, %r0, 12; add.u32 %r2, %r2, %r0;\n"
                     "ld.shared.u32 %r1, [%r2];\nld.shared.u32 %r4, [%r3];\n";
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, 32, in);
  const PtxLines *lines = ptx_tally_lines(arena, k.tally);
  ck_assert_int_eq(lines->n, 3);
  ck_assert_int_eq(lines->wavefronts, 2);
  ck_assert(!lines->countable);
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(lines->items[i].unknown, i == 1);
    ck_assert_int_eq(lines->items[i].countable, i != 1);
  }
}
END_TEST

// Where nothing is unknown nothing is marked, whatever the text has.
START_TEST(test_an_instruction_that_never_runs_marks_nothing) {
  const PtxKernel k = ptx_kernel_run(
      arena,
      ptx_kernel_text(arena, "setp.gt.u32 %p1, %t, 100;\n@%p1 " U0 "mov.u32 %r0, 4;" OUT("%r0")),
      NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_uint_eq(unknown_words(&k), 0);
  ck_assert_uint_eq(k.out[5], 4);
}
END_TEST

// ---- given --------------------------------------------------------------------------------------

static const char GIVEN[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".func (.reg .u32 %back) twice(.reg .u32 %x) { add.u32 %back, %x, %x; ret; }\n"
    ".visible .entry k(.param .u64 from, .param .u64 to, .param .u32 n)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r1, [n];\n"
    "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd1+4];\n"
    "call (%r4), twice, (%r1); call (%r5), twice, (7); call (%r6), twice, (%r2);\n"
    "st.global.u32 [%rd2], %r4; st.global.u32 [%rd2+4], %r5; st.global.u32 [%rd2+8], %r6;\n"
    "st.global.u32 [%rd2+12], %r3;\nret;\n}\n";

// {n unknown, from unknown}: words of `to` that are.
static void run_given(bool argument, bool memory, const bool unknown[4]) {
  Diags diags = diags_new(arena);
  const PtxModule *module = ptx_module_read(arena, GIVEN, strlen(GIVEN), "k.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const PtxFunction *kernel = ptx_module_kernel(module, "k", &diags);
  const PtxLaunch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  PtxMachine *m = ptx_machine_new(arena, module, kernel, &launch, &diags);
  const uint64_t from = ptx_machine_buffer(m, "from", 64, NULL,
                                           memory ? PTX_CONTENT_UNKNOWN : PTX_CONTENT_ZERO),
                 to = ptx_machine_buffer(m, "to", 64, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(m, 0, &from, sizeof from);
  ptx_machine_param(m, 1, &to, sizeof to);
  if (argument) ptx_machine_param_unknown(m, 2);
  ck_assert_int_eq(ptx_machine_run(m, 0, 0, 0), PTX_DONE);
  ck_assert_int_eq(ptx_machine_findings(m), 0);
  for (int i = 0; i < 4; i++)
    ck_assert_msg(ptx_machine_unknown_bytes(m, to + 4 * (uint64_t)i, 4) == (unknown[i] ? 4 : 0),
                  "word %d", i);
}

START_TEST(test_unknown_arguments_and_memory) {
  run_given(false, false, (bool[]){0, 0, 0, 0});
  run_given(true, false, (bool[]){1, 0, 0, 0});
  run_given(false, true, (bool[]){0, 0, 1, 1});
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/unknown.txt"); }
END_TEST

Suite *suite_open_unknown(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_unknown");
  TCase *tcase = tcase_create("unknown");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_what_depends_is_marked, 0, N_CASES);
  tcase_add_test(tcase, test_a_branch_names_where_the_value_comes_from);
  tcase_add_test(tcase, test_only_the_line_of_an_unknown_address_has_no_count);
  tcase_add_test(tcase, test_an_instruction_that_never_runs_marks_nothing);
  tcase_add_test(tcase, test_unknown_arguments_and_memory);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}
