// The rows of op.def, and what follows from them.
#include "model/ir/op.h"

#include <stddef.h>

#include "model/ir/role.h"

enum {
  IN_REG = 1 << SPACE_REGISTER,
  IN_SMEM = 1 << SPACE_SHARED,
  IN_GLB = 1 << SPACE_GLOBAL,
  IN_MEM = IN_GLB | IN_SMEM,
  IN_ANY = IN_MEM | IN_REG,
  IN_MBAR = 1 << SPACE_BARRIER,
  IN_TMEM = 1 << SPACE_TENSOR
};

// clang-format off
#define NO {.read = false}
#define R(what, in) {.read = true, .unit = UNIT_##what, .spaces = IN_##in}
#define W(what, in) {.written = true, .unit = UNIT_##what, .spaces = IN_##in}
#define S(what, in) {.read = true, .written = true, .unit = UNIT_##what, .spaces = IN_##in}
// clang-format on

static const OpFacts rows[OP_COUNT] = {
#define OP(id, name, family, action, scope, proxy, completes, engine, dst, src, src2, converts, \
           banks, sectors, ptx, help, text, brief)                                              \
  {name,                                                                                        \
   FAMILY_##family,                                                                             \
   ACTION_##action,                                                                             \
   SCOPE_##scope,                                                                               \
   PROXY_##proxy,                                                                               \
   COMPLETES_##completes,                                                                       \
   ENGINE_##engine,                                                                             \
   dst,                                                                                         \
   src,                                                                                         \
   src2,                                                                                        \
   converts,                                                                                    \
   banks,                                                                                       \
   sectors,                                                                                     \
   ptx,                                                                                         \
   help,                                                                                        \
   text,                                                                                        \
   brief},
#include "model/ir/op.def"
};

const OpFacts *op_facts(OpKind kind) { return &rows[kind]; }

const char *op_name(OpKind kind) { return rows[kind].name; }
const char *op_ptx(OpKind kind) { return rows[kind].ptx; }
const char *op_help(OpKind kind) { return rows[kind].help; }
const char *op_text(OpKind kind) { return rows[kind].text; }
const char *op_brief(OpKind kind) { return rows[kind].brief; }

bool op_multiplies(OpKind kind) { return rows[kind].action == ACTION_MULTIPLY; }

static bool is_used(const OperandFacts *operand) { return operand->read || operand->written; }

bool op_is_collective(OpKind kind) {
  const OpFacts *op = &rows[kind];
  return (is_used(&op->dst) && op->dst.unit == UNIT_FRAGMENT) ||
         (is_used(&op->src) && op->src.unit == UNIT_FRAGMENT);
}

bool op_ends_with_group(OpKind kind) {
  OpCompletion by = rows[kind].completes;
  return by == COMPLETES_BY_GROUP || by == COMPLETES_BY_BULK;
}

bool op_moves_box(OpKind kind) {
  return is_used(&rows[kind].src) && rows[kind].src.unit == UNIT_BOX;
}

bool op_moves_rows(OpKind kind) {
  return rows[kind].src.unit == UNIT_ROW || rows[kind].dst.unit == UNIT_ROW;
}

bool op_reads_tiles(OpKind kind) { return rows[kind].src2.unit == UNIT_TILE; }

bool op_moves_factors(OpKind kind) {
  return is_used(&rows[kind].src) && rows[kind].src.unit == UNIT_FACTORS;
}

bool op_is_async_copy(OpKind kind) {
  bool moves = rows[kind].action == ACTION_MOVE || rows[kind].action == ACTION_ADD;
  OpCompletion by = rows[kind].completes;
  return moves && by != COMPLETES_AT_ONCE && by != COMPLETES_BY_WAIT && by != COMPLETES_BY_COMMIT;
}

bool op_is_plain_access(OpKind kind) {
  const OpFacts *op = &rows[kind];
  return op->action == ACTION_MOVE && op->engine == ENGINE_LSU && op->scope == SCOPE_LANE &&
         !op_is_async_copy(kind);
}

bool op_takes_mbarrier(OpKind kind) { return rows[kind].completes == COMPLETES_BY_MBARRIER; }

bool op_orders(OpKind kind) {
  static const bool orders[] = {
#define ACTION(id, orders, help) orders,
#include "model/ir/op.def"
  };
  OpCompletion by = rows[kind].completes;
  return orders[rows[kind].action] && by != COMPLETES_BY_GROUP && by != COMPLETES_BY_BULK &&
         by != COMPLETES_BY_WAIT;
}

const char *op_carrier(OpKind kind) {
  if (!op_is_async_copy(kind)) return NULL;
  return rows[kind].engine == ENGINE_TMA ? "TMA" : rows[kind].name;
}
