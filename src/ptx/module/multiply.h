// The numbers of tensor cores: elements as they lie in memory → f64, and products of tiles.
//
//   d[col][row] += a[k][row] · b, in the order of k
//
// Every product of two elements of 16 bits or fewer, or of tf32, is exact in f64, so that one
// rounding for product and sum together gives what two give: the fast ways may do either.
#pragma once
#include <string.h>

#include "ptx/module/ptx_isa.h"

enum { PTX_ROWS_AT_ONCE = 16, PTX_SUM_K = 64 };

typedef struct PtxFactors {
  int rows, cols, k;
  const double *a, *b;
  int b_col, b_k;  // from an element of B to the same one of the next column, and of the next k
  bool is_f64;     // products are rounded, and sums by themselves
  // How sums are formed (tensor_sum.h), and the types of A and B; NULL: exactly, rounded once.
  const struct PtxSumRule *rule;
  PtxType types[2];
} PtxFactors;

static inline uint32_t ptx_sum_f32(double sum) {
  const float value = (float)sum;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return sum == sum ? bits : 0x7fffffff;
}

typedef enum PtxMultiplyWay {
  PTX_MULTIPLY_PLAIN,
  PTX_MULTIPLY_256,  // x86 with AVX2, FMA and F16C
  PTX_MULTIPLY_512,  // x86 with AVX-512F as well
  PTX_MULTIPLY_WAYS
} PtxMultiplyWay;

// The best one of this machine.
PtxMultiplyWay ptx_multiply_way(void);

void ptx_multiply(const PtxFactors *f, double *d);
// By the rule, which is there: tensor_sum.c.
void ptx_multiply_as(PtxMultiplyWay way, const PtxFactors *f, double *d);
// The elements of a matrix as the tensor core takes them (ptx_type_value()), one after the other:
// of 4 bits two in a byte, of 6 bits each in a byte of its own, whose upper two bits are not looked
// at.
void ptx_elements(PtxType type, const unsigned char *bytes, int n, double *out);
// Sums as f32, a NaN as the hardware writes it.
void ptx_sums_f32(const double *sums, int n, uint32_t *out);
// The same as f16, by way of f32.
void ptx_sums_f16(const double *sums, int n, uint16_t *out);

// The same in a way of one's choice, which this machine must have.
void ptx_multiply_by(PtxMultiplyWay way, const PtxFactors *f, double *d);
void ptx_elements_by(PtxMultiplyWay way, PtxType type, const unsigned char *bytes, int n,
                     double *out);
void ptx_sums_f32_by(PtxMultiplyWay way, const double *sums, int n, uint32_t *out);
void ptx_sums_f16_by(PtxMultiplyWay way, const double *sums, int n, uint16_t *out);
