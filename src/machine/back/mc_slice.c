// An event of a thread → the instructions that its value was made by, the nearest first.
//
//   IMAD R4, R2, R3, R5     itself, then those that wrote R2, R3, R5 and its guard, then theirs
//   @!P1 BRA `(.L_x_2)      by which the thread came there: with another target it goes elsewhere
#include <string.h>

#include "base/str.h"
#include "machine/back/mc_follow.h"

void mc_add_once(int out[], int *n, int pc) {
  bool known = pc < 0;
  for (int i = 0; i < *n && !known; i++) known = out[i] == pc;
  if (!known) out[(*n)++] = pc;
}

int mc_last_writer(const McFollowed *t, PtxArg reg, int before) {
  for (int i = before - 1; i >= 0; i--)
    for (int p = 0; p < t->events[i].n_wrote; p++)
      if (t->events[i].wrote[p] == reg) return i;
  return MC_NOBODY;
}

static bool is_branch(const char *name) {
  return strcmp(name, "BRA") == 0 || strcmp(name, "EXIT") == 0 || strcmp(name, "CALL") == 0;
}

// A branch with a guard between two events of a thread that are the next ones to each other.
static int passed_between(const McFollowed *t, const McEvent *a, const McEvent *b) {
  for (int pc = b->pc - 1; pc > a->pc; pc--) {
    const PtxInst *i = &t->code[pc];
    if (i->machine && i->guard != PTX_PRED_TRUE && is_branch(i->machine->op->name)) return pc;
  }
  return MC_NOBODY;
}

int mc_last_branch(const McFollowed *t, int event, int *before) {
  for (int i = event; i > 0; i--) {
    const McEvent *last = &t->events[i - 1];
    const bool taken = is_branch(last->name);
    const int passed = taken ? last->pc : passed_between(t, last, &t->events[i]);
    *before = taken ? i - 1 : i;
    if (passed != MC_NOBODY) return passed;
  }
  return MC_NOBODY;
}

int mc_last_wait(const McFollowed *t, int event) {
  static const char *const names[] = {"BAR", "SYNCS", "WARPSYNC", "UCGABAR"};
  for (int i = event - 1; i >= 0; i--)
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
      if (str_starts(t->events[i].name, names[k])) return t->events[i].pc;
  return MC_NOBODY;
}

// The event that wrote the guard of an instruction; MC_NOBODY: it has none.
static int writer_of_guard(const McFollowed *t, int pc, int before) {
  const int guard = pc < 0 ? PTX_PRED_TRUE : t->code[pc].guard;
  return guard < 0 ? MC_NOBODY : mc_last_writer(t, MC_FRAME_T + guard, before);
}

int mc_slice(const McFollowed *t, int event, int out[], int n, int most) {
  enum { EVENTS = 4096 };
  Arena *arena = arena_new("slice");
  bool *seen = ARENA_ARRAY(arena, bool, t->n + 1);
  int *queue = ARENA_ARRAY(arena, int, EVENTS);
  int n_queue = 0;
  queue[n_queue++] = event;
  for (int i = 0; i < n_queue && n < most; i++) {
    const McEvent *e = &t->events[queue[i]];
    mc_add_once(out, &n, e->pc);
    int before = 0;
    const int branch = mc_last_branch(t, queue[i], &before);
    if (n < most) mc_add_once(out, &n, branch);
    for (int k = 0; k < e->n + 2; k++) {
      const int from = k < e->n    ? e->from[k]
                       : k == e->n ? writer_of_guard(t, e->pc, queue[i])
                                   : writer_of_guard(t, branch, before);
      if (from < 0 || seen[from] || n_queue == EVENTS) continue;
      seen[from] = true;
      queue[n_queue++] = from;
    }
  }
  arena_free(arena);
  return n;
}
