// Runs thread blocks of a kernel: 32 lanes to a warp, the warps of a block in turns, block after
// block.
//
//   PtxMachine *m = ptx_machine_new(arena, module, kernel, &launch, &diags);      NULL: see diags
//   uint64_t a = ptx_machine_buffer(m, "A", bytes, contents, PTX_CONTENT_GIVEN);  what a pointer is
//   ptx_machine_param(m, 0, &a, sizeof a);
//   PtxOutcome outcome = ptx_machine_run(m, x, y, z);
//
// Global memory lives as long as the machine: blocks that run later see what earlier ones wrote. A
// fault of the program is a finding: it names the instructions, hence their source lines, the
// threads and the address. Most findings end nothing; a wild address, a trap or an instruction that
// is not run ends the block.
#pragma once
#include "banks/layouts/tma_box.h"
#include "ptx/module/ptx_module.h"

typedef struct PtxMachine PtxMachine;

typedef struct PtxLaunch {
  int grid[3], block[3];
  int cluster[3];  // 0: as the kernel says, else one block
  int dynamic_smem;
  int64_t budget;    // lane instructions of all blocks together; 0: no limit
  bool cooperative;  // all blocks run at the same time and may wait for each other
} PtxLaunch;

typedef enum PtxOutcome {
  PTX_DONE,
  PTX_STOPPED,   // a finding says why
  PTX_DEADLOCK,  // everybody waits
  PTX_BUDGET,    // the budget is used up
  PTX_BEYOND,    // a block came to memory that the launch has, and the machine has not
} PtxOutcome;

typedef enum PtxFindingKind {
#define FINDING(id, name, help) PTX_FINDING_##id,
#include "ptx/run/finding.def"
  PTX_FINDINGS
} PtxFindingKind;

extern const char *const ptx_finding_names[PTX_FINDINGS];  // "race"
extern const char *const ptx_finding_helps[PTX_FINDINGS];

typedef struct PtxFinding {
  PtxFindingKind kind;
  int pc, other_pc;          // instructions; other_pc −1: there is no other
  int thread, other_thread;  // of the block, −1
  uint32_t lanes;            // of the warp of `thread` that it happened to
  int warp;
  PtxSpace space;
  uint64_t address;
  int bytes;
  int block[3], other_block[3];
  int64_t count;      // how often
  const char *text;   // more of it; NULL
  const char *cure;   // how it can be mended; NULL: not said
  const char *open;   // why it may be right, in words for "left out"; NULL: it is wrong
  uint64_t lines[2];  // equal where findings are of the same lines
} PtxFinding;

typedef enum PtxContent {
  PTX_CONTENT_ZERO,
  PTX_CONTENT_GIVEN,
  PTX_CONTENT_UNWRITTEN,
  PTX_CONTENT_UNKNOWN,
} PtxContent;

// One execution of an instruction that accesses memory.
typedef struct PtxAccess {
  int pc;
  const PtxInst *inst;
  PtxSpace space;    // PTX_SPACE_SHARED or PTX_SPACE_GLOBAL
  uint32_t mask;     // lanes
  int64_t addr[32];  // offsets in shared memory, or addresses; −1 for a lane that is inactive
  const uint32_t *named;  // [32]: the lanes that each lane's last redux was over
  int64_t global[32];     // of cp.async: where it reads; unset for others
  int bytes;              // of one lane
  int warp;               // of the block
  int rank;               // of the block in its cluster
  bool remote;            // some of it is another block's memory
  bool is_store;
  bool data_addresses, data_mask;  // they follow from loaded data
  bool swaps;                      // ATOMS.CAST.SPIN: exchanges if equal
  int tile_wavefronts;             // of tiles that descriptors find; 0: lanes have addresses
  bool unknown;                    // of some lanes it is not known where it is, or whether
} PtxAccess;

typedef void PtxAccessSink(void *self, const PtxAccess *access);

PtxMachine *ptx_machine_new(Arena *arena, const PtxModule *module, const PtxFunction *kernel,
                            const PtxLaunch *launch, Diags *diags);
// Memory of its own behind the address that is returned, with a gap behind it.
uint64_t ptx_machine_buffer(PtxMachine *m, const char *name, int64_t bytes, const void *contents,
                            PtxContent content);
// The same with contents that are written where a kernel comes by: n bytes from an offset on, a
// multiple of PTX_PAGE_BYTES, and what is known of each; `state` says of all that they were
// written. False: the contents are not at hand, and the run ends with PTX_BEYOND. `self` has to
// live as long as the machine.
typedef bool PtxFill(void *self, unsigned char *bytes, unsigned char *state, int64_t from,
                     int64_t n);
uint64_t ptx_machine_filled(PtxMachine *m, const char *name, int64_t bytes, PtxFill *fill,
                            void *self);

