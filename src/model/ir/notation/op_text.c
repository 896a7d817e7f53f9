// A template, part by part: a field in braces, or the letters up to the next one.
#include "model/ir/notation/op_text.h"

#include <assert.h>
#include <string.h>

static const char *const field_names[FIELD_COUNT] = {
#define X(id, help) #id,
    OP_FIELD_TABLE(X)
#undef X
#define ATTRIBUTE(name, ...) #name,
#include "model/ir/attribute.def"
};

// op.def names no other.
static OpField find_field(const char *name, size_t length) {
  int field = 0;
  while (strncmp(field_names[field], name, length) != 0 || field_names[field][length]) {
    field++;
    assert(field < FIELD_COUNT);
  }
  return (OpField)field;
}

static const char *take_field(const char *at, OpPart *part) {
  size_t length = strcspn(at, "}");
  part->is_field = true;
  part->field = find_field(at, length);
  return at + length + 1;
}

bool op_text_next(const char **at, OpPart *part) {
  for (; **at && strchr("|<>", **at); ++*at) {
    if (**at == '|') part->full = true;
    part->roomy = **at == '<';
  }
  if (!**at) return false;
  if (**at == '{') {
    *at = take_field(*at + 1, part);
    return true;
  }
  part->is_field = false;
  part->text = *at;
  part->length = (int)strcspn(*at, "{|<>");
  *at += part->length;
  return true;
}
