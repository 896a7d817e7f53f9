// Layout text → a table of byte offsets → facts read off the table.
//
// Every kind of layout ends as one table from logical byte to byte in shared memory, so bijection,
// linearity and alignment are looked up, never argued: a slab has at most 228 KiB. Linearity over
// bits is checked the same way: with columns taken from the single-bit indices, every index must be
// the XOR of its bits' columns.
//
// Worked example: 128 rows of 64 bytes, 4-byte elements, "xor:'col ^ (((row >> 1) & 3) << 2)'". Row
// 6 has (6 >> 1) & 3 = 3, so its column 5 moves to 5 ^ 12 = 9: logical byte 6*64 + 5*4 = 404 lies
// at 6*64 + 9*4 = 420. As bits: row bit 1 is bit 7 of the index and flips bit 4; row bit 2 is bit 8
// and flips bit 5; 404 = 0b110010100 has both, 404 ^ 0x30 = 420. Chunks of 16 bytes stay whole, and
// this is also Swizzle<2,4,3>.
#include "banks/layouts/layout_stages.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank.h"
#include "banks/engine/formula.h"
#include "banks/layouts/notation_scan.h"
#include "base/nearest.h"
#include "base/whole.h"

enum { VAR_ROW, VAR_COL, VAR_OFF };

static const FormulaName NAMES[] = {{"row", VAR_ROW}, {"col", VAR_COL}, {"off", VAR_OFF}};

// The input of a stage: the slab as the stages before left it.
typedef struct Stage {
  Arena *arena;
  Diags *diags;
  LayoutSlab *slab;       // its row_bytes grow with a pad
  const char *arguments;  // behind the colon, without quotes
  int n_bytes;            // of the logical slab
  int32_t *offset;        // [n_bytes]: what the stages so far made of each logical byte
  LayoutUnit unit;        // of the swizzles so far
  Str other;              // the stages so far with their swizzles in the other unit
} Stage;

static int storage_bytes(const LayoutSlab *slab) { return slab->rows * slab->row_bytes; }

bool layout_check_slab(const LayoutSlab *slab, Diags *diags) {
  int before = diags->count;
  if (!is_power_of_two(slab->elem_bytes) || slab->elem_bytes > 16)
    diag_add(diags, "slab", "elem = %d: an element has 1, 2, 4, 8 or 16 bytes", slab->elem_bytes)
        ->nearest = slab->elem_bytes > 16   ? "16"
                    : slab->elem_bytes == 3 ? "4"
                                            : "1";
  if (slab->rows < 1 || slab->row_bytes < 1)
    diag_add(diags, "slab", "%d rows of %d bytes: a slab has at least one row of one byte",
             slab->rows, slab->row_bytes);
  else if ((int64_t)slab->rows * slab->row_bytes > BANK_SMEM_BYTES_MAX)
    diag_add(diags, "slab",
             "%d rows of %d bytes are %" PRId64 " bytes; shared memory has %d at most", slab->rows,
             slab->row_bytes, (int64_t)slab->rows * slab->row_bytes, BANK_SMEM_BYTES_MAX)
        ->nearest = arena_printf(diags->arena, "%d rows", BANK_SMEM_BYTES_MAX / slab->row_bytes);
  if (diags->count == before && slab->row_bytes % slab->elem_bytes != 0)
    diag_add(diags, "slab", "rows of %d bytes do not hold a whole number of %d-byte elements",
             slab->row_bytes, slab->elem_bytes)
        ->nearest = arena_printf(diags->arena, "%d bytes",
                                 (slab->row_bytes / slab->elem_bytes + 1) * slab->elem_bytes);
  return diags->count == before;
}

// Exactly `n` whole numbers with one of `dividers` between them; `what` names each. False after a
// finding with the column in "kind:arguments".
static bool read_numbers(Stage *stage, const char *kind, const char *dividers, int n,
                         const char *const *what, long long *out) {
  Scan scan = scan_new(stage->arena, arena_printf(stage->arena, "%s:%s", kind, stage->arguments),
                       stage->diags);
  scan_take(&scan, kind);
  scan_take(&scan, ":");
  for (int i = 0; i < n; i++) {
    if (i && !strchr(dividers, scan_peek(&scan) ? *scan.at : '.'))
      return scan_fail(&scan, arena_printf(stage->arena, "\",\" and %s", what[i]));
    scan.at += i > 0;
    if (!scan_signed(&scan, what[i], &out[i])) return false;
  }
  return scan_end(&scan);
}

