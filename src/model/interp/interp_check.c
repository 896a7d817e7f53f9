// Whether a program computes what its naive nest computes.
//
// Inputs are small whole numbers, so every sum is exact in the type of the accumulators whatever
// its order, and "equal" means equal: the first term that is missing, doubled or taken from a
// neighbour shows. A sum that C's type cannot hold is rounded once, here as in the store. Worked
// example, 8 × 8 blocks of C in 2 × 2 tiles where the last slab of the second column of tiles was
// left out:
//
//   wrong_in_tile = { 0, 64,      n_wrong = 128, first at (0, 8)
//                     0, 64 }     the picture says "a column of tiles", before any line is read
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/whole.h"
#include "model/interp/interp.h"
#include "model/interp/interp_machine.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"

// Whole numbers from -most to most without 0; `most` is a power of two up to 8.
static const float *whole_numbers(Arena *arena, int64_t n, uint64_t seed, int which, int most) {
  uint64_t state = seed * 2 + (uint64_t)which;
  float *data = ARENA_ARRAY(arena, float, n);
  for (int64_t i = 0; i < n; i++) {
    int value = (int)(random_next(&state) >> 60) & (2 * most - 1);  // 0 … 15 for 8
    data[i] = (float)(value < most ? value - most : value - most + 1);
  }
  return data;
}

const float *interpret_inputs(Arena *arena, int64_t n, uint64_t seed, int which) {
  return whole_numbers(arena, n, seed, which, 8);
}

// A sum of K products of numbers from ±1 … ±most is a random walk; it stays within eight of its
// standard deviations, of which it is doubled by an alpha of 2, in billions of cells. Worked
// example, f16 (2048) and K = 128: most = 4 has mean square 7.5, so 2 · 8 · 7.5 · √128 = 1358.
static bool stays_exact(int most, int64_t k, double limit) {
  double mean_square = (most + 1) * (2 * most + 1) / 6.0;
  return 2 * 8 * mean_square * sqrt((double)k) <= limit;
}

// Attention: Q with one or two numbers of ±1 in each row, the first of them in another column for
// each row, and K of ±1 and zeros. Scores are whole numbers from -2 to 2, so with an alpha of 2
// weights are powers of two from 1 down to 2^-8, exact in 16 bits, and so are sums of 4096 of them
// with a V of whole numbers up to 4. In each column of K there is a key before which it lowers the
// scores of the rows that have their first number there: whichever block of keys one looks at, some
// rows find their largest score in it, and lose it again where the running maximum does not see it.
typedef struct ScoreColumn {
  int64_t rises_from;  // a key
  float sign;          // of the first numbers of Q in it
} ScoreColumn;

// 37 has no factor in common with a head's dimensions: neighbouring columns rise far apart, and all
// together evenly.
static ScoreColumn score_column(const Problem *problem, uint64_t seed, int64_t e) {
  const int64_t at = (37 * e + (int64_t)(seed % 61)) % problem->k;
  return (ScoreColumn){at * problem->n / problem->k, at % 2 ? 1.0f : -1.0f};
}

static const float *queries(Arena *arena, const Problem *problem, uint64_t seed, int which) {
  const int64_t n = problem_input_elements(problem, which), depth = problem->k;
  uint64_t state = seed * 2 + (uint64_t)which;
  float *data = ARENA_ARRAY(arena, float, n);
  for (int64_t row = 0; row < n / depth; row++) {
    const int64_t second = random_between(&state, 0, depth - 1), first = row % depth;
    data[row * depth + second] = random_next(&state) >> 63 ? 1.0f : -1.0f;
    data[row * depth + first] = score_column(problem, seed, first).sign;
  }
  return data;
}

static const float *keys(Arena *arena, const Problem *problem, uint64_t seed, int which) {
  const int64_t n = problem_input_elements(problem, which), depth = problem->k;
  uint64_t state = seed * 2 + (uint64_t)which;
  float *data = ARENA_ARRAY(arena, float, n);
  for (int64_t i = 0; i < n; i++) {
    const ScoreColumn column = score_column(problem, seed, i % depth);
    const bool rises = i / depth % problem->n >= column.rises_from;
    data[i] = random_next(&state) >> 63 ? -column.sign : rises ? column.sign : 0.0f;
  }
  return data;
}

// Bytes of two elements, neither of them 0.
static const float *codes(Arena *arena, int64_t n, uint64_t seed, int which) {
  uint64_t state = seed * 2 + (uint64_t)which;
  float *data = ARENA_ARRAY(arena, float, n);
  for (int64_t i = 0; i < n; i++) {
    const uint64_t bits = random_next(&state) >> 32;
    int code = 0;
    for (int half = 0; half < 2; half++)
      code |= (int)((bits >> (4 * half) & 8) | (1 + (bits >> (8 + 4 * half)) % 7)) << (4 * half);
    data[i] = (float)code;
  }
  return data;
}

