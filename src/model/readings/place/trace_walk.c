// The main kernel is walked for one CTA, 32 lanes at a time, and every operand whose addresses
// cover the element is a touch.
//
// A walk looks for touches of one place (a buffer and an offset), and skips what cannot touch that
// buffer. Time is the number of operations that a thread has passed, skipped ones counted too, so
// touches of different walks can be put in order.
//
// A producer keeps its own pace, so its operations have no time of their own but that at which a
// slot is free for them: slab k_o can be fetched when the consumers have left iteration k_o -
// slots, the first `slots` ones at once. Ring of three: slab 5 is fetched between iterations 2
// and 3.
#include "model/readings/place/trace_walk.h"

#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"

enum { RING_MAX = 8 };

typedef enum Side { DST, SRC, N_SIDES } Side;  // of an operation

// ---- the loop over slabs ------------------------------------------------------------------------

// The digit that the loop over slabs, or over k, counts, and its axis: of S that of its columns.
typedef struct SlabDigit {
  const Digit *digit;
  int axis;
} SlabDigit;

static const Digit *counted_by(const Axis *axis, const Stmt *k_o) {
  for (int i = 0; i < axis->n_digits; i++) {
    const Digit *digit = &axis->digit[i];
    bool serial = digit->var->tier == TIER_SERIAL && !k_o;
    if (serial || (k_o && digit->var == k_o->var)) return digit;
  }
  return NULL;
}

static SlabDigit slab_digit(const Program *program, int product) {
  const Stmt *k_o = program_slab_loop(program);
  Axis *const *axis = program->product[product].axis;
  SlabDigit of_k = {counted_by(axis[AXIS_K], k_o), AXIS_K};
  if (of_k.digit || !k_o) return of_k;
  return (SlabDigit){counted_by(axis[AXIS_N], k_o), AXIS_N};
}

// The rest of `value` inside the CTA's part of the axis.
static int64_t inside_part(const Axis *axis, int64_t value) {
  for (int i = 0; i < axis->n_digits; i++)
    if (axis->digit[i].var->tier == TIER_BLOCK) value %= axis->digit[i].weight;
  return value;
}

bool trace_k_step(const Program *program, TraceAt at, TraceStep *step) {
  const SlabDigit slab = slab_digit(program, at.product);
  if (!slab.digit) return false;
  const Axis *axis = program->product[at.product].axis[slab.axis];
  const bool deep = slab.axis == AXIS_K;
  int64_t part = inside_part(axis, deep ? at.k : at.j), each = slab.digit->weight;
  *step = (TraceStep){part / each, deep ? part % each : at.k,
                      deep ? each : program->product[at.product].axis[AXIS_K]->extent};
  return true;
}

// ---- one operation ------------------------------------------------------------------------------

static const Access *access_of(const Op *op, Side side) {
  return side == DST ? &op->dst : &op->src;
}

// The side of an operation that touches the place a query asks for.
static Side asked_side(const TraceQuery *query) {
  return query->wanted == TRACE_WRITES ? DST : SRC;
}

static const Expr *offset_of(TraceWalk *walk, const Stmt *stmt, Side side) {
  const Expr **at = &walk->offset[N_SIDES * stmt->id + (int)side];
  if (!*at) *at = access_offset(walk->arena, access_of(&stmt->op, side));
  return *at;
}

// Leaves the lanes that make the access at all: registers and shared memory have no guard.
static void apply_guard(TraceWalk *walk, const Stmt *stmt, Side side, bool active[LANES]) {
  const Access *access = access_of(&stmt->op, side);
  if (!access->buffer || access->buffer->space != SPACE_GLOBAL) return;
  const Expr **guard = &walk->guard[N_SIDES * stmt->id + (int)side];
  if (!*guard) {
    const Expr *made = access_guard(walk->arena, access);
    *guard = made ? made : ex_const(walk->arena, 1);
  }
  int64_t value[LANES];
  expr_eval_warp(*guard, walk->env, value);
  for (int lane = 0; lane < LANES; lane++) active[lane] &= value[lane] != 0;
}

