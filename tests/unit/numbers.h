// Numbers of every type a plan knows, in host memory.
#pragma once
#include <stdint.h>

#include "kernels/toolchain/plan.h"

double number_load(PlanType type, const void *from, uint64_t i);
// Rounded to the nearest, ties to even; integers are clamped.
void number_store(PlanType type, void *to, uint64_t i, double value);
// The value after a journey through memory.
double number_rounded(PlanType type, double value);
// What the tensor core reads of an f32: its upper 19 bits.
double number_cut_to_tf32(double value);
