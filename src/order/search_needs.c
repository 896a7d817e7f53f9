// An event → the steps of each process, phases of each mbarrier and meetings of each barrier that
// come before it in every order.
//
// A wait needs a phase, and a phase needs arrivals. Arrivals of a process that can come only later
// do not count for it; where those of all other processes are too few, this process must have
// arrived. So needs grow until they change no more. They are never too large: whatever is missing
// here makes a need smaller.
//
//   consumer 1 of 2 reads slot 0, turn 1   needs full[0] phase 1 → the producer's second fill and
//                                          its box → empty[0] phase 0 → both consumers' first
//                                          arrivals → both first reads: 2 · 4 + … steps
//
// A row is a need: whether it can be at all, the number of steps of each process that has several,
// phases that are over, meetings; then a bit for each process of one step, such as a box.
#include <string.h>

#include "base/whole.h"
#include "order/search_inside.h"

enum { ROWS_MAX = 1 << 22, PASSES = 8, NO_BAR = -1, MANY = -2 };

typedef SearchCount Count;

typedef struct Spot {
  int process, at;
} Spot;

struct SearchNeeds {
  const Search *s;
  const SearchIndex *x;
  int width, bits_at, bars_at, meets_at, n_events, n_met;
  int *column;                     // by process: of its steps; or of its bit, negative
  Count *taken;                    // [events][width] before and with it
  Count *met;                      // [events that meet][width]: with the meeting, too
  Count *scratch, *then;           // [width]
  int *met_row;                    // by event; -1: it meets nobody
  Spot *spot, *order;              // by event; all events, most behind what they need
  SearchLists arrive, land, meet;  // by mbarrier, or barrier: events
  int *init, *said;                // by mbarrier: the event; NO_BAR, or MANY
  int64_t *expects;       // by mbarrier or barrier (behind those): arrivals of a phase; 0: unknown
  SearchMeet *how;        // by barrier: the most that any of its events lets count
  int64_t *have;          // scratch, by process
  int *most;              // by process: steps that it may do
  SearchLists give, use;  // by block: events that give registers back, that take them
  SearchNeeds *within;    // with limits
  int64_t work;           // words that were looked at
  bool changed;
};

static Count *row_of(const SearchNeeds *n, int event) {
  return n->taken + (size_t)event * (size_t)n->width;
}

static void join(const SearchNeeds *n, Count *restrict into, const Count *restrict from) {
  for (int i = 0; i < n->bits_at; i++) into[i] = into[i] < from[i] ? from[i] : into[i];
  for (int i = n->bits_at; i < n->width; i++) into[i] |= from[i];
}

void search_join_needs(const SearchNeeds *n, Count *into, const Count *from) {
  join(n, into, from);
}

int search_need_of(const SearchNeeds *n, const Count *row, int process) {
  const int column = n->column[process], bit = -column - 1;
  return column >= 0 ? row[column] : row[n->bits_at + bit / 16] >> bit % 16 & 1;
}

void search_need_done(const SearchNeeds *n, Count *row, int process, int at) {
  const int column = n->column[process], bit = -column - 1;
  if (column < 0)
    row[n->bits_at + bit / 16] |= (Count)(1 << bit % 16);
  else if (row[column] <= at)
    row[column] = (Count)(at + 1);
}

const Count *search_need(const SearchNeeds *n, int process, int at) {
  return row_of(n, n->x->base[process] + at);
}

// Behind an event: with the meeting that it waits for.
static const Count *behind(const SearchNeeds *n, int event) {
  const int met = n->met_row[event];
  return met < 0 ? row_of(n, event) : n->met + (size_t)met * (size_t)n->width;
}

const Count *search_need_behind(const SearchNeeds *n, int process, int at) {
  return behind(n, n->x->base[process] + at);
}

int64_t search_need_steps(const SearchNeeds *n, const Count *row) {
  int64_t steps = 0;
  for (int i = 1; i < n->bars_at; i++) steps += row[i];
  for (int i = n->bits_at; i < n->width; i++) steps += __builtin_popcount(row[i]);
  return row[0] ? INT64_MAX : steps;
}

