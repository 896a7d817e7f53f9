// BankMap → cells. The map has done all the counting; here is only where things go.
//
// Worked example: b <- B_s, LDS.128 with 8 wavefronts in four phases and 9 rows to draw on: one row
// for the ruler, eight for the wavefronts, everything fits. With 7 rows q1 and q2 (2 rows each)
// stay whole and q3 and q4 become one line each, "×2──" under every bank that is needed twice.
#include "tui/views/memory/bank_card.h"

#include <stdio.h>
#include <string.h>

#include "banks/engine/bank_text.h"
#include "base/str.h"

// ---- what colour --------------------------------------------------------------------------------

// rank[lane]: which of the different addresses the lane's is; lanes of one address share a colour.
// first[lane]: the lowest lane that asks for the same.
static void rank_addresses(const BankMap *map, int rank[BANK_LANES], int first[BANK_LANES]) {
  for (int lane = 0, n = 0; lane < BANK_LANES; lane++) {
    int l = 0;
    while (memcmp(map->word_of[l], map->word_of[lane], sizeof map->word_of[l]) != 0) l++;
    first[lane] = l;
    rank[lane] = l < lane ? rank[l] : n++;
  }
}

// One drawing: where, of what, and the colours.
typedef struct Card {
  Canvas *canvas;
  Rect in;
  const BankMap *map;
  int rank[BANK_LANES], first[BANK_LANES];
} Card;

static bool row_shares(const BankRow *row) {
  uint8_t more[BANK_COUNT];
  bank_text_sharers(row, more);
  for (int bank = 0; bank < BANK_COUNT; bank++)
    if (more[bank]) return true;
  return false;
}

bool card_shares(const BankMap *map) {
  for (int i = 0; i < map->n_rows; i++)
    if (row_shares(&map->rows[i])) return true;
  return false;
}

// ---- the card -----------------------------------------------------------------------------------

static int phase_rows(const BankMap *map, int phase) {
  const BankPhase *p = &map->phases[phase];
  int rows = 0;
  for (int i = 0; i < p->wavefronts; i++) rows += 1 + row_shares(&map->rows[p->first_row + i]);
  return rows;
}

int card_rows(const BankMap *map, int phase) {
  int rows = 1;
  for (int i = 0; i < map->count.phases; i++)
    if (phase < 0 || phase == i) rows += phase_rows(map, i);
  return rows;
}

static void draw_ruler(Canvas *canvas, Rect in) {
  for (int bank = 0; bank < BANK_COUNT; bank += 8)
    canvas_printf(canvas, in, 0, CARD_PREFIX + bank, STYLE_HEADER, "%-8d", bank);
  canvas_text(canvas, in, 0, CARD_PREFIX + 28, STYLE_HEADER, "bank");
}

static void draw_prefix(const Card *card, int row, int phase) {
  canvas_printf(card->canvas, card->in, row, 0, STYLE_TITLE, "%c%d",
                bank_text_phase(card->map, phase), phase + 1);
}

static void draw_sharers(const Card *card, int at, const BankRow *row) {
  uint8_t more[BANK_COUNT];
  BankCells cells;
  bank_text_sharers(row, more);
  bank_text_runs(more, BANK_MORE, card->canvas->ascii, cells);
  for (int bank = 0; bank < BANK_COUNT; bank++)
    canvas_text(card->canvas, card->in, at, CARD_PREFIX + bank, STYLE_DIM, cells[bank]);
}

static int draw_wavefront(const Card *card, int at, const BankRow *row) {
  for (int bank = 0; bank < BANK_COUNT; bank++) {
    const BankCell *cell = &row->cells[bank];
    int col = CARD_PREFIX + bank;
    if (cell->lane < 0) {
      canvas_glyph(card->canvas, card->in, at, col, STYLE_DIM, GLYPH_MIDDLE_DOT);
      continue;
    }
    char text[2] = {bank_text_lane(cell->lane), 0};
    canvas_text(card->canvas, card->in, at, col, style_address(card->rank[cell->lane]), text);
  }
  if (!row_shares(row)) return at + 1;
  draw_sharers(card, at + 1, row);
  return at + 2;
}

