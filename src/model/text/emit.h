// The program as CUDA C++ that a person would be happy to read and to copy into a project of their
// own, with a map from every line to the statement and the knob it comes from.
//
// Nothing is computed here: addresses are access_offset(), guards access_guard(), the digits of
// blockIdx and threadIdx kernel_launch(). The text includes no header; NVRTC and nvcc compile it as
// it stands.
//
//   const Emission *text = emit_cuda(arena, model->program, &(EmitOptions){.schedule = &schedule});
//   puts(text->text);
//   for (int i = 0; i < text->n_lines; i++) … text->lines[i].stmt …
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "model/ir/names.h"
#include "model/ir/timeline_kind.h"
#include "model/text/launch_arg.h"
#include "model/words/knob.h"

enum { EMIT_ARGS_MAX = 8, EMIT_STATIC_SMEM_BYTES = 48 * 1024 };

// A warp sleeps in front of a statement of the main kernel when it comes there for the `time`-th
// time.
typedef struct EmitDelay {
  int stmt;  // its id
  int rank;  // in that block of each cluster; -1: there are none
  int warp, time;
} EmitDelay;

typedef struct EmitOptions {
  const Schedule *schedule;  // for the state line and "BK=16" in comments; NULL: names alone
  const char *target;        // "sm_90a (NVIDIA H200)" for the heading; NULL: not said
  bool stamps;               // the kernel that multiplies writes when it does what
  const EmitDelay *delay;    // where warps sleep; each in a place of its own
  int n_delays;
  int64_t clusters;  // of a persistent kernel's grid, blocks where there are none; 0: all that fit
  bool no_prelude;   // leave the device wrappers out; the caller has its own
  int cc;            // compute capability, 75: what it lacks is said otherwise; 0: 80 or later
} EmitOptions;

typedef struct EmitLine {
  size_t begin, length;  // in the text, without its newline
  const Stmt *stmt;      // NULL: heading, prelude, declarations
  KnobId knob;           // of the statement, of the declared buffer, or KNOB_NONE
  int kernel;            // index in the program; -1 outside the kernels
} EmitLine;

// A parameter: a pointer, or the tensor map by which copies reach the buffer, by value.
typedef struct EmitArg {
  const Buffer *buffer;
  const Op *copy;  // one of those that go by the map; NULL: a pointer
} EmitArg;

// A place of the text that is stamped at its begin and its end: an operation that orders, or work
// of one kind.
typedef struct EmitStamp {
  const Stmt *stmt;  // the operation, or the first of the work
  const Var *turn;   // the loop with the turn that its stamps say; NULL: none, they say 0
  bool follows;  // begins where the place before it in its list ends: it has no begin of its own
} EmitStamp;

typedef struct EmitKernel {
  const char *name;
  int64_t n_blocks,
      n_threads;        // grid and block, both in x; where persistent, as if each tile had a block
  int64_t cluster;      // blocks of a cluster, in x; 1: there are none
  bool dependent;       // launched while the kernel in front of it still runs
  bool persistent;      // the grid is the blocks that fit on the GPU at once
  int64_t most_blocks;  // of the grid: n_blocks, or as many as EmitOptions.clusters allows
  int64_t smem_bytes;   // of the whole pool
  int64_t dynamic_smem_bytes;  // what the launch must ask for: 0 when the pool is static
  int64_t tensor_columns;      // of tensor memory, of which an SM has 512; 0: none
  int n_args;
  EmitArg arg[EMIT_ARGS_MAX];  // in the order of the parameters
  // Parameters behind those, in the order of launch_arg.def. ALPHA: 1 for a plain product. GRID:
  // the clusters of the main kernel's grid, or its blocks, or the lists that its clusters claim.
  // STAMPS: one for each warp of a cluster (stamp_page.h); TRACED: the cluster that writes them,
  // where there are none the block. The pool is dynamic then.
  bool takes[LAUNCH_ARGS];
  int first_line, n_lines;  // of its text
} EmitKernel;

typedef struct Emission {
  const char *text;
  size_t length;
  int n_lines;
  const EmitLine *lines;
  int n_kernels;  // in the order of launching
  EmitKernel kernel[KERNELS_MAX];
  int64_t workspace_bytes;  // of the global buffers beyond A, B and C
  int n_stamps;             // places; mark 2 · i + 1 is the end of the i-th
  const EmitStamp *stamp;
} Emission;

// Blocks of it that tensor memory of an SM has room for; 0: it takes none.
int emit_blocks_in_tensor_memory(const EmitKernel *kernel);

// "A", or "A_map": the parameter's name.
const char *emit_arg_name(Arena *arena, const EmitArg *arg);

// Holds the map of a parameter that has one: the matrix as it lies in memory, with columns as
// neighbours; the number of matrices one behind the other (0: it is one); the box of a copy, in
// elements; the chunk bits that are permuted.
typedef struct EmitMap {
  int64_t columns, rows, matrices;
  int box_columns, box_rows, swizzle_bits;
} EmitMap;
EmitMap emit_arg_map(const EmitArg *arg);

// Tells what of a program that a user wrote the text cannot say, as a sentence; NULL: it can. It
// can say all programs that passes make.
const char *emit_fault(Arena *arena, const Program *program);

// Never NULL. The program must satisfy program_check and have no emit_fault.
const Emission *emit_cuda(Arena *arena, const Program *program, const EmitOptions *options);

// Tells what the comment in front of a statement says, without its knob: "start the copy of the
// slab of V". NULL: it has none.
const char *emit_says(Arena *arena, const Program *program, const Stmt *stmt);
