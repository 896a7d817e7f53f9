// Whether one order stands for all: a single run with clocks, instead of a search.
//
// The clock of a process says, of each other process, how many of its events come before in every
// order: those before it in its own list, those that it waits for. A run is the only one, up to
// neighbours that have nothing to do with each other, where the clocks say the following of all
// that others could change:
//
//   mbarrier   an event of phase k knows that phase k has begun; a wait that phase k lets go on
//              knows of phase k - 1, and something in phase k comes behind it. So each phase ends
//              with the same events in every order, and no wait meets another phase
//   barrier    who arrives knows that those who met last time have gone on
//   accesses   of two that must not meet, the one that begins later knows that the other is over
//   fences     between a thread's access and the async proxy's stands a fence, in every order
//   blocks     what reaches a block from elsewhere comes before one of its processes ends
//
// By induction over the steps of any other order: so far it holds a part of the run's events,
// closed under "comes before"; hence phases, barriers and open accesses are as in the run, so its
// next event is one of the run's, does no harm, and some event can happen until all have. Where the
// clocks do not say so, nothing is said: the search then goes through the orders.
//
//   full[0], phase 1   the copy lands in it        knows of phase 1: its producer has waited for
//                                                  empty[0], at which the consumer arrived
//                      the consumer waits for it   arrives at empty[0] later, so that the copy into
//                                                  the slot, which ends phase 1, comes behind
//
// A run of n events takes n steps and as many joins of clocks; the answer is the search's, which
// would walk the same path and look ahead at each of its states.
#include <string.h>

#include "order/search_inside.h"

enum { CLOCKS_MAX = 64 << 20, ASK_EVERY = 512 };

// Events of a process, or of one phase of an mbarrier: the number of the last one, from 1; 0: none.
typedef uint16_t Count;

typedef struct Fence {
  int process, at, event;
  const Count *known;  // in front of it
} Fence;

// Those that are at a barrier.
typedef struct Meeting {
  Count number;  // meetings before
  int n;
  const SearchEvent *first;
  uint8_t *there;  // [process] SEARCH_MEET, SEARCH_PASS or 0
  Count *known;    // a clock
} Meeting;

typedef struct Alike {
  const Search *search;
  const SearchIndex *x;
  const SearchOptions *options;
  Arena *arena;
  SearchState *s;
  // A clock is a row of counts: events by process, then phases by mbarrier, then meetings by
  // barrier.
  int width, phases_at, meetings_at;
  Count *clock;                      // [process][width]
  Count *arrived, *gathered, *over;  // [mbarrier][width] of a phase's arrivals, of all its events,
                                     // of the phases that are over
  Count *waited, *expected;          // [mbarrier][process] in the phase under way
  Count *taken;                      // [block][process] registers, the first time
  uint32_t *phase;                   // [mbarrier] under way
  Meeting *meeting;                  // [barrier]
  const Count **left;                // [event] the clock behind it, of an event that others follow
  Count *set, *tested;               // [word][process] the last one
  Fence *fence;
  int n_fences;
  struct Begun {
    int process, at;
  } * initialised, *said;  // [mbarrier]
  Count *reached, *ended;  // [block][process], [block][width]: what its last events know
  int64_t steps;
  SearchStep *held;  // the event that may come too late for another, where one is known
} Alike;

static Count *row(const Alike *a, Count *rows, int i) {
  return rows + (size_t)i * (size_t)a->width;
}

static void join(const Alike *a, Count *restrict into, const Count *restrict from) {
  for (int i = 0; i < a->width; i++) into[i] = from[i] > into[i] ? from[i] : into[i];
}

static const Count *kept(const Alike *a, const Count *clock) {
  return memcpy(ARENA_ARRAY(a->arena, Count, a->width), clock, sizeof *clock * (size_t)a->width);
}

static bool knows(const Alike *a, int process, int of, int at) {
  return row(a, a->clock, process)[of] > at;
}

// ---- what can be said at all --------------------------------------------------------------------

