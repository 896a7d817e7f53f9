// Decides which warps go on when every warp of a block has stopped.
//
// Warps at a barrier go on when all warps that have not ended are there, or the number that it asks
// for. Warps before an mbarrier, or before registers that they take, go on when the thing they wait
// for is there. If no warp can go on, a copy by TMA lands at last: that is as late as it may. If
// that does not help either, they wait for ever, and the report says which warp waits for which
// thing.
//
// Worked example, producer and two consumer warps: the producer sleeps before empty[0], the
// consumers before full[1]; its box has not landed. No warp can go on, so the box lands; a phase of
// full[1] ends, the consumers go on and arrive at empty[0], which wakes the producer.
#include "base/random.h"
#include "base/str.h"
#include "model/interp/interp_machine.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"

// A warp at a barrier goes on behind it; one that sleeps tries again.
static const Stmt *waits_at(const Machine *m, const Warp *w) {
  return m->code->code[w->state == WARP_ASLEEP ? w->pc : w->pc - 1].stmt;
}

static int count_state(const Machine *m, WarpState state, int *first) {
  int n = 0;
  for (int i = 0; i < m->n_warps; i++) {
    if (m->warp[i].state != state) continue;
    if (n++ == 0) *first = i;
  }
  return n;
}

// Whether a warp stands at the barrier of another.
static bool waits_with(const Machine *m, const Warp *w, int warp) {
  return m->warp[warp].state == WARP_AT_BARRIER && waits_at(m, &m->warp[warp]) == waits_at(m, w);
}

static const char *warp_list(const Machine *m, WarpState state) {
  bool named[INTERP_WARPS_MAX] = {false};
  for (int i = 0; i < m->n_warps; i++) named[i] = m->warp[i].state == state;
  return interp_name_warps(m, named);
}

static const char *waiting_list(const Machine *m, const Warp *w) {
  bool named[INTERP_WARPS_MAX] = {false};
  for (int i = 0; i < m->n_warps; i++) named[i] = waits_with(m, w, i);
  return interp_name_warps(m, named);
}

// "warps 4 and 5, of which 4 is at mbarrier.wait (stmt 72)": of those that have not ended and are
// not where `w` is, with where the first of them is.
static const char *elsewhere(Machine *m, const Warp *w) {
  bool apart[INTERP_WARPS_MAX] = {false};
  const Warp *first = NULL;
  int n = 0;
  for (int i = 0; i < m->n_warps; i++) {
    apart[i] = m->warp[i].state != WARP_DONE && !waits_with(m, w, i);
    if (apart[i] && n++ == 0) first = &m->warp[i];
  }
  if (!first) return "other warps that will never come";
  const Stmt *at = waits_at(m, first);
  const char *which =
      n > 1 ? arena_printf(m->arena, "of which %s", interp_warp_name(m, first->index)) : "which";
  return arena_printf(m->arena, "%s, %s is at %s (stmt %d)", interp_name_warps(m, apart), which,
                      op_name(at->op.kind), at->id);
}

// Its block, its number and the number of threads it asks for make a barrier the same, wherever in
// the program a warp stands.
static bool waits_there(const Machine *m, const Warp *w, int rank, int barrier, int64_t threads) {
  return w->state == WARP_AT_BARRIER && w->rank == rank && w->barrier == barrier &&
         waits_at(m, w)->op.threads == threads;
}

static bool meet_at_one(const Machine *m, const Warp *a, const Warp *b) {
  return waits_there(m, a, b->rank, b->barrier, waits_at(m, b)->op.threads);
}