static bool apply_none(Stage *stage) {
  if (*stage->arguments == '\0') return true;
  diag_add(stage->diags, "layout", "\"none\" takes no argument")->nearest = "none";
  return false;
}

// pad:1,4 pads every four elements of a row. The runs must come out even, and be padded before
// anything else moves.
static bool pad_runs(Stage *stage, const long n[2]) {
  LayoutSlab *slab = stage->slab;
  long columns = slab->row_bytes / slab->elem_bytes, run = n[1];
  long most = run > 0 ? (BANK_SMEM_BYTES_MAX / slab->rows - slab->row_bytes) / (columns / run + 1) /
                            slab->elem_bytes
                      : 0;
  if (run < 1 || columns % run != 0 || n[0] < 0 || n[0] > most) {
    diag_add(stage->diags, "layout",
             "pad:%ld,%ld: rows of %ld elements are not a whole number of runs of %ld, or the "
             "pad is not from 0 to %ld",
             n[0], run, columns, run, most)
        ->nearest = "pad:0";
    return false;
  }
  int padding = (int)n[0] * slab->elem_bytes, run_bytes = (int)run * slab->elem_bytes;
  for (int i = 0; i < stage->n_bytes; i++)
    stage->offset[i] += stage->offset[i] / run_bytes * padding;
  slab->row_bytes += slab->row_bytes / run_bytes * padding;
  return true;
}

static bool apply_pad(Stage *stage) {
  LayoutSlab *slab = stage->slab;
  static const char *const what[] = {"a number of elements", "the length of a run, in elements"};
  long long read[2];
  const bool runs = strchr(stage->arguments, ',') != NULL;
  if (!read_numbers(stage, "pad", ",", runs ? 2 : 1, what, read)) return false;
  if (runs) return pad_runs(stage, (long[]){(long)read[0], (long)read[1]});
  int most = (BANK_SMEM_BYTES_MAX / slab->rows - slab->row_bytes) / slab->elem_bytes;
  const long long pad = read[0];
  if (pad < 0 || pad > most) {
    Diag *diag = diag_add(stage->diags, "layout", "pad:%s is not a number of elements from 0 to %d",
                          str_sanitise(stage->arena, stage->arguments), most);
    diag->nearest = arena_printf(stage->arena, "pad:%d", pad > 0 ? most : 0);
    return false;
  }
  int padding = (int)pad * slab->elem_bytes;
  for (int i = 0; i < stage->n_bytes; i++)
    stage->offset[i] += stage->offset[i] / slab->row_bytes * padding;
  slab->row_bytes += padding;
  return true;
}

static const char *const SWIZZLES[] = {
    [LAYOUT_UNIT_BYTES] = "swizzle", [LAYOUT_UNIT_ELEMENTS] = "swizzle_elem"};

static bool swizzle_fault(const Stage *stage, const char *why, const char *nearest) {
  diag_add(stage->diags, "layout", "%s:%s %s", SWIZZLES[stage->unit],
           str_sanitise(stage->arena, stage->arguments), why)
      ->nearest = nearest;
  return false;
}

static long clamp(long long value, long low, long high) {
  return value < low ? low : value > high ? high : (long)value;
}

