// Chooses the pictures of an access, their widths, and the words below each.
//
// Worked example, b <- B_s with rows of 132 floats: 80 columns have the card and the lanes; at 120
// the slab would need 136 of the 82 beside the card, so the lanes and the table of addresses stand
// there; at 200 it is card, slab and table.
#include "tui/views/memory/banks_view.h"

#include <stdio.h>

#include "banks/engine/bank_text.h"
#include "base/str.h"
#include "base/whole.h"
#include "tui/views/memory/bank_card.h"
#include "tui/views/memory/slab_banks.h"

enum {
  GAP_COLS = 3,
  LEGENDS_FROM = 16,  // rows of a picture with room for two lines below it
  SLAB_FROM_COLS = 100,
  SLAB_CUT_FROM = 150  // from here on a wide slab is cut rather than left out
};

// The area to draw on, and how much of it is taken.
typedef struct Room {
  const AccessPicture *picture;
  int rows, cols, all;  // cols: left over
} Room;

// ---- widths; 0: not here ------------------------------------------------------------------------

static int card_cols(const Room *room) { return room->cols >= CARD_COLS ? CARD_COLS : 0; }

static int lines_cols(const Room *room) {
  return room->picture->lines && room->picture->lines->site ? MATRIX_LINES_COLS : 0;
}

// Beside two cards the table comes first: it says whether the addresses are the ones that are
// meant.
static int lanes_cols(const Room *room) {
  bool both = room->cols >= CARD_COLS + GAP_COLS + CARD_TABLE_COLS;
  return room->picture->best && !both ? 0 : card_cols(room);
}

static int best_cols(const Room *room) { return room->picture->best ? card_cols(room) : 0; }

static int slab_cols_in(const Room *room) {
  const Site *site = room->picture->site;
  if (!site || !site->slab || room->all < SLAB_FROM_COLS) return 0;
  int need = slab_cols(site);
  if (need <= room->cols) return need;
  return room->all >= SLAB_CUT_FROM ? room->cols - CARD_TABLE_COLS - GAP_COLS : 0;
}

// All lanes or none.
static int table_cols(const Room *room) {
  int columns = (int)ceil_div(BANK_LANES, max_int(1, room->rows - 1));
  return room->rows > 1 && columns * CARD_TABLE_COLS <= room->cols ? columns * CARD_TABLE_COLS : 0;
}

// ---- drawing ------------------------------------------------------------------------------------

static void draw_lines(Canvas *canvas, Rect in, const AccessPicture *p) {
  matrix_lines_draw(canvas, in, p->lines, p->phase);
}
static void draw_card(Canvas *canvas, Rect in, const AccessPicture *p) {
  card_draw(canvas, in, p->map, p->phase);
}
static void draw_best(Canvas *canvas, Rect in, const AccessPicture *p) {
  card_draw(canvas, in, p->best, -1);
}
static void draw_lanes(Canvas *canvas, Rect in, const AccessPicture *p) {
  card_draw_lanes(canvas, in, p->map, p->addr, p->phase);
}
static void draw_slab(Canvas *canvas, Rect in, const AccessPicture *p) {
  if (p->site && p->site->slab) slab_draw(canvas, in, p->site);
}
static void draw_table(Canvas *canvas, Rect in, const AccessPicture *p) {
  card_draw_table(canvas, in, p->map, p->addr);
}

// ---- the table ----------------------------------------------------------------------------------

static const struct {
  int (*cols)(const Room *room);
  void (*draw)(Canvas *canvas, Rect in, const AccessPicture *picture);
  const char *title;    // where what is and what could be stand side by side
  const char *legend;   // as wide as the picture
  BanksPane beside[4];  // where this one comes first
  int n_beside;
} panes[PANES] = {
    [PANE_CARD] = {card_cols,
                   draw_card,
                   "as it is",
                   "row = wavefront, cell = lane 0-9 a-v",
                   {PANE_BEST, PANE_SLAB, PANE_LANES, PANE_TABLE},
                   4},
    [PANE_LANES] = {lanes_cols,
                    draw_lanes,
                    "",
                    "row = lane, cell = first lane to ask",
                    {PANE_SLAB, PANE_TABLE},
                    2},
    [PANE_SLAB] = {slab_cols_in,
                   draw_slab,
                   "",
                   "cell = bank 0-9 a-v; bright: read in this phase",
                   {PANE_TABLE},
                   1},
    [PANE_LINES] = {lines_cols,
                    draw_lines,
                    "",
                    "[cN]: 16-byte chunk, asked for now",
                    {PANE_CARD, PANE_BEST, PANE_SLAB, PANE_TABLE},
                    4},
    [PANE_BEST] = {best_cols, draw_best, "written anew", "", {0}, 0},
    [PANE_TABLE] = {table_cols, draw_table, "", "ln = lane", {0}, 0},
};