// Where blocks hand writes to each other in scopes, or an access begins at a barrier, the search
// answers; also where an mbarrier is initialised twice.
static bool find_beginnings(Alike *a) {
  const Search *search = a->search;
  for (int b = 0; b < search->n_bars; b++) a->initialised[b].process = a->said[b].process = -1;
  for (int p = 0; p < search->n_processes; p++)
    for (int i = 0; i < search->process[p].n_events; i++) {
      const SearchEvent *e = search_event(search, p, i);
      const int event = a->x->base[p] + i;
      if (e->kind == SEARCH_MEET && a->x->begins.first[event] < a->x->begins.first[event + 1])
        return false;
      if (e->kind == SEARCH_INIT && a->initialised[e->object].process >= 0) return false;
      if (e->kind == SEARCH_INIT) a->initialised[e->object] = (struct Begun){p, i};
      if (e->kind == SEARCH_INIT && e->bit) a->said[e->object] = (struct Begun){p, i};
      for (int b = 0; e->kind == SEARCH_INIT_SAID && b < search->n_bars; b++)
        if (a->initialised[b].process == p && a->said[b].process < 0)
          a->said[b] = (struct Begun){p, i};
    }
  return true;
}

static Alike *begin(const Search *search, const SearchOptions *options) {
  const int n = search->n_processes, n_bars = search->n_bars, n_meets = search->n_meets;
  const int width = n + n_bars + n_meets, events = search->index->base[n];
  if (search->index->hands_over || (size_t)width * (size_t)n > CLOCKS_MAX) return NULL;
  Arena *arena = arena_new("orders alike");
  Alike *a = ARENA_NEW(arena, Alike);
  *a = (Alike){.search = search, .x = search->index, .options = options, .arena = arena};
  a->width = width, a->phases_at = n, a->meetings_at = n + n_bars;
  a->s = arena_alloc(arena, a->x->state_bytes);
  a->clock = ARENA_ARRAY(arena, Count, n * width);
  a->arrived = ARENA_ARRAY(arena, Count, n_bars * width + 1);
  a->gathered = ARENA_ARRAY(arena, Count, n_bars * width + 1);
  a->over = ARENA_ARRAY(arena, Count, n_bars * width + 1);
  a->waited = ARENA_ARRAY(arena, Count, n_bars * n + 1);
  a->expected = ARENA_ARRAY(arena, Count, n_bars * n + 1);
  a->phase = ARENA_ARRAY(arena, uint32_t, n_bars + 1);
  a->taken = ARENA_ARRAY(arena, Count, SEARCH_RANKS * n);
  a->meeting = ARENA_ARRAY(arena, Meeting, n_meets + 1);
  for (int b = 0; b < n_meets; b++) {
    a->meeting[b].there = ARENA_ARRAY(arena, uint8_t, n);
    a->meeting[b].known = ARENA_ARRAY(arena, Count, width);
  }
  a->left = ARENA_ARRAY(arena, const Count *, events + 1);
  a->set = ARENA_ARRAY(arena, Count, a->x->n_words * n + 1);
  a->tested = ARENA_ARRAY(arena, Count, a->x->n_words * n + 1);
  a->fence = ARENA_ARRAY(arena, Fence, events + 1);
  a->initialised = ARENA_ARRAY(arena, struct Begun, n_bars + 1);
  a->said = ARENA_ARRAY(arena, struct Begun, n_bars + 1);
  a->reached = ARENA_ARRAY(arena, Count, SEARCH_RANKS * n);
  a->ended = ARENA_ARRAY(arena, Count, SEARCH_RANKS * width);
  search_start(search, a->s);
  return a;
}

// ---- accesses -----------------------------------------------------------------------------------

static bool is_known_over(const Alike *a, int process, const SearchAccess *of) {
  bool over = of->end >= 0 && knows(a, process, of->ends, of->end);
  for (int i = 0; i < of->n_also; i++)
    over = over || knows(a, process, of->also[i].process, of->also[i].at);
  return over;
}

static bool is_fenced(const Alike *a, int process, int word, int by) {
  const int at = a->set[word * a->search->n_processes + by] - 1;
  for (int i = a->n_fences - 1; i >= 0; i--) {
    const Fence *f = &a->fence[i];
    if (f->known[by] <= at || !knows(a, process, f->process, f->at)) continue;
    if (f->process == by || search_clears(a->x, f->event, word / SEARCH_WORDS)) return true;
  }
  return false;
}

