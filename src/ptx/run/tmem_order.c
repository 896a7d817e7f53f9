// Who has which columns of tensor memory, and in which order they are reached.
//
// It is the model's rule (model/interp/interp_tmem.c), in this machine's clocks: a column of a
// quarter remembers its last write and read. What the tensor core does is over for those who know
// that the phase is over at which a commit behind it has arrived; what a warp did by ld or st, for
// those told of by somebody behind its tcgen05.fence::before_thread_sync. Either holds for a warp
// from its next tcgen05.fence::after_thread_sync on. Products of one warp are carried out in the
// order in which they are asked for.
//
// Worked example: warp 4 asks for products 1 to 4, commits them to acc_full, its phase 0. Warp 0
// has seen that phase end, and fenced: its ld finds the cells written by product 4, the newest
// commit that it knows of reaches to 4, so they are whole.
#include "ptx/run/run_tmem.h"

#include "base/str.h"

bool ptx_has_tmem(const PtxModule *module) {
  for (int pc = 0; pc < module->n_code; pc++)
    if (module->code[pc].row && !strcmp(module->code[pc].row->name, "tcgen05")) return true;
  return false;
}

PtxTmem *ptx_tmem_new(Arena *arena) { return ARENA_NEW(arena, PtxTmem); }

void ptx_tmem_start(PtxBlock *block) { memset(block->tmem, 0, sizeof *block->tmem); }

void ptx_tmem_end(PtxMachine *m, PtxWarp *w) {
  if (!w->block->tmem->taken || m->stopped) return;
  PtxFinding *f = ptx_find(m, w, PTX_FINDING_TENSOR_MEMORY, w->pc, w->block->tmem->alloc_pc, 1);
  f->text = arena_printf(m->arena, "the block ends with %d columns of tensor memory allocated",
                         TENSOR_COLUMNS_LEAST * __builtin_popcount(w->block->tmem->taken));
}

bool ptx_tmem_has(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach) {
  const uint32_t taken = w->block->tmem->taken;
  bool has = reach->column >= 0 && reach->column + reach->n <= TENSOR_COLUMNS;
  for (int c = reach->column; has && c < reach->column + reach->n; c += 1)
    has = taken >> c / TENSOR_COLUMNS_LEAST & 1;
  if (has) return true;
  ptx_stop(m, w, PTX_FINDING_TENSOR_MEMORY, 1u << lane,
           arena_printf(m->arena, "columns %d to %d of tensor memory, not all of them allocated",
                        reach->column, reach->column + reach->n - 1));
  return false;
}

bool ptx_product_over(const PtxMachine *m, const PtxWarp *w, OrderFact fact, int warp,
                      uint32_t product) {
  const PtxWarp *owner = &m->warps[warp];
  for (uint32_t back = 1; back <= owner->n_commits && back <= PTX_COMMITS_KEPT; back++) {
    const PtxCommit *commit = &owner->commits[(owner->n_commits - back) % PTX_COMMITS_KEPT];
    if (order_known(m->order, w->clock, fact, (int)commit->mbarrier) > commit->phase)
      return (int32_t)(commit->asked - product) >= 0;
  }
  return false;
}

// ---- order --------------------------------------------------------------------------------------

typedef struct Judged {
  PtxFindingKind kind;
  const char *text;  // NULL: it is in order
} Judged;

static const char NO_AFTER[] = "no tcgen05.fence::after_thread_sync since it was told of that";

static Judged of_product(PtxMachine *m, PtxWarp *w, const PtxTmemTouch *t, bool by_product) {
  const int owner = t->thread / PTX_LANES;
  if (by_product && owner == w->index) return (Judged){0};
  if (ptx_product_over(m, w, ORDER_AFTER, owner, t->product)) return (Judged){0};
  if (ptx_product_over(m, w, ORDER_SEEN, owner, t->product))
    return (Judged){PTX_FINDING_MISSING_FENCE, NO_AFTER};
  return (Judged){
      PTX_FINDING_MISSING_WAIT,
      "tensor memory that a product may still write: no commit behind it was waited for"};
}

