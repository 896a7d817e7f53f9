// attribute.def as a table of members.
#include "model/ir/attribute.h"

#include <stddef.h>

#include "model/ir/stmt.h"

const Attribute op_attributes[ATTRIBUTE_COUNT] = {
#define ATTRIBUTE(name, kind, ...) {#name, KIND_##kind, offsetof(Op, name), __VA_ARGS__},
#include "model/ir/attribute.def"
};

static const void *member(const Op *op, int attribute) {
  return (const char *)op + op_attributes[attribute].offset;
}

const int64_t *attribute_number(const Op *op, int attribute) {
  const AttributeKind kind = op_attributes[attribute].kind;
  return kind == KIND_NUMBER || kind == KIND_MAYBE ? member(op, attribute) : NULL;
}

const bool *attribute_flag(const Op *op, int attribute) {
  return op_attributes[attribute].kind == KIND_FLAG ? member(op, attribute) : NULL;
}

const Expr *const *attribute_expr(const Op *op, int attribute) {
  const AttributeKind kind = op_attributes[attribute].kind;
  return kind == KIND_EXPR || kind == KIND_MAYBE_EXPR ? member(op, attribute) : NULL;
}
