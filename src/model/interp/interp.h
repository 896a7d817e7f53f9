// The interpreter: runs any program on the CPU and names the faults in it.
//
// It is the oracle of everything else: a program is right when its result here equals a plain
// float64 triple loop and no check below found a fault. Kernels run one after the other, blocks in
// an order drawn from the seed, warps of a block one at a time as far as each can go, 32 lanes
// together. Races do not depend on that order: they are found by happens-before.
//
//   InterpOptions options = {.seed = 1};
//   const InterpResult *result = interpret(arena, program, &options);
//   for (int i = 0; i < result->n_findings; i++) puts(result->finding[i].text);
//
// and, for the question that matters,
//
//   InterpCheck check = interpret_check(arena, program, &options);
//   if (!check.ok) …  check.n_findings, check.n_wrong, check.wrong_in_tile
//
// Findings are sentences: "race on A_s[0, 3, 5]: warp 2 lane 5 reads (load, stmt 41) what warp 0
// lane 1 writes (store, stmt 37) with no barrier between; kernel matmul, block 3".
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/ir/names.h"
#include "order/order_words.h"

// The findings about a run. One row each: enum, the word it is shown by, what it means. The last
// rows, from "operand" on, say that the program could not be run to its end.
#define INTERP_FINDING_TABLE(X)                                                                   \
  X(RACE, "race", ORDER_HELP_RACE)                                                                \
  X(MISSING_WAIT, "missing wait", ORDER_HELP_WAIT)                                                \
  X(MISSING_FENCE, "missing fence", ORDER_HELP_FENCE)                                             \
  X(ALLOCATION, "allocation", "tensor memory that is not allocated, or not given back")           \
  X(DESCRIPTOR, "descriptor", "a matrix descriptor finds other elements than the program means")  \
  X(UNWRITTEN_READ, "unwritten read", ORDER_HELP_UNWRITTEN)                                       \
  X(OUT_OF_BOUNDS, "out of bounds", "an index outside its dimension, or an access beyond a row")  \
  X(MISALIGNED, "misaligned", "a wide access whose address is not a multiple of its size")        \
  X(VARIABLE_RANGE, "variable range", "a variable outside 0 … extent - 1")                        \
  X(DIVERGENCE, "divergence", "an instruction that only some threads reach, or too many of them") \
  X(DEADLOCK, "deadlock", ORDER_HELP_DEADLOCK)                                                    \
  X(ABANDONED_COPY, "abandoned copy", "a copy that no thread waits for is under way at the end")  \
  X(UNWRITTEN_RESULT, "unwritten result", "a cell of C that no thread stored")                    \
  X(EXITED, "exited", ORDER_HELP_ENDED)                                                           \
  X(RANGE, "range", "exp2 of a number above 0: a row's maximum is not its largest score")         \
  X(OPERAND, "operand", "an operation on a kind of memory that it does not accept")               \
  X(TOO_LONG, "too long", "the step limit was reached before the end")                            \
  X(TOO_LARGE, "too large", "more memory or code than the interpreter accepts")

typedef enum FindingKind {
#define X(id, name, help) FINDING_##id,
  INTERP_FINDING_TABLE(X)
#undef X
      FINDING_COUNT
} FindingKind;

const char *finding_name(FindingKind kind);
const char *finding_help(FindingKind kind);

// The party of a finding: a thread of a block, at a statement. thread -1: no particular one.
typedef struct FindingParty {
  const Stmt *stmt;  // NULL: no statement
  int block, thread;
} FindingParty;

typedef struct Finding {
  FindingKind kind;
  const char *text;         // one sentence
  int kernel;               // index in the program; -1: about the whole run
  FindingParty who, other;  // `other`: the second party of a race, else stmt NULL
  const Buffer *buffer;     // NULL: not about a buffer
  int64_t index[RANK_MAX];
  int64_t times;  // how often this pair of statements did it; the text tells the first
} Finding;

// When an asynchronous copy happens between its issue and its wait: both ends are legal for the
// hardware, so a program must be right at both.
typedef enum InterpAsync { INTERP_EARLY, INTERP_LATE } InterpAsync;

// One thread looked at while it runs, in the first run: a line for each statement that it executes,
//   "  stmt  21  a[0] = load A_s[m_t * 4, k_i]      A_s[4, 0] is -3; a[0] = -3"
typedef struct InterpTrace {
  int block, thread;
  int limit;    // lines that are kept
  int n_lines;  // filled in: all that there were
  int kernel;   // filled in: of the last line
  Str text;     // the caller begins it
} InterpTrace;

// Holds what happens in one block, event after event, in the first run: an operation that a warp
// has executed, or a box that has landed. A wait is seen when it is over.
typedef struct InterpSeen {
  int warp;  // -1: of no warp, a box has landed
  const Stmt *stmt;
  const Buffer *mbarrier;  // that it acts on or counts at; NULL: none
  int at;
  uint32_t phase;          // of the mbarrier, under way behind the event
  int64_t pending, bytes;  // arrivals and bytes still missing from it
} InterpSeen;

