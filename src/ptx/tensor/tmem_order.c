// Tells which block has which columns of tensor memory, and in which order they are reached.
//
// order/order_tensor.h says which order is missing between two accesses. Ticks of a warp's share of
// the tensor core count the products that the warp has asked for; a commit tells its mbarrier of
// them.
#include "ptx/tensor/run_tmem.h"

#include "base/str.h"

bool ptx_has_tmem(const PtxModule *module) {
  for (int pc = 0; pc < module->n_code; pc++)
    if (module->code[pc].row && !strcmp(module->code[pc].row->name, "tcgen05")) return true;
  return false;
}

PtxTmem *ptx_tmem_new(const PtxMachine *m) {
  PtxTmem *tmem = ARENA_NEW(m->arena, PtxTmem);
  tmem->place = order_piece(m->order, sizeof *tmem->place * TENSOR_QUARTERS);
  return tmem;
}

void ptx_tmem_start(PtxBlock *block) {
  OrderPlace(*place)[TENSOR_COLUMNS] = block->tmem->place;
  memset(block->tmem, 0, sizeof *block->tmem);
  block->tmem->place = place;
}

void ptx_tmem_end(PtxMachine *m, PtxWarp *w) {
  if (!w->block->tmem->taken || m->stopped) return;
  PtxFinding *f = ptx_find(m, w, PTX_FINDING_TENSOR_MEMORY, w->pc, w->block->tmem->alloc_pc, 1);
  f->text = arena_printf(m->arena, "the block ends with %d columns of tensor memory allocated",
                         TENSOR_COLUMNS_LEAST * __builtin_popcount(w->block->tmem->taken));
}

bool ptx_tmem_has(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach) {
  const uint32_t taken = ptx_tmem_of(w, reach)->taken;
  bool has = reach->column >= 0 && reach->column + reach->n <= TENSOR_COLUMNS;
  for (int c = reach->column; has && c < reach->column + reach->n; c += 1)
    has = taken >> c / TENSOR_COLUMNS_LEAST & 1;
  if (has) return true;
  ptx_stop(m, w, PTX_FINDING_TENSOR_MEMORY, 1u << lane,
           arena_printf(m->arena, "columns %d to %d of tensor memory are not all allocated",
                        reach->column, reach->column + reach->n - 1));
  return false;
}

// ---- order --------------------------------------------------------------------------------------

static OrderVisit visit_of(const PtxMachine *m, const PtxWarp *w, uint32_t lane,
                           const PtxTmemReach *reach, bool reads) {
  const OrderMoves *moves = &m->moves[w->index];
  const bool asks = reach->product != 0;
  return (OrderVisit){.order = m->order,
                      .moves = m->moves,
                      .shares = ptx_share_of(m, 0),
                      .clock = w->clock,
                      .asker = w->index,
                      .now = {.tick = asks ? reach->product : w->clock[w->index],
                              .group = reads ? moves->loads.closed : moves->stores.closed,
                              .tag = (uint32_t)w->pc,
                              .party = (uint16_t)(asks ? ptx_share_of(m, w->index) : w->index),
                              .lane = (uint16_t)lane},
                      .reader = w->in_block / TENSOR_QUARTERS};
}

static const char *who_text(const PtxMachine *m, const OrderConflict *c) {
  if (c->by_share) return "the tensor core";
  return arena_printf(m->arena, "warp %d", m->warps[c->then.party].in_block);
}

static void tell(PtxMachine *m, PtxWarp *w, const OrderVisit *visit, PtxFindingKind kind,
                 const OrderConflict *c, const char *verb) {
  PtxFinding *f = ptx_find(m, w, kind, w->pc, (int)c->then.tag, 1u << visit->now.lane);
  if (f->count > 1) return;
  const int warp = c->then.party % m->n_warps;
  f->other_thread = ptx_thread_of_block(m, ptx_thread(&m->warps[warp], c->then.lane));
  f->cure = order_gap_cure(c);
  f->open = order_gap_open(c);
  f->text = arena_printf(m->arena, "it %s what %s %s, %s", verb, who_text(m, c),
                         c->read ? "reads" : "writes",
                         kind == PTX_FINDING_RACE ? "with no barrier between" : order_gap_text(c));
}

static void check(PtxMachine *m, PtxWarp *w, const OrderVisit *visit, const OrderConflict *c,
                  const char *verb) {
  static const PtxFindingKind kinds[] = {[ORDER_RACE] = PTX_FINDING_RACE,
                                         [ORDER_MISSING_WAIT] = PTX_FINDING_MISSING_WAIT,
                                         [ORDER_MISSING_FENCE] = PTX_FINDING_MISSING_FENCE};
  if (c->gap) tell(m, w, visit, kinds[order_fault(c)], c, verb);
}

#define FOR_CELLS(reach)                    \
  for (int q = 0; q < TENSOR_QUARTERS; q++) \
    if ((reach)->quarters >> q & 1)         \
      for (int c = (reach)->column; c < (reach)->column + (reach)->n; c++)

void ptx_tmem_read(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach) {
  const OrderVisit visit = visit_of(m, w, lane, reach, true);
  FOR_CELLS(reach) {
    OrderPlace *place = &ptx_tmem_of(w, reach)->place[q][c];
    if (!order_place_is_written(place, &visit)) {
      PtxFinding *f = ptx_find(m, w, PTX_FINDING_UNWRITTEN, w->pc, -1, 1u << lane);
      f->text = "of tensor memory";
    }
    const OrderConflict conflict = order_place_read(place, &visit);
    check(m, w, &visit, &conflict, "reads");
  }
}

void ptx_tmem_free(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach) {
  const OrderVisit visit = visit_of(m, w, lane, reach, false);
  FOR_CELLS(reach) {
    OrderPlace *place = &ptx_tmem_of(w, reach)->place[q][c];
    const OrderConflict conflict = order_place_free(place, &visit);
    const PtxFindingKind kind =
        conflict.gap == ORDER_GAP_WAIT ? PTX_FINDING_MISSING_WAIT : PTX_FINDING_RACE;
    if (conflict.gap) tell(m, w, &visit, kind, &conflict, "gives back");
    *place = (OrderPlace){.write = {0}};
  }
}

void ptx_tmem_write(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach) {
  const OrderVisit visit = visit_of(m, w, lane, reach, false);
  FOR_CELLS(reach) {
    const OrderConflict conflict = order_place_write(&ptx_tmem_of(w, reach)->place[q][c], &visit);
    check(m, w, &visit, &conflict, "overwrites");
  }
}
