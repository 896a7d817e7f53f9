// A table of what the compiler makes of every point of a product of knobs: registers, stack, bytes
// that are spilled, and where; beside it what an article's claims have of the same point.
//
//   gemmview resources -k attention/eager_kv,TARGET=rtx3090 --knob FM=1,2 --knob FN=4,8
#pragma once
#include "base/form.h"
#include "kernels/toolchain/nvrtc.h"

bool compile_table_is_asked(int argc, char **argv);  // whether there is a --knob
int compile_table_run(Arena *arena, int argc, char **argv);

bool spills_are_any(const CompiledSpills *spills);
// "11/8 in front of the loop, 82/101 in it, 0/0 behind it": stores and loads, as instructions.
const char *spills_text(Arena *arena, const CompiledSpills *spills);
extern const Form spills_form;
