#include "model/words/split.h"

const Split32 *split_facts(SplitKind kind) {
  static const Split32 facts[SPLIT_KINDS] = {
#define SPLIT(id, name, type, bits, parts, products) {name, DTYPE_##type, bits, parts, products},
#include "model/words/split.def"
  };
  return &facts[kind];
}

// All products of three parts by their size, from 2^-32 to 1 of the whole; each split takes the
// last ones.
enum { ALL = 9 };
static const int64_t part_of[2][ALL] = {{2, 2, 1, 2, 1, 0, 1, 0, 0}, {2, 1, 2, 0, 1, 2, 0, 1, 0}};

const int64_t *split_part_table(SplitKind kind, int operand) {
  return part_of[operand] + ALL - split_facts(kind)->products;
}
