// Timings as they are printed and kept: the document of `gemmview ladder --json` and of the files
// in data/results. One table of members (recorded.def) writes, reads and describes it.
//
//   {"schema":"gemmview/1","kind":"recorded","gpu":"NVIDIA H200",…,"rows":[{"rung":"padded",
//    "state":"BM=16,…","m":4096,…,"time_ns":3120000,…}]}
//
// A time is null where there is none: a kernel that failed its check has no speed.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "base/form.h"
#include "base/str.h"
#include "kernels/device/bench.h"

typedef struct RecordedRow {
  const char *rung;   // NULL: a state that is not a rung
  const char *state;  // the one-line state
  int64_t m, n, k;
  bool verified;                           // every cell of C was right
  const char *error;                       // why there is no time; NULL: there is one
  double time_ns, p10_ns, p90_ns, tflops;  // 0 = not known
  double cublas_time_ns, cublas_tflops;    // of the same run; 0 = not known
  const char *cublas_row;                  // "cublasLt heuristic 3"
  double ratio, ratio_min, ratio_max;      // of cuBLAS's speed, see bench.h; 0 = not known
  double error_this, error_cublas;         // largest error over (|A|·|B|)ij; −1 = not known
  double rms_this, rms_cublas;             // root of its mean square; −1 = not known
  double spread;                           // (p75 − p25) / median; −1 = not known
  int samples;
  int registers, spill_bytes, local_bytes, blocks_per_sm;  // −1 = not known
  double occupancy;         // resident warps / the SM's limit, by the driver; −1 = not known
  double predicted_tflops;  // by the model: an estimate; 0 = none
  const char *limit;        // what the model says it is limited by; NULL = none
} RecordedRow;

typedef struct Recorded {
  const char *schema;  // "gemmview/1"
  const char *kind;    // "recorded" elsewhere, "measured" here
  const char *gpu, *driver, *cuda, *cublas, *date, *clocks, *method;  // NULL = not known
  const char *ladder;                                                 // NULL: of no ladder
  bool hot;                                                           // how: bench.h
  int n_rows;
  const RecordedRow *rows;
} Recorded;

enum { RECORDED_ROWS_MAX = 4096 };

// The document without "schema", which form_document writes.
extern const Form recorded_form, recorded_row_form;
// NULL and the findings when the text is not what the writer writes. `what` names the file.
const Recorded *recorded_read_json(Arena *arena, const char *text, size_t n, const char *what,
                                   Diags *diags);

// Makes a row of a benchmark's result; the caller adds rung, state, spills, occupancy and the
// model's view.
RecordedRow recorded_row(const BenchResult *result, int entry);
// Fills gpu, driver, cuda, cublas, date, clocks and method from a benchmark; later calls widen the
// range of clocks.
void recorded_add_header(Arena *arena, Recorded *recorded, const BenchResult *result);