// The side whose rows the lanes address; N_SIDES: there is none.
static Side row_side(const Op *op) {
  if (op_facts(op->kind)->src.unit == UNIT_ROW) return SRC;
  return op_facts(op->kind)->dst.unit == UNIT_ROW ? DST : N_SIDES;
}

// Elements that one lane's operand covers.
static int64_t covered(const Op *op, Side side) {
  if (row_side(op) == side)
    return LDMATRIX_ROW_BYTES / dtype_bytes(access_of(op, side)->buffer->type);
  if (op_moves_rows(op->kind) && side == SRC)  // what stmatrix takes of a lane
    return op->matrices * (4 / dtype_bytes(op->dst.buffer->type));
  return op->width > 0 ? op->width : 1;
}

// Registers are dense: two fragments that one ldmatrix fills follow each other.
static void index_register(TracePlace *place) {
  const Buffer *buffer = place->buffer;
  for (int d = 0; d < buffer->rank; d++)
    place->index[d] = place->offset / buffer->stride[d] % buffer->dim[d];
}

// A wide access goes on in the next row where rows are shorter than it.
static void step_on(TracePlace *place, int64_t delta) {
  int d = buffer_fast_dimension(place->buffer), slower = d == 0 ? 1 : -1;
  place->index[d] += delta;
  for (; d + slower >= 0 && d + slower < place->buffer->rank; d += slower) {
    place->index[d + slower] += place->index[d] / place->buffer->dim[d];
    place->index[d] %= place->buffer->dim[d];
  }
}

// The place `delta` elements behind the one that a lane's operand begins at.
static TracePlace place_at(TraceWalk *walk, const Stmt *stmt, Side side, int lane, int64_t delta) {
  const Access *access = access_of(&stmt->op, side);
  TracePlace place = {.buffer = access->buffer};
  int64_t value[LANES];
  expr_eval_warp(offset_of(walk, stmt, side), walk->env, value);
  place.offset = value[lane] + delta;
  if (place.buffer->space == SPACE_REGISTER) {
    index_register(&place);
    return place;
  }
  for (int d = 0; d < access->buffer->rank; d++) {
    expr_eval_warp(access->idx[d], walk->env, value);
    place.index[d] = value[lane];
  }
  step_on(&place, delta);
  return place;
}

// Element `delta` of the row that `lane` addresses goes to another lane, into a register of its
// matrix.
static TraceMove ldmatrix_move(TraceWalk *walk, const Stmt *stmt, int lane, int64_t delta) {
  const Op *op = &stmt->op;
  int bytes = dtype_bytes(op->src.buffer->type), byte = (int)delta * bytes;
  int matrix = lane / LDMATRIX_ROWS, row = lane % LDMATRIX_ROWS;
  LdMatrixReceiver to = ldmatrix_receiver(op->trans, row, byte / 2);
  int64_t value = matrix * (4 / bytes) + (to.half * 2 + byte % 2) / bytes;
  return (TraceMove){.from = place_at(walk, stmt, SRC, lane, delta),
                     .to = place_at(walk, stmt, DST, to.lane, value),
                     .thread = walk->warp * LANES + to.lane,
                     .address_lane = lane};
}

// The way back: the element of the row comes from the lane that ldmatrix would give it to.
static TraceMove stmatrix_move(TraceWalk *walk, const Stmt *stmt, int lane, int64_t delta) {
  LdMatrixReceiver of = ldmatrix_receiver(stmt->op.trans, lane % LDMATRIX_ROWS, (int)delta);
  int64_t value = lane / LDMATRIX_ROWS * 2 + of.half;
  return (TraceMove){.from = place_at(walk, stmt, SRC, of.lane, value),
                     .to = place_at(walk, stmt, DST, lane, delta),
                     .thread = walk->warp * LANES + of.lane,
                     .address_lane = lane};
}

// The same, asked for by the lane that holds the value.
static TraceMove stmatrix_from(TraceWalk *walk, const Stmt *stmt, int lane, int64_t value) {
  FragmentElement e = ldmatrix_element(stmt->op.trans, lane, (int)(value % 2));
  return stmatrix_move(walk, stmt, ldmatrix_addressing_lane((int)(value / 2), e.row), e.col);
}

