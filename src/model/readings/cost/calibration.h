// The roofline as one GPU is: each of its limits with a factor that was fitted to times measured
// there.
//
//   CalibrationTerms terms = calibration_terms(model);
//   Calibration calibration = calibration_none();             every factor as it is by default
//   calibration = calibration_fit(arena, points, n_points);   … or as these points have it
//   calibration_ns(&calibration, &terms)                      how long the launch would take
//
//   CalibrationBasis basis = calibration_basis(model);        … and once it is compiled:
//   calibration_count(&basis, &compiled);                     registers, bytes spilled, loops
//   terms = calibration_terms_of(&basis);
//
// A factor is the limit's time over that of the data sheet: 1.4 of "dram" is
// 0.71 of the stated bandwidth. The defaults are what random kernels of an H200 took (2026-11-26,
// tests/data/h200_random.tsv), rounded. What a data sheet has no figure for is counted in a unit of
// its own:
//
//   t = (Σ limit³ + pipe³ + latency³)^⅓ + rest
//
// each the sum of its rows of the table, factor · term. Limits overlap, so their cubes add
// up: of two that are equal the launch takes 1.26 times either. Latency is what a block would take
// if it were alone, shared by those that are resident together: what the program waits for before
// it goes on (waits.h). Worked example, attention on an H100 with K and V each waited for: of a
// block of 64 keys 2 · 600 clocks, the 512 in which its 32 KB come, and 400 of products and softmax
// in one row, so that a second block beside it nearly halves the time.
#pragma once
#include "base/form.h"
#include "model/readings/cost/compiled_code.h"
#include "model/readings/model.h"

// How a row of the table counts.
typedef enum CalibrationPart {
  CALIBRATION_LIMIT,    // by itself, beside the others
  CALIBRATION_PIPE,     // with what else goes through the pipe of shared memory
  CALIBRATION_LATENCY,  // with what else a block waits for
  CALIBRATION_REST,     // when all that is over
  CALIBRATION_PARTS
} CalibrationPart;

// Name, title, default, part, what it is. Those of the parts LIMIT, PIPE and LATENCY overlap. Rows
// of one title are never apart on the screen.
#define CALIBRATION_TABLE(X)                                                                      \
  X(FMA, fma, "products", 1, CALIBRATION_LIMIT, "multiply-adds of threads")                       \
  X(MMA, mma, "products", 1, CALIBRATION_LIMIT, "products of warps, mma.sync")                    \
  X(WGMMA, wgmma, "products", 1.1, CALIBRATION_LIMIT, "products of warpgroups")                   \
  X(SOFTMAX, softmax, "softmax", 1, CALIBRATION_LIMIT, "exp2 and fp32 work between products")     \
  X(ISSUE, issue, "issue", 1, CALIBRATION_LIMIT, "instructions that multiply by threads or move") \
  X(COPY, copy, "cp.async", 1.7, CALIBRATION_LIMIT, "lines of shared memory written by cp.async") \
  X(GLOBAL, global, "shared memory and L1", 1.1, CALIBRATION_PIPE,                                \
    "L1, for all that goes to global memory")                                                     \
  X(L2, l2, "L2", 0.7, CALIBRATION_LIMIT,                                                         \
    "L2, 32 bytes a clock for each SM, and loads that wait in L1")                                \
  X(DRAM, dram, "DRAM", 1, CALIBRATION_LIMIT, "DRAM")                                             \
  X(TMA, tma, "TMA", 1.9, CALIBRATION_LIMIT, "rows of boxes, a clock each")                       \
  X(POWER, power, "power", 0.7, CALIBRATION_LIMIT, "the board's power")                           \
  X(SHARED, shared, "shared memory and L1", 1.1, CALIBRATION_PIPE, "shared memory")               \
  X(SPILL, spill, "spills", 1.5, CALIBRATION_LIMIT,                                               \
    "spilled registers, a clock a line in L1, more beyond")                                       \
  X(ALONE, alone, "latency", 0.6, CALIBRATION_LATENCY,                                            \
    "the products and the softmax of a block alone")                                              \
  X(WARP, warp, "latency", 0.9, CALIBRATION_LATENCY, "instructions and wavefronts of one warp")   \
  X(FETCH, fetch, "latency", 1.4, CALIBRATION_LATENCY,                                            \
    "bytes that a block fetches while it does not multiply")                                      \
  X(STEP, step, "latency", 0.4, CALIBRATION_LATENCY, "20 clocks for each step along K")           \
  X(PHASE, phase, "latency", 0.4, CALIBRATION_LATENCY,                                            \
    "30 clocks for each turn of waiting and multiplying")                                         \
  X(LAUNCH, launch, "launch", 3, CALIBRATION_REST, "a launch, in microseconds")                   \
  X(BLOCK, block, "blocks", 0.5, CALIBRATION_REST, "750 clocks to begin and end a block")         \
  X(STORE, store, "stores", 1.8, CALIBRATION_REST, "sectors that threads write, a clock each")    \
  X(BETWEEN, between, "sums", 0.45, CALIBRATION_REST, "sums of parts on their way through memory")

#define X(id, name, title, preset, part, what) CALIBRATION_##id,
typedef enum CalibrationFactor { CALIBRATION_TABLE(X) CALIBRATION_FACTORS } CalibrationFactor;
#undef X

