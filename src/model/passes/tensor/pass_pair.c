// two CTAs that multiply apart → a pair that multiplies together (tcgen05, cta_group::2).
//
// Requires: roles of tcgen05, a cluster of two along M, one atom along N. Ensures: each CTA has the
// half of B's slab for its half of the columns; one thread of the even CTA asks for products of 256
// rows, which read both halves and both CTAs' rows of A; what is fetched counts at the even CTA's
// full, which expects twice the bytes; a commit arrives at empty and acc_full of both. Preserves:
// whose rows of C are whose: each CTA has the sums of its own 128 rows, and writes them.
//
// Worked example, 128 x 256 a CTA, slabs 64 deep, 16 bits: 16 KiB of A and 32 KiB of B were fetched
// by each for its products; now each fetches 16 KiB of B, and the same products take two thirds of
// the bytes.
//
//   full[slot]   1 arrival, of the even CTA, and 2 · (16 + 16) KiB
//   empty[slot]  1 commit for each consumer, mask 3: both CTAs may fill the slot again
//   acc_full     1 commit, mask 3
//   acc_empty    at the even CTA, 4 warps of each: one product overwrites the sums of both
//
// For scale factors each CTA has those of its own rows of A, and those of all columns of B, which
// it fetches whole: products of both halves of the lanes want them (PTX ISA, tcgen05.mma, Scale
// Factor B ID). A copy to tensor memory is, like a product, of both CTAs: each one's slab to each
// one's columns.
//
// The barriers of the block become the cluster's: mbarriers and tensor memory of both must be there
// before one reaches the other's, and neither may end before the other is done.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/persistent/role_parts.h"

static const KnobId pair_knob = KNOB_CTA_GROUP;

enum { PAIR = 2, BOTH = 3, EVEN = 1 };

bool pass_pair_wanted(const Schedule *schedule) { return schedule->value[KNOB_CTA_GROUP] == PAIR; }

// ---- half of B ----------------------------------------------------------------------------------

static const Expr *place_of(Program *program, const Product *product) {
  return ex_var(program->arena, axis_digit(product->axis[AXIS_M], TIER_CLUSTER)->var);
}

// The rows of B that run slowly in memory, or the panels of those that do not.
static void halve_slab(const Product *product, Buffer *slab) {
  const bool rows = operand_axis(ATOM_B, product_slow_dimension(product, ATOM_B)) == AXIS_N;
  slab->dim[slab->rank - (rows ? 2 : 3)] /= PAIR;
  for (int d = slab->rank - 2; d >= 0; d--)
    slab->stride[d] = slab->stride[d + 1] * slab->dim[d + 1];
}

static bool fetches(const Stmt *stmt, const Buffer *slab) {
  return stmt && stmt->kind == STMT_OP && op_moves_box(stmt->op.kind) &&
         stmt->op.dst.buffer == slab;
}

// The CTA's own half of the columns, from where the slab begins.
static void fetch_half(Program *program, const Product *product, Stmt *list, const Buffer *slab) {
  Arena *arena = program->arena;
  const int n = product_slow_dimension(product, ATOM_B);
  const bool rows = operand_axis(ATOM_B, n) == AXIS_N;
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (!rows && stmt->kind == STMT_LOOP && fetches(stmt->body, slab)) {
      Var *all = stmt->var;
      stmt->var = program_var(program, all->name, VAR_LOOP, TIER_REGISTER, all->extent / PAIR);
      const Expr *own = ex_var(arena, stmt->var);
      const Expr *first = ex_mul_const(arena, place_of(program, product), stmt->var->extent);
      Access *from = &stmt->body->op.src;
      from->idx[1 - n] = expr_substitute(arena, from->idx[1 - n], all, ex_add(arena, first, own));
      stmt_substitute(program, stmt->body, all, own);
    } else if (rows && fetches(stmt, slab)) {
      Op *copy = &stmt->op;
      copy->box[0] /= PAIR;
      const Expr *first = ex_mul_const(arena, place_of(program, product), copy->box[0]);
      copy->src.idx[n] = ex_add(arena, copy->src.idx[n], first);
    } else {
      fetch_half(program, product, stmt->body, slab);
    }
  }
}

