// Registers by bits → who reads behind an instruction (backwards), who has written in front of it
// (forwards).
#include "machine/mc_flow.h"

#include <string.h>

#include "base/str.h"
#include "machine/back/mc_follow.h"
#include "machine/mc_cubin.h"

enum { WORDS = (MC_FOLLOWED + 63) / 64 };

typedef struct McFlowSet {
  uint64_t bits[WORDS];
} Set;

static void put(Set *set, PtxArg reg) {
  if (reg >= 0 && reg < MC_FOLLOWED) set->bits[reg / 64] |= UINT64_C(1) << (reg % 64);
}
static bool has(const Set *set, PtxArg reg) {
  return reg >= 0 && reg < MC_FOLLOWED && set->bits[reg / 64] >> (reg % 64) & 1;
}
static const Set everything = {{~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull}};

// ---- an instruction -----------------------------------------------------------------------------

typedef struct List {
  PtxArg *out;
  int n;
} List;

static void add(List *list, PtxArg reg) {
  if (reg >= 0 && reg < MC_FOLLOWED && list->n < MC_FLOW_SOURCES) list->out[list->n++] = reg;
}

// Numbers and words of constant banks stand behind the registers; barriers are no values.
static void add_register(List *list, PtxArg reg) {
  if (reg < MC_FRAME_B) add(list, reg);
}

static bool is_true(PtxArg pred) { return pred == MC_PT || pred == MC_FRAME_UP + MC_PT; }

// A register inside of an address or of a place in a constant bank.
static void add_inside(List *list, const McRead *read) {
  if (read->number != MC_NO_REGISTER && read->number != MC_RZ) add(list, MC_FRAME_R + read->number);
  if (read->uniform != MC_NO_REGISTER && read->uniform != MC_URZ)
    add(list, MC_FRAME_UR + read->uniform);
}

int mc_flow_reads(const PtxInst *inst, PtxArg out[MC_FLOW_SOURCES]) {
  List list = {out, 0};
  const McStep *step = inst->machine;
  if (inst->guard >= 0 && !is_true(inst->guard)) add(&list, MC_FRAME_T + inst->guard);
  if (!step) return list.n;
  for (int n = 0; n < step->n; n++) {
    const McOperand *o = &step->operands[n];
    if (!o->present || strchr("dpeix", o->letter)) continue;
    if (o->letter == 'q' && !is_true(o->arg[0])) add(&list, MC_FRAME_T + o->arg[0]);
    if (strchr("ck", o->letter)) add_inside(&list, o->read);
    if (strchr("qatckojv", o->letter)) continue;
    for (int k = 0; k < o->n; k++) add_register(&list, o->arg[k]);
  }
  for (int g = 0; g < step->n_gathers; g++) {
    const McGather *gather = &step->gathers[g];
    const PtxArg args[] = {gather->low, gather->high, gather->uniform, gather->uniform_high};
    for (int k = 0; k < 4; k++) add_register(&list, args[k]);
  }
  return list.n;
}

int mc_flow_writes(const PtxInst *inst, PtxArg out[MC_FLOW_SOURCES]) {
  List list = {out, 0};
  const McStep *step = inst->machine;
  for (int n = 0; step && n < step->n; n++) {
    const McOperand *o = &step->operands[n];
    if (!o->present) continue;
    if (o->letter == 'p' && !is_true(o->arg[0])) add(&list, MC_FRAME_T + o->arg[0]);
    for (int k = 0; k < o->n && strchr("de", o->letter); k++)
      if (o->arg[k] < MC_FRAME_T) add(&list, o->arg[k]);
  }
  return list.n;
}

static bool is_one_of(const PtxInst *inst, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (str_equal(inst->machine->op->name, names[i])) return true;
  return false;
}

bool mc_flow_is_untold(const PtxInst *inst) {
  static const char *const names[] = {"HGMMA", "IGMMA", "QGMMA"};
  return inst->machine && is_one_of(inst, names, sizeof names / sizeof *names);
}

// Whether any of the registers that the kernel has may be read or written there, or behind it.
static bool is_opaque(const PtxInst *inst) {
  static const char *const names[] = {"CALL", "RET", "BRX", "P2R", "R2P", "WARPSYNC"};
  return !inst->machine || mc_flow_is_untold(inst) ||
         is_one_of(inst, names, sizeof names / sizeof *names);
}

// A word of the launch, such as the descriptor of global memory, may have no reader that tells.
static bool is_of_launch(const PtxInst *inst) {
  enum { PARAMETERS = 0x160 };  // in front of the parameters of every architecture, but for 0x208
  const McStep *step = inst->machine;
  for (int n = 0; n < step->n; n++) {
    const McOperand *o = &step->operands[n];
    if (o->present && o->letter == 'c' && (o->read->value < PARAMETERS || o->read->value == 0x208))
      return true;
  }
  return false;
}

