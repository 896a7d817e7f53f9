// The element tracer: whatever the schedule, the way of an element ends in the register that the
// axes and the atom's fragment map name, and every move starts where the one before it ended.
#include "model/readings/place/trace.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "cli_harness.h"
#include "model/interp/interp.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/place/grid.h"
#include "model/readings/place/tile_map.h"
#include "model/schedules/random_schedule.h"
#include "property.h"

static const Model *model_of(const char *state) {
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(property_arena);
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(property_arena, &diags));
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(property_arena, &model->diags));
  return model;
}

static int64_t cta_of(const Grid *grid, TraceAt at) {
  return grid_owner(grid, at.i / grid->tile_m, at.j / grid->tile_n, at.k / grid->k_part);
}

static Trace trace_of(const Model *model, AtomOperand operand, TraceAt at) {
  const Grid *grid = grid_build(property_arena, model);
  return trace_element(property_arena, model->program, cta_of(grid, at), operand, at);
}

// ---- by hand ------------------------------------------------------------------------------------

// fp32, 16 × 16 threads of 8 × 8 cells, two slabs: A[130][21] is k 5 of slab 1, which iteration 0
// fetches; row 130 is row 2 of its tile, so the 16 threads of row 0 read it.
START_TEST(a_double_buffered_slab) {
  const Model *model = model_of(
      "BM=16,BN=16,FM=8,FN=8,STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=1,TRANSPOSE_A=1,M=512,N=512,"
      "K=512");
  Trace trace = trace_of(model, ATOM_A, (TraceAt){130, 7, 21, 0});
  ck_assert_int_eq(trace.n_moves, 3);
  const TraceMove *load = &trace.move[0], *store = &trace.move[1], *read = &trace.move[2];
  ck_assert_int_eq(load->from.offset, 130 * 512 + 21);
  ck_assert_int_eq(load->k_o, 0);
  ck_assert_int_eq(load->thread, 2 * 16 + 5);
  ck_assert_int_eq(store->thread, load->thread);
  ck_assert_int_eq(store->to.index[0], 1);
  ck_assert_int_eq(store->to.index[1], 5);
  ck_assert_int_eq(store->to.index[2], 2);
  ck_assert_int_eq(trace_address(&store->to), (1 * 16 * 128 + 5 * 128 + 2) * 4);
  ck_assert_int_eq(trace_bank(&store->to), 2);
  ck_assert_int_eq(read->k_o, 1);
  ck_assert_int_eq(read->thread, 0);
  ck_assert_int_eq(read->n_threads, 16);
  ck_assert_int_eq(read->to.index[0], 2);
}
END_TEST

// One column of B: a store of 16 bytes puts four rows of one element there.
START_TEST(an_access_wider_than_a_row) {
  const Model *model = model_of(
      "BM=1,BN=1,FM=8,BK=4,STAGE=01,VECTORIZE=1,BUFFER_COUNT=4,PIPELINE_STAGES=2,M=6,N=1,K=12");
  Trace trace = trace_of(model, ATOM_B, (TraceAt){1, 0, 2, 0});
  const TraceMove *store = &trace.move[1];
  ck_assert_int_eq(store->stmt->op.width, 4);
  ck_assert_int_eq(store->to.index[1], 2);
  ck_assert_int_eq(store->to.index[2], 0);
}
END_TEST

