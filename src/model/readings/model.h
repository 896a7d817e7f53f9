// One model generation: everything that is derived from a schedule, in one arena, const once built.
//
// The screen, the command line and the tests read this structure; none of them derives a thing
// twice.
#pragma once
#include <stdbool.h>

#include "banks/engine/bank.h"
#include "banks/engine/sector.h"
#include "base/diag.h"
#include "model/ir/names.h"
#include "model/ir/notation/print.h"
#include "model/passes/pass.h"
#include "model/words/knob.h"
#include "model/words/target.h"

// The source of the widths in which a site's accesses are executed.
typedef enum AccessWord {
  ACCESS_WRITTEN,    // they are not merged: ldmatrix, cp.async, or as wide as can be
  ACCESS_PREDICTED,  // merge.h: what the assembler is expected to make of neighbours
  ACCESS_COMPILED,   // the machine code
} AccessWord;
const char *access_word_name(AccessWord word);  // "written", "predicted", "compiled"
// The share of kernels whose counts a prediction had right (merge.h); NaN of what is no prediction.
double access_certainty(AccessWord word);

// One width in which a site's accesses are executed: as written, or several of them merged.
typedef struct SiteForm {
  const BankOp *op;          // lds128, sts32, cpasync16, …
  int64_t addr[BANK_LANES];  // of the lanes of `warp` in the iteration shown; -1 inactive
  int warp;                  // the warp shown: the worst of the block, the first among equals
  BankCount count;           // for those addresses
  double executions;  // times a warp comes by per slab (per k_o iteration); 0: outside of k_o
  // Sums over all warps and iterations, per slab: clocks of the pipe, which are wavefronts, or
  // bytes / 128 where those have no count; and the ideal ones.
  double clocks, ideal;
  // Wavefronts as the profiler's per-instruction counters have them: no fewer than these, and no
  // more; equal but for copies by cp.async.
  double profiled, profiled_most;
} SiteForm;

enum { SITE_FORMS_MAX = 5 };  // of 8, 16, 32, 64 and 128 bits

// A site: one shared-memory access statement of the main kernel, as it is executed. The first of
// its forms is the one with the most clocks; op, addr, warp and count are that form's.
typedef struct Site {
  int number;  // 1-based, in program order
  const Stmt *stmt;
  bool is_store;
  const Buffer *slab;
  const Expr *address;  // byte offset in shared memory, the emitter's own expression
  const BankOp *op;
  int64_t addr[BANK_LANES];
  int warp;
  BankCount count;
  double executions, clocks, ideal, profiled, profiled_most;  // of all forms
  const char *text;                                           // "a <- A_s  LDS.128"
  AccessWord word;
  int n_forms;
  const SiteForm *form;
  const struct Site *written;  // the same as the program says it; itself where nothing merges it
  // The cost of each width if all accesses had it, narrow ones first, as far as lanes allow.
  int n_widths;
  SiteForm *width, *as_written;
} Site;

// One width at which the machine code of a statement reads or writes, and how often per slab and
// warp. Widths that are not named are not used.
typedef struct MachineAccess {
  int stmt_id;
  bool is_store;
  int bytes;
  double executions;
} MachineAccess;

typedef struct MachineAccesses {
  int n;
  const MachineAccess *access;
} MachineAccesses;

// The load that one block puts on shared memory for one slab.
typedef struct SiteTotals {
  double wavefronts, ideal;  // of the sites with counts, as the pipe makes them
  double profiled;           // the same as the profiler's per-instruction counters have them
  int n_conflicting;         // sites with more wavefronts than ideal
} SiteTotals;

// A site of global memory: what one block's warps fetch of, or write to, one matrix by one kind of
// access, before the loop over slabs, in it and after it.
typedef struct GlobalSite {
  int number;              // goes on where the sites of shared memory end
  const Stmt *stmt;        // that of the loop over slabs where it stands there too
  const BankOp *op;        // as written: ldg32, stg128, ldgsts128, utmaldg
  const BankOp *compiled;  // as the assembler makes it
  const Buffer *matrix;
  bool is_store, in_loop;
  bool by_l1;                // values of fragments, which L1 keeps for the other lanes and steps
  int64_t addr[BANK_LANES];  // byte offsets in the matrix, of the lanes of `warp`; -1 inactive
  int warp;                  // the one shown: the most wasteful, the first among equals
  SectorCount count;         // for those addresses
  // Sums over all its warps and iterations, in block 0, which stands for every block inside of C.
  double requests, sectors, ideal, lines;
  double clocks;     // of L1: wavefronts of loads; copies, four lines a clock; lines written
  const char *text;  // "r_a <- A  LDG.E.128"
} GlobalSite;

