// Checks the conditions that the runner relies on, once when an instruction is read: numbers of
// registers, types, spaces. An instruction that breaks one is kept as one that stops its block and
// says why.
#include "ptx/module/float_format.h"
#include "ptx/run/run.h"

typedef const char *Check(const PtxInst *i);

static const char *check_vector(const PtxInst *i, const PtxGroup *g) {
  const int bits = i->form.n_types ? ptx_types[i->form.types[0]].bits : 0;
  if (bits < 8 || bits > 64) return "a load or store of this type is not run here";
  if (g->kind == PTX_GROUP_PRED) return "a predicate cannot be loaded or stored";
  return g->n == i->form.vector ? NULL
                                : "expected the number of registers that .v2, .v4 or .v8 names";
}
static const char *check_ld(const PtxInst *i) { return check_vector(i, &i->groups[0]); }
static const char *check_st(const PtxInst *i) { return check_vector(i, &i->groups[1]); }

static bool atomic_float_runs(const PtxInst *i, PtxType type) {
  if (type == PTX_F32 || type == PTX_F64) return i->form.logic == PTX_MOD_add;
  return i->form.logic == PTX_MOD_add || i->form.logic == PTX_MOD_min ||
         i->form.logic == PTX_MOD_max;
}

static const char *check_atomic(const PtxInst *i, const PtxGroup *values, int n_values) {
  const PtxType type = i->form.types[0];
  const int bits = ptx_types[type].bits;
  if (bits != 16 && bits != 32 && bits != 64) return "an atomic of this width is not run here";
  if (i->form.logic == PTX_MOD_none || i->form.logic == PTX_MOD_popc)
    return "this atomic is not run here";
  if (ptx_format_of(type) && i->form.logic != PTX_MOD_exch && !atomic_float_runs(i, type))
    return "this atomic of floating-point numbers is not run here";
  if (ptx_types[type].class == 'F' && i->form.logic == PTX_MOD_exch)
    return "this atomic of floating-point numbers is not run here";
  if (i->form.logic == PTX_MOD_cas && n_values < 2) return "cas takes two values";
  for (int n = 0; n < n_values && n < 2; n++)
    if (values[n].kind != PTX_GROUP_VALUE || values[n].n != i->form.vector)
      return "an atomic takes registers";
  return NULL;
}
const char *ptx_reduction_refuses(const PtxInst *i, PtxType type) {
  const PtxModifier logic = i->form.logic;
  const int bits = ptx_types[type].bits;
  const bool is_one = logic != PTX_MOD_none && logic != PTX_MOD_popc && logic != PTX_MOD_cas &&
                      logic != PTX_MOD_exch;
  if (is_one && ptx_format_of(type) && atomic_float_runs(i, type)) return NULL;
  return is_one && !ptx_format_of(type) && (bits == 32 || bits == 64)
             ? NULL
             : "a reduction of this sort and type is not run here";
}
static const char *check_atom(const PtxInst *i) {
  if (i->groups[0].kind == PTX_GROUP_VALUE && i->groups[0].n != i->form.vector)
    return "expected the number of registers that .v2, .v4 or .v8 names";
  return check_atomic(i, &i->groups[2], i->form.logic == PTX_MOD_cas ? i->n_groups - 2 : 1);
}
static const char *check_red(const PtxInst *i) { return check_atomic(i, &i->groups[1], 1); }

static const char *check_mov(const PtxInst *i) {
  const PtxGroup *to = &i->groups[0], *from = &i->groups[1];
  const int bits = ptx_types[i->form.types[0]].bits;
  if (bits > 64) return "mov of 128 bits is not run here";
  if (to->kind == PTX_GROUP_PRED || from->kind == PTX_GROUP_PRED)
    return "a predicate is moved by mov.pred";
  const bool whole = to->n > 0 && from->n > 0 && bits % to->n == 0 && bits % from->n == 0;
  return whole ? NULL : "mov: the parts do not add up to the whole";
}

