// Instructions in the order that they stand in → by register who writes it and when, by scoreboard
// who releases it → reads that come too early, waits for nothing.
//
// Only what stands in one row counts: at a place that is gone to, and behind an instruction that
// does not tell its registers, nothing is known of those in front of it.
#include "machine/mc_issue.h"

#include <string.h>

#include "base/str.h"
#include "machine/back/mc_follow.h"
#include "machine/mc_flow.h"
#include "sass/sass_code.h"

// Fields of an instruction's upper half (sass/sass_code.h).
enum { STALL_AT = 105 - 64, WRITES_AT = 110 - 64, READS_AT = 113 - 64, WAIT_AT = 116 - 64 };
enum { NO_BOARD = 7, BOARDS = SASS_SCOREBOARDS, SETTERS = 48, FEW = 2 };

// Clocks between a result and who reads it: IMAD's lower word has come after 3.
enum { CLOCKS = 4, CLOCKS_IMAD = 3 };

static int field(const McStep *step, int at, unsigned mask) {
  return (int)(step->high >> at & mask);
}

typedef struct Registers {
  int n;
  PtxArg of[MC_FLOW_SOURCES];
} Registers;

static bool meet(const Registers *a, const Registers *b) {
  for (int i = 0; i < a->n; i++)
    for (int k = 0; k < b->n; k++)
      if (a->of[i] == b->of[k]) return true;
  return false;
}

// Instructions that have released a scoreboard since it was waited for last.
typedef struct Board {
  bool is_known;  // all of them
  int n, by[SETTERS];
} Board;

typedef struct State {
  const PtxModule *module;
  int pc;  // with other registers than it has; MC_NOWHERE
  const McSwap *swap;
  bool *concerns;
  int n;
  bool *is_target;
  bool has_stack;  // the stack pointer is set
  int clock;
  int writer[MC_FOLLOWED], at[MC_FOLLOWED];  // of a register; MC_NOWHERE
  int reader[MC_FOLLOWED];                   // that releases a scoreboard once it has read
  bool is_open[MC_FOLLOWED];                 // its writer's scoreboard was not waited for
  Board boards[BOARDS];
} State;

// An instruction that does not fit, for another one: each of the two may be wrong.
static void concern(const State *s, int pc) {
  if (s->concerns && pc >= 0) s->concerns[pc] = true;
}

static void swap_registers(const McSwap *swap, bool writes, Registers *of) {
  for (int i = 0; i < of->n && swap->writes == writes; i++)
    if (of->of[i] >= swap->was && of->of[i] < swap->was + swap->n)
      of->of[i] += swap->is - swap->was;
}

static Registers read_by(const State *s, int pc) {
  Registers out;
  out.n = mc_flow_reads(&s->module->code[pc], out.of);
  if (s->swap && pc == s->pc) swap_registers(s->swap, false, &out);
  return out;
}

static Registers written_by(const State *s, int pc) {
  Registers out;
  out.n = mc_flow_writes(&s->module->code[pc], out.of);
  if (s->swap && pc == s->pc) swap_registers(s->swap, true, &out);
  return out;
}

static void misfit(State *s, int pc) {
  s->n++;
  concern(s, pc);
}

static void forget(State *s) {
  for (int reg = 0; reg < MC_FOLLOWED; reg++) s->writer[reg] = s->reader[reg] = MC_NOWHERE;
  memset(s->is_open, 0, sizeof s->is_open);
  memset(s->boards, 0, sizeof s->boards);
}

static const McStep *step_of(const State *s, int pc) { return s->module->code[pc].machine; }

// The barrier at which lanes meet that an instruction names; 0: none.
static PtxArg barrier_of(const PtxInst *inst) {
  const McStep *step = inst->machine;
  for (int i = 0; step && i < step->n; i++)
    if (step->operands[i].present && step->operands[i].letter == 'b')
      return MC_FRAME_B + step->operands[i].read->number;
  return 0;
}

static bool is_named(const McStep *step, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (str_starts(step->op->name, names[i])) return true;
  return false;
}

// Whether it waits for what its operands do not tell.
static bool is_control(const McStep *step) {
  static const char *const names[] = {"BRA",       "EXIT",  "BSSY",   "BSYNC",   "BAR",
                                      "DEPBAR",    "NOP",   "MEMBAR", "ERRBAR",  "CCTL",
                                      "LDGDEPBAR", "UTMA",  "SYNCS",  "UCGABAR", "FENCE",
                                      "ACQ",       "BREAK", "YIELD",  "PRE",     "END"};
  return is_named(step, names, sizeof names / sizeof *names);
}

