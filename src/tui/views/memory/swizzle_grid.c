// Layout → lines of 128 bytes, in the order of the slab or in that of shared memory.
//
// Worked example, rows of 64 bytes: a line of either picture holds two rows, with a border between
// them in the order of the slab. Under swizzle:2,4,3 row 2, chunk 0 lies in line 1 at chunk 1: in
// the order of the slab the first four cells of line 1 say banks 4 5 6 7, in the order of shared
// memory the second chunk of line 1 says 2₀.
//
// When the lines that a phase touches do not fit, only those that it touches are drawn.
#include <stdio.h>
#include <string.h>

#include "banks/engine/bank_text.h"
#include "base/whole.h"
#include "tui/canvas/utf8.h"
#include "tui/views/memory/swizzle.h"

enum { CHUNK_BYTES = 16, CHUNK_COLS = 4, CHUNKS = BANK_LINE_BYTES / CHUNK_BYTES, WORD = 4 };

// ---- one phase ----------------------------------------------------------------------------------

// Wavefronts of the phase alone: its lanes' addresses, all others inactive.
static int count_phase(const BankOp *op, const int64_t addr[BANK_LANES]) {
  BankCount count = banks_count(op, addr);
  return count.known ? count.wavefronts : -1;
}

SlabPicture slab_picture_make(Arena *arena, const SlabSite *site, const Layout *layout,
                              int repetition, int phase) {
  SlabPicture out = {.layout = layout, .access_bytes = site->op->bytes};
  out.logical_of_word = layout_words(arena, layout);
  int n_lanes;
  slab_site_phases(site, repetition, &n_lanes);
  slab_site_addresses(site, layout, repetition, out.addr);
  for (int lane = 0; lane < BANK_LANES; lane++) {
    out.logical[lane] = site->logical[repetition][lane];
    if (lane / n_lanes != phase) out.addr[lane] = out.logical[lane] = BANK_INACTIVE;
  }
  out.wavefronts = count_phase(site->op, out.addr);
  return out;
}

SlabPicture slab_picture_of_layout(Arena *arena, const Layout *layout) {
  SlabPicture out = {.layout = layout, .logical_of_word = layout_words(arena, layout)};
  for (int lane = 0; lane < BANK_LANES; lane++) out.addr[lane] = out.logical[lane] = BANK_INACTIVE;
  return out;
}

// ---- which lines --------------------------------------------------------------------------------

typedef struct Lines {
  int n, line[64];
  int n_hidden;  // touched ones that are not among them
} Lines;

static bool touches(const SlabPicture *picture, bool physical, int line) {
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int64_t byte = physical ? picture->addr[lane] : picture->logical[lane];
    if (byte >= 0 && byte / BANK_LINE_BYTES == line) return true;
  }
  return false;
}

// From the first touched line on; only touched ones when the last would not be seen.
static Lines choose_lines(const SlabPicture *picture, bool physical, int rows) {
  const LayoutSlab *slab = &picture->layout->slab;
  int bytes = physical ? picture->layout->storage_bytes : slab->rows * slab->row_bytes;
  int n_lines = (int)ceil_div(bytes, BANK_LINE_BYTES), first = -1, last = -1;
  for (int line = 0; line < n_lines; line++) {
    if (!touches(picture, physical, line)) continue;
    if (first < 0) first = line;
    last = line;
  }
  int n_touched = 0;
  for (int line = 0; line < n_lines; line++) n_touched += touches(picture, physical, line);
  if (first < 0) first = last = 0;
  bool sparse = last - first + 1 > rows;
  if (!sparse && first + rows > n_lines) first = n_lines > rows ? n_lines - rows : 0;
  Lines out = {.n = 0};
  for (int line = first; line < n_lines && out.n < rows && out.n < 64; line++)
    if (!sparse || touches(picture, physical, line)) out.line[out.n++] = line;
  for (int i = 0; i < out.n; i++) n_touched -= touches(picture, physical, out.line[i]);
  out.n_hidden = n_touched;
  return out;
}

// ---- drawing ------------------------------------------------------------------------------------

static void draw_ruler(Canvas *canvas, Rect in, const char *columns) {
  canvas_text(canvas, in, 0, 0, STYLE_HEADER, columns);
  for (int bank = 0; bank < BANK_COUNT && SLAB_PICTURE_LABEL + bank + 1 < in.cols; bank += 8)
    canvas_printf(canvas, in, 0, SLAB_PICTURE_LABEL + bank, STYLE_HEADER, "%d", bank);
}

static bool word_is_asked(const SlabPicture *picture, int logical) {
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int from = picture->logical[lane];
    if (from >= 0 && logical >= from && logical < from + picture->access_bytes) return true;
  }
  return false;
}

