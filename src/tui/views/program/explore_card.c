// The card of the selected access: the punch card or the sectors, and the reason of its cost.
//
// An access to shared memory has its 32 banks, one of global memory its lines and sectors; where
// there is no access, a sentence names the unit that writes and reads the slabs instead.
#include <stdio.h>
#include <string.h>

#include "banks/engine/bank_text.h"
#include "base/str.h"
#include "base/whole.h"
#include "model/ir/program.h"
#include "model/ir/role.h"
#include "tui/frame/view.h"
#include "tui/views/memory/bank_card.h"
#include "tui/views/memory/sector_card.h"
#include "tui/views/memory/slab_banks.h"
#include "tui/views/program/explore.h"

enum { CARD_ROWS_MIN = 8, CARD_ROWS_LEAST = 2 };  // the least has a row for each phase besides

static void draw_legend(Canvas *canvas, Rect in, const BankMap *map, bool folded) {
  char phase[24], rows[64], cells[64];
  bool shares = card_shares(map);
  snprintf(phase, sizeof phase, "%c = %d lanes", bank_text_phase(map, 0), map->phases[0].n_lanes);
  snprintf(rows, sizeof rows, "row = wavefront  %s",
           folded   ? "×n = words a bank"
           : shares ? phase
                    : "· = idle bank");
  snprintf(cells, sizeof cells, "0-9 a-v = lane%s%s", shares ? ", +n: n more share" : "   ",
           shares ? "" : phase);
  if (in.rows > 0) canvas_text(canvas, in, 0, 0, STYLE_DIM, rows);
  if (in.rows > 1) canvas_text(canvas, in, 1, 0, STYLE_DIM, cells);
}

// "8 → ": what this access cost before the last change.
static int draw_before(Canvas *canvas, Rect in, int col, const Session *session, const Site *site) {
  const Picture *picture = session->doc.now.picture;
  if (!picture->has_before || session->at.change == CHANGE_GONE) return col;
  int before = picture->before_wavefronts[session->at.site];
  if (before < 0 || before == site->count.wavefronts) return col;
  Style style = session->at.change == CHANGE_FRESH ? STYLE_CHANGED : STYLE_DIM;
  return canvas_printf(canvas, in, 1, col, style, "%d %s ", before, canvas->ascii ? "->" : "→");
}

static void draw_card_head(Canvas *canvas, Rect in, const Session *session, const Site *site) {
  char verdict[32];
  Style style;
  int n = session_site_count(session);
  int col = canvas_printf(canvas, in, 0, 0, STYLE_HEADER, "SITE %d/%d", site->number, n);
  canvas_text(canvas, in, 0, col + 1, STYLE_SITE, site->text);
  col = 0;
  card_verdict(&site->count, verdict, &style);
  col = canvas_text(canvas, in, 1, col, style, verdict) + 2;
  if (!site->count.known) return;
  int other =
      session->doc.comparing ? session_matching_site(session, session->doc.then.picture) : -1;
  if (other >= 0)
    col = canvas_printf(canvas, in, 1, col, STYLE_SIDE_A, "A %d %s B ",
                        session->doc.then.picture->model->site[other].count.wavefronts,
                        canvas->ascii ? "->" : "→");
  else
    col = draw_before(canvas, in, col, session, site);
  col = canvas_printf(canvas, in, 1, col, STYLE_TEXT, "%d wavefront%s", site->count.wavefronts,
                      plural_s(site->count.wavefronts));
  if (col + snprintf(NULL, 0, ", ideal %d", site->count.ideal) <= in.cols)
    canvas_printf(canvas, in, 1, col, STYLE_TEXT, ", ideal %d", site->count.ideal);
}

// Without slabs, why they would pay; with slabs that no lane touches, the unit that does.
static void draw_no_site(Canvas *canvas, Rect in, const Session *session) {
  const Program *program = session_model(session)->program;
  bool slabs = program_buffer(program, ROLE_SLAB_A) || program_buffer(program, ROLE_SLAB_B);
  canvas_text(canvas, in, 0, 0, STYLE_HEADER,
              slabs ? "NO LANE USES SHARED MEMORY" : "NO SHARED MEMORY YET");
  rect_take_top(&in, 2);
  int rows =
      canvas_wrap(canvas, in, STYLE_DIM,
                  slabs ? "TMA writes the slabs and the tensor core reads them by descriptor, in "
                          "whole lines of 128 bytes. No lane has an address, so no bank conflicts."
                        : "Every thread reads A and B from global memory. STAGE=11 lets the "
                          "block share slabs of both. Each access to them is drawn here as a "
                          "punch card: 32 banks across, one row for each wavefront.");
  rect_take_top(&in, rows + 1);
  explore_draw_kernel(canvas, in, session);
}