typedef struct Globals {
  int n;
  const GlobalSite *site;
  // Totals of one block: clocks of L1, those of loads that the loop over slabs makes (what a
  // pipeline loads ahead of it is the first turns'), sectors fetched into slabs beyond the ideal,
  // sectors written.
  double clocks, loaded_clocks, wasted_sectors, store_sectors;
} Globals;

enum { RESOURCE_LIMITS = 6, LIMITERS_BYTES = 80 };

typedef struct Resources {
  int64_t tensor_columns;  // that a block allocates, of 512
  int64_t smem_bytes;      // per block
  int n_registers;         // per thread: the compiler's count, or an estimate
  bool counted;            // the compiler's count
  int n_needed;            // estimate of what a thread needs, whatever roles let it start with
  int n_accumulators, n_fragments, n_staging;
  // Estimate of those of a thread for which the launch bounds leave no room; or what its code
  // spills, in words (`spills_counted`).
  int n_spilled;
  bool spills_counted;
  // With roles, the registers that setmaxnreg leaves a thread that fetches and one that multiplies;
  // 0: none are moved.
  int64_t producer_registers, consumer_registers;
  int64_t n_blocks, n_threads, n_warps;  // of the grid, or tiles of a persistent one; of a block
  int64_t n_cluster;                     // blocks of a cluster; 1: there are none
  int64_t n_consumers;                   // warps of a block that multiply: all without roles
  int blocks_per_sm;                     // 0: does not fit
  const char *limiter;  // "registers", "shared memory", "tensor memory", "threads", …
  // All that allow no more blocks than that one, in the order of their table; NULL behind the last.
  const char *limiters[RESOURCE_LIMITS + 1];
  double occupancy;  // resident warps / the SM's limit, 0..1
  double waves;      // grid / (blocks_per_sm · SMs)
} Resources;

// "registers, shared memory and tensor memory": all limiters, into `out`.
const char *resources_limiters(char out[LIMITERS_BYTES], const Resources *resources);

// The units of an SM whose time a slab takes, one row each: member, name in texts and data, name on
// the screen. The first is called mma where the kernel multiplies by an atom.
#define TRAFFIC_UNIT_TABLE(X)          \
  X(fma_clocks, "fma", "fma")          \
  X(shared_clocks, "shared", "shared") \
  X(global_clocks, "global", "global") \
  X(l2_clocks, "l2", "L2")             \
  X(dram_clocks, "dram", "DRAM")       \
  X(sfu_clocks, "sfu", "SFU")          \
  X(fp32_clocks, "fp32", "fp32")
enum { TRAFFIC_UNITS = 7, TRAFFIC_UNITS_OF_SOFTMAX = 2 };  // the last ones

// Per block and slab (one k_o iteration; one k step without a slab), in clocks of one SM. Unknown
// is -1 (printed as null).
typedef struct Traffic {
  double flop;  // of the whole problem: 2·M·N·K
  // One resident block, one slab. loaded: the wavefronts of what lanes load by way of L1; where
  // shared memory is used they are counted with it, whose pipe it is. global: those, copies at four
  // lines a clock, and a clock for each line that is written, C's cells included.
  double fma_clocks, shared_clocks, loaded_clocks, global_clocks, l2_clocks, dram_clocks;
  // For a softmax between products: its exp2 by the special function units, and all that its values
  // take of the fp32 lanes. 0: there is none.
  double sfu_clocks, fp32_clocks;
  // Which of them is the largest: "fma", "shared", "global", …; "power" where that allows less.
  const char *limit;
  double l2_bytes, dram_bytes;  // fetched for the whole problem (from DRAM: and C), estimates
  double l2_hit;                // the part of what is asked of L2 that is there, 0 … 1, replayed
  double l2_working_set_bytes;  // panels to be kept in L2 until the walk over the tiles comes back
  double flop_per_l2_byte, flop_per_dram_byte;
  double shared_bytes_per_fma;  // that its clocks could have moved: conflicts count
  double loads_per_fma;  // values that a thread reads per multiply-add; -1: an atom multiplies
  // Tells what the board's power allows, with the energy of products and of bytes fetched; -1: not
  // known.
  double power_tflops;
  double rounds;      // of blocks, one on each SM at a time, the last one counted whole
  double between_us;  // of the whole launch: what is written while nothing is multiplied
  // Min over the limits of the text as it stands; a compiler that merges accesses may beat it.
  double roofline_tflops;
  double slab_fma;  // multiply-adds of one block and slab, which the clocks above are for
  double slabs;     // of a block, those of an edge like any other; of causal attention the mean
} Traffic;

