// data/clock/sm_CC.json and the row of a GPU → the machine that is played.
#include "kernels/toolchain/machine/clock_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank.h"
#include "base/embed.h"
#include "base/str.h"
#include "base/whole.h"

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

// The document that `root` borrows from; NULL: it states all facts itself.
static const JsonValue *find_lender(Arena *arena, const JsonValue *root, Diags *diags) {
  const char *arch = root ? clock_machine_borrows(root, diags) : NULL;
  return arch ? read_file(arena, atoi(arch + strcspn(arch, "0123456789")), diags) : NULL;
}

// Clocks that a tensor core needs for HMMA.16816, from what the data sheet promises. Worked
// example: A100, 312 TFLOP/s, 108 SMs at 1,410 MHz: 512 FLOP a clock and core, 8 clocks.
static int tensor_clocks(const Target *target) {
  enum { FLOP = 2 * 16 * 8 * 16, CORES = 4 };
  const double a_clock = target->bf16_tflops * 1e6 / (target->boost_mhz * target->sm_count * CORES);
  return target_knows(target->bf16_tflops) ? max_int(1, (int)lround(FLOP / a_clock)) : 0;
}

// The facts that the rows of GPUs say already, of an architecture that was not measured.
static void take_published(const Target *target, ClockMachine *machine) {
  enum { LANES = 32 };
  const int tensor = tensor_clocks(target);
  int *pipe = machine->pipe_clocks;
  pipe[SASS_PIPE_FMA] = (int)ceil_div(LANES * machine->schedulers, target->fp32_lanes_per_sm);
  if (tensor) {
    pipe[SASS_PIPE_TENSOR] = tensor;
    machine->tensor_half_clocks = max_int(1, tensor / 2);
    if (target_knows(target->f16_f16_tflops))
      machine->f16_sums_share = target->bf16_tflops / target->f16_f16_tflops;
  }
  if (target_knows(target->l1_clk)) machine->near_clocks = target->l1_clk;
  if (target_knows(target->l2_clk)) machine->far_clocks = target->l2_clk;
  if (target_knows(target->dram_clk)) machine->dram_clocks = target->dram_clk;
  if (target_knows(target->l2_gbps))
    machine->far_bytes = target->l2_gbps * 1e3 / (target->boost_mhz * target->sm_count);
}

bool clock_facts_read(Arena *arena, const Target *target, ClockMachine *machine) {
  Diags diags = diags_new(arena);
  const JsonValue *root = read_file(arena, target->cc, &diags),
                  *lender = find_lender(arena, root, &diags);
  if (lender && !clock_machine_read(lender, machine, &diags)) return false;
  if (lender) take_published(target, machine);
  return root && clock_machine_read(root, machine, &diags);
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
