// What the emitted text computes: each is compiled for the CPU and run, threads as fibers, copies
// landing as late as they may, and must give exactly A · B.
#include <check.h>

#include "base/random.h"
#include "cuda_on_cpu.h"
#include "emit_cases.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/random_schedule.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "stress.h"

static Arena *arena;
static EmitCases cases;

static void setup(void) {
  property_setup();
  arena = arena_new("test emit run");
  cases = emit_cases(arena);
}
static void teardown(void) {
  arena_free(arena);
  property_teardown();
}

// Texts that were added before are left out: rungs share the first stages of their pipelines.
static void add(CpuProgram *cpu, const char *name, const Program *program) {
  const Emission *emission = emit_cuda(arena, program, &(EmitOptions){.no_prelude = true});
  cpu_program_add(cpu, name, emission, program);
}

static void run(const CpuProgram *cpu) {
  const char *said = "";
  bool skipped = false;
  bool right = cpu_program_run(arena, cpu, &said, &skipped);
  ck_assert_msg(right, "%s", said);
}

typedef struct Shape {
  int m, n, k;
} Shape;

// Sizes that divide and sizes that do not, one of them for each eighteenth rung in turn; in `make
// stress` all of each; rows that an atom copies, or TMA, must still be whole 16-byte chunks.
static const Shape plain_shapes[] = {{128, 128, 64}, {150, 132, 52}, {97, 45, 33}};
static const Shape atom_shapes[] = {{128, 256, 128}, {136, 72, 200}, {24, 264, 40}};

static int grown(const Schedule *schedule, KnobId axis, int extent) {
  int64_t grain = schedule_grain(schedule, axis);
  return (int)((extent + grain - 1) / grain * grain);
}

START_TEST(every_rung_computes_the_product) {
  CpuProgram cpu = cpu_program_new(arena);
  for (int i = 0; i < cases.n; i++) {
    if (!stress_has_turn(i, 18)) continue;
    const Schedule *rung = &cases.rung[i].rung->schedule;
    const Shape *shapes = rung->value[KNOB_ATOM_KIND] ? atom_shapes : plain_shapes;
    const bool in_turn = !stress_is_on() || rung->value[KNOB_PROGRAM] == COMPUTES_ATTENTION;
    for (int s = 0; s < 3; s++) {
      if (in_turn && s != i / 18 % 3) continue;
      const Model *model = emit_case_on(&cases, i, shapes[s].m, grown(rung, KNOB_N, shapes[s].n),
                                        grown(rung, KNOB_K, shapes[s].k), "h200");
      if (model) add(&cpu, cases.rung[i].name, model->program);
    }
  }
  ck_assert_int_ge(cpu.n_cases, stress_is_on() ? 130 : 6);
  run(&cpu);
}
END_TEST

// Every 24th stage of every third kind of rung, at the next kind the next ones; in `make stress`
// all.
START_TEST(every_stage_of_every_pipeline_computes_the_product) {
  CpuProgram cpu = cpu_program_new(arena);
  Seen *kinds = NULL;
  int n_kinds = 0;
  for (int i = 0; i < cases.n; i++) {
    if (!property_is_new_kind(&kinds, cases.rung[i].rung)) continue;
    if (!stress_has_turn(n_kinds++, 3)) continue;
    // Suite attention has every stage of its own states.
    if (cases.rung[i].rung->schedule.value[KNOB_PROGRAM] == COMPUTES_ATTENTION) continue;
    bool atom = cases.rung[i].rung->schedule.value[KNOB_ATOM_KIND] != 0;
    const Schedule *rung = &cases.rung[i].rung->schedule;
    const Model *model = atom ? emit_case_on(&cases, i, 136, 144, grown(rung, KNOB_K, 80), "h200")
                              : emit_case_on(&cases, i, 70, 68, 44, "h200");
    for (int s = 0; model && s < model->pipeline.n_stages - 1; s++) {
      if (!stress_has_turn(s + i, 24)) continue;
      const Pass *pass = model->pipeline.stage[s].pass;
      const char *name = arena_printf(arena, "%s after %s", cases.rung[i].name,
                                      pass ? pass->name : "the naive nest");
      const Program *program = model->pipeline.stage[s].program;
      // A pair has room for its slabs once each CTA has half of B.
      const bool fits = program_smem_bytes(program) <= model->target->smem_per_block;
      if (fits && cpu_finds_tiles(program)) add(&cpu, name, program);
    }
  }
  run(&cpu);
}
END_TEST

