// The only list of all operations' rules.
#include "model/ops/ops.h"

static const OpRules *const rules[OP_COUNT] = {
#define OP(id, ...) &rules_##id,
#include "model/ir/op.def"
};

const OpEmission *op_emission(OpKind kind) { return &rules[kind]->text; }
const OpMachine *op_machine(OpKind kind) { return &rules[kind]->machine; }
