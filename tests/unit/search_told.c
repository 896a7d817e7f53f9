#include "search_told.h"

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
