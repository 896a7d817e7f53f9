// A launch against the limits of its GPU (data/gpus.json). Registers count where machine code was
// read. A launch that a GPU ran needs no check; a text for no one GPU in particular, sm_80, may be
// meant for a larger one, and the sentence says which is meant.
//
//   131072 B shared, sm_120a: "GeForce RTX 5090 (sm_120a) refuses this launch: more shared memory
//   than a block may ask for: 131072 B, at most 101376"
#include "cli/common/cli_model.h"
#include "cli/open/open_parts.h"
#include "model/readings/cost/occupancy.h"

// The limit that the block is beyond, and its own value; NULL: none.
static const char *beyond(Arena *arena, const Target *t, const BlockNeeds *needs) {
  const int64_t warps = (needs->threads + PTX_LANES - 1) / PTX_LANES;
  const struct {
    bool is;
    long long value, limit;
    const char *what, *unit;
  } limits[] = {{needs->threads > t->max_threads_per_block, needs->threads,
                 t->max_threads_per_block, "more threads than a block may have", ""},
                {needs->registers > t->max_regs_per_thread, needs->registers,
                 t->max_regs_per_thread, "more registers than a thread may have", ""},
                {needs->smem_bytes > t->smem_per_block, needs->smem_bytes, t->smem_per_block,
                 "more shared memory than a block may ask for", " B"},
                {true, (long long)(occupancy_warp_registers(t, needs->registers) * warps),
                 t->regs_per_sm, "more registers than an SM has", ""}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].is)
      return arena_printf(arena, "%s: %lld%s, at most %lld", limits[i].what, limits[i].value,
                          limits[i].unit, limits[i].limit);
  return NULL;
}

// A warp that asks for more registers than the block has left waits until others give theirs back.
static const char *waits_for_registers(const OpenResult *r, int threads) {
  const int64_t wanted = ptx_machine_registers(r->machine, r->registers),
                has = (int64_t)((threads + PTX_LANES - 1) / PTX_LANES) * PTX_LANES * r->registers;
  if (r->registers == 0 || wanted <= has) return NULL;
  return arena_printf(r->arena,
                      "setmaxnreg asks for %lld registers in all, but the block is launched with "
                      "%lld (%d threads of %d): some warp waits for ever",
                      (long long)wanted, (long long)has, threads, r->registers);
}

void open_check_fit(OpenResult *r) {
  Diags ignored = diags_new(r->arena);
  TargetTable table;
  const Capsule *capsule = r->text.capsule;
  const int *block = r->launch.block;
  if (!r->module->target || (capsule && capsule->by_gpu)) return;
  const BlockNeeds needs = {.registers = r->registers,
                            .threads = block[0] * block[1] * block[2],
                            .smem_bytes = ptx_machine_smem_bytes(r->machine)};
  r->misfit = waits_for_registers(r, needs.threads);
  if (r->misfit || !cli_targets(r->arena, &table, &ignored)) return;
  const Target *target = target_find(&table, r->module->target, NULL);
  if (!target || !occupancy_of(target, &needs).illegal) return;
  r->misfit = arena_printf(r->arena, "%s (%s) refuses this launch: %s", target->name,
                           r->module->target, beyond(r->arena, target, &needs));
}
