// banks: what each shared-memory access of a warp costs, and why.
//
// The selected site is drawn as a punch card, as a map of lanes and banks, or as the slab it reads;
// wide screens show two of them. While A|B is on, A stands on the left and B on the right, phase
// beside phase. Below, every site with its numbers: wavefronts, ideal, conflicts and ways are four
// different numbers and each is named. p times the selected access on the GPU, by the clock: the
// clocks then stand beside the wavefronts, of every access that asks the same of the banks.
//
// For ldmatrix the slab is the card: the lines that the eight lanes of a matrix address, side by
// side where there is an A and a B; its punch card comes last.
//
// Up and Down choose the site, Left and Right the phase, v the picture. ViewState: mode is the
// picture, session->phase is 0 for all phases, else 1 + the phase.
#include <stdio.h>

#include "banks/bank_text.h"
#include "base/str.h"
#include "tui/banks_global.h"
#include "tui/card.h"
#include "tui/fmt.h"
#include "tui/matrix_lines.h"
#include "tui/slab.h"
#include "tui/utf8.h"
#include "tui/view.h"
#include "tui/view_json.h"

enum { PICTURE_CARD, PICTURE_LANES, PICTURE_SLAB, PICTURE_COUNT, PICTURE_LINES };
enum { SPOT_SITE = SPOT_VIEW, LIST_ROWS_MAX = 9, BOTH_LISTS = 30, PAIR_COLS = 2 * CARD_COLS + 4 };
enum {
  NAME_COLS = 24,
  BAR_COL = 76,
  CLOCKS_COLS = 9
};  // the list: the share's bar, behind the clocks if any

// What drawing needs beyond the pictures: the lines that an ldmatrix addresses, of A and of B.
typedef struct BanksFrame {
  MatrixLines then, now;
  const char *matrix;  // "matrix 1 of 4: …"
} BanksFrame;

// ldmatrix begins with the lines and ends with the card.
static int picture_of(const Session *session, const Site *site) {
  int mode = session_view_state_const(session)->mode;
  if (matrix_lines_fit(site)) return mode == PICTURE_CARD ? PICTURE_LINES : mode % PICTURE_COUNT;
  return mode % PICTURE_COUNT;
}

static void banks_prepare(Session *session) {
  BanksFrame *frame = ARENA_NEW(session->frame, BanksFrame);
  session->prepared = frame;
  const Picture *now = session->now.picture, *then = session->then.picture;
  const Site *site = session_site(session);
  if (!site) return;
  frame->now = matrix_lines_make(session->frame, now->model, site, &now->map[session->site]);
  frame->matrix = matrix_lines_say(session->frame, &frame->now, session->phase - 1);
  int other = session->comparing ? session_matching_site(session, then) : -1;
  if (other >= 0)
    frame->then = matrix_lines_make(session->frame, then->model, &then->model->site[other],
                                    &then->map[other]);
}

// ---- one side -----------------------------------------------------------------------------------

static int phase_of(const Session *session, const BankMap *map) {
  return session->phase <= map->count.phases ? session->phase - 1 : -1;
}

static void draw_probed(Canvas *canvas, Rect in, int col, const Probed *probed) {
  if (!probed) return;
  if (in.cols - col >= 32)
    canvas_printf(canvas, in, 1, col, STYLE_MEASURED, "  %.2f clocks, measured here",
                  probed->clocks);
  else
    canvas_printf(canvas, in, 1, col, STYLE_MEASURED, "  %.2f clk", probed->clocks);
}

static void draw_title(Canvas *canvas, Rect in, const Site *site, const Probed *probed,
                       const char *side, Style side_style) {
  char verdict[32];
  Style style;
  int col = 0;
  if (side) col = canvas_printf(canvas, in, 0, 0, side_style, "%s  ", side);
  col = canvas_printf(canvas, in, 0, col, STYLE_HEADER, "SITE %d ", site->number);
  canvas_text(canvas, in, 0, col + 1, STYLE_SITE, site->text);
  card_verdict(&site->count, verdict, &style);
  col = canvas_text(canvas, in, 1, 0, style, verdict) + 2;
  if (site->count.known)
    col = canvas_printf(canvas, in, 1, col, STYLE_TEXT, "%d wavefront%s, ideal %d",
                        site->count.wavefronts, site->count.wavefronts == 1 ? "" : "s",
                        site->count.ideal);
  draw_probed(canvas, in, col, probed);
}

