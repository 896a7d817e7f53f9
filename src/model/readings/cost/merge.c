// Sites as written → the accesses, with their widths, that the assembler should make of them.
//
// ptxas merges neighbours of one thread: accesses in one basic block whose addresses are one
// register and a constant, where the constants follow each other without a gap and the address is
// known to be a multiple of the wider access (up to 16 bytes). A basic block is what is left of the
// loops around a statement once they are unrolled, so every loop that is known to be contributes
// its iterations, and every other one is part of the register.
//
// Two things make addresses that look alike different registers: a remainder or an xor that does
// not fold into a constant. And a pad ends what is known of the alignment row by row, not
// everywhere.
//
// Worked example, a <- A_s of rows of 32 + 1 floats, four rows and four k-steps unrolled, at
// (m_t · 4 + m_r) · 33 + k_i: the register is m_t · 132, a multiple of 4 floats. Row 0 begins at 0:
// one LDS.128; row 1 at 33: 33 alone, 34 and 35 an LDS.64, 36 alone; row 2 at 66: two LDS.64.
#include "model/readings/cost/merge.h"

#include <stdlib.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

// INSTANCES_MAX bounds the work; a
// site beyond it is taken as written.
enum { INSTANCES_MAX = 4096, MERGED_BYTES_MAX = 16 };

// LLVM does it so for this target: a loop of known length is unrolled whole while all its
// iterations together have WHOLE_MAX instructions, and else by as many as have a quarter of that.
// OVERHEAD of them keep the loop going.
enum { WHOLE_MAX = 300, PARTIAL_MAX = WHOLE_MAX / 4, OVERHEAD = 3 };

// The address that a thread has in one iteration of the unrolled loops: a register and a constant.
typedef struct Instance {
  int base;
  int64_t offset;  // in bytes
} Instance;

typedef struct Merger {
  Arena *arena;
  const Program *program;
  const Site *site;
  const Stmt *loop[DIGITS_MAX];  // around the statement, those that are unrolled …
  int64_t turns[DIGITS_MAX];     // … by this number of iterations
  int n_loops;
  const Stmt *let[DIGITS_MAX];  // in front of the statement, outermost first
  int n_lets;
  const Expr **base;  // [n_bases] in elements
  int n_bases;
  Instance *instance;
  int64_t n;
} Merger;

// ---- which loops are unrolled -------------------------------------------------------------------

// Instructions of one iteration.
static int64_t count_body(const Stmt *list) {
  int64_t n = 0;
  for (; list; list = list->next) {
    int64_t inner = list->body ? count_body(list->body) : 0;
    n += list->kind == STMT_LOOP ? list->var->extent * inner : inner;
    n += list->kind == STMT_OP;
  }
  return n;
}

// Iterations of the loop that stand in one basic block; 1 where it stays a loop.
static int64_t turns_of(const Stmt *loop) {
  int64_t extent = loop->var->extent;
  if (loop->var->tier == TIER_TILE) return 1;
  if (loop->var->tier == TIER_REGISTER || loop->unroll == UNROLL_FULL) return extent;
  if (loop->unroll > 0) return extent % loop->unroll ? 1 : loop->unroll;
  int64_t body = count_body(loop->body) + OVERHEAD;
  if (extent * body <= WHOLE_MAX) return extent;
  int64_t turns = PARTIAL_MAX / body;
  while (turns > 1 && extent % turns) turns--;
  return turns > 1 ? turns : 1;
}

// The loops around the statement and the names that are given in front of it, outermost first;
// false when it is not in the list.
static bool find_path(Merger *merger, const Stmt *list, const Stmt *stmt) {
  const int lets_outside = merger->n_lets;
  for (; list; list = list->next) {
    if (list == stmt) return true;
    if (list->kind == STMT_LET && merger->n_lets < DIGITS_MAX) merger->let[merger->n_lets++] = list;
    if (!list->body) continue;
    int64_t turns = list->kind == STMT_LOOP ? turns_of(list) : 1;
    bool counts = turns > 1 && merger->n_loops < DIGITS_MAX;
    if (counts) {
      merger->turns[merger->n_loops] = turns;
      merger->loop[merger->n_loops++] = list;
    }
    if (find_path(merger, list->body, stmt)) return true;
    merger->n_loops -= counts;
  }
  merger->n_lets = lets_outside;
  return false;
}