// m16n8k16.f16: C[3][5] of the atom is value 1 of lane 14, A[3][5] value 1 of lane 14.
START_TEST(an_atom_by_ldmatrix) {
  const Model *model = model_of(
      "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=4,BK=2,STAGE=11,ASYNC_COPY=1,LDMATRIX=2,"
      "BUFFER_COUNT=3,PIPELINE_STAGES=1,FRAG_BUFFER=2,SWIZZLE=2,EPILOGUE=1");
  TraceAt at = {128 + 64 + 16 + 3, 32 + 8 + 5, 32 + 16 + 5, 0};
  Trace c = trace_of(model, ATOM_C, at);
  ck_assert_int_eq(c.n_moves, 3);
  ck_assert_int_eq(c.move[0].thread, 3 * 32 + 14);
  ck_assert_int_eq(c.move[0].from.index[0], 1);
  ck_assert_int_eq(c.move[0].from.index[1], 1);
  ck_assert_int_eq(c.move[0].from.index[2], 1);
  ck_assert_int_eq(c.move[2].to.offset, at.i * 4096 + at.j);
  Trace a = trace_of(model, ATOM_A, at);
  ck_assert_int_eq(a.n_moves, 2);
  ck_assert_int_eq(a.move[0].stmt->op.kind, OP_CP_ASYNC);
  ck_assert_int_eq(a.move[0].to.index[0], 1);
  ck_assert_int_eq(a.move[1].stmt->op.kind, OP_LDMATRIX);
  ck_assert_int_eq(a.move[1].thread, 3 * 32 + 14);
  ck_assert_int_eq(a.move[1].address_lane, 3);
  ck_assert_int_eq(a.move[1].n_threads, 2);
  ck_assert_int_eq(a.move[1].to.index[1], 1);
  ck_assert_int_eq(a.move[1].to.index[2], 1);
}
END_TEST

// Ring of three, bf16, a producer: A[130][200] is k 8 of slab 3, which the producer fetches in its
// iteration 3 into slot 0; in row 130 % 128 = 2 chunk 1 lies at chunk 1 ^ 2. B[200][300] is column
// 44 of the CTA of columns 256 … 511, row 8 of panel 0.
START_TEST(a_box_by_a_producer) {
  const Model *model = model_of(
      "ATOM_KIND=mma_m16n8k16_bf16,DTYPE=bf16,WM=2,WN=4,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2,"
      "SWIZZLE=3,BUFFER_COUNT=3,FRAG_BUFFER=2,WARP_SPECIALIZE=1,M=512,N=512,K=512");
  TraceAt at = {130, 300, 200, 0};
  Trace a = trace_of(model, ATOM_A, at);
  ck_assert_int_eq(a.n_moves, 2);
  ck_assert_int_eq(a.move[0].stmt->op.kind, OP_TMA_LOAD);
  ck_assert_int_eq(a.move[0].from.offset, 130 * 512 + 200);
  ck_assert_int_eq(a.move[0].thread, 256);
  ck_assert_int_eq(a.move[0].k_o, 3);
  ck_assert_int_eq(a.move[0].to.index[0], 0);
  ck_assert_int_eq(a.move[0].to.index[1], 2);
  ck_assert_int_eq(a.move[0].to.index[2], 8);
  ck_assert_int_eq(trace_address(&a.move[0].to), 2 * 128 + (1 ^ 2) * 16);
  ck_assert_int_eq(a.move[1].k_o, 2);  // the register buffer reads a k-step ahead
  Trace b = trace_of(model, ATOM_B, at);
  const TracePlace *to = &b.move[0].to;
  ck_assert_int_eq(to->index[0], 0);
  ck_assert_int_eq(to->index[1], 0);
  ck_assert_int_eq(to->index[2], 8);
  ck_assert_int_eq(to->index[3], 44);
  at.j = 300 + 128;
  b = trace_of(model, ATOM_B, at);
  ck_assert_int_eq(b.move[0].to.index[1], 2);  // two panels on
  ck_assert_int_eq(b.move[0].to.index[3], 44);
}
END_TEST

// ---- every schedule -----------------------------------------------------------------------------

// The digits of an axis that one thread's registers count, from the outside in: the program's
// register index without the atom's values.
static int64_t register_part(const Axis *axis, int64_t position) {
  int64_t index = 0;
  for (int i = 0; i < axis->n_digits; i++) {
    const Digit *digit = &axis->digit[i];
    int64_t value = position / digit->weight % digit->var->extent;
    if (digit->var->tier == TIER_REGISTER) index = index * digit->var->extent + value;
  }
  return index;
}

static bool same_place(const TracePlace *a, const TracePlace *b) {
  return a->buffer == b->buffer && a->offset == b->offset;
}

