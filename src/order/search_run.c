// All orders, the shortest first.
//
// States are gone through in the order of their distance from the start, each once. Where the next
// event of some process makes no difference to whatever the others may do before it
// (search_ahead.c), only that event is tried: every other order of the same events leads to the
// same states and the same findings (a persistent set of one; the lists have no loops, so no event
// is put off for ever). Else all are tried. A sound ring needs one path, as long as its events; a
// faulty one branches where it is wrong.
//
// A wait that spins lets others go on: it is no event until it is over. That a try_wait gives up
// after its time and is asked again makes no difference either.
#include <string.h>

#include "base/hash.h"
#include "base/whole.h"
#include "order/search_inside.h"

enum {
  CHUNK = 256,
  STATES_MAX = 60000,
  WIDE_STATES = 15000,
  ASK_EVERY = 512,
  NEAR = 1500,
  HELD = 24,
  KEPT = 128,
  SHORTER_STATES = 6000
};

typedef struct Node {
  int parent, depth;
  uint16_t process;
} Node;

typedef struct Run {
  Search *search;
  const SearchOptions *options;
  Arena *arena;
  size_t bytes;
  int n, most, n_chunks;
  char **chunk;
  Node *node;
  int *table;  // node + 1 by hash
  uint32_t mask;
  SearchState *scratch;
  SearchAhead *ahead;
  int *able;  // processes that can go on
  int expanded, branched, n_stacked, depth, *stack;
  SearchStep late;   // an event that may come too late; at -1: none is known
  SearchFault only;  // other faults are looked past; SEARCH_NO_FAULT: none is
  SearchResult out;
} Run;

static SearchState *state_of(const Run *r, int i) {
  return (SearchState *)(r->chunk[i / CHUNK] + (size_t)(i % CHUNK) * r->bytes);
}

