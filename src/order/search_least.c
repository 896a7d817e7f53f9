// A witness → one with the fewest steps, or the proof that it is one.
//
// A fault needs two accesses, or an arrival and a wait, …: each such pair is a target. What both
// must have behind them (search_needs.c) has no more steps than the shortest order to the target.
// Targets that need as many as the witness has are done with. Towards each of the others all orders
// with one step more than it needs are searched, then with two, up to those with one less than the
// witness. An event that the target needs comes first wherever it makes no difference to what the
// others may do before it (search_apart.c): it comes in any case. States that need too many steps
// more are left.
//
//   a witness of 51 steps, the consumer reads while the box is under way: the two accesses need 51,
//   so none is shorter; another pair needs 49: three states, and its box has landed before
#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "order/search_inside.h"

enum {
  LIMITS = 6,
  TARGETS_MAX = 4096,
  STATES_MAX = 4000,
  STATE_WORK = 30000000,
  NEED_WORK = 40000000,
  ASK_EVERY = 512
};

// Besides its last event a target needs nothing, to stand in front of an event, to have begun it,
// to have gone on behind it.
typedef enum Part { PART_NONE, PART_FRONT, PART_BEGUN, PART_BEHIND } Part;

typedef struct Target {
  int process, at;  // the event that does harm; process -1: any
  int other, other_at;
  Part part;
  int rank;  // all processes of this block have ended; -1: of none
  int64_t least;
  int n_limits;  // processes have done no more steps than these
  SearchLimit limit[LIMITS];
  SearchCount *row;  // by process
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
  int n_takes;  // events that take registers, or give them back
  SearchStep *take;
  int64_t left;  // work: events that questions run through, and words of states kept
} Least;

static int steps_of(const SearchState *s, int process) {
  return search_at(s, process) + search_has_arrived(s, process);
}

// ---- what a target needs ------------------------------------------------------------------------

static void need_other(const Least *l, const SearchNeeds *needs, const Target *t) {
  const int p = t->other, at = t->other_at;
  if (t->part == PART_FRONT) search_need_front(needs, p, at, l->row);
  if (t->part == PART_BEGUN) search_join_needs(needs, l->row, search_need(needs, p, at));
  if (t->part == PART_BEHIND) search_join_needs(needs, l->row, search_need_behind(needs, p, at));
}

static void need_end_of(const Least *l, const SearchNeeds *needs, int rank) {
  for (int p = 0; p < l->search->n_processes; p++) {
    const SearchProcess *process = &l->search->process[p];
    if (!process->agent && process->rank == rank && process->n_events)
      search_join_needs(needs, l->row, search_need(needs, p, process->n_events - 1));
  }
}

// Behind so many arrivals one more is one too many.
static void need_full_phase(const Least *l, const SearchNeeds *needs, const Target *t) {
  const SearchEvent *e = search_event(l->search, t->process, t->at);
  const int64_t each = search_need_arrivals(needs, e->object),
                phase = search_need_phase_of(needs, l->row, e->object);
  if (each && e->n <= each)
    search_need_phase(needs, l->row, e->object, phase, each - e->n + 1, t->process, t->at);
}

// A wait that could go on, and the end of the phase that lets it.
static void need_lap(const Least *l, const SearchNeeds *needs, const Target *t) {
  const SearchEvent *e = search_event(l->search, t->other, t->other_at);
  const int64_t known = search_need_phase_of(needs, l->row, e->object);
  search_need_phase(needs, l->row, e->object, known + 1 + ((known & 1) == e->bit), 0, t->other,
                    t->other_at);
}

