// What the files of the fake driver share; tests use fake_cuda.h.
#pragma once
#include "kernels/toolchain/cuda_api.h"
#include "kernels/toolchain/plan.h"

typedef struct FakeTypes {
  PlanType operand, sum, output;
} FakeTypes;

extern FakeTypes fake_types;
extern double fake_clock_ms;
void fake_spend_ms(double ms);  // more of it on a card that slows down
double fake_operand(double x);  // as the multiplier reads it

// What must be given back is counted: any memory of malloc, or one byte of it.
void *fake_keep(void *thing);
int fake_create(void **thing);
int fake_destroy(void *thing);

// fake_cublas.c
extern const CublasApi fake_cublas;
extern const CublasLtApi fake_cublaslt;
void fake_cublas_start(void);  // as it is before any test has set it
