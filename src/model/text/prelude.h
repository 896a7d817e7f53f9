// The device prelude: the few types and wrappers that stand above an emitted kernel.
//
// CUDA headers are not included and not needed: float4, uint4 and the intrinsics used here are
// built into NVRTC and nvcc alike. Only the parts that a text uses are printed.
//
//   Prelude load = {.kind = PRELUDE_LOAD, .type = DTYPE_F16, .width = 8};
//   prelude_name(arena, &load)    "load8"
//   prelude_text(arena, &load)    "__device__ __forceinline__ void load8(unsigned *to, …"
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "model/ir/names.h"
#include "model/words/fragment.h"

// In the order in which they stand in a text. A number in a name counts elements.
typedef enum PreludeKind {
  PRELUDE_TYPE,              // struct f16: an element as it lies in memory
  PRELUDE_LOAD,              // load4: registers <- memory
  PRELUDE_LOAD_OR_ZERO,      // load4_or_zero: the guard is the last argument
  PRELUDE_STORE,             // store4: memory <- registers, converted where the types differ
  PRELUDE_FILL,              // fill4: registers <- a constant
  PRELUDE_CP_ASYNC,          // cp_async4
  PRELUDE_CP_ASYNC_OR_ZERO,  // cp_async4_or_zero
  PRELUDE_CP_ASYNC_IF,       // cp_async4_if: under a predicate, the last argument
  PRELUDE_CP_ASYNC_IF_OR_ZERO,
  PRELUDE_TENSOR_MAP,  // struct tensor_map: a parameter
  PRELUDE_MBARRIER_INIT,
  PRELUDE_MBARRIER_EXPECT,
  PRELUDE_MBARRIER_ARRIVE,
  PRELUDE_MBARRIER_WAIT,
  PRELUDE_TMA_LOAD,
  PRELUDE_TMA_MULTICAST,  // the same to several blocks of a cluster
  PRELUDE_TMA_PAIR,       // counted at the even CTA of a pair
  PRELUDE_TMA_STORE,
  PRELUDE_TMA_ADD,
  PRELUDE_GIVEN,        // cp_async_commit: a family's own, in the order of their names
  PRELUDE_LOAD_SHARED,  // load_shared: one value, its place in base and offset
  PRELUDE_LDMATRIX,     // ldmatrix_x4, ldmatrix_x2_trans
  PRELUDE_STMATRIX,     // stmatrix_x4: registers rounded to the slab's type where they differ
  PRELUDE_MMA,          // mma_m16n8k16_f32_f16
  PRELUDE_TILE,         // tile_of: the descriptor of a tile in shared memory
  PRELUDE_WGMMA,        // wgmma_m64n128k16_f32_bf16, …_rs with A in registers
  PRELUDE_TENSOR_LD,    // tcgen05_ld_x32: columns of tensor memory into registers
  PRELUDE_TENSOR_ST,    // tcgen05_st_x32
  PRELUDE_TO_FLOAT,     // to_float: an element as a number
  PRELUDE_FROM_FLOAT,   // to_f16: a number as an element
  PRELUDE_EXTRACT,      // extract_f16: value i of a register that holds several
  PRELUDE_INSERT,       // insert_f16
  PRELUDE_ATOMIC_ADD,   // atomic_add, where atomicAdd wants a header's type
  PRELUDE_KINDS
} PreludeKind;

// A definition that depends on nothing, which a family of operations brings along (model/ops).
typedef struct PreludeText {
  const char *name;  // "cp_async_commit"
  const char *text;  // whole lines, the last one ends in a newline
} PreludeText;

// Which definition; what a kind does not depend on stays 0.
typedef struct Prelude {
  PreludeKind kind;
  DType type;       // of the elements in memory
  DType registers;  // STORE, STMATRIX: of the values in registers
  bool by_one;      // STORE: converted value by value, for targets that cannot take two
  bool packed;      // LOAD, STORE, FILL: several values share a register
  int width;  // elements; LDMATRIX, STMATRIX: matrices; TENSOR: columns; TMA: dimensions of the map
  bool trans;                // of them
  int l2_bytes;              // CP_ASYNC and its kin: what L2 is asked for around it; 0: nothing
  const Atom *atom;          // MMA, WGMMA
  bool by_registers;         // WGMMA: A is a fragment
  const PreludeText *given;  // GIVEN
} Prelude;

// "float", "f16", "signed char": an element in memory, and in a register of its own.
const char *prelude_type_name(DType type);
bool prelude_type_is_struct(DType type);  // f16, bf16, e4m3, e5m2: declared by PRELUDE_TYPE

const char *prelude_name(Arena *arena, const Prelude *prelude);
// The definition: whole lines, the last one ends in a newline.
const char *prelude_text(Arena *arena, const Prelude *prelude);
// The order in a text; 0 when both are one definition.
int prelude_compare(const Prelude *a, const Prelude *b);
