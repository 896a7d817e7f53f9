// The tokens of a PTX text, one after the other.
//
//   PtxLexer lexer = ptx_lexer(text, bytes);
//   for (PtxToken t = ptx_next(&lexer); t.kind != PTX_TOKEN_END; t = ptx_next(&lexer)) …
//
// A word keeps its dots and colons: "ld.shared::cta.v4.f32" and "%tid.x" are one token each, and so
// is a directive, ".reg". Comments are nothing. Numbers carry their bits: 0f3F800000 is an f32,
// 1.5 a double that the reader of the type converts.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum PtxTokenKind {
  PTX_TOKEN_END,
  PTX_TOKEN_WORD,
  PTX_TOKEN_INT,
  PTX_TOKEN_F32,    // 0fXXXXXXXX: bits
  PTX_TOKEN_F64,    // 0dXXXXXXXXXXXXXXXX: bits
  PTX_TOKEN_FLOAT,  // 1.5: value
  PTX_TOKEN_STRING,
  PTX_TOKEN_SIGN,  // one character of punctuation
  PTX_TOKEN_BAD,   // a byte that no PTX has, or a string without an end
} PtxTokenKind;

typedef struct PtxToken {
  PtxTokenKind kind;
  const char *text;  // in the PTX text, not terminated
  int length;
  int line;  // counted from 1
  char sign;
  uint64_t bits;  // of a number
  double value;   // of PTX_TOKEN_FLOAT
} PtxToken;

typedef struct PtxLexer {
  const char *at, *end;
  int line;
} PtxLexer;

PtxLexer ptx_lexer(const char *text, size_t bytes);
PtxToken ptx_next(PtxLexer *lexer);
bool ptx_token_is(const PtxToken *token, const char *word);
