// mma.sync: registers of 32 lanes → matrices → product → registers. (PTX ISA, 9.7.14.5, of a sparse
// A 9.7.14.6.)
//
// Products are exact. On sm_90 they are summed as its tensor core does (tensor_sum.h); for other
// GPUs, and for a sparse A, in f64, then rounded once to the type of D: there the last bits may
// differ; whole numbers agree.
// Scale factors are multiplied to the elements first, which is exact in f64, too. A sparse A lies
// in registers as a dense one of half its K.
#include "ptx/run/mma.h"

#include <stdio.h>

#include "base/str.h"
#include "ptx/module/float_format.h"
#include "ptx/module/multiply.h"
#include "ptx/module/tensor_sum.h"
#include "ptx/run/run.h"

static bool shape_of(const PtxForm *form, Atom *atom) {
  for (int i = PTX_MOD_m8n8k4; i <= PTX_MOD_m8n32k16; i++)
    if (ptx_mods_has(&form->mods, (PtxModifier)i))
      return sscanf(ptx_modifiers[i].name, "m%2dn%2dk%3d", &atom->m, &atom->n, &atom->k) == 3;
  return false;
}

// ---- types --------------------------------------------------------------------------------------

// Elements of 4 and 6 bits lie in bytes of their own, but for kinds that have no others. The bits
// of an e2m1 are bits 2 to 5 of its byte, which is the e2m3 of the same value. (CUTLASS,
// cute/atom/mma_traits_sm120.hpp: ldmatrix puts them two bits lower.)
static PtxType element_type(const PtxForm *form, PtxType type) {
  const bool in_bytes = ptx_mods_has(&form->mods, PTX_MOD_kind_f8f6f4) ||
                        ptx_mods_has(&form->mods, PTX_MOD_kind_mxf8f6f4);
  return in_bytes && type == PTX_E2M1 ? PTX_E2M3 : type;
}

static bool sums_fit(PtxType d, PtxType element) {
  const bool whole =
      element == PTX_S8 || element == PTX_U8 || element == PTX_S4 || element == PTX_U4;
  if (whole || element == PTX_F64) return d == (whole ? PTX_S32 : PTX_F64);
  const bool small = element == PTX_F16 || ptx_types[element].bits == 8;
  return d == PTX_F32 || (d == PTX_F16 && small);
}

// A lane holds one register or two of a row of A, of f64 up to four.
static bool depth_fits(const Atom *atom, int bits, int k) {
  enum { REGISTERS_OF_A_ROW = 128 };
  const int row = k * bits;
  if (atom->m != 8 && atom->m != PTX_MMA_ROWS) return false;
  if (bits == 64) return row >= 256 && row <= (atom->m == 8 ? 256 : 1024);
  return row == REGISTERS_OF_A_ROW || (row == 2 * REGISTERS_OF_A_ROW && atom->m == PTX_MMA_ROWS);
}

static Atom atom_with(const Atom *shape, int bits, int acc_bits, int k) {
  Atom atom = *shape;
  atom.bits = bits;
  atom.acc_bits = acc_bits;
  atom.k = k;
  atom.lanes = PTX_LANES;
  atom.unit = 1;
  for (int o = 0; o < ATOM_OPERANDS; o++) atom.place[o] = ATOM_PLACE_REG;
  return atom;
}

// Registers of one operand: what the map says against what the text has.
static bool lay_out(Arena *arena, PtxSide *side, const Atom *atom, AtomOperand operand,
                    PtxType type, const PtxGroup *group) {
  const FragmentMap map = fragment_map(atom, operand);
  return group->kind == PTX_GROUP_VALUE && map.rows * map.cols <= PTX_MMA_ELEMENTS &&
         ptx_side_plan(arena, side, atom, operand, type, group, 1, map.rows);
}

// ---- scale factors ------------------------------------------------------------------------------

// The rows of atom.def whose maps say which lanes give 1, 2 and 4 factors.
static const char *const scaled_atoms[] = {
    [1] = "m16n8k32.mxf8", [2] = "m16n8k64.mxf4", [4] = "m16n8k64.nvfp4"};

static int factors_of(const PtxForm *form) {
  if (ptx_mods_has(&form->mods, PTX_MOD_scale_vec_4)) return 4;
  if (ptx_mods_has(&form->mods, PTX_MOD_scale_vec_2)) return 2;
  if (ptx_mods_has(&form->mods, PTX_MOD_scale_vec_1)) return 1;
  return ptx_mods_has(&form->mods, PTX_MOD_kind_mxf4) ? 2 : 1;
}

static bool plan_scales(Arena *arena, PtxMma *mma, const PtxInst *inst, int first) {
  const int n = factors_of(&inst->form);
  const PtxType type = inst->form.types[4];
  Diags ignored = diags_new(arena);
  Atom atom;
  if (inst->n_groups != first + 4 || (type != PTX_UE8M0 && type != PTX_UE4M3) ||
      !atom_parse(scaled_atoms[n], &atom, &ignored))
    return false;
  for (int o = 0; o < 2; o++) {
    PtxScales *s = &mma->scales[o];
    const PtxGroup *words = &inst->groups[first + 2 * o], *ids = words + 1;
    if (words->kind != PTX_GROUP_VALUE || words->n != 1 || ids->kind != PTX_GROUP_VALUE ||
        ids->n != 2)
      return false;
    *s = (PtxScales){.words = first + 2 * o,
                     .ids = first + 2 * o + 1,
                     .n = n,
                     .rows = o == 0 ? mma->m : mma->n,
                     .type = type,
                     .thread_step = o == 0 ? 2 : 1};
    for (int row = 0; row < s->rows; row++)
      s->lane[row] = (uint8_t)(o == 0 ? fragment_owner(&atom, ATOM_SFA, row, 0)
                                      : fragment_owner(&atom, ATOM_SFB, 0, row))
                         .lane;
  }
  return true;
}

