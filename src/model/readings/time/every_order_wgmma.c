// Products that four warps ask for together → one arrival of each warp, and one end for all.
//
//   warps 0 … 3 each: wgmma, commit, wait for it
//     each commit      arrives at "the products of warps 0 … 3", which awaits four
//     each wait        waits there: no product begins before all four warps have asked for it
//     behind any wait  what the four read in shared memory is read, whichever of them has waited
//
// A group is one of the warpgroup (PTX ISA, wgmma.commit_group: "a wgmma-group per warpgroup"), and
// so it is on an H200: a warp that sleeps in front of its wgmma holds up the other three, and one
// that never says that it has read a slot does no harm where they do. What is written to registers
// each warp waits for itself.
#include <string.h>

#include "base/whole.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/readings/time/every_order_inside.h"

enum { FOUR = 4, IN_FLIGHT_MAX = 8 };

bool every_order_is_together(const OpFacts *facts) {
  return facts->scope == SCOPE_WARPGROUP && facts->completes == COMPLETES_BY_GROUP;
}

static OrderGroups *groups_of(EveryWarp *w, const ClusterVisit *v) {
  return &w->groups[op_facts(v->stmt->op.kind)->family];
}

// Room for one more.
static void *grown(Arena *arena, void *from, int n, int *capacity, size_t size) {
  if (n < *capacity) return from;
  *capacity = *capacity ? 2 * *capacity : 64;
  char *more = arena_alloc(arena, (size_t)*capacity * size);
  if (n) memcpy(more, from, (size_t)n * size);
  return more;
}

static void add_ask(EveryMaker *m, EveryWarp *w, EveryAsk ask) {
  w->ask = grown(m->arena, w->ask, w->n_asks, &w->asks_capacity, sizeof *w->ask);
  w->ask[w->n_asks++] = ask;
}

// ---- while it is walked -------------------------------------------------------------------------

// The group that this commit has closed is the last one; its mbarrier is not known yet.
void every_order_ask(EveryMaker *m, const ClusterVisit *v) {
  EveryWarp *w = every_order_state(m, v);
  const int at =
      every_order_add(m, v, (SearchEvent){.kind = SEARCH_ARRIVE, .n = 1, .scope = SEARCH_RELAXED});
  add_ask(m, w, (EveryAsk){at, groups_of(w, v)->closed - 1, false});
}

void every_order_wait_for_asked(EveryMaker *m, const ClusterVisit *v) {
  EveryWarp *w = every_order_state(m, v);
  const OrderGroups *groups = groups_of(w, v);
  if ((int)groups->done == w->n_over) return;
  const int at = every_order_add(m, v, (SearchEvent){.kind = SEARCH_WAIT, .scope = SEARCH_RELAXED});
  add_ask(m, w, (EveryAsk){at, groups->done - 1, true});
}

void every_order_products_are_over(EveryMaker *m, const ClusterVisit *v, int at) {
  EveryWarp *w = every_order_state(m, v);
  while (w->n_over < (int)groups_of(w, v)->done) {
    w->over = grown(m->arena, w->over, w->n_over, &w->over_capacity, sizeof *w->over);
    w->over[w->n_over++] = at;
  }
}

void every_order_reads_together(EveryMaker *m, const ClusterVisit *v, int access) {
  const EveryWarp *w = every_order_state(m, v);
  if (access < 0) return;
  m->product = grown(m->arena, m->product, m->n_products, &m->product_capacity, sizeof *m->product);
  m->product[m->n_products++] = (EveryProduct){
      access, (int)(w - m->warp), w->groups[op_facts(v->stmt->op.kind)->family].closed};
}

// ---- behind the walk ----------------------------------------------------------------------------

// The most groups of a warp that it has asked for and not waited for.
static int in_flight(const EveryWarp *w) {
  int most = 0;
  uint32_t over = 0;
  for (int i = 0; i < w->n_asks; i++) {
    if (w->ask[i].waits)
      over = w->ask[i].group + 1;
    else
      most = max_int(most, (int)(w->ask[i].group + 1 - over));
  }
  return most;
}

static int first_of_four(const EveryMaker *m, int warp) { return warp - warp % m->n_warps % FOUR; }

static int n_of_four(const EveryMaker *m, int first) {
  return min_int(FOUR, m->n_warps - first % m->n_warps);
}

// A warp that asks for more than there is room for, or waits for none, meets no other.
static void meet_nobody(EveryMaker *m, const EveryWarp *w) {
  for (int i = 0; i < w->n_asks; i++) {
    SearchEvent *e = &m->s->process[w->process].event[w->ask[i].at];
    *e = (SearchEvent){.kind = SEARCH_WORK, .tag = e->tag};
  }
}

// One mbarrier for each group that may be in flight: none is reached again before its phase is
// over.
static void meet_four(EveryMaker *m, int first) {
  const int n_warps = n_of_four(m, first), rank = first / m->n_warps, warp = first % m->n_warps;
  int n = 0, bar = -1;
  for (int i = 0; i < n_warps; i++) n = max_int(n, in_flight(&m->warp[first + i]));
  for (int i = 0; i < n && n <= IN_FLIGHT_MAX; i++) {
    const char *name =
        arena_printf(m->arena, "the products of warps %d … %d", warp, warp + n_warps - 1);
    if (m->launch.cluster > 1) name = arena_printf(m->arena, "%s of rank %d", name, rank);
    const int one = search_bar(m->s, name, rank);
    m->s->bar[one].given = n_warps;
    if (i == 0) bar = one;
  }
  for (int i = 0; i < n_warps; i++) {
    const EveryWarp *w = &m->warp[first + i];
    if (bar < 0) meet_nobody(m, w);
    for (int k = 0; bar >= 0 && k < w->n_asks; k++) {
      SearchEvent *e = &m->s->process[w->process].event[w->ask[k].at];
      e->object = bar + (int)(w->ask[k].group % (uint32_t)n);
      if (w->ask[k].waits) e->bit = w->ask[k].group / (uint32_t)n & 1;
    }
  }
}

static void add_other_ends(EveryMaker *m, const EveryProduct *product) {
  SearchAccess *access = &m->s->access[product->access];
  const int first = first_of_four(m, product->warp);
  for (int i = first; i < first + n_of_four(m, first); i++) {
    const EveryWarp *w = &m->warp[i];
    if (i == product->warp || (int)product->group >= w->n_over || access->n_also == SEARCH_ALSO)
      continue;
    access->also[access->n_also++] = (struct SearchEnd){w->process, w->over[product->group]};
  }
}

void every_order_join_four(EveryMaker *m) {
  const int n = m->n_warps * (int)m->launch.cluster;
  for (int i = 0; i < n; i += n_of_four(m, i)) meet_four(m, i);
  for (int i = 0; i < m->n_products; i++) add_other_ends(m, &m->product[i]);
}