// Where others arrive and go on, the warps that have ended may have arrived: the count says more.
static void report_too_few(Machine *m, const Warp *w) {
  const int64_t threads = waits_at(m, w)->op.threads;
  bool named[INTERP_WARPS_MAX] = {false};
  int there = 0;
  for (int i = 0; i < m->n_warps; i++) {
    named[i] = meet_at_one(m, &m->warp[i], w);
    there += named[i];
  }
  const int arrived = there + m->of_rank[w->rank].passed[w->barrier].warps;
  interp_report(m, FINDING_DEADLOCK, w, -1, waits_at(m, w), NULL, 0,
                "%s wait%s at barrier %d of %lld threads, at which %d have arrived",
                interp_name_warps(m, named), there > 1 ? "" : "s", w->barrier, (long long)threads,
                arrived * LANES);
}

static void report_deadlock(Machine *m, int first, int waiting) {
  int first_done = 0, done = count_state(m, WARP_DONE, &first_done);
  const Warp *w = &m->warp[first];
  m->stopped = true;
  interp_report_stuck(m);
  if (waiting == 0) return;
  if (waits_at(m, w)->op.threads > 0 && m->of_rank[w->rank].passed[w->barrier].known) {
    interp_at_rank(m, w->rank);
    report_too_few(m, w);
    return;
  }
  const char *others = elsewhere(m, w);
  if (done && waits_at(m, w)->op.threads > 0)
    others = arena_printf(m->arena, "%s, which ha%s ended without reaching a barrier",
                          warp_list(m, WARP_DONE), done > 1 ? "ve" : "s");
  interp_at_rank(m, w->rank);
  interp_report(m, FINDING_DEADLOCK, w, -1, waits_at(m, w), NULL, 0, "%s wait%s for %s",
                waiting_list(m, w), waiting > 1 ? "" : "s", others);
}

// Those that take part have met at one barrier; that it was one is checked.
static void meet(Machine *m, const Warp *w, const bool *takes_part) {
  const Stmt *at = waits_at(m, w);
  for (int i = 0; i < m->n_warps; i++) {
    if (!takes_part[i]) continue;
    Warp *other = &m->warp[i];
    other->state = WARP_RUNNABLE;
    if (waits_at(m, other) == at) continue;
    interp_at_rank(m, other->rank);
    interp_report(m, FINDING_DIVERGENCE, other, -1, at, NULL, 0,
                  "warp %s is at the barrier of stmt %d while warp %s is at that of",
                  interp_warp_name(m, i), waits_at(m, other)->id, interp_warp_name(m, w->index));
  }
  interp_join(m, takes_part);
  interp_tell_list(m, takes_part);
}

static bool waits_for_cluster(const Warp *w) {
  return w->state == WARP_AT_BARRIER && w->barrier == INTERP_CLUSTER_BARRIER;
}

// Every warp of the block is at a barrier of the block, except the warps that have ended: it waits
// for "all non-exited threads in the block" (CUDA C++ Programming Guide, compute capability 7.x).
// An H200 goes on, too: rung roles with breakage block_barrier and one slab, 2026-11-28.
static bool meet_block(Machine *m, const Warp *w) {
  bool meets[INTERP_WARPS_MAX] = {false};
  int first = w->rank * m->block_warps;
  for (int i = first; i < first + m->block_warps; i++) {
    if (m->warp[i].state == WARP_DONE) continue;
    if (m->warp[i].state != WARP_AT_BARRIER || waits_for_cluster(&m->warp[i])) return false;
    if (waits_at(m, &m->warp[i])->op.threads > 0) return false;  // another barrier than the block's
    meets[i] = true;
  }
  meet(m, w, meets);
  return true;
}

// Every warp of all blocks is at the cluster's barrier, except the warps that have ended: it does
// not wait for them (PTX ISA 9.7.13.4).
static bool meet_cluster(Machine *m, const Warp *w) {
  bool meets[INTERP_WARPS_MAX] = {false};
  for (int i = 0; i < m->n_warps; i++) {
    meets[i] = waits_for_cluster(&m->warp[i]);
    if (!meets[i] && m->warp[i].state != WARP_DONE) return false;
  }
  meet(m, w, meets);
  return true;
}

static void forget_passed(Machine *m, struct PassedWarps *passed) {
  if (passed->warps) order_clear(m->order, passed->known);
  passed->warps = 0;
}

