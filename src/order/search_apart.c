// Whether it makes no difference if an event happens now or later: all others are run as far as
// they may possibly get without it (search_ahead.c), and none of what they may do has to do with
// it.
//
//   an arrival that is not the last one    its phase goes on, whichever comes first
//   the last one                           a warp may still wait for the phase before: it matters
#include "order/search_inside.h"

static bool happens(const SearchState *s, const SearchAhead *w, int process, int at) {
  return search_at(s, process) <= at && at < w->at[process];
}

// The words that an event's generic accesses set are cleared by another's fence, or it is the
// fence.
static bool is_told_by(const Search *search, int fence, int event) {
  const SearchIndex *x = search->index;
  for (int k = x->begins.first[event]; k < x->begins.first[event + 1]; k++) {
    const SearchAccess *a = &search->access[x->begins.list[k]];
    const int word = x->word[a->place];
    if (a->async || word < 0 || x->fenced[x->begins.list[k]]) continue;
    if (search_clears(x, fence, word / SEARCH_WORDS)) return true;
  }
  return false;
}

// Whether some fence could be told of what an event does.
static bool sets_words(const Search *search, int event) {
  const SearchIndex *x = search->index;
  for (int k = x->begins.first[event]; k < x->begins.first[event + 1]; k++) {
    const int a = x->begins.list[k];
    if (!search->access[a].async && x->word[search->access[a].place] >= 0 && !x->fenced[a])
      return true;
  }
  return false;
}

// Whether an event begins an access through the async proxy that a fence has something to tell now.
static bool asks_fence(const Search *search, SearchState *s, int event, int fence) {
  const SearchIndex *x = search->index;
  const uint64_t *word = search_words(search, s);
  for (int k = x->begins.first[event]; k < x->begins.first[event + 1]; k++) {
    const int a = x->begins.list[k];
    for (int u = x->unknown_to.first[a]; u < x->unknown_to.first[a + 1]; u++)
      if (word[x->unknown_to.list[u]] &&
          search_clears(x, fence, x->unknown_to.list[u] / SEARCH_WORDS))
        return true;
  }
  return false;
}

// Whether an access is a write that other blocks will read.
static bool hands_over(const Search *search, const SearchAccess *a) {
  return a->write && !a->async && search->index->handed[a->place];
}

static bool reads_untold(const Search *search, SearchState *s, int access, uint64_t of_block) {
  const SearchIndex *x = search->index;
  for (int u = x->unknown_to.first[access]; u < x->unknown_to.first[access + 1]; u++) {
    const int word = x->unknown_to.list[u];
    if (word % SEARCH_WORDS == SEARCH_UNTOLD && search_words(search, s)[word] & of_block)
      return true;
  }
  return false;
}

// Whether others may read what this event would tell other blocks of, or write more for them.
static bool meets_told(const Search *search, SearchState *s, const SearchAhead *w, int process) {
  const int rank = search->process[process].rank;
  for (int i = 0; i < search->n_accesses; i++) {
    const SearchAccess *a = &search->access[i];
    if (a->process == process || !happens(s, w, a->process, a->begin)) continue;
    if (hands_over(search, a) && search->process[a->process].rank == rank) return true;
    if (reads_untold(search, s, i, search->index->of_block[rank])) return true;
  }
  return false;
}

// Whether this event writes for other blocks, and others of its own may tell them of it.
static bool meets_teller(const Search *search, const SearchState *s, const SearchAhead *w,
                         int process, int event) {
  const SearchLists *begins = &search->index->begins;
  bool writes = false;
  for (int k = begins->first[event]; k < begins->first[event + 1]; k++)
    writes = writes || hands_over(search, &search->access[begins->list[k]]);
  for (int p = 0; writes && p < search->n_processes; p++)
    for (int at = search_at(s, p); p != process && at < w->at[p]; at++)
      if (search->process[p].rank == search->process[process].rank &&
          search_tells_cluster(search_event(search, p, at)))
        return true;
  return false;
}

