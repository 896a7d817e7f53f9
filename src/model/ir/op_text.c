// A template, part by part: a field in braces, or the letters up to the next one.
#include "model/ir/op_text.h"

#include <assert.h>
#include <string.h>

static const char *const field_names[FIELD_COUNT] = {
#define X(id, help) #id,
    OP_FIELD_TABLE(X)
#undef X
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

static unsigned find_spaces(const char *letters) {
  static const char names[] = {
      [SPACE_GLOBAL] = 'g', [SPACE_SHARED] = 's', [SPACE_REGISTER] = 'r', [SPACE_BARRIER] = 'b'};
  unsigned spaces = 0;
  for (; *letters != '}'; letters++)
    for (int i = 0; i < (int)sizeof names; i++)
      if (names[i] == *letters) spaces |= 1u << i;
  return spaces;
}

static const char *take_field(const char *at, OpPart *part) {
  size_t length = strcspn(at, ":}");
  part->is_field = true;
  part->field = find_field(at, length);
  part->spaces = at[length] == ':' ? find_spaces(at + length + 1) : 0;
  return strchr(at, '}') + 1;
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
