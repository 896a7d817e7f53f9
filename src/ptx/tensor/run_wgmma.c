// wgmma: a warpgroup multiplies tiles that descriptors find in shared memory. (PTX ISA, 9.7.15.)
//
// Each of the four warps computes its 16 rows of D where it comes to the instruction. The tiles
// count as being read until the warp has waited for their group: a thread that writes there before
// is told, and so is one that touches D. The first wgmma of all asks for a wgmma.fence before it.
// So does a wgmma with registers that were computed since the last fence. Sums are formed as
// run_mma.c forms them.
#include <stdlib.h>

#include "base/str.h"
#include "model/ir/matrix_tile.h"
#include "order/order_words.h"
#include "ptx/module/float_format.h"
#include "ptx/module/multiply.h"
#include "ptx/module/tensor_sum.h"
#include "ptx/run/mma.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_orders.h"
#include "ptx/run/run_sync.h"
#include "ptx/tensor/run_tile.h"

// ---- laid out -----------------------------------------------------------------------------------

static bool lay_out(Arena *arena, PtxSide *side, const Atom *atom, AtomOperand operand,
                    PtxType type, const PtxGroup *group) {
  return ptx_side_plan(arena, side, atom, operand, type, group, 1, PTX_WGMMA_ROWS);
}

// The number of an operand that the text gives; `otherwise` where the operand is missing.
static int64_t given(const PtxModule *module, const PtxInst *inst, int index, int64_t otherwise) {
  if (index >= inst->n_groups) return otherwise;
  const int at = ~module->args[inst->groups[index].at] - PTX_SPECIALS;
  return at >= 0 ? (int32_t)module->constants[at] : otherwise;
}

// The atom that A as it is stored and D belong to.
static bool find_atom(Arena *arena, const PtxForm *form, Atom *atom) {
  Diags ignored = diags_new(arena);
  const char *type = form->types[1] == PTX_U8 ? "s8" : ptx_types[form->types[1]].name;
  const int k = ptx_mods_has(&form->mods, PTX_MOD_sp) ? form->shape[2] / 2 : form->shape[2];
  if (!atom_parse(
          arena_printf(arena, "wgmma.m%dn%dk%d.%s", form->shape[0], form->shape[1], k, type), atom,
          &ignored))
    return false;
  if (form->types[0] == PTX_F16 && atom->f16_acc) atom_set_f16_acc(atom);
  return ptx_types[form->types[0]].bits == atom->acc_bits;
}

static bool has_operands(const PtxInst *inst, int adds) {
  for (int g = 0; g < inst->n_groups; g++)
    if (inst->groups[g].n < 1 || (g > 1 && inst->groups[g].n > 1)) return false;
  return inst->groups[0].kind == PTX_GROUP_VALUE && inst->groups[1].kind == PTX_GROUP_VALUE &&
         inst->groups[2].kind == PTX_GROUP_VALUE && adds < inst->n_groups &&
         inst->groups[adds].kind == PTX_GROUP_PRED;
}

// Both of 8 bits, or one type.
static bool types_fit(PtxType a, PtxType b) {
  const bool whole_a = a == PTX_S8 || a == PTX_U8, whole_b = b == PTX_S8 || b == PTX_U8;
  return a == b || (ptx_types[a].bits == 8 && ptx_types[b].bits == 8 && whole_a == whole_b);
}

const PtxWgmma *ptx_wgmma_plan(Arena *arena, const PtxModule *module, const PtxInst *inst,
                               const char **why) {
  const PtxForm *form = &inst->form;
  Atom atom;
  *why = "wgmma of this shape and type is not run here";
  enum { OPERANDS = 3, META = 2 };
  const bool sparse = ptx_mods_has(&form->mods, PTX_MOD_sp);
  const int adds = OPERANDS + (sparse ? META : 0);
  if (!form->shape[0] || form->n_types != 3 || !types_fit(form->types[1], form->types[2]) ||
      !has_operands(inst, adds) || !find_atom(arena, form, &atom))
    return NULL;
  PtxWgmma *plan = ARENA_NEW(arena, PtxWgmma);
  const bool in_registers = inst->groups[1].n > 1;
  *plan = (PtxWgmma){.n = atom.n,
                     .k = form->shape[2],
                     .a_k = atom.k,
                     .element_bytes = atom.bits / 8,
                     .type = {form->types[1], form->types[2]},
                     .a_in_registers = in_registers,
                     .a_sign = (double)given(module, inst, adds + 1, 1),
                     .b_sign = (double)given(module, inst, adds + 2, 1),
                     .a_trans = !in_registers && given(module, inst, adds + 3, 0),
                     .b_trans = given(module, inst, adds + (in_registers ? 3 : 4), 0),
                     .adds = adds};
  if (sparse && !ptx_sparse_plan(&plan->sparse, inst, OPERANDS, atom.bits, plan->k)) return NULL;
  if (!lay_out(arena, &plan->d, &atom, ATOM_C, form->types[0], &inst->groups[0])) return NULL;
  if (in_registers && !lay_out(arena, &plan->a, &atom, ATOM_A, form->types[1], &inst->groups[1]))
    return NULL;
  if ((plan->a_trans || plan->b_trans) && plan->element_bytes != 2) return NULL;
  *why = NULL;
  return plan;
}

