// The table of dialects, what all of them share, and the ones that layout.h reads.
//
// The reader of the notation that a text looks like makes offsets of elements of it, and from there
// on it is a Layout like any other. Printing goes the other way through LayoutForm, and nothing
// that was printed is believed: it is read again, and what does not lie the same is not said. So a
// printer may guess at the parameters that would do and leave the proof to the reader.
#include "banks/layouts/notation.h"

#include <inttypes.h>
#include <string.h>

#include "banks/engine/bank.h"
#include "banks/layouts/cute_cxx.h"
#include "banks/layouts/notation_table.h"
#include "banks/layouts/xor_text.h"
#include "base/nearest.h"
#include "base/whole.h"

// ---- reading ------------------------------------------------------------------------------------

enum { ELEM_BYTES_DEFAULT = 2 };

static const struct {
  bool (*is)(const char *text);
  NotationRead *read;
} READERS[] = {{scale_is, notation_read_scale},
               {gluon_is, notation_read_gluon},
               {cute_text_is, notation_read_cute},
               {triton_is, notation_read_triton},
               {bases_is, notation_read_bases}};
enum { N_READERS = sizeof READERS / sizeof READERS[0] };

static NotationRead *reader_of(const char *text) {
  for (int i = 0; i < N_READERS; i++)
    if (READERS[i].is(text)) return READERS[i].read;
  return NULL;
}

bool notation_is_of_scales(const char *text) { return scale_is(text); }

bool notation_is(const char *text) { return reader_of(text) != NULL; }

static bool fault(Diags *diags, const char *text, const char *sentence) {
  diag_add(diags, "layout", "%s: %s", str_sanitise(diags->arena, text), sentence);
  return false;
}

bool notation_slab(const char *text, const LayoutSlab *known, Extents said, LayoutSlab *out,
                   Diags *diags) {
  Arena *arena = diags->arena;
  int elem = known->elem_bytes ? known->elem_bytes : said.elem_bytes;
  if (elem == 0) elem = ELEM_BYTES_DEFAULT;
  if (said.elem_bytes && said.elem_bytes != elem)
    return fault(diags, text,
                 arena_printf(arena, "it names elements of %d bytes, but they have %d",
                              said.elem_bytes, elem));
  if (!known->rows && !said.rows)
    return fault(diags, text, "it does not name the shape of its matrix: give --shape ROWSxCOLS");
  int64_t rows = said.rows ? said.rows : known->rows;
  int64_t cols = said.rows ? said.cols : known->row_bytes / elem;
  if (known->rows && (rows != known->rows || cols != known->row_bytes / elem))
    return fault(diags, text,
                 arena_printf(arena, "it is %" PRId64 " x %" PRId64 " elements, the slab %d x %d",
                              rows, cols, known->rows, known->row_bytes / elem));
  if (rows > BANK_SMEM_BYTES_MAX || cols * elem > BANK_SMEM_BYTES_MAX)
    return fault(diags, text,
                 arena_printf(arena,
                              "%" PRId64 " x %" PRId64 " elements are more than shared "
                              "memory holds",
                              rows, cols));
  *out = (LayoutSlab){(int)rows, (int)cols * elem, elem};
  return layout_check_slab(out, diags);
}

const Layout *notation_layout(Arena *arena, const char *text, const LayoutSlab *slab,
                              const int64_t *offset, Diags *diags) {
  int elem = slab->elem_bytes, n = slab->rows * (slab->row_bytes / elem);
  int64_t end = 0;
  for (int i = 0; i < n; i++) end = max64(end, offset[i] + elem);
  if (end > BANK_SMEM_BYTES_MAX) {
    fault(diags, text,
          arena_printf(arena, "it reaches byte %" PRId64 "; shared memory has %d at most", end,
                       BANK_SMEM_BYTES_MAX));
    return NULL;
  }
  int32_t *byte = ARENA_ARRAY(arena, int32_t, n * elem);
  for (int i = 0; i < n * elem; i++) byte[i] = (int32_t)offset[i / elem] + i % elem;
  Layout *layout = ARENA_NEW(arena, Layout);
  *layout = (Layout){.text = arena_strdup(arena, text), .slab = *slab, .offset_of = byte};
  layout->storage_bytes = (int)end;
  return layout;
}