// ---- arrivals across the pair -------------------------------------------------------------------

typedef struct Pair {
  Program *program;
  const Expr *is_even;
} Pair;

static Stmt *by_even(const Pair *pair, Stmt *stmt, const char *note) {
  Stmt *own = stmt_if(pair->program, pair_knob, pair->is_even, stmt);
  own->note = note;
  return own;
}

static bool is_at(const Op *op, BufferRole role) {
  return op->dst.buffer && op->dst.buffer->role == role;
}

// Tells what an operation is of a pair.
static void join(const Pair *pair, Op *op) {
  Arena *arena = pair->program->arena;
  const OpFacts *facts = op_facts(op->kind);
  const bool barrier = facts->action == ACTION_MEET && facts->scope == SCOPE_BLOCK && !op->threads;
  const bool loads = op_moves_box(op->kind) && op->src.buffer->space == SPACE_GLOBAL;
  const bool by_commit = op->kind == OP_T_COMMIT;
  if (op->kind == OP_T_ALLOC || op->kind == OP_T_FREE || op->kind == OP_T_MMA ||
      op->kind == OP_T_CP || by_commit || loads)
    op->cta_group = PAIR;
  if (by_commit) op->ranks = ex_const(arena, BOTH);
  if (op->kind == OP_MBAR_EXPECT) op->bytes *= PAIR;
  if (op->kind == OP_MBAR_INIT && is_at(op, ROLE_ACC_EMPTY)) op->arrivals *= PAIR;
  if (op->kind == OP_MBAR_ARRIVE && is_at(op, ROLE_ACC_EMPTY)) op->ranks = ex_const(arena, EVEN);
  if (barrier) *op = (Op){.kind = OP_CLUSTER_BARRIER, .width = 1};
}

static void join_all(const Pair *pair, Stmt **list) {
  for (Stmt **link = list; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    if (stmt->body) join_all(pair, &stmt->body);
    if (stmt->kind != STMT_OP) continue;
    join(pair, &stmt->op);
    if (stmt->op.kind != OP_MBAR_EXPECT) continue;
    Stmt *next = stmt->next;
    stmt->next = NULL;
    *link = by_even(pair, stmt, "the bytes of both CTAs count here");
    (*link)->next = next;
  }
}

// The thread that asks is one of the even CTA.
static void ask_in_even(const Pair *pair, Kernel *kernel) {
  Stmt *role = kernel_block(kernel)->body;
  while (!stmt_is_role(role, WORK_MULTIPLIES)) role = role->next;
  Stmt **asks = stmt_find_action_link(&role->body, ACTION_MULTIPLY, ROLE_COUNT);
  Stmt *one = *asks;
  one->body = by_even(pair, one->body, "one thread of the pair asks for the products of both");
}

// The other half of B comes to the other CTA.
static void expect_half(Program *program, Stmt *list, const Buffer *slab) {
  Stmt *expect = stmt_find_op(list, OP_MBAR_EXPECT, ROLE_FULL);
  expect->op.bytes -= buffer_bytes(slab) / program_buffer(program, ROLE_FULL)->dim[0];
}

void pass_pair(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Arena *arena = program->arena;
  Kernel *kernel = program_main_kernel(program);
  Stmt *block = kernel_block(kernel);
  Buffer *slab = operand_slab(program, product, ATOM_B);
  halve_slab(product, slab);
  fetch_half(program, product, block->body, slab);
  expect_half(program, block->body, slab);
  const Expr *zero = ex_const(arena, 0);
  const Pair pair = {program, ex_binary(arena, EXPR_EQ, place_of(program, product), zero)};
  ask_in_even(&pair, kernel);
  join_all(&pair, &block->body);
}