static TraceMove plain_move(TraceWalk *walk, const Stmt *stmt, int lane, int64_t delta) {
  TraceMove move = {.thread = walk->warp * LANES + lane, .address_lane = -1};
  if (stmt->op.src.buffer) move.from = place_at(walk, stmt, SRC, lane, delta);
  if (stmt->op.dst.buffer) move.to = place_at(walk, stmt, DST, lane, delta);
  return move;
}

static int preference(const TraceQuery *query, int thread) {
  if (query->prefer < 0) return 0;
  return thread == query->prefer ? 2 : thread / LANES == query->prefer / LANES ? 1 : 0;
}

// Whether a touch now comes before the best so far: the first (or last) in time is the best, and of
// those at one time the preferred thread's.
static bool is_better(const TraceWalk *walk, int thread) {
  const TraceQuery *query = walk->query;
  const TraceTouch *best = &walk->best;
  if (!best->found) return true;
  if (walk->time != best->time) return (query->which == TRACE_FIRST) == (walk->time < best->time);
  return preference(query, thread) > preference(query, best->move.thread);
}

static bool is_asked_for(const TraceQuery *query, int64_t time, int thread) {
  return time > query->after && time < query->before &&
         (query->thread < 0 || query->thread == thread);
}

static void keep_move(TraceWalk *walk, const Stmt *stmt, TraceMove move) {
  if (!is_asked_for(walk->query, walk->time, move.thread)) return;
  bool at_same_time = walk->best.found && walk->best.time == walk->time;
  bool is_best = is_better(walk, move.thread);
  if (at_same_time)
    walk->n_touching++;
  else if (is_best)
    walk->n_touching = 1;
  if (!is_best) return;
  move.stmt = stmt;
  move.k_o = walk->k_o;
  walk->best = (TraceTouch){walk->time, true, move};
}

static void touch(TraceWalk *walk, const Stmt *stmt, int lane, int64_t delta) {
  const Op *op = &stmt->op;
  const Side side = asked_side(walk->query), rows = row_side(op);
  if (rows == side && lane >= LDMATRIX_ROWS * op->matrices) return;
  TraceMove move;
  if (rows == SRC)
    move = ldmatrix_move(walk, stmt, lane, delta);
  else if (rows == DST)
    move = side == DST ? stmatrix_move(walk, stmt, lane, delta)
                       : stmatrix_from(walk, stmt, lane, delta);
  else
    move = plain_move(walk, stmt, lane, delta);
  keep_move(walk, stmt, move);
}

// ---- boxes --------------------------------------------------------------------------------------

// The element at[0], at[1] of the lane's box: its row and column. A box is counted along the rows
// of global memory; `slow` and `fast` are the buffer's dimensions that they run along.
static TracePlace box_place(TraceWalk *walk, const Access *access, int lane, const int64_t at[2],
                            int slow, int fast) {
  TracePlace place = {.buffer = access->buffer};
  Access constant = {.buffer = access->buffer};
  for (int d = 0; d < access->buffer->rank; d++) {
    int64_t value[LANES];
    expr_eval_warp(access->idx[d], walk->env, value);
    place.index[d] = value[lane] + (d == slow ? at[0] : d == fast ? at[1] : 0);
    constant.idx[d] = ex_const(walk->arena, place.index[d]);
  }
  place.offset = expr_eval(access_offset(walk->arena, &constant), NULL);
  return place;
}

// The element in global memory, or in the slab.
static TracePlace box_end(TraceWalk *walk, const Access *end, int lane, const int64_t at[2]) {
  bool global = end->buffer->space == SPACE_GLOBAL;
  int fast = global ? buffer_fast_dimension(end->buffer) : end->buffer->rank - 1;
  return box_place(walk, end, lane, at, global ? buffer_slow_dimension(end->buffer) : fast - 1,
                   fast);
}

