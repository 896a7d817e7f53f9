// The only list of all operations' rules.
#include "model/ir/stmt.h"
#include "model/ops/ops.h"

static const OpRules *const rules[OP_COUNT] = {
#define OP(id, ...) &rules_##id,
#include "model/ir/op.def"
};

const OpEmission *op_emission(OpKind kind) { return &rules[kind]->text; }
const char *op_help_here(const Op *op) {
  const char *const *helps = rules[op->kind]->helps;
  if (!helps) return NULL;
  const char *here = op->dst.buffer ? helps[op->dst.buffer->role] : NULL;
  return here ? here : helps[ROLE_COUNT];
}

ListDeal *op_deal(OpKind kind) { return rules[kind]->deal; }

const OpMachine *op_machine(OpKind kind) { return &rules[kind]->machine; }
