// One run → lists of events.
//
//   try_wait asks three times, the third one is answered    one WAIT
//   32 lanes store 128 bytes                                one access of the WORK under way
//   a box of 64 x 64                                        a WORK that begins to write, and a
//   process
//                                                           of its own that lands
#include "ptx/run/run_orders.h"

#include <string.h>

#include "base/whole.h"
#include "ptx/run/run_orders_inside.h"

void ptx_orders_leave_out(PtxOrders *o, const char *what) {
  for (int i = 0; i < o->n_left_out; i++)
    if (strcmp(o->left_out[i], what) == 0) return;
  if (o->n_left_out < PTX_LEFT_OUT) o->left_out[o->n_left_out++] = what;
}

static bool has(const PtxModule *module, bool (*is)(const PtxInst *i)) {
  for (int i = 0; i < module->n_code; i++)
    if (is(&module->code[i])) return true;
  return false;
}

bool ptx_module_sets_registers(const PtxModule *module) { return has(module, ptx_sets_registers); }

static PtxOrders *ptx_orders_new(Arena *arena, const PtxMachine *m, int registers) {
  PtxOrders *o = ARENA_NEW(arena, PtxOrders);
  *o = (PtxOrders){.arena = arena, .s = search_new(arena), .cluster_bar = -1};
  o->s->threads_apart = o->s->scopes = true;
  o->waits_for_grid = has(m->module, ptx_waits_for_grid);
  o->registers = registers > 0 ? round_up(registers, REGISTERS_STEP) : 0;
  if (!registers && ptx_module_sets_registers(m->module))
    ptx_orders_leave_out(
        o,
        "whether there are registers for setmaxnreg: the number that a thread begins with is "
        "not known");
  o->warp = ARENA_ARRAY(arena, WarpEvents, m->n_warps);
  for (int i = 0; i < m->n_warps; i++) {
    const int rank = i / m->block_warps, warp = i % m->block_warps;
    const char *name = m->n_blocks > 1 ? arena_printf(arena, "warp %d of rank %d", warp, rank)
                                       : arena_printf(arena, "warp %d", warp);
    o->warp[i] = (WarpEvents){.share = -1, .work = -1, .lands_lo = -1, .registers = o->registers};
    o->warp[i].process = search_process(o->s, name, rank, 0);
  }
  return o;
}

// ---- events -------------------------------------------------------------------------------------

static int add(PtxMachine *m, PtxWarp *w, SearchEvent event) {
  PtxOrders *o = m->orders;
  WarpEvents *e = &o->warp[w->index];
  event.tag = w->pc + 1;
  e->work = -1;
  if (o->s->process[e->process].n_events >= EVENTS_MAX) {
    o->full = true;
    return EVENTS_MAX - 1;
  }
  if (w->control) ptx_orders_leave_out(o, "runs with other data: a branch depends on data");
  const bool tells = event.kind == SEARCH_ARRIVE || event.kind == SEARCH_FENCE;
  if (tells && e->masks && (e->masks & w->mask) == 0)
    ptx_orders_leave_out(o, "lanes of one warp that arrive apart from each other, in other orders");
  if (tells) e->masks |= w->mask;
  return search_add(o->s, e->process, event);
}

static int work(PtxMachine *m, PtxWarp *w, bool background) {
  WarpEvents *e = &m->orders->warp[w->index];
  if (e->work < 0 || (e->background && !background)) {
    const int at = add(m, w, (SearchEvent){.kind = SEARCH_WORK});
    e->work = at;
    e->background = false;
  }
  e->background = e->background || background;
  return e->work;
}

int ptx_orders_first_of_four(const PtxMachine *m, int warp) {
  return warp - warp % m->block_warps % PTX_GROUP_WARPS;
}

static int find_bar(const PtxOrders *o, int64_t offset) {
  for (int i = 0; i < o->n_bars; i++)
    if (o->bar[i] == offset) return i;
  return -1;
}

