// The cost of bringing a tensor from registers to shared memory and back, and from one layout of
// registers to another.
//
// Accesses are as compilers write them: the widest of 16, 8, 4, … bytes whose registers lie side by
// side in memory for every lane, or matrices of ldmatrix and stmatrix. Registers that repeat
// another are not loaded or stored again; lanes and warps that do, do so again.
#pragma once
#include "banks/engine/bank.h"
#include "banks/layouts/layout_stages.h"
#include "banks/registers/register_layout.h"

// One way to do it, for all warps of one block.
typedef struct RegisterAccess {
  const BankOp *op;
  int64_t instructions;  // of warps
  int64_t wavefronts, ideal;
} RegisterAccess;

enum { REGISTER_ACCESSES_MAX = 3 };

typedef struct RegisterAccesses {
  int n;  // plain, then ldmatrix or stmatrix where the fragments allow it, with and without .trans
  RegisterAccess access[REGISTER_ACCESSES_MAX];
} RegisterAccesses;

// False after a finding of rule "layout": other shapes, no two dimensions, tensor memory.
bool register_access_count(Arena *arena, const RegisterLayout *layout, const Layout *memory,
                           bool store, RegisterAccesses *out, Diags *diags);

// How far elements have to travel, by the farthest that one of them goes.
typedef enum MoveKind { MOVE_NONE, MOVE_REGISTERS, MOVE_LANES, MOVE_WARPS, MOVE_BLOCKS } MoveKind;

typedef struct RegisterMove {
  MoveKind kind;
  int64_t places;  // of the target that hold an element
  int64_t same, thread, lanes, warps,
      blocks;        // of them: found in the same register, thread, warp, …
  int64_t shuffles;  // at least, of all warps: words of 32 bits that come from another lane
  // Through shared memory, row by row, where warps exchange elements: all zero otherwise.
  RegisterAccesses store, load;
} RegisterMove;

const char *register_move_text(MoveKind kind);  // "lanes of a warp exchange elements: shuffles"
// False after a finding of rule "layout". elem_bytes: of an element.
bool register_move_count(Arena *arena, const RegisterLayout *from, const RegisterLayout *to,
                         int elem_bytes, RegisterMove *out, Diags *diags);
