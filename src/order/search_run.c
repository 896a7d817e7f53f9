// All orders, the shortest first.
//
// States are gone through in the order of their distance from the start, each once. Where the next
// event of some process makes no difference to whatever the others may do before it
// (search_apart.c), only that event is tried: every other order of the same events leads to the
// same states and the same findings (a persistent set of one; the lists have no loops, so no event
// is put off for ever). Else all are tried. A sound ring needs one path, as long as its events; a
// faulty one branches where it is wrong.
//
// A wait that spins lets others go on: it is no event until it is over. That a try_wait gives up
// after its time and is asked again makes no difference either.
#include <string.h>

#include "base/whole.h"
#include "order/search_inside.h"

enum {
  STATES_MAX = 60000,
  WIDE_STATES = 15000,
  ASK_EVERY = 512,
  NEAR = 1500,
  MANY = 3000,
  HELD = 24,
  SHORTER_STATES = 6000,
  SHORTER_BYTES = 6000000,
  DEADLOCK_STATES = 20000
};

typedef struct Run {
  Search *search;
  const SearchOptions *options;
  Arena *arena;
  SearchStates *states;
  SearchState *scratch;
  SearchAhead *ahead;
  int *able;  // processes that can go on
  int expanded, branched, n_stacked, depth, *stack;
  SearchStep late;   // an event that may come too late; at -1: none is known
  SearchFault only;  // other faults are looked past; SEARCH_NO_FAULT: none is
  int *last_take;    // by process: its last event that takes registers or gives them back; -1
  // By process: the first one that does the same from its request for registers on; -1: none does.
  // Only one of those who ask is tried.
  int *twin;
  bool spared, looked_past;  // some were not tried; some fault was looked past
  SearchResult out;
} Run;

static void find_takes(Run *r) {
  const Search *s = r->search;
  r->last_take = ARENA_ARRAY(r->arena, int, s->n_processes + 1);
  for (int p = 0; p < s->n_processes; p++) {
    r->last_take[p] = -1;
    for (int at = 0; at < s->process[p].n_events; at++)
      if (s->process[p].event[at].kind == SEARCH_TAKE) r->last_take[p] = at;
  }
}

static Run *begin(Search *search, const SearchOptions *options) {
  Arena *arena = search->arena;
  Run *r = ARENA_NEW(arena, Run);
  *r = (Run){.search = search, .options = options, .arena = arena};
  r->states = search_new_states(search, (int)(options->states ? options->states : STATES_MAX));
  r->scratch = arena_alloc(arena, search->index->state_bytes);
  r->ahead = search_new_ahead(search, arena);
  r->able = ARENA_ARRAY(arena, int, search->n_processes + 1);
  find_takes(r);
  return r;
}

static void found(Run *r, SearchStep *step, int n, SearchFault fault) {
  search_found(r->search, &r->out, step, n, fault);
}

// The way to a state, and the event of `last` behind it (-1: none).
static void found_at(Run *r, int node, int last, SearchFault fault) {
  int n;
  SearchStep *step = search_way(r->states, node, last, &n);
  found(r, step, n, fault);
}

// ---- states -------------------------------------------------------------------------------------

static bool all_done(const Search *search, const SearchState *s) {
  if (search->cut) return true;
  for (int p = 0; p < search->n_processes; p++)
    if (!search_is_done(search, s, p)) return false;
  return true;
}

static bool try(Run *r, int node, int process) {
  int conflict[2];
  memcpy(r->scratch, search_state(r->states, node), r->search->index->state_bytes);
  const SearchFault fault = search_step(r->search, r->scratch, process, conflict);
  const bool tells = fault && (!r->only || fault == r->only);
  if (tells)
    found_at(r, node, process, fault);
  else if (!fault)
    search_keep(r->states, r->scratch, node, process);
  r->looked_past |= fault && !tells;
  return tells;
}

// The process whose event alone is to be tried; -1: all that can go on. The process of the last
// step often can still go on, so it is asked first.
static int one_that_is_apart(Run *r, SearchState *s, int last) {
  const SearchIndex *x = r->search->index;
  const int n = r->search->n_processes;
  int n_able = 0;
  if (r->options->all) return -1;
  const uint64_t *live = search_live(r->search, s, r->ahead);
  for (int turn = 0; turn < 2; turn++)
    for (int p = turn ? -1 : last - 1;
         (p = search_next_bit(live, p + 1, turn ? last : n)) >= 0 && p < (turn ? last : n);) {
      if (!search_can_step(r->search, s, p)) continue;
      if (!x->matters[x->base[p] + search_at(s, p)]) return p;
      r->able[n_able++] = p;
    }
  for (int i = 0; i < n_able; i++)
    if (search_is_apart(r->search, s, r->able[i], r->ahead)) return r->able[i];
  return -1;
}

