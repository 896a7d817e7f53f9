// Other names for the passes here: deplodock, the compiler of the fp32 article, and CuTe.
//
//   dialect_text(arena, &pipeline, 3)    "t:040 bundle buffered[2@(k_o % 2)]"
//
// Their compiler has three stages where this program has one: LoopOp, the nest of a product as it
// is found (--ir loop); TileOp, its loops bound to tiers and its copies in bundles (--ir tile); the
// kernel, statement by statement (--ir kernel), which is printed as CUDA (--ir cuda). Its passes
// are numbered, t: in the tile stage, k: in the kernel stage.
#pragma once
#include "model/passes/pass.h"

// One line about a stage of the pipeline (0: the naive nest), its numbers read off the program;
// NULL when the pass has no counterpart there.
const char *dialect_text(Arena *arena, const Pipeline *pipeline, int stage);
