// Inside the run without values: a kernel as flat code, what each statement costs, and the machine.
//
// Included by timeline*.c only.
#pragma once
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/op_kind.h"
#include "model/ir/program.h"
#include "model/readings/time/timeline.h"
#include "order/order_groups.h"
#include "order/order_mbar.h"

// The clocks that one execution by one warp takes of each unit.
typedef struct TimelineCost {
  double pipe;      // shared memory's and L1's
  double fetch;     // this SM's share of L2 and DRAM, inwards
  double store;     // outwards
  double multiply;  // one quarter of the SM's multipliers
  double lanes;     // one quarter of its fp32 lanes, where those are not the multipliers
  double powers;    // one quarter of its special function units
  double latency;   // from the end of that to the value
} TimelineCost;

// Tells what a statement costs by the model; `program` is the one that runs, perhaps a broken copy.
TimelineCost timeline_cost(const Model *model, const Program *program, const Stmt *stmt);
const char *timeline_origin(Arena *arena, const Model *model);

typedef enum TimeCodeKind {
  TIME_OP,
  TIME_LET,
  TIME_LOOP,
  TIME_NEXT,
  TIME_IF,
  TIME_FI,
  TIME_EXIT
} TimeCodeKind;

typedef struct TimeCode {
  TimeCodeKind kind;
  const Stmt *stmt;
  int jump;       // LOOP: behind its NEXT; NEXT: first of the body; IF: its FI
  bool by_lane;   // LET, IF: lanes of a warp may differ
  int64_t count;  // OP: executions that it stands for
  TimelineCost cost;
  // LOOP, NEXT: iterations that are run; those from `head` on are `skip` further than they count.
  int64_t turns, head, skip;
  int first;           // LOOP, NEXT: the first statement of the body
  int64_t slab_depth;  // OP that copies: elements of a slab, or a block of keys; 0: not counted
  int slab_dimension;  // … along that dimension of its source
} TimeCode;

typedef struct TimeProgram {
  const Program *program;
  Launch launch;
  bool whole;
  int64_t grid;        // of a persistent kernel: clusters, or blocks, that the GPU holds at once
  int64_t comes_back;  // turns of a loop after which slots and phases are the same again
  int n_codes;
  TimeCode *code;
} TimeProgram;

// The main kernel. `whole`: no turn of a loop is left out.
const TimeProgram *timeline_compile(Arena *arena, const Model *model, const Program *program,
                                    bool whole);

// ---- the machine
// -----------------------------------------------------------------------------------

enum {
  TIME_WARPS_MAX = 32,  // of a block
  TIME_BLOCKS_MAX = 2,
  TIME_QUARTERS = 4,
  TIME_DEPTH_MAX = 64,
  TIME_SETS_MAX = 16,
  TIME_SLOTS_MAX = 64,
  TIME_FAMILIES_MAX = 16,
  TIME_GROUPS_MAX = 64,  // in flight, of a warp; older ones are over in order
};

typedef enum TimeState {
  TIME_READY,
  TIME_AT_BARRIER,
  TIME_AT_PRODUCT,  // until its whole warpgroup is there
  TIME_ASLEEP,
  TIME_DONE
} TimeState;

// Groups of background work, by the family of operations that closes them.
typedef struct TimeGroups {
  double open;                   // when all of the open one is over
  double done[TIME_GROUPS_MAX];  // of the latest ones, by their number
  OrderGroups groups;
} TimeGroups;

// The iterations of a loop that are run this time, and how far it jumps behind its head.
typedef struct TurnCut {
  int64_t turns, skip;
} TurnCut;

// A hold that a product reads by descriptors, and the group of its warp that the product is in.
typedef struct TimeUnproved {
  int hold;
  OpFamily family;
  uint32_t group;
} TimeUnproved;

typedef struct TimeWarp {
  TimeState state;
  int index, rank, pc, depth;  // its number among those of all blocks, and whose block it is in
  double clock, asleep_at;
  double stored;  // when its last store to shared memory is there
  uint32_t active, saved[TIME_DEPTH_MAX];
  int64_t *lanes, *scalar;  // environments: [n_vars][LANES], [n_vars]
  int64_t *turn;            // by code: of its loop
  TurnCut *cut;             // by code: of its loop
  int64_t registers;
  TimeGroups groups[TIME_FAMILIES_MAX];
  TimeUnproved *unproved;  // reads of which nothing has said yet that they are over
  int n_unproved, unproved_capacity;
  double ready[BUFFERS_MAX][TIME_SETS_MAX];  // when the registers of a set hold their values
  int64_t slab[BUFFERS_MAX][TIME_SETS_MAX];  // of which slab these are
  int *event;                                // by statement: its latest one
  int since;                                 // events before this one are closed
  int barrier;                               // the number of the barrier that it waits at
} TimeWarp;

