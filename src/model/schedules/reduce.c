// Cutting a problem down without changing the program's shape.
//
// Every extent is tiles·n + remainder; n shrinks, the remainder stays. Worked example, the default
// 4096³ with BM=BN=16, FM=FN=8, BK=16, BUFFER_COUNT=2:
//   tile 128 × 128, slab 16, no remainders   →   M = N = 256, K = 3 · 16 = 48, by TMA 5 · 16 = 80
// and M = 4100 (32 tiles and 4 rows) → 260, whose last tile is as cut as the original's.
// GROUP_M = 8 asks for 9 tiles down M (one whole group and a started one) where the limit allows,
// and GROUP_N = 8 for 9 along N.
#include "model/schedules/reduce.h"
#include "model/words/schedule_atom.h"

#include "base/whole.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/model.h"
#include "model/words/fragment.h"

enum { MIN_EXTENT = 64, WORD_FACTORS = 4 };

static bool is_attention(const Schedule *schedule) {
  return schedule->value[KNOB_PROGRAM] == COMPUTES_ATTENTION;
}

int64_t schedule_tile(const Schedule *schedule, KnobId axis) {
  const int64_t *v = schedule->value;
  Atom own;
  const Atom *atom = schedule_atom_is(schedule, &own) ? &own : NULL;
  if (axis == KNOB_K && is_attention(schedule)) return v[KNOB_K];  // a slab has all of it
  if (axis == KNOB_K) return v[KNOB_BK] * v[KNOB_SPLITK] * (atom ? atom->k * atom->unit : 1);
  if (axis == KNOB_M) return v[KNOB_FM] * (atom ? v[KNOB_WM] * atom->m : v[KNOB_BM]);
  return v[KNOB_FN] * (atom ? v[KNOB_WN] * atom->n : v[KNOB_BN]);
}

KnobId schedule_walked(const Schedule *schedule) {
  return is_attention(schedule) ? KNOB_N : KNOB_K;
}

void schedule_resize(Schedule *schedule, int64_t m, int64_t n, int64_t walked) {
  schedule_set(schedule, KNOB_M, m);
  schedule_set(schedule, KNOB_N, n);
  if (schedule->value[KNOB_CAUSAL]) walked = max64(walked, m);
  schedule_set(schedule, schedule_walked(schedule), walked);
}

void schedule_resize_mnk(Schedule *schedule, const int extent[3]) {
  schedule_resize(schedule, extent[0], extent[1], extent[schedule_walked(schedule) - KNOB_M]);
}

// Elements of C in 16 bytes.
static int64_t out_chunk(const Schedule *schedule, const Atom *atom) {
  if (atom->bits == 16) return 8;
  return schedule->value[KNOB_ACC] ? 8 : 128 / atom->acc_bits;
}

int64_t schedule_grain(const Schedule *schedule, KnobId axis) {
  const int64_t *v = schedule->value;
  const Atom *atom = schedule_atom_row(schedule);
  if (!atom && !v[KNOB_TMA]) return 1;
  // Each product of parts goes through whole slabs, and the last one ends a run.
  if (axis == KNOB_K && (v[KNOB_SPLIT_F32] || v[KNOB_PROMOTE]))
    return schedule_tile(schedule, KNOB_K) * max64(v[KNOB_PROMOTE], 1);
  if (is_attention(schedule) && axis != KNOB_K) return 1;  // all rows run along the head dimension
  KnobId a_runs = v[KNOB_A_COL] ? KNOB_M : KNOB_K, b_runs = v[KNOB_B_COL] ? KNOB_K : KNOB_N;
  bool is_copied = v[KNOB_STAGE] && (axis == a_runs || axis == b_runs);
  int64_t in = is_copied ? 128 / (atom ? atom->bits : 32) : 1;
  const int scales = axis == KNOB_K && atom ? atom_scales(atom) : 0;
  if (scales) return max64(in, v[KNOB_SCALE_WORDS] ? WORD_FACTORS / scales * atom->k : atom->k);
  int64_t out = atom && v[KNOB_EPILOGUE] && axis == KNOB_N ? out_chunk(schedule, atom) : 1;
  return in > out ? in : out;  // both are powers of two
}

static int64_t tile_m(const Schedule *s) { return schedule_tile(s, KNOB_M); }
static int64_t tile_n(const Schedule *s) { return schedule_tile(s, KNOB_N); }
static int64_t tile_k(const Schedule *s) { return schedule_tile(s, KNOB_K); }

enum { ATOM_IS_EASIER = 8 };

static double tiles_along(const Schedule *schedule, KnobId axis) {
  return (double)ceil_div(schedule->value[axis], schedule_tile(schedule, axis));
}

