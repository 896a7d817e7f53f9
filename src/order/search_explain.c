// A witness → its cause, told from the root of the chain of waits.
//
// A process at an mbarrier waits for the processes that would still arrive there; they wait
// somewhere themselves. The chain ends at a process that no other process will release, or it is a
// circle. The root of a circle is the mbarrier that has some of its arrivals and not all: the
// processes in the circle have made all their arrivals there.
//
//   consumers wait for full[0] phase 0; the producer, which would end it, waits for empty[0] phase
//   0, which expects 5 arrivals and gets 4
#include <string.h>

#include "base/str.h"
#include "order/search_inside.h"

enum { CHAIN_MAX = 64 };

typedef struct Chain {
  const Search *s;
  SearchState *at;
  int n, process[CHAIN_MAX];
  bool circle;
  int back;  // where the circle closes
} Chain;

// The name of a process: the role where several processes play it.
static const char *who(const Search *s, int process) { return s->process[process].name; }

// The process that would still do something for an event of another; an agent's is the one that
// starts it.
static bool would(const SearchEvent *wait, const SearchEvent *e) {
  if (wait->kind == SEARCH_MEET)
    return (e->kind == SEARCH_MEET || e->kind == SEARCH_PASS) && e->object == wait->object;
  return wait->kind == SEARCH_WAIT && (e->kind == SEARCH_ARRIVE || e->kind == SEARCH_LAND) &&
         e->object == wait->object;
}

static int starter(const Chain *c, int process) {
  const SearchProcess *p = &c->s->process[process];
  if (!p->agent || search_is_done(c->s, c->at, process)) return process;
  const SearchEvent *e = search_next(c->s, c->at, process);
  return e->after ? e->after - 1 : process;
}

// A process that made an earlier arrival for the object, and stands somewhere now. The run was
// stopped, so its next event is not known.
static int did_before(const Chain *c, int process, const SearchEvent *wait) {
  // When all arrivals have come and bytes are missing, no process will bring them.
  if (wait->kind == SEARCH_WAIT && search_phases(c->s, c->at)[wait->object].pending <= 0) return -1;
  for (int p = 0; p < c->s->n_processes; p++)
    for (int i = 0; i < search_at(c->at, p); i++) {
      const SearchEvent *e = search_event(c->s, p, i);
      if (!would(wait, e)) continue;
      const int other = c->s->process[p].agent && e->after ? e->after - 1 : p;
      if (other != process && !search_is_done(c->s, c->at, other)) return other;
    }
  return -1;
}

static bool is_in(const Chain *c, int process) {
  for (int i = 0; i < c->n; i++)
    if (c->process[i] == process) return true;
  return false;
}

// The process that this one waits for: one not in the chain yet, else one that is; -1: none.
static int waits_for(const Chain *c, int process) {
  const SearchEvent *wait = search_next(c->s, c->at, process);
  int known = -1;
  for (int p = 0; p < c->s->n_processes; p++) {
    bool arrived = wait->kind == SEARCH_MEET && search_has_arrived(c->at, p) &&
                   search_next(c->s, c->at, p)->object == wait->object;
    for (int i = search_at(c->at, p); i < c->s->process[p].n_events && !arrived; i++) {
      if (!would(wait, search_event(c->s, p, i))) continue;
      const int other = starter(c, p);
      if (other == process || search_is_done(c->s, c->at, other)) break;
      if (!is_in(c, other)) return other;
      known = other;
      break;
    }
  }
  return known >= 0 ? known : did_before(c, process, wait);
}

static void follow(Chain *c, int first) {
  for (int p = first; p >= 0 && c->n < CHAIN_MAX; p = waits_for(c, p)) {
    c->circle = is_in(c, p);
    for (int i = 0; c->circle && i < c->n; i++)
      if (c->process[i] == p) c->back = i;
    if (c->circle) return;
    c->process[c->n++] = p;
  }
}

// The processes that have come to a barrier.
static int come_to(const Chain *c, int barrier) {
  int n = search_passed(c->s, c->at)[barrier];
  for (int p = 0; p < c->s->n_processes; p++)
    n += search_has_arrived(c->at, p) && search_next(c->s, c->at, p)->object == barrier;
  return n;
}