// ---- tiles in shared memory ---------------------------------------------------------------------

static bool take_tile(PtxMachine *m, PtxWarp *w, const PtxInst *i, int group, bool trans, int k,
                      PtxTile *out) {
  const uint64_t word = ptx_lanes(m, w, &i->groups[group], 0)[0];
  out->descriptor = smem_descriptor_decode(word, 90);
  out->trans = trans;
  out->rank = w->block->rank;
  out->k = k;
  out->type = i->wgmma->type[group - 1];
  out->element_bytes = i->wgmma->element_bytes;
  if (out->descriptor.swizzle) return true;
  ptx_stop(m, w, PTX_FINDING_NOT_RUN, w->mask, "a descriptor of wgmma with an undefined swizzle");
  return false;
}

// ---- operands -----------------------------------------------------------------------------------

// Its 16 rows of A, as they are stored, as [k][row].
static bool read_stored_a(PtxMachine *m, PtxWarp *w, const PtxInst *i, double *out) {
  const PtxWgmma *plan = i->wgmma;
  if (plan->a_in_registers) {
    ptx_side_read(m, w, &i->groups[1], &plan->a, out);
    return true;
  }
  PtxTile tile = {.first_row = w->in_block % PTX_WGMMA_WARPS * PTX_WGMMA_ROWS,
                  .rows = PTX_WGMMA_ROWS};
  if (!take_tile(m, w, i, 1, plan->a_trans, plan->a_k, &tile)) return false;
  double as_read[PTX_WGMMA_ROWS * PTX_WGMMA_K];
  if (!ptx_tile_read(m, w, 0, &tile, PTX_MULTIPLIES, as_read)) return false;
  const PtxTileSteps steps = ptx_tile_steps(&tile);
  for (int k = 0; k < plan->a_k; k++)
    for (int row = 0; row < PTX_WGMMA_ROWS; row++)
      out[k * PTX_WGMMA_ROWS + row] = as_read[row * steps.row + k * steps.k];
  return true;
}

static bool read_a(PtxMachine *m, PtxWarp *w, const PtxInst *i, double *out) {
  const PtxSparse *sparse = &i->wgmma->sparse;
  if (!sparse->is_sparse) return read_stored_a(m, w, i, out);
  double stored[PTX_WGMMA_K * PTX_WGMMA_ROWS];
  if (!read_stored_a(m, w, i, stored)) return false;
  if (!ptx_sparse_spread(m, w, i, sparse, stored, out))
    memset(out, 0, sizeof *out * (size_t)i->wgmma->k * PTX_WGMMA_ROWS);
  return true;
}

// ---- registers in flight ------------------------------------------------------------------------

static PtxFlight *flight_of(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g, int n) {
  const PtxArg arg = m->module->args[g->at + n];
  const bool is_register = g->kind == PTX_GROUP_VALUE || g->kind == PTX_GROUP_ADDRESS;
  return is_register && arg >= 0 ? &w->flight[(w->frame - w->regs) / PTX_LANES + arg] : NULL;
}

static bool flies(const PtxMachine *m, const PtxWarp *w, const PtxFlight *f) {
  if (!f || f->kind == PTX_NO_FLIGHT) return false;
  const OrderGroups *of =
      f->kind == PTX_FLIGHT_LD ? &m->moves[w->index].loads : &w->groups->products;
  return !order_group_is_over(of, f->group);
}

