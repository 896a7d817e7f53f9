#include "search_told.h"

#include "base/hash.h"

void search_tell_verdict(Str *out, const SearchResult *r) {
  const bool found = r->verdict == SEARCH_FOUND;
  str_printf(out, ": %s%s%s, %lld states", search_verdict_name(r->verdict), found ? ", " : "",
             found ? search_fault_name(r->fault) : "", (long long)r->states);
}

void search_tell_witness(Str *out, const Search *search, const SearchResult *r, int steps) {
  const int first = r->n_steps > steps ? r->n_steps - steps : 0;
  for (int i = first; i < r->n_steps; i++)
    str_printf(out, "    %3d %s: %s, then phase %u\n", i, search->process[r->step[i].process].name,
               search_event_text(search, r->step[i].process, r->step[i].at), r->step[i].phase);
  SearchStep delayed[4];
  const int n = search_delays(search, r, delayed, 4);
  for (int i = 0; i < n; i++)
    str_printf(out, "    delayed: %s\n",
               search_event_text(search, delayed[i].process, delayed[i].at));
  str_printf(out, "  %s\n  %s\n", r->root, r->cure);
}

uint64_t search_told_sum(uint64_t sum, const Search *search, const SearchResult *r) {
  Str out = str_new(search->arena);
  search_tell_verdict(&out, r);
  str_printf(&out, " %d %d %d %d\n", r->shortest, r->alike, r->access[0], r->access[1]);
  if (r->verdict == SEARCH_FOUND) search_tell_witness(&out, search, r, r->n_steps);
  return hash_text(sum, out.text);
}