// Whether it does more than to write registers.
static bool has_effect(const PtxInst *inst) {
  if (is_of_launch(inst)) return true;
  static const char *const names[] = {"ATOM", "RED",  "SYNCS", "UTMA",
                                      "BAR",  "SHFL", "VOTE",  "ELECT"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_starts(inst->machine->op->name, names[i])) return true;
  return false;
}

// ---- the code -----------------------------------------------------------------------------------

typedef struct McFlowNode {
  Set reads, writes;
  bool opaque, always;  // always: no guard
  int next[2];          // MC_NOWHERE: none
} Node;

static Node node_of(const PtxInst *code, int pc, int n) {
  const PtxInst *inst = &code[pc];
  PtxArg regs[MC_FLOW_SOURCES];
  Node out = {.opaque = is_opaque(inst), .always = inst->guard == PTX_PRED_TRUE};
  const char *name = inst->machine ? inst->machine->op->name : "";
  const bool branches = str_equal(name, "BRA");
  bool unconditional = out.always;
  for (int i = 0; branches && i < inst->machine->n; i++)
    unconditional &=
        !inst->machine->operands[i].present || inst->machine->operands[i].letter != 'q';
  const bool ends = unconditional && (branches || str_equal(name, "EXIT"));
  out.next[0] = !ends && pc + 1 < n ? pc + 1 : MC_NOWHERE;
  out.next[1] = branches && inst->target >= 0 && inst->target < n ? inst->target : MC_NOWHERE;
  for (int i = mc_flow_reads(inst, regs) - 1; i >= 0; i--) put(&out.reads, regs[i]);
  for (int i = mc_flow_writes(inst, regs) - 1; i >= 0; i--) put(&out.writes, regs[i]);
  return out;
}

static bool sets_predicates(const PtxInst *inst) {
  return inst->machine && str_equal(inst->machine->op->name, "R2P");
}

// The registers that an opaque instruction may read, or write: those that some instruction does,
// and all predicates, if R2P writes them; any at all where an instruction does not tell its own.
static Set any_of(const PtxInst *code, const Node *node, int n, bool writes) {
  Set out = {{0}};
  bool has_all = !writes;
  for (int pc = 0; pc < n; pc++) has_all |= !code[pc].machine || sets_predicates(&code[pc]);
  for (PtxArg pred = MC_FRAME_T; pred < MC_FOLLOWED && has_all; pred++) put(&out, pred);
  for (int pc = 0; pc < n; pc++) {
    if (mc_flow_is_untold(&code[pc])) return everything;
    for (int i = 0; i < WORDS; i++)
      out.bits[i] |= writes ? node[pc].writes.bits[i] : node[pc].reads.bits[i];
  }
  return out;
}

// The registers that are read behind each instruction.
static Set *read_behind(Arena *arena, const Node *node, int n, const Set *any) {
  Set *behind = ARENA_ARRAY(arena, Set, n + 1), *before = ARENA_ARRAY(arena, Set, n + 1);
  for (bool moved = true; moved;) {
    moved = false;
    for (int pc = n - 1; pc >= 0; pc--) {
      const Node *at = &node[pc];
      Set live = {{0}};
      for (int way = 0; way < 2; way++)
        for (int i = 0; i < WORDS && at->next[way] >= 0; i++)
          live.bits[i] |= before[at->next[way]].bits[i];
      behind[pc] = live;
      for (int i = 0; i < WORDS; i++) {
        if (at->always) live.bits[i] &= ~at->writes.bits[i];
        live.bits[i] |= at->opaque ? any->bits[i] : at->reads.bits[i];
      }
      moved |= memcmp(&live, &before[pc], sizeof live) != 0;
      before[pc] = live;
    }
  }
  return behind;
}

// The registers that somebody may have written in front of each instruction.
static Set *written_before(Arena *arena, const Node *node, int n, const Set *any) {
  Set *before = ARENA_ARRAY(arena, Set, n + 1);
  for (bool moved = true; moved;) {
    moved = false;
    for (int pc = 0; pc < n; pc++)
      for (int way = 0; way < 2; way++) {
        const int to = node[pc].next[way];
        for (int i = 0; i < WORDS && to >= 0; i++) {
          const uint64_t more = node[pc].opaque ? any->bits[i] : node[pc].writes.bits[i];
          const uint64_t bits = before[to].bits[i] | before[pc].bits[i] | more;
          moved |= bits != before[to].bits[i];
          before[to].bits[i] = bits;
        }
      }
  }
  return before;
}