// Whether the i-th name does, by itself or by a name in front of it.
static bool moves_with_a_loop(const Merger *merger, int i, const bool *moves) {
  const Expr *expr = merger->let[i]->expr;
  for (int loop = 0; loop < merger->n_loops; loop++)
    if (expr_uses(expr, merger->loop[loop]->var)) return true;
  for (int before = 0; before < i; before++)
    if (moves[before] && expr_uses(expr, merger->let[before]->var)) return true;
  return false;
}

// The offset with what a name stands for in its place, where that moves with an unrolled loop: with
// k_j = k_i + 1 the address moves with k_i.
static const Expr *without_names(const Merger *merger, const Expr *offset) {
  bool moves[DIGITS_MAX];
  for (int i = 0; i < merger->n_lets; i++) moves[i] = moves_with_a_loop(merger, i, moves);
  for (int i = merger->n_lets - 1; i >= 0; i--)
    if (moves[i])
      offset = expr_substitute(merger->arena, offset, merger->let[i]->var, merger->let[i]->expr);
  return offset;
}

// ---- instances ----------------------------------------------------------------------------------

// The constant at the end of a sum, which the builders put there.
static const Expr *without_constant(const Expr *expr, int64_t *constant) {
  *constant = 0;
  if (expr->op == EXPR_CONST) {
    *constant = expr->value;
    return NULL;
  }
  if (expr->op != EXPR_ADD || expr->b->op != EXPR_CONST) return expr;
  *constant = expr->b->value;
  return expr->a;
}

static int find_base(Merger *merger, const Expr *base) {
  int at = 0;
  while (at < merger->n_bases && !expr_equal(merger->base[at], base)) at++;
  if (at == merger->n_bases) merger->base[merger->n_bases++] = base;
  return at;
}

static int64_t count_instances(const Merger *merger) {
  int64_t n = 1;
  for (int i = 0; i < merger->n_loops && n <= INSTANCES_MAX; i++) n *= merger->turns[i];
  return n;
}

static void add_instance(Merger *merger, const Expr *offset, int64_t further) {
  int64_t constant, bytes = dtype_bytes(merger->site->slab->type);
  int base = find_base(merger, without_constant(offset, &constant));
  int64_t at = (constant + further) * bytes + merger->site->slab->offset_bytes;
  merger->instance[merger->n++] = (Instance){base, at};
}

// The variable in the i-th of the unrolled iterations: itself times their number, and i.
static const Expr *turn_of(const Merger *merger, int loop, int64_t i) {
  const Var *var = merger->loop[loop]->var;
  int64_t turns = merger->turns[loop];
  if (turns == var->extent) return ex_const(merger->arena, i);
  const Expr *first = ex_mul_const(merger->arena, ex_var(merger->arena, var), turns);
  return ex_add_const(merger->arena, first, i);
}

// Loops that move the address by a constant add to it; the others are put into the expression.
static void expand(Merger *merger, const Expr *offset, int loop, int64_t further) {
  if (loop == merger->n_loops) {
    add_instance(merger, offset, further);
    return;
  }
  const Var *var = merger->loop[loop]->var;
  int64_t stride;
  bool linear = expr_stride(offset, var, &stride);
  const Expr *here = expr_substitute(merger->arena, offset, var, turn_of(merger, loop, 0));
  for (int64_t i = 0; i < merger->turns[loop]; i++) {
    if (!linear && i) here = expr_substitute(merger->arena, offset, var, turn_of(merger, loop, i));
    expand(merger, here, loop + 1, linear ? further + i * stride : further);
  }
}

