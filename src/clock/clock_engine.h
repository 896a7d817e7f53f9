// The state of one SM and its clock: the players of loops and of kernels share it.
// Included by src/clock alone.
#pragma once
#include "clock/clock_banks.h"
#include "clock/clock_kernel.h"
#include "clock/clock_window.h"

enum {
  ENGINE_WHEEL = 8192,       // clocks ahead that something may be due
  ENGINE_DUE_MAX = 1 << 14,  // scoreboards that are open at once
  ENGINE_MBARRIERS = 64,     // of a block
  ENGINE_BARRIERS = 16,
  ENGINE_WAITERS = 64,
};

// A scoreboard that falls at a clock, of a warp of this block (EngineWarp.block); the others of the
// same clock are behind `next`.
typedef struct EngineDue {
  int warp, block, scoreboard, next;
} EngineDue;

// Sums over the clocks of a scheduler that are counted: all of them; those in which what was issued
// last waited for its operands; and of each in which nothing was issued, the share of a warp that
// stood for a reason of its own.
typedef struct EngineSums {
  double clocks, held_up, lost;
} EngineSums;

typedef struct EngineWarp {
  bool lives;
  int block;         // how many had begun before its own
  ClockCause held;   // why it stands; CLOCK_SELECTED: it could go
  int blame;         // the instruction that it waits for; -1: none
  EngineSums since;  // of its scheduler, when that began
  int pc, stretch, event;
  int turns;  // round the first loop
  const SassWay *way;
  int64_t ready;   // the clock at which its stall is over
  int64_t coming;  // at which its next instruction is there
  int open[SASS_SCOREBOARDS];
  unsigned is_open;                // a bit for each that is
  int64_t back[SASS_SCOREBOARDS];  // results of one scoreboard come back in order
  ClockCause reason[SASS_SCOREBOARDS];
  int opener[SASS_SCOREBOARDS];    // the instruction that opened it last
  int before;                      // the instruction that it issued last; -1: none
  int64_t issued_at;               // when; 0: nothing yet
  int64_t aside;                   // the first clock that it does not leave to others
  bool drains;                     // and that is a DEPBAR
  bool waits;                      // at a barrier
  int barrier;                     // its number
  int64_t let_go;                  // when the last barrier lets it go on
  double copied;                   // when its copies by cp.async so far have come
  int n_groups;                    // of wgmma that were committed and are under way
  int64_t group[8];                // when each is done
  int64_t round[CLOCK_MARKS_MAX];  // when it went round each loop last; 0: not yet
  double calm;                     // EngineCalm.clocks when it last went round the loop that is cut
} EngineWarp;

typedef struct EngineMbarrier {
  uint32_t address;
  bool is_there;
  int count, arrived, phase;
  double bytes;  // that are to come in this phase
  int n_waiters;
  struct {
    int warp, scoreboard;
    int64_t since;
  } waiter[ENGINE_WAITERS];
} EngineMbarrier;

typedef struct EngineBlock {
  bool lives;
  bool in_step;  // with blocks of other SMs, which ask for the same
  int n_live;    // warps
  int arrived[ENGINE_BARRIERS];
  EngineMbarrier mbarrier[ENGINE_MBARRIERS];
} EngineBlock;

// Turns of the loop that is cut, and the clocks in which they were gone round, each as much as it
// stands for turns that are left out (clock_cut.c).
typedef struct EngineCalm {
  int live, outside;  // warps: all, and those that are not in the loop
  int64_t since;      // the clock until which all the others are counted
  double clocks;      // each by its weight, as those of warps and turns
  double of_warps;    // clocks of warps that are in the loop
  double of_turns;    // clocks of turns that warps have gone round
  double turns, all;  // turns, each by the weight of its clocks; and each as one
} EngineCalm;

// A clock that was played, and EngineCalm.all then.
typedef struct EngineTime {
  double clocks, turns;
} EngineTime;

// The lines that a load of a block goes to L2 for in one turn. The first warps to come by ask for
// them; the others have them when they come.
typedef struct EngineFetch {
  int turn;   // of the warp that is farthest
  int asked;  // warps, in this turn
  double back;
} EngineFetch;

// Bytes of a copy that reach an mbarrier at a clock.
typedef struct EngineLanding {
  int64_t at;
  int block;
  uint32_t address;
  double bytes;
} EngineLanding;

enum { ENGINE_CODE_SETS = 512, ENGINE_CODE_WAYS = 8 };

// The lines of code that a scheduler keeps, as their number and one more; of each line of the code,
// whether it has seen it, and the clock at which it comes.
typedef struct EngineCode {
  int line[ENGINE_CODE_SETS][ENGINE_CODE_WAYS];
  bool *seen;
  double *comes;
} EngineCode;