// Whether the async proxy knows in every order of what threads did with its memory.
static bool tests(const Alike *a, int process, int at, int access) {
  const SearchLists *words = &a->x->unknown_to;
  const int n = a->search->n_processes;
  for (int k = words->first[access]; k < words->first[access + 1]; k++) {
    const int word = words->list[k];
    a->tested[word * n + process] = (Count)(at + 1);
    for (int by = 0; by < n; by++)
      if (a->set[word * n + by] && !is_fenced(a, process, word, by)) return false;
  }
  return true;
}

// A thread's access that the async proxy must be told of: what the async proxy did before comes
// before.
static bool sets(const Alike *a, int process, int at, int access) {
  const SearchAccess *of = &a->search->access[access];
  const int n = a->search->n_processes, first = a->x->word[of->place];
  if (of->async || first < 0 || a->x->fenced[access]) return true;
  const int word = first + (of->write ? SEARCH_WRITTEN : SEARCH_READ);
  for (int by = 0; by < n; by++)
    if (a->tested[word * n + by] && !knows(a, process, by, a->tested[word * n + by] - 1))
      return false;
  a->set[word * n + process] = (Count)(at + 1);
  return true;
}

static bool accesses(const Alike *a, int process, int at) {
  const SearchLists *begins = &a->x->begins, *against = &a->x->against;
  const int event = a->x->base[process] + at;
  for (int k = begins->first[event]; k < begins->first[event + 1]; k++) {
    const int now = begins->list[k];
    for (int i = against->first[now]; i < against->first[now + 1]; i++) {
      const SearchAccess *then = &a->search->access[against->list[i]];
      if (search_at(a->s, then->process) <= then->begin) continue;
      if (then->process == process && search_is_instant(then)) continue;
      if (is_known_over(a, process, then)) continue;
      *a->held = (SearchStep){then->ends, then->end, 0};
      return false;
    }
    if (!tests(a, process, at, now) || !sets(a, process, at, now)) return false;
  }
  return true;
}

// ---- mbarriers ----------------------------------------------------------------------------------

static bool is_begun(const Alike *a, int process, const SearchEvent *e) {
  const SearchBar *bar = &a->search->bar[e->object];
  const struct Begun *first = &a->initialised[e->object], *said = &a->said[e->object];
  if (bar->given) return true;
  const bool afar =
      a->search->process[process].agent || a->search->process[process].rank != bar->rank;
  if (afar) {
    a->reached[bar->rank * a->search->n_processes + process] =
        (Count)(search_at(a->s, process) + 1);
    if (said->process < 0 || !knows(a, process, said->process, said->at)) return false;
  }
  return first->process >= 0 && knows(a, process, first->process, first->at);
}

// A wait that goes on in phase k knows of k - 1; nothing else fits its bit then.
static bool waits(const Alike *a, int process, int at, const SearchEvent *e) {
  Count *clock = row(a, a->clock, process);
  const uint32_t phase = search_phases(a->search, a->s)[e->object].phase;
  if (e->bit > 1 || (uint32_t)clock[a->phases_at + e->object] + 1 < phase) return false;
  join(a, clock, row(a, a->over, e->object));
  clock[a->phases_at + e->object] = (Count)phase;
  a->waited[e->object * a->search->n_processes + process] = (Count)(at + 1);
  return true;
}

// An arrival, or bytes that land, belong to the phase that they know of. Bytes are expected before
// the last arrival.
static bool arrives(const Alike *a, int process, int at, const SearchEvent *e, uint32_t phase) {
  Count *clock = row(a, a->clock, process);
  if (clock[a->phases_at + e->object] != phase) return false;
  if (e->kind == SEARCH_LAND && e->bytes <= 0) return false;
  join(a, row(a, a->gathered, e->object), clock);
  if (e->kind == SEARCH_ARRIVE && e->n > 0)
    join(a, row(a, a->arrived, e->object), clock);
  else if (e->kind == SEARCH_ARRIVE)
    a->expected[e->object * a->search->n_processes + process] = (Count)(at + 1);
  return true;
}