typedef struct InterpWatch {
  int kernel, block;
  void (*see)(void *context, const InterpSeen *seen);
  void *context;
} InterpWatch;

typedef struct InterpOptions {
  uint64_t seed;       // order of blocks and warps, and the generated inputs
  InterpAsync async;   // interpret() only; the others run both
  const float *a, *b;  // M×K and K×N, as they lie in memory, rounded to their type on the way in;
                       // NULL: small whole numbers made from the seed
  const float *v;      // of attention, where a and b are Q and K, head after head
  const float *scale[2];  // factors of a block-scaled A and B: M×S and N×S
  int max_findings;       // 0: 16; more are counted, not kept
  int64_t step_limit;     // warp-steps before FINDING_TOO_LONG; 0: 2^31
  int runs;               // interpret_check: seeds tried; 0: 2
  bool stop_at_first;  // end at the first finding: for callers that only ask whether there is one
  InterpTrace *trace;  // NULL: no thread is followed
  const InterpWatch *watch;  // NULL: no block is
  int64_t
      grid;  // clusters (blocks) of a persistent kernel; 0: drawn from the seed, fewer than tiles
  float alpha;   // what SCALE multiplies by; 0: 2, so that one that is missing shows
  float factor;  // interpret_check: C = factor·A·B; 0: alpha if the program has a SCALE, else 1
} InterpOptions;

typedef struct InterpResult {
  bool finished;             // false after a deadlock, at the step limit, or when too large
  const double *c;           // M×N; NaN where nothing was stored
  const uint8_t *c_written;  // M×N: 1 where a store (not only an atomic add) reached the cell
  int n_findings;            // kept, the first ones first
  int64_t n_found;           // all, every repetition counted
  const Finding *finding;
  const int64_t *lanes;  // [OP_COUNT] times a lane executed each operation
  int64_t steps;         // warp-steps, control flow included
} InterpResult;

// The fault that stops every run, whatever its data: an operand in the wrong memory, a width that
// cannot move at once, a statement behind a loop over threads. It is a sentence, found without
// running anything; NULL when there is none. Programs that passes made have none.
const char *interpret_fault(Arena *arena, const Program *program);

// Memory that interpret_check takes, estimated before anything is allocated; a program that needs
// more than INTERP_BYTES_MAX is FINDING_TOO_LARGE and is not begun.
#define INTERP_BYTES_MAX 0x1p32
double interpret_bytes(const Program *program);

// Runs the program once. Everything in the result lives in `arena`.
const InterpResult *interpret(Arena *arena, const Program *program, const InterpOptions *options);

// C = A·B by a plain triple loop in float64, from nothing but the arrays, rounded to the operands'
// type first, and with scale factors where that has any (else they may be NULL).
const double *interpret_reference(Arena *arena, const Problem *problem, const float *a,
                                  const float *b, const float *const scale[2]);

// O of attention from Q, K and V, in float64 but for the last quotient, which is one of acc's type:
// with whole scores and an alpha of 2 powers and sums are exact.
const double *interpret_attention(Arena *arena, const Problem *problem, const float *q,
                                  const float *k, const float *v, double alpha);

// Small whole numbers from -8 to 8 without 0, so that every product of the nest leaves a trace and
// sums of K < 2^17 terms are exact in f32 in any order. `which` tells A (0) from B (1). For types
// of fewer bits a run makes smaller ones, from -4, -2 or -1 up, so that its sums are exact too.
const float *interpret_inputs(Arena *arena, int64_t n, uint64_t seed, int which);

typedef struct InterpCheck {
  bool ok;  // nothing found, every run finished, every cell right
  int n_findings;
  int64_t n_found;
  const Finding *finding;
  int64_t n_cells;                  // of C, of all heads
  int64_t n_wrong;                  // those that differ in at least one run
  int64_t wrong_row, wrong_column;  // the first of them, in row order; -1 when there is none
  double wrong_got, wrong_expected;
  int64_t tile_m, tile_n;  // the block tile (of the main kernel's axes)
  int64_t tiles_m, tiles_n;
  const int *wrong_in_tile;    // tiles_m × tiles_n
  const InterpResult *result;  // of the first run
} InterpCheck;

// Adversarial runs (see interp.c) compared with the float64 loop, rounded to the type of C, cell by
// cell; they must be equal, so inputs of the user's own must have exact sums in the type of the
// accumulators.
InterpCheck interpret_check(Arena *arena, const Program *program, const InterpOptions *options);

// Returns the gravest finding; NULL: there is none. The table of findings begins with it, and a
// missing wait is a race that knows its cause.
const Finding *interp_gravest(const InterpCheck *check);

// The same, and moreover the naive program is run by the interpreter and must agree: it proves the
// two readings of "C = A·B" against each other. Cells in which it differs count as wrong.
InterpCheck interpret_check_naive(Arena *arena, const Program *naive, const Program *program,
                                  const InterpOptions *options);
