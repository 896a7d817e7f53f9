// A program of events, put together event by event.
#include "order/search.h"

#include <string.h>

#include "order/search_inside.h"

Search *search_new(Arena *arena) {
  Search *s = ARENA_NEW(arena, Search);
  s->arena = arena;
  s->ranks = 1;
  return s;
}

// Room for one more: those that are there, copied into twice as much.
static void *grown(Arena *arena, void *from, int n, int *capacity, size_t size) {
  if (n < *capacity) return from;
  *capacity = *capacity ? 2 * *capacity : 16;
  char *more = arena_alloc(arena, (size_t)*capacity * size);
  if (n) memcpy(more, from, (size_t)n * size);
  return more;
}

int search_process(Search *s, const char *name, int rank, int group) {
  s->process =
      grown(s->arena, s->process, s->n_processes, &s->process_capacity, sizeof *s->process);
  s->process[s->n_processes] = (SearchProcess){.name = name, .rank = rank, .group = group};
  if (rank >= s->ranks) s->ranks = rank + 1;
  return s->n_processes++;
}

int search_agent(Search *s, const char *name, int rank) {
  const int process = search_process(s, name, rank, -1);
  s->process[process].agent = true;
  return process;
}

int search_bar(Search *s, const char *name, int rank) {
  s->bar = grown(s->arena, s->bar, s->n_bars, &s->bar_capacity, sizeof *s->bar);
  s->bar[s->n_bars] = (SearchBar){.name = name, .rank = rank};
  return s->n_bars++;
}

int search_barrier(Search *s, const char *name, int rank) {
  s->meet = grown(s->arena, s->meet, s->n_meets, &s->meet_capacity, sizeof *s->meet);
  s->meet[s->n_meets] = (SearchBar){.name = name, .rank = rank};
  return s->n_meets++;
}

int search_part(Search *s, SearchPlace place) {
  s->place = grown(s->arena, s->place, s->n_places, &s->place_capacity, sizeof *s->place);
  s->place[s->n_places] = place;
  return s->n_places++;
}

int search_place(Search *s, const char *name, int rank, int memory) {
  SearchPlace place = {.name = name, .rank = rank, .memory = memory};
  for (int d = 0; d < SEARCH_DIMS; d++) place.hi[d] = 1;
  return search_part(s, place);
}

int search_add(Search *s, int process, SearchEvent event) {
  SearchProcess *p = &s->process[process];
  p->event = grown(s->arena, p->event, p->n_events, &p->capacity, sizeof *p->event);
  p->event[p->n_events] = event;
  return p->n_events++;
}

int search_events(const Search *s) {
  int n = 0;
  for (int p = 0; p < s->n_processes; p++) n += s->process[p].n_events;
  return n;
}

int search_access(Search *s, SearchAccess access) {
  s->access = grown(s->arena, s->access, s->n_accesses, &s->access_capacity, sizeof *s->access);
  s->access[s->n_accesses] = access;
  return s->n_accesses++;
}

int search_touch(Search *s, int process, int at, int place, bool write) {
  return search_access(s, (SearchAccess){.place = place,
                                         .write = write,
                                         .process = process,
                                         .begin = at,
                                         .ends = process,
                                         .end = at + 1});
}

// ---- words --------------------------------------------------------------------------------------

const char *search_verdict_name(SearchVerdict verdict) {
  static const char *const name[] = {"proved", "bounded", "found"};
  return name[verdict];
}

const char *search_fault_name(SearchFault fault) {
  static const char *const name[SEARCH_FAULTS] = {"nothing",
                                                  "deadlock",
                                                  "lapped phase",
                                                  "read before landing",
                                                  "refilled",
                                                  "race",
                                                  "missing fence",
                                                  "scope of one block",
                                                  "wait in the scope of one block",
                                                  "one arrival too many",
                                                  "not begun yet",
                                                  "block of the cluster gone",
                                                  "exit with work in flight",
                                                  "seen in one order"};
  return name[fault];
}

const char *search_event_text(const Search *s, int process, int at) {
  const SearchEvent *e = search_event(s, process, at);
  Arena *arena = s->arena;
  switch (e->kind) {
    case SEARCH_INIT:
      return arena_printf(arena, "initialises %s for %lld arrivals", s->bar[e->object].name,
                          (long long)e->n);
    case SEARCH_INIT_SAID:
      return "says that its mbarriers are initialised";
    case SEARCH_ARRIVE:
      return e->bytes ? arena_printf(arena, "arrives at %s, expects %lld bytes",
                                     s->bar[e->object].name, (long long)e->bytes)
                      : arena_printf(arena, "arrives at %s", s->bar[e->object].name);
    case SEARCH_LAND:
      return arena_printf(arena, "%lld bytes land, counted at %s", (long long)e->bytes,
                          s->bar[e->object].name);
    case SEARCH_WAIT:
      return arena_printf(arena, "waits for %s phase %u", s->bar[e->object].name, e->bit);
    case SEARCH_MEET:
      return arena_printf(arena, "waits at %s", s->meet[e->object].name);
    case SEARCH_PASS:
      return arena_printf(arena, "arrives at %s", s->meet[e->object].name);
    case SEARCH_FENCE:
      return "fences for the async proxy";
    case SEARCH_TELL:
      return "fences in the scope of the cluster";
    case SEARCH_TAKE:
      return arena_printf(arena, "%s %lld registers", e->n < 0 ? "gives back" : "takes",
                          (long long)(e->n < 0 ? -e->n : e->n));
    case SEARCH_EXIT:
      return "ends";
    default:
      break;
  }
  for (int i = s->n_accesses - 1; i >= 0; i--) {
    const SearchAccess *a = &s->access[i];
    if (a->process == process && a->begin == at)
      return arena_printf(arena, "%s %s%s", a->write ? "writes" : "reads", s->place[a->place].name,
                          search_is_instant(a) ? "" : " in the background");
  }
  for (int i = 0; i < s->n_accesses; i++) {
    const SearchAccess *a = &s->access[i];
    if (a->ends == process && a->end == at)
      return arena_printf(arena, "has %s %s", a->write ? "written" : "read",
                          s->place[a->place].name);
  }
  return "goes on";
}
