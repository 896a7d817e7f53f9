// Templates of op.def: one text for each operation, by which it is printed and read.
//
//   "{dst} = load {src}{width}{guard}"        a[0] = load A[m_b * 16, k]   16 B if k < 30
//
// All that stands between braces is a field: the printer (print_op.c) and the reader (parse_op.c)
// have a function for each, and neither knows which operation it is at. A part that has nothing to
// say is empty: no width of one element, no guard that always holds.
#pragma once
#include <stdbool.h>

#include "model/ir/attribute.h"

// One row each: field, what it says in an operation's text.
#define OP_FIELD_TABLE(X)                                                           \
  X(dst, "the access that is written: A_s[k_o % 3, lane]")                          \
  X(src, "the access that is read")                                                 \
  X(src2, "the other one, or the mbarrier that counts a box")                       \
  X(value, "the constant of INIT")                                                  \
  X(width, "the bytes that move at once: \"   16 B\"")                              \
  X(wide, "registers, where an operation reaches several: \"   x 4\"")              \
  X(guard, "the condition of the access to global memory: \" if m_b * 16 < 30\"")   \
  X(atom, "the atom that multiplies: m16n8k16.f16")                                 \
  X(scales, "the factors of A and B: \"   scaled by sfa[m_r, 0] and sfb[n_r, 0]\"") \
  X(pair, "a pair of CTAs: \"   cta_group 2\"")                                     \
  X(idesc, "an instruction descriptor: \"   idesc 0x08400490\"")                    \
  X(tiles, "how descriptors find the tiles: \"   A by 128B lbo 16 sbo 1024\"")      \
  X(box, "rows and columns of a box: \"128 x 64\"")                                 \
  X(name, "brief: the source's name alone")                                         \
  X(arrow, "brief: from right to left")                                             \
  X(at_most, "brief: not more than")

// The attributes of attribute.def are fields too, behind those.
typedef enum OpField {
#define X(id, help) FIELD_##id,
  OP_FIELD_TABLE(X)
#undef X
#define ATTRIBUTE(name, ...) FIELD_##name,
#include "model/ir/attribute.def"
      FIELD_COUNT
} OpField;

enum { FIELD_ATTRIBUTES = FIELD_COUNT - ATTRIBUTE_COUNT };

typedef struct OpPart {
  bool is_field;
  bool full;   // the complete text alone says it
  bool roomy;  // a row of the screen says it where there is room
  OpField field;
  const char *text;  // of a part that is no field, `length` bytes, with its blanks
  int length;
} OpPart;

// The next part of a template; false behind the last one. `*at` begins as the template and *part as
// {0}.
bool op_text_next(const char **at, OpPart *part);
