// Program → what its warps wait for, statement by statement.
//
// A fetch is exposed where a thread waits for it before it multiplies anything: nothing covers its
// way from L2 or DRAM. Worked example, a slab through registers: load, store, barrier, multiply is
// one exposed fetch; load k_o + 1, multiply k_o, store k_o + 1 is none. A group of copies is known
// by its place among those that were committed, a box by the mbarrier that counts it.
//
// Fragments that come straight from global memory are waited for once in as many k-steps as the
// compiler unrolls: what a loop says, up to FULL_MOST steps of one that is unrolled whole, and
// OWN_STEPS where it decides by itself (ptxas 13.0 for sm_90a).
#include "model/readings/time/waits.h"

#include <math.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/ir/warp_walk.h"
#include "model/readings/time/steps.h"

enum { GROUPS_MAX = 64, BOXES_MAX = 16, FULL_MOST = 16, OWN_STEPS = 4 };

// ---- exposed fetches ----------------------------------------------------------------------------

// Holds what was asked for in this iteration and nothing has been multiplied since.
typedef struct Asked {
  bool open, group[GROUPS_MAX];  // copies not committed yet, and those of each group
  int n_groups;
  const Access *box[BOXES_MAX];  // the mbarriers at which they count
  int n_boxes;
  bool registers;  // that are stored to a slab afterwards
  int exposed;
} Asked;

static void cover(Asked *asked) {
  for (int i = 0; i < asked->n_groups; i++) asked->group[i] = false;
  asked->open = asked->registers = false;
  asked->n_boxes = 0;
}

static void ask(Asked *asked, const Op *op) {
  const OpCompletion completes = op_facts(op->kind)->completes;
  if (completes == COMPLETES_BY_GROUP) asked->open = true;
  if (completes == COMPLETES_BY_MBARRIER && asked->n_boxes < BOXES_MAX)
    asked->box[asked->n_boxes++] = &op->src2;
  if (op->dst.buffer && buffer_is_staging(op->dst.buffer)) asked->registers = true;
}

static void wait_for_groups(Asked *asked, int64_t in_flight) {
  bool exposed = false;
  for (int i = 0; i < asked->n_groups - in_flight; i++) {
    exposed |= asked->group[i];
    asked->group[i] = false;
  }
  asked->exposed += exposed;
}

static bool same_mbarrier(const Access *a, const Access *b) {
  return a->buffer == b->buffer && expr_equal(a->idx[0], b->idx[0]);
}

static void wait_for_boxes(Asked *asked, const Access *mbarrier) {
  int left = 0;
  for (int i = 0; i < asked->n_boxes; i++)
    if (!same_mbarrier(asked->box[i], mbarrier)) asked->box[left++] = asked->box[i];
  asked->exposed += left < asked->n_boxes;
  asked->n_boxes = left;
}

static void store_registers(Asked *asked) {
  asked->exposed += asked->registers;
  asked->registers = false;
}

static bool is_global(const Access *access) {
  return access->buffer && access->buffer->space == SPACE_GLOBAL;
}

static void look(Asked *asked, const Op *op) {
  const OpFacts *facts = op_facts(op->kind);
  const bool waits = facts->action == ACTION_WAIT, copies = facts->family == FAMILY_COPY;
  if (op_multiplies(op->kind)) {
    cover(asked);
  } else if (is_global(&op->src)) {
    ask(asked, op);
  } else if (op->src.buffer && buffer_is_staging(op->src.buffer)) {
    store_registers(asked);
  } else if (copies && waits) {
    wait_for_groups(asked, op->groups);
  } else if (copies && facts->action == ACTION_SIGNAL && asked->n_groups < GROUPS_MAX) {
    asked->group[asked->n_groups++] = asked->open;
    asked->open = false;
  } else if (waits && facts->completes == COMPLETES_BY_MBARRIER) {
    wait_for_boxes(asked, &op->dst);
  }
}

static void look_through(Asked *asked, const Stmt *list) {
  for (; list; list = list->next) {
    if (list->kind == STMT_OP) look(asked, &list->op);
    if (list->body && !stmt_is_role(list, WORK_FETCHES)) look_through(asked, list->body);
  }
}

// ---- steps --------------------------------------------------------------------------------------

static bool goes_step_by_step(const Stmt *loop) {
  const Tier tier = loop->var->tier;
  return tier == TIER_SERIAL || tier == TIER_SERIAL_OUTER || tier == TIER_STAGE_INNER;
}

static double steps_at_once(const Stmt *loop) {
  const int64_t extent = loop->var->extent;
  if (loop->unroll == UNROLL_FULL) return (double)min64(extent, FULL_MOST);
  return (double)(loop->unroll ? loop->unroll : min64(extent, OWN_STEPS));
}

// The share of a thread's waits, one for each turn of `loop`, that are for a sector that no thread
// has asked for: the others find theirs in L1. Worked example, fp32 along a row of A, one step
// after the other: one in eight, of four steps together one in two; bf16 in steps of 16 elements:
// each.
static double share_of_new_sectors(Arena *arena, const Access *from, const Stmt *loop) {
  int64_t stride;
  if (!loop || !expr_stride(access_offset(arena, from), loop->var, &stride)) return 1;
  const double bytes = fabs((double)stride) * dtype_bytes(from->buffer->type);
  return fmin(1, bytes * steps_at_once(loop) / SECTOR_BYTES);
}

// Where a walk over a program's statements is.
typedef struct Walk {
  double times;      // that the list is gone through
  double loads;      // that each statement makes in a step: by loops over a thread's own values
  const Stmt *loop;  // the innermost one that is gone through step by step; NULL: none
} Walk;