// Whether another process may learn more because this event comes now and not later. `own` false:
// processes of other blocks, which this block tells. `own` true: processes of this block, which has
// learned. A process that learns early learns least: so earlier tellers need no look.
static bool meets_learner(const Search *search, SearchState *s, const SearchAhead *w, int process,
                          SearchWord word, bool own) {
  const int rank = search->process[process].rank;
  bool any = false;
  for (int i = (int)word; i < search->index->n_words; i += SEARCH_WORDS)
    any = any || search_words(search, s)[i] & search->index->of_block[rank];
  for (int p = 0; any && p < search->n_processes; p++)
    for (int at = search_at(s, p); p != process && at < w->at[p]; at++)
      if ((search->process[p].rank == rank) == own && search_learns(search_event(search, p, at)))
        return true;
  return false;
}

static bool meets_scope(const Search *search, SearchState *s, const SearchAhead *w, int process,
                        int event) {
  const SearchEvent *e = search_next(search, s, process);
  if (!search->index->hands_over) return false;
  if (search_tells_cluster(e) && (meets_told(search, s, w, process) ||
                                  meets_learner(search, s, w, process, SEARCH_UNTOLD, false)))
    return true;
  return (search_learns_of_cluster(e) &&
          meets_learner(search, s, w, process, SEARCH_UNKNOWN, true)) ||
         meets_teller(search, s, w, process, event);
}

static bool meets_fence(const Search *search, SearchState *s, const SearchAhead *w, int event) {
  const SearchIndex *x = search->index;
  const bool is_fence = x->clears.first[event] < x->clears.first[event + 1];
  if (!x->n_words || (!is_fence && !sets_words(search, event))) return false;
  for (int p = -1; (p = search_next_bit(w->moved, p + 1, search->n_processes)) >= 0;)
    for (int at = search_at(s, p); at < w->at[p]; at++) {
      const int other = x->base[p] + at;
      if (is_fence ? is_told_by(search, event, other) || asks_fence(search, s, other, event)
                   : is_told_by(search, other, event))
        return true;
    }
  return false;
}

// Whether others wait at an mbarrier for the phase before the one under way.
static bool others_wait(const Search *search, SearchState *s, const SearchAhead *w, int bar) {
  const SearchLists *users = &search->index->users;
  for (int k = users->first[bar]; k < users->first[bar + 1]; k++) {
    const int p = users->list[k];
    for (int at = search_at(s, p); at < w->at[p]; at++) {
      const SearchEvent *e = search_event(search, p, at);
      if (e->kind == SEARCH_WAIT && e->object == bar) return true;
    }
  }
  return false;
}

static bool all_end(const Search *search, const SearchAhead *w, int rank, int but) {
  if (search->cut) return false;
  for (int p = 0; p < search->n_processes; p++)
    if (p != but && !search->process[p].agent && search->process[p].rank == rank &&
        w->at[p] < search->process[p].n_events)
      return false;
  return true;
}

// Whether a block may end before work on its memory does that the event ends.
static bool outlives(const Search *search, const SearchAhead *w, int process, int event) {
  const SearchLists *ends = &search->index->ends;
  for (int k = ends->first[event]; k < ends->first[event + 1]; k++) {
    const SearchAccess *a = &search->access[ends->list[k]];
    const int rank = search->place[a->place].rank;
    if (search_is_instant(a)) continue;
    const bool afar = search->process[process].agent || search->process[process].rank != rank;
    if (afar && all_end(search, w, rank, process)) return true;
  }
  return false;
}

// Whether arrivals and bytes that others may bring in this phase make a difference. When the event
// and all their arrivals have come, the bytes that are expected must be no fewer than those that
// land: else the phase may end before the last bytes, or not at all.
static bool meets_count(const Search *search, SearchState *s, const SearchAhead *w,
                        const SearchEvent *e) {
  const AheadBar *bar = &w->bar[e->object];
  const bool arrives = e->kind == SEARCH_ARRIVE;
  const int64_t left = bar->pending - (arrives ? e->n : 0),
                expected = search_phases(search, s)[e->object].bytes + bar->expects +
                           (arrives ? e->bytes : -e->bytes);
  if (left > 0) return false;
  return left < 0 || bar->loose || expected < bar->lands || others_wait(search, s, w, e->object);
}

