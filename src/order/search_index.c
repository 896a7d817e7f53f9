// Pairs that concern each other, found once: accesses that must not meet, fences and what they tell
// of, events that no other process has to do with.
#include <string.h>

#include "order/search_inside.h"

// Pairs (of, value), in any order → lists.
typedef struct Pairs {
  Arena *arena;
  int n, capacity;
  int (*pair)[2];
} Pairs;

static void add(Pairs *p, int of, int value) {
  if (p->n == p->capacity) {
    p->capacity = p->capacity ? 2 * p->capacity : 256;
    int(*more)[2] = arena_alloc(p->arena, sizeof *more * (size_t)p->capacity);
    if (p->n) memcpy(more, p->pair, sizeof *more * (size_t)p->n);
    p->pair = more;
  }
  p->pair[p->n][0] = of;
  p->pair[p->n++][1] = value;
}

static SearchLists lists_of(const Pairs *p, int n) {
  SearchLists lists = {ARENA_ARRAY(p->arena, int, n + 2), ARENA_ARRAY(p->arena, int, p->n + 1)};
  for (int i = 0; i < p->n; i++) lists.first[p->pair[i][0] + 2]++;
  for (int i = 2; i < n + 2; i++) lists.first[i] += lists.first[i - 1];
  for (int i = 0; i < p->n; i++) lists.list[lists.first[p->pair[i][0] + 1]++] = p->pair[i][1];
  return lists;
}

bool search_places_overlap(const SearchPlace *a, const SearchPlace *b) {
  bool overlap = a->rank == b->rank && a->memory == b->memory;
  for (int d = 0; d < SEARCH_DIMS; d++)
    overlap = overlap && a->lo[d] < b->hi[d] && b->lo[d] < a->hi[d];
  return overlap;
}

typedef struct Maker {
  Search *s;
  SearchIndex *x;
  bool *overlap;  // [places][places]
  int *place;     // by access
} Maker;

// By place: whether it has memory in common with that of an access.
static const bool *overlaps(const Maker *m, int access) {
  return &m->overlap[m->place[access] * m->s->n_places];
}

static void find_overlaps(Maker *m) {
  const int n = m->s->n_places;
  m->overlap = ARENA_ARRAY(m->s->arena, bool, n *n + 1);
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++)
      m->overlap[a * n + b] = search_places_overlap(&m->s->place[a], &m->s->place[b]);
  m->place = ARENA_ARRAY(m->s->arena, int, m->s->n_accesses + 1);
  for (int i = 0; i < m->s->n_accesses; i++) m->place[i] = m->s->access[i].place;
}

// ---- accesses -----------------------------------------------------------------------------------

// The steps that one process does at once comes one after the other, and so does what one queue
// does.
static bool may_meet(const Maker *m, const SearchAccess *a, const SearchAccess *b) {
  if (!(a->write || b->write)) return false;
  if (m->s->threads_apart && !a->async && !b->async) return false;
  if (a->process == b->process && search_is_instant(a) && search_is_instant(b)) return false;
  if (a->write && b->write && a->tag && a->tag == b->tag && !a->async && !b->async) return false;
  return !a->queue || a->queue != b->queue || (a->apart && !b->apart);
}

static void list_accesses(Maker *m) {
  Search *s = m->s;
  SearchIndex *x = m->x;
  Pairs begins = {.arena = s->arena}, ends = {.arena = s->arena}, against = {.arena = s->arena};
  for (int i = 0; i < s->n_accesses; i++) {
    const SearchAccess *a = &s->access[i];
    add(&begins, x->base[a->process] + a->begin, i);
    if (a->end >= 0) add(&ends, x->base[a->ends] + a->end, i);
    for (int k = 0; k < a->n_also; k++) add(&ends, x->base[a->also[k].process] + a->also[k].at, i);
    const bool *overlap = overlaps(m, i);
    for (int j = 0; j < s->n_accesses; j++)
      if (overlap[m->place[j]] && i != j && may_meet(m, a, &s->access[j])) add(&against, i, j);
  }
  x->begins = lists_of(&begins, x->base[s->n_processes]);
  x->ends = lists_of(&ends, x->base[s->n_processes]);
  x->against = lists_of(&against, s->n_accesses);
}

// ---- fences -------------------------------------------------------------------------------------

// Whether another block reads what a thread writes.
static bool hands_over(const Maker *m, const SearchAccess *a, const SearchAccess *b) {
  const SearchProcess *p = m->s->process;
  return m->s->scopes && a->write && !a->async && !b->write &&
         p[a->process].rank != p[b->process].rank;
}