static const char *check_matrix(const PtxInst *i, const PtxGroup *g, const PtxGroup *address) {
  const int n = ptx_mods_has(&i->form.mods, PTX_MOD_x4)   ? 4
                : ptx_mods_has(&i->form.mods, PTX_MOD_x2) ? 2
                                                          : 1;
  const PtxMods *mods = &i->form.mods;
  if (ptx_mods_has(mods, PTX_MOD_m8n16)) {
    const bool one = ptx_mods_has(mods, PTX_MOD_from_b4) != ptx_mods_has(mods, PTX_MOD_from_b6);
    if (!one || !ptx_mods_has(mods, PTX_MOD_to_b8))
      return "ldmatrix with .m8n16 takes .b8x16 and .b4x16_p64 or .b6x16_p32";
  } else if (!ptx_mods_has(mods, PTX_MOD_m8n8) || i->form.types[0] != PTX_B16) {
    return "ldmatrix and stmatrix run with .m8n8 and .b16";
  }
  if (address->kind != PTX_GROUP_ADDRESS || g->kind != PTX_GROUP_VALUE || g->n != n)
    return "expected the number of registers that .x1, .x2 or .x4 names";
  return NULL;
}
static const char *check_ldmatrix(const PtxInst *i) {
  return check_matrix(i, &i->groups[0], &i->groups[1]);
}
static const char *check_stmatrix(const PtxInst *i) {
  return check_matrix(i, &i->groups[1], &i->groups[0]);
}

static const char *check_cvt(const PtxInst *i) {
  if (i->form.n_types < 2) return "cvt takes two types";
  if (i->form.n_types > 2) return "cvt of this form is not run here";
  const PtxTypeRow *to = &ptx_types[i->form.types[0]], *from = &ptx_types[i->form.types[1]];
  if (to->bits < 8 || to->bits > 64 || from->bits < 8 || from->bits > 64)
    return "cvt of this type is not run here";
  const bool packs = to->class == 'X', unpacks = from->class == 'X';
  const bool from_single = ptx_format_of(i->form.types[1]) != NULL;
  if (!packs && unpacks) return "cvt of this type is not run here";
  if (packs && !from_single) return "cvt of this type is not run here";
  if (packs && (i->n_groups > 2) == unpacks) return "cvt: two numbers make a pair";
  return !packs && i->n_groups > 2 ? "cvt of this form is not run here" : NULL;
}

static bool is_pair_of_halves(PtxType type) { return type == PTX_F16X2 || type == PTX_BF16X2; }

static const char *check_types(const PtxInst *i, int n) {
  for (int t = 0; t < n && t < i->form.n_types; t++) {
    const PtxTypeRow *row = &ptx_types[i->form.types[t]];
    if (row->bits < 8 || row->bits > 64 ||
        (row->class == 'X' && !is_pair_of_halves(i->form.types[t])))
      return "a comparison of this type is not run here";
  }
  return NULL;
}
static const char *check_setp(const PtxInst *i) {
  return i->form.compare ? check_types(i, 1) : "setp takes a comparison";
}
static const char *check_set(const PtxInst *i) {
  if (!i->form.compare) return "set takes a comparison";
  const PtxType to = i->form.types[0];
  const bool wide = to == PTX_U32 || to == PTX_S32 || to == PTX_B32 || is_pair_of_halves(to);
  if (i->form.n_types > 1 && is_pair_of_halves(i->form.types[1]) && !wide)
    return "set of two halves gives two halves or 32 bits";
  return check_types(i, 2);
}

