#include "ptx_plan.h"

#include <check.h>
#include <string.h>

#include "base/whole.h"
#include "features/gpc/model/deal_lists.h"
#include "model/words/formats.h"
#include "ptx/module/float_format.h"

static const PtxType types[PLAN_N_TYPES] = {
    [PLAN_F32] = PTX_F32,   [PLAN_F16] = PTX_F16,   [PLAN_BF16] = PTX_BF16,
    [PLAN_TF32] = PTX_F32,  [PLAN_F64] = PTX_F64,   [PLAN_S8] = PTX_S8,
    [PLAN_E4M3] = PTX_E4M3, [PLAN_E5M2] = PTX_E5M2, [PLAN_S32] = PTX_S32};

// Block-scaled ones: elements, of two in a byte its code, and what they share.
static const DType scaled[PLAN_N_TYPES] = {[PLAN_MXF8] = DTYPE_MXF8,
                                           [PLAN_MXF8E5M2] = DTYPE_MXF8E5M2,
                                           [PLAN_MXF4] = DTYPE_MXF4,
                                           [PLAN_NVFP4] = DTYPE_NVFP4};

typedef struct Runner {
  Arena *arena;
  const Plan *plan;
  const PtxPlanGiven *given;
  int turn;  // tiles that the persistent kernel has in one turn: its lists, or its clusters
  unsigned char *buffer[PLAN_N_BUFFERS];
  Diags diags;
} Runner;

static uint64_t encode(PlanType type, double value) {
  const PtxFormat *format = ptx_format_of(types[type]);
  if (!format) return (uint64_t)(int64_t)value;
  return ptx_float_round(format, (long double)value, PTX_ROUND_NEAREST, false);
}

static double decode(PlanType type, uint64_t bits) {
  const PtxFormat *format = ptx_format_of(types[type]);
  return format ? ptx_float_value(format, bits) : (double)(int32_t)bits;
}

static void put_matrix(Runner *r, PlanArg buffer, const float *values) {
  const int bytes = plan_type_bytes(r->plan->operand_type);
  const int64_t n = values ? plan_buffer_bytes(r->plan, buffer) / bytes : 0;
  for (int64_t i = 0; i < n; i++) {
    const uint64_t bits = encode(r->plan->operand_type, (double)values[i]);
    memcpy(r->buffer[buffer] + i * bytes, &bits, (size_t)bytes);
  }
}

static void put_codes(Runner *r, PlanArg buffer, DType type, const float *values) {
  const int64_t n = plan_buffer_bytes(r->plan, buffer);
  for (int64_t i = 0; i < n; i++) number_write(type, r->buffer[buffer] + i, (double)values[i]);
}

static void put_inputs(Runner *r, const PtxPlanGiven *given) {
  const DType type = scaled[r->plan->operand_type];
  if (type == DTYPE_F32) {  // of no row
    put_matrix(r, PLAN_ARG_A, given->a);
    put_matrix(r, PLAN_ARG_B, given->b);
    put_matrix(r, PLAN_ARG_V, given->v);
    return;
  }
  put_codes(r, PLAN_ARG_A, type, given->a);
  put_codes(r, PLAN_ARG_B, type, given->b);
  put_codes(r, PLAN_ARG_SFA, dtype_scale(type).type, given->scale[0]);
  put_codes(r, PLAN_ARG_SFB, dtype_scale(type).type, given->scale[1]);
}

static void give_map(Runner *r, PtxMachine *machine, int param, const PlanMap *map,
                     uint64_t address) {
  static const char *const swizzles[] = {"none", "32B", "64B", "128B"};
  const int bytes = plan_type_bytes(map->type);
  const char *matrices =
      map->matrices ? arena_printf(r->arena, "x%lld", (long long)map->matrices) : "";
  const char *fields =
      arena_printf(r->arena, "shape=%lldx%lld%s,box=%dx%d%s,swizzle=%s,type=%s",
                   (long long)map->columns, (long long)map->rows, matrices, map->box_columns,
                   map->box_rows, map->matrices ? "x1" : "", swizzles[map->swizzle_bits],
                   bytes == 1   ? "s8"
                   : bytes == 2 ? "f16"
                   : bytes == 4 ? "f32"
                                : "f64");
  TmaBox box;
  unsigned char word[128];
  ck_assert_msg(tma_box_parse(r->arena, fields, &box, &r->diags) &&
                    tma_box_check(&box, &r->diags) &&
                    ptx_machine_tensor(machine, &box, address, word, &r->diags),
                "%s: %s", fields, diags_text(r->arena, &r->diags));
  ptx_machine_param(machine, param, word, sizeof word);
}