// "3:4:3" is how a state line writes "3,4,3", because commas part its knobs.
static bool swizzle(Stage *stage, LayoutUnit unit) {
  stage->unit = unit;
  static const char *const what[] = {"B, the number of bits", "M, the lowest bit", "S, the shift"};
  long long n[3];
  if (!read_numbers(stage, "swizzle", ",:", 3, what, n)) return false;
  const long bits = clamp(n[0], 0, 8), base = clamp(n[1], 0, 10), shift = clamp(n[2], -10, 10);
  if (bits != n[0] || base != n[1] || shift != n[2])
    return swizzle_fault(stage, "has B outside 0 to 8, M outside 0 to 10 or S outside -10 to 10",
                         arena_printf(stage->arena, "%s:%ld,%ld,%ld", SWIZZLES[unit],
                                      bits < labs(shift) ? bits : labs(shift), base, shift));
  if (labs(shift) < bits)
    return swizzle_fault(stage, "has |S| < B: the bits read and the bits flipped overlap",
                         arena_printf(stage->arena, "%s:%ld,%ld,%ld", SWIZZLES[unit], bits, base,
                                      shift < 0 ? -bits : bits));
  const int scale = unit == LAYOUT_UNIT_ELEMENTS ? log2_up(stage->slab->elem_bytes) : 0;
  const long from = base + scale + (shift > 0 ? shift : 0),
             to = base + scale + (shift < 0 ? -shift : 0);
  int32_t mask = (1 << bits) - 1;
  for (int i = 0; i < stage->n_bytes; i++) {
    stage->offset[i] ^= (stage->offset[i] >> from & mask) << to;
    if (stage->offset[i] < storage_bytes(stage->slab)) continue;
    return swizzle_fault(
        stage,
        arena_printf(stage->arena, "moves a byte to %d, outside of the slab's %d bytes",
                     stage->offset[i], storage_bytes(stage->slab)),
        "none");
  }
  return true;
}

// A stage that is written, as it is written with its numbers in the other unit.
static void add_other(Stage *stage, LayoutUnit unit) {
  const LayoutUnit other = unit == LAYOUT_UNIT_BYTES ? LAYOUT_UNIT_ELEMENTS : LAYOUT_UNIT_BYTES;
  str_printf(&stage->other, "%s:%s", SWIZZLES[other], stage->arguments);
}

static bool apply_swizzle(Stage *stage) {
  add_other(stage, LAYOUT_UNIT_BYTES);
  return swizzle(stage, LAYOUT_UNIT_BYTES);
}
static bool apply_swizzle_elem(Stage *stage) {
  add_other(stage, LAYOUT_UNIT_ELEMENTS);
  return swizzle(stage, LAYOUT_UNIT_ELEMENTS);
}

// A mode says by its name what it is.
static bool apply_mode(Stage *stage, const char *arguments) {
  const LayoutUnit typed = stage->unit;
  stage->arguments = arguments;
  const bool ok = swizzle(stage, LAYOUT_UNIT_BYTES);
  stage->unit = typed;
  return ok;
}
static bool apply_128b(Stage *stage) { return apply_mode(stage, "3,4,3"); }
static bool apply_64b(Stage *stage) { return apply_mode(stage, "2,4,3"); }
static bool apply_32b(Stage *stage) { return apply_mode(stage, "1,4,3"); }

// The new linear element index for each element of the slab, by a formula for the column or for the
// index itself. NULL after a diagnostic.
static int32_t *tabulate(const Stage *stage, bool whole_index) {
  const LayoutSlab *slab = stage->slab;
  int n_names = whole_index ? 3 : 2;
  const Formula *formula =
      formula_parse(stage->arena, stage->arguments, NAMES, n_names, stage->diags);
  if (!formula) return NULL;
  int cols = slab->row_bytes / slab->elem_bytes, n = slab->rows * cols;
  int32_t *table = ARENA_ARRAY(stage->arena, int32_t, n);
  for (int off = 0; off < n; off++) {
    int64_t values[3] = {[VAR_ROW] = off / cols, [VAR_COL] = off % cols, [VAR_OFF] = off}, value;
    const char *why;
    if (!formula_eval(formula, values, &value, &why)) {
      diag_add(stage->diags, "layout", "the expression %s for row %d, col %d", why, off / cols,
               off % cols);
      return NULL;
    }
    int limit = whole_index ? n : cols;
    if (value < 0 || value >= limit) {
      diag_add(stage->diags, "layout",
               "row %d, col %d goes to %s %" PRId64
               ", outside 0 to %d: mask the bits that are added",
               off / cols, off % cols, whole_index ? "element" : "column", value, limit - 1);
      return NULL;
    }
    table[off] = (int32_t)(whole_index ? value : off - off % cols + value);
  }
  return table;
}

static bool apply_formula(Stage *stage, bool whole_index) {
  const int32_t *table = tabulate(stage, whole_index);
  if (!table) return false;
  int elem = stage->slab->elem_bytes;
  for (int i = 0; i < stage->n_bytes; i++)
    stage->offset[i] = table[stage->offset[i] / elem] * elem + stage->offset[i] % elem;
  return true;
}
static bool apply_xor(Stage *stage) { return apply_formula(stage, false); }
static bool apply_xoroff(Stage *stage) { return apply_formula(stage, true); }

