// The instructions that branches, guards and mbarriers hang on, from the last one to the first: at
// each, the registers are known whose values somebody behind it needs. What sets one of them is
// needed, and needs its operands. Loops are gone through until nothing is added.
//
//   0400 ISETP P0, R4, R9     P0 is needed at 0420: so is this, and R4 and R9 in front of it
//   0410 ISETP P1, R5, R9     nobody needs P1: it guards a load alone
//   0420 @P0 BRA 0300
#include "sass/sass_plan.h"

#include <string.h>

#include "base/str.h"
#include "sass/sass_access.h"
#include "sass/sass_loops.h"

// Registers, uniform registers, predicates of both kinds, and whether spilled values are among
// them.
enum {
  UNIFORM = SASS_REGISTERS,
  PREDICATE = UNIFORM + SASS_UNIFORMS,
  UNIFORM_PREDICATE = PREDICATE + SASS_PREDICATES,
  SPILLED = UNIFORM_PREDICATE + SASS_PREDICATES,
  WORD_BITS = 64,
  WORDS = SPILLED / WORD_BITS + 1,
};

typedef struct Needs {
  uint64_t word[WORDS];
} Needs;

static void need(Needs *needs, int one) { needs->word[one / WORD_BITS] |= 1ULL << one % WORD_BITS; }

static void need_not(Needs *needs, int one) {
  needs->word[one / WORD_BITS] &= ~(1ULL << one % WORD_BITS);
}

static bool is_needed(const Needs *needs, int one) {
  return needs->word[one / WORD_BITS] >> one % WORD_BITS & 1;
}

static void join(Needs *to, const Needs *from) {
  for (int i = 0; i < WORDS; i++) to->word[i] |= from->word[i];
}

// -1: the register that is always 0.
static int place_of(bool uniform, uint32_t number) {
  if (number >= (uniform ? SASS_URZ : SASS_RZ)) return -1;
  return (uniform ? UNIFORM : 0) + (int)number;
}

static void need_register(Needs *needs, bool uniform, uint32_t number) {
  const int place = place_of(uniform, number);
  if (place >= 0) need(needs, place);
}

static int predicate_at(const SassInst *inst, int at, bool uniform) {
  return (uniform ? UNIFORM_PREDICATE : PREDICATE) + (int)sass_field(inst, at, 3);
}

static void need_predicate(Needs *needs, const SassInst *inst, int at, bool uniform) {
  if (sass_field(inst, at, 3) != SASS_ALWAYS) need(needs, predicate_at(inst, at, uniform));
}

static bool orders(const SassInst *inst) {
  const SassKind kind = inst->opcode->kind;
  return kind == SASS_KIND_MBARRIER || kind == SASS_KIND_BARRIER ||
         (kind == SASS_KIND_COPY && inst->opcode->pipe == SASS_PIPE_CONTROL);
}

static bool turns(const SassInst *inst) {
  const SassKind kind = inst->opcode->kind;
  return kind == SASS_KIND_BRANCH || kind == SASS_KIND_EXIT || kind == SASS_KIND_RETURN;
}

static bool spills(const SassInst *inst) { return str_equal(inst->opcode->name, "STL"); }

