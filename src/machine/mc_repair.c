// Candidates → the module with one instruction wrapped → a run.
#include "machine/mc_repair.h"

#include <stdlib.h>
#include <string.h>

#include "machine/back/mc_follow.h"
#include "machine/mc_handed.h"
#include "machine/mc_issue.h"

enum {
  SETTING_UP = 20000,  // lane instructions that a trial costs beside its own
  NEAR = 48,           // instructions in front of one or behind it that are tried
  GROUPS_MAX = 16,
  FIRST = 2,  // of the hints: the instruction itself, and the other one that it may be
};

// Registers behind each other that belong together.
typedef struct Group {
  PtxArg at;
  int n;
} Group;

typedef struct Trial {
  int pc;
  bool writes;
  PtxArg was, is;
  int n;
  PtxRun *run;        // the instruction's own
  bool keeps_writes;  // it writes what it reads in another place
} Trial;

static _Thread_local const Trial *trial;

// ---- the wrapped instruction --------------------------------------------------------------------

typedef struct Rows {
  uint64_t lanes[MC_REGISTERS_OF_ONE][PTX_LANES];
} Rows;

static bool is_pred(PtxArg reg) { return reg >= MC_FRAME_T; }

static void take(PtxWarp *w, PtxArg from, int n, Rows *out) {
  for (int k = 0; k < n; k++)
    for (int l = 0; l < PTX_LANES; l++)
      out->lanes[k][l] =
          is_pred(from) ? w->frame_preds[from - MC_FRAME_T] >> l & 1 : mc_lanes(w, from + k)[l];
}

static void put(PtxWarp *w, PtxArg to, int n, uint32_t mask, const Rows *rows) {
  for (int k = 0; k < n; k++) FOR_LANES(mask) {
      if (!is_pred(to)) {
        mc_lanes(w, to + k)[l] = rows->lanes[k][l];
        continue;
      }
      uint32_t *bits = &w->frame_preds[to - MC_FRAME_T];
      *bits = (*bits & ~(1u << l)) | (uint32_t)rows->lanes[k][l] << l;
    }
}

static void run_wrapped(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const Trial *t = trial;
  const uint32_t lanes = i->machine->is_uniform ? ~0u : mask;
  Rows before, other;
  take(w, t->was, t->n, &before);
  if (!t->writes) {
    take(w, t->is, t->n, &other);
    put(w, t->was, t->n, ~0u, &other);
  }
  t->run(m, w, i, mask);
  if (t->writes && !w->again) {
    take(w, t->was, t->n, &other);
    put(w, t->was, t->n, lanes, &before);
    put(w, t->is, t->n, lanes, &other);
  }
  if (!t->writes) put(w, t->was, t->n, w->again || !t->keeps_writes ? ~0u : ~lanes, &before);
}

// ---- a trial ------------------------------------------------------------------------------------

typedef struct Search {
  Arena *arena;
  const PtxModule *module;
  PtxModule patched;
  McLeaves *leaves;
  void *self;
  McFlow flow;
  int64_t lanes, lanes_most;
  bool by_one_bit;  // only registers whose numbers differ in one bit
  McRepair out;
} Search;

static bool is_over(const Search *s) { return s->out.found || s->lanes > s->lanes_most; }

static bool writes_any(const PtxInst *inst, const Group *g) {
  PtxArg regs[MC_FLOW_SOURCES];
  for (int i = mc_flow_writes(inst, regs) - 1; i >= 0; i--)
    if (regs[i] >= g->at && regs[i] < g->at + g->n) return true;
  return false;
}

// Whether the module is right as it is patched now.
static bool is_right(Search *s) {
  int64_t lanes = 0;
  const bool right = s->leaves(s->self, &s->patched, &lanes);
  s->lanes += lanes + SETTING_UP;
  s->out.tried++;
  s->out.found = right;
  return right;
}

static bool is_one_bit(PtxArg a, PtxArg b) {
  const PtxArg first = is_pred(a) ? MC_FRAME_T : 0;  // UR and UP begin at multiples of theirs
  const unsigned changed = (unsigned)(a - first) ^ (unsigned)(b - first);
  return changed && !(changed & (changed - 1));
}

// Whether an instruction reads a register that nobody writes, where the code has one.
static bool lacks(const Search *s, int pc, PtxArg reg) {
  PtxArg regs[MC_FLOW_SOURCES];
  for (int i = mc_flow_reads(&s->module->code[pc], regs) - 1; i >= 0; i--)
    if (regs[i] == reg) return !mc_flow_is_written(&s->flow, pc, pc, reg);
  return false;
}