int search_need_width(const SearchNeeds *n) { return n->width; }

// Until a process stands in front of an event, and the event that this one comes after is done.
void search_need_front(const SearchNeeds *n, int process, int at, Count *row) {
  const int event = n->x->base[process] + at;
  const struct SearchGate *gate = &n->x->gate[event < n->n_events ? event : 0];
  memset(row, 0, sizeof *row * (size_t)n->width);
  if (at > 0) join(n, row, behind(n, event - 1));
  if (at < n->s->process[process].n_events && gate->process >= 0)
    join(n, row, behind(n, n->x->base[gate->process] + gate->at));
}

// ---- what a phase needs -------------------------------------------------------------------------

static const SearchEvent *event_of(const SearchNeeds *n, int event) {
  return search_event(n->s, n->spot[event].process, n->spot[event].at);
}

static int64_t weight_of(const SearchNeeds *n, int event) {
  const SearchEvent *e = event_of(n, event);
  return e->kind == SEARCH_LAND ? e->bytes : e->kind == SEARCH_TAKE ? -e->n : e->n;
}

static bool is_in(const SearchNeeds *n, const Count *row, const Spot *spot) {
  return spot->at < search_need_of(n, row, spot->process);
}

// `dim`: of the phases; -1: of none.
static bool counts(const SearchNeeds *n, int event, int dim, int64_t last, const Spot *but) {
  const Spot *spot = &n->spot[event];
  if (spot->process == but->process && spot->at >= but->at) return false;
  const Count *row = row_of(n, event);
  return !row[0] && (dim < 0 || row[dim] <= last);
}

// Some events of a list can come while a phase up to `last` is under way. Joins the needs of those
// without which there are fewer than `total`. False: there are fewer in any case.
static bool need_of_list(const SearchNeeds *n, Count *row, const SearchLists *list, int object,
                         int dim, int64_t last, int64_t total, const Spot *but) {
  const int first = list->first[object], end = list->first[object + 1];
  int64_t sum = 0;
  for (int k = first; k < end; k++)
    if (counts(n, list->list[k], dim, last, but)) sum += weight_of(n, list->list[k]);
  if (sum < total) return false;
  for (int k = first, next; k < end; k = next) {
    const int process = n->spot[list->list[k]].process;
    int64_t own = 0, here = 0;
    for (next = k; next < end && n->spot[list->list[next]].process == process; next++)
      if (counts(n, list->list[next], dim, last, but)) own += weight_of(n, list->list[next]);
    const int64_t needed = total - (sum - own);
    for (int i = k; i < next && here < needed; i++) {
      if (!counts(n, list->list[i], dim, last, but)) continue;
      here += weight_of(n, list->list[i]);
      if (here >= needed) join(n, row, row_of(n, list->list[i]));
    }
  }
  return true;
}

static void never(Count *row) { row[0] = 1; }

static int64_t expected_bytes(const SearchNeeds *n, int bar, const Count *row) {
  int64_t bytes = 0;
  for (int k = n->arrive.first[bar]; k < n->arrive.first[bar + 1]; k++) {
    const Spot *spot = &n->spot[n->arrive.list[k]];
    if (is_in(n, row, spot)) bytes += event_of(n, n->arrive.list[k])->bytes;
  }
  return bytes;
}

// Joins the needs of a moment: so many phases have just ended. Arrivals that come later do not
// count. Bytes that are expected by then have landed by then.
void search_need_phase(const SearchNeeds *n, Count *row, int bar, int64_t phases, int64_t more,
                       int but_process, int but_at) {
  const Spot but = {but_process, but_at};
  const int dim = n->bars_at + bar;
  const int64_t each = n->expects[bar], last = phases - (more == 0);
  if (!each || last < 0 || phases > SEARCH_EVENTS_MAX) return;
  Count *then = n->then;
  memset(then, 0, sizeof *then * (size_t)n->width);
  if (!need_of_list(n, then, &n->arrive, bar, dim, last, phases * each + more, &but) ||
      (!more &&
       !need_of_list(n, then, &n->land, bar, dim, last, expected_bytes(n, bar, then), &but)))
    never(then);
  if (then[dim] < phases) then[dim] = (Count)phases;
  join(n, row, then);
}

