// Tells what a program computes: its operands in global memory, its axes and its products.
//
// Worked example, attention of 2 heads, 100 queries, 300 keys and a head dimension of 64: Q and O
// are [2 x 100 x 64], K and V [2 x 300 x 64], of which the first product reads K as the [64 x 300]
// of its transpose, column-major; axes q 0..100, t 0..300, e 0..64 of S = Q * K, u 0..300, d 0..64
// of O = P * V, h 0..2 of both.
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"

int64_t problem_rows(const Problem *problem) {
  return problem->kind == PROBLEM_ATTENTION ? problem->heads * problem->m : problem->m;
}

int64_t problem_columns(const Problem *problem) {
  return problem->kind == PROBLEM_ATTENTION ? problem->k : problem->n;
}

const char *problem_kernel_name(const Problem *problem) {
  return problem->kind == PROBLEM_ATTENTION ? "attention" : "matmul";
}

int64_t problem_depth(const Problem *problem) {
  const int unit = dtype_elements(problem->dtype);
  return ceil_div(problem->k, unit);
}

DType problem_operand_type(const Problem *problem) {
  return problem->split ? split_facts(problem->split)->type : problem->dtype;
}

int64_t problem_axis_depth(const Problem *problem) {
  return problem_depth(problem) * (problem->split ? split_facts(problem->split)->products : 1);
}

static int64_t problem_parts_depth(const Problem *problem) {
  return problem_depth(problem) * (problem->split ? split_facts(problem->split)->parts : 1);
}

int64_t problem_scales(const Problem *problem) {
  const int elements = dtype_scale(problem->dtype).elements;
  return elements ? ceil_div(problem->k, elements) : 0;
}

// Bytes of the tiles of 128 rows, all along K.
static int64_t tile_row_bytes(const Problem *problem) {
  return ceil_div(problem_scales(problem), FACTORS_ALONG) * FACTOR_TILE_BYTES;
}

int64_t problem_factor_place(const Problem *problem, int64_t row, int64_t factor) {
  if (!problem->factor_tiles) return row * problem_scales(problem) + factor;
  const int64_t in_tile = row % FACTOR_LANES * FACTOR_LANE_BYTES +
                          row % FACTOR_ROWS / FACTOR_LANES * FACTORS_ALONG + factor % FACTORS_ALONG;
  return row / FACTOR_ROWS * tile_row_bytes(problem) + factor / FACTORS_ALONG * FACTOR_TILE_BYTES +
         in_tile;
}

int64_t problem_input_elements(const Problem *problem, int input) {
  if (problem->kind == PROBLEM_ATTENTION)
    return problem->heads * (input == 0 ? problem->m : problem->n) * problem->k;
  const int64_t depth = input < 2 ? problem_depth(problem) : problem_scales(problem);
  const int64_t rows = input % 2 == 0 ? problem->m : problem->n;
  if (input >= 2 && problem->factor_tiles)
    return ceil_div(rows, FACTOR_ROWS) * tile_row_bytes(problem);
  return depth * rows;
}

static void add_matrix(Program *program, const char *name, const ProductOperand *operand,
                       int64_t rows, int64_t columns) {
  int64_t dim[2] = {rows, columns};
  Buffer *buffer =
      program_new_buffer(program, name, SPACE_GLOBAL, operand->global, 2, dim, KNOB_NONE);
  if (!operand->column_major) return;
  buffer->stride[0] = 1;
  buffer->stride[1] = rows;
}

static void add_factors(Program *program, const char *name, const ProductOperand *operand,
                        int64_t rows) {
  const Problem *problem = &program->problem;
  const int64_t tiled[3] = {ceil_div(rows, FACTOR_ROWS), tile_row_bytes(problem) / FACTOR_COLUMNS,
                            FACTOR_COLUMNS};
  if (problem->factor_tiles)
    program_new_buffer(program, name, SPACE_GLOBAL, operand->global, 3, tiled, KNOB_NONE);
  else
    add_matrix(program, name, operand, rows, problem_scales(problem));
}

// The operands where the problem is split: the parts of A side by side along K, and the parts of B.
static void add_parts(Program *program, Product *product) {
  const Problem *problem = &program->problem;
  const int64_t depth = problem_parts_depth(problem);
  static const BufferRole parts[] = {[ATOM_A] = ROLE_PARTS_A, [ATOM_B] = ROLE_PARTS_B};
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    product->operand[operand].given = product->operand[operand].global;
    product->operand[operand].global = parts[operand];
  }
  add_matrix(program, "A_parts", &product->operand[ATOM_A], problem->m, depth);
  add_matrix(program, "B_parts", &product->operand[ATOM_B], depth, problem->n);
}

// C = A · B, the one product of a matmul.
static Product matmul_product(Program *program) {
  const Problem *problem = &program->problem;
  Product product = {.operand = {[ATOM_A] = {.global = ROLE_A,
                                             .slab = ROLE_SLAB_A,
                                             .stage = ROLE_STAGE_A,
                                             .registers = ROLE_FRAG_A,
                                             .column_major = problem->a_col},
                                 [ATOM_B] = {.global = ROLE_B,
                                             .slab = ROLE_SLAB_B,
                                             .stage = ROLE_STAGE_B,
                                             .registers = ROLE_FRAG_B,
                                             .column_major = problem->b_col},
                                 [ATOM_C] = {.global = ROLE_C,
                                             .slab = ROLE_SLAB_C,
                                             .stage = ROLE_STAGE_C,
                                             .registers = ROLE_ACC}}};
  for (int i = 0; i < AXIS_COUNT; i++) product.axis[i] = &program->axis[i];
  return product;
}

