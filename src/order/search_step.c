// One event of a process: whether it can happen, its changes, and its fault there.
#include "order/search_inside.h"

void search_start(const Search *search, SearchState *s) {
  for (int rank = 0; rank < SEARCH_RANKS; rank++) s->registers[rank] = (int32_t)search->registers;
  for (int b = 0; b < search->n_bars; b++) {
    if (!search->bar[b].given) continue;
    order_phases_init(&search_phases(search, s)[b], search->bar[b].given);
    search_flags(search, s)[b] = SEARCH_THERE | SEARCH_SAID;
  }
}

bool search_can_step(const Search *search, SearchState *s, int process) {
  if (search_is_done(search, s, process) || search_has_arrived(s, process)) return false;
  const SearchEvent *e = search_next(search, s, process);
  if (e->after && search_at(s, e->after - 1) <= e->after_at) return false;
  if (e->kind == SEARCH_TAKE) return s->registers[search->process[process].rank] >= e->n;
  if (e->kind != SEARCH_WAIT || !search_flags(search, s)[e->object]) return true;
  return order_phases_passes(&search_phases(search, s)[e->object], e->bit);
}

static bool search_block_has_ended(const Search *search, const SearchState *s, int rank) {
  if (search->cut) return false;
  for (int p = 0; p < search->n_processes; p++)
    if (!search->process[p].agent && search->process[p].rank == rank &&
        !search_is_done(search, s, p))
      return false;
  return true;
}

// ---- accesses -----------------------------------------------------------------------------------

SearchFault search_fault_of(const SearchAccess *now, const SearchAccess *then) {
  const bool instant = search_is_instant(now) && search_is_instant(then);
  if (instant || (now->write && then->write)) return SEARCH_RACE;
  return now->write ? SEARCH_REFILLED : SEARCH_EARLY;
}

static SearchFault begin(const Search *search, SearchState *s, int access, int conflict[2]) {
  const SearchIndex *x = search->index;
  const SearchAccess *a = &search->access[access];
  uint64_t *word = search_words(search, s);
  conflict[0] = access;
  for (int k = x->against.first[access]; k < x->against.first[access + 1]; k++) {
    const SearchAccess *b = &search->access[conflict[1] = x->against.list[k]];
    if (b->process == a->process && search_is_instant(b)) continue;
    if (search_is_open(s, b)) return search_fault_of(a, b);
  }
  conflict[1] = -1;
  static const SearchFault fault[SEARCH_WORDS] = {SEARCH_UNFENCED, SEARCH_UNFENCED, SEARCH_NARROW,
                                                  SEARCH_UNLEARNED};
  const uint64_t own = x->of_block[search->process[a->process].rank], bit = search_bit(a->process);
  const uint64_t by[SEARCH_WORDS] = {UINT64_MAX, UINT64_MAX, ~own, bit};
  for (int k = x->unknown_to.first[access]; k < x->unknown_to.first[access + 1]; k++) {
    const int w = x->unknown_to.list[k];
    if (word[w] & by[w % SEARCH_WORDS]) return fault[w % SEARCH_WORDS];
  }
  if (!a->async && x->word[a->place] >= 0) {
    uint64_t *words = &word[x->word[a->place]];
    const bool hands_over = a->write && x->handed[a->place];
    if (!x->fenced[access]) words[a->write ? SEARCH_WRITTEN : SEARCH_READ] |= bit;
    if (hands_over) words[SEARCH_UNTOLD] |= bit;
    if (hands_over) words[SEARCH_UNKNOWN] |= ~own;
  }
  conflict[0] = -1;
  return SEARCH_NO_FAULT;
}

static SearchFault begin_all(const Search *search, SearchState *s, int event, int conflict[2]) {
  const SearchLists *begins = &search->index->begins;
  for (int k = begins->first[event]; k < begins->first[event + 1]; k++) {
    const SearchFault fault = begin(search, s, begins->list[k], conflict);
    if (fault) return fault;
  }
  return SEARCH_NO_FAULT;
}

// ---- scopes -------------------------------------------------------------------------------------

