// Blocks, warps and their splits; findings.
//
// The loop that matters is run_split(): fetch, guard, call the row's function, follow where values
// come from. Nothing is allocated in it. Warps take turns: each runs until all its lanes wait or
// ended, or for a slice, so that one that waits for a flag in memory lets the others set it.
#include "ptx/run/machine.h"

#include <assert.h>

#include "base/str.h"
#include "base/whole.h"
#include "ptx/run/run.h"

// Rounds in which everybody asked in vain and nothing happened: nothing will.
enum { IDLE_ROUNDS = 256 };
enum { SLICE = 1 << 14, PATIENCE = 1 << 12, SMEM_MAX = 227 * 1024, THREADS_MAX = 1024 };

const char *const ptx_finding_names[PTX_FINDINGS] = {
#define FINDING(id, name, help) [PTX_FINDING_##id] = name,
#include "ptx/run/finding.def"
};
const char *const ptx_finding_helps[PTX_FINDINGS] = {
#define FINDING(id, name, help) [PTX_FINDING_##id] = help,
#include "ptx/run/finding.def"
};

// ---- findings -----------------------------------------------------------------------------------

PtxFinding *ptx_find(PtxMachine *m, PtxWarp *w, PtxFindingKind kind, int pc, int other_pc,
                     uint32_t lanes) {
  for (int i = 0; i < m->n_findings; i++) {
    PtxFinding *f = &m->findings[i];
    if (f->kind != kind || f->pc != pc || f->other_pc != other_pc) continue;
    f->count++;
    if (w && f->warp == w->index && memcmp(f->block, m->block, sizeof f->block) == 0)
      f->lanes |= lanes;
    return f;
  }
  static const PtxFinding none = {.thread = -1, .other_thread = -1};
  PtxFinding *f =
      &m->findings[m->n_findings < PTX_FINDINGS_MAX ? m->n_findings++ : PTX_FINDINGS_MAX];
  *f = none;
  f->kind = kind;
  f->pc = pc;
  f->other_pc = other_pc;
  f->lanes = lanes;
  f->warp = w ? w->index : -1;
  f->thread = w && lanes ? ptx_thread(w, __builtin_ctz(lanes)) : -1;
  f->count = 1;
  memcpy(f->block, m->block, sizeof f->block);
  return f;
}

void ptx_stop(PtxMachine *m, PtxWarp *w, PtxFindingKind kind, uint32_t lanes, const char *text) {
  PtxFinding *f = ptx_find(m, w, kind, w->pc, -1, lanes);
  f->text = text;
  m->stopped = true;
}

void ptx_run_why(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  ptx_stop(m, w, PTX_FINDING_NOT_RUN, mask, i->why);
}

// ---- splits -------------------------------------------------------------------------------------

static void load_frame(PtxWarp *w, const PtxSplit *s) {
  const PtxFrame *frame = &s->calls[s->depth];
  w->frame = w->regs + (size_t)frame->reg * PTX_LANES;
  w->frame_taint = w->taint + frame->reg;
  w->frame_preds = w->preds + frame->pred;
  w->frame_pred_taint = w->pred_taint + frame->pred;
}