// The lack of an mbarrier or a barrier: "which expects 5 arrivals and gets 4".
static const char *lack(const Chain *c, int process) {
  Arena *arena = c->s->arena;
  const SearchEvent *e = search_next(c->s, c->at, process);
  if (e->kind == SEARCH_TAKE)
    return arena_printf(arena, "of which %lld are free",
                        (long long)c->at->registers[c->s->process[process].rank]);
  if (e->kind == SEARCH_MEET)
    return arena_printf(arena, "where %lld have to meet and %d come", (long long)e->n,
                        come_to(c, e->object));
  if (e->kind != SEARCH_WAIT) return "which never comes";
  const OrderPhases *p = &search_phases(c->s, c->at)[e->object];
  if (p->pending > 0 && p->pending < p->expected)
    return arena_printf(arena, "which expects %lld arrivals and gets %lld", (long long)p->expected,
                        (long long)(p->expected - p->pending));
  if (p->pending <= 0 && p->bytes)
    return p->bytes > 0
               ? arena_printf(arena, "which expects %lld bytes more than come", (long long)p->bytes)
               : arena_printf(arena, "which gets %lld bytes more than it expects",
                              (long long)-p->bytes);
  if (p->pending > 0 && p->bytes)
    return arena_printf(arena, "at which %lld bytes have been counted that no arrival expects",
                        (long long)-p->bytes);
  return c->circle ? "at which none of them has arrived"
                   : arena_printf(arena, "whose phase %u no warp will end", p->phase);
}

// The place in a chain where it begins to be wrong.
static bool waits_for_the_first(const Chain *c, int i) {
  const SearchEvent *e = search_next(c->s, c->at, c->process[i]);
  return e->kind == SEARCH_WAIT && search_phases(c->s, c->at)[e->object].phase == 0;
}

static bool has_some(const Chain *c, int i) {
  const SearchEvent *e = search_next(c->s, c->at, c->process[i]);
  if (e->kind != SEARCH_WAIT) return false;
  const OrderPhases *p = &search_phases(c->s, c->at)[e->object];
  return p->pending > 0 && p->pending < p->expected;
}

// A run that ended in a deadlock does not tell what a process would do behind its wait. Where no
// process is known to come to the last mbarrier, it is one of those that wait for an mbarrier with
// some of its arrivals.
static int root_of_line(const Chain *c) {
  const int last = c->n - 1;
  for (int i = 0; c->s->stopped && i < last && !has_some(c, last); i++)
    if (has_some(c, i)) return i;
  return last;
}

static int root_of(const Chain *c) {
  if (!c->circle) return root_of_line(c);
  for (int i = 0; i < c->n; i++) {
    const SearchEvent *e = search_next(c->s, c->at, c->process[i]);
    if (e->kind != SEARCH_WAIT) continue;
    const OrderPhases *p = &search_phases(c->s, c->at)[e->object];
    if (has_some(c, i) || (p->pending <= 0 && p->bytes)) return i;
  }
  // A process that waits for the first phase of an mbarrier without an arrival began the circle.
  for (int i = 1; i < c->n; i++)
    if (waits_for_the_first(c, i)) return i;
  return c->n - 1;
}

// Among those the one that need only wait with the other bit, where there is one.
static int tried_root_of(Search *s, const Chain *c) {
  const int root = root_of(c);
  for (int i = c->back; c->circle && waits_for_the_first(c, root) && i < c->n; i++)
    if (waits_for_the_first(c, i) &&
        search_cure_flip(s, c->process[i], search_next(s, c->at, c->process[i])->tag))
      return i;
  return root;
}

// The chain up to its root; where that is the first one, once round the circle.
static int in_order(const Chain *c, int root, int *order) {
  const int round = c->n - c->back;
  const bool turns = c->circle && root == 0 && c->back == 0;
  const int n = turns ? round : root + 1;
  for (int i = 0; i < n; i++) order[i] = c->process[turns ? (1 + i) % round : i];
  return n;
}

// The longest chain to a root says most.
static Chain longest(const Search *s, SearchState *at) {
  Chain best = {.s = s, .at = at};
  for (int p = 0; p < s->n_processes; p++) {
    if (search_is_done(s, at, p) || s->process[p].agent) continue;
    Chain c = {.s = s, .at = at};
    follow(&c, p);
    if (!best.n || root_of(&c) > root_of(&best)) best = c;
  }
  return best;
}

static const char *deadlock_text(Search *s, SearchResult *r) {
  const Chain c = longest(s, (SearchState *)r->last);
  Str out = str_new(s->arena);
  if (!c.n) return "a copy waits for its start for ever";
  int order[CHAIN_MAX] = {0};
  const int n = in_order(&c, tried_root_of(s, &c), order), last = order[n - 1];
  for (int i = 0; i < n; i++) {
    const int p = order[i];
    str_printf(&out, i ? "; %s, which would end that, %s" : "%s %s", who(s, p),
               search_event_text(s, p, search_at(c.at, p)));
  }
  str_printf(&out, ", %s", lack(&c, last));
  const SearchEvent *e = search_next(s, c.at, last);
  if (e->kind == SEARCH_WAIT)
    r->cure = search_cure_deadlock(s, &search_phases(s, c.at)[e->object], e->object, last, e->tag);
  if (e->kind == SEARCH_MEET)
    r->cure = search_cure_meeting(s, e->object, e->n, come_to(&c, e->object));
  return out.text;
}