static void tell_flight(PtxMachine *m, PtxWarp *w, const PtxFlight *flight, uint32_t mask,
                        const char *text) {
  PtxFinding *f = ptx_find(m, w, PTX_FINDING_MISSING_WAIT, w->pc, flight->pc, mask);
  f->other_thread = f->thread;
  f->text = text;
}

// A read waits for what a tcgen05.ld brings by itself: "an intra-thread ordering through true
// register dependency will be respected regardless of the presence or absence of other forms of
// synchronization" (PTX ISA, 9.7.16.6.4.5 "Register dependencies, same thread"). It orders nothing
// else, and a write has no such dependency: that takes a tcgen05.wait::ld.
static void check_load(PtxMachine *m, PtxWarp *w, const PtxGroup *g, PtxFlight *f, uint32_t mask) {
  if (g->written) tell_flight(m, w, f, mask, "it " ORDER_LOADING);
  f->kind = PTX_NO_FLIGHT;
}

// While a wgmma is in flight, its sums may not be read; its sums and its A in registers may not be
// written.
static void check_group(PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t mask) {
  for (int n = 0; n < g->n; n++) {
    PtxFlight *f = flight_of(m, w, g, n);
    if (!flies(m, w, f)) continue;
    if (f->kind == PTX_FLIGHT_LD)
      check_load(m, w, g, f, mask);
    else if (g->written)
      tell_flight(m, w, f, mask, "a register of a wgmma in flight is written");
    else if (f->kind == PTX_FLIGHT_D)
      tell_flight(m, w, f, mask, "a sum of a wgmma in flight is read");
  }
}

// Compilers give sums that are on their way another name; ptxas takes both for one register.
static bool renames(PtxMachine *m, PtxWarp *w, const PtxInst *i) {
  if (i->run != run_mov || i->groups[0].n != 1 || i->groups[1].n != 1) return false;
  PtxFlight *to = flight_of(m, w, &i->groups[0], 0);
  const PtxFlight *from = flight_of(m, w, &i->groups[1], 0);
  if (!to || !flies(m, w, from) || from->kind != PTX_FLIGHT_D) return false;
  *to = *from;
  return true;
}

// A register that is only copied or filled is what it was, for compilers move those instructions to
// where they like.
void ptx_note_written(PtxMachine *m, PtxWarp *w, const PtxInst *i) {
  if (ptx_meant(i)->run == run_wgmma) return;
  const PtxFlight *from =
      i->run == run_mov && i->n_groups > 1 ? flight_of(m, w, &i->groups[1], 0) : NULL;
  const uint32_t fences = i->run != run_mov ? w->fences + 1 : from ? from->fences : 0;
  for (int g = 0; g < i->n_groups; g++)
    for (int n = 0; i->groups[g].written && n < i->groups[g].n; n++) {
      PtxFlight *f = flight_of(m, w, &i->groups[g], n);
      if (f) f->written_pc = w->pc, f->fences = fences;
    }
}

// The register of a group that asks for a fence; NULL: none does.
static const PtxFlight *unfenced(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g) {
  for (int n = 0; n < g->n; n++) {
    const PtxFlight *f = flight_of(m, w, g, n);
    if (f && (w->fences == 0 || f->fences == w->fences + 1)) return f;
  }
  return NULL;
}

// The assembler has settled the order of registers in machine code: its moves between products are
// such as the hardware waits for.
static void check_fence(PtxMachine *m, PtxWarp *w, const PtxInst *i) {
  if (m->module->machine) return;
  const PtxFlight *f = i->wgmma->a_in_registers ? unfenced(m, w, &i->groups[1]) : NULL;
  if (!f) f = unfenced(m, w, &i->groups[0]);
  if (!f) return;
  PtxFinding *found = ptx_find(m, w, PTX_FINDING_MISSING_FENCE, w->pc, f->written_pc, w->mask);
  found->other_thread = found->thread;
  found->text = "a wgmma uses a register that was written with no wgmma.fence between";
}

void ptx_note_load(PtxMachine *m, PtxWarp *w, const PtxGroup *g) {
  for (int n = 0; n < g->n; n++) {
    PtxFlight *f = flight_of(m, w, g, n);
    if (f)
      *f =
          (PtxFlight){.pc = w->pc, .group = m->moves[w->index].loads.closed, .kind = PTX_FLIGHT_LD};
  }
  w->flies = true;
}

