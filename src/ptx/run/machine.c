// Blocks, warps and their splits. (How a machine is made: machine_make.c; findings: findings.c.)
//
// The loop that matters is run_split(): fetch, guard, call the row's function, follow where values
// come from. Nothing is allocated in it. Warps take turns: each runs until all its lanes wait or
// ended, or for a slice, so that one that waits for a flag in memory lets the others set it.
#include "ptx/run/machine.h"

#include <assert.h>

#include "ptx/run/run.h"

// Rounds in which every warp asked without success and nothing happened: nothing will.
enum { IDLE_ROUNDS = 256 };
enum { SLICE = 1 << 14, PATIENCE = 1 << 12 };

// ---- splits -------------------------------------------------------------------------------------

void ptx_load_frame(PtxWarp *w, const PtxFrame *frame) {
  w->frame = w->regs + (size_t)frame->reg * PTX_LANES;
  w->frame_taint = w->taint + frame->reg;
  w->frame_preds = w->preds + frame->pred;
  w->frame_pred_taint = w->pred_taint + frame->pred;
  w->frame_unknown = w->unknown + frame->reg;
  w->frame_pred_unknown = w->pred_unknown + frame->pred;
}

void ptx_load_split(PtxWarp *w, int index) {
  w->now = index;
  const PtxSplit *s = &w->splits[index];
  w->pc = s->pc;
  w->mask = s->mask;
  ptx_load_frame(w, &s->calls[s->depth]);
}

static void store_split(PtxWarp *w) {
  w->splits[w->now].pc = w->pc;
  w->splits[w->now].mask = w->mask;
}

static void remove_split(PtxWarp *w, int index) { w->splits[index] = w->splits[--w->n_splits]; }

void ptx_leave(PtxMachine *m, PtxWarp *w, uint32_t lanes, int pc) {
  (void)m;
  assert(w->n_splits <= PTX_LANES);
  PtxSplit *other = &w->splits[w->n_splits++];
  *other = w->splits[w->now];
  other->pc = pc;
  other->mask = lanes;
  other->state = PTX_RUNS;
  other->parked = false;
  w->mask &= ~lanes;
}

static bool same_place(const PtxSplit *a, const PtxSplit *b) {
  return a->state == PTX_RUNS && b->state == PTX_RUNS && a->pc == b->pc && a->depth == b->depth &&
         a->apart == b->apart &&
         memcmp(a->calls, b->calls, sizeof(PtxFrame) * (size_t)(a->depth + 1)) == 0;
}

static void merge_splits(PtxWarp *w) {
  for (int i = 0; i < w->n_splits; i++)
    for (int j = w->n_splits - 1; j > i; j--)
      if (same_place(&w->splits[i], &w->splits[j])) {
        w->splits[i].mask |= w->splits[j].mask;
        w->splits[i].parked = false;
        remove_split(w, j);
      }
  for (int i = w->n_splits - 1; i >= 0; i--)
    if (w->splits[i].mask == 0) remove_split(w, i);
}

static bool goes_before(const PtxSplit *a, const PtxSplit *b) {
  if (a->parked != b->parked) return !a->parked;
  if (!a->apart != !b->apart) return a->apart;
  if (a->depth != b->depth) return a->depth > b->depth;
  return a->pc < b->pc;
}

// The split that runs next, −1 when all wait. `other_end`: the one that would come last, since a
// loop that waits for lanes of its own warp must not keep them from running.
static int choose_split(const PtxWarp *w, bool other_end) {
  int best = -1;
  for (int i = 0; i < w->n_splits; i++) {
    if (w->splits[i].state != PTX_RUNS) continue;
    if (best < 0 || goes_before(&w->splits[i], &w->splits[best]) != other_end) best = i;
  }
  return best;
}

// The lowest instruction of another split at this depth: there the two may meet.
static int meeting_pc(const PtxWarp *w) {
  int pc = INT32_MAX;
  for (int i = 0; i < w->n_splits; i++)
    if (i != w->now && w->splits[i].state == PTX_RUNS && w->splits[i].pc < pc &&
        w->splits[i].depth == w->splits[w->now].depth)
      pc = w->splits[i].pc;
  return pc;
}