int64_t search_need_arrivals(const SearchNeeds *n, int bar) { return n->expects[bar]; }
int64_t search_need_phase_of(const SearchNeeds *n, const Count *row, int bar) {
  return row[n->bars_at + bar];
}

// ---- meetings -----------------------------------------------------------------------------------

static bool may_count_ended(const SearchNeeds *n, int process, int barrier) {
  const SearchProcess *p = &n->s->process[process];
  if (p->agent || n->how[barrier] == SEARCH_MEET_ALL) return false;
  if (n->most[process] < p->n_events) return false;
  return n->how[barrier] == SEARCH_MEET_CLUSTER || p->rank == n->s->meet[barrier].rank;
}

// How often each process may have come for so many meetings; the sum. A process comes to each of
// them once, by a wait or because it has ended, and by what it does not wait for.
static int64_t count_comings(const SearchNeeds *n, int barrier, int64_t times) {
  int64_t sum = 0;
  memset(n->have, 0, sizeof *n->have * (size_t)n->s->n_processes);
  for (int k = n->meet.first[barrier]; k < n->meet.first[barrier + 1]; k++) {
    const int event = n->meet.list[k], p = n->spot[event].process;
    const Count *row = row_of(n, event);
    if (row[0] || row[n->meets_at + barrier] >= times) continue;
    if (event_of(n, event)->kind == SEARCH_PASS || !may_count_ended(n, p, barrier)) n->have[p]++;
  }
  for (int p = 0; p < n->s->n_processes; p++) {
    if (may_count_ended(n, p, barrier)) n->have[p] += times;
    sum += n->have[p];
  }
  return sum;
}

// The processes of a barrier that must have come for so many meetings. One that came because it has
// ended has done all that it does.
static void need_meeting(const SearchNeeds *n, Count *row, int barrier, int64_t times) {
  const int first = n->meet.first[barrier], end = n->meet.first[barrier + 1],
            dim = n->meets_at + barrier;
  const int64_t total = times * n->expects[n->s->n_bars + barrier];
  if (!total) return;
  const int64_t sum = count_comings(n, barrier, times);
  if (sum < total) never(row);
  for (int k = first, own = first; k < end; k++) {
    const int event = n->meet.list[k], p = n->spot[event].process;
    if (n->spot[n->meet.list[own]].process != p) own = k;
    if (k - own < total - (sum - n->have[p])) join(n, row, row_of(n, event));
  }
  if (row[dim] < times) row[dim] = (Count)times;
}

// ---- events -------------------------------------------------------------------------------------

// An mbarrier that is used has been initialised, for those from afar by a fence.
static void need_begun(const SearchNeeds *n, Count *row, int process, const SearchEvent *e) {
  const SearchBar *bar = &n->s->bar[e->object];
  const bool afar = n->s->process[process].agent || n->s->process[process].rank != bar->rank;
  if (bar->given) return;
  if (n->init[e->object] >= 0) join(n, row, row_of(n, n->init[e->object]));
  if (afar && n->said[e->object] >= 0) join(n, row, row_of(n, n->said[e->object]));
}

// A wait goes on in the first phase from the one it knows of that has the other bit.
static void need_wait(const SearchNeeds *n, Count *row, const Spot *spot, const SearchEvent *e) {
  const int64_t known = row[n->bars_at + e->object];
  if (e->bit > 1) return;
  search_need_phase(n, row, e->object, known + ((known & 1) == e->bit), 0, spot->process, spot->at);
}

// Arrivals that came before fill phases, and this one has room.
static void need_room(const SearchNeeds *n, Count *row, int event, const SearchEvent *e) {
  const int64_t each = n->expects[e->object];
  int64_t before = e->n;
  if (!each) return;
  for (int k = n->arrive.first[e->object]; k < n->arrive.first[e->object + 1]; k++) {
    const int other = n->arrive.list[k];
    const Spot *spot = &n->spot[other];
    if (other != event && is_in(n, row, spot)) before += event_of(n, other)->n;
  }
  const int64_t phase = ceil_div(before, each) - 1;
  if (phase > row[n->bars_at + e->object])
    search_need_phase(n, row, e->object, phase, 0, n->spot[event].process, n->spot[event].at);
}