// Where code reads what nobody writes, one bit that makes it right ends that.
static bool leaves_unwritten(const Search *s, int pc, bool writes, PtxArg is) {
  bool has_any = false;
  for (int at = 0; at < s->module->n_code; at++) {
    if (!s->flow.is_unwritten[at]) continue;
    if (writes ? lacks(s, at, is) : at == pc) return false;
    has_any = true;
  }
  return has_any;
}

static bool has_register(const PtxInst *inst, bool writes, PtxArg reg) {
  PtxArg regs[MC_FLOW_SOURCES];
  for (int i = (writes ? mc_flow_writes(inst, regs) : mc_flow_reads(inst, regs)) - 1; i >= 0; i--)
    if (regs[i] == reg) return true;
  return false;
}

// Whether an instruction is the only one that reads a register since it was written: reading
// another one it leaves a result without a reader.
static bool is_only_reader(const Search *s, int pc, PtxArg reg) {
  if (mc_flow_is_read(&s->flow, pc, reg) && !has_register(&s->module->code[pc], true, reg))
    return false;
  for (int at = pc - 1; at >= 0 && !has_register(&s->module->code[at], true, reg); at--)
    if (has_register(&s->module->code[at], false, reg)) return false;
  return true;
}

static void attempt(Search *s, int pc, bool writes, const Group *g, PtxArg is) {
  if (is_over(s) || is == g->at) return;
  if (s->by_one_bit && (!is_one_bit(g->at, is) || leaves_unwritten(s, pc, writes, is) ||
                        (!writes && is_only_reader(s, pc, g->at))))
    return;
  PtxInst *inst = &s->patched.code[pc];
  const Trial now = {.pc = pc,
                     .writes = writes,
                     .was = g->at,
                     .is = is,
                     .n = g->n,
                     .run = inst->run,
                     .keeps_writes = writes_any(inst, g)};
  trial = &now;
  inst->run = run_wrapped;
  const bool right = is_right(s);
  inst->run = now.run;
  trial = NULL;
  if (!right) return;
  s->out.kind = writes ? MC_REPAIR_RESULT : MC_REPAIR_SOURCE;
  s->out.pc = pc;
  s->out.was = g->at;
  s->out.is = is;
  s->out.n = g->n;
}

// ---- the registers of an instruction ------------------------------------------------------------

static void add_group(Group out[GROUPS_MAX], int *n, PtxArg at, int registers) {
  for (int i = 0; i < *n; i++)
    if (out[i].at == at && out[i].n == registers) return;
  if (*n < GROUPS_MAX) out[(*n)++] = (Group){at, registers};
}

// The pairs and fours of operands, as their first register says.
static void add_operands(const PtxInst *inst, bool writes, Group out[GROUPS_MAX], int *n) {
  const McStep *step = inst->machine;
  for (int i = 0; step && i < step->n; i++) {
    const McOperand *o = &step->operands[i];
    if (!o->present || o->n < 2 || (o->letter == 'd') != writes) continue;
    bool is_run = o->arg[0] >= 0 && o->arg[o->n - 1] < MC_FRAME_B;
    for (int k = 1; k < o->n && is_run; k++) is_run = o->arg[k] == o->arg[0] + k;
    if (is_run) add_group(out, n, o->arg[0], o->n);
  }
  for (int g = 0; step && !writes && g < step->n_gathers; g++) {
    const McGather *gather = &step->gathers[g];
    if (gather->low >= 0 && gather->high == gather->low + 1 && gather->high < MC_FRAME_B)
      add_group(out, n, gather->low, 2);
    if (gather->uniform >= 0 && gather->uniform_high == gather->uniform + 1)
      add_group(out, n, gather->uniform, 2);
  }
}

static bool is_in_group(const Group *g, int n, PtxArg reg) {
  for (int i = 0; i < n; i++)
    if (reg >= g[i].at && reg < g[i].at + g[i].n) return true;
  return false;
}

// Registers that belong together change together.
static int groups_of(const PtxInst *inst, bool writes, Group out[GROUPS_MAX]) {
  PtxArg regs[MC_FLOW_SOURCES];
  const int n = writes ? mc_flow_writes(inst, regs) : mc_flow_reads(inst, regs);
  int groups = 0;
  add_operands(inst, writes, out, &groups);
  const int together = groups;
  for (int i = 0; i < n; i++)
    if (!is_in_group(out, together, regs[i])) add_group(out, &groups, regs[i], 1);
  return groups;
}

