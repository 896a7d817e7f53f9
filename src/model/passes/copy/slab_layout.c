// From a typed layout to xor terms.
//
// A linear map sends bit i of the byte offset to column[i]. Its difference to the identity,
// column[i] ^ (1 << i), is a set of target bits; runs of source bits with targets that move along
// with them make one term. Worked example, rows of 128 bytes, xor:'col ^ ((row & 7) << 3)' over
// f16: bits 7, 8, 9 add bits 4, 5, 6: one term {from 7, to 4, 3 bits}.
#include "model/passes/copy/slab_layout.h"

#include <string.h>

#include "banks/layouts/layout_unit.h"

enum { CHUNK_BYTES = 16 };

// Outer quotes are taken off.
static char *plain_text(Arena *arena, const char *text) {
  size_t n = strlen(text);
  bool quoted = n >= 2 && text[0] == '\'' && text[n - 1] == '\'';
  return quoted ? arena_strndup(arena, text + 1, n - 2) : arena_strdup(arena, text);
}

// `unit` says what a swizzle in the text was taken to count.
static bool is_usable(const LayoutFacts *facts, const char *text, const char *unit, Diags *diags) {
  int before = diags->count;
  if (!facts->bijective)
    diag_add(diags, "layout_bijective", "%s: bytes %d and %d of the slab would have one place",
             text, facts->clash[0], facts->clash[1]);
  else if (!facts->linear)
    diag_add(diags, "layout_linear", "%s: not a linear map over the bits of the offset", text);
  else if (facts->constant != 0)
    diag_add(diags, "layout_linear",
             "%s: a linear map over bits keeps byte 0 in place, but this moves it to %d", text,
             facts->constant);
  else if (facts->whole_bytes < CHUNK_BYTES)
    diag_add(diags, "layout_chunks",
             "%s: only chunks of %d bytes stay whole, but copies and ldmatrix move %d%s%s", text,
             facts->whole_bytes, CHUNK_BYTES, *unit ? "; read as a " : "", unit);
  return diags->count == before;
}

// The target bit that source bit `from` adds and that lies `shift` away from it.
static bool adds(const LayoutFacts *facts, int from, int to) {
  if (from >= facts->n_bits || to < 0 || to >= LAYOUT_BITS_MAX) return false;
  int32_t added = facts->column[from] ^ (1 << from);
  return added >> to & 1;
}

static bool find_terms(const LayoutFacts *facts, XorTerm *terms, int *n) {
  *n = 0;
  for (int from = 0; from < facts->n_bits; from++)
    for (int to = 0; to < LAYOUT_BITS_MAX; to++) {
      if (!adds(facts, from, to)) continue;
      if (from > 0 && adds(facts, from - 1, to - 1)) continue;  // part of an earlier run
      int bits = 1;
      while (adds(facts, from + bits, to + bits)) bits++;
      if (*n == XOR_TERMS_MAX) return false;
      terms[(*n)++] = (XorTerm){from, to, bits};
    }
  return true;
}

bool slab_layout_repeats(const XorTerm *terms, int n, int64_t slab_bytes, int64_t *piece_bytes) {
  *piece_bytes = 1;
  for (int i = 0; i < n; i++) {
    int64_t piece = INT64_C(1) << (terms[i].to + terms[i].bits);
    if (piece > *piece_bytes) *piece_bytes = piece;
  }
  return slab_bytes % *piece_bytes == 0;
}

LayoutSlab slab_shape(const Buffer *slab) {
  const int64_t *end = slab->dim + slab->rank;
  int bytes = dtype_bytes(slab->type);
  int64_t rows = slab->panel ? end[-3] * end[-2] : end[-2];
  return (LayoutSlab){(int)rows, (int)end[-1] * bytes, bytes};
}

bool slab_layout_read(const char *text, LayoutSlab slab, XorTerm terms[XOR_TERMS_MAX], int *n,
                      Diags *diags) {
  const char *plain = plain_text(diags->arena, text);
  const Layout *layout = layout_parse(diags->arena, &slab, plain, diags);
  if (!layout) return false;
  if (layout->storage_bytes != slab.rows * slab.row_bytes) {
    diag_add(diags, "layout_pad",
             "%s: pads have their own knobs, PAD_SMEM and PAD_CELLS; PAD_OPERANDS chooses the "
             "slabs",
             text);
    return false;
  }
  LayoutFacts facts = layout_examine(diags->arena, layout);
  if (!is_usable(&facts, text, layout_unit_phrase(diags->arena, layout), diags)) return false;
  if (find_terms(&facts, terms, n)) return true;
  diag_add(diags, "layout_terms", "%s: more than %d xors of bits", text, XOR_TERMS_MAX);
  return false;
}