// ---- warps that take registers ------------------------------------------------------------------

static int first_take(const SearchProcess *p) {
  for (int at = 0; at < p->n_events; at++)
    if (p->event[at].kind == SEARCH_TAKE && p->event[at].n > 0) return at;
  return -1;
}

static bool same_event(const SearchEvent *a, const SearchEvent *b) {
  return a->kind == b->kind && a->object == b->object && a->n == b->n && a->bytes == b->bytes &&
         a->bit == b->bit && a->after == 0 && b->after == 0;
}

// Whether two processes do the same from these events on, and no process waits for such an event.
static bool are_twins(const Search *s, int p, int at, int q, int other) {
  const int n = s->process[p].n_events - at;
  const SearchLists *followers = &s->index->followers;
  const int *base = s->index->base, *first = followers->first;
  if (s->process[p].rank != s->process[q].rank || s->process[q].n_events - other != n) return false;
  if (first[base[p] + at] != first[base[p + 1]] || first[base[q] + other] != first[base[q + 1]])
    return false;
  for (int i = 0; i < n; i++)
    if (!same_event(search_event(s, p, at + i), search_event(s, q, other + i))) return false;
  return true;
}

static void find_twins(Run *r) {
  const Search *s = r->search;
  r->twin = ARENA_ARRAY(r->arena, int, s->n_processes + 1);
  for (int p = 0; p < s->n_processes; p++) {
    const int at = first_take(&s->process[p]);
    r->twin[p] = -1;
    for (int q = 0; at >= 0 && q <= p && r->twin[p] < 0; q++) {
      const int other = first_take(&s->process[q]);
      if (other >= 0 && are_twins(s, p, at, q, other)) r->twin[p] = q;
    }
  }
}

// Which of those who ask for registers gets them makes no difference to how others go on.
static bool has_elder_twin(Run *r, SearchState *s, int process) {
  const Search *search = r->search;
  if (!r->twin || r->twin[process] < 0) return false;
  if (search_at(s, process) != first_take(&search->process[process])) return false;
  for (int q = r->twin[process]; q < process; q++)
    if (r->twin[q] == r->twin[process] && !search_has_arrived(s, q) &&
        search_at(s, q) == first_take(&search->process[q]))
      return true;
  return false;
}

static bool asks_for_registers(const Search *s, const SearchState *state, int p) {
  if (search_is_done(s, state, p) || search_has_arrived(state, p)) return false;
  const SearchEvent *e = search_next(s, state, p);
  return e->kind == SEARCH_TAKE && e->n > 0;
}

// A block where all that will ever take registers or give them back stand there and ask: who of
// them goes on first concerns none but them; -1: there is none.
static int block_that_asks(const Run *r, SearchState *state) {
  const Search *s = r->search;
  bool asks[SEARCH_RANKS] = {false}, others[SEARCH_RANKS] = {false};
  for (int p = 0; p < s->n_processes; p++) {
    const int rank = s->process[p].rank;
    if (asks_for_registers(s, state, p))
      asks[rank] |= search_can_step(s, state, p);
    else
      others[rank] |= search_at(state, p) <= r->last_take[p];
  }
  for (int rank = 0; rank < s->ranks; rank++)
    if (asks[rank] && !others[rank]) return rank;
  return -1;
}

// ---- a state and those behind it ----------------------------------------------------------------

// False: a fault was found.
static bool expand(Run *r, int node) {
  SearchState *s = search_state(r->states, node);
  const int one = one_that_is_apart(r, s, r->states->node[node].process);
  if (one >= 0) return !try(r, node, one);
  bool any = false;
  const int asks = r->options->all ? -1 : block_that_asks(r, s);
  for (int p = 0; p < r->search->n_processes; p++) {
    if (!search_can_step(r->search, s, p)) continue;
    const bool here = r->search->process[p].rank == asks && asks_for_registers(r->search, s, p);
    if (asks >= 0 && !here) continue;
    r->branched += any;
    any = true;
    if (has_elder_twin(r, s, p))
      r->spared = true;
    else if (try(r, node, p))
      return false;
  }
  if (any || all_done(r->search, s) || (r->only && r->only != SEARCH_DEADLOCK)) return true;
  found_at(r, node, -1, SEARCH_DEADLOCK);
  return false;
}

