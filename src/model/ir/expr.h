// Index expressions: how every loop bound, guard, slot and address of a program is said.
//
// An expression is an immutable tree over integers. Each node carries its range [lo, hi], derived
// when it is built; that is what lets a guard be dropped ("m_b·128 + m_t·8 + m_r ≤ 4095 < M"), a
// `% 16` be simplified away, and a 16-byte access be proven aligned, without ever running anything.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

// A tier says which level of the machine runs a loop. One row each: enum, printed name, and what a
// reader should know. The order is from the outside of the machine inwards.
//   id            name             what it means
#define TIER_TABLE(X)                                                    \
  X(SERIAL, "", "runs one after the other in each thread")               \
  X(BLOCK, "BLOCK", "one CTA per iteration: a digit of blockIdx")        \
  X(CLUSTER, "CLUSTER", "one CTA of a cluster per iteration")            \
  X(TILE, "TILE", "a block's share of the tiles, one after the other")   \
  X(WARP, "WARP", "one warp per iteration: a digit of threadIdx / 32")   \
  X(THREAD, "THREAD", "one thread per iteration: a digit of threadIdx")  \
  X(REGISTER, "REGISTER", "unrolled: each iteration owns its registers") \
  X(SERIAL_OUTER, "SERIAL_OUTER", "walks K slab by slab")                \
  X(STAGE_INNER, "STAGE_INNER", "walks K inside one slab")               \
  X(ATOM, "ATOM", "runs inside one tensor-core instruction")

typedef enum Tier {
#define X(id, name, help) TIER_##id,
  TIER_TABLE(X)
#undef X
      TIER_COUNT
} Tier;

const char *tier_name(Tier tier);
const char *tier_help(Tier tier);
// BLOCK, CLUSTER, WARP and THREAD loops are not executed: they are digits of a hardware index.
bool tier_is_hardware(Tier tier);

typedef enum VarKind {
  VAR_LOOP,    // bound by a LOOP statement
  VAR_LET,     // bound by a LET statement
  VAR_STATE,   // a scalar carried across iterations
  VAR_THREAD,  // the flat thread index in the block (threadIdx.x)
  VAR_BLOCK,   // the flat block index in the grid (blockIdx.x)
  VAR_GRID,    // the blocks of the grid (gridDim.x): from 1 on, and known to the launch alone
  VAR_LIST,    // the list of tiles that the cluster has claimed, known behind a barrier
  VAR_EPOCH,   // the number of the launch: each has a higher one than those before it
} VarKind;

// A variable always satisfies 0 <= value < extent, VAR_GRID 1 <= value < extent; the code that
// binds it sees to that (the interpreter checks it).
typedef struct Var {
  int id;  // dense within a program: index into an environment
  const char *name;
  VarKind kind;
  Tier tier;
  int64_t extent;
} Var;

// Whether lanes of a warp may have other values of it than each other.
bool var_is_of_lane(const Var *var);

// One row per operator: enum, how it is printed (NULL: as a call), precedence as in C.
#define EXPR_TABLE(X) \
  X(CONST, NULL, 9)   \
  X(VAR, NULL, 9)     \
  X(ADD, "+", 6)      \
  X(SUB, "-", 6)      \
  X(MUL, "*", 7)      \
  X(DIV, "/", 7)      \
  X(MOD, "%", 7)      \
  X(SHL, "<<", 5)     \
  X(SHR, ">>", 5)     \
  X(LT, "<", 4)       \
  X(EQ, "==", 3)      \
  X(AND, "&", 2)      \
  X(XOR, "^", 1)      \
  X(LAND, "&&", 0)    \
  X(MIN, NULL, 9)     \
  X(SELECT, NULL, 9)  \
  X(TABLE, NULL, 9)

typedef enum ExprOp {
#define X(id, text, precedence) EXPR_##id,
  EXPR_TABLE(X)
#undef X
      EXPR_COUNT
} ExprOp;

const char *expr_op_text(ExprOp op);
int expr_precedence(ExprOp op);
enum { PRECEDENCE_ATOM = 9, PRECEDENCE_PRODUCT = 7, PRECEDENCE_SUM = 6, PRECEDENCE_BITS = 5 };

typedef struct Expr Expr;
struct Expr {
  ExprOp op;
  int64_t value;          // CONST
  const Var *var;         // VAR
  const Expr *a, *b, *c;  // operands; SELECT is a ? b : c; TABLE is table[a]
  const int64_t *table;   // TABLE
  int table_length;
  int64_t lo, hi;  // every value it can take lies in [lo, hi]
};

// Builders. Operands are non-negative wherever / % << >> & ^ are used (checked by assertion);
// constants fold and what the ranges prove is simplified: (x·16 + y) / 16 is x for 0 <= y < 16.
const Expr *ex_const(Arena *arena, int64_t value);
const Expr *ex_var(Arena *arena, const Var *var);
const Expr *ex_add(Arena *arena, const Expr *a, const Expr *b);
const Expr *ex_sub(Arena *arena, const Expr *a, const Expr *b);
const Expr *ex_mul(Arena *arena, const Expr *a, const Expr *b);
const Expr *ex_mul_const(Arena *arena, const Expr *a, int64_t b);
const Expr *ex_add_const(Arena *arena, const Expr *a, int64_t b);
const Expr *ex_div(Arena *arena, const Expr *a, int64_t b);
const Expr *ex_mod(Arena *arena, const Expr *a, int64_t b);
const Expr *ex_div_expr(Arena *arena, const Expr *a, const Expr *b);  // b >= 1
const Expr *ex_mod_expr(Arena *arena, const Expr *a, const Expr *b);  // b >= 1
const Expr *ex_lt(Arena *arena, const Expr *a, const Expr *b);
const Expr *ex_land(Arena *arena, const Expr *a, const Expr *b);  // NULL counts as true
const Expr *ex_min(Arena *arena, const Expr *a, const Expr *b);
const Expr *ex_binary(Arena *arena, ExprOp op, const Expr *a, const Expr *b);  // any of the above
const Expr *ex_select(Arena *arena, const Expr *cond, const Expr *yes, const Expr *no);
const Expr *ex_table(Arena *arena, const int64_t *table, int length, const Expr *index);

// The value under an environment: env[var->id] is the variable's value.
int64_t expr_eval(const Expr *expr, const int64_t *env);

// The threads of a warp, which run together.
enum { LANES = 32 };

// The value for all lanes at once: env[var->id * LANES + lane]. `out` has LANES places.
void expr_eval_warp(const Expr *expr, const int64_t *env, int64_t *out);

// `expr` with every occurrence of `var` replaced; ranges and simplifications are derived anew.
const Expr *expr_substitute(Arena *arena, const Expr *expr, const Var *var, const Expr *by);

bool expr_is_const(const Expr *expr, int64_t value);
bool expr_equal(const Expr *a, const Expr *b);  // same tree
bool expr_uses(const Expr *expr, const Var *var);
// Whether any variable in it is one of those.
bool expr_any(const Expr *expr, bool (*is_one)(const Var *var));

// The largest number proven to divide the expression whatever its variables are (0 for constant 0).
int64_t expr_divisor(const Expr *expr);

// If expr = stride·var + rest with rest free of var, sets *stride and says true.
bool expr_stride(const Expr *expr, const Var *var, int64_t *stride);

// C syntax, fewest parentheses ("m_b * 128 + m_t * 8 + m_r"); the same text in IR, CUDA and screen.
void expr_print(Str *out, const Expr *expr);