// The last place of an operand's way, or the first of C's.
static const TraceMove *register_move(const Trace *trace) {
  return trace->operand == ATOM_C ? &trace->move[0] : &trace->move[trace->n_moves - 1];
}

// Whether the way ends in a slab, which wgmma reads by descriptor.
static bool is_tile(const Program *program, AtomOperand operand) {
  const Atom *atom = program_atom(program);
  if (!atom || !atom_reads_tiles(atom) || operand == ATOM_C) return false;
  return operand == ATOM_B || !program_buffer(program, ROLE_FRAG_A);
}

static const char *fault_of_way(const Program *program, const Trace *trace) {
  if (trace->n_moves == 0) return "no statement touches it";
  for (int i = 1; i < trace->n_moves; i++)
    if (!same_place(&trace->move[i - 1].to, &trace->move[i].from)) return "the way is broken";
  BufferRole wanted[] = {ROLE_FRAG_A, ROLE_FRAG_B, ROLE_ACC};
  if (is_tile(program, ATOM_A)) wanted[ATOM_A] = ROLE_SLAB_A;
  if (is_tile(program, ATOM_B)) wanted[ATOM_B] = ROLE_SLAB_B;
  const TraceMove *move = register_move(trace);
  const TracePlace *place = trace->operand == ATOM_C ? &move->from : &move->to;
  return place->buffer->role == wanted[trace->operand] ? NULL : "it ends in the wrong buffer";
}

// Row or column inside the atom, and the register index of atoms outside.
static const char *fault_of_register(const Program *program, const Trace *trace, TraceAt at) {
  static const int axis_of[ATOM_OPERANDS][2] = {
      {AXIS_M, AXIS_K}, {AXIS_K, AXIS_N}, {AXIS_M, AXIS_N}};
  const TraceMove *move = register_move(trace);
  const TracePlace *place = trace->operand == ATOM_C ? &move->from : &move->to;
  const Atom *atom = program_atom(program);
  int64_t position[] = {at.i, at.j, at.k};
  int64_t m = register_part(&program->axis[AXIS_M], at.i);
  int64_t n = register_part(&program->axis[AXIS_N], at.j);
  int rank = place->buffer->rank, of_value = atom ? 1 : 0;
  const int64_t *index = place->index + (rank - of_value);
  if (trace->operand == ATOM_C && (index[-2] != m || index[-1] != n)) return "wrong accumulator";
  // An order of reading that holds one fragment at a time, or a pair of them, keeps each in the
  // place of the first ones.
  int64_t places = place->buffer->dim[rank - of_value - 1];
  if (trace->operand == ATOM_A && index[-1] != m % places) return "wrong register of A";
  if (trace->operand == ATOM_B && index[-1] != n % places) return "wrong register of B";
  if (!atom) return NULL;
  int extent[] = {atom->m, atom->n, atom->k};
  const int *axis = axis_of[trace->operand];
  FragmentOwner owner =
      fragment_owner(atom, trace->operand, (int)(position[axis[0]] % extent[axis[0]]),
                     (int)(position[axis[1]] % extent[axis[1]]));
  if (owner.lane != move->thread % atom_lanes(atom)) return "wrong lane";
  return owner.value == index[0] ? NULL : "wrong value";
}

static bool traces(const Model *model, const Grid *grid, AtomOperand operand, TraceAt at,
                   int owner) {
  Trace trace = trace_element(property_arena, model->program, cta_of(grid, at), operand, at);
  const char *fault = fault_of_way(model->program, &trace);
  if (is_tile(model->program, operand)) owner = -1;  // whoever asked for the slab
  if (!fault && !is_tile(model->program, operand))
    fault = fault_of_register(model->program, &trace, at);
  int warp = register_move(&trace)->thread / 32;
  if (!fault && owner >= 0 && warp != owner / 32) fault = "another warp than C's";
  if (!fault && owner >= 0 && !program_atom(model->program) &&
      register_move(&trace)->thread != owner)
    fault = "another thread than C's";
  if (!fault) return true;
  printf("%s\n  %s of i %lld, j %lld, k %lld: %s\n",
         schedule_text(property_arena, &model->schedule), atom_operand_name(operand),
         (long long)at.i, (long long)at.j, (long long)at.k, fault);
  return false;
}