typedef struct EngineScheduler {
  int last;     // the warp that it issued last; -1: none
  bool yields;  // which lets others go first
  int64_t pipe_free[SASS_PIPE_COUNT];
  int pipe_user[SASS_PIPE_COUNT];   // the instruction that keeps it busy; -1: none
  int64_t leaves[CLOCK_QUEUE_MAX];  // when the instructions in its queue leave it, a ring
  int queued[CLOCK_QUEUE_MAX];      // which they are
  int oldest, n_queued, n_far;
  double owed;            // part of a clock by which accesses hold up a product, not yet waited for
  int64_t queue_free;     // the first clock at which another may leave
  double unit_free;       // when MUFU and what else goes to the XU has been taken by it
  double group_free;      // when its tensor core has done what wgmma asked for
  double group_holds;     // when those of them are done that hold up arithmetic
  int64_t dispatch_free;  // when other arithmetic beside them has its operands
  ClockBanks banks;
  EngineCode code;
  // The instruction that was issued last and has no operands yet, and its warp; -1: none.
  int pending, pending_warp;
  int64_t product_at,
      product_before;  // when the last product of mma.sync was issued, and the one before
  int order[CLOCK_WARPS_MAX], n;  // its warps, in the order in which they are asked
  int ordered;                    // as of which of the engine's changes; -1: not yet
  // The clock until which nothing changes for a warp, and the first of them all.
  int64_t asleep[CLOCK_WARPS_MAX], wakes;
  int n_own;  // warps that stand for a reason of their own
  EngineSums sums;
} EngineScheduler;

enum { ENGINE_LANDINGS = 4096 };

// Up to 16 warps share a lost clock, so that each has a whole number of these parts of it: the
// least number that 1 to 16 divide. Sums of whole numbers are exact.
enum { ENGINE_SHARES = 720720 };

// The turns of a loop that are watched (clock_watch.c).
typedef struct EngineWatch {
  int loop, step, warm;  // step: schedulers; warm: rounds before it
  double mean;
  bool begun, ended;
  int leader, watched;  // the warp with these turns; the number so far
  int64_t begin;
  int rounds[CLOCK_WARPS_MAX];
  ClockCell *cell;     // [warp of the scheduler][CLOCK_WINDOW_MAX], of the turn under way
  int64_t best, from;  // clocks of the one that is kept, and where it began; 0: none yet
  ClockCell *kept;     // its cells
} EngineWatch;

typedef struct Engine {
  const ClockKernel *in;
  const ClockMachine *machine;
  int n_warps, slots;
  int64_t now;
  EngineWarp warp[CLOCK_WARPS_MAX];
  EngineBlock block[CLOCK_WARPS_MAX];
  EngineScheduler scheduler[CLOCK_SCHEDULERS_MAX];
  double barrier_free;  // when the unit of barriers has counted all that arrived
  double shared_free;   // when the shared pipe is free
  double entry_free;    // when the shared pipe has taken in what it was given
  double lookups_free;  // when L1 has looked up what copies of 16 bytes ask for
  double far_free;      // when L2 has given what it was asked for
  double store_free;    // when L2 has taken what it was given
  double dram_free;     // when DRAM has given what it was asked for
  double tail;          // times what L2 gives an SM, once others have no block any more
  double tma_free;      // when the unit that copies boxes is free
  EngineDue *due;
  int n_due, free_due, *wheel;
  uint64_t *due_at;  // a bit for each clock of the wheel at which something is due
  EngineLanding *landing;
  int n_landings;
  int slowest;  // the fewest turns of any warp; -1: no caller asks
  bool counts;
  int begun, ended;   // blocks
  int changes;        // of the set of live warps, or of their turns where a caller asks for them
  int slowest_noted;  // as of which of them
  double weight;      // of a clock that is played: how many it stands for
  double *spent;      // [instruction][cause]: clocks of warps
  double *lost;       // [instruction][cause]: shares of clocks in which a scheduler issued nothing
  int *blame;         // [instruction][cause]: the instruction that was waited for, the last time
  double issued;      // instructions, each as many as it stands for
  EngineCalm calm;
  double new_loads;              // so far
  EngineFetch *fetch;            // [slot][instruction]
  int *came;                     // [warp][instruction]: times that it went to L2
  double *owed;                  // of each load: executions that have to go to L2 still
  double *new_owed, *dram_owed;  // that ask for something new; that have to go on to DRAM
  bool *fetched;                 // of each line of code, that a warp has come by it
  double code_owed;              // clocks of lines that no warp has waited for yet
  double code_free;              // when the port that sends lines is free
  const int *loop_at;            // of the branch that ends it; -1: none
  ClockRounds rounds[CLOCK_MARKS_MAX];
  EngineWatch *watch;  // NULL: no watch
} Engine;