// The column of the box that lies at the place asked for: a swizzle stays within its row.
static int64_t find_column(TraceWalk *walk, const Op *op, const Access *slab, int lane,
                           int64_t row) {
  for (int64_t column = 0; column < op->box[1]; column++)
    if (box_end(walk, slab, lane, (int64_t[]){row, column}).offset == walk->query->offset)
      return column;
  return -1;
}

// Finds the element of the box that the query asks for; false when it lies outside. The box's rows
// are parts of those of the matrix, and follow each other in the slab.
static bool find_in_box(TraceWalk *walk, const Op *op, int lane, int64_t at[2]) {
  const Access *end = access_of(op, asked_side(walk->query));
  const int64_t corner[2] = {0, 0}, wanted = walk->query->offset;
  TracePlace first = box_end(walk, end, lane, corner);  // it may begin outside of the matrix
  if (end->buffer->space == SPACE_GLOBAL) {
    const Buffer *from = first.buffer;
    int fast = buffer_fast_dimension(from), slow = buffer_slow_dimension(from);
    int64_t in_matrix = wanted - buffer_matrix_begin(from, first.index);
    at[0] = in_matrix / from->stride[slow] - first.index[slow];
    at[1] = in_matrix % from->stride[slow] - first.index[fast];
  } else {
    if (wanted < first.offset) return false;
    at[0] = (wanted - first.offset) / op->box[1];
    at[1] = at[0] >= op->box[0] ? -1 : find_column(walk, op, end, lane, at[0]);
  }
  return at[0] >= 0 && at[0] < op->box[0] && at[1] >= 0 && at[1] < op->box[1];
}

// Puts the digits of the CTA's cluster at this rank.
static void enter_rank(TraceWalk *walk, int64_t rank) {
  for (int i = 0; i < walk->launch.n_block_digits; i++) {
    const HardwareDigit *digit = &walk->launch.block[i];
    if (digit->var->tier == TIER_CLUSTER)
      lanes_set_all(walk->env, digit->var, rank / digit->stride % digit->var->extent);
  }
}

static bool goes_to(TraceWalk *walk, const Op *op, int64_t rank) {
  int64_t mask[LANES];
  expr_eval_warp(op->ranks, walk->env, mask);
  return mask[0] >> rank & 1;
}

static void visit_box_here(TraceWalk *walk, const Stmt *stmt, const bool *active) {
  const Op *op = &stmt->op;
  for (int lane = 0; lane < LANES; lane++) {
    int64_t at[2];
    if (!active[lane] || !find_in_box(walk, op, lane, at)) continue;
    keep_move(walk, stmt,
              (TraceMove){.from = box_end(walk, &op->src, lane, at),
                          .to = box_end(walk, &op->dst, lane, at),
                          .thread = walk->warp * LANES + lane,
                          .address_lane = -1});
  }
}

// A box that goes to several blocks may have been asked for by another one of the cluster.
static void visit_box(TraceWalk *walk, const Stmt *stmt, const bool *active) {
  if (!stmt->op.ranks) {
    visit_box_here(walk, stmt, active);
    return;
  }
  int64_t own = walk->cta % walk->launch.cluster;
  for (int64_t rank = 0; rank < walk->launch.cluster; rank++) {
    enter_rank(walk, rank);
    if (goes_to(walk, &stmt->op, own)) visit_box_here(walk, stmt, active);
  }
  enter_rank(walk, own);
}

// Every lane whose operand covers the element that the query asks for touches it.
static void visit_lanes(TraceWalk *walk, const Stmt *stmt, Side side, const bool *active) {
  bool does[LANES];
  memcpy(does, active, sizeof does);
  apply_guard(walk, stmt, DST, does);
  apply_guard(walk, stmt, SRC, does);
  int64_t offset[LANES], reach = covered(&stmt->op, side);
  expr_eval_warp(offset_of(walk, stmt, side), walk->env, offset);
  for (int lane = 0; lane < LANES; lane++) {
    int64_t delta = walk->query->offset - offset[lane];
    if (does[lane] && delta >= 0 && delta < reach) touch(walk, stmt, lane, delta);
  }
}