// [to], [from], 4, 8 or 16 as a number of the text, and perhaps the number of them that are read,
// or a predicate.
static const char *check_cp_async(const PtxModule *module, const PtxInst *i) {
  const int at = ~module->args[i->groups[2].at] - PTX_SPECIALS;
  const uint64_t bytes = at >= 0 ? module->constants[at] : 0;
  if (bytes != 4 && bytes != 8 && bytes != 16) return "cp.async copies 4, 8 or 16 bytes";
  if (ptx_has(i, PTX_MOD_cg) && bytes != 16) return "cp.async.cg copies 16 bytes";
  if (i->n_groups > 4) return "cp.async of this form is not run here";
  for (int g = 2; g < i->n_groups; g++) {
    const PtxGroupKind kind = i->groups[g].kind;
    if (kind == PTX_GROUP_ADDRESS || (kind == PTX_GROUP_PRED && g != 3))
      return "cp.async of this form is not run here";
  }
  return NULL;
}
// A value, and the mbarrier that is told of it.
static const char *check_st_async(const PtxInst *i) {
  const char *why = check_vector(i, &i->groups[1]);
  return why || i->groups[2].kind == PTX_GROUP_ADDRESS ? why
                                                       : "expected the address of an "
                                                         "mbarrier";
}
static const char *check_red_async(const PtxInst *i) {
  const char *why = check_atomic(i, &i->groups[1], 1);
  if (!why && (i->form.logic == PTX_MOD_cas || i->form.logic == PTX_MOD_exch ||
               ptx_format_of(i->form.types[0])))
    why = "red.async reduces whole numbers";
  return why ? why : check_st_async(i);
}
static const char *check_bulk(const PtxInst *i) {
  if (ptx_mods_has(&i->form.mods, PTX_MOD_multicast) &&
      (i->n_groups < 5 || i->groups[4].kind != PTX_GROUP_VALUE))
    return "a multicast takes a mask of blocks";
  if (!ptx_mods_has(&i->form.mods, PTX_MOD_bulk_group) && i->space == PTX_SPACE_SHARED &&
      (i->n_groups < 4 || i->groups[3].kind != PTX_GROUP_ADDRESS))
    return "a bulk copy into shared memory names an mbarrier";
  const char *why = ptx_mods_has(&i->form.mods, PTX_MOD_reduce)
                        ? ptx_reduction_refuses(i, i->form.types[0])
                        : NULL;
  if (why) return why;
  return ptx_mods_has(&i->form.mods, PTX_MOD_mbarrier) ? "a bulk copy of this form" : NULL;
}
static const char *check_arrive(const PtxInst *i) {
  int n = 0;
  for (int g = 0; g < i->n_groups; g++) {
    n += i->groups[g].kind == PTX_GROUP_ADDRESS;
    if (i->groups[g].kind == PTX_GROUP_PRED) return "an mbarrier takes no predicate";
  }
  return n == 1 ? NULL : "expected the address of an mbarrier";
}
static const char *check_bar_red(const PtxInst *i) {
  const bool right =
      i->n_groups >= 3 && i->n_groups <= 4 && i->groups[i->n_groups - 1].kind == PTX_GROUP_PRED;
  for (int g = 1; g < i->n_groups - 1; g++)
    if (i->groups[g].kind != PTX_GROUP_VALUE) return "bar.red takes numbers";
  return right ? NULL : "bar.red takes a barrier and a predicate";
}
static const char *check_float(const PtxInst *i) {
  const PtxType second = i->form.types[1];
  if (i->form.n_types < 2) return NULL;
  return i->form.types[0] == PTX_F32 && (second == PTX_F16 || second == PTX_BF16)
             ? NULL
             : "expected f32 as the first type and f16 or bf16 as the second";
}
static const char *check_lop3(const PtxInst *i) {
  const bool logic = i->form.logic != PTX_MOD_none;
  return logic == (i->n_groups == 6) && logic == (i->pair.n > 0)
             ? NULL
             : "lop3 with .and or .or gives a predicate, and takes one";
}
static const char *check_shfl(const PtxInst *i) {
  static const PtxModifier modes[] = {PTX_MOD_up, PTX_MOD_down, PTX_MOD_bfly, PTX_MOD_idx};
  for (size_t n = 0; n < sizeof modes / sizeof modes[0]; n++)
    if (ptx_mods_has(&i->form.mods, modes[n])) return NULL;
  return "shfl takes .up, .down, .bfly or .idx";
}

static const char *check_answer(const PtxInst *i) {
  return i->groups[1].n == 2 ? NULL : "the answer is a register of 128 bits";
}