static const struct {
  const char *name;
  bool (*apply)(Stage *stage);
} KINDS[] = {
    {"none", apply_none}, {"pad", apply_pad},       {"swizzle", apply_swizzle},
    {"xor", apply_xor},   {"xoroff", apply_xoroff}, {"128B", apply_128b},
    {"64B", apply_64b},   {"32B", apply_32b},       {"swizzle_elem", apply_swizzle_elem},
};
enum { N_KINDS = sizeof KINDS / sizeof KINDS[0] };

static char *trim(Arena *arena, const char *text, size_t n) {
  while (n > 0 && isspace((unsigned char)*text)) text++, n--;
  while (n > 0 && isspace((unsigned char)text[n - 1])) n--;
  return arena_strndup(arena, text, n);
}

// "xor:'col ^ 1'" → "col ^ 1"; "Swizzle<3,4,3>" is written with brackets elsewhere and read here
// too.
static char *arguments_of(Arena *arena, const char *text) {
  char *bare = trim(arena, text, strlen(text));
  size_t n = strlen(bare);
  bool quoted = n >= 2 && (*bare == '\'' || *bare == '"') && bare[n - 1] == *bare;
  return quoted ? trim(arena, bare + 1, n - 2) : bare;
}

// The row of a name; -1 after a finding.
static int kind_of(const char *name, Diags *diags) {
  const char *names[N_KINDS];
  for (int i = 0; i < N_KINDS; i++) {
    names[i] = KINDS[i].name;
    if (str_equal_fold(names[i], name)) return i;
  }
  Diag *diag = diag_add(
      diags, "layout",
      "there is no layout \"%s\"; there are none, pad:N, pad:N,RUN, swizzle:B,M,S of bytes, "
      "swizzle_elem:B,M,S of elements, 128B, 64B, 32B, xor:'col ^ …', xoroff:'off ^ …', CuTe's "
      "(8,64):(64,1) and Triton's #ttg.…",
      str_sanitise(diags->arena, name));
  diag->nearest = nearest_name(name, names, N_KINDS);
  return -1;
}

bool layout_is_known(Arena *arena, const char *text, Diags *diags) {
  return kind_of(trim(arena, text, strcspn(text, ":<;")), diags) >= 0;
}

static bool apply_stage(Stage *stage, char *text) {
  size_t n = strcspn(text, ":<"), all = strlen(text);
  if (all > 2 && str_equal(text + all - 2, "{}")) text[all -= 2] = '\0';  // as C++ writes it
  bool bracket = text[n] == '<' && text[all - 1] == '>';
  char *name = trim(stage->arena, text, n);
  const char *rest = text[n] ? text + n + 1 : "";
  stage->arguments = arguments_of(
      stage->arena, bracket ? arena_strndup(stage->arena, rest, strlen(rest) - 1) : rest);
  const int kind = kind_of(name, stage->diags);
  if (kind < 0) return false;
  const size_t before = stage->other.length;
  if (!KINDS[kind].apply(stage)) return false;
  if (stage->other.length == before) str_add(&stage->other, text);
  return true;
}

const Layout *layout_read_stages(Arena *arena, const LayoutSlab *slab, const char *text,
                                 Diags *diags) {
  if (!layout_check_slab(slab, diags)) return NULL;
  LayoutSlab stored = *slab;
  Stage stage = {.arena = arena, .diags = diags, .slab = &stored};
  stage.other = str_new(arena);
  stage.n_bytes = storage_bytes(slab);
  stage.offset = ARENA_ARRAY(arena, int32_t, stage.n_bytes);
  for (int i = 0; i < stage.n_bytes; i++) stage.offset[i] = i;
  int n_stages = 0;
  for (const char *at = text;; at++) {
    size_t n = strcspn(at, ";");
    if (++n_stages > LAYOUT_STAGES_MAX) {
      diag_add(diags, "layout", "the layout has more than %d stages", LAYOUT_STAGES_MAX);
      return NULL;
    }
    if (!apply_stage(&stage, trim(arena, at, n))) return NULL;
    at += n;
    if (!*at) break;
    str_add_char(&stage.other, ';');
  }
  Layout *layout = ARENA_NEW(arena, Layout);
  *layout = (Layout){.text = arena_strdup(arena, text), .slab = *slab, .offset_of = stage.offset};
  layout->storage_bytes = storage_bytes(&stored);
  layout->unit = stage.unit;
  if (stage.unit != LAYOUT_UNIT_NONE && slab->elem_bytes > 1) layout->other = stage.other.text;
  return layout;
}

