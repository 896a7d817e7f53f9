// Pieces of a text, gathered one behind the other.
#include "model/ir/notation/print_span.h"

#include <ctype.h>
#include <string.h>

Spans spans_new(Arena *arena) { return (Spans){.text = str_new(arena)}; }

// Makes a span of the text added since `begin`; neighbours of one kind become one span.
static void close_span(Spans *spans, SpanKind kind, size_t begin) {
  int length = (int)(spans->text.length - begin);
  if (length == 0) return;
  if (spans->n && spans->span[spans->n - 1].kind == kind) {
    spans->span[spans->n - 1].length += length;
    return;
  }
  if (spans->n == spans->capacity) {
    int capacity = spans->capacity ? spans->capacity * 2 : 16;
    TextSpan *grown = ARENA_ARRAY(spans->text.arena, TextSpan, capacity);
    if (spans->n) memcpy(grown, spans->span, sizeof(TextSpan) * (size_t)spans->n);
    spans->span = grown;
    spans->capacity = capacity;
  }
  spans->span[spans->n++] = (TextSpan){kind, (int)begin, length};
}

void spans_add(Spans *spans, SpanKind kind, const char *text) {
  size_t begin = spans->text.length;
  str_add(&spans->text, text);
  close_span(spans, kind, begin);
}

void spans_printf(Spans *spans, SpanKind kind, const char *format, ...) {
  size_t begin = spans->text.length;
  va_list args;
  va_start(args, format);
  str_vprintf(&spans->text, format, args);
  va_end(args);
  close_span(spans, kind, begin);
}

void spans_add_words(Spans *spans, const char *text, int length) {
  for (int i = 0; i < length;) {
    bool word = isalpha((unsigned char)text[i]);
    int begin = i;
    while (i < length && (word ? isalnum((unsigned char)text[i]) || text[i] == '.'
                               : !isalpha((unsigned char)text[i])))
      i++;
    size_t at = spans->text.length;
    str_add_bytes(&spans->text, text + begin, (size_t)(i - begin));
    close_span(spans, word ? SPAN_KEYWORD : SPAN_PLAIN, at);
  }
}
