// The instructions that branches, guards and mbarriers hang on: from the needed values to their
// operands, until nothing is added.
#include "sass/sass_plan.h"

#include "base/str.h"

typedef struct Needs {
  bool r[SASS_REGISTERS + 4], u[SASS_UNIFORMS + 4], p[SASS_PREDICATES], up[SASS_PREDICATES], grew;
} Needs;

static void need(Needs *needs, bool *one) {
  if (!*one) needs->grew = *one = true;
}

static void need_register(Needs *needs, bool uniform, uint32_t number) {
  if (number < (uniform ? SASS_URZ : SASS_RZ))
    need(needs, uniform ? &needs->u[number] : &needs->r[number]);
}

static void need_predicate(Needs *needs, const SassInst *inst, int at, bool uniform) {
  const uint32_t number = sass_field(inst, at, 3);
  if (number != SASS_ALWAYS) need(needs, uniform ? &needs->up[number] : &needs->p[number]);
}

static bool orders(const SassInst *inst) {
  const SassKind kind = inst->opcode->kind;
  return kind == SASS_KIND_MBARRIER || kind == SASS_KIND_BARRIER ||
         (kind == SASS_KIND_COPY && inst->opcode->pipe == SASS_PIPE_CONTROL);
}

// All that the instruction may read: a register more than it does costs nothing but time.
static void need_sources(Needs *needs, const SassInst *inst, const SassEval *eval) {
  const bool uniform = sass_is_uniform(inst), plain = !eval || eval->bits == SASS_R2UR;
  const unsigned has = eval ? eval->has : 0;
  need_predicate(needs, inst, 12, uniform);
  for (int slot = 0; slot < 3; slot++) {
    if (eval && !(has >> slot & 1)) continue;
    const SassFrom from = slot ? sass_operand_from(inst, slot) : SASS_FROM_REGISTER;
    if (from == SASS_FROM_IMMEDIATE || from == SASS_FROM_CONSTANT) continue;
    const bool of_uniforms = uniform || from == SASS_FROM_UNIFORM;
    const uint32_t number = sass_field(inst, sass_operand_place(inst, slot), of_uniforms ? 6 : 8);
    need_register(needs, of_uniforms, number);
    if (slot == 2 && has & SASS_HAS_C_HIGH) need_register(needs, of_uniforms, number + 1);
  }
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

static bool makes_needed(const Needs *needs, const SassInst *inst, const SassEval *eval) {
  const bool uniform =
      sass_is_uniform(inst) || (eval && eval->bits == 0x0ca) || sass_field(inst, 0, 9) == 0x1c3;
  const int n = inst->bytes > 4 ? inst->bytes / 4 : 2;
  const uint32_t number = sass_field(inst, 16, uniform ? 6 : 8), p = sass_field(inst, 81, 3);
  if (inst->opcode->kind == SASS_KIND_STORE) return str_equal(inst->opcode->name, "STL");
  if (p != SASS_ALWAYS && (needs->p[p] || needs->up[p])) return true;
  for (int i = 0; i < n; i++)
    if (number + (uint32_t)i < (uniform ? SASS_URZ : SASS_RZ) &&
        (uniform ? needs->u[number + (uint32_t)i] : needs->r[number + (uint32_t)i]))
      return true;
  return false;
}

static const bool *find_needed(Arena *arena, const SassCode *code, const SassEval *const *eval) {
  Needs *needs = ARENA_NEW(arena, Needs);
  bool *out = ARENA_ARRAY(arena, bool, code->n + 1);
  do {
    needs->grew = false;
    for (int i = 0; i < code->n; i++) {
      const SassInst *inst = &code->inst[i];
      need_predicate(needs, inst, 12, sass_is_uniform(inst));
      if (!out[i] && (orders(inst) || makes_needed(needs, inst, eval[i])))
        needs->grew = out[i] = true;
      if (out[i]) need_sources(needs, inst, eval[i]);
    }
  } while (needs->grew);
  return out;
}

static const SassEval *const *find_evals(Arena *arena, const SassCode *code) {
  const SassEval **out = ARENA_ARRAY(arena, const SassEval *, code->n + 1);
  for (int i = 0; i < code->n; i++) out[i] = sass_eval_find(&code->inst[i]);
  return out;
}

const SassPlan *sass_plan(Arena *arena, const SassCode *code) {
  SassPlan *plan = ARENA_NEW(arena, SassPlan);
  plan->code = code;
  plan->eval = find_evals(arena, code);
  plan->needed = find_needed(arena, code, plan->eval);
  return plan;
}
