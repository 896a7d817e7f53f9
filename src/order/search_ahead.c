// All processes but one are run as far as they may possibly get without it (search_apart.c asks
// what they may do).
//
// The answer is too generous where the exact limit is not known at once. A wait is passed if its
// mbarrier may have been in a phase that passes it, but not before a phase that the process already
// knows of. A wait does not wait for bytes without a known expect. An mbarrier that may get more
// arrivals than its phase awaits is wild: every process passes it. So every step that is possible
// in some order is possible here (the test against brute force holds that). In a sound ring the
// answer is exact: a process that is held back holds up the ring.
//
//   consumer 3 of 4 is about to read slot 0    the others go on to turn 4; the producer stands
//                                              before empty[0], which has 3 of 4 arrivals: no
//                                              process writes
#include <string.h>

#include "base/whole.h"
#include "order/search_inside.h"

// Rows of phases are gone through in pieces of so many, which the compiler makes vectors of.
enum { PHASES = 8, NO_ARRIVAL = INT32_MAX };
// Positions are compared in pieces of so many.
enum { PIECE = 64 };

static void set_bit(uint64_t *bits, int process, bool on) {
  if (on)
    bits[process / 64] |= search_bit(process);
  else
    bits[process / 64] &= ~search_bit(process);
}

static void find_last_live(const Search *search, SearchAhead *w, int p) {
  const int at = w->last_at[p];  // with ARRIVED it is behind all events
  bool live = at < search->process[p].n_events;
  if (live) {
    const struct SearchGate *gate = &search->index->gate[search->index->base[p] + at];
    live = gate->process < 0 || (w->last_at[gate->process] & SEARCH_EVENTS_MAX) > gate->at;
  }
  set_bit(w->last_live, p, live);
}

// States that are looked at one after the other have few processes that stand elsewhere.
const uint64_t *search_live(const Search *search, const SearchState *s, SearchAhead *w) {
  const SearchLists *followers = &search->index->followers;
  int n = 0;
  for (int first = 0; first < search->n_processes; first += PIECE) {
    const int end = min_int(first + PIECE, search->n_processes);
    const size_t bytes = sizeof *s->at * (size_t)(end - first);
    if (memcmp(s->at + first, w->last_at + first, bytes) == 0) continue;
    for (int p = first; p < end; p++) {
      if (s->at[p] == w->last_at[p]) continue;
      w->move[n++] = (struct AheadMove){p, w->last_at[p] & SEARCH_EVENTS_MAX};
      w->last_at[p] = s->at[p];
    }
  }
  for (int i = 0; i < n; i++) {
    const int p = w->move[i].process, a = w->move[i].from, b = search_at(s, p);
    const int base = search->index->base[p], first = base + (a < b ? a : b),
              end = base + (a < b ? b : a);
    find_last_live(search, w, p);
    for (int k = followers->first[first]; k < followers->first[end]; k++)
      find_last_live(search, w, followers->list[k]);
  }
  return w->last_live;
}

SearchAhead *search_new_ahead(const Search *search, Arena *arena) {
  SearchAhead *w = ARENA_NEW(arena, SearchAhead);
  const int row = w->row = (search->n_bars + PHASES - 1) / PHASES * PHASES;
  const int words = search->n_processes / 64 + 1;
  w->live = ARENA_ARRAY(arena, uint64_t, words);
  w->moved = ARENA_ARRAY(arena, uint64_t, words);
  w->last_live = ARENA_ARRAY(arena, uint64_t, words);
  w->last_at = ARENA_ARRAY(arena, uint16_t, search->n_processes + 1);
  w->move = ARENA_ARRAY(arena, struct AheadMove, search->n_processes + 1);
  w->at = ARENA_ARRAY(arena, int, search->n_processes + 1);
  w->arrived = ARENA_ARRAY(arena, bool, search->n_processes + 1);
  w->bar = ARENA_ARRAY(arena, AheadBar, search->n_bars + 1);
  w->known = ARENA_ARRAY(arena, int32_t, search->n_processes * row + 1);
  w->gathered = ARENA_ARRAY(arena, int32_t, search->n_bars * row + 1);
  w->handed = ARENA_ARRAY(arena, int32_t, search->n_bars * row + 1);
  w->under_way = ARENA_ARRAY(arena, int32_t, row + 1);
  w->there = ARENA_ARRAY(arena, int, search->n_meets + 1);
  w->released = ARENA_ARRAY(arena, int, search->n_meets + 1);
  w->joined = ARENA_ARRAY(arena, uint16_t, search->n_meets * search->n_processes + 1);
  w->asked = ARENA_ARRAY(arena, int, search->n_accesses + 1);
  for (int p = 0; p < search->n_processes; p++) find_last_live(search, w, p);
  return w;
}