// The row of a target, and its number of steps; false: it cannot be in fewer than the witness has.
static bool find_need(const Least *l, const SearchNeeds *needs, Target *t) {
  memset(l->row, 0, sizeof *l->row * (size_t)search_need_width(needs));
  if (t->process >= 0) search_need_front(needs, t->process, t->at, l->row);
  need_other(l, needs, t);
  if (t->rank >= 0) need_end_of(l, needs, t->rank);
  if (l->out->fault == SEARCH_TOO_MANY) need_full_phase(l, needs, t);
  if (l->out->fault == SEARCH_LAPPED) need_lap(l, needs, t);
  if (t->process >= 0 && search_need_of(needs, l->row, t->process) > t->at) return false;
  if (t->process >= 0) search_need_done(needs, l->row, t->process, t->at);
  for (int i = 0; i < t->n_limits; i++)
    if (search_need_of(needs, l->row, t->limit[i].process) > t->limit[i].most) return false;
  t->least = search_need_steps(needs, l->row);
  return t->least < l->out->n_steps;
}

// ---- registers ----------------------------------------------------------------------------------

static void list_takes(Least *l) {
  const Search *s = l->search;
  l->take = ARENA_ARRAY(s->arena, SearchStep, search_events(s) + 1);
  for (int p = 0; p < s->n_processes; p++)
    for (int at = 0; at < s->process[p].n_events; at++)
      if (s->process[p].event[at].kind == SEARCH_TAKE)
        l->take[l->n_takes++] = (SearchStep){p, at, 0};
}

// Registers that a target needs must be given back, whoever does it: the fewest steps to that in
// one block, where processes have done what the target needs and what they did until a state (NULL:
// the start).
static int64_t steps_to_give_in(const Least *l, const Target *t, const SearchState *s, int rank) {
  int64_t lack = -l->search->registers, most = 1, cost = INT64_MAX;
  for (int i = 0; i < l->n_takes; i++) {
    const SearchStep *take = &l->take[i];
    const int p = take->process, done = max_int(t->row[p], s ? steps_of(s, p) : 0);
    const int64_t n = search_event(l->search, p, take->at)->n;
    if (l->search->process[p].rank != rank) continue;
    if (take->at < done) {
      lack += n;
    } else if (n < 0) {
      most = max64(most, -n);
      cost = min64(cost, take->at + 1 - done);
    }
  }
  return lack > 0 && cost < INT64_MAX ? ceil_div(lack, most) * cost : 0;
}

static int64_t steps_to_give(const Least *l, const Target *t, const SearchState *s) {
  int64_t steps = 0;
  for (int rank = 0; l->n_takes > 0 && rank < l->search->ranks; rank++)
    steps += steps_to_give_in(l, t, s, rank);
  return steps;
}

// ---- targets ------------------------------------------------------------------------------------

static void copy_need(const Least *l, const SearchNeeds *needs, Target *t) {
  for (int p = 0; p < l->search->n_processes; p++)
    t->row[p] = (SearchCount)search_need_of(needs, l->row, p);
}

static int by_limits(const void *a, const void *b) {
  const Target *x = a, *y = b;
  if (x->n_limits != y->n_limits) return x->n_limits - y->n_limits;
  for (int i = 0; i < x->n_limits; i++) {
    const SearchLimit *m = &x->limit[i], *n = &y->limit[i];
    if (m->process != n->process) return m->process - n->process;
    if (m->most != n->most) return m->most - n->most;
  }
  return 0;
}

// Accesses to several places begin with one event.
static bool is_listed(const Least *l, const Target *t) {
  for (int i = l->n_targets - 1; i >= 0; i--) {
    const Target *other = &l->target[i];
    if (other->process != t->process || other->at != t->at) return false;
    if (other->other == t->other && other->other_at == t->other_at && by_limits(other, t) == 0)
      return true;
  }
  return false;
}

static void add(Least *l, Target t) {
  if (is_listed(l, &t) || !find_need(l, l->needs, &t)) return;
  if (l->n_targets == TARGETS_MAX) {
    l->cut_short = true;
    return;
  }
  t.row = ARENA_ARRAY(l->search->arena, SearchCount, l->search->n_processes + 1);
  copy_need(l, l->needs, &t);
  t.least += steps_to_give(l, &t, NULL);
  if (t.least < l->out->n_steps) l->target[l->n_targets++] = t;
}

