// Inside the interpreter: the state of a run, and the functions that its files share.
//
// Included by interp*.c and the families' files in model/ops only. interp_code.h has the compiled
// form of a kernel, and the record of memory.
#pragma once
#include "model/interp/interp_code.h"
#include "model/ir/buffer.h"
#include "model/ir/op_kind.h"
#include "model/words/formats.h"

enum { INTERP_THREADS_MAX = 1024, IF_DEPTH_MAX = 64 };
// Agents carry out copies by TMA. They count behind the warps, INTERP_AGENTS for each block of a
// cluster: one for each mbarrier that copies count at, because copies have no order but the one
// that their own mbarriers make. Programs with more mbarriers share agents; then the interpreter
// may assume an order that does not exist. Behind the agents, where a program multiplies in tensor
// memory, stands each warp's share of the tensor core: it works in the order in which its warp
// asked, and has no order with other shares. The last party is no thread: it reads the memory of
// boxes on their way to C, and nothing is ever ordered with it.
enum { INTERP_AGENTS = 8, INTERP_WARPS_MAX = CLUSTER_MAX * INTERP_THREADS_MAX / LANES };
// The number of the cluster's barrier, behind those of a block.
enum { INTERP_CLUSTER_BARRIER = BLOCK_BARRIERS };

// 32 lanes side by side: as one vector for the arithmetic, as an array for the rest. A register
// buffer's element is one row: of floats, which hold every number of the narrower types too, or of
// whole numbers for s32. An f64 takes two rows of 16 lanes each, as it takes two registers.
typedef float LaneFloats __attribute__((vector_size(LANES * 4), aligned(16)));
typedef int32_t LaneInts __attribute__((vector_size(LANES * 4), aligned(16)));
typedef union Row {
  LaneFloats all;
  float lane[LANES];
  int32_t whole[LANES];
  double wide[LANES / 2];
} Row;
static inline int rows_of_type(DType type) { return type == DTYPE_F64 ? 2 : 1; }
typedef union Lanes {
  LaneInts all;
  int32_t lane[LANES];
} Lanes;

// ---- a run --------------------------------------------------------------------------------------

// A cp.async that 32 lanes issued together; lanes drop out as their groups complete.
typedef struct Copy {
  int code;
  uint32_t lanes, zeros;
  int32_t src[LANES], dst[LANES];
  uint32_t group[LANES];
} Copy;

// A wgmma that was issued, and when it is late not yet carried out.
typedef struct AsyncMultiply {
  int code;
  uint32_t group;
  bool begins;        // the sums: what is in their registers does not count
  int64_t corner[2];  // of its tiles
  int64_t index[2][RANK_MAX];
  int64_t sums, fragment;  // first rows of the warp: of C, of A where it is in registers
} AsyncMultiply;

// Holds what a warp has asked of the tensor core in the background. `serial` counts what it did to
// its registers and its fences.
typedef struct TensorQueue {
  int n, capacity;
  AsyncMultiply *item;
  uint32_t *busy_until;  // by register row: the group that uses it last, and 1; 0: none
  uint32_t *touched;     // by register row: the serial of the last access by anything but wgmma
  uint32_t serial, fence;
  uint64_t issued;  // a hash of what was multiplied, the same in all warps of a warpgroup
} TensorQueue;

// ---- tensor memory (interp_tmem.c) --------------------------------------------------------------

typedef struct TensorMemory {
  int columns;                          // that the block has; 0: none
  bool gave_up;                         // the right to have more
  Touch alloc;                          // since when
  Row (*row)[TENSOR_COLUMNS];           // [TENSOR_QUARTERS]
  OrderPlace (*place)[TENSOR_COLUMNS];  // [TENSOR_QUARTERS]
} TensorMemory;

// A tcgen05.mma or tcgen05.cp that was issued and is not carried out, or a commit behind some.
typedef struct TensorWork {
  int code;
  bool commits, copies, begins;  // the sums
  int64_t corner[2];             // of its tiles
  int64_t index[2][RANK_MAX];
  int column;          // of the result
  int64_t factors[2];  // where the factors of A and B begin, in bytes of their buffers
  uint32_t ranks;      // COMMIT: the blocks with the mbarrier
  int64_t at;          // which
  uint32_t epoch;      // what was issued before
  uint32_t *known;     // what its thread knew by then: a clock
} TensorWork;

