// The main kernel, every warp of one cluster after the other: each operation that some lane
// reaches, with the lane and the slab.
//
//   static void look(void *context, const ClusterVisit *visit) { … cluster_value(visit, op->phase)
//   … } static const ClusterVisitor visitor = {.visit = look, .counts = is_of_interest, .slabs =
//   2}; cluster_walk(arena, program, &visitor, &mine);
//
// warp_walk.h weighs the cost of a block; this walk shows the effect of each warp on the others.
// Nothing is run: conditions switch lanes off and LETs are evaluated. One tile stands for all. Of a
// loop over slabs the first ones are walked, of one over registers all turns where something inside
// counts, of others the first. Or each warp is walked as it would run, from end to end (`whole`).
#pragma once
#include "model/ir/names.h"

typedef struct ClusterVisit {
  const Stmt *stmt;
  const WarpRole *role;  // the role with the statement in its body; NULL: none
  int rank, warp;
  int lane, n_lanes;   // the first that reaches it, and the number of the warp that do
  int slab;            // of the loop over slabs; -1: outside
  const Var *turn;     // of a loop over tiles around it; else NULL
  int64_t *env;        // [n_vars][LANES]
  const bool *active;  // [LANES]
} ClusterVisit;

typedef struct ClusterVisitor {
  void (*visit)(void *context, const ClusterVisit *visit);
  bool (*counts)(const Op *op);
  bool others;   // operations that do not count are visited as well
  int slabs;     // turns of a loop over slabs, at most
  bool whole;    // every turn of every loop, the tiles of the first cluster among them …
  int64_t grid;  // … of this many
} ClusterVisitor;

void cluster_walk(Arena *arena, const Program *program, const ClusterVisitor *visitor,
                  void *context);
// An expression in the visit's first lane.
int64_t cluster_value(const ClusterVisit *visit, const Expr *expr);
