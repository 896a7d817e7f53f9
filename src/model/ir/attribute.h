// Attributes: all that an operation has besides its operands, the rows of attribute.def.
#pragma once
#include "model/ir/names.h"

typedef enum AttributeKind {
  KIND_NUMBER,
  KIND_MAYBE,
  KIND_FLAG,
  KIND_EXPR,
  KIND_MAYBE_EXPR,
} AttributeKind;

typedef struct Attribute {
  const char *name;
  AttributeKind kind;
  size_t offset;  // of the member in Op
  int64_t least, most;
  const char *before, *behind;  // NULL: its text has a printer and a reader of its own
  const char *wanted, *help;
} Attribute;

typedef enum AttributeId {
#define ATTRIBUTE(name, ...) ATTRIBUTE_ID_##name,
#include "model/ir/attribute.def"
  ATTRIBUTE_COUNT
} AttributeId;

extern const Attribute op_attributes[ATTRIBUTE_COUNT];

// The member that an attribute is, by its kind; NULL: it is of another kind.
const int64_t *attribute_number(const Op *op, int attribute);
const bool *attribute_flag(const Op *op, int attribute);
const Expr *const *attribute_expr(const Op *op, int attribute);