// Memory at an address of its own, below PTX_ADDRESS_MAX, as a recorded program or a driver has it.
// Nothing of it may overlap other memory of the machine.
#define PTX_ADDRESS_MAX (UINT64_C(1) << 56)
// Knowledge of a byte, in bits; one of an unknown value is written, too.
// PTX_BYTE_ATOMIC: by an atomic operation, last.
enum { PTX_BYTE_WRITTEN = 1, PTX_BYTE_DATA = 2, PTX_BYTE_UNKNOWN = 4, PTX_BYTE_ATOMIC = 8 };
enum { PTX_PAGE_BYTES = 1 << 12 };
enum { PTX_MAP_BYTES = 128 };       // a tensor map
enum { PTX_NULL_BYTES = 1 << 16 };  // no memory lies below
typedef struct PtxGiven {
  const char *name;
  uint64_t address;
  int64_t bytes;
  // The caller's, changed in place: the bytes, and the state of each, with 16 more behind them.
  unsigned char *memory, *state;
  bool unknown;   // some of the bytes are of unknown values (PTX_BYTE_UNKNOWN)
  PtxFill *fill;  // contents, a page at a time (ptx_machine_filled); NULL: they are there
  void *self;
} PtxGiven;
void ptx_machine_give(PtxMachine *m, const PtxGiven *given);
// Memory that the launch has. What of it is not given is not at hand: a block that comes to it ends
// its run with PTX_BEYOND, and nothing that the instruction found there is told.
void ptx_machine_leave_out(PtxMachine *m, uint64_t address, uint64_t bytes);
// A variable of the module, .global or .const, by its name; it lies at the address too, unless that
// is 0. False: the module has no such variable with that many bytes.
bool ptx_machine_give_variable(PtxMachine *m, const PtxGiven *given);

void ptx_machine_param(PtxMachine *m, int index, const void *value, int64_t bytes);
// The value of a parameter is not known: every value computed from it is unknown too. For PTX
// alone.
void ptx_machine_param_unknown(PtxMachine *m, int index);
// All parameters at once, as they lie in memory.
void ptx_machine_params(PtxMachine *m, const void *bytes, int64_t n);
// Tells what the driver would encode as a tensor map of the box, which tma_box_check() has passed;
// for a parameter, or for memory. False after a finding.
bool ptx_machine_tensor(PtxMachine *m, const TmaBox *box, uint64_t address,
                        unsigned char map[PTX_MAP_BYTES], Diags *diags);
// The same for a map with 128 bytes that were encoded elsewhere.
bool ptx_machine_map(PtxMachine *m, const TmaBox *box, uint64_t address,
                     const unsigned char map[PTX_MAP_BYTES], Diags *diags);
void ptx_machine_watch(PtxMachine *m, PtxAccessSink *sink, void *self);
// Told of every instruction behind it, with the lanes that carried it out. (PtxWarp: run.h.)
struct PtxWarp;
typedef void PtxTrace(void *self, const PtxMachine *m, struct PtxWarp *w, int pc, uint32_t mask);
void ptx_machine_trace(PtxMachine *m, PtxTrace *trace, void *self);
// From now on the synchronising events of the cluster that runs are kept, for a search over all
// orders; behind the run they are given out, with what they do not speak of. `registers`: of a
// thread when its block begins; 0: not known; -1: setmaxnreg does nothing.
struct Search;
bool ptx_module_sets_registers(const PtxModule *module);  // has an instruction that does
void ptx_machine_record_orders(PtxMachine *m, Arena *arena, int registers);
struct Search *ptx_machine_orders(PtxMachine *m, PtxOutcome outcome, int *n_left_out,
                                  const char *const **left_out);
// Runs a block with the others of its cluster; its own accesses are told to the watcher.
PtxOutcome ptx_machine_run(PtxMachine *m, int x, int y, int z);
// Runs the cluster that a block belongs to; the accesses of all its blocks are told.
PtxOutcome ptx_machine_run_cluster(PtxMachine *m, int x, int y, int z);
// Runs all blocks of a cooperative launch side by side. `watched`: only the accesses of this block
// are told; NULL: the accesses of all blocks.
PtxOutcome ptx_machine_run_grid(PtxMachine *m, const int watched[3]);
// Runs a block as ptx_machine_run() does, and, while it waits for others, those others beside it;
// their accesses are not told.
PtxOutcome ptx_machine_run_waiting(PtxMachine *m, const int block[3]);
// Runs all clusters, one after the other; one that waits for another stands aside meanwhile. The
// accesses of all blocks are told. `ends` is asked before each, and ends the run as a used-up
// budget does.
PtxOutcome ptx_machine_run_all(PtxMachine *m, bool (*ends)(void *self), void *self);

const void *ptx_machine_bytes(const PtxMachine *m, uint64_t address, int64_t bytes);  // NULL
// The number of these bytes with unknown values.
int64_t ptx_machine_unknown_bytes(const PtxMachine *m, uint64_t address, int64_t bytes);
// Whether an atomic operation was the last to write any of these bytes: what they hold depends on
// other blocks, too.
bool ptx_machine_by_atomic(const PtxMachine *m, uint64_t address, int64_t bytes);
int ptx_machine_findings(const PtxMachine *m);
const PtxFinding *ptx_machine_finding(const PtxMachine *m, int index);
// How often something was found at lines beyond those that are kept.
int64_t ptx_machine_findings_left_out(const PtxMachine *m);
// The registers of all threads of the block that ran last, behind its warps' setmaxnreg; 0: no warp
// asked. `at_launch`: of a thread that asked for none.
int64_t ptx_machine_registers(const PtxMachine *m, int at_launch);
int64_t ptx_machine_lane_instructions(const PtxMachine *m);
int64_t ptx_machine_executions(const PtxMachine *m, int pc);  // by warps
// Why an instruction gave unknown values; NULL: it did not, in this run.
const char *ptx_machine_unknown_why(const PtxMachine *m, int pc);
int64_t ptx_machine_approximations(
    const PtxMachine *m);  // lane instructions that may differ in their last bits
int ptx_machine_smem_bytes(const PtxMachine *m);  // static and dynamic
int ptx_machine_static_smem(const PtxMachine *m);
// Where a shared variable of the module lies for this kernel; −1: the kernel has it not.
int64_t ptx_machine_variable(const PtxMachine *m, int variable);
const int *ptx_machine_cluster(const PtxMachine *m);  // blocks of a cluster, by direction
