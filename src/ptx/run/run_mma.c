// mma.sync: registers of 32 lanes → matrices → product → registers. (PTX ISA, 9.7.14.5.)
//
// Products are exact and summed in f64, then rounded once to the type of D: the tensor
// core sums in an order and width of its own, so the last bits may differ; whole numbers agree.
#include "ptx/run/mma.h"

#include "base/str.h"
#include "ptx/module/float_format.h"
#include "ptx/module/multiply.h"
#include "ptx/run/run.h"

static const char *atom_type(PtxType type) { return type == PTX_U8 ? "s8" : ptx_types[type].name; }

static const char *shape_of(const PtxForm *form) {
  for (int i = PTX_MOD_m8n8k4; i <= PTX_MOD_m8n32k16; i++)
    if (ptx_mods_has(&form->mods, (PtxModifier)i)) return ptx_modifiers[i].name;
  return NULL;
}

// Registers of one operand: what the map says against what the text has.
static bool lay_out(Arena *arena, PtxSide *side, const Atom *atom, AtomOperand operand,
                    PtxType type, const PtxGroup *group) {
  const FragmentMap map = fragment_map(atom, operand);
  return map.rows * map.cols <= PTX_MMA_ELEMENTS && map.n_lanes == PTX_LANES &&
         ptx_side_plan(arena, side, atom, operand, type, group, 1, map.rows) &&
         ptx_types[type].bits == side->value_bits;
}

const PtxMma *ptx_mma_plan(Arena *arena, const PtxInst *inst, const char **why) {
  const PtxForm *form = &inst->form;
  const char *shape = shape_of(form);
  *why = "mma of this shape and type is not run here";
  if (!shape || form->n_types != 4 || inst->n_groups != 4 ||
      !ptx_mods_has(&form->mods, PTX_MOD_row) || !ptx_mods_has(&form->mods, PTX_MOD_col))
    return NULL;
  PtxMma *mma = ARENA_NEW(arena, PtxMma);
  Diags ignored = diags_new(arena);
  Atom atom;
  if (!atom_parse(arena_printf(arena, "%s.%s", shape, atom_type(form->types[1])), &atom, &ignored))
    return NULL;
  const bool f16_sums = form->types[0] == PTX_F16;
  if (f16_sums && !atom.f16_acc) return NULL;
  if (f16_sums) atom_set_f16_acc(&atom);
  mma->m = atom.m;
  mma->n = atom.n;
  mma->k = atom.k;
  if (atom.n != PTX_MMA_N) return NULL;
  const PtxGroup *g = inst->groups;
  const bool fits = lay_out(arena, &mma->d, &atom, ATOM_C, form->types[0], &g[0]) &&
                    lay_out(arena, &mma->a, &atom, ATOM_A, form->types[1], &g[1]) &&
                    lay_out(arena, &mma->b, &atom, ATOM_B, form->types[2], &g[2]) &&
                    lay_out(arena, &mma->c, &atom, ATOM_C, form->types[3], &g[3]);
  if (!fits) return NULL;
  *why = NULL;
  return mma;
}

uint64_t ptx_mma_bits(const PtxInst *i, PtxType type, double value) {
  if (type == PTX_F32) return ptx_sum_f32(value);
  if (type == PTX_F64) return ptx_f64_bits(value);
  if (type == PTX_F16) return ptx_f16_of((float)value);
  if (ptx_has(i, PTX_MOD_satfinite))
    return (uint32_t)(value > INT32_MAX   ? INT32_MAX
                      : value < INT32_MIN ? INT32_MIN
                                          : (int32_t)value);
  return (uint32_t)(int64_t)value;
}

void run_mma(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxMma *plan = i->mma;
  const bool is_f64 = plan->d.type == PTX_F64;
  if (mask != ~0u) ptx_find(m, w, PTX_FINDING_MISSING_LANES, w->pc, -1, ~mask);
  double a[PTX_MMA_ELEMENTS], b[PTX_MMA_ELEMENTS], c[PTX_MMA_ELEMENTS];
  ptx_side_read(m, w, &i->groups[1], &plan->a, a);
  ptx_side_read(m, w, &i->groups[2], &plan->b, b);
  ptx_side_read(m, w, &i->groups[3], &plan->c, c);
  ptx_multiply(&(PtxFactors){plan->m, plan->n, plan->k, a, b, plan->k, 1, is_f64}, c);
  ptx_side_write(m, w, i, &i->groups[0], &plan->d, c);
  if (plan->d.type != PTX_S32) m->approximations += PTX_LANES;
}
