// The tracer looks for each move in a walk of its own (trace_walk.h). Forwards, A and B: it finds
// who reads the element from global memory and where to. If that is a register on the way, it goes
// on with what the same thread writes from there; if it is a slab, with who reads that place before
// it is written again. Backwards, C: it finds who writes the element to global memory and
// where from, and so on to the accumulator.
//
// Worked example, A[130][21] in the double-buffered fp32 rung, C[130][7]: CTA (1, 0); slab 1 is
// loaded in iteration 0 by thread 37 into r_a[0], stored to A_s[1, 5, 2], and read in iteration 1
// by the 16 threads of row 0 into a[2].
#include "model/readings/place/trace.h"

#include "banks/engine/bank.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/place/tile_map.h"
#include "model/readings/place/trace_walk.h"

// The element at (row, col) of a matrix in global memory, without its indices.
static TracePlace element_of(Arena *arena, Buffer *matrix, int64_t row, int64_t col) {
  Access access = {.buffer = matrix};
  const Expr **idx = access.idx;
  if (buffer_matrices(matrix)) *idx++ = ex_const(arena, 0);  // of the first head
  idx[0] = ex_const(arena, row);
  idx[1] = ex_const(arena, col);
  return (TracePlace){.buffer = matrix, .offset = expr_eval(access_offset(arena, &access), NULL)};
}

static TraceQuery query_of(const TracePlace *place, TraceWanted wanted, TraceWhich which,
                           int thread) {
  bool own = place->buffer->space == SPACE_REGISTER;
  return (TraceQuery){.buffer = place->buffer,
                      .offset = place->offset,
                      .wanted = wanted,
                      .which = which,
                      .thread = own ? thread : -1,
                      .after = -1,
                      .before = INT64_MAX,
                      .prefer = -1};
}

static bool add_move(Trace *trace, const TraceTouch *touch) {
  if (!touch->found || trace->n_moves == TRACE_MOVES_MAX) return false;
  trace->move[trace->n_moves++] = touch->move;
  return true;
}

// The first read of the place that a touch wrote, before anything else is written there. Among
// reads at one time that of thread `owner` is preferred.
static TraceTouch next_read(TraceWalk *walk, const TraceTouch *written, int owner) {
  const TraceMove *move = &written->move;
  TraceQuery rewrite = query_of(&move->to, TRACE_WRITES, TRACE_FIRST, move->thread);
  rewrite.after = written->time;
  TraceTouch rewritten = trace_look_for(walk, &rewrite);
  TraceQuery read = query_of(&move->to, TRACE_READS, TRACE_FIRST, move->thread);
  read.after = written->time;
  if (rewritten.found) read.before = rewritten.time;
  read.prefer = owner;
  return trace_look_for(walk, &read);
}

// The last write, before a touch read it, of the place that it read.
static TraceTouch previous_write(TraceWalk *walk, const TraceTouch *read) {
  TraceQuery write = query_of(&read->move.from, TRACE_WRITES, TRACE_LAST, read->move.thread);
  write.before = read->time;
  return trace_look_for(walk, &write);
}

