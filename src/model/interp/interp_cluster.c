// Blocks that run together, because some of them reach what others have.
//
// Each block of a cluster has shared memory, mbarriers and a share of the register file of its own
// (BlockState); their warps are warps of one machine, and what comes before what is a question of
// clocks as within a block. `interp_at_rank` puts a block at hand: Machine.memory is then its own.
//
// A block's shared memory is there from when it begins until its last thread has ended (PTX ISA,
// mapa; CUDA programming guide, Distributed Shared Memory). Neither shows in a run, for here all
// blocks begin at once and their memory stays. So it is asked of the clocks:
//
//   begun    who reaches another block must have heard of it since the start: a barrier of the
//            cluster, an arrival. Clocks of its warps beyond the epoch of the start say so.
//   ended    when all is over some warp of the block must have known of the access before it ended.
//
// Worked example, the barrier at the end left out: block 0 arrives at an mbarrier of block 1, whose
// producer has got all that it waited for and ends. No clock of block 1 knows of the arrival: it
// may have come when the memory belonged to nobody.
#include "model/interp/interp_machine.h"

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
                "has the mask %u, where the cluster has %d blocks", mask, m->code->cluster);
  return 1u << w->rank;
}

static bool has_heard(const Machine *m, const Warp *w, int rank) {
  const uint32_t *clock = interp_clock(m, thread_of(w, (uint32_t)lowest_lane(w->active)));
  for (int v = rank * m->block_warps; v < (rank + 1) * m->block_warps; v++)
    if (order_is_over(m->order, clock, v, m->block_first)) return true;
  return false;
}

void interp_ask_rank(Machine *m, const Warp *w, const Code *code, int rank) {
  if (rank == w->rank || has_heard(m, w, rank)) return;
  interp_report(m, FINDING_EXITED, w, lowest_lane(w->active), code->stmt, NULL, 0,
                "reaches for rank %d of its cluster, which may not have begun", rank);
}

void interp_reach_rank(Machine *m, const Warp *w, const Code *code, int rank) {
  if (rank == w->rank) return;
  m->reached[rank * m->max_warps + w->index] = touch_of(m, w, code);
  interp_ask_rank(m, w, code, rank);
}

static bool knows_of(const Machine *m, int rank, const Touch *access) {
  int who = access->thread / LANES;
  for (int v = rank * m->block_warps; v < (rank + 1) * m->block_warps; v++)
    if (order_is_over(m->order, clock_of(m, v), who, access->epoch)) return true;
  return false;
}

void interp_check_exits(Machine *m) {
  for (int rank = 0; rank < m->code->cluster && !m->stopped; rank++)
    for (int w = 0; w < m->n_warps; w++) {
      const Touch *access = &m->reached[rank * m->max_warps + w];
      if (access->epoch < m->block_first || knows_of(m, rank, access)) continue;
      interp_at_rank(m, m->warp[w].rank);
      interp_report(m, FINDING_EXITED, &m->warp[w], 0, m->code->code[access->code].stmt, NULL, 0,
                    "reaches for rank %d of its cluster, which may have ended", rank);
    }
}
