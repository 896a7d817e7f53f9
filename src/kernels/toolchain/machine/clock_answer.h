// The clock's answer about a kernel's machine code: clocks of each loop, of the kernel where its
// launch is known, and the cost of each instruction. One structure for a compiled schedule and for
// a cubin of anybody's; the command `why` shows it.
#pragma once
#include "base/elf_file.h"
#include "clock/clock_assign.h"
#include "clock/clock_window.h"
#include "kernels/toolchain/machine/sass.h"
#include "model/readings/cost/estimate.h"
#include "model/readings/model.h"
#include "model/text/emit.h"

enum { CLOCK_LOOPS_MAX = 64, CLOCK_TRIPS_MAX = 16 };

// SM clocks; value below 0: not known.
typedef struct ClockSpan {
  double value, low, high;
} ClockSpan;

// Questions that are played beside the loop as it is.
#define CLOCK_IF_TABLE(ROW)                                    \
  ROW(BANKS, "banks_free", "register banks free")              \
  ROW(REGISTERS, "registers_exchanged", "registers exchanged") \
  ROW(NEAR, "loads_near", "all loads hit L1")                  \
  ROW(BLOCK, "one_block_more", "one more block")

typedef enum ClockIfName {
#define ROW(id, key, title) CLOCK_IF_##id,
  CLOCK_IF_TABLE(ROW)
#undef ROW
      CLOCK_IFS
} ClockIfName;

typedef struct ClockIf {
  double clocks;        // a turn, of as much work as the loop has as it is
  const char *why_not;  // a few words where it cannot be; NULL: it can
} ClockIf;

typedef struct ClockedLoop {
  SassLoop loop;
  double turns;  // of a warp while the kernel runs; 0: not known
  ClockSpan clocks;
  ClockTurn turn;
  ClockIf what_if[CLOCK_IFS];
} ClockedLoop;

// How often the loop that ends at, or holds as its innermost one, this instruction turns.
typedef struct ClockTrip {
  int pc, turns;
} ClockTrip;

struct ClockAnswer;
struct LaunchRun;

// A launch; blocks 0: not known.
typedef struct ClockLaunch {
  int64_t blocks;
  int threads;
  int64_t smem_bytes;  // dynamic
} ClockLaunch;

typedef struct ClockAsk {
  const char *kernel;       // NULL: the only one
  double mhz;               // of the SM clock; 0: the GPU's boost clock
  const Calibration *fits;  // that a stand-in goes by (estimate.h); NULL: none
  bool what_if, cold;
  bool window;  // a turn of the main loop, clock by clock
  // Told the answer as soon as the kernel was played, then after each what-if question; false: the
  // others are not wanted any more. NULL: there is no listener.
  bool (*heard)(void *context, const struct ClockAnswer *so_far);
  void *context;
  int n_trips;
  ClockTrip trip[CLOCK_TRIPS_MAX];
  ClockLaunch launch;           // of a cubin
  const struct LaunchRun *run;  // of that launch on the CPU (launch_play.h); NULL: there was none
} ClockAsk;

// A kernel of a product that needs several, such as the sum over slices of K; value -1: it could
// not be played.
typedef struct ClockedPart {
  const char *name;
  ClockSpan clocks;
} ClockedPart;

typedef struct ClockAnswer {
  const char *why_not;    // a sentence where there is nothing; NULL: there is
  bool assumes_threads;   // the code declares no block size; 128 threads were played
  const char *no_clocks;  // a sentence where the launch is known and the kernel has no clocks; NULL
  bool unchecked;         // the facts of its GPU are published ones, none of it was measured
  bool stand_in;          // clocks and tflops are a calibrated roofline's; there is no code
  const char *kernel;
  const Target *target;
  // The SM clock: the boost clock, as far as tensor cores and power allow it, unless one was given.
  double mhz;
  double power_share;  // that they leave of it; 1: all
  SassCode code;
  const char *const *text;  // of each instruction
  const int *line;          // of the CUDA text; NULL: not known
  int warps, blocks;        // of a block; resident on an SM
  int registers;            // of a thread; 0: not known
  int n_loops, main;        // main: the loop with most of the clocks; -1: there is none
  ClockedLoop *loop;
  ClockSpan clocks;  // of the kernel, launch to end
  double others;     // clocks of kernels beside the main one, which `clocks` is of
  int n_parts;       // kernels of the launch, in their order; each one's name and clocks:
  ClockedPart *part;
  double tflops;                              // of all of them; 0: not known
  double issued, lost_to[CLOCK_CAUSE_COUNT];  // of the kernel: what its clocks are made of
  ClockIf what_if[CLOCK_IFS];                 // of the kernel
  double stalls[CLOCK_CAUSE_COUNT];           // per issued instruction
  // Per instruction: times that warps come by, of the whole grid or, where the launch is not known,
  // of a warp in a turn of its loop; clocks lost, of the kernel or of that turn; why and by what.
  double *executed, *lost;
  const double *stood;  // clocks of the warps of a scheduler that stood there; NULL: not known
  ClockCause *cause;
  int *blame;
  ClockWindow window;  // of the main loop; no clocks: it was not asked for
  ClockMarks marks;    // of its register banks
  // For the main loop; no exchange: none is better, or what-if was not asked for.
  ClockAssignment assignment;
} ClockAnswer;

// Answers for one kernel of a cubin: nothing of its launch is known but the threads of a block,
// where the code declares them. `target`: a GPU of its architecture.
ClockAnswer clock_answer_cubin(Arena *arena, const unsigned char *cubin, size_t bytes,
                               const TargetTable *targets, const ClockAsk *ask);
// The machine code of an emission's kernels; of the main one the bytes of a thread's stack.
typedef struct ClockTexts {
  ElfBytes text[KERNELS_MAX];
  int stack_bytes;
} ClockTexts;

// Answers for a compiled schedule. `compiled`: the model with the compiler's registers; `sass`: the
// listing for texts and lines, NULL where there is none.
ClockAnswer clock_answer_state(Arena *arena, const Model *compiled, const Emission *emission,
                               const ClockTexts *texts, const SassResult *sass,
                               const ClockAsk *ask);
// The stand-in while nothing is compiled.
ClockAnswer clock_answer_stand_in(const Model *model, const ClockAsk *ask);
// A stand-in's total becomes that of the estimate, at the answer's SM clock.
void clock_answer_take(ClockAnswer *answer, const Model *model, const Estimate *estimate);
