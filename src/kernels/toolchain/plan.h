// A plan says what to compile, launch, verify and time. It knows nothing of knobs or programs: it
// is a CUDA text, the ordered launches in it, and the matrix product the launches together compute.
// It crosses the worker's pipe as one JSON object and is everything the GPU side is ever told.
//
//   C[m × n] = A[m × k] · B[k × n]
//
// Operands of a block-scaled type come with factors, SFA[m × k / s] and SFB[n × k / s], one for
// each s elements along k: 32, of nvfp4 16. They are row-major, or lie in tiles of 128 rows and
// four factors, as model/ir/program.h says (problem_factor_place). Elements of 4 bits lie two to a
// byte, neighbours along k, the first in the low half.
//
// C is row-major; A and B are row-major unless the flag says column-major. All matrices are dense:
// a row-major A has a leading dimension of k, a column-major A one of m.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "model/text/launch_arg.h"

enum { PLAN_MAX_KERNELS = 4, PLAN_MAX_ARGS = 16, PLAN_MAX_WORKSPACES = 4, PLAN_MAX_MAPS = 8 };

// Arguments are device pointers to the plan's buffers, the scalar that C is multiplied by (1.0f in
// a plain product), and the plan's tensor maps, 128 bytes by value. Every size is a constant in the
// text. Those of launch_arg.def stand in its order, PLAN_ARG_ALPHA + LAUNCH_…. GRID is of a kernel
// that follows a persistent one: the number of clusters, blocks where there are none, or lists that
// went through the tiles of that. STAMPS is what a traced kernel writes when it does what
// (model/text/stamp_page.h), TRACED its cluster that does so, or its block where there are none.
// PLAN_ARG_WORKSPACE + i is the plan's i-th workspace, PLAN_ARG_MAP + i its i-th map.
typedef enum PlanArg {
  PLAN_ARG_A,
  PLAN_ARG_B,
  PLAN_ARG_C,
  PLAN_ARG_V,  // of attention, whose A, B and C are Q, K and O
  PLAN_ARG_SFA,
  PLAN_ARG_SFB,  // of block-scaled operands
  PLAN_ARG_WORKSPACE,
  PLAN_N_BUFFERS = PLAN_ARG_WORKSPACE + PLAN_MAX_WORKSPACES,
  PLAN_BEFORE_LAUNCH = PLAN_N_BUFFERS - 1,
#define LAUNCH_ARG(id, name, type, taken, holds, made) PLAN_ARG_##id,
#include "model/text/launch_arg.def"
  PLAN_ARG_MAP,
  PLAN_N_ARGS = PLAN_ARG_MAP + PLAN_MAX_MAPS
} PlanArg;

// PLAN_TF32 is stored as f32 and cut to 10 fraction bits by the multiplier; it names operands only,
// as the 8-bit types and the block-scaled ones do. PLAN_S32 is what 8-bit integers are summed in
// and stored as.
typedef enum PlanType {
  PLAN_F32,
  PLAN_F16,
  PLAN_BF16,
  PLAN_TF32,
  PLAN_F64,
  PLAN_S8,
  PLAN_E4M3,
  PLAN_E5M2,
  PLAN_S32,
  PLAN_MXF8,
  PLAN_MXF8E5M2,
  PLAN_MXF4,
  PLAN_NVFP4,
  PLAN_UE8M0,
  PLAN_UE4M3,  // the types of factors
  PLAN_N_TYPES
} PlanType;

const char *plan_type_name(PlanType type);  // "f32", "f16", …
int plan_type_bytes(PlanType type);         // of a unit: an element, or a byte of two
int plan_type_elements(PlanType type);      // in a unit
// Elements along k that share a factor, and the type of that; 0: the type has none.
int plan_scale_elements(PlanType type);
PlanType plan_scale_type(PlanType type);
bool plan_type_parse(const char *name, PlanType *type);

// A buffer as the tensor memory accelerator knows it: a matrix of which a copy moves a box, in
// either direction. Columns are neighbours in memory, so a column-major A[m × k] has k rows of m
// columns. With 3 swizzle bits the 16-byte chunks of a row of up to 16 << 3 bytes are permuted.
typedef struct PlanMap {
  PlanArg buffer;
  PlanType type;
  int64_t columns, rows;  // of the matrix, in elements
  int64_t matrices;       // that lie one behind the other; 0: it is one
  int box_columns, box_rows, swizzle_bits;
} PlanMap;

