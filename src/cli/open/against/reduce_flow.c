// Registers that instructions read and write: as the text says, and as a run of it does.
#include <string.h>

#include "base/str.h"
#include "cli/open/against/reduce_parts.h"
#include "ptx/run/run.h"

// Registers, and predicates behind them.
typedef struct Use {
  int reg;
  bool written;
} Use;

typedef struct Uses {
  Use *uses;
  int n;
  bool is_pure;  // without a reader of its results it is not needed
} Uses;

static void add_args(const PtxModule *module, const PtxFunction *kernel, const PtxGroup *g,
                     Uses *out) {
  const int behind = g->kind == PTX_GROUP_PRED ? kernel->n_regs : 0;
  for (int n = 0; n < g->n && g->kind != PTX_GROUP_SINK; n++) {
    const PtxArg arg = module->args[g->at + n];
    if (arg >= 0) out->uses[out->n++] = (Use){arg + behind, g->written};
  }
}

static void add_actuals(const PtxActual *actuals, int n, bool written, Uses *out) {
  for (int i = 0; i < n; i++)
    if (actuals[i].in_register && actuals[i].reg >= 0)
      out->uses[out->n++] = (Use){actuals[i].reg, written};
}

static bool is_call(const PtxInst *i) { return i->row && i->row->operands[0] == 'f'; }

static Uses uses_of(Arena *arena, const PtxModule *module, const PtxFunction *kernel,
                    const PtxInst *i) {
  Uses out = {0};
  int most = i->pair.n + 1;
  const PtxCall *call = is_call(i) ? &module->calls[i->call] : NULL;
  for (int g = 0; g < i->n_groups; g++) most += i->groups[g].n;
  if (call) most += call->n_args + call->n_results;
  out.uses = ARENA_ARRAY(arena, Use, most + 1);
  bool has_address = false;
  for (int g = 0; g < i->n_groups; g++) {
    add_args(module, kernel, &i->groups[g], &out);
    has_address |= i->groups[g].kind == PTX_GROUP_ADDRESS;
  }
  if (i->pair.n) add_args(module, kernel, &i->pair, &out);
  if (i->guard >= 0) out.uses[out.n++] = (Use){i->guard + kernel->n_regs, false};
  if (call) {
    add_actuals(call->args, call->n_args, false, &out);
    add_actuals(call->results, call->n_results, true, &out);
  }
  out.is_pure = !call && i->row && (!has_address || str_starts(i->row->name, "ld"));
  return out;
}

// ---- the closure --------------------------------------------------------------------------------

typedef struct Flow {
  int n, n_regs;
  Uses *uses;  // by instruction
  int *piece;
  int *before[2], *now[2];  // by register: instructions that read it, that write it
} Flow;

static bool mentions(const Uses *u, int reg, bool written) {
  for (int k = 0; k < u->n; k++)
    if (u->uses[k].reg == reg && u->uses[k].written == written) return true;
  return false;
}

// An instruction counts once for a register, and not as one that reads what it writes itself.
static void count(const Flow *f, int inst, int *const counts[2], int by) {
  const Uses *u = &f->uses[inst];
  for (int k = 0; k < u->n; k++) {
    const Use use = u->uses[k];
    bool again = false;
    for (int j = 0; j < k && !again; j++)
      again = u->uses[j].reg == use.reg && u->uses[j].written == use.written;
    if (!again && !mentions(u, use.reg, !use.written)) counts[use.written][use.reg] += by;
  }
}

static bool lacks_source(const Flow *f, int inst) {
  const Uses *u = &f->uses[inst];
  for (int k = 0; k < u->n; k++) {
    const int reg = u->uses[k].reg;
    if (!u->uses[k].written && f->before[1][reg] && !f->now[1][reg]) return true;
  }
  return false;
}

static bool lacks_reader(const Flow *f, int inst, bool keeps_dead) {
  const Uses *u = &f->uses[inst];
  bool writes = false, was_read = false;
  for (int k = 0; k < u->n; k++) {
    const int reg = u->uses[k].reg;
    if (!u->uses[k].written) continue;
    writes = true;
    was_read |= f->before[0][reg] > 0;
    if (f->now[0][reg]) return false;
  }
  return writes && (was_read || !keeps_dead) && u->is_pure;
}

