// Kinds of the prelude that have files of their own; prelude_text.c lists them.
#pragma once
#include "base/str.h"
#include "model/text/prelude.h"

// ---- prelude_math.c -----------------------------------------------------------------------------
// The part of the prelude that computes; prelude_text.c holds the table. Others use prelude.h.

// "mma_m16n8k16_f32_f16": shape, type of C, type of A and B.
const char *prelude_mma_name(Arena *arena, const Atom *atom);
void prelude_write_mma(Str *out, const Prelude *prelude);
// "  const unsigned NAME = …;": the 32-bit address of element `at` of `slab`.
void prelude_write_address(Str *out, const char *name, int element_bytes);
void prelude_write_load_shared(Str *out, const Prelude *prelude);
void prelude_write_ldmatrix(Str *out, const Prelude *prelude);
void prelude_write_stmatrix(Str *out, const Prelude *prelude);

// storeN from float registers to 16-bit memory: two values by one conversion.
void prelude_write_rounding_store(Str *out, const Prelude *prelude);
void prelude_write_to_float(Str *out, const Prelude *prelude);
void prelude_write_from_float(Str *out, const Prelude *prelude);

void prelude_write_extract(Str *out, const Prelude *prelude);
void prelude_write_insert(Str *out, const Prelude *prelude);
void prelude_write_atomic_add(Str *out, const Prelude *prelude);

// "{%0, %1, …}", so many in a line of the text.
void prelude_write_places(Str *out, int first, int n, int in_line);

// ---- prelude_tcgen05.c --------------------------------------------------------------------------
// Tells what moves columns between tensor memory and registers.

void prelude_write_tensor_ld(Str *out, const Prelude *prelude);
void prelude_write_tensor_st(Str *out, const Prelude *prelude);

// ---- prelude_tma.c ------------------------------------------------------------------------------
// The part of the prelude that TMA and roles need; prelude_text.c holds the table. Others use
// prelude.h.

void prelude_write_tensor_map(Str *out, const Prelude *prelude);
void prelude_write_mbarrier_init(Str *out, const Prelude *prelude);
void prelude_write_mbarrier_expect(Str *out, const Prelude *prelude);
void prelude_write_mbarrier_arrive(Str *out, const Prelude *prelude);
void prelude_write_mbarrier_wait(Str *out, const Prelude *prelude);
void prelude_write_tma_load(Str *out, const Prelude *prelude);
void prelude_write_tma_multicast(Str *out, const Prelude *prelude);
void prelude_write_tma_pair(Str *out, const Prelude *prelude);
// The way back, storing or adding.
void prelude_write_tma_store(Str *out, const Prelude *prelude);

// ---- prelude_wgmma.c ----------------------------------------------------------------------------
// The part of the prelude that a warpgroup's atoms need; prelude_text.c holds the table. Others use
// prelude.h.

const char *prelude_wgmma_name(Arena *arena, const Prelude *prelude);
void prelude_write_wgmma(Str *out, const Prelude *prelude);
void prelude_write_tile(Str *out, const Prelude *prelude);