bool plan_same_map(const PlanMap *a, const PlanMap *b);

// One launch of an `extern "C" __global__` function.
typedef struct PlanKernel {
  const char *name;
  int64_t grid[3];
  int block[3];
  int cluster[3];      // 0 or 1 = none in that direction
  bool dependent;      // launched while the kernel in front of it still runs (programmatic stream
                       // serialization); it waits by griddepcontrol.wait
  bool persistent;     // grid[0] is the most: it is launched with the blocks that fit on the device
  int64_t smem_bytes;  // dynamic; more than 48 KiB is asked of the driver
  int blocks_per_sm;   // that tensor memory has room for, which the driver does not count; 0: it
                       // takes none
  int n_args;
  PlanArg args[PLAN_MAX_ARGS];
} PlanKernel;

// The numbers that A and B are made of: normal; their sizes; normal ones whose rows, columns and
// places along K are scaled by powers of two; such that the two halves of each sum nearly cancel.
typedef enum PlanData {
  PLAN_NORMAL,
  PLAN_POSITIVE,
  PLAN_SCALED,
  PLAN_CANCELLING,
  PLAN_N_DATA
} PlanData;
extern const char *const plan_data_names[PLAN_N_DATA];  // "normal", …

typedef struct Plan {
  const char *cuda;       // the whole text, prelude included; it must not #include anything
  const char *arch;       // "sm_90a"
  const char *label;      // shown in results: "fp32 rung 7"; may be ""
  const char *ptxas_opt;  // "0" to "3": how much the assembler may rewrite; "" or NULL: all it does
  PlanType operand_type, accumulate_type, output_type;  // all zero = plain f32
  PlanData data;
  int64_t m, n, k;
  int64_t
      heads;  // 0: a matrix product; else attention of these heads: m queries, n keys, dimension k
  bool causal;  // each query sees no key behind its own place
  bool a_col_major, b_col_major;
  bool factor_tiles;                             // SFA and SFB lie in tiles
  int64_t workspace_bytes[PLAN_MAX_WORKSPACES];  // 0 = there is none
  int n_maps;
  PlanMap maps[PLAN_MAX_MAPS];
  int64_t tile_m, tile_n;  // the block's tile of C, for the error map; 0 = not known
  int64_t traced;          // the block whose warps write stamps, where a kernel takes them
  double tolerance;        // relative to (|A|·|B|)ij; 0 = verify.h's rule
  int main_kernel;         // the one whose registers and blocks are told
  int n_kernels;
  PlanKernel kernels[PLAN_MAX_KERNELS];  // run in this order for one product
} Plan;

// Adds what is wrong with the plan (limits every GPU shares: names, sizes, grid, block); true when
// nothing is.
bool plan_check(const Plan *plan, Diags *diags);

// Whether both compute the same product on the same data (types, sizes, layouts).
bool plan_same_problem(const Plan *a, const Plan *b);

// 2·m·n·k; of attention twice that for each head, of a causal one for keys that are seen.
double plan_flops(const Plan *plan);
bool plan_is_attention(const Plan *plan);
// The argument alpha: 1; of attention 1 / √k for powers of e, which kernels compute as powers of 2.
float plan_alpha(const Plan *plan);
// The result as a matrix: C, or O of all heads one below the other.
int64_t plan_rows(const Plan *plan);
int64_t plan_columns(const Plan *plan);
int64_t plan_buffer_bytes(const Plan *plan, PlanArg buffer);  // 0 for what is no buffer
int64_t plan_a_bytes(const Plan *plan);
int64_t plan_b_bytes(const Plan *plan);
int64_t plan_c_bytes(const Plan *plan);
int64_t plan_v_bytes(const Plan *plan);                       // 0 of a matrix product
int64_t plan_scale_bytes(const Plan *plan, PlanArg factors);  // of SFA or SFB; 0: there are none
int64_t plan_scale_tiles(const Plan *plan);  // tiles of factors along k; 0: they lie in rows

// With texts of its own.
Plan *plan_copy(Arena *arena, const Plan *plan);

// One JSON object, no newline in it. Reading is strict: an unknown key, a wrong type, a number that
// is no integer or any finding of plan_check gives NULL and the findings.
void plan_write_json(Str *out, const Plan *plan);
Plan *plan_read_json(Arena *arena, const char *text, Diags *diags);