static void draw_picture(Canvas *canvas, Rect in, const Site *site, const BankMap *map, int phase,
                         int picture, const MatrixLines *lines) {
  if (picture == PICTURE_LINES) matrix_lines_draw(canvas, in, lines, phase);
  if (picture == PICTURE_CARD) card_draw(canvas, in, map, phase);
  if (picture == PICTURE_LANES) card_draw_lanes(canvas, in, map, site->addr, phase);
  if (picture == PICTURE_SLAB) slab_draw(canvas, in, site);
}

static void draw_side(Canvas *canvas, Rect in, const Session *session, const Picture *picture,
                      int index, const char *name, Style style) {
  if (index < 0) {
    canvas_text(canvas, in, 0, 0, style, name ? name : "");
    canvas_wrap(canvas, (Rect){in.row + 1, in.col, in.rows - 1, in.cols}, STYLE_DIM,
                "This kernel does not touch shared memory.");
    return;
  }
  const Site *site = &picture->model->site[index];
  const BankMap *map = &picture->map[index];
  const BanksFrame *frame = session->prepared;
  const MatrixLines *lines = picture == session->now.picture ? &frame->now : &frame->then;
  int phase = phase_of(session, map), mode = picture_of(session, site);
  draw_title(canvas, in, site, results_probed(&session->results, site->op, site->addr), name,
             style);
  rect_take_top(&in, 2);
  bool pair = in.cols >= PAIR_COLS && mode != PICTURE_SLAB;
  int width = mode == PICTURE_LINES ? MATRIX_LINES_COLS + 1 : CARD_COLS + 3;
  Rect first = rect_take_left(&in, pair ? width : in.cols);
  draw_picture(canvas, first, site, map, phase, mode, lines);
  int second = mode == PICTURE_LINES ? PICTURE_CARD : mode + 1;
  if (pair) draw_picture(canvas, in, site, map, phase, second, lines);
}

// ---- all sites ----------------------------------------------------------------------------------

static double share_of(const Picture *picture, const Site *site) {
  if (!site->count.known || !(picture->model->totals.wavefronts > 0)) return 0;
  return site->clocks / picture->model->totals.wavefronts;
}

static bool any_probed(const Session *session) {
  const Model *model = session->now.picture->model;
  for (int i = 0; i < model->n_sites; i++)
    if (results_probed(&session->results, model->site[i].op, model->site[i].addr)) return true;
  return false;
}

// Room for "A_s <- A  LDGSTS.E.BYPASS.128" where there is any.
static int name_cols(Rect row) { return row.cols >= 100 ? NAME_COLS + 8 : NAME_COLS; }

// Behind the share: where A's wavefronts, the clocks measured and the bar begin; 0: not there. What
// a narrow screen has no room for stands above the picture only.
typedef struct Columns {
  int a, clocks, bar;
} Columns;

static Columns columns_of(const Session *session, int cols) {
  Columns at = {.bar = BAR_COL};
  if (session->comparing && at.bar + CLOCKS_COLS <= cols) at.a = at.bar, at.bar += CLOCKS_COLS;
  if (at.bar + CLOCKS_COLS <= cols && any_probed(session))
    at.clocks = at.bar, at.bar += CLOCKS_COLS;
  return at;
}

// What the same access costs in A; a dash where it has no count there.
static void draw_of_a(Canvas *canvas, Rect row, int col, const Session *session, const Site *site) {
  const Picture *a = session->then.picture;
  int other = session_matching(a, site);
  const BankCount *count = other < 0 ? NULL : &a->model->site[other].count;
  if (count && count->known)
    canvas_printf(canvas, row, 0, col, STYLE_SIDE_A, "%8d", count->wavefronts);
  else
    canvas_text(canvas, row, 0, col, STYLE_UNKNOWN, "       –");
}

