// Addresses of one matrix → lines of shared memory, chunk by chunk.
//
// The slab's layout is turned round once: which byte of the slab lies at each word. A line is then
// read off chunk by chunk; the chunk a lane asks for stands in brackets. Worked example, rows of
// 128 bytes under swizzle:3,4,3, matrix 1: lane 3 addresses row 3, chunk 0, which lies at byte 3 *
// 128 + 3 * 16; its line reads c3 c2 c1 [c0] c7 c6 c5 c4.
//
// If rows are shorter than a line, chunks of another row than the lane's carry a mark: c0'.
#include "tui/views/memory/banks_view.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "tui/views/memory/bank_card.h"

enum {
  CHUNK = 16,
  CHUNK_COLS = 4,
  CHUNKS = BANK_LINE_BYTES / CHUNK,
  LONG_LABEL = 7,
  SHORT_LABEL = 3
};

bool matrix_lines_fit(const Site *site) {
  return site && (site->op->kind == BANK_LDMATRIX || site->op->kind == BANK_STMATRIX);
}

MatrixLines matrix_lines_make(Arena *arena, const Site *site, const BankMap *map,
                              AccessLayout layout) {
  MatrixLines lines = {.map = map, .layout = layout.layout, .layout_text = layout.text};
  if (!matrix_lines_fit(site) || !site->slab || !layout.layout) return lines;
  const Buffer *slab = site->slab;
  lines.site = site;
  lines.logical_of_word = layout_words(arena, lines.layout);
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int64_t at = site->addr[lane] - slab->offset_bytes;
    bool shown = site->addr[lane] >= 0 && at >= 0;
    lines.offset[lane] = shown ? at % lines.layout->storage_bytes : BANK_INACTIVE;
  }
  return lines;
}

static int logical_at(const MatrixLines *lines, int64_t offset) {
  if (offset < 0 || offset >= lines->layout->storage_bytes) return -1;
  return lines->logical_of_word[offset / BANK_WORD_BYTES];
}

static void draw_chunk(Canvas *canvas, Rect in, int at, int col, const MatrixLines *lines, int lane,
                       int64_t offset) {
  int logical = logical_at(lines, offset), row_bytes = lines->layout->slab.row_bytes;
  int own = logical_at(lines, lines->offset[lane]);
  bool asked = offset / CHUNK == lines->offset[lane] / CHUNK;
  if (logical < 0) {
    canvas_text(canvas, in, at, col, STYLE_DIM, " ·");
    return;
  }
  int chunk = logical % row_bytes / CHUNK;
  char text[16];
  if (asked)
    snprintf(text, sizeof text, chunk < 10 ? "[c%d]" : "[%d]", chunk % 100);
  else
    snprintf(text, sizeof text, " c%d%s", chunk % 100,
             logical / row_bytes == own / row_bytes ? "" : "'");
  canvas_text(canvas, in, at, col, asked ? style_address(chunk) : STYLE_DIM, text);
}

static void draw_lane(Canvas *canvas, Rect in, int at, const MatrixLines *lines, int lane,
                      int label) {
  canvas_printf(canvas, in, at, 0, STYLE_TEXT, label == LONG_LABEL ? "lane %d" : "%2d", lane);
  int64_t line = lines->offset[lane] / BANK_LINE_BYTES * BANK_LINE_BYTES;
  for (int chunk = 0; chunk < CHUNKS && lines->offset[lane] >= 0; chunk++)
    draw_chunk(canvas, in, at, label + chunk * CHUNK_COLS, lines, lane, line + chunk * CHUNK);
}

// The number of words that each bank is asked for.
static void draw_words(Canvas *canvas, Rect in, int at, const MatrixLines *lines, int matrix,
                       int label) {
  canvas_text(canvas, in, at, 0, STYLE_DIM, label == LONG_LABEL ? "words" : "w");
  card_draw_counts(canvas, in, at, label, &lines->map->phases[matrix]);
}

// The cost of all matrices: "m1 8 m2 8", wavefronts of each.
static void draw_sums(Canvas *canvas, Rect in, int at, const MatrixLines *lines, int matrix) {
  int col = 0;
  for (int i = 0; i < lines->map->count.phases; i++) {
    int n = lines->map->phases[i].wavefronts;
    col = canvas_printf(canvas, in, at, col, i == matrix ? STYLE_TITLE : STYLE_DIM, "m%d ", i + 1);
    col = canvas_printf(canvas, in, at, col, n > 1 ? STYLE_BAD : STYLE_OK, "%d", n) + 1;
  }
  canvas_fit(canvas, in, at, col, in.cols - col, ALIGN_LEFT, STYLE_ACCENT,
             str_equal(lines->layout_text, "none") ? "no layout" : lines->layout_text);
}

void matrix_lines_draw(Canvas *canvas, Rect in, const MatrixLines *lines, int matrix) {
  if (!lines->site || in.rows < 3) return;
  int label = in.cols >= LONG_LABEL + BANK_COUNT ? LONG_LABEL : SHORT_LABEL;
  if (matrix < 0 || matrix >= lines->map->count.phases) matrix = 0;
  for (int bank = 0; bank < BANK_COUNT; bank += 8)
    canvas_printf(canvas, in, 0, label + bank, STYLE_HEADER, "%d", bank);
  const BankPhase *phase = &lines->map->phases[matrix];
  // The lanes come first: where they want all rows, the words and then the sums go.
  int room = in.rows - 1, n = phase->n_lanes;
  bool words = room >= n + 2, sums = room > n;
  int shown = n <= room ? n : room - 1;
  for (int i = 0; i < shown; i++) draw_lane(canvas, in, 1 + i, lines, phase->first_lane + i, label);
  if (shown < n)
    canvas_printf(canvas, in, 1 + shown, label, STYLE_WARN, "… %d more lanes", n - shown);
  if (words) draw_words(canvas, in, 1 + n, lines, matrix, label);
  if (sums) draw_sums(canvas, in, 1 + n + words, lines, matrix);
}

const char *matrix_lines_say(Arena *arena, const MatrixLines *lines, int matrix) {
  if (!lines->site) return "";
  if (matrix < 0 || matrix >= lines->map->count.phases) matrix = 0;
  const BankPhase *phase = &lines->map->phases[matrix];
  const LayoutSlab *slab = &lines->layout->slab;
  int last = phase->first_lane + phase->n_lanes - 1;
  int a = logical_at(lines, lines->offset[phase->first_lane]),
      b = logical_at(lines, lines->offset[last]);
  int col = a % slab->row_bytes / slab->elem_bytes;
  return arena_printf(arena, "matrix %d of %d: lanes %d-%d, rows %d-%d, columns %d-%d", matrix + 1,
                      lines->map->count.phases, phase->first_lane, last, a / slab->row_bytes,
                      b / slab->row_bytes, col, col + CHUNK / slab->elem_bytes - 1);
}
