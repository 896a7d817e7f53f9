// A plan says with which numbers the text is launched; all of them come with the emission.
//
// Worked example, 128 × 128 × 16384 with SPLITK=8 and atomic adds:
//   zero<<<64, 256>>>(C), then matmul<<<8, 256, dynamic bytes>>>(A, B, C)
// and the block's tile, 128 × 128, by which wrong cells are counted. Where copies of 128 × 64 f16
// values fill A's slab, swizzled by 3 bits, A is a map with the box {64, 128, 3}.
#include "kernels/toolchain/emit_plan.h"

#include <assert.h>
#include <math.h>

#include "kernels/toolchain/verify.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"

static PlanType plan_type_of(DType type) {
  static const PlanType types[DTYPE_COUNT] = {
      [DTYPE_F32] = PLAN_F32,     [DTYPE_F16] = PLAN_F16,           [DTYPE_BF16] = PLAN_BF16,
      [DTYPE_TF32] = PLAN_TF32,   [DTYPE_F64] = PLAN_F64,           [DTYPE_S8] = PLAN_S8,
      [DTYPE_E4M3] = PLAN_E4M3,   [DTYPE_E5M2] = PLAN_E5M2,         [DTYPE_S32] = PLAN_S32,
      [DTYPE_MXF8] = PLAN_MXF8,   [DTYPE_MXF8E5M2] = PLAN_MXF8E5M2, [DTYPE_MXF4] = PLAN_MXF4,
      [DTYPE_NVFP4] = PLAN_NVFP4, [DTYPE_UE8M0] = PLAN_UE8M0,       [DTYPE_UE4M3] = PLAN_UE4M3};
  return types[type];
}

// Buffers beyond A, B and C are workspaces, in their order.
static PlanArg plan_buffer(const Program *program, const Buffer *buffer) {
  static const PlanArg operands[ROLE_COUNT] = {
      [ROLE_A] = PLAN_ARG_A, [ROLE_B] = PLAN_ARG_B,     [ROLE_C] = PLAN_ARG_C,
      [ROLE_V] = PLAN_ARG_V, [ROLE_SFA] = PLAN_ARG_SFA, [ROLE_SFB] = PLAN_ARG_SFB};
  if (buffer_is_operand(buffer)) return operands[buffer->role];
  int n = 0;
  for (int i = 0; program->buffer[i] != buffer; i++)
    n += program->buffer[i]->space == SPACE_GLOBAL && !buffer_is_operand(program->buffer[i]);
  assert(n < PLAN_MAX_WORKSPACES);
  return (PlanArg)(PLAN_ARG_WORKSPACE + n);
}

// The map is a row of the plan's table, a new one if there is none like it.
static PlanArg plan_map(Plan *plan, const Program *program, const EmitArg *arg) {
  const EmitMap from = emit_arg_map(arg);
  const PlanMap map = {plan_buffer(program, arg->buffer),
                       plan_type_of(arg->buffer->type),
                       from.columns,
                       from.rows,
                       from.matrices,
                       from.box_columns,
                       from.box_rows,
                       from.swizzle_bits};
  int i = 0;
  while (i < plan->n_maps && !plan_same_map(&plan->maps[i], &map)) i++;
  assert(i < PLAN_MAX_MAPS);
  if (i == plan->n_maps) plan->maps[plan->n_maps++] = map;
  return (PlanArg)(PLAN_ARG_MAP + i);
}

static PlanKernel plan_kernel(Plan *plan, const Program *program, const EmitKernel *from) {
  PlanKernel kernel = {.name = from->name,
                       .grid = {from->n_blocks, 1, 1},
                       .dependent = from->dependent,
                       .persistent = from->persistent,
                       .block = {(int)from->n_threads, 1, 1},
                       .cluster = {from->cluster > 1 ? (int)from->cluster : 0, 0, 0},
                       .smem_bytes = from->dynamic_smem_bytes,
                       .blocks_per_sm = emit_blocks_in_tensor_memory(from),
                       .n_args = from->n_args};
  for (int i = 0; i < from->n_args; i++)
    kernel.args[i] = from->arg[i].copy ? plan_map(plan, program, &from->arg[i])
                                       : plan_buffer(program, from->arg[i].buffer);
  for (int arg = 0; arg < LAUNCH_ARGS; arg++)
    if (from->takes[arg]) kernel.args[kernel.n_args++] = (PlanArg)(PLAN_ARG_ALPHA + arg);
  return kernel;
}