static void limit(Target *t, int process, int most) {
  int at = t->n_limits;
  if (at == LIMITS) return;
  for (; at > 0 && t->limit[at - 1].process > process; at--) t->limit[at] = t->limit[at - 1];
  t->limit[at] = (SearchLimit){process, most};
  t->n_limits++;
}

// The process has not gone on behind its event.
static void limit_to(const Least *l, Target *t, int process, int at) {
  const bool meets = search_event(l->search, process, at)->kind == SEARCH_MEET;
  limit(t, process, at + meets);
}

static void limit_open(const Least *l, Target *t, const SearchAccess *a) {
  if (a->end >= 0) limit_to(l, t, a->ends, a->end);
  for (int i = 0; i < a->n_also; i++) limit_to(l, t, a->also[i].process, a->also[i].at);
}

static void add_conflicts(Least *l) {
  const Search *s = l->search;
  for (int i = 0; i < s->n_accesses && !l->cut_short; i++) {
    const SearchAccess *a = &s->access[i];
    search_need_front(l->needs, a->process, a->begin, l->row);
    if (search_need_steps(l->needs, l->row) >= l->out->n_steps) continue;
    for (int k = l->x->against.first[i]; k < l->x->against.first[i + 1]; k++) {
      const SearchAccess *b = &s->access[l->x->against.list[k]];
      if (search_fault_of(a, b) != l->out->fault) continue;
      if (b->process == a->process && search_is_instant(b)) continue;
      Target t = {a->process, a->begin, b->process, b->begin, PART_BEHIND, .rank = -1};
      limit_open(l, &t, b);
      add(l, t);
    }
  }
}

// Whether an access sets a word that the async proxy, or another block, must be told of.
static bool sets(const Least *l, int access, int word) {
  const SearchAccess *a = &l->search->access[access];
  const int kind = word % SEARCH_WORDS;
  if (a->async || l->x->word[a->place] != word - kind) return false;
  if (kind >= SEARCH_UNTOLD) return a->write && l->x->handed[a->place];
  return !l->x->fenced[access] && a->write == (kind == SEARCH_WRITTEN);
}

