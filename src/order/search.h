// Every order: whether a program of synchronising events is right however it is timed.
//
// A program is one list of events for each process, without branches: a warp, a box of TMA that
// lands, a warp's share of the tensor core that arrives. The search goes through all orders in
// which they may happen (search_run.c says why it need not look at each) and ends with a verdict:
//
//   PROVED    no order does any harm
//   BOUNDED   none was found among the states that there was room for
//   FOUND     this order does, event by event, and this is its cause
//
//   Search *s = search_new(arena);
//   int full = search_bar(s, "full[0]", 0), slot = search_place(s, "A_s[0]", 0, 0);
//   int producer = search_process(s, "producer", 0, 0), box = search_process(s, "box", 0, 0);
//   search_add(s, producer, (SearchEvent){.kind = SEARCH_INIT, .object = full, .n = 1});
//   search_add(s, producer, (SearchEvent){.kind = SEARCH_ARRIVE, .object = full, .n = 1, .bytes =
//   64}); int ask = search_add(s, producer, (SearchEvent){.kind = SEARCH_WORK}); int land =
//   search_add(s, box, (SearchEvent){.kind = SEARCH_LAND, .object = full, .bytes = 64,
//                                               .after = producer + 1, .after_at = ask});
//   search_access(s, (SearchAccess){.place = slot, .write = true, .async = true, .process =
//   producer,
//                                   .begin = ask, .ends = box, .end = land});
//
// An access is an interval, from the event that begins it to the event that proves it over; one
// that is over at once ends with its process's next event, so that "at the same time" has a
// meaning. Two accesses of which one writes, and which may be under way at once, are a finding.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "order/order_mbar.h"

typedef enum SearchKind {
  SEARCH_WORK,       // begins or ends accesses, or only stands there
  SEARCH_INIT,       // object: an mbarrier, n: arrivals of a phase
  SEARCH_INIT_SAID,  // fence.mbarrier_init: those that this process has initialised
  SEARCH_ARRIVE,     // object, n arrivals, bytes expected; scope
  SEARCH_LAND,       // object, bytes that come
  SEARCH_WAIT,       // object, bit: of the phase that must be over; scope
  SEARCH_MEET,       // object: a barrier, at which n processes meet; bit: SearchMeet
  SEARCH_PASS,       // the same, and goes on at once (bar.arrive)
  SEARCH_FENCE,      // fence.proxy.async: n 0: of what this process copies next; 1: of everything
  SEARCH_TELL,       // fence.acq_rel.cluster: tells the cluster, and learns from it
  SEARCH_TAKE,       // n registers of its block, when they are there; negative: gives them back
  SEARCH_EXIT,       // of a process that keeps its block alive
  SEARCH_KINDS
} SearchKind;

// Processes that count at a barrier without coming: none, those that have ended, those of the
// barrier's block that have ended.
typedef enum SearchMeet { SEARCH_MEET_ALL, SEARCH_MEET_CLUSTER, SEARCH_MEET_BLOCK } SearchMeet;

// The range in which an arrival publishes the work before it, and in which a wait learns of it.
typedef enum SearchScope { SEARCH_OF_CLUSTER, SEARCH_OF_BLOCK, SEARCH_RELAXED } SearchScope;

typedef struct SearchEvent {
  SearchKind kind;
  SearchScope scope;
  int object;
  int64_t n, bytes;
  uint32_t bit;
  int after, after_at;  // process + 1 that must have done its event `after_at`; 0: none
  int tag;              // the driver's name for it
} SearchEvent;

enum { SEARCH_ALSO = 3 };
typedef struct SearchAccess {
  int place;
  bool write, async;  // async: by the async proxy
  int process, begin;
  int ends, end;  // the event that proves it over, of that process; end -1: none ever does
  struct SearchEnd {
    int process, at;
  } also[SEARCH_ALSO];  // others that prove it too, whichever comes first
  int n_also;
  int queue;   // accesses of one queue come one after the other, from 1; 0: of none
  bool apart;  // but this one does not wait for those that are no such copies
  int tag;     // the driver's name for it; threads that write by one name write each its own cells
} SearchAccess;

