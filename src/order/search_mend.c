// Cures of faults other than deadlocks: the program with an event put in, put off or told more
// widely, each of them tried.
//
//   the async proxy does not know      a fence in front of the copy; else behind the accesses of
//                                      threads
//   read or written too soon           an arrival put off until its reads are over; an mbarrier
//                                      that awaits one more
//   a lapped phase                     the same; else its waiting warps meet behind their wait
//   an mbarrier that is not there yet  fence.mbarrier_init, and a barrier
//   a block that has ended             a barrier of the cluster at the end
//   a scope that is too narrow         arrivals for the cluster
//
// The program is copied, event by event; an access keeps the events that begin and end it.
#include <stdlib.h>
#include <string.h>

#include "order/search_inside.h"

typedef struct Mend Mend;
typedef bool Where(const Mend *m, int process, int at);

// An edit of a program: `event` goes in front of, or behind, each event that `where` holds for; or
// those that `late` holds for are put off until the access that they come too soon for is over.
struct Mend {
  const Search *from;
  const SearchAccess *access;  // the one that it is about
  const SearchAccess *then;    // those like it are over in front of it; NULL: none need be
  int bar, group, rank;
  Where *where, *late;
  bool behind, ends_work;
  SearchEvent event;
};

static bool is_like(const Search *s, const SearchAccess *a, const SearchAccess *b) {
  return a->async == b->async && a->write == b->write &&
         s->place[a->place].memory == s->place[b->place].memory;
}

static bool begins_like(const Mend *m, int process, int at) {
  const SearchIndex *x = m->from->index;
  const int event = x->base[process] + at;
  for (int k = x->begins.first[event]; k < x->begins.first[event + 1]; k++)
    if (is_like(m->from, &m->from->access[x->begins.list[k]], m->access)) return true;
  return false;
}

// The work of threads where that access goes through the async proxy.
static bool is_unknown(const Mend *m, int process, int at) {
  const SearchIndex *x = m->from->index;
  const int event = x->base[process] + at;
  for (int k = x->begins.first[event]; k < x->begins.first[event + 1]; k++) {
    const SearchAccess *a = &m->from->access[x->begins.list[k]];
    if (!a->async && x->word[a->place] >= 0) return true;
  }
  return false;
}

// An arrival while such an access of its process is under way.
static bool comes_early(const Mend *m, int process, int at) {
  const SearchEvent *e = search_event(m->from, process, at);
  if (e->kind != SEARCH_ARRIVE || e->bytes || m->from->bar[e->object].given) return false;
  for (int i = 0; i < m->from->n_accesses; i++) {
    const SearchAccess *a = &m->from->access[i];
    if (a->process == process && is_like(m->from, a, m->access) && a->ends == process &&
        a->begin < at && at < a->end)
      return true;
  }
  return false;
}

static bool waits_there(const Mend *m, int process, int at) {
  const SearchEvent *e = search_event(m->from, process, at);
  return e->kind == SEARCH_WAIT && e->object == m->bar;
}

static bool is_last_init(const Mend *m, int process, int at) {
  const SearchProcess *p = &m->from->process[process];
  if (p->event[at].kind != SEARCH_INIT) return false;
  for (int i = at + 1; i < p->n_events; i++)
    if (p->event[i].kind == SEARCH_INIT) return false;
  return true;
}

// Behind what a process initialises, and in front of all that the others do.
static bool begins_after_init(const Mend *m, int process, int at) {
  const SearchProcess *p = &m->from->process[process];
  int first = 0;
  for (int i = 0; i < p->n_events; i++)
    if (p->event[i].kind == SEARCH_INIT || p->event[i].kind == SEARCH_INIT_SAID) first = i + 1;
  return !p->agent && at == first;
}

static bool exits(const Mend *m, int process, int at) {
  return search_event(m->from, process, at)->kind == SEARCH_EXIT;
}

// ---- the copy -----------------------------------------------------------------------------------

// Events of a process in their new order, and where the old ones went.
static void copy_process(const Mend *m, Search *to, int process, int *now) {
  const SearchProcess *p = &m->from->process[process];
  int late[8], n_late = 0;
  for (int i = 0; i < p->n_events; i++) {
    const bool here = m->where && m->where(m, process, i);
    if (here && !m->behind) search_add(to, process, m->event);
    if (m->late && n_late < 8 && m->late(m, process, i)) {
      late[n_late++] = i;
      continue;
    }
    now[i] = search_add(to, process, p->event[i]);
    if (here && m->behind) search_add(to, process, m->event);
    if (n_late && !comes_early(m, process, i + 1)) {
      // The access may end with this event; the arrivals come behind it.
      const bool under_way = i + 1 < p->n_events && m->late(m, process, late[0]) &&
                             search_event(m->from, process, i)->kind != SEARCH_WORK;
      for (int k = 0; k < n_late && !under_way; k++)
        now[late[k]] = search_add(to, process, p->event[late[k]]);
      if (!under_way) n_late = 0;
    }
  }
  for (int k = 0; k < n_late; k++) now[late[k]] = search_add(to, process, p->event[late[k]]);
}