// ---- where values come from ---------------------------------------------------------------------

static uint32_t group_data(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g) {
  uint32_t data = 0;
  const bool is_pred = g->kind == PTX_GROUP_PRED;
  for (int k = 0; k < g->n; k++) {
    const PtxArg arg = m->module->args[g->at + k];
    if (arg >= 0) data |= is_pred ? w->frame_pred_taint[arg] : w->frame_taint[arg];
  }
  return data;
}

static void put_data(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t mask,
                     uint32_t data) {
  const bool is_pred = g->kind == PTX_GROUP_PRED;
  for (int k = 0; k < g->n; k++) {
    const PtxArg arg = m->module->args[g->at + k];
    if (arg < 0) continue;
    uint32_t *taint = is_pred ? &w->frame_pred_taint[arg] : &w->frame_taint[arg];
    *taint = (*taint & ~mask) | (data & mask);
  }
}

static void follow(const PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  uint32_t data = w->control;
  for (int g = 0; g < i->n_groups; g++)
    if (!i->groups[g].written) data |= group_data(m, w, &i->groups[g]);
  if (i->guard >= 0) data |= w->frame_pred_taint[i->guard];
  if (i->row->flow == PTX_FLOW_WARP && (data & mask)) data = ~0u;
  for (int g = 0; g < i->n_groups; g++)
    if (i->groups[g].written) put_data(m, w, &i->groups[g], mask, data);
  if (i->pair.n) put_data(m, w, &i->pair, mask, data);
}

static void end_control(PtxWarp *w) {
  FOR_LANES(w->control & w->mask)
  if (w->control_end[l] == w->pc) w->control &= ~(1u << l);
}

// ---- running ------------------------------------------------------------------------------------

static void carry_out(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (w->flies) ptx_check_flight(m, w, i, mask);
  i->run(m, w, i, mask);
  if (m->multiplies && !w->again) ptx_note_written(m, w, i);
  if (i->row && i->row->flow != PTX_FLOW_OWN && !w->again) follow(m, w, i, mask);
  if (m->trace && !w->again) m->trace(m->trace_self, m, w, w->pc, mask);
}

static void carry_out_unsure(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_unknown_before(m, w, i, &mask)) return;
  if (mask) carry_out(m, w, i, mask);
  if (!w->again) ptx_unknown_after(m, w, i, mask);
}

static const uint64_t none_left[PTX_LANES];

static void step(PtxMachine *m, PtxWarp *w) {
  const PtxInst *i = &m->module->code[w->pc];
  if (w->control) end_control(w);
  if (i->awaits) ptx_await_boards(m, w, w->mask, i->awaits, none_left);
  if (i->waits & w->reads_open) ptx_await_reads(m, w, i->waits);
  uint32_t mask = w->mask;
  if (i->guard != PTX_PRED_TRUE)
    mask &= i->guard_not ? ~w->frame_preds[i->guard] : w->frame_preds[i->guard];
  w->next = w->pc + 1;
  m->executions[w->pc]++;
  m->executed += __builtin_popcount(w->mask);
  if (m->unknowns) {
    carry_out_unsure(m, w, i, mask);
  } else if (mask) {
    carry_out(m, w, i, mask);
    if (m->unknowns && !w->again) ptx_unknown_after(m, w, i, mask);
  }
  if (!w->again) w->pc = w->next;
}

// Runs the chosen split until it may meet another one, waits, ended, or its turn is over.
static void run_split(PtxMachine *m, PtxWarp *w, int *slice) {
  const int n = w->n_splits, meeting = n > 1 ? meeting_pc(w) : INT32_MAX;
  const int depth = w->splits[w->now].depth;
  int left = n > 1 ? PATIENCE : SLICE;
  w->splits[w->now].parked = false;
  do {
    step(m, w);
    --*slice;
    --left;
  } while (left > 0 && !m->stopped && !w->yields && !w->again && w->mask && w->n_splits == n &&
           w->splits[w->now].state == PTX_RUNS && *slice > 0 &&
           (n == 1 || (w->pc < meeting && w->splits[w->now].depth == depth)));
  w->stale = left <= 0 || w->yields;
}

