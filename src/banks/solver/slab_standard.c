#include "banks/solver/slab_standard.h"

enum { N_STANDARD = 4 };

const SlabSite *slab_standard_sites(Arena *arena, const LayoutSlab *slab, int *n) {
  int chunks = slab->row_bytes / 16, chunk = 16 / slab->elem_bytes, words = slab->row_bytes / 4;
  int word = slab->elem_bytes < 4 ? 4 / slab->elem_bytes : 1;
  bool has_chunks = slab->row_bytes % 16 == 0, has_words = slab->row_bytes % 4 == 0;
  const SlabSiteText texts[N_STANDARD] = {
      {"ldmatrix, 8 rows", "ldsm_x1", arena_printf(arena, "i/%d*8 + lane", chunks),
       arena_printf(arena, "i%%%d*%d", chunks, chunk), 1, has_chunks ? slab->rows / 8 * chunks : 0},
      {"16 bytes along rows", "lds128", arena_printf(arena, "(i*32 + lane)/%d", chunks),
       arena_printf(arena, "(i*32 + lane)%%%d*%d", chunks, chunk), 1,
       has_chunks ? slab->rows * chunks / 32 : 0},
      {"4 bytes along rows", "lds32", arena_printf(arena, "(i*32 + lane)/%d", words),
       arena_printf(arena, "(i*32 + lane)%%%d*%d", words, word), 1,
       has_words ? slab->rows * words / 32 : 0},
      {"4 bytes down columns", "lds32", arena_printf(arena, "i/%d*32 + lane", words),
       arena_printf(arena, "i%%%d*%d", words, word), 1, has_words ? slab->rows / 32 * words : 0},
  };
  SlabSite *sites = ARENA_ARRAY(arena, SlabSite, N_STANDARD);
  Diags unused = diags_new(arena);
  *n = 0;
  for (int i = 0; i < N_STANDARD; i++) {
    SlabSiteText text = texts[i];
    if (text.repeat == 0 || slab->elem_bytes > 4) continue;
    if (text.repeat > SLAB_REPEAT_MAX) text.repeat = SLAB_REPEAT_MAX;
    if (slab_site_build(arena, slab, &text, &sites[*n], &unused)) (*n)++;
  }
  return sites;
}
