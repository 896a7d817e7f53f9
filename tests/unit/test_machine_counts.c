// Each instruction of a kernel's machine code is carried out as often as an H200 counted, with as
// many wavefronts in shared memory (tests/data/h200_executed.tsv). All blocks of these kernels go
// the same way: one is run.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "machine_case.h"
#include "model/ir/program.h"
#include "ptx/tally/tally.h"
#include "stress.h"

Suite *suite_machine_counts(void);

enum { KERNELS = 9, CHEAPEST = 6, TEXT_MAX = 1 << 20 };

static Arena *arena;
static EmitCases cases;
static bool has_nvrtc;

static void setup(void) {
  arena = arena_new("test");
  cases = emit_cases(arena);
  nvrtc_describe(arena, &has_nvrtc);
}
static void teardown(void) { arena_free(arena); }

typedef struct Counted {
  char state[512];
  int n;
  long long *executed, *wavefronts;
} Counted;

static Counted read_counted(int index) {
  FILE *file = fopen("tests/data/h200_executed.tsv", "r");
  ck_assert(file != NULL);
  Counted c = {0};
  for (int i = 0; i <= index; i++) {
    ck_assert_int_eq(fscanf(file, "%511s %d", c.state, &c.n), 2);
    c.executed = ARENA_ARRAY(arena, long long, c.n + 1);
    c.wavefronts = ARENA_ARRAY(arena, long long, c.n + 1);
    for (int k = 0; k < c.n; k++)
      ck_assert_int_eq(fscanf(file, "%lld %lld", &c.executed[k], &c.wavefronts[k]), 2);
  }
  fclose(file);
  return c;
}

static PtxMachine *machine_of(const Plan *plan, const PlanKernel *k, const PtxModule *module) {
  Diags diags = diags_new(arena);
  const PtxFunction *kernel = ptx_module_kernel(module, k->name, &diags);
  PtxLaunch launch = {.dynamic_smem = (int)k->smem_bytes};
  for (int d = 0; d < 3; d++) {
    launch.grid[d] = (int)max64(k->grid[d], 1);
    launch.block[d] = (int)max64(k->block[d], 1);
  }
  PtxMachine *m = ptx_machine_new(arena, module, kernel, &launch, &diags);
  ck_assert_msg(m != NULL, "%s", diags_text(arena, &diags));
  for (int i = 0; i < k->n_args; i++) {
    const float one = 1;
    if (k->args[i] < PLAN_N_BUFFERS) {
      const int64_t bytes = max64(plan_buffer_bytes(plan, k->args[i]), 1);
      const uint64_t at = ptx_machine_buffer(m, "matrix", bytes, NULL, PTX_CONTENT_GIVEN);
      ptx_machine_param(m, i, &at, 8);
    } else {
      ptx_machine_param(m, i, &one, 4);
    }
  }
  return m;
}

static void check_counts(const Counted *c, const PtxMachine *m, const PtxTally *tally,
                         int64_t blocks, int n_code) {
  ck_assert_int_le(n_code, c->n);
  for (int pc = 0; pc < n_code; pc++) {
    const PtxSiteCount *site = ptx_tally_site(tally, pc);
    ck_assert_msg(ptx_machine_executions(m, pc) * blocks == c->executed[pc],
                  "%s at 0x%x: executed %lld times, counted %lld", c->state, pc * 16,
                  (long long)(ptx_machine_executions(m, pc) * blocks), c->executed[pc]);
    if (site->space == PTX_SPACE_SHARED)
      ck_assert_msg(site->wavefronts * blocks == c->wavefronts[pc],
                    "%s at 0x%x: %lld wavefronts, counted %lld", c->state, pc * 16,
                    (long long)(site->wavefronts * blocks), c->wavefronts[pc]);
  }
}

START_TEST(test_executions_and_wavefronts_are_those_counted) {
  if (!has_nvrtc || (_i != CHEAPEST && !stress_has_dear_turn(_i, KERNELS, KERNELS))) return;
  const Counted c = read_counted(_i);
  const Model *model = emit_state(&cases, c.state);
  const Emission *emission = emit_model(arena, model, model->program);
  const Plan *plan = plan_from_emission(arena, emission, model->program, model->target, "counted");
  const CompileResult *compiled = compile_once(arena, plan, COMPILE_BOTH);
  ck_assert_msg(compiled->ok, "%s", compiled->error);
  const PlanKernel *k = &plan->kernels[model->program->main_kernel];
  Diags diags = diags_new(arena);
  const PtxModule *module =
      machine_case_module(arena, compiled->cubin, compiled->cubin_bytes, k->name, &diags);
  if (!module) return;
  PtxMachine *m = machine_of(plan, k, module);
  PtxTally *tally = ptx_tally_new(arena, module, ptx_module_kernel(module, k->name, &diags));
  ptx_machine_watch(m, ptx_tally_access, tally);
  ck_assert_int_eq(ptx_machine_run(m, 0, 0, 0), PTX_DONE);
  check_counts(&c, m, tally, max64(k->grid[0], 1) * max64(k->grid[1], 1) * max64(k->grid[2], 1),
               module->n_code - 1);
}
END_TEST

Suite *suite_machine_counts(void) {
  Suite *suite = suite_create("machine_counts");
  TCase *tcase = tcase_create("counts");
  tcase_set_timeout(tcase, 600);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_executions_and_wavefronts_are_those_counted, 0, KERNELS);
  suite_add_tcase(suite, tcase);
  return suite;
}