// The state that is expanded next; -1: there is none. The nearest first, or the last one found.
static int next_node(Run *r, bool deep) {
  if (!deep) return r->expanded < r->states->n ? r->expanded++ : -1;
  for (; r->n_stacked < r->states->n; r->n_stacked++) r->stack[r->depth++] = r->n_stacked;
  r->expanded++;
  return r->depth ? r->stack[--r->depth] : -1;
}

// ---- a process that is held up ------------------------------------------------------------------

// The process that goes on next: the first in a circle that begins behind `held`; `held` is the
// last.
static int next_in_turn(Run *r, SearchState *s, int held) {
  const int n = r->search->n_processes;
  const uint64_t *live = search_live(r->search, s, r->ahead);
  for (int turn = 0; turn < 2; turn++) {
    const int end = turn ? held + 1 : n;
    for (int p = turn ? -1 : held; (p = search_next_bit(live, p + 1, end)) >= 0 && p < end;)
      if (search_can_step(r->search, s, p)) return p;
  }
  return -1;
}

// The same, the other way round.
static int last_in_turn(Run *r, SearchState *s, int held) {
  const int n = r->search->n_processes;
  const uint64_t *live = search_live(r->search, s, r->ahead);
  for (int i = 1; i <= n; i++) {
    const int p = (held - i + n) % n;
    if (live[p / 64] & search_bit(p) && search_can_step(r->search, s, p)) return p;
  }
  return -1;
}

// One order in which a process goes on from its event `from` on only when no other process can.
// True: it does harm.
static bool hold_up(Run *r, int held, int from, int direction, SearchStep *step, SearchState *s) {
  int conflict[2] = {-1, -1}, n = 0;
  memset(s, 0, r->search->index->state_bytes);
  search_start(r->search, s);
  for (int p;; n++) {
    const bool first = search_at(s, held) < from && search_can_step(r->search, s, held);
    p = first ? held : direction > 0 ? next_in_turn(r, s, held) : last_in_turn(r, s, held);
    if (p < 0) break;
    step[n] = (SearchStep){p, search_at(s, p), 0};
    const SearchFault fault = search_step(r->search, s, p, conflict);
    if (!fault) continue;
    found(r, step, n + 1, fault);
    return true;
  }
  if (all_done(r->search, s)) return false;
  found(r, step, n, SEARCH_DEADLOCK);
  return true;
}

// Whether another may come too soon while a process stands before its event.
static bool may_be_overtaken(const Search *search, int process, int at) {
  const SearchIndex *x = search->index;
  const int event = x->base[process] + at;
  if (search_event(search, process, at)->kind == SEARCH_WAIT) return true;
  for (int k = x->begins.first[event]; k < x->begins.first[event + 1]; k++) {
    const int a = x->begins.list[k];
    if (x->against.first[a] < x->against.first[a + 1]) return true;
  }
  return false;
}

static bool does_harm(Run *r, int held, int from, SearchStep *step, SearchState *s) {
  return hold_up(r, held, from, 1, step, s) && r->out.fault != SEARCH_DEADLOCK;
}

static bool hold_up_one(Run *r, int held, SearchStep *step, SearchState *s) {
  const SearchProcess *p = &r->search->process[held];
  int tried = 0;
  for (int at = 0; at < p->n_events && tried < HELD; at++) {
    if (!may_be_overtaken(r->search, held, at)) continue;
    tried++;
    if (does_harm(r, held, at + 1, step, s)) return true;
  }
  return (hold_up(r, held, 0, 1, step, s) || hold_up(r, held, 0, -1, step, s)) &&
         r->out.fault != SEARCH_DEADLOCK;
}

// Used where the shortest order is not near: first the event that the clocks say may come too late.
// While a process is held up, the others overtake it
// soonest if they wait for it too little. A deadlock says least: a fault that leads to it is looked
// for first.
static bool hold_up_each(Run *r) {
  const int n = r->search->index->base[r->search->n_processes];
  SearchStep *step = ARENA_ARRAY(r->arena, SearchStep, n + 1);
  SearchState *s = arena_alloc(r->arena, r->search->index->state_bytes);
  if (r->late.at >= 0 && does_harm(r, r->late.process, r->late.at, step, s)) return true;
  for (int p = 0; p < r->search->n_processes; p++) {
    const SearchProcess *one = &r->search->process[p];
    const bool again = p > 0 && one[-1].group == one->group && one[-1].rank == one->rank &&
                       one->n_events == one[-1].n_events;
    if (!one->agent && !again && hold_up_one(r, p, step, s)) return true;
  }
  return r->out.verdict == SEARCH_FOUND;
}