void ptx_check_flight(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (ptx_meant(i)->run == run_wgmma || renames(m, w, i)) return;
  // Everything is read before anything is written.
  for (int written = 0; written < 2; written++)
    for (int g = 0; g < i->n_groups; g++)
      if (i->groups[g].written == (written == 1)) check_group(m, w, &i->groups[g], mask);
  if (i->pair.n) check_group(m, w, &i->pair, mask);
}

// A wgmma may go on with the sums of one before it; whatever else it has must have come down.
static void take_off(PtxMachine *m, PtxWarp *w, const PtxGroup *g, PtxFlightKind kind) {
  for (int n = 0; n < g->n; n++) {
    PtxFlight *f = flight_of(m, w, g, n);
    if (!f) continue;
    if (flies(m, w, f) && f->kind != kind)
      tell_flight(m, w, f, w->mask,
                  "a register is used both as a sum and as A of wgmmas in flight");
    *f = (PtxFlight){w->pc, w->groups->products.closed, (uint8_t)kind, f->written_pc, 0};
  }
  w->flies = true;
  w->last_flight = w->groups->products.closed;
}

// Wavefronts of one warp's part of the operands in shared memory: its 16 rows of A, 32 bytes of K
// each, and a quarter of B, 128 bytes in each. The four warps of a warpgroup read all of B once. No
// swizzle makes a difference. Counted on an H200 (driver 580.159.04, 2026-11-27): 8 for m64n64k16,
// 12 for m64n128k16, 8 where A lies in registers, B with N or K inside; 20 for m64n256k16, in whole
// kernels without a swizzle and with swizzles of 64 and 128 bytes. Sparse products, whose B has
// twice the K, follow the same rule: whole kernels of f16, e4m3, tf32 and s8, N from 64 to 256, A
// in shared memory and in registers, 18 with the dense ones beside them, count 29 more than the
// rule's sums, all of them (2026-11-29).
static int wavefronts_of(const PtxWarp *w, const PtxWgmma *plan) {
  enum { A_WAVEFRONTS = 4 };
  const int of_b = plan->n * plan->k * plan->element_bytes / 128,
            warp = w->in_block % PTX_WGMMA_WARPS;
  const int share = of_b * (warp + 1) / PTX_WGMMA_WARPS - of_b * warp / PTX_WGMMA_WARPS;
  return share + (plan->a_in_registers ? 0 : A_WAVEFRONTS);
}

static void tell_tiles(PtxMachine *m, PtxWarp *w, const PtxInst *i) {
  PtxAccess access;
  ptx_access_begin(m, w, i, ~0u, 16, false, &i->groups[2], &access);
  access.space = PTX_SPACE_SHARED;
  access.mask = ~0u;
  access.data_addresses = access.data_mask = false;
  access.tile_wavefronts = wavefronts_of(w, i->wgmma);
  ptx_access_end(m, &access);
}

void run_wgmma(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxWgmma *plan = i->wgmma;
  if (mask != ~0u) ptx_find(m, w, PTX_FINDING_MISSING_LANES, w->pc, -1, ~mask);
  check_fence(m, w, i);
  double a[PTX_WGMMA_K * PTX_WGMMA_ROWS], b[PTX_WGMMA_K * PTX_WGMMA_N];
  double d[PTX_WGMMA_ROWS * PTX_WGMMA_N];  // [col][row]
  PtxTile tile = {.rows = plan->n};
  if (!read_a(m, w, i, a) || !take_tile(m, w, i, 2, plan->b_trans, plan->k, &tile) ||
      !ptx_tile_read(m, w, 0, &tile, PTX_MULTIPLIES, b))
    return;
  tell_tiles(m, w, i);
  const bool adds = ptx_pred(m, w, &i->groups[plan->adds]) & 1;
  if (adds)
    ptx_side_read(m, w, &i->groups[0], &plan->d, d);
  else
    memset(d, 0, sizeof *d * (size_t)plan->n * PTX_WGMMA_ROWS);
  if (m->unknowns && adds && ptx_group_unknown(m, w, &i->groups[0])) ptx_doubt(m, w, ~0u);
  if (w->doubt) w->doubt = mask;
  const double sign = plan->a_sign * plan->b_sign;
  for (int e = 0; sign < 0 && e < plan->k * PTX_WGMMA_ROWS; e++) a[e] = -a[e];
  const PtxTileSteps steps = ptx_tile_steps(&tile);
  const PtxSumRule *rule = plan->sparse.is_sparse ? NULL
                                                  : ptx_sum_rule(m->module->cc, true, plan->type[0],
                                                                 plan->type[1], plan->d.type);
  ptx_multiply(&(PtxFactors){PTX_WGMMA_ROWS,
                             plan->n,
                             plan->k,
                             a,
                             b,
                             steps.row,
                             steps.k,
                             false,
                             rule,
                             {plan->type[0], plan->type[1]}},
               d);
  ptx_side_write(m, w, i, &i->groups[0], &plan->d, d);
  if (plan->a_in_registers) take_off(m, w, &i->groups[1], PTX_FLIGHT_A);
  take_off(m, w, &i->groups[0], PTX_FLIGHT_D);
  for (int r = 0; r < i->groups[0].n; r++) {
    const PtxArg arg = m->module->args[i->groups[0].at + r];
    if (arg >= 0) w->frame_taint[arg] = ~0u;
  }
  if (plan->d.type != PTX_S32 && !rule) m->approximations += PTX_LANES;
}

