// The tiles of the last turn keep a part of the GPU busy → they are cut along K into TAIL_SPLIT
// parts, which all blocks share.
//
// Requires: persistent, stage, TMA, roles to come. Ensures: behind the whole tiles the loop over
// tiles has an iteration for each part: `tile` says which tile it is about, the loop over slabs
// ends behind `k_last`, and fetches begin at slab `from`. Whole tiles are stored as before; a part
// leaves its sums in P, a row of it for each, and a kernel `reduce` adds those up that belong to a
// tile. Preserves: what a ring counts, slabs of a block one after the other: `before` says the
// number that it has gone through.
//
// The grid is the launch's to choose, so all of it is said over VAR_GRID: rest + 1 tiles in the
// last turn, 1 to grid of them. If they fill it, nothing is cut. Parts have L slabs, the last one
// of a tile what is left. First parts stand together, then second ones, …, so tiles that are
// neighbours in the order stay neighbours in time, and a block has at most one last part, as its
// last iteration: what comes before it in the block has S or L slabs, which is what `before` adds
// up.
//
// Worked example, 1024 clusters of tiles of 128 slabs on 66 clusters, TAIL_SPLIT=7: 15 turns of 66
// tiles are whole, the 34 left over become 238 parts of 19 slabs, the last of each tile of 14. All
// parts take four turns of 19 slabs: 15.59 turns of time instead of 16.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_TAIL_SPLIT;

enum { SIDE_THREADS = 256, SIDE_BLOCKS = 1024 };

bool pass_tail_split_wanted(const Schedule *schedule) {
  return schedule->value[knob] > 1 && pass_persistent_wanted(schedule) &&
         pass_warp_specialize_wanted(schedule);
}

// Holds what follows from the grid, as LETs of each kernel.
typedef struct Tail {
  int64_t tiles, cluster;  // all; the blocks of a cluster
  int64_t parts;           // of a tile
  int64_t slabs, depth;    // of a tile, and of a part
  Var *rest;               // tiles of the last turn, less one
  const Expr *last;        // the same number
  Var *whole;              // the tiles in front of those that are cut
  Var *number;             // of a part among all parts, 0 of a whole tile
  Stmt *let;
} Tail;

// A turn that is cut has less than half of all tiles, for there is a full one before it.
static int64_t most_cut(const Tail *tail) { return max64(1, tail->tiles / 2); }
static int64_t most_parts(const Tail *tail) { return most_cut(tail) * tail->parts; }

static Tail find_tail(Program *program, const Stmt *tiles, int64_t parts) {
  Arena *arena = program->arena;
  Tail tail = {.tiles = tile_count(tiles),
               .cluster = kernel_launch(program_main_kernel(program)).cluster,
               .parts = parts,
               .slabs = program_slab_loop(program)->var->extent};
  tail.depth = ceil_div(tail.slabs, parts);
  tail.rest = program_var(program, "rest", VAR_LET, TIER_BLOCK, tail.tiles);
  tail.whole = program_var(program, "whole", VAR_LET, TIER_BLOCK, tail.tiles + 1);
  tail.number = program_var(program, "u", VAR_LET, TIER_BLOCK, most_parts(&tail));
  tail.last = ex_add_const(arena, ex_var(arena, tail.rest), 1);
  const Expr *all = ex_const(arena, tail.tiles);
  const Expr *turn = ex_min(arena, ex_var(arena, program->persistent.grid), all);
  const Expr *whole =
      ex_select(arena, ex_lt(arena, tail.last, turn), ex_sub(arena, all, tail.last), all);
  Stmt *count =
      stmt_let(program, knob, tail.rest, ex_mod_expr(arena, ex_const(arena, tail.tiles - 1), turn));
  count->note = "rest + 1 tiles in the last turn, cut where that is not full";
  tail.let = stmt_list(count, stmt_let(program, knob, tail.whole, whole), NULL);
  return tail;
}

// ---- the loop over tiles ------------------------------------------------------------------------

// The iterations: whole tiles, then parts.
static const Expr *count_items(Program *program, const Tail *tail) {
  Arena *arena = program->arena;
  const Expr *whole = ex_var(arena, tail->whole);
  const Expr *cut = ex_sub(arena, ex_const(arena, tail->tiles), whole);
  return ex_add(arena, whole, ex_mul_const(arena, cut, tail->parts));
}