// R with R, UR with UR, P with P.
static int kind_of(PtxArg reg) {
  if (reg >= MC_FRAME_T + MC_FRAME_UP) return 3;
  if (is_pred(reg)) return 2;
  return reg >= MC_FRAME_UR;
}

// ---- what is tried ------------------------------------------------------------------------------

// The result of an instruction belongs into a register that is read behind it.
static void try_results(Search *s, int pc) {
  Group g[GROUPS_MAX];
  const int n = groups_of(&s->patched.code[pc], true, g);
  for (int i = 0; i < n && !is_over(s); i++)
    for (PtxArg reg = 0; reg < MC_FOLLOWED && !is_over(s); reg++)
      if (kind_of(reg) == kind_of(g[i].at) && mc_flow_is_read(&s->flow, pc, reg))
        attempt(s, pc, true, &g[i], reg);
}

// The same, into one of the registers that another instruction reads.
static void try_result_for(Search *s, int pc, int reader) {
  Group g[GROUPS_MAX], of[GROUPS_MAX];
  const int n = groups_of(&s->patched.code[pc], true, g),
            n_of = groups_of(&s->patched.code[reader], false, of);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n_of && !is_over(s); k++)
      if (kind_of(of[k].at) == kind_of(g[i].at)) attempt(s, pc, true, &g[i], of[k].at);
}

// A source of an instruction is a register that another one wrote.
static void try_source(Search *s, int pc, PtxArg reg) {
  Group g[GROUPS_MAX];
  const int n = groups_of(&s->patched.code[pc], false, g);
  for (int i = 0; i < n && !is_over(s); i++)
    if (kind_of(g[i].at) == kind_of(reg)) attempt(s, pc, false, &g[i], reg);
}

// A lost result: it went to the wrong register, another took its place, or nobody reads it who
// should.
static void try_lost(Search *s, int pc) {
  const int to = s->flow.lost_to[pc];
  Group g[GROUPS_MAX];
  if (to >= 0) try_results(s, to);
  try_results(s, pc);
  const int n = groups_of(&s->patched.code[pc], true, g);
  const int end = to > pc ? to : s->module->n_code - 1;
  for (int at = pc + 1; at <= end && at <= pc + 2 * NEAR && !is_over(s); at++)
    for (int i = 0; i < n; i++) try_source(s, at, g[i].at);
}

static bool is_near(const Search *s, int pc, PtxArg reg) {
  return mc_flow_is_read(&s->flow, pc, reg) || mc_flow_is_written(&s->flow, pc, NEAR, reg);
}

static void try_sources(Search *s, int pc) {
  for (PtxArg reg = 0; reg < MC_FOLLOWED && !is_over(s); reg++)
    if (is_near(s, pc, reg)) try_source(s, pc, reg);
}

// Registers that were written long before and are read no more: the wrong source may have been the
// last to read them.
static void try_old_sources(Search *s, int pc) {
  for (PtxArg reg = 0; reg < MC_FOLLOWED && !is_over(s); reg++)
    if (!is_near(s, pc, reg) && mc_flow_is_written(&s->flow, pc, pc, reg)) try_source(s, pc, reg);
}

static void try_near(Search *s, int pc) {
  for (int at = pc - 1; at >= 0 && at >= pc - NEAR && !is_over(s); at--) try_result_for(s, at, pc);
}

static bool is_at(const Search *s, int pc) { return pc >= 0 && pc < s->module->n_code; }

// Lost results, for the instructions that the way back names: into one of their sources, or read by
// them.
static void try_dead_for(Search *s, const int *hints, int n_hints) {
  for (int pc = 0; pc < s->module->n_code; pc++)
    for (int i = 0; i < n_hints && i < FIRST && s->flow.is_dead[pc] && !is_over(s); i++) {
      Group g[GROUPS_MAX];
      if (!is_at(s, hints[i]) || pc == hints[i]) continue;
      try_result_for(s, pc, hints[i]);
      const int n = groups_of(&s->patched.code[pc], true, g);
      for (int k = 0; k < n; k++) try_source(s, hints[i], g[k].at);
    }
}

// All registers of an instruction.
static void try_whole(Search *s, int pc) {
  if (!is_at(s, pc)) return;
  try_results(s, pc);
  try_sources(s, pc);
}

// ---- guards -------------------------------------------------------------------------------------

