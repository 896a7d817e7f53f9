// Cures of a deadlock: edits of the events that come of one statement, each of them tried.
//
// A process that finds one arrival missing initialises the mbarrier for the arrivals that come. One
// that finds bytes missing expects the bytes that come. One that finds a circle without any arrival
// begins with the other phase. An edit is a cure when the program with it is proved.
#include <stdlib.h>

#include "order/search_inside.h"

typedef struct Edit {
  SearchKind kind;
  int tag, process;  // process -1: of any
  int64_t n, bytes;  // added
  uint32_t flip;
} Edit;

static void apply(Search *s, const Edit *edit, int sign) {
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      SearchEvent *e = &s->process[p].event[i];
      if (e->kind != edit->kind || e->tag != edit->tag) continue;
      if (edit->process >= 0 && p != edit->process) continue;
      e->n += sign * edit->n;
      e->bytes += sign * edit->bytes;
      e->bit ^= edit->flip;
    }
}

// A proof needs a state for each event at least.
static bool is_too_long(const Search *s) { return search_events(s) > SEARCH_CURE_STATES; }

bool search_cure_is_proved(Search *s) {
  if (is_too_long(s)) return false;
  const SearchResult r =
      search_run(s, &(SearchOptions){.states = SEARCH_CURE_STATES, .plain = true, .quick = true});
  return r.verdict == SEARCH_PROVED;
}

static bool try_edit(Search *s, const Edit *edit) {
  apply(s, edit, 1);
  const bool ok = search_cure_is_proved(s);
  apply(s, edit, -1);
  return ok;
}

bool search_cure_flip(Search *s, int process, int tag) {
  return tag && try_edit(s, &(Edit){SEARCH_WAIT, tag, process, 0, 0, 1});
}

static int tag_of(const Search *s, SearchKind kind, int object) {
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      const SearchEvent *e = search_event(s, p, i);
      if (e->kind == kind && e->object == object && (kind != SEARCH_ARRIVE || e->bytes))
        return e->tag;
    }
  return -1;
}

// All arrivals at an mbarrier.
static int64_t arrivals_at(const Search *s, int bar) {
  int64_t n = 0;
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      const SearchEvent *e = search_event(s, p, i);
      if (e->kind == SEARCH_ARRIVE && e->object == bar) n += e->n;
    }
  return n;
}

static int64_t expected_at(const Search *s, int bar) {
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      const SearchEvent *e = search_event(s, p, i);
      if (e->kind == SEARCH_INIT && e->object == bar) return e->n;
    }
  return 0;
}

// Tries an mbarrier that awaits one arrival more, where the arrivals fill whole phases of that
// size. Where the program is too long to try, the number is negative.
int64_t search_cure_one_more(Search *s, int bar) {
  const Edit more = {SEARCH_INIT, tag_of(s, SEARCH_INIT, bar), -1, 1, 0, 0};
  const int64_t n = expected_at(s, bar) + 1;
  if (more.tag < 0 || arrivals_at(s, bar) % n != 0) return 0;
  if (is_too_long(s)) return -n;
  return try_edit(s, &more) ? n : 0;
}
static void swap_scopes(Search *s, SearchKind kind, SearchScope *kept) {
  for (int p = 0, n = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      SearchEvent *e = &s->process[p].event[i];
      if (e->kind != kind) continue;
      const SearchScope was = e->scope;
      e->scope = kept[n];
      kept[n++] = was;
    }
}

bool search_cure_wide(Search *s, SearchKind kind) {
  SearchScope *kept = ARENA_ARRAY(s->arena, SearchScope, search_events(s) + 1);  // of the cluster
  swap_scopes(s, kind, kept);
  const bool proved = search_cure_is_proved(s);
  swap_scopes(s, kind, kept);
  return proved;
}

static const char *told(const Search *s, bool ok, const char *text) {
  return ok ? arena_printf(s->arena, "%s: tried, and then proved", text) : text;
}

static void await(Search *s, int barrier, int64_t more) {
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      SearchEvent *e = &s->process[p].event[i];
      if ((e->kind == SEARCH_MEET || e->kind == SEARCH_PASS) && e->object == barrier) e->n += more;
    }
}

const char *search_cure_meeting(Search *s, int barrier, int64_t n, int come) {
  await(s, barrier, come - n);
  const bool ok = search_cure_is_proved(s);
  await(s, barrier, n - come);
  return told(s, ok,
              arena_printf(s->arena, "let %s await the %d warps that come, or let %lld more come",
                           s->meet[barrier].name, come, (long long)(n - come)));
}

const char *search_cure_deadlock(Search *s, const OrderPhases *phases, int bar, int process,
                                 int wait_tag) {
  const OrderPhases p = *phases;
  const char *name = s->bar[bar].name;
  if (p.pending > 0 && p.pending < p.expected) {
    const Edit edit = {SEARCH_INIT, tag_of(s, SEARCH_INIT, bar), -1, -p.pending, 0, 0};
    return told(s, try_edit(s, &edit),
                arena_printf(s->arena, "initialise %s for %lld arrivals, or let %lld more arrive",
                             name, (long long)(p.expected - p.pending), (long long)p.pending));
  }
  if (p.pending <= 0 && p.bytes) {
    const Edit edit = {SEARCH_ARRIVE, tag_of(s, SEARCH_ARRIVE, bar), -1, 0, -p.bytes, 0};
    return told(s, try_edit(s, &edit),
                arena_printf(s->arena, "expect %lld bytes %s at %s", llabs((long long)p.bytes),
                             p.bytes > 0 ? "fewer" : "more", name));
  }
  const char *text = arena_printf(s->arena, "let %s wait for %s with the other phase bit",
                                  s->process[process].name, name);
  if (search_cure_flip(s, process, wait_tag)) return told(s, true, text);
  return arena_printf(s->arena, "let a warp arrive at %s in the phase that is waited for", name);
}