// The map of a tile gives every cell to one register of one thread, and no register twice.
static bool is_shared_out(const TileMap *map) {
  int64_t cells = map->rows * map->cols, per_thread = cells / map->n_threads;
  uint8_t *seen = ARENA_ARRAY(property_arena, uint8_t, cells);
  if (per_thread * map->n_threads != cells) return false;
  for (int64_t i = 0; i < cells; i++) {
    if (map->thread[i] >= map->n_threads || map->value[i] >= per_thread) return false;
    if (seen[map->thread[i] * per_thread + map->value[i]]++) return false;
  }
  return true;
}

// The statements that store C and the axes agree about the owner of a cell.
static bool map_agrees(const Grid *grid, const TileMap *map, TraceAt at, const Trace *c) {
  TileOwner owner = tile_map_owner(map, at.i % grid->tile_m, at.j % grid->tile_n);
  const TileBox *box = &map->of_thread[owner.thread];
  int64_t row = at.i % grid->tile_m - box->row, col = at.j % grid->tile_n - box->col;
  return c->move[0].thread == owner.thread && c->move[0].from.offset == owner.value && row >= 0 &&
         row < box->rows && col >= 0 && col < box->cols;
}

enum { ELEMENTS = 4 };

// How many ways of a few random elements go wrong.
static int count_lost_ways(const Model *model, uint64_t *state) {
  const char *text = schedule_text(property_arena, &model->schedule);
  const Grid *grid = grid_build(property_arena, model);
  const TileMap *map = tile_map_build(property_arena, model->program, 0);
  ck_assert_msg(is_shared_out(map), "%s", text);
  const Problem *p = &model->program->problem;
  int failed = 0;
  for (int e = 0; e < ELEMENTS; e++) {
    TraceAt at = {random_between(state, 0, p->m - 1), random_between(state, 0, p->n - 1),
                  random_between(state, 0, p->k - 1), 0};
    Trace c = trace_element(property_arena, model->program, cta_of(grid, at), ATOM_C, at);
    ck_assert_msg(map_agrees(grid, map, at, &c), "%s: C[%lld][%lld]", text, (long long)at.i,
                  (long long)at.j);
    for (int operand = 0; operand < ATOM_OPERANDS; operand++)
      failed += !traces(model, grid, (AtomOperand)operand, at, c.move[0].thread);
  }
  return failed;
}

START_TEST(ways_end_where_the_fragment_map_says) {
  enum { SCHEDULES = 150 };
  const RandomLimits limits = {.extent_max = 100, .fma_max = 400000};
  uint64_t state = property_seed() + 1;
  int failed = 0, staged = 0, matrices = 0;
  for (int s = 0; s < SCHEDULES; s++) {
    arena_reset(property_arena);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    const Model *model = model_build(property_arena, &property_targets, &schedule);
    failed += count_lost_ways(model, &state);
    staged += program_smem_bytes(model->program) > 0;
    matrices += schedule.value[KNOB_LDMATRIX] > 0;
  }
  ck_assert_int_eq(failed, 0);
  ck_assert_int_ge(staged, SCHEDULES / 4);
  ck_assert_int_ge(matrices, 10);
}
END_TEST

