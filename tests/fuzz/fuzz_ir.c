// Texts of programs from anywhere: no crash, nothing read outside, an end in time. What is read
// prints to a text that is read as the same; what could run is emitted and, where it is small, run.
#include <assert.h>
#include <string.h>

#include "model/interp/interp.h"
#include "model/ir/launch.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/ir/program.h"
#include "model/text/emit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 1 << 14, FMA_MAX = 1 << 15, STEPS_MAX = 20000, BLOCKS_MAX = 64 };

static bool is_small(const Program *program) {
  const Problem *problem = &program->problem;
  for (int k = 0; k < program->n_kernels; k++)
    if (kernel_launch(&program->kernel[k]).n_blocks > BLOCKS_MAX) return false;
  return problem->m < 256 && problem->n < 256 && problem->k < 256 &&
         problem->m * problem->n * problem->k <= FMA_MAX && interpret_bytes(program) < 0x1p24;
}

static void try_program(Arena *arena, const Program *program) {
  const char *text = program_text_full(arena, program);
  Diags diags = diags_new(arena);
  const Program *again = program_parse(arena, text, strlen(text), "again", &diags);
  assert(again && strcmp(program_text_full(arena, again), text) == 0);
  if (interpret_fault(arena, program)) return;
  if (!emit_fault(arena, program)) assert(emit_cuda(arena, program, &(EmitOptions){0})->length > 0);
  if (!is_small(program)) return;
  InterpOptions options = {.seed = 1, .runs = 1, .step_limit = STEPS_MAX, .stop_at_first = true};
  InterpCheck check = interpret_check(arena, program, &options);
  assert(!check.ok || check.n_wrong == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > TEXT_MAX) return 0;
  Arena *arena = arena_new("fuzz");
  Diags diags = diags_new(arena);
  const Program *program = program_parse(arena, (const char *)data, size, "fuzz", &diags);
  assert((program == NULL) == (diags.count == 1));
  if (program) try_program(arena, program);
  arena_free(arena);
  return 0;
}