static double n_tiles(const Schedule *s) { return tiles_along(s, KNOB_M) * tiles_along(s, KNOB_N); }
static double tile_cells(const Schedule *s) { return (double)tile_m(s) * (double)tile_n(s); }

double schedule_fma(const Schedule *schedule) {
  double depth = tiles_along(schedule, KNOB_K) * (double)tile_k(schedule);
  double products = is_attention(schedule) ? 2.0 * (double)schedule->value[KNOB_HEADS] : 1;
  products *= schedule_products(schedule);
  double fma = products * n_tiles(schedule) * tile_cells(schedule) * depth;
  return schedule_atom_row(schedule) ? fma / ATOM_IS_EASIER : fma;
}

// Lanes that multiply in each warp: all, but where a block has fewer threads.
static double busy_lanes(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  int64_t threads = schedule_atom_row(schedule) ? LANES : v[KNOB_BM] * v[KNOB_BN];
  return (double)(threads < LANES ? threads : LANES);
}

double schedule_work(const Schedule *schedule) {
  enum { STEP = 6, CELL = 10, BLOCK = 900 };
  double blocks = n_tiles(schedule) * (double)schedule->value[KNOB_SPLITK];
  return schedule_fma(schedule) * (1 + STEP / busy_lanes(schedule)) +
         CELL * n_tiles(schedule) * tile_cells(schedule) + BLOCK * blocks;
}

// A warp's multiplication counts for each of its lanes.
static double op_work(const Op *op) {
  const Atom *atom = op->atom;
  if (!atom) return 1;
  return fmax(1, (double)(atom->m * atom->n * atom->k) / (LANES * ATOM_IS_EASIER));
}

// Each role has its part of the threads.
static double body_work(const Stmt *stmt, int n_roles) {
  double work = 0;
  for (; stmt; stmt = stmt->next) {
    if (stmt->kind == STMT_OP) work += op_work(&stmt->op);
    if (stmt->kind == STMT_LET) work += 1;
    if (stmt->kind == STMT_LOOP) work += (double)stmt->var->extent * body_work(stmt->body, n_roles);
    if (stmt->kind == STMT_IF)
      work += 1 + body_work(stmt->body, n_roles) / (stmt->role && n_roles ? n_roles : 1);
  }
  return work;
}

double program_work(const Program *program) {
  double work = 0;
  for (int i = 0; i < program->n_kernels; i++)
    work += body_work(program->kernel[i].body, program->kernel[i].n_roles);
  return work;
}

static int64_t cut(int64_t extent, int64_t tile, int64_t tiles) {
  int64_t small = tile * tiles + extent % tile;
  return small < extent ? small : extent;
}

// Tiles of a few cells give no picture: at least 64 rows and columns.
static int64_t at_least(int64_t tiles, int64_t tile) {
  int64_t enough = ceil_div(MIN_EXTENT, tile);
  return tiles > enough ? tiles : enough;
}

// Slabs of K so that a tile has `slabs` of them for all of its products of parts, and whole runs of
// slabs where sums are promoted.
static int64_t whole_runs(const Schedule *schedule, int64_t slabs) {
  const int64_t run = max64(schedule->value[KNOB_PROMOTE], 1);
  return ceil_div(ceil_div(slabs, schedule_products(schedule)), run) * run;
}

static Schedule with_tiles(const Schedule *from, int64_t m, int64_t n, int64_t k) {
  Schedule to = *from;
  const int64_t heads = m > 1 ? 2 : 1;
  if (is_attention(from)) n = k;
  m = at_least(m, tile_m(from));
  n = at_least(n, tile_n(from));
  int64_t extent[] = {cut(from->value[KNOB_M], tile_m(from), m),
                      cut(from->value[KNOB_N], tile_n(from), n),
                      cut(from->value[KNOB_K], tile_k(from), whole_runs(from, k))};
  static const KnobId knob[] = {KNOB_M, KNOB_N, KNOB_K};
  if (from->value[KNOB_CAUSAL]) extent[1] = max64(extent[0], extent[1]);  // queries see a key
  for (int i = 0; i < 3; i++)
    if (extent[i] != from->value[knob[i]]) schedule_set(&to, knob[i], extent[i]);
  if (is_attention(from) && from->value[KNOB_HEADS] > heads) schedule_set(&to, KNOB_HEADS, heads);
  return to;
}

int64_t schedule_slabs(const Schedule *schedule) {
  const KnobId walked = schedule_walked(schedule);
  return schedule_products(schedule) *
         ceil_div(schedule->value[walked], schedule_tile(schedule, walked));
}

int64_t schedule_ring_slots(const Schedule *schedule) { return schedule->value[KNOB_BUFFER_COUNT]; }