const char *calibration_name(CalibrationFactor factor);
const char *calibration_what(CalibrationFactor factor);

// The number of the formula above: factors fitted to another one say nothing of this.
enum { CALIBRATION_LAW = 5 };

// Kernels that one fit is for: by what multiplies, and whether one product is all there is to them.
// Behind the name how far off the default factors are there before a kernel is compiled: the median
// of |ln(predicted / measured)| of the random kernels of that H200. None of attention by plain
// multiply-adds was drawn; the one that is recorded is off by 3.6 times. Then what nine in ten of
// the rows in data/results are off by, at most: of kernels that keep slabs in shared memory, and of
// those that read global memory straight into registers.
#define CALIBRATION_FAMILIES_TABLE(X)                       \
  X(FMA, "fma", 0.12, 0.49, 1.25)                           \
  X(MMA, "mma.sync", 0.08, 0.245, 0.245)                    \
  X(WGMMA, "wgmma", 0.13, 0.28, 0.28)                       \
  X(ATTENTION_FMA, "attention, fma", 1.29, 1.29, 1.29)      \
  X(ATTENTION_MMA, "attention, mma.sync", 0.23, 0.23, 0.23) \
  X(ATTENTION_WGMMA, "attention, wgmma", 0.145, 0.145, 0.145)

#define X(id, name, error, staged, direct) CALIBRATION_FAMILY_##id,
typedef enum CalibrationFamily {
  CALIBRATION_FAMILIES_TABLE(X) CALIBRATION_FAMILIES
} CalibrationFamily;
#undef X

const char *calibration_family_name(CalibrationFamily family);
// CALIBRATION_FAMILIES: no family has that name.
CalibrationFamily calibration_family_find(const char *name);

// Nanoseconds of the whole launch by the data sheet. 0: no limit, or not known.
typedef struct CalibrationTerms {
  CalibrationFamily family;
  double term[CALIBRATION_FACTORS];
} CalibrationTerms;

typedef struct CalibrationPoint {
  CalibrationTerms terms;
  double time_ns;  // measured, above 0
} CalibrationPoint;

// For points that the fit had not seen: those of each half by a fit on the other one.
typedef struct Calibration {
  double factor[CALIBRATION_FACTORS];
  int n;         // points it was fitted to; 0: none
  double error;  // median of |ln(predicted / measured)|: 0.1 is 10 %
  double order;  // Spearman's rank correlation of predicted and measured, -1 … 1
} Calibration;

Calibration calibration_none(void);
#define CALIBRATION_SHIPPED_OF "h200"  // the row of the GPU that the default factors are of
double calibration_shipped_error(CalibrationFamily family);
// The most that nine in ten recorded kernels are off by; `staged`: of those with slabs.
double calibration_shipped_range(CalibrationFamily family, bool staged);
extern const Form calibration_factors_form;  // {"fma":1.06,"mma":1,…}

// Holds what the terms of a model are made of, without the model: what its compiler says later can
// still be told. The traffic stays the one of the estimated blocks per SM, which decide little of
// it.
typedef struct CalibrationBasis {
  const Target *target;
  Resources resources;
  Traffic traffic;
  BlockWaits waits;
  CalibrationFamily family;
  CalibrationFactor pipe;
  double atom_warps;                // that multiply together
  double atom_loads;                // of 32 bits and a lane, for A of one atom
  int main_kernel;                  // its place among the plan's
  bool staged;                      // there is a loop over slabs
  double warp_accesses;             // to shared memory, per slab and warp
  double copied;                    // wavefronts of copies by cp.async, per slab
  double requests, stored_sectors;  // of global memory, per block
  // Per block: of sectors beyond what is asked for of them, by boxes and by fragments straight from
  // global memory.
  double wasted_bytes;
  // Per block, of such fragments where K runs along lines: the lines of one step along K, and the
  // bytes that come again if L1 does not keep them until the next.
  double step_lines, again_bytes;
  // Per block, of global memory: the lines that lanes load by way of L1, and the clocks of L1 for
  // all else and for what is loaded but once (traffic has those of a slab).
  double loaded_lines, other_clocks;
  double multiply_fma;  // multiply-adds of one CompiledLoop.multiplies, of a warp
  CompiledCode code;
} CalibrationBasis;

// For a legal model.
CalibrationBasis calibration_basis(const Model *model);
// Takes the compiler's word of the main kernel; nothing where it has said nothing (no registers).
void calibration_count(CalibrationBasis *basis, const CompiledKernel *said);
CalibrationTerms calibration_terms_of(const CalibrationBasis *basis);
// The same of a model by itself.
CalibrationTerms calibration_terms(const Model *model);
double calibration_ns(const Calibration *calibration, const CalibrationTerms *terms);

// A limit, or the sum of all rows of the pipe or of latency, under its title.
typedef struct CalibrationLimit {
  const char *title;
  double ns;
} CalibrationLimit;

// The limits that overlap in calibration_ns(), the longest first, into `out`; their number.
int calibration_limits(const Calibration *calibration, const CalibrationTerms *terms,
                       CalibrationLimit out[CALIBRATION_FACTORS]);

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
double calibration_rank_correlation(Arena *arena, const double *a, const double *b, int n);
