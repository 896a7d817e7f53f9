// The operations and actions by number: the ids of op.def. op.h has the facts of each.
#pragma once

typedef enum OpKind {
#define OP(id, ...) OP_##id,
#include "model/ir/op.def"
  OP_COUNT
} OpKind;

typedef enum OpAction {
#define ACTION(id, ...) ACTION_##id,
#include "model/ir/op.def"
} OpAction;