static void draw_site_row(Canvas *canvas, Rect row, const Session *session, int index,
                          const Columns *at) {
  const Picture *picture = session->now.picture;
  const Site *site = &picture->model->site[index];
  const BankCount *count = &site->count;
  char badge[16];
  Style style;
  card_badge(count, badge, &style);
  canvas_printf(canvas, row, 0, 1, STYLE_DIM, "%2d", site->number);
  const int more = name_cols(row) - NAME_COLS;
  canvas_fit(canvas, row, 0, 4, name_cols(row) - 1, ALIGN_LEFT, STYLE_SITE, site->text);
  const Rect all = row;
  rect_take_left(&row, more);
  canvas_fit(canvas, row, 0, 28, 4, ALIGN_LEFT, style, badge);
  if (count->known)
    canvas_printf(canvas, row, 0, 32, STYLE_TEXT, "%5d%7d%10d%6d", count->wavefronts, count->ideal,
                  count->conflicts, count->ways);
  else
    canvas_text(canvas, row, 0, 32, STYLE_UNKNOWN, "    –      –         –     –");
  if (site->executions > 0)
    canvas_printf(canvas, row, 0, 61, STYLE_DIM, "%7.0f×", site->executions);
  else
    canvas_text(canvas, row, 0, 61, STYLE_DIM, " outside");  // of the loop over slabs
  double share = share_of(picture, site);
  if (row.cols >= BAR_COL) canvas_printf(canvas, row, 0, 70, STYLE_TEXT, "%3.0f %%", 100 * share);
  const Probed *probed = results_probed(&session->results, site->op, site->addr);
  if (at->a) draw_of_a(canvas, row, at->a - 1, session, site);
  if (at->clocks && probed)
    canvas_printf(canvas, row, 0, at->clocks, STYLE_MEASURED, "%8.2f", probed->clocks);
  if (row.cols > at->bar + 2)
    canvas_bar(canvas, row, 0, at->bar, row.cols - at->bar - 1, share, STYLE_BAR);
  canvas_spot(canvas, all, SPOT_SITE, index);
  if (index == session->site)
    canvas_over(canvas, (Rect){all.row, all.col, 1, BAR_COL - 1 + more}, STYLE_CURSOR);
}

static void draw_sites(Canvas *canvas, Rect in, const Session *session) {
  const Model *model = session->now.picture->model;
  Rect head = rect_take_top(&in, 1);
  canvas_text(canvas, head, 0, 1, STYLE_HEADER, " # access");
  rect_take_left(&head, name_cols(head) - NAME_COLS);
  const Columns at = columns_of(session, head.cols);
  canvas_text(canvas, head, 0, 31, STYLE_HEADER, "wavef.  ideal conflicts  ways per slab");
  if (head.cols >= BAR_COL) canvas_text(canvas, head, 0, 70, STYLE_HEADER, "share");
  if (at.a) canvas_text(canvas, head, 0, at.a, STYLE_SIDE_A, "A wavef.");
  if (at.clocks) canvas_text(canvas, head, 0, at.clocks, STYLE_HEADER, "clk here");
  int first = view_scroll(session->site, model->n_sites, in.rows);
  for (int i = 0; i < in.rows && first + i < model->n_sites; i++)
    draw_site_row(canvas, (Rect){in.row + i, in.col, 1, in.cols}, session, first + i, &at);
  view_draw_more(canvas, in, first, model->n_sites);
}

// ---- the view -----------------------------------------------------------------------------------

static void draw_legend(Canvas *canvas, Rect in, const Session *session) {
  static const char *const legends[] = {
      "row = wavefront, column = bank, cell = lane (0-9 a-v)",
      "row = lane, column = bank, letter = address: the same one in a column is free",
      "shared memory row by row, cell = bank; what this access touches wears its lane"};
  const Site *site = session_site(session);
  int picture = picture_of(session, site);
  if (picture != PICTURE_LINES) {
    bool shares =
        picture == PICTURE_CARD && site && card_shares(&session->now.picture->map[session->site]);
    int col = canvas_text(canvas, in, 0, 1, STYLE_DIM, legends[picture]);
    if (shares) canvas_text(canvas, in, 0, col, STYLE_DIM, ", below it: sharers");
    return;
  }
  int col =
      canvas_text(canvas, in, 0, 1, STYLE_TITLE, ((const BanksFrame *)session->prepared)->matrix);
  canvas_fit(canvas, in, 0, col + 2, in.cols - col - 2, ALIGN_LEFT, STYLE_DIM, "[cN] is read now");
}

