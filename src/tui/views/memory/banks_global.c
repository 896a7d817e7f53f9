// Sector cards, A's beside B's, and the list of accesses to global memory.
//
// The list's numbers are of one block from its first fetch to its last cell of C: requests of all
// its warps, the sectors they touch and the number that would have done. The card is of one
// request.
#include "tui/views/memory/banks_view.h"

#include "model/ir/buffer.h"
#include "tui/frame/view.h"
#include "tui/views/memory/bank_card.h"
#include "tui/views/memory/sector_card.h"

enum { SAY_COLS = 30, NAME_COLS = 32 };

static const GlobalSite *site_at(const Model *model, int index) {
  return index >= 0 && index < model->global.n ? &model->global.site[index] : NULL;
}

// ---- the card -----------------------------------------------------------------------------------

static void draw_title(Canvas *canvas, Rect in, const GlobalSite *site, const char *side,
                       Style side_style) {
  char verdict[32];
  Style style;
  const SectorCount *count = &site->count;
  int col = side ? canvas_printf(canvas, in, 0, 0, side_style, "%s  ", side) : 0;
  col = canvas_printf(canvas, in, 0, col, STYLE_HEADER, "SITE %d ", site->number);
  canvas_text(canvas, in, 0, col + 1, STYLE_SITE, site->text);
  sector_card_verdict(count, verdict, &style);
  col = canvas_text(canvas, in, 1, 0, style, verdict) + 2;
  if (!count->known) return;
  col = canvas_printf(canvas, in, 1, col, STYLE_TEXT, "%d sector%s, ideal %d; %d line%s",
                      count->sectors, plural_s(count->sectors), count->ideal, count->lines,
                      plural_s(count->lines));
  if (col + 10 <= in.cols)
    canvas_printf(canvas, in, 1, col, STYLE_TEXT, ", ideal %d", count->lines_ideal);
}

// Lists the place of each lane's bytes in the matrix, in the columns that fit.
static void draw_places(Canvas *canvas, Rect in, const GlobalSite *site) {
  enum { COLS = 16 };
  int columns = in.cols / COLS;
  if (columns < 1 || in.rows < 2 || !site->count.known) return;
  int rows = in.rows - 1 < LANES ? in.rows - 1 : LANES;
  while (rows > 1 && columns * (rows - 1) >= LANES) rows--;
  for (int c = 0; c < columns && c * rows < LANES; c++)
    canvas_text(canvas, in, 0, c * COLS, STYLE_HEADER, "ln        byte");
  for (int lane = 0; lane < LANES && lane / rows < columns; lane++) {
    int row = 1 + lane % rows, col = lane / rows * COLS;
    canvas_printf(canvas, in, row, col, STYLE_DIM, "%2d", lane);
    if (site->addr[lane] < 0)
      canvas_text(canvas, in, row, col + 3, STYLE_DIM, "        off");
    else
      canvas_printf(canvas, in, row, col + 3, style_address(lane), "%11lld",
                    (long long)site->addr[lane]);
  }
}

static void draw_side(Canvas *canvas, Rect in, Arena *frame, const GlobalSite *site,
                      const char *name, Style style) {
  if (!site) {
    canvas_text(canvas, in, 0, 0, style, name ? name : "");
    canvas_text(canvas, in, 1, 0, STYLE_DIM, "This kernel has no such access.");
    return;
  }
  SectorMap map;
  sectors_map(&map, site->compiled, site->addr);
  draw_title(canvas, in, site, name, style);
  rect_take_top(&in, 2);
  Rect card = rect_take_left(&in, CARD_COLS + 3);
  int used = sector_card_draw(canvas, card, &map);
  const char *said = sector_card_say(frame, site), *why = sector_card_why(frame, site);
  if (said && why) said = arena_printf(frame, "%s\n%s", why, said);
  bool beside = in.cols >= SAY_COLS;
  Rect text = beside ? in : (Rect){card.row + used + 1, card.col, card.rows - used - 1, card.cols};
  if (!said || text.rows < 1) return;
  int rows = canvas_wrap_rows(said, text.cols);
  if (rows > text.rows) return;
  canvas_wrap(canvas, text, STYLE_DIM, said);
  rect_take_top(&in, rows + 1);
  if (beside) draw_places(canvas, in, site);
}

void banks_global_draw(Canvas *canvas, Rect in, const Session *session) {
  const GlobalSite *site = session_global(session);
  if (!session->doc.comparing) {
    draw_side(canvas, in, session->frame, site, NULL, STYLE_TEXT);
    return;
  }
  const Model *a = session->doc.then.picture->model;
  const Rect left = view_take_a(canvas, &in, 2);
  const GlobalSite *other = site_at(a, side_find_global(a, site->matrix->name));
  draw_side(canvas, left, session->frame, other, "A", STYLE_SIDE_A);
  draw_side(canvas, in, session->frame, site, "B", STYLE_SIDE_B);
}

void banks_global_legend(Canvas *canvas, Rect in, const Session *session) {
  (void)session;
  canvas_text(canvas, in, 0, 1, STYLE_DIM,
              "row = line of 128 B, 8 words a sector, cell = lane (0-9 a-v), · = not used");
}

// ---- the list -----------------------------------------------------------------------------------

static void draw_row(Canvas *canvas, Rect row, const Session *session, int index, int spot) {
  const Model *model = session_model(session);
  const GlobalSite *site = &model->global.site[index];
  const SectorCount *count = &site->count;
  char badge[16];
  Style style;
  bool known = site_badge(model, site->number, badge, &style);
  canvas_printf(canvas, row, 0, 1, STYLE_DIM, "%2d", site->number);
  canvas_fit(canvas, row, 0, 4, NAME_COLS - 1, ALIGN_LEFT, STYLE_SITE, site->text);
  canvas_fit(canvas, row, 0, 4 + NAME_COLS, 5, ALIGN_LEFT, style, badge);
  Rect numbers = row;
  rect_take_left(&numbers, 9 + NAME_COLS);
  if (known)
    canvas_printf(canvas, numbers, 0, 0, STYLE_TEXT, "%7d%6d%6d%9.0f%10.0f", count->sectors,
                  count->ideal, count->lines, site->requests, site->sectors);
  else
    canvas_text(canvas, numbers, 0, 0, STYLE_UNKNOWN, "      –     –     –        –         –");
  int place = model->n_sites + index;
  canvas_spot(canvas, row, spot, place);
  if (place == session->at.site)
    canvas_over(canvas, (Rect){row.row, row.col, 1, numbers.col - row.col + 38}, STYLE_CURSOR);
}

void banks_global_list(Canvas *canvas, Rect in, const Session *session, int spot) {
  const Model *model = session_model(session);
  Rect head = rect_take_top(&in, 1);
  canvas_text(canvas, head, 0, 1, STYLE_HEADER, " # global memory");
  rect_take_left(&head, 9 + NAME_COLS);
  canvas_text(canvas, head, 0, 0, STYLE_HEADER, "sectors ideal lines reqs/CTA sect./CTA");
  int at = session->at.site - model->n_sites;
  ViewList list = view_list(in, max_int(at, 0), model->global.n);
  while (view_list_next(canvas, &list)) draw_row(canvas, list.row, session, list.at, spot);
}