// Factors of four different sizes, so that one that is a neighbour's shows: 1/2 to 4, of ue4m3 1/2
// to 2 with 3/2 among them. Sums of 4096 products are multiples of 1/16 below 2^20: exact in f32.
static const float *factors(Arena *arena, const Problem *problem, uint64_t seed, int which) {
  static const float powers[] = {0.5f, 1, 2, 4}, halves[] = {0.5f, 1, 1.5f, 2};
  const bool whole = dtype_scale(problem->dtype).type == DTYPE_UE8M0;
  const int64_t n = problem_input_elements(problem, which);
  uint64_t state = seed * 4 + (uint64_t)which;
  float *data = ARENA_ARRAY(arena, float, n);
  for (int64_t i = 0; i < n; i++) data[i] = (whole ? powers : halves)[random_next(&state) >> 62];
  return data;
}

// For a split product: ±1 in every element, and in 32 places along K, in A or in B by turns, a
// number with one part for each part of the split. So every part of an element is multiplied by 1,
// and each sum stays below 2^24. Worked example, three parts of bf16, 8 bits each: 2^18 + 2^9 + 1.
static const float *parted(Arena *arena, const Problem *problem, uint64_t seed, int which) {
  enum { PLACES = 32 };
  const Split32 *split = split_facts(problem->split);
  const int gap = split->bits + 1;
  const int64_t n = problem_input_elements(problem, which), depth = problem->k;
  const int64_t rows = n / depth, apart = max64(depth / PLACES, 1);
  const bool along_k = which == 0 ? !problem->a_col : problem->b_col;
  float whole = 0;
  for (int part = 0; part < split->parts; part++) whole += ldexpf(1, gap * part);
  uint64_t state = seed * 2 + (uint64_t)which;
  float *data = ARENA_ARRAY(arena, float, n);
  for (int64_t i = 0; i < n; i++) {
    const int64_t k = along_k ? i % depth : i / rows, place = k / apart;
    const bool here = k % apart == (place * 7 + (int64_t)(seed % 5)) % apart && place % 2 == which;
    data[i] = (here ? whole : 1) * (random_next(&state) >> 63 ? -1.0f : 1.0f);
  }
  return data;
}

const float *interp_inputs_of(Arena *arena, const Problem *problem, uint64_t seed, int which) {
  int64_t n = problem_input_elements(problem, which);
  if (problem->kind == PROBLEM_ATTENTION)
    return which == 2   ? whole_numbers(arena, n, seed, which, 4)
           : which == 1 ? keys(arena, problem, seed, which)
                        : queries(arena, problem, seed, which);
  if (which >= 2) return factors(arena, problem, seed, which);
  if (problem->split) return parted(arena, problem, seed, which);
  if (dtype_elements(problem->dtype) > 1) return codes(arena, n, seed, which);
  double limit = fmin(number_exact_limit(problem->acc), number_exact_limit(problem->out));
  int most = 8;
  while (most > 1 && limit < 0x1p24 && !stays_exact(most, problem->k, limit)) most /= 2;
  return whole_numbers(arena, n, seed, which, most);
}

// One operand as its type has it, in row order.
static double *rounded(Arena *arena, DType type, const float *from, int64_t rows, int64_t columns,
                       bool column_major) {
  double *to = ARENA_ARRAY(arena, double, rows *columns);
  int64_t down = column_major ? 1 : columns, right = column_major ? rows : 1;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      to[i * columns + j] = number_round(type, (double)from[i * down + j * right]);
  return to;
}

// The operand element by element with its factors, in row order: rows and columns in units.
// `along_k` of the units run down the rows of B or along the rows of A.
static const double *scaled(Arena *arena, const Problem *problem, const double *units,
                            const float *scale, bool is_a) {
  const DTypeScale of = dtype_scale(problem->dtype);
  const int each = dtype_elements(problem->dtype);
  const int64_t n = is_a ? problem->m : problem->n, depth = problem->k;
  double *to = ARENA_ARRAY(arena, double, n *depth);
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < depth; k++) {
      const double unit = units[is_a ? i * problem_depth(problem) + k / each : k / each * n + i];
      const double factor = (double)scale[problem_factor_place(problem, i, k / of.elements)];
      to[is_a ? i * depth + k : k * n + i] =
          number_element(problem->dtype, unit, (int)(k % each)) * number_round(of.type, factor);
    }
  return to;
}