// Follows the element at `at` in global memory to the fragment of thread `owner`.
static void follow(TraceWalk *walk, Trace *trace, TracePlace at, int owner) {
  TraceQuery query = query_of(&at, TRACE_READS, TRACE_FIRST, -1);
  query.prefer = owner;
  TraceTouch found = trace_look_for(walk, &query);
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
static void go_back(TraceWalk *walk, Trace *trace, TracePlace at) {
  TraceQuery query = query_of(&at, TRACE_WRITES, TRACE_LAST, -1);
  TraceTouch found = trace_look_for(walk, &query);
  while (add_move(trace, &found) && found.move.from.buffer->role != ROLE_ACC)
    found = previous_write(walk, &found);
  reverse_moves(trace);
}

// The place to which the CTA writes C[i][j]: C itself, or its split's partial sums. Where the tiles
// of a last turn are cut there are partial sums too, but the walk's CTA has its tile whole.
static TracePlace destination(TraceWalk *walk, TraceAt at) {
  const Program *program = walk->program;
  Buffer *partial = program_buffer(program, ROLE_PARTIAL);
  if (!partial || program->persistent.tile)
    return element_of(walk->arena,
                      program_buffer(program, program->product[at.product].operand[ATOM_C].global),
                      at.i, at.j);
  int64_t part = program->axis[AXIS_K].digit[0].weight;
  return (TracePlace){.buffer = partial,
                      .offset = at.k / part * partial->stride[0] + at.i * partial->stride[1] +
                                at.j * partial->stride[2]};
}

// ---- what stays in registers --------------------------------------------------------------------

// The sums that hold S[i][j]: the place in its thread's registers, by who keeps which cell.
static TracePlace kept_sum(TraceWalk *walk, TraceAt at, int *thread) {
  const Program *program = walk->program;
  const Product *product = &program->product[at.product];
  const TileMap *map = tile_map_build(walk->arena, program, at.product);
  TileOwner owner = tile_map_owner(map, at.i % map->rows, at.j % map->cols);
  *thread = owner.thread;
  TracePlace place = {.buffer = program_buffer(program, product->operand[ATOM_C].registers),
                      .offset = owner.value};
  for (int d = 0; d < place.buffer->rank; d++)
    place.index[d] = place.offset / place.buffer->stride[d] % place.buffer->dim[d];
  return place;
}

// Sums that become an operand of the next product, in one thread: the convert that does it is the
// only move, of S as of P. Worked example, m16n8k16: lane 0's S_f[0, 1, 2] is S[8][8], and
// P_f[0, 0, 6] after it.
static Trace trace_kept(TraceWalk *walk, AtomOperand operand, TraceAt scores) {
  Trace trace = {.operand = operand, .row = scores.i, .col = scores.j, .cta = walk->cta};
  int thread = 0;
  TracePlace sum = kept_sum(walk, scores, &thread);
  TraceQuery query = query_of(&sum, TRACE_READS, TRACE_FIRST, thread);
  query.into = program_buffer(walk->program,
                              walk->program->product[scores.product + 1].operand[ATOM_A].registers);
  TraceTouch found = trace_look_for(walk, &query);
  add_move(&trace, &found);
  return trace;
}

// Whether the sums of a product have no matrix in global memory.
static bool is_kept(const Program *program, int product) {
  return product + 1 < program->n_products &&
         !program_buffer(program, program->product[product].operand[ATOM_C].global);
}

static Trace trace_c(TraceWalk *walk, TraceAt at) {
  if (is_kept(walk->program, at.product)) return trace_kept(walk, ATOM_C, at);
  Trace trace = {.operand = ATOM_C, .row = at.i, .col = at.j, .cta = walk->cta};
  go_back(walk, &trace, destination(walk, at));
  return trace;
}

// Whether two CTAs multiply as one, each by the slabs of both.
static bool is_of_pair(const TraceWalk *walk) {
  const Stmt *product =
      stmt_find_action(program_main(walk->program)->body, ACTION_MULTIPLY, ROLE_COUNT);
  return product && product->op.cta_group > 1;
}

// In a pair each CTA fetches a half of B: what it has not lies in the other's slab.
static void follow_there(TraceWalk *walk, Trace *trace, TracePlace at, TraceAt product, int owner) {
  TraceWalk there = trace_walk_new(walk->arena, walk->program, walk->cta ^ 1, product);
  follow(&there, trace, at, owner);
  if (trace->n_moves) trace->cta = there.cta;
}

// `c`: the trace of C[i][j], whose owner reads the operand.
static Trace trace_operand(TraceWalk *walk, AtomOperand operand, TraceAt at, const Trace *c) {
  bool a = operand == ATOM_A;
  if (a && at.product && is_kept(walk->program, at.product - 1))
    return trace_kept(walk, operand, (TraceAt){at.i, at.k, 0, at.product - 1});
  Trace trace = {.operand = operand, .cta = walk->cta};
  const Problem *problem = &walk->program->problem;
  const int64_t k = problem->split ? at.k % problem_depth(problem) : at.k;
  trace.row = a ? at.i : k;
  trace.col = a ? k : at.j;
  Buffer *buffer =
      program_buffer(walk->program, walk->program->product[at.product].operand[operand].global);
  TracePlace element = element_of(walk->arena, buffer, trace.row, trace.col);
  const int owner = c->n_moves ? c->move[0].thread : 0;
  follow(walk, &trace, element, owner);
  if (!trace.n_moves && is_of_pair(walk)) follow_there(walk, &trace, element, at, owner);
  return trace;
}

// Follows the way of the first parts of a split product, in the last and largest of the products
// that the axis k goes through.
static TraceAt in_largest(const Program *program, TraceAt at) {
  const Problem *problem = &program->problem;
  if (problem->split) at.k += problem_axis_depth(problem) - problem_depth(problem);
  return at;
}

void trace_product(Arena *arena, const Program *program, int64_t cta, TraceAt at,
                   Trace out[ATOM_OPERANDS]) {
  at = in_largest(program, at);
  TraceWalk walk = trace_walk_new(arena, program, cta, at);
  out[ATOM_C] = trace_c(&walk, at);
  out[ATOM_A] = trace_operand(&walk, ATOM_A, at, &out[ATOM_C]);
  out[ATOM_B] = trace_operand(&walk, ATOM_B, at, &out[ATOM_C]);
}

Trace trace_element(Arena *arena, const Program *program, int64_t cta, AtomOperand operand,
                    TraceAt at) {
  at = in_largest(program, at);
  TraceWalk walk = trace_walk_new(arena, program, cta, at);
  Trace c = trace_c(&walk, at);
  return operand == ATOM_C ? c : trace_operand(&walk, operand, at, &c);
}

int64_t trace_address(const TracePlace *place) {
  return place->buffer->offset_bytes + place->offset * dtype_bytes(place->buffer->type);
}

int trace_bank(const TracePlace *place) {
  return (int)(trace_address(place) / BANK_WORD_BYTES % BANK_COUNT);
}
