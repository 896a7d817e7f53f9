// Our own kernels, whose text is data/kernels/problem.cu.
//
// fill_normal   Box-Muller on a counter: cell i depends on (seed, i) only, so A is the same matrix
//               whatever the launch looks like. Rounded to the type it is stored as; 8-bit
//               integers are 32 times as large, of elements of 4 bits both are drawn at once.
//               Matrices may be positive, badly scaled, or such that their products cancel
//               (plan.h, PlanData): cell i is then element i / along % k of row i / across % rows.
// product_f64   (of block-scaled operands each element times its factor) 64 × 64 cells of C by 16 ×
// 16 threads of 4 × 4 cells, both sums (a·b and |a·b|) in
//               one pass. A thread's cells lie 16 apart, so shared memory is read without
//               conflicts. Some two thirds of the FP64 rate: 8192³ in about 0.1 s on an H200.
// attention_f64 a query's block goes through its keys 256 at a time, with a running maximum; a
// thread
//               has a key's score and then a column of O.
// compare       every cell against expected ± bound; a wrong one is counted once in total and once
//               in its rectangle of the error map. `!(error <= bound)`: NaN is wrong.
// count_changed words that no longer hold the guard's pattern.
// spin          one thread waits; what is launched meanwhile queues up behind it.
//
// Types are PlanType's numbers; tf32 operands are stored as f32.
#include "kernels/device/problem_kernels.h"

#include "base/embed.h"
#include "kernels/device/gpu.h"

const char *const helper_names[GPU_N_HELPERS] = {"fill_normal", "product_f64",   "attention_f64",
                                                 "compare",     "count_changed", "spin"};

const char *helper_cuda(Arena *arena) { return embed_find(arena, "kernels/problem.cu")->text; }