// ---- the plan -----------------------------------------------------------------------------------

static bool plan_matrices(Arena *arena, PtxMma *mma, const PtxInst *inst, const Atom *shape) {
  const PtxForm *form = &inst->form;
  const PtxType a = element_type(form, form->types[1]), b = element_type(form, form->types[2]);
  const int bits = ptx_types[a].bits, k = mma->sparse.is_sparse ? shape->k / 2 : shape->k;
  if (bits != ptx_types[b].bits || !depth_fits(shape, bits, k) || shape->n != PTX_MMA_N ||
      !sums_fit(form->types[0], a) || !sums_fit(form->types[3], b))
    return false;
  const Atom stored = atom_with(shape, bits, ptx_types[form->types[0]].bits, k),
             whole = atom_with(shape, bits, ptx_types[form->types[3]].bits, shape->k);
  const PtxGroup *g = inst->groups;
  return lay_out(arena, &mma->d, &stored, ATOM_C, form->types[0], &g[0]) &&
         lay_out(arena, &mma->a, &stored, ATOM_A, a, &g[1]) &&
         lay_out(arena, &mma->b, &whole, ATOM_B, b, &g[2]) &&
         lay_out(arena, &mma->c, &whole, ATOM_C, form->types[3], &g[3]);
}

const PtxMma *ptx_mma_plan(Arena *arena, const PtxInst *inst, const char **why) {
  enum { MATRICES = 4, META = 2 };
  const PtxForm *form = &inst->form;
  const bool sparse =
      ptx_mods_has(&form->mods, PTX_MOD_sp) || ptx_mods_has(&form->mods, PTX_MOD_sp_ordered);
  const bool scaled = ptx_mods_has(&form->mods, PTX_MOD_block_scale);
  const int first_scale = MATRICES + (sparse ? META : 0);
  Atom shape = {0};
  *why = "mma of this shape and type is not run here";
  if (!shape_of(form, &shape) || form->n_types != MATRICES + scaled ||
      inst->n_groups != first_scale + (scaled ? 4 : 0) || !ptx_mods_has(&form->mods, PTX_MOD_row) ||
      !ptx_mods_has(&form->mods, PTX_MOD_col))
    return NULL;
  PtxMma *mma = ARENA_NEW(arena, PtxMma);
  *mma = (PtxMma){.m = shape.m, .n = shape.n, .k = shape.k, .sparse.is_sparse = sparse};
  if (!plan_matrices(arena, mma, inst, &shape) ||
      (sparse && (shape.m != PTX_MMA_ROWS ||
                  !ptx_sparse_plan(&mma->sparse, inst, MATRICES,
                                   ptx_types[element_type(form, form->types[1])].bits, shape.k))) ||
      (scaled && !plan_scales(arena, mma, inst, first_scale)))
    return NULL;
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

// Element (row, k) of A, or (k, col) of B, lies at row · row_step + k · k_step.
static void scale(const PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxScales *s, int k,
                  int row_step, int k_step, double *matrix) {
  const uint64_t *words = ptx_lanes(m, w, &i->groups[s->words], 0);
  const int byte = (int)(ptx_lanes(m, w, &i->groups[s->ids], 0)[0] & 3),
            thread = (int)(ptx_lanes(m, w, &i->groups[s->ids], 1)[0] & 3);
  for (int row = 0; row < s->rows; row++) {
    const int lane = (s->lane[row] + thread * s->thread_step) % PTX_LANES;
    for (int f = 0; f < s->n; f++) {
      const double factor = ptx_type_value(s->type, words[lane] >> (byte + f) % 4 * 8 & 0xff);
      for (int e = f * k / s->n; e < (f + 1) * k / s->n; e++)
        matrix[row * row_step + e * k_step] *= factor;
    }
  }
}

void run_mma(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxMma *plan = i->mma;
  const bool is_f64 = plan->d.type == PTX_F64;
  if (mask != ~0u) ptx_find(m, w, PTX_FINDING_MISSING_LANES, w->pc, -1, ~mask);
  double a[PTX_MMA_ELEMENTS], b[PTX_MMA_ELEMENTS], c[PTX_MMA_ELEMENTS], spread[PTX_MMA_ELEMENTS];
  double *dense = plan->sparse.is_sparse ? spread : a;
  ptx_side_read(m, w, &i->groups[1], &plan->a, a);
  ptx_side_read(m, w, &i->groups[2], &plan->b, b);
  ptx_side_read(m, w, &i->groups[3], &plan->c, c);
  if (plan->sparse.is_sparse && !ptx_sparse_spread(m, w, i, &plan->sparse, a, spread)) return;
  if (plan->scales[0].n) scale(m, w, i, &plan->scales[0], plan->k, 1, plan->m, dense);
  if (plan->scales[1].n) scale(m, w, i, &plan->scales[1], plan->k, plan->k, 1, b);
  const PtxSumRule *rule =
      plan->sparse.is_sparse || plan->scales[0].n
          ? NULL
          : ptx_sum_rule(m->module->cc, false, plan->a.type, plan->b.type, plan->d.type);
  ptx_multiply(&(PtxFactors){plan->m,
                             plan->n,
                             plan->k,
                             dense,
                             b,
                             plan->k,
                             1,
                             is_f64,
                             rule,
                             {plan->a.type, plan->b.type}},
               c);
  ptx_side_write(m, w, i, &i->groups[0], &plan->d, c);
  if (plan->d.type != PTX_S32 && !rule) m->approximations += PTX_LANES;
}
