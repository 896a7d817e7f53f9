// Programs built by hand for the tests of the interpreter, and the faults to plant in them.
//
// One recipe makes the whole family (block and thread tiers, staging, a ring of slabs, cp.async,
// split-K both ways); a fault is one field of it, so that a faulty program differs from a sound one
// in exactly that.
#pragma once
#include "model/interp/interp.h"
#include "model/ir/names.h"
#include "model/ir/op.h"
#include "model/ir/problem.h"

typedef enum Fault {
  SOUND,
  NO_BARRIER_AFTER_FILL,   // readers do not wait for the slab
  NO_BARRIER_BEFORE_FILL,  // the next slab overwrites what is still read
  ROW_TOO_SHORT,           // the slab's rows overlap by one element
  SLAB_TOO_SMALL,          // the last row is missing
  SLOT_CONSTANT,           // the phase index dropped: one slab, one barrier
  SPLIT_GUARDED,           // first split stores, the rest add
  NO_ZERO,                 // atomic split-K without its zero kernel
  NO_WAIT,
  WAIT_LAX,          // one group too many stays in flight
  FRAGMENT_OFF,      // multiplies a[i + 1] where a[i] belongs, the last one wraps
  FRAGMENT_BEYOND,   // the same without wrapping
  FRAGMENT_UNREAD,   // the last a[] is never loaded
  K_TAIL_LOST,       // K / BK slabs, rounded down
  NO_INIT,           // the accumulators never start at 0
  BARRIER_IN_LANES,  // a barrier that only half of each warp reaches
  BARRIER_IN_WARP,   // a barrier that only the first warp reaches
  LAST_ROW_UNSTORED,
  SAME_TARGET,   // two lanes of one instruction store one element
  REDUCE_EARLY,  // partials are summed in the kernel that writes them
} Fault;

typedef struct Recipe {
  Problem problem;
  int bm, bn, fm, fn, bk;
  int slabs;  // ring size; 1: one slab, two barriers
  bool async;
  int splits;     // > 1: split-K
  bool partials;  // through a workspace instead of atomic adds
  int pad;
  Fault fault;
} Recipe;

// Where everything below is built; to be called first in each test.
void recipe_use(Arena *arena);
Arena *recipe_arena(void);

Program *recipe_build(const Recipe *recipe);
// Whether one of the findings is of this kind and holds this text.
bool recipe_says(const InterpResult *result, FindingKind kind, const char *text);
// Three serial loops, one thread.
Program *recipe_naive(Problem problem);

// Shorthand for programs of one's own.
const Expr *num(int64_t value);
const Expr *var(const Var *v);  // 0 for NULL
const Expr *add(const Expr *a, const Expr *b);
const Expr *times(const Expr *a, int64_t b);
Stmt *op1(Program *p, OpKind kind, Access dst, Access src);
Stmt *init(Program *p, Access dst);
Stmt *plain(Program *p, OpKind kind, int64_t count);
Stmt *loop(Program *p, Var *v, Stmt *body);
Var *new_var(Program *p, const char *name, Tier tier, int64_t extent);