void interp_forget_passed(Machine *m) {
  for (int rank = 0; rank < m->max_cluster; rank++)
    for (int i = 0; i < BLOCK_BARRIERS; i++) forget_passed(m, &m->of_rank[rank].passed[i]);
}

// Lets the warps go on that are at the barrier of warp `w`, which asks for some threads only; false
// when they are not all there. If more are there than it asks for, any of them may have been the
// first: the warps that meet are drawn.
static bool meet_some(Machine *m, const Warp *w) {
  bool meets[INTERP_WARPS_MAX] = {false};
  struct PassedWarps *passed = &m->of_rank[w->rank].passed[w->barrier];
  int there[INTERP_THREADS_MAX / LANES], n = 0, wanted = (int)(waits_at(m, w)->op.threads / LANES);
  wanted -= passed->warps;
  for (int i = 0; i < m->n_warps; i++)
    if (meet_at_one(m, &m->warp[i], w)) there[n++] = i;
  if (n < wanted) return false;
  for (; wanted > 0; wanted--) {
    int which = n > 1 ? (int)random_between(&m->random, 0, n - 1) : 0, warp = there[which];
    there[which] = there[--n];
    meets[warp] = true;
    m->warp[warp].state = WARP_RUNNABLE;
  }
  interp_join_told(m, meets, passed->warps ? passed->known : NULL);
  forget_passed(m, passed);
  return true;
}

// The first warp that waits at that barrier; NULL: none does.
static const Warp *first_waiting(const Machine *m, int rank, int barrier, int64_t threads) {
  for (int i = 0; i < m->n_warps; i++)
    if (waits_there(m, &m->warp[i], rank, barrier, threads)) return &m->warp[i];
  return NULL;
}

// Warps that had met without this arrival go on first: it counts for the next meeting. Arrivals
// that are enough by themselves complete their barrier, and nobody learns of them.
void interp_pass(Machine *m, const Warp *w, int barrier, int64_t threads) {
  const Warp *waiting = first_waiting(m, w->rank, barrier, threads);
  struct PassedWarps *passed = &m->of_rank[w->rank].passed[barrier];
  if (waiting && meet_some(m, waiting)) waiting = first_waiting(m, w->rank, barrier, threads);
  order_tell(m->order, passed->known, interp_clock_of_warp(m, w->index), w->index, ++m->epoch);
  passed->warps++;
  if (waiting)
    meet_some(m, waiting);
  else if (passed->warps * LANES >= threads)
    forget_passed(m, passed);
}

void interp_meet_passed(Machine *m, const Warp *w) {
  if (waits_at(m, w)->op.threads > 0 && m->of_rank[w->rank].passed[w->barrier].warps)
    meet_some(m, w);
}

static bool pass_barrier(Machine *m) {
  for (int i = 0; i < m->n_warps; i++) {
    const Warp *w = &m->warp[i];
    if (w->state != WARP_AT_BARRIER) continue;
    bool met = waits_for_cluster(w)             ? meet_cluster(m, w)
               : waits_at(m, w)->op.threads > 0 ? meet_some(m, w)
                                                : meet_block(m, w);
    if (met) return true;
  }
  return false;
}

// All warps have stopped: warps at a barrier go on when all of them are there; if no warp can, a
// copy lands at last. False at the end, and when every warp waits for ever.
bool interp_go_on(Machine *m) {
  int first = 0, waiting = count_state(m, WARP_AT_BARRIER, &first);
  if (count_state(m, WARP_RUNNABLE, &(int){0})) return true;  // an arrival let it go on
  int asleep = count_state(m, WARP_ASLEEP, waiting ? &(int){0} : &first);
  if (waiting + asleep == 0) return false;
  if (pass_barrier(m)) return true;
  if (asleep && interp_land_one(m)) {
    interp_wake(m);
    return true;
  }
  report_deadlock(m, first, waiting);
  return false;
}
