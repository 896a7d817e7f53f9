// Machine code run on the CPU: what it leaves in memory is what its PTX leaves, bit for bit, and
// what it costs in shared memory is what an H200 counted.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine/back/mc_back.h"
#include "machine/mc_isa.h"
#include "machine_case.h"
#include "model/interp/interp.h"
#include "model/interp/interp_machine.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/schedules/reduce.h"
#include "open_case.h"
#include "property.h"
#include "ptx_plan.h"
#include "stress.h"

Suite *suite_machine(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- kernels of anybody's -----------------------------------------------------------------------

static void run_well(const OpenCase *c) {
  const PtxOutcome outcome = open_case_run(c);
  const int n = ptx_machine_findings(c->machine);
  const PtxFinding *f = n ? ptx_machine_finding(c->machine, 0) : NULL;
  ck_assert_msg(outcome == PTX_DONE && n == 0, "%s: %s at 0x%x: %s", c->id,
                f ? ptx_finding_names[f->kind] : "stopped", f ? f->pc * 16 : 0,
                f && f->text ? f->text : "");
}

// The first byte that differs, of an argument; -1: none does.
static int64_t differs_at(const OpenCase *a, const OpenCase *b, int arg) {
  const unsigned char *x = ptx_machine_bytes(a->machine, a->buffers[arg], a->bytes[arg]),
                      *y = ptx_machine_bytes(b->machine, b->buffers[arg], b->bytes[arg]);
  for (int64_t i = 0; i < a->bytes[arg]; i++)
    if (x[i] != y[i]) return i;
  return -1;
}

static void check_same(int index, const PtxModule *module) {
  const OpenCase ptx = open_case_load(arena, index, NULL),
                 machine = open_case_load_module(arena, index, module);
  run_well(&ptx);
  run_well(&machine);
  for (int i = 0; i < ptx.n_args; i++) {
    if (!ptx.bytes[i]) continue;
    const int64_t at = differs_at(&ptx, &machine, i);
    ck_assert_msg(at < 0, "%s: byte %lld of argument %d differs", ptx.id, (long long)at, i);
  }
  OpenCount counts[256];
  const int n = open_case_counts(arena, ptx.id, counts, 256);
  int64_t counted = 0;
  for (int i = 0; i < n; i++) counted += counts[i].wavefronts;
  const PtxLines *lines = ptx_tally_lines(arena, machine.tally);
  ck_assert_msg(lines->countable && lines->wavefronts == counted,
                "%s: %lld wavefronts, counted %lld", ptx.id, (long long)lines->wavefronts,
                (long long)counted);
}

START_TEST(test_recorded_code_leaves_what_its_ptx_leaves) {
  check_same(_i, machine_case_recorded(arena, open_case_id(_i)));
}
END_TEST

START_TEST(test_code_made_here_leaves_what_its_ptx_leaves) {
  Diags diags = diags_new(arena);
  size_t n = 0;
  const char *ptx = open_case_text(arena, arena_printf(arena, "%s.ptx", open_case_id(_i)));
  const char *cubin = machine_case_assemble(arena, ptx, "sm_90a", &n);
  const PtxModule *module = cubin ? machine_case_module(arena, cubin, n, NULL, &diags) : NULL;
  if (cubin && !module) ck_assert_msg(diags.count == 0, "%s", diags_text(arena, &diags));
  if (module) check_same(_i, module);
}
END_TEST

// ---- rungs --------------------------------------------------------------------------------------

static EmitCases cases;
static bool has_nvrtc;

static void setup_rungs(void) {
  setup();
  cases = emit_cases(arena);
  nvrtc_describe(arena, &has_nvrtc);
}

// Few tiles, and more slabs than a ring has.
static const Model *small(int rung, const char *target) {
  Schedule schedule = property_of_two_heads(&cases.rung[rung].rung->schedule);
  if (target) snprintf(schedule.target, sizeof schedule.target, "%s", target);
  const int64_t *v = schedule.value;
  if (cases.rung[rung].rung->not_built || emit_case_has_own_target(&cases, rung)) return NULL;
  if (v[KNOB_PERSISTENT] || v[KNOB_TAIL_SPLIT] > 1) return NULL;
  if (v[KNOB_SPLITK] > 4) schedule_set(&schedule, KNOB_SPLITK, 4);
  const int64_t m = max64(schedule_tile(&schedule, KNOB_M) * v[KNOB_CLUSTER_M], 16),
                n = max64(schedule_tile(&schedule, KNOB_N) * v[KNOB_CLUSTER_N], 16),
                k = max64(schedule_tile(&schedule, schedule_walked(&schedule)) *
                              (v[KNOB_BUFFER_COUNT] + 2),
                          16);
  schedule_resize(&schedule, m, n, k);
  const Model *model = model_build(arena, &cases.targets, &schedule);
  return model->ok ? model : NULL;
}

enum { KERNELS_MOST = 8 };

typedef struct Cubin {
  const CompileResult *compiled;
  const PtxModule *module[KERNELS_MOST];  // those that were read, each once
  const char *kernel[KERNELS_MOST];
  int n;
} Cubin;

static const PtxModule *module_of(void *context, const char *kernel) {
  Cubin *cubin = context;
  Diags diags = diags_new(arena);
  for (int i = 0; i < cubin->n; i++)
    if (str_equal(cubin->kernel[i], kernel)) return cubin->module[i];
  const PtxModule *module = machine_case_module(arena, cubin->compiled->cubin,
                                                cubin->compiled->cubin_bytes, kernel, &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  ck_assert_int_lt(cubin->n, KERNELS_MOST);
  cubin->kernel[cubin->n] = kernel;
  cubin->module[cubin->n++] = module;
  return module;
}

// A sentence of the first instruction of any kernel that is not run.
static const char *refused(const Plan *plan, Cubin *cubin) {
  for (int i = 0; i < plan->n_kernels; i++) {
    const PtxModule *module = module_of(cubin, plan->kernels[i].name);
    for (int pc = 0; pc < module->n_code; pc++)
      if (module->code[pc].why) return module->code[pc].why;
  }
  return NULL;
}

// C by the machine code of a rung for a target, NULL: its own, is what it is by its PTX.
static void check_rung(int rung, const char *target) {
  const Model *model = small(rung, target);
  if (!model) return;
  const Emission *emission = emit_model(arena, model, model->program);
  const Plan *plan =
      plan_from_emission(arena, emission, model->program, model->target, cases.rung[rung].name);
  Cubin cubin = {.compiled = compile_once(arena, plan, COMPILE_BOTH)};
  if (!cubin.compiled->ok || !sass_find_tool(arena)) return;
  const char *why = refused(plan, &cubin);
  if (why) {
    fprintf(stderr, "machine: %s, %s is left out: %s\n", cases.rung[rung].name,
            target ? target : "its target", why);
    return;
  }
  const int64_t *v = model->schedule.value;
  PtxPlanGiven given = {.ptx = cubin.compiled->ptx,
                        .main_kernel = model->program->main_kernel,
                        .clusters = 2,
                        .a = ptx_plan_numbers(arena, v[KNOB_M] * v[KNOB_K], 1),
                        .b = ptx_plan_numbers(arena, v[KNOB_K] * v[KNOB_N], 2),
                        .context = &cubin};
  if (model->program->problem.kind != PROBLEM_MATMUL) {
    given.a = interp_inputs_of(arena, &model->program->problem, 1, 0);
    given.b = interp_inputs_of(arena, &model->program->problem, 1, 1);
    given.v = interp_inputs_of(arena, &model->program->problem, 1, 2);
  }
  const PtxPlanRun text = ptx_plan_run(arena, plan, &given);
  given.module_of = module_of;
  const PtxPlanRun machine = ptx_plan_run(arena, plan, &given);
  const int64_t cells = plan_c_bytes(plan) / plan_type_bytes(plan->output_type);
  ck_assert_msg(memcmp(text.c, machine.c, sizeof *text.c * (size_t)cells) == 0,
                "%s, %s: C differs from what its PTX computes", cases.rung[rung].name,
                target ? target : "its target");
}

enum { ONE_IN = 12 };

START_TEST(test_a_rung_from_its_machine_code) {
  const bool asked = _i < cases.n && stress_has_dear_turn(_i + ONE_IN - 1, ONE_IN, ONE_IN);
  if (has_nvrtc && asked) check_rung(_i, NULL);
}
END_TEST

// Those that earlier GPUs can run.
static const char *const earlier[] = {"a100", "rtx3090", "rtx4090"};
enum { EARLIER = sizeof earlier / sizeof *earlier, EARLIER_ONE_IN = 80 };

START_TEST(test_a_rung_for_an_earlier_gpu) {
  const int rung = _i / EARLIER;
  const bool asked = rung < cases.n && stress_has_dear_turn(_i, EARLIER_ONE_IN, EARLIER_ONE_IN);
  if (has_nvrtc && asked) check_rung(rung, earlier[_i % EARLIER]);
}
END_TEST

// ---- what is refused ----------------------------------------------------------------------------

START_TEST(test_what_is_not_known_is_refused_by_its_name) {
  static const struct {
    const char *instead, *says;
  } rows[] = {
      {"XYZZY R0, R1", "XYZZY is not run here: the instruction is not known"},
      {"S2R.FROB R0, SR_CTAID.X", "S2R is not run here: .FROB is not known"},
      {"S2R R0, SR_NOWHERE", "the special register is not known"},
      {"IADD3 R0, R1", "its operands are not known"},
      // 128 registers of sums from R128 on, 64 from R192 on: one too many.
      {"HGMMA.64x256x16.F32.BF16 R128, gdesc[UR4], RZ, !UPT, gsb0", "its operands are not known"},
      {"HGMMA.64x256x16.F16 R192, gdesc[UR4], RZ, !UPT, gsb0", "its operands are not known"},
      // These are known; what they would read lies outside of shared memory.
      {"HGMMA.64x256x16.F32.BF16 R120, gdesc[UR4], RZ, !UPT, gsb0", NULL},
      {"HGMMA.64x256x16.F16 R184, gdesc[UR4], RZ, !UPT, gsb0", NULL},
  };
  Diags diags = diags_new(arena);
  size_t n = 0, length = 0;
  const char *cubin = machine_case_file(arena, "k01", ".cubin", &n);
  char *listing = machine_case_file(arena, "k01", ".sass", &length);
  const char *at = strstr(listing, "S2R ");
  ck_assert(at != NULL);
  const char *text = arena_printf(arena, "%.*s%s %s", (int)(at - listing), listing,
                                  rows[_i].instead, at + strcspn(at, ";"));
  const PtxModule *module = machine_case_read(arena, cubin, n, text, NULL, &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const OpenCase c = open_case_load_module(arena, 0, module);
  ck_assert_int_eq(open_case_run(&c), PTX_STOPPED);
  const PtxFinding *f = ptx_machine_finding(c.machine, 0);
  ck_assert_int_eq(f->kind == PTX_FINDING_NOT_RUN, rows[_i].says != NULL);
  if (!rows[_i].says) return;
  ck_assert_msg(strstr(f->text, rows[_i].says) && strstr(f->text, "(at 0x"), "%s", f->text);
}
END_TEST

// ---- planted faults -----------------------------------------------------------------------------

enum { SGEMM = 4, PLANTED = 8 };

typedef struct Planted {
  const PtxModule *module[2];  // the second: the machine code
} Planted;

static OpenCase load_side(const Planted *p, bool machine_code) {
  return machine_code ? open_case_load_module(arena, SGEMM, p->module[1])
                      : open_case_load(arena, SGEMM, NULL);
}

static bool again(void *self, bool machine_code, PtxTrace *trace, PtxAccessSink *sink,
                  void *context) {
  const OpenCase c = load_side(self, machine_code);
  if (sink) ptx_machine_watch(c.machine, sink, context);
  if (trace) ptx_machine_trace(c.machine, trace, context);
  ptx_machine_run(c.machine, 0, 0, 0);
  return true;
}

// The listing with another register as the first that the nth FFMA reads; gives its address.
static const char *plant(char *listing, int nth, int *address) {
  char *at = listing;
  for (int i = 0; i <= nth; i++) at = strstr(at + 1, " FFMA R");
  ck_assert(at != NULL);
  char *line = at;
  while (line > listing && *line != '\n') line--;
  *address = (int)strtol(strstr(line, "/*") + 2, NULL, 16);
  char *digit = strchr(strchr(at, ','), 'R') + 1;
  *digit = *digit == '1' ? '2' : '1';
  return listing;
}

START_TEST(test_a_planted_operand_is_found) {
  Diags diags = diags_new(arena);
  size_t n = 0, length = 0;
  const char *cubin = machine_case_file(arena, "k09", ".cubin", &n);
  char *listing = machine_case_file(arena, "k09", ".sass", &length);
  int planted = 0;
  Planted p = {{NULL}};
  p.module[1] =
      machine_case_read(arena, cubin, n, plant(listing, 20 + 9 * _i, &planted), NULL, &diags);
  ck_assert_msg(p.module[1] != NULL, "%s", diags_text(arena, &diags));
  const OpenCase text = load_side(&p, false), machine = load_side(&p, true);
  ptx_machine_run(text.machine, 0, 0, 0);
  ptx_machine_run(machine.machine, 0, 0, 0);
  const int64_t at = differs_at(&text, &machine, 7);
  ck_assert_int_ge(at, 0);
  const int *line = ARENA_ARRAY(arena, int, p.module[1]->n_code);
  const McFault f = mc_back(arena, again, &p, line, p.module[1]->n_code,
                            machine.buffers[7] + (uint64_t)(at / 4 * 4));
  ck_assert_msg(f.found && f.pc * 16 == planted, "planted at 0x%x, found at 0x%x", planted,
                f.pc * 16);
}
END_TEST

// Every row can be come by: its operands are letters that are known, its PTX names operands it has.
START_TEST(test_the_table_says_what_it_may) {
  for (int i = 0; i < mc_op_count; i++) {
    const McOp *op = &mc_ops[i];
    ck_assert_msg(op->as || op->run, "%s %s", op->name, op->needs);
    int n = 0;
    for (const char *c = op->operands; *c; c += strcspn(c, " "), c += strspn(c, " ")) {
      ck_assert_msg(strchr("dsrfhglnuyzpqvebatokcixjPAGC", *c), "%s: operand %c", op->name, *c);
      n++;
    }
    for (const char *c = op->as; c && *c; c++)
      if (*c == '$') ck_assert_msg(c[1] - '0' < n, "%s: %s", op->name, op->as);
    for (const char *c = op->takes; *c; c += strcspn(c, " "), c += strspn(c, " ")) {
      bool known = false;
      for (int w = 0; w < MC_WORDS; w++)
        known |= mc_listed(mc_words[w].class, c, (int)strcspn(c, " "));
      ck_assert_msg(known, "%s takes %s", op->name, c);
    }
  }
}
END_TEST

Suite *suite_machine(void) {
  Suite *suite = suite_create("machine");
  TCase *tcase = tcase_create("machine");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_recorded_code_leaves_what_its_ptx_leaves, 0, 10);
  stress_add_turns(tcase, test_code_made_here_leaves_what_its_ptx_leaves, 10, 3);
  tcase_add_loop_test(tcase, test_what_is_not_known_is_refused_by_its_name, 0, 8);
  tcase_add_test(tcase, test_the_table_says_what_it_may);
  tcase_add_loop_test(tcase, test_a_planted_operand_is_found, 0, PLANTED);
  suite_add_tcase(suite, tcase);
  TCase *rungs = tcase_create("rungs");
  tcase_set_timeout(rungs, 120);
  tcase_add_unchecked_fixture(rungs, setup_rungs, teardown);  // once: most turns are not asked
  tcase_add_loop_test(rungs, test_a_rung_from_its_machine_code, 0, EMIT_CASES_MAX);
  tcase_add_loop_test(rungs, test_a_rung_for_an_earlier_gpu, 0, EARLIER * EMIT_CASES_MAX);
  suite_add_tcase(suite, rungs);
  return suite;
}
