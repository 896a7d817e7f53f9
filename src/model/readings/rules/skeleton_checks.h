// Tells what the files of the skeleton share: a line that is being answered, and the rows about
// orders.
#pragma once
#include "model/readings/rules/skeleton.h"
#include "model/readings/rules/skeleton_facts.h"

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
