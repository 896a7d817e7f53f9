// data/clock/sm_CC.json and the row of a GPU → the machine that is played.
#include "kernels/toolchain/machine/clock_facts.h"

#include "banks/engine/bank.h"
#include "base/embed.h"
#include "base/str.h"

bool clock_facts_read(Arena *arena, const Target *target, ClockMachine *machine) {
  Diags diags = diags_new(arena);
  const char *name = arena_printf(arena, "clock/sm_%d.json", target->cc);
  const EmbeddedFile *file = embed_find(arena, name);
  const JsonValue *root = file ? json_parse(arena, file->text, file->size, &diags, name) : NULL;
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
