// Tells what the files of tcgen05's family ask of each other: tcgen05.c, and tcgen05_factors.c for
// the scale factors of block-scaled products.
#pragma once
#include "model/ops/tcgen05_text.h"
#include "model/ops/tile_operand.h"

enum { TCGEN05_N_MAX = 256, TCGEN05_SCALES_MAX = 4 };

// Says why the CTAs that do it together are not the CTAs of the other operations; NULL: they are.
const char *tcgen05_group_fault(Arena *arena, const Program *program, const Op *op);
// The blocks that do it together.
uint32_t tcgen05_ranks(const Warp *warp, const Op *op);
// Reports that several lanes reach what one thread must do.
void tcgen05_alone(Machine *machine, const Warp *warp, const Code *code, const char *what);
// Something was asked of the tensor core: early, it is done at once.
void tcgen05_asked(Machine *machine, Warp *warp);
// The access of one lane, which stands for its thread.
Touch tcgen05_touch(const Machine *machine, const Warp *warp, const Code *code);

// ---- factors ------------------------------------------------------------------------------------

// The factors of the rows of A of the block at hand, and of all columns of B as each quarter of the
// lanes has them.
typedef struct TensorFactors {
  double a[TENSOR_LANES][TCGEN05_SCALES_MAX];
  double b[TENSOR_QUARTERS][TCGEN05_N_MAX][TCGEN05_SCALES_MAX];
} TensorFactors;

const char *tcgen05_factors_fault(Arena *arena, const Code *code);
// Asks for the factors of a product, of the block at hand: they are allocated, there, and no
// others'. False after a finding.
bool tcgen05_ask_factors(Machine *machine, const Warp *warp, const Code *code, TensorWork *work);
void tcgen05_read_factors(const Machine *machine, const Code *code, const TensorWork *work,
                          TensorFactors *out);
// Carries out a copy of factors.
void tcgen05_copy_factors(Machine *machine, const Warp *warp, const TensorWork *work);
