// mma.sync: registers of 32 lanes → matrices → product → registers. (PTX ISA, 9.7.14.5.)
//
// Which lane holds which element is fragment.h's business; a plan is its map laid out once for an
// instruction. Products are exact and summed in f64, then rounded once to the type of D: the tensor
// core sums in an order and width of its own, so the last bits may differ; whole numbers agree.
#include "ptx/run/mma.h"

#include <math.h>

#include "base/str.h"
#include "ptx/module/float_format.h"
#include "ptx/run/run.h"

static const char *atom_type(PtxType type) { return type == PTX_U8 ? "s8" : ptx_types[type].name; }

static const char *shape_of(const PtxForm *form) {
  for (int i = PTX_MOD_m8n8k4; i <= PTX_MOD_m8n32k16; i++)
    if (ptx_mods_has(&form->mods, (PtxModifier)i)) return ptx_modifiers[i].name;
  return NULL;
}

// Registers of one operand: what the map says against what the text has.
static bool lay_out(PtxMmaSide *side, const Atom *atom, AtomOperand operand, PtxType type,
                    const PtxGroup *group) {
  const FragmentPacking packing = fragment_packing(atom, operand);
  const FragmentMap map = fragment_map(atom, operand);
  if (packing.n_registers != group->n || packing.n_values > PTX_MMA_VALUES ||
      map.rows * map.cols > PTX_MMA_ELEMENTS || map.n_lanes != PTX_LANES)
    return false;
  side->type = type;
  side->n_values = packing.n_values;
  side->per_register = packing.per_register;
  side->value_bits = packing.value_bits;
  side->cols = map.cols;
  for (int lane = 0; lane < PTX_LANES; lane++)
    for (int v = 0; v < packing.n_values; v++) {
      const FragmentElement e = fragment_map_element(&map, lane, v);
      side->at[lane][v] = (uint16_t)(e.row * map.cols + e.col);
    }
  return ptx_types[type].bits == packing.value_bits;
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
  const bool fits = lay_out(&mma->d, &atom, ATOM_C, form->types[0], &g[0]) &&
                    lay_out(&mma->a, &atom, ATOM_A, form->types[1], &g[1]) &&
                    lay_out(&mma->b, &atom, ATOM_B, form->types[2], &g[2]) &&
                    lay_out(&mma->c, &atom, ATOM_C, form->types[3], &g[3]);
  if (!fits) return NULL;
  *why = NULL;
  return mma;
}

// Each type has a loop of its own, so that the type of a value is asked once.
#define GATHER(expression)                           \
  for (int v = 0; v < side->n_values; v++) {         \
    const uint64_t *A = ptx_lanes(m, w, g, v / per); \
    const int shift = v % per * side->value_bits;    \
    for (int lane = 0; lane < PTX_LANES; lane++) {   \
      const uint64_t bits = A[lane] >> shift;        \
      matrix[side->at[lane][v]] = (expression);      \
    }                                                \
  }

static void gather(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, const PtxMmaSide *side,
                   double *matrix) {
  const int per = side->per_register;
  if (side->type == PTX_F16)
    GATHER((double)ptx_f16_value((uint16_t)bits))
  else if (side->type == PTX_BF16)
    GATHER((double)ptx_f32(bits << 16))
  else if (side->type == PTX_F32)
    GATHER((double)ptx_f32(bits))
  else
    GATHER(ptx_type_value(side->type, ptx_cut(bits, side->value_bits)))
}

uint64_t ptx_mma_bits(const PtxInst *i, PtxType type, double value) {
  if (type == PTX_F32) return isnan(value) ? 0x7fffffff : ptx_f32_bits((float)value);
  if (type == PTX_F64) return ptx_f64_bits(value);
  if (type == PTX_F16) return ptx_f16_of((float)value);
  if (ptx_has(i, PTX_MOD_satfinite))
    return (uint32_t)(value > INT32_MAX   ? INT32_MAX
                      : value < INT32_MIN ? INT32_MIN
                                          : (int32_t)value);
  return (uint32_t)(int64_t)value;
}

static void scatter(const PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxMmaSide *side,
                    const double *matrix) {
  const PtxGroup *g = &i->groups[0];
  for (int v = 0; v < side->n_values; v++) {
    uint64_t *D = ptx_lanes(m, w, g, v / side->per_register);
    const int part = v % side->per_register, shift = part * side->value_bits;
    for (int lane = 0; lane < PTX_LANES; lane++) {
      const uint64_t bits = ptx_mma_bits(i, side->type, matrix[side->at[lane][v]]);
      D[lane] = part == 0 ? bits : D[lane] | bits << shift;
    }
  }
}

void run_mma(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxMma *plan = i->mma;
  if (mask != ~0u) ptx_find(m, w, PTX_FINDING_MISSING_LANES, w->pc, -1, ~mask);
  double a[PTX_MMA_ELEMENTS], b[PTX_MMA_ELEMENTS], c[PTX_MMA_ELEMENTS];
  gather(m, w, &i->groups[1], &plan->a, a);
  gather(m, w, &i->groups[2], &plan->b, b);
  gather(m, w, &i->groups[3], &plan->c, c);
  for (int row = 0; row < plan->m; row++)
    for (int k = 0; k < plan->k; k++) {
      const double x = a[row * plan->k + k];
      for (int col = 0; col < plan->n; col++) c[row * plan->n + col] += x * b[k * plan->n + col];
    }
  scatter(m, w, i, &plan->d, c);
  if (plan->d.type != PTX_S32) m->approximations += PTX_LANES;
}