typedef enum SearchFault {
  SEARCH_NO_FAULT,
  SEARCH_DEADLOCK,
  SEARCH_LAPPED,     // a phase ends twice in front of a process that waits for it
  SEARCH_EARLY,      // read while it may still be written in the background
  SEARCH_REFILLED,   // written while it may still be read
  SEARCH_RACE,       // two accesses, nothing between them
  SEARCH_UNFENCED,   // the async proxy does not know
  SEARCH_NARROW,     // another block does not know: it was told in the scope of its own block
  SEARCH_UNLEARNED,  // this block does not know: it waited in the scope of its own block
  SEARCH_TOO_MANY,   // an arrival that its phase does not await
  SEARCH_UNBEGUN,    // an mbarrier that may not be initialised yet, or not for the threads it
                     // concerns
  SEARCH_GONE,       // a block of the cluster that has ended
  SEARCH_IN_FLIGHT,  // a block ends, and work on its memory does not
  SEARCH_SEEN,       // the driver's: what a run with values finds in every order
  SEARCH_FAULTS
} SearchFault;

typedef enum SearchVerdict { SEARCH_PROVED, SEARCH_BOUNDED, SEARCH_FOUND } SearchVerdict;
const char *search_verdict_name(SearchVerdict verdict);
const char *search_fault_name(SearchFault fault);

typedef struct SearchProcess {
  const char *name;
  int rank, group;  // block of the cluster; processes of a group play one role
  int n_events, capacity;
  SearchEvent *event;
  bool agent;  // works in the background; search_agent()
} SearchProcess;

// A part of memory: between lo and hi, hi excluded, in each of its dimensions.
enum { SEARCH_DIMS = 4, SEARCH_RANKS = 16 };
typedef struct SearchPlace {
  const char *name;
  int rank, memory;
  int64_t lo[SEARCH_DIMS], hi[SEARCH_DIMS];
} SearchPlace;

typedef struct SearchBar {
  const char *name;
  int rank;
  int64_t given;  // arrivals of a phase, of one that is there from the start; 0: it is initialised
} SearchBar;

typedef struct Search {
  Arena *arena;
  int n_processes, n_bars, n_places, n_accesses, n_meets;
  int process_capacity, bar_capacity, place_capacity, access_capacity, meet_capacity;
  SearchProcess *process;
  SearchBar *bar, *meet;
  SearchPlace *place;
  SearchAccess *access;
  int ranks;
  bool threads_apart;         // what threads do to each other's cells is for the caller to judge
  bool cut;                   // lists end where their run was stopped, and no process has ended
  bool stopped;               // lists end at the waits of a deadlock
  bool scopes;                // arrivals and waits say their scope
  int64_t registers;          // free registers of a block at the start
  struct SearchIndex *index;  // made when it runs
} Search;

Search *search_new(Arena *arena);
int search_process(Search *search, const char *name, int rank, int group);
int search_agent(Search *search, const char *name, int rank);
int search_bar(Search *search, const char *name, int rank);
int search_barrier(Search *search, const char *name, int rank);
// All of a memory.
int search_place(Search *search, const char *name, int rank, int memory);
int search_part(Search *search, SearchPlace place);
int search_add(Search *search, int process, SearchEvent event);
int search_access(Search *search, SearchAccess access);
// By a process's event `at`, over with its next one.
int search_touch(Search *search, int process, int at, int place, bool write);
static inline const SearchEvent *search_event(const Search *s, int process, int at) {
  return &s->process[process].event[at];
}

// The number of events of all processes: a search without branches has a state for each, and one.
int search_events(const Search *search);

typedef struct SearchOptions {
  int64_t states;  // most; 0: 60,000
  bool all;        // every order, none taken for another: to be compared with
  bool plain;      // nothing is explained
  bool quick;      // where there is no room for all, none is looked for any further
  bool (*goes_on)(void *context, int64_t states);  // false: it is given up; NULL: never
  void *context;
} SearchOptions;

typedef struct SearchStep {
  int process, at;
  uint32_t phase;  // of its mbarrier, under way behind it
} SearchStep;

typedef struct SearchResult {
  SearchVerdict verdict;
  SearchFault fault;
  int64_t states;
  int n_steps;    // found: of the witness, the last one is what does harm
  bool alike;     // proved: one order stands for all
  bool shortest;  // none with this fault has fewer steps; else it is cut down to what leads there
  const SearchStep *step;
  int access[2];                   // the two of a conflict; -1: it is none
  const struct SearchState *last;  // behind the last step
  const char *root, *cure;         // search_explain(); NULL: nothing was found
} SearchResult;

// Finds events at which a process must sleep on a GPU, so that a witness comes about there
// (search_delays.c); returns their number, at most `most`.
int search_delays(const Search *search, const SearchResult *result, SearchStep *out, int most);

SearchResult search_run(Search *search, const SearchOptions *options);
// The cause in one sentence, from the root of the chain of waits, and a cure.
void search_explain(Search *search, SearchResult *result);
// An event in words: "waits for full[0] phase 1".
const char *search_event_text(const Search *search, int process, int at);
