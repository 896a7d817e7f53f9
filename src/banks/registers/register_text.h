// Every text that lays out registers, each read by the reader of its notation.
//
//   encodings of Triton and Gluon    register_triton.h
//   tensor<128x64xf16, #ttg.…>       the same with its shape
//   TiledMMA, TiledCopy, atoms       register_cute.h
#pragma once
#include "banks/layouts/attr_text.h"
#include "banks/registers/register_layout.h"

typedef struct RegisterAsked {
  TensorShape shape;       // rank 0: the text has to say it
  const char *operand;     // of a text that has several; NULL
  const AttrNames *names;  // what "#name" is; NULL
} RegisterAsked;

bool register_text_is(const char *text, const AttrNames *names);
// NULL after findings (rules "layout", "usage").
const RegisterLayout *register_text_read(Arena *arena, const char *text, const RegisterAsked *asked,
                                         Diags *diags);

// "128x64xf16, #blocked" of tensor<…> or memdesc<…>, from where `scan` stands up to the encoding.
typedef struct TensorType {
  TensorShape shape;
  const char *type;  // "f16"
} TensorType;
bool tensor_type_scan(Scan *scan, TensorType *out);
// Bits of an element of a type as MLIR writes it, f16 or !tt.ptr<f16>; 0: not known.
int tensor_type_bits(const char *type);
