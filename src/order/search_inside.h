// Inside the search: its index of which events concern which processes, and its states.
//
// Included by search*.c only.
#pragma once
#include "order/search.h"

// Lists of accesses, one behind the other: list i is list[first[i]] … list[first[i + 1] - 1].
typedef struct SearchLists {
  int *first, *list;
} SearchLists;

typedef struct SearchIndex {
  int *base;  // by process: the number of its first event among all; [n_processes] is their sum
  SearchLists begins, ends;  // by event: accesses
  SearchLists against;       // by access: those that it must not meet
  SearchLists unknown_to;    // by access: words of accesses that it must know to be over
  int *word;                 // by place: the first of its words; -1
  int n_words;
  bool *handed;        // by place: threads write it, and threads of another block read it
  bool hands_over;     // some place is
  SearchLists clears;  // by event: places of the words that a fence clears
  bool *fenced;        // by access: its process fences behind it before it tells anybody
  bool *matters;       // by event: another process may have to do with it
  uint64_t of_block[SEARCH_RANKS];  // a bit for each process of a block
  SearchLists users;                // by mbarrier: the processes that act on it
  struct SearchGate {
    int process, at;
  } * gate;               // by event: comes after this one; process -1: after none
  SearchLists followers;  // by event: the processes that have an event which comes after it
  SearchLists meeters;    // by barrier: the processes that meet there
  SearchLists meeting;    // all of those, as list 0
  bool *uneven;           // by barrier: who comes last decides how many it awaits
  SearchLists threads;    // all that are no agents, as list 0
  bool *alone;            // by mbarrier: one process makes all of its arrivals, one a phase
  size_t state_bytes, bars_at, flags_at, words_at, passed_at;
} SearchIndex;

// The head of a state. Behind it come positions, phases of mbarriers, the knowledge about them, the
// words of fences, and the processes that have passed barriers.
typedef struct SearchState {
  int32_t registers[SEARCH_RANKS];  // free registers of each block
  uint16_t at[];  // by process: events done; ARRIVED: and counted at the barrier that it stands at
} SearchState;

// For a place that threads reach, and the async proxy or another block, too: a bit for each process
// that has read it, or written, with no fence behind; that has written it, and of which no other
// block has been told; that does not know yet what another block wrote there.
typedef enum SearchWord {
  SEARCH_READ,
  SEARCH_WRITTEN,
  SEARCH_UNTOLD,
  SEARCH_UNKNOWN,
  SEARCH_WORDS
} SearchWord;

enum { SEARCH_ARRIVED = 1 << 15, SEARCH_EVENTS_MAX = SEARCH_ARRIVED - 1 };
enum { SEARCH_CURE_STATES = 8000 };
enum { SEARCH_THERE = 1, SEARCH_SAID = 2 };  // flags of an mbarrier

static inline int search_at(const SearchState *s, int process) {
  return s->at[process] & SEARCH_EVENTS_MAX;
}
static inline bool search_has_arrived(const SearchState *s, int process) {
  return s->at[process] & SEARCH_ARRIVED;
}
static inline OrderPhases *search_phases(const Search *search, SearchState *s) {
  return (OrderPhases *)((char *)s + search->index->bars_at);
}
static inline uint8_t *search_flags(const Search *search, SearchState *s) {
  return (uint8_t *)s + search->index->flags_at;
}
static inline uint64_t *search_words(const Search *search, SearchState *s) {
  return (uint64_t *)((char *)s + search->index->words_at);
}
static inline uint8_t *search_passed(const Search *search, SearchState *s) {
  return (uint8_t *)s + search->index->passed_at;
}
static inline bool search_is_done(const Search *search, const SearchState *s, int process) {
  return search_at(s, process) == search->process[process].n_events;
}
static inline const SearchEvent *search_next(const Search *search, const SearchState *s,
                                             int process) {
  return &search->process[process].event[search_at(s, process)];
}
static inline bool search_is_open(const SearchState *s, const SearchAccess *a) {
  bool open =
      search_at(s, a->process) > a->begin && (a->end < 0 || search_at(s, a->ends) <= a->end);
  for (int i = 0; open && i < a->n_also; i++)
    open = search_at(s, a->also[i].process) <= a->also[i].at;
  return open;
}
// An event that tells other blocks of the cluster what its block has done.
static inline bool search_tells_cluster(const SearchEvent *e) {
  return (e->kind == SEARCH_ARRIVE && e->scope == SEARCH_OF_CLUSTER) || e->kind == SEARCH_TELL ||
         (e->kind == SEARCH_MEET && e->bit == SEARCH_MEET_CLUSTER);
}
// An event behind which its process knows what its block knows, or the cluster was told.
static inline bool search_learns(const SearchEvent *e) {
  return (e->kind == SEARCH_WAIT && e->scope != SEARCH_RELAXED) || e->kind == SEARCH_TELL ||
         e->kind == SEARCH_MEET;
}
static inline bool search_learns_of_cluster(const SearchEvent *e) {
  return (e->kind == SEARCH_WAIT && e->scope == SEARCH_OF_CLUSTER) || e->kind == SEARCH_TELL ||
         (e->kind == SEARCH_MEET && e->bit == SEARCH_MEET_CLUSTER);
}
static inline uint64_t search_bit(int process) { return UINT64_C(1) << process % 64; }
// The first bit from `from` on, of n; -1: there is none.
static inline int search_next_bit(const uint64_t *bits, int from, int n) {
  for (; from < n; from = from / 64 * 64 + 64) {
    const uint64_t left = bits[from / 64] >> from % 64;
    if (left) return from + __builtin_ctzll(left);
  }
  return -1;
}
static inline bool search_is_instant(const SearchAccess *a) {
  return a->ends == a->process && a->end == a->begin + 1;
}