// Boxes, panels, rings and producers, with edges, for operands that run either way.
static const char *const boxes[] = {
    "BM=8,BN=32,FM=26,FN=4,BK=32,TMA=1,STAGE=11,M=436,N=260,K=100",
    "BM=8,BN=32,FM=26,FN=4,BK=32,TMA=1,STAGE=11,BUFFER_COUNT=2,WARP_SPECIALIZE=1,M=436,N=260,K=260",
    "BM=8,BN=16,FM=4,FN=4,BK=16,TMA=1,STAGE=01,A_COL=1,B_COL=1,BUFFER_COUNT=3,PIPELINE_STAGES=1,"
    "M=100,N=100,K=100",
    "ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=4,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=3,"
    "BUFFER_COUNT=3,EPILOGUE=1,UNROLL_RING=1,FRAG_BUFFER=2,WARP_SPECIALIZE=1,M=264,N=520,K=520",
    "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=8,BK=2,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=2,"
    "BUFFER_COUNT=2,PIPELINE_STAGES=1,FRAG_BUFFER=2,M=136,N=264,K=200",
    "ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=2,FM=4,FN=4,BK=4,STAGE=11,TMA=1,LDMATRIX=1,SWIZZLE=1,A_COL="
    "1,"
    "B_COL=1,BUFFER_COUNT=4,WARP_SPECIALIZE=1,M=136,N=264,K=200",
    "ATOM_KIND=mma_m16n8k32_s8,WM=2,WN=1,FM=1,FN=4,BK=4,STAGE=11,TMA=1,SWIZZLE=3,B_COL=1,M=80,N=80,"
    "K=304",
    "ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=2,FM=2,FN=8,BK=2,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=2,"
    "BUFFER_COUNT=2,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,EPI_N=32,EPI_BUFFERS=2,WARP_SPECIALIZE=1,"
    "M=136,N=264,K=200",
    "ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=2,FM=2,FN=4,BK=2,STAGE=11,EPILOGUE=1,TMA_STORE=1,SPLITK=2,"
    "M=136,N=152,K=200",
    "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=3,BK=2,STAGE=11,EPILOGUE=1,STMATRIX=1,M=136,"
    "N=152,K=200",
    "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=3,BK=2,STAGE=11,TMA=1,BUFFER_COUNT=3,EPILOGUE=1,"
    "WARP_SPECIALIZE=1,PERSISTENT=1,TAIL_SPLIT=3,M=136,N=152,K=200",
};
enum { N_BOXES = sizeof boxes / sizeof *boxes };

START_TEST(ways_through_boxes) {
  uint64_t state = property_seed() + (uint64_t)_i;
  const Model *model = model_of(boxes[_i]);
  for (int i = 0; i < 12; i++) ck_assert_int_eq(count_lost_ways(model, &state), 0);
}
END_TEST

// Sums of a warpgroup: each of its warps has 16 of every 64 rows.
static const char *const warpgroups[] = {
    "ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,BK=4,WM=2,FN=2,STAGE=11,M=256,N=256,K=128",
    "ATOM_KIND=wgmma_m64n256k16_f16,ATOM_N=128,BK=4,WM=2,TMA=1,STAGE=11,WARP_SPECIALIZE=1,"
    "BUFFER_COUNT=3,A_REGS=1,SWIZZLE=3,M=256,N=256,K=128",
};
enum { N_WARPGROUPS = sizeof warpgroups / sizeof *warpgroups };

START_TEST(a_warpgroup_shares_its_tile_out) {
  uint64_t state = property_seed() + (uint64_t)_i;
  const Model *model = model_of(warpgroups[_i]);
  const Grid *grid = grid_build(property_arena, model);
  const TileMap *map = tile_map_build(property_arena, model->program, 0);
  const Problem *p = &model->program->problem;
  ck_assert(is_shared_out(map));
  for (int i = 0; i < 40; i++) {
    TraceAt at = {random_between(&state, 0, p->m - 1), random_between(&state, 0, p->n - 1), 0, 0};
    Trace c = trace_element(property_arena, model->program, cta_of(grid, at), ATOM_C, at);
    ck_assert(map_agrees(grid, map, at, &c));
    ck_assert_int_eq(map->thread[at.i % grid->tile_m * map->cols + at.j % grid->tile_n] / 32 % 4,
                     at.i % 64 / 16);
  }
}
END_TEST

// ---- the interpreter as the judge ---------------------------------------------------------------

typedef struct Sought {
  int id;
  Stmt *found;
} Sought;

static void find_id(Stmt *stmt, int depth, void *context) {
  Sought *sought = context;
  (void)depth;
  if (stmt->id == sought->id) sought->found = stmt;
}

static const Expr *equals(const Var *var, int64_t value) {
  return ex_binary(property_arena, EXPR_EQ, ex_var(property_arena, var),
                   ex_const(property_arena, value));
}