static int bar_of(PtxMachine *m, int64_t offset) {
  PtxOrders *o = m->orders;
  const int known = find_bar(o, offset);
  if (known >= 0) return known;
  if (o->n_bars == o->bar_capacity) {
    o->bar_capacity = o->bar_capacity ? 2 * o->bar_capacity : 64;
    int64_t *more = ARENA_ARRAY(o->arena, int64_t, o->bar_capacity);
    if (o->n_bars) memcpy(more, o->bar, sizeof *more * (size_t)o->n_bars);
    o->bar = more;
  }
  const int rank = (int)(offset / m->smem_stride);
  const char *name =
      arena_printf(o->arena, "the mbarrier at shared + %lld", (long long)(offset % m->smem_stride));
  if (m->n_blocks > 1) name = arena_printf(o->arena, "%s of rank %d", name, rank);
  o->bar[o->n_bars++] = offset;
  return search_bar(o->s, name, rank);
}

void ptx_orders_init(PtxMachine *m, PtxWarp *w, int64_t offset, int64_t arrivals) {
  if (!m->orders) return;
  add(m, w,
      (SearchEvent){.kind = SEARCH_INIT, .object = bar_of(m, offset), .n = arrivals, .bit = 1});
}

bool ptx_is_wide(const PtxInst *i) {
  return ptx_has(i, PTX_MOD_cluster) || ptx_has(i, PTX_MOD_gpu) || ptx_has(i, PTX_MOD_sys) ||
         ptx_has(i, PTX_MOD_gl);
}

// Without a scope an arrival, or a wait, is one of its block (PTX ISA, mbarrier.arrive and
// mbarrier.test_wait: ".scope"). Machine code does not say.
static SearchScope scope_of(const PtxMachine *m, const PtxInst *i) {
  if (m->module->machine) return SEARCH_OF_CLUSTER;
  if (ptx_has(i, PTX_MOD_relaxed)) return SEARCH_RELAXED;
  return ptx_is_wide(i) ? SEARCH_OF_CLUSTER : SEARCH_OF_BLOCK;
}

// Lanes that arrive by one instruction are one event.
void ptx_orders_arrive(PtxMachine *m, PtxWarp *w, int64_t offset, int64_t n, int64_t bytes) {
  if (!m->orders) return;
  const WarpEvents *e = &m->orders->warp[w->index];
  const SearchProcess *p = &m->orders->s->process[e->process];
  const int bar = bar_of(m, offset);
  SearchEvent *last = p->n_events ? &p->event[p->n_events - 1] : NULL;
  if (last && last->kind == SEARCH_ARRIVE && last->object == bar && last->tag == w->pc + 1 &&
      m->orders->warp[w->index].pc == w->pc) {
    last->n += n;
    last->bytes += bytes;
    return;
  }
  add(m, w,
      (SearchEvent){.kind = SEARCH_ARRIVE,
                    .object = bar,
                    .n = n,
                    .bytes = bytes,
                    .scope = scope_of(m, &m->module->code[w->pc])});
  m->orders->warp[w->index].pc = w->pc;
}

void ptx_orders_wait(PtxMachine *m, PtxWarp *w, int64_t offset, uint32_t bit, bool over) {
  if (!m->orders) return;
  WarpEvents *e = &m->orders->warp[w->index];
  e->waits = !over;
  e->offset = offset;
  e->bit = bit & 1;
  e->pc = -1;
  const SearchProcess *p = &m->orders->s->process[e->process];
  const int bar = bar_of(m, offset);
  // Lanes that ask one after the other for the same phase are one wait.
  for (int i = p->n_events - 1; over && i >= 0 && i >= p->n_events - LOOK_BACK; i--) {
    const SearchEvent *last = &p->event[i];
    if (last->kind != SEARCH_WAIT || last->object != bar) continue;
    if (last->bit == (bit & 1) && last->tag == w->pc + 1 && !(e->waited & w->mask)) {
      e->waited |= w->mask;
      return;
    }
    break;
  }
  if (over) e->waited = w->mask;
  if (over)
    add(m, w,
        (SearchEvent){.kind = SEARCH_WAIT,
                      .object = bar_of(m, offset),
                      .bit = bit & 1,
                      .scope = scope_of(m, &m->module->code[w->pc])});
}

