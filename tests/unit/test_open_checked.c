// Kernels in many styles that check what they computed themselves, against another way to compute
// it, and trap where it is wrong (tests/data/open/checked.cu): divergence, shuffles, carved and
// punned shared memory, cooperative groups, volatile, local arrays, pointers to functions, a
// cuda::barrier, PTX in C++, bf16x2, jumps by table, whole numbers of 64 bits, votes, pipelines.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "open_case.h"

Suite *suite_open_checked(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

typedef struct Checked {
  const char *kernel;
  int threads, smem, number;  // the number is the last parameter, where it is one
  PtxFindingKind kind;        // PTX_FINDINGS: nothing
} Checked;

static const Checked cases[] = {
    {"nested", 64, 0, 50, PTX_FINDINGS},
    {"shfl", 256, 0, 0, PTX_FINDINGS},
    {"carve", 128, 2048, 0, PTX_FINDINGS},
    {"carve", 64, 2048, 0, PTX_FINDING_TRAP},  // it counts on 128
    {"uni", 64, 0, 0, PTX_FINDINGS},
    {"coop", 128, 0, 0, PTX_FINDINGS},
    {"tmpl", 256, 0, 0, PTX_FINDINGS},
    {"vol", 64, 0, 0, PTX_FINDINGS},
    {"local", 64, 0, 100, PTX_FINDINGS},
    {"fptr", 96, 0, 0, PTX_FINDINGS},
    {"mbar", 64, 0, 0, PTX_FINDINGS},
    {"iasm", 64, 0, 0, PTX_FINDINGS},
    {"bf", 64, 0, 0, PTX_FINDINGS},
    {"sw", 64, 0, 0, PTX_FINDINGS},
    {"math", 64, 0, 0, PTX_FINDINGS},
    {"wv", 64, 0, 0, PTX_FINDINGS},
    {"pipe", 64, 0, 0, PTX_FINDINGS},
    {"rec", 64, 0, 0, PTX_FINDING_DEPTH},  // a function that calls itself is read, and named
};

static void give(PtxMachine *machine, const PtxFunction *kernel, int number) {
  for (int i = 0; i < kernel->n_params; i++) {
    const uint64_t value = kernel->params[i].bytes == 8
                               ? ptx_machine_buffer(machine, "m", 1 << 14, NULL, PTX_CONTENT_ZERO)
                               : (uint64_t)number;
    ptx_machine_param(machine, i, &value, kernel->params[i].bytes);
  }
}

START_TEST(test_kernels_find_their_results_right) {
  const Checked *c = &cases[_i];
  Diags diags = diags_new(arena);
  const char *ptx = open_case_text(arena, "checked.ptx");
  PtxModule *module = ptx_module_read(arena, ptx, strlen(ptx), "checked.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const PtxFunction *kernel = ptx_module_kernel(module, c->kernel, &diags);
  const PtxLaunch launch = {
      .grid = {1, 1, 1}, .block = {c->threads, 1, 1}, .dynamic_smem = c->smem, .budget = 1 << 24};
  PtxMachine *machine = ptx_machine_new(arena, module, kernel, &launch, &diags);
  ck_assert_msg(machine != NULL, "%s", diags_text(arena, &diags));
  give(machine, kernel, c->number);
  const PtxOutcome outcome = ptx_machine_run(machine, 0, 0, 0);
  const PtxFinding *f = ptx_machine_findings(machine) ? ptx_machine_finding(machine, 0) : NULL;
  const PtxFindingKind kind = f ? f->kind : PTX_FINDINGS;
  ck_assert_msg(kind == c->kind && (outcome == PTX_DONE) == !f, "%s: %s, PTX line %d", c->kernel,
                f ? ptx_finding_names[kind] : "nothing is found", f ? module->code[f->pc].line : 0);
}
END_TEST

Suite *suite_open_checked(void) {
  Suite *suite = suite_create("open_checked");
  TCase *tcase = tcase_create("checked");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_kernels_find_their_results_right, 0,
                      sizeof cases / sizeof cases[0]);
  suite_add_tcase(suite, tcase);
  return suite;
}
