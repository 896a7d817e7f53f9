// The documents of `gemmview why --json`.
#include "base/str.h"
#include "cli/common/documents.h"
#include "cli/common/why/why.h"
#include "kernels/toolchain/machine/clock_form.h"

static const ClockTold *told_of(Arena *arena, const Why *why) {
  ClockTold *told = ARENA_NEW(arena, ClockTold);
  *told = (ClockTold){why->answer, why->what_if};
  return told;
}

#define FORM_FILE "cli/common/why/why.form"
#include "base/form_make.h"

void why_print_json(const Why *why) {
  cli_print_document(why->arena, why->compiled ? &why_form : &why_cubin_form, why, why);
}
