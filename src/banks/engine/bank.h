// The cost of one shared-memory access of one warp, and its causes.
//
// An access is an operation (a row of the table below) and a byte offset into shared memory for
// each of the 32 lanes, BANK_INACTIVE for a lane that takes no part. Shared memory has 32 banks,
// each four bytes wide: word w (byte offset / 4) lies in bank w mod 32, and a bank serves one word
// at a time.
//
//   int64_t addr[BANK_LANES];
//   for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * 8;
//   BankCount count = banks_count(banks_op_find("lds32"), addr);   // 2 wavefronts, ideal 1, 2 ways
//
// banks_count() allocates nothing and is meant for searches; banks_map() is the same reckoning with
// everything a picture needs. Neither checks its input for legality: an address that is not a
// multiple of the access size is rounded down to one, as if its low bits were not there (hardware
// raises a fault instead), and `misaligned` says for which lanes. Readers of addresses that a
// person gave report such faults earlier: see bank_input.h.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
  BANK_LANES = 32,
  BANK_COUNT = 32,
  BANK_WORD_BYTES = 4,
  BANK_LINE_BYTES = BANK_COUNT * BANK_WORD_BYTES,  // one row of all banks
  BANK_PHASES_MAX = 4,
  BANK_WAVEFRONTS_MAX =
      32,              // a phase of L lanes has at most L; four of eight, two of 16, one of 32
  BANK_INACTIVE = -1,  // every negative address counts as inactive
  // The shared memory of the largest SM so far, the 1 KiB the system keeps for itself included: no
  // address of shared memory is this large.
  BANK_SMEM_BYTES_MAX = 228 * 1024,
};

typedef enum BankKind {
  BANK_LOAD,
  BANK_STORE,
  BANK_LDMATRIX,
  BANK_STMATRIX,
  BANK_CPASYNC,
  BANK_GLOBAL,  // global memory: no banks, but sectors (sector.h has its table)
} BankKind;

// One row of the table of operations: all that the rules need to know about it.
typedef struct BankOp {
  const char *name;  // as on the command line: "lds128"
  const char *sass;  // "LDS.128"
  const char *ptx;   // "ld.shared.v4.b32"
  BankKind kind;
  int bytes;            // behind each address
  int n_addresses;      // lanes whose addresses count: 32, or 8 for each matrix
  int lanes_per_phase;  // before the pair merge
  bool merges_pairs;    // loads of 8 and 16 bytes
  bool shares_words;    // lanes that ask for the same word are served together
  bool counted;         // false: the pipe counts no wavefronts of it
} BankOp;

int banks_op_count(void);
const BankOp *banks_op_at(int index);
const BankOp *banks_op_find(const char *name);  // NULL: no operation has that name
// "half-warp": what one phase of this operation is called; `lanes` as in BankPhase.
const char *banks_phase_noun(const BankOp *op, int lanes);

// The numbers. `known` is false for an operation that the pipe does not count: show null then,
// never 0.
typedef struct BankCount {
  bool known;
  int wavefronts;  // passes the shared-memory pipe makes, summed over phases
  int ideal;       // phases, after the pair merge, in which a lane is active
  int conflicts;   // wavefronts - ideal: what the hardware counter reports
  int ways;        // the largest wavefront count of one phase
  int phases;      // phases after the pair merge, active or not
  // The profiler's per-instruction counters, which do not always count what the pipe does: if
  // merged phases still conflict they count them as if they had not merged, and they do count
  // copies that bypass L1. -1: not known. For a cp.async this is the least they can say: the order
  // in which its data arrives, and its source where that is not given, can make it more, up to
  // `profiled_most`, which is `profiled` if nothing depends on them.
  int profiled, profiled_most;
  // Tells what they call ideal: phases as they count them, and of a store as few as the bytes of
  // its active lanes fill.
  int profiled_ideal;
} BankCount;

BankCount banks_count(const BankOp *op, const int64_t addr[BANK_LANES]);

// The same of a cp.async whose lanes copy from `source`, byte addresses in global memory: what
// comes from L1 is read from its banks, where lanes wait for each other as they do at those of
// shared memory, and what bypasses L1 is written as its sectors lie. Any other operation ignores
// `source`.
BankCount banks_count_copy(const BankOp *op, const int64_t addr[BANK_LANES],
                           const int64_t source[BANK_LANES]);

// The distance at which lanes pair up (1: l and l^1, 2: l and l^2) when this load's phases merge, 0
// when they do not.
int banks_merge_distance(const BankOp *op, const int64_t addr[BANK_LANES]);

// One word served in one wavefront by one bank.
typedef struct BankCell {
  int lane;        // the lowest lane served, -1 when the bank is idle
  uint32_t lanes;  // all lanes served: bit l is lane l
  int64_t word;    // byte offset / 4
} BankCell;

// One wavefront: what each bank does in it.
typedef struct BankRow {
  int phase;
  BankCell cells[BANK_COUNT];
} BankRow;

typedef struct BankPhase {
  int first_lane, n_lanes;
  uint32_t active;            // lanes that ask for something: bit l is lane l
  int first_row, wavefronts;  // its rows in BankMap.rows
  uint8_t words[BANK_COUNT];  // wavefronts each bank needs: distinct words, or askers for cp.async
  int worst_bank;             // the lowest bank that needs `wavefronts`, -1 when all are idle
} BankPhase;

typedef struct BankMap {
  const BankOp *op;
  BankCount count;
  int merge_distance;
  uint32_t active, misaligned;        // bit l is lane l
  BankPhase phases[BANK_PHASES_MAX];  // [count.phases]; as for a store where counts are unknown
  int n_rows;                         // = count.wavefronts, 0 where that is unknown
  BankRow rows[BANK_WAVEFRONTS_MAX];  // phase after phase; row r serves the r-th word of each bank
  int64_t word_of[BANK_LANES][BANK_COUNT];  // the word a lane asks of a bank, -1 for none
} BankMap;

// Fills *map (about 33 KiB; a caller's own, so that a screen can keep one).
void banks_map(BankMap *map, const BankOp *op, const int64_t addr[BANK_LANES]);