// Holds what one warp has asked of the tensor core: first in, first out.
typedef struct TensorAgent {
  int first, n, capacity;
  uint32_t askers;  // the lanes that have asked for a product or a copy
  TensorWork *work;
} TensorAgent;

// Columns on their way into registers, or out of them.
typedef struct TensorMove {
  int code, column, row;  // first register row of the warp
  bool has_come;          // the columns are in the registers
} TensorMove;
typedef struct TensorMoves {
  int n, capacity;
  TensorMove *move;
  uint8_t *busy;  // by register row: a tcgen05.ld brings it, and no read has come since
} TensorMoves;

typedef struct Machine Machine;

// A copy by TMA that has not landed, and the work to do when it lands.
typedef struct BoxCopy BoxCopy;
struct BoxCopy {
  int code;
  int rank;                             // of the block that it goes to
  int64_t first, corner[BOX_RANK_MAX];  // element of dst; the first one of src
  Mbar *bar;
  void (*land)(Machine *machine, const BoxCopy *copy);
};

// A box on its way from shared to global memory, which one thread has sent (interp_bulk.c).
typedef struct BulkStore {
  int code;
  uint32_t lane, group;
  int64_t first, corner[BOX_RANK_MAX];  // element of src; the first one of dst
  bool is_read;                         // its thread has waited for that
  uint8_t *data;                        // what was read of src
} BulkStore;

typedef enum WarpState {
  WARP_RUNNABLE,
  WARP_AT_BARRIER,  // behind it
  WARP_ASLEEP,      // before an mbarrier, or registers it takes: the wait is tried again
  WARP_DONE
} WarpState;

// Groups of a warp, most of them each lane's: of cp.async, of boxes on their way to C that are to
// be read, and written; of wgmma.
typedef struct WarpGroups {
  OrderGroups copies[LANES], reads[LANES], writes[LANES], products;
  OrderGroupTicks asked;  // epochs in front of which the warp had asked for its last products
} WarpGroups;

typedef struct Warp {
  int index;  // among the warps of all blocks that run together
  int rank;   // of its block in the cluster
  int place;  // among the warps of its block
  WarpState state;
  int barrier;  // the number of the barrier that it waits at
  int pc;
  bool is_early;  // the kernel in front may still run
  uint32_t alive, active;
  int depth;
  uint32_t saved[IF_DEPTH_MAX];
  int64_t *scalar;  // variable values that are equal in all lanes
  int64_t *lanes;   // [variable][32], as expr_eval_warp takes it
  Lanes *slot;
  uint32_t *early_bad;  // lanes in which an early let is out of range
  Row *row;             // the register file
  uint32_t *written;    // by row: the lanes that hold a value
  int n_copies, copy_capacity;
  Copy *copy;
  int n_stores, store_capacity;
  BulkStore *store;
  int64_t registers;            // of each thread, as setmaxnreg has left them
  WarpGroups *groups;           // that it has closed and waited for
  TensorQueue *tensor;          // NULL: no statement multiplies in the background
  TensorAgent *agent;           // NULL: no statement is about tensor memory
  TensorMoves *loads, *stores;  // likewise
} Warp;

// Holds what each block of a cluster has of its own. What blocks share is the same in all of them.
typedef struct BlockState {
  Memory memory[BUFFERS_MAX];
  int64_t free_registers;  // given back and not taken
  TensorMemory tensor;
  // By number of a barrier: the warps that have arrived there and gone on, since it last let others
  // go on, and what those knew: a clock.
  struct PassedWarps {
    int warps;
    uint32_t *known;
  } passed[BLOCK_BARRIERS];
} BlockState;

