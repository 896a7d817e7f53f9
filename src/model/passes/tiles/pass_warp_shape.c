// Threads in row order → warps of LANES_M × (32 / LANES_M) threads.
//
// Requires: tile. Ensures: m_t and n_t are each a WARP digit and lane digits; the thread index is
// rebuilt as warps first, then the 32 lanes of a warp. Preserves: which thread coordinates exist.
//
// Worked example, BM = BN = 16, LANES_M = 4: m_t = m_w·4 + m_l, n_t = n_w·8 + n_l with 4 × 2 warps.
// LANE_ORDER = 1 deals the five lane bits out alternately, bit 0 to N, bit 1 to M, bit 2 to N, …:
// lanes l and l^1 then share a row of A and lanes l and l^2 a column of B, so that 16-byte reads of
// either operand merge pairwise (two phases instead of four).
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

enum { LANE_BITS = 5 };

bool pass_warp_shape_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_LANES_M] > 0 && schedule->value[KNOB_ATOM_KIND] == 0;
}

// One axis of the tile.
typedef struct Side {
  const char *warp;                // names of its digits; lane[i] is the one that starts at bit i
  const char *lane[LANE_BITS];     // of the axis
  int64_t threads, lanes, weight;  // extent of the thread digit, of its lane part, its weight
  int bits_left;                   // of the lane part, not dealt out yet
  Digit digit[LANE_BITS + 1];      // in place of the thread digit, least significant first
  int n_digits;
} Side;

static Side side_of(const Product *product, int axis, int64_t threads, int64_t lanes) {
  static const char *const warp_names[] = {"m_w", "n_w"};
  static const char *const lane_names[2][LANE_BITS] = {{"m_l", "m_l1", "m_l2", "m_l3", "m_l4"},
                                                       {"n_l", "n_l1", "n_l2", "n_l3", "n_l4"}};
  Side side = {
      .warp = warp_names[axis], .threads = threads, .lanes = lanes, .bits_left = log2_up(lanes)};
  for (int i = 0; i < LANE_BITS; i++) side.lane[i] = lane_names[axis][i];
  const Axis *a = product->axis[axis];
  for (int i = 0; i < a->n_digits; i++)
    if (a->digit[i].var->tier == TIER_THREAD) side.weight = a->digit[i].weight;
  return side;
}

// The axis that lane bit `bit` belongs to. Row order: the low bits are N's. Alternating: N, M, N,
// M, … while both have bits left.
static int owner_of_bit(const Side *m, const Side *n, int bit, int64_t order) {
  if (n->bits_left == 0) return AXIS_M;
  if (m->bits_left == 0 || order == 0) return AXIS_N;
  return bit % 2 ? AXIS_M : AXIS_N;
}

// The lane digits, least significant first: runs of bits that belong to one axis.
typedef struct LaneDigit {
  int axis, bits, at;  // `at`: position of its lowest bit within the axis' lane index
} LaneDigit;

static int deal_bits(Side *side, int64_t order, LaneDigit *digit) {
  int n = 0, taken[2] = {0, 0};
  for (int bit = 0; bit < LANE_BITS; bit++) {
    int axis = owner_of_bit(&side[AXIS_M], &side[AXIS_N], bit, order);
    if (n == 0 || digit[n - 1].axis != axis) digit[n++] = (LaneDigit){axis, 0, taken[axis]};
    digit[n - 1].bits++;
    taken[axis]++;
    side[axis].bits_left--;
  }
  return n;
}

// Puts the loops over lanes around `nest`, from the lowest lane bits outwards.
static Stmt *add_lane_loops(Program *program, Side side[2], const LaneDigit *lane, int n_lane,
                            Stmt *nest) {
  for (int i = 0; i < n_lane; i++) {
    Side *s = &side[lane[i].axis];
    int64_t extent = INT64_C(1) << lane[i].bits;
    Var *var = program_var(program, s->lane[lane[i].at], VAR_LOOP, TIER_THREAD, extent);
    s->digit[s->n_digits++] = (Digit){var, s->weight << lane[i].at};
    nest = stmt_loop(program, i ? KNOB_LANE_ORDER : KNOB_LANES_M, var, nest);
  }
  return nest;
}

// Puts the loops over warps around `nest`: n_w, and m_w outside of it.
static Stmt *add_warp_loops(Program *program, Side side[2], Stmt *nest) {
  for (int axis = AXIS_N; axis >= AXIS_M; axis--) {
    Side *s = &side[axis];
    Var *var = program_var(program, s->warp, VAR_LOOP, TIER_WARP, s->threads / s->lanes);
    s->digit[s->n_digits++] = (Digit){var, s->weight * s->lanes};
    nest = stmt_loop(program, KNOB_LANES_M, var, nest);
  }
  return nest;
}

// Takes the THREAD digit out of the axis and puts the side's in its place; an axis holds its most
// significant digit first.
static void replace_thread_digit(Axis *axis, const Side *side) {
  int at = 0, n = side->n_digits;
  while (axis->digit[at].var->tier != TIER_THREAD) at++;
  for (int i = axis->n_digits - 1; i > at; i--) axis->digit[i + n - 1] = axis->digit[i];
  for (int i = 0; i < n; i++) axis->digit[at + i] = side->digit[n - 1 - i];
  axis->n_digits += n - 1;
}

// The loop `old` becomes `loop` where it stands.
static void replace_loop(Stmt *old, const Stmt *loop) {
  old->kind = loop->kind;
  old->var = loop->var;
  old->body = loop->body;
  old->knob = loop->knob;
}

void pass_warp_shape(Program *program, Product *product, const Schedule *schedule) {
  int64_t lanes_m = schedule->value[KNOB_LANES_M];
  Side side[2] = {side_of(product, AXIS_M, schedule->value[KNOB_BM], lanes_m),
                  side_of(product, AXIS_N, schedule->value[KNOB_BN], LANES / lanes_m)};
  LaneDigit lane[LANE_BITS];
  int n_lane = deal_bits(side, schedule->value[KNOB_LANE_ORDER], lane);
  Stmt *m_t = stmt_find_tier(program_main_kernel(program)->body, TIER_THREAD), *n_t = m_t->body;
  Stmt *nest = add_lane_loops(program, side, lane, n_lane, n_t->body);
  replace_loop(m_t, add_warp_loops(program, side, nest));
  for (int axis = AXIS_M; axis <= AXIS_N; axis++)
    replace_thread_digit(product->axis[axis], &side[axis]);
  program_apply_axes(program, product);
}