static void draw_global_head(Canvas *canvas, Rect in, const Session *session,
                             const GlobalSite *site) {
  char verdict[32];
  Style style;
  int col = canvas_printf(canvas, in, 0, 0, STYLE_HEADER, "SITE %d/%d", site->number,
                          session_site_count(session));
  canvas_text(canvas, in, 0, col + 1, STYLE_SITE, site->text);
  sector_card_verdict(&site->count, verdict, &style);
  col = canvas_text(canvas, in, 1, 0, style, verdict);
  if (site->count.known)
    canvas_printf(canvas, in, 1, col + 2, STYLE_TEXT, "%d sector%s, ideal %d", site->count.sectors,
                  plural_s(site->count.sectors), site->count.ideal);
}

// Below it, where there is no slab yet, why one would pay.
static void draw_global(Canvas *canvas, Rect in, const Session *session, const GlobalSite *site) {
  SectorMap map;
  sectors_map(&map, site->compiled, site->addr);
  draw_global_head(canvas, in, session, site);
  rect_take_top(&in, 2);
  bool bare = session_model(session)->n_sites == 0;
  const char *said = sector_card_say(session->frame, site);
  const char *why = sector_card_why(session->frame, site);
  const int why_rows = why && in.rows > 8 ? canvas_wrap_rows(why, in.cols) : 0;
  int spare = !site->count.known ? 0 : bare && in.rows > 12 ? 8 : in.rows > 10 ? 2 : 0;
  if (why_rows) spare = max_int(spare, 2) + why_rows - 1;
  int rows = sector_card_draw(canvas, (Rect){in.row, in.col, in.rows - spare, in.cols}, &map);
  if (!site->count.known) return;
  rect_take_top(&in, rows);
  if (why_rows) canvas_wrap(canvas, rect_take_top(&in, why_rows), STYLE_WARN, why);
  sector_card_legend(canvas, in, &map);
  rect_take_top(&in, 3);
  if (bare)
    draw_no_site(canvas, in, session);
  else if (said && in.rows >= canvas_wrap_rows(said, in.cols))
    canvas_wrap(canvas, in, STYLE_DIM, said);
}

// The punch card, or on a key the lanes' addresses and the slab; why the access costs what it
// costs; the legend.
static void draw_site(Canvas *canvas, Rect in, const Session *session, const Site *site) {
  enum { LEGEND = 2 };
  const Explore *explore = session->prepared;
  const ExploreOwn *own = view_own(session, &explore_view);
  const BankMap *map = &session->doc.now.picture->map[session->at.site];
  const int phases = map->count.phases;
  const int full = explore->reason ? canvas_wrap_rows(explore->reason, in.cols) : 0;
  const int first = explore->reason ? canvas_wrap_rows(explore->reason_brief, in.cols) : 0;
  const bool brief = site->count.conflicts && card_folds(map, in.rows - full) &&
                     in.rows < CARD_ROWS_MIN + full + LEGEND + 2 &&
                     in.rows >= CARD_ROWS_LEAST + phases + first + 1;
  const char *reason = brief ? explore->reason_brief : explore->reason;
  const int why = brief ? first : full;
  const int legend = brief ? min_int(LEGEND, in.rows - CARD_ROWS_LEAST - phases - first) : LEGEND;
  const bool folds = card_folds(map, in.rows - why);
  const int spare = brief || in.rows >= CARD_ROWS_MIN + why + LEGEND + 2 ? why + legend
                    : in.rows <= 8                                       ? 0
                    : folds                                              ? LEGEND
                                                                         : why;
  const Rect card = {in.row, in.col, in.rows - spare, in.cols};
  const bool table = own->table && card_table_rows(in.cols) <= card.rows;
  const int rows = table ? card_table_rows(in.cols) : card_draw(canvas, card, map, -1);
  if (table) card_draw_table(canvas, card, map, site->addr);
  int left = in.rows - rows - spare;  // rows for blank lines between the parts
  rect_take_top(&in, rows + (left > 0));
  if (reason && spare >= why)
    rect_take_top(&in,
                  canvas_wrap(canvas, in, site->count.conflicts ? STYLE_WARN : STYLE_TEXT, reason));
  rect_take_top(&in, left > 1);
  draw_legend(canvas, in, map, card_folds(map, card.rows));
  rect_take_top(&in, LEGEND + 1);
  if (own->table && in.rows > 8) slab_draw(canvas, in, site);
}

void explore_draw_card(Canvas *canvas, Rect in, const Session *session) {
  const Site *site = session_site(session);
  if (session_global(session)) {
    draw_global(canvas, in, session, session_global(session));
    return;
  }
  if (!site) {
    draw_no_site(canvas, in, session);
    return;
  }
  draw_card_head(canvas, in, session, site);
  rect_take_top(&in, 2);
  draw_site(canvas, in, session, site);
}
