// A witness: what does not lead to its fault is left out, and its phases are told.
#include <string.h>

#include "base/whole.h"
#include "order/search_inside.h"

enum { KEPT = 128 };

// A witness, of which steps are left out. States on the way are kept, so that what comes before a
// step need not be played again.
typedef struct Cuts {
  const Search *search;
  const SearchStep *step;
  SearchFault fault;
  int n, gap, n_kept;  // state k stands before step k · gap
  bool *left_out;
  SearchState *s;
  char *kept;
} Cuts;

static SearchFault play(const Cuts *c, int i) {
  int conflict[2];
  return search_step(c->search, c->s, c->step[i].process, conflict);
}

static void stand_before(Cuts *c, int at) {
  const size_t bytes = c->search->index->state_bytes;
  const int from = min_int(at / c->gap, c->n_kept - 1);
  memcpy(c->s, c->kept + (size_t)from * bytes, bytes);
  for (int i = from * c->gap; i < at; i++) {
    if (!c->left_out[i]) play(c, i);
    if (i + 1 != c->n_kept * c->gap) continue;
    memcpy(c->kept + (size_t)c->n_kept * bytes, c->s, bytes);
    c->n_kept++;
  }
}

// Plays on from a step, without those that are left out; says whether the last one is the fault
// that was found.
static bool plays(const Cuts *c, int from) {
  for (int i = from; i < c->n; i++) {
    const SearchStep *step = &c->step[i];
    if (c->left_out[i]) continue;
    if (search_at(c->s, step->process) != step->at) return false;
    if (!search_can_step(c->search, c->s, step->process)) return false;
    const SearchFault fault = play(c, i);
    if (fault || i == c->n - 1) return i == c->n - 1 && fault == c->fault;
  }
  return false;
}

// Cuts the longest tail of a process's events that can be cut; false: no event can.
static bool shorten_one(Cuts *c, int process) {
  bool any = false;
  for (int i = c->n - 2; i >= 0; i--) {
    if (c->step[i].process != process || c->left_out[i]) continue;
    stand_before(c, i);
    c->left_out[i] = true;
    if (!plays(c, i)) {
      c->left_out[i] = false;
      break;
    }
    c->n_kept = min_int(c->n_kept, i / c->gap + 1);
    any = true;
  }
  return any;
}

// Leaves out events that do not lead to the fault, until no more can be left out: an arrival that
// only a cut process needs can go too.
static int shorten(const Search *search, SearchFault fault, SearchStep *step, int n) {
  Cuts c = {search, step, fault, .n = n, .gap = n / KEPT + 1, .n_kept = 1};
  c.left_out = ARENA_ARRAY(search->arena, bool, n + 1);
  c.s = arena_alloc(search->arena, search->index->state_bytes);
  c.kept = arena_alloc(search->arena, (size_t)(n / c.gap + 2) * search->index->state_bytes);
  search_start(search, (SearchState *)c.kept);
  for (bool any = true; any;) {
    any = false;
    for (int p = 0; p < search->n_processes; p++) any = shorten_one(&c, p) || any;
  }
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (!c.left_out[i]) step[kept++] = step[i];
  return kept;
}

// Plays the witness once more: phases, and the two accesses that meet at its end.
static void tell(const Search *search, SearchResult *out, SearchStep *step) {
  SearchState *s = arena_alloc(search->arena, search->index->state_bytes);
  search_start(search, s);
  for (int i = 0; i < out->n_steps; i++) {
    search_step(search, s, step[i].process, out->access);
    const SearchEvent *e = search_event(search, step[i].process, step[i].at);
    if (search_is_about_mbarrier(e)) step[i].phase = search_phases(search, s)[e->object].phase;
  }
  out->step = step;
  out->last = s;
}

void search_found(const Search *search, SearchResult *out, SearchStep *step, int n,
                  SearchFault fault) {
  out->verdict = SEARCH_FOUND;
  out->fault = fault;
  out->n_steps = fault == SEARCH_DEADLOCK ? n : shorten(search, fault, step, n);
  tell(search, out, step);
}