// Clocks of a slab per 1024 multiply-adds of an SM, so that states with other tiles compare; what
// is not known (below 0) stays so.
double traffic_per_kfma(const Traffic *traffic, double clocks);

// Whether the board's power allows less than any unit of the SM does.
bool traffic_power_limits(const Traffic *traffic);

typedef struct TrafficUnit {
  const char *name, *title;
  double clocks;  // -1: unknown
} TrafficUnit;
// Lists all units, in the order of the table, and returns the number of them that the program has
// work for.
int traffic_units(const Traffic *traffic, bool atom, TrafficUnit out[TRAFFIC_UNITS]);

// Tells what a block waits for (time/waits.h). For one block; of a persistent kernel, of one tile.
typedef struct BlockWaits {
  // Per slab: fetches of global memory between which, and the wait for them, nothing is multiplied.
  double fetches;
  double depth;         // slabs on their way together where there are none of those; 0: nothing is
  double phases;        // per slab: turns of copy, wait, read and multiply (rows of Steps)
  double steps;         // k-steps that a warp makes, one after the other
  double turns;         // of the loop that makes all products, as it is unrolled
  double reads;         // times that a warp waits for fragments from global memory, beyond L1
  double near_reads;    // the same of sectors that L1 has
  double instructions;  // of the warp that has the most, as written
  // The loads that it waits for so, and those of sectors that L1 has: a wait is for as many as the
  // compiler puts together.
  double loads, near_loads;
  double box_rows;   // that TMA fetches, of all boxes
  double box_waste;  // bytes of their sectors beyond the boxes
} BlockWaits;

typedef struct Model {
  Schedule schedule;
  const Target *target;  // NULL when TARGET is unknown
  Diags diags;           // rules that failed; the rest below is valid only when `ok`
  bool ok;
  Pipeline pipeline;
  const Program *program;  // the last stage
  ProgramText text;
  int n_sites;
  const Site *site;  // as executed
  SiteTotals totals;
  double lines;   // of 128 bytes per slab that tensor cores read, through the pipe beside the sites
  double copies;  // lines that are written into slabs past the pipe, by TMA or cp.async of 16 bytes
  Globals global;
  Resources resources;
  Traffic traffic;
  BlockWaits waits;
} Model;

// The number of the access that a statement makes: to shared memory where it makes both; 0: none.
int model_site_number(const Model *model, const Stmt *stmt);

// Never fails: an illegal schedule gives a model with ok = false and the reasons in diags.
const Model *model_build(Arena *arena, const TargetTable *targets, const Schedule *schedule);

// The same once the compiler has spoken. Everything that follows from the registers per thread is
// derived anew from `registers` (-1: not known) instead of the estimate: blocks per SM, waves and
// what they fetch from DRAM; likewise from the bytes that a thread spills (-1: not known), beside
// its registers, and from the widths of shared-memory accesses in the machine code
// (NULL: not known) instead of the predicted ones. All else is shared with `model`, which must live
// as long.
const Model *model_compiled(Arena *arena, const Model *model, int registers, int spill_bytes,
                            const MachineAccesses *machine);

// The same with its sites as the program says them, to be looked at: all else is as executed.
const Model *model_as_written(Arena *arena, const Model *model);

// How a site's accesses are executed and who says so: "60 LDS + 3 LDS.128, as compiled"; "" where
// they are as written and could not be made otherwise.
const char *site_forms_text(Arena *arena, const Site *site);