// Registers that are not there at the start are given back before.
static void need_registers(const SearchNeeds *n, Count *row, const Spot *spot,
                           const SearchEvent *e) {
  const int rank = n->s->process[spot->process].rank;
  int64_t used = e->n;
  for (int k = n->use.first[rank]; k < n->use.first[rank + 1]; k++) {
    const Spot *other = &n->spot[n->use.list[k]];
    const bool before =
        is_in(n, row, other) && !(other->process == spot->process && other->at >= spot->at);
    if (before) used += event_of(n, n->use.list[k])->n;
  }
  if (!need_of_list(n, row, &n->give, rank, -1, 0, used - n->s->registers, spot)) never(row);
}

static void update(SearchNeeds *n, Count *row) {
  const size_t bytes = sizeof *row * (size_t)n->width;
  if (memcmp(row, n->scratch, bytes) == 0) return;
  memcpy(row, n->scratch, bytes);
  n->changed = true;
}

static void look_at(SearchNeeds *n, const Spot *spot) {
  const int event = n->x->base[spot->process] + spot->at;
  const SearchEvent *e = search_event(n->s, spot->process, spot->at);
  Count *row = n->scratch;
  search_need_front(n, spot->process, spot->at, row);
  join(n, row, row_of(n, event));
  search_need_done(n, row, spot->process, spot->at);
  if (search_is_about_mbarrier(e) && e->kind != SEARCH_INIT) need_begun(n, row, spot->process, e);
  if (e->kind == SEARCH_WAIT) need_wait(n, row, spot, e);
  if (e->kind == SEARCH_ARRIVE) need_room(n, row, event, e);
  if (e->kind == SEARCH_TAKE && e->n > 0) need_registers(n, row, spot, e);
  if (spot->at >= n->most[spot->process]) never(row);
  update(n, row_of(n, event));
  if (n->met_row[event] < 0) return;
  const int64_t times = row[n->meets_at + e->object] + 1;
  need_meeting(n, row, e->object, times);
  update(n, n->met + (size_t)n->met_row[event] * (size_t)n->width);
}

// ---- the start ----------------------------------------------------------------------------------

// An event that cannot be, or does harm, is taken for done.
static void pass_by(SearchState *state, int process) {
  state->at[process] = (uint16_t)(search_at(state, process) + 1);
}

// All events in one order that can be; where it ends, as if the first event that is left were done.
static void find_order(SearchNeeds *n) {
  const Search *s = n->s;
  SearchState *state = arena_alloc(s->arena, n->x->state_bytes);
  int n_listed = 0, conflict[2], first = 0;
  bool *listed = ARENA_ARRAY(s->arena, bool, n->n_events + 1);
  search_start(s, state);
  while (n_listed < n->n_events) {
    bool any = false;
    for (int p = 0; p < s->n_processes; p++)
      while (search_can_step(s, state, p)) {
        const int at = search_at(state, p);
        if (!listed[n->x->base[p] + at]) n->order[n_listed++] = (Spot){p, at};
        listed[n->x->base[p] + at] = any = true;
        if (search_step(s, state, p, conflict) && search_at(state, p) == at) pass_by(state, p);
      }
    if (any) continue;
    while (first < s->n_processes && search_is_done(s, state, first)) first++;
    if (first == s->n_processes) break;
    const int at = search_at(state, first);
    if (!listed[n->x->base[first] + at]) n->order[n_listed++] = (Spot){first, at};
    listed[n->x->base[first] + at] = true;
    pass_by(state, first);
  }
}

static void set_once(int *to, int event) { *to = *to == NO_BAR ? event : MANY; }