static void examine_bijection(Arena *arena, const Layout *layout, LayoutFacts *facts) {
  int32_t *holder = ARENA_ARRAY(arena, int32_t, layout->storage_bytes);  // logical byte + 1
  facts->bijective = true;
  for (int i = 0; i < storage_bytes(&layout->slab); i++) {
    int32_t *place = &holder[layout->offset_of[i]];
    if (*place != 0) {
      facts->bijective = false;
      facts->clash[0] = *place - 1;
      facts->clash[1] = i;
      return;
    }
    *place = i + 1;
  }
}

static bool keeps_whole(const Layout *layout, int chunk) {
  for (int i = 0; i < storage_bytes(&layout->slab); i++) {
    int inside = i % chunk;
    int32_t first = layout->offset_of[i - inside];
    if (first % chunk != 0 || layout->offset_of[i] != first + inside) return false;
  }
  return true;
}

static void examine_linearity(const Layout *layout, LayoutFacts *facts) {
  int n = storage_bytes(&layout->slab);
  facts->n_bits = log2_up(n);
  facts->constant = layout->offset_of[0];
  for (int bit = 0; bit < facts->n_bits; bit++)
    facts->column[bit] = layout->offset_of[1 << bit] ^ facts->constant;
  facts->linear = true;
  for (int i = 1; i < n && facts->linear; i++) {
    int without = i & (i - 1);
    int32_t want = layout->offset_of[without] ^ facts->column[__builtin_ctz((unsigned)i)];
    facts->linear = layout->offset_of[i] == want;
  }
}

LayoutFacts layout_examine(Arena *arena, const Layout *layout) {
  LayoutFacts facts = {.whole_bytes = 1};
  examine_bijection(arena, layout, &facts);
  for (int chunk = 2; chunk <= BANK_LINE_BYTES && layout->slab.row_bytes % chunk == 0; chunk *= 2)
    if (keeps_whole(layout, chunk)) facts.whole_bytes = chunk;
  examine_linearity(layout, &facts);
  return facts;
}

int32_t *layout_words(Arena *arena, const Layout *layout) {
  size_t n_words = (size_t)ceil_div(layout->storage_bytes, BANK_WORD_BYTES);
  int32_t *logical = ARENA_ARRAY(arena, int32_t, n_words);
  memset(logical, -1, sizeof *logical * n_words);
  for (int i = storage_bytes(&layout->slab) - 1; i >= 0; i--)
    logical[layout->offset_of[i] / BANK_WORD_BYTES] = i;
  return logical;
}

void layout_print_bits(Str *out, const LayoutFacts *facts) {
  int n_out = facts->n_bits;
  for (int bit = 0; bit < facts->n_bits; bit++)
    while (facts->column[bit] >> n_out) n_out++;
  str_add(out, "  offset bit ");
  for (int bit = facts->n_bits - 1; bit >= 0; bit--) str_printf(out, " %2d", bit);
  str_add(out, "   of the index\n");
  for (int row = n_out - 1; row >= 0; row--) {
    str_printf(out, "  %10d ", row);
    for (int bit = facts->n_bits - 1; bit >= 0; bit--)
      str_add(out, facts->column[bit] >> row & 1 ? "  1" : "  .");
    str_add_char(out, '\n');
  }
}

void layout_print_groups(Str *out, const Layout *layout, int n_rows) {
  const int chunk = 16;
  int n_chunks = layout->slab.row_bytes / chunk;
  for (int row = 0; row < layout->slab.rows && row < n_rows; row++) {
    str_printf(out, "  row %3d ", row);
    for (int i = 0; i < n_chunks && i < 32; i++) {
      int offset = layout->offset_of[row * layout->slab.row_bytes + i * chunk];
      str_printf(out, " %d", offset / chunk % (BANK_LINE_BYTES / chunk));
    }
    str_add_char(out, '\n');
  }
}
