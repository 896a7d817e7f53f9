// The cost of a loop of machine code on one SM: clocks a turn, and the waits of each warp.
//
// The engine plays the schedulers of an SM clock by clock. Scheduler s has the warps w with w %
// schedulers = s. It issues one instruction a clock, and stays with the warp that it issued last
// until that one cannot go on or yields. Then it takes the oldest block with a warp that can go,
// and of its warps the one that has issued nothing for longest. A warp that yields leaves the next
// clock to others. An instruction goes when its control word lets it: its stall is over, the
// scoreboards that it waits for are empty, and its pipe is free. Where the register banks cannot
// give its operands in time the scheduler waits with it, and the stalls of all its warps stand
// still.
//
//   FFMA R84, R8, R35, R84     reads R8 and R84 from the even bank: two clocks of its port, one of
//   which hides only FFMA R86, R8, R37, R86     where the instruction before it left the port free
//
// Sources of the rules: Jia et al. 2018 (control words, banks); Huerta et al., Analyzing Modern
// NVIDIA GPU Cores, MICRO 2025 (order of warps, read window, memory queues). A measured fact is
// named beside its number in the row of the machine.
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "sass/sass_loops.h"

// The reason why a warp does not issue, by the names of the profiler's stall reasons. The second
// half is not played: its values are 0.
#define CLOCK_CAUSES(ROW)                                                    \
  ROW(SELECTED, "selected")                 /* it issues */                  \
  ROW(NOT_SELECTED, "not_selected")         /* another warp issues */        \
  ROW(WAIT, "wait")                         /* a fixed number of clocks */   \
  ROW(SHORT_SCOREBOARD, "short_scoreboard") /* shared memory, XU */          \
  ROW(LONG_SCOREBOARD, "long_scoreboard")   /* L1 and beyond */              \
  ROW(MATH_PIPE, "math_pipe_throttle")      /* its pipe is busy */           \
  ROW(MIO, "mio_throttle")                  /* the queue of shared memory */ \
  ROW(LG, "lg_throttle")                    /* the queue of global memory */ \
  ROW(BARRIER, "barrier")                                                    \
  ROW(DISPATCH, "dispatch_stall") /* the ports of the register banks */      \
  ROW(GMMA, "gmma")                                                          \
  ROW(DRAIN, "drain")                                                        \
  ROW(MEMBAR, "membar")                                                      \
  ROW(NO_INSTRUCTION, "no_instruction")                                      \
  ROW(CONSTANT, "imc_miss")                                                  \
  ROW(SLEEPING, "sleeping")                                                  \
  ROW(TEXTURE, "tex_throttle")                                               \
  ROW(MISC, "misc")

typedef enum ClockCause {
#define ROW(id, name) CLOCK_##id,
  CLOCK_CAUSES(ROW)
#undef ROW
      CLOCK_CAUSE_COUNT
} ClockCause;

const char *clock_cause_name(ClockCause cause);

enum { CLOCK_SCHEDULERS_MAX = 4, CLOCK_WARPS_MAX = 64, CLOCK_QUEUE_MAX = 32 };