static bool comes_before(const Instance *a, const Instance *b) {
  return a->base != b->base ? a->base < b->base : a->offset < b->offset;
}

static int by_address(const void *a, const void *b) {
  return comes_before(b, a) - comes_before(a, b);
}

// ---- merging ------------------------------------------------------------------------------------

// Counts the instances from i on that begin in the `bytes` at `start`, as far as they have i's
// register.
static int count_within(const Merger *merger, int64_t i, int64_t start, int64_t bytes) {
  int base = merger->instance[i].base, n = 0;
  for (; i < merger->n && merger->instance[i].base == base; i++, n++)
    if (merger->instance[i].offset >= start + bytes) break;
  return n;
}

// The power of two that the register is known to be a multiple of, in bytes.
static int64_t alignment_of(const Merger *merger, int base) {
  const Expr *expr = merger->base[base];
  int64_t divisor = (expr ? expr_divisor(expr) : 0) * dtype_bytes(merger->site->slab->type);
  return divisor ? divisor & -divisor : MERGED_BYTES_MAX;
}

// Whether `n` of the `pieces` of a wide access are worth it. A store must write all of them; a
// load may fetch one in four for nothing.
static bool is_worth(const Site *site, int n, int pieces) {
  return n == pieces || (!site->is_store && n >= 3 && 4 * n >= 3 * pieces);
}

// The widest access that begins at or before instance i and takes at least it in.
static int widest_at(const Merger *merger, int64_t i, int *taken) {
  const Site *site = merger->site;
  const Instance *at = &merger->instance[i];
  int64_t aligned = alignment_of(merger, at->base), written = site->as_written->op->bytes;
  int form = site->n_widths - 1;
  for (; &site->width[form] != site->as_written; form--) {
    int64_t bytes = site->width[form].op->bytes, start = at->offset - at->offset % bytes;
    *taken = count_within(merger, i, start, bytes);
    if (bytes <= aligned && is_worth(site, *taken, (int)(bytes / written))) return form;
  }
  *taken = 1;
  return form;
}

// The instances, in order of their addresses, are cut into the widest pieces; count[i] of width[i].
static void count_widths(const Merger *merger, int64_t *count) {
  int taken;
  for (int64_t i = 0; i < merger->n; i += taken) count[widest_at(merger, i, &taken)]++;
}

static void predict_site(Arena *arena, const Program *program, const Site *site,
                         MachineAccesses *out, MachineAccess *access) {
  Merger merger = {.arena = arena, .program = program, .site = site};
  const Access *shared = site->is_store ? &site->stmt->op.dst : &site->stmt->op.src;
  int64_t count[SITE_FORMS_MAX] = {0};
  if (!find_path(&merger, program_outer_k_loop(program)->body, site->stmt)) return;
  const int64_t n = count_instances(&merger);
  if (n > INSTANCES_MAX) return;
  merger.instance = ARENA_ARRAY(arena, Instance, n);
  merger.base = ARENA_ARRAY(arena, const Expr *, n);
  expand(&merger, without_names(&merger, access_offset(arena, shared)), 0, 0);
  qsort(merger.instance, (size_t)merger.n, sizeof *merger.instance, by_address);
  count_widths(&merger, count);
  if (count[site->as_written - site->width] == merger.n) return;
  double scale = site->executions / (double)merger.n;
  for (int i = 0; i < site->n_widths; i++)
    if (count[i])
      access[out->n++] = (MachineAccess){site->stmt->id, site->is_store, site->width[i].op->bytes,
                                         scale * (double)count[i]};
}

MachineAccesses merge_predict(Arena *arena, const Program *program, const Sites *written) {
  MachineAccess *access = ARENA_ARRAY(arena, MachineAccess, written->n * SITE_FORMS_MAX);
  MachineAccesses out = {0, access};
  for (int i = 0; i < written->n; i++) {
    const Site *site = &written->site[i];
    if (site->executions > 0 && site->n_widths > 1)
      predict_site(arena, program, site, &out, access);
  }
  return out;
}