// ---- groups -------------------------------------------------------------------------------------

void run_wgmma_fence(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m, (void)i;
  ptx_meet(w, mask);
  w->fences++;
}

void run_wgmma_commit(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)i, (void)mask;
  ptx_orders_close(m, w, PTX_ORDERS_PRODUCTS);
  if (m->module->machine) {
    const uint32_t group = w->groups->products.closed % ORDER_GROUPS_KEPT;
    w->groups->asked[group] = ++w->clock[w->index];
    w->groups->had_read[group] = order_known(m->order, w->clock, ORDER_READ, w->index);
  }
  w->groups->products.closed++;
}

static const PtxWarp *one_of_four(const PtxMachine *m, const PtxWarp *w, int i) {
  const int in_block = w->in_block - w->in_block % PTX_WGMMA_WARPS + i;
  const PtxWarp *other = &m->warps[w->block->rank * m->block_warps + in_block];
  return in_block < m->block_warps && other->exists ? other : NULL;
}

// A product is one of four warps together (PTX ISA, wgmma.mma_async: "all threads in the
// warpgroup"): it is over for none of them before all have asked for it.
static bool all_four_have_asked(const PtxMachine *m, const PtxWarp *w, uint32_t left) {
  const uint32_t wanted = w->groups->products.closed - left;
  for (int i = 0; i < PTX_WGMMA_WARPS; i++) {
    const PtxWarp *other = one_of_four(m, w, i);
    if (!other || !(other->exists & ~other->exited)) continue;
    if ((int32_t)(wanted - other->groups->products.closed) > 0) return false;
  }
  return true;
}

static void learn(uint32_t *known, uint32_t tick) {
  if ((int32_t)(tick - *known) > 0) *known = tick;
}

// Each warp of the four asks for a product behind all that stands in front of it. A product that is
// over for one of them has been asked for by all, so that their loads before it are over, too. PTX
// does not promise it; cuBLAS's tf32 kernels free a slot of their ring by it, for all four warps.
static void know_four(const PtxMachine *m, PtxWarp *w, uint32_t left) {
  const uint32_t wanted = w->groups->products.closed - left;
  for (int i = 0; i < PTX_WGMMA_WARPS && left < w->groups->products.closed; i++) {
    const PtxWarp *other = one_of_four(m, w, i);
    if (!other || other == w || (int32_t)(wanted - other->groups->products.closed) > 0) continue;
    const uint32_t group = (wanted - 1) % ORDER_GROUPS_KEPT;
    learn(&order_fact(m->order, w->clock, ORDER_SEEN)[other->index], other->groups->asked[group]);
    learn(&order_fact(m->order, w->clock, ORDER_READ)[other->index],
          other->groups->had_read[group]);
  }
}

// wait_group n leaves the last n groups. Where no other warp can go on it waits no longer.
void run_wgmma_wait(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint32_t left = (uint32_t)ptx_lanes(m, w, &i->groups[0], 0)[__builtin_ctz(mask)];
  OrderGroups *products = &w->groups->products;
  if (!m->forgives && !all_four_have_asked(m, w, left)) {
    m->lapped = w->yields = w->again = true;
    return;
  }
  ptx_orders_groups(m, w, PTX_ORDERS_PRODUCTS, left);
  order_groups_wait_at(products, &w->groups->multiplied, left, w->clock[w->index]);
  if (m->module->machine && !m->forgives) know_four(m, w, left);
  w->flies &= !order_group_is_over(products, w->last_flight);
}
