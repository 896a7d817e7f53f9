// Operations and the facts of each: the rows of op.def.
//
//   op_facts(OP_TMA_LOAD)->completes        BY_MBARRIER: its bytes count at an mbarrier
//   op_facts(OP_MMA)->dst.unit              UNIT_FRAGMENT: the warp holds it together
#pragma once
#include <stdbool.h>

#include "model/ir/op_kind.h"

// One file of model/ops each.
typedef enum OpFamily {
  FAMILY_MEMORY,
  FAMILY_MATH,
  FAMILY_MMA,
  FAMILY_WGMMA,
  FAMILY_TCGEN05,
  FAMILY_COPY,
  FAMILY_TMA,
  FAMILY_BULK,
  FAMILY_SYNC,
  FAMILY_ROLES,
  FAMILY_LISTS,
  FAMILY_ROWS
} OpFamily;

typedef enum OpScope {
  SCOPE_LANE,
  SCOPE_THREAD,
  SCOPE_WARP,
  SCOPE_WARPGROUP,
  SCOPE_BLOCK,
  SCOPE_CLUSTER
} OpScope;
typedef enum OpProxy { PROXY_GENERIC, PROXY_ASYNC } OpProxy;
typedef enum OpCompletion {
  COMPLETES_AT_ONCE,
  COMPLETES_BY_GROUP,
  COMPLETES_BY_MBARRIER,
  COMPLETES_BY_BULK,
  COMPLETES_BY_COMMIT,
  COMPLETES_BY_WAIT
} OpCompletion;
typedef enum OpEngine { ENGINE_NONE, ENGINE_LSU, ENGINE_FMA, ENGINE_TENSOR, ENGINE_TMA } OpEngine;

// The part that one execution takes of an operand: `width` neighbours of each lane, what the warp
// holds together of an atom's matrix, a row of 16 bytes that each lane addresses, an atom's matrix
// where it lies, the factors of 128 rows or columns, four of each, a box, an mbarrier.
typedef enum OpUnit {
  UNIT_ELEMENT,
  UNIT_FRAGMENT,
  UNIT_ROW,
  UNIT_TILE,
  UNIT_FACTORS,
  UNIT_BOX,
  UNIT_MBARRIER
} OpUnit;

typedef struct OperandFacts {
  bool read, written;  // both: it is added to; neither: there is no such operand
  OpUnit unit;
  unsigned spaces;  // bits 1 << SPACE_… in which it may lie
} OperandFacts;

typedef struct OpFacts {
  const char *name;
  OpFamily family;
  OpAction action;
  OpScope scope;
  OpProxy proxy;
  OpCompletion completes;
  OpEngine engine;
  OperandFacts dst, src, src2;
  bool converts;
  const char *banks, *sectors;  // the accesses' names in front of their width; NULL: none
  const char *ptx, *help;
  const char *text, *brief;  // templates of its statement, and of its row on the screen; op_text.h
} OpFacts;

const OpFacts *op_facts(OpKind kind);

const char *op_name(OpKind kind);
const char *op_ptx(OpKind kind);
const char *op_help(OpKind kind);
const char *op_text(OpKind kind);   // the template of its statement; op_text.h
const char *op_brief(OpKind kind);  // the same for a row of the screen

// Multiplies, by lanes or by the tensor core.
bool op_multiplies(OpKind kind);
// The lanes of a warp carry it out as one, each holding a part of a matrix.
bool op_is_collective(OpKind kind);
// Ends with its group: of copies or of wgmma, or of boxes bound for global memory.
bool op_ends_with_group(OpKind kind);
// Moves a box that no lane's address stands for.
bool op_moves_box(OpKind kind);
// Reads whole matrices of an atom where they lie, by no lane's address.
bool op_reads_tiles(OpKind kind);
// Moves whole tiles of factors.
bool op_moves_factors(OpKind kind);
// Moves 8x8 matrices between registers and the 16-byte rows that lanes address.
bool op_moves_rows(OpKind kind);
// Its bytes come in the background: by a group of copies, or counted at an mbarrier.
bool op_is_async_copy(OpKind kind);
// Loads and stores of single lanes, which the assembler may merge or split.
bool op_is_plain_access(OpKind kind);
// Acts on an mbarrier of which the block has one, or counts at it.
bool op_takes_mbarrier(OpKind kind);
// Keeps threads in step: a barrier, mbarriers but for their initialisation, the fence.
bool op_orders(OpKind kind);
// The carrier of a copy: "cp.async", "TMA"; NULL where it goes through registers.
const char *op_carrier(OpKind kind);
