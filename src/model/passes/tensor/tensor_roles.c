// fetch, ask, wait, read by the same threads → three roles that meet at four mbarriers.
//
// Requires: tma, a ring of two slabs or more, an atom of one thread. Ensures: each warpgroup of the
// tile only writes its part of C; behind them stands a warp for each warpgroup, one thread of which
// asks for its products, and behind those the producers, of which one thread fetches. Preserves:
// which products are asked for, in which order, and which cells are written.
//
// Four parts of the common program are kept as they are: the boxes of a slab, the products of a
// slab, the pieces of the sums on their way to C, and where tensor memory comes and goes. All that
// stands between them, the waits of each role for the other, is built anew. Each role goes through
// the slabs, and the tiles, by itself:
//
//   producer    wait empty[s], expect full[s], boxes
//   consumer    wait acc_empty[g]; for k: wait full[s], products, commit empty[s]; commit
//   acc_full[g] writeback   wait acc_full[g], read and write, arrive at acc_empty[g]
//
// Worked example, WM = 2, a ring of three: threads 0 to 255 write, two warpgroups; of the warps of
// threads 256 and 288 one thread each asks for the products of 128 rows, both with the one slab of
// B; thread 320 fetches. Arrivals that end a phase:
//
//   full[3]       1, and the bytes of both slabs          article 004: tma2mma
//   empty[3]      2 commits, one of each consumer                      mma2tma
//   acc_full[2]   1 commit                                             mma2ld
//   acc_empty[2]  4 warps of the warpgroup that has read               ld2mma
//
// For a persistent block tensor memory may have room for the sums of several tiles, ACC_BUFFERS =
// 2: the sums of tile `turn` of the block are set turn % 2, and so is their pair of mbarriers,
// whose phases are counted by turns as those of slabs are by slabs. A tile is written while the
// next one is multiplied. The ring of slabs goes on from one to the next.
//
// New mbarriers: phase 1 counts as ended, so the producer finds its first slots free, and a
// consumer its sums; phase 0 does not, so no role reads data that is not there. Were both to begin
// with 0, all would wait for ever.
//
// There is no setmaxnreg: a consumer's warp is no warpgroup, and no thread holds sums in registers.
#include "model/passes/tensor/tensor_roles.h"

#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/persistent/role_parts.h"
#include "model/passes/tensor/tensor_body.h"
#include "model/passes/tensor/tensor_factors.h"

static const KnobId knob = KNOB_WARP_SPECIALIZE;

int64_t tensor_askers(int64_t writers) { return writers / WARPGROUP * LANES; }

// Holds what of the common program goes on to be.
typedef struct Parts {
  const Stmt *tiles;
  Stmt *k_o, *boxes, *products, *pieces;
  TensorFrame frame;
} Parts;

// Everybody's place among the mbarriers.
typedef struct Roles {
  Program *program;
  const Product *product;
  int64_t writers, askers, groups, sets;
  const Expr *tile;  // counts the tiles that the block has had
  Buffer *full, *empty, *acc_full, *acc_empty;
} Roles;

static Parts take_apart(Program *program, const Product *product) {
  Kernel *kernel = program_main_kernel(program);
  Parts parts = {.tiles = kernel_launch(kernel).tiles, .k_o = program_slab_loop(program)};
  parts.boxes = role_asked(stmt_find_link(&parts.k_o->body, OP_TMA_LOAD, ROLE_COUNT));
  Stmt *asks = *stmt_find_multiply(product, &parts.k_o->body);
  stmt_cut(stmt_find_link(&asks->body, OP_T_COMMIT, ROLE_ACC_FULL));
  parts.products = asks->body;  // with the copies of their factors
  parts.pieces = stmt_cut(stmt_find_link(&kernel_inner(kernel)->body, OP_T_LD, ROLE_ACC));
  parts.frame = tensor_take_frame(program);
  return parts;
}

// Statements of a block that all of its threads reach.
static void by_any_thread(Program *program, Stmt *list) {
  stmt_substitute(program, list, program->thread, role_thread(program));
}

static Stmt *op(const Roles *r, Op what) { return stmt_op(r->program, knob, what); }

