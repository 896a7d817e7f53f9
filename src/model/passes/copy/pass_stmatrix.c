// Stores of sums into C_s, 4 bytes a lane → stmatrix, eight rows of 16 bytes at a time.
//
// Requires: epilogue or tma_store, C of 16 bits, an arch with stmatrix. Ensures: two neighbouring
// groups of eight columns go by one stmatrix.x4, by .x2 where their number is odd. Preserves: which
// element goes where; registers are rounded on the way, as the stores did.
//
// stmatrix is ldmatrix backwards (fragment.h): lane l names the row l % 8 of matrix l / 8, and the
// matrix takes a register of every lane. The sums of an atom with rows of 16 are such matrices:
// value pair 0 of all lanes is rows 0 to 7 of eight columns, pair 1 is rows 8 to 15, and the next
// pairs are the next columns. So lane l addresses what the store of lane 4 · (l % 8), pair l / 8 %
// 2, group l / 16 would; the store's own indices say where that is, whatever the slab looks like.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

static const KnobId knob = KNOB_STMATRIX;

enum { HALVES = 2, GROUP_LANES = HALVES * LDMATRIX_ROWS };

bool pass_stmatrix_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_STMATRIX] && schedule->value[KNOB_EPILOGUE] &&
         schedule->value[KNOB_ATOM_KIND] != 0;
}

// The loops around the store: over groups of columns that are atoms (NULL: there is one), and over
// the pairs of values in an atom.
typedef struct Fill {
  const Var *atoms, *pairs;
  const Op *store;
} Fill;

static Fill fill_of(const Stmt *list) {
  const Stmt *pairs = list->body->kind == STMT_LOOP ? list->body : list;
  return (Fill){pairs == list ? NULL : list->var, pairs->var, &pairs->body->op};
}

// Which group of eight columns a matrix of the instruction stands for: the groups follow each other
// in the atoms, and inside an atom in its pairs.
typedef struct Group {
  const Expr *atom, *pair;
} Group;

static Group group_at(Program *program, const Fill *fill, const Expr *group) {
  Arena *arena = program->arena;
  int64_t in_atom = fill->pairs->extent / HALVES;
  return (Group){ex_div(arena, group, in_atom),
                 ex_mul_const(arena, ex_mod(arena, group, in_atom), HALVES)};
}

static void substitute_access(Program *program, Access *access, const Var *var, const Expr *by) {
  for (int d = 0; var && d < access->buffer->rank; d++)
    access->idx[d] = expr_substitute(program->arena, access->idx[d], var, by);
}

static Access with_group(Program *program, const Fill *fill, Access access, Group group) {
  substitute_access(program, &access, fill->pairs, group.pair);
  substitute_access(program, &access, fill->atoms, group.atom);
  return access;
}

// The row that a lane addresses: what lane 4 · (l % 8) of its warp would store there.
static Access row_address(Program *program, const Product *product, const Fill *fill,
                          const Expr *first, int64_t groups) {
  Arena *arena = program->arena;
  const Expr *lane = ex_var(arena, product->lane);
  const Expr *beside = ex_mod(arena, ex_div(arena, lane, GROUP_LANES), groups);
  const Expr *half = ex_mod(arena, ex_div(arena, lane, LDMATRIX_ROWS), HALVES);
  const Expr *warp = ex_mul_const(arena, ex_div(arena, lane, LANES), LANES);
  const Expr *row = ex_mod(arena, lane, LDMATRIX_ROWS);
  const Expr *holder = ex_add(arena, warp, ex_mul_const(arena, row, LANES / LDMATRIX_ROWS));
  Access access = fill->store->dst;
  substitute_access(program, &access, product->lane, holder);
  Group group = group_at(program, fill, ex_add(arena, first, beside));
  group.pair = ex_add(arena, group.pair, half);
  return with_group(program, fill, access, group);
}

static bool is_alone(const Stmt *stmt) {
  return stmt->kind == STMT_OP || (stmt->body && !stmt->body->next && is_alone(stmt->body));
}

// The stores' loops, below those that have more to do.
static Stmt **link_of_fill(const Product *product, Stmt **list) {
  BufferRole slab = product->operand[ATOM_C].slab;
  Stmt **link = stmt_find_link(list, OP_STORE, slab);
  while (!is_alone(*link)) link = stmt_find_link(&(*link)->body, OP_STORE, slab);
  return link;
}

void pass_stmatrix(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Arena *arena = program->arena;
  Stmt **link = link_of_fill(product, &kernel_inner(program_main_kernel(program))->body);
  Stmt *list = stmt_cut(link);
  Fill fill = fill_of(list);
  int64_t all = fill.pairs->extent / HALVES * (fill.atoms ? fill.atoms->extent : 1);
  int64_t groups = all % 2 ? 1 : 2;
  Var *n_q = program_var(program, "n_q", VAR_LOOP, TIER_REGISTER, all / groups);
  const Expr *first = ex_mul_const(arena, ex_var(arena, n_q), groups);
  Op op = {.kind = OP_STMATRIX,
           .dst = row_address(program, product, &fill, first, groups),
           .src = with_group(program, &fill, fill.store->src, group_at(program, &fill, first)),
           .matrices = HALVES * groups};
  stmt_insert(link, stmt_wrap_register(program, knob, n_q, stmt_op(program, knob, op)));
}
