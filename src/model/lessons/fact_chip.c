// Facts of the memory on the chip: columns of tensor memory, the owner of each mbarrier, stages
// that fit (model/readings/place/on_chip.h, smem_budget.h).
//
// Worked example, two consumers of a pair: 512 columns, of which column 300 holds sums of the
// second one; lane 70 of it is read by warp 4 + 70 / 32 = 6.
#include "base/nearest.h"
#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/lessons/fact_compute.h"
#include "model/readings/place/on_chip.h"
#include "model/readings/rules/smem_budget.h"

// NULL after a finding.
static const OnChip *look(const FactScene *scene, Diags *diags) {
  const OnChip *chip = on_chip(scene->arena, scene->model);
  if (!chip) diag_add(diags, "fact", "this kernel computes more than one product");
  return chip;
}

static const ChipBarrier *find_barrier(const OnChip *chip, const char *name, Diags *diags) {
  const char *names[CHIP_BARRIERS];
  for (int i = 0; i < chip->n_barriers; i++) {
    names[i] = chip->barrier[i].buffer->name;
    if (str_equal(names[i], name)) return &chip->barrier[i];
  }
  diag_add(diags, "fact", "this kernel has no mbarrier \"%s\"", str_sanitise(diags->arena, name))
      ->nearest = nearest_name(name, names, chip->n_barriers);
  return NULL;
}

bool fact_tensor_columns(const FactScene *scene, const FactArgs *args, FactValue *value,
                         Diags *diags) {
  (void)args, (void)diags;
  value->number = (double)scene->model->resources.tensor_columns;
  return true;
}

bool fact_tensor_reader(const FactScene *scene, const FactArgs *args, FactValue *value,
                        Diags *diags) {
  const OnChip *chip = look(scene, diags);
  int64_t lane, column;
  if (!chip || !fact_int(args->word[0], 0, TENSOR_LANES - 1, "LANE", &lane, diags) ||
      !fact_int(args->word[1], 0, TENSOR_COLUMNS - 1, "COLUMN", &column, diags))
    return false;
  for (int i = 0; i < chip->tensor.n; i++) {
    const ChipRange *range = &chip->tensor.range[i];
    if (range->factors || column < range->first || column >= range->first + range->n) continue;
    value->number = range->reader[lane / LANES];
    return true;
  }
  diag_add(diags, "fact", "column %s of tensor memory has no sums", args->word[1]);
  return false;
}

bool fact_stages_fit(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const SmemBudget budget = smem_budget(scene->model->program, scene->model->target);
  (void)args;
  value->number = (double)budget.most_stages;
  if (!budget.stage_bytes) diag_add(diags, "fact", "this kernel has no ring of slabs");
  return budget.stage_bytes > 0;
}

bool fact_first_phase(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  const OnChip *chip = look(scene, diags);
  const ChipBarrier *barrier = chip ? find_barrier(chip, args->word[0], diags) : NULL;
  if (!barrier) return false;
  if (barrier->n_waits == 0) diag_add(diags, "fact", "no thread waits for %s", args->word[0]);
  value->number = (double)barrier->wait[0].phase;
  return barrier->n_waits > 0;
}

// The first statement that arrives at an mbarrier, boxes left out; NULL after a finding.
static const ChipUse *find_arrival(const OnChip *chip, const char *name, Diags *diags) {
  const ChipBarrier *barrier = find_barrier(chip, name, diags);
  for (int i = 0; barrier && i < barrier->n_signals; i++)
    if (!op_moves_box(barrier->signal[i].stmt->op.kind)) return &barrier->signal[i];
  if (barrier) diag_add(diags, "fact", "no thread arrives at %s", name);
  return NULL;
}

bool fact_arrives_at(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const OnChip *chip = look(scene, diags);
  const ChipUse *use = chip ? find_arrival(chip, args->word[0], diags) : NULL;
  if (use) value->number = use->at;
  return use != NULL;
}

bool fact_expected_kib(const FactScene *scene, const FactArgs *args, FactValue *value,
                       Diags *diags) {
  const OnChip *chip = look(scene, diags);
  const ChipUse *use = chip ? find_arrival(chip, "full", diags) : NULL;
  (void)args;
  if (use) value->number = (double)use->bytes / 0x1p10;
  return use != NULL;
}

// Slabs count from 0 here, as the ring counts them.
bool fact_next_in_slot(const FactScene *scene, const FactArgs *args, FactValue *value,
                       Diags *diags) {
  const OnChip *chip = look(scene, diags);
  int64_t slab;
  if (!chip || !fact_int(args->word[0], 0, CHIP_FIRST_SLABS - 1, "SLAB", &slab, diags))
    return false;
  for (int64_t next = slab + 1; next < chip->n_turns; next++) {
    if (chip->turn[next].slot != chip->turn[slab].slot) continue;
    value->number = (double)next;
    return true;
  }
  diag_add(diags, "fact", "no slab takes the slot of slab %s here", args->word[0]);
  return false;
}

bool fact_intensity_gain(const FactScene *scene, const FactArgs *args, FactValue *value,
                         Diags *diags) {
  const OnChip *chip = look(scene, diags);
  (void)args;
  if (chip) value->number = chip->intensity / chip->alone;
  return chip != NULL;
}