// Whether a run (sass_run.c) asks for its operands. Of all that is not here nothing is known: sums
// of floats, loads, what lanes exchange.
static bool is_carried_out(const SassInst *inst, const SassEval *eval) {
  static const int others[] = {
      0x086,  // VOTEU
      0x180,  // LD, of a list that was claimed
      0x182,  // LDC
      0x183,  // LDL
      0x184,  // LDS, of such a list
      0x187,  // STL
      0x189,  // SHFL
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (inst->opcode->bits == others[i]) return true;
  return eval || orders(inst);
}

// All that the instruction may read: a register more than it does costs nothing but time.
static void need_sources(Needs *needs, const SassInst *inst, const SassEval *eval) {
  const bool uniform = sass_is_uniform(inst), plain = !eval || eval->bits == SASS_R2UR;
  const unsigned has = eval ? eval->has : 0;
  need_predicate(needs, inst, 12, uniform);
  if (!is_carried_out(inst, eval)) return;
  for (int slot = 0; slot < 3; slot++) {
    if (eval && !(has >> slot & 1)) continue;
    const SassFrom from = slot ? sass_operand_from(inst, slot) : SASS_FROM_REGISTER;
    if (from == SASS_FROM_IMMEDIATE || from == SASS_FROM_CONSTANT) continue;
    const bool of_uniforms = uniform || from == SASS_FROM_UNIFORM;
    const uint32_t number = sass_field(inst, sass_operand_place(inst, slot), of_uniforms ? 6 : 8);
    need_register(needs, of_uniforms, number);
    if (slot == 2 && has & SASS_HAS_C_HIGH) need_register(needs, of_uniforms, number + 1);
  }
  if (str_equal(inst->opcode->name, "LDL")) need(needs, SPILLED);
  // The bytes that an arrival expects stand in a register, whatever its form says of the slot.
  if (inst->opcode->kind == SASS_KIND_MBARRIER)
    need_register(needs, false, sass_field(inst, 32, 8));
  if (plain && orders(inst)) {
    static const int places[] = {24, 32, 64};
    for (int i = 0; i < 3; i++) {
      const uint32_t number = sass_field(inst, places[i], 6);
      need_register(needs, true, number);
      need_register(needs, true, number + 1);
    }
  }
  if (has & SASS_HAS_P || sass_field(inst, 0, 9) == 0x086)
    need_predicate(needs, inst, 87, uniform && eval);
  if (has & SASS_HAS_Q) need_predicate(needs, inst, 77, uniform);
  if (has & SASS_HAS_R) need_predicate(needs, inst, 68, uniform || sass_field(inst, 67, 1));
}

// ---- what an instruction sets -------------------------------------------------------------------

static bool sets_uniform(const SassInst *inst, const SassEval *eval) {
  enum { S2UR = 0x1c3 };
  return sass_is_uniform(inst) || (eval && eval->bits == SASS_R2UR) ||
         sass_field(inst, 0, 9) == S2UR;
}

// Whether it may set the predicate that its bits 81 to 83 name.
static bool may_set_predicate(const SassInst *inst, const SassEval *eval) {
  if (eval) return eval->bits == SASS_R2UR || eval->has & SASS_SETS_P;
  const SassPipe pipe = inst->opcode->pipe;
  return pipe == SASS_PIPE_ALU || pipe == SASS_PIPE_XU || pipe == SASS_PIPE_UNIFORM ||
         pipe == SASS_PIPE_CONTROL;
}

// The registers that it may set, from the first on: one more than it does costs nothing but time.
static int registers_set(const SassInst *inst, const SassEval *eval) {
  enum { CS2R = 0x005 };
  const SassPipe pipe = inst->opcode->pipe;
  if (eval) return eval->has & SASS_HAS_D_HIGH ? 2 : eval->has & SASS_HAS_D ? 1 : 0;
  if (inst->bytes > 0) return (inst->bytes + 3) / 4;
  if (inst->opcode->bits == CS2R) return 2;
  return pipe == SASS_PIPE_ALU || pipe == SASS_PIPE_FMA || pipe == SASS_PIPE_HALF ? 1 : 2;
}

static bool makes_needed(const Needs *needs, const SassInst *inst, const SassEval *eval) {
  const bool uniform = sets_uniform(inst, eval);
  const int n = registers_set(inst, eval);
  const uint32_t number = sass_field(inst, 16, uniform ? 6 : 8);
  if (inst->opcode->kind == SASS_KIND_STORE) return spills(inst) && is_needed(needs, SPILLED);
  if (sass_field(inst, 81, 3) != SASS_ALWAYS && may_set_predicate(inst, eval) &&
      (is_needed(needs, predicate_at(inst, 81, false)) ||
       is_needed(needs, predicate_at(inst, 81, true))))
    return true;
  for (int i = 0; i < n; i++) {
    const int place = place_of(uniform, number + (uint32_t)i);
    if (place >= 0 && is_needed(needs, place)) return true;
  }
  return false;
}

// A value that it sets in all lanes for sure was not needed in front of it.
static void end_needs(Needs *needs, const SassInst *inst, const SassEval *eval) {
  if (sass_field(inst, 12, 3) != SASS_ALWAYS || !eval || eval->bits == SASS_R2UR) return;
  const bool uniform = sass_is_uniform(inst);
  const int place = place_of(uniform, sass_field(inst, 16, uniform ? 6 : 8));
  if (eval->has & SASS_HAS_D && place >= 0) need_not(needs, place);
  if (eval->has & SASS_SETS_P && sass_field(inst, 81, 3) != SASS_ALWAYS)
    need_not(needs, predicate_at(inst, 81, uniform));
}

// ---- addresses ----------------------------------------------------------------------------------

// The first executions of an access are told with their addresses, whenever they come: what these
// hang on when its loop begins, or where it stands in none, is needed too. Inside of the loop it is
// not: its first turns are carried out fully.
typedef struct Reading {
  const SassCode *code;
  const SassEval *const *eval;
  const Needs *begins;  // of each instruction that a loop begins with: what its addresses hang on
  const int *last;      // of the outermost loop around each instruction: where it ends; -1: in none
} Reading;

static void need_address(Needs *needs, const SassInst *inst) {
  const uint32_t number = sass_field(inst, SASS_ADDRESS_AT, 8);
  need_register(needs, false, number);
  need_register(needs, false, number + 1);
  need_register(needs, true, sass_field(inst, 32, 6));
  if (inst->opcode->kind == SASS_KIND_COPY)
    need_register(needs, false, sass_field(inst, SASS_COPY_TO_AT, 8));
  need_predicate(needs, inst, 12, false);
}

static const int *find_ends(Arena *arena, const SassCode *code) {
  enum { LOOPS_MAX = 256 };
  SassLoop loop[LOOPS_MAX];
  const int n = sass_loops(arena, code, loop, LOOPS_MAX);
  int *last = ARENA_ARRAY(arena, int, code->n + 1);
  for (int i = 0; i <= code->n; i++) last[i] = -1;
  for (int k = 0; k < n; k++)
    for (int i = loop[k].first; i <= loop[k].last; i++)
      last[i] = loop[k].last > last[i] ? loop[k].last : last[i];
  return last;
}

// One way through each loop, from its end to its beginning.
static const Needs *find_begins(Arena *arena, const Reading *in) {
  Needs *at = ARENA_ARRAY(arena, Needs, in->code->n + 1);
  for (int i = in->code->n - 1; i >= 0; i--) {
    const SassInst *inst = &in->code->inst[i];
    if (in->last[i] < 0) continue;
    if (i < in->last[i]) at[i] = at[i + 1];
    if (inst->target > i && inst->target <= in->last[i]) join(&at[i], &at[inst->target]);
    if (makes_needed(&at[i], inst, in->eval[i])) {
      end_needs(&at[i], inst, in->eval[i]);
      need_sources(&at[i], inst, in->eval[i]);
    }
    if (sass_accesses(inst)) need_address(&at[i], inst);
  }
  return at;
}

// ---- all of it ----------------------------------------------------------------------------------

// The needs where `to` follows `from`: as it is there, and what a loop begins with.
static void join_needs(const Reading *in, const Needs *at, int from, int to, Needs *out) {
  if (to < 0 || to > in->code->n) return;
  join(out, &at[to]);
  if (in->last[to] >= 0 && in->last[from] != in->last[to]) join(out, &in->begins[to]);
}

// From the needs behind an instruction to those in front of it; whether it is needed itself. Its
// guard is where it is, or where it may turn away.
static bool go_through(const Reading *in, int i, Needs *needs) {
  const SassInst *inst = &in->code->inst[i];
  const bool is = orders(inst) || makes_needed(needs, inst, in->eval[i]);
  if (is) end_needs(needs, inst, in->eval[i]);
  if (is) need_sources(needs, inst, in->eval[i]);
  if (turns(inst)) need_predicate(needs, inst, 12, sass_is_uniform(inst));
  if (in->last[i] < 0 && sass_accesses(inst)) need_address(needs, inst);
  return is;
}

static const bool *find_needed(Arena *arena, const Reading *in) {
  Needs *at = ARENA_ARRAY(arena, Needs, in->code->n + 1);
  bool *out = ARENA_ARRAY(arena, bool, in->code->n + 1), grew = true;
  while (grew) {
    grew = false;
    for (int i = in->code->n - 1; i >= 0; i--) {
      Needs needs = {0};
      join_needs(in, at, i, i + 1, &needs);
      join_needs(in, at, i, in->code->inst[i].target, &needs);
      out[i] = go_through(in, i, &needs);
      grew = grew || memcmp(&needs, &at[i], sizeof needs) != 0;
      at[i] = needs;
    }
  }
  return out;
}

static const SassEval *const *find_evals(Arena *arena, const SassCode *code) {
  const SassEval **out = ARENA_ARRAY(arena, const SassEval *, code->n + 1);
  for (int i = 0; i < code->n; i++) out[i] = sass_eval_find(&code->inst[i]);
  return out;
}

static const int *find_next(Arena *arena, const SassCode *code, const bool *needed) {
  int *out = ARENA_ARRAY(arena, int, code->n + 1);
  out[code->n] = code->n;
  for (int i = code->n - 1; i >= 0; i--)
    out[i] = needed[i] || turns(&code->inst[i]) ? i : out[i + 1];
  return out;
}

const SassPlan *sass_plan(Arena *arena, const SassCode *code) {
  SassPlan *plan = ARENA_NEW(arena, SassPlan);
  plan->code = code;
  plan->eval = find_evals(arena, code);
  Reading in = {.code = code, .eval = plan->eval, .last = find_ends(arena, code)};
  in.begins = find_begins(arena, &in);
  plan->needed = find_needed(arena, &in);
  plan->next = find_next(arena, code, plan->needed);
  return plan;
}
