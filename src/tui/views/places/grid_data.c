// One side of the grid view as data: the grid, its windows, and the CTAs of the one that is shown.
#include "tui/views/places/grid_facts.h"
#include "tui/views/places/grid_places.h"

enum { JSON_CTAS_MAX = 4096 };

static void put_window(JsonWriter *w, const GridHalf *half, GridSpan span) {
  const GridWindow *window = &half->window[span];
  json_begin_object(w);
  json_member_string(w, "kind", grid_span_name(span));
  json_member_bool(w, "shown", span == half->span);
  json_member_int(w, "first_cta", window->first);
  json_member_int(w, "ctas", window->n);
  json_member_int(w, "a_panels", window->a_panels);
  json_member_int(w, "b_panels", window->b_panels);
  json_member_int(w, "a_bytes", window->a_bytes);
  json_member_int(w, "b_bytes", window->b_bytes);
  json_member_int(w, "bytes", window->bytes);
  json_member_double(w, "l2_share", (double)window->bytes / (double)half->grid->l2_bytes);
  json_member_double(w, "reuse", window->reuse);
  json_end_object(w);
}

// The CTAs of the window that is shown, in launch order.
static void put_ctas(JsonWriter *w, const GridHalf *half) {
  const GridWindow *window = &half->window[half->span];
  json_key(w, "ctas");
  json_begin_array(w);
  for (int64_t i = 0; i < window->n && i < JSON_CTAS_MAX; i++) {
    GridCta cta = grid_cta(half->grid, window->first + i);
    GridRange k = grid_k_range(half->grid, cta.split);
    json_begin_object(w);
    json_member_int(w, "cta", cta.index);
    json_member_int(w, "wave", grid_wave(half->grid, cta.index));
    if (half->grid->persistent) json_member_int(w, "block", grid_block(half->grid, cta.index));
    if (grid_has_places(half->grid)) json_member_int(w, "place", grid_gpc(half->grid, cta.index));
    json_member_int(w, "tile_row", cta.row);
    json_member_int(w, "tile_col", cta.col);
    json_member_int(w, "split", cta.split);
    json_member_int(w, "k_begin", k.begin);
    json_member_int(w, "k_end", k.end);
    json_end_object(w);
  }
  json_end_array(w);
}

void grid_put_half(JsonWriter *w, const GridHalf *half) {
  const Grid *grid = half->grid;
  json_member_int(w, "n_ctas", grid->n_ctas);
  json_member_int(w, "tile_rows", grid->rows);
  json_member_int(w, "tile_cols", grid->cols);
  json_member_int(w, "splits", grid->splits);
  json_member_int(w, "cluster_rows", grid->cluster_rows);
  json_member_int(w, "cluster_cols", grid->cluster_cols);
  json_member_int(w, "tile_m", grid->tile_m);
  json_member_int(w, "tile_n", grid->tile_n);
  json_member_int(w, "sm_count", grid->sm_count);
  json_member_int(w, "blocks_per_sm_estimated", grid->blocks_per_sm);
  json_member_int(w, "wave_ctas", grid->wave_ctas);
  json_member_int(w, "n_waves", grid->n_waves);
  if (grid->persistent) json_member_int(w, "resident_ctas_estimated", grid_blocks(grid));
  json_member_int(w, "tail_ctas", grid->tail_ctas);
  if (grid->persistent) json_member_int(w, "tail_parts", grid->tail_parts);
  json_member_double(w, "tail_idle", grid->tail_idle);
  json_member_double(w, "idle", grid->idle);
  json_member_int(w, "l2_bytes", grid->l2_bytes);
  json_member_double(w, "l2_hit_rate_estimated", half->l2_hit);
  grid_put_places(w, half);
  json_key(w, "windows");
  json_begin_array(w);
  for (int i = 0; i < GRID_SPANS; i++) put_window(w, half, (GridSpan)i);
  json_end_array(w);
  put_ctas(w, half);
}
