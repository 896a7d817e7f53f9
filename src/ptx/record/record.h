// Tells what each access addressed: its distinct executions for other layouts, the first ones in
// order for a formula, and the costliest of those to global memory.
//
//   PtxRecord *record = ptx_record_new(arena, module, kernel, tally, &launch);
//   … run blocks …                                     it watches the tally
//   ptx_record_arrays(record, …)                       arrays in shared memory, sites by array
#pragma once
#include "banks/solver/recorded_slab.h"
#include "ptx/tally/tally.h"

typedef struct PtxStep {
  int warp;
  int64_t turn;      // executions of this instruction by the warp before this one
  int64_t addr[32];  // -1: inactive
  const struct PtxStep *next;
} PtxStep;

typedef struct PtxSite {
  int pc;
  PtxSpace space;
  bool is_store;
  RecordedSite recorded;  // of shared memory
  int array;              // index into PtxArrays, -1
  const PtxStep *steps;   // of the first block, in order
  bool steps_cut;         // there were more
  // Global memory: the execution with the most sectors beyond what its bytes need.
  int64_t worst[32];
  int worst_sectors, bytes;
  const BankOp *global_op;  // sector.h; NULL: none of this width
  const struct PtxSite *next;
} PtxSite;

typedef struct PtxRecord PtxRecord;

PtxRecord *ptx_record_new(Arena *arena, const PtxModule *module, const PtxFunction *kernel,
                          PtxTally *tally, const PtxLaunch *launch);
// A new block begins: the steps kept are the first block's.
void ptx_record_block(PtxRecord *record);
const PtxSite *ptx_record_site(const PtxRecord *record, int pc);  // NULL: it accessed nothing

typedef struct PtxArray {
  const char *name;  // "As"; "dynamic+4096" of what the launch adds
  RecordedArray at;
  const char *pitch_from;  // "declared", "strides", "a line of banks", "given"
} PtxArray;

typedef struct PtxArrays {
  PtxArray *items;
  int n;
} PtxArrays;

// The rows of an array as the caller knows them.
typedef struct PtxPitch {
  const char *name;
  int64_t bytes;        // 0: not known
  int elem_bytes;       // 0: not known
  int64_t array_bytes;  // an array of another size is another one; 0: of any
  const char *from;
} PtxPitch;

// Shared memory by arrays: variables of the text, and of dynamic memory what accesses overlap in.
PtxArrays ptx_record_arrays(Arena *arena, PtxRecord *record, const PtxMachine *machine,
                            const PtxPitch *pitches, int n);
// The sites of one array side by side, for recorded_cost().
const RecordedSite *ptx_record_of_array(Arena *arena, const PtxRecord *record, int array, int *n);

enum { PTX_OWN_BASE = -1 };  // whatever it begins at
// "4*tid.x + 128*n": the address in the thread's index and in n, how often the warp came here
// before, less `base`. NULL with *why where it is no such sum and no XOR of bits either.
const char *ptx_record_formula(Arena *arena, const PtxRecord *record, const PtxSite *site,
                               int64_t base, const char **why);
