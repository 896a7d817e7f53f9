#include "model/schedules/sum_error.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "model/words/formats.h"
#include "model/words/schedule_atom.h"
#include "model/words/split.h"

enum {
  SINGLE_BITS = 23,
  KEPT_BITS = SINGLE_BITS + TENSOR_CORE_KEEPS_BELOW,
  PARTS_MAX = 3,
  STEP_MAX = 64,
  SEED = 29
};

// How a cell is summed: by instructions of `step` products each, `products` times through K.
typedef struct Summing {
  DType type;  // of the operands, or of their parts
  SplitKind split;
  int products, parts;
  int64_t k, step, slab;  // slab: elements of K behind which a promotion may stand
  int64_t every;          // slabs of a run; 0: no promotion
  bool rounds;            // fma: to nearest
} Summing;

// A normal number by Box and Muller.
static float normal(uint64_t *state) {
  const uint64_t bits = random_next(state);
  const float u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f;
  const float v = (float)(bits & 0xffffff) * 0x1p-24f;
  return sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
}

static void draw(float *x, int64_t n, SumData data, uint64_t *state) {
  for (int64_t i = 0; i < n; i++) {
    x[i] = normal(state);
    if (data == SUMS_OF_POSITIVE) x[i] = fabsf(x[i]);
  }
}

// The part that is left above `bits` bits below 2^exponent.
static double cut_off(double x, int exponent, int bits) {
  const double scale = ldexp(1, bits - exponent);
  return trunc(x * scale) / scale;
}

// One instruction of the tensor core.
static double add_products(double sum, const double *product, int64_t n) {
  double largest = fabs(sum), total;
  for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(product[i]));
  if (!(largest > 0)) return 0;
  const int exponent = ilogb(largest);
  total = cut_off(sum, exponent, KEPT_BITS);
  for (int64_t i = 0; i < n; i++) total += cut_off(product[i], exponent, KEPT_BITS);
  return fabs(total) > 0 ? cut_off(total, ilogb(total), SINGLE_BITS) : 0;
}

// The operand as the instruction takes it, or its parts one behind the other.
static void take(const Summing *how, const float *x, float *parts) {
  for (int64_t i = 0; i < how->k; i++) {
    float rest = x[i];
    for (int p = 0; p < how->parts; p++) {
      const double part = how->split ? number_convert(how->type, (double)rest)
                                     : number_tensor(how->type, number_round(how->type, rest));
      parts[p * how->k + i] = (float)part;
      rest -= (float)part;
    }
  }
}

// The sums that a thread has: the sums of the instructions, and the sums that they are promoted to.
typedef struct Sums {
  double run;
  float promoted;
} Sums;

static void promote(Sums *sums) {
  sums->promoted += (float)sums->run;
  sums->run = 0;
}

static void add_step(const Summing *how, Sums *sums, const float *a, const float *b, int64_t n) {
  double product[STEP_MAX];
  for (int64_t i = 0; i < n; i++) product[i] = (double)a[i] * (double)b[i];
  if (!how->rounds)
    sums->run = add_products(sums->run, product, n);
  else
    for (int64_t i = 0; i < n; i++) sums->run = (double)fmaf(a[i], b[i], (float)sums->run);
}

// One product of parts, all along K. Runs end behind the last of the small products, and in the
// largest one.
static void add_along_k(const Summing *how, Sums *sums, const float *a, const float *b, bool last,
                        bool before_last) {
  const int64_t run = how->every * how->slab;
  for (int64_t k = 0; k < how->k; k += how->step) {
    const int64_t end = k + how->step < how->k ? k + how->step : how->k;
    add_step(how, sums, &a[k], &b[k], end - k);
    if (run && last && end % run == 0) promote(sums);
  }
  if (run && before_last) promote(sums);
}

static double sum_cell(const Summing *how, const float *a, const float *b) {
  Sums sums = {0};
  for (int p = 0; p < how->products; p++) {
    const int64_t at_a = how->split ? split_part_table(how->split, 0)[p] : 0;
    const int64_t at_b = how->split ? split_part_table(how->split, 1)[p] : 0;
    add_along_k(how, &sums, &a[at_a * how->k], &b[at_b * how->k], p == how->products - 1,
                p == how->products - 2);
  }
  return (double)sums.promoted + sums.run;
}