static const struct {
  PtxRun *run;
  Check *check;
  bool vectors;  // more than one register in an operand is fine
} checks[] = {
    {run_ld, check_ld, true},
    {run_st, check_st, true},
    {run_atom, check_atom, true},
    {run_red, check_red, true},
    {run_mov, check_mov, true},
    {run_ldmatrix, check_ldmatrix, true},
    {run_stmatrix, check_stmatrix, true},
    {run_mma, NULL, true},
    {run_got_work, check_answer, true},
    {run_whose_work, check_answer, true},
    {run_wgmma, NULL, true},
    {run_cp_tensor, ptx_tensor_refuses, true},
    {run_map_replace, ptx_map_refuses, false},
    {run_t_mma, ptx_product_refuses, true},
    {run_t_ld, ptx_tmem_move_refuses, true},
    {run_t_st, ptx_tmem_move_refuses, true},
    {run_wmma_load, ptx_wmma_refuses, true},
    {run_wmma_store, ptx_wmma_refuses, true},
    {run_wmma_mma, ptx_wmma_refuses, true},
    {run_cvt, check_cvt, false},
    {run_setp, check_setp, false},
    {run_set, check_set, false},
    {run_st_async, check_st_async, true},
    {run_red_async, check_red_async, true},
    {run_cp_async_bulk, check_bulk, false},
    {run_mbarrier_arrive, check_arrive, false},
    {run_bar_red, check_bar_red, false},
    {run_shfl, check_shfl, false},
    {run_add_float, check_float, false},
    {run_sub_float, check_float, false},
    {run_fma_float, check_float, false},
    {run_lop3, check_lop3, false},
};

// The types that a function looks at; what it does not look at would mean another value.
static int types_taken(const PtxInst *i) {
  static const struct {
    PtxRun *run;
    int most;
  } several[] = {{run_set, 2},        {run_slct, 2},      {run_cvt, 4},        {run_dp4a, 2},
                 {run_dp2a, 2},       {run_add_float, 2}, {run_sub_float, 2},  {run_fma_float, 2},
                 {run_mma, 5},        {run_wgmma, 4},     {run_wmma_load, 1},  {run_wmma_store, 1},
                 {run_wmma_mma, 4},   {run_got_work, 2},  {run_whose_work, 2}, {run_nothing, 4},
                 {run_zero_result, 1}};
  for (size_t n = 0; n < sizeof several / sizeof several[0]; n++)
    if (several[n].run == i->run) return several[n].most;
  return 1;
}

static const char *check_single(const PtxInst *i) {
  for (int g = 0; g < i->n_groups; g++)
    if (i->groups[g].n != 1) return "expected one register, not several";
  return NULL;
}

// A predicate where a number is expected, or the other way round, in an operand of any kind.
static const char *check_kinds(const PtxInst *i) {
  for (int g = 0; g < i->n_groups; g++) {
    if (i->row->operands[g] == '*') return NULL;
    const char letter = (char)(i->row->operands[g] | 32);
    const PtxGroupKind kind = i->groups[g].kind;
    if ((letter == 's' && kind == PTX_GROUP_PRED && i->run != run_cp_async) ||
        (letter == 'q' && kind != PTX_GROUP_PRED))
      return "a predicate and a number are not the same";
  }
  return NULL;
}

const char *ptx_run_refuses(const PtxModule *module, const PtxInst *inst) {
  if (inst->form.n_types > types_taken(inst)) return "too many types for this instruction";
  if (inst->row->types == ~UINT64_C(0) && inst->form.n_types == 0) return "a type is missing";
  const bool listed = inst->row->operands[0] == '*' || inst->row->operands[0] == 'f';
  if (listed || inst->run == run_nothing) return NULL;
  bool vectors = false;
  Check *check = NULL;
  for (size_t n = 0; n < sizeof checks / sizeof checks[0]; n++) {
    if (checks[n].run != inst->run) continue;
    vectors = checks[n].vectors;
    check = checks[n].check;
  }
  const char *why = vectors ? NULL : check_single(inst);
  if (!why && inst->row->operands[0] != '?') why = check_kinds(inst);
  if (!why && inst->run == run_cp_async) why = check_cp_async(module, inst);
  return why || !check ? why : check(inst);
}
