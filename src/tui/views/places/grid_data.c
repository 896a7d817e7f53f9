// One side of the grid view as data: the grid, its windows, and the CTAs of the one that is shown.
#include "base/whole.h"
#include "tui/views/places/grid_view.h"

enum { JSON_CTAS_MAX = 4096 };

typedef struct ShownCta {
  const Grid *grid;
  GridCta cta;
  GridRange k;
} ShownCta;

static int shown_count(const GridHalf *half) {
  return (int)min64(half->window[half->span].n, JSON_CTAS_MAX);
}

static const ShownCta *shown_ctas(Arena *arena, const GridHalf *half) {
  const int n = shown_count(half);
  ShownCta *shown = ARENA_ARRAY(arena, ShownCta, n + 1);
  for (int i = 0; i < n; i++) {
    const GridCta cta = grid_cta(half->grid, half->window[half->span].first + i);
    shown[i] = (ShownCta){half->grid, cta, grid_k_range(half->grid, cta.split)};
  }
  return shown;
}

#define FORM_FILE "tui/views/places/grid_data.form"
#include "base/form_make.h"