// ---- barriers -----------------------------------------------------------------------------------

static int meet_of(PtxMachine *m, int rank, int id, int count) {
  PtxOrders *o = m->orders;
  for (int i = 0; i < o->n_meets; i++)
    if (o->meet[i][0] == rank && o->meet[i][1] == id && o->meet[i][2] == count) return i;
  const int most = (int)(sizeof o->meet / sizeof *o->meet);
  if (o->n_meets == most) return most - 1;
  const char *name = id < 0  ? "the cluster's barrier"
                     : count ? arena_printf(o->arena, "barrier %d of %d threads", id, count)
                             : arena_printf(o->arena, "barrier %d of the block", id);
  int *meet = o->meet[o->n_meets++];
  meet[0] = rank, meet[1] = id, meet[2] = count;
  return search_barrier(o->s, name, rank);
}

// Where the lanes of a warp come one after the other, the warp comes with the first lane.
static bool comes_late(const PtxWarp *w, uint32_t mask) {
  return !(mask & (w->exists & ~w->exited & (~(w->exists & ~w->exited) + 1)));
}

void ptx_orders_meet(PtxMachine *m, PtxWarp *w, uint32_t mask, int id, int count, bool waits) {
  if (!m->orders || comes_late(w, mask)) return;
  const int warps = count ? (int)ceil_div(count, PTX_LANES) : m->block_warps;
  add(m, w,
      (SearchEvent){.kind = waits ? SEARCH_MEET : SEARCH_PASS,
                    .object = meet_of(m, w->block->rank, id, count),
                    .n = warps,
                    .bit = count ? SEARCH_MEET_ALL : SEARCH_MEET_BLOCK});
}

static int cluster_bar_of(PtxMachine *m) {
  PtxOrders *o = m->orders;
  if (o->cluster_bar >= 0) return o->cluster_bar;
  // A bar of its own among those that go by their offset.
  const int bar = bar_of(m, -1);
  o->s->bar[bar] = (SearchBar){.name = "the cluster's barrier", .given = m->n_warps};
  return o->cluster_bar = bar;
}

void ptx_orders_cluster_arrive(PtxMachine *m, PtxWarp *w, uint32_t mask, bool relaxed) {
  if (!m->orders || !mask || comes_late(w, mask)) return;
  m->orders->warp[w->index].cluster_arrivals++;
  add(m, w,
      (SearchEvent){.kind = SEARCH_ARRIVE,
                    .object = cluster_bar_of(m),
                    .n = 1,
                    .scope = relaxed ? SEARCH_RELAXED : SEARCH_OF_CLUSTER});
}

void ptx_orders_cluster_wait(PtxMachine *m, PtxWarp *w, uint32_t mask) {
  if (!m->orders || comes_late(w, mask)) return;
  const uint32_t bit = (uint32_t)m->orders->warp[w->index].cluster_waits++ & 1;
  add(m, w, (SearchEvent){.kind = SEARCH_WAIT, .object = cluster_bar_of(m), .bit = bit});
}

