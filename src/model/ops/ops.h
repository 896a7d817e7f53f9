// Tells what a family says of its operations: one OpRules for each row of op.def, in the file of
// its family.
//
// A new operation is a row of op.def and its OpRules; where one of both is missing, the linker says
// so. What drives them lies below: text/emit_op.h writes, interp/interp_machine.h runs.
#pragma once
#include "model/interp/interp_machine.h"
#include "model/text/emit_op.h"
#include "model/words/places.h"

typedef struct OpRules {
  OpEmission text;    // how it is written in CUDA
  OpMachine machine;  // how the interpreter runs it
  // For a reader of the program: what it is for, by the role of what it writes; ROLE_COUNT + 1
  // places, the last for all others. NULL: op.def says enough.
  const char *const *helps;
  ListDeal *deal;  // of one that claims a list of tiles: which list is meant for which SM; or NULL
} OpRules;

ListDeal *op_deal(OpKind kind);

// Whether all 32 lanes are there; else the finding is made (mma.c).
bool op_whole_warp(Machine *machine, const Warp *warp, const Code *code);

#define OP(id, ...) extern const OpRules rules_##id;
#include "model/ir/op.def"
