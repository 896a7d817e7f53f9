// A file of TTGIR (or Gluon's IR): its layouts, the tensors that use them, and the operations that
// change one into another.
//
//   #blocked = #ttg.blocked<{…}>                       an alias
//   %a = ttg.local_load %m : !ttg.memdesc<…, #shared, …> -> tensor<…, #mma>       a move
#pragma once
#include "banks/registers/register_text.h"

typedef struct TtgirAlias {
  const char *name, *text;  // "blocked", "#ttg.blocked<{…}>"
  int line;
} TtgirAlias;

// One type that stands in the file: a tensor, or a part of memory.
typedef struct TtgirUse {
  const char *text;      // "tensor<64x64xf16, #blocked>"
  const char *encoding;  // as it stands there: "#blocked"
  TensorType type;
  TensorShape whole;  // of a part of memory: what was allocated; rank 0: just this
  bool memory;        // a memdesc
  int count, line;
} TtgirUse;

typedef struct TtgirMove {
  const char *op;      // "ttg.convert_layout"
  int from, to, line;  // uses
  int count;           // of the same operation between the same types
} TtgirMove;

typedef struct Ttgir {
  int n_aliases, n_uses, n_moves;
  TtgirAlias *alias;
  TtgirUse *use;
  TtgirMove *move;
  AttrNames names;
} Ttgir;

// NULL after findings of rule "ttgir".
const Ttgir *ttgir_read(Arena *arena, const char *text, Diags *diags);