struct Machine {
  Arena *arena;
  const Program *program;
  const InterpOptions *options;
  const KernelCode *kernel_code[KERNELS_MAX];
  BlockState *of_rank;  // [max_cluster]
  int n_rows;
  int max_cluster, max_warps;  // of any kernel: blocks, and warps of all of them, that run together
  Warp *warp;
  int64_t max_clusters;
  int32_t *cluster_order;  // of clusters; of warps
  int32_t *warp_order;
  // The run:
  uint64_t random;
  InterpAsync async;
  int elected;  // lanes from the one that meets a condition to the one that elect.sync picks
  bool stopped;
  InterpTrace *trace;  // during the first run, where a trace is asked for
  const InterpWatch *watch;
  Str trace_values;                  // what the statement under way has read
  int kernel, n_warps, block_warps;  // warps of all blocks that run together, of each
  int cluster;                       // the number of the cluster under way
  int rank, block;                   // the block at hand
  BlockState *own;                   // what it has of its own,
  Memory *memory;                    // and the memory that it reaches
  int first_reader;                  // the first warp with reads kept of that memory
  int64_t grid;       // clusters of the kernel at hand, which without clusters are its blocks
  int64_t lists;      // the lists of its tiles: one a cluster, or fewer where clusters claim them
  uint32_t *claimed;  // [max_clusters] epochs; they stay from one launch to the next
  uint32_t *claimed_before;  // the same when the launch began
  uint32_t launches;         // so far
  int64_t list;              // that the cluster under way has claimed
  int claimer;               // by which warp; -1: it has not
  const KernelCode *code;
  uint32_t epoch, block_first, kernel_first, run_first;
  bool is_early;       // the warp under way has not waited for the kernel in front
  uint32_t joined;     // the epoch in which all threads that run together last met
  bool has_clocks;     // only then is there more to an order than that
  int n_clocks;        // of warps, then of agents, then of stores
  Order *order;        // the state of all that
  uint32_t **clock;    // [n_clocks] of each; of a warp's lanes in `knows`, where they know more
  uint32_t **rest;     // [n_clocks] of the others; unused while `knows` is all lanes
  uint32_t *knows;     // [n_clocks]
  OrderMoves *moves;   // [max_warps] of tensor memory
  uint32_t *scratch;   // a clock
  int n_readers;       // warps with reads of an element kept
  int first_tensor;    // the clock of the first warp's share of the tensor core; 0: there is none
  bool has_tmem;       // … which has memory of its own
  OrderCluster *life;  // of the blocks that run together
  int n_boxes, box_capacity;
  BoxCopy *box;
  int64_t steps, lanes[OP_COUNT];
  // Over all runs:
  int max_findings, n_findings;
  int64_t n_found;
  Finding *finding;
};

// A machine for the program (interp_build.c); stopped, and the finding made, if it is too large.
Machine *interp_build(Arena *arena, const Program *program, const InterpOptions *options);

// `runs` runs with different orders, each at both async extremes where the program has asynchronous
// copies. Findings are merged; C and the counts come from the first run, and `finished` holds only
// if every run did. `visit`, if there is one, gets C after each run that finished.
typedef void InterpVisit(const double *c, void *context);
const InterpResult *interp_run_all(Arena *arena, const Program *program,
                                   const InterpOptions *options, InterpVisit *visit, void *context);

// Whole numbers for A (which = 0) and B (1), chosen so that sums stay exact in the problem's types.
const float *interp_inputs_of(Arena *arena, const Problem *problem, uint64_t seed, int which);

double interp_poison(void);
// The argument alpha of the launch.
float interp_alpha(const InterpOptions *options);

// How an operation runs: one for each row of op.def, in the file of its family (model/ops).
typedef struct OpMachine {
  // Runs it for the active lanes of one warp.
  void (*run)(Machine *machine, Warp *warp, const Code *code);
  // Why it cannot run, beyond what its facts say; NULL: nothing is wrong. The member may be NULL.
  const char *(*fault)(Arena *arena, const Program *program, const Code *code);
  // The number of elements that an operand takes (C stands for the destination, A and B for the
  // sources); NULL: the operation's width.
  int (*width)(const Op *op, AtomOperand operand);
  // Prepares data that the operation needs whenever it runs; NULL: none.
  void (*prepare)(Arena *arena, const Program *program, Code *code);
  // A warp that has to wait stands before it (WARP_ASLEEP): may it go on? And, where no warp goes
  // on any more, the thing it waits for. NULL: the operation never waits.
  bool (*may_go_on)(const Machine *machine, const Warp *warp, const Code *code);
  void (*report_stuck)(Machine *machine, const Warp *warp, const Code *code);
} OpMachine;