static void visit_op(TraceWalk *walk, const Stmt *stmt, const bool *active) {
  const Op *op = &stmt->op;
  Side side = asked_side(walk->query);
  if (access_of(op, side)->buffer != walk->query->buffer || op_multiplies(op->kind)) return;
  if (walk->query->into && op->dst.buffer != walk->query->into) return;
  if (op_moves_box(op->kind))
    visit_box(walk, stmt, active);
  else
    visit_lanes(walk, stmt, side, active);
}

// ---- the walk -----------------------------------------------------------------------------------

static void walk_list(TraceWalk *walk, const Stmt *list, const bool *active);

// Whether the next `size` operations can hold a better touch than the best so far. size 0, a
// producer's operations, which take no time: they can.
static bool may_matter(const TraceWalk *walk, int64_t size) {
  if (size == 0) return true;
  const TraceQuery *query = walk->query;
  int64_t after = query->after, before = query->before;
  if (walk->best.found && query->which == TRACE_FIRST) before = walk->best.time + 1;
  if (walk->best.found && query->which == TRACE_LAST) after = walk->best.time - 1;
  return walk->time + size > after && walk->time + 1 < before;
}

// The earliest time at which slab k_o can be fetched.
static int64_t fetched_at(const TraceWalk *walk, int64_t k_o) {
  if (k_o < walk->slots) return walk->roles_at;
  const Stmt *consumers = walk->k_loop;
  int64_t each = walk->size[consumers->id] / consumers->var->extent;
  return walk->loop_at + (k_o - walk->slots + 1) * each;
}

static void walk_producer(TraceWalk *walk, const Stmt *stmt, const bool *active) {
  int64_t before = walk->time, end = min64(walk->k_to + walk->slots, stmt->var->extent);
  for (int64_t i = walk->k_from; i < end; i++) {
    walk->time = fetched_at(walk, i);
    walk->k_o = i;
    lanes_set_all(walk->env, stmt->var, i);
    walk_list(walk, stmt->body, active);
  }
  walk->time = before;
  walk->k_o = -1;
}

static void walk_loop(TraceWalk *walk, const Stmt *stmt, const bool *active) {
  if (stmt->var->tier == TIER_TILE) {  // the one whose number is the walk's CTA
    walk_list(walk, stmt->body, active);
    return;
  }
  if (walk->slots && stmt->var->tier == TIER_SERIAL_OUTER && stmt != walk->k_loop) {
    walk_producer(walk, stmt, active);
    return;
  }
  bool slabs = stmt == walk->k_loop;
  int64_t each = walk->size[stmt->id] / stmt->var->extent, before = walk->time;
  int64_t from = slabs ? walk->k_from : 0, to = slabs ? walk->k_to : stmt->var->extent;
  for (int64_t i = from; i < to; i++) {
    walk->time = before + i * each;
    if (!may_matter(walk, each)) continue;
    if (slabs) walk->k_o = i;
    lanes_set_all(walk->env, stmt->var, i);
    walk_list(walk, stmt->body, active);
  }
  walk->time = before + walk->size[stmt->id];
  if (slabs) walk->k_o = -1;
}

static void walk_if(TraceWalk *walk, const Stmt *stmt, const bool *active) {
  bool inner[LANES];
  lanes_pass(walk->env, stmt->expr, active, inner);
  walk_list(walk, stmt->body, inner);
}

static void walk_list(TraceWalk *walk, const Stmt *list, const bool *active) {
  for (; list; list = list->next) {
    if (list->kind == STMT_LET) {
      lanes_let(walk->env, list);
    } else if (!walk->near[list->id] || !may_matter(walk, walk->size[list->id])) {
      walk->time += walk->size[list->id];
    } else if (list->kind == STMT_LOOP) {
      walk_loop(walk, list, active);
    } else if (list->kind == STMT_IF) {
      walk_if(walk, list, active);
    } else {
      walk->time += walk->size[list->id];
      visit_op(walk, list, active);
    }
  }
}