static bool run_warp(PtxMachine *m, PtxWarp *w) {
  int slice = SLICE;
  bool ran = false;
  w->yields = false;
  while (slice > 0 && !m->stopped && !w->yields) {
    merge_splits(w);
    const int chosen = choose_split(w, w->stale);
    if (chosen < 0) break;
    ptx_load_split(w, chosen);
    w->again = false;
    ran = true;
    run_split(m, w, &slice);
    store_split(w);
    if (m->budget > 0 && m->executed > m->budget) return true;
  }
  return ran;
}

static void start_warp(PtxMachine *m, PtxWarp *w) {
  const int left = m->n_threads - w->in_block * PTX_LANES;
  w->exists = left >= PTX_LANES ? ~0u : (1u << left) - 1;
  w->exited = w->control = w->carry = 0;
  w->stale = false;
  w->n_splits = 1;
  w->splits[0] = (PtxSplit){.pc = m->kernel->first, .mask = w->exists};
  w->splits[0].calls[0].function = (int)(m->kernel - m->module->functions);
  memset(w->taint, 0, sizeof *w->taint * (size_t)w->cap_regs);
  memset(w->pred_taint, 0, sizeof *w->pred_taint * (size_t)w->cap_preds);
  memset(w->unknown, 0, sizeof *w->unknown * (size_t)w->cap_regs);
  memset(w->pred_unknown, 0, sizeof *w->pred_unknown * (size_t)w->cap_preds);
  w->carry_unknown = w->doubt = 0;
  w->asked = 0;
  w->registers = 0;
  w->acquires = false;
  w->poll = w->question = -1;
  w->cluster_arrived = w->cluster_passed = 0;
  memset(w->named, 0, sizeof w->named);
  memset(w->lane_epoch, 0, sizeof w->lane_epoch);
  for (int l = 0; l < PTX_LANES; l++) w->last_sent[l].pc = -1;
  w->fences = w->met = 0;
  memset(w->fenced_alone, 0, sizeof w->fenced_alone);
  memset(w->reading, 0, sizeof w->reading);
  w->reads_open = 0;
  w->flies = false;
  memset(w->flight, 0, sizeof *w->flight * (size_t)w->cap_regs);
  w->clock[w->index] = 1;
}

static void start_block(PtxMachine *m, PtxBlock *block) {
  block->alive = m->n_threads;
  block->unsure = false;
  for (int id = 0; id < PTX_BARRIERS; id++) ptx_barrier_clear(m, &block->barriers[id]);
  if (block->tmem) ptx_tmem_start(block);
}

void ptx_start_cluster(PtxMachine *m, const int block[3]) {
  int first[3];
  for (int d = 0; d < 3; d++) first[d] = block[d] / m->cluster[d] * m->cluster[d];
  const size_t shared = (size_t)m->shared.size;
  memset(m->shared.bytes, 0, shared);
  memset(m->shared.state, 0, shared);
  ptx_histories_start(m);
  memset(m->local.state, 0, (size_t)m->local.size);
  m->n_mbarriers = 0;
  m->alive = m->n_threads * m->n_blocks;
  m->unknown_pc = -1;
  m->stopped = m->lapped = m->forgives = false;
  m->asking = 0;
  order_reset(m->order, (m->has_tmem ? 2 : 1) * m->n_warps);
  ptx_barrier_clear(m, &m->cluster_barrier);
  for (int rank = 0; rank < m->n_blocks; rank++) {
    ptx_place_block(m, &m->blocks[rank], first);
    start_block(m, &m->blocks[rank]);
  }
  for (int i = 0; i < m->n_warps; i++) start_warp(m, &m->warps[i]);
  if (m->module->begin) m->module->begin(m);
}