// The accesses that must not meet those which an event begins, or ends.
static void ask(const Search *search, SearchAhead *w, const SearchLists *list, int event) {
  const SearchLists *against = &search->index->against;
  for (int k = list->first[event]; k < list->first[event + 1]; k++) {
    const int a = list->list[k];
    for (int i = against->first[a]; i < against->first[a + 1]; i++, w->n_asked++)
      w->asked[against->list[i]] = w->question;
  }
}

static void ask_all(const Search *search, SearchState *s, SearchAhead *w, int process) {
  const SearchIndex *x = search->index;
  const int event = x->base[process] + search_at(s, process);
  const SearchEvent *e = search_next(search, s, process);
  const bool of_bar = search_is_about_mbarrier(e);
  w->question++;
  w->n_asked = 0;
  w->met = false;
  ask(search, w, &x->begins, event);
  ask(search, w, &x->ends, event);
  w->bar_asked = of_bar && search_flags(search, s)[e->object] ? e->object : -1;
  if (w->bar_asked >= 0) w->phase_asked = search_phases(search, s)[e->object].phase;
}

// Whether an event that others may do decides it: it begins such an access, or is about that
// mbarrier and not in its phase.
static bool decides(const Search *search, const SearchAhead *w, int process, int at) {
  const SearchLists *begins = &search->index->begins;
  const int event = search->index->base[process] + at;
  for (int k = begins->first[event]; w->n_asked && k < begins->first[event + 1]; k++)
    if (w->asked[begins->list[k]] == w->question) return true;
  if (w->bar_asked < 0) return false;
  const AheadBar *bar = &w->bar[w->bar_asked];
  return bar->wild || bar->init || bar->phase != w->phase_asked;
}

// A process that has got to its end counts at barriers of its block.
static void count_ended(const Search *search, SearchAhead *w, int p) {
  if (search->process[p].agent || w->at[p] != search->process[p].n_events) return;
  w->ended[search->process[p].rank]++;
  w->all_ended++;
}

// Whether a process could have its next event, as far as barriers and other processes go.
static void find_live(const Search *search, SearchAhead *w, int p) {
  bool live = !w->arrived[p] && w->at[p] < search->process[p].n_events;
  if (live) {
    const struct SearchGate *gate = &search->index->gate[search->index->base[p] + w->at[p]];
    live = gate->process < 0 || w->at[gate->process] > gate->at;
  }
  set_bit(w->live, p, live);
}

static int next_live(const Search *search, const SearchAhead *w, int from) {
  return search_next_bit(w->live, from, search->n_processes);
}

static void go_on(const Search *search, SearchAhead *w, int p) {
  const SearchLists *followers = &search->index->followers;
  const int event = search->index->base[p] + w->at[p]++;
  count_ended(search, w, p);
  set_bit(w->moved, p, true);
  find_live(search, w, p);
  for (int k = followers->first[event]; k < followers->first[event + 1]; k++)
    find_live(search, w, followers->list[k]);
}

static void begin(const Search *search, SearchState *s, SearchAhead *w) {
  memset(w->there, 0, sizeof *w->there * (size_t)search->n_meets);
  memset(w->released, 0, sizeof *w->released * (size_t)search->n_meets);
  memset(w->joined, 0, sizeof *w->joined * (size_t)(search->n_meets * search->n_processes));
  for (int rank = 0; rank < SEARCH_RANKS; rank++) {
    w->registers[rank] = s->registers[rank];
    w->taken[rank] = w->ended[rank] = 0;
  }
  w->all_ended = 0;
  for (int b = 0; b < search->n_bars; b++)
    w->under_way[b] = (int32_t)search_phases(search, s)[b].phase;
  for (int p = 0; p < search->n_processes; p++) w->at[p] = search_at(s, p);
  const size_t words = (size_t)search->n_processes / 64 + 1;
  memcpy(w->live, search_live(search, s, w), sizeof *w->live * words);
  memset(w->moved, 0, sizeof *w->moved * words);
  const SearchLists *meeting = &search->index->meeting, *threads = &search->index->threads;
  for (int k = meeting->first[0]; k < meeting->first[1]; k++) {
    const int p = meeting->list[k];
    w->arrived[p] = search_has_arrived(s, p);
    if (w->arrived[p]) w->there[search_next(search, s, p)->object]++;
  }
  for (int k = threads->first[0]; k < threads->first[1]; k++) {
    const int p = threads->list[k];
    count_ended(search, w, p);
    memcpy(&w->known[p * w->row], w->under_way, sizeof *w->known * (size_t)w->row);
  }
  for (int i = 0; i < search->n_meets; i++) w->there[i] += search_passed(search, s)[i];
  for (int b = 0; b < search->n_bars; b++) {
    const OrderPhases *phases = &search_phases(search, s)[b];
    w->bar[b] = (AheadBar){.pending = phases->pending,
                           .bytes = phases->bytes,
                           .phase = phases->phase,
                           .wild = !search_flags(search, s)[b]};
  }
}