// ---- the search ---------------------------------------------------------------------------------

static SearchResult go_through(Search *search, const SearchOptions *options, bool deep,
                               SearchStep late) {
  Run *r = begin(search, options);
  r->late = late;
  if (deep) r->stack = ARENA_ARRAY(r->arena, int, r->states->most + search->n_processes + 1);
  r->out.access[0] = r->out.access[1] = -1;
  bool looked = false;
  for (int node; (node = next_node(r, deep)) >= 0;) {
    const bool stopped = r->expanded % ASK_EVERY == 1 && options->goes_on &&
                         !options->goes_on(options->context, r->states->n);
    if (r->states->n >= r->states->most || stopped) {
      r->out.verdict = SEARCH_BOUNDED;
      break;
    }
    if (!expand(r, node)) break;
    const bool near = r->branched < NEAR && r->states->n < search_events(search) + MANY;
    if (deep || looked || near || options->all) continue;
    looked = true;
    if (hold_up_each(r)) break;
  }
  r->out.states = r->states->n;
  return r->out;
}

// Searches those with fewer steps than the witness, the nearest first, for one of the same fault.
// True: there is none with fewer steps than the result then has.
static bool look_nearer(Search *search, const SearchOptions *options, SearchResult *out) {
  Run *r = begin(search, options);
  r->only = out->fault;
  if (r->only == SEARCH_DEADLOCK && !options->all) find_twins(r);
  while (r->expanded < r->states->n && r->states->n < r->states->most) {
    const int node = r->expanded++;
    const bool stopped = r->expanded % ASK_EVERY == 1 && options->goes_on &&
                         !options->goes_on(options->context, out->states);
    const bool longer = r->states->node[node].depth + (r->only != SEARCH_DEADLOCK) >= out->n_steps;
    if (stopped) return false;
    if (!longer && expand(r, node)) continue;
    const bool is_sure = !(r->spared && r->looked_past);
    const int64_t states = out->states;
    if (!longer) *out = r->out;
    out->states = states;
    return is_sure;
  }
  return !(r->spared && r->looked_past) && r->expanded == r->states->n;
}

// No process can go on in a deadlock, and all ways there have the same number of steps. One order
// of each leads there (search_apart.c).
static void look_for_shorter(Search *search, const SearchOptions *options, SearchResult *out) {
  SearchOptions how = {.goes_on = options->goes_on, .context = options->context};
  if (out->fault == SEARCH_DEADLOCK) {
    how.states = search_events(search) + DEADLOCK_STATES;
    out->shortest = look_nearer(search, &how, out);
    return;
  }
  out->shortest = search_least(search, &how, out);
  how.states = min64(SHORTER_STATES, SHORTER_BYTES / (int64_t)search->index->state_bytes);
  how.all = true;
  if (!out->shortest) out->shortest = look_nearer(search, &how, out);
}

// The room for the nearest states: what a search without branches needs, and WIDE_STATES.
static int64_t wide_states(const Search *search, const SearchOptions *options) {
  const int64_t most = options->states ? options->states : STATES_MAX;
  return options->all || options->quick ? most : min64(most, search_events(search) + WIDE_STATES);
}

// Where there are too many states for the shortest order, the search goes deep and takes the first
// fault. A deep order soon meets a fault that short orders reach in too many ways.
SearchResult search_run(Search *search, const SearchOptions *options) {
  SearchOptions wide = *options;
  wide.states = wide_states(search, options);
  search_make_index(search);
  const int64_t path = search_events(search) + 1;
  SearchStep late = {.at = -1};
  if (!options->all && path < wide.states && search_is_alike(search, options, &late))
    return (SearchResult){.states = path, .access = {-1, -1}, .alike = true};
  SearchResult out = go_through(search, &wide, false, late);
  out.shortest = out.verdict == SEARCH_FOUND && options->all;
  if (out.verdict == SEARCH_BOUNDED && !options->quick) {
    const int64_t states = out.states;
    out = go_through(search, options, true, late);
    out.states += states;
  }
  if (out.verdict == SEARCH_FOUND && !options->plain && !options->all)
    look_for_shorter(search, options, &out);
  if (out.verdict == SEARCH_FOUND && !options->plain) search_explain(search, &out);
  return out;
}