// Runs each warp for a while; false when none could. `*idle`: whether all asked without success.
static bool run_round(PtxMachine *m, bool *idle) {
  const int64_t before = m->events;
  bool ran = false, works = false;
  for (int i = 0; i < m->n_warps && !m->stopped; i++) {
    if (!run_warp(m, &m->warps[i])) continue;
    ran = true;
    works |= !m->warps[i].yields;
  }
  *idle = !works && m->events == before;
  m->asking = works ? 0 : m->asking + 1;
  return ran;
}

// Threads that came too late for a phase are let through once, so that the others go on.
static bool is_over(PtxMachine *m, int *rounds, PtxOutcome *outcome) {
  if (m->lapped && !m->forgives) {
    m->forgives = true;
    *rounds = 0;
    return false;
  }
  ptx_tell_deadlock(m);
  *outcome = PTX_DEADLOCK;
  return true;
}

bool ptx_turn(PtxMachine *m, int *rounds, PtxOutcome *outcome) {
  bool idle = false;
  const bool ran = run_round(m, &idle);
  *rounds = idle ? *rounds + 1 : 0;
  *outcome = m->beyond ? PTX_BEYOND : m->stopped ? PTX_STOPPED : PTX_DONE;
  if (m->stopped || m->alive == 0) return true;
  *outcome = PTX_BUDGET;
  if (m->budget > 0 && m->executed > m->budget) return true;
  return (!ran || *rounds == IDLE_ROUNDS) && is_over(m, rounds, outcome);
}

static PtxOutcome run_cluster(PtxMachine *m) {
  PtxOutcome outcome = PTX_DONE;
  for (int rounds = 0; !ptx_turn(m, &rounds, &outcome);) continue;
  return outcome;
}

PtxOutcome ptx_machine_run_cluster(PtxMachine *m, int x, int y, int z) {
  m->watched = -1;
  ptx_start_cluster(m, (const int[3]){x, y, z});
  return run_cluster(m);
}

PtxOutcome ptx_machine_run(PtxMachine *m, int x, int y, int z) {
  m->watched = ptx_rank_of(m, (const int[3]){x, y, z});
  ptx_start_cluster(m, (const int[3]){x, y, z});
  return run_cluster(m);
}

void ptx_machine_watch(PtxMachine *m, PtxAccessSink *sink, void *self) {
  m->sink = sink;
  m->sink_self = self;
}

void ptx_machine_trace(PtxMachine *m, PtxTrace *trace, void *self) {
  m->trace = trace;
  m->trace_self = self;
}

const void *ptx_machine_bytes(const PtxMachine *m, uint64_t address, int64_t bytes) {
  PtxBuffer *b = ptx_buffer_at(m, address);
  if (!b || address - b->address + (uint64_t)bytes > (uint64_t)b->plane.size) return NULL;
  ptx_buffer_make(b, address - b->address, bytes);
  return b->plane.bytes + (address - b->address);
}

int64_t ptx_machine_registers(const PtxMachine *m, int at_launch) {
  int64_t sum = 0;
  bool asked = false;
  for (int i = 0; i < m->block_warps; i++) {
    const int registers = m->warps[i].registers;
    asked |= registers > 0;
    sum += PTX_LANES * (registers ? registers : at_launch);
  }
  return asked ? sum : 0;
}

int64_t ptx_machine_lane_instructions(const PtxMachine *m) { return m->executed; }
int64_t ptx_machine_executions(const PtxMachine *m, int pc) { return m->executions[pc]; }
int64_t ptx_machine_approximations(const PtxMachine *m) { return m->approximations; }
int ptx_machine_smem_bytes(const PtxMachine *m) { return (int)m->smem; }
int ptx_machine_static_smem(const PtxMachine *m) { return m->static_smem; }
int64_t ptx_machine_variable(const PtxMachine *m, int variable) {
  return m->place.offset[variable];
}
const int *ptx_machine_cluster(const PtxMachine *m) { return m->cluster; }