// The next event of its process that begins an access that it must be over for, if it is not; -1.
static int next_like(const Mend *m, const SearchAccess *a) {
  const int n = m->from->process[a->process].n_events;
  for (int i = a->begin + 1; i < n; i++)
    if (begins_like(m, a->process, i))
      return a->end < 0 || (a->ends == a->process && a->end > i) ? i : -1;
  return -1;
}

static void copy_accesses(const Mend *m, Search *to, int *const *now) {
  const Search *from = m->from;
  for (int i = 0; i < from->n_accesses; i++) {
    SearchAccess a = from->access[i];
    const bool instant = search_is_instant(&a);
    const SearchProcess *p = &from->process[a.process];
    const int wait = m->then && is_like(from, &a, m->then) ? next_like(m, &a) : -1;
    if (wait >= 0) {
      a.ends = a.process;
      a.end = now[a.process][wait] - 1;
    } else if (a.end < 0 && m->ends_work) {
      a.ends = a.process;
      a.end = now[a.process][p->n_events - 1] - 1;
    } else if (a.end >= 0 && !instant) {
      a.end = now[a.ends][a.end];
    }
    for (int k = 0; k < a.n_also; k++) a.also[k].at = now[a.also[k].process][a.also[k].at];
    a.begin = now[a.process][a.begin];
    if (instant) a.end = a.begin + 1;
    search_access(to, a);
  }
}

static Search *mended(const Mend *m) {
  const Search *from = m->from;
  Search *to = search_new(from->arena);
  int **now = ARENA_ARRAY(from->arena, int *, from->n_processes + 1);
  to->ranks = from->ranks;
  to->scopes = from->scopes;
  to->cut = from->cut;
  to->threads_apart = from->threads_apart;
  to->registers = from->registers;
  for (int b = 0; b < from->n_bars; b++) {
    search_bar(to, from->bar[b].name, from->bar[b].rank);
    to->bar[b] = from->bar[b];
  }
  for (int b = 0; b < from->n_meets; b++)
    search_barrier(to, from->meet[b].name, from->meet[b].rank);
  search_barrier(to, "a barrier", m->rank);
  for (int i = 0; i < from->n_places; i++) search_part(to, from->place[i]);
  for (int p = 0; p < from->n_processes; p++) {
    const SearchProcess *one = &from->process[p];
    search_process(to, one->name, one->rank, one->group);
    to->process[p].agent = one->agent;
    now[p] = ARENA_ARRAY(from->arena, int, one->n_events + 1);
    copy_process(m, to, p, now[p]);
  }
  for (int p = 0; p < to->n_processes; p++)
    for (int i = 0; i < to->process[p].n_events; i++) {
      SearchEvent *e = &to->process[p].event[i];
      if (e->after) e->after_at = now[e->after - 1][e->after_at];
    }
  copy_accesses(m, to, now);
  return to;
}

static bool is_cure(const Mend *m) { return search_cure_is_proved(mended(m)); }

// ---- cures --------------------------------------------------------------------------------------

static int64_t count(const Search *s, int rank) {
  int64_t n = 0;
  for (int p = 0; p < s->n_processes; p++)
    n += !s->process[p].agent && (rank < 0 || s->process[p].rank == rank);
  return n;
}

static const char *tried(const Search *s, const char *text) {
  return arena_printf(s->arena, "%s: tried, and then proved", text);
}

static const char *mend_unfenced(Search *s, const SearchResult *r) {
  Mend m = {.from = s,
            .access = &s->access[r->access[0]],
            .where = begins_like,
            .event = {.kind = SEARCH_FENCE}};
  const char *place = s->place[m.access->place].name;
  if (is_cure(&m))
    return tried(
        s, arena_printf(s->arena, "let %s fence (fence.proxy.async) before its copy, which %s %s",
                        s->process[m.access->process].name, m.access->write ? "writes" : "reads",
                        place));
  m.where = is_unknown;
  m.behind = true;
  m.event.n = 1;
  if (!is_cure(&m)) return NULL;
  return tried(s, arena_printf(s->arena,
                               "let all threads fence (fence.proxy.async) after their accesses "
                               "to %s",
                               place));
}