// The wavefronts of the phase that fit into `room` rows, and the number of the others.
static int draw_phase(const Card *card, int at, int room, int phase) {
  const BankPhase *p = &card->map->phases[phase];
  bool all = phase_rows(card->map, phase) <= room;
  int end = at + room - !all, done = 0;
  if (room > 0) draw_prefix(card, at, phase);
  for (; done < p->wavefronts; done++) {
    const BankRow *row = &card->map->rows[p->first_row + done];
    if (at + 1 + row_shares(row) > end) break;
    at = draw_wavefront(card, at, row);
  }
  if (done == p->wavefronts || room <= 0) return at;
  canvas_printf(card->canvas, card->in, at, CARD_PREFIX, STYLE_WARN, "… %d more wavefronts",
                p->wavefronts - done);
  return at + 1;
}

void card_draw_counts(Canvas *canvas, Rect in, int row, int col, const BankPhase *phase) {
  BankCells cells;
  bank_text_runs(phase->words, BANK_TIMES, canvas->ascii, cells);
  for (int bank = 0, n = 0; bank < BANK_COUNT; bank++) {
    if (phase->words[bank]) n = phase->words[bank];
    if (cells[bank][0])
      canvas_text(canvas, in, row, col + bank, n > 1 ? STYLE_BAD : STYLE_OK, cells[bank]);
    else
      canvas_glyph(canvas, in, row, col + bank, STYLE_DIM, GLYPH_MIDDLE_DOT);
  }
}

// "m2 ×8──": one line for all the wavefronts of a phase.
static int draw_folded(const Card *card, int at, int phase) {
  draw_prefix(card, at, phase);
  card_draw_counts(card->canvas, card->in, at, CARD_PREFIX, &card->map->phases[phase]);
  return at + 1;
}

static int worst_phase(const BankMap *map) {
  int worst = 0;
  for (int i = 1; i < map->count.phases; i++)
    if (map->phases[i].wavefronts > map->phases[worst].wavefronts) worst = i;
  return worst;
}

// The rows of each phase where `rows` are to be had, 0 for one folded line: the worst phase takes
// what it needs, the others unfold in order as long as they have room.
static void share_rows(const BankMap *map, int rows, int room[BANK_PHASES_MAX]) {
  int n = map->count.phases, worst = worst_phase(map);
  int spare = rows - (n - 1) - phase_rows(map, worst);
  room[worst] = phase_rows(map, worst) + (spare < 0 ? spare : 0);
  for (int i = 0; i < n; i++) {
    int more = phase_rows(map, i) - 1;
    if (i == worst || more > spare) continue;
    room[i] = more + 1;
    spare -= more;
  }
}

bool card_folds(const BankMap *map, int rows) {
  int room[BANK_PHASES_MAX] = {0};
  if (!map->count.known) return false;
  share_rows(map, rows - 1, room);
  for (int i = 0; i < map->count.phases; i++)
    if (room[i] <= 0) return true;
  return false;
}

int card_draw(Canvas *canvas, Rect in, const BankMap *map, int phase) {
  if (in.rows < 2) return 0;
  draw_ruler(canvas, in);
  int at = 1;
  if (!map->count.known) {
    canvas_wrap(canvas, (Rect){in.row + 1, in.col, in.rows - 1, in.cols}, STYLE_DIM,
                bank_text_past_l1);
    return in.rows;
  }
  Card card = {.canvas = canvas, .in = in, .map = map};
  rank_addresses(map, card.rank, card.first);
  int room[BANK_PHASES_MAX] = {0};
  if (phase < 0)
    share_rows(map, in.rows - 1, room);
  else
    room[phase] = in.rows - 1;
  for (int i = 0; i < map->count.phases && at < in.rows; i++) {
    if (phase >= 0 && phase != i) continue;
    at = room[i] > 0 ? draw_phase(&card, at, room[i], i) : draw_folded(&card, at, i);
  }
  return at;
}

// ---- lanes --------------------------------------------------------------------------------------

static bool in_phase(const BankMap *map, int phase, int lane) {
  return phase < 0 || phase >= map->count.phases || (map->phases[phase].active >> lane & 1) != 0;
}