void flow_close(PieceText *t, const PtxModule *module, const PtxFunction *kernel, bool keeps_dead) {
  Flow f = {.n = t->n_insts, .n_regs = kernel->n_regs + kernel->n_preds + 1};
  f.uses = ARENA_ARRAY(t->arena, Uses, f.n + 1);
  f.piece = ARENA_ARRAY(t->arena, int, f.n + 1);
  for (int which = 0; which < 2; which++) {
    f.before[which] = ARENA_ARRAY(t->arena, int, f.n_regs);
    f.now[which] = ARENA_ARRAY(t->arena, int, f.n_regs);
  }
  for (int i = 0, inst = 0; i < t->n; i++)
    if (t->pieces[i].kind == PIECE_INST) f.piece[inst++] = i;
  for (int inst = 0; inst < f.n; inst++) {
    f.uses[inst] = uses_of(t->arena, module, kernel, &module->code[kernel->first + inst]);
    count(&f, inst, f.before, 1);
    if (t->pieces[f.piece[inst]].kept) count(&f, inst, f.now, 1);
  }
  for (bool again = true; again;) {
    again = false;
    for (int inst = 0; inst < f.n; inst++) {
      Piece *p = &t->pieces[f.piece[inst]];
      if (!p->kept || !(lacks_source(&f, inst) || lacks_reader(&f, inst, keeps_dead))) continue;
      p->kept = false;
      count(&f, inst, f.now, -1);
      again = true;
    }
  }
}

// ---- a run --------------------------------------------------------------------------------------

typedef struct FlowWarp {
  int block[3];
  uint32_t *written;  // by register: lanes
} FlowWarp;

FlowRun flow_run_new(Arena *arena, const PtxFunction *kernel) {
  FlowRun run = {.arena = arena, .kernel = kernel, .unwritten_pc = -1};
  const int n = kernel->end - kernel->first;
  run.first = ARENA_ARRAY(arena, uint64_t, n + 1);
  run.last = ARENA_ARRAY(arena, uint64_t, n + 1);
  run.all = ARENA_ARRAY(arena, uint64_t, n + 1);
  run.has_run = ARENA_ARRAY(arena, bool, n + 1);
  return run;
}

static uint32_t *written_of(FlowRun *run, const PtxWarp *w) {
  const int n_regs = run->kernel->n_regs + run->kernel->n_preds + 1;
  if (w->index >= run->n_warps) {
    const int n = 2 * w->index + 8;
    FlowWarp *more = ARENA_ARRAY(run->arena, FlowWarp, n);
    if (run->n_warps) memcpy(more, run->warps, sizeof *more * (size_t)run->n_warps);
    run->warps = more;
    run->n_warps = n;
  }
  FlowWarp *warp = &run->warps[w->index];
  const bool same = warp->written && memcmp(warp->block, w->block->index, sizeof warp->block) == 0;
  if (!warp->written) warp->written = ARENA_ARRAY(run->arena, uint32_t, n_regs);
  if (!same) memset(warp->written, 0, sizeof *warp->written * (size_t)n_regs);
  memcpy(warp->block, w->block->index, sizeof warp->block);
  return warp->written;
}

static void look_at_value(FlowRun *run, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  const PtxInst *i = &m->module->code[pc];
  const PtxGroup *g = i->n_groups ? &i->groups[0] : NULL;
  const int at = pc - run->kernel->first;
  if (!g || !g->written || g->n != 1 || g->kind == PTX_GROUP_SINK || g->kind == PTX_GROUP_ADDRESS)
    return;
  FOR_LANES(mask) {
    const uint64_t value =
        g->kind == PTX_GROUP_PRED ? ptx_pred(m, w, g) >> l & 1 : ptx_lanes(m, w, g, 0)[l];
    if (!run->has_run[at]) run->first[at] = value;
    run->last[at] = value;
    run->all[at] = (run->all[at] ^ (value + l)) * UINT64_C(0x9e3779b97f4a7c15) ^ run->all[at] >> 29;
    run->has_run[at] = true;
  }
}

void flow_trace(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  FlowRun *run = self;
  if (pc < run->kernel->first || pc >= run->kernel->end) return;
  const PtxInst *i = &m->module->code[pc];
  uint32_t *written = written_of(run, w);
  const int n_regs = run->kernel->n_regs;
  uint32_t missing = i->guard >= 0 ? mask & ~written[n_regs + i->guard] : 0;
  for (int pass = 0; pass < 2; pass++)
    for (int n = 0; n <= i->n_groups; n++) {
      const PtxGroup *g = n < i->n_groups ? &i->groups[n] : &i->pair;
      const int behind = g->kind == PTX_GROUP_PRED ? n_regs : 0;
      for (int k = 0; k < g->n && g->kind != PTX_GROUP_SINK && g->written == (pass == 1); k++) {
        const PtxArg arg = m->module->args[g->at + k];
        if (arg < 0) continue;
        if (pass == 0) missing |= mask & ~written[arg + behind];
        if (pass == 1) written[arg + behind] |= mask;
      }
    }
  if (is_call(i)) {
    const PtxCall *call = &m->module->calls[i->call];
    for (int k = 0; k < call->n_results; k++)
      if (call->results[k].in_register && call->results[k].reg >= 0)
        written[call->results[k].reg] |= mask;
  }
  if (missing && run->unwritten_pc < 0) run->unwritten_pc = pc;
  look_at_value(run, m, w, pc, mask);
}
