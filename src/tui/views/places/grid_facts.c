// The numbers of one side in lines: where the window is, waves and their tail, the list of a block,
// what merges on the way to L2, what L2 has.
//
//   lap 1/256: tile 0–7, turn 1
//   16 turns of 132 = 132 SMs × 1  L2 60 MiB
//   tail 68 tiles: 48 % idle, 3.0 % of all
//
// Where the last turn is cut along K:
//
//   tail 96 tiles in 4 parts: 3 % idle
//   CTA 0: tiles 0, 128, 1/4 of 256, 288, 320
#include "tui/views/places/grid_view.h"

#include <stdio.h>

#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"

void grid_facts_head(Canvas *canvas, Rect in, const Grid *grid) {
  char clusters[48];
  int64_t blocks = grid_blocks(grid);
  int col = canvas_printf(canvas, in, 0, 0, STYLE_TITLE, "%lld CTA%s", (long long)blocks,
                          plural_s(blocks));
  if (grid->heads)
    col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, ": %lld heads × %lld × %lld queries",
                        (long long)grid->heads, (long long)grid->rows, (long long)grid->tile_m);
  else
    col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, ": %lld×%lld tiles of %lld×%lld",
                        (long long)grid->rows, (long long)grid->cols, (long long)grid->tile_m,
                        (long long)grid->tile_n);
  if (grid->splits > 1)
    col = canvas_printf(canvas, in, 0, col, STYLE_TIER_BLOCK, " × %lld splits",
                        (long long)grid->splits);
  if (grid->launch.cluster == 1) return;
  snprintf(clusters, sizeof clusters, "clusters %lld×%lld", (long long)grid->cluster_rows,
           (long long)grid->cluster_cols);
  if (col + 2 + utf8_columns(clusters) <= in.cols || in.rows == 1)
    canvas_printf(canvas, in, 0, col, STYLE_TIER_CLUSTER, ", %s", clusters);
  else
    canvas_printf(canvas, in, 1, 0, STYLE_TIER_CLUSTER, "in %s", clusters);
}

static void draw_waves_line(Canvas *canvas, Rect row, const Grid *grid) {
  const GridWords words = grid_words(grid);
  int col = canvas_printf(canvas, row, 0, 0, STYLE_TITLE, "%lld %s", (long long)grid->n_waves,
                          grid->n_waves == 1 ? words.wave : words.waves);
  const bool full = grid->wave_ctas == grid->sm_count * grid->blocks_per_sm;
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, " of %lld%s%lld SMs × %lld",
                      (long long)grid->wave_ctas, full ? " = " : " on ", (long long)grid->sm_count,
                      (long long)grid->blocks_per_sm);
  char l2[FMT_MAX];
  fmt_bytes(l2, (double)grid->l2_bytes);
  if (col + 5 + utf8_columns(l2) <= row.cols)
    canvas_printf(canvas, row, 0, col, STYLE_DIM, "  L2 %s", l2);
}

static void draw_tail_line(Canvas *canvas, Rect row, const Grid *grid) {
  const GridWords words = grid_words(grid);
  if (grid->tail_ctas == grid->wave_ctas) {
    canvas_printf(canvas, row, 0, 0, STYLE_OK, "the last %s is full", words.wave);
    return;
  }
  int col = canvas_printf(canvas, row, 0, 0, STYLE_TITLE, "tail %lld", (long long)grid->tail_ctas);
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, " %s",
                      grid->tail_ctas == 1 ? words.cta : words.ctas);
  if (grid->tail_parts > 1)
    col =
        canvas_printf(canvas, row, 0, col, STYLE_OK, " in %lld parts", (long long)grid->tail_parts);
  col = canvas_printf(canvas, row, 0, col, grid->tail_idle > 0.5 ? STYLE_WARN : STYLE_TEXT,
                      ": %.0f %% idle", 100 * grid->tail_idle);
  char all[32];
  snprintf(all, sizeof all, ", %.1f %% of all", 100 * grid->idle);
  if (col + utf8_columns(all) <= row.cols) canvas_text(canvas, row, 0, col, STYLE_DIM, all);
}

static void draw_here_line(Canvas *canvas, Rect row, const GridHalf *half) {
  const GridWindow *window = &half->window[half->span];
  int64_t last = window->first + (window->n ? window->n - 1 : 0);
  int64_t wave = grid_wave(half->grid, window->first), to = grid_wave(half->grid, last);
  int col = canvas_printf(canvas, row, 0, 0, STYLE_TITLE, "%s %lld/%lld",
                          grid_span_here(half->grid, half->span), (long long)half->at + 1,
                          (long long)half->n_windows);
  const GridWords words = grid_words(half->grid);
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, ": %s %lld", words.cta,
                      (long long)window->first);
  if (last > window->first)
    col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "–%lld", (long long)last);
  if (wave == to)
    canvas_printf(canvas, row, 0, col, STYLE_DIM, ", %s %lld", words.wave, (long long)wave + 1);
  else
    canvas_printf(canvas, row, 0, col, STYLE_DIM, ", %s %lld–%lld", words.waves,
                  (long long)wave + 1, (long long)to + 1);
}

