// A witness → one with the fewest steps, or the proof that it is one.
//
// A fault needs two accesses, or an arrival and a wait, …: each such pair is a target. What both
// must have behind them (search_needs.c) has no more steps than the shortest order to the target.
// Targets that need as many as the witness has are done with. Towards each of the others all orders
// with one step more than it needs are searched, then with two, up to those with one less than the
// witness. An event that the target needs comes first wherever it makes no difference to what the
// others may do before it (search_ahead.c): it comes in any case. States that need too many steps
// more are left.
//
//   a witness of 51 steps, the consumer reads while the box is under way: the two accesses need 51,
//   so none is shorter; another pair needs 49: three states, and its box has landed before
#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "order/search_inside.h"

enum { LIMITS = 6, TARGETS_MAX = 4096, STATES_MAX = 4000, WORK = 20000000, ASK_EVERY = 512 };

// A process may have done no more steps than these.
typedef struct Limit {
  int process, most;
} Limit;

typedef struct Target {
  int64_t least;
  int process, at;  // the event that does harm; process -1: any
  int n_limits;
  Limit limit[LIMITS];
  SearchCount *row;
} Target;

typedef struct Least {
  Search *search;
  const SearchIndex *x;
  const SearchOptions *options;
  SearchResult *out;
  SearchNeeds *needs;
  Target *target;
  int n_targets;
  bool cut_short;  // some orders were not looked at
  SearchCount *row;
  SearchStates *states;
  SearchState *scratch;
  SearchAhead *ahead;
  int *stack, *able, n_expanded;
  int64_t left;  // states
} Least;

static int steps_of(const SearchState *s, int process) {
  return search_at(s, process) + search_has_arrived(s, process);
}

// ---- targets ------------------------------------------------------------------------------------

static SearchCount *new_row(const Least *l) {
  return ARENA_ARRAY(l->search->arena, SearchCount, search_need_width(l->needs) + 1);
}

static void join(const Least *l, SearchCount *restrict into, const SearchCount *restrict from) {
  for (int i = 0, n = search_need_width(l->needs); i < n; i++)
    into[i] = into[i] < from[i] ? from[i] : into[i];
}

static void limit(Target *t, int process, int most) {
  if (t->n_limits < LIMITS) t->limit[t->n_limits++] = (Limit){process, most};
}

// The process has not gone on behind its event.
static void limit_to(const Least *l, Target *t, int process, int at) {
  const bool meets = search_event(l->search, process, at)->kind == SEARCH_MEET;
  limit(t, process, at + meets);
}

// A target that the row in `l` is needed for.
static void add(Least *l, Target t) {
  t.least = search_need_steps(l->needs, l->row);
  bool can = t.least < l->out->n_steps;
  for (int i = 0; i < t.n_limits; i++) can = can && l->row[t.limit[i].process] <= t.limit[i].most;
  if (!can) return;
  if (l->n_targets == TARGETS_MAX) {
    l->cut_short = true;
    return;
  }
  t.row = ARENA_ARRAY(l->search->arena, SearchCount, l->search->n_processes + 1);
  memcpy(t.row, l->row, sizeof *t.row * (size_t)l->search->n_processes);
  l->target[l->n_targets++] = t;
}

// An event that does harm, and the row up to it.
static Target target_at(Least *l, int process, int at) {
  Target t = {.process = process, .at = at};
  search_need_front(l->needs, process, at, l->row);
  if (l->row[process] <= at) l->row[process] = (SearchCount)(at + 1);
  limit(&t, process, at + 1);
  return t;
}

static void limit_open(const Least *l, Target *t, const SearchAccess *a) {
  if (a->end >= 0) limit_to(l, t, a->ends, a->end);
  for (int i = 0; i < a->n_also; i++) limit_to(l, t, a->also[i].process, a->also[i].at);
}

static void add_conflicts(Least *l) {
  const Search *s = l->search;
  for (int i = 0; i < s->n_accesses; i++) {
    const SearchAccess *a = &s->access[i];
    for (int k = l->x->against.first[i]; k < l->x->against.first[i + 1]; k++) {
      const SearchAccess *b = &s->access[l->x->against.list[k]];
      if (search_fault_of(a, b) != l->out->fault) continue;
      if (b->process == a->process && search_is_instant(b)) continue;
      Target t = target_at(l, a->process, a->begin);
      if (search_need_steps(l->needs, l->row) >= l->out->n_steps) break;
      join(l, l->row, search_need_behind(l->needs, b->process, b->begin));
      limit_open(l, &t, b);
      add(l, t);
    }
  }
}

