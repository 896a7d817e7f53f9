// Keeps the answers of compilers and GPUs, each under the one schedule it is for.
//
// A result is found again only by the schedule it belongs to: after an edit there is none, and the
// screen says which recorded one is nearest instead of showing another state's number.
//
//   results_load(&results, text, n, "results/h200_fp32.json", &diags);
//   const Timed *timed = results_find(&results, &schedule);   measured here before recorded
//   const Compiled *compiled = results_compiled(&results, key);
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "kernels/device/bench.h"
#include "kernels/device/history/history.h"
#include "kernels/device/probe/probe.h"
#include "kernels/device/trace_run.h"
#include "kernels/toolchain/machine/kernel_text.h"
#include "kernels/toolchain/machine/ptx_lines.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/readings/cost/estimate.h"
#include "model/words/knob.h"
#include "sass/sass_code.h"

// The source of a number; the screen tells them apart by word and style.
typedef enum Origin {
  ORIGIN_NONE,
  ORIGIN_CLAIM,      // what an article says
  ORIGIN_ESTIMATED,  // from the model
  ORIGIN_COMPILED,   // counted by the compiler
  ORIGIN_RECORDED,   // timed elsewhere, kept in data/results
  ORIGIN_MEASURED,   // timed here
} Origin;

const char *origin_name(Origin origin);

typedef struct Timed {
  Schedule schedule;
  Origin origin;
  bool ok;
  const char *error;  // NULL when ok
  double time_ns, p10_ns, p90_ns;
  double tflops, ratio;  // ratio: of cuBLAS in the same run, 0 = not known
  double reference_tflops;
  double rms, reference_rms;   // error of a cell over |A|·|B|, and of cuBLAS's; 0 = not known
  int registers, spill_bytes;  // -1 = not known
  const char *gpu, *driver, *cuda, *date, *method, *reference;  // NULL = not known
  bool simulated;                                               // by a worker of a script
  const char *turns;           // "short turns, cool" or "hot"; NULL = not said
  const VerifyResult *verify;  // of a check that failed, with its error map; NULL: none
  const char *note;            // "throttled: power cap"; NULL: nothing to note
  const char *by;              // the user who shared it; NULL: it was timed in this session
} Timed;

// One shared-memory access timed here; what asks the same of the banks finds it again.
typedef struct Probed {
  const BankOp *op;
  int64_t addr[BANK_LANES];
  double clocks, p10_clocks, p90_clocks;  // of one access
  char gpu[96];
} Probed;

// All that the clock said of a schedule's machine code.
typedef struct Clocked {
  uint64_t key;
  bool known;  // there is a speed; false: there will be none
  ClockedSpeed speed;
} Clocked;

enum {
  RESULTS_TIMED_MAX = 512,
  RESULTS_COMPILED_MAX = 12,
  RESULTS_PROBED_MAX = 64,
  RESULTS_CLOCKED_MAX = 512
};

// One compilation as it comes in: PTX first, ptxas numbers and SASS after.
typedef struct Compiled {
  uint64_t key;
  Arena *arena;
  bool running;
  const char *stage;  // of a running one: "ptx", "cubin"
  const char *error;  // a sentence; NULL while all is well
  double ptx_ms, cubin_ms;
  const char *compiler, *ptx;
  const PtxListing *listing;               // of `ptx`; NULL until it has come
  const char *no_ptx;                      // why `listing` is none of PTX; NULL: it is
  int registers, spill_bytes, smem_bytes;  // of the kernel with the most registers; -1 = not known
  const char *note;                        // "wgmma serialized: …" of any kernel; NULL: nothing
  const SassResult *sass;
  const KernelTexts *code;        // the machine code itself; NULL until it has come
  const ElfBytes *bytes;          // of each kernel of `code`
  int n_kernels;                  // kernels of the cubin, once it has come
  const KernelResources *kernel;  // without name and note
} Compiled;

// The block that was traced last, and of which schedule.
typedef struct TracedBlock {
  uint64_t key;
  int serial;    // 0: nothing was traced yet; another one with each trace
  Arena *arena;  // of what the result points to
  TraceResult result;
} TracedBlock;

