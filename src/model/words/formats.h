// Numbers as the element types hold them: rounding, bits, and the whole numbers that stay exact.
//
//   number_round(DTYPE_F16, 2049) is 2048, number_round(DTYPE_F16, 70000) infinity
//   number_write(DTYPE_BF16, bytes, 1.0)   two bytes 0x80 0x3f
//
// Rounding is to nearest, ties to even, as cvt.rn does. A value that is too large becomes infinity
// in f16, bf16 and f32; the largest number in e4m3 and e5m2 (cvt has only .satfinite for them); and
// the nearest integer there is in s8 and s32. A NaN becomes one of the type's, or 0 of an integer.
// tf32 is stored as the f32 it is given; it is the tensor core that leaves out the low bits
// (number_tensor). Scale factors have no sign: ue8m0 is a power of two, from 2^-127 to 2^127, ue4m3
// the positive half of e4m3. A byte of two e2m1 (mxf4, nvfp4) is carried as its code, 0 to 255.
#pragma once
#include "model/words/dtype.h"

double number_round(DType type, double value);

// The bits of one element, little endian: dtype_bytes(type) bytes, wherever they lie.
double number_read(DType type, const void *bytes);
void number_write(DType type, void *bytes, double value);  // rounds

// The value that a tensor core takes an operand for: it ignores the low 13 bits of the f32 of a
// tf32 (PTX ISA, "Fundamental types: alternate floating-point data formats").
double number_tensor(DType type, double value);
// The value after a conversion to the type: number_round(), but of tf32, which is stored as f32,
// the nearest number of 10 fraction bits, of two the one away from 0 (PTX ISA, cvt.rna.tf32.f32).
double number_convert(DType type, double value);

// Element i of a unit; the first is in the low half of a byte: of 0x1c 0 is -2 and 1 is 0.5. The
// value itself where the unit is one element.
double number_element(DType type, double value, int i);
// The product of two units: of bytes of two, the sum of both products.
double number_product(DType type, double a, double b);

// Every whole number from -limit to limit is exact: 2048 for f16.
double number_exact_limit(DType type);

// A tensor core cuts the terms of an f32 sum off so many bits below the last one that the largest
// has. Measured on an H200 (lab/machine/vectors.cu).
enum { TENSOR_CORE_KEEPS_BELOW = 2 };
