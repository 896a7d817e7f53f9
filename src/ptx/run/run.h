// The inside of the machine: what the functions of opcode.def work on.
//
// A register is 32 numbers of 64 bits, one for each lane, zero-extended from its width; a predicate
// is one word, a bit for each lane. Beside each lies one word that says which lanes' values follow
// from loaded data ("taint").
//
// Lanes that went different ways are different splits. The split with the deepest call, and among
// those with the lowest instruction, runs first; where it reaches another one they become one.
#pragma once
#include <string.h>

#include "order/order_cluster.h"
#include "order/order_mbar.h"
#include "order/order_tensor.h"
#include "ptx/run/machine.h"

enum {
  PTX_CALLS_MAX = 16,
  PTX_NAMED_BARRIERS = 16,
  PTX_BARRIERS = PTX_NAMED_BARRIERS + 8,  // and one of each warpgroup
  PTX_WARPS_MAX = 32,                     // of a block
  PTX_FINDINGS_MAX = 256,                 // pairs of lines; what ends a run comes on top
  PTX_MBARRIERS_MAX = 256,                // of a block
  PTX_SINK = ~PTX_SPECIAL_sink,
};

// Addresses. Generic ones of shared and local memory and of parameters, and variables, lie in
// windows, above every address that recorded memory may have.
#define PTX_BUFFERS UINT64_C(0x7f0000000000)
#define PTX_GLOBAL_VARIABLES UINT64_C(0x1007e0000000000)
#define PTX_CONST_VARIABLES UINT64_C(0x1007d0000000000)
#define PTX_SHARED_WINDOW UINT64_C(0x1007a0000000000)
// The part of cooperative groups in the system's shared memory, counted from its beginning.
enum { PTX_RESERVED_1 = 128 };
#define PTX_LOCAL_WINDOW UINT64_C(0x1007b0000000000)
#define PTX_PARAM_WINDOW UINT64_C(0x1007c0000000000)
#define PTX_WINDOW_BYTES UINT64_C(0x10000000000)
// An address of shared memory names the block of the cluster by its rank, from bit 24 on as on a
// GPU, and by bit 31, which says that it does; without that bit it is the block's own. Below them
// lies the offset in that block's memory.
enum { PTX_RANK_SHIFT = 24, PTX_RANK_BITS = 7 };
#define PTX_RANK_NAMED (UINT64_C(1) << 31)
static inline uint64_t ptx_ranked(uint64_t offset, uint64_t rank) {
  return PTX_RANK_NAMED | rank << PTX_RANK_SHIFT | offset;
}
// Constants that are no numbers.
#define PTX_TAGS UINT64_C(0xffff000000000000)
#define PTX_SLOT_TAG UINT64_C(0x5107000000000000)
#define PTX_FUNCTION_TAG UINT64_C(0xf0c7000000000000)

// Some memory: its bytes and the state of each.
typedef struct PtxPlane {
  unsigned char *bytes, *state;
  int64_t size;
} PtxPlane;

typedef struct PtxTensor PtxTensor;
typedef struct PtxTmem PtxTmem;

// Global memory. A page of it is made when it is first looked at: what a kernel leaves alone costs
// nothing, however large it is.
typedef struct PtxBuffer {
  const char *name;
  uint64_t address;
  PtxPlane plane;
  bool *made;     // [pages]; NULL: nothing has to be made
  PtxFill *fill;  // NULL: the bytes are there, or zero
  void *self;
  struct PtxBuffer *next;
} PtxBuffer;

// Global memory of the launch that may not be at hand (ptx_machine_leave_out).
typedef struct PtxLeftOut {
  uint64_t address, bytes;
  struct PtxLeftOut *next;
} PtxLeftOut;

typedef enum PtxSplitState {
  PTX_RUNS,
  PTX_WAITS_BARRIER,
  PTX_WAITS_WARP,
  PTX_WAITS_CLUSTER,
} PtxSplitState;