// The facts of an SM that the engine asks for; clocks are of the SM.
typedef struct ClockMachine {
  bool checked;  // measured on a GPU of this architecture
  int schedulers;
  int pipe_clocks[SASS_PIPE_COUNT];  // that a warp's instruction keeps the pipe of its scheduler
  int tensor_half_clocks;            // the same, of an mma.sync of half the depth
  int tensor_double_clocks;          // the same, of one of f64
  double f16_sums_share;             // of those clocks, that a product with f16 sums needs
  int branch_clocks;                 // from a branch that is taken, beyond its stall
  int read_window;                   // clocks in which the banks may give an instruction's operands
  int queue;               // instructions of a scheduler that may wait for the shared pipe
  int queue_clocks;        // between two that leave it, for each 4 bytes of a lane
  double shared_clocks;    // from the first wavefront of a load to its reader
  double far_clocks;       // of a load from L2, when nothing else is asked for
  double far_load_clocks;  // of one under load, at the worst
  double dram_clocks;      // of a load from DRAM
  double cold_clocks;      // of one while all SMs begin and L2 has nothing yet
  double store_bytes,
      store_most_bytes;              // that L2 takes from an SM in a clock while all write; alone
  double store_queue_clocks;         // of L2's, that stores of an SM may wait for
  double copy_clocks;                // of the shared pipe, for each line that cp.async writes
  double copy_entry_clocks;          // until it has taken in one of 16 bytes, or LDGDEPBAR
  double idle_load_clocks;           // of it, for a load that no lane carries out
  double tma_clocks;                 // of a copy by TMA, beyond the clocks of a load
  double box_bytes;                  // that L2 gives TMA in a clock while all SMs ask
  double box_clocks, row_clocks;     // that the unit of TMA is busy with a box, with each row of it
  double half_row_clocks;            // with a row that is shorter than a sector of 32 bytes
  double mbarrier_clocks;            // until an mbarrier says that a phase has ended
  double mbarrier_ask_clocks;        // until it has said that none has, and is asked again
  double group_clocks;               // of a tensor core, for each column of a wgmma
  double group_fma_clocks;           // beside wgmma, from FFMA to the next arithmetic
  double group_reuse_clocks;         // from one with an operand that is to be used again
  double group_half_clocks;          // from an instruction for a pipe of 16 lanes
  double group_unit_clocks;          // that one keeps the XU
  double group_end_clocks;           // from the end of a wgmma to the warp that waits for it
  double block_clocks;               // from the end of a block to the first instruction of the next
  double sm_spread;                  // of the time of blocks, that SMs are ahead and behind
  double sm_spread_clocks;           // that they are at most
  double slot_spread;                // of it, that lies between the ends of an SM's blocks at least
  double launch_clocks;              // of a launch, outside of all blocks
  double early_launch_clocks;        // the same of a kernel launched while the one in front runs
  double code_begin_clocks;          // until the first warps have instructions, where all is cold
  double code_line_clocks;           // for each line of 128 bytes that no warp has come by
  int code_lines, code_ways;         // of them, that a scheduler keeps; of a set
  double code_fetch_clocks;          // until one comes that it asks for anew
  double code_port_clocks;           // between two that are sent to the SM
  double product_hold_clocks;        // of a product, for each clock in which an access reads
  double product_stall_clocks;       // of the shared pipe, for an access while products come
  double near_clocks;                // of a load from L1
  double far_bytes, far_most_bytes;  // that L2 gives an SM in a clock while all ask; alone
  double unit_clocks;                // of MUFU, S2R and what else has a scoreboard
  double source_clocks;              // until the registers of an address may be written again
  double local_clocks;               // of a load of a spilled register from L1
  double arrival_clocks;             // of the unit of barriers, for each warp that arrives
  double barrier_clocks;             // from the last arrival to the next issue
} ClockMachine;

// A loop inside of the one that is played: how often a warp goes round in it each time.
typedef struct ClockInner {
  SassLoop loop;
  int trips;
} ClockInner;

enum { CLOCK_INNER_MAX = 8 };

typedef struct ClockLoop {
  const ClockMachine *machine;
  const SassCode *code;
  SassLoop loop;
  int n_inner;
  ClockInner inner[CLOCK_INNER_MAX];  // other jumps backwards inside of the loop are not taken
  const double *wavefronts;           // of each instruction of the code that goes to shared memory
  const double *far_bytes;            // that a warp's instruction fetches from L2; 0: L1 has them
  int warps;                          // of a block
  int blocks;                         // resident on the SM
  bool banks_are_free;                // what if no two operands met in a register bank
  bool loads_are_near;                // what if every load answered in the next clock
  bool only_clocks;                   // the answer has its clocks and nothing else
} ClockLoop;

// `clocks` is the sum of `issued` and the clocks lost to each cause.
typedef struct ClockTurn {
  double clocks;                      // a turn of the loop, all warps of the SM together
  double issued;                      // instructions that a scheduler issues in it
  double stalls[CLOCK_CAUSE_COUNT];   // clocks that warps spend so, per instruction issued
  double lost_to[CLOCK_CAUSE_COUNT];  // clocks a turn in which a scheduler issued nothing
  // Per instruction of the code:
  const double *executed;   // times that a warp comes by in a turn
  const double *lost;       // its share of the clocks in which nothing was issued
  const double *stood;      // clocks of all warps of a scheduler that stood there for its sake
  const ClockCause *cause;  // the commonest cause there; CLOCK_SELECTED: nothing is lost
  const int *blame;         // the instruction that it waits for; -1: none
} ClockTurn;

// Plays the loop until all warps have gone round it often enough. Nothing (clocks 0) where the loop
// is empty or no warp is there.
ClockTurn clock_play(Arena *arena, const ClockLoop *loop);
