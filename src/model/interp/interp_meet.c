// Decides which warps go on when every warp of a block has stopped.
//
// Warps at a barrier go on when all of them are there, or as many as it asks for. Warps before an
// mbarrier, or before registers that they take, go on when the thing they wait for is there. If no
// warp can go on, a copy by TMA lands at last: that is as late as it may. If that does not help
// either, they wait for ever, and the report says who waits for what.
//
// Worked example, producer and two consumer warps: the producer sleeps before empty[0], the
// consumers before full[1], whose box has not landed. Nobody can go on, so the box lands; a phase
// of full[1] ends, the consumers go on and arrive at empty[0], which wakes the producer.
#include "base/random.h"
#include "base/str.h"
#include "model/interp/interp_machine.h"

static const Stmt *waits_at(const Machine *m, const Warp *w) {
  return m->code->code[w->pc - 1].stmt;
}

static int count_state(const Machine *m, WarpState state, int *first) {
  int n = 0;
  for (int i = 0; i < m->n_warps; i++) {
    if (m->warp[i].state != state) continue;
    if (n++ == 0) *first = i;
  }
  return n;
}

// "1, 2 and 5" of the warps in a state.
static char *warp_list(const Machine *m, WarpState state) {
  int first = 0, n = count_state(m, state, &first), seen = 0;
  Str out = str_new(m->arena);
  str_add(&out, n > 1 ? "warps " : "warp ");
  for (int i = 0; i < m->n_warps; i++) {
    if (m->warp[i].state != state) continue;
    const char *separator = seen == 0 ? "" : seen == n - 1 ? " and " : ", ";
    str_printf(&out, "%s%d", separator, i);
    seen++;
  }
  return out.text;
}

static void report_deadlock(Machine *m, int first, int waiting) {
  int first_done = 0, done = count_state(m, WARP_DONE, &first_done);
  const Warp *w = &m->warp[first];
  m->stopped = true;
  interp_report_stuck(m);
  if (waiting == 0) return;
  const char *others = "others that wait elsewhere";
  if (done)
    others = arena_printf(m->arena, "%s, which ha%s ended without reaching a barrier",
                          warp_list(m, WARP_DONE), done > 1 ? "ve" : "s");
  interp_report(m, FINDING_DEADLOCK, w, -1, waits_at(m, w), NULL, 0, "%s wait%s for %s",
                warp_list(m, WARP_AT_BARRIER), waiting > 1 ? "" : "s", others);
}

// Everybody has met at one barrier; that it was one is checked.
static void meet_all(Machine *m) {
  const Stmt *at = waits_at(m, &m->warp[0]);
  for (int i = 0; i < m->n_warps; i++) {
    const Stmt *other = waits_at(m, &m->warp[i]);
    m->warp[i].state = WARP_RUNNABLE;
    if (other == at) continue;
    interp_report(m, FINDING_DIVERGENCE, &m->warp[i], -1, at, NULL, 0,
                  "warp %d is at the barrier of stmt %d while warp 0 is at that of", i, other->id);
  }
  m->epoch++;
  interp_join_all(m);
}

// Whether two warps wait at one barrier: it is known by its number and how many it asks for,
// wherever in the program they stand.
static bool meet_at_one(const Machine *m, const Warp *a, const Warp *b) {
  return a->barrier == b->barrier && waits_at(m, a)->op.count == waits_at(m, b)->op.count;
}

// Lets the warps go on that are at the barrier of warp `w`, which asks for some threads only; false
// when they are not all there. If more are there than it asks for, any of them may have been the
// first: it is drawn who meets.
static bool meet_some(Machine *m, const Warp *w) {
  bool meets[INTERP_AGENT] = {false};
  int there[INTERP_AGENT], n = 0, wanted = (int)(waits_at(m, w)->op.count / LANES);
  for (int i = 0; i < m->n_warps; i++)
    if (m->warp[i].state == WARP_AT_BARRIER && meet_at_one(m, &m->warp[i], w)) there[n++] = i;
  if (n < wanted) return false;
  for (; wanted > 0; wanted--) {
    int which = n > 1 ? (int)random_between(&m->random, 0, n - 1) : 0, warp = there[which];
    there[which] = there[--n];
    meets[warp] = true;
    m->warp[warp].state = WARP_RUNNABLE;
  }
  interp_join_some(m, meets);
  return true;
}

static bool pass_barrier(Machine *m, int waiting) {
  for (int i = 0; i < m->n_warps; i++) {
    if (m->warp[i].state != WARP_AT_BARRIER) continue;
    const Stmt *at = waits_at(m, &m->warp[i]);
    if (at->op.count && meet_some(m, &m->warp[i])) return true;
    if (at->op.count == 0 && waiting == m->n_warps) {
      meet_all(m);
      return true;
    }
  }
  return false;
}

// All warps have stopped: those at a barrier go on when all of them are there; if nobody can, a
// copy lands at last. False at the end, and when everybody waits for ever.
bool interp_go_on(Machine *m) {
  int first = 0, waiting = count_state(m, WARP_AT_BARRIER, &first);
  int asleep = count_state(m, WARP_ASLEEP, waiting ? &(int){0} : &first);
  if (waiting + asleep == 0) return false;
  if (pass_barrier(m, waiting)) return true;
  if (asleep && interp_land_one(m)) {
    interp_wake(m);
    return true;
  }
  report_deadlock(m, first, waiting);
  return false;
}