static void try_guard(Search *s, int pc, int pred, bool is_not) {
  PtxInst *inst = &s->patched.code[pc];
  const PtxInst as_it_is = *inst;
  if (is_over(s) || (pred == inst->guard && is_not == inst->guard_not)) return;
  if (s->by_one_bit && pred != inst->guard &&
      !is_one_bit(MC_FRAME_T + pred, MC_FRAME_T + inst->guard))
    return;
  inst->guard = pred;
  inst->guard_not = is_not;
  if (is_right(s)) {
    s->out.kind = MC_REPAIR_GUARD;
    s->out.pc = pc;
    s->out.was = MC_FRAME_T + as_it_is.guard;
    s->out.is = MC_FRAME_T + pred;
    s->out.n = 1;
    s->out.is_not = is_not;
  }
  *inst = as_it_is;
}

static bool has_guard(const Search *s, int pc) {
  const int guard = s->module->code[pc].guard;
  return guard >= 0 && guard != MC_PT && guard != MC_FRAME_UP + MC_PT;
}

// One trial for each.
static void try_opposite_guards(Search *s) {
  for (int pc = 0; pc < s->module->n_code; pc++)
    if (has_guard(s, pc))
      try_guard(s, pc, s->module->code[pc].guard, !s->module->code[pc].guard_not);
}

static void try_other_guards(Search *s) {
  for (int pc = 0; pc < s->module->n_code; pc++) {
    const int first =
        has_guard(s, pc) && s->module->code[pc].guard >= MC_FRAME_UP ? MC_FRAME_UP : 0;
    for (int pred = first; has_guard(s, pc) && pred < first + MC_PT; pred++)
      if (mc_flow_is_written(&s->flow, pc, pc, MC_FRAME_T + pred))
        try_guard(s, pc, pred, s->module->code[pc].guard_not);
  }
}

// Every instruction, those in front of the place from the nearest on, then those behind it.
static void sweep(Search *s, int from) {
  for (int i = 0; i < s->module->n_code && !is_over(s); i++) {
    const int pc = i <= from ? from - i : i;
    try_results(s, pc);
    try_sources(s, pc);
  }
  for (int i = 0; i < s->module->n_code && !is_over(s); i++)
    try_old_sources(s, i <= from ? from - i : i);
}

// ---- the other way to say it --------------------------------------------------------------------

// The reader of the register that is written instead, the writer of the one that is read instead,
// or who made the guard: the next one as the code stands.
static int next_counterpart(const Search *s, const McRepair *r) {
  const bool reads = r->kind == MC_REPAIR_RESULT;
  const PtxArg reg = r->kind == MC_REPAIR_GUARD ? r->was : r->is;
  const int step = reads ? 1 : -1;
  for (int pc = r->pc + step; pc >= 0 && pc < s->module->n_code; pc += step)
    if (has_register(&s->module->code[pc], !reads, reg)) return pc;
  return MC_NOWHERE;
}

// The same fault said of another instruction: where I should write R3, not R2, a later one that
// reads R3 may be the wrong one and should read R2. It is the one with which memory is right, too.
static int counterpart(Search *s, McRepair *second) {
  enum { TRIALS = 12 };
  const McRepair first = s->out;
  const bool reads = first.kind == MC_REPAIR_RESULT;
  const int step = reads ? 1 : -1, tried = first.tried;
  int found = MC_NOWHERE;
  s->out.found = false;
  for (int pc = first.pc + step; pc >= 0 && pc < s->module->n_code && found < 0; pc += step) {
    Group g[GROUPS_MAX];
    if (first.kind == MC_REPAIR_GUARD || is_over(s) || s->out.tried - tried >= TRIALS) break;
    const int n = groups_of(&s->module->code[pc], !reads, g);
    for (int i = 0; i < n && found < 0; i++) {
      if (g[i].at != first.is) continue;
      attempt(s, pc, !reads, &g[i], first.was);
      if (s->out.found) found = pc;
      if (s->out.found) *second = s->out;
    }
  }
  const int trials = s->out.tried;
  s->out = first;
  s->out.tried = trials;
  return found >= 0 ? found : next_counterpart(s, &first);
}

static McSwap swap_of(const McRepair *r) {
  return (McSwap){r->kind == MC_REPAIR_RESULT, r->was, r->is, r->n};
}

// How much likelier the code is with the repair than without.
static int gain_of(const Search *s, const McRepair *r) {
  const McSwap swap = swap_of(r);
  const PtxInst *inst = &s->module->code[r->pc];
  return mc_likeness(s->module, r->pc, inst, &swap) - mc_likeness(s->module, r->pc, inst, NULL) +
         MC_ISSUE_WORTH * (mc_issue_misfits(s->module, MC_NOWHERE, NULL, NULL) -
                           mc_issue_misfits(s->module, r->pc, &swap, NULL));
}