// Whether it has registers that its operands do not tell, or what stands behind it is not next.
static bool is_opaque(const McStep *step) {
  static const char *const names[] = {"BRX", "CALL",  "RET",   "WARP",  "R2P", "P2R",
                                      "JMP", "HGMMA", "IGMMA", "QGMMA", "UTC"};
  return is_named(step, names, sizeof names / sizeof *names);
}

// Whether nobody comes from it to the next one.
static bool ends_row(const PtxInst *inst) {
  static const char *const names[] = {"BRA", "EXIT"};
  return is_named(inst->machine, names, sizeof names / sizeof *names) &&
         inst->guard == PTX_PRED_TRUE;
}

// ---- what an instruction is -------------------------------------------------------------------

// A fixed time after which its result is there: it releases no scoreboard.
static bool is_fixed(const SassOpcode *op) {
  static const bool of[SASS_PIPE_COUNT] = {[SASS_PIPE_FMA] = true,
                                           [SASS_PIPE_FMA_HEAVY] = true,
                                           [SASS_PIPE_ALU] = true,
                                           [SASS_PIPE_HALF] = true};
  return op && op->kind == SASS_KIND_PLAIN && of[op->pipe];
}

// Its result comes when it comes, and not in its turn: it releases one.
static bool is_far(const SassOpcode *op) {
  return op && op->kind == SASS_KIND_LOAD &&
         (op->pipe == SASS_PIPE_XU || op->pipe == SASS_PIPE_FAR);
}

static void look_at_boards(State *s, int pc) {
  const McStep *step = step_of(s, pc);
  const SassOpcode *op = sass_opcode_find(step->op->name);
  const bool writes = field(step, WRITES_AT, 7) != NO_BOARD,
             reads = field(step, READS_AT, 7) != NO_BOARD;
  if (is_fixed(op) && (writes || reads)) misfit(s, pc);
  if (is_far(op) && !writes) misfit(s, pc);
}

// ---- rows of registers ------------------------------------------------------------------------

static bool is_row(PtxArg first, PtxArg last, int n) {
  const bool is_r = first >= MC_FRAME_R && last < MC_FRAME_R + MC_RZ,
             is_ur = first >= MC_FRAME_UR && last < MC_FRAME_UR + MC_URZ;
  return n > 1 && last == first + n - 1 && (is_r || is_ur);
}

// Two or four registers begin at a multiple of as many.
static bool is_askew(const State *s, int pc, bool writes, PtxArg first, PtxArg last, int n) {
  if (!is_row(first, last, n)) return false;
  const McSwap *swap = s->swap && pc == s->pc && s->swap->writes == writes ? s->swap : NULL;
  const bool is_other = swap && swap->was == first;
  return (is_other ? swap->is : first) % (n == 2 ? 2 : 4) != 0;
}

static void look_at_rows(State *s, int pc) {
  const McStep *step = step_of(s, pc);
  bool askew = false;
  for (int i = 0; i < step->n; i++) {
    const McOperand *o = &step->operands[i];
    if (o->present && o->n > 1)
      askew |= is_askew(s, pc, o->letter == 'd', o->arg[0], o->arg[o->n - 1], o->n);
  }
  for (int g = 0; g < step->n_gathers; g++)
    askew |= is_askew(s, pc, false, step->gathers[g].low, step->gathers[g].high, 2);
  if (askew) misfit(s, pc);
}

// ---- waits ------------------------------------------------------------------------------------

static bool has_reason(const State *s, const Board *b, int board, const Registers *reads,
                       const Registers *writes) {
  for (int i = 0; i < b->n; i++) {
    const McStep *by = step_of(s, b->by[i]);
    const Registers its = written_by(s, b->by[i]), its_reads = read_by(s, b->by[i]);
    const bool gives = field(by, WRITES_AT, 7) == board, has_read = field(by, READS_AT, 7) == board;
    if (gives && (!its.n || meet(&its, reads) || meet(&its, writes))) return true;
    if (has_read && meet(&its_reads, writes)) return true;
  }
  return false;
}

static void wait(State *s, int pc, const Registers *reads, const Registers *writes) {
  const McStep *step = step_of(s, pc);
  const unsigned waits = (unsigned)field(step, WAIT_AT, (1u << BOARDS) - 1);
  for (int board = 0; board < BOARDS; board++) {
    Board *b = &s->boards[board];
    if (!(waits >> board & 1)) continue;
    if (b->is_known && !is_control(step) && !has_reason(s, b, board, reads, writes)) {
      misfit(s, pc);
      for (int i = 0; i < b->n && b->n <= FEW; i++) concern(s, b->by[i]);
    }
    for (int i = 0; i < b->n; i++)
      for (int reg = 0; reg < MC_FOLLOWED; reg++) {
        if (s->writer[reg] == b->by[i] && field(step_of(s, b->by[i]), WRITES_AT, 7) == board)
          s->is_open[reg] = false;
        if (s->reader[reg] == b->by[i]) s->reader[reg] = MC_NOWHERE;
      }
    *b = (Board){.is_known = true};
  }
}