const OpMachine *op_machine(OpKind kind);  // model/ops/table.c

// Values of a warp as it stands.
int64_t interp_scalar(const Warp *warp, const Value *value);
void interp_lanes(const Warp *warp, const Value *value, Lanes *out);
uint32_t interp_conditions(const Warp *warp, const Condition *condition, int n, uint32_t active);
static inline bool value_is_uniform(const Value *value) {
  return value->slot < 0 && value->n_mixed == 0;
}

// ---- reaching registers and memory (interp_reach.c) ---------------------------------------------

// The lanes of an access, by where they get.
typedef struct Reach {
  const Memory *memory;
  uint32_t inside;   // reach an element of the buffer
  uint32_t guarded;  // stopped by the program's guard
  Lanes at;          // offsets of those inside
} Reach;

#define EACH_LANE(lane, mask)                                                                \
  for (uint32_t left_ = (mask), lane = 0; left_ && (lane = (uint32_t)lowest_lane(left_), 1); \
       left_ &= left_ - 1)

// The access of `lanes`, guard, bounds and alignment seen to.
void reach_memory(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                  uint32_t lanes, Reach *reach);

// The registers of an operand: element j lies at row[j · rows].
typedef struct Registers {
  Row *row;  // NULL after a finding
  DType type;
  int rows;
  int first;   // index of `row`
  int64_t at;  // index in its buffer of the first element
} Registers;
Registers reach_registers(Machine *m, const Warp *w, const Code *code, const Operand *operand);
// The same for registers that are read: those that nothing wrote are told and poisoned.
Registers interp_read_registers(Machine *m, const Warp *w, const Code *code,
                                const Operand *operand);
static inline void mark_written(Warp *w, const Registers *to, int j) {
  w->written[to->first + j * to->rows] |= w->active;
}

// The queues of all warps as a block starts, and the work left when one ends (interp_tensor.c).
void tensor_start(const Machine *m, Warp *w);
void tensor_end(Machine *m, Warp *w);
void tensor_compare_warps(Machine *m);
// An operation other than wgmma is at these registers.
void tensor_touch(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                  const Registers *at);

double row_get(const Row *row, DType type, uint32_t lane);
void row_put(Row *row, DType type, uint32_t lane, double value);  // rounds

static inline uint16_t thread_of(const Warp *w, uint32_t lane) {
  return (uint16_t)((uint32_t)w->index * LANES + lane);
}

// The access of lane 0; the other lanes differ in `thread`.
static inline Touch touch_of(const Machine *m, const Warp *w, const Code *code) {
  return (Touch){m->epoch, (uint32_t)m->cluster, thread_of(w, 0), (uint16_t)(code - m->code->code)};
}

// Reads an element of memory into a register as `now`, which is an access of a lane.
void interp_read_element(Machine *m, const Warp *w, const Code *code, const Touch *now,
                         const Memory *memory, int64_t at, Row *to, uint32_t lane);
void shadow_report_unwritten(Machine *m, const Warp *w, const Code *code, const Touch *now,
                             const Memory *memory, int64_t at);
// A read through the async proxy: what threads wrote must have been fenced as well.
bool shadow_read_async(Machine *m, const Memory *memory, int64_t at, const Touch *now);
// The same, asked for by `now` and done by another agent.
bool shadow_read_by(Machine *m, const Memory *memory, int64_t at, const Touch *now,
                    uint16_t reader);
// Checks a read without its value, as a copy needs it: is the element written, does the read race?
bool shadow_may_read(Machine *m, const Warp *w, const Code *code, const Touch *now,
                     const Memory *memory, int64_t at);