// One more arrival at an mbarrier: one where this process, which is overtaken, arrives, or which it
// waits for and comes too soon.
static const char *mend_arrivals(Search *s, int process, SearchKind kind) {
  bool *seen = ARENA_ARRAY(s->arena, bool, s->n_bars + 1);
  for (int i = 0; i < s->process[process].n_events; i++) {
    const SearchEvent *e = search_event(s, process, i);
    if (e->kind != kind || e->bytes || seen[e->object]) continue;
    seen[e->object] = true;
    const int64_t n = search_cure_one_more(s, e->object);
    const char *text = arena_printf(s->arena, "initialise %s for %lld arrivals",
                                    s->bar[e->object].name, llabs((long long)n));
    if (n) return n > 0 ? tried(s, text) : text;
  }
  return NULL;
}

// ---- missing events -----------------------------------------------------------------------------

static bool does(const Search *s, int process, SearchKind kind, int bar) {
  for (int i = 0; i < s->process[process].n_events; i++) {
    const SearchEvent *e = search_event(s, process, i);
    if (e->kind == kind && e->object == bar) return true;
  }
  return false;
}

// An mbarrier that `waits` waits for and `arrives` arrives at; -1: there is none.
static int between(const Search *s, int waits, int arrives) {
  for (int b = 0; b < s->n_bars; b++)
    if ((waits < 0 || does(s, waits, SEARCH_WAIT, b)) &&
        (arrives < 0 || does(s, arrives, SEARCH_ARRIVE, b)))
      return b;
  return -1;
}

// A wait that a reader or a writer does not make at all, or an arrival that a reader does not:
// named, and not tried, since no event says in which phase.
static const char *name_missing(Search *s, const SearchAccess *writes, const SearchAccess *reads,
                                bool early) {
  const SearchProcess *reader = &s->process[reads->process], *writer = &s->process[writes->process];
  const char *place = s->place[reads->place].name;
  const SearchEvent *land = s->process[writes->ends].agent && writes->end >= 0
                                ? search_event(s, writes->ends, writes->end)
                                : NULL;
  if (land && land->kind == SEARCH_LAND && !does(s, reads->process, SEARCH_WAIT, land->object))
    return arena_printf(s->arena, "let %s wait for %s before it reads %s", reader->name,
                        s->bar[land->object].name, place);
  if (early)
    return land && land->kind == SEARCH_LAND
               ? arena_printf(s->arena,
                              "let %s wait for the phase of %s that this copy ends, before "
                              "it reads %s",
                              reader->name, s->bar[land->object].name, place)
               : NULL;
  const int released = between(s, -1, reads->process), awaited = between(s, writes->process, -1);
  if (released >= 0 && !does(s, writes->process, SEARCH_WAIT, released))
    return arena_printf(s->arena, "let %s wait for %s before it writes %s again", writer->name,
                        s->bar[released].name, place);
  if (awaited >= 0 && released < 0)
    return arena_printf(s->arena, "let %s arrive at %s when it has read %s", reader->name,
                        s->bar[awaited].name, place);
  return NULL;
}

// A process that arrives once too often does not wait for the processes that wait for its arrival.
static const char *mend_too_many(Search *s, const SearchResult *r) {
  const SearchStep *last = &r->step[r->n_steps - 1];
  const SearchProcess *p = &s->process[last->process];
  const int bar = search_event(s, last->process, last->at)->object;
  const int64_t n = search_cure_one_more(s, bar);
  if (n > 0)
    return tried(s, arena_printf(s->arena, "initialise %s for %lld arrivals", s->bar[bar].name,
                                 (long long)n));
  for (int q = 0; q < s->n_processes; q++) {
    const int released = does(s, q, SEARCH_WAIT, bar) ? between(s, -1, q) : -1;
    if (released >= 0 && !does(s, last->process, SEARCH_WAIT, released))
      return arena_printf(s->arena, "let %s wait for %s before it arrives at %s again", p->name,
                          s->bar[released].name, s->bar[bar].name);
  }
  return mend_arrivals(s, last->process, SEARCH_WAIT);
}

// A process that writes twice waited for too few readers.
static const char *mend_race(Search *s, const SearchResult *r) {
  const SearchAccess *a = &s->access[r->access[0]];
  return a->async && a->write ? mend_arrivals(s, a->process, SEARCH_WAIT) : NULL;
}

// One and the same writes where its own work still reads or writes: it waits for that before.
static const char *mend_own(Search *s, const SearchResult *r) {
  const SearchAccess *now = &s->access[r->access[0]], *then = &s->access[r->access[1]];
  const Mend m = {
      .from = s, .access = now, .then = then, .where = begins_like, .event = {.kind = SEARCH_WORK}};
  if (now->process != then->process || search_is_instant(then) || !is_cure(&m)) return NULL;
  return tried(s, arena_printf(s->arena, "let %s wait until it has %s %s, before it %s there again",
                               s->process[now->process].name, then->write ? "written" : "read",
                               s->place[then->place].name, now->write ? "writes" : "reads"));
}

