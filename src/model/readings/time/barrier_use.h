// Tells what a barrier of a block is for: which slabs are filled in front of it and read behind it,
// and which are read in front of it and filled anew behind it.
//
//   BarrierUses uses = barrier_uses(arena, program);
//   barrier_use_text(arena, barrier_use_of(&uses, stmt))    "K_s is filled, V_s read to the end"
//
// Worked example, the loop of attention with EAGER_KV, in which K and V have one slab each:
//   wait  barrier  copy V  read K  wait  barrier  copy the next K  read V
// In front of the first barrier K was copied, and V read by the turn before: behind it K is read,
// and V overwritten. For the second one they have changed places.
#pragma once
#include "model/ir/names.h"

enum { BARRIER_BUFFERS_MAX = 8, BARRIERS_MAX = 32 };

typedef struct BarrierUse {
  const Stmt *barrier;
  int n_filled, n_left;
  const Buffer *filled[BARRIER_BUFFERS_MAX];  // in front of it, and read behind it
  const Buffer *left[BARRIER_BUFFERS_MAX];    // read to the end in front of it, and written behind
} BarrierUse;

typedef struct BarrierUses {
  int n;  // barriers of the whole block in the main kernel, at most BARRIERS_MAX
  BarrierUse use[BARRIERS_MAX];
} BarrierUses;

BarrierUses barrier_uses(const Program *program);
// NULL: it is no such barrier.
const BarrierUse *barrier_use_of(const BarrierUses *uses, const Stmt *stmt);
// NULL of NULL; empty where it guards no slab, such as one that makes mbarriers known.
const char *barrier_use_text(Arena *arena, const BarrierUse *use);