// ---- order (interp_order.c) ---------------------------------------------------------------------

// The clock of a warp or an agent.
static inline uint32_t *clock_of(const Machine *m, int w) { return m->clock[w]; }
static inline uint32_t *rest_of(const Machine *m, int w) { return m->rest[w]; }
// The clock of what this thread knows.
static inline const uint32_t *interp_clock(const Machine *m, uint16_t thread) {
  int w = thread / LANES;
  return m->knows[w] >> thread % LANES & 1 ? clock_of(m, w) : rest_of(m, w);
}
// The clock of the whole warp, whose lanes know the same from now on.
uint32_t *interp_clock_of_warp(Machine *machine, int warp);
static inline bool is_agent(const Machine *m, int thread) { return thread / LANES >= m->max_warps; }
// The reader of boxes on their way to C.
static inline uint16_t interp_stores(const Machine *m) {
  return (uint16_t)((m->n_clocks - 1) * LANES);
}
// The rank of the block that a thread, or an agent, belongs to.
int interp_rank_of(const Machine *machine, int thread);

// Blocks start; the threads of some warps have met, perhaps all: a new epoch begins.
void interp_join_none(Machine *machine);
void interp_join(Machine *machine, const bool *takes_part);
// The same, and they learn what others have told a clock.
void interp_join_told(Machine *machine, const bool *takes_part, uint32_t *told);
// The warp arrives at a barrier of its block, at which `threads` threads are awaited, and goes on.
void interp_pass(Machine *machine, const Warp *warp, int barrier, int64_t threads);
// The warp waits at a barrier where others have passed: all go on if it is the last.
void interp_meet_passed(Machine *machine, const Warp *warp);
// A new block begins: nobody has passed.
void interp_forget_passed(Machine *machine);
// Warps that have met the warp that claimed a list for their cluster know its number (interp.c).
void interp_tell_list(Machine *machine, const bool *takes_part);
// A copy of a clock, good until the next one is made.
uint32_t *interp_copy_clock(Machine *machine, const uint32_t *from);
static inline bool warp_is_whole(const Warp *warp) { return !(warp->alive & ~warp->active); }
// The active lanes join the clock that is handed to them.
void interp_learn(Machine *machine, const Warp *warp, const uint32_t *from);
// fence.proxy.async, tcgen05.fence::before_thread_sync and ::after_thread_sync.
void interp_fence(Machine *machine, const Warp *warp);
void interp_before(Machine *machine, const Warp *warp);
void interp_after(Machine *machine, const Warp *warp);

// ---- clusters (interp_cluster.c) ----------------------------------------------------------------

// Whether blocks of a kernel reach each other: for the others a cluster is nothing to run together.
bool kernel_reaches_across(const Kernel *kernel);
// Puts the block with this rank at hand: memory, registers and block are its own.
void interp_at_rank(Machine *machine, int rank);
// A warp reaches for what another block of its cluster has: that block must have begun, and must
// not end before it knows.
void interp_reach_rank(Machine *machine, const Warp *warp, const Code *code, int rank);
// The same for a copy that it asks for; the mbarrier there tells of its end.
void interp_ask_rank(Machine *machine, const Warp *warp, const Code *code, int rank);
// Reports, when all blocks have ended, which of them may have ended too early for others.
void interp_check_exits(Machine *machine);
// The ranks that an operation is for: its mask, else the warp's own.
uint32_t interp_ranks(Machine *machine, const Warp *warp, const Code *code);
#define EACH_RANK(rank, mask) EACH_LANE(rank, mask)
// "2", or where blocks run together "2 of rank 1"
const char *interp_warp_name(const Machine *machine, int warp);
// "warp 2", "warps 0, 1 and 4-7", "warps 0-3 of rank 0 and 5 of rank 1": those that are named.
const char *interp_name_warps(const Machine *machine, const bool *named);

// ---- mbarriers (interp_mbarrier.c) --------------------------------------------------------------

void mbar_report(Machine *machine, const Warp *warp, const Code *code, FindingKind kind,
                 const char *what);