static Stmt *wait(const Roles *r, Access at, const Expr *phase) {
  return op(r, (Op){.kind = OP_MBAR_WAIT, .dst = at, .phase = phase});
}

static const Expr *slabs(const Roles *r, const Stmt *k_o) {
  return slab_counter(r->program, k_o->var);
}

static Access slot(const Roles *r, Buffer *mbarriers, const Stmt *k_o) {
  return access1(mbarriers, ring_slot(r->program, slabs(r, k_o), mbarriers->dim[0]));
}

// The mbarrier of a warpgroup, of the set of sums that the tile at hand has.
static Access of_group(const Roles *r, Buffer *mbarriers) {
  Arena *arena = r->program->arena;
  Access at = tensor_of_group(r->program, r->product, mbarriers);
  const Expr *set = ring_slot(r->program, r->tile, r->sets);
  at.idx[0] = ex_add(arena, ex_mul_const(arena, set, r->groups), at.idx[0]);
  return at;
}

// The list now uses the sums of the set.
static void take_set(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const Roles *r = context;
  if (access->buffer->role != ROLE_SUMS) return;
  Arena *arena = r->program->arena;
  const Expr *set = ring_slot(r->program, r->tile, r->sets);
  const int64_t columns = access->buffer->dim[1] / r->sets;
  access->idx[1] = ex_add(arena, ex_mul_const(arena, set, columns), access->idx[1]);
}

// ---- the producer -------------------------------------------------------------------------------

static Stmt *fetch(const Roles *r, const Parts *parts) {
  const Expr *counter = slabs(r, parts->k_o);
  const Expr *phase = ring_empty_phase(r->program, counter, r->empty->dim[0]);
  Stmt *each = stmt_list(wait(r, slot(r, r->empty, parts->k_o), phase), parts->boxes, NULL);
  Stmt *all = role_tiles(r->program, parts->tiles, role_slabs(r->program, parts->k_o, each));
  return stmt_if(r->program, knob, role_is_thread(r->program, r->writers + r->askers), all);
}

// ---- the consumers ------------------------------------------------------------------------------

// The warpgroup of the block that a warp asks for, by the digits of those that write: warps of the
// consumers stand behind them, four for each warpgroup, so that the number of a
// warp leaves its own as a remainder.
static Stmt *name_group(const Roles *r, Stmt *list) {
  if (r->groups == 1) return list;
  Arena *arena = r->program->arena;
  Var *m = axis_digit(r->product->axis[AXIS_M], TIER_WARP)->var;
  Var *n = axis_digit(r->product->axis[AXIS_N], TIER_WARP)->var;
  Var *w = program_var(r->program, "w", VAR_LET, TIER_SERIAL, r->groups);
  const Expr *warp = ex_div(arena, role_thread(r->program), LANES), *own = ex_var(arena, w);
  stmt_substitute(r->program, list, m, ex_div(arena, own, n->extent));
  stmt_substitute(r->program, list, n, ex_mod(arena, own, n->extent));
  return stmt_list(stmt_let(r->program, knob, w, ex_mod(arena, warp, r->groups)), list, NULL);
}

// Products of one slab behind the other, each released when it is read.
static Stmt *multiply_slabs(const Roles *r, const Parts *parts) {
  Stmt *k_o = parts->k_o;
  const Expr *phase = ring_full_phase(r->program, slabs(r, k_o), r->full->dim[0]);
  Op release = {.kind = OP_T_COMMIT, .dst = slot(r, r->empty, k_o)};
  tensor_factor_slot(r->program, parts->products,
                     ring_slot(r->program, slabs(r, k_o), r->full->dim[0]), r->full->dim[0]);
  k_o->next = NULL;
  k_o->body =
      stmt_list(wait(r, slot(r, r->full, k_o), phase), parts->products, op(r, release), NULL);
  return k_o;
}

static Stmt *multiply(const Roles *r, const Parts *parts) {
  Program *program = r->program;
  Op whole = {.kind = OP_T_COMMIT, .dst = of_group(r, r->acc_full)};
  Stmt *freed = wait(r, of_group(r, r->acc_empty), ring_empty_phase(program, r->tile, r->sets));
  Stmt *tile = stmt_list(freed, op(r, (Op){.kind = OP_T_AFTER}), multiply_slabs(r, parts),
                         op(r, whole), NULL);
  const Expr *lane = ex_mod(program->arena, role_thread(program), LANES);
  const Expr *first = ex_binary(program->arena, EXPR_EQ, lane, ex_const(program->arena, 0));
  Stmt *asks = stmt_if(program, knob, first, role_tiles(program, parts->tiles, tile));
  asks->note = "one thread waits for slabs and asks for their products";
  return name_group(r, asks);
}