// Whether a way leads to each instruction: none leads into routines that are called.
static bool *reached(Arena *arena, const Node *node, int n) {
  bool *out = ARENA_ARRAY(arena, bool, n + 1);
  out[0] = true;
  for (bool moved = true; moved;) {
    moved = false;
    for (int pc = 0; pc < n; pc++)
      for (int way = 0; way < 2 && out[pc]; way++) {
        const int to = node[pc].next[way];
        if (to < 0 || out[to]) continue;
        moved = out[to] = true;
      }
  }
  return out;
}

// The next instruction along a way that writes one of these registers.
static int writer_behind(Arena *arena, const Node *node, int n, int from) {
  int *queue = ARENA_ARRAY(arena, int, 2 * n + 2), head = 0, tail = 0;
  bool *seen = ARENA_ARRAY(arena, bool, n + 1);
  queue[tail++] = from;
  while (head < tail) {
    const int pc = queue[head++];
    for (int way = 0; way < 2; way++) {
      const int to = node[pc].next[way];
      if (to < 0 || seen[to]) continue;
      seen[to] = true;
      for (int i = 0; i < WORDS; i++)
        if (node[to].writes.bits[i] & node[from].writes.bits[i]) return to;
      queue[tail++] = to;
    }
  }
  return MC_NOWHERE;
}

static bool is_lost(const Node *node, const Set *behind) {
  bool writes = false;
  for (int i = 0; i < WORDS; i++) {
    if (node->writes.bits[i] & behind->bits[i]) return false;
    writes |= node->writes.bits[i] != 0;
  }
  return writes;
}

McFlow mc_flow(Arena *arena, const PtxInst *code, int n) {
  Node *node = ARENA_ARRAY(arena, Node, n + 1);
  for (int pc = 0; pc < n; pc++) node[pc] = node_of(code, pc, n);
  const Set read = any_of(code, node, n, false), written = any_of(code, node, n, true);
  const Set *behind = read_behind(arena, node, n, &read),
            *before = written_before(arena, node, n, &written);
  bool *is_dead = ARENA_ARRAY(arena, bool, n + 1), *unwritten = ARENA_ARRAY(arena, bool, n + 1);
  int *lost_to = ARENA_ARRAY(arena, int, n + 1);
  const bool *is_reached = reached(arena, node, n);
  const PtxArg stack = MC_FRAME_R + 1;
  for (int pc = 0; pc < n; pc++) {
    lost_to[pc] = MC_NOWHERE;
    is_dead[pc] = !node[pc].opaque && !has_effect(&code[pc]) && !has(&node[pc].writes, stack) &&
                  is_lost(&node[pc], &behind[pc]);
    if (is_dead[pc]) lost_to[pc] = writer_behind(arena, node, n, pc);
    for (int i = 0; i < WORDS && !node[pc].opaque && is_reached[pc]; i++)
      unwritten[pc] |= (node[pc].reads.bits[i] & ~before[pc].bits[i]) != 0;
  }
  return (McFlow){is_dead, unwritten, lost_to, node, behind};
}

bool mc_flow_is_read(const McFlow *flow, int pc, PtxArg reg) { return has(&flow->behind[pc], reg); }

bool mc_flow_is_written(const McFlow *flow, int pc, int n, PtxArg reg) {
  for (int at = pc - 1; at >= 0 && at >= pc - n; at--)
    if (has(&flow->node[at].writes, reg)) return true;
  return false;
}

// ---- by the text --------------------------------------------------------------------------------

bool mc_writes_register(const McStep *step, PtxArg reg) {
  for (int n = 0; n < step->n; n++) {
    const McOperand *o = &step->operands[n];
    if (!o->present || (o->letter != 'd' && o->letter != 'p')) continue;
    const int behind = o->letter == 'p' ? MC_FRAME_T : 0;
    for (int k = 0; k < (behind ? 1 : o->n); k++)
      if (o->arg[k] + behind == reg) return true;
  }
  return false;
}

int mc_dead_predicate(const PtxInst *code, int n_code, int pc) {
  Arena *arena = arena_new("predicates");
  const McFlow flow = mc_flow(arena, code, n_code);
  int at = pc - 1;
  for (; at >= 0; at--) {
    PtxArg regs[MC_FLOW_SOURCES];
    bool has_pred = false;
    for (int i = mc_flow_writes(&code[at], regs) - 1; i >= 0; i--)
      has_pred |= regs[i] >= MC_FRAME_T;
    if (has_pred && flow.is_dead[at]) break;
  }
  arena_free(arena);
  return at >= 0 ? at : MC_NOWHERE;
}