// "+n: n more share": what the numbers of a card mean; NULL where it has none.
static const char *say_numbers(const AccessPicture *p, int rows) {
  if (!p->map->count.known) return NULL;
  if (p->phase < 0 && card_folds(p->map, rows)) return "×n: n words";
  return card_shares(p->map) ? "+n: n more share" : NULL;
}

// "q1 = quarter-warp 1, +n: n more share": the letters beside a card, and its numbers; where that
// has no line of its own the numbers come first.
static const char *say_card(const AccessPicture *p, int rows, bool second, char out[96]) {
  const char *numbers = say_numbers(p, rows);
  const char *noun = banks_phase_noun(p->map->op, p->map->phases[0].n_lanes);
  if (!second && numbers) snprintf(out, 96, "cell = lane, %s", numbers);
  if (!second) return numbers ? out : panes[PANE_CARD].legend;
  snprintf(out, 96, "%c1 = %s%s%s%s", bank_text_phase(p->map, 0), noun,
           p->map->count.phases > 1 ? " 1" : "", numbers ? ", " : "", numbers ? numbers : "");
  return out;
}

static void draw_legend(Canvas *canvas, Rect in, const AccessPicture *p, BanksPane pane, int rows) {
  char text[96];
  bool card = pane == PANE_CARD;
  canvas_fit(canvas, in, 0, 0, in.cols, ALIGN_LEFT, STYLE_DIM,
             card && in.rows == 1 ? say_card(p, rows, false, text) : panes[pane].legend);
  if (card && in.rows > 1)
    canvas_fit(canvas, in, 1, 0, in.cols, ALIGN_LEFT, STYLE_DIM, say_card(p, rows, true, text));
}

// A legend may reach into the gap behind its picture.
static void draw_pane(Canvas *canvas, Rect in, const AccessPicture *p, BanksPane pane, int cols,
                      int legends) {
  if (p->best) canvas_text(canvas, rect_take_top(&in, 1), 0, 0, STYLE_TITLE, panes[pane].title);
  Rect legend = rect_take_bottom(&in, legends);
  draw_legend(canvas, legend, p, pane, in.rows);
  panes[pane].draw(canvas, rect_take_left(&in, cols), p);
}

// Lanes by banks below a card that leaves the room, where they have none beside it.
static void draw_below(Canvas *canvas, Rect in, const AccessPicture *p, int legends) {
  int used = card_rows(p->map, p->phase) + 1;
  if (in.rows - legends - used < BANK_LANES + 2) return;
  rect_take_bottom(&in, legends);
  rect_take_top(&in, used);
  draw_legend(canvas, rect_take_top(&in, 1), p, PANE_LANES, 0);
  draw_lanes(canvas, in, p);
}

void banks_panes_draw(Canvas *canvas, Rect in, const AccessPicture *p, BanksPane first) {
  const int legends = in.rows >= LEGENDS_FROM ? 2 : 1;
  Room room = {p, in.rows - legends - (p->best != NULL), in.cols, in.cols};
  int cols = panes[first].cols(&room);
  Rect card = {0, 0, 0, 0};
  bool lanes = false;
  if (first == PANE_SLAB) cols = in.cols;
  if (first == PANE_SLAB && table_cols(&room) + SLAB_FROM_COLS <= in.cols)
    cols -= table_cols(&room) + GAP_COLS;
  if (cols == 0) cols = in.cols;
  for (int i = -1; i < panes[first].n_beside && !rect_empty(in); i++) {
    BanksPane pane = i < 0 ? first : panes[first].beside[i];
    if (i >= 0) cols = panes[pane].cols(&room);
    if (cols <= 0) continue;
    Rect at = rect_take_left(&in, cols + GAP_COLS);
    draw_pane(canvas, at, p, pane, cols, legends);
    if (pane == PANE_CARD) card = at;
    lanes |= pane == PANE_LANES;
    room.cols = in.cols;
  }
  if (card.rows > 0 && !lanes && !p->best) draw_below(canvas, card, p, legends);
}