typedef struct Results {
  Arena *arena;
  int n_timed;
  Timed *timed;
  int n_compiled, next_compiled;
  Compiled *compiled;  // [RESULTS_COMPILED_MAX]
  int n_clocked, next_clocked;
  Clocked *clocked;
  int n_probed, next_probed;
  Probed *probed;
  TracedBlock *traced;   // never NULL
  bool past_known;       // the history was asked
  char past_error[256];  // why it is not kept; "" = it is
  Arena *past_arena;
  int n_past;
  HistoryRow *past;  // its newest rows, newest first
  Arena *best_arena;
  HistoryRow *best;  // what it has for `best->problem` on the GPU at hand; NULL: nothing
  Schedule *best_schedule;
} Results;

void results_init(Results *results, Arena *arena);
void results_free(Results *results);

// Adds the rows of a file of data/results (recorded.h). False after findings; rows with a readable
// state are there all the same.
bool results_load(Results *results, const char *text, size_t n, const char *what, Diags *diags);
// Files a benchmark of `schedule`; strings are copied. A newer one replaces the older.
void results_add_bench(Results *results, const Schedule *schedule, const BenchEntry *entry,
                       const BenchResult *bench);

// Files what another user measured on the same GPU, minutes ago.
void results_add_shared(Results *results, const Schedule *schedule, const HistoryRow *row);
// Keeps the newest rows of the history; what was kept before goes.
void results_set_past(Results *results, const HistoryRow *rows, int n);

// Keeps the best kernel that the history has of a problem on the GPU at hand; NULL: it has none.
void results_set_best(Results *results, const HistoryRow *row, const Schedule *schedule);

// "measured here", "recorded", or "simulated".
const char *results_said(const Timed *timed);
// The best result for exactly this schedule, NULL when there is none.
const Timed *results_find(const Results *results, const Schedule *schedule);
// The best result of the same schedule on another target; NULL when there is none.
const Timed *results_find_elsewhere(const Results *results, const Schedule *schedule);
// The result with the nearest schedule (same problem only); `distance` gets the knobs between.
const Timed *results_nearest(const Results *results, const Schedule *schedule, int *distance);

// Files a measurement that is ok; the oldest makes room.
void results_add_probe(Results *results, const ProbeAccess *access, const ProbeResult *result);
// NULL when no access like this one was timed here.
const Probed *results_probed(const Results *results, const BankOp *op,
                             const int64_t addr[BANK_LANES]);

// Files what the clock says of the schedule with this key, NULL: it says nothing; the oldest makes
// room.
void results_add_clock(Results *results, uint64_t key, const ClockedSpeed *speed);
// Numbers by the facts of a GPU that were other ones.
void results_forget_clocks(Results *results);
// NULL: it was not asked.
const Clocked *results_clocked(const Results *results, uint64_t key);
// The one number of the schedule with this key: the clock's, else the stand-in.
Estimate results_estimate(const Results *results, uint64_t key, const Estimate *stand_in);

// Keeps a trace that is ok in the place of the one before.
void results_add_trace(Results *results, uint64_t key, const TraceResult *result);
// NULL when the schedule with this key was not the one traced last.
const TracedBlock *results_traced(const Results *results, uint64_t key);

const Compiled *results_compiled(const Results *results, uint64_t key);

// The registers and spills that the compiler gives a thread: counted in a compilation here, else
// when the schedule was timed; -1 when neither is known, and an estimate has to do.
typedef struct Counted {
  int registers, spill_bytes;
  Origin origin;
  const char *note;  // of a compilation here: "wgmma serialized: …"; NULL: nothing
} Counted;
Counted results_counted(const Results *results, const Schedule *schedule);
// The place for a compilation of `key`, made when there is none: the oldest makes room.
Compiled *results_begin_compile(Results *results, uint64_t key);
void results_add_compile(Compiled *compiled, const CompileResult *result);
void results_add_sass(Compiled *compiled, const SassResult *sass);
void results_add_code(Compiled *compiled, const KernelTexts *code);
// The machine code of a kernel, decoded; n 0: it has not come. `sm`: 90 of sm_90a.
SassCode results_decode(Arena *arena, const Compiled *compiled, const char *kernel, int sm);
// Copies, strings and all.
const SassResult *results_copy_sass(Arena *arena, const SassResult *sass);
const KernelTexts *results_copy_code(Arena *arena, const KernelTexts *code);
