// Parts of an exported text: whole lines each.
#pragma once
#include "base/str.h"
#include "kernels/toolchain/plan.h"
#include "model/ir/names.h"
#include "model/text/emit.h"
#include "model/words/target.h"

// The flags by which nvcc compiles for the target alone.
const char *export_arch_flags(Arena *arena, const Target *target);
// The heading of the emitted text, what the host's part includes, and the kernels.
void export_add_kernels(Str *out, const Emission *emission, const Plan *plan);
// struct Operands, and the function that launches all kernels on one; `stream`: on on.stream.
void export_add_launches(Str *out, const Emission *emission, const Program *program,
                         const Plan *plan, bool stream);
// map_of(), where a kernel takes maps.
void export_add_map_function(Str *out, const Plan *plan);
// Statements that fill on.A_map from on.A, and that let kernels have their shared memory.
void export_add_maps(Str *out, const Emission *emission, const Plan *plan);
void export_add_attributes(Str *out, const Emission *emission);

// ---- of attention -------------------------------------------------------------------------------

// Sizes, the rows that are checked, the factor of the scores, operations of one launch.
void export_attention_sizes(Str *out, const Plan *plan);
// The kernel that compares rows with float64: whole lines.
extern const char export_attention_check[];

// ---- of a block-scaled product ------------------------------------------------------------------

// typedefs, element(), number() of factors and results, set() of operands, and what fills factors.
void export_scaled_types(Str *out, const Problem *problem);
// Where a factor lies, and the kernel that checks cells.
const char *export_scaled_check(Arena *arena, const Problem *problem);
// Operands and factors are allocated and filled, C is left unwritten.
const char *export_scaled_fill(Arena *arena, const Problem *problem);