static bool meets_at_mbarrier(const Search *search, SearchState *s, const SearchAhead *w,
                              int process, const SearchEvent *e) {
  const AheadBar *bar = &w->bar[e->object];
  const uint32_t phase = search_phases(search, s)[e->object].phase;
  const int rank = search->bar[e->object].rank;
  if (bar->init || e->kind == SEARCH_INIT) return bar->used || bar->init;
  if (!search_flags(search, s)[e->object]) return false;  // a finding at once
  if (bar->wild || bar->phase != phase) return true;
  const bool afar = !search->bar[e->object].given &&
                    (search->process[process].agent || search->process[process].rank != rank);
  if (afar && all_end(search, w, rank, process)) return true;
  if (e->kind == SEARCH_WAIT) return false;
  return meets_count(search, s, w, e);
}

// Whether an event ends work in the background on a block's memory.
static bool ends_work_on(const Search *search, int event, int rank) {
  const SearchLists *ends = &search->index->ends;
  for (int k = ends->first[event]; k < ends->first[event + 1]; k++) {
    const SearchAccess *a = &search->access[ends->list[k]];
    if (!search_is_instant(a) && search->place[a->place].rank == rank) return true;
  }
  return false;
}

// Something of a block that is reached from elsewhere while this, its last process, ends.
static bool is_reached(const Search *search, const SearchState *s, const SearchAhead *w, int rank) {
  for (int p = 0; p < search->n_processes; p++) {
    const bool afar = search->process[p].agent || search->process[p].rank != rank;
    for (int at = search_at(s, p); afar && at < w->at[p]; at++) {
      const SearchEvent *e = search_event(search, p, at);
      const bool acts =
          e->kind == SEARCH_ARRIVE || e->kind == SEARCH_LAND || e->kind == SEARCH_WAIT;
      if (acts && search->bar[e->object].rank == rank && !search->bar[e->object].given) return true;
      if (ends_work_on(search, search->index->base[p] + at, rank)) return true;
    }
  }
  return false;
}

// Another process uses an mbarrier that this one has initialised and is about to announce.
static bool uses_own(const Search *search, const SearchAhead *w, int process) {
  for (int i = 0; i < search->process[process].n_events; i++) {
    const SearchEvent *e = search_event(search, process, i);
    if (e->kind == SEARCH_INIT && w->bar[e->object].used) return true;
  }
  return false;
}

bool search_is_apart(const Search *search, SearchState *s, int process, SearchAhead *w) {
  const SearchIndex *x = search->index;
  const int event = x->base[process] + search_at(s, process);
  const SearchEvent *e = search_next(search, s, process);
  const int rank = search->process[process].rank;
  if (!x->matters[event]) return true;
  search_run_others(search, s, w, process);
  if (w->met) return false;
  if (meets_fence(search, s, w, event)) return false;
  if (meets_scope(search, s, w, process, event)) return false;
  if (outlives(search, w, process, event)) return false;
  switch (e->kind) {
    case SEARCH_INIT:
    case SEARCH_ARRIVE:
    case SEARCH_LAND:
    case SEARCH_WAIT:
      return !meets_at_mbarrier(search, s, w, process, e);
    case SEARCH_INIT_SAID:
      return !uses_own(search, w, process);
    case SEARCH_MEET:
    case SEARCH_PASS:
      return w->released[e->object] == 0 && !x->uneven[e->object];
    case SEARCH_TAKE:
      return e->n < 0 || s->registers[rank] - w->taken[rank] >= e->n;
    case SEARCH_EXIT:
      return !all_end(search, w, search->process[process].rank, process) ||
             !is_reached(search, s, w, search->process[process].rank);
    default:
      return true;
  }
}