// The loop runs over another variable, and what it bound before is said over the tile.
static const Expr *over_items(Program *program, Stmt *tiles, const Tail *tail) {
  Arena *arena = program->arena;
  const Var *t = tiles->var;
  Var *item = program_var(program, t->name, VAR_LOOP, TIER_TILE, tail->tiles + most_parts(tail));
  const Expr *at = ex_var(arena, item), *whole = ex_var(arena, tail->whole);
  const Expr *is_whole = ex_lt(arena, at, whole), *number = ex_var(arena, tail->number);
  program->persistent.tile = program_var(program, "tile", VAR_LET, TIER_BLOCK, tail->tiles);
  Stmt *turn = tiles->body;
  turn->expr = expr_substitute(arena, turn->expr, t, at);
  stmt_substitute(program, turn->next, t, ex_var(arena, program->persistent.tile));
  tiles->var = item;
  tiles->end = count_items(program, tail);
  const Expr *in_turn = ex_mod_expr(arena, number, tail->last);
  Stmt *lets =
      stmt_list(stmt_let(program, knob, tail->number,
                         ex_select(arena, is_whole, ex_const(arena, 0), ex_sub(arena, at, whole))),
                stmt_let(program, knob, program->persistent.tile,
                         ex_select(arena, is_whole, at, ex_add(arena, whole, in_turn))),
                NULL);
  stmt_insert(&turn->next, lets);
  return is_whole;
}

// ---- the loop over slabs ------------------------------------------------------------------------

// The counter of rings begins with what the block has gone through: S slabs for each whole tile, L
// for each part, of which u / grid are its own.
static Stmt *count_before(Program *program, const Stmt *tiles, const Tail *tail) {
  Arena *arena = program->arena;
  int64_t most = tile_count(tiles) * tail->slabs + most_parts(tail) * tail->depth;
  program->persistent.before = program_var(program, "before", VAR_LET, TIER_SERIAL, most);
  const Expr *parts =
      ex_div_expr(arena, ex_var(arena, tail->number), ex_var(arena, program->persistent.grid));
  const Expr *all = ex_mul_const(arena, ex_var(arena, tile_turn(tiles)), tail->slabs);
  const Expr *less = ex_mul_const(arena, parts, tail->slabs - tail->depth);
  return stmt_let(program, knob, program->persistent.before, ex_sub(arena, all, less));
}

// Slots and phases of the slab at hand, by the new counter.
static void count_anew(Access *access, Stmt *stmt, void *context) {
  Program *program = context;
  const Buffer *buffer = access->buffer;
  const Expr *counter = slab_counter(program, program_slab_loop(program)->var);
  bool ring = buffer->space == SPACE_SHARED && buffer_is_ring(buffer);
  if (!ring && buffer->space != SPACE_BARRIER) return;
  access->idx[0] = ring_slot(program, counter, buffer->dim[0]);
  if (stmt->op.kind == OP_MBAR_WAIT)
    stmt->op.phase = ring_full_phase(program, counter, buffer->dim[0]);
}

// Part p has L slabs from p · L on; the last part of a tile has the rest.
static void cut_slabs(Program *program, const Product *product, Stmt *tiles, const Tail *tail,
                      const Expr *is_whole) {
  Arena *arena = program->arena;
  Stmt *k_o = program_slab_loop(program);
  Var *from = program->persistent.from =
      program_var(program, "from", VAR_LET, TIER_SERIAL, tail->slabs);
  Var *final = program_var(program, "k_last", VAR_LET, TIER_SERIAL, tail->slabs);
  const Expr *begin = ex_var(arena, from), *depth = ex_const(arena, tail->depth);
  const Expr *part = ex_div_expr(arena, ex_var(arena, tail->number), tail->last);
  const Expr *left = ex_sub(arena, ex_const(arena, tail->slabs), begin);
  if (tail->slabs % tail->depth) depth = ex_min(arena, depth, left);
  const Expr *last =
      ex_select(arena, is_whole, ex_const(arena, tail->slabs - 1), ex_add_const(arena, depth, -1));
  Stmt *lets =
      stmt_list(stmt_let(program, knob, from, ex_mul_const(arena, part, tail->depth)),
                stmt_let(program, knob, final, last), count_before(program, tiles, tail), NULL);
  Stmt *bound = tiles->body;
  while (bound->var != program->persistent.tile) bound = bound->next;
  stmt_insert(&bound->next, lets);
  stmt_fetch_slab(program, product, k_o, ex_add(arena, begin, ex_var(arena, k_o->var)));
  stmt_each_access(k_o->body, count_anew, program);
  k_o->end = ex_add_const(arena, ex_var(arena, final), 1);
}

// ---- what a part leaves -------------------------------------------------------------------------

