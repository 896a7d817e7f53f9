// Linear layouts by their bases: the row and column that each bit of the offset stands for.
//
// Triton writes the map from memory to the matrix, and a layout goes the other way: each offset's
// element is looked up, and its place is where the offset is written. Worked example, 4 columns:
// offset = [[0, 1], [0, 2], [1, 1]]: offset 5 = 1 + 4 is element (0,1) ^ (1,1) = (1,0), so element
// (1,0) lies at 5.
#include <string.h>

#include "banks/layouts/notation_table.h"
#include "base/whole.h"

// ---- the lists ----------------------------------------------------------------------------------

// "[0, 1]", or "[1]" of one dimension.
static bool scan_basis(Scan *scan, Bases *out) {
  const char closing[2] = {*scan->at == '(' ? ')' : ']', '\0'};
  long long value[2] = {0, 0};
  if (out->n == LAYOUT_BITS_MAX) return scan_refuse(scan, "more than 20 bases");
  scan->at++;
  if (!scan_number(scan, "a row", &value[0])) return false;
  if (scan_take(scan, ",")) {
    if (!scan_number(scan, "a column", &value[1])) return false;
  } else {
    value[1] = value[0];
    value[0] = 0;
  }
  if (scan_peek(scan) == ',') return scan_refuse(scan, "only bases of two dimensions are read");
  if (value[0] >= 1 << LAYOUT_BITS_MAX || value[1] >= 1 << LAYOUT_BITS_MAX)
    return scan_refuse(scan, "a basis of 2^20 or more");
  out->row[out->n] = (int)value[0];
  out->col[out->n++] = (int)value[1];
  return scan_expect(scan, closing);
}

bool bases_scan(Scan *scan, Bases *out) {
  *out = (Bases){0};
  if (!scan_expect(scan, "[")) return false;
  if (scan_take(scan, "]")) return true;
  do {
    if (scan_peek(scan) != '[') return scan_fail(scan, "\"[\" and a basis");
    if (!scan_basis(scan, out)) return false;
  } while (scan_take(scan, ","));
  return scan_take(scan, "]") || scan_fail(scan, "\",\" or \"]\"");
}

void bases_print(Str *out, const Bases *bases) {
  str_add_char(out, '[');
  for (int i = 0; i < bases->n; i++)
    str_printf(out, "%s[%d, %d]", i ? ", " : "", bases->row[i], bases->col[i]);
  str_add_char(out, ']');
}

Extents bases_extents(const Bases *bases) {
  int rows = 0, cols = 0;
  for (int i = 0; i < bases->n; i++) {
    rows |= bases->row[i];
    cols |= bases->col[i];
  }
  return (Extents){.rows = INT64_C(1) << log2_up(rows + 1),
                   .cols = INT64_C(1) << log2_up(cols + 1)};
}

// ---- to places and back -------------------------------------------------------------------------

bool bases_place(Arena *arena, const Bases *bases, const char *text, const LayoutSlab *slab,
                 int64_t *place, Diags *diags) {
  int cols = slab->row_bytes / slab->elem_bytes, n = slab->rows * cols;
  const char *shown = str_sanitise(arena, text);
  if (n != 1 << bases->n) {
    diag_add(diags, "layout", "%s: %d bases are %d places, and %d x %d are %d elements", shown,
             bases->n, 1 << bases->n, slab->rows, cols, n);
    return false;
  }
  memset(place, -1, sizeof *place * (size_t)n);
  for (int offset = 0; offset < n; offset++) {
    int row = 0, col = 0;
    for (int bit = 0; bit < bases->n; bit++) {
      row ^= offset >> bit & 1 ? bases->row[bit] : 0;
      col ^= offset >> bit & 1 ? bases->col[bit] : 0;
    }
    bool inside = row < slab->rows && col < cols;
    if (inside && place[row * cols + col] < 0) {
      place[row * cols + col] = offset;
      continue;
    }
    diag_add(diags, "layout", "%s: offset %d is element (%d, %d), %s", shown, offset, row, col,
             inside ? "as is an earlier one" : "outside of the matrix");
    return false;
  }
  return true;
}

