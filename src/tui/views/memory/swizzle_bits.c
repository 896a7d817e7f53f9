// A linear layout as bits: the matrix, the xors in words, and what survives.
//
// Every bit of the offset is a sum (mod 2) of bits of the index: a row of the matrix. Bits 0-1 are
// the byte in a word, 2-6 choose the bank, 7 and above the line of 128 bytes, so what a layout does
// for banks stands in rows 2 to 6. Runs of added bits that move together are one sentence:
//
//   swizzle:3,4,3, rows of 128 bytes      bits 6-4 ^= bits 9-7
//
// If there is no room for all rows, those of the banks are drawn. A layout that is not linear (a
// pad) has no matrix; the facts below it are always there.
#include <stdio.h>

#include "tui/views/memory/swizzle.h"

enum { LABEL_COLS = 8, BIT_COLS = 2, BANK_BIT = 2, LINE_BIT = 7 };

int swizzle_bits_cols(const LayoutFacts *facts) { return LABEL_COLS + BIT_COLS * facts->n_bits; }

static bool has_bit(const LayoutFacts *facts, int out, int in) {
  return in >= 0 && in < facts->n_bits && out >= 0 && (facts->column[in] >> out & 1);
}

static void draw_row(Canvas *canvas, Rect in, int at, const LayoutFacts *facts, int out) {
  bool bank = out >= BANK_BIT && out < LINE_BIT;
  const char *part = out < BANK_BIT ? "byte" : bank ? "bank" : "line";
  canvas_printf(canvas, in, at, 0, bank ? STYLE_ACCENT : STYLE_DIM, "%4s %2d", part, out);
  for (int bit = facts->n_bits - 1, col = LABEL_COLS; bit >= 0; bit--, col += BIT_COLS) {
    bool one = has_bit(facts, out, bit);
    Style style = !one ? STYLE_DIM : bit == out ? STYLE_TEXT : STYLE_WARN;
    canvas_text(canvas, in, at, col, style, one ? (bit == out ? " 1" : " ⊕") : " ·");
  }
}

// Bits of two digits have the tens above: a column is two characters wide.
static int draw_head(Canvas *canvas, Rect in, int n_bits) {
  int head = n_bits > 10 ? 2 : 1;
  canvas_text(canvas, in, head - 1, 0, STYLE_HEADER, "offset");
  for (int bit = n_bits - 1, col = LABEL_COLS + 1; bit >= 0; bit--, col += BIT_COLS) {
    if (bit >= 10) canvas_printf(canvas, in, 0, col, STYLE_HEADER, "%d", bit / 10);
    canvas_printf(canvas, in, head - 1, col, STYLE_HEADER, "%d", bit % 10);
  }
  return head;
}

void swizzle_draw_bits(Canvas *canvas, Rect in, const LayoutFacts *facts) {
  if (!facts->linear) {
    canvas_wrap(canvas, in, STYLE_DIM, "Not linear over the bits of the index: no matrix.");
    return;
  }
  int head = draw_head(canvas, in, facts->n_bits), top = facts->n_bits - 1;
  int rows = in.rows - head;
  if (rows < facts->n_bits && top > BANK_BIT + rows - 1) top = BANK_BIT + rows - 1;
  for (int i = 0; i <= top; i++) draw_row(canvas, in, i + head, facts, top - i);
}

// ---- in words -----------------------------------------------------------------------------------

static bool adds(const LayoutFacts *facts, int out, int in) {
  return in != out && has_bit(facts, out, in);
}

static void span(char *out, size_t size, int high, int low) {
  if (high == low)
    snprintf(out, size, "bit %d", low);
  else
    snprintf(out, size, "bits %d-%d", high, low);
}

int swizzle_draw_terms(Canvas *canvas, Rect in, const LayoutFacts *facts) {
  int row = 0;
  for (int out = 0; facts->linear && out < facts->n_bits; out++)
    for (int bit = 0; bit < facts->n_bits; bit++) {
      if (!adds(facts, out, bit) || adds(facts, out - 1, bit - 1)) continue;
      int n = 1;
      char to[40], from[40];
      while (adds(facts, out + n, bit + n)) n++;
      span(to, sizeof to, out + n - 1, out);
      span(from, sizeof from, bit + n - 1, bit);
      canvas_printf(canvas, in, row++, 0, STYLE_ACCENT, "%s ⊕= %s", to, from);
    }
  int col = 0;
  for (int bit = 0; facts->linear && bit < facts->n_bits; bit++) {
    if (has_bit(facts, bit, bit)) continue;
    if (col == 0) col = canvas_text(canvas, in, row++, 0, STYLE_ACCENT, "changed: bit");
    col = canvas_printf(canvas, in, row - 1, col, STYLE_ACCENT, " %d", bit);
  }
  if (row == 0)
    canvas_text(canvas, in, row++, 0, STYLE_DIM,
                facts->linear ? "no bit is moved" : "not an XOR of bits");
  return row;
}

// ---- what survives ------------------------------------------------------------------------------

static int draw_fact(Canvas *canvas, Rect in, int row, const char *name, bool yes,
                     const char *detail) {
  canvas_text(canvas, in, row, 0, STYLE_TEXT, name);
  int col = canvas_text(canvas, in, row, 15, yes ? STYLE_OK : STYLE_BAD, yes ? "yes" : "no");
  canvas_text(canvas, in, row, col + 1, STYLE_DIM, detail);
  return row + 1;
}

static void place_of(const LayoutSlab *slab, int logical, char *out, size_t size) {
  int inside = logical % slab->row_bytes;
  snprintf(out, size, "[%d][%d]", logical / slab->row_bytes, inside / slab->elem_bytes);
}

int swizzle_draw_facts(Canvas *canvas, Rect in, const SwizzleColumn *column) {
  const LayoutFacts *facts = &column->facts;
  char detail[96] = "", one[32], other[32];
  int whole = facts->whole_bytes, row = 0;
  if (!facts->bijective) {
    place_of(&column->layout->slab, facts->clash[0], one, sizeof one);
    place_of(&column->layout->slab, facts->clash[1], other, sizeof other);
    snprintf(detail, sizeof detail, "%s and %s at byte %d", one, other,
             column->layout->offset_of[facts->clash[0]]);
  }
  row = draw_fact(canvas, in, row, "bijection", facts->bijective, "");
  if (*detail) canvas_text(canvas, in, row++, 1, STYLE_BAD, detail);
  row = draw_fact(canvas, in, row, "linear", facts->linear, "");
  snprintf(detail, sizeof detail, "%d bytes stay whole", whole);
  row = draw_fact(canvas, in, row, "4-byte access", whole >= 4, detail);
  row = draw_fact(canvas, in, row, "8-byte access", whole >= 8, "");
  row = draw_fact(canvas, in, row, "16-byte access", whole >= 16, "");
  row = draw_fact(canvas, in, row, "ldmatrix", whole >= 16, "rows of 16 bytes");
  return draw_fact(canvas, in, row, "cp.async 16 B", whole >= 16, "");
}
