// A branch back makes a loop if its target dominates it: a walk from the entry that may not enter
// the target does not find the branch.
#include "sass/sass_loops.h"

#include <string.h>

typedef struct Walk {
  const SassCode *code;
  bool *seen;
  int *open, n_open;
} Walk;

static void visit(Walk *walk, int at) {
  if (at < 0 || at >= walk->code->n || walk->seen[at]) return;
  walk->seen[at] = true;
  walk->open[walk->n_open++] = at;
}

// Whether a path from the entry reaches `to` without `through`.
static bool is_reached_without(Walk *walk, int to, int through) {
  memset(walk->seen, 0, sizeof *walk->seen * (size_t)walk->code->n);
  walk->seen[through] = true;
  walk->n_open = 0;
  visit(walk, 0);
  while (walk->n_open > 0 && !walk->seen[to]) {
    const int at = walk->open[--walk->n_open];
    const SassInst *inst = &walk->code->inst[at];
    if (inst->goes_on) visit(walk, at + 1);
    if (inst->target != SASS_NO_TARGET) visit(walk, inst->target);
  }
  return to != through && walk->seen[to];
}

int sass_loops(Arena *arena, const SassCode *code, SassLoop *loops, int max) {
  Walk walk = {.code = code,
               .seen = ARENA_ARRAY(arena, bool, code->n + 1),
               .open = ARENA_ARRAY(arena, int, code->n + 1)};
  int n = 0;
  for (int i = 0; i < code->n && n < max; i++) {
    const int to = code->inst[i].target;
    if (to != SASS_NO_TARGET && to < i && !is_reached_without(&walk, i, to))
      loops[n++] = (SassLoop){to, i};
  }
  return n;
}

static int length(const SassLoop *loop) { return loop->last - loop->first; }

const SassLoop *sass_loop_around(const SassLoop *loops, int n, const SassLoop *inner) {
  const SassLoop *best = NULL;
  for (int i = 0; i < n; i++) {
    const SassLoop *loop = &loops[i];
    const bool holds = loop->first <= inner->first && loop->last >= inner->last;
    if (holds && length(loop) > length(inner) && (!best || length(loop) < length(best)))
      best = loop;
  }
  return best;
}