// The word of an access, and the next fence of its process, behind which the word is clear.
static void add_told(Least *l, int access, int word) {
  const Search *s = l->search;
  const SearchAccess *a = &s->access[access];
  const int kind = word % SEARCH_WORDS;
  for (int i = 0; i < s->n_accesses; i++) {
    const SearchAccess *by = &s->access[i];
    if (by->async || l->x->word[by->place] != word - kind) continue;
    if (kind == SEARCH_READ && (by->write || l->x->fenced[i])) continue;
    if (kind == SEARCH_WRITTEN && (!by->write || l->x->fenced[i])) continue;
    if (kind >= SEARCH_UNTOLD && !(by->write && l->x->handed[by->place])) continue;
    Target t = target_at(l, a->process, a->begin);
    join(l, l->row, search_need(l->needs, by->process, by->begin));
    const SearchProcess *p = &s->process[by->process];
    for (int at = by->begin + 1; kind < SEARCH_UNTOLD && at < p->n_events; at++)
      if (p->event[at].kind == SEARCH_FENCE) {
        limit(&t, by->process, at);
        break;
      }
    add(l, t);
  }
}

static void add_unknown(Least *l) {
  static const SearchFault fault[SEARCH_WORDS] = {SEARCH_UNFENCED, SEARCH_UNFENCED, SEARCH_NARROW,
                                                  SEARCH_UNLEARNED};
  const SearchLists *words = &l->x->unknown_to;
  for (int i = 0; i < l->search->n_accesses; i++)
    for (int k = words->first[i]; k < words->first[i + 1]; k++)
      if (fault[words->list[k] % SEARCH_WORDS] == l->out->fault) add_told(l, i, words->list[k]);
}

static void join_all_of(Least *l, int rank) {
  for (int p = 0; p < l->search->n_processes; p++) {
    const SearchProcess *process = &l->search->process[p];
    if (!process->agent && process->rank == rank && process->n_events)
      join(l, l->row, search_need(l->needs, p, process->n_events - 1));
  }
}

static void add_in_flight(Least *l) {
  for (int i = 0; i < l->search->n_accesses; i++) {
    const SearchAccess *a = &l->search->access[i];
    if (search_is_instant(a)) continue;
    Target t = {.process = -1};
    memcpy(l->row, search_need_behind(l->needs, a->process, a->begin),
           sizeof *l->row * (size_t)search_need_width(l->needs));
    join_all_of(l, l->search->place[a->place].rank);
    limit_open(l, &t, a);
    add(l, t);
  }
}

// The arrivals behind which one more is one too many.
static void add_too_many(Least *l, int process, int at, const SearchEvent *e) {
  const int64_t each = search_need_arrivals(l->needs, e->object);
  const Target t = target_at(l, process, at);
  const int64_t phase = search_need_phase_of(l->needs, l->row, e->object);
  if (each && e->n <= each)
    search_need_phase(l->needs, l->row, e->object, phase, each - e->n + 1, process, at);
  add(l, t);
}

// A wait that could go on, and the end of the phase that lets it.
static void add_lapped(Least *l, int process, int at, const SearchEvent *e) {
  Target t = {.process = -1};
  search_need_front(l->needs, process, at, l->row);
  const int64_t known = search_need_phase_of(l->needs, l->row, e->object);
  limit(&t, process, at);
  search_need_phase(l->needs, l->row, e->object, known + 1 + ((known & 1) == e->bit), 0, process,
                    at);
  add(l, t);
}

static void add_events(Least *l) {
  const Search *s = l->search;
  const SearchFault fault = l->out->fault;
  for (int p = 0; p < s->n_processes; p++)
    for (int at = 0; at < s->process[p].n_events; at++) {
      const SearchEvent *e = search_event(s, p, at);
      if (!search_is_about_mbarrier(e)) continue;
      if (fault == SEARCH_TOO_MANY && e->kind == SEARCH_ARRIVE) add_too_many(l, p, at, e);
      if (fault == SEARCH_LAPPED && e->kind == SEARCH_WAIT) add_lapped(l, p, at, e);
      if (e->kind == SEARCH_INIT || s->bar[e->object].given) continue;
      const Target t = target_at(l, p, at);
      if (fault == SEARCH_GONE) join_all_of(l, s->bar[e->object].rank);
      if (fault == SEARCH_UNBEGUN || fault == SEARCH_GONE) add(l, t);
    }
}

static bool find_targets(Least *l) {
  switch (l->out->fault) {
    case SEARCH_EARLY:
    case SEARCH_REFILLED:
    case SEARCH_RACE:
      add_conflicts(l);
      return true;
    case SEARCH_UNFENCED:
    case SEARCH_NARROW:
    case SEARCH_UNLEARNED:
      add_unknown(l);
      return true;
    case SEARCH_IN_FLIGHT:
      add_in_flight(l);
      return true;
    case SEARCH_TOO_MANY:
    case SEARCH_LAPPED:
    case SEARCH_UNBEGUN:
    case SEARCH_GONE:
      add_events(l);
      return true;
    default:
      return false;
  }
}

