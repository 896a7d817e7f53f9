// Looking for an element: the main kernel is walked for one CTA, 32 lanes at a time, and every
// operand whose addresses cover the element is a touch.
//
// A walk looks for touches of one place (a buffer and an offset), and skips what cannot touch that
// buffer. Time is the number of operations that a thread has passed, skipped ones counted too, so
// touches of different walks can be put in order. Forwards, A and B: who reads the element from
// global memory and where to; if that is a register on the way, what the same thread writes from
// there afterwards; if it is a slab, who reads that place before somebody writes it again.
// Backwards, C: who writes it to global memory and where from, and so on to the accumulator.
//
// A producer keeps its own pace, so its operations have no time of their own but that at which a
// slot is free for them: slab k_o can be fetched when the consumers have left iteration k_o -
// slots, the first `slots` ones at once. Ring of three: slab 5 is fetched between iterations 2
// and 3.
//
// Worked example, A[130][21] in the double-buffered fp32 rung, C[130][7]: CTA (1, 0); slab 1 is
// loaded in iteration 0 by thread 37 into r_a[0], stored to A_s[1, 5, 2], and read in iteration 1
// by the 16 threads of row 0 into a[2].
#include "model/readings/trace.h"

#include <string.h>

#include "banks/engine/bank.h"
#include "base/whole.h"
#include "model/ir/lanes.h"
#include "model/ir/rewrite.h"

enum { RING_MAX = 8 };

// One operand of one operation touches the place that is looked for.
typedef struct Touch {
  int64_t time;
  bool found;
  TraceMove move;
} Touch;

typedef enum Wanted { WANT_READS, WANT_WRITES } Wanted;
typedef enum Which { FIRST, LAST } Which;
typedef enum Side { DST, SRC, N_SIDES } Side;  // of an operation

// The touch that a walk looks for.
typedef struct Query {
  const Buffer *buffer;
  int64_t offset;
  Wanted wanted;
  Which which;
  int thread;             // -1: any; registers are a thread's own
  int64_t after, before;  // times, exclusive
  int prefer;             // a touch by this thread, then one of its warp, before all others; -1
} Query;

typedef struct Walk {
  Arena *arena;
  const Program *program;
  Launch launch;
  int64_t cta;
  int64_t *env;   // [n_vars][32]
  int64_t *size;  // [statement] operations that one execution passes
  bool *near;     // [statement] whether the query's buffer occurs in it
  const Stmt *k_loop;
  int64_t k_from, k_to;       // iterations that are walked
  int64_t slots;              // of the ring that a producer fills; 0: there is none
  int64_t roles_at, loop_at;  // when the roles part, and when the consumers' loop begins
  int64_t k_o;
  int warp;
  int64_t time;
  const Query *query;
  Touch best;
  int n_touching;       // threads with a touch of the best one's statement and time
  const Expr **offset;  // [statement][N_SIDES], made when first needed
  const Expr **guard;   // [statement][N_SIDES], likewise
} Walk;

// ---- the loop over slabs ------------------------------------------------------------------------

// The digit of K that the loop over slabs, or over k, counts.
static const Digit *k_digit(const Program *program) {
  const Stmt *k_o = slab_loop(program);
  const Axis *axis = &program->axis[AXIS_K];
  for (int i = 0; i < axis->n_digits; i++) {
    const Digit *digit = &axis->digit[i];
    bool serial = digit->var->tier == TIER_SERIAL && !k_o;
    if (serial || (k_o && digit->var == k_o->var)) return digit;
  }
  return NULL;
}

// The rest of k inside the CTA's part of K.
static int64_t inside_part(const Program *program, int64_t k) {
  const Axis *axis = &program->axis[AXIS_K];
  for (int i = 0; i < axis->n_digits; i++)
    if (axis->digit[i].var->tier == TIER_BLOCK) k %= axis->digit[i].weight;
  return k;
}

bool trace_k_step(const Program *program, int64_t k, TraceStep *step) {
  const Digit *digit = k_digit(program);
  if (!digit) return false;
  int64_t part = inside_part(program, k);
  *step = (TraceStep){part / digit->weight, part % digit->weight, digit->weight};
  return true;
}