static void add_random(CpuProgram *cpu, int n, const char *target, const RandomLimits *limits) {
  uint64_t state = 20250117;
  const int cases_then = cpu->n_cases + n;
  for (int i = 0; cpu->n_cases < cases_then; i++) {
    ck_assert_int_lt(i, 2 * n);
    Schedule schedule = schedule_random(arena, &cases.targets, target, limits, &state, NULL);
    const Model *model = model_build(arena, &cases.targets, &schedule);
    ck_assert(model->ok);
    add(cpu, schedule_text(arena, &schedule), model->program);
  }
}

START_TEST(random_schedules_compute_the_product) {
  CpuProgram cpu = cpu_program_new(arena);
  add_random(&cpu, stress_part(40, 20), "h200",
             &(RandomLimits){.extent_max = 90, .fma_max = 4000000});
  add_random(&cpu, stress_part(10, 10), "b200",
             &(RandomLimits){.extent_max = 600, .fma_max = 4000000, .family = RANDOM_BLACKWELL});
  run(&cpu);
}
END_TEST

static Stmt **find_last(Stmt **list, OpKind kind) {
  Stmt **found = NULL;
  for (Stmt **link = list; *link; link = &(*link)->next) {
    if ((*link)->kind == STMT_OP && (*link)->op.kind == kind) found = link;
    Stmt **deeper = (*link)->body ? find_last(&(*link)->body, kind) : NULL;
    if (deeper) found = deeper;
  }
  return found;
}

// Texts that lack or misread something: one in four in make test, one in two in CI, all in the long
// one.
enum { WRONG_ONE_IN = 4 };
static bool is_its_turn(CpuProgram *cpu, int *n) {
  const bool is = stress_has_turn(*n, WRONG_ONE_IN);
  if (is) ck_assert_int_eq(cpu->n_cases, stress_part(*n, WRONG_ONE_IN));
  ++*n;
  return is;
}

static void add_without(CpuProgram *cpu, int *n, const char *state, OpKind kind) {
  if (!is_its_turn(cpu, n)) return;
  const Model *model = emit_state(&cases, state);
  Program *program = program_clone(arena, model->program);
  Stmt **link = find_last(&program->kernel[program->main_kernel].body, kind);
  ck_assert(link != NULL);
  *link = (*link)->next;
  add(cpu, arena_printf(arena, "%s without its last %s", state, op_name(kind)), program);
}

// A descriptor of other strides, another swizzle or another direction finds other elements.
static void add_misread(CpuProgram *cpu, int *n, void (*spoil)(MatrixTile *), const char *what) {
  if (!is_its_turn(cpu, n)) return;
  const Model *model = emit_state(
      &cases,
      "M=64,N=64,K=64,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,BK=4,STAGE=11,TMA=1,SWIZZLE=2");
  Program *program = program_clone(arena, model->program);
  Stmt **link = find_last(&program->kernel[program->main_kernel].body, OP_WGMMA);
  spoil(&(*link)->op.tile[1]);
  add(cpu, what, program);
}

static void shorten_stride(MatrixTile *tile) { tile->sbo /= 2; }
static void forget_panels(MatrixTile *tile) { tile->lbo = 16; }
static void forget_swizzle(MatrixTile *tile) { tile->swizzle = 0; }
static void turn(MatrixTile *tile) { tile->trans = !tile->trans; }

