// Element → bank by the buffer's own strides, so that padding is seen to shift the rows.
//
// Worked example: B_s [16 x 128] f32 with pad 4. Element [1, 0] lies at word 132, bank 4: the
// second row of the picture begins with 4 where the first begins with 0. Panels follow each other
// down the picture; of a ring it is the slab that the selected access is in.
#include "tui/slab.h"

#include <stdio.h>

#include "banks/bank_text.h"
#include "model/slab_layout.h"

enum { HEAD_COLS = 4 };

// The lowest lane whose access covers the byte, -1 for none.
static int lane_at(const Site *site, int64_t byte) {
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (site->addr[lane] >= 0 && byte >= site->addr[lane] &&
        byte < site->addr[lane] + site->op->bytes)
      return lane;
  return -1;
}

// Where the slab of the ring begins that the access is in.
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
  int bank = (int)(byte / BANK_WORD_BYTES % BANK_COUNT), lane = lane_at(site, byte);
  char text[2] = {bank_text_lane(lane >= 0 ? lane : bank), 0};
  Style style = style_address(bank);
  canvas_text(canvas, in, row, col, lane >= 0 ? style : style_over(style, STYLE_SHADOW), text);
  if (lane >= 0) canvas_over(canvas, (Rect){in.row + row, in.col + col, 1, 1}, STYLE_CURSOR);
}

// Of a row with its pads: behind its columns, or behind each run of them.
static bool is_pad(const Buffer *slab, int64_t c) {
  if (slab->run_pad) return c % (slab->run + slab->run_pad) >= slab->run;
  return c >= slab->dim[slab->rank - 1];
}

void slab_draw(Canvas *canvas, Rect in, const Site *site) {
  const Buffer *slab = site->slab;
  int rank = slab->rank;
  int64_t bytes = dtype_bytes(slab->type), base = slab_base(site);
  int rows = slab_shape(slab).rows;
  canvas_printf(canvas, in, 0, 0, STYLE_HEADER, "%s [%d x %lld]", slab->name, rows,
                (long long)slab->dim[rank - 1]);
  for (int64_t r = 0; r < rows && r + 1 < in.rows; r++) {
    int row = (int)r + 1;
    canvas_printf(canvas, in, row, 0, STYLE_DIM, "%3lld", (long long)r);
    int64_t n = slab->stride[rank - 2];
    for (int64_t c = 0; c < n && c + HEAD_COLS < in.cols; c++) {
      int64_t byte = base + (r * slab->stride[rank - 2] + c * slab->stride[rank - 1]) * bytes;
      if (!is_pad(slab, c))
        draw_element(canvas, in, row, HEAD_COLS + (int)c, site, byte);
      else
        canvas_text(canvas, in, row, HEAD_COLS + (int)c, STYLE_DIM, "·");
    }
  }
}
