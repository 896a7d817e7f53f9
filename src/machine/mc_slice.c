// An event of a thread → the instructions that its value was made by, the nearest first.
//
//   IMAD R4, R2, R3, R5     itself, then those that wrote R2, R3, R5 and its guard, then theirs
#include "machine/mc_follow.h"

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

// The event that wrote the guard of this one; MC_NOBODY: it has none.
static int writer_of_guard(const McFollowed *t, int event) {
  const int guard = t->code[t->events[event].pc].guard;
  return guard < 0 ? MC_NOBODY : mc_last_writer(t, MC_FRAME_T + guard, event);
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
    for (int k = 0; k <= e->n; k++) {
      const int from = k < e->n ? e->from[k] : writer_of_guard(t, queue[i]);
      if (from < 0 || seen[from] || n_queue == EVENTS) continue;
      seen[from] = true;
      queue[n_queue++] = from;
    }
  }
  arena_free(arena);
  return n;
}