// An index of C inside of the block's tile.
static const Expr *inside(Program *program, const Axis *axis, const Expr *at) {
  for (int i = 0; i < axis->n_digits; i++) {
    const Var *var = axis->digit[i].var;
    if (var->tier == TIER_BLOCK || var->tier == TIER_CLUSTER)
      at = expr_substitute(program->arena, at, var, ex_const(program->arena, 0));
  }
  return at;
}

static Buffer *store_parts(Program *program, const Product *product, Stmt *tiles, const Tail *tail,
                           const Expr *is_whole) {
  Arena *arena = program->arena;
  const Axis *m = product->axis[AXIS_M], *n = product->axis[AXIS_N];
  int64_t dim[3] = {most_parts(tail) * tail->cluster, axis_tile(m), axis_tile(n)};
  Buffer *partial = program_new_buffer(program, "P", SPACE_GLOBAL, ROLE_PARTIAL, 3, dim, knob);
  Stmt **link = stmt_find_link(&tiles->body, OP_STORE, product->operand[ATOM_C].global);
  Stmt *whole = stmt_cut(link), *part = stmt_copy_list(program, whole);
  Op *store = &stmt_find_op(part, OP_STORE, product->operand[ATOM_C].global)->op;
  const Expr *row = ex_mul_const(arena, ex_var(arena, tail->number), tail->cluster);
  row = ex_add(arena, row, cluster_rank(arena, program_main_kernel(program)));
  store->dst = access3(partial, row, inside(program, m, store->dst.idx[0]),
                       inside(program, n, store->dst.idx[1]));
  const Expr *behind =
      ex_lt(arena, ex_var(arena, tail->whole), ex_add_const(arena, ex_var(arena, tiles->var), 1));
  Stmt *leave = stmt_if(program, knob, behind, part);
  leave->note = "sums of a part of K, for reduce to add up";
  stmt_insert(link, stmt_list(stmt_if(program, knob, is_whole, whole), leave, NULL));
  return partial;
}

// ---- the kernel that adds them up ---------------------------------------------------------------

static Access temp_register(Program *program, const char *name) {
  int64_t one = 1;
  return access1(program_new_buffer(program, name, SPACE_REGISTER, ROLE_TEMP, 1, &one, knob),
                 ex_const(program->arena, 0));
}

// Where a cell of the tile at hand lies in C: block `rank` of a cluster has its own tile.
static const Expr *place_in_c(Program *program, const Axis *axis, const Expr *rank,
                              const Expr *in_tile) {
  Arena *arena = program->arena;
  const Launch launch = kernel_launch(program_main_kernel(program));
  const Expr *at = ex_const(arena, 0);
  for (int i = 0; i < axis->n_digits; i++) {
    const Digit *digit = &axis->digit[i];
    const Expr *value = NULL;
    if (digit->var->tier == TIER_BLOCK) value = ex_var(arena, digit->var);
    for (int d = 0; d < launch.n_block_digits && !value; d++)
      if (launch.block[d].var == digit->var)
        value = ex_mod(arena, ex_div(arena, rank, launch.block[d].stride), digit->var->extent);
    if (value) at = ex_add(arena, at, ex_mul_const(arena, value, digit->weight));
  }
  return ex_add(arena, at, in_tile);
}

// sum = the parts of a cell; C = sum.
static Stmt *add_parts(Program *program, const Product *product, const Tail *tail, Buffer *partial,
                       const Expr *tile_of_cut, const Expr *cell) {
  Arena *arena = program->arena;
  int64_t columns = partial->dim[2], cells = partial->dim[1] * columns;
  const Expr *rank = ex_div(arena, cell, cells);
  const Expr *row = ex_div(arena, ex_mod(arena, cell, cells), columns);
  const Expr *column = ex_mod(arena, cell, columns);
  Var *part = program_var(program, "part", VAR_LOOP, TIER_SERIAL, tail->parts);
  const Expr *number = ex_add(arena, ex_mul(arena, ex_var(arena, part), tail->last), tile_of_cut);
  const Expr *at = ex_mul_const(arena, ex_var(arena, tail->number), tail->cluster);
  at = ex_add(arena, at, rank);
  Access sum = temp_register(program, "sum"), value = temp_register(program, "value");
  Op load = {.kind = OP_LOAD, .dst = value, .src = access3(partial, at, row, column)};
  Op add = {.kind = OP_ADD, .dst = sum, .src = value};
  Stmt *parts =
      stmt_loop(program, knob, part,
                stmt_list(stmt_let(program, knob, tail->number, number),
                          stmt_op(program, knob, load), stmt_op(program, knob, add), NULL));
  Access to = access2(program_buffer(program, product->operand[ATOM_C].global),
                      place_in_c(program, product->axis[AXIS_M], rank, row),
                      place_in_c(program, product->axis[AXIS_N], rank, column));
  return stmt_list(stmt_op(program, knob, (Op){.kind = OP_INIT, .dst = sum}), parts,
                   stmt_op(program, knob, (Op){.kind = OP_STORE, .dst = to, .src = sum}), NULL);
}

