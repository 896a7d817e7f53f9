// Remembers which warps touched a byte of shared memory, and tells whether something lies between
// two touches.
//
// Every byte remembers its last writer and its last two readers. A touch by another warp happened
// before now when this warp's clock of that warp has come to it: barriers and mbarriers carry
// clocks from the warps that arrive to the warps that wait. Between lanes of one warp a touch is
// over once its lane has come to a barrier of the warp or the block since. Two readers are enough.
// The writer itself may be one of them. Take the readers since the last barrier: if any other one
// is not ordered, then the last of them that is not the writer is not ordered either.
//
// Background work belongs to no warp. A group of copies or products is over when its thread has
// waited for it. Bytes of a bulk copy have landed for the threads that know that the phase of its
// mbarrier is over; the thread that began the copy knows it no sooner than others.
//
// Sixteen bytes that are touched together, as most copies do, are a piece with one history. Pieces
// with the same touches share a history too: the tiles of a wgmma have thousands of pieces and two
// or three histories. So the history of most pieces of a tile follows from the history of the piece
// before.
//
// Bulk copies and wgmma go through the async proxy. Before they touch a byte that a thread wrote, a
// thread that knows of the write must have fenced it (PTX ISA, 8.2 and 9.7.9.27). Before a copy
// comes where a thread read, the read must be fenced as well (order_is_fenced()), or its value must
// have come before the copy's thread was told: machine code says so by its scoreboards. Two
// accesses through the async proxy itself need no fence.
//
//   warp 0 writes in its tick 3 and arrives at a barrier, which learns of all in front of tick 4;
//   warp 1 leaves the barrier with clock[0] = 4: ordered. A write in tick 4 would not be.
#include "ptx/run/races.h"

#include "ptx/run/run_orders.h"
#include "ptx/run/run_sync.h"

enum { GROUP_WARPS = 4 };
// The number of a history: of a piece with a history for each byte, of a piece without any touch.
enum { APART, UNTOUCHED, FIRST_FREE };

bool ptx_is_atomic(const PtxInst *i) {
  return ptx_has(i, PTX_MOD_relaxed) || ptx_has(i, PTX_MOD_acquire) || ptx_has(i, PTX_MOD_release);
}

// One clock for all that was released: an order too many may hide a race, none is made up. An atom
// or red that says nothing is relaxed (PTX ISA, atom).
void ptx_order_before(PtxMachine *m, PtxWarp *w, const PtxInst *i) {
  if (ptx_has(i, PTX_MOD_release) || ptx_has(i, PTX_MOD_acq_rel)) {
    ptx_release(m, w, m->released);
  } else {
    order_join(m->order, m->released, w->fenced);
  }
}

// A relaxed one acquires at the next fence.
void ptx_order_after(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lanes) {
  if (!ptx_has(i, PTX_MOD_acquire) && !ptx_has(i, PTX_MOD_acq_rel)) {
    w->acquires = true;
    return;
  }
  w->acquires = false;
  ptx_acquire(m, w, lanes, m->released);
}

typedef PtxToucher Toucher;

static void tell(const Toucher *by, PtxFindingKind kind, const PtxTouch *other) {
  PtxFinding *finding = ptx_find(by->m, by->w, kind, by->w->pc, other->pc, 1u << by->lane);
  const bool again = finding->count > 1;
  finding->count += by->bytes - 1;
  if (again) return;
  finding->thread = ptx_thread_of_block(by->m, by->thread);
  finding->other_thread = ptx_thread_of_block(by->m, other->thread);
  memcpy(finding->other_block, ptx_block_of(by->m, other->thread)->index,
         sizeof finding->other_block);
  finding->address = (uint64_t)ptx_smem_offset(by->m, by->offset);
  finding->space = PTX_SPACE_SHARED;
  finding->bytes = 1;
}

// The groups of what goes on by itself, and when each was waited for; NULL: it is of none.
static const OrderGroups *groups_of(const PtxMachine *m, const PtxTouch *t,
                                    const OrderGroupTicks **ticks) {
  const PtxGroups *all = m->warps[t->thread / PTX_LANES].groups;
  const int lane = t->thread % PTX_LANES;
  switch (t->kind) {
    case PTX_COPIES:
      *ticks = &all->copied[lane];
      return &all->copies[lane];
    case PTX_SENDS:
      *ticks = &all->sent[lane];
      return &all->sends[lane];
    default:
      return NULL;
  }
}

