// data/clock/sm_CC.json and the row of a GPU → the machine that is played.
#include "kernels/toolchain/machine/clock_facts.h"

#include "banks/engine/bank.h"
#include "base/embed.h"
#include "base/str.h"

static const JsonValue *read_file(Arena *arena, int cc, Diags *diags) {
  const char *name = arena_printf(arena, "clock/sm_%d.json", cc);
  const EmbeddedFile *file = embed_find(arena, name);
  return file ? json_parse(arena, file->text, file->size, diags, name) : NULL;
}

double clock_facts_value(Arena *arena, int cc, const char *key) {
  Diags diags = diags_new(arena);
  double value = -1;
  const JsonValue *root = read_file(arena, cc, &diags),
                  *facts = root ? json_require_object(root, "facts", &diags) : NULL,
                  *fact = facts ? json_object_get(facts, key) : NULL;
  return fact && json_require_double(fact, "value", &value, &diags) ? value : -1;
}

bool clock_facts_read(Arena *arena, const Target *target, ClockMachine *machine) {
  Diags diags = diags_new(arena);
  const JsonValue *root = read_file(arena, target->cc, &diags);
  if (!root || !clock_machine_read(root, machine, &diags)) return false;
  return true;
}

void clock_cost_least(const SassCode *code, double *wavefronts, double *far_bytes) {
  for (int i = 0; i < code->n; i++) {
    const SassInst *inst = &code->inst[i];
    const bool loads = inst->opcode->kind == SASS_KIND_LOAD || inst->opcode->kind == SASS_KIND_COPY;
    wavefronts[i] = far_bytes[i] = 0;
    if (inst->opcode->pipe == SASS_PIPE_SHARED)
      wavefronts[i] = inst->bytes > 4 ? inst->bytes / 4.0 : 1;
    if (inst->opcode->pipe == SASS_PIPE_FAR && loads && !str_equal(inst->opcode->name, "LDL"))
      far_bytes[i] = BANK_LANES * inst->bytes;
  }
}
