// The main kernel, warp after warp: every operation with its lanes, and its number of executions.
//
//   static void look(void *context, const WarpVisit *visit) { … evaluate visit->env … }
//   static bool is_uneven(void *context, const Op *op, const Var *var) { … }
//   static const WarpVisitor VISITOR = {.visit = look, .is_uneven = is_uneven};
//   warp_walk(arena, program, &VISITOR, &mine);
//
// One block stands for all, one tile of a persistent kernel for all tiles. If all iterations of a
// loop cost alike, the first is walked; else all are, or every n-th if there are too many, and a
// visit says the number of iterations that it stands for.
#pragma once
#include "model/ir/names.h"

// An operation that a warp comes by, in one iteration of each loop around it.
typedef struct WarpVisit {
  const Stmt *stmt;
  int warp;
  const int64_t *env;  // of its 32 lanes: expr_eval_warp(expr, env, out)
  const bool *active;  // [LANES]
  bool in_loop;        // inside of the loop over slabs
  double executions;   // times that one warp comes by per slab, IFs considered, at the first visit
  double weight;       // times per slab, or per block, that this visit stands for
} WarpVisit;

typedef struct WarpVisitor {
  void (*visit)(void *context, const WarpVisit *visit);
  // Whether an operation may cost something else as `var` goes on.
  bool (*is_uneven)(void *context, const Op *op, const Var *var);
  // The kernel from end to end: what stands around the loop over slabs is walked like what stands
  // inside, that loop is one among the others, and a weight is of the whole block.
  bool whole;
} WarpVisitor;

void warp_walk(Arena *arena, const Program *program, const WarpVisitor *visitor, void *context);