// The LETs that say which tile of C a number is, as the loop over tiles has them.
static Stmt *copy_place(Program *program, const Product *product, const Stmt *tiles) {
  Stmt *first = NULL, **link = &first;
  for (const Stmt *let = tiles->body; let->kind == STMT_LET; let = let->next) {
    if (let->var != product->axis[AXIS_M]->digit[0].var &&
        let->var != product->axis[AXIS_N]->digit[0].var)
      continue;
    *link = stmt_let(program, let->knob, let->var, let->expr);
    link = &(*link)->next;
  }
  return first;
}

// Blocks go through the tiles that were cut by 256 cells at a time.
static Kernel reduce_kernel(Program *program, const Product *product, const Tail *tail,
                            const Stmt *tiles, Buffer *partial) {
  Arena *arena = program->arena;
  int64_t cells = tail->cluster * partial->dim[1] * partial->dim[2];
  int64_t pieces = ceil_div(cells, SIDE_THREADS), most = most_cut(tail) * pieces;
  int64_t blocks = min64(SIDE_BLOCKS, most);
  Var *block = program_var(program, "f_b", VAR_LOOP, TIER_BLOCK, blocks);
  Var *thread = program_var(program, "f_t", VAR_LOOP, TIER_THREAD, SIDE_THREADS);
  Var *round = program_var(program, "f_i", VAR_LOOP, TIER_SERIAL, ceil_div(most, blocks));
  Var *cut = program_var(program, "r", VAR_LET, TIER_SERIAL, tail->tiles);
  Var *cell = program_var(program, "e", VAR_LET, TIER_SERIAL, pieces * SIDE_THREADS);
  const Expr *piece =
      ex_add(arena, ex_mul_const(arena, ex_var(arena, round), blocks), ex_var(arena, block));
  const Expr *all = ex_sub(arena, ex_const(arena, tail->tiles), ex_var(arena, tail->whole));
  const Expr *at = ex_mul_const(arena, ex_mod(arena, piece, pieces), SIDE_THREADS);
  Stmt *body = add_parts(program, product, tail, partial, ex_var(arena, cut), ex_var(arena, cell));
  const Expr *is_cell = ex_lt(arena, ex_var(arena, cell), ex_const(arena, cells));
  if (!expr_is_const(is_cell, 1)) body = stmt_if(program, knob, is_cell, body);
  Stmt *tile = stmt_let(program, knob, program->persistent.tile,
                        ex_add(arena, ex_var(arena, tail->whole), ex_var(arena, cut)));
  tile->next = copy_place(program, product, tiles);
  stmt_last(tile)->next = stmt_list(
      stmt_let(program, knob, cell, ex_add(arena, at, ex_var(arena, thread))), body, NULL);
  Stmt *index = stmt_let(program, knob, cut, ex_div(arena, piece, pieces));
  const Expr *there = ex_lt(arena, ex_var(arena, cut), all);
  index->next = stmt_if(program, knob, there, tile);
  Stmt *rounds = stmt_loop(program, knob, round, index);
  const Expr *needed = ex_add_const(arena, ex_mul_const(arena, all, pieces), blocks - 1);
  rounds->end = ex_div(arena, needed, blocks);
  Stmt *digits = stmt_loop(program, knob, block, stmt_loop(program, knob, thread, rounds));
  return (Kernel){.name = "reduce",
                  .body = stmt_list(stmt_copy_list(program, tail->let), digits, NULL),
                  .knob = knob};
}

// ---- the pass -----------------------------------------------------------------------------------

void pass_tail_split(Program *program, Product *product, const Schedule *schedule) {
  Kernel *kernel = program_main_kernel(program);
  Stmt *tiles = tile_loop(kernel_block(kernel)->body);
  Tail tail = find_tail(program, tiles, schedule->value[knob]);
  const Expr *is_whole = over_items(program, tiles, &tail);
  cut_slabs(program, product, tiles, &tail, is_whole);
  Buffer *partial = store_parts(program, product, tiles, &tail, is_whole);
  program->kernel[program->n_kernels++] = reduce_kernel(program, product, &tail, tiles, partial);
  kernel->body = stmt_list(tail.let, kernel->body, NULL);
}