// The word of an access, and the next fence of its process, behind which the word is clear.
static void add_told(Least *l, int access, int word) {
  const SearchAccess *a = &l->search->access[access];
  for (int i = 0; i < l->search->n_accesses; i++) {
    const SearchAccess *by = &l->search->access[i];
    if (!sets(l, i, word)) continue;
    Target t = {a->process, a->begin, by->process, by->begin, PART_BEGUN, .rank = -1};
    const SearchProcess *p = &l->search->process[by->process];
    int at = by->begin + 1;
    while (at < p->n_events && p->event[at].kind != SEARCH_FENCE) at++;
    if (at < p->n_events && word % SEARCH_WORDS < SEARCH_UNTOLD) limit(&t, by->process, at);
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

static void add_in_flight(Least *l) {
  for (int i = 0; i < l->search->n_accesses; i++) {
    const SearchAccess *a = &l->search->access[i];
    if (search_is_instant(a)) continue;
    const int rank = l->search->place[a->place].rank;
    Target t = {-1, 0, a->process, a->begin, PART_BEHIND, .rank = rank};
    limit_open(l, &t, a);
    add(l, t);
  }
}

static void add_events(Least *l) {
  const Search *s = l->search;
  const SearchFault fault = l->out->fault;
  for (int p = 0; p < s->n_processes; p++)
    for (int at = 0; at < s->process[p].n_events; at++) {
      const SearchEvent *e = search_event(s, p, at);
      if (!search_is_about_mbarrier(e)) continue;
      Target t = {p, at, .rank = -1};
      if (fault == SEARCH_TOO_MANY && e->kind == SEARCH_ARRIVE) add(l, t);
      if (fault == SEARCH_LAPPED && e->kind == SEARCH_WAIT) {
        t = (Target){-1, 0, p, at, PART_FRONT, .rank = -1};
        limit(&t, p, at);
        add(l, t);
      }
      if (e->kind == SEARCH_INIT || s->bar[e->object].given) continue;
      if (fault == SEARCH_GONE) t.rank = s->bar[e->object].rank;
      if (fault == SEARCH_UNBEGUN || fault == SEARCH_GONE) add(l, t);
    }
}

// Towards two targets with the same needs the same orders lead.
static bool is_there(const Least *l, int from, int n, const Target *t) {
  const size_t bytes = sizeof *t->row * (size_t)l->search->n_processes;
  for (int i = from; i < n; i++) {
    const Target *other = &l->target[i];
    if (other->process == t->process && other->at == t->at &&
        memcmp(other->row, t->row, bytes) == 0)
      return true;
  }
  return false;
}

// Where a process may not go on, others need more.
static void limit_needs(Least *l) {
  int n = 0, first = 0;
  const SearchNeeds *within = l->needs;
  qsort(l->target, (size_t)l->n_targets, sizeof *l->target, by_limits);
  for (int i = 0; i < l->n_targets; i++) {
    Target *t = &l->target[i];
    if (i == 0 || by_limits(&l->target[i - 1], t) != 0) {
      first = n;
      const bool room = search_needs_work(l->needs) < NEED_WORK;
      within = room ? search_needs_within(l->needs, l->options, t->limit, t->n_limits) : l->needs;
    }
    if (!find_need(l, within, t)) continue;
    copy_need(l, within, t);
    t->least += steps_to_give(l, t, NULL);
    if (t->least >= l->out->n_steps) continue;
    if (!is_there(l, first, n, t)) l->target[n++] = *t;
  }
  l->n_targets = n;
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
  return steps + steps_to_give(l, t, s);
}

static bool is_beyond(const Target *t, const SearchState *s) {
  if (t->process >= 0 && steps_of(s, t->process) > t->at) return true;
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
  for (int i = 0; i < n_able; i++) {
    l->left -= l->x->base[n];
    if (search_is_apart(l->search, s, l->able[i], l->ahead)) return l->able[i];
  }
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
  search_keep(l->states, l->scratch, node, process);
  l->left -= (int64_t)l->states->bytes / 8;
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

static void reach_any(Least *l) {
  int64_t most = INT64_MAX;
  for (int i = 0; i < l->n_targets; i++) most = min64(most, l->target[i].least);
  for (; most < l->out->n_steps; most++)
    for (int i = 0; i < l->n_targets; i++)
      if (l->target[i].least <= most && (reach(l, &l->target[i], most) || l->left <= 0)) return;
}

bool search_least(Search *search, const SearchOptions *options, SearchResult *out) {
  Arena *arena = search->arena;
  Least l = {.search = search, .x = search->index, .options = options, .out = out};
  l.needs = search_new_needs(search, options);
  if (!l.needs) return false;
  l.target = ARENA_ARRAY(arena, Target, TARGETS_MAX);
  list_takes(&l);
  l.row = ARENA_ARRAY(arena, SearchCount, search_need_width(l.needs) + 1);
  if (!find_targets(&l) || l.cut_short) return false;
  limit_needs(&l);
  if (l.n_targets == 0) return !l.cut_short;
  l.states = search_new_states(search, STATES_MAX);
  l.scratch = arena_alloc(arena, l.states->bytes);
  l.ahead = search_new_ahead(search, arena);
  l.stack = ARENA_ARRAY(arena, int, STATES_MAX + search->n_processes + 1);
  l.able = ARENA_ARRAY(arena, int, search->n_processes + 1);
  l.left = STATE_WORK;
  reach_any(&l);
  return !l.cut_short;
}