// ---- two accesses -------------------------------------------------------------------------------

static const char *access_text(const Search *s, int access) {
  const SearchAccess *a = &s->access[access];
  return arena_printf(s->arena, "%s %s %s%s", who(s, a->process), a->write ? "writes" : "reads",
                      s->place[a->place].name, search_is_instant(a) ? "" : " in the background");
}

static const char *conflict_text(const Search *s, const SearchResult *r) {
  const SearchAccess *then = &s->access[r->access[1]];
  const char *end = search_is_instant(then) ? "nothing keeps the two apart"
                    : then->end < 0
                        ? "no signal says that it is over"
                        : arena_printf(s->arena, "that is over only when %s %s", who(s, then->ends),
                                       search_event_text(s, then->ends, then->end));
  return arena_printf(s->arena, "%s while %s: %s", access_text(s, r->access[0]),
                      access_text(s, r->access[1]), end);
}

static const char *one_text(const Search *s, const SearchResult *r) {
  const SearchStep *last = &r->step[r->n_steps - 1];
  const SearchEvent *e = search_event(s, last->process, last->at);
  const char *name = who(s, last->process), *what = search_event_text(s, last->process, last->at);
  switch (r->fault) {
    case SEARCH_LAPPED:
      return arena_printf(s->arena,
                          "%s %s and ends its phase %u while a warp still waits for the phase "
                          "before: to that wait the mbarrier looks unchanged",
                          name, what, last->phase - 1);
    case SEARCH_UNFENCED:
      return arena_printf(s->arena,
                          "%s: the async proxy does not see earlier accesses of threads: no "
                          "fence.proxy.async stands between",
                          access_text(s, r->access[0]));
    case SEARCH_NARROW:
      return arena_printf(s->arena,
                          "%s: threads of another block wrote there and released it only in the "
                          "scope of their own block",
                          access_text(s, r->access[0]));
    case SEARCH_UNLEARNED:
      return arena_printf(s->arena,
                          "%s: threads of another block wrote there, and the wait for it has only "
                          "the scope of one block",
                          access_text(s, r->access[0]));
    case SEARCH_TOO_MANY:
      return arena_printf(s->arena, "%s %s once too often: its phase expects no more arrivals",
                          name, what);
    case SEARCH_UNBEGUN:
      return arena_printf(s->arena, "%s %s, which may not be initialised yet", name, what);
    case SEARCH_GONE:
      return arena_printf(s->arena, "%s %s, and block %d of the cluster may have ended", name, what,
                          s->bar[e->object].rank);
    case SEARCH_IN_FLIGHT:
      return arena_printf(s->arena, "block %d ends while %s", s->process[last->process].rank,
                          access_text(s, r->access[0]));
    default:
      return "unknown";
  }
}

// One process writes in the background where its last writing is still under way: no barrier is
// between a process and itself.
static bool is_second_fill(const Search *s, const SearchResult *r) {
  if (r->access[0] < 0 || r->access[1] < 0) return false;
  const SearchAccess *a = &s->access[r->access[0]], *b = &s->access[r->access[1]];
  return a->process == b->process && a->write && b->write;
}

void search_explain(Search *s, SearchResult *r) {
  static const char *const cure[SEARCH_FAULTS] = {
      [SEARCH_DEADLOCK] = "let exactly the expected arrivals come, in the phase that is waited for",
      [SEARCH_LAPPED] = "end a phase only when all waits for the one before have ended",
      [SEARCH_EARLY] = "wait until the data has landed, then read",
      [SEARCH_REFILLED] = "wait until all readers have finished, then write again",
      [SEARCH_RACE] = "put a barrier between the two",
      [SEARCH_UNFENCED] = "fence.proxy.async after the accesses, before the signal",
      [SEARCH_NARROW] =
          "arrive, and wait, in the scope of the cluster: .release.cluster and "
          ".acquire.cluster",
      [SEARCH_UNLEARNED] = "wait in the scope of the cluster, too: .acquire.cluster",
      [SEARCH_TOO_MANY] = "initialise the mbarrier for exactly the arrivals that come",
      [SEARCH_UNBEGUN] = "initialise, fence.mbarrier_init, and let all threads meet",
      [SEARCH_GONE] = "let the cluster meet before a block ends",
      [SEARCH_IN_FLIGHT] = "wait for the work before the block ends"};
  r->cure = cure[r->fault];
  if (r->fault == SEARCH_RACE && is_second_fill(s, r))
    r->cure = "wait until what was written has landed and been read, then write again";
  r->root = r->fault == SEARCH_DEADLOCK ? deadlock_text(s, r)
            : r->access[1] >= 0         ? conflict_text(s, r)
                                        : one_text(s, r);
  const char *mend = r->fault == SEARCH_DEADLOCK ? NULL : search_mend(s, r);
  if (mend) r->cure = mend;
}