bool bases_of(Arena *arena, const LayoutForm *form, Bases *out, const char **why) {
  const LayoutSlab *slab = &form->layout->slab;
  *out = (Bases){.n = log2_up((int64_t)form->rows * form->cols)};
  if (!is_power_of_two(form->rows) || !is_power_of_two(form->cols)) {
    *why = arena_printf(arena, "%d x %d elements: not powers of two", form->rows, form->cols);
    return false;
  }
  if (form->layout->storage_bytes != slab->rows * slab->row_bytes || !form->facts.bijective) {
    *why = form->facts.bijective ? "a map of offset bits cannot express a pad"
                                 : "two of its elements have one place";
    return false;
  }
  if (!form->facts.linear || form->facts.constant || form->facts.whole_bytes < slab->elem_bytes) {
    *why = "it is not linear over the bits of the offset";
    return false;
  }
  for (int row = 0; row < form->rows; row++)
    for (int col = 0; col < form->cols; col++) {
      int64_t at = layout_form_element(form, row, col);
      if (!is_power_of_two(at)) continue;
      out->row[log2_up(at)] = row;
      out->col[log2_up(at)] = col;
    }
  return true;
}

// ---- the dialect --------------------------------------------------------------------------------

bool bases_is(const char *text) {
  text += strspn(text, " \t\r\n-{");
  return str_starts(text, "offset=") || str_starts(text, "offset =") || str_starts(text, "[[");
}

// "offset=4 -> (1, 1)", the next power of two.
static bool scan_arrow(Scan *scan, Bases *out) {
  long long offset, due = 1LL << out->n;
  if (!scan_number(scan, "an offset", &offset)) return false;
  if (offset != due)
    return scan_refuse(scan, arena_printf(scan->arena, "expected offset=%lld, the next bit", due));
  if (!scan_expect(scan, "->")) return false;
  return scan_peek(scan) == '(' ? scan_basis(scan, out) : scan_fail(scan, "\"(\" and a basis");
}

// "[dim0 (size 8), dim1 (size 64)]".
static bool scan_sizes(Scan *scan, Extents *out) {
  long long size[2] = {1, 1};
  int n = 0;
  if (!scan_expect(scan, "[")) return false;
  do {
    if (n == 2) return scan_refuse(scan, "only bases of two dimensions are read");
    if (!scan_word(scan)) return scan_fail(scan, "the name of a dimension");
    if (!scan_expect(scan, "(") || !scan_expect(scan, "size") ||
        !scan_number(scan, "a size", &size[n++]) || !scan_expect(scan, ")"))
      return false;
  } while (scan_take(scan, ","));
  out->rows = n == 2 ? size[0] : 1;
  out->cols = n == 2 ? size[1] : size[0];
  return scan_expect(scan, "]");
}

static bool scan_lines(Scan *scan, Bases *bases, Extents *said) {
  do {
    scan_take(scan, "-");
    if (scan_take(scan, "block is a size 1 dimension")) continue;
    if (scan_take(scan, "where out dims are:")) {
      if (!scan_sizes(scan, said)) return false;
      continue;
    }
    if (!scan_expect(scan, "offset") || !scan_expect(scan, "=") || !scan_arrow(scan, bases))
      return false;
  } while (scan_take(scan, ",") || scan_peek(scan) != '\0');
  return true;
}

const Layout *notation_read_bases(Arena *arena, const LayoutSlab *known, const char *text,
                                  Diags *diags) {
  Scan scan = scan_new(arena, text, diags);
  Bases bases = {0};
  Extents said = {0};
  bool brace = scan_take(&scan, "{");
  const char *begin = scan.at;
  bool list = scan_take(&scan, "offset") && scan_take(&scan, "=") && scan_peek(&scan) == '[';
  if (!list) scan.at = begin;
  list = list || scan_peek(&scan) == '[';
  if (list ? !bases_scan(&scan, &bases) : !scan_lines(&scan, &bases, &said)) return NULL;
  if (brace && !scan_expect(&scan, "}")) return NULL;
  if (!scan_end(&scan)) return NULL;
  if (said.rows == 0) said = bases_extents(&bases);
  LayoutSlab slab;
  if (!notation_slab(text, known, said, &slab, diags)) return NULL;
  int64_t *offset = ARENA_ARRAY(arena, int64_t, slab.rows * (slab.row_bytes / slab.elem_bytes));
  if (!bases_place(arena, &bases, text, &slab, offset, diags)) return NULL;
  for (int i = 0; i < 1 << bases.n; i++) offset[i] *= slab.elem_bytes;
  return notation_layout(arena, text, &slab, offset, diags);
}

const char *notation_print_bases(Arena *arena, const LayoutForm *form, const char **why) {
  Bases bases;
  if (!bases_of(arena, form, &bases, why)) return NULL;
  Str out = str_new(arena);
  for (int i = 0; i < bases.n; i++)
    str_printf(&out, "%soffset=%d -> (%d, %d)", i ? ", " : "", 1 << i, bases.row[i], bases.col[i]);
  return bases.n ? out.text : "offset=[]";
}
