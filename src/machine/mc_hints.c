// The instructions that the way back came by → those that a proof tries, the likely ones first.
#include "machine/mc_back.h"
#include "machine/mc_flow.h"

static void hint(int out[MC_HINTS_MAX], int *n, int pc) {
  bool known = pc < 0;
  for (int k = 0; k < *n && !known; k++) known = out[k] == pc;
  if (!known) out[(*n)++] = pc;
}

int mc_back_hints(const McFault *fault, int out[MC_HINTS_MAX]) {
  int n = 0;
  if (fault->found) hint(out, &n, fault->pc);
  if (fault->found) hint(out, &n, fault->or_pc);
  for (int i = 0; i < fault->n_early; i++) hint(out, &n, fault->early[i]);
  for (int i = 0; i < fault->n_beside; i++) hint(out, &n, fault->beside[i]);
  hint(out, &n, fault->store_pc);
  for (int i = fault->n_way - 1; i >= 0; i--) hint(out, &n, fault->way[i]);
  return n;
}

int mc_unwritten_hints(Arena *arena, const PtxModule *module, int out[], int most) {
  const McFlow flow = mc_flow(arena, module->code, module->n_code);
  int n = 0;
  for (int pc = 0; pc < module->n_code && n < most; pc++)
    if (flow.is_unwritten[pc]) out[n++] = pc;
  return n;
}