static void banks_draw(Canvas *canvas, Rect in, const Session *session) {
  const Model *model = session->now.picture->model;
  int n = session_global(session) ? model->global.n : model->n_sites;
  if (n > LIST_ROWS_MAX) n = LIST_ROWS_MAX;
  int list_rows = in.rows >= 18 ? n + 1 : in.rows > 12 ? 3 : 0;
  int more_rows = in.rows >= BOTH_LISTS ? 1 + model->global.n : 0;
  if (session_global(session) && more_rows) list_rows = 1 + model->n_sites;
  Rect all = in, more = rect_take_bottom(&in, more_rows);
  Rect list = rect_take_bottom(&in, list_rows), legend = rect_take_bottom(&in, 1);
  canvas_hline(canvas, all, legend.row - all.row, 0, all.cols, STYLE_BORDER);
  if (more_rows) banks_global_list(canvas, more, session, SPOT_SITE);
  if (list_rows && session_global(session) && !more_rows)
    banks_global_list(canvas, list, session, SPOT_SITE);
  else if (list_rows)
    draw_sites(canvas, list, session);
  Rect text = rect_take_bottom(&in, 1);
  rect_take_left(&in, 1);
  if (session_global(session)) {
    banks_global_legend(canvas, text, session);
    banks_global_draw(canvas, in, session);
    return;
  }
  draw_legend(canvas, text, session);
  int site = session->site < model->n_sites ? session->site : -1;
  if (!session->comparing) {
    draw_side(canvas, in, session, session->now.picture, site, NULL, STYLE_TEXT);
    return;
  }
  Rect left = rect_take_left(&in, in.cols / 2);
  canvas_vline(canvas, all, 0, in.col - all.col, in.rows, STYLE_BORDER);
  rect_take_left(&in, 2);
  int other = session_matching_site(session, session->then.picture);
  draw_side(canvas, left, session, session->then.picture, other, "A", STYLE_SIDE_A);
  draw_side(canvas, in, session, session->now.picture, site, "B", STYLE_SIDE_B);
}

static void banks_move(Session *session, int delta) {
  int n = session_site_count(session), to = session->site + delta;
  if (n == 0) return;
  session->site = to < 0 ? 0 : to >= n ? n - 1 : to;
  session->phase = 0;
}

static void step_phase(Session *session, int step) {
  if (!session_site(session)) return;
  int n = session_site(session)->count.phases + 1;
  session->phase = (session->phase + step + n) % n;
}

static void phase_before(Session *s, const char *a) { (void)a, step_phase(s, -1); }
static void phase_after(Session *s, const char *a) { (void)a, step_phase(s, 1); }

static void change_picture(Session *session, const char *argument) {
  (void)argument;
  ViewState *state = session_view_state(session);
  bool lines = matrix_lines_fit(session_site(session));
  state->mode = (state->mode + 1) % (lines ? PICTURE_COUNT + 1 : PICTURE_COUNT);
}

static void probe(Session *session, const char *argument) {
  (void)argument;
  if (session_site(session))
    session->wishes.probe = true;
  else
    session_say(session, SAID_NOTE, "only accesses to shared memory are timed");
}

static int banks_at(const Session *session) { return session->site; }
static void banks_go(Session *session, int i) { banks_move(session, i - session->site); }

static const char *sites_line(const Session *session, int i) {
  const Model *model = session->now.picture->model;
  return i < model->n_sites ? model->site[i].text : model->global.site[i - model->n_sites].text;
}

static void banks_click(Session *session, int what, int value) {
  if (what == SPOT_SITE) banks_go(session, value);
}

static const Action actions[] = {
    {"phase-before", "Left h", "phase", "phase-after", "the phase before; all of them comes first",
     phase_before},
    {"phase-after", "Right l", NULL, NULL, "the next phase", phase_after},
    {"picture", "v", "picture", NULL,
     "punch card, lanes by banks, the slab; of ldmatrix first its lines", change_picture},
    {"probe", "p", "probe", NULL, "time this access on the GPU: clocks beside its wavefronts",
     probe},
};

const ViewBody banks_view = {
    .prepare = banks_prepare,
    .draw = banks_draw,
    .json = banks_json,
    .move = banks_move,
    .move_label = "site",
    .count = session_site_count,
    .line = sites_line,
    .at = banks_at,
    .go = banks_go,
    .click = banks_click,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