typedef struct TimeBar {
  bool
      there;  // it was initialised: what is done to one that was not is undefined, and here nothing
  OrderPhases phases;
  int64_t told;  // bytes of the phase under way, come or to come
  double ended;
} TimeBar;

// A box on its way.
typedef struct TimeBox {
  double lands;
  int64_t bytes, arrivals;  // a commit arrives, and brings none
  const Buffer *buffer;
  int at, rank;  // the mbarrier, and whose
} TimeBox;

// Holds what each block has for itself: its SM's units and registers, its mbarriers and slabs.
typedef struct TimeBlock {
  double pipe, fetch, store;  // when a unit is free
  double multiply[TIME_QUARTERS], lanes[TIME_QUARTERS], powers[TIME_QUARTERS];
  TimeBar *bar[BUFFERS_MAX];
  int64_t slab[BUFFERS_MAX][TIME_SLOTS_MAX];       // that a slot holds, or waits for
  int latest[TIMELINE_RINGS_MAX][TIME_SLOTS_MAX];  // hold of a slot, from 1; 0: none yet
  int64_t free_registers;
  // By number of a barrier: the warps that have arrived there and gone on, and when the last did.
  struct TimePassed {
    int warps;
    double latest;
  } passed[BLOCK_BARRIERS];
} TimeBlock;

typedef struct TimeMachine {
  Arena *arena;
  const TimeProgram *code;
  TimeWarp *warp;
  int n_warps, n_blocks, block_warps;  // those of block 0 first
  TimeBlock block[TIME_BLOCKS_MAX];
  int ring[BUFFERS_MAX];  // of a slab; -1: the buffer is none
  TimelineHold *hold;
  int hold_capacity;
  int n_boxes, box_capacity;
  TimeBox *box;
  Timeline *out;
  TimelineEvent *event;
  int capacity;
  TimelinePhase *phase;
  int phase_capacity;
  // [head] clocks of the turns that a loop runs before it jumps; of the loop over tiles apart.
  double *turn_at, *tile_at;
  bool woke;  // a warp was let go on: it is asked again whose turn it is
} TimeMachine;

// Room for more entries: those that are there, copied into twice as much.
void *time_grown(Arena *arena, const void *from, int n, int *capacity, size_t size);

// Work: moves, multiplications, sums (timeline_work.c).
// An event that orders: work behind it does not continue work before it.
TimelineEvent *time_new_order(TimeMachine *machine, TimeWarp *warp, const Stmt *stmt,
                              TimelineKind kind);
void time_set_bar(TimelineEvent *event, const Buffer *buffer, int at, int rank, const TimeBar *bar);
void time_run_move(TimeMachine *machine, TimeWarp *warp, const TimeCode *code);
void time_run_multiply(TimeMachine *machine, TimeWarp *warp, const TimeCode *code);
void time_run_add(TimeMachine *machine, TimeWarp *warp, const TimeCode *code);
void time_run_power(TimeMachine *machine, TimeWarp *warp, const TimeCode *code);

// The slabs in slots (timeline_hold.c). A copy of slab `number` fills a slot; an operation reads it
// from `begin` to at least `end`; and everything that the warp's products of groups that are over,
// or of all, read by descriptors is proved over at `clock`.
void time_find_rings(TimeMachine *machine);
typedef struct TimeSlot {
  const Buffer *slab;
  int slot, rank;
} TimeSlot;
void time_fill_slot(TimeMachine *machine, TimeSlot at, int64_t number, double asked, double landed);
void time_read_slot(TimeMachine *machine, TimeWarp *warp, const Op *op, TimeSlot at, double begin,
                    double end);
void time_prove_reads(TimeMachine *machine, TimeWarp *warp, const Op *op, bool all, double clock);
void time_end_holds(TimeMachine *machine);

// Waiting, and letting others go on (timeline_wait.c).
int time_bar_at(const TimeWarp *warp, const Access *access);  // the mbarrier that is meant
TimeBar *time_bar(TimeMachine *machine, int rank, const Buffer *buffer, int at);
// How often what a warp sends comes to a block that is run: of a pair from that warp alone, of
// a block run for all of its cluster from each warp that sends the same.
int64_t time_comes(const TimeMachine *machine, const TimeWarp *warp, const Op *op, int rank);
void time_run_init(TimeMachine *machine, TimeWarp *warp, const Stmt *stmt);
void time_run_order(TimeMachine *machine, TimeWarp *warp, const TimeCode *code);
void time_add_box(TimeMachine *machine, TimeBox box);
void time_land(TimeMachine *machine, int box);  // counts its bytes
