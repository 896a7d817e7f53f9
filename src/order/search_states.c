// A set of states, each kept once, and the step that led to it first.
#include <string.h>

#include "base/hash.h"
#include "order/search_inside.h"

enum { CHUNK = SEARCH_CHUNK };

// States are whole words, and all count.
static uint32_t hash_of(const SearchStates *r, const SearchState *s) {
  const char *at = (const char *)s;
  uint64_t hash = HASH_START;
  for (size_t i = 0; i < r->bytes; i += sizeof hash) {
    uint64_t word;
    memcpy(&word, at + i, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return (uint32_t)hash & r->mask;
}

bool search_keep(SearchStates *r, const SearchState *s, int parent, int process) {
  uint32_t h = hash_of(r, s);
  for (; r->table[h]; h = (h + 1) & r->mask)
    if (memcmp(search_state(r, r->table[h] - 1), s, r->bytes) == 0) return false;
  char **chunk = &r->chunk[r->n / CHUNK];
  if (!*chunk) *chunk = arena_alloc(r->search->arena, CHUNK * r->bytes);
  memcpy(search_state(r, r->n), s, r->bytes);
  const int depth = parent < 0 ? 0 : r->node[parent].depth + 1;
  r->node[r->n] = (SearchNode){parent, depth, (uint16_t)process};
  r->table[h] = ++r->n;
  return true;
}

static void keep_start(SearchStates *r) {
  memset(r->start, 0, r->bytes);
  search_start(r->search, r->start);
  search_keep(r, r->start, -1, 0);
}

SearchStates *search_new_states(const Search *search, int most) {
  Arena *arena = search->arena;
  SearchStates *r = ARENA_NEW(arena, SearchStates);
  *r = (SearchStates){.search = search, .most = most, .bytes = search->index->state_bytes};
  r->chunk = ARENA_ARRAY(arena, char *, most / CHUNK + 2);
  r->node = ARENA_ARRAY(arena, SearchNode, most + search->n_processes + 1);
  for (r->mask = 1024; r->mask < 2 * (uint32_t)most; r->mask *= 2) continue;
  r->table = ARENA_ARRAY(arena, int, r->mask);
  r->mask--;
  r->start = arena_alloc(arena, r->bytes);
  keep_start(r);
  return r;
}

void search_forget_states(SearchStates *r) {
  memset(r->table, 0, sizeof *r->table * ((size_t)r->mask + 1));
  r->n = 0;
  keep_start(r);
}

SearchStep *search_way(const SearchStates *r, int node, int last, int *n_steps) {
  const int n = r->node[node].depth + (last >= 0);
  SearchStep *step = ARENA_ARRAY(r->search->arena, SearchStep, n + 1);
  int at = n;
  if (last >= 0) step[--at] = (SearchStep){last, search_at(search_state(r, node), last), 0};
  for (int i = node; r->node[i].parent >= 0; i = r->node[i].parent) {
    const int p = r->node[i].process;
    step[--at] = (SearchStep){p, search_at(search_state(r, r->node[i].parent), p), 0};
  }
  *n_steps = n;
  return step;
}