START_TEST(a_wrong_descriptor_is_seen) {
  CpuProgram cpu = cpu_program_new(arena);
  int n = 0;
  add_misread(&cpu, &n, shorten_stride, "half the stride offset");
  add_misread(&cpu, &n, forget_panels, "no leading offset");
  add_misread(&cpu, &n, forget_swizzle, "no swizzle");
  add_misread(&cpu, &n, turn, "the other direction");
  ck_assert_int_eq(n, 4);
  ck_assert_int_eq(cpu_program_count_wrong(arena, &cpu), cpu.n_cases);
}
END_TEST

// The checker must be able to fail: without the last barrier or wait the product is wrong.
START_TEST(a_missing_barrier_or_wait_is_seen) {
  CpuProgram cpu = cpu_program_new(arena);
  int n = 0;
  add_without(&cpu, &n, "M=64,N=64,K=64,STAGE=11", OP_BARRIER);
  add_without(&cpu, &n, "M=64,N=64,K=64,STAGE=11,VECTORIZE=1,ASYNC_COPY=1", OP_CP_WAIT);
  const char *const atoms = "M=64,N=64,K=64,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,BK=1,STAGE=11";
  add_without(&cpu, &n, atoms, OP_BARRIER);
  add_without(&cpu, &n, arena_printf(arena, "%s,ASYNC_COPY=1,LDMATRIX=1", atoms), OP_CP_WAIT);
  const char *const boxes = arena_printf(arena, "%s,TMA=1,BUFFER_COUNT=2", atoms);
  add_without(&cpu, &n, boxes, OP_MBAR_WAIT);
  add_without(&cpu, &n, arena_printf(arena, "%s,WARP_SPECIALIZE=1", boxes), OP_MBAR_ARRIVE);
  const char *const sent = arena_printf(arena, "%s,EPILOGUE=1,TMA_STORE=1", boxes);
  add_without(&cpu, &n, sent, OP_BULK_WAIT);
  add_without(&cpu, &n, sent, OP_BULK_COMMIT);
  const char *const groups =
      "M=128,N=128,K=256,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,BK=4,STAGE=11,TMA=1,SWIZZLE=3,"
      "BUFFER_COUNT=2,WARP_SPECIALIZE=1";
  add_without(&cpu, &n, groups, OP_WG_WAIT);
  add_without(&cpu, &n, groups, OP_WG_COMMIT);
  add_without(&cpu, &n, arena_printf(arena, "%s,CLUSTER_M=2,MULTICAST=1", groups), OP_MBAR_ARRIVE);
  const char *const sums =
      "M=256,N=64,K=192,ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,ATOM_N=64,BK=4,STAGE=11,"
      "TMA=1,SWIZZLE=3,BUFFER_COUNT=2,WARP_SPECIALIZE=1";
  add_without(&cpu, &n, sums, OP_MBAR_WAIT);
  add_without(&cpu, &n, sums, OP_T_COMMIT);
  add_without(&cpu, &n, sums, OP_T_WAIT_LD);
  add_without(&cpu, &n, sums, OP_T_FREE);
  const char *const pair = arena_printf(arena, "%s,CLUSTER_M=2,CTA_GROUP=2,B_COL=1", sums);
  add_without(&cpu, &n, pair, OP_T_COMMIT);
  add_without(&cpu, &n, pair, OP_CLUSTER_BARRIER);
  ck_assert_int_eq(n, 17);
  ck_assert_int_eq(cpu_program_count_wrong(arena, &cpu), cpu.n_cases);
}
END_TEST

Suite *suite_emit_run(void);
Suite *suite_emit_run(void) {
  Suite *suite = suite_create("emit_run");
  TCase *tc = tcase_create("on the CPU");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 300);
  tcase_add_test(tc, every_rung_computes_the_product);
  tcase_add_test(tc, every_stage_of_every_pipeline_computes_the_product);
  tcase_add_test(tc, random_schedules_compute_the_product);
  tcase_add_test(tc, a_missing_barrier_or_wait_is_seen);
  tcase_add_test(tc, a_wrong_descriptor_is_seen);
  suite_add_tcase(suite, tc);
  return suite;
}
