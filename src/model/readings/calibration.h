// The roofline as one GPU is: each of its limits with a factor that was fitted to times measured
// there.
//
//   CalibrationTerms terms = calibration_terms(model);
//   Calibration calibration = calibration_none();             every factor as it is by default
//   calibration_fit(&calibration, points, n_points);
//   calibration_ns(&calibration, &terms)                      how long the launch would take
//
// A factor says how many times longer the limit takes than the data sheet says: 1.4 of "dram" is
// 0.71 of the stated bandwidth. What a data sheet has no figure for is counted in a unit of its
// own:
//
//   t = (Σ (factor · limit)⁴)^¼ · (1 + warps / w) + slab · slabs + launch + between
//
// with w the warps that are resident on an SM and multiply. The limits overlap, so their fourth
// powers add up: of two that are equal the launch takes 1.19 times either. Warps hide each other's
// latency, a barrier per slab is hidden by other blocks. Worked example, 8 warps on an SM and a
// factor of 1.4 for warps: 1 + 1.4 / 8 = 1.18 times what 64 warps come near to.
#pragma once
#include "model/readings/model.h"

// Name, default, what it is. Those up to POWER are limits, which overlap.
#define CALIBRATION_TABLE(X)                                                      \
  X(FMA, "fma", 1, "multiply-adds of threads")                                    \
  X(MMA, "mma", 1, "products of warps, mma.sync")                                 \
  X(WGMMA, "wgmma", 1, "products of warpgroups")                                  \
  X(ISSUE, "issue", 1, "instructions that multiply by threads or move")           \
  X(SHARED, "shared", 1, "shared memory, with what spilled registers add to it")  \
  X(GLOBAL, "global", 1, "lines of global memory looked up in L1")                \
  X(L2, "l2", 1, "L2")                                                            \
  X(DRAM, "dram", 1, "DRAM")                                                      \
  X(POWER, "power", 1, "the board's power")                                       \
  X(SPILL, "spill", 1, "accesses to spilled registers, each a line of L1's pipe") \
  X(WARPS, "warps", 1, "latency: warps whose time is as long as what one waits")  \
  X(SLAB, "slab", 1, "latency: 100 clocks per slab and resident block")           \
  X(LAUNCH, "launch", 1, "a launch, in microseconds")                             \
  X(BETWEEN, "between", 1, "writing while nothing is multiplied")

#define X(id, name, preset, what) CALIBRATION_##id,
typedef enum CalibrationFactor { CALIBRATION_TABLE(X) CALIBRATION_FACTORS } CalibrationFactor;
#undef X

const char *calibration_name(CalibrationFactor factor);
const char *calibration_what(CalibrationFactor factor);

// The number of the formula above: factors fitted to another one say nothing of this.
enum { CALIBRATION_LAW = 1 };

// Kernels that one fit is for: by what multiplies, and whether one product is all there is to them.
#define CALIBRATION_FAMILIES_TABLE(X)     \
  X(FMA, "fma")                           \
  X(MMA, "mma.sync")                      \
  X(WGMMA, "wgmma")                       \
  X(ATTENTION_FMA, "attention, fma")      \
  X(ATTENTION_MMA, "attention, mma.sync") \
  X(ATTENTION_WGMMA, "attention, wgmma")

#define X(id, name) CALIBRATION_FAMILY_##id,
typedef enum CalibrationFamily {
  CALIBRATION_FAMILIES_TABLE(X) CALIBRATION_FAMILIES
} CalibrationFamily;
#undef X

const char *calibration_family_name(CalibrationFamily family);
// CALIBRATION_FAMILIES: there is none of that name.
CalibrationFamily calibration_family_find(const char *name);

// Nanoseconds of the whole launch by the data sheet; of WARPS 1 / w. 0: no limit, or not known.
typedef struct CalibrationTerms {
  CalibrationFamily family;
  double term[CALIBRATION_FACTORS];
} CalibrationTerms;

typedef struct CalibrationPoint {
  CalibrationTerms terms;
  double time_ns;  // measured, above 0
} CalibrationPoint;

// Of points that the fit had not seen: those of each half by a fit on the other one.
typedef struct Calibration {
  double factor[CALIBRATION_FACTORS];
  int n;         // points it was fitted to; 0: none
  double error;  // median of |ln(predicted / measured)|: 0.1 is 10 %
  double order;  // Spearman's rank correlation of predicted and measured, -1 … 1
} Calibration;

Calibration calibration_none(void);
// Of a legal model.
CalibrationTerms calibration_terms(const Model *model);
double calibration_ns(const Calibration *calibration, const CalibrationTerms *terms);

// "fma=1.06 mma=1 …", every factor by its name, and read back. False: not the factors of this law,
// which a program of another day may have written down.
char *calibration_text(Arena *arena, const Calibration *calibration);
bool calibration_read(const char *text, Calibration *out);

// A fit wants this many points; with fewer calibration_fit() gives calibration_none().
enum { CALIBRATION_POINTS_MIN = 40 };
// Robust least squares of logarithms (Huber's loss, from 20 % on), drawn to the defaults where the
// points say nothing of a factor. The order of the points decides nothing but which half is which.
Calibration calibration_fit(Arena *arena, const CalibrationPoint *points, int n);

// Spearman's rank correlation of n pairs; equal values share their rank. 0 where one is constant.
double rank_correlation(Arena *arena, const double *a, const double *b, int n);