typedef struct PtxFrame {
  int pc;  // to return to
  int function, reg, pred;
} PtxFrame;

typedef struct PtxSplit {
  PtxSplitState state;
  int pc;
  uint32_t mask;
  bool parked;     // lets others go first: lanes that it wants to meet may still come
  int barrier;     // that it waits at
  uint32_t wants;  // of bar.warp.sync
  uint32_t apart;  // of machine code: lanes that go on alone until they meet others; 0: none
  int depth;
  PtxFrame calls[PTX_CALLS_MAX];  // [depth] is the present one
} PtxSplit;

typedef struct PtxBlock PtxBlock;

// A register that a wgmma has, until its group is waited for, or a tcgen05.ld, until wait::ld; and
// the last that others put there.
typedef struct PtxFlight {
  int pc;
  uint32_t group;
  uint8_t kind;  // PtxFlightKind
  int written_pc;
  uint32_t fences;  // wgmma.fence so far when it was computed, and 1; 0: it was not, or by wgmma
} PtxFlight;
typedef enum PtxFlightKind {
  PTX_NO_FLIGHT,
  PTX_FLIGHT_A,
  PTX_FLIGHT_D,
  PTX_FLIGHT_LD
} PtxFlightKind;

// A bulk copy to elsewhere that a lane began.
typedef struct PtxSent {
  uint32_t group;
  int pc;  // −1: none
} PtxSent;

// Groups of a warp: of cp.async and bulk copies to elsewhere each lane's, with when each was waited
// for; of wgmma.
typedef struct PtxGroups {
  OrderGroups copies[PTX_LANES], sends[PTX_LANES], products;
  OrderGroupTicks copied[PTX_LANES], sent[PTX_LANES], multiplied;
  // Machine code, by the number of the group: the warp's tick behind the products, and the one in
  // front of which its loads had their values; the scoreboards that it releases.
  uint32_t asked[ORDER_GROUPS_KEPT], had_read[ORDER_GROUPS_KEPT];
  uint8_t copy_boards[PTX_LANES][ORDER_GROUPS_KEPT], send_boards[PTX_LANES][ORDER_GROUPS_KEPT];
} PtxGroups;

// Scoreboards of a warp; behind them stand loads that the next scoreboard of shared memory stands
// for, and loads that none stands for.
enum { PTX_BOARDS = 6, PTX_BOARD_NEXT = PTX_BOARDS, PTX_BOARD_NONE, PTX_BOARD_KINDS };

typedef struct PtxWarp {
  PtxBlock *block;
  int index, in_block;  // among the warps of the cluster, and of its block
  uint32_t exists, exited;
  uint64_t *regs, *fixed;
  uint32_t *taint, *preds, *pred_taint;
  uint32_t *unknown, *pred_unknown;  // lanes with an unknown value (unknown.c)
  int cap_regs, cap_preds;
  // The split that runs, laid out for speed.
  int pc, next;
  uint32_t mask;
  uint64_t *frame;
  uint32_t *frame_taint, *frame_preds, *frame_pred_taint;
  uint32_t *frame_unknown, *frame_pred_unknown;
  uint32_t doubt;          // lanes with an unknown result of the instruction at hand
  uint32_t carry_unknown;  // the same of the carry
  bool yields, again;      // the function asks: let other warps run; run this instruction again
  PtxSplit splits[PTX_LANES + 1];
  int n_splits, now;
  bool stale;       // the last split was chosen long enough
  int poll;         // the instruction that asked last, without success; −1: it was answered
  int question;     // the last load of a word of global memory that others may change
  uint64_t answer;  // what it brought
  uint32_t carry;
  // Lanes under a branch that followed from data, until they come to `control_end`.
  uint32_t control;
  int control_end[PTX_LANES];
  uint32_t named[PTX_LANES];  // by each lane's last redux: the lanes of its group
  // Order.
  uint32_t *clock;   // what it knows (order/order.h); its own entry is its tick
  uint32_t *fenced;  // the clock at its last fence
  bool acquires;     // at its next fence: it has read atomically
  uint32_t cluster_arrived, cluster_passed;  // lanes: arrived; arrived, and all others have, too
  uint32_t lane_epoch[PTX_LANES];
  uint32_t met;                      // its tick behind the last time that all its lanes met
  uint32_t fenced_alone[PTX_LANES];  // behind a lane's last fence for the async proxy
  // Loads of machine code whose values nobody has waited for: by scoreboard, the tick of the first;
  // 0: none.
  uint32_t reading[PTX_BOARD_KINDS];
  uint8_t reads_open;  // a bit for each of them
  PtxGroups *groups;
  PtxSent last_sent[PTX_LANES];  // the last bulk copy to elsewhere
  // wgmma, and registers that tcgen05.ld brings.
  PtxFlight *flight;     // by register
  uint32_t last_flight;  // group of the last wgmma
  uint32_t fences;       // wgmma.fence so far
  bool flies;            // some register may be in flight
  int registers;         // of a thread, by its last setmaxnreg; 0: none
  uint32_t asked;        // products of tcgen05: the ticks of its share of the tensor core
} PtxWarp;