// A thread that has ended counts as arrived. Where some ended without all barriers of the others,
// the others meet at their waits: then nothing follows the work between an arrival and its wait.
static void meet_where_some_end(PtxOrders *o, const PtxMachine *m) {
  bool same = true, between = false;
  for (int i = 1; i < m->n_warps; i++)
    same = same && o->warp[i].cluster_arrivals == o->warp[0].cluster_arrivals;
  if (same || o->cluster_bar < 0) return;
  const int meet = search_barrier(o->s, "the cluster's barrier", 0);
  for (int p = 0; p < o->s->n_processes; p++)
    for (int i = 0; i < o->s->process[p].n_events; i++) {
      SearchEvent *e = &o->s->process[p].event[i];
      if (e->object != o->cluster_bar || (e->kind != SEARCH_ARRIVE && e->kind != SEARCH_WAIT))
        continue;
      between = between || (e->kind == SEARCH_WAIT && i > 0 && e[-1].kind != SEARCH_WORK);
      *e = e->kind == SEARCH_ARRIVE ? (SearchEvent){.kind = SEARCH_WORK, .tag = e->tag}
                                    : (SearchEvent){.kind = SEARCH_MEET,
                                                    .object = meet,
                                                    .n = m->n_warps,
                                                    .bit = SEARCH_MEET_CLUSTER,
                                                    .tag = e->tag};
    }
  if (between)
    ptx_orders_leave_out(o,
                         "work of others between an arrival at the cluster's barrier and its wait");
}

bool ptx_waits_for_grid(const PtxInst *i) {
  return strcmp(i->row->name, "griddepcontrol") == 0 && ptx_has(i, PTX_MOD_wait);
}

void ptx_orders_grid(PtxMachine *m, PtxWarp *w) {
  if (!m->orders) return;
  m->orders->warp[w->index].grid_is_over = true;
  add(m, w, (SearchEvent){.kind = SEARCH_WORK});
}

void ptx_orders_reads_global(PtxMachine *m, const PtxWarp *w) {
  PtxOrders *o = m->orders;
  if (!o || !o->waits_for_grid || o->warp[w->index].grid_is_over) return;
  ptx_orders_leave_out(
      o, "late writes of the grid before: global memory is read before griddepcontrol.wait");
}

bool ptx_sets_registers(const PtxInst *i) {
  return strcmp(i->row->name, "setmaxnreg") == 0 || strcmp(i->row->name, "USETMAXREG") == 0;
}

// A block begins with the registers of all its threads, and none to spare.
void ptx_orders_registers(PtxMachine *m, PtxWarp *w, int registers) {
  if (!m->orders || !m->orders->registers) return;
  WarpEvents *e = &m->orders->warp[w->index];
  add(m, w, (SearchEvent){.kind = SEARCH_TAKE, .n = (registers - e->registers) * PTX_LANES});
  e->registers = registers;
}

void ptx_orders_fence(PtxMachine *m, PtxWarp *w) {
  if (m->orders) add(m, w, (SearchEvent){.kind = SEARCH_FENCE});
}

void ptx_orders_tell(PtxMachine *m, PtxWarp *w) {
  if (m->orders && m->n_blocks > 1) add(m, w, (SearchEvent){.kind = SEARCH_TELL});
}

void ptx_orders_end(PtxMachine *m, PtxWarp *w) {
  if (!m->orders || (w->exists & ~w->exited)) return;
  WarpEvents *e = &m->orders->warp[w->index];
  if (!e->ended) add(m, w, (SearchEvent){.kind = SEARCH_EXIT});
  e->ended = true;
}

// ---- memory -------------------------------------------------------------------------------------

static Touch *new_touch(PtxOrders *o) {
  if (o->n_touches == TOUCHES_MAX) {
    o->full = true;
    return &o->touch[TOUCHES_MAX - 1];
  }
  if (o->n_touches == o->touch_capacity) {
    o->touch_capacity = o->touch_capacity ? 2 * o->touch_capacity : 1024;
    Touch *more = ARENA_ARRAY(o->arena, Touch, o->touch_capacity);
    if (o->n_touches) memcpy(more, o->touch, sizeof *more * (size_t)o->n_touches);
    o->touch = more;
  }
  return &o->touch[o->n_touches++];
}