// ---- the role that writes -----------------------------------------------------------------------

static Stmt *write(const Roles *r, const Parts *parts) {
  Program *program = r->program;
  Op arrive = {.kind = OP_MBAR_ARRIVE, .dst = of_group(r, r->acc_empty)};
  Stmt *whole = wait(r, of_group(r, r->acc_full), ring_full_phase(program, r->tile, r->sets));
  Stmt *tile = stmt_list(whole, op(r, (Op){.kind = OP_T_AFTER}), parts->pieces,
                         op(r, (Op){.kind = OP_T_BEFORE}), op(r, arrive), NULL);
  return role_tiles(program, parts->tiles, tile);
}

// ---- the pass -----------------------------------------------------------------------------------

static Roles find_roles(Program *program, const Product *product, const Schedule *schedule) {
  const int64_t writers = kernel_launch(program_main_kernel(program)).n_threads;
  Roles r = {.program = program, .product = product, .writers = writers};
  r.askers = tensor_askers(writers);
  r.groups = writers / WARPGROUP;
  r.sets = schedule->value[KNOB_ACC_BUFFERS];
  r.tile = tensor_tiles(program);
  role_count_threads(program, writers + r.askers + pass_producers(schedule, writers));
  const int64_t slots = schedule->value[KNOB_BUFFER_COUNT];
  r.full = program_buffer(program, ROLE_FULL);
  r.empty = role_mbarriers(program, "empty", ROLE_EMPTY, slots, r.groups);
  r.acc_full = program_buffer(program, ROLE_ACC_FULL);
  r.acc_empty =
      role_mbarriers(program, "acc_empty", ROLE_ACC_EMPTY, r.acc_full->dim[0], WARPGROUP / LANES);
  return r;
}

static const Expr *threads_between(Program *program, int64_t first, int64_t end) {
  Arena *arena = program->arena;
  const Expr *behind = ex_lt(arena, ex_const(arena, first - 1), role_thread(program));
  return ex_land(arena, behind, ex_lt(arena, role_thread(program), ex_const(arena, end)));
}

void tensor_roles(Program *program, const Product *product, const Schedule *schedule) {
  Parts parts = take_apart(program, product);
  Roles r = find_roles(program, product, schedule);
  stmt_each_access(parts.products, take_set, &r);
  stmt_each_access(parts.pieces, take_set, &r);
  const int64_t asked = r.writers + r.askers, all = program->any_thread->extent;
  const WarpRole fetches = {"producer", WORK_FETCHES, asked, all - asked, 0};
  const WarpRole multiplies = {"consumer", WORK_MULTIPLIES, r.writers, r.askers, 0};
  const WarpRole writes = {"writeback", WORK_WRITES, 0, r.writers, 0};
  Stmt *producer = role_new(program, fetches, threads_between(program, asked, all),
                            fetch(&r, &parts), "the producer only fetches");
  Stmt *consumer = role_new(program, multiplies, threads_between(program, r.writers, asked),
                            multiply(&r, &parts), "the consumers only ask for products");
  Stmt *writer = role_new(program, writes, threads_between(program, 0, r.writers),
                          write(&r, &parts), "these warps only read sums and write C");
  Stmt *alloc = parts.frame.begin->next;
  by_any_thread(program, alloc);
  by_any_thread(program, parts.frame.end);
  Stmt *init = kernel_block(program_main_kernel(program))->body, *meet = parts.frame.there;
  stmt_insert(&stmt_last(init->body)->next,
              parts.frame.begin->body);  // one thread does all, and fences
  init->next = stmt_list(alloc, meet, NULL);
  Stmt *left = stmt_op(program, knob, (Op){.kind = OP_BARRIER});
  left->note = "the sums are read";
  meet->next = stmt_list(producer, consumer, writer, left, parts.frame.end, NULL);
}