static const char *mend_overtaken(Search *s, const SearchResult *r) {
  if (s->access[r->access[0]].process == s->access[r->access[1]].process) return mend_own(s, r);
  for (int k = 1; k >= 0; k--) {
    const Mend m = {.from = s, .access = &s->access[r->access[k]], .late = comes_early};
    if (!m.access->write && is_cure(&m))
      return tried(
          s, arena_printf(s->arena, "let %s arrive only when it has read %s",
                          s->process[m.access->process].name, s->place[m.access->place].name));
  }
  for (int k = 1; k >= 0; k--) {
    const char *text = mend_arrivals(s, s->access[r->access[k]].process, SEARCH_ARRIVE);
    if (text) return text;
  }
  const SearchAccess *a = &s->access[r->access[0]], *b = &s->access[r->access[1]];
  return a->write == b->write ? NULL
                              : name_missing(s, a->write ? a : b, a->write ? b : a, !a->write);
}

// The last process that passed the wait of the lapped phase, and the processes beside it.
static const char *mend_lapped(Search *s, const SearchResult *r) {
  const SearchStep *last = &r->step[r->n_steps - 1];
  Mend m = {.from = s,
            .bar = search_event(s, last->process, last->at)->object,
            .where = waits_there,
            .behind = true};
  int64_t n = 0;
  for (int p = 0; p < s->n_processes; p++) {
    bool waits = false;
    for (int i = 0; i < s->process[p].n_events && !waits; i++) waits = waits_there(&m, p, i);
    const char *text = waits ? mend_arrivals(s, p, SEARCH_ARRIVE) : NULL;
    if (text) return text;
    n += waits;
  }
  m.event = (SearchEvent){.kind = SEARCH_MEET, .object = s->n_meets, .n = n};
  if (n < 2 || !is_cure(&m)) return NULL;
  return tried(s, arena_printf(s->arena,
                               "let the %lld warps that wait for %s meet after that, before one "
                               "of them arrives for all",
                               (long long)n, s->bar[m.bar].name));
}

static const char *mend_unbegun(Search *s, const SearchResult *r) {
  (void)r;
  Mend m = {.from = s, .where = is_last_init, .behind = true, .event = {.kind = SEARCH_INIT_SAID}};
  if (is_cure(&m)) return tried(s, "fence.mbarrier_init after the initialisation");
  m.where = begins_after_init;
  m.behind = false;
  m.event = (SearchEvent){
      .kind = SEARCH_MEET, .object = s->n_meets, .n = count(s, -1), .bit = SEARCH_MEET_CLUSTER};
  if (!is_cure(&m)) return NULL;
  return tried(s, s->ranks > 1 ? "let the cluster meet after the initialisation"
                               : "let the block meet after the initialisation");
}

static const char *mend_gone(Search *s, const SearchResult *r) {
  (void)r;
  const Mend m = {.from = s,
                  .where = exits,
                  .event = {.kind = SEARCH_MEET,
                            .object = s->n_meets,
                            .n = count(s, -1),
                            .bit = SEARCH_MEET_CLUSTER}};
  return is_cure(&m) ? tried(s, "let the cluster meet before a block ends") : NULL;
}

static const char *mend_in_flight(Search *s, const SearchResult *r) {
  const Mend m = {.from = s, .where = exits, .ends_work = true, .event = {.kind = SEARCH_WORK}};
  const SearchAccess *a = &s->access[r->access[0]];
  if (!is_cure(&m)) return NULL;
  return tried(s, arena_printf(s->arena, "let %s wait until %s is %s before it ends",
                               s->process[a->process].name, s->place[a->place].name,
                               a->write ? "written" : "read"));
}

static const char *mend_narrow(Search *s, const SearchResult *r) {
  const bool told = r->fault == SEARCH_NARROW;
  if (!search_cure_wide(s, told ? SEARCH_ARRIVE : SEARCH_WAIT)) return NULL;
  return tried(s, told ? "let arrivals tell the cluster: .release.cluster"
                       : "let waits learn from the cluster: .acquire.cluster");
}

const char *search_mend(Search *s, const SearchResult *r) {
  static const char *(*const mend[SEARCH_FAULTS])(Search *, const SearchResult *) = {
      [SEARCH_UNFENCED] = mend_unfenced,  [SEARCH_EARLY] = mend_overtaken,
      [SEARCH_REFILLED] = mend_overtaken, [SEARCH_LAPPED] = mend_lapped,
      [SEARCH_TOO_MANY] = mend_too_many,  [SEARCH_UNBEGUN] = mend_unbegun,
      [SEARCH_GONE] = mend_gone,          [SEARCH_IN_FLIGHT] = mend_in_flight,
      [SEARCH_RACE] = mend_race,          [SEARCH_NARROW] = mend_narrow,
      [SEARCH_UNLEARNED] = mend_narrow};
  return mend[r->fault] ? mend[r->fault](s, r) : NULL;
}