// A product is over for all when one of its four warps has waited for it: its group is one of them
// together (PTX ISA, wgmma.commit_group).
static bool product_is_over(const Toucher *by, const PtxTouch *t, uint32_t *clock, int *warp) {
  const PtxMachine *m = by->m;
  const int own = t->thread / PTX_LANES, first = own - own % m->block_warps % GROUP_WARPS;
  bool over = false;
  for (int i = 0; i < GROUP_WARPS && first + i < m->n_warps; i++) {
    const int w = i == 0 ? own : first + (own - first + i) % GROUP_WARPS;
    const PtxGroups *groups = m->warps[w].groups;
    if (!order_group_is_over(&groups->products, t->group)) continue;
    uint32_t when = t->clock;
    order_group_when(&groups->products, &groups->multiplied, t->group, &when);
    const bool known = w == by->w->index || order_is_over(m->order, by->w->clock, w, when);
    if (over && !known) continue;
    *clock = when;
    *warp = w;
    over = true;
    if (known) return true;
  }
  return over;
}

// Whether it may still go on; else when it was over, in the clock of a warp.
static bool on_its_way(const Toucher *by, const PtxTouch *t, uint32_t *clock, int *warp) {
  *clock = t->clock;
  *warp = t->thread / PTX_LANES;
  if (t->kind == PTX_LANDS)
    return !order_is_over(by->m->order, by->w->clock, (int)t->group, t->epoch);
  if (t->kind == PTX_ASKS)
    return !order_is_over(by->m->order, by->w->clock, ptx_share_of(by->m, t->thread / PTX_LANES),
                          t->group);
  if (t->kind == PTX_MULTIPLIES) return !product_is_over(by, t, clock, warp);
  const OrderGroupTicks *ticks;
  const OrderGroups *groups = groups_of(by->m, t, &ticks);
  if (!groups) return false;
  if (!order_group_is_over(groups, t->group)) return true;
  order_group_when(groups, ticks, t->group, clock);
  return false;
}

static bool is_ordered(const Toucher *by, const PtxTouch *t, uint32_t clock, int warp) {
  if (t->thread == by->thread || t->kind == PTX_LANDS || t->kind == PTX_ASKS) return true;
  if (warp == by->w->index && t->kind == PTX_MULTIPLIES) return true;
  // In machine code lanes that are together stay so: what made them meet is gone from it.
  if (warp == by->w->index && by->m->module->machine) return true;
  if (warp == by->w->index) return by->w->lane_epoch[t->thread % PTX_LANES] > t->epoch;
  return order_is_over(by->m->order, by->w->clock, warp, clock);
}

// Whether it goes through the async proxy. What st.async brings does not.
static bool is_async(const PtxMachine *m, int pc, PtxTouchKind kind) {
  PtxRun *run = ptx_meant(&m->module->code[pc])->run;
  if (kind == PTX_LANDS) return run == run_cp_async_bulk || run == run_cp_tensor;
  return kind == PTX_MULTIPLIES || kind == PTX_ASKS || kind == PTX_SENDS || kind == PTX_FORWARDS;
}

// For a lone lane's fence the clock does not tell: whenever it was, it is taken for good.
static bool is_fenced(const Toucher *by, const PtxTouch *t, uint32_t clock) {
  const int warp = t->thread / PTX_LANES;
  return order_is_fenced(by->m->order, by->w->clock, warp, clock) ||
         by->m->warps[warp].fenced_alone[t->thread % PTX_LANES] > clock;
}

void ptx_fence_async(PtxMachine *m, PtxWarp *w, uint32_t lanes) {
  const bool whole = !(w->exists & ~w->exited & ~lanes);
  const uint32_t now = ++w->clock[w->index];
  uint32_t *own = &order_fact(m->order, w->clock, ORDER_FENCED)[w->index];
  const uint32_t before = *own > w->met ? *own : w->met;
  order_fence(m->order, w->clock, 0, m->n_warps);
  if (whole) return;
  *own = before;  // of the other lanes only what they did before all met
  FOR_LANES(lanes) w->fenced_alone[l] = now;
}

static bool is_read(const PtxTouch *t) {
  return t->kind == PTX_READS || t->kind == PTX_ATOMIC_READS;
}

