// The faults of a run, folded: findings of one kind at the same pair of source lines are one, with
// a count. The instructions and threads in its text come from the first time.
//
// A line is its place in the user's own text (ptx_own_loc) with the calls that it was inlined into.
// Where the text gives no places, it is a line of PTX. The report has room for a fixed number of
// pairs of lines; for the others it says how often something was found there. A finding that ends a
// run is kept in any case.
//
//   a loop unrolled eight times without its barrier: one race, "512 times"
#include "base/hash.h"
#include "base/str.h"
#include "order/order_words.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_sync.h"

const char *const ptx_finding_names[PTX_FINDINGS] = {
#define FINDING(id, name, help) [PTX_FINDING_##id] = name,
#include "ptx/run/finding.def"
};
const char *const ptx_finding_helps[PTX_FINDINGS] = {
#define FINDING(id, name, help) [PTX_FINDING_##id] = help,
#include "ptx/run/finding.def"
};

// ---- lines --------------------------------------------------------------------------------------

static uint64_t key_of_loc(const PtxModule *module, const uint64_t *keys, int loc) {
  const PtxLoc *l = &module->locs[loc];
  // The place of a call stands in front of what was inlined there.
  const uint64_t outer =
      l->inlined_at >= 0 && l->inlined_at < loc ? keys[l->inlined_at] : HASH_START;
  const int place[2] = {l->file, l->line};
  return hash_bytes(outer, place, sizeof place);
}

const uint64_t *ptx_line_keys(Arena *arena, const PtxModule *module) {
  uint64_t *keys = ARENA_ARRAY(arena, uint64_t, module->n_locs + 1);
  uint64_t *own = ARENA_ARRAY(arena, uint64_t, module->n_locs + 1);
  for (int loc = 0; loc < module->n_locs; loc++) keys[loc] = key_of_loc(module, keys, loc);
  for (int loc = 0; loc < module->n_locs; loc++) own[loc] = keys[ptx_own_loc(module, loc)];
  return own;
}

// Equal for instructions of one line; -1 for none.
static uint64_t line_of(const PtxMachine *m, int pc) {
  if (pc < 0) return UINT64_MAX;
  const PtxInst *i = &m->module->code[pc];
  return i->loc >= 0 ? m->line_keys[i->loc] : (uint64_t)i->line;
}

// ---- keeping ------------------------------------------------------------------------------------

static bool ends_runs(PtxFindingKind kind) {
  return kind == PTX_FINDING_OUT_OF_BOUNDS || kind == PTX_FINDING_MISALIGNED ||
         kind == PTX_FINDING_NOT_RUN || kind == PTX_FINDING_TRAP || kind == PTX_FINDING_UNKNOWN ||
         kind == PTX_FINDING_DEADLOCK || kind == PTX_FINDING_MBARRIER ||
         kind == PTX_FINDING_TENSOR_MEMORY || kind == PTX_FINDING_DEPTH;
}

static PtxFinding *find_kept(PtxMachine *m, PtxFindingKind kind, uint64_t line, uint64_t other) {
  if (m->n_findings == 0) return NULL;
  // Most often it is the last one again.
  for (int n = 0, i = m->last_finding; n < m->n_findings; n++, i = (i + 1) % m->n_findings) {
    PtxFinding *f = &m->findings[i];
    if (f->kind != kind || f->lines[0] != line || f->lines[1] != other) continue;
    m->last_finding = i;
    return f;
  }
  return NULL;
}

// A place for one more; where there is none, one that is overwritten.
static PtxFinding *make_room(PtxMachine *m, PtxFindingKind kind) {
  if (m->n_findings >= PTX_FINDINGS_MAX && !ends_runs(kind)) {
    m->findings_left_out++;
    return &m->finding_left_out;
  }
  if (m->n_findings == m->cap_findings) {
    const int capacity = 2 * m->cap_findings + 64;
    PtxFinding *larger = ARENA_ARRAY(m->arena, PtxFinding, capacity);
    if (m->n_findings) memcpy(larger, m->findings, sizeof *larger * (size_t)m->n_findings);
    m->findings = larger;
    m->cap_findings = capacity;
  }
  m->last_finding = m->n_findings;
  return &m->findings[m->n_findings++];
}

