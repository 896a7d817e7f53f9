// Buffers in shared memory → the budget of a block.
//
// Slots are counted by the ring that A's slab is: mbarriers of the same number are a stage's too.
// All that lies over the ring, as C's slab may that is filled when A and B have been read, costs
// only what it reaches beyond them. Worked example, a ring of 2 * 32 KiB under a slab of 72 KiB: 72
// KiB with two stages, 96 with three.
#include "model/readings/rules/smem_budget.h"

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"

static int64_t end_of(const Buffer *buffer) { return buffer->offset_bytes + buffer_bytes(buffer); }

static bool is_slab_of_stage(const Buffer *buffer) {
  return buffer->role == ROLE_SLAB_A || buffer->role == ROLE_SLAB_B ||
         buffer->role == ROLE_SLAB_SFA || buffer->role == ROLE_SLAB_SFB;
}

// For several products each has a ring of its own, or none: no one number of stages is theirs.
static int64_t stages_of(const Program *program) {
  if (program->n_products > 1) return 0;
  const Buffer *slab = program_buffer(program, ROLE_SLAB_A);
  if (!slab) slab = program_buffer(program, ROLE_SLAB_B);
  if (!slab) return 0;
  return buffer_is_ring(slab) ? slab->dim[0] : 1;
}

static SmemPart part_of(const Buffer *buffer, int64_t stages) {
  const bool counted = buffer->space == SPACE_BARRIER || buffer_is_ring(buffer);
  const int64_t slots = counted ? buffer->dim[0] : 1;
  const bool grows =
      is_slab_of_stage(buffer) || buffer->role == ROLE_FULL || buffer->role == ROLE_EMPTY;
  return (SmemPart){.buffer = buffer,
                    .bytes = buffer_bytes(buffer),
                    .slots = slots,
                    .in_ring = grows && slots == stages};
}

static void insert_part(SmemBudget *budget, SmemPart part) {
  int at = budget->n++;
  for (; at > 0 && budget->part[at - 1].buffer->offset_bytes > part.buffer->offset_bytes; at--)
    budget->part[at] = budget->part[at - 1];
  budget->part[at] = part;
}

static void find_overlaps(SmemBudget *budget) {
  int64_t end = 0;
  for (int i = 0; i < budget->n; i++) {
    budget->part[i].lies_over = budget->part[i].buffer->offset_bytes < end;
    end = max64(end, end_of(budget->part[i].buffer));
  }
}

// Bytes of the block with a ring of `stages` stages.
static int64_t bytes_with(const SmemBudget *budget, int64_t stages) {
  int64_t beside = 0, ring = 0, over = 0;
  for (int i = 0; i < budget->n; i++) {
    const SmemPart *part = &budget->part[i];
    if (part->in_ring)
      ring += part->bytes / part->slots * stages;
    else if (part->lies_over)
      over = max64(over, end_of(part->buffer));
    else
      beside += part->bytes;
  }
  return max64(ring, over) + beside;
}

static int64_t most_stages(const SmemBudget *budget) {
  int64_t most = 0;
  while (budget->stage_bytes && bytes_with(budget, most + 1) <= budget->block_bytes) most++;
  return most;
}

SmemBudget smem_budget(const Program *program, const Target *target) {
  SmemBudget budget = {.bytes = program_smem_bytes(program),
                       .stages = stages_of(program),
                       .reserved_bytes = target->smem_reserved_per_block,
                       .block_bytes = target->smem_per_block,
                       .sm_bytes = target->smem_per_sm};
  for (int i = 0; i < program->n_buffers; i++)
    if (buffer_is_in_shared(program->buffer[i]))
      insert_part(&budget, part_of(program->buffer[i], budget.stages));
  find_overlaps(&budget);
  for (int i = 0; i < budget.n; i++) {
    const SmemPart *part = &budget.part[i];
    if (budget.stages && is_slab_of_stage(part->buffer))
      budget.stage_bytes += part->bytes / part->slots;
  }
  budget.most_stages = most_stages(&budget);
  return budget;
}
