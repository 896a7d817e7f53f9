// Tells what the files of the skeleton share: a line that is being answered, and the rows about
// orders.
#pragma once
#include "model/ir/launch.h"
#include "model/ir/names.h"
#include "model/ir/op_kind.h"
#include "model/ir/program.h"
#include "model/ir/role.h"
#include "model/readings/rules/skeleton.h"

// The checks of skeleton.c ask this of a program: who reaches which statement, where it stands, and
// what a phase of each mbarrier gets.
enum { SKELETON_BARRIERS = 8 };

// For one statement that operates.
typedef struct StmtFacts {
  const Stmt *stmt;
  const WarpRole *role;  // whose body it stands in; NULL: none's
  int place;             // in the order of the text, from 1 on; 0: it is not there
  int lanes;             // the most of one warp that reach it
  int64_t threads;       // of the first CTA that do
  bool elects, whole;    // elect.sync says which lane; and whole warps ask it
} StmtFacts;

// For the mbarriers of one buffer, as the first CTA of a cluster has them.
typedef struct PhaseFacts {
  const Buffer *buffer;
  const Stmt *init;  // NULL: no thread initialises them
  int64_t awaited, arrivals, expected, bytes;
  int64_t first_phase;  // that the first wait asks for; -1: no wait
  int told, filled;     // the most CTAs that one arrival, or one box counted here, is for
  const Stmt *wait, *expect;
} PhaseFacts;

typedef struct SkeletonFacts {
  Arena *arena;
  const Program *program;
  Launch launch;
  int n;  // statements that operate, in the order of the text
  StmtFacts *stmt;
  int n_barriers;
  PhaseFacts barrier[SKELETON_BARRIERS];
} SkeletonFacts;

SkeletonFacts skeleton_facts(Arena *arena, const Program *program);

// Statements of a kind (OP_COUNT: that multiply) on a destination of a role (ROLE_COUNT: any), in
// the body of the role that does that work (WORK_COUNT: wherever), behind place `from`; NULL: there
// is none.
const StmtFacts *skeleton_find(const SkeletonFacts *facts, OpKind kind, BufferRole dst,
                               RoleWork work, int from);
const StmtFacts *skeleton_find_last(const SkeletonFacts *facts, OpKind kind, BufferRole dst,
                                    RoleWork work);
// Whether one thread does it: TMA, what an mbarrier expects, products and commits of tcgen05.
bool skeleton_is_issued(const StmtFacts *facts);
// Whether elect.sync picks any thread of the program.
bool skeleton_elects(const SkeletonFacts *facts);
const PhaseFacts *skeleton_phases(const SkeletonFacts *facts, BufferRole role);

typedef struct Asked {
  const SkeletonFacts *facts;
  SkeletonLine *line;
} Asked;

static inline void skeleton_ok(const Asked *a, const Stmt *at) { a->line->at = at; }

static inline void skeleton_missing(const Asked *a, const Stmt *at) {
  a->line->state = SKELETON_MISSING;
  a->line->at = at;
}

static inline void skeleton_wrong(const Asked *a, const Stmt *at, const char *found) {
  a->line->state = SKELETON_WRONG;
  a->line->at = at;
  a->line->found = found;
}

static inline const Stmt *skeleton_stmt(const StmtFacts *facts) {
  return facts ? facts->stmt : NULL;
}

static inline bool skeleton_has_roles(const SkeletonFacts *facts) {
  return program_main(facts->program)->n_roles > 0;
}

// The rows of skeleton_order.c; a check says whether the row is asked of this program.
extern const int skeleton_n_orders;
SkeletonPart skeleton_order_part(int row);
bool skeleton_check_order(const Asked *a, int row);
