// A plan says with which numbers the text is launched; all of them come with the emission.
//
// Worked example, 128 × 128 × 16384 with SPLITK=8 and atomic adds:
//   zero<<<64, 256>>>(C), then matmul<<<8, 256, dynamic bytes>>>(A, B, C)
// and the block's tile, 128 × 128, by which wrong cells are counted. Where copies of 128 × 64 f16
// values fill A's slab, swizzled by 3 bits, A is a map with the box {64, 128, 3}.
#include "kernels/toolchain/emit_plan.h"

#include <assert.h>

#include "model/ir/rewrite.h"

static PlanArg plan_arg(BufferRole role, bool by_map) {
  switch (role) {
    case ROLE_A:
      return by_map ? PLAN_ARG_A_MAP : PLAN_ARG_A;
    case ROLE_B:
      return by_map ? PLAN_ARG_B_MAP : PLAN_ARG_B;
    case ROLE_C:
      return PLAN_ARG_C;
    default:
      assert(role == ROLE_PARTIAL && !by_map);
      return PLAN_ARG_WORKSPACE;
  }
}

PlanType plan_type_of(DType type) {
  static const PlanType types[DTYPE_COUNT] = {
      [DTYPE_F32] = PLAN_F32,   [DTYPE_F16] = PLAN_F16,   [DTYPE_BF16] = PLAN_BF16,
      [DTYPE_TF32] = PLAN_TF32, [DTYPE_F64] = PLAN_F64,   [DTYPE_S8] = PLAN_S8,
      [DTYPE_E4M3] = PLAN_E4M3, [DTYPE_E5M2] = PLAN_E5M2, [DTYPE_S32] = PLAN_S32};
  return types[type];
}

static PlanKernel plan_kernel(const EmitKernel *from) {
  PlanKernel kernel = {.name = from->name,
                       .grid = {from->n_blocks, 1, 1},
                       .persistent = from->persistent,
                       .block = {(int)from->n_threads, 1, 1},
                       .smem_bytes = from->dynamic_smem_bytes,
                       .n_args = from->n_args};
  for (int i = 0; i < from->n_args; i++)
    kernel.args[i] = plan_arg(from->arg[i]->role, from->by_map[i]);
  if (from->takes_alpha) kernel.args[kernel.n_args++] = PLAN_ARG_ALPHA;
  return kernel;
}

// A copy counts its rows first, the map its columns.
static void set_box(int box[3], const Op *copy) {
  if (!copy) return;
  box[0] = (int)copy->box[1];
  box[1] = (int)copy->box[0];
  box[2] = copy->dst.buffer->swizzle_bits;
}

Plan *plan_from_emission(Arena *arena, const Emission *emission, const Program *program,
                         const Target *target, const char *label) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){.cuda = emission->text,
                 .arch = target->arch,
                 .label = label ? label : "",
                 .operand_type = plan_type_of(program->problem.dtype),
                 .accumulate_type = plan_type_of(program->problem.acc),
                 .output_type = plan_type_of(program->problem.out),
                 .m = program->problem.m,
                 .n = program->problem.n,
                 .k = program->problem.k,
                 .a_col_major = program->problem.a_col,
                 .b_col_major = program->problem.b_col,
                 .workspace_bytes = emission->workspace_bytes,
                 .tile_m = axis_tile(&program->axis[AXIS_M]),
                 .tile_n = axis_tile(&program->axis[AXIS_N]),
                 .n_kernels = emission->n_kernels};
  set_box(plan->a_box, program_tma(program, ROLE_A));
  set_box(plan->b_box, program_tma(program, ROLE_B));
  for (int i = 0; i < emission->n_kernels; i++)
    plan->kernels[i] = plan_kernel(&emission->kernel[i]);
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
