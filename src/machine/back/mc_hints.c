// The instructions that the way back came by → those that a proof tries, the likely ones first.
#include "machine/back/mc_back.h"
#include "machine/mc_flow.h"

int mc_back_hints(const McFault *fault, int out[MC_HINTS_MAX]) {
  int n = 0;
  if (fault->found) mc_add_once(out, &n, fault->pc);
  if (fault->found) mc_add_once(out, &n, fault->or_pc);
  for (int i = 0; i < fault->n_early; i++) mc_add_once(out, &n, fault->early[i]);
  for (int i = 0; i < fault->n_beside; i++) mc_add_once(out, &n, fault->beside[i]);
  mc_add_once(out, &n, fault->store_pc);
  for (int i = fault->n_way - 1; i >= 0; i--) mc_add_once(out, &n, fault->way[i]);
  return n;
}

int mc_all_hints(const McFault *fault, int out[MC_SLICE_MAX + MC_HINTS_MAX]) {
  int named[MC_HINTS_MAX], n = 0;
  const int n_named = mc_back_hints(fault, named);
  for (int i = 0; i < fault->n_beside && fault->is_step; i++)
    mc_add_once(out, &n, fault->beside[i]);
  for (int i = 0; i < fault->n_slice; i++) mc_add_once(out, &n, fault->slice[i]);
  for (int i = 0; i < n_named; i++) mc_add_once(out, &n, named[i]);
  return n;
}

// Another operation than the compiler's may write nothing that could be wrong.
static void hint_beside(const McFault *fault, const int *line, int n_code, int *out, int *n) {
  const int of = fault->n_early ? line[fault->early[0]] : 0;
  int beside = 0;
  for (int pc = 0; pc < n_code; pc++) beside += line[pc] == of;
  for (int pc = 0; pc < n_code && of && beside <= MC_FIRST_BESIDE; pc++)
    if (line[pc] == of) mc_add_once(out, n, pc);
}

int mc_first_hints(const McFault *fault, const int *line, int n_code, int out[MC_FIRST_HINTS]) {
  int n = 0;
  for (int i = 0; i < fault->n_early && i < MC_FIRST_EARLY; i++)
    mc_add_once(out, &n, fault->early[i]);
  hint_beside(fault, line, n_code, out, &n);
  if (fault->found) mc_add_once(out, &n, fault->pc);
  if (fault->found) mc_add_once(out, &n, fault->or_pc);
  for (int i = 0; i < fault->n_beside && i < MC_FIRST_STEPS && fault->is_step; i++)
    mc_add_once(out, &n, fault->beside[i]);
  mc_add_once(out, &n, fault->store_pc);
  return n;
}

int mc_flow_hints(Arena *arena, const PtxModule *module, int out[], int most) {
  enum { FEW = 4 };
  const McFlow flow = mc_flow(arena, module->code, module->n_code);
  int n = 0, n_dead = 0;
  for (int pc = 0; pc < module->n_code && n < most - FEW; pc++)
    if (flow.is_unwritten[pc]) out[n++] = pc;
  for (int pc = 0; pc < module->n_code; pc++) n_dead += flow.is_dead[pc];
  for (int pc = 0; pc < module->n_code && n_dead <= FEW; pc++)
    if (flow.is_dead[pc] && n < most) out[n++] = pc;
  return n;
}