const Layout *notation_parse(Arena *arena, const LayoutSlab *slab, const char *text, Diags *diags) {
  NotationRead *read = reader_of(text);
  if (read) return read(arena, slab, text, diags);
  LayoutSlab known;
  if (!layout_is_known(arena, text, diags)) return NULL;
  if (!notation_slab(text, slab, (Extents){0}, &known, diags)) return NULL;
  return layout_read_stages(arena, &known, text, diags);
}

// ---- the dialects of layout.h -------------------------------------------------------------------

// Says how the rows and columns of a layout lie, for a dialect that wants them one way.
static const char *say_shape(Arena *arena, const LayoutForm *form, const char **why) {
  if (!form->affine) {
    *why = form->facts.linear ? "its XORs of bits are not one swizzle"
                              : "it is not strides with a swizzle, and not linear over bits";
    return NULL;
  }
  Str shape = str_new(arena);
  cute_print(&shape, &form->shape);
  *why = arena_printf(arena, "its rows do not follow each other: its strides are %s", shape.text);
  return NULL;
}

const char *notation_print_swizzle(Arena *arena, const LayoutForm *form, const char **why) {
  int64_t pad = layout_form_pad(form);
  if (pad) {
    *why = arena_printf(arena,
                        "a pad of %" PRId64
                        " after rows of %d elements is not a "
                        "swizzle",
                        pad, form->cols);
    return NULL;
  }
  if (!layout_form_is_row_major(form)) return say_shape(arena, form, why);
  if (form->swizzle.bits == 0) return "none";
  return arena_printf(arena, "swizzle:%d,%d,%d", form->swizzle.bits,
                      form->swizzle.base + log2_up(form->layout->slab.elem_bytes),
                      form->swizzle.shift);
}

const char *notation_print_pad(Arena *arena, const LayoutForm *form, const char **why) {
  if (form->affine && form->swizzle.bits) {
    *why = "a swizzle is not a pad";
    return NULL;
  }
  if (!form->affine || form->base) return say_shape(arena, form, why);
  CuteLayout rows = form->shape.mode[0], cols = form->shape.mode[1];
  if (rows.rank || (form->rows > 1 && rows.stride < form->cols)) return say_shape(arena, form, why);
  if (cols.rank == 0 && cols.stride <= 1)
    return arena_printf(arena, "pad:%" PRId64, layout_form_pad(form));
  if (cols.rank != 2 || cols.mode[0].stride != 1) return say_shape(arena, form, why);
  int64_t run = cols.mode[0].shape;
  return arena_printf(arena, "pad:%lld,%lld", (long long)(cols.mode[1].stride - run),
                      (long long)run);
}

// The map over bits of the index of elements; its columns are the columns of bytes, which stay
// whole.
static BitMap element_map(const LayoutForm *form) {
  int scale = log2_up(form->layout->slab.elem_bytes);
  BitMap map = {.n = form->facts.n_bits - scale};
  for (int i = 0; i < map.n; i++)
    for (int o = 0; o < map.n; o++)
      if (form->facts.column[i + scale] >> (o + scale) & 1) map.row[o] |= 1u << i;
  return map;
}

static bool stays_in_rows(const BitMap *map, int col_bits) {
  for (int o = col_bits; o < map->n; o++)
    if (map->row[o] != 1u << o) return false;
  return true;
}

const char *notation_print_xor(Arena *arena, const LayoutForm *form, const char **why) {
  const LayoutSlab *slab = &form->layout->slab;
  if (form->facts.whole_bytes < slab->elem_bytes) {
    *why = "it splits elements, and an XOR of indices cannot";
    return NULL;
  }
  if (!form->facts.linear || form->facts.constant) {
    *why = "it is not linear over the bits of the offset";
    return NULL;
  }
  BitMap map = element_map(form);
  int col_bits = log2_up(form->cols);
  Str out = str_new(arena);
  if (is_power_of_two(form->cols) && stays_in_rows(&map, col_bits)) {
    str_add(&out, "xor:col");
    xor_text_add(&out, &map, (XorSource){"col", 0, col_bits, 0}, 0);
    xor_text_add(&out, &map, (XorSource){"row", col_bits, map.n, col_bits}, 0);
  } else {
    str_add(&out, "xoroff:off");
    xor_text_add(&out, &map, (XorSource){"off", 0, map.n, 0}, 0);
  }
  return out.text;
}