static Judged of_warp(PtxMachine *m, PtxWarp *w, const PtxTmemTouch *t) {
  const int owner = t->thread / PTX_LANES;
  if (owner == w->index) return (Judged){0};
  if (order_known(m->order, w->clock, ORDER_AFTER, owner) > t->clock) return (Judged){0};
  if (order_known(m->order, w->clock, ORDER_BEFORE, owner) > t->clock)
    return (Judged){PTX_FINDING_MISSING_FENCE, NO_AFTER};
  if (order_is_over(m->order, w->clock, owner, t->clock))
    return (Judged){PTX_FINDING_MISSING_FENCE,
                    "no tcgen05.fence::before_thread_sync behind what the other did, or its wait"};
  return (Judged){PTX_FINDING_RACE, "tensor memory, with nothing between the two accesses"};
}

static void check(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemTouch *t,
                  const PtxTmemReach *reach) {
  if (t->clock == 0) return;
  const Judged judged = t->product ? of_product(m, w, t, reach->product != 0) : of_warp(m, w, t);
  if (!judged.text) return;
  PtxFinding *f = ptx_find(m, w, judged.kind, w->pc, t->pc, 1u << lane);
  f->other_thread = ptx_thread_of_block(m, t->thread);
  f->text = judged.text;
}

static PtxTmemTouch touch_now(const PtxWarp *w, uint32_t lane, const PtxTmemReach *reach) {
  return (PtxTmemTouch){.clock = w->clock[w->index],
                        .product = reach->product,
                        .pc = w->pc,
                        .thread = (uint16_t)ptx_thread(w, (int)lane)};
}

#define FOR_CELLS(reach)                    \
  for (int q = 0; q < TENSOR_QUARTERS; q++) \
    if ((reach)->quarters >> q & 1)         \
      for (int c = (reach)->column; c < (reach)->column + (reach)->n; c++)

void ptx_tmem_read(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach) {
  const PtxTmemTouch now = touch_now(w, lane, reach);
  FOR_CELLS(reach) {
    PtxTmemCell *cell = &w->block->tmem->cell[q][c];
    if (cell->write.clock == 0) {
      PtxFinding *f = ptx_find(m, w, PTX_FINDING_UNWRITTEN, w->pc, -1, 1u << lane);
      f->text = "of tensor memory";
    }
    check(m, w, lane, &cell->write, reach);
    cell->read = now;
  }
}

static bool is_over(PtxMachine *m, PtxWarp *w, const PtxTmemTouch *t) {
  const int owner = t->thread / PTX_LANES;
  if (t->clock == 0 || (owner == w->index && !t->product)) return true;
  return t->product ? ptx_product_over(m, w, ORDER_SEEN, owner, t->product)
                    : order_is_over(m->order, w->clock, owner, t->clock);
}

void ptx_tmem_free(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach) {
  FOR_CELLS(reach) {
    PtxTmemCell *cell = &w->block->tmem->cell[q][c];
    const PtxTmemTouch *t = is_over(m, w, &cell->read) ? &cell->write : &cell->read;
    if (!is_over(m, w, t)) {
      PtxFinding *f = ptx_find(m, w, PTX_FINDING_RACE, w->pc, t->pc, 1u << lane);
      f->other_thread = ptx_thread_of_block(m, t->thread);
      f->text = "tensor memory is given back that the other may still be at";
    }
    *cell = (PtxTmemCell){.write = {0}};
  }
}

void ptx_tmem_write(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach) {
  const PtxTmemTouch now = touch_now(w, lane, reach);
  FOR_CELLS(reach) {
    PtxTmemCell *cell = &w->block->tmem->cell[q][c];
    check(m, w, lane, &cell->write, reach);
    check(m, w, lane, &cell->read, reach);
    *cell = (PtxTmemCell){.write = now};
  }
}
