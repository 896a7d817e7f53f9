// Element → bank by the buffer's own strides, so that padding is seen to shift the rows.
//
// Worked example: B_s [16 x 128] f32 with pad 4. Element [1, 0] lies at word 132, bank 4: the
// second row of the picture begins with 4 where the first begins with 0. Panels follow each other
// down the picture; of a ring it is the slab that the selected access is in.
#include "tui/views/memory/slab_banks.h"

#include <stdio.h>

#include "banks/engine/bank_text.h"
#include "base/whole.h"
#include "model/passes/copy/slab_layout.h"

enum { HEAD_COLS = 4 };

static bool is_touched(const Site *site, int64_t byte) {
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (site->addr[lane] >= 0 && byte >= site->addr[lane] &&
        byte < site->addr[lane] + site->op->bytes)
      return true;
  return false;
}

// The first byte of that slab of the ring which the access touches.
static int64_t slab_base(const Site *site) {
  const Buffer *slab = site->slab;
  int64_t base = slab->offset_bytes, bytes = dtype_bytes(slab->type);
  if (!buffer_is_ring(slab)) return base;
  int64_t slot_bytes = slab->stride[0] * bytes;
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (site->addr[lane] >= base) return base + (site->addr[lane] - base) / slot_bytes * slot_bytes;
  return base;
}

static void draw_element(Canvas *canvas, Rect in, int row, int col, const Site *site,
                         int64_t byte) {
  int bank = (int)(byte / BANK_WORD_BYTES % BANK_COUNT);
  char text[2] = {bank_text_lane(bank), 0};
  StyleRole over = is_touched(site, byte) ? STYLE_TOUCHED : STYLE_SHADOW;
  canvas_text(canvas, in, row, col, style_over(style_address(bank), over), text);
}

// The slab in elements, and where in memory it begins.
typedef struct Grid {
  int64_t base, rows, cols, row_bytes, elem_bytes, step_bytes;  // cols: pads too
} Grid;

static Grid grid_of(const Site *site) {
  const Buffer *slab = site->slab;
  int64_t bytes = dtype_bytes(slab->type), pitch = slab->stride[slab->rank - 2];
  return (Grid){.base = slab_base(site),
                .rows = slab_shape(slab).rows,
                .cols = pitch,
                .row_bytes = pitch * bytes,
                .elem_bytes = bytes,
                .step_bytes = slab->stride[slab->rank - 1] * bytes};
}

int slab_cols(const Site *site) {
  return HEAD_COLS + (int)site->slab->stride[site->slab->rank - 2];
}

// The first of `n` rows or columns to show in `room`: 0, unless the first touched one would be out
// of sight.
static int64_t first_shown(int64_t touched, int64_t n, int64_t room) {
  if (n <= room || touched < room) return 0;
  return min64(touched, n - room);
}

static int64_t first_touched(const Site *site, int64_t base) {
  int64_t first = INT64_MAX;
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (site->addr[lane] >= base) first = min64(first, site->addr[lane] - base);
  return first == INT64_MAX ? 0 : first;
}

static void draw_head(Canvas *canvas, Rect in, const Site *site, const Grid *grid, int64_t row,
                      int64_t col) {
  const Buffer *slab = site->slab;
  const int64_t cols = in.cols - HEAD_COLS, rows = in.rows - 1;
  int at = canvas_printf(canvas, in, 0, 0, STYLE_HEADER, "%s [%lld x %lld]", slab->name,
                         (long long)grid->rows, (long long)slab->dim[slab->rank - 1]);
  if (rows < grid->rows)
    at = canvas_printf(canvas, in, 0, at, STYLE_DIM, "  rows %lld-%lld", (long long)row,
                       (long long)(row + rows - 1));
  if (cols < grid->cols)
    canvas_printf(canvas, in, 0, at, STYLE_DIM, "  columns %lld-%lld", (long long)col,
                  (long long)(col + cols - 1));
}

// Pads of a row stand behind its columns, or behind each run of them.
static bool is_pad(const Buffer *slab, int64_t c) {
  if (slab->run_pad) return c % (slab->run + slab->run_pad) >= slab->run;
  return c >= slab->dim[slab->rank - 1];
}

void slab_draw(Canvas *canvas, Rect in, const Site *site) {
  if (in.rows < 2 || in.cols <= HEAD_COLS) return;
  const Grid grid = grid_of(site);
  const int64_t touched = first_touched(site, grid.base);
  int64_t top = first_shown(touched / grid.row_bytes, grid.rows, in.rows - 1);
  int64_t left =
      first_shown(touched % grid.row_bytes / grid.elem_bytes, grid.cols, in.cols - HEAD_COLS);
  draw_head(canvas, in, site, &grid, top, left);
  for (int row = 1; row < in.rows && top + row <= grid.rows; row++) {
    int64_t r = top + row - 1;
    canvas_printf(canvas, in, row, 0, STYLE_DIM, "%3lld", (long long)r);
    for (int col = HEAD_COLS; col < in.cols && left + col - HEAD_COLS < grid.cols; col++) {
      int64_t c = left + col - HEAD_COLS;
      if (!is_pad(site->slab, c))
        draw_element(canvas, in, row, col, site,
                     grid.base + r * grid.row_bytes + c * grid.step_bytes);
      else
        canvas_glyph(canvas, in, row, col, STYLE_DIM, GLYPH_MIDDLE_DOT);
    }
  }
}