int64_t schedule_slabs_to_see(const Schedule *schedule) {
  int64_t ring = schedule->value[KNOB_BUFFER_COUNT];
  return (schedule->value[KNOB_TMA] ? 2 * ring : ring) + 1;
}

// Two tiles show an edge; an axis with groups has the wanted number.
static int64_t tiles_for(int64_t group, int64_t wanted) { return group > 1 ? wanted : 2; }

Schedule schedule_reduce(Arena *scratch, const TargetTable *targets, const Schedule *schedule,
                         double work_max) {
  if (schedule_work(schedule) <= work_max) return *schedule;
  int64_t down = schedule->value[KNOB_GROUP_M], along = schedule->value[KNOB_GROUP_N];
  int64_t see = schedule_slabs_to_see(schedule);
  const struct {
    int64_t m, n, k;
    double limit;
  } tiles[] = {{tiles_for(down, down + 1), tiles_for(along, along + 1), see, work_max},
               {tiles_for(down, 3), tiles_for(along, 3), see, work_max},
               {2, 2, see, work_max},
               {2, 1, see, work_max},
               {1, 1, see, work_max * REDUCE_FOR_SLABS},
               {1, 1, 2, work_max},
               {1, 1, 1, work_max}};
  Schedule small = *schedule;
  for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
    Schedule next = with_tiles(schedule, tiles[i].m, tiles[i].n, tiles[i].k);
    if (!model_build(scratch, targets, &next)->ok) continue;
    small = next;
    if (schedule_work(&small) <= tiles[i].limit) break;
  }
  return small;
}

Schedule schedule_one_tile(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  Schedule one =
      with_tiles(schedule, v[KNOB_CLUSTER_M], v[KNOB_CLUSTER_N], schedule_slabs(schedule));
  if (v[KNOB_PROGRAM] == COMPUTES_ATTENTION && v[KNOB_HEADS] > 1) schedule_set(&one, KNOB_HEADS, 1);
  return one;
}

Schedule schedule_half_the_slabs(const Schedule *schedule) {
  Schedule half = *schedule;
  const KnobId walked = schedule_walked(schedule);
  const int64_t run = max64(schedule->value[KNOB_PROMOTE], 1);
  const int64_t period = 2 * schedule_ring_slots(schedule) * run;
  const int64_t slabs = schedule_slabs(schedule) / schedule_products(schedule);
  const int64_t left_out = slabs / 2 / period * period;
  const int64_t extent = schedule->value[walked] - left_out * schedule_tile(schedule, walked);
  if (left_out && (!schedule->value[KNOB_CAUSAL] || extent >= schedule->value[KNOB_M]))
    schedule_set(&half, walked, extent);
  return half;
}

int64_t schedule_turns_to_see(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  if (!v[KNOB_PERSISTENT] || is_attention(schedule)) return 1;
  return v[KNOB_ACC_BUFFERS] + 1;
}

static int64_t clusters_along(const Schedule *schedule, KnobId axis, KnobId cluster) {
  return ceil_div(schedule->value[axis], schedule_tile(schedule, axis) * schedule->value[cluster]);
}

int64_t schedule_turns(const Schedule *schedule) {
  return clusters_along(schedule, KNOB_M, KNOB_CLUSTER_M) *
         clusters_along(schedule, KNOB_N, KNOB_CLUSTER_N);
}

// A pair of 512 x 256 tiles is cut down to M=512, N=256 by the limit alone, and sums are never
// overwritten there; with N=512 they are.
Schedule schedule_reduce_to_turns(Arena *scratch, const TargetTable *targets,
                                  const Schedule *schedule, int64_t turns, double work_max) {
  const int64_t see = schedule_slabs_to_see(schedule);
  const int64_t down = schedule->value[KNOB_CLUSTER_M], along = schedule->value[KNOB_CLUSTER_N];
  const Schedule small = schedule_reduce(scratch, targets, schedule, work_max);
  if (schedule_turns(&small) >= turns) return small;
  const Schedule tries[] = {with_tiles(schedule, down, along * turns, see),
                            with_tiles(schedule, down * turns, along, see)};
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    if (schedule_turns(&tries[i]) < turns) continue;
    if (schedule_work(&tries[i]) > work_max * REDUCE_FOR_TURNS) continue;
    if (model_build(scratch, targets, &tries[i])->ok) return tries[i];
  }
  return small;
}

Schedule schedule_reduce_turns(Arena *scratch, const TargetTable *targets, const Schedule *schedule,
                               double work_max) {
  return schedule_reduce_to_turns(scratch, targets, schedule, schedule_turns_to_see(schedule),
                                  work_max);
}
