// A line of text in pieces, each with its kind, so that a screen can colour it or write it with
// other characters. The text is the pieces, one after the other.
#pragma once
#include "base/str.h"

typedef enum SpanKind {
  SPAN_PLAIN,  // blanks, brackets, operators between operands
  SPAN_KEYWORD,
  SPAN_BUFFER,
  SPAN_VARIABLE,
  SPAN_INDEX,  // of an access, or a condition: an expression
  SPAN_NUMBER,
  SPAN_TYPE,
  SPAN_TIER,
  SPAN_ATOM,
  SPAN_ARROW,    // "<-": from right to left
  SPAN_AT_MOST,  // "<="
  SPAN_KNOB,
  SPAN_NOTE,
  SPAN_COUNT
} SpanKind;

typedef struct TextSpan {
  SpanKind kind;
  int begin, length;  // bytes of the text
} TextSpan;

typedef struct Spans {
  Str text;
  int n, capacity;
  TextSpan *span;
} Spans;

Spans spans_new(Arena *arena);
void spans_add(Spans *spans, SpanKind kind, const char *text);
void spans_printf(Spans *spans, SpanKind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Words become keywords, everything else is plain.
void spans_add_words(Spans *spans, const char *text, int length);
