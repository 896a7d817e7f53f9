// A slab of a program as a problem of layouts: its shape, how it lies now, and every access that
// one block makes to it for one k_o iteration.
//
//   SlabProblem slab;
//   if (!slab_problem_build(arena, model, buffer, &slab, &diags)) …
//   SolverResult best = solver_solve(arena, scratch, &slab.problem);
//   slab_site_cost(&slab.problem.sites[i], slab.layout)       what site i costs as it lies now
//
// A site of the problem is a site of the model as the program says it: another layout may end what
// the assembler merges. Its repetitions are all that the warps of a block run, so sums over sites
// are wavefronts per block and slab, and weights are executions.
#pragma once
#include "banks/solver/solver.h"
#include "model/readings/model.h"

// Repetitions of one site that are written out; of more, every n-th stands for n.
enum { SLAB_PROBLEM_REPEAT_MAX = 4096 };

typedef struct SlabUse {
  const Site *site;
  int64_t executions;  // by one block for one slab: repetitions × weight
  double fragments;    // that these fill, of the atom's or of a thread's; 0: it fills none
} SlabUse;

typedef struct SlabProblem {
  SolverProblem problem;
  const Buffer *slab;
  const char *elements;     // "bf16", "4 B each"
  const SlabUse *use;       // [problem.n_sites]
  const char *layout_text;  // as layout_parse reads it
  const Layout *layout;     // how the slab lies now
  const Layout *plain;      // row after row
} SlabProblem;

// The buffer's own layout as a text: "none", "pad:4", "swizzle:3,4,3", or what the user typed.
const char *slab_layout_text(Arena *arena, const Schedule *schedule, const Buffer *slab);

// The same, read. NULL after findings when the slab is larger than shared memory.
const Layout *slab_layout_now(Arena *arena, const Schedule *schedule, const Buffer *slab,
                              Diags *diags);

// False after findings: the slab has no layout (slab_layout_now).
bool slab_problem_build(Arena *arena, const Model *model, const Buffer *slab, SlabProblem *out,
                        Diags *diags);

// Wavefronts of `use` in a layout, weights included; -1 where the operation has no count, or the
// layout takes an access apart.
double slab_use_wavefronts(const SlabProblem *slab, int use, const Layout *layout);

// The knobs that give this slab the layout and leave the other slab as it is: "SWIZZLE=3" where
// that alone does it, "PAD_SMEM=4,…", or "LAYOUT_B='…',…". NULL after findings: no knob says it.
const char *slab_layout_knobs(Arena *arena, const Model *model, const Buffer *slab,
                              const char *layout, Diags *diags);