static inline bool search_is_about_mbarrier(const SearchEvent *e) {
  return e->kind == SEARCH_INIT || e->kind == SEARCH_ARRIVE || e->kind == SEARCH_LAND ||
         e->kind == SEARCH_WAIT;
}
// Whether a fence clears the words of a place.
static inline bool search_clears(const SearchIndex *x, int event, int word) {
  for (int k = x->clears.first[event]; k < x->clears.first[event + 1]; k++)
    if (x->clears.list[k] == word) return true;
  return false;
}

// search_index.c
void search_make_index(Search *search);
bool search_places_overlap(const SearchPlace *a, const SearchPlace *b);

SearchFault search_fault_of(const SearchAccess *now, const SearchAccess *then);

// search_step.c: a process's next event. `other`: the two of a conflict.
void search_start(const Search *search, SearchState *state);
bool search_can_step(const Search *search, SearchState *state, int process);
SearchFault search_step(const Search *search, SearchState *state, int process, int conflict[2]);

// search_states.c: a set of states, each kept once, with the step that led to it first. State 0 is
// the start.
enum { SEARCH_CHUNK = 256 };
typedef struct SearchNode {
  int parent, depth;
  uint16_t process;
} SearchNode;
typedef struct SearchStates {
  const Search *search;
  size_t bytes;
  int n, most;
  char **chunk;
  SearchNode *node;
  int *table;  // node + 1 by hash
  uint32_t mask;
  SearchState *start;
} SearchStates;
SearchStates *search_new_states(const Search *search, int most);
void search_forget_states(SearchStates *states);
static inline SearchState *search_state(const SearchStates *states, int i) {
  return (SearchState *)(states->chunk[i / SEARCH_CHUNK] +
                         (size_t)(i % SEARCH_CHUNK) * states->bytes);
}
// False: it is there already.
bool search_keep(SearchStates *states, const SearchState *s, int parent, int process);
// The steps to a state, and behind them the next event of a process `last` (-1: none).
SearchStep *search_way(const SearchStates *states, int node, int last, int *n_steps);

// search_witness.c: takes what leads to a fault as the result, without events that do not. The last
// step is the fault; of a deadlock it is the last that was possible.
void search_found(const Search *search, SearchResult *out, SearchStep *step, int n,
                  SearchFault fault);

// search_needs.c: what must have happened before an event, as a row. NULL: there is no room for it,
// or it was given up.
typedef uint16_t SearchCount;
typedef struct SearchNeeds SearchNeeds;
SearchNeeds *search_new_needs(const Search *search, const SearchOptions *options);
int search_need_width(const SearchNeeds *needs);
int64_t search_need_steps(const SearchNeeds *needs, const SearchCount *row);  // of all processes
int search_need_of(const SearchNeeds *needs, const SearchCount *row, int process);
void search_need_done(const SearchNeeds *needs, SearchCount *row, int process, int at);
void search_join_needs(const SearchNeeds *needs, SearchCount *into, const SearchCount *from);
int64_t search_need_arrivals(const SearchNeeds *needs, int bar);  // of a phase; 0: not known
int64_t search_need_phase_of(const SearchNeeds *needs, const SearchCount *row, int bar);
// A process may do no more steps than these.
typedef struct SearchLimit {
  int process, most;
} SearchLimit;
// The needs where processes are limited; until the next question.
const SearchNeeds *search_needs_within(SearchNeeds *needs, const SearchOptions *options,
                                       const SearchLimit *limit, int n_limits);