typedef struct PtxBarrier {
  int arrived, expected;
  bool any, all;
  uint32_t count;  // of bar.red.popc
  uint32_t *clock;
} PtxBarrier;

typedef struct PtxMbarrier {
  int64_t address;  // in the cluster's shared memory, −1: free
  OrderMbar *order;
  int pc;  // of what ended its last phase
  uint32_t
      *awaits;  // by warp: the phase that it asks for next, counted by the waits it came through
} PtxMbarrier;

// A block of the cluster that runs.
struct PtxBlock {
  int index[3], rank;
  int alive;  // threads that have not ended
  PtxBarrier barriers[PTX_BARRIERS];
  int last_pc, last_thread;  // of the last of them, where it ended
  bool unsure;               // its shared memory was written at a place that is not known
  PtxTmem *tmem;             // tensor memory; NULL: the module has none
};

typedef struct PtxOrders PtxOrders;

typedef enum PtxTouchKind {
  PTX_READS,
  PTX_WRITES,
  PTX_ATOMIC,
  PTX_ATOMIC_READS,  // by a load that is relaxed or acquires
  PTX_COPIES,        // by cp.async
  PTX_MULTIPLIES,    // read by wgmma
  PTX_ASKS,          // read by tcgen05.mma
  PTX_SENDS,         // read by a bulk copy to global memory
  PTX_FORWARDS,      // read by a bulk copy to another block
  PTX_LANDS,         // written by a bulk copy, which an mbarrier tells of
} PtxTouchKind;

// The last touch of a byte of shared memory, and the thread that made it.
typedef struct PtxTouch {
  uint32_t clock;  // of the warp; 0: no warp
  uint32_t epoch;  // of the lane; of a copy that lands: the mbarrier's phase
  int32_t pc;
  uint16_t thread;  // of the cluster
  uint8_t kind;
  uint32_t group;  // of a cp.async, wgmma, tcgen05.mma or bulk copy; of what lands: the party
} PtxTouch;

typedef struct PtxShadow {
  PtxTouch write, read, other_read;
} PtxShadow;

// Shared memory in pieces of 16 bytes. All bytes of a piece have one history, which other pieces
// may have, too; or, its number is 0, each byte has its own.
enum { PTX_PIECE = 16 };
typedef struct PtxHistory {
  PtxShadow shadow;
  int64_t pieces;  // that have it
  uint32_t next;   // of those that no piece has
} PtxHistory;
typedef struct PtxHistories {
  int64_t n_pieces;
  uint32_t *of;  // [piece]
  PtxHistory *history;
  uint32_t n, free;  // used so far; the first that no piece has, 0: none
  PtxShadow *byte;
} PtxHistories;