PtxFinding *ptx_find(PtxMachine *m, PtxWarp *w, PtxFindingKind kind, int pc, int other_pc,
                     uint32_t lanes) {
  uint64_t line = line_of(m, pc), other = line_of(m, other_pc);
  // Which side of a race came first is an accident of the run.
  if (kind == PTX_FINDING_RACE && line > other) {
    const uint64_t first = line;
    line = other;
    other = first;
  }
  // Nothing that follows from memory that is not at hand is a fault.
  if (m->beyond) return &m->keeper->finding_left_out;
  PtxFinding *f = find_kept(m->keeper, kind, line, other);
  if (f) {
    f->count++;
    if (f->warp == w->in_block && memcmp(f->block, w->block->index, sizeof f->block) == 0)
      f->lanes |= lanes;
    return f;
  }
  f = make_room(m->keeper, kind);
  *f = (PtxFinding){.kind = kind,
                    .pc = pc,
                    .other_pc = other_pc,
                    .thread = -1,
                    .other_thread = -1,
                    .lanes = lanes,
                    .warp = w->in_block,
                    .count = 1,
                    .lines = {line, other}};
  if (lanes) f->thread = ptx_thread_of_block(m, ptx_thread(w, __builtin_ctz(lanes)));
  memcpy(f->block, w->block->index, sizeof f->block);
  memcpy(f->other_block, w->block->index, sizeof f->block);
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

int ptx_machine_findings(const PtxMachine *m) { return m->n_findings; }
const PtxFinding *ptx_machine_finding(const PtxMachine *m, int index) {
  return &m->findings[index];
}
int64_t ptx_machine_findings_left_out(const PtxMachine *m) { return m->findings_left_out; }

// ---- everybody waits ----------------------------------------------------------------------------

// The mbarrier that a lane asks about.
static const PtxMbarrier *asked_for(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane) {
  const PtxGroup *address = &i->groups[1];
  const PtxArg base = m->module->args[address->at];
  const PtxFrame *frame = &w->splits[w->now].calls[w->splits[w->now].depth];
  const uint8_t *bits = m->module->functions[frame->function].reg_bits;
  const uint64_t sum = ptx_lanes(m, w, address, 0)[lane] + (uint64_t)address->offset;
  PtxSpace space = i->space == PTX_SPACE_GENERIC ? PTX_SPACE_GENERIC : PTX_SPACE_SHARED;
  const PtxPlace place =
      ptx_place(m, ptx_thread(w, (int)lane), &space, base >= 0 ? ptx_cut(sum, bits[base]) : sum, 8);
  for (int n = 0; place.bytes && n < m->n_mbarriers; n++)
    if (m->mbarriers[n].address == place.offset) return &m->mbarriers[n];
  return NULL;
}

static void tell_mbarrier(PtxMachine *m, PtxFinding *f, const PtxMbarrier *b) {
  f->address = (uint64_t)ptx_smem_offset(m, b->address);
  f->space = PTX_SPACE_SHARED;
  f->bytes = 8;
  f->text = arena_printf(m->arena, "the warp waits for an mbarrier; %s",
                         order_phases_text(m->arena, &b->order->phases));
}

static const char *waits_text(PtxMachine *m, const PtxWarp *w, const PtxSplit *s) {
  if (s->state == PTX_WAITS_CLUSTER)
    return arena_printf(m->arena,
                        "the warp waits at the cluster's barrier, where %d of %d threads are",
                        m->cluster_barrier.arrived, m->alive);
  if (s->state == PTX_WAITS_WARP)
    return arena_printf(m->arena, "the lanes wait for lanes 0x%08x of their warp", s->wants);
  if (s->state != PTX_WAITS_BARRIER) return NULL;
  const PtxBarrier *b = &w->block->barriers[s->barrier];
  return arena_printf(m->arena, "the warp waits at barrier %d, where %d of %d threads are",
                      s->barrier, b->arrived, b->expected > 0 ? b->expected : w->block->alive);
}

static void tell_split(PtxMachine *m, PtxWarp *w, int index) {
  PtxSplit *s = &w->splits[index];
  const bool polls = w->yields && w->poll >= 0 && s->state == PTX_RUNS;
  // A barrier sends its lanes on behind itself as they come to it.
  const int waits_at = s->state == PTX_WAITS_WARP || s->pc == 0 ? s->pc : s->pc - 1;
  const int pc = polls ? w->poll : s->state == PTX_RUNS ? s->pc : waits_at;
  ptx_load_split(w, index);
  PtxFinding *f = ptx_find(m, w, PTX_FINDING_DEADLOCK, pc, -1, s->mask);
  if (f->count > 1 || !s->mask) return;
  const PtxInst *i = ptx_meant(&m->module->code[pc]);
  const PtxMbarrier *b = polls && i->run == run_mbarrier_test
                             ? asked_for(m, w, i, (uint32_t)__builtin_ctz(s->mask))
                             : NULL;
  if (b)
    tell_mbarrier(m, f, b);
  else
    f->text = waits_text(m, w, s);
}

void ptx_tell_deadlock(PtxMachine *m) {
  for (int i = 0; i < m->n_warps; i++)
    for (int s = 0; s < m->warps[i].n_splits; s++) tell_split(m, &m->warps[i], s);
}
