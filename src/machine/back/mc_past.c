// A thread that did not come to an instruction → the branch that took it past, or keeps it in
// front.
#include "machine/back/mc_past.h"

#include <string.h>

#include "machine/mc_cubin.h"

// Whether an event may be the last one of its line in front of a time of the PTX.
static bool is_last_until(const McWay *w, int event, int64_t when) {
  const McResult *own, *next;
  const McEvent *e = event == MC_NOBODY ? NULL : &w->t.events[event];
  if (!e || mc_times_at(&w->known, e->line, e->nth, &own) != e->times || !own) return true;
  mc_times_at(&w->known, e->line, e->nth + 1, &next);
  return own->when <= when && (!next || next->when > when);
}

int mc_past(const McWay *w, int pc, int64_t when) {
  for (int i = w->t.n - 1; i >= 0; i--) {
    const PtxInst *inst = &w->t.code[w->t.events[i].pc];
    const char *name = w->t.events[i].name;
    if (inst->guard < 0 || w->t.events[i].pc >= pc) continue;
    if (!is_last_until(w, mc_last_writer(&w->t, MC_FRAME_T + inst->guard, i), when)) continue;
    if (strcmp(name, "EXIT") == 0 || (strcmp(name, "BRA") == 0 && inst->target > pc)) return i;
  }
  return MC_NOBODY;
}

int mc_store_below(const McWay *w, int line, const McWriter *ptx) {
  const uint64_t reserved = ptx->space == PTX_SPACE_SHARED ? MC_RESERVED_SHARED : 0;
  int best = MC_NOBODY;
  for (int i = 0; i < w->t.n; i++) {
    const McEvent *e = &w->t.events[i];
    if (!e->stores || e->line != line || e->address - reserved > ptx->address) continue;
    if (best == MC_NOBODY || e->address > w->t.events[best].address) best = i;
  }
  return best;
}

// A branch with a guard that leaves a row of instructions where it is taken.
static bool may_leave(const PtxInst *inst, int first, int last) {
  if (!inst->machine || inst->guard < 0) return false;
  const bool ends = strcmp(inst->machine->op->name, "EXIT") == 0;
  return ends || (strcmp(inst->machine->op->name, "BRA") == 0 &&
                  (inst->target < first || inst->target > last));
}

int mc_once_more(const McWay *w, int event) {
  const McEvent *e = &w->t.events[event];
  const McResult *ignored;
  const int in_ptx = e->line ? mc_times_at(&w->known, e->line, 0, &ignored) : 0;
  for (int i = 0, n = 0; in_ptx && i <= event; i++) {
    n += w->t.events[i].pc == e->pc;
    if (n > in_ptx) return i;
  }
  return MC_NOBODY;
}

int mc_endless(const McFollowed *t, int *before) {
  int first = 0, last = MC_NOBODY, nearest = MC_NOBODY;
  // The widest way back of the second half: loops inside it come to their ends.
  for (int i = t->n / 2; i + 1 < t->n; i++) {
    const int from = t->events[i].pc, to = t->events[i + 1].pc;
    if (to > from || strcmp(t->events[i].name, "BRA") != 0 || from - to < last - first) continue;
    first = to;
    last = from;
    *before = i;
  }
  if (last == MC_NOBODY || t->code[last].guard >= 0) return last;
  // It goes back always: the last branch that would leave it.
  for (int pc = first; pc < last; pc++)
    if (may_leave(&t->code[pc], first, last)) nearest = pc;
  return nearest;
}