// Where the shared variables of a kernel lie, and where they end.
typedef struct PtxSharedPlace {
  int64_t *offset;  // by variable of the module; −1: the kernel has it not
  int64_t end;
} PtxSharedPlace;

struct PtxMachine {
  Arena *arena;
  const PtxModule *module;
  const PtxFunction *kernel;
  PtxLaunch launch;
  int n_threads;             // of a block
  int n_warps, block_warps;  // of the cluster, of a block
  // Parties are the warps, where there is tensor memory their shares of the tensor core, and behind
  // those the mbarriers.
  Order *order;
  struct PtxOrders *orders;          // NULL: no events are kept
  OrderCluster *life;                // of its blocks
  OrderMoves *moves;                 // by warp, of tensor memory
  bool multiplies;                   // some instruction is a wgmma
  bool has_tmem;                     // some instruction is a tcgen05
  int n_blocks, cluster[3];          // of a cluster
  PtxBlock *blocks;                  // by rank
  int watched;                       // rank of the block with the accesses told, −1: all
  PtxWarp *warps;                    // block by block
  PtxPlane shared;                   // of all blocks of the cluster, one behind the other
  int64_t smem, smem_stride;         // of one of them; from one to the next
  int64_t reserved, reserved_bytes;  // the system's own part of it; 0: the kernel does not name it
  PtxPlane local, param;             // local: of all threads, one behind the other
  int64_t local_bytes;               // of one thread
  PtxBuffer *buffers, *last_buffer;
  PtxLeftOut *left_out;
  PtxTensor *tensors;
  struct PtxMadeMap *made_maps;      // by the kernel itself; of the keeper
  struct PtxProduct *product_plans;  // of tcgen05.mma, by instruction descriptor
  int64_t n_tensors;
  uint64_t next_buffer;
  PtxHistories histories;  // of shared memory
  PtxBarrier cluster_barrier;
  uint32_t *cluster_over;  // the clock that a warp gets when it passes it
  uint32_t *released;      // what stores and atomics that release told of
  PtxMbarrier *mbarriers;  // of the cluster
  int n_mbarriers;
  int alive;  // threads of the cluster that have not ended
  bool stopped;
  bool beyond;                  // and that is why: some memory is not at hand
  bool has_unknowns, unknowns;  // some value may be unknown; some is: from now on they are followed
  bool unsure;  // of the keeper: global memory was written at a place that is not known
  const char **unknown_why;  // by instruction: why it gave unknown values; NULL: it did not
  int unknown_pc;  // the last instruction that gave an unknown value; -1: an argument, or memory
  bool lapped, forgives;  // a warp came too late for a phase; such warps are let through
  int64_t executed, budget, approximations, block_started;
  uint64_t workspace;  // of a cooperative launch: where its blocks count
  PtxMachine *keeper;  // of findings; itself, but where several run a grid side by side
  int64_t events;      // what threads that ask again and again may wait for: stores, arrivals, ends
  int asking;          // rounds since any warp did something else than ask
  int64_t *executions;
  PtxFinding *findings;
  int n_findings, cap_findings, last_finding;
  PtxFinding finding_left_out;  // the last of those for which there was no room
  int64_t findings_left_out;
  const uint64_t
      *line_keys;  // by place (PtxLoc): equal for the same line, inlined by the same calls
  PtxAccessSink *sink;
  void *sink_self;
  PtxTrace *trace;  // NULL: no listener
  void *trace_self;
  int static_smem;
  PtxSharedPlace place;
};

// ---- operands -----------------------------------------------------------------------------------