// ---- reads and writes -------------------------------------------------------------------------

static bool is_uniform(PtxArg reg) {
  return (reg >= MC_FRAME_UR && reg < MC_FRAME_T) || reg >= MC_FRAME_T + MC_FRAME_UP;
}

static bool is_early(const State *s, PtxArg reg) {
  const int by = s->writer[reg];
  if (by < 0) return false;
  if (s->is_open[reg]) return true;
  const McStep *step = step_of(s, by);
  if (!is_fixed(sass_opcode_find(step->op->name)) || is_uniform(reg)) return false;
  const int least = str_equal(step->op->name, "IMAD") ? CLOCKS_IMAD : CLOCKS;
  return s->clock - s->at[reg] < least;
}

// Each instruction counts once, whatever it has of registers.
static void look_at_registers(State *s, int pc, const Registers *reads, const Registers *writes) {
  bool is_misfit = false;
  for (int i = 0; i < reads->n + writes->n; i++) {
    const bool is_read = i < reads->n;
    const PtxArg reg = is_read ? reads->of[i] : writes->of[i - reads->n];
    const bool is_open = s->writer[reg] >= 0 && s->is_open[reg],
               is_unread = !is_read && s->reader[reg] >= 0;
    if (is_read ? !is_early(s, reg) : !is_open && !is_unread) continue;
    is_misfit = true;
    concern(s, is_unread ? s->reader[reg] : s->writer[reg]);
  }
  if (is_misfit) misfit(s, pc);
}

static void add_setter(State *s, int board, int pc) {
  if (board == NO_BOARD || board >= BOARDS) return;
  Board *b = &s->boards[board];
  if (b->n == SETTERS)
    *b = (Board){.is_known = false};
  else
    b->by[b->n++] = pc;
}

static void carry_out(State *s, int pc, const Registers *reads, const Registers *writes) {
  const McStep *step = step_of(s, pc);
  const int gives = field(step, WRITES_AT, 7), has_read = field(step, READS_AT, 7);
  for (int i = 0; i < writes->n; i++) {
    const PtxArg reg = writes->of[i];
    s->writer[reg] = pc;
    s->at[reg] = s->clock;
    s->is_open[reg] = gives != NO_BOARD;
    s->reader[reg] = MC_NOWHERE;
  }
  // A predicate is read when the instruction is issued.
  for (int i = 0; i < reads->n && has_read != NO_BOARD; i++)
    if (reads->of[i] < MC_FRAME_T) s->reader[reads->of[i]] = pc;
  add_setter(s, gives, pc);
  if (has_read != gives) add_setter(s, has_read, pc);
  const int stall = field(step, STALL_AT, 15);
  s->clock += stall ? stall : 1;
}

// ---- registers that are kept ------------------------------------------------------------------

static bool is_among(const Registers *of, PtxArg first, int n) {
  for (int i = 0; i < of->n; i++)
    if (of->of[i] >= first && of->of[i] < first + n) return true;
  return false;
}

// Whether an instruction soon behind reads registers that this one keeps, as far as is known.
static bool is_read_soon(const State *s, int pc, PtxArg first, int n) {
  enum { SOON = 16 };  // 9 at most in code of ptxas for sm_90a, 14 for sm_80
  for (int at = pc + 1; at < s->module->n_code && at <= pc + SOON; at++) {
    const PtxInst *inst = &s->module->code[at];
    if (!inst->machine || inst->why || is_opaque(inst->machine)) return true;
    const Registers reads = read_by(s, at), writes = written_by(s, at);
    if (is_among(&reads, first, n)) return true;
    if (is_among(&writes, first, n)) return false;
  }
  return false;
}

static void look_at_kept(State *s, int pc) {
  const McStep *step = step_of(s, pc);
  bool is_in_vain = false;
  for (int i = 0; i < step->n; i++) {
    const McOperand *o = &step->operands[i];
    if (!o->present || !o->read || !o->read->is_kept || o->read->is_uniform) continue;
    if (o->read->kind != MC_REGISTER || o->read->number == MC_RZ) continue;
    PtxArg first = MC_FRAME_R + o->read->number;
    const McSwap *swap = s->swap && pc == s->pc && !s->swap->writes ? s->swap : NULL;
    if (swap && swap->was == first) first = swap->is;
    is_in_vain |= !is_read_soon(s, pc, first, o->n > 0 ? o->n : 1);
  }
  if (!is_in_vain) return;
  misfit(s, pc);
  concern(s, pc + 1);
}