static void load_split(PtxWarp *w, int index) {
  w->now = index;
  const PtxSplit *s = &w->splits[index];
  w->pc = s->pc;
  w->mask = s->mask;
  load_frame(w, s);
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

static void step(PtxMachine *m, PtxWarp *w) {
  const PtxInst *i = &m->module->code[w->pc];
  if (w->control) end_control(w);
  uint32_t mask = w->mask;
  if (i->guard != PTX_PRED_TRUE)
    mask &= i->guard_not ? ~w->frame_preds[i->guard] : w->frame_preds[i->guard];
  w->next = w->pc + 1;
  m->executions[w->pc]++;
  m->executed += __builtin_popcount(w->mask);
  if (mask) {
    i->run(m, w, i, mask);
    if (i->row && i->row->flow != PTX_FLOW_OWN && !w->again) follow(m, w, i, mask);
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
    load_split(w, chosen);
    w->again = false;
    ran = true;
    run_split(m, w, &slice);
    store_split(w);
    if (m->budget > 0 && m->executed > m->budget) return true;
  }
  return ran;
}

static void put_special(PtxWarp *w, int special, uint32_t lane, uint32_t value) {
  w->fixed[(size_t)special * PTX_LANES + lane] = value;
}

static void set_thread(PtxMachine *m, PtxWarp *w, uint32_t l) {
  const int *block = m->launch.block;
  const uint32_t t = (uint32_t)ptx_thread(w, (int)l), x = (uint32_t)block[0],
                 y = (uint32_t)block[1];
  put_special(w, PTX_SPECIAL_tid_x, l, t % x);
  put_special(w, PTX_SPECIAL_tid_y, l, t / x % y);
  put_special(w, PTX_SPECIAL_tid_z, l, t / x / y);
  put_special(w, PTX_SPECIAL_laneid, l, l);
  put_special(w, PTX_SPECIAL_warpid, l, (uint32_t)w->index);
  put_special(w, PTX_SPECIAL_lanemask_eq, l, 1u << l);
  put_special(w, PTX_SPECIAL_lanemask_lt, l, (1u << l) - 1);
  put_special(w, PTX_SPECIAL_lanemask_le, l, (2u << l) - 1);
  put_special(w, PTX_SPECIAL_lanemask_gt, l, ~((2u << l) - 1));
  put_special(w, PTX_SPECIAL_lanemask_ge, l, ~((1u << l) - 1));
}

static void set_launch(PtxMachine *m, PtxWarp *w, uint32_t l) {
  for (int d = 0; d < 3; d++) {
    put_special(w, (int)PTX_SPECIAL_ntid_x + d, l, (uint32_t)m->launch.block[d]);
    put_special(w, (int)PTX_SPECIAL_nctaid_x + d, l, (uint32_t)m->launch.grid[d]);
    put_special(w, (int)PTX_SPECIAL_nclusterid_x + d, l, (uint32_t)m->launch.grid[d]);
    put_special(w, (int)PTX_SPECIAL_cluster_nctaid_x + d, l, 1);
  }
  put_special(w, PTX_SPECIAL_nwarpid, l, PTX_WARPS_MAX);
  put_special(w, PTX_SPECIAL_nsmid, l, 1);
  put_special(w, PTX_SPECIAL_cluster_nctarank, l, 1);
  put_special(w, PTX_SPECIAL_dynamic_smem, l, (uint32_t)m->launch.dynamic_smem);
  put_special(w, PTX_SPECIAL_total_smem, l, (uint32_t)m->shared.size);
  put_special(w, PTX_SPECIAL_aggr_smem, l, (uint32_t)m->shared.size);
  put_special(w, PTX_SPECIAL_dynamic_base, l, (uint32_t)m->static_smem);
}

static void start_warp(PtxMachine *m, PtxWarp *w) {
  const int left = m->n_threads - w->index * PTX_LANES;
  w->exists = left >= PTX_LANES ? ~0u : (1u << left) - 1;
  w->exited = w->control = w->carry = 0;
  w->stale = false;
  w->n_splits = 1;
  w->splits[0] = (PtxSplit){.pc = m->kernel->first, .mask = w->exists};
  w->splits[0].calls[0].function = (int)(m->kernel - m->module->functions);
  memset(w->taint, 0, sizeof *w->taint * (size_t)w->cap_regs);
  memset(w->pred_taint, 0, sizeof *w->pred_taint * (size_t)w->cap_preds);
  memset(w->clock, 0, sizeof w->clock);
  memset(w->lane_epoch, 0, sizeof w->lane_epoch);
  memset(w->groups, 0, sizeof w->groups);
  memset(w->groups_done, 0, sizeof w->groups_done);
  w->products = w->products_done = 0;
  w->clock[w->index] = 1;
  for (uint32_t l = 0; l < PTX_LANES; l++)
    for (int d = 0; d < 3; d++) {
      put_special(w, (int)PTX_SPECIAL_ctaid_x + d, l, (uint32_t)m->block[d]);
      put_special(w, (int)PTX_SPECIAL_clusterid_x + d, l, (uint32_t)m->block[d]);
    }
}

static void start_block(PtxMachine *m) {
  const size_t shared = (size_t)m->shared.size;
  memset(m->shared.bytes, 0, shared);
  memset(m->shared.state, 0, shared);
  memset(m->shadow, 0, sizeof *m->shadow * shared);
  memset(m->local.state, 0, (size_t)m->local.size);
  memset(m->barriers, 0, sizeof m->barriers);
  m->n_mbarriers = 0;
  m->alive = m->n_threads;
  m->stopped = false;
  for (int i = 0; i < m->n_warps; i++) start_warp(m, &m->warps[i]);
}

static void tell_deadlock(PtxMachine *m) {
  for (int i = 0; i < m->n_warps; i++) {
    PtxWarp *w = &m->warps[i];
    for (int s = 0; s < w->n_splits; s++) {
      const bool polls = w->yields && w->splits[s].state == PTX_RUNS;
      const int pc = polls ? w->poll : w->splits[s].pc;
      ptx_find(m, w, PTX_FINDING_DEADLOCK, pc, -1, w->splits[s].mask);
    }
  }
}

// Runs each warp for a while; false when none could. `*idle`: whether all asked in vain.
static bool run_round(PtxMachine *m, bool *idle) {
  const int64_t before = m->events;
  bool ran = false, works = false;
  for (int i = 0; i < m->n_warps && !m->stopped; i++) {
    if (!run_warp(m, &m->warps[i])) continue;
    ran = true;
    works |= !m->warps[i].yields;
  }
  *idle = !works && m->events == before;
  return ran;
}

PtxOutcome ptx_machine_run(PtxMachine *m, int x, int y, int z) {
  m->block[0] = x;
  m->block[1] = y;
  m->block[2] = z;
  start_block(m);
  for (int rounds = 0; m->alive > 0;) {
    bool idle = false;
    const bool ran = run_round(m, &idle);
    rounds = idle ? rounds + 1 : 0;
    if (m->stopped) return PTX_STOPPED;
    if (m->budget > 0 && m->executed > m->budget) return PTX_BUDGET;
    if ((!ran || rounds == IDLE_ROUNDS) && m->alive > 0) {
      tell_deadlock(m);
      return PTX_DEADLOCK;
    }
  }
  return PTX_DONE;
}

// ---- making a machine ---------------------------------------------------------------------------

static void make_warps(PtxMachine *m) {
  // Room for the deepest chain of calls: every frame as large as the largest function's.
  int regs = 1, preds = 1;
  for (int f = 0; f < m->module->n_functions; f++) {
    const PtxFunction *function = &m->module->functions[f];
    if (function->is_kernel && function != m->kernel) continue;
    if (function->n_regs + 1 > regs) regs = function->n_regs + 1;
    if (function->n_preds + 1 > preds) preds = function->n_preds + 1;
  }
  const int frames = m->module->n_calls > 0 ? PTX_CALLS_MAX : 1;
  const int n_fixed = PTX_SPECIALS + m->module->n_constants;
  for (int i = 0; i < m->n_warps; i++) {
    PtxWarp *w = &m->warps[i];
    w->index = i;
    w->cap_regs = regs * frames;
    w->cap_preds = preds * frames;
    w->regs = ARENA_ARRAY(m->arena, uint64_t, w->cap_regs * PTX_LANES);
    w->taint = ARENA_ARRAY(m->arena, uint32_t, w->cap_regs);
    w->preds = ARENA_ARRAY(m->arena, uint32_t, w->cap_preds);
    w->pred_taint = ARENA_ARRAY(m->arena, uint32_t, w->cap_preds);
    w->fixed = ARENA_ARRAY(m->arena, uint64_t, n_fixed * PTX_LANES);
    for (int c = 0; c < m->module->n_constants; c++)
      for (int l = 0; l < PTX_LANES; l++)
        w->fixed[(PTX_SPECIALS + c) * PTX_LANES + l] = m->module->constants[c];
    for (uint32_t l = 0; l < PTX_LANES; l++) {
      set_launch(m, w, l);
      set_thread(m, w, l);
    }
  }
}

// The byte where the kernel's own shared variables end and the dynamic ones begin.
static int static_end(const PtxModule *module, int kernel) {
  int64_t end = 0, align = 16;
  for (int i = 0; i < module->n_variables; i++) {
    const PtxVariable *v = &module->variables[i];
    const bool counts =
        v->function < 0 || v->function == kernel || !module->functions[v->function].is_kernel;
    if (v->space != PTX_SPACE_SHARED || !counts) continue;
    if (v->is_extern && v->align > align) align = v->align;
    if (v->offset + v->bytes > end) end = v->offset + v->bytes;
  }
  return (int)(end > SMEM_MAX ? SMEM_MAX + 1 : round_up(end, align));
}

static PtxBuffer *add_buffer(PtxMachine *m, const char *name, uint64_t address, int64_t bytes) {
  PtxBuffer *b = ARENA_NEW(m->arena, PtxBuffer);
  *b = (PtxBuffer){.name = name, .address = address, .plane = ptx_plane(m->arena, bytes)};
  b->next = m->buffers;
  m->buffers = b;
  return b;
}

static void place_variables(PtxMachine *m) {
  for (int i = 0; i < m->module->n_variables; i++) {
    const PtxVariable *v = &m->module->variables[i];
    if (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) continue;
    const uint64_t base = v->space == PTX_SPACE_GLOBAL ? PTX_GLOBAL_VARIABLES : PTX_CONST_VARIABLES;
    if (v->bytes == 0) continue;
    PtxBuffer *b = add_buffer(m, v->name, base + (uint64_t)v->offset, v->bytes);
    if (v->init) memcpy(b->plane.bytes, v->init, (size_t)v->bytes);
    memset(b->plane.state, PTX_BYTE_WRITTEN, (size_t)v->bytes);
  }
}

static bool check_extents(const PtxLaunch *launch, Diags *diags) {
  static const int grid_most[3] = {INT32_MAX, 65535, 65535}, block_most[3] = {1024, 1024, 64};
  int64_t threads = 1;
  for (int d = 0; d < 3; d++) {
    threads *= launch->block[d];
    if (launch->grid[d] < 1 || launch->grid[d] > grid_most[d])
      diag_add(diags, "launch", "grid: %d in direction %c, 1 to %d are possible", launch->grid[d],
               'x' + d, grid_most[d]);
    if (launch->block[d] < 1 || launch->block[d] > block_most[d])
      diag_add(diags, "launch", "block: %d in direction %c, 1 to %d are possible", launch->block[d],
               'x' + d, block_most[d]);
  }
  if (threads > THREADS_MAX)
    diag_add(diags, "launch", "block: %lld threads, at most %d", (long long)threads, THREADS_MAX);
  return diags->count == 0;
}

static bool check_launch(const PtxModule *module, const PtxFunction *kernel,
                         const PtxLaunch *launch, Diags *diags) {
  if (!check_extents(launch, diags)) return false;
  const int *block = launch->block;
  const int fixed = static_end(module, (int)(kernel - module->functions));
  if (launch->dynamic_smem < 0 || fixed > SMEM_MAX - launch->dynamic_smem)
    diag_add(diags, "launch",
             "smem: %d B of dynamic shared memory behind %d B, at most %d together",
             launch->dynamic_smem, fixed, SMEM_MAX);
  const int *req = kernel->reqntid;
  if (req[0] > 0 && (block[0] != req[0] || block[1] != req[1] || block[2] != req[2]))
    diag_add(diags, "launch", "block: the kernel asks for %dx%dx%d (.reqntid)", req[0], req[1],
             req[2]);
  const int *max = kernel->maxntid;
  const int64_t most = (int64_t)max[0] * max[1] * max[2];
  if (max[0] > 0 && block[0] * block[1] * block[2] > most)
    diag_add(diags, "launch", "block: %d threads, the kernel takes at most %lld (.maxntid)",
             block[0] * block[1] * block[2], (long long)most);
  return diags->count == 0;
}

PtxMachine *ptx_machine_new(Arena *arena, const PtxModule *module, const PtxFunction *kernel,
                            const PtxLaunch *launch, Diags *diags) {
  if (!check_launch(module, kernel, launch, diags)) return NULL;
  PtxMachine *m = ARENA_NEW(arena, PtxMachine);
  m->arena = arena;
  m->module = module;
  m->kernel = kernel;
  m->launch = *launch;
  m->budget = launch->budget;
  m->n_threads = launch->block[0] * launch->block[1] * launch->block[2];
  m->n_warps = (m->n_threads + PTX_LANES - 1) / PTX_LANES;
  m->static_smem = static_end(module, (int)(kernel - module->functions));
  m->shared = ptx_plane(arena, m->static_smem + launch->dynamic_smem);
  m->shadow = ARENA_ARRAY(arena, PtxShadow, m->shared.size + 16);
  m->local_bytes = round_up(module->local_bytes, 16);
  if (m->local_bytes * m->n_threads > (INT64_C(1) << 28)) {
    diag_add(diags, "launch", "%lld B of local memory for each of %d threads is too much",
             (long long)m->local_bytes, m->n_threads);
    return NULL;
  }
  m->local = ptx_plane(arena, m->local_bytes * m->n_threads);
  m->param = ptx_plane(arena, kernel->param_bytes);
  memset(m->param.state, PTX_BYTE_WRITTEN, (size_t)kernel->param_bytes);
  m->executions = ARENA_ARRAY(arena, int64_t, module->n_code + 1);
  m->findings = ARENA_ARRAY(arena, PtxFinding, PTX_FINDINGS_MAX + 1);
  m->warps = ARENA_ARRAY(arena, PtxWarp, m->n_warps);
  m->next_buffer = PTX_BUFFERS;
  make_warps(m);
  place_variables(m);
  return m;
}

uint64_t ptx_machine_buffer(PtxMachine *m, const char *name, int64_t bytes, const void *contents,
                            PtxContent content) {
  const uint64_t address = m->next_buffer;
  PtxBuffer *b = add_buffer(m, name, address, bytes);
  if (contents) memcpy(b->plane.bytes, contents, (size_t)bytes);
  if (content != PTX_CONTENT_UNWRITTEN) memset(b->plane.state, PTX_BYTE_WRITTEN, (size_t)bytes);
  m->next_buffer += (uint64_t)round_up(bytes + (1 << 20), 1 << 20);
  return address;
}

void ptx_machine_param(PtxMachine *m, int index, const void *value, int64_t bytes) {
  const PtxParam *param = &m->kernel->params[index];
  memcpy(m->param.bytes + param->offset, value,
         (size_t)(bytes < param->bytes ? bytes : param->bytes));
}

void ptx_machine_watch(PtxMachine *m, PtxAccessSink *sink, void *self) {
  m->sink = sink;
  m->sink_self = self;
}

const void *ptx_machine_bytes(const PtxMachine *m, uint64_t address, int64_t bytes) {
  const PtxBuffer *b = ptx_buffer_at(m, address);
  if (!b || address - b->address + (uint64_t)bytes > (uint64_t)b->plane.size) return NULL;
  return b->plane.bytes + (address - b->address);
}

int ptx_machine_findings(const PtxMachine *m) { return m->n_findings; }
const PtxFinding *ptx_machine_finding(const PtxMachine *m, int index) {
  return &m->findings[index];
}
int64_t ptx_machine_lane_instructions(const PtxMachine *m) { return m->executed; }
int64_t ptx_machine_executions(const PtxMachine *m, int pc) { return m->executions[pc]; }
int64_t ptx_machine_approximations(const PtxMachine *m) { return m->approximations; }
int ptx_machine_smem_bytes(const PtxMachine *m) { return (int)m->shared.size; }
int ptx_machine_static_smem(const PtxMachine *m) { return m->static_smem; }