// The mbarrier of an operand; NULL after a finding. Ready: this block has initialised it, and that
// is in an order with this use.
Mbar *mbar_of(Machine *machine, const Warp *warp, const Code *code, const Operand *operand);
Mbar *mbar_ready(Machine *machine, const Warp *warp, const Code *code, const Operand *operand);
// A new one: phase 0 begins.
void mbar_start(const Machine *machine, Mbar *bar, int64_t arrivals, Touch init);
// All that this thread of the block at hand has initialised: fence.mbarrier_init stands behind.
void mbar_release_inits(Machine *machine, uint16_t thread);
void mbar_arrive(Machine *machine, const Warp *warp, const Code *code, Mbar *bar);
// Ends the phase under way if nothing is missing from it.
void mbar_end_phase(Machine *machine, const Code *code, Mbar *bar);
// Reports an operation that one thread should do and several lanes reach: it is done once for each
// of them.
void mbar_check_alone(Machine *machine, const Warp *warp, const Code *code);
// A fault of operations with operands that must be at one place for the whole warp.
bool operand_is_uniform(const Operand *operand);
const char *mbar_place_fault(Arena *arena, const Program *program, const Code *code);

// Lets warps go on that may; lets one copy land, any; false when there is none.
bool interp_wake(Machine *machine);
bool interp_land_one(Machine *machine);
BoxCopy *interp_new_box(Machine *machine);
// Reports, at the end of a block, the copies still under way; and, when no warp can go on, the wait
// of each warp.
void interp_abandon_boxes(Machine *machine);
void interp_report_stuck(Machine *machine);

// ---- boxes on their way to C (interp_bulk.c) ----------------------------------------------------

// One thread sends the box of a statement; its open group closes; it waits until at most `left` of
// its groups are unread, or in flight.
void bulk_send(Machine *machine, Warp *warp, const Code *code);
void bulk_commit(Machine *machine, Warp *warp);
void bulk_wait(Machine *machine, Warp *warp, const Code *code, bool until_read);
// The end of a warp: unread boxes are reported, for the memory belongs to another block now.
void bulk_end(Machine *machine, Warp *warp);

// ---- tensor memory (interp_tmem.c) --------------------------------------------------------------

// Columns of some quarters of the lanes, of the block at hand.
typedef struct TensorReach {
  int first_quarter, n_quarters, column, n;
  const Buffer *buffer;  // the buffer with the columns
} TensorReach;

bool tmem_is_used(const Program *program);
void tmem_start(Machine *machine, Warp *warp);
// A warp has ended, with moves under way; a block has, with columns that it has not given back.
void tmem_end_warp(Machine *machine, Warp *warp);
void tmem_end_block(Machine *machine);
// The warp's share of the tensor core as a thread: it does what the warp has asked for.
static inline uint16_t tmem_agent(const Machine *m, const Warp *w) {
  return (uint16_t)((m->first_tensor + w->index) * LANES);
}
// Whether the columns of an operand are allocated, and in an order with this use; else the finding
// is made.
bool tmem_has(Machine *machine, const Warp *warp, const Code *code, const Buffer *buffer,
              const TensorReach *reach);
// An access of these columns by `who`, asked for by `now`. False: nothing is there to read.
bool tmem_read(Machine *machine, const Warp *warp, const Code *code, const TensorReach *reach,
               const Touch *now, uint16_t who);
// The tensor core reads these factors for a product, which keeps the next copy of factors away.
void tmem_multiplied(Machine *machine, const TensorReach *reach, const Touch *now, uint16_t who);
void tmem_write(Machine *machine, const Warp *warp, const Code *code, const TensorReach *reach,
                const Touch *now, uint16_t who);
// Columns are given back: whatever was done to them must be known to be over.
void tmem_release(Machine *machine, const Warp *warp, const Code *code);