static inline uint64_t *ptx_lanes(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, int n) {
  const PtxArg arg = m->module->args[g->at + n];
  return arg >= 0 ? w->frame + (size_t)arg * PTX_LANES : w->fixed + (size_t)~arg * PTX_LANES;
}
static inline uint32_t ptx_pred_of(const PtxWarp *w, PtxArg arg) {
  if (arg >= 0) return w->frame_preds[arg];
  const bool is_fixed = arg < PTX_PRED_FALSE;  // what the hardware says to all lanes
  return arg == PTX_PRED_TRUE || (is_fixed && w->fixed[(size_t)~arg * PTX_LANES]) ? ~0u : 0;
}
// The lanes in which a predicate that is read holds, negation included.
static inline uint32_t ptx_pred(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g) {
  const uint32_t bits = ptx_pred_of(w, m->module->args[g->at]);
  return g->negated ? ~bits : bits;
}
static inline void ptx_put_pred(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t mask,
                                uint32_t bits) {
  if (g->n == 0 || g->kind != PTX_GROUP_PRED) return;
  uint32_t *pred = &w->frame_preds[m->module->args[g->at]];
  *pred = (*pred & ~mask) | (bits & mask);
}
static inline int ptx_reg_bits(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g, int n) {
  const PtxArg arg = m->module->args[g->at + n];
  if (arg < 0) return 64;
  return m->module->functions[w->splits[w->now].calls[w->splits[w->now].depth].function]
      .reg_bits[arg];
}
#define FOR_LANES(mask)                                                                  \
  for (uint32_t left_ = (mask), l = 0; left_ && (l = (uint32_t)__builtin_ctz(left_), 1); \
       left_ &= left_ - 1)

static inline uint64_t ptx_cut(uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}
static inline int64_t ptx_sign(uint64_t value, int bits) {
  return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}
static inline float ptx_f32(uint64_t bits) {
  const uint32_t word = (uint32_t)bits;
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}
static inline uint64_t ptx_f32_bits(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}
static inline double ptx_f64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint64_t ptx_f64_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
// The loads that release these scoreboards have their values.
void ptx_await_reads(PtxMachine *m, PtxWarp *w, unsigned boards);
// Each lane waits until of its groups that release these scoreboards at most left[lane] are open.
void ptx_await_boards(PtxMachine *m, PtxWarp *w, uint32_t mask, unsigned boards,
                      const uint64_t *left);
// The instruction of PTX that one of machine code is carried out as.
static inline const PtxInst *ptx_meant(const PtxInst *i) { return i->as ? i->as : i; }
static inline bool ptx_has(const PtxInst *i, PtxModifier modifier) {
  return ptx_mods_has(&i->form.mods, modifier);
}
// Threads are numbered throughout the cluster; each block has whole warps of numbers.
static inline int ptx_thread(const PtxWarp *w, int lane) { return w->index * PTX_LANES + lane; }
static inline PtxBlock *ptx_block_of(const PtxMachine *m, int thread) {
  return m->n_blocks == 1 ? m->blocks : &m->blocks[thread / PTX_LANES / m->block_warps];
}
static inline int ptx_thread_of_block(const PtxMachine *m, int thread) {
  return thread % (m->block_warps * PTX_LANES);
}
// The offset of a byte of the cluster's shared memory within its block's shared memory.
static inline int64_t ptx_smem_offset(const PtxMachine *m, int64_t at) {
  return m->n_blocks == 1 ? at : at % m->smem_stride;  // most launches have no clusters
}

// ---- memory.c -----------------------------------------------------------------------------------

// The place of `bytes` bytes at an address of a space, for a thread; a plane of size 0 when the
// address lies nowhere. The space of a generic address is found out and put into `*space`.
typedef struct PtxPlace {
  unsigned char *bytes, *state;  // NULL: nowhere
  int64_t offset;                // in the cluster's shared memory
} PtxPlace;
PtxPlace ptx_place(PtxMachine *m, int thread, PtxSpace *space, uint64_t address, int64_t bytes);
// Whether a generic address is one of global memory: it lies in no other window.
bool ptx_is_global(uint64_t address);
// Makes the pages of a buffer that hold these bytes; false: some of them are not at hand.
bool ptx_buffer_make(PtxBuffer *b, uint64_t at, int64_t bytes);
PtxBuffer *ptx_buffer_at(const PtxMachine *m, uint64_t address);
PtxPlane ptx_plane(Arena *arena, int64_t size);
PtxBuffer *ptx_buffer_add(PtxMachine *m, const char *name, uint64_t address, PtxPlane plane);

