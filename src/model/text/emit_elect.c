// A condition on the number of a thread → a branch that is one for the whole warp, and elect.sync.
//
//   thread == 160, elected         warp == 5 && elect_one()
//   (thread % 32) == 0, elected    elect_one()
//   lane == 0, elected             warp % 4 == 0 && elect_one()     lane 0 … 127 of 256 threads
//   159 < thread                   5 <= warp
//   127 < thread && thread < 160   warp == 4
//
// `warp` is threadIdx.x / 32, handed out by lane 0: ptxas then keeps it in a uniform register, and
// knows of each branch by it that no warp is divided.
#include "model/text/emit_parts.h"

#include "model/ir/elect.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/text/emit_op.h"

static const PreludeText elect_text = {
    "elect_one",
    "// True in one lane of the warp: the hardware picks it, always the same one.\n"
    "__device__ __forceinline__ bool elect_one() {\n"
    "  unsigned picked;\n"
    "  asm volatile(\"{ .reg .pred one;\\nelect.sync _|one, 0xffffffff;\\n\"\n"
    "               \"selp.u32 %0, 1, 0, one; }\" : \"=r\"(picked));\n"
    "  return picked != 0;\n}\n"};

const char *emit_elect_one(Emitter *emitter) { return emit_given(emitter, &elect_text); }

static void note_elect(Stmt *stmt, int depth, void *elects) {
  (void)depth;
  *(bool *)elects |= stmt->elects;
}

void emit_elect_begin(Emitter *emitter, const Kernel *kernel) {
  const Launch launch = kernel_launch(kernel);
  emitter->block_warps = launch_block_warps(&launch);
  emitter->elects = false;
  stmt_walk(kernel->body, note_elect, &emitter->elects);
}

void emit_elect_declare(Emitter *emitter) {
  if (emitter->elects && emitter->block_warps > 1)
    emitter_line(emitter, "const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);");
}

// "warp", or "warp % 4" where numbers begin anew after 128 threads; NULL: it would always be 0.
static const char *warp_of(Emitter *emitter, const Expr *number) {
  const int64_t warps = elect_period(number) / LANES;
  const bool alone = emitter->role && emitter->role->n_threads == LANES;
  if (warps == 1 || alone || emitter->block_warps == 1) return NULL;
  return warps < emitter->block_warps
             ? arena_printf(emitter->arena, "warp %% %lld", (long long)warps)
             : "warp";
}

// The warps first … end - 1 that a comparison of a number with a constant leaves.
typedef struct Warps {
  const Expr *number;
  int64_t first, end;
} Warps;

static bool find_warps(const Expr *expr, Warps *out) {
  if (expr->op != EXPR_LT || !elect_is_of_warps(expr)) return false;
  const bool above = expr->a->op == EXPR_CONST;
  out->number = above ? expr->b : expr->a;
  if (!elect_period(out->number)) return false;
  out->first = above ? (expr->a->value + 1) / LANES : 0;
  out->end = above ? elect_period(expr->b) / LANES : expr->b->value / LANES;
  return true;
}

static const char *print_warps(Emitter *emitter, const Warps *warps) {
  const char *warp = warp_of(emitter, warps->number);
  const bool to_last = warps->end == elect_period(warps->number) / LANES;
  const long long first = (long long)warps->first, end = (long long)warps->end;
  if (!warp) return NULL;
  if (first + 1 == end) return arena_printf(emitter->arena, "%s == %lld", warp, first);
  if (to_last) return arena_printf(emitter->arena, "%lld <= %s", first, warp);
  if (!first) return arena_printf(emitter->arena, "%s < %lld", warp, end);
  return arena_printf(emitter->arena, "%lld <= %s && %s < %lld", first, warp, warp, end);
}

// Both sides of what some role asks: from one warp on, and up to another.
static bool find_both(const Expr *expr, Warps *out) {
  Warps upper;
  if (expr->op != EXPR_LAND || !find_warps(expr->a, out) || !find_warps(expr->b, &upper))
    return false;
  if (!expr_equal(out->number, upper.number) || upper.first || !out->first) return false;
  out->end = upper.end;
  return true;
}

// NULL: always true of a whole warp that gets there.
static const char *print_conjuncts(Emitter *emitter, const Expr *expr, const Expr *elected) {
  Warps warps;
  if (expr == elected) {
    const int64_t own = expr->b->value / LANES;
    warps = (Warps){expr->a, own, own + 1};
    return print_warps(emitter, &warps);
  }
  if (find_warps(expr, &warps) || find_both(expr, &warps)) return print_warps(emitter, &warps);
  if (expr->op != EXPR_LAND) return emit_condition(emitter, expr);
  const char *left = print_conjuncts(emitter, expr->a, elected);
  const char *right = print_conjuncts(emitter, expr->b, elected);
  return left && right ? arena_printf(emitter->arena, "%s && %s", left, right)
         : left        ? left
                       : right;
}

void emit_condition_reads(const Stmt *stmt, const Expr *expr, EmitReads *reads, void *context) {
  Warps warps;
  const bool by_warp = expr == elect_test(stmt->expr) ? stmt->elects : find_warps(expr, &warps);
  if (by_warp) return;
  if (expr->op != EXPR_LAND) {
    reads(expr, context);
    return;
  }
  emit_condition_reads(stmt, expr->a, reads, context);
  emit_condition_reads(stmt, expr->b, reads, context);
}

const char *emit_if_condition(Emitter *emitter, const Stmt *stmt) {
  if (!emitter->elects) return emit_condition(emitter, stmt->expr);
  const Expr *elected = stmt->elects ? elect_test(stmt->expr) : NULL;
  const char *text = print_conjuncts(emitter, stmt->expr, elected);
  if (!elected) return text ? text : "true";
  return arena_printf(emitter->arena, "%s%s%s()", text ? text : "", text ? " && " : "",
                      emit_elect_one(emitter));
}