static void take_least(int32_t *restrict into, const int32_t *restrict from, int row) {
  for (int x = 0; x < row; x += PHASES)
    for (int i = x; i < x + PHASES; i++) into[i] = from[i] < into[i] ? from[i] : into[i];
}

static void take_most(int32_t *restrict into, const int32_t *restrict from, int row) {
  for (int x = 0; x < row; x += PHASES)
    for (int i = x; i < x + PHASES; i++) into[i] = from[i] > into[i] ? from[i] : into[i];
}

static void no_arrivals(SearchAhead *w, int bar) {
  int32_t *gathered = &w->gathered[bar * w->row];
  for (int x = 0, row = w->row; x < row; x += PHASES)
    for (int i = x; i < x + PHASES; i++) gathered[i] = NO_ARRIVAL;
}

// In a phase with arrivals already, those arrivals knew at least the phases that are under way now.
static void begin_telling(const Search *search, SearchState *s, SearchAhead *w) {
  const size_t bytes = sizeof *w->handed * (size_t)w->row;
  const OrderPhases *phases = search_phases(search, s);
  for (int b = 0; b < search->n_bars; b++) {
    memcpy(&w->handed[b * w->row], w->under_way, bytes);
    if (phases[b].pending < phases[b].expected)
      memcpy(&w->gathered[b * w->row], w->under_way, bytes);
    else
      no_arrivals(w, b);
  }
}

// ---- how far the others get ---------------------------------------------------------------------

// The phases that all arrivals know become known to a process that waits behind them.
static void tell(const Search *search, SearchAhead *w, int process, int bar) {
  int32_t *gathered = &w->gathered[bar * w->row];
  if (search->process[process].agent)
    memset(gathered, 0, sizeof *gathered * (size_t)w->row);
  else
    take_least(gathered, &w->known[process * w->row], w->row);
}

static void hand_on(SearchAhead *w, int bar) {
  const int32_t *gathered = &w->gathered[bar * w->row];
  if (w->row == 0 || gathered[0] == NO_ARRIVAL) return;
  take_most(&w->handed[bar * w->row], gathered, w->row);
  no_arrivals(w, bar);
}

static void learn(SearchAhead *w, int process, int bar) {
  take_most(&w->known[process * w->row], &w->handed[bar * w->row], w->row);
}

static void arrive(const Search *search, SearchState *s, SearchAhead *w, int process,
                   const SearchEvent *e) {
  AheadBar *bar = &w->bar[e->object];
  bar->used = true;
  if (e->kind == SEARCH_ARRIVE) {
    tell(search, w, process, e->object);
    bar->expects += e->bytes;
    if (e->n == 0)
      bar->loose = bar->loose && bar->loose != process + 1 ? -1 : process + 1;
    else if (bar->loose == process + 1)
      bar->loose = 0;
    if (bar->pending < e->n) bar->wild = true;
    bar->pending -= e->n;
    if (search->index->alone[e->object]) bar->bytes += e->bytes;
  } else {
    bar->bytes -= e->bytes;
    bar->lands += e->bytes;
  }
  if (bar->wild || bar->pending > 0 || bar->bytes > 0) return;
  bar->phase++;
  hand_on(w, e->object);
  bar->pending = search_phases(search, s)[e->object].expected;
}

static uint16_t *joined(const Search *search, const SearchAhead *w, int barrier, int process) {
  return &w->joined[barrier * search->n_processes + process];
}