int64_t search_needs_work(const SearchNeeds *needs);  // words that were looked at until now
// Until an event is done; until the process has gone on behind it.
const SearchCount *search_need(const SearchNeeds *needs, int process, int at);
const SearchCount *search_need_behind(const SearchNeeds *needs, int process, int at);
// Into a row: to stand in front of an event.
void search_need_front(const SearchNeeds *needs, int process, int at, SearchCount *row);
// Joined into a row: so many phases over and so many arrivals `more`, by a process no events from
// that one on.
void search_need_phase(const SearchNeeds *needs, SearchCount *row, int bar, int64_t phases,
                       int64_t more, int but_process, int but_at);

// search_least.c: looks for a witness of the same fault with the fewest steps; says whether there
// is none with fewer than the result then has.
bool search_least(Search *search, const SearchOptions *options, SearchResult *out);

// search_alike.c: whether all orders are one, up to neighbours that have nothing to do with each
// other, and it does no harm; false: it is not known. `held`: an event that may come too late for
// another process, in this case; at -1: none is known.
bool search_is_alike(const Search *search, const SearchOptions *options, SearchStep *held);

// search_cure.c: of the mbarrier at which a process waits for ever, by the event with that tag.
const char *search_cure_deadlock(Search *search, const OrderPhases *phases, int bar, int process,
                                 int wait_tag);

// The cure of a barrier that awaits `n` processes, where `come` of them come.
const char *search_cure_meeting(Search *search, int barrier, int64_t n, int come);

// Whether it is proved when that wait of a process, by its tag, has the other bit.
bool search_cure_flip(Search *search, int process, int tag);

bool search_cure_is_proved(Search *search);
// The number of arrivals with which the program is proved when an mbarrier awaits one more; 0: it
// is not proved; negative: that number fits the arrivals, and the program is too long to try.
int64_t search_cure_one_more(Search *search, int bar);
// Whether it is proved when all arrivals, or all waits, are of the cluster's scope.
bool search_cure_wide(Search *search, SearchKind kind);

// search_mend.c: a cure of a fault that is no deadlock, which was tried; NULL: none that was.
const char *search_mend(Search *search, const SearchResult *result);

// search_ahead.c: how far processes may possibly get while one of them is held up.
typedef struct SearchAhead SearchAhead;
typedef struct AheadBar {
  int64_t pending, bytes;
  int64_t expects, lands;  // bytes, of all that others may do
  int loose;               // process + 1 that expects bytes and has not arrived yet; -1: several
  uint32_t phase;          // the last one that it may get to
  bool wild, used, init;
} AheadBar;

struct SearchAhead {
  int *at;
  bool *arrived;
  // A bit for each process: its next event waits for no barrier, and for no event of another one;
  // it has gone on.
  uint64_t *live, *moved;
  // The state of the last question: how far its processes are, and which are live.
  uint16_t *last_at;
  uint64_t *last_live;
  struct AheadMove {
    int process, from;
  } * move;  // scratch
  AheadBar *bar;
  // Phases under way, or later ones, in rows: [processes][row] that a process knows of;
  // [mbarriers][row] that all arrivals for the phase know of, and all arrivals for the last phase.
  int row;  // the number of mbarriers, up to a multiple of PHASES
  int32_t *known, *gathered, *handed;
  int32_t *under_way;                  // [row] the phases of the state
  int *there, *released;               // by barrier: the number there; went on together
  uint16_t *joined;                    // [barriers][processes] how often it went on with others
  int ended[SEARCH_RANKS], all_ended;  // processes at their last event's end, agents aside
  int64_t registers[SEARCH_RANKS], taken[SEARCH_RANKS];
  // All that decides at once: accesses, those with the number of this question, and what becomes
  // of an mbarrier (-1: of none).
  int *asked, question, n_asked, bar_asked;
  uint32_t phase_asked;
  bool met;
};

// Runs all processes but `held` as far as they may possibly get, or until one does what decides at
// once: `met`.
void search_run_others(const Search *search, SearchState *s, SearchAhead *work, int held);

// search_apart.c: whether whatever the others may do before it makes no difference to a process's
// next event. `work`: search_new_ahead(), search_ahead.c.
SearchAhead *search_new_ahead(const Search *search, Arena *arena);
// A bit for each process whose next event waits for no barrier, and for no event of another one;
// until the next question.
const uint64_t *search_live(const Search *search, const SearchState *state, SearchAhead *work);
bool search_is_apart(const Search *search, SearchState *state, int process, SearchAhead *work);
