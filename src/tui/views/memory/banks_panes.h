// The pictures of one access, side by side as far as there is room: its punch card, lanes by banks,
// the slab with what is touched lit, the table of addresses; of ldmatrix first the lines that its
// lanes address; of an access of one's own the card of what to write instead.
#pragma once
#include "tui/views/memory/matrix_lines.h"

typedef enum BanksPane {
  PANE_CARD,
  PANE_LANES,
  PANE_SLAB,
  PANE_LINES,
  PANE_BEST,
  PANE_TABLE,
  PANES,
} BanksPane;

typedef struct AccessPicture {
  const BankMap *map;
  const int64_t *addr;       // [BANK_LANES]
  const Site *site;          // NULL: an access of no program, which has no slab
  const MatrixLines *lines;  // NULL: none are drawn
  const BankMap *best;       // of the replacement; NULL: none
  int phase;                 // -1: all
} AccessPicture;

// `first` stands on the left; companions follow it.
void banks_panes_draw(Canvas *canvas, Rect in, const AccessPicture *picture, BanksPane first);