// Every cluster is told the same SM, so that lists are claimed one after the other.
static void give_lists(Runner *r, PtxMachine *machine, int param, PlanArg arg,
                       const ListShape *shape) {
  PlaceMap *map = ARENA_NEW(r->arena, PlaceMap);
  int *set = ARENA_ARRAY(r->arena, int, PLACES_SMS);
  for (int sm = 0; sm < PLACES_SMS; sm++) set[sm] = sm < 132 ? sm / 18 : -1;
  places_from_sets(set, map);
  ListTable *table = ARENA_NEW(r->arena, ListTable);
  deal_lists(map, shape, table);
  const unsigned epoch = 1;
  uint64_t address = 0;
  if (arg == PLAN_ARG_PLACES)
    address =
        ptx_machine_buffer(machine, "places", sizeof table->of_sm, table->of_sm, PTX_CONTENT_GIVEN);
  if (arg == PLAN_ARG_CLAIMS)
    address = ptx_machine_buffer(machine, "claims", 4 * shape->clusters, NULL, PTX_CONTENT_ZERO);
  if (address) ptx_machine_param(machine, param, &address, 8);
  if (arg == PLAN_ARG_EPOCH) ptx_machine_param(machine, param, &epoch, 4);
  if (arg == PLAN_ARG_LISTS) ptx_machine_param(machine, param, &table->lists, 4);
  if (arg == PLAN_ARG_LISTS) r->turn = table->lists;
}

static PtxLaunch launch_of(const PlanKernel *kernel, int64_t clusters) {
  PtxLaunch launch = {.dynamic_smem = (int)kernel->smem_bytes};
  int together = 1;
  for (int d = 0; d < 3; d++) {
    launch.grid[d] = (int)kernel->grid[d];
    launch.block[d] = kernel->block[d];
    launch.cluster[d] = (int)max64(kernel->cluster[d], 1);
    together *= launch.cluster[d];
  }
  if (kernel->persistent) launch.grid[0] = (int)min64(kernel->grid[0], clusters * together);
  return launch;
}

static void run_grid(Runner *r, PtxPlanRun *out, PtxMachine *machine, const PtxLaunch *launch,
                     const char *name) {
  const int *step = ptx_machine_cluster(machine);
  PtxOutcome outcome = PTX_DONE;
  for (int z = 0; z < launch->grid[2]; z += step[2])
    for (int y = 0; y < launch->grid[1]; y += step[1])
      for (int x = 0; x < launch->grid[0] && outcome == PTX_DONE; x += step[0])
        outcome = ptx_machine_run_cluster(machine, x, y, z);
  const int n = ptx_machine_findings(machine);
  const PtxFinding *f = n ? ptx_machine_finding(machine, 0) : NULL;
  if (!out->finding) out->finding = f;
  if (r->given->is_wrong) return;
  ck_assert_msg(outcome == PTX_DONE && n == 0,
                "%s: %s: %s %s (%d and %d, thread %d of %d,%d,%d and %d)", r->plan->label, name,
                f ? ptx_finding_names[f->kind] : "", f && f->text ? f->text : "", f ? f->pc : 0,
                f ? f->other_pc : 0, f ? f->thread : 0, f ? f->block[0] : 0, f ? f->block[1] : 0,
                f ? f->block[2] : 0, f ? f->other_thread : 0);
}