static void set_workspaces(Plan *plan, const Program *program) {
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (buffer->space != SPACE_GLOBAL || buffer_is_operand(buffer)) continue;
    plan->workspace_bytes[plan_buffer(program, buffer) - PLAN_ARG_WORKSPACE] = buffer_bytes(buffer);
  }
}

// The parts of a split product leave this out: half of the last bit of each factor, twice that much
// is allowed, and less where many such errors are summed.
static double left_out(const Problem *problem) {
  const Split32 *split = split_facts(problem->split);
  if (!split->parts) return 0;
  return ldexp(1, 1 - split->bits * split->parts) * fmin(1, 3 / sqrt((double)problem->k));
}

Plan plan_of_problem(const Problem *problem) {
  return (Plan){.label = "",
                .operand_type = plan_type_of(problem->dtype),
                .accumulate_type = plan_type_of(problem->acc),
                .output_type = plan_type_of(problem->out),
                .m = problem->m,
                .n = problem->n,
                .k = problem->k,
                .heads = problem->kind == PROBLEM_ATTENTION ? problem->heads : 0,
                .causal = problem->causal,
                .a_col_major = problem->a_col,
                .b_col_major = problem->b_col,
                .factor_tiles = problem->factor_tiles};
}

Plan *plan_from_emission(Arena *arena, const Emission *emission, const Program *program,
                         const Target *target, const char *label) {
  Plan *plan = ARENA_NEW(arena, Plan);
  const Product *last = &program->product[program->n_products - 1];
  *plan = plan_of_problem(&program->problem);
  plan->cuda = emission->text;
  plan->arch = target->arch;
  plan->label = label ? label : "";
  plan->tile_m = axis_tile(last->axis[AXIS_M]);
  plan->tile_n = axis_tile(last->axis[AXIS_N]);
  plan->n_kernels = emission->n_kernels;
  plan->main_kernel = program->main_kernel;
  const double more = left_out(&program->problem);
  if (more > 0) plan->tolerance = verify_tolerance(plan) + more;
  set_workspaces(plan, program);
  for (int i = 0; i < emission->n_kernels; i++)
    plan->kernels[i] = plan_kernel(plan, program, &emission->kernel[i]);
  return plan;
}

const char *plan_target_text(Arena *arena, const Target *target) {
  return arena_printf(arena, "%s (%s)", target->arch, target->name);
}

EmitOptions plan_emit_options(Arena *arena, const Model *model) {
  return (EmitOptions){.schedule = &model->schedule,
                       .target = plan_target_text(arena, model->target),
                       .cc = model->target->cc};
}

const Emission *emit_model(Arena *arena, const Model *model, const Program *program) {
  EmitOptions options = plan_emit_options(arena, model);
  return emit_cuda(arena, program, &options);
}

Plan *plan_from_model(Arena *arena, const Model *model, const char *label) {
  assert(model->ok);
  const Emission *emission = emit_model(arena, model, model->program);
  return plan_from_emission(arena, emission, model->program, model->target, label);
}

const Emission *emit_traced(Arena *arena, const Model *model) {
  EmitOptions options = plan_emit_options(arena, model);
  options.stamps = true;
  return emit_cuda(arena, model->program, &options);
}

Plan *plan_traced(Arena *arena, const Model *model, const Emission *traced, int64_t block) {
  Plan *plan = plan_from_emission(arena, traced, model->program, model->target, "");
  plan->traced = block;
  return plan;
}