// When the element lies in its slab and nobody has read it: after a statement of the thread that
// put it there.
typedef struct Moment {
  int stmt;     // id
  int64_t k_o;  // iteration of the loop over slabs; -1: outside of it
} Moment;

typedef struct Waits {
  int read;  // id of the statement that reads the slab
  bool passed;
  int before, last;  // ids of the last wait in front of it, and of the last of all; -1: none
} Waits;

static void note_wait(Stmt *stmt, int depth, void *context) {
  Waits *waits = context;
  (void)depth;
  if (stmt->id == waits->read) waits->passed = true;
  if (stmt->kind != STMT_OP || stmt->op.kind != OP_CP_WAIT) return;
  waits->last = stmt->id;
  if (!waits->passed) waits->before = stmt->id;
}

static Waits waits_of(Stmt *body, int read) {
  Waits waits = {.read = read, .before = -1, .last = -1};
  stmt_walk(body, note_wait, &waits);
  return waits;
}

// What a store put there lies there at once, what a copy brought once its thread has waited: at the
// last wait in front of the first read, in its iteration or at the end of the one before.
static Moment moment_of(const Program *program, const Trace *trace) {
  const TraceMove *put = &trace->move[trace->n_moves - 2], *read = put + 1;
  if (put->stmt->op.kind == OP_STORE) return (Moment){put->stmt->id, put->k_o};
  Waits in_loop = waits_of(program_slab_loop(program)->body, read->stmt->id);
  if (read->k_o >= 0 && in_loop.before >= 0) return (Moment){in_loop.before, read->k_o};
  if (read->k_o > 0 && in_loop.last >= 0) return (Moment){in_loop.last, read->k_o - 1};
  int loop = program_slab_loop(program)->id, first = read->k_o < 0 ? read->stmt->id : loop;
  return (Moment){waits_of(program->kernel[program->main_kernel].body, first).before, -1};
}

// The program in which the thread that put the element into the slab wipes it out at once.
static const Program *wiped(const Program *program, const Trace *trace) {
  const TraceMove *put = &trace->move[trace->n_moves - 2];
  Moment moment = moment_of(program, trace);
  Program *copy = program_clone(property_arena, program);
  Kernel *kernel = &copy->kernel[copy->main_kernel];
  Launch launch = kernel_launch(kernel);
  const Expr *when = equals(copy->thread, put->thread);
  for (int d = 0; d < launch.n_block_digits; d++)
    when = ex_land(property_arena, when,
                   equals(launch.block[d].var,
                          trace->cta / launch.block[d].stride % launch.block[d].var->extent));
  if (launch.tiles)
    when = ex_land(property_arena, when, equals(launch.tiles->var, trace->cta / launch.cluster));
  if (moment.k_o >= 0)
    when = ex_land(property_arena, when, equals(program_slab_loop(copy)->var, moment.k_o));
  int64_t one = 1;
  Buffer *slab = program_buffer(copy, put->to.buffer->role);
  Buffer *nothing = program_new_buffer(copy, "zero", SPACE_REGISTER, ROLE_TEMP, 1, &one, KNOB_NONE);
  nothing->type = slab->type;
  Access zero = access1(nothing, ex_const(property_arena, 0)), place = {.buffer = slab};
  for (int d = 0; d < slab->rank; d++) place.idx[d] = ex_const(property_arena, put->to.index[d]);
  Op store_zero = {.kind = OP_STORE, .dst = place, .src = zero, .width = 1};
  Op make_zero = {.kind = OP_INIT, .dst = zero, .width = 1};
  Stmt *wipe = stmt_if(
      copy, KNOB_NONE, when,
      stmt_list(stmt_op(copy, KNOB_NONE, make_zero), stmt_op(copy, KNOB_NONE, store_zero), NULL));
  Sought sought = {.id = moment.stmt};
  stmt_walk(kernel->body, find_id, &sought);
  ck_assert_ptr_nonnull(sought.found);
  wipe->next = sought.found->next;
  sought.found->next = wipe;
  return copy;
}