// "r12" for a line that begins a row, the row's number; "+128" inside one, by bytes.
static void label_row(Canvas *canvas, Rect in, int at, const LayoutSlab *slab, int line) {
  int byte = line * BANK_LINE_BYTES;
  if (byte % slab->row_bytes == 0 || slab->row_bytes < BANK_LINE_BYTES)
    canvas_printf(canvas, in, at, 0, STYLE_DIM, "r%d", byte / slab->row_bytes);
  else
    canvas_printf(canvas, in, at, 0, STYLE_DIM, "+%d", byte % slab->row_bytes);
}

// The bank of a word, lit where the phase asks for it; all others stay in the shadow, and where
// rows are shorter than a line the first word of one is underlined.
static void draw_word(Canvas *canvas, Rect in, int at, int col, const SlabPicture *picture,
                      int logical) {
  const LayoutSlab *slab = &picture->layout->slab;
  if (logical >= slab->rows * slab->row_bytes) return;
  int bank = picture->layout->offset_of[logical] / BANK_WORD_BYTES % BANK_COUNT;
  bool asked = word_is_asked(picture, logical);
  bool border = slab->row_bytes < BANK_LINE_BYTES && logical % slab->row_bytes == 0 &&
                logical % BANK_LINE_BYTES;
  Style style = style_over(style_address(bank), asked ? STYLE_TOUCHED : STYLE_SHADOW);
  if (border && !asked) style = style_over(STYLE_DIM, STYLE_LINKED);
  char text[2] = {bank_text_lane(bank), 0};
  canvas_text(canvas, in, at, col, style, text);
}

int slab_picture_draw_banks(Canvas *canvas, Rect in, const SlabPicture *picture) {
  draw_ruler(canvas, in, "word");
  Lines lines = choose_lines(picture, false, in.rows - 1);
  for (int i = 0; i < lines.n; i++) {
    label_row(canvas, in, i + 1, &picture->layout->slab, lines.line[i]);
    for (int word = 0; word < BANK_COUNT; word++)
      draw_word(canvas, in, i + 1, SLAB_PICTURE_LABEL + word, picture,
                lines.line[i] * BANK_LINE_BYTES + word * BANK_WORD_BYTES);
  }
  return lines.n_hidden;
}

static bool chunk_is_asked(const SlabPicture *picture, int64_t offset) {
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (picture->addr[lane] >= 0 && picture->addr[lane] / CHUNK_BYTES == offset / CHUNK_BYTES)
      return true;
  return false;
}

// Row and chunk in four columns, of which labels of three digits leave none between: "100₂100₃".
static void draw_chunk(Canvas *canvas, Rect in, int at, int col, const SlabPicture *picture,
                       int offset) {
  static const char *const subscripts[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  if (offset >= picture->layout->storage_bytes) return;
  const LayoutSlab *slab = &picture->layout->slab;
  int logical = picture->logical_of_word[offset / WORD];
  if (logical < 0) {
    canvas_text(canvas, in, at, col, STYLE_DIM, " ··");
    return;
  }
  int row = logical / slab->row_bytes, chunk = logical % slab->row_bytes / CHUNK_BYTES;
  bool asked = chunk_is_asked(picture, offset), whole = slab->row_bytes % BANK_LINE_BYTES == 0;
  char text[16];
  if (whole)
    snprintf(text, sizeof text, asked ? "[c%x]" : " c%x", (unsigned)chunk & 15);
  else if (canvas->ascii)
    snprintf(text, sizeof text, "%2d%c", row, 'a' + chunk % 26);
  else
    snprintf(text, sizeof text, "%2d%s", row, subscripts[chunk % 10]);
  Style style = whole ? style_address(chunk) : style_address(row);
  canvas_text(canvas, in, at, col, asked ? style : STYLE_DIM, text);
  if (asked && !whole)
    canvas_over(canvas,
                rect_intersect(in, (Rect){in.row + at, in.col + col, 1, utf8_columns(text)}),
                STYLE_TOUCHED);
}

int slab_picture_draw_lines(Canvas *canvas, Rect in, const SlabPicture *picture) {
  draw_ruler(canvas, in, "bank");
  Lines lines = choose_lines(picture, true, in.rows - 1);
  for (int i = 0; i < lines.n; i++) {
    canvas_printf(canvas, in, i + 1, 0, STYLE_DIM, "L%d", lines.line[i]);
    for (int chunk = 0; chunk < CHUNKS; chunk++)
      draw_chunk(canvas, in, i + 1, SLAB_PICTURE_LABEL + chunk * CHUNK_COLS, picture,
                 lines.line[i] * BANK_LINE_BYTES + chunk * CHUNK_BYTES);
  }
  return lines.n_hidden;
}