// ---- one operation ------------------------------------------------------------------------------

static const Access *access_of(const Op *op, Side side) {
  return side == DST ? &op->dst : &op->src;
}

// The side of an operation that touches the place a query asks for.
static Side asked_side(const Query *query) { return query->wanted == WANT_WRITES ? DST : SRC; }

static const Expr *offset_of(Walk *walk, const Stmt *stmt, Side side) {
  const Expr **at = &walk->offset[N_SIDES * stmt->id + (int)side];
  if (!*at) *at = access_offset(walk->arena, access_of(&stmt->op, side));
  return *at;
}

// Leaves the lanes that make the access at all: registers and shared memory have no guard.
static void apply_guard(Walk *walk, const Stmt *stmt, Side side, bool active[LANES]) {
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

// Elements that one lane's operand covers.
static int64_t covered(const Op *op, Side side) {
  if (op_facts(op->kind)->src.unit == UNIT_ROW && side == SRC)
    return LDMATRIX_ROW_BYTES / dtype_bytes(op->src.buffer->type);
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
static TracePlace place_at(Walk *walk, const Stmt *stmt, Side side, int lane, int64_t delta) {
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
static TraceMove ldmatrix_move(Walk *walk, const Stmt *stmt, int lane, int64_t delta) {
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

static TraceMove plain_move(Walk *walk, const Stmt *stmt, int lane, int64_t delta) {
  TraceMove move = {.thread = walk->warp * LANES + lane, .address_lane = -1};
  if (stmt->op.src.buffer) move.from = place_at(walk, stmt, SRC, lane, delta);
  if (stmt->op.dst.buffer) move.to = place_at(walk, stmt, DST, lane, delta);
  return move;
}

static int preference(const Query *query, int thread) {
  if (query->prefer < 0) return 0;
  return thread == query->prefer ? 2 : thread / LANES == query->prefer / LANES ? 1 : 0;
}

// Whether a touch now comes before the best so far: the first (or last) in time is the best, and of
// those at one time the preferred thread's.
static bool is_better(const Walk *walk, int thread) {
  const Query *query = walk->query;
  const Touch *best = &walk->best;
  if (!best->found) return true;
  if (walk->time != best->time) return (query->which == FIRST) == (walk->time < best->time);
  return preference(query, thread) > preference(query, best->move.thread);
}

static bool is_asked_for(const Query *query, int64_t time, int thread) {
  return time > query->after && time < query->before &&
         (query->thread < 0 || query->thread == thread);
}

static void keep_move(Walk *walk, const Stmt *stmt, TraceMove move) {
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
  walk->best = (Touch){walk->time, true, move};
}

static void touch(Walk *walk, const Stmt *stmt, int lane, int64_t delta) {
  const Op *op = &stmt->op;
  bool matrix = op_facts(op->kind)->src.unit == UNIT_ROW;
  if (matrix && lane >= LDMATRIX_ROWS * op->count) return;
  keep_move(walk, stmt,
            matrix ? ldmatrix_move(walk, stmt, lane, delta) : plain_move(walk, stmt, lane, delta));
}

// ---- boxes --------------------------------------------------------------------------------------

// The element at[0], at[1] of the lane's box: its row and column. A box is counted along the rows
// of global memory; `slow` and `fast` are the buffer's dimensions that they run along.
static TracePlace box_place(Walk *walk, const Access *access, int lane, const int64_t at[2],
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

static TracePlace box_source(Walk *walk, const Op *op, int lane, const int64_t at[2]) {
  int fast = buffer_fast_dimension(op->src.buffer);
  return box_place(walk, &op->src, lane, at, 1 - fast, fast);
}

static TracePlace box_target(Walk *walk, const Op *op, int lane, const int64_t at[2]) {
  int last = op->dst.buffer->rank - 1;
  return box_place(walk, &op->dst, lane, at, last - 1, last);
}

// Finds the element of the box that the query asks for; false when it lies outside. A place that is
// written only matters as such, so the swizzle, which stays within a box, is not undone.
static bool find_in_box(Walk *walk, const Op *op, int lane, int64_t at[2]) {
  const int64_t corner[2] = {0, 0}, wanted = walk->query->offset;
  int64_t begin;
  if (walk->query->wanted == WANT_READS) {  // the box's rows are parts of the matrix's
    TracePlace first = box_source(walk, op, lane, corner);
    int64_t pitch = first.buffer->stride[1 - buffer_fast_dimension(first.buffer)];
    begin = first.offset;
    at[0] = wanted / pitch - begin / pitch;
    at[1] = wanted % pitch - begin % pitch;
  } else {  // they follow each other in the slab
    begin = box_target(walk, op, lane, corner).offset;
    at[0] = (wanted - begin) / op->box[1];
    at[1] = (wanted - begin) % op->box[1];
  }
  return wanted >= begin && at[0] < op->box[0] && at[1] >= 0 && at[1] < op->box[1];
}

static void visit_box(Walk *walk, const Stmt *stmt, const bool *active) {
  const Op *op = &stmt->op;
  for (int lane = 0; lane < LANES; lane++) {
    int64_t at[2];
    if (!active[lane] || !find_in_box(walk, op, lane, at)) continue;
    keep_move(walk, stmt,
              (TraceMove){.from = box_source(walk, op, lane, at),
                          .to = box_target(walk, op, lane, at),
                          .thread = walk->warp * LANES + lane,
                          .address_lane = -1});
  }
}

// Every lane whose operand covers the element that the query asks for touches it.
static void visit_lanes(Walk *walk, const Stmt *stmt, Side side, const bool *active) {
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

static void visit_op(Walk *walk, const Stmt *stmt, const bool *active) {
  const Op *op = &stmt->op;
  Side side = asked_side(walk->query);
  if (access_of(op, side)->buffer != walk->query->buffer || op_multiplies(op->kind)) return;
  if (op_moves_box(op->kind))
    visit_box(walk, stmt, active);
  else
    visit_lanes(walk, stmt, side, active);
}

// ---- the walk -----------------------------------------------------------------------------------

static void walk_list(Walk *walk, const Stmt *list, const bool *active);

// Whether the next `size` operations can hold a better touch than the best so far. size 0, a
// producer's operations, which take no time: they can.
static bool may_matter(const Walk *walk, int64_t size) {
  if (size == 0) return true;
  const Query *query = walk->query;
  int64_t after = query->after, before = query->before;
  if (walk->best.found && query->which == FIRST) before = walk->best.time + 1;
  if (walk->best.found && query->which == LAST) after = walk->best.time - 1;
  return walk->time + size > after && walk->time + 1 < before;
}

// The earliest time at which slab k_o can be fetched.
static int64_t fetched_at(const Walk *walk, int64_t k_o) {
  if (k_o < walk->slots) return walk->roles_at;
  const Stmt *consumers = walk->k_loop;
  int64_t each = walk->size[consumers->id] / consumers->var->extent;
  return walk->loop_at + (k_o - walk->slots + 1) * each;
}

static void walk_producer(Walk *walk, const Stmt *stmt, const bool *active) {
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

static void walk_loop(Walk *walk, const Stmt *stmt, const bool *active) {
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

static void walk_if(Walk *walk, const Stmt *stmt, const bool *active) {
  bool inner[LANES];
  lanes_pass(walk->env, stmt->expr, active, inner);
  walk_list(walk, stmt->body, inner);
}

static void walk_list(Walk *walk, const Stmt *list, const bool *active) {
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

// Fills in Walk.size for a list and returns its sum. `each`: the time of one operation; a
// producer's take none.
static int64_t measure(Walk *walk, const Stmt *list, int64_t each) {
  int64_t sum = 0;
  for (; list; list = list->next) {
    int64_t inner = stmt_is_role(list, WORK_FETCHES) ? 0 : each;
    int64_t size = list->kind == STMT_OP ? each : measure(walk, list->body, inner);
    if (list->kind == STMT_LOOP) size *= list->var->extent;
    walk->size[list->id] = size;
    sum += size;
  }
  return sum;
}

// Adds the operations passed before `target`: a role, or the loop over slabs in one. False when it
// is not in the list.
static bool time_before(const Walk *walk, const Stmt *list, const Stmt *target, int64_t *time) {
  for (; list && list != target; list = list->next) {
    int64_t inside = *time;
    if (list->role && time_before(walk, list->body, target, &inside)) {
      *time = inside;
      return true;
    }
    *time += walk->size[list->id];
  }
  return list != NULL;
}

static void find_roles(Walk *walk) {
  const Buffer *empty = program_buffer(walk->program, ROLE_EMPTY);
  if (!empty || !walk->k_loop) return;
  const Stmt *role = walk->launch.body;
  while (role && !role->role) role = role->next;
  walk->slots = empty->dim[0];
  time_before(walk, walk->launch.body, role, &walk->roles_at);
  time_before(walk, walk->launch.body, walk->k_loop, &walk->loop_at);
}

// Fills in Walk.near; true when any statement of the list is near.
static bool mark_near(Walk *walk, const Stmt *list) {
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

static Touch look_for(Walk *walk, const Query *query) {
  walk->query = query;
  walk->best = (Touch){0};
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

static Walk new_walk(Arena *arena, const Program *program, int64_t cta, int64_t k) {
  Walk walk = {.arena = arena, .program = program, .cta = cta, .k_o = -1};
  walk.launch = kernel_launch(program_main(program));
  size_t n = (size_t)program->n_stmt_ids;
  walk.env = ARENA_ARRAY(arena, int64_t, (size_t)program->n_vars * LANES);
  walk.size = ARENA_ARRAY(arena, int64_t, n);
  walk.near = ARENA_ARRAY(arena, bool, n);
  walk.offset = ARENA_ARRAY(arena, const Expr *, N_SIDES *n);
  walk.guard = ARENA_ARRAY(arena, const Expr *, N_SIDES *n);
  measure(&walk, walk.launch.body, 1);
  TraceStep step;
  if (trace_k_step(program, k, &step)) {
    const Digit *digit = k_digit(program);
    walk.k_loop = find_loop(program_main(program)->body, digit->var);
    walk.k_from = step.iteration > RING_MAX ? step.iteration - RING_MAX : 0;
    walk.k_to = min64(step.iteration + 2, digit->var->extent);
  }
  find_roles(&walk);
  return walk;
}

// ---- the way ------------------------------------------------------------------------------------

// The element at (row, col) of a matrix in global memory, without its indices.
static TracePlace element_of(Arena *arena, Buffer *matrix, int64_t row, int64_t col) {
  Access access = access2(matrix, ex_const(arena, row), ex_const(arena, col));
  return (TracePlace){.buffer = matrix, .offset = expr_eval(access_offset(arena, &access), NULL)};
}

static Query query_of(const TracePlace *place, Wanted wanted, Which which, int thread) {
  bool own = place->buffer->space == SPACE_REGISTER;
  return (Query){.buffer = place->buffer,
                 .offset = place->offset,
                 .wanted = wanted,
                 .which = which,
                 .thread = own ? thread : -1,
                 .after = -1,
                 .before = INT64_MAX,
                 .prefer = -1};
}

static bool add_move(Trace *trace, const Touch *touch) {
  if (!touch->found || trace->n_moves == TRACE_MOVES_MAX) return false;
  trace->move[trace->n_moves++] = touch->move;
  return true;
}

// The first read of the place that a touch wrote, before anything else is written there. Among
// reads at one time that of thread `owner` is preferred.
static Touch next_read(Walk *walk, const Touch *written, int owner) {
  const TraceMove *move = &written->move;
  Query rewrite = query_of(&move->to, WANT_WRITES, FIRST, move->thread);
  rewrite.after = written->time;
  Touch rewritten = look_for(walk, &rewrite);
  Query read = query_of(&move->to, WANT_READS, FIRST, move->thread);
  read.after = written->time;
  if (rewritten.found) read.before = rewritten.time;
  read.prefer = owner;
  return look_for(walk, &read);
}

// The last write, before a touch read it, of the place that it read.
static Touch previous_write(Walk *walk, const Touch *read) {
  Query write = query_of(&read->move.from, WANT_WRITES, LAST, read->move.thread);
  write.before = read->time;
  return look_for(walk, &write);
}

// Follows the element at `at` in global memory to the fragment of thread `owner`.
static void follow(Walk *walk, Trace *trace, TracePlace at, int owner) {
  Query query = query_of(&at, WANT_READS, FIRST, -1);
  query.prefer = owner;
  Touch found = look_for(walk, &query);
  while (add_move(trace, &found) && !buffer_is_fragment(found.move.to.buffer))
    found = next_read(walk, &found, owner);
}

static void reverse_moves(Trace *trace) {
  for (int i = 0, j = trace->n_moves - 1; i < j; i++, j--) {
    TraceMove swap = trace->move[i];
    trace->move[i] = trace->move[j];
    trace->move[j] = swap;
  }
}

// Goes from the element at `at` in global memory back to the accumulator.
static void go_back(Walk *walk, Trace *trace, TracePlace at) {
  Query query = query_of(&at, WANT_WRITES, LAST, -1);
  Touch found = look_for(walk, &query);
  while (add_move(trace, &found) && found.move.from.buffer->role != ROLE_ACC)
    found = previous_write(walk, &found);
  reverse_moves(trace);
}

// The place to which the CTA writes C[i][j]: C itself, or its split's partial sums.
static TracePlace destination(Walk *walk, TraceAt at) {
  const Program *program = walk->program;
  Buffer *partial = program_buffer(program, ROLE_PARTIAL);
  if (!partial) return element_of(walk->arena, program_buffer(program, ROLE_C), at.i, at.j);
  int64_t part = program->axis[AXIS_K].digit[0].weight;
  return (TracePlace){.buffer = partial,
                      .offset = at.k / part * partial->stride[0] + at.i * partial->stride[1] +
                                at.j * partial->stride[2]};
}

static Trace trace_c(Walk *walk, TraceAt at) {
  Trace trace = {.operand = ATOM_C, .row = at.i, .col = at.j, .cta = walk->cta};
  go_back(walk, &trace, destination(walk, at));
  return trace;
}

// `c`: the trace of C[i][j], whose owner reads the operand.
static Trace trace_operand(Walk *walk, AtomOperand operand, TraceAt at, const Trace *c) {
  bool a = operand == ATOM_A;
  Trace trace = {.operand = operand, .cta = walk->cta};
  trace.row = a ? at.i : at.k;
  trace.col = a ? at.k : at.j;
  Buffer *buffer = program_buffer(walk->program, a ? ROLE_A : ROLE_B);
  TracePlace element = element_of(walk->arena, buffer, trace.row, trace.col);
  follow(walk, &trace, element, c->n_moves ? c->move[0].thread : 0);
  return trace;
}

void trace_product(Arena *arena, const Program *program, int64_t cta, TraceAt at,
                   Trace out[ATOM_OPERANDS]) {
  Walk walk = new_walk(arena, program, cta, at.k);
  out[ATOM_C] = trace_c(&walk, at);
  out[ATOM_A] = trace_operand(&walk, ATOM_A, at, &out[ATOM_C]);
  out[ATOM_B] = trace_operand(&walk, ATOM_B, at, &out[ATOM_C]);
}

Trace trace_element(Arena *arena, const Program *program, int64_t cta, AtomOperand operand,
                    TraceAt at) {
  Walk walk = new_walk(arena, program, cta, at.k);
  Trace c = trace_c(&walk, at);
  return operand == ATOM_C ? c : trace_operand(&walk, operand, at, &c);
}

int64_t trace_address(const TracePlace *place) {
  return place->buffer->offset_bytes + place->offset * dtype_bytes(place->buffer->type);
}

int trace_bank(const TracePlace *place) {
  return (int)(trace_address(place) / BANK_WORD_BYTES % BANK_COUNT);
}