static void simulate(Arena *scratch, SumTally *tally, const Summing *how, SumData data, int cells) {
  const size_t bytes = (size_t)how->k * sizeof(float);
  float *x = arena_alloc(scratch, bytes), *y = arena_alloc(scratch, bytes);
  float *a = arena_alloc(scratch, PARTS_MAX * bytes), *b = arena_alloc(scratch, PARTS_MAX * bytes);
  if (!tally->cells) tally->drawn = SEED;
  for (int c = 0; c < cells; c++) {
    double exact = 0, size = 0;
    draw(x, how->k, data, &tally->drawn);
    draw(y, how->k, data, &tally->drawn);
    take(how, x, a);
    take(how, y, b);
    for (int64_t k = 0; k < how->k; k++) {
      exact += (double)x[k] * (double)y[k];
      size += fabs((double)x[k] * (double)y[k]);
    }
    const double off = fabs(sum_cell(how, a, b) - exact) / size;
    tally->squares += off * off;
    tally->largest = fmax(tally->largest, off);
  }
  tally->cells += cells;
}

SumError sum_tally_error(const SumTally *tally) {
  if (!tally->cells) return (SumError){0};
  return (SumError){.known = true,
                    .rms = sqrt(tally->squares / tally->cells),
                    .largest = tally->largest,
                    .cells = tally->cells};
}

static Summing by_fma(const Schedule *schedule) {
  return (Summing){.type = DTYPE_F32,
                   .products = 1,
                   .parts = 1,
                   .k = schedule->value[KNOB_K],
                   .step = 1,
                   .rounds = true};
}

static Summing summing_of(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  const Atom *atom = schedule_atom_row(schedule);
  Summing how = by_fma(schedule);
  if (!atom) return how;
  how.type = schedule_operand_type(schedule);
  how.split = (SplitKind)v[KNOB_SPLIT_F32];
  how.products = schedule_products(schedule);
  how.parts = how.split ? split_facts(how.split)->parts : 1;
  how.step = atom->k;
  how.slab = atom->k * v[KNOB_BK];
  how.every = v[KNOB_PROMOTE];
  how.rounds = false;
  return how;
}

bool sum_error_is_known(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  const DType type = schedule_operand_type(schedule);
  const bool singles =
      type == DTYPE_F32 || type == DTYPE_TF32 || type == DTYPE_F16 || type == DTYPE_BF16;
  return v[KNOB_PROGRAM] != COMPUTES_ATTENTION && !v[KNOB_ACC] && singles;
}

void sum_tally_add(Arena *scratch, SumTally *tally, const Schedule *schedule, SumData data,
                   int cells) {
  if (!sum_error_is_known(schedule)) return;
  const Summing how = summing_of(schedule);
  simulate(scratch, tally, &how, data, cells);
}

SumError sum_error(Arena *scratch, const Schedule *schedule, SumData data, int cells) {
  SumTally tally = {0};
  sum_tally_add(scratch, &tally, schedule, data, cells);
  return sum_tally_error(&tally);
}

Schedule sum_by_fma(const Schedule *schedule) {
  Schedule plain = schedule_plain();
  plain.value[KNOB_M] = schedule->value[KNOB_M];
  plain.value[KNOB_N] = schedule->value[KNOB_N];
  plain.value[KNOB_K] = schedule->value[KNOB_K];
  memcpy(plain.target, schedule->target, sizeof plain.target);
  return plain;
}

SumError sum_error_of_fma(Arena *scratch, const Schedule *schedule, SumData data, int cells) {
  const Schedule plain = sum_by_fma(schedule);
  return sum_error(scratch, &plain, data, cells);
}

SumErrors sum_errors(Arena *scratch, const Schedule *schedule) {
  SumErrors both;
  for (int data = SUMS_OF_NORMAL; data <= SUMS_OF_POSITIVE; data++) {
    both.sums[data] = sum_error(scratch, schedule, (SumData)data, SUM_CELLS_TOLD);
    both.fma[data] = sum_error_of_fma(scratch, schedule, (SumData)data, SUM_CELLS_TOLD);
  }
  return both;
}

#define FORM_FILE "model/schedules/sum_error.form"
#include "base/form_make.h"