// ---- unknown.c ----------------------------------------------------------------------------------

// In front of an instruction and behind it, where some value may be unknown. Before: leaves in
// *mask the lanes that are known to carry it out. w->doubt gets the lanes with an unknown result;
// the instruction adds the lanes with unknown memory to it. False: it is not carried out, or the
// block was stopped.
bool ptx_unknown_before(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t *mask);
void ptx_unknown_after(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask);
// Some lanes' result of the instruction at hand is not known.
void ptx_doubt(PtxMachine *m, PtxWarp *w, uint32_t lanes);
// The lanes in which some register of an operand is unknown.
uint32_t ptx_group_unknown(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g);
// Whether some of these bytes are unknown.
bool ptx_bytes_are_unknown(const PtxMachine *m, const PtxPlace *place, PtxSpace space, int bytes);
static inline bool ptx_place_is_unknown(const PtxMachine *m, const PtxPlace *place, PtxSpace space,
                                        int bytes) {
  return m->has_unknowns && ptx_bytes_are_unknown(m, place, space, bytes);
}
void ptx_mark_unknown(const PtxPlace *place, int bytes);
// Stops the block: what it does next depends on a value that is not known.
void ptx_stop_unknown(PtxMachine *m, PtxWarp *w, uint32_t lanes, const char *what);
// An instruction that is not run, and that does nothing but write registers: they are unknown.
PtxRun ptx_run_unknown;
// The instruction at hand gives unknown values, and why: a report names it.
void ptx_give_unknown(PtxMachine *m, PtxWarp *w, const char *why);

// ---- findings.c ---------------------------------------------------------------------------------

// The finding of that kind at these lines: a new one, or the one that there is, counted again.
PtxFinding *ptx_find(PtxMachine *m, PtxWarp *w, PtxFindingKind kind, int pc, int other_pc,
                     uint32_t lanes);
void ptx_stop(PtxMachine *m, PtxWarp *w, PtxFindingKind kind, uint32_t lanes, const char *text);
const uint64_t *ptx_line_keys(Arena *arena, const PtxModule *module);
// For what each warp waits, when all of them do.
void ptx_tell_deadlock(PtxMachine *m);

// ---- machine.c ----------------------------------------------------------------------------------

// The cluster that a block of the grid belongs to begins; then it gets turns, in each of which its
// warps run for a while. True: that was the last, and `*outcome` says why. `*rounds` counts, from
// 0, the turns in a row in which all asked without success.
void ptx_start_cluster(PtxMachine *m, const int block[3]);
bool ptx_turn(PtxMachine *m, int *rounds, PtxOutcome *outcome);

void ptx_load_split(PtxWarp *w, int index);
void ptx_load_frame(PtxWarp *w, const PtxFrame *frame);
// The next of n lanes go elsewhere, the rest of the split stays where it is.
void ptx_leave(PtxMachine *m, PtxWarp *w, uint32_t lanes, int pc);

// ---- shared_place.c -----------------------------------------------------------------------------

PtxSharedPlace ptx_place_shared(Arena *arena, const PtxModule *module, int kernel);

// ---- machine_make.c -----------------------------------------------------------------------------

void ptx_place_block(PtxMachine *m, PtxBlock *block, const int first[3]);
// The rank of a block of the grid in its cluster.
static inline int ptx_rank_of(const PtxMachine *m, const int block[3]) {
  const int *n = m->cluster;
  return block[0] % n[0] + n[0] * (block[1] % n[1] + n[1] * (block[2] % n[2]));
}
// A machine for other blocks of the same launch, on the same global memory.
PtxMachine *ptx_machine_beside(PtxMachine *m);