static void meet(const Search *search, SearchAhead *w, int held, const SearchEvent *e) {
  const int block = search->meet[e->object].rank;
  const int ended = e->bit == SEARCH_MEET_BLOCK ? w->ended[block] : w->all_ended;
  if (w->there[e->object] + (e->bit ? ended : 0) < e->n) return;
  w->released[e->object]++;
  w->there[e->object] = 0;
  const SearchLists *meeters = &search->index->meeters;
  for (int k = meeters->first[e->object]; k < meeters->first[e->object + 1]; k++) {
    const int p = meeters->list[k];
    if (p == held || !w->arrived[p]) continue;
    if (search_event(search, p, w->at[p])->object != e->object) continue;
    w->arrived[p] = false;
    ++*joined(search, w, e->object, p);
    go_on(search, w, p);
  }
}

// Whether the mbarrier may be in a phase that passes a wait; then the earliest such phase has come
// for the process that has gone on.
static bool passes(SearchAhead *w, int process, const SearchEvent *e) {
  const AheadBar *bar = &w->bar[e->object];
  int32_t *known = &w->known[process * w->row + e->object];
  const uint32_t phase = (uint32_t)*known + (((uint32_t)*known & 1) == e->bit);
  if (!bar->wild && phase > bar->phase) return false;
  if (bar->wild) return true;
  *known = (int32_t)phase;
  if (bar->phase == phase) learn(w, process, e->object);
  return true;
}

// The next event of a process, if it may happen.
static bool advance(const Search *search, SearchState *s, SearchAhead *w, int p, int held) {
  if (!(w->live[p / 64] & search_bit(p))) return false;
  const SearchEvent *e = search_event(search, p, w->at[p]);
  if (e->kind == SEARCH_WAIT && !passes(w, p, e)) return false;
  const int rank = search->process[p].rank;
  if (e->kind == SEARCH_TAKE && w->registers[rank] < e->n) return false;
  if (e->kind == SEARCH_MEET && *joined(search, w, e->object, p) < w->released[e->object]) {
    ++*joined(search, w, e->object, p);  // more come than must meet: it may have been one of those
    go_on(search, w, p);
    w->there[e->object]++;  // and it may meet those who come later
    meet(search, w, held, e);
    return true;
  }
  if (e->kind == SEARCH_MEET) {
    w->arrived[p] = true;
    w->live[p / 64] &= ~search_bit(p);
    w->there[e->object]++;
    meet(search, w, held, e);
    return true;
  }
  go_on(search, w, p);
  if (e->kind == SEARCH_WAIT) w->bar[e->object].used = true;
  if (e->kind == SEARCH_INIT) w->bar[e->object].init = w->bar[e->object].wild = true;
  if (e->kind == SEARCH_ARRIVE || e->kind == SEARCH_LAND) arrive(search, s, w, p, e);
  if (e->kind == SEARCH_TAKE && e->n < 0) w->registers[rank] -= e->n;
  if (e->kind == SEARCH_TAKE && e->n > 0) w->taken[rank] += e->n;
  if (e->kind == SEARCH_PASS) {
    w->there[e->object]++;
    meet(search, w, held, e);
  }
  return true;
}

static void meet_without(const Search *search, SearchAhead *w, int held) {
  const SearchLists *meeting = &search->index->meeting;
  for (int k = meeting->first[0]; k < meeting->first[1]; k++) {
    const int p = meeting->list[k];
    if (!w->arrived[p] || p == held) continue;
    const SearchEvent *e = search_event(search, p, w->at[p]);
    if (e->bit) meet(search, w, held, e);
  }
}

void search_run_others(const Search *search, SearchState *s, SearchAhead *w, int held) {
  begin(search, s, w);
  begin_telling(search, s, w);
  ask_all(search, s, w, held);
  const bool asks = w->n_asked > 0 || w->bar_asked >= 0;
  for (bool went_on = true; went_on;) {
    went_on = false;
    for (int p = next_live(search, w, 0); p >= 0; p = next_live(search, w, p + 1))
      for (int at = w->at[p]; p != held && advance(search, s, w, p, held); at = w->at[p]) {
        w->met = asks && decides(search, w, p, at);
        if (w->met) return;
        went_on = true;
      }
    const int before = w->all_ended;
    meet_without(search, w, held);
    went_on = went_on || w->all_ended != before;
  }
}