static inline EngineScheduler *engine_scheduler(Engine *e, int warp) {
  return &e->scheduler[warp % e->machine->schedulers];
}

// Something has changed for the warp: it is looked at in the next clock.
static inline void engine_wake(Engine *e, int warp) {
  EngineScheduler *s = engine_scheduler(e, warp);
  s->asleep[warp] = s->wakes = 0;
}

// ---- clock_charge.c -----------------------------------------------------------------------------

typedef enum ClockOutcome { CLOCK_ISSUED, CLOCK_NOTHING, CLOCK_HELD_UP } ClockOutcome;

// From this clock on the warp stands for that reason; `scoreboard`: that it waits for, -1: none.
void engine_hold(Engine *e, EngineScheduler *s, int warp, ClockCause cause, int scoreboard);
// The warp issues in this clock, which is to be charged next.
void engine_charge_issue(Engine *e, EngineScheduler *s, int warp);
// So many clocks of the scheduler came out like that.
void engine_charge_clocks(const Engine *e, EngineScheduler *s, double clocks, ClockOutcome outcome);
// From now on a clock stands for so many.
void engine_weigh(Engine *e, double weight);
// All warps are charged for what they did until now.
void engine_charge_all(Engine *e);

// ---- clock_cut.c: turns left out ---------------------------------------------------------------

// So many warps more live, and are outside of the loop that is cut.
void engine_cut_count(Engine *e, int live, int outside);
// A warp has gone round it, in so many clocks; 0: it comes in.
void engine_cut_turn(Engine *e, int warp, double clocks);
EngineTime engine_time(const Engine *e);  // now
// The clock that it is in the kernel with all turns, as far as is known now.
double engine_stretched(const Engine *e, EngineTime at);

// ---- clock_units.c: what instructions set going -------------------------------------------------

// Carries out all events of this clock.
void engine_let_happen(Engine *e);
// The instruction of the warp is carried out, but for the way that the warp goes on.
void engine_carry_out(Engine *e, EngineScheduler *s, int warp);
// Whether it waits for the shared pipe, or for L1 behind it, in a queue; LDGDEPBAR does as the
// copies of its group do.
static inline bool engine_is_queued(const SassInst *inst) {
  return inst->opcode->pipe == SASS_PIPE_SHARED || inst->opcode->pipe == SASS_PIPE_FAR ||
         inst->opcode->kind == SASS_KIND_COMMIT;
}
int engine_pipe_clocks(const ClockMachine *machine, const SassInst *inst);

// ---- clock_tensor.c
// ------------------------------------------------------------------------------

// wgmma: the tensor core has more to do.
void engine_multiply_group(Engine *e, EngineScheduler *s, int warp, const SassInst *inst);
// Arithmetic that is issued beside wgmma keeps the ports that are left for a while.
void engine_take_ports(const Engine *e, EngineScheduler *s, const SassInst *inst);
// Whether the instruction waits for them.
bool engine_waits_for_ports(const Engine *e, const EngineScheduler *s, const SassInst *inst);
// An instruction keeps the XU for these clocks.
double engine_unit_clocks(const Engine *e, const EngineScheduler *s);

// ---- clock_code.c -------------------------------------------------------------------------------

// The warp has come to its instruction from another one.
void engine_fetch_line(Engine *e, EngineScheduler *s, EngineWarp *w, int from);

// ---- clock_engine.c -----------------------------------------------------------------------------

Engine *engine_new(Arena *arena, const ClockKernel *in);
void engine_begin_block(Engine *e, int slot, int kind);
// One clock; whether anything was issued.
bool engine_clock(Engine *e);
// The clock of the next event; -1: there is none.
int64_t engine_next(const Engine *e);
// Nothing happens until then: its clocks are as the last one was.
void engine_pass_over(Engine *e, int64_t to);
void engine_note_slowest(Engine *e);
ClockTurn engine_sum_up(Arena *arena, Engine *e, double clocks, double per);

// ---- clock_blocks.c -----------------------------------------------------------------------------

// Plays the blocks of the kernel, or stops when the watch has ended.
void engine_play(Engine *e);

// ---- clock_watch.c -----------------------------------------------------------------------------

void engine_watch_round(Engine *e, int warp, int loop);
void engine_watch_leave(Engine *e, int warp, int loop);
// The warp stands there for `clocks` clocks from now on.
void engine_watch_clock(Engine *e, int scheduler, int warp, int pc, ClockCause cause,
                        int64_t clocks);