static Program *new_program(Arena *arena, Problem problem) {
  Program *program = ARENA_NEW(arena, Program);
  program->arena = arena;
  program->problem = problem;
  program->thread = program_var(program, "tid", VAR_THREAD, TIER_THREAD, 1);
  program->block = program_var(program, "bid", VAR_BLOCK, TIER_BLOCK, (int64_t)1 << 31);
  program->persistent.grid = program_var(program, "grid", VAR_GRID, TIER_BLOCK, (int64_t)1 << 31);
  program->persistent.list = program_var(program, "list", VAR_LIST, TIER_BLOCK, (int64_t)1 << 31);
  program->persistent.epoch =
      program_var(program, "epoch", VAR_EPOCH, TIER_BLOCK, (int64_t)1 << 31);
  return program;
}

static Axis *add_axis(Program *program, const char *name, int64_t extent) {
  Axis *axis = &program->axis[program->n_axes++];
  *axis = (Axis){.name = name, .extent = extent};
  return axis;
}

static Program *matmul(Arena *arena, Problem problem) {
  Program *program = new_program(arena, problem);
  add_axis(program, "m", problem.m);
  add_axis(program, "n", problem.n);
  add_axis(program, "k", problem_axis_depth(&problem));
  Product *product = &program->product[program->n_products++];
  *product = matmul_product(program);
  const int64_t depth = problem_depth(&problem), scales = problem_scales(&problem);
  add_matrix(program, "A", &product->operand[ATOM_A], problem.m, depth);
  add_matrix(program, "B", &product->operand[ATOM_B], depth, problem.n);
  add_matrix(program, "C", &product->operand[ATOM_C], problem.m, problem.n);
  if (problem.split) add_parts(program, product);
  if (!scales) return program;
  product->operand[ATOM_SFA] = (ProductOperand){
      .global = ROLE_SFA, .slab = ROLE_SLAB_SFA, .stage = ROLE_COUNT, .registers = ROLE_FRAG_SFA};
  product->operand[ATOM_SFB] = (ProductOperand){
      .global = ROLE_SFB, .slab = ROLE_SLAB_SFB, .stage = ROLE_COUNT, .registers = ROLE_FRAG_SFB};
  add_factors(program, "SFA", &product->operand[ATOM_SFA], problem.m);
  add_factors(program, "SFB", &product->operand[ATOM_SFB], problem.n);
  return program;
}

// S = Q · Kᵀ and O = P · V. P, S and O never lie in shared memory: ROLE_COUNT is no role.
static const Product scores_product = {
    .operand = {
        [ATOM_A] = {ROLE_A, ROLE_SLAB_A, ROLE_STAGE_A, ROLE_FRAG_A, false, NULL, 0, ROLE_COUNT},
        [ATOM_B] = {ROLE_B, ROLE_SLAB_B, ROLE_STAGE_B, ROLE_FRAG_B, true, NULL, 0, ROLE_COUNT},
        [ATOM_C] = {ROLE_SCORES, ROLE_COUNT, ROLE_COUNT, ROLE_SCORE, false, NULL, 0, ROLE_COUNT}}};
static const Product values_product = {
    .operand = {
        [ATOM_A] = {ROLE_WEIGHTS, ROLE_COUNT, ROLE_COUNT, ROLE_FRAG_P, false, NULL, 0, ROLE_COUNT},
        [ATOM_B] = {ROLE_V, ROLE_SLAB_V, ROLE_STAGE_V, ROLE_FRAG_V, false, NULL, 0, ROLE_COUNT},
        [ATOM_C] = {ROLE_C, ROLE_COUNT, ROLE_COUNT, ROLE_ACC, false, NULL, 0, ROLE_COUNT}}};

static void add_batch(Program *program, const char *name, const ProductOperand *operand,
                      int64_t rows, int64_t columns) {
  const int64_t dim[3] = {program->problem.heads, rows, columns};
  Buffer *buffer =
      program_new_buffer(program, name, SPACE_GLOBAL, operand->global, 3, dim, KNOB_NONE);
  if (!operand->column_major) return;
  buffer->stride[1] = 1;
  buffer->stride[2] = rows;
}

static Program *attention(Arena *arena, Problem problem) {
  Program *program = new_program(arena, problem);
  Axis *q = add_axis(program, "q", problem.m), *t = add_axis(program, "t", problem.n);
  Axis *e = add_axis(program, "e", problem.k), *u = add_axis(program, "u", problem.n);
  Axis *d = add_axis(program, "d", problem.k), *h = add_axis(program, "h", problem.heads);
  Product *scores = &program->product[program->n_products++];
  Product *values = &program->product[program->n_products++];
  *scores = scores_product;
  *values = values_product;
  scores->axis[AXIS_M] = values->axis[AXIS_M] = q;
  scores->axis[AXIS_N] = t, scores->axis[AXIS_K] = e;
  values->axis[AXIS_N] = d, values->axis[AXIS_K] = u;
  scores->batch = values->batch = h;
  add_batch(program, "Q", &scores->operand[ATOM_A], problem.m, problem.k);
  add_batch(program, "K", &scores->operand[ATOM_B], problem.k, problem.n);
  add_batch(program, "V", &values->operand[ATOM_B], problem.n, problem.k);
  add_batch(program, "O", &values->operand[ATOM_C], problem.m, problem.k);
  return program;
}

bool product_is_scaled(const Product *product) {
  return product->operand[ATOM_SFA].global == ROLE_SFA;
}

Program *program_new(Arena *arena, Problem problem) {
  return problem.kind == PROBLEM_ATTENTION ? attention(arena, problem) : matmul(arena, problem);
}