// C lacks A[i][k] · B[k][j] exactly where that CTA reads the element from its slab.
static bool lacks_one_element(const Model *model, const Grid *grid, const Trace *trace, TraceAt at,
                              InterpAsync async) {
  const Problem *p = &model->program->problem;
  const float *a = interpret_inputs(property_arena, p->m * p->k, 5, 0);
  const float *b = interpret_inputs(property_arena, p->k * p->n, 5, 1);
  InterpOptions options = {.seed = 5, .async = async, .a = a, .b = b, .alpha = 1};
  options.grid = grid->n_ctas;  // a block for each tile
  const double *whole = interpret_reference(property_arena, p, a, b, NULL);
  const InterpResult *result = interpret(property_arena, wiped(model->program, trace), &options);
  bool of_a = trace->operand == ATOM_A;
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      bool tile =
          i / grid->tile_m == at.i / grid->tile_m && j / grid->tile_n == at.j / grid->tile_n;
      bool lacks = tile && (of_a ? i == at.i : j == at.j);
      // The arrays lie as the operands do in memory.
      double product = (double)a[p->a_col ? at.k * p->m + i : i * p->k + at.k] *
                       (double)b[p->b_col ? j * p->k + at.k : at.k * p->n + j];
      double wanted = whole[i * p->n + j] - (lacks ? product : 0);
      if (result->c[i * p->n + j] == wanted) continue;
      printf("%s\n  without %s of i %lld, j %lld, k %lld: C[%lld][%lld] = %g, expected %g\n",
             schedule_text(property_arena, &model->schedule), of_a ? "A" : "B", (long long)at.i,
             (long long)at.j, (long long)at.k, (long long)i, (long long)j, result->c[i * p->n + j],
             wanted);
      return false;
    }
  return true;
}

// Through registers or by cp.async, early and late: an element that is zero in its slab is missed
// in C where the trace says that it is read.
START_TEST(a_wiped_slab_element_is_missed_where_it_is_read) {
  enum { WIPES = 160 };
  const RandomLimits limits = {.extent_max = 64, .fma_max = 100000};
  uint64_t state = property_seed() + 2;
  int failed = 0, judged = 0, in_loop = 0, copied = 0;
  while (judged < WIPES) {
    arena_reset(property_arena);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    // No thread puts what TMA brings, so none can wipe it out in time.
    if (schedule.value[KNOB_STAGE] == 0 || schedule.value[KNOB_TMA]) continue;
    const Model *model = model_build(property_arena, &property_targets, &schedule);
    const Grid *grid = grid_build(property_arena, model);
    const Problem *p = &model->program->problem;
    if (p->out != DTYPE_F32 && p->out != DTYPE_S32 && p->out != DTYPE_F64) continue;
    TraceAt at = {random_between(&state, 0, p->m - 1), random_between(&state, 0, p->n - 1),
                  random_between(&state, 0, p->k - 1), 0};
    for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
      Trace trace =
          trace_element(property_arena, model->program, cta_of(grid, at), (AtomOperand)operand, at);
      if (trace.n_moves < 2) continue;
      const TraceMove *put = &trace.move[trace.n_moves - 2];
      if (put->to.buffer->space != SPACE_SHARED) continue;
      if (put->stmt->op.kind == OP_TMA_LOAD) continue;  // readers go on as soon as it has landed
      judged++;
      in_loop += put->k_o > 0;
      copied += put->stmt->op.kind == OP_CP_ASYNC;
      InterpAsync async = judged % 2 ? INTERP_EARLY : INTERP_LATE;
      failed += !lacks_one_element(model, grid, &trace, at, async);
    }
  }
  ck_assert_int_eq(failed, 0);
  ck_assert_int_ge(in_loop, 10);
  ck_assert_int_ge(copied, WIPES / 8);
}
END_TEST

// ---- a pair of CTAs ----------------------------------------------------------------------------