// At the end of a phase: all its waits come before it, and all its expects before an arrival.
static bool ends_phase(const Alike *a, int bar, uint32_t phase) {
  Count *gathered = row(a, a->gathered, bar), *arrived = row(a, a->arrived, bar);
  const int n = a->search->n_processes;
  for (int p = 0; p < n; p++) {
    const Count waited = a->waited[bar * n + p];
    if (waited > gathered[p]) *a->held = (SearchStep){p, waited - 1, 0};
    if (waited > gathered[p] || a->expected[bar * n + p] > arrived[p]) return false;
    a->waited[bar * n + p] = a->expected[bar * n + p] = 0;
  }
  join(a, row(a, a->over, bar), gathered);
  row(a, a->over, bar)[a->phases_at + bar] = (Count)phase;
  memset(gathered, 0, sizeof *gathered * (size_t)a->width);
  memset(arrived, 0, sizeof *arrived * (size_t)a->width);
  return true;
}

// ---- barriers -----------------------------------------------------------------------------------

static int processes_of(const Alike *a, const SearchEvent *e) {
  int n = 0;
  for (int p = 0; p < a->search->n_processes; p++)
    n += !a->search->process[p].agent &&
         (e->bit == SEARCH_MEET_CLUSTER ||
          a->search->process[p].rank == a->search->meet[e->object].rank);
  return n;
}

// A process that arrives has gone on from the last meeting. Where those that have ended would
// count, all are there.
static bool meets(const Alike *a, int process, const SearchEvent *e) {
  Meeting *m = &a->meeting[e->object];
  const Count *clock = row(a, a->clock, process);
  if (m->n == 0) m->first = e;
  *a->held = (SearchStep){process, search_at(a->s, process), 0};
  if (m->there[process] || e->n != m->first->n || e->bit != m->first->bit) return false;
  if (clock[a->meetings_at + e->object] != m->number) return false;
  if (e->bit && (e->kind == SEARCH_PASS || e->n != processes_of(a, e))) return false;
  m->there[process] = (uint8_t)e->kind;
  m->n++;
  join(a, m->known, clock);
  return true;
}

// The events that a process has done are known to itself, and kept for those that follow.
static void has_done(const Alike *a, int process, int at) {
  const SearchLists *followers = &a->x->followers;
  const int event = a->x->base[process] + at;
  Count *clock = row(a, a->clock, process);
  clock[process] = (Count)(at + 1);
  if (followers->first[event] < followers->first[event + 1]) a->left[event] = kept(a, clock);
}

// Where the last one has come, all that stand there go on together.
static bool ends_meeting(const Alike *a, int process, const SearchEvent *e) {
  Meeting *m = &a->meeting[e->object];
  const bool went_on = e->kind == SEARCH_MEET ? !search_has_arrived(a->s, process)
                                              : !search_passed(a->search, a->s)[e->object];
  if (e->kind == SEARCH_PASS) {
    has_done(a, process, search_at(a->s, process) - 1);
    m->known[process] = (Count)search_at(a->s, process);
  }
  if (went_on != (m->n == e->n)) return false;
  if (!went_on) return true;
  const int n = a->search->n_processes;
  m->known[a->meetings_at + e->object] = ++m->number;
  for (int p = 0; p < n; p++)
    if (m->there[p] == SEARCH_MEET) m->known[p] = (Count)search_at(a->s, p);
  for (int p = 0; p < n; p++) {
    if (m->there[p] != SEARCH_MEET) continue;
    join(a, row(a, a->clock, p), m->known);
    has_done(a, p, search_at(a->s, p) - 1);
  }
  memset(m->there, 0, (size_t)n * sizeof *m->there);
  m->n = 0;
  return true;
}

// ---- registers, ends ----------------------------------------------------------------------------

// Registers that are given back wait for none that are taken: then all that are taken come, if
// there are enough.
static bool takes(Alike *a, int process, int at, const SearchEvent *e) {
  const int rank = a->search->process[process].rank, n = a->search->n_processes;
  Count *taken = a->taken + rank * n;
  if (e->n > 0 && !taken[process]) taken[process] = (Count)(at + 1);
  for (int p = 0; e->n < 0 && p < n; p++)
    if (taken[p] && knows(a, process, p, taken[p] - 1)) return false;
  return true;
}

// A process ends that does not have others go on who wait for it or its end.
static bool exits(const Alike *a) {
  for (int b = 0; b < a->search->n_meets; b++)
    if (a->meeting[b].n && a->meeting[b].first->bit) return false;
  return true;
}