void card_draw_lanes(Canvas *canvas, Rect in, const BankMap *map, const int64_t addr[BANK_LANES],
                     int phase) {
  int rank[BANK_LANES], first[BANK_LANES];
  rank_addresses(map, rank, first);
  draw_ruler(canvas, in);
  int row = 1;
  bool all = phase < 0 || in.rows > BANK_LANES;
  for (int lane = 0; lane < BANK_LANES && row < in.rows; lane++) {
    bool shown = in_phase(map, phase, lane) && addr[lane] >= 0;
    if (!shown && !all) continue;
    bool cut = row == in.rows - 1 && lane < BANK_LANES - 1 && all;
    if (cut) {
      canvas_printf(canvas, in, row, CARD_PREFIX, STYLE_DIM, "… %d more lanes", BANK_LANES - lane);
      return;
    }
    canvas_printf(canvas, in, row, 0, shown ? STYLE_TEXT : STYLE_DIM, "%2d", lane);
    char text[2] = {bank_text_lane(first[lane]), 0};
    for (int bank = 0; bank < BANK_COUNT; bank++) {
      int col = CARD_PREFIX + bank;
      if (map->word_of[lane][bank] < 0)
        canvas_glyph(canvas, in, row, col, STYLE_DIM, GLYPH_MIDDLE_DOT);
      else
        canvas_text(canvas, in, row, col, shown ? style_address(rank[lane]) : STYLE_DIM, text);
    }
    row++;
  }
}

int card_table_rows(int cols) {
  int columns = cols / CARD_TABLE_COLS;
  return columns < 1 ? 0 : 1 + (BANK_LANES + columns - 1) / columns;
}

void card_draw_table(Canvas *canvas, Rect in, const BankMap *map, const int64_t addr[BANK_LANES]) {
  int columns = in.cols / CARD_TABLE_COLS, rank[BANK_LANES], first[BANK_LANES];
  rank_addresses(map, rank, first);
  if (columns < 1 || in.rows < 2) return;
  int rows = in.rows - 1 < 32 ? in.rows - 1 : 32;
  while (rows > 1 && columns * (rows - 1) >= BANK_LANES) rows--;
  for (int c = 0; c < columns && c * rows < BANK_LANES; c++)
    canvas_text(canvas, in, 0, c * CARD_TABLE_COLS, STYLE_HEADER, "ln  byte bank");
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int row = 1 + lane % rows, col = lane / rows * CARD_TABLE_COLS;
    if (col + CARD_TABLE_COLS > in.cols) return;
    canvas_printf(canvas, in, row, col, STYLE_DIM, "%2d", lane);
    if (addr[lane] < 0)
      canvas_text(canvas, in, row, col + 3, STYLE_DIM, "    - off");
    else
      canvas_printf(canvas, in, row, col + 3, style_address(rank[lane]), "%5lld %3lld",
                    (long long)addr[lane], (long long)(addr[lane] / 4 % BANK_COUNT));
  }
}

// ---- words --------------------------------------------------------------------------------------

const char *card_verdict(const BankCount *count, char out[32], Style *style) {
  char bounds[32];
  *style = !count->known ? STYLE_DIM : count->conflicts ? STYLE_BAD : STYLE_OK;
  if (!count->known)
    snprintf(out, 32, "%s wavefronts",
             bank_text_bounds(count->profiled, count->profiled_most, bounds));
  else if (count->conflicts)
    snprintf(out, 32, "%d-WAY", count->ways);
  else
    snprintf(out, 32, "free");
  return out;
}

const char *card_badge(const BankCount *count, char out[16], Style *style) {
  *style = !count->known ? STYLE_DIM : count->conflicts ? STYLE_BAD : STYLE_OK;
  if (!count->known)
    snprintf(out, 16, "–");
  else if (count->conflicts && count->ideal && count->wavefronts % count->ideal == 0)
    snprintf(out, 16, "×%d", count->wavefronts / count->ideal);
  else if (count->conflicts)
    snprintf(out, 16, "+%d", count->conflicts);
  else
    snprintf(out, 16, "ok");
  return out;
}