static void find_words(Maker *m) {
  const Search *s = m->s;
  m->x->handed = ARENA_ARRAY(s->arena, bool, s->n_places + 1);
  m->x->word = ARENA_ARRAY(s->arena, int, s->n_places + 1);
  memset(m->x->word, -1, sizeof *m->x->word * (size_t)(s->n_places + 1));
  for (int i = 0; i < s->n_accesses; i++) {
    const bool *overlap = overlaps(m, i);
    for (int j = 0; j < s->n_accesses && !s->access[i].async; j++) {
      if (!overlap[m->place[j]]) continue;
      const SearchAccess *a = &s->access[i], *b = &s->access[j];
      const bool handed = hands_over(m, a, b);
      if (!(a->write || b->write) || !(b->async || handed)) continue;
      m->x->handed[a->place] |= handed;
      m->x->hands_over |= handed;
      if (m->x->word[a->place] >= 0) continue;
      m->x->word[a->place] = m->x->n_words;
      m->x->n_words += SEARCH_WORDS;
    }
  }
}

static void list_unknown(Maker *m) {
  const Search *s = m->s;
  Pairs unknown = {.arena = s->arena};
  for (int i = 0; i < s->n_accesses; i++)
    for (int place = 0; place < s->n_places; place++) {
      const SearchAccess *a = &s->access[i];
      const int word = m->x->word[place];
      if (word < 0 || !m->overlap[a->place * s->n_places + place]) continue;
      if (a->async) add(&unknown, i, word + SEARCH_WRITTEN);
      if (a->async && a->write) add(&unknown, i, word + SEARCH_READ);
      if (a->write || !m->x->handed[place]) continue;
      add(&unknown, i, word + SEARCH_UNTOLD);
      add(&unknown, i, word + SEARCH_UNKNOWN);
    }
  m->x->unknown_to = lists_of(&unknown, s->n_accesses);
}

// The words that a fence clears: of what its process asks for until its next fence, or all where
// that is nothing: it fences for another process.
static void clear_by(Maker *m, Pairs *clears, int process, int at) {
  const SearchProcess *p = &m->s->process[process];
  const SearchIndex *x = m->x;
  int n = 0;
  for (int i = at + 1; i < p->n_events && p->event[i].kind != SEARCH_FENCE; i++) {
    const int g = x->base[process] + i;
    for (int k = x->begins.first[g]; k < x->begins.first[g + 1]; k++) {
      const int a = x->begins.list[k];
      for (int u = x->unknown_to.first[a]; u < x->unknown_to.first[a + 1]; u++, n++)
        add(clears, x->base[process] + at, x->unknown_to.list[u] / SEARCH_WORDS);
    }
  }
  for (int word = 0; n == 0 && word < x->n_words / SEARCH_WORDS; word++)
    add(clears, x->base[process] + at, word);
}

static bool fences_before_telling(const SearchProcess *p, int at) {
  for (int i = at + 1; i < p->n_events; i++) {
    if (p->event[i].kind == SEARCH_FENCE) return true;
    if (p->event[i].kind != SEARCH_WORK && p->event[i].kind != SEARCH_WAIT) return false;
  }
  return false;
}

static void list_fences(Maker *m) {
  const Search *s = m->s;
  m->x->fenced = ARENA_ARRAY(s->arena, bool, s->n_accesses + 1);
  for (int i = 0; i < s->n_accesses; i++)
    m->x->fenced[i] = fences_before_telling(&s->process[s->access[i].process], s->access[i].begin);
  Pairs clears = {.arena = s->arena};
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++)
      if (s->process[p].event[i].kind == SEARCH_FENCE) clear_by(m, &clears, p, i);
  m->x->clears = lists_of(&clears, m->x->base[s->n_processes]);
}

// ---- the rest -----------------------------------------------------------------------------------

static bool concerns_others(const Maker *m, int event) {
  const SearchIndex *x = m->x;
  const SearchLists *list[] = {&x->begins, &x->ends};
  for (int l = 0; l < 2; l++)
    for (int k = list[l]->first[event]; k < list[l]->first[event + 1]; k++) {
      const int a = list[l]->list[k];
      if (x->against.first[a] < x->against.first[a + 1]) return true;
      if (x->word[m->s->access[a].place] >= 0) return true;
    }
  return false;
}

static void find_users(Maker *m) {
  const Search *s = m->s;
  SearchIndex *x = m->x;
  Pairs users = {.arena = s->arena};
  int *arrives = ARENA_ARRAY(s->arena, int, s->n_bars + 1);  // process + 1 that arrives alone
  x->alone = ARENA_ARRAY(s->arena, bool, s->n_bars + 1);
  memset(x->alone, true, (size_t)s->n_bars + 1);
  for (int p = 0; p < s->n_processes; p++) {
    int *last = ARENA_ARRAY(s->arena, int, s->n_bars + 1);
    for (int i = 0; i < s->process[p].n_events; i++) {
      const SearchEvent *e = &s->process[p].event[i];
      if (!search_is_about_mbarrier(e)) continue;
      if (last[e->object]++ == 0) add(&users, e->object, p);
      if (e->kind == SEARCH_INIT && e->n != 1) x->alone[e->object] = false;
      if (e->kind != SEARCH_ARRIVE) continue;
      if (arrives[e->object] && arrives[e->object] != p + 1) x->alone[e->object] = false;
      if (e->n != 1) x->alone[e->object] = false;
      arrives[e->object] = p + 1;
    }
  }
  x->users = lists_of(&users, s->n_bars);
}

