// The part of the prelude that computes; prelude_text.c holds the table. Others use prelude.h.
#pragma once
#include "base/str.h"
#include "model/text/prelude.h"

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