// A place that the same event reaches next to it is one with it.
static bool widen(PtxOrders *o, const Touch *t) {
  for (int i = o->n_touches - 1; i >= 0 && i >= o->n_touches - LOOK_BACK; i--) {
    Touch *other = &o->touch[i];
    if (other->process != t->process || other->begin != t->begin || other->write != t->write ||
        other->kind != t->kind || other->group != t->group)
      continue;
    if (t->lo > other->hi || t->hi < other->lo) continue;
    other->lo = min64(other->lo, t->lo);
    other->hi = max64(other->hi, t->hi);
    return true;
  }
  return false;
}

static bool is_background(PtxTouchKind kind) {
  return kind == PTX_MULTIPLIES || kind == PTX_ASKS || kind == PTX_SENDS || kind == PTX_FORWARDS;
}

// Each operation on an mbarrier is an event of its own.
static bool is_mbarrier(const PtxOrders *o, int64_t at, int64_t bytes) {
  for (int i = 0; bytes == 8 && i < o->n_bars; i++)
    if (o->bar[i] == at) return true;
  return false;
}

void ptx_orders_touch(PtxMachine *m, PtxWarp *w, int64_t at, int64_t bytes, PtxTouchKind kind) {
  if (!m->orders || m->orders->full || is_mbarrier(m->orders, at, bytes)) return;
  WarpEvents *e = &m->orders->warp[w->index];
  const bool background = is_background(kind);
  const int begin = work(m, w, background);
  Touch t = {.lo = at,
             .hi = at + bytes,
             .process = e->process,
             .begin = begin,
             .ends = e->process,
             .end = background ? -1 : begin + 1,
             .kind = (uint8_t)kind,
             .write = kind == PTX_WRITES || kind == PTX_ATOMIC || kind == PTX_COPIES,
             .async = background,
             .open = background};
  if (kind == PTX_SENDS || kind == PTX_FORWARDS) t.group = e->groups[PTX_ORDERS_SENDS].closed;
  if (kind == PTX_MULTIPLIES) t.group = e->groups[PTX_ORDERS_PRODUCTS].closed;
  if (!widen(m->orders, &t)) *new_touch(m->orders) = t;
}

void ptx_orders_lands(PtxMachine *m, PtxWarp *w, int64_t at, int64_t bytes) {
  if (!m->orders) return;
  WarpEvents *e = &m->orders->warp[w->index];
  e->lands_lo = e->lands_lo < 0 ? at : min64(e->lands_lo, at);
  e->lands_hi = e->lands_lo == at && e->lands_hi < at ? at + bytes : max64(e->lands_hi, at + bytes);
}

void ptx_orders_bytes(PtxMachine *m, PtxWarp *w, int64_t offset, int64_t bytes) {
  if (!m->orders || m->orders->full) return;
  PtxOrders *o = m->orders;
  WarpEvents *e = &o->warp[w->index];
  ptx_orders_reads_global(m, w);
  const int at = work(m, w, true), rank = (int)(offset / m->smem_stride);
  const int box = search_agent(
      o->s, arena_printf(o->arena, "a copy by %s", o->s->process[e->process].name), rank);
  search_add(o->s, box,
             (SearchEvent){.kind = SEARCH_LAND,
                           .object = bar_of(m, offset),
                           .bytes = bytes,
                           .after = e->process + 1,
                           .after_at = at,
                           .tag = w->pc + 1});
  if (e->lands_lo >= 0)
    *new_touch(o) = (Touch){.lo = e->lands_lo,
                            .hi = e->lands_hi,
                            .process = e->process,
                            .begin = at,
                            .ends = box,
                            .end = 0,
                            .kind = PTX_LANDS,
                            .write = true,
                            .async = true};
  e->lands_lo = e->lands_hi = -1;
}

static void end_touches(PtxOrders *o, int process, unsigned kinds, const OrderGroups *groups,
                        int ends, int at) {
  for (int i = 0; i < o->n_touches; i++) {
    Touch *t = &o->touch[i];
    if (!t->open || t->process != process || !(kinds >> t->kind & 1)) continue;
    if (groups && !order_group_is_over(groups, t->group)) continue;
    t->ends = ends;
    t->end = at;
    t->open = false;
  }
}