static void list_bars(SearchNeeds *n) {
  const Search *s = n->s;
  for (int b = 0; b < s->n_bars; b++) n->init[b] = n->said[b] = NO_BAR;
  for (int event = 0; event < n->n_events; event++)
    if (event_of(n, event)->kind == SEARCH_INIT)
      set_once(&n->init[event_of(n, event)->object], event);
  for (int b = 0; b < s->n_bars; b++) {
    const int init = n->init[b];
    const int64_t each = s->bar[b].given ? s->bar[b].given : init >= 0 ? event_of(n, init)->n : 0;
    n->expects[b] = s->bar[b].given && init != NO_BAR ? 0 : max64(each, 0);
    if (init < 0) continue;
    const SearchProcess *p = &s->process[n->spot[init].process];
    n->said[b] = event_of(n, init)->bit ? init : NO_BAR;
    for (int i = n->spot[init].at + 1; i < p->n_events && n->said[b] < 0; i++)
      if (p->event[i].kind == SEARCH_INIT_SAID) n->said[b] = init + i - n->spot[init].at;
  }
}

// Meetings of one size only; an arrival of less than one is counted for nothing.
static void list_meetings(SearchNeeds *n) {
  const Search *s = n->s;
  for (int b = 0; b < s->n_meets; b++) {
    int64_t *each = &n->expects[s->n_bars + b];
    *each = INT64_MAX;
    n->how[b] = SEARCH_MEET_ALL;
    for (int k = n->meet.first[b]; k < n->meet.first[b + 1]; k++) {
      const SearchEvent *e = event_of(n, n->meet.list[k]);
      *each = min64(*each, e->n);
      if (e->bit && n->how[b] != SEARCH_MEET_CLUSTER) n->how[b] = (SearchMeet)e->bit;
    }
    if (*each == INT64_MAX || *each < 1) *each = 0;
  }
  for (int b = 0; b < s->n_bars; b++)
    for (int k = n->arrive.first[b]; k < n->arrive.first[b + 1]; k++)
      if (event_of(n, n->arrive.list[k])->n < 0) n->expects[b] = 0;
}

static SearchLists list_kinds(const SearchNeeds *n, int objects, SearchKind a, SearchKind b) {
  const Search *s = n->s;
  SearchLists out = {ARENA_ARRAY(s->arena, int, objects + 2),
                     ARENA_ARRAY(s->arena, int, n->n_events + 1)};
  int *first = out.first;
  for (int turn = 0; turn < 2; turn++) {
    for (int event = 0; event < n->n_events; event++) {
      const SearchEvent *e = event_of(n, event);
      if (e->kind != a && e->kind != b) continue;
      if (turn == 0)
        first[e->object + 2]++;
      else
        out.list[first[e->object + 1]++] = event;
    }
    for (int i = 2; turn == 0 && i < objects + 2; i++) first[i] += first[i - 1];
  }
  return out;
}

// A TAKE has its block for an object.
static SearchLists list_takes(const SearchNeeds *n, bool gives) {
  const Search *s = n->s;
  SearchLists out = {ARENA_ARRAY(s->arena, int, SEARCH_RANKS + 1),
                     ARENA_ARRAY(s->arena, int, n->n_events + 1)};
  int n_listed = 0;
  for (int rank = 0; rank < SEARCH_RANKS; rank++) {
    for (int event = 0; event < n->n_events; event++) {
      const SearchEvent *e = event_of(n, event);
      if (e->kind == SEARCH_TAKE && s->process[n->spot[event].process].rank == rank &&
          (gives ? e->n < 0 : e->n > 0))
        out.list[n_listed++] = event;
    }
    out.first[rank + 1] = n_listed;
  }
  return out;
}

// Goes through the events until no need grows any more, or no more than PASSES times. False: it was
// given up.
static bool grow(SearchNeeds *n, const SearchOptions *options) {
  n->changed = true;
  for (int pass = 0; pass < PASSES && n->changed; pass++) {
    n->changed = false;
    if (options->goes_on && !options->goes_on(options->context, 0)) return false;
    for (int i = 0; i < n->n_events; i++) look_at(n, &n->order[i]);
    n->work += (int64_t)n->n_events * n->width;
  }
  return true;
}