// ---- the table ----------------------------------------------------------------------------------

const Notation notation_table[] = {
    {"cute", "nested shapes and strides, and one swizzle of element offsets", notation_print_cute},
    {"smem_ptr", "the same with the swizzle of bytes, as a pointer carries it",
     notation_print_smem_ptr},
    {"swizzle", "rows one after the other, and one swizzle of bytes", notation_print_swizzle},
    {"pad", "rows one after the other, and a pad after each or after runs", notation_print_pad},
    {"xor", "layouts that are linear over the bits of the offset, without pads",
     notation_print_xor},
    {"swizzled_shared",
     "rows or columns one after the other, chunks XORed with the row, powers of two",
     notation_print_swizzled_shared},
    {"nvmma_shared", "panels of 32, 64 or 128 bytes as TMA swizzles them, or rows",
     notation_print_nvmma_shared},
    {"padded_shared", "shared_linear layouts, and pads of powers of two after powers of two",
     notation_print_padded_shared},
    {"shared_linear",
     "layouts that are linear over the bits of the offset, with powers of two, "
     "without pads",
     notation_print_shared_linear},
    {"bases", "the same: which row and column each bit of the offset is", notation_print_bases},
};
const int notation_count = sizeof notation_table / sizeof notation_table[0];
enum { TRITON_FIRST = 5, TRITON_LAST = 8 };

bool notation_is_triton(const Notation *notation) {
  long at = notation - notation_table;
  return at >= TRITON_FIRST && at <= TRITON_LAST;
}

const Notation *notation_find(const char *name, Diags *diags) {
  if (str_equal(name, "triton")) return &notation_table[TRITON_FIRST];
  const char *names[sizeof notation_table / sizeof notation_table[0]];
  for (int i = 0; i < notation_count; i++) {
    names[i] = notation_table[i].name;
    if (str_equal(names[i], name)) return &notation_table[i];
  }
  diag_add_unknown(diags, "dialect", "dialect", name, names, notation_count);
  return NULL;
}

bool notation_same(const Layout *a, const Layout *b) {
  if (a->slab.rows != b->slab.rows || a->slab.row_bytes != b->slab.row_bytes) return false;
  size_t n = (size_t)(a->slab.rows * a->slab.row_bytes);
  return !memcmp(a->offset_of, b->offset_of, n * sizeof *a->offset_of);
}

static const char *print_proven(Arena *arena, const Notation *notation, const LayoutForm *form,
                                const char **why) {
  *why = NULL;
  const char *text = notation->print(arena, form, why);
  Diags unused = diags_new(arena);
  const Layout *again = text ? notation_parse(arena, &form->layout->slab, text, &unused) : NULL;
  if (again && notation_same(again, form->layout)) return text;
  if (!*why) *why = arena_printf(arena, "it can only write %s", notation->says);
  return NULL;
}

// If this dialect cannot say the layout, its kin are tried: Triton's encodings, or all others of
// the table.
const char *notation_print(Arena *arena, const Notation *notation, const LayoutForm *form,
                           const char **why) {
  const char *text = print_proven(arena, notation, form, why), *unused;
  bool triton = notation_is_triton(notation);
  for (int i = 0; !text && i < notation_count; i++) {
    if (triton != notation_is_triton(&notation_table[i])) continue;
    if (!print_proven(arena, &notation_table[i], form, &unused)) continue;
    *why = arena_printf(arena, "%s; %s can write it", *why, notation_table[i].name);
    break;
  }
  return text;
}

const char *notation_canonical(Arena *arena, const Layout *layout) {
  LayoutForm form = layout_form(arena, layout);
  NotationPrint *const ORDER[] = {notation_print_swizzle, notation_print_pad, notation_print_cute,
                                  notation_print_xor};
  for (size_t i = 0; i < sizeof ORDER / sizeof ORDER[0]; i++) {
    Notation trial = {"", "", ORDER[i]};
    const char *why, *text = print_proven(arena, &trial, &form, &why);
    if (text) return text;
  }
  return layout->text;
}