// "CTA 4: tiles 4, 136, 268 …": the list of the block that has the window's first tile.
static void draw_list_line(Canvas *canvas, Rect row, const GridHalf *half) {
  enum { NUMBER_COLS = 10 };
  const Grid *grid = half->grid;
  const int64_t block = grid_block(grid, half->window[half->span].first);
  int col = canvas_printf(canvas, row, 0, 0, STYLE_TIER_BLOCK, "CTA %lld", (long long)block);
  col = canvas_text(canvas, row, 0, col, STYLE_TEXT, ": tiles");
  GridItem item;
  bool cut = false;
  for (int64_t i = 0; grid_item(grid, block, i, &item); i++) {
    const bool cuts = item.part >= 0 && !cut;
    if (col + NUMBER_COLS + (cuts ? NUMBER_COLS : 0) > row.cols) {
      canvas_glyph(canvas, row, 0, col + 1, STYLE_DIM, GLYPH_ELLIPSIS);
      return;
    }
    col = canvas_text(canvas, row, 0, col, STYLE_TEXT, i ? ", " : " ");
    if (cuts)
      col = canvas_printf(canvas, row, 0, col, STYLE_OK, "1/%lld of ", (long long)grid->tail_parts);
    col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%lld", (long long)item.tile);
    cut |= cuts;
  }
}

static void draw_reuse_line(Canvas *canvas, Rect row, const GridHalf *half) {
  const GridWindow *window = &half->window[half->span];
  char reuse[FMT_MAX];
  canvas_printf(canvas, row, 0, 0, STYLE_TEXT, "%lld panels read, %lld distinct: %s× each",
                (long long)(2 * window->n), (long long)(window->a_panels + window->b_panels),
                fmt_figure(reuse, window->reuse));
}

static void draw_hit_line(Canvas *canvas, Rect row, const GridHalf *half) {
  int col =
      canvas_printf(canvas, row, 0, 0, STYLE_ESTIMATED, "L2 hit rate %.0f %%", 100 * half->l2_hit);
  canvas_text(canvas, row, 0, col, STYLE_DIM, ", replayed: an estimate");
}

static void draw_split_line(Canvas *canvas, Rect row, const Grid *grid) {
  if (grid->partial)
    canvas_text(canvas, row, 0, 0, STYLE_TIER_BLOCK, "splits leave partial sums for `reduce`");
  else
    canvas_text(canvas, row, 0, 0, STYLE_TIER_BLOCK, "splits add into C, cleared by `zero`");
}

// "keys ▁▂▃▄▅▆▇█ 1–8 blocks a CTA, mean 4.5": of causal attention, along the queries of a head.
static void draw_work_line(Canvas *canvas, Rect row, const GridWork *work) {
  enum { NAME_COLS = 5, SPARK_COLS = 12 };
  char mean[FMT_MAX];
  double shown[SPARK_COLS];
  const int n = (int)min64(work->rows, SPARK_COLS);
  for (int i = 0; i < n; i++) shown[i] = work->of_row[i * work->rows / n];
  canvas_text(canvas, row, 0, 0, STYLE_TITLE, "keys");
  canvas_spark(canvas, row, 0, NAME_COLS, shown, n, (double)work->most, STYLE_TIER_BLOCK);
  canvas_printf(canvas, row, 0, NAME_COLS + n + 1, STYLE_TEXT, "%lld–%lld blocks, mean %s",
                (long long)work->fewest, (long long)work->most, fmt_figure(mean, work->mean));
}

void grid_facts_draw(Canvas *canvas, Rect in, const GridHalf *half) {
  const Grid *grid = half->grid;
  draw_here_line(canvas, rect_take_top(&in, 1), half);
  draw_waves_line(canvas, rect_take_top(&in, 1), grid);
  draw_tail_line(canvas, rect_take_top(&in, 1), grid);
  if (grid->splits > 1) draw_split_line(canvas, rect_take_top(&in, 1), grid);
  if (half->work.rows) draw_work_line(canvas, rect_take_top(&in, 1), &half->work);
  if (grid->persistent) draw_list_line(canvas, rect_take_top(&in, 1), half);
  grid_draw_merge(canvas, &in, half);
  draw_hit_line(canvas, rect_take_top(&in, 1), half);
  draw_reuse_line(canvas, rect_take_top(&in, 1), half);
}

// The five that are always there, and the others.
int grid_facts_lines(const GridHalf *half) {
  const Grid *grid = half->grid;
  return 5 + (grid->splits > 1) + (half->work.rows > 0) + grid->persistent + grid_merge_lines(half);
}