// ---- towards a target ---------------------------------------------------------------------------

static int64_t missing(const Least *l, const Target *t, const SearchState *s) {
  int64_t steps = 0;
  for (int p = 0; p < l->search->n_processes; p++) steps += max_int(0, t->row[p] - steps_of(s, p));
  return steps;
}

static bool is_beyond(const Target *t, const SearchState *s) {
  for (int i = 0; i < t->n_limits; i++)
    if (steps_of(s, t->limit[i].process) > t->limit[i].most) return true;
  return false;
}

static bool is_needed(const Target *t, const SearchState *s, int process) {
  const int at = search_at(s, process);
  return at < t->row[process] && !(process == t->process && at == t->at);
}

// An event that the target needs and that can come first; -1: there is none.
static int first_needed(Least *l, const Target *t, SearchState *s) {
  const int n = l->search->n_processes;
  const uint64_t *live = search_live(l->search, s, l->ahead);
  int n_able = 0;
  for (int p = -1; (p = search_next_bit(live, p + 1, n)) >= 0;) {
    if (!is_needed(t, s, p) || !search_can_step(l->search, s, p)) continue;
    if (!l->x->matters[l->x->base[p] + search_at(s, p)]) return p;
    l->able[n_able++] = p;
  }
  for (int i = 0; i < n_able; i++)
    if (search_is_apart(l->search, s, l->able[i], l->ahead)) return l->able[i];
  return -1;
}

// True: the fault is found, in no more than so many steps.
static bool try(Least *l, const Target *t, int node, int process, int64_t most) {
  int conflict[2];
  memcpy(l->scratch, search_state(l->states, node), l->states->bytes);
  const SearchFault fault = search_step(l->search, l->scratch, process, conflict);
  if (fault == l->out->fault) {
    int n;
    SearchStep *step = search_way(l->states, node, process, &n);
    search_found(l->search, l->out, step, n, fault);
    return true;
  }
  const int64_t done = l->states->node[node].depth + 1;
  if (fault || done + max64(missing(l, t, l->scratch), 1) > most || is_beyond(t, l->scratch))
    return false;
  l->left -= search_keep(l->states, l->scratch, node, process);
  return false;
}

static bool expand(Least *l, const Target *t, int node, int64_t most) {
  const int one = first_needed(l, t, search_state(l->states, node));
  if (one >= 0) return try(l, t, node, one, most);
  for (int p = 0; p < l->search->n_processes; p++)
    if (search_can_step(l->search, search_state(l->states, node), p) && try(l, t, node, p, most))
      return true;
  return false;
}

static bool goes_on(Least *l) {
  const SearchOptions *o = l->options;
  return l->left > 0 && l->states->n < l->states->most &&
         (++l->n_expanded % ASK_EVERY || !o->goes_on || o->goes_on(o->context, l->out->states));
}

static bool reach(Least *l, const Target *t, int64_t most) {
  int depth = 0, n_stacked = 0;
  search_forget_states(l->states);
  for (;;) {
    for (; n_stacked < l->states->n; n_stacked++) l->stack[depth++] = n_stacked;
    if (depth == 0) return false;
    if (!goes_on(l)) {
      l->cut_short = true;
      return false;
    }
    if (expand(l, t, l->stack[--depth], most)) return true;
  }
}

static bool reach_any(Least *l) {
  int64_t most = INT64_MAX;
  for (int i = 0; i < l->n_targets; i++) most = min64(most, l->target[i].least);
  for (; most < l->out->n_steps; most++)
    for (int i = 0; i < l->n_targets; i++)
      if (l->target[i].least <= most && reach(l, &l->target[i], most)) return true;
  return false;
}

bool search_least(Search *search, const SearchOptions *options, SearchResult *out) {
  Arena *arena = search->arena;
  Least l = {.search = search, .x = search->index, .options = options, .out = out};
  l.needs = search_new_needs(search, options);
  if (!l.needs) return false;
  l.target = ARENA_ARRAY(arena, Target, TARGETS_MAX);
  l.row = new_row(&l);
  if (!find_targets(&l)) return false;
  if (l.n_targets == 0) return !l.cut_short;
  l.states = search_new_states(search, STATES_MAX);
  l.scratch = arena_alloc(arena, l.states->bytes);
  l.ahead = search_new_ahead(search, arena);
  l.stack = ARENA_ARRAY(arena, int, STATES_MAX + search->n_processes + 1);
  l.able = ARENA_ARRAY(arena, int, search->n_processes + 1);
  l.left = WORK / (search_events(search) + 1);
  reach_any(&l);
  return !l.cut_short;
}