// Two CTAs that multiply as one: whichever of them has C[i][j], column j of B lies in the slab of
// the one that fetched its half of the 256, in row j % 128, and A in that of its own row.
START_TEST(a_pair_keeps_half_of_b_each) {
  const Model *model = model_of(
      "ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,ATOM_N=256,BK=4,STAGE=11,SWIZZLE=3,"
      "TMA=1,BUFFER_COUNT=4,GROUP_M=8,PERSISTENT=1,WARP_SPECIALIZE=1,CLUSTER_M=2,CTA_GROUP=2,"
      "M=1024,N=1024,K=512");
  uint64_t random = 5;
  for (int i = 0; i < 40; i++) {
    const TraceAt at = {.i = random_between(&random, 0, 1023),
                        .j = random_between(&random, 0, 1023),
                        .k = random_between(&random, 0, 511)};
    const Trace b = trace_of(model, ATOM_B, at), a = trace_of(model, ATOM_A, at);
    const int64_t cta = cta_of(grid_build(property_arena, model), at);
    ck_assert_int_eq(b.n_moves, 1);
    ck_assert_int_eq(b.cta / 2, cta / 2);
    ck_assert_int_eq(b.cta % 2, at.j % 256 / 128);
    ck_assert_int_eq(b.move[0].to.index[1], at.j % 128);
    ck_assert_int_eq(b.move[0].to.index[2], at.k % 64);
    ck_assert_int_eq(b.move[0].from.offset, at.j * 512 + at.k);
    ck_assert_int_eq(a.cta, cta);
    ck_assert_int_eq(a.move[0].to.index[1], at.i % 128);
  }
}
END_TEST

// ---- as data ------------------------------------------------------------------------------------

static int64_t number_at(const JsonValue *object, const char *key) {
  Diags diags = diags_new(property_arena);
  int64_t value = -1;
  ck_assert_msg(json_read_int64(json_object_get(object, key), 0, INT64_MAX, &value, &diags),
                "%s: %s", key, diags_text(property_arena, &diags));
  return value;
}

START_TEST(show_tiles_json_has_the_moves) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(
      property_arena,
      "show tiles --json --keys 'e C Space 0 Space 0 Enter e A Space 1 3 0 Space 2 1 Enter' -k "
      "AUTO=0,BM=16,BN=16,FM=8,FN=8,STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=1,"
      "TRANSPOSE_A=1,M=512,N=512,K=512");
  ck_assert_int_eq(run.status, 0);
  const JsonValue *data = json_object_get(cli_json(property_arena, &run), "data");
  ck_assert_int_eq(number_at(data, "i"), 130);
  ck_assert_int_eq(number_at(data, "k"), 21);
  ck_assert_int_eq(number_at(data, "cta"), 4);
  const JsonValue *a = json_at(json_object_get(data, "elements"), 1);
  const JsonValue *store = json_at(json_object_get(a, "moves"), 1);
  const JsonValue *to = json_object_get(store, "to");
  ck_assert_int_eq(number_at(store, "warp"), 1);
  ck_assert_int_eq(number_at(store, "lane"), 5);
  ck_assert_int_eq(number_at(to, "address_bytes"), 10760);
  ck_assert_int_eq(number_at(to, "bank"), 2);
}
END_TEST

Suite *suite_trace(void);
Suite *suite_trace(void) {
  Suite *suite = suite_create("trace");
  TCase *tcase = tcase_create("trace");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, a_double_buffered_slab);
  tcase_add_test(tcase, an_access_wider_than_a_row);
  tcase_add_test(tcase, an_atom_by_ldmatrix);
  tcase_add_test(tcase, a_box_by_a_producer);
  tcase_add_loop_test(tcase, ways_through_boxes, 0, N_BOXES);
  tcase_add_loop_test(tcase, a_warpgroup_shares_its_tile_out, 0, N_WARPGROUPS);
  tcase_add_test(tcase, ways_end_where_the_fragment_map_says);
  tcase_add_test(tcase, a_wiped_slab_element_is_missed_where_it_is_read);
  tcase_add_test(tcase, a_pair_keeps_half_of_b_each);
  tcase_add_test(tcase, show_tiles_json_has_the_moves);
  suite_add_tcase(suite, tcase);
  return suite;
}
