// A kernel of the user's own, as `gemmview open --detail` tells of it: what the view draws.
//
//   const Opened *opened = opened_read(arena, json, n, &diags);      NULL after findings
//   OpenedLine *lines = opened_lines(arena, opened, source, folded);
#pragma once
#include "banks/solver/recorded_slab.h"
#include "base/json.h"

typedef struct OpenedPlace {
  const char *file;
  int line;
} OpenedPlace;

enum { OPENED_CHAIN = 16 };

// The innermost place first, then the calls it was inlined into.
typedef struct OpenedChain {
  OpenedPlace place[OPENED_CHAIN];
  int n;
} OpenedChain;

typedef struct OpenedSite {
  OpenedChain chain;
  int ptx_line;
  const char *ptx;
  bool shared, countable, data, formula_of_all;
  bool as_compiled;       // not predicted, and no line that has its numbers with others
  RecordedSite recorded;  // of shared memory
  int array;              // index into Opened.arrays, -1
  int64_t executions, wavefronts, wavefronts_most, ideal, sectors, ideal_sectors;
  const char *formula, *not_affine;  // one of them; of global memory without where it begins
  const BankOp *global_op;           // NULL: none
  int worst_wavefronts;
  int64_t worst[BANK_LANES];         // in shared memory
  int64_t worst_global[BANK_LANES];  // in global memory, from a line of it on
} OpenedSite;

typedef struct OpenedArray {
  const char *name, *pitch_from;
  RecordedArray at;
  int64_t wavefronts;
  const char *best, *write, *proof;  // NULL: nothing is better
  int64_t best_wavefronts;
} OpenedArray;

// A line of PTX or SASS and the place it is charged to.
typedef struct OpenedText {
  OpenedChain chain;
  int ptx_line;  // 0: machine code
  const char *text;
  int64_t executed;  // by warps; 0: not known
} OpenedText;

typedef struct OpenedSource {
  const char *file;  // "": the PTX itself
  const char **line;
  int n;
} OpenedSource;

// A way in which the program launched a kernel.
typedef struct OpenedLaunch {
  const char *kernel, *title, *note;  // in machine code, in CUDA; why it was not run, NULL
  int grid[3], block[3], cluster[3];
  int64_t smem, times, first;
  bool held;  // by the capsule that is shown
} OpenedLaunch;

typedef struct Opened {
  const char *file, *kernel, *signature, *target, *compiler, *outcome;
  const char *predicted_because, *warning, *as_given;  // NULL: nothing to say
  bool as_compiled, as_last_time, countable;
  int grid[3], block[3];
  int64_t blocks, wavefronts, wavefronts_most, ideal;
  int n_races, n_findings;
  const char **finding;  // races first
  const char **made_of;  // files; none where only the one that was opened is
  int n_made_of;
  OpenedArray *arrays;
  OpenedSite *sites;
  OpenedText *code, *sass;
  OpenedSource *sources;   // the user's first, the PTX last
  OpenedLaunch *launches;  // of the program that was recorded; none where none was
  int n_launches;
  const char *program;     // the command that was recorded; NULL: the file is no capsule
  const JsonValue *clock;  // of a run of machine code; null: there is none
  const char *no_clock;    // why the clock cannot play it; NULL
  bool is_machine_code;    // it was run, and is the text
  int n_arrays, n_sites, n_code, n_sass, n_sources;
} Opened;

const Opened *opened_read(Arena *arena, const char *json, size_t n, Diags *diags);

// The cost of a line of a source.
typedef struct OpenedLine {
  int64_t wavefronts, wavefronts_most, ideal, sectors, ideal_sectors;
  int64_t then;      // wavefronts in the layout on trial
  int64_t executed;  // warp instructions of machine code
  bool shared, countable, data, as_compiled;
  int n_sites;
} OpenedLine;

// The line of a source that a chain belongs to: the innermost place in it, or, where `calls` are
// wanted, the outermost; 0: none.
int opened_line_of(const OpenedSource *source, const OpenedChain *chain, int ptx_line, bool calls);
// [source->n + 1], by line number. `then` is of a site what it costs on trial; NULL: as now.
OpenedLine *opened_lines(Arena *arena, const Opened *opened, int source, bool calls,
                         const int64_t *then);
// Whether a line of those costs more than it need.
int64_t opened_badness(const OpenedLine *line);
