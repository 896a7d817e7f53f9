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

#include "ptx/run/machine.h"

enum {
  PTX_CALLS_MAX = 16,
  PTX_BARRIERS = 17,  // the last one is the cluster's
  PTX_WARPS_MAX = 32,
  PTX_FINDINGS_MAX = 64,
  PTX_MBARRIERS_MAX = 256,
  PTX_GROUPS_KEPT = 64,  // of cp.async, by thread
  PTX_SINK = ~PTX_SPECIAL_sink,
};

// Addresses. Generic ones of shared and local memory and of parameters lie in windows.
#define PTX_BUFFERS UINT64_C(0x7f0000000000)
#define PTX_GLOBAL_VARIABLES UINT64_C(0x7e0000000000)
#define PTX_CONST_VARIABLES UINT64_C(0x7d0000000000)
#define PTX_SHARED_WINDOW UINT64_C(0x7a0000000000)
#define PTX_LOCAL_WINDOW UINT64_C(0x7b0000000000)
#define PTX_PARAM_WINDOW UINT64_C(0x7c0000000000)
#define PTX_WINDOW_BYTES UINT64_C(0x10000000000)
// Constants that are no numbers.
#define PTX_TAGS UINT64_C(0xffff000000000000)
#define PTX_SLOT_TAG UINT64_C(0x5107000000000000)
#define PTX_FUNCTION_TAG UINT64_C(0xf0c7000000000000)

// The facts known of a byte.
enum { PTX_BYTE_WRITTEN = 1, PTX_BYTE_DATA = 2 };

// Some memory: its bytes and what is known of each.
typedef struct PtxPlane {
  unsigned char *bytes, *state;
  int64_t size;
} PtxPlane;

typedef struct PtxTensor PtxTensor;

typedef struct PtxBuffer {
  const char *name;
  uint64_t address;
  PtxPlane plane;
  struct PtxBuffer *next;
} PtxBuffer;

typedef enum PtxSplitState { PTX_RUNS, PTX_WAITS_BARRIER, PTX_WAITS_WARP } PtxSplitState;

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
  int depth;
  PtxFrame calls[PTX_CALLS_MAX];  // [depth] is the present one
} PtxSplit;

typedef struct PtxWarp {
  int index;
  uint32_t exists, exited;
  uint64_t *regs, *fixed;
  uint32_t *taint, *preds, *pred_taint;
  int cap_regs, cap_preds;
  // The split that runs, laid out for speed.
  int pc, next;
  uint32_t mask;
  uint64_t *frame;
  uint32_t *frame_taint, *frame_preds, *frame_pred_taint;
  bool yields, again;  // the function asks: let other warps run; run this instruction again
  PtxSplit splits[PTX_LANES + 1];
  int n_splits, now;
  bool stale;  // the last split was chosen long enough
  int poll;    // the instruction that asked last, and in vain
  uint32_t carry;
  // Lanes under a branch that followed from data, until they come to `control_end`.
  uint32_t control;
  int control_end[PTX_LANES];
  // Order.
  uint32_t clock[PTX_WARPS_MAX];  // what of each warp has happened before now; its own: now
  uint32_t lane_epoch[PTX_LANES];
  // cp.async, by lane: groups so far, groups waited for, when each was.
  uint32_t groups[PTX_LANES], groups_done[PTX_LANES];
  uint32_t done_clock[PTX_LANES][PTX_GROUPS_KEPT];
  // wgmma: the same for the warp.
  uint32_t products, products_done, products_clock[PTX_GROUPS_KEPT];
} PtxWarp;

typedef struct PtxBarrier {
  int arrived, expected;
  bool any, all;
  uint32_t count;  // of bar.red.popc
  uint32_t clock[PTX_WARPS_MAX];
  int pc;
} PtxBarrier;

typedef struct PtxMbarrier {
  int64_t address;  // −1: free
  int expected, pending;
  int64_t tx;
  uint32_t phase;
  uint32_t clock[PTX_WARPS_MAX], done[PTX_WARPS_MAX];
  int pc;
} PtxMbarrier;

// The last touch of a byte of shared memory, and the thread that made it.
typedef struct PtxTouch {
  uint32_t clock;  // of the warp; 0: nobody
  uint32_t epoch;  // of the lane
  int32_t pc;
  uint16_t thread;
  bool is_async, is_atomic;
  bool is_product;  // a read by wgmma
  uint32_t group;   // of a cp.async or wgmma
} PtxTouch;

typedef struct PtxShadow {
  PtxTouch write, read, other_read;
} PtxShadow;