static void find_followers(Maker *m) {
  const Search *s = m->s;
  Pairs followers = {.arena = s->arena};
  m->x->gate = ARENA_ARRAY(s->arena, struct SearchGate, m->x->base[s->n_processes] + 1);
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      const SearchEvent *e = &s->process[p].event[i];
      m->x->gate[m->x->base[p] + i] = (struct SearchGate){e->after - 1, e->after_at};
      if (e->after) add(&followers, m->x->base[e->after - 1] + e->after_at, p);
    }
  m->x->followers = lists_of(&followers, m->x->base[s->n_processes]);
}

static void find_meeters(Maker *m) {
  const Search *s = m->s;
  Pairs meeters = {.arena = s->arena}, meeting = {.arena = s->arena}, threads = {.arena = s->arena};
  int *last = ARENA_ARRAY(s->arena, int, s->n_meets + 1);  // by barrier: process + 1
  for (int p = 0; p < s->n_processes; p++) {
    bool any = false;
    for (int i = 0; i < s->process[p].n_events; i++) {
      const SearchEvent *e = &s->process[p].event[i];
      if (e->kind != SEARCH_MEET) continue;
      if (last[e->object] != p + 1) add(&meeters, e->object, p);
      last[e->object] = p + 1;
      any = true;
    }
    if (any) add(&meeting, 0, p);
    if (!s->process[p].agent) add(&threads, 0, p);
  }
  m->x->meeters = lists_of(&meeters, s->n_meets);
  m->x->meeting = lists_of(&meeting, 1);
  m->x->threads = lists_of(&threads, 1);
}

static void find_uneven(Maker *m) {
  const Search *s = m->s;
  const SearchEvent **first = ARENA_ARRAY(s->arena, const SearchEvent *, s->n_meets + 1);
  m->x->uneven = ARENA_ARRAY(s->arena, bool, s->n_meets + 1);
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      const SearchEvent *e = &s->process[p].event[i];
      if (e->kind != SEARCH_MEET && e->kind != SEARCH_PASS) continue;
      if (!first[e->object]) first[e->object] = e;
      m->x->uneven[e->object] |= e->n != first[e->object]->n;
    }
}

// Arrivals at a barrier where nobody waits hold nothing up: they are no events.
static void forget_unawaited(Maker *m) {
  Search *s = m->s;
  const int *first = m->x->meeters.first;
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      SearchEvent *e = &s->process[p].event[i];
      if (e->kind == SEARCH_PASS && first[e->object] == first[e->object + 1]) e->kind = SEARCH_WORK;
    }
}

static void lay_out(Maker *m) {
  const Search *s = m->s;
  SearchIndex *x = m->x;
  size_t at = sizeof(SearchState) + sizeof(uint16_t) * (size_t)s->n_processes;
  x->bars_at = at = (at + 7) / 8 * 8;
  x->words_at = at += sizeof(OrderPhases) * (size_t)s->n_bars;
  x->flags_at = at += sizeof(uint64_t) * (size_t)x->n_words;
  x->passed_at = at += (size_t)s->n_bars;
  at += (size_t)s->n_meets;
  x->state_bytes = (at + 7) / 8 * 8;
}

void search_make_index(Search *s) {
  SearchIndex *x = s->index = ARENA_NEW(s->arena, SearchIndex);
  Maker m = {.s = s, .x = x};
  x->base = ARENA_ARRAY(s->arena, int, s->n_processes + 1);
  for (int p = 0; p < s->n_processes; p++) x->base[p + 1] = x->base[p] + s->process[p].n_events;
  for (int p = 0; p < s->n_processes; p++) x->of_block[s->process[p].rank] |= search_bit(p);
  find_overlaps(&m);
  list_accesses(&m);
  find_words(&m);
  list_unknown(&m);
  list_fences(&m);
  find_users(&m);
  find_followers(&m);
  find_meeters(&m);
  find_uneven(&m);
  forget_unawaited(&m);
  lay_out(&m);
  const int n = x->base[s->n_processes];
  x->matters = ARENA_ARRAY(s->arena, bool, n + 1);
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++)
      x->matters[x->base[p] + i] =
          s->process[p].event[i].kind != SEARCH_WORK || concerns_others(&m, x->base[p] + i);
}