// The columns of a tcgen05.ld or st; tcgen05.ld brings its columns into its registers, once.
TensorReach tmem_reach_of(const Machine *machine, const Warp *warp, const TensorMove *move);
void tmem_bring(const Machine *machine, const Warp *warp, TensorMove *move);
// Registers are read or written. A read waits for what a tcgen05.ld brings by itself, a write does
// not (PTX ISA, tcgen05, "Register dependencies, same thread").
void tmem_touch_registers(Machine *machine, const Warp *warp, const Code *code,
                          const Operand *operand, const Registers *at, bool reads);
TensorMove *tmem_new_move(Machine *machine, TensorMoves *moves);
TensorWork *tmem_new_work(Machine *machine, Warp *warp);
// The same with what a product or a copy says of itself, asked for by the lanes that are active.
void tmem_ask(Machine *machine, Warp *warp, const TensorWork *work);
// The warps that have asked for something that is not done; the oldest of one of them is done.
int tmem_pending(const Machine *machine);
void tmem_carry_out(Machine *machine, int which);
// Carries out the oldest work of a warp (model/ops/tcgen05.c).
void tmem_do(Machine *machine, Warp *warp, const TensorWork *work);

// ---- barriers (interp_meet.c) -------------------------------------------------------------------

// All warps have stopped: lets those go on that may; false at the end, and when all wait for ever.
bool interp_go_on(Machine *machine);

// ---- shadows (interp_shadow.c) ------------------------------------------------------------------

// The shadow of an element; `now` is the access that happens. A read says whether there is anything
// to read.
bool shadow_read(Machine *machine, const Memory *memory, int64_t at, const Touch *now);
void shadow_write(Machine *machine, const Memory *memory, int64_t at, const Touch *now);
bool shadow_atomic(Machine *machine, const Memory *memory, int64_t at, const Touch *now);
// The copy that `now` issued is in flight from here on; it has arrived for the thread that waited.
void shadow_launch(Machine *machine, const Memory *memory, int64_t at, const Touch *now);
void shadow_arrive(Machine *machine, const Memory *memory, int64_t at, const Touch *now);
// A copy by TMA is asked for, which will write there.
void shadow_ask(Machine *machine, const Memory *memory, int64_t at, const Touch *now);
// A copy by TMA has arrived, `now` is the agent's.
void shadow_land(const Memory *memory, int64_t at, const Touch *now);
// A copy by TMA is asked for, which will read there: false where there is nothing to read. From
// then on no thread may write there, until the thread of `now` has waited for the read.
bool shadow_send(Machine *machine, const Memory *memory, int64_t at, const Touch *now);
void shadow_sent(const Memory *memory, int64_t at, const Touch *now);
// Whether `then` is over when `now` happens, both in the same block.
bool shadow_ordered(const Machine *machine, const Touch *then, const Touch *now);
// A thread that has not waited for the kernel in front asks for its data.
void shadow_check_early(Machine *machine, const Memory *memory, int64_t at, const Touch *now);
// Whether anything was written there in this run (global) or block (shared).
bool shadow_is_written(const Machine *machine, const Memory *memory, int64_t at);

// ---- one thread looked at (interp_trace.c) ------------------------------------------------------

// Whether the thread is about to execute this; around it, what it reads and what has come of it.
bool trace_wants(const Machine *machine, const Warp *warp);
void trace_begin(Machine *machine, const Warp *warp, const Code *code);
void trace_end(Machine *machine, const Warp *warp, const Code *code);

// The same of a block that is watched: an operation that is over, a box that has landed.
void watch_op(const Machine *machine, const Warp *warp, const Code *code);
void watch_landing(const Machine *machine, const Code *code, const Mbar *bar);

// ---- findings (interp_report.c) -----------------------------------------------------------------

// `lane` may be -1; `offset` is an element of `buffer` (NULL: none).
void interp_report(Machine *machine, FindingKind kind, const Warp *warp, int lane, const Stmt *stmt,
                   const Buffer *buffer, int64_t offset, const char *format, ...)
    __attribute__((format(printf, 8, 9)));
void interp_report_conflict(Machine *machine, FindingKind kind, const Memory *memory,
                            const Shadow *shadow, const Touch *then, const Touch *now);
static inline int lowest_lane(uint32_t mask) { return __builtin_ctz(mask); }