// A block is there for all that reaches it, and for its work in the background: that comes before
// the last event of one of its processes.
static bool is_there(const Alike *a, int rank) {
  const int n = a->search->n_processes;
  const Count *ended = row(a, a->ended, rank);
  for (int p = 0; p < n; p++)
    if (a->reached[rank * n + p] > ended[p]) return false;
  for (int i = 0; i < a->search->n_accesses; i++) {
    const SearchAccess *of = &a->search->access[i];
    if (search_is_instant(of) || a->search->place[of->place].rank != rank) continue;
    bool over = of->end >= 0 && ended[of->ends] > of->end;
    for (int k = 0; k < of->n_also; k++) over = over || ended[of->also[k].process] > of->also[k].at;
    if (!over) return false;
  }
  return true;
}

static bool all_are_over(const Alike *a) {
  for (int p = 0; p < a->search->n_processes; p++)
    if (!search_is_done(a->search, a->s, p)) return false;
  for (int b = 0; b < a->search->n_bars; b++)
    if (search_phases(a->search, a->s)[b].bytes) return false;
  for (int rank = 0; !a->search->cut && rank < a->search->ranks; rank++)
    if (!is_there(a, rank)) return false;
  return true;
}

// ---- the run ------------------------------------------------------------------------------------

// All that a step needs to know, and that others know by it, before it is done.
static bool comes_alone(Alike *a, int process, int at, const SearchEvent *e) {
  const SearchProcess *p = &a->search->process[process];
  const uint32_t phase =
      search_is_about_mbarrier(e) ? search_phases(a->search, a->s)[e->object].phase : 0;
  Count *clock = row(a, a->clock, process);
  if (e->after) join(a, clock, a->left[a->x->base[e->after - 1] + e->after_at]);
  if (search_is_about_mbarrier(e) && e->kind != SEARCH_INIT && !is_begun(a, process, e))
    return false;
  if (e->kind == SEARCH_WAIT && !waits(a, process, at, e)) return false;
  if (!accesses(a, process, at)) return false;
  if (e->kind == SEARCH_FENCE)
    a->fence[a->n_fences++] = (Fence){process, at, a->x->base[process] + at, kept(a, clock)};
  if (e->kind == SEARCH_TAKE && !takes(a, process, at, e)) return false;
  if (at == p->n_events - 1 && !p->agent) join(a, row(a, a->ended, p->rank), clock);
  if (e->kind == SEARCH_MEET || e->kind == SEARCH_PASS) return meets(a, process, e);
  has_done(a, process, at);
  if (e->kind == SEARCH_EXIT) return exits(a);
  return (e->kind != SEARCH_ARRIVE && e->kind != SEARCH_LAND) || arrives(a, process, at, e, phase);
}

static bool step(Alike *a, int process) {
  const int at = search_at(a->s, process);
  const SearchEvent *e = search_event(a->search, process, at);
  int conflict[2];
  if (!comes_alone(a, process, at, e)) return false;
  if (search_step(a->search, a->s, process, conflict)) return false;
  if (e->kind == SEARCH_MEET || e->kind == SEARCH_PASS) return ends_meeting(a, process, e);
  if (e->kind != SEARCH_ARRIVE && e->kind != SEARCH_LAND) return true;
  const uint32_t phase = search_phases(a->search, a->s)[e->object].phase;
  return phase == a->phase[e->object] || ends_phase(a, e->object, a->phase[e->object] = phase);
}

static bool all_steps(Alike *a) {
  const SearchOptions *o = a->options;
  for (bool any = true; any;) {
    any = false;
    for (int p = 0; p < a->search->n_processes; p++)
      while (search_can_step(a->search, a->s, p)) {
        if (++a->steps % ASK_EVERY == 1 && o->goes_on && !o->goes_on(o->context, a->steps))
          return false;
        if (!step(a, p)) return false;
        any = true;
      }
  }
  return all_are_over(a);
}

bool search_is_alike(const Search *search, const SearchOptions *options, SearchStep *held) {
  Alike *a = begin(search, options);
  *held = (SearchStep){.at = -1};
  if (!a) return false;
  a->held = held;
  const bool alike = find_beginnings(a) && all_steps(a);
  arena_free(a->arena);
  return alike;
}
