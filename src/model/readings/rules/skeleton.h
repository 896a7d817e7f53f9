// Tells what a kernel whose warps have roles must contain, and in which order: a list to hold a
// program, or a broken one, against.
//
//   const Skeleton *skeleton = skeleton_of(arena, program);
//   skeleton->line[i]   "one whole warp allocates tensor memory", ok, stmt 26
//
// Its parts are those of article 004's reference skeleton: what stands in front of the roles, the
// phases that they begin with, each role, and what stands behind them. A line is asked where the
// program has what it is about, so that kernels of Hopper have those of mbarriers, boxes and roles
// alone. Nothing is run: conditions are evaluated for every thread of a cluster, orders are orders
// in the text.
#pragma once
#include "model/ir/names.h"

typedef enum SkeletonPart {
  SKELETON_BEGIN,
  SKELETON_PHASES,
  SKELETON_FETCH,
  SKELETON_MULTIPLY,
  SKELETON_WRITE,
  SKELETON_END,
  SKELETON_PARTS
} SkeletonPart;

const char *skeleton_part_name(SkeletonPart part);  // "in front of the roles"

typedef enum SkeletonState { SKELETON_OK, SKELETON_MISSING, SKELETON_WRONG } SkeletonState;

const char *skeleton_state_name(SkeletonState state);  // "ok", "missing", "wrong"

typedef struct SkeletonLine {
  SkeletonPart part;
  const char *asked;  // "one whole warp allocates tensor memory, with no lane guard"
  SkeletonState state;
  const Stmt *at;     // what answers it, or what it is missed at; NULL: there is no such statement
  const char *found;  // why it is wrong: "thread 0 alone does"; NULL: it is ok, or missing
} SkeletonLine;

enum { SKELETON_LINES_MAX = 48 };

typedef struct Skeleton {
  int n, n_bad;  // n 0: neither roles nor tensor memory
  SkeletonLine line[SKELETON_LINES_MAX];
} Skeleton;

const Skeleton *skeleton_of(Arena *arena, const Program *program);