// A process tells other blocks all that it knows of, also what others of its block did.
static void tell_cluster(const Search *search, SearchState *s, int process, const SearchEvent *e) {
  if (!search->scopes || !search_tells_cluster(e)) return;
  const uint64_t own = search->index->of_block[search->process[process].rank];
  for (int w = SEARCH_UNTOLD; w < search->index->n_words; w += SEARCH_WORDS)
    search_words(search, s)[w] &= ~own;
}

// A process knows the writes of other blocks once it has waited in the scope of the cluster, or in
// the scope of its block behind a process of the block that has (PTX ISA, "Causality order").
static void learn(const Search *search, SearchState *s, int process, const SearchEvent *e) {
  if (!search->index->hands_over || !search_learns(e)) return;
  const uint64_t own = search->index->of_block[search->process[process].rank];
  for (int w = 0; w < search->index->n_words; w += SEARCH_WORDS) {
    uint64_t *words = search_words(search, s) + w;
    if (words[SEARCH_UNTOLD] & ~own) continue;
    if (search_learns_of_cluster(e) || (words[SEARCH_UNKNOWN] & own) != own)
      words[SEARCH_UNKNOWN] &= ~search_bit(process);
  }
}

// ---- mbarriers ----------------------------------------------------------------------------------

// Whether a process stands before an mbarrier and could go on. Once the phase ends it cannot: then
// the phase under way has the bit that it waits for.
static bool someone_could_go_on(const Search *search, SearchState *s, int bar) {
  const SearchLists *users = &search->index->users;
  for (int k = users->first[bar]; k < users->first[bar + 1]; k++) {
    const int p = users->list[k];
    if (search_is_done(search, s, p)) continue;
    const SearchEvent *e = search_next(search, s, p);
    if (e->kind == SEARCH_WAIT && e->object == bar && search_can_step(search, s, p)) return true;
  }
  return false;
}

static SearchFault settle(const Search *search, SearchState *s, int bar) {
  OrderPhases *phases = &search_phases(search, s)[bar];
  if (!order_phases_are_complete(phases)) return SEARCH_NO_FAULT;
  const bool lapped = someone_could_go_on(search, s, bar);
  order_phases_next(phases);
  return lapped ? SEARCH_LAPPED : SEARCH_NO_FAULT;
}

static SearchFault reach(const Search *search, SearchState *s, int process, const SearchEvent *e) {
  const int rank = search->bar[e->object].rank;
  const bool from_afar = search->process[process].agent || search->process[process].rank != rank;
  const uint8_t flags = search_flags(search, s)[e->object];
  if (search->bar[e->object].given) return SEARCH_NO_FAULT;  // it lies in no block's memory
  if (!flags || (from_afar && !(flags & SEARCH_SAID))) return SEARCH_UNBEGUN;
  return from_afar && search_block_has_ended(search, s, rank) ? SEARCH_GONE : SEARCH_NO_FAULT;
}

static SearchFault act(const Search *search, SearchState *s, int process, const SearchEvent *e) {
  OrderPhases *phases = &search_phases(search, s)[e->object];
  const SearchFault fault = reach(search, s, process, e);
  if (fault || e->kind == SEARCH_WAIT) return fault;
  if (e->kind == SEARCH_LAND) {
    phases->bytes -= e->bytes;
  } else {
    phases->bytes += e->bytes;
    if (!order_phases_arrive(phases, e->n)) return SEARCH_TOO_MANY;
  }
  return settle(search, s, e->object);
}

static void initialise(const Search *search, SearchState *s, const SearchEvent *e) {
  order_phases_init(&search_phases(search, s)[e->object], e->n);
  search_flags(search, s)[e->object] = e->bit ? SEARCH_THERE | SEARCH_SAID : SEARCH_THERE;
}

static void say_initialised(const Search *search, SearchState *s, int process) {
  uint8_t *flags = search_flags(search, s);
  for (int i = 0; i < search_at(s, process); i++) {
    const SearchEvent *e = search_event(search, process, i);
    if (e->kind == SEARCH_INIT && flags[e->object]) flags[e->object] |= SEARCH_SAID;
  }
}

// ---- barriers -----------------------------------------------------------------------------------

static bool stands_at(const Search *search, const SearchState *s, int process, int barrier) {
  if (!search_has_arrived(s, process)) return false;
  return search_next(search, s, process)->object == barrier;
}

