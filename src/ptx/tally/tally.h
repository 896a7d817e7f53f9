// The cost of accesses to memory: by instruction, then by source line.
//
//   PtxTally *tally = ptx_tally_new(arena, module, kernel);
//   ptx_machine_watch(m, ptx_tally_access, tally);   … run blocks …
//   const PtxLines *lines = ptx_tally_lines(arena, tally);
//
// Accesses to shared memory are counted by the bank engine at the width that the machine code has
// (widen.h); the instructions that were merged into another one count nothing. An instruction's
// cost goes to the line of the user's own text that its place stands for, or to the innermost place
// that .loc names, where it is held against a profiler's.
#pragma once
#include "banks/engine/bank_atomic.h"
#include "ptx/run/machine.h"
#include "ptx/tally/widen.h"

typedef struct PtxSiteCount {
  int64_t executions;  // by warps, of the widened access
  int64_t wavefronts, ideal;
  int64_t wavefronts_most;         // where the count is the least: of copies (bank.h), of groups
  int64_t sectors, ideal_sectors;  // of 32 bytes, in global memory
  bool countable;                  // false: the wavefronts are not known
  bool data_addresses, data_mask;
  bool unknown;  // some lanes' accesses were left out: where they are is not known
  int worst;     // wavefronts of the worst execution
  int64_t worst_addr[32];
  const BankOp *op;
  PtxSpace space;
} PtxSiteCount;

typedef struct PtxTally PtxTally;

PtxTally *ptx_tally_new(Arena *arena, const PtxModule *module, const PtxFunction *kernel);
void ptx_tally_access(void *tally, const PtxAccess *access);
const PtxSiteCount *ptx_tally_site(const PtxTally *tally, int pc);
const PtxWide *ptx_tally_wide(const PtxTally *tally, int pc);

int ptx_tally_charged(const PtxTally *tally, int pc);  // index of PtxModule.locs, -1

// One execution as it was counted: of an access of shared memory, at its width in machine code, or
// of one of global memory.
typedef struct PtxCounted {
  const PtxAccess *access;
  const BankOp *op;  // NULL: an atomic operation, global memory, or one that is not counted
  BankAtomic atomic;
  const int64_t *addr;  // [32]
  int bytes;            // of one lane
  int wavefronts;       // -1: not known
} PtxCounted;
typedef void PtxCountedSink(void *self, const PtxCounted *counted);
void ptx_tally_watch(PtxTally *tally, PtxCountedSink *sink, void *self);

// Charges an instruction to `loc`, an index of PtxModule.locs, in place of its own .loc; a reader
// of the machine code may call it.
void ptx_tally_charge(PtxTally *tally, int pc, int loc);
// Says that the machine code has copies of an access (of a loop's last turn, say) that it charges
// to another place: what runs of either is not known, only their sum.
void ptx_tally_share(PtxTally *tally, Arena *arena, int loc, int other);
// Takes the count of an access that has none from elsewhere: all of it, or the least that it is.
void ptx_tally_take(PtxTally *tally, int pc, const PtxSiteCount *count, bool all);
// Sets the width and leader that an access has in the machine code, in place of the prediction.
void ptx_tally_set_wide(PtxTally *tally, int pc, PtxWide wide);

// Whether an access runs once for each group of lanes. Behind a redux with lanes that it does not
// know ptxas lets groups go on alone (WARPSYNC.EXCLUSIVE), as far as it likes but no farther than
// the point where lanes meet: the text alone tells the least and the most.
typedef enum PtxGrouping { PTX_ALL_TOGETHER, PTX_PERHAPS_BY_GROUP, PTX_GROUP_BY_GROUP } PtxGrouping;
void ptx_tally_set_groups(PtxTally *tally, int pc, PtxGrouping grouping);

// One kind of access of a line.
typedef struct PtxLineOp {
  const BankOp *op;  // NULL: one that is named as in PTX, by the instruction
  int pc;
  int64_t wavefronts;
  bool countable;
  struct PtxLineOp *next;
} PtxLineOp;

typedef struct PtxLine {
  const char *file;  // base name; "" where the text says nothing
  int line;          // 0: not known
  int64_t executions, wavefronts, wavefronts_most, ideal, sectors, ideal_sectors;
  bool countable, data, shared;
  bool unknown;  // some accesses were left out: where they are depends on unknown values
  int worst_pc;  // instruction with the worst execution
  int worst;
  int loc;       // of one of its instructions: for the chain of calls
  int ptx_line;  // of the first of them
  int n_pcs;
  PtxLineOp *ops;  // of shared memory, the dearest first
  bool shares;     // its numbers with the lines that ptx_tally_shares() names
} PtxLine;

typedef struct PtxLines {
  PtxLine *items;
  int n;
  int64_t wavefronts, wavefronts_most, ideal;
  bool countable;
} PtxLines;

// Lines of headers count too, as in a profiler. Without this call every line is one of the user's
// own (ptx_own_loc).
void ptx_tally_innermost(PtxTally *tally);
// Lines that accessed memory, by file and line; lines of shared memory first come first.
const PtxLines *ptx_tally_lines(Arena *arena, const PtxTally *tally);
// Pairs of places with lines that share their numbers, and for a pair about `line` the other place;
// -1: the pair is about other lines.
typedef struct PtxShare {
  int loc, other;
  const struct PtxShare *next;
} PtxShare;
const PtxShare *ptx_tally_shares(const PtxTally *tally);
bool ptx_tally_shares_line(const PtxTally *tally, int loc);  // whether one is about loc's line
int ptx_share_partner(const PtxTally *tally, const PtxShare *share, const PtxLine *line);
const char *ptx_base_name(const char *path);