static void give_args(Runner *r, PtxMachine *machine, const PlanKernel *k, const PtxLaunch *launch,
                      const uint64_t address[PLAN_N_BUFFERS]) {
  const int together = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
  const ListShape shape = {.tiles = k->grid[0] / together,
                           .clusters = launch->grid[0] / together,
                           .cluster = together,
                           .blocks = 1};
  if (k->persistent) r->turn = shape.clusters;
  for (int i = 0; i < k->n_args; i++) {
    const PlanArg arg = k->args[i];
    const float alpha = PTX_PLAN_ALPHA;
    if (arg < PLAN_N_BUFFERS)
      ptx_machine_param(machine, i, &address[arg], 8);
    else if (arg == PLAN_ARG_ALPHA)
      ptx_machine_param(machine, i, &alpha, 4);
    else if (arg == PLAN_ARG_GRID)
      ptx_machine_param(machine, i, &r->turn, 4);
    else if (arg >= PLAN_ARG_MAP)
      give_map(r, machine, i, &r->plan->maps[arg - PLAN_ARG_MAP],
               address[r->plan->maps[arg - PLAN_ARG_MAP].buffer]);
    else
      give_lists(r, machine, i, arg, &shape);
  }
}

static void run_kernel(Runner *r, PtxPlanRun *out, int index) {
  const PlanKernel *k = &r->plan->kernels[index];
  const PtxModule *module =
      r->given->module_of ? r->given->module_of(r->given->context, k->name) : out->module;
  const PtxFunction *kernel = ptx_module_kernel(module, k->name, &r->diags);
  ck_assert_msg(kernel != NULL, "%s", diags_text(r->arena, &r->diags));
  const PtxLaunch launch = launch_of(k, r->given->clusters);
  PtxMachine *machine = ptx_machine_new(r->arena, module, kernel, &launch, &r->diags);
  ck_assert_msg(machine != NULL, "%s: %s", k->name, diags_text(r->arena, &r->diags));
  uint64_t address[PLAN_N_BUFFERS];
  for (int b = 0; b < PLAN_N_BUFFERS; b++)
    address[b] =
        ptx_machine_buffer(machine, "matrix", max64(plan_buffer_bytes(r->plan, (PlanArg)b), 1),
                           r->buffer[b], PTX_CONTENT_GIVEN);
  give_args(r, machine, k, &launch, address);
  if (index == r->given->main_kernel) {
    out->module = module;
    out->kernel = kernel;
    out->tally = ptx_tally_new(r->arena, module, kernel);
    if (r->given->prepare) r->given->prepare(r->given->context, module, kernel, out->tally);
    ptx_machine_watch(machine, ptx_tally_access, out->tally);
  }
  run_grid(r, out, machine, &launch, k->name);
  for (int b = 0; b < PLAN_N_BUFFERS; b++) {
    const int64_t bytes = plan_buffer_bytes(r->plan, (PlanArg)b);
    if (bytes) memcpy(r->buffer[b], ptx_machine_bytes(machine, address[b], bytes), (size_t)bytes);
  }
}

static const double *read_c(Runner *r) {
  const int bytes = plan_type_bytes(r->plan->output_type);
  const int64_t n = plan_c_bytes(r->plan) / bytes;
  double *c = ARENA_ARRAY(r->arena, double, n);
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits = 0;
    memcpy(&bits, r->buffer[PLAN_ARG_C] + i * bytes, (size_t)bytes);
    c[i] = decode(r->plan->output_type, bits);
  }
  return c;
}

PtxPlanRun ptx_plan_run(Arena *arena, const Plan *plan, const PtxPlanGiven *given) {
  Runner r = {.arena = arena, .plan = plan, .given = given, .diags = diags_new(arena)};
  PtxPlanRun out = {
      .module = ptx_module_read(arena, given->ptx, strlen(given->ptx), "plan.ptx", &r.diags)};
  ck_assert_msg(out.module != NULL, "%s: %s", plan->label, diags_text(arena, &r.diags));
  for (int i = 0; i < PLAN_N_BUFFERS; i++)
    r.buffer[i] = arena_alloc(arena, (size_t)plan_buffer_bytes(plan, (PlanArg)i) + 1);
  put_inputs(&r, given);
  memset(r.buffer[PLAN_ARG_C], 0xff, (size_t)plan_c_bytes(plan));
  for (int i = 0; i < plan->n_kernels; i++) run_kernel(&r, &out, i);
  out.c = read_c(&r);
  return out;
}

const float *ptx_plan_numbers(Arena *arena, int64_t n, uint32_t seed) {
  float *values = ARENA_ARRAY(arena, float, n);
  for (int64_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)(int)((seed >> 16) % 5) - 2;
  }
  return values;
}
