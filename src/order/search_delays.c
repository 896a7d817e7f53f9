// Processes to hold up on a GPU, so that the fault of a witness comes about there.
//
// A witness ends where harm can begin: two accesses are under way at once, or a step is taken too
// early. On a GPU chance decides which of the two comes first, and most often it is the right one.
//
//   two accesses      the access that should come first sleeps: fill 1 of a slot belongs to read 1,
//                     and fill 2 comes after it. Worked example, a consumer that does not wait for
//                     full[0]: fill 1 meets read 1, so the producer sleeps in front of the fill,
//                     and the consumer multiplies the old bytes of the slot.
//   an mbarrier that  the process that initialises it sleeps, so that the others use it before
//   may not be begun
//   all else          a process that could have gone on and did not sleeps there
#include "order/search_inside.h"

// Whether a process stands before an mbarrier with a phase that has ended under it.
static bool is_lapped_at(const Search *search, const SearchState *s, int process, int bar) {
  if (search_is_done(search, s, process)) return false;
  const SearchEvent *e = search_next(search, s, process);
  return e->kind == SEARCH_WAIT && e->object == bar;
}

// ---- two accesses -------------------------------------------------------------------------------

static bool begins_at(const Search *search, const SearchAccess *like, int at) {
  for (int i = 0; i < search->n_accesses; i++) {
    const SearchAccess *a = &search->access[i];
    if (a->process != like->process || a->begin != at || a->write != like->write) continue;
    if (search_places_overlap(&search->place[a->place], &search->place[like->place])) return true;
  }
  return false;
}

// The number, from 1, of the time that its process fills this place, or reads it. A time ends where
// the process arrives, waits or meets others.
static int time_of(const Search *search, const SearchAccess *access) {
  int n = 0;
  bool again = true;
  for (int at = 0; at <= access->begin; at++) {
    again |= search_event(search, access->process, at)->kind != SEARCH_WORK;
    if (!again || !begins_at(search, access, at)) continue;
    n++;
    again = false;
  }
  return n;
}

// The one of a write and a read that is meant to be first; NULL: they are not those.
static const SearchAccess *meant_first(const Search *search, const SearchResult *r) {
  if (r->access[0] < 0 || r->access[1] < 0) return NULL;
  const SearchAccess *a = &search->access[r->access[0]], *b = &search->access[r->access[1]];
  if (a->write == b->write || a->process == b->process) return NULL;
  const SearchAccess *fill = a->write ? a : b, *read = a->write ? b : a;
  return time_of(search, fill) <= time_of(search, read) ? fill : read;
}

// ---- an mbarrier that may not be begun ----------------------------------------------------------

// The event that initialises the mbarrier of the last step; at -1: it has been.
static SearchStep initialiser(const Search *search, const SearchState *s, const SearchResult *r) {
  const SearchStep *last = &r->step[r->n_steps - 1];
  const int bar = search_event(search, last->process, last->at)->object;
  for (int p = 0; p < search->n_processes; p++)
    for (int at = search_at(s, p); at < search->process[p].n_events; at++) {
      const SearchEvent *e = search_event(search, p, at);
      if (e->kind == SEARCH_INIT && e->object == bar) return (SearchStep){p, at, 0};
    }
  return (SearchStep){0, -1, 0};
}

// ---- all else -----------------------------------------------------------------------------------

static int delay_others(const Search *search, const SearchResult *r, SearchStep *out, int most) {
  SearchState *s = (SearchState *)r->last;
  const SearchStep *last = &r->step[r->n_steps - 1];
  const SearchAccess *then = r->access[1] >= 0 ? &search->access[r->access[1]] : NULL;
  const int bar =
      r->fault == SEARCH_LAPPED ? search_event(search, last->process, last->at)->object : -1;
  int n = 0;
  for (int p = 0; p < search->n_processes && n < most; p++) {
    const bool reads = then && !then->write && then->process == p;
    if (search->process[p].agent || p == last->process) continue;
    if (!reads && !is_lapped_at(search, s, p, bar) && !search_can_step(search, s, p)) continue;
    out[n++] = (SearchStep){p, reads ? then->begin : search_at(s, p), 0};
  }
  return n;
}

int search_delays(const Search *search, const SearchResult *r, SearchStep *out, int most) {
  if (!r->n_steps || most < 1) return 0;
  const SearchAccess *first = meant_first(search, r);
  if (first) {
    out[0] = (SearchStep){first->process, first->begin, 0};
    return 1;
  }
  if (r->fault == SEARCH_UNBEGUN) {
    out[0] = initialiser(search, r->last, r);
    if (out[0].at >= 0) return 1;
  }
  return delay_others(search, r, out, most);
}