// ---- the stack pointer ------------------------------------------------------------------------

// R1 points at the stack: code sets it once, where it begins, and else adds to it.
static void look_at_stack(State *s, int pc, const Registers *reads, const Registers *writes) {
  const PtxArg stack = MC_FRAME_R + 1;
  if (!is_among(writes, stack, 1)) return;
  const bool is_set = s->has_stack;
  s->has_stack = true;
  if (is_set && !is_among(reads, stack, 1)) misfit(s, pc);
}

// ---- where lanes meet -------------------------------------------------------------------------

// The instruction in front of the place that a BSSY names; MC_NOWHERE.
static int meeting_of(const State *s, int pc) {
  const McStep *step = step_of(s, pc);
  if (!str_equal(step->op->name, "BSSY") || step->reach % MC_BYTES) return MC_NOWHERE;
  const int64_t at = step->reach / MC_BYTES - 1;
  return at > pc && at < s->module->n_code ? (int)at : MC_NOWHERE;
}

static bool meets(const State *s, int pc, PtxArg barrier) {
  const PtxInst *inst = &s->module->code[pc];
  return inst->machine && str_equal(inst->machine->op->name, "BSYNC") &&
         barrier_of(inst) == barrier;
}

// Branches between a BSSY and its BSYNC go to that at the farthest: one to the place behind leaves
// the others waiting.
static void look_at_skips(State *s, int from, int meeting) {
  for (int pc = from + 1; pc < meeting; pc++) {
    const PtxInst *inst = &s->module->code[pc];
    if (!inst->machine || inst->target != meeting + 1 || !str_equal(inst->machine->op->name, "BRA"))
      continue;
    misfit(s, pc);
    concern(s, pc);
  }
}

// BSSY B0 names the place behind a BSYNC B0, and each BSYNC has such a BSSY: in all code of ptxas
// for sm_80, sm_90a and sm_120a.
static void look_at_meetings(State *s) {
  const PtxModule *module = s->module;
  for (int pc = 0; pc < module->n_code; pc++) {
    const PtxArg barrier = barrier_of(&module->code[pc]);
    const bool waits = barrier && meets(s, pc, barrier);
    bool has_place = false;
    for (int by = 0; by < pc && waits && !has_place; by++)
      has_place = barrier_of(&module->code[by]) == barrier && meeting_of(s, by) == pc;
    if (waits && !has_place) misfit(s, pc);
    if (!barrier || !str_equal(step_of(s, pc)->op->name, "BSSY")) continue;
    const int at = meeting_of(s, pc);
    if (at < 0 || !meets(s, at, barrier))
      misfit(s, pc);
    else
      look_at_skips(s, pc, at);
  }
}

// ---- all of it --------------------------------------------------------------------------------

static void find_targets(State *s) {
  for (int pc = 0; pc < s->module->n_code; pc++) {
    const PtxInst *inst = &s->module->code[pc];
    const bool goes = inst->machine && !barrier_of(inst);
    const int64_t to = goes ? inst->machine->reach / MC_BYTES : MC_NOWHERE;
    if (inst->target >= 0 && inst->target < s->module->n_code) s->is_target[inst->target] = true;
    if (to > 0 && to < s->module->n_code) s->is_target[to] = true;
  }
}

static void look_at(State *s, int pc) {
  const PtxInst *inst = &s->module->code[pc];
  const bool is_known = inst->machine && !inst->why && !is_opaque(inst->machine);
  if (s->is_target[pc] || !is_known) forget(s);
  if (!is_known) return;
  const Registers reads = read_by(s, pc), writes = written_by(s, pc);
  look_at_boards(s, pc);
  look_at_rows(s, pc);
  look_at_kept(s, pc);
  look_at_stack(s, pc, &reads, &writes);
  wait(s, pc, &reads, &writes);
  look_at_registers(s, pc, &reads, &writes);
  carry_out(s, pc, &reads, &writes);
  if (ends_row(inst)) forget(s);
}

int mc_issue_misfits(const PtxModule *module, int pc, const McSwap *swap, bool concerns[]) {
  Arena *arena = arena_new("issue");
  State *s = ARENA_NEW(arena, State);
  *s = (State){.module = module, .pc = pc, .swap = swap, .concerns = concerns};
  s->is_target = ARENA_ARRAY(arena, bool, module->n_code + 1);
  find_targets(s);
  forget(s);
  for (int at = 0; at < module->n_code; at++) look_at(s, at);
  look_at_meetings(s);
  const int n = s->n;
  arena_free(arena);
  return n;
}