// ---- races.c ------------------------------------------------------------------------------------

void ptx_histories_make(PtxMachine *m);
// Takes all bytes for untouched.
void ptx_histories_start(PtxMachine *m);
// Bytes [offset, offset + bytes) of the cluster's shared memory are touched by a lane; `values` is
// what a write puts there.
void ptx_touch(PtxMachine *m, PtxWarp *w, int lane, int64_t offset, int bytes, PtxTouchKind kind,
               const unsigned char *values);
// The same for a bulk copy with bytes that land when this phase of the mbarrier is over.
void ptx_touch_landing(PtxMachine *m, PtxWarp *w, int lane, int64_t offset, int bytes,
                       const unsigned char *values, const PtxMbarrier *mbarrier);
// fence.proxy.async of some lanes.
void ptx_fence_async(PtxMachine *m, PtxWarp *w, uint32_t lanes);
// Whether a load or store is an atomic one (.relaxed, .acquire, .release); volatile ones are not
// taken for it, since code that forgot a barrier has them, too.
bool ptx_is_atomic(const PtxInst *i);
// In front of an access, and behind it: .release and .acquire carry the known clocks along.
void ptx_order_before(PtxMachine *m, PtxWarp *w, const PtxInst *i);
void ptx_order_after(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lanes);
void ptx_barrier_clear(const PtxMachine *m, PtxBarrier *b);

// ---- run_cluster.c ------------------------------------------------------------------------------

// The block of a byte of the cluster's shared memory.
static inline int ptx_rank_at(const PtxMachine *m, int64_t offset) {
  return m->n_blocks == 1 ? 0 : (int)(offset / m->smem_stride);
}
// A lane touches memory of the block of that rank, or arrives there: a finding when that block may
// not have begun, or have ended.
void ptx_reach(PtxMachine *m, PtxWarp *w, int lane, int rank);
void ptx_recheck_cluster(PtxMachine *m);

// ---- run_wgmma.c --------------------------------------------------------------------------------

// A finding when an instruction other than wgmma touches a register that one still has.
void ptx_check_flight(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask);
// A tcgen05.ld brings these registers.
void ptx_note_load(PtxMachine *m, PtxWarp *w, const PtxGroup *g);
// An instruction other than wgmma has written its registers.
void ptx_note_written(PtxMachine *m, PtxWarp *w, const PtxInst *i);

// ---- tmem_order.c -------------------------------------------------------------------------------

// The party of what a warp has asked of the tensor core.
static inline int ptx_share_of(const PtxMachine *m, int warp) { return m->n_warps + warp; }
bool ptx_has_tmem(const PtxModule *module);
PtxTmem *ptx_tmem_new(const PtxMachine *m);
void ptx_tmem_start(PtxBlock *block);
// The last thread of a block has ended.
void ptx_tmem_end(PtxMachine *m, PtxWarp *w);

// ---- functions of opcode.def --------------------------------------------------------------------

PtxRun ptx_run_why;
// A sentence when the runner cannot run this instruction; NULL when it can. The functions may rely
// on what it lets through: numbers of registers, types.
const char *ptx_run_refuses(const PtxModule *module, const PtxInst *inst);

// The parts of ptx_run_refuses() that are about boxes of tensors and about wmma.
const char *ptx_tensor_refuses(const PtxInst *i);
const char *ptx_map_refuses(const PtxInst *i);
// For a cp.reduce on elements of that type.
const char *ptx_reduction_refuses(const PtxInst *i, PtxType type);
const char *ptx_wmma_refuses(const PtxInst *i);
// For tcgen05: mma; ld and st.
const char *ptx_product_refuses(const PtxInst *i);
const char *ptx_tmem_move_refuses(const PtxInst *i);

#define OP(name, needs, types, operands, run, flow, takes, help) extern PtxRun run_##run;
#define run_NOT_RUN run_NOT_RUN_
#include "ptx/module/opcode.def"
#undef run_NOT_RUN