// A load of machine code from now on has a value to come.
static void begin_read(const PtxMachine *m, PtxWarp *w) {
  const PtxInst *i = &m->module->code[w->pc];
  if (!i->gives) return;
  const int board = __builtin_ctz(i->gives);
  if (!w->reading[board]) w->reading[board] = w->clock[w->index];
  w->reads_open |= (uint8_t)(1u << board);
  uint32_t *before = &w->reading[PTX_BOARD_NEXT];
  if (!i->gives_for_all || !*before) return;
  if (*before < w->reading[board]) w->reading[board] = *before;
  w->reads_open &= (uint8_t) ~(1u << PTX_BOARD_NEXT);
  *before = 0;
}

// Loads that are still open, and all behind the first of them, may get what comes later.
void ptx_await_reads(PtxMachine *m, PtxWarp *w, unsigned boards) {
  uint32_t until = ++w->clock[w->index];
  w->reads_open &= (uint8_t)~boards;
  for (int b = 0; b < PTX_BOARD_KINDS; b++) {
    if (!(w->reads_open >> b & 1)) w->reading[b] = 0;
    if (w->reading[b] && w->reading[b] < until) until = w->reading[b];
  }
  uint32_t *own = &order_fact(m->order, w->clock, ORDER_READ)[w->index];
  if (until > *own) *own = until;
}

// Whether a load had its value when the thread that copies was told of it: its scoreboard was
// waited for in front of the arrival. Then nothing that comes later can reach it, fence or none.
static bool has_read(const Toucher *by, const PtxTouch *t, uint32_t clock) {
  return by->m->module->machine && is_read(t) &&
         clock < order_known(by->m->order, by->w->clock, ORDER_READ, t->thread / PTX_LANES);
}

static bool is_by_threads(const PtxTouch *t) {
  return t->kind == PTX_WRITES || t->kind == PTX_READS || t->kind == PTX_ATOMIC ||
         t->kind == PTX_ATOMIC_READS || t->kind == PTX_COPIES;
}

static bool is_atomic(const PtxTouch *t) {
  return t->kind == PTX_ATOMIC || t->kind == PTX_ATOMIC_READS;
}

// Reductions in the order that they come in are as good as in any other.
static bool are_atomic(const PtxMachine *m, const PtxTouch *a, const PtxTouch *b) {
  const PtxInst *code = m->module->code;
  return (is_atomic(a) && is_atomic(b)) ||
         (a->kind == PTX_LANDS && b->kind == PTX_LANDS && ptx_has(&code[a->pc], PTX_MOD_reduce) &&
          ptx_has(&code[b->pc], PTX_MOD_reduce));
}

// Holds a touch against an earlier one; true when it is fine.
static bool check(const Toucher *by, const PtxTouch *earlier, bool same_value) {
  if (earlier->clock == 0 || are_atomic(by->m, &by->now, earlier)) return true;
  uint32_t clock;
  int warp;
  if (on_its_way(by, earlier, &clock, &warp)) {
    tell(by, PTX_FINDING_MISSING_WAIT, earlier);
    return false;
  }
  if (same_value) return true;
  if (!is_ordered(by, earlier, clock, warp)) {
    tell(by, PTX_FINDING_RACE, earlier);
    return false;
  }
  if (!by->async || !is_by_threads(earlier) || is_fenced(by, earlier, clock)) return true;
  if (has_read(by, earlier, clock)) return true;
  tell(by, PTX_FINDING_MISSING_FENCE, earlier);
  return false;
}

// In machine code the lanes of a warp are one reader: their loads have their values together.
static bool is_same_reader(const Toucher *by, const PtxTouch *before) {
  if (by->m->module->machine) return before->thread / PTX_LANES == by->now.thread / PTX_LANES;
  return before->thread == by->now.thread;
}

static void note_read(const Toucher *by, PtxShadow *shadow) {
  const PtxTouch *now = &by->now;
  if (!is_same_reader(by, &shadow->read) || shadow->read.clock == 0)
    shadow->other_read = shadow->read;
  shadow->read = *now;
}

static bool only_reads(const Toucher *by) {
  const PtxTouchKind kind = by->now.kind;
  return kind == PTX_READS || kind == PTX_ATOMIC_READS || (by->async && kind != PTX_LANDS);
}