static void count_read(Arena *arena, const Op *op, const Walk *walk, BlockWaits *out) {
  const double waits = walk->times / (walk->loop ? steps_at_once(walk->loop) : 1);
  const double loads = walk->times * walk->loads;
  const double share = share_of_new_sectors(arena, &op->src, walk->loop);
  out->reads = fmax(out->reads, waits * share);
  out->near_reads = fmax(out->near_reads, waits * (1 - share));
  out->loads = fmax(out->loads, loads * share);
  out->near_loads = fmax(out->near_loads, loads * (1 - share));
}

static Walk walk_into(const Stmt *stmt, Walk walk) {
  if (stmt->kind != STMT_LOOP) return walk;
  const double extent = (double)stmt->var->extent;
  if (goes_step_by_step(stmt)) return (Walk){walk.times * extent, 1, stmt};
  if (stmt->var->tier == TIER_REGISTER) walk.loads *= extent;
  return walk;
}

static void count_steps(Arena *arena, const Stmt *list, Walk walk, BlockWaits *out) {
  for (; list; list = list->next) {
    if (list->body) count_steps(arena, list->body, walk_into(list, walk), out);
    if (list->kind != STMT_OP) continue;
    const Op *op = &list->op;
    const bool fragment = op->dst.buffer && buffer_is_fragment(op->dst.buffer);
    if (op_multiplies(op->kind)) out->steps = fmax(out->steps, walk.times);
    if (fragment && is_global(&op->src)) count_read(arena, op, &walk, out);
  }
}

// ---- turns --------------------------------------------------------------------------------------

typedef struct Sums {
  int n;
  const Buffer *of[PRODUCTS_MAX];
} Sums;

static void look_for_sums(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Sums *sums = context;
  if (stmt->kind != STMT_OP || !op_multiplies(stmt->op.kind)) return;
  const Buffer *own = stmt->op.dst.buffer;
  for (int i = 0; i < sums->n; i++)
    if (sums->of[i] == own) return;
  if (sums->n < PRODUCTS_MAX) sums->of[sums->n++] = own;
}

static int count_sums(Stmt *list) {
  Sums sums = {0};
  stmt_walk(list, look_for_sums, &sums);
  return sums.n;
}

// The turns of the innermost loop that makes all of `n` products, `around` of which are made of the
// loops around it; each as it is unrolled, a loop around barriers only where it says so.
static double find_turns(Stmt *list, double around, const Stmt *slabs, int n) {
  double most = 0;
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (!stmt->body || count_sums(stmt->body) < n) continue;
    const bool serial = stmt->kind == STMT_LOOP && goes_step_by_step(stmt);
    const double at_once = serial && (stmt != slabs || stmt->unroll) ? steps_at_once(stmt) : 1;
    const double here = serial ? around * (double)stmt->var->extent / at_once : around;
    most = fmax(most, fmax(here, find_turns(stmt->body, here, slabs, n)));
  }
  return most;
}

// ---- instructions -------------------------------------------------------------------------------

typedef struct Count {
  int warp;
  double of_warp, most, box_rows, box_waste;
} Count;

// All that a box fetches comes in whole sectors, row by row.
static void count_box(Count *count, const WarpVisit *visit) {
  const Op *op = &visit->stmt->op;
  const double rows = visit->weight * (double)op->box[0],
               bytes = (double)op->box[1] * dtype_bytes(op->src.buffer->type);
  count->box_rows += rows;
  count->box_waste += rows * (ceil(bytes / SECTOR_BYTES) * SECTOR_BYTES - bytes);
}

static void count_visit(void *context, const WarpVisit *visit) {
  Count *count = context;
  const Op *op = &visit->stmt->op;
  bool any = false;
  for (int lane = 0; lane < LANES; lane++) any |= visit->active[lane];
  if (!any) return;
  if (visit->warp != count->warp) count->of_warp = 0;
  count->warp = visit->warp;
  count->of_warp += visit->weight;
  count->most = fmax(count->most, count->of_warp);
  if (op_moves_box(op->kind) && is_global(&op->src)) count_box(count, visit);
}

// How often something is done does not depend on where it finds its operands.
static bool is_uneven(void *context, const Op *op, const Var *var) {
  (void)context, (void)op, (void)var;
  return false;
}

static void count_instructions(Arena *arena, const Program *program, BlockWaits *out) {
  static const WarpVisitor visitor = {.visit = count_visit, .is_uneven = is_uneven, .whole = true};
  Count count = {.warp = -1};
  warp_walk(arena, program, &visitor, &count);
  out->instructions = count.most;
  out->box_rows = count.box_rows;
  out->box_waste = count.box_waste;
}

// The slabs on their way together: all of a producer's ring, or those that a thread asks for ahead
// and the one at hand.
static double depth_of(const Steps *steps) {
  int ahead = 0;
  bool produces = false;
  for (int i = 0; i < steps->n; i++) {
    produces |= steps->step[i].produces;
    if (steps->step[i].copy_slab > ahead) ahead = steps->step[i].copy_slab;
  }
  return produces ? fmax(steps->n_slots, 1) : ahead + 1;
}

BlockWaits derive_waits(Arena *arena, const Program *program) {
  BlockWaits out = {0};
  const Stmt *slabs = program_slab_loop(program);
  const Steps steps = derive_steps(arena, program);
  Asked asked = {0};
  if (slabs) look_through(&asked, slabs->body);
  out.fetches = asked.exposed;
  out.depth = slabs && !asked.exposed ? depth_of(&steps) : 0;
  out.phases = steps.n;
  Stmt *body = program_main(program)->body;
  count_steps(arena, body, (Walk){1, 1, NULL}, &out);
  out.turns = find_turns(body, 1, slabs, count_sums(body));
  count_instructions(arena, program, &out);
  return out;
}