// Both make memory right, the one that writes and the one that reads: the wrong one is that with
// the register in which a compiler would not hand the value on, else that which the way back names.
static void put_likelier_first(Search *s, int named) {
  McRepair second = {.found = false};
  const McRepair first = s->out;
  s->out.or_pc = counterpart(s, &second);
  if (!second.found) return;
  const bool writes = first.kind == MC_REPAIR_RESULT;
  const McHanded handed = {.writer = writes ? first.pc : second.pc,
                           .reader = writes ? second.pc : first.pc,
                           .in = first.is,
                           .or_in = first.was,
                           .n = first.n};
  const int odds = mc_handed_in(s->module, &handed);
  s->out.or_is_as_likely = abs(odds) <= MC_EVEN;
  if (odds > 0 || (odds == 0 && second.pc != named)) return;
  second.tried = s->out.tried;
  second.or_pc = first.pc;
  second.or_is_as_likely = s->out.or_is_as_likely;
  s->out = second;
}

static Search begin(Arena *arena, const PtxModule *module, McLeaves *leaves, void *self,
                    int64_t lanes) {
  const int n = module->n_code;
  Search s = {.arena = arena,
              .module = module,
              .patched = *module,
              .leaves = leaves,
              .self = self,
              .lanes_most = lanes};
  s.out = (McRepair){.pc = MC_NOWHERE, .or_pc = MC_NOWHERE};
  s.flow = mc_flow(arena, module->code, n);
  s.patched.code = ARENA_ARRAY(arena, PtxInst, n + 1);
  memcpy(s.patched.code, module->code, sizeof *module->code * (size_t)n);
  return s;
}

static McRepair end(Search *s, const int *hints, int n_hints) {
  if (s->out.found) put_likelier_first(s, n_hints ? hints[0] : MC_NOWHERE);
  if (s->out.found) s->out.gain = gain_of(s, &s->out);
  return s->out;
}

static void try_named(Search *s, const int *hints, int n_hints) {
  const int n = s->module->n_code;
  try_dead_for(s, hints, n_hints);
  for (int pc = 0; pc < n && !is_over(s); pc++)
    if (s->flow.is_dead[pc]) try_lost(s, pc);
  for (int i = 0; i < n_hints && i < FIRST && !is_over(s); i++) try_whole(s, hints[i]);
  for (int i = FIRST; i < n_hints && !is_over(s); i++)
    if (is_at(s, hints[i])) try_sources(s, hints[i]);
  try_opposite_guards(s);
  for (int pc = 0; pc < n && !is_over(s); pc++)
    if (s->flow.is_unwritten[pc]) {
      try_sources(s, pc);
      try_near(s, pc);
    }
  for (int i = 0; i < n_hints && !is_over(s); i++)
    if (is_at(s, hints[i])) try_near(s, hints[i]);
  for (int i = 0; i < n_hints && !is_over(s); i++)
    if (is_at(s, hints[i])) try_old_sources(s, hints[i]);
  try_other_guards(s);
}

McRepair mc_repair(Arena *arena, const PtxModule *module, McLeaves *leaves, void *self,
                   const int *hints, int n_hints, int64_t lanes, McRepairWhere where) {
  Search s = begin(arena, module, leaves, self, lanes);
  s.by_one_bit = where == MC_REPAIR_ONE_BIT;
  if (where != MC_REPAIR_SWEEP) try_named(&s, hints, n_hints);
  s.by_one_bit = false;
  if (where >= MC_REPAIR_SWEEP) sweep(&s, n_hints && hints[0] > 0 ? hints[0] : 0);
  return end(&s, hints, n_hints);
}

static const char *register_name(Arena *arena, PtxArg reg) {
  static const struct {
    PtxArg from;
    const char *name;
  } rows[] = {{MC_FRAME_T + MC_FRAME_UP, "UP"},
              {MC_FRAME_T, "P"},
              {MC_FRAME_B, "B"},
              {MC_FRAME_UR, "UR"},
              {MC_FRAME_R, "R"}};
  size_t i = 0;
  while (reg < rows[i].from) i++;
  return arena_printf(arena, "%s%d", rows[i].name, reg - rows[i].from);
}

const char *mc_repair_text(Arena *arena, const McRepair *r) {
  const char *was = register_name(arena, r->was), *is = register_name(arena, r->is);
  if (r->kind == MC_REPAIR_GUARD)
    return arena_printf(arena, "its guard should be @%s%s", r->is_not ? "!" : "", is);
  return arena_printf(arena, "it should %s %s, not %s",
                      r->kind == MC_REPAIR_RESULT ? "write" : "read", is, was);
}