void ptx_orders_commit(PtxMachine *m, PtxWarp *w, int64_t offset) {
  if (!m->orders) return;
  PtxOrders *o = m->orders;
  WarpEvents *e = &o->warp[w->index];
  const int at = work(m, w, true);
  if (e->share < 0)
    e->share = search_agent(
        o->s, arena_printf(o->arena, "the tensor core for %s", o->s->process[e->process].name),
        w->block->rank);
  const int done = search_add(o->s, e->share,
                              (SearchEvent){.kind = SEARCH_ARRIVE,
                                            .n = 1,
                                            .object = bar_of(m, offset),
                                            .after = e->process + 1,
                                            .after_at = at,
                                            .tag = w->pc + 1});
  end_touches(o, e->process, 1u << PTX_ASKS, NULL, e->share, done);
}

// The four warps of a group ask for products together, and none has waited for them before all have
// asked: that stands at mbarriers, by the number of the products' group. Events have that number
// in `after_at` until settle_products() knows how many mbarriers it takes.
static int64_t asked_offset(int first, int slot) {
  return -2 - ((int64_t)first * ASKED_BARS + slot);
}

static int asked_bar(PtxMachine *m, int warp, int slot) {
  const int first = ptx_orders_first_of_four(m, warp);
  const int64_t offset = asked_offset(first, slot);
  const int n = m->orders->n_bars, bar = bar_of(m, offset);
  if (m->orders->n_bars > n)
    m->orders->s->bar[bar] = (SearchBar){
        .name = arena_printf(m->orders->arena, "the products of warps %d … %d",
                             first % m->block_warps, first % m->block_warps + PTX_GROUP_WARPS - 1),
        .rank = first / m->block_warps,
        .given = PTX_GROUP_WARPS};
  return bar;
}

static void add_asked(PtxMachine *m, PtxWarp *w, SearchKind kind, uint32_t group) {
  add(m, w,
      (SearchEvent){.kind = kind,
                    .object = asked_bar(m, w->index, 0),
                    .n = kind == SEARCH_ARRIVE,
                    .scope = SEARCH_RELAXED,
                    .after_at = (int)group});
}

void ptx_orders_close(PtxMachine *m, PtxWarp *w, PtxOrdersFamily family) {
  if (!m->orders) return;
  const uint32_t group = m->orders->warp[w->index].groups[family].closed++;
  if (family == PTX_ORDERS_PRODUCTS) add_asked(m, w, SEARCH_ARRIVE, group);
}

// Calls `act` for each event of a warp that asks for products, or waits for them.
static void each_asked(PtxMachine *m, int warp, int bar, int *value,
                       void (*act)(PtxMachine *m, int warp, SearchEvent *event, int *value)) {
  const SearchProcess *p = &m->orders->s->process[m->orders->warp[warp].process];
  for (int i = 0; i < p->n_events; i++) {
    SearchEvent *e = &p->event[i];
    if ((e->kind == SEARCH_ARRIVE || e->kind == SEARCH_WAIT) && !e->after && e->object == bar)
      act(m, warp, e, value);
  }
}

// `value`: groups that are over, and the most that were asked for behind them.
static void count_in_flight(PtxMachine *m, int warp, SearchEvent *e, int *value) {
  (void)m, (void)warp;
  if (e->kind == SEARCH_WAIT)
    value[0] = e->after_at + 1;
  else
    value[1] = max_int(value[1], e->after_at + 1 - value[0]);
}

// As many mbarriers as groups may be in flight: none is reached again before its phase is over.
static void settle_asked(PtxMachine *m, int warp, SearchEvent *e, int *value) {
  const int group = e->after_at, n = value[1];
  e->after_at = 0;
  if (n > ASKED_BARS) {
    *e = (SearchEvent){.kind = SEARCH_WORK, .tag = e->tag};
    return;
  }
  e->object = asked_bar(m, warp, group % n);
  if (e->kind == SEARCH_WAIT) e->bit = (uint32_t)(group / n) & 1;
}