const double *interpret_reference(Arena *arena, const Problem *problem, const float *a,
                                  const float *b, const float *const scale[2]) {
  const int64_t n = problem->n, depth = problem_depth(problem);
  double *c = ARENA_ARRAY(arena, double, problem->m *n);
  const double *x = rounded(arena, problem->dtype, a, problem->m, depth, problem->a_col);
  const double *y = rounded(arena, problem->dtype, b, depth, n, problem->b_col);
  if (dtype_is_scaled(problem->dtype)) {
    x = scaled(arena, problem, x, scale[0], true);
    y = scaled(arena, problem, y, scale[1], false);
  }
  for (int64_t i = 0; i < problem->m; i++)
    for (int64_t k = 0; k < problem->k; k++) {
      double factor = x[i * problem->k + k];
      for (int64_t j = 0; j < n; j++) c[i * n + j] += factor * y[k * n + j];
    }
  return c;
}

// The weights of a query's keys, and their sum.
static double weigh(const Problem *problem, const double *q, const double *k, int64_t n_keys,
                    double alpha, double *weight) {
  double largest = (double)-INFINITY, sum = 0;
  for (int64_t t = 0; t < n_keys; t++) {
    weight[t] = 0;
    for (int64_t e = 0; e < problem->k; e++) weight[t] += q[e] * k[t * problem->k + e];
    largest = fmax(largest, weight[t]);
  }
  for (int64_t t = 0; t < n_keys; t++) sum += weight[t] = exp2(alpha * (weight[t] - largest));
  return sum;
}

const double *interpret_attention(Arena *arena, const Problem *problem, const float *q,
                                  const float *k, const float *v, double alpha) {
  const int64_t n = problem->n, depth = problem->k, heads = problem->heads;
  const DType type = problem->dtype;
  double *o = ARENA_ARRAY(arena, double, heads * problem->m * depth);
  double *weight = ARENA_ARRAY(arena, double, n);
  const double *queries = rounded(arena, type, q, heads * problem->m, depth, false);
  const double *keys = rounded(arena, type, k, heads * n, depth, false);
  const double *values = rounded(arena, type, v, heads * n, depth, false);
  for (int64_t row = 0; row < heads * problem->m; row++) {
    const int64_t head = row / problem->m, last = row % problem->m + n - problem->m;
    const int64_t n_keys = problem->causal ? last + 1 : n;
    double *out = &o[row * depth];
    double sum =
        weigh(problem, &queries[row * depth], &keys[head * n * depth], n_keys, alpha, weight);
    for (int64_t t = 0; t < n_keys; t++)
      for (int64_t d = 0; d < depth; d++) out[d] += weight[t] * values[(head * n + t) * depth + d];
    for (int64_t d = 0; d < depth; d++) out[d] = number_round(problem->acc, out[d] / sum);
  }
  return o;
}

typedef struct Comparison {
  Arena *arena;
  InterpCheck *check;
  const Problem *problem;
  const InterpOptions *options;
  const double *product;  // A·B, or O; NULL until a run has come to its end
  double factor;          // C = factor·A·B
  uint8_t *wrong;         // M×N: already counted
  int *in_tile;
} Comparison;

static double expected(const Comparison *to, int64_t at) {
  return number_round(to->problem->out, to->factor * to->product[at]);
}

static void count_wrong(Comparison *to, int64_t at, double got) {
  InterpCheck *check = to->check;
  const int64_t columns = problem_columns(to->problem), row = at / columns, column = at % columns;
  bool first = check->n_wrong == 0 || at < check->wrong_row * columns + check->wrong_column;
  check->n_wrong++;
  to->wrong[at] = 1;
  to->in_tile[row / check->tile_m * check->tiles_n + column / check->tile_n]++;
  if (!first) return;
  check->wrong_row = row;
  check->wrong_column = column;
  check->wrong_got = got;
  check->wrong_expected = expected(to, at);
}

static const double *reference(const Comparison *to) {
  const InterpOptions *given = to->options;
  if (to->problem->kind == PROBLEM_ATTENTION)
    return interpret_attention(to->arena, to->problem, given->a, given->b, given->v,
                               (double)interp_alpha(given));
  return interpret_reference(to->arena, to->problem, given->a, given->b, given->scale);
}

static void compare(const double *c, void *context) {
  Comparison *to = context;
  const int64_t n = to->check->n_cells;
  if (!to->product) to->product = reference(to);
  for (int64_t i = 0; i < n; i++) {
    bool equal = fabs(c[i] - expected(to, i)) <= 0.0;  // false for a NaN
    if (!equal && !to->wrong[i]) count_wrong(to, i, c[i]);
  }
}

