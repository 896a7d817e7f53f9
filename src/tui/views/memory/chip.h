// The memory view's data, made once per frame, and its pictures.
//
//   chip_pictures[p].draw(canvas, in, &side)       shared, barriers, tensor, cluster
//   chip_side_form                                 the same as data
#pragma once
#include "base/form.h"
#include "model/readings/place/on_chip.h"
#include "model/readings/rules/smem_budget.h"
#include "tui/canvas/canvas.h"

// The subject of one side of A|B, or of all of the screen.
typedef struct ChipSide {
  const Model *model;
  const OnChip *chip;      // NULL: several products, of which no one CTA has a tile
  const OnChip *barriers;  // the same, or the mbarriers alone
  SmemBudget budget;
} ChipSide;

typedef struct ChipPicture {
  const char *name, *help;
  void (*draw)(Canvas *canvas, Rect in, const ChipSide *side);
  int (*rows)(const ChipSide *side);   // that it takes when nothing is cut
  int (*least)(const ChipSide *side);  // that it is worth drawing in; NULL: all of them
} ChipPicture;

enum { CHIP_PICTURES = 4 };
extern const ChipPicture chip_pictures[CHIP_PICTURES];

void chip_draw_shared(Canvas *canvas, Rect in, const ChipSide *side);
int chip_shared_rows(const ChipSide *side);
void chip_draw_barriers(Canvas *canvas, Rect in, const ChipSide *side);
int chip_barriers_rows(const ChipSide *side);
int chip_barriers_least(const ChipSide *side);
// "tma2mma": what the article of ladder blackwell calls an mbarrier; NULL: it has none like it.
const char *chip_tirx_name(const OnChip *chip, const Buffer *mbarrier);
void chip_draw_tensor(Canvas *canvas, Rect in, const ChipSide *side);
int chip_tensor_rows(const ChipSide *side);
void chip_draw_cluster(Canvas *canvas, Rect in, const ChipSide *side);
int chip_cluster_rows(const ChipSide *side);

// Bits of a mask: "0-3 5", and "warps 0-3 5" or "warp 8".
enum { CHIP_TEXT = 80 };
const char *chip_bits(char out[CHIP_TEXT], unsigned bits);
const char *chip_numbers(char out[CHIP_TEXT], const char *what, unsigned bits);

extern const Form chip_side_form;  // of ChipSide