static void go_on(const Search *search, SearchState *s, int barrier) {
  for (int p = 0; p < search->n_processes; p++) {
    if (!stands_at(search, s, p, barrier)) continue;
    learn(search, s, p, search_next(search, s, p));
    s->at[p] = (uint16_t)(search_at(s, p) + 1);
  }
  search_passed(search, s)[barrier] = 0;
}

// All go on at once when enough have arrived.
static void meet(const Search *search, SearchState *s, int barrier, const SearchEvent *e) {
  int64_t n = search_passed(search, s)[barrier];
  for (int p = 0; p < search->n_processes; p++) {
    const bool counts =
        e->bit == SEARCH_MEET_CLUSTER ||
        (e->bit == SEARCH_MEET_BLOCK && search->process[p].rank == search->meet[barrier].rank);
    const bool ended = counts && !search->process[p].agent && search_is_done(search, s, p);
    n += ended || stands_at(search, s, p, barrier);
  }
  if (n >= e->n) go_on(search, s, barrier);
}

// Barriers of a cluster do not wait for processes that have ended (PTX ISA, barrier.cluster).
static void meet_without(const Search *search, SearchState *s) {
  for (int p = 0; p < search->n_processes; p++) {
    if (!search_has_arrived(s, p)) continue;
    const SearchEvent *e = search_next(search, s, p);
    if (e->bit) meet(search, s, e->object, e);
  }
}

static SearchFault end(const Search *search, SearchState *s, int process, int conflict[2]) {
  const int rank = search->process[process].rank;
  meet_without(search, s);
  if (!search_block_has_ended(search, s, rank)) return SEARCH_NO_FAULT;
  for (int a = 0; a < search->n_accesses; a++) {
    const SearchAccess *access = &search->access[a];
    if (search->place[access->place].rank != rank || search_is_instant(access)) continue;
    conflict[0] = a;
    if (search_is_open(s, access)) return SEARCH_IN_FLIGHT;
  }
  conflict[0] = -1;
  return SEARCH_NO_FAULT;
}

static void fence(const Search *search, SearchState *s, int process, int event) {
  const SearchIndex *x = search->index;
  uint64_t *word = search_words(search, s);
  for (int k = x->clears.first[event]; k < x->clears.first[event + 1]; k++) {
    uint64_t *words = &word[SEARCH_WORDS * x->clears.list[k]];
    words[SEARCH_READ] = words[SEARCH_WRITTEN] = 0;
  }
  for (int w = 0; w < x->n_words; w++)
    if (w % SEARCH_WORDS < SEARCH_UNTOLD) word[w] &= ~search_bit(process);
}

SearchFault search_step(const Search *search, SearchState *s, int process, int conflict[2]) {
  const int at = search_at(s, process), event = search->index->base[process] + at;
  const SearchEvent *e = search_event(search, process, at);
  conflict[0] = conflict[1] = -1;
  const SearchFault fault = begin_all(search, s, event, conflict);
  if (fault) return fault;
  tell_cluster(search, s, process, e);
  if (e->kind == SEARCH_MEET) {
    s->at[process] |= SEARCH_ARRIVED;
    meet(search, s, e->object, e);
    return SEARCH_NO_FAULT;
  }
  s->at[process] = (uint16_t)(at + 1);
  learn(search, s, process, e);
  switch (e->kind) {
    case SEARCH_ARRIVE:
    case SEARCH_LAND:
    case SEARCH_WAIT:
      return act(search, s, process, e);
    case SEARCH_INIT:
      initialise(search, s, e);
      break;
    case SEARCH_INIT_SAID:
      say_initialised(search, s, process);
      break;
    case SEARCH_PASS:
      search_passed(search, s)[e->object]++;
      meet(search, s, e->object, e);
      break;
    case SEARCH_FENCE:
      fence(search, s, process, event);
      break;
    case SEARCH_TAKE:
      s->registers[search->process[process].rank] -= (int32_t)e->n;
      break;
    case SEARCH_EXIT:
      return end(search, s, process, conflict);
    default:
      break;
  }
  return SEARCH_NO_FAULT;
}
