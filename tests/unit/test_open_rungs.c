// Every rung of every ladder, exported and opened: its text compiled to PTX and run as anybody's
// kernel is. C is what the interpreter computes from the same matrices, nothing is found, and
// shared memory costs what the model says of the same machine code.
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/whole.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/machine_code.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/interp/interp.h"
#include "model/interp/interp_machine.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "ptx/tally/reconcile.h"
#include "ptx_plan.h"
#include "stress.h"

Suite *suite_open_rungs(void);

enum {
  SAMPLE = 13
};  // every thirteenth rung: of each family some; in make test every fourth one of these

static Arena *arena;
static EmitCases cases;
static bool has_nvrtc;

static void setup(void) {
  arena = arena_new("test");
  cases = emit_cases(arena);
  nvrtc_describe(arena, &has_nvrtc);
}
static void teardown(void) { arena_free(arena); }

// Of a persistent kernel: enough that the parts of a last turn find a place.
static int64_t clusters_of(const int64_t *v) {
  return v[KNOB_TAIL_SPLIT] > 1 ? v[KNOB_TAIL_SPLIT] : 2;
}

// Few tiles, and more slabs than a ring has: what a schedule does, it has done by then.
static const Model *small(int rung) {
  Schedule schedule = property_of_two_heads(&cases.rung[rung].rung->schedule);
  const int64_t *v = schedule.value;
  if (cases.rung[rung].rung->not_built) return NULL;
  const int64_t tail = v[KNOB_TAIL_SPLIT],
                tiles = v[KNOB_PERSISTENT] ? clusters_of(v) * 2 - (tail > 1 ? tail - 1 : 0) : 1;
  if (v[KNOB_SPLITK] > 4) schedule_set(&schedule, KNOB_SPLITK, 4);
  const int64_t m = max64(schedule_tile(&schedule, KNOB_M) * v[KNOB_CLUSTER_M], 16),
                n = max64(schedule_tile(&schedule, KNOB_N) * v[KNOB_CLUSTER_N] * tiles, 16),
                ring = v[KNOB_BUFFER_COUNT],
                // A ring whose slots are known beforehand begins anew with every tile.
      slabs = round_up(ring + 2, v[KNOB_UNROLL_RING] ? ring * tail : tail),
                k = max64(schedule_tile(&schedule, schedule_walked(&schedule)) * slabs, 16);
  schedule_resize(&schedule, m, n, k);
  const Model *model = model_build(arena, &cases.targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", cases.rung[rung].name, diags_text(arena, &model->diags));
  return model;
}

typedef struct Inputs {
  const float *a, *b, *v, *scale[2];
} Inputs;

// Of attention such that all weights are powers of two.
static Inputs inputs_of(const Model *model) {
  const int64_t *v = model->schedule.value;
  const bool scaled = dtype_is_scaled(model->program->problem.dtype);
  if (model->program->problem.kind == PROBLEM_MATMUL && !scaled)
    return (Inputs){.a = ptx_plan_numbers(arena, v[KNOB_M] * v[KNOB_K], 1),
                    .b = ptx_plan_numbers(arena, v[KNOB_K] * v[KNOB_N], 2)};
  const float *of[PROBLEM_INPUTS_MAX];
  for (int i = 0; i < (scaled ? 4 : 3); i++)
    of[i] = interp_inputs_of(arena, &model->program->problem, 1, i);
  if (scaled) return (Inputs){of[0], of[1], NULL, {of[2], of[3]}};
  return (Inputs){.a = of[0], .b = of[1], .v = of[2]};
}

typedef struct Opened {
  const char *name;
  const Model *model;
  const Emission *emission;
  const Plan *plan;
  const CompileResult *compiled;
  const SassResult *sass;  // NULL: there is no nvdisasm here
  bool agrees;             // the machine code could be held against the text
  PtxPlanRun run;
} Opened;

static void reconcile(void *context, const PtxModule *module, const PtxFunction *kernel,
                      PtxTally *tally) {
  Opened *o = context;
  if (!o->sass) return;
  MachineInst *code = ARENA_ARRAY(arena, MachineInst, o->sass->n_lines + 1);
  int n = 0;
  for (int i = 0; i < o->sass->n_lines; i++) {
    const SassLine *line = &o->sass->lines[i];
    if (line->opcode && line->address >= 0 && strcmp(line->kernel, kernel->name) == 0)
      code[n++] = (MachineInst){(uint64_t)line->address, line->opcode};
  }
  const char *cubin = (const char *)o->compiled->cubin, *why = "";
  const size_t bytes = o->compiled->cubin_bytes;
  const LineTable source = line_table_read(arena, cubin, bytes, ".debug_line", kernel->name),
                  ptx = line_table_read(arena, cubin, bytes, ".nv_debug_line_sass", kernel->name);
  o->agrees = ptx_reconcile(arena, module, kernel, tally, code, n, &source, &ptx, &why);
}

static Opened compile_rung(int rung, const Model *model) {
  Opened o = {.name = cases.rung[rung].name, .model = model};
  o.emission = emit_model(arena, model, model->program);
  o.plan = plan_from_emission(arena, o.emission, model->program, model->target, o.name);
  o.compiled = compile_once(arena, o.plan, COMPILE_BOTH);
  ck_assert_msg(o.compiled->ok, "%s: %s", o.name, o.compiled->error);
  return o;
}

static Opened open_rung(int rung, const Inputs *in, const Model *model) {
  Opened o = compile_rung(rung, model);
  if (sass_find_tool(arena))
    o.sass = sass_disassemble(arena, o.compiled->cubin, o.compiled->cubin_bytes, 60);
  const PtxPlanGiven given = {.ptx = o.compiled->ptx,
                              .main_kernel = model->program->main_kernel,
                              .clusters = clusters_of(model->schedule.value),
                              .a = in->a,
                              .b = in->b,
                              .v = in->v,
                              .scale = {in->scale[0], in->scale[1]},
                              .prepare = reconcile,
                              .context = &o};
  o.run = ptx_plan_run(arena, o.plan, &given);
  return o;
}

static void check_product(const Opened *o, const Inputs *in) {
  const InterpOptions options = {.seed = 1,
                                 .a = in->a,
                                 .b = in->b,
                                 .v = in->v,
                                 .scale = {in->scale[0], in->scale[1]},
                                 .alpha = PTX_PLAN_ALPHA};
  const InterpResult *interpreted = interpret(arena, o->model->program, &options);
  ck_assert(interpreted->finished && interpreted->n_findings == 0);
  const int64_t columns = o->plan->heads ? o->plan->k : o->plan->n;
  const int64_t cells = plan_c_bytes(o->plan) / plan_type_bytes(o->plan->output_type);
  for (int64_t i = 0; i < cells; i++)
    ck_assert_msg(o->run.c[i] == interpreted->c[i], "%s: C[%lld, %lld] is %g, not %g", o->name,
                  (long long)(i / columns), (long long)(i % columns), o->run.c[i],
                  interpreted->c[i]);
}

// What a model says of its slabs in all: per slab, block and split.
static double said_of(const Model *model, const Site *site) {
  const Schedule *s = &model->schedule;
  const int64_t *v = s->value;
  const double tiles = (double)(v[KNOB_M] / schedule_tile(s, KNOB_M)) *
                       (double)(v[KNOB_N] / schedule_tile(s, KNOB_N)),
               slabs =
                   (double)v[KNOB_K] / ((double)schedule_tile(s, KNOB_K) / (double)v[KNOB_SPLITK]);
  return site->profiled * tiles * slabs;
}

// The statement that an instruction was made from; NULL: none, as in what all texts begin with.
static const Stmt *stmt_of(const Opened *o, int pc) {
  const PtxLoc *locs = o->run.module->locs;
  int loc = ptx_tally_charged(o->run.tally, pc);
  while (loc >= 0 && locs[loc].inlined_at >= 0) loc = locs[loc].inlined_at;
  const int line = loc < 0 ? 0 : locs[loc].line;
  return line > 0 && line <= o->emission->n_lines ? o->emission->lines[line - 1].stmt : NULL;
}

static bool is_slab(const Model *model, const Buffer *buffer) {
  for (int i = 0; i < model->n_sites; i++)
    if (model->site[i].executions > 0 && model->site[i].slab == buffer) return true;
  return false;
}

// Whether it is about shared memory other than the slabs: what is staged behind them, the word for
// a list of tiles. (The machine code names some reads of slabs by a neighbour's line.)
static bool is_beside_slabs(const Model *model, const Stmt *stmt) {
  const Buffer *buffers[] = {stmt->op.dst.buffer, stmt->op.src.buffer};
  bool shared = stmt->op.kind == OP_CLAIM;
  for (int i = 0; i < 2; i++) {
    if (!buffers[i] || buffers[i]->space != SPACE_SHARED) continue;
    if (is_slab(model, buffers[i])) return false;
    shared = true;
  }
  return shared;
}

// tcgen05 finds tensor memory by the word that the allocation left in shared memory, which threads
// read where they have met.
static bool reads_tensor_address(const Stmt *stmt, const PtxSiteCount *count) {
  const OpFacts *facts = op_facts(stmt->op.kind);
  return (facts->family == FAMILY_TCGEN05 || facts->action == ACTION_MEET) &&
         count->wavefronts == count->executions;
}

static void check_staged(const Opened *o, const Model *model, const Stmt *stmt,
                         const PtxSiteCount *count) {
  for (int i = 0; i < model->n_sites; i++) {
    const Site *site = &model->site[i];
    if (site->stmt->id != stmt->id) continue;
    ck_assert_msg(count->wavefronts == count->executions * site->count.profiled,
                  "%s: %s: %lld wavefronts in %lld executions of %d each", o->name, site->text,
                  (long long)count->wavefronts, (long long)count->executions, site->count.profiled);
  }
}

// Slabs are held against the sum that the model gives, what is staged behind them, and all of
// attention, execution by execution. (One compilation of the same text in some thirty by NVRTC 13.0
// has another line table or another order of instructions: 32 wavefronts of 4,864 were named by a
// neighbour's line once.)
static void check_wavefronts(const Opened *o) {
  const MachineAccesses *machine = machine_accesses(arena, o->sass, o->emission, o->model);
  const Model *model = model_compiled(arena, o->model, -1, -1, machine);
  ck_assert_msg(o->agrees, "%s: the machine code cannot be held against the text", o->name);
  const bool rows = model->program->n_products > 1;
  double said = 0, counted = 0;
  for (int i = 0; i < model->n_sites && !rows; i++) said += said_of(model, &model->site[i]);
  for (int pc = 0; pc < o->run.module->n_code; pc++) {
    const PtxSiteCount *count = ptx_tally_site(o->run.tally, pc);
    if (count->space != PTX_SPACE_SHARED || count->executions == 0) continue;
    if (o->run.module->code[pc].wgmma) continue;  // the model's sites are those of lanes
    const Stmt *stmt = stmt_of(o, pc);
    if (stmt && reads_tensor_address(stmt, count)) continue;
    if (stmt && (rows || is_beside_slabs(model, stmt)))
      check_staged(o, model, stmt, count);
    else
      counted += (double)count->wavefronts;
  }
  ck_assert_msg(fabs(said - counted) < fmax(0.5, 0.01 * said),
                "%s: the model says %.1f wavefronts, opened it has %.0f", o->name, said, counted);
}

// The named rungs have tensor memory, filled by threads, in turn and by roles, or block scales:
// make test takes one in four of them, from `first` on, CI one in two, the long CI all.
static bool is_asked_for(int rung, int one_in, int first) {
  static const char *const named[] = {
      "blackwell_tile", "blackwell_pair",     "blackwell_roles",     "scaled_words",
      "scaled_nvfp4",   "tensor_scaled_tile", "tensor_scaled_nvfp4", "tensor_scaled_pair"};
  if (stress_is_whole() || rung % (stress_is_on() ? SAMPLE : one_in * SAMPLE) == 2) return true;
  for (size_t i = 0; i < sizeof named / sizeof *named && rung < cases.n; i++)
    if (!strcmp(cases.rung[rung].name, named[i]) && stress_has_turn((int)i + first, 4)) return true;
  return false;
}

START_TEST(test_a_rung_opened_is_what_the_model_says) {
  const bool asked = is_asked_for(_i, 4, 0);
  const Model *model = has_nvrtc && asked && _i < cases.n ? small(_i) : NULL;
  if (!model) return;
  const Inputs in = inputs_of(model);
  const Opened o = open_rung(_i, &in, model);
  check_product(&o, &in);
  if (o.sass) check_wavefronts(&o);
}
END_TEST

// ---- what is taken away -------------------------------------------------------------------------

// Each sort of fence, and what in a text asks for it: a wgmma; a box that leaves shared memory, and
// slabs that threads fill for wgmma and tcgen05. And what tensor memory must have besides.
static const struct {
  const char *fence, *user, *unless;
  PtxFindingKind kind;
} fences[] = {
    {"wgmma.fence", "wgmma.mma_async", NULL, PTX_FINDING_MISSING_FENCE},
    {"fence.proxy.async", "global.shared::cta", NULL, PTX_FINDING_MISSING_FENCE},
    {"fence.proxy.async", "wgmma.mma_async", "complete_tx::bytes", PTX_FINDING_MISSING_FENCE},
    {"fence.proxy.async", "tcgen05.mma", "complete_tx::bytes", PTX_FINDING_MISSING_FENCE},
    {"tcgen05.fence::after_thread_sync", "tcgen05.ld", NULL, PTX_FINDING_MISSING_FENCE},
    {"tcgen05.commit", "tcgen05.mma", NULL, PTX_FINDING_DEADLOCK},
    {"tcgen05.dealloc", "tcgen05.alloc", NULL, PTX_FINDING_TENSOR_MEMORY},
};

static void check_without(const Opened *o, const Inputs *in, int fence) {
  const char *what = fences[fence].fence, *unless = fences[fence].unless;
  char *ptx = arena_strdup(arena, o->compiled->ptx);
  if (!strstr(ptx, fences[fence].user) || (unless && strstr(ptx, unless))) return;
  for (char *at = strstr(ptx, what); at; at = strstr(at, what)) memset(at, ' ', strcspn(at, ";"));
  const PtxPlanGiven given = {.ptx = ptx,
                              .main_kernel = o->model->program->main_kernel,
                              .clusters = clusters_of(o->model->schedule.value),
                              .is_wrong = true,
                              .a = in->a,
                              .b = in->b,
                              .v = in->v,
                              .scale = {in->scale[0], in->scale[1]}};
  const PtxFinding *f = ptx_plan_run(arena, o->plan, &given).finding;
  const bool alone = fences[fence].kind == PTX_FINDING_DEADLOCK;
  ck_assert_msg(f && f->kind == fences[fence].kind && f->pc >= 0 && (alone || f->other_pc >= 0),
                "%s without %s for %s: %s", o->name, what, fences[fence].user,
                f ? ptx_finding_names[f->kind] : "nothing is found");
}

START_TEST(test_a_rung_without_a_fence_is_told) {
  const bool asked = is_asked_for(_i, 8, 1);
  const Model *model = has_nvrtc && asked && _i < cases.n ? small(_i) : NULL;
  if (!model) return;
  const Inputs in = inputs_of(model);
  const Opened o = compile_rung(_i, model);
  for (int i = 0; i < (int)(sizeof fences / sizeof fences[0]); i++) check_without(&o, &in, i);
}
END_TEST

Suite *suite_open_rungs(void) {
  Suite *suite = suite_create("open_rungs");
  TCase *tcase = tcase_create("rungs");
  tcase_set_timeout(tcase, 120);
  tcase_add_unchecked_fixture(tcase, setup, teardown);  // once: most turns are not asked
  tcase_add_loop_test(tcase, test_a_rung_opened_is_what_the_model_says, 0, EMIT_CASES_MAX);
  tcase_add_loop_test(tcase, test_a_rung_without_a_fence_is_told, 0, EMIT_CASES_MAX);
  suite_add_tcase(suite, tcase);
  return suite;
}