// The number of rows or columns of C that a block of the main kernel makes: the weight of its block
// digit. Where there are clusters, it is the digit that counts blocks in a cluster.
static int64_t block_tile(const Axis *axis) {
  int64_t tile = 0;
  for (int i = 0; i < axis->n_digits; i++) {
    const Digit *digit = &axis->digit[i];
    bool block = digit->var->tier == TIER_BLOCK || digit->var->tier == TIER_CLUSTER;
    if (block && (tile == 0 || digit->weight < tile)) tile = digit->weight;
  }
  if (tile == 0) tile = 32;
  return tile < axis->extent ? tile : axis->extent;
}

static double factor_of(const Program *program, const InterpOptions *options) {
  bool scales = false;
  for (int i = 0; i < program->n_kernels; i++)
    scales |= stmt_find_action(program->kernel[i].body, ACTION_SCALE, ROLE_COUNT) != NULL;
  if (program->problem.kind == PROBLEM_ATTENTION) return 1.0;
  if (fpclassify(options->factor) != FP_ZERO) return (double)options->factor;
  return scales ? (double)interp_alpha(options) : 1.0;
}

static int64_t all_cells(const Problem *problem) {
  return problem_rows(problem) * problem_columns(problem);
}

static Comparison start_check(Arena *arena, const Program *program, InterpCheck *check,
                              InterpOptions *options) {
  const Problem *problem = &program->problem;
  if (!options->a) options->a = interp_inputs_of(arena, problem, options->seed, 0);
  if (!options->b) options->b = interp_inputs_of(arena, problem, options->seed, 1);
  if (!options->v && problem->kind == PROBLEM_ATTENTION)
    options->v = interp_inputs_of(arena, problem, options->seed, 2);
  for (int i = 0; i < 2 && dtype_is_scaled(problem->dtype); i++)
    if (!options->scale[i])
      options->scale[i] = interp_inputs_of(arena, problem, options->seed, 2 + i);
  const Product *last = &program->product[program->n_products - 1];
  const int64_t rows = problem_rows(problem), columns = problem_columns(problem);
  *check = (InterpCheck){.n_cells = all_cells(problem), .wrong_row = -1, .wrong_column = -1};
  check->tile_m = block_tile(last->axis[AXIS_M]);
  check->tile_n = block_tile(last->axis[AXIS_N]);
  check->tiles_m = ceil_div(rows, check->tile_m);
  check->tiles_n = ceil_div(columns, check->tile_n);
  int *in_tile = ARENA_ARRAY(arena, int, check->tiles_m * check->tiles_n);
  check->wrong_in_tile = in_tile;
  return (Comparison){.arena = arena,
                      .check = check,
                      .problem = problem,
                      .options = options,
                      .factor = factor_of(program, options),
                      .wrong = ARENA_ARRAY(arena, uint8_t, check->n_cells),
                      .in_tile = in_tile};
}

static void finish_check(InterpCheck *check, const InterpResult *result) {
  check->result = result;
  check->n_findings = result->n_findings;
  check->n_found = result->n_found;
  check->finding = result->finding;
  check->ok = result->finished && result->n_found == 0 && check->n_wrong == 0;
}

// The naive nest is C = A·B whatever the program makes of it; its wrong cells count.
static bool naive_agrees(Arena *arena, const Program *naive, const InterpOptions *options,
                         Comparison comparison) {
  const InterpResult *result = interpret(arena, naive, options);
  comparison.factor = 1;
  if (result->finished) compare(result->c, &comparison);
  return result->finished && result->n_found == 0;
}

static int rank(const Finding *finding) {
  return finding->kind == FINDING_MISSING_WAIT ? -1 : (int)finding->kind;
}

const Finding *interp_gravest(const InterpCheck *check) {
  const Finding *worst = NULL;
  for (int i = 0; i < check->n_findings; i++)
    if (!worst || rank(&check->finding[i]) < rank(worst)) worst = &check->finding[i];
  return worst;
}

InterpCheck interpret_check(Arena *arena, const Program *program, const InterpOptions *options) {
  return interpret_check_naive(arena, NULL, program, options);
}

InterpCheck interpret_check_naive(Arena *arena, const Program *naive, const Program *program,
                                  const InterpOptions *options) {
  InterpCheck check = {
      .n_cells = all_cells(&program->problem), .wrong_row = -1, .wrong_column = -1};
  InterpOptions own = *options;
  if (interpret_bytes(program) > INTERP_BYTES_MAX) {
    finish_check(&check, interp_run_all(arena, program, &own, NULL, NULL));
    return check;
  }
  Comparison comparison = start_check(arena, program, &check, &own);
  bool naive_ok = !naive || naive_agrees(arena, naive, &own, comparison);
  finish_check(&check, interp_run_all(arena, program, &own, compare, &comparison));
  check.ok = check.ok && naive_ok;
  return check;
}