struct PtxMachine {
  Arena *arena;
  const PtxModule *module;
  const PtxFunction *kernel;
  PtxLaunch launch;
  int n_threads, n_warps;
  PtxWarp *warps;
  PtxPlane shared, local, param;  // local: of all threads, one behind the other
  int64_t local_bytes;            // of one thread
  PtxBuffer *buffers, *last_buffer;
  PtxTensor *tensors;  // the last one first
  int64_t n_tensors;
  uint64_t next_buffer;
  PtxShadow *shadow;  // of shared memory
  PtxBarrier barriers[PTX_BARRIERS];
  PtxMbarrier mbarriers[PTX_MBARRIERS_MAX];
  int n_mbarriers;
  int block[3];
  int alive;  // threads that have not ended
  bool stopped;
  int64_t executed, budget, approximations, block_started;
  int64_t events;  // what threads that ask again and again may wait for: stores, arrivals, ends
  int64_t *executions;
  PtxFinding *findings;
  int n_findings;
  PtxAccessSink *sink;
  void *sink_self;
  int static_smem;
};
typedef struct PtxMachine PtxMachine;

// ---- operands -----------------------------------------------------------------------------------

static inline uint64_t *ptx_lanes(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, int n) {
  const PtxArg arg = m->module->args[g->at + n];
  return arg >= 0 ? w->frame + (size_t)arg * PTX_LANES : w->fixed + (size_t)~arg * PTX_LANES;
}
static inline uint32_t ptx_pred_of(const PtxWarp *w, PtxArg arg) {
  return arg >= 0 ? w->frame_preds[arg] : arg == PTX_PRED_TRUE ? ~0u : 0;
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
static inline bool ptx_has(const PtxInst *i, PtxModifier modifier) {
  return ptx_mods_has(&i->form.mods, modifier);
}
static inline int ptx_thread(const PtxWarp *w, int lane) { return w->index * PTX_LANES + lane; }

// ---- memory.c -----------------------------------------------------------------------------------

// The place of `bytes` bytes at an address of a space, for a thread; a plane of size 0 when the
// address lies nowhere. The space of a generic address is found out and put into `*space`.
typedef struct PtxPlace {
  unsigned char *bytes, *state;  // NULL: nowhere
  int64_t offset;                // in shared memory
} PtxPlace;
PtxPlace ptx_place(PtxMachine *m, int thread, PtxSpace *space, uint64_t address, int64_t bytes);
PtxBuffer *ptx_buffer_at(const PtxMachine *m, uint64_t address);
PtxPlane ptx_plane(Arena *arena, int64_t size);

// ---- machine.c ----------------------------------------------------------------------------------

PtxFinding *ptx_find(PtxMachine *m, PtxWarp *w, PtxFindingKind kind, int pc, int other_pc,
                     uint32_t lanes);
void ptx_stop(PtxMachine *m, PtxWarp *w, PtxFindingKind kind, uint32_t lanes, const char *text);
// The next of n lanes go elsewhere, the rest of the split stays where it is.
void ptx_leave(PtxMachine *m, PtxWarp *w, uint32_t lanes, int pc);

// ---- races.c ------------------------------------------------------------------------------------

typedef enum PtxTouchKind {
  PTX_READS,
  PTX_WRITES,
  PTX_ATOMIC,
  PTX_COPIES,      // by cp.async
  PTX_MULTIPLIES,  // read by wgmma
} PtxTouchKind;
// Bytes [offset, offset + bytes) of shared memory are touched by a lane; `values` is what a write
// puts there.
void ptx_touch(PtxMachine *m, PtxWarp *w, int lane, int64_t offset, int bytes, PtxTouchKind kind,
               const unsigned char *values);
void ptx_clock_join(uint32_t *into, const uint32_t *from, int n);

// ---- functions of opcode.def --------------------------------------------------------------------

PtxRun ptx_run_why;
// A sentence when the runner cannot run this instruction; NULL when it can. The functions may rely
// on what it lets through: numbers of registers, types.
const char *ptx_run_refuses(const PtxModule *module, const PtxInst *inst);

// The parts of ptx_run_refuses() that are about boxes of tensors and about wmma.
const char *ptx_tensor_refuses(const PtxInst *i);
const char *ptx_wmma_refuses(const PtxInst *i);

#define OP(name, needs, types, operands, run, flow, help) extern PtxRun run_##run;
#define run_NOT_RUN run_NOT_RUN_
#include "ptx/module/opcode.def"
#undef run_NOT_RUN
