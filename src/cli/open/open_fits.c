// A launch against the limits of its GPU (data/gpus.json). Registers count where machine code was
// read. A launch that a GPU ran needs no check; a text for no one GPU in particular, sm_80, may be
// meant for a larger one, and the sentence says which is meant.
//
//   131072 B shared, sm_120a: "an RTX 5090 (sm_120a) refuses this launch: more shared memory …"
#include "cli/open/open_parts.h"

#include "cli/common/cli_model.h"
#include "model/readings/cost/occupancy.h"

void open_check_fit(OpenResult *r) {
  Diags ignored = diags_new(r->arena);
  TargetTable table;
  const Capsule *capsule = r->text.capsule;
  if (!r->module->target || (capsule && capsule->by_gpu)) return;
  if (!cli_targets(r->arena, &table, &ignored)) return;
  const Target *target = target_find(&table, r->module->target, NULL);
  if (!target) return;
  const int *block = r->launch.block;
  const BlockNeeds needs = {.registers = r->registers,
                            .threads = block[0] * block[1] * block[2],
                            .smem_bytes = ptx_machine_smem_bytes(r->machine)};
  const Occupancy fit = occupancy_of(target, &needs);
  if (!fit.illegal) return;
  r->misfit = arena_printf(
      r->arena,
      "%s (%s) refuses this launch: %s; a block has %d threads of %d registers, and %lld B of "
      "shared memory",
      target->name, r->module->target, fit.illegal, needs.threads, needs.registers,
      (long long)needs.smem_bytes);
}
