// The measurements made here before: an SQLite file that several processes and users share.
//
//   History *history = history_open(arena, NULL, &diags);    NULL: no history, the program goes on
//   history_add(history, &row, &diags);
//   if (history_latest(history, arena, "9f3c…", "4096 4096 4096 f32 …", "GPU-1f…", &row)) …
//
// No failure here is fatal: a file that is damaged, locked, read-only, full, or made to be read for
// ever is one diagnostic of rule "history" and the answer "nothing known". Every function takes a
// NULL History.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "kernels/device/bench.h"
#include "model/readings/cost/calibration.h"
#include "model/readings/cost/compiled_code.h"

enum { HISTORY_SHARED_SECONDS = 600 };

typedef struct History History;

// One measurement of one kernel: history.def has its members as columns. Times in nanoseconds; 0 =
// not known. Texts are never NULL when read; NULL is written as "".
typedef struct HistoryRow {
  int64_t id;         // given by the file
  int64_t when_unix;  // seconds UTC; 0 when adding = now
  const char *user, *host, *gpu, *gpu_uuid, *driver;
  const char *state;      // the one-line state
  const char *text_hash;  // history_hash() of the CUDA text
  const char *problem;    // history_problem()
  double time_ns, cublas_time_ns, tflops;
  double spread;            // (p75 − p25) / median; −1 = not known
  int sm_mhz, memory_mhz;   // before; −1 = not known
  const char *status;       // "ok", "wrong", "failed"
  const char *method;       // how it was measured
  CompiledKernel compiled;  // the main kernel
} HistoryRow;

// `path` NULL: $GEMMVIEW_CLASSROOM/history.db, else $XDG_STATE_HOME/gemmview/history.db (by default
// ~/.local/state), else, where that folder is on a network file system, a folder of the user's
// below /var/tmp that no other user may enter.
History *history_open(Arena *arena, const char *path, Diags *diags);
// The same for a thread that must end when asked to: whatever is under way is given up once *stop.
History *history_open_until(Arena *arena, const char *path, const atomic_bool *stop, Diags *diags);
void history_close(History *history);
const char *history_path(const History *history);

bool history_add(History *history, const HistoryRow *row, Diags *diags);

// The newest row of this text, problem and GPU (by gpu_uuid); false when there is none.
bool history_latest(History *history, Arena *arena, const char *text_hash, const char *problem,
                    const char *gpu_uuid, HistoryRow *row);
// The same, of any user, at most ten minutes old and measured as everybody would: right, beside
// cuBLAS, in short turns, with nothing flushed. A result to share.
bool history_shared(History *history, Arena *arena, const char *text_hash, const char *problem,
                    const char *gpu_uuid, HistoryRow *row);
// The rows that were added last, the last one first; returns the number put into `rows`.
int history_recent(History *history, Arena *arena, HistoryRow *rows, int max);

// The rows of one problem on GPUs of one name, the last one first: what a search may go on from.
int history_of_problem(History *history, Arena *arena, const char *gpu, const char *problem,
                       HistoryRow *rows, int max);
// The best kernel of each problem and GPU's name: the right one with the smallest time, whatever
// stood beside it; the time of a search's brief turns counts as a tenth longer. By GPU, then by
// problem.
int history_best(History *history, Arena *arena, HistoryRow *rows, int max);

// The same of one problem on GPUs of one name; false: there is none.
bool history_best_of(History *history, Arena *arena, const char *gpu, const char *problem,
                     HistoryRow *row);
// Kernels that are right, of GPUs of one name and other problems than `but`, each by its newest
// time, from all over the file: what a roofline can be fitted to.
int history_sample(History *history, Arena *arena, const char *gpu, const char *but,
                   HistoryRow *rows, int max);

// Seconds that timings of a problem went on one after another on GPUs of one name, a minute apart
// at most: the time that searches of it have taken.
double history_seconds(History *history, const char *gpu, const char *problem);

// Holds what the roofline of a GPU was fitted to be for one family of kernels.
typedef struct HistoryCalibration {
  int64_t when_unix;  // 0 when keeping = now
  const char *gpu;    // its name
  CalibrationFamily family;
  Calibration fit;
} HistoryCalibration;

// Takes the place of the one before.
bool history_keep_calibration(History *history, const HistoryCalibration *row, Diags *diags);
// For GPUs of one name, or of all (gpu = NULL), in the order of names and families. What was fitted
// to another law than this program's is left out.
int history_calibrations(History *history, Arena *arena, const char *gpu, HistoryCalibration *rows,
                         int max);
// The fits of one GPU, one for each family, n = 0 where there is none.
const Calibration *history_fits(Arena *arena, const HistoryCalibration *rows, int n,
                                const char *gpu);

// Says why the last question was not answered, or not wholly; NULL: it was. No call waits longer
// than two seconds.
const char *history_failure(const History *history);

// The speed relative to cuBLAS in the same run; 0 = not known.
double history_ratio(const HistoryRow *row);
// "2026-11-22T03:54:03Z", as results carry it; "0000-00-00T00:00:00Z" for a text that is no date.
const char *history_date(Arena *arena, const HistoryRow *row);
// The row with "you" for the user's own name.
HistoryRow history_said(Arena *arena, const HistoryRow *row);
// "NVIDIA H200", or "NVIDIA H200, simulated".
const char *history_gpu(Arena *arena, const HistoryRow *row);
// "ana, 3 min ago": "just now", seconds, minutes, hours, days.
const char *history_age(Arena *arena, const HistoryRow *row, int64_t now_unix);

// 16 hexadecimal digits that name a CUDA text: the kernel, as this program writes it. Files of
// years ago are asked by it, so it stays as it is.
const char *history_hash(Arena *arena, const char *text);
// "4096x4096x4096 f32*f32+f32->f32 NN": what two measurements must share to be comparable.
const char *history_problem(Arena *arena, const Plan *plan);
// Entry `index` of a result as a row; user and host are this process's. The caller adds text_hash,
// problem and state, which a result does not know.
HistoryRow history_row(Arena *arena, const BenchResult *result, int index);
