// fp32 products on tensor cores: each element is a sum of parts of a smaller type, and a product of
// two elements the sum of products of their parts.
//
// A part of bf16 has 8 significant bits, so three parts have the 24 of an f32; two of tf32 have 22.
// Every product of two parts is exact in f32. The products left out are smaller than the last bit
// of the product: with 6xbf16 they are below 2^-24 of it.
//
// Worked example, x = 1 + 2^-9 + 2^-18 in bf16: parts 1, 2^-9 and 2^-18. Infinity has the parts
// infinity and NaN, and NaN has NaN, so their products are NaN; a value above 2^127 * 1.996 rounds
// to infinity; a part below 2^-133 (bf16's smallest subnormal) is lost: products are as exact as
// said above for elements from 2^-109 on.
#pragma once
#include <stdint.h>

#include "model/words/dtype.h"

// The values of the knob SPLIT_F32.
typedef enum SplitKind {
#define SPLIT(id, name, type, bits, parts, products) SPLIT_##id,
#include "model/words/split.def"
  SPLIT_KINDS
} SplitKind;

typedef struct Split32 {
  const char *name;
  DType type;    // of the parts
  int bits;      // significant ones of a part
  int parts;     // of an element
  int products;  // of parts, for each product of elements
} Split32;

const Split32 *split_facts(SplitKind kind);

// The parts that each product multiplies: the smallest products first, so that they are summed
// before the sums are large. `split_part_table(kind, 0)` has the parts of A, and 1 the parts of B,
// one for each product. Worked example, 6xbf16: A 2 1 0 1 0 0, B 0 1 2 0 1 0.
const int64_t *split_part_table(SplitKind kind, int operand);