// Fills in `size` for a list and returns its sum. `each`: the time of one operation; a
// producer's take none.
static int64_t measure(TraceWalk *walk, const Stmt *list, int64_t each) {
  int64_t sum = 0;
  for (; list; list = list->next) {
    int64_t inner = stmt_is_role(list, WORK_FETCHES) ? 0 : each;
    int64_t size = list->kind == STMT_OP ? each : measure(walk, list->body, inner);
    if (list->kind == STMT_LOOP && list->var->tier != TIER_TILE) size *= list->var->extent;
    walk->size[list->id] = size;
    sum += size;
  }
  return sum;
}

// Adds the operations passed before `target`: a role, or the loop over slabs in one, or in a loop
// over tiles, or of whose turn it is. False when it is not in the list.
static bool time_before(const TraceWalk *walk, const Stmt *list, const Stmt *target,
                        int64_t *time) {
  for (; list && list != target; list = list->next) {
    int64_t inside = *time;
    bool tiles = list->kind == STMT_LOOP && list->var->tier == TIER_TILE;
    bool passed = list->kind == STMT_IF || tiles;
    if (passed && time_before(walk, list->body, target, &inside)) {
      *time = inside;
      return true;
    }
    *time += walk->size[list->id];
  }
  return list != NULL;
}

static void find_roles(TraceWalk *walk) {
  const Buffer *empty = program_buffer(walk->program, ROLE_EMPTY);
  if (!empty || !walk->k_loop) return;
  const Stmt *role = walk->launch.body;
  while (role && !role->role) role = role->next;
  walk->slots = empty->dim[0];
  time_before(walk, walk->launch.body, role, &walk->roles_at);
  time_before(walk, walk->launch.body, walk->k_loop, &walk->loop_at);
}

// Fills in `near`; true when any statement of the list is near.
static bool mark_near(TraceWalk *walk, const Stmt *list) {
  bool any = false;
  for (; list; list = list->next) {
    const Op *op = &list->op;
    bool near = list->body && mark_near(walk, list->body);
    if (list->kind == STMT_OP)
      near = access_of(op, asked_side(walk->query))->buffer == walk->query->buffer;
    walk->near[list->id] = near;
    any |= near;
  }
  return any;
}

TraceTouch trace_look_for(TraceWalk *walk, const TraceQuery *query) {
  walk->query = query;
  walk->best = (TraceTouch){0};
  walk->n_touching = 0;
  mark_near(walk, walk->launch.body);
  int n_warps = launch_block_warps(&walk->launch);
  int first = query->thread >= 0 ? query->thread / LANES : 0;
  int end = query->thread >= 0 ? first + 1 : n_warps;
  for (int warp = first; warp < end; warp++) {
    bool active[LANES];
    walk->time = 0;
    walk->k_o = -1;
    walk->warp = warp;
    lanes_enter(walk->program, &walk->launch, walk->cta, warp, walk->env, active);
    walk_list(walk, walk->launch.body, active);
  }
  walk->best.move.n_threads = walk->n_touching;
  return walk->best;
}

TraceWalk trace_walk_new(Arena *arena, const Program *program, int64_t cta, TraceAt at) {
  TraceWalk walk = {.arena = arena, .program = program, .cta = cta, .k_o = -1};
  walk.launch = kernel_launch(program_main(program));
  size_t n = (size_t)program->n_stmt_ids;
  walk.env = ARENA_ARRAY(arena, int64_t, (size_t)program->n_vars * LANES);
  walk.size = ARENA_ARRAY(arena, int64_t, n);
  walk.near = ARENA_ARRAY(arena, bool, n);
  walk.offset = ARENA_ARRAY(arena, const Expr *, N_SIDES *n);
  walk.guard = ARENA_ARRAY(arena, const Expr *, N_SIDES *n);
  measure(&walk, walk.launch.body, 1);
  TraceStep step;
  if (trace_k_step(program, at, &step)) {
    const Digit *digit = slab_digit(program, at.product).digit;
    walk.k_loop = stmt_find_loop(program_main(program)->body, digit->var);
    walk.k_from = step.iteration > RING_MAX ? step.iteration - RING_MAX : 0;
    walk.k_to = min64(step.iteration + 2, digit->var->extent);
  }
  find_roles(&walk);
  return walk;
}