static void settle_products(PtxMachine *m) {
  for (int first = 0; first < m->n_warps; first++) {
    const int bar = find_bar(m->orders, asked_offset(first, 0));
    int flight[2] = {0, 1};
    if (bar < 0) continue;
    for (int w = first; w < first + PTX_GROUP_WARPS && w < m->n_warps; w++, flight[0] = 0)
      each_asked(m, w, bar, flight, count_in_flight);
    for (int w = first; w < first + PTX_GROUP_WARPS && w < m->n_warps; w++)
      each_asked(m, w, bar, flight, settle_asked);
    if (flight[1] > ASKED_BARS)
      ptx_orders_leave_out(m->orders, "that four warps end their products together");
  }
}

// The event at which the products up to a group are over for a warp.
static void products_are_over(PtxOrders *o, WarpEvents *e, int last, int at) {
  if (last >= e->over_capacity) {
    e->over_capacity = 2 * last + 64;
    int *more = ARENA_ARRAY(o->arena, int, e->over_capacity);
    if (e->n_over) memcpy(more, e->over, sizeof *more * (size_t)e->n_over);
    e->over = more;
  }
  while (e->n_over <= last) e->over[e->n_over++] = at;
}

void ptx_orders_groups(PtxMachine *m, PtxWarp *w, PtxOrdersFamily family, uint32_t left) {
  static const unsigned kinds[] = {1u << PTX_SENDS | 1u << PTX_FORWARDS, 1u << PTX_MULTIPLIES};
  if (!m->orders) return;
  WarpEvents *e = &m->orders->warp[w->index];
  const uint32_t closed = e->groups[family].closed;
  if (family == PTX_ORDERS_PRODUCTS && closed > left) {
    const uint32_t last = closed - left - 1;
    add_asked(m, w, SEARCH_WAIT, last);
  }
  const int at = add(m, w, (SearchEvent){.kind = SEARCH_WORK});
  order_groups_wait(&e->groups[family], left);
  end_touches(m->orders, e->process, kinds[family], &e->groups[family], e->process, at);
  if (family == PTX_ORDERS_PRODUCTS && closed > left)
    products_are_over(m->orders, e, (int)(closed - left) - 1, at);
}

// ---- the whole ----------------------------------------------------------------------------------

Search *ptx_machine_orders(PtxMachine *m, PtxOutcome outcome, int *n_left_out,
                           const char *const **left_out) {
  PtxOrders *o = m->orders;
  o->s->stopped = outcome == PTX_DEADLOCK;
  const bool ended = outcome == PTX_DONE || outcome == PTX_DEADLOCK;
  o->s->cut = !ended || o->full;
  for (int i = 0; i < m->n_warps; i++) {
    WarpEvents *e = &o->warp[i];
    if (outcome == PTX_DEADLOCK && e->waits && !e->ended)
      search_add(o->s, e->process,
                 (SearchEvent){.kind = SEARCH_WAIT, .object = bar_of(m, e->offset), .bit = e->bit});
    if (!e->ended) search_add(o->s, e->process, (SearchEvent){.kind = SEARCH_EXIT});
  }
  if (!ended) ptx_orders_leave_out(o, "events after the point where this run was stopped");
  if (o->full) ptx_orders_leave_out(o, "events beyond the limit on their number");
  meet_where_some_end(o, m);
  settle_products(m);
  ptx_orders_add_accesses(o, m);
  *n_left_out = o->n_left_out;
  *left_out = o->left_out;
  return o->s;
}

void ptx_machine_record_orders(PtxMachine *m, Arena *arena, int registers) {
  m->orders = ptx_orders_new(arena, m, registers);
}