static Count *new_rows(const SearchNeeds *n, int rows) {
  return ARENA_ARRAY(n->s->arena, Count, rows * n->width + 1);
}

const SearchNeeds *search_needs_within(SearchNeeds *n, const SearchOptions *options,
                                       const SearchLimit *limit, int n_limits) {
  if (!n->within) {
    n->within = ARENA_NEW(n->s->arena, SearchNeeds);
    *n->within = *n;
    n->within->work = 0;
    n->within->taken = new_rows(n, n->n_events);
    n->within->met = new_rows(n, n->n_met);
    n->within->most = ARENA_ARRAY(n->s->arena, int, n->s->n_processes + 1);
  }
  SearchNeeds *w = n->within;
  const size_t bytes = sizeof *n->taken * (size_t)n->width;
  memcpy(w->taken, n->taken, bytes * (size_t)n->n_events);
  memcpy(w->met, n->met, bytes * (size_t)n->n_met);
  memcpy(w->most, n->most, sizeof *n->most * (size_t)n->s->n_processes);
  for (int i = 0; i < n_limits; i++)
    w->most[limit[i].process] = min_int(w->most[limit[i].process], limit[i].most);
  return grow(w, options) ? w : n;
}

int64_t search_needs_work(const SearchNeeds *n) {
  return n->work + (n->within ? n->within->work : 0);
}

static void lay_out(SearchNeeds *n) {
  const Search *s = n->s;
  int counted = 1, bits = 0;
  n->column = ARENA_ARRAY(s->arena, int, s->n_processes + 1);
  for (int p = 0; p < s->n_processes; p++)
    n->column[p] = s->process[p].n_events == 1 ? -1 - bits++ : counted++;
  n->bars_at = counted;
  n->meets_at = n->bars_at + s->n_bars;
  n->bits_at = n->meets_at + s->n_meets;
  n->width = n->bits_at + (bits + 15) / 16;
}

SearchNeeds *search_new_needs(const Search *s, const SearchOptions *options) {
  Arena *arena = s->arena;
  SearchNeeds *n = ARENA_NEW(arena, SearchNeeds);
  *n = (SearchNeeds){.s = s, .x = s->index, .n_events = search_events(s)};
  lay_out(n);
  if ((int64_t)n->width * n->n_events > ROWS_MAX) return NULL;
  n->spot = ARENA_ARRAY(arena, Spot, n->n_events + 1);
  n->order = ARENA_ARRAY(arena, Spot, n->n_events + 1);
  n->met_row = ARENA_ARRAY(arena, int, n->n_events + 1);
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      const int event = n->x->base[p] + i;
      n->spot[event] = (Spot){p, i};
      n->met_row[event] = s->process[p].event[i].kind == SEARCH_MEET ? n->n_met++ : -1;
    }
  n->taken = new_rows(n, n->n_events);
  n->met = new_rows(n, n->n_met);
  n->scratch = new_rows(n, 1);
  n->then = new_rows(n, 1);
  n->most = ARENA_ARRAY(arena, int, s->n_processes + 1);
  for (int p = 0; p < s->n_processes; p++) n->most[p] = s->process[p].n_events;
  n->have = ARENA_ARRAY(arena, int64_t, s->n_processes + 1);
  n->init = ARENA_ARRAY(arena, int, s->n_bars + 1);
  n->said = ARENA_ARRAY(arena, int, s->n_bars + 1);
  n->expects = ARENA_ARRAY(arena, int64_t, s->n_bars + s->n_meets + 1);
  n->arrive = list_kinds(n, s->n_bars, SEARCH_ARRIVE, SEARCH_ARRIVE);
  n->land = list_kinds(n, s->n_bars, SEARCH_LAND, SEARCH_LAND);
  n->meet = list_kinds(n, s->n_meets, SEARCH_MEET, SEARCH_PASS);
  n->how = ARENA_ARRAY(arena, SearchMeet, s->n_meets + 1);
  list_bars(n);
  list_meetings(n);
  find_order(n);
  n->give = list_takes(n, true);
  n->use = list_takes(n, false);
  return grow(n, options) ? n : NULL;
}