// Whether a write comes behind all earlier touches of a byte.
static bool check_write(const Toucher *by, const PtxShadow *shadow, bool same_value) {
  const bool after_write = check(by, &shadow->write, same_value);
  const bool after_reads =
      check(by, &shadow->read, same_value) && check(by, &shadow->other_read, same_value);
  return after_write && after_reads;
}

// True: nothing was found.
static bool touch_byte(const Toucher *by, PtxShadow *shadow, bool same_value) {
  if (only_reads(by)) {
    const bool fine = check(by, &shadow->write, false);
    note_read(by, shadow);
    return fine;
  }
  const bool fine = check_write(by, shadow, same_value);
  shadow->write = by->now;
  shadow->read.clock = shadow->other_read.clock = 0;
  return fine;
}

static uint32_t group_now(const PtxWarp *w, int lane, PtxTouchKind kind) {
  if (kind == PTX_MULTIPLIES) return w->groups->products.closed;
  if (kind == PTX_ASKS) return w->asked;
  return kind == PTX_SENDS ? w->groups->sends[lane].closed : w->groups->copies[lane].closed;
}

// ---- histories ----------------------------------------------------------------------------------

// A history for each piece, and one in the making.
void ptx_histories_make(PtxMachine *m) {
  PtxHistories *h = &m->histories;
  h->n_pieces = m->shared.size / PTX_PIECE + 1;
  h->of = ARENA_ARRAY(m->arena, uint32_t, h->n_pieces);
  h->history = ARENA_ARRAY(m->arena, PtxHistory, h->n_pieces + FIRST_FREE + 1);
  h->byte = ARENA_ARRAY(m->arena, PtxShadow, h->n_pieces * PTX_PIECE);
}

void ptx_histories_start(PtxMachine *m) {
  PtxHistories *h = &m->histories;
  for (int64_t i = 0; i < h->n_pieces; i++) h->of[i] = UNTOUCHED;
  h->history[UNTOUCHED] = (PtxHistory){.pieces = h->n_pieces};
  h->n = FIRST_FREE;
  h->free = 0;
}

static uint32_t history_new(PtxHistories *h, const PtxShadow *shadow) {
  uint32_t id = h->free;
  if (id)
    h->free = h->history[id].next;
  else
    id = h->n++;
  h->history[id] = (PtxHistory){.shadow = *shadow};
  return id;
}

// A history is another one from now on.
static void forget(Toucher *by, uint32_t id) {
  for (int i = 0; by->turn && i < PTX_TURNS; i++)
    if (by->turn[i].from == id || by->turn[i].to == id) by->turn[i].from = APART;
  if (by->written == id) by->written = APART;
}

// The piece has that history from now on. Its former history is freed if no other piece has it.
static void history_set(PtxHistories *h, Toucher *by, int64_t piece, uint32_t id) {
  const uint32_t before = h->of[piece];
  h->of[piece] = id;
  if (id) h->history[id].pieces++;
  if (!before || --h->history[before].pieces) return;
  h->history[before].next = h->free;
  h->free = before;
  forget(by, before);
}

// Bytes one by one: each byte of a piece that had one history has a history of its own from now on.
static bool touch_each(Toucher *by, int bytes, const unsigned char *values) {
  PtxMachine *m = by->m;
  PtxHistories *h = &m->histories;
  const int64_t piece = by->offset / PTX_PIECE;
  const uint32_t id = h->of[piece];
  for (int i = 0; id != APART && i < PTX_PIECE; i++)
    h->byte[piece * PTX_PIECE + i] = h->history[id].shadow;
  if (id != APART) history_set(h, by, piece, APART);
  bool fine = true;
  for (int byte = 0; byte < bytes; byte++, by->offset++) {
    const bool same = values && m->shared.bytes[by->offset] == values[byte];
    fine = touch_byte(by, &h->byte[by->offset], same) && fine;
  }
  return fine;
}

// All that a touch wrote has one history, whatever was there before: pieces that had one each share
// it.
static uint32_t history_written(Toucher *by) {
  const PtxShadow shadow = {.write = by->now};
  if (!by->written) by->written = history_new(&by->m->histories, &shadow);
  return by->written;
}

// Behind a write all bytes of a piece have one history.
static void touch_piece_apart(Toucher *by, int64_t piece, const unsigned char *values) {
  touch_each(by, PTX_PIECE, values);
  if (!only_reads(by)) history_set(&by->m->histories, by, piece, history_written(by));
}

