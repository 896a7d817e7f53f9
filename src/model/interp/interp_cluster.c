// Blocks that run together, because some of them reach the memory of others.
//
// Each block of a cluster has shared memory, mbarriers and a share of the register file of its own
// (BlockState). Their warps are warps of one machine, and clocks give the order of events as within
// a block. `interp_at_rank` puts a block at hand: Machine.memory is then its own.
//
// order/order_cluster.h says when other blocks may reach a block.
#include "model/interp/interp_machine.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static void look_across(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind != STMT_OP) return;
  const Op *op = &stmt->op;
  if (op->ranks || op->cta_group > 1 || op->dst.rank || op->src.rank || op->src2.rank ||
      op_facts(op->kind)->scope == SCOPE_CLUSTER)
    *(bool *)context = true;
}

bool kernel_reaches_across(const Kernel *kernel) {
  bool across = false;
  stmt_walk(kernel->body, look_across, &across);
  return across;
}

void interp_at_rank(Machine *m, int rank) {
  m->rank = rank;
  m->block = m->cluster * m->code->cluster + rank;
  m->own = &m->of_rank[rank];
  m->memory = m->own->memory;
  m->first_reader = m->n_readers < m->n_warps ? rank * m->block_warps : 0;
}

int interp_rank_of(const Machine *m, int thread) {
  int warp = thread / LANES;
  if (thread == interp_stores(m)) return m->rank;
  if (m->first_tensor && warp >= m->first_tensor) return (warp - m->first_tensor) / m->block_warps;
  if (is_agent(m, thread)) return (warp - m->max_warps) / INTERP_AGENTS;
  return warp / m->block_warps;
}

const char *interp_warp_name(const Machine *m, int warp) {
  if (m->code->cluster == 1) return arena_printf(m->arena, "%d", warp);
  return arena_printf(m->arena, "%d of rank %d", warp % m->block_warps, warp / m->block_warps);
}

// The warps behind `first` that are named without a gap, of one rank: the last of them. Two of a
// block are named one by one.
static int run_end(const Machine *m, const bool *named, int first) {
  int last = first;
  while (named[first] && last + 1 < m->n_warps && named[last + 1] && (last + 1) % m->block_warps)
    last++;
  return last > first + (m->code->cluster == 1) ? last : first;
}

const char *interp_name_warps(const Machine *m, const bool *named) {
  Str out = str_new(m->arena);
  int n = 0, left = 0, seen = 0;
  for (int i = 0; i < m->n_warps; i++) n += named[i];
  for (int i = 0; i < m->n_warps; i = run_end(m, named, i) + 1) left += named[i];
  str_add(&out, n > 1 ? "warps " : "warp ");
  for (int i = 0, last; i < m->n_warps; i = last + 1) {
    last = run_end(m, named, i);
    if (!named[i]) continue;
    str_add(&out, seen == 0 ? "" : seen == left - 1 ? " and " : ", ");
    if (last > i) str_printf(&out, "%d-", i % m->block_warps);
    str_add(&out, interp_warp_name(m, last));
    seen++;
  }
  return out.text;
}

uint32_t interp_ranks(Machine *m, const Warp *w, const Code *code) {
  if (!code->stmt->op.ranks) return 1u << w->rank;
  uint32_t mask = (uint32_t)interp_scalar(w, &code->value);
  if (mask && mask >> m->code->cluster == 0) return mask;
  interp_report(m, FINDING_OUT_OF_BOUNDS, w, lowest_lane(w->active), code->stmt, NULL, 0,
                "has the mask %u, but the cluster has %d blocks", mask, m->code->cluster);
  return 1u << w->rank;
}

void interp_ask_rank(Machine *m, const Warp *w, const Code *code, int rank) {
  const uint32_t *clock = interp_clock(m, thread_of(w, (uint32_t)lowest_lane(w->active)));
  const int first = rank * m->block_warps;
  if (rank == w->rank || order_has_heard(clock, first, m->block_warps, m->block_first)) return;
  interp_report(m, FINDING_EXITED, w, lowest_lane(w->active), code->stmt, NULL, 0, ORDER_NOT_BEGUN,
                rank);
}

void interp_reach_rank(Machine *m, const Warp *w, const Code *code, int rank) {
  if (rank == w->rank) return;
  const OrderReach reach = {m->epoch, (uint32_t)(code - m->code->code), 0};
  order_reach(m->life, rank, w->index, reach);
  interp_ask_rank(m, w, code, rank);
}

void interp_check_exits(Machine *m) {
  for (int rank = 0; rank < m->code->cluster; rank++)
    for (int w = -1; (w = order_outlived(m->order, m->life, rank, w + 1, m->block_first)) >= 0;) {
      if (m->stopped) return;
      const Code *code = &m->code->code[order_reach_of(m->life, rank, w)->tag];
      interp_at_rank(m, m->warp[w].rank);
      interp_report(m, FINDING_EXITED, &m->warp[w], 0, code->stmt, NULL, 0, ORDER_HAS_ENDED, rank);
    }
}