// States are whole words, and all count.
static uint32_t hash_of(const Run *r, const SearchState *s) {
  const char *at = (const char *)s;
  uint64_t hash = HASH_START;
  for (size_t i = 0; i < r->bytes; i += sizeof hash) {
    uint64_t word;
    memcpy(&word, at + i, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return (uint32_t)hash & r->mask;
}

// Adds a state that is new.
static void keep(Run *r, const SearchState *s, int parent, int process) {
  uint32_t h = hash_of(r, s);
  for (; r->table[h]; h = (h + 1) & r->mask)
    if (memcmp(state_of(r, r->table[h] - 1), s, r->bytes) == 0) return;
  if (r->n % CHUNK == 0) r->chunk[r->n / CHUNK] = arena_alloc(r->arena, CHUNK * r->bytes);
  memcpy(state_of(r, r->n), s, r->bytes);
  r->node[r->n] = (Node){parent, parent < 0 ? 0 : r->node[parent].depth + 1, (uint16_t)process};
  r->table[h] = ++r->n;
}

static Run *begin(Search *search, const SearchOptions *options) {
  Arena *arena = search->arena;
  Run *r = ARENA_NEW(arena, Run);
  *r = (Run){.search = search, .options = options, .arena = arena};
  r->most = (int)(options->states ? options->states : STATES_MAX);
  r->bytes = search->index->state_bytes;
  r->chunk = ARENA_ARRAY(arena, char *, r->most / CHUNK + 2);
  r->node = ARENA_ARRAY(arena, Node, r->most + search->n_processes + 1);
  for (r->mask = 1024; r->mask < 2 * (uint32_t)r->most; r->mask *= 2) continue;
  r->table = ARENA_ARRAY(arena, int, r->mask);
  r->mask--;
  r->scratch = arena_alloc(arena, r->bytes);
  r->ahead = search_new_ahead(search, arena);
  r->able = ARENA_ARRAY(arena, int, search->n_processes + 1);
  search_start(search, r->scratch);
  keep(r, r->scratch, -1, 0);
  return r;
}

// ---- the witness --------------------------------------------------------------------------------

// A witness, of which steps are left out. States on the way are kept, so that what comes before a
// step need not be played again.
typedef struct Cuts {
  const SearchStep *step;
  int n, gap, n_kept;  // state k stands before step k · gap
  bool *left_out;
  SearchState *s;
  char *kept;
} Cuts;

static SearchFault play(const Run *r, const Cuts *c, int i) {
  int conflict[2];
  return search_step(r->search, c->s, c->step[i].process, conflict);
}

static void stand_before(const Run *r, Cuts *c, int at) {
  const int from = min_int(at / c->gap, c->n_kept - 1);
  memcpy(c->s, c->kept + (size_t)from * r->bytes, r->bytes);
  for (int i = from * c->gap; i < at; i++) {
    if (!c->left_out[i]) play(r, c, i);
    if (i + 1 != c->n_kept * c->gap) continue;
    memcpy(c->kept + (size_t)c->n_kept * r->bytes, c->s, r->bytes);
    c->n_kept++;
  }
}

// Plays on from a step, without those that are left out; says whether the last one is the fault
// that was found.
static bool plays(const Run *r, const Cuts *c, int from) {
  for (int i = from; i < c->n; i++) {
    const SearchStep *step = &c->step[i];
    if (c->left_out[i]) continue;
    if (search_at(c->s, step->process) != step->at) return false;
    if (!search_can_step(r->search, c->s, step->process)) return false;
    const SearchFault fault = play(r, c, i);
    if (fault || i == c->n - 1) return i == c->n - 1 && fault == r->out.fault;
  }
  return false;
}

// Cuts the longest tail of a process's events that can be cut; false: no event can.
static bool shorten_one(const Run *r, Cuts *c, int process) {
  bool any = false;
  for (int i = c->n - 2; i >= 0; i--) {
    if (c->step[i].process != process || c->left_out[i]) continue;
    stand_before(r, c, i);
    c->left_out[i] = true;
    if (!plays(r, c, i)) {
      c->left_out[i] = false;
      break;
    }
    c->n_kept = min_int(c->n_kept, i / c->gap + 1);
    any = true;
  }
  return any;
}

// Leaves out events that do not lead to the fault, until no more can be left out: an arrival that
// only a cut process needs can go too.
static int shorten(Run *r, SearchStep *step, int n) {
  Cuts c = {.step = step, .n = n, .gap = n / KEPT + 1, .n_kept = 1};
  c.left_out = ARENA_ARRAY(r->arena, bool, n + 1);
  c.s = arena_alloc(r->arena, r->bytes);
  c.kept = arena_alloc(r->arena, (size_t)(n / c.gap + 2) * r->bytes);
  search_start(r->search, (SearchState *)c.kept);
  for (bool any = true; any;) {
    any = false;
    for (int p = 0; p < r->search->n_processes; p++) any = shorten_one(r, &c, p) || any;
  }
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (!c.left_out[i]) step[kept++] = step[i];
  return kept;
}

static void tell_phases(Run *r, SearchStep *step, int n) {
  SearchState *s = arena_alloc(r->arena, r->bytes);
  int conflict[2];
  search_start(r->search, s);
  for (int i = 0; i < n; i++) {
    search_step(r->search, s, step[i].process, conflict);
    const SearchEvent *e = search_event(r->search, step[i].process, step[i].at);
    if (search_is_about_mbarrier(e)) step[i].phase = search_phases(r->search, s)[e->object].phase;
  }
  r->out.last = s;
}

// `last`: the last step is the fault; else no process can go on behind it.
static void found(Run *r, SearchStep *step, int n, bool last, SearchFault fault,
                  const int conflict[2]) {
  r->out.verdict = SEARCH_FOUND;
  r->out.fault = fault;
  for (int i = 0; i < 2; i++) r->out.access[i] = conflict[i];
  if (last) n = shorten(r, step, n);
  tell_phases(r, step, n);
  r->out.step = memcpy(ARENA_ARRAY(r->arena, SearchStep, n + 1), step, sizeof *step * (size_t)n);
  r->out.n_steps = n;
}

// The way to a state, and the event of `last` behind it (-1: none).
static void found_at(Run *r, int node, int last, SearchFault fault, const int conflict[2]) {
  int n = last >= 0;
  for (int i = node; r->node[i].parent >= 0; i = r->node[i].parent) n++;
  SearchStep *step = ARENA_ARRAY(r->arena, SearchStep, n + 1);
  int at = n;
  if (last >= 0) step[--at] = (SearchStep){last, search_at(state_of(r, node), last), 0};
  for (int i = node; r->node[i].parent >= 0; i = r->node[i].parent) {
    const int p = r->node[i].process;
    step[--at] = (SearchStep){p, search_at(state_of(r, r->node[i].parent), p), 0};
  }
  found(r, step, n, last >= 0, fault, conflict);
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
  memcpy(r->scratch, state_of(r, node), r->bytes);
  const SearchFault fault = search_step(r->search, r->scratch, process, conflict);
  const bool tells = fault && (!r->only || fault == r->only);
  if (tells)
    found_at(r, node, process, fault, conflict);
  else if (!fault)
    keep(r, r->scratch, node, process);
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

// False: a fault was found.
static bool expand(Run *r, int node) {
  SearchState *s = state_of(r, node);
  const int one = one_that_is_apart(r, s, r->node[node].process);
  if (one >= 0) return !try(r, node, one);
  bool any = false;
  for (int p = 0; p < r->search->n_processes; p++) {
    if (!search_can_step(r->search, s, p)) continue;
    r->branched += any;
    any = true;
    if (try(r, node, p)) return false;
  }
  if (any || all_done(r->search, s) || (r->only && r->only != SEARCH_DEADLOCK)) return true;
  found_at(r, node, -1, SEARCH_DEADLOCK, (int[]){-1, -1});
  return false;
}

// The state that is expanded next; -1: there is none. The nearest first, or the last one found.
static int next_node(Run *r, bool deep) {
  if (!deep) return r->expanded < r->n ? r->expanded++ : -1;
  for (; r->n_stacked < r->n; r->n_stacked++) r->stack[r->depth++] = r->n_stacked;
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
  memset(s, 0, r->bytes);
  search_start(r->search, s);
  for (int p;; n++) {
    const bool first = search_at(s, held) < from && search_can_step(r->search, s, held);
    p = first ? held : direction > 0 ? next_in_turn(r, s, held) : last_in_turn(r, s, held);
    if (p < 0) break;
    step[n] = (SearchStep){p, search_at(s, p), 0};
    const SearchFault fault = search_step(r->search, s, p, conflict);
    if (!fault) continue;
    found(r, step, n + 1, true, fault, conflict);
    return true;
  }
  if (all_done(r->search, s)) return false;
  found(r, step, n, false, SEARCH_DEADLOCK, conflict);
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
  SearchState *s = arena_alloc(r->arena, r->bytes);
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
  if (deep) r->stack = ARENA_ARRAY(r->arena, int, r->most + search->n_processes + 1);
  r->out.access[0] = r->out.access[1] = -1;
  bool looked = false;
  for (int node; (node = next_node(r, deep)) >= 0;) {
    const bool stopped = r->expanded % ASK_EVERY == 1 && options->goes_on &&
                         !options->goes_on(options->context, r->n);
    if (r->n >= r->most || stopped) {
      r->out.verdict = SEARCH_BOUNDED;
      break;
    }
    if (!expand(r, node)) break;
    if (deep || looked || r->branched < NEAR || options->all) continue;
    looked = true;
    if (hold_up_each(r)) break;
  }
  r->out.states = r->n;
  return r->out;
}

// All orders of fewer steps, where there is room for them: another one with the same fault, or
// none, and then the witness is the shortest.
static void look_for_shorter(Search *search, const SearchOptions *options, SearchResult *out) {
  const SearchOptions all = {.states = SHORTER_STATES,
                             .all = true,
                             .goes_on = options->goes_on,
                             .context = options->context};
  Run *r = begin(search, &all);
  r->only = out->fault;
  while (r->expanded < r->n && r->n < r->most) {
    const int node = r->expanded++;
    const bool longer = r->node[node].depth + (r->only != SEARCH_DEADLOCK) >= out->n_steps;
    if (!longer && expand(r, node)) continue;
    const int64_t states = out->states;
    if (!longer) *out = r->out;
    out->states = states;
    out->shortest = true;
    return;
  }
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