static void write_piece(Toucher *by, int64_t piece, PtxTurn *turn, bool same) {
  PtxHistories *h = &by->m->histories;
  const uint32_t id = h->of[piece];
  by->bytes = PTX_PIECE;
  const bool fine = check_write(by, &h->history[id].shadow, same);
  by->bytes = 1;
  by->offset += PTX_PIECE;
  history_set(h, by, piece, history_written(by));
  if (fine && !same) *turn = (PtxTurn){id, by->written};
}

// The history of a piece alone is changed where it is. Whether the next piece with the history that
// this one had gets the same one depends on whether anything was found, and on what was written.
static void touch_piece(Toucher *by, const unsigned char *values) {
  PtxHistories *h = &by->m->histories;
  const int64_t piece = by->offset / PTX_PIECE;
  const uint32_t id = h->of[piece];
  if (id == APART) {
    touch_piece_apart(by, piece, values);
    return;
  }
  PtxTurn *turn = by->turn ? &by->turn[id % PTX_TURNS] : NULL;
  if (turn && id == turn->from) {
    history_set(h, by, piece, turn->to);
    by->offset += PTX_PIECE;
    return;
  }
  const bool same = values && memcmp(&by->m->shared.bytes[by->offset], values, PTX_PIECE) == 0;
  if (turn && !only_reads(by)) {
    write_piece(by, piece, turn, same);
    return;
  }
  by->bytes = PTX_PIECE;
  const bool alone = h->history[id].pieces == 1;
  const uint32_t next = alone ? id : history_new(h, &h->history[id].shadow);
  const bool fine = touch_byte(by, &h->history[next].shadow, same);
  by->bytes = 1;
  by->offset += PTX_PIECE;
  if (alone) {
    forget(by, id);
    return;
  }
  history_set(h, by, piece, next);
  if (turn && fine && !same) *turn = (PtxTurn){id, next};
}

void ptx_touch_bytes(PtxToucher *by, int64_t offset, int bytes, const unsigned char *values) {
  by->offset = offset;
  while (bytes > 0) {
    const int begin = (int)(by->offset % PTX_PIECE), room = PTX_PIECE - begin,
              n = bytes < room ? bytes : room;
    if (n == PTX_PIECE)
      touch_piece(by, values);
    else
      touch_each(by, n, values);
    bytes -= n;
    if (values) values += n;
  }
}

PtxToucher ptx_toucher(PtxMachine *m, PtxWarp *w, int lane, PtxTouchKind kind) {
  const int thread = ptx_thread(w, lane);
  if (m->module->machine && (kind == PTX_READS || kind == PTX_ATOMIC_READS)) begin_read(m, w);
  return (PtxToucher){.m = m,
                      .w = w,
                      .lane = lane,
                      .thread = thread,
                      .async = is_async(m, w->pc, kind),
                      .bytes = 1,
                      .now = {.clock = w->clock[w->index],
                              .epoch = w->lane_epoch[lane],
                              .pc = w->pc,
                              .thread = (uint16_t)thread,
                              .kind = (uint8_t)kind,
                              .group = group_now(w, lane, kind)}};
}

PtxToucher ptx_toucher_landing(PtxMachine *m, PtxWarp *w, int lane, const PtxMbarrier *mbarrier) {
  const OrderMbar *of = mbarrier->order;
  PtxToucher by = ptx_toucher(m, w, lane, PTX_LANDS);
  by.now.epoch = of->phases.first + of->phases.phase;
  by.now.group = (uint32_t)of->party;
  return by;
}

void ptx_touch(PtxMachine *m, PtxWarp *w, int lane, int64_t offset, int bytes, PtxTouchKind kind,
               const unsigned char *values) {
  PtxToucher by = ptx_toucher(m, w, lane, kind);
  ptx_touch_bytes(&by, offset, bytes, values);
  ptx_orders_touch(m, w, offset, bytes, kind);
}

void ptx_touch_landing(PtxMachine *m, PtxWarp *w, int lane, int64_t offset, int bytes,
                       const unsigned char *values, const PtxMbarrier *mbarrier) {
  PtxToucher by = ptx_toucher_landing(m, w, lane, mbarrier);
  ptx_touch_bytes(&by, offset, bytes, values);
  ptx_orders_lands(m, w, offset, bytes);
}
