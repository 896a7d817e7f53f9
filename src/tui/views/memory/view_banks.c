// banks: what each shared-memory access of a warp costs, and why.
//
// The selected site is drawn as a punch card, as a map of lanes and banks, or as the slab it reads,
// with its companions beside it where there is room (banks_view.h). While A|B is on, A stands on
// the left and B on the right, phase beside phase. Below, every site with its numbers: wavefronts,
// ideal, conflicts and ways are four different numbers and each is named. p times the selected
// access on the GPU, by the clock: the clocks then stand beside the wavefronts, of every access
// that asks the same of the banks.
//
// For ldmatrix the slab is the card: the lines that the eight lanes of a matrix address, side by
// side where there is an A and a B; its punch card comes last.
//
// The user's own addresses come in by e, by a paste or by ":banks OP TEXT" (banks_view.h). They are
// the last row of the list.
//
// Up and Down choose the site, Left and Right the phase, v the picture; session->at.phase is 0
// for all phases, else 1 + the phase.
#include <stdio.h>
#include <string.h>

#include "banks/engine/bank_text.h"
#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/subject.h"
#include "tui/views/data/view_data.h"
#include "tui/views/memory/bank_card.h"
#include "tui/views/memory/bank_why.h"
#include "tui/views/memory/banks_view.h"

enum { PICTURES = PANE_SLAB + 1 };  // of every access; ldmatrix has PANE_LINES before them
enum {
  SPOT_SITE = SPOT_VIEW,
  LIST_ROWS_MAX = 9,
  OWN_LIST_ROWS = 4,
  SENTENCE_FROM = 15,
  WHOLE_FROM = 17
};
enum { BOTH_LISTS = 30 };  // rows from which the accesses to global memory stand below the others
enum {
  NAME_COLS = 24,
  BAR_COL = 76,
  CLOCKS_COLS = 9
};  // the list: the share's bar, behind the clocks if any

// The texts that drawing needs beyond the pictures: the lines that an ldmatrix addresses, of A and
// of B.
typedef struct BanksSide {
  MatrixLines lines;
  const char *forms;  // "32 LDS.128, as written"
} BanksSide;

typedef struct BanksFrame {
  BanksSide then, now;
  const char *sentence;  // "matrix 1 of 4: …", the line of the source, or why it costs that
  const char *brief;     // of an ldmatrix, where lines and sums need the rows; NULL elsewhere
} BanksFrame;

typedef struct BanksChosen {
  int picture;  // the how-manieth of those that the access has
} BanksChosen;

static BanksChosen *chosen_of(const Session *session) { return view_chosen(session, &banks_view); }
static Own *own_of(const Session *session) { return view_own(session, &banks_view); }

// The user's own addresses belong to this view, not to a lesson that shows it.
static bool own_here(const Session *session) {
  return own_of(session)->set && session->at.view == view_find("banks");
}

static bool own_shown(const Session *session) {
  return own_here(session) && own_of(session)->shown;
}

// ldmatrix begins with the lines and ends with the card.
static BanksPane picture_of(const Session *session, const Site *site) {
  const int picture = chosen_of(session)->picture;
  if (matrix_lines_fit(site) && picture % (PICTURES + 1) == 0) return PANE_LINES;
  return (BanksPane)(picture % PICTURES);
}

static void prepare_side(BanksSide *out, Session *session, const Side *side, const Site *site,
                         const BankMap *map) {
  const AccessLayout layout = session_layout(session->frame, session, side, site);
  out->lines = matrix_lines_make(session->frame, site, map, layout);
  out->forms =
      session->at.subject ? session->at.subject->forms : site_forms_text(session->frame, site);
}

// "matrix 1 of 4: …. Lanes are 128 bytes apart: …".
static const char *say_lines(const Session *session, const BanksFrame *frame, const Site *site) {
  const char *lines = matrix_lines_say(session->frame, &frame->now.lines, session->at.phase - 1);
  if (session_compares(session)) return lines;
  const char *why =
      bank_says(session->frame, session, site, session_map(session, session_at(session)));
  return why ? arena_printf(session->frame, "%s. %s", lines, why) : lines;
}

static void banks_prepare(Session *session) {
  BanksFrame *frame = ARENA_NEW(session->frame, BanksFrame);
  session->prepared = frame;
  const Picture *then = session->doc.then.picture;
  const Site *site = session_site(session);
  if (!site) return;
  prepare_side(&frame->now, session, &session->doc.now, site,
               session_map(session, session_at(session)));
  if (picture_of(session, site) == PANE_LINES) {
    frame->sentence = say_lines(session, frame, site);
    if (!session_compares(session))
      frame->brief = bank_says_in_brief(session->frame, session, site,
                                        session_map(session, session_at(session)));
  } else if (session->at.subject)
    frame->sentence = session->at.subject->sentence;
  else if (!session_compares(session) && !session_global(session))
    frame->sentence =
        bank_says(session->frame, session, site, session_map(session, session_at(session)));
  const int other = session_compares(session) ? session_matching_site(session, then) : -1;
  if (other >= 0)
    prepare_side(&frame->then, session, &session->doc.then, &then->model->site[other],
                 &then->map[other]);
}

// ---- one side -----------------------------------------------------------------------------------

static int phase_of(const Session *session, const BankMap *map) {
  return session->at.phase <= map->count.phases ? session->at.phase - 1 : -1;
}

static void draw_probed(Canvas *canvas, Rect in, int col, const Probed *probed) {
  if (!probed) return;
  if (in.cols - col >= 32)
    canvas_printf(canvas, in, 1, col, STYLE_MEASURED, "  %.2f clocks, measured here",
                  probed->clocks);
  else
    canvas_printf(canvas, in, 1, col, STYLE_MEASURED, "  %.2f clk", probed->clocks);
}

static void draw_title(Canvas *canvas, Rect in, const Session *session, const Site *site,
                       const char *forms, const char *side, Style side_style) {
  const Probed *probed = results_probed(&session->background.results, site->op, site->addr);
  char verdict[32];
  Style style;
  int col = 0;
  if (side) col = canvas_printf(canvas, in, 0, 0, side_style, "%s  ", side);
  col = canvas_printf(canvas, in, 0, col, STYLE_HEADER, "SITE %d ", site->number);
  col = canvas_text(canvas, in, 0, col + 1, STYLE_SITE, site->text);
  if ((int)strlen(forms) <= in.cols - col - 2)
    canvas_text(canvas, in, 0, col + 2, site->word == ACCESS_COMPILED ? STYLE_TEXT : STYLE_DIM,
                forms);
  card_verdict(&site->count, verdict, &style);
  col = canvas_text(canvas, in, 1, 0, style, verdict) + 2;
  if (site->count.known)
    col =
        canvas_printf(canvas, in, 1, col, STYLE_TEXT, "%d wavefront%s, ideal %d",
                      site->count.wavefronts, plural_s(site->count.wavefronts), site->count.ideal);
  draw_probed(canvas, in, col, probed);
  if (session->at.subject)
    canvas_fit(canvas, in, 1, col + 2, in.cols - col - 2, ALIGN_LEFT, STYLE_DIM,
               session->at.subject->execution);
}

// `site` NULL: there is none.
static void draw_side(Canvas *canvas, Rect in, const Session *session, const Site *site,
                      const BankMap *map, const BanksSide *side, const char *name, Style style) {
  if (!site) {
    canvas_text(canvas, in, 0, 0, style, name ? name : "");
    canvas_wrap(canvas, (Rect){in.row + 1, in.col, in.rows - 1, in.cols}, STYLE_DIM,
                session_accesses(session).none);
    return;
  }
  draw_title(canvas, in, session, site, side->forms, name, style);
  rect_take_top(&in, 2);
  const AccessPicture access = {.map = map,
                                .addr = site->addr,
                                .site = site,
                                .lines = &side->lines,
                                .best = session->at.subject ? session->at.subject->best : NULL,
                                .phase = phase_of(session, map)};
  banks_panes_draw(canvas, in, &access, picture_of(session, site));
}

// ---- all sites ----------------------------------------------------------------------------------

// For a schedule's kernel the pipe's, for typed addresses the profiler's, which has what goes past
// L1, too; below 0: the pipe has none of it.
static double share_of(const Accesses *all, const Site *site) {
  if (!site->count.known && !(site->clocks > 0)) return -1;
  return all->wavefronts > 0 ? site->clocks / all->wavefronts : 0;
}

// Wavefronts, ideal, conflicts and ways; of what the pipe does not count the profiler's bounds.
static void draw_count(Canvas *canvas, Rect row, const BankCount *count) {
  char bounds[32];
  if (count->known) {
    canvas_printf(canvas, row, 0, 32, STYLE_TEXT, "%5d%7d%10d%6d", count->wavefronts, count->ideal,
                  count->conflicts, count->ways);
    return;
  }
  snprintf(bounds, sizeof bounds, count->profiled_most > count->profiled ? "%d-%d" : "%d",
           count->profiled, count->profiled_most);
  canvas_printf(canvas, row, 0, 32, STYLE_UNKNOWN, "%5s", bounds);
  canvas_text(canvas, row, 0, 37, STYLE_UNKNOWN, "      –         –     –");
}

static bool any_probed(const Session *session) {
  const Accesses all = session_accesses(session);
  for (int i = 0; i < all.n; i++)
    if (results_probed(&session->background.results, all.site[i].op, all.site[i].addr)) return true;
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
  if (session_compares(session) && at.bar + CLOCKS_COLS <= cols)
    at.a = at.bar, at.bar += CLOCKS_COLS;
  if (at.bar + CLOCKS_COLS <= cols && any_probed(session))
    at.clocks = at.bar, at.bar += CLOCKS_COLS;
  return at;
}

// The wavefronts of the same access in A; a dash if it has no count there.
static void draw_of_a(Canvas *canvas, Rect row, int col, const Session *session, const Site *site) {
  const Picture *a = session->doc.then.picture;
  int other = session_matching(a, site);
  const BankCount *count = other < 0 ? NULL : &a->model->site[other].count;
  if (count && count->known)
    canvas_printf(canvas, row, 0, col, STYLE_SIDE_A, "%8d", count->wavefronts);
  else
    canvas_text(canvas, row, 0, col, STYLE_UNKNOWN, "       –");
}

static void draw_site_row(Canvas *canvas, Rect row, const Session *session, int index,
                          const Columns *at) {
  const Accesses accesses = session_accesses(session);
  const Site *site = &accesses.site[index];
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
  draw_count(canvas, row, count);
  if (site->executions > 0)
    canvas_printf(canvas, row, 0, 61, STYLE_DIM, "%7.0f×", site->executions);
  else
    canvas_text(canvas, row, 0, 61, STYLE_DIM, " outside");  // of the loop over slabs
  double share = share_of(&accesses, site);
  if (row.cols >= BAR_COL && share >= 0)
    canvas_printf(canvas, row, 0, 70, STYLE_TEXT, "%3.0f %%", 100 * share);
  else if (row.cols >= BAR_COL)
    canvas_text(canvas, row, 0, 70, STYLE_UNKNOWN, "  –");
  const Probed *probed = results_probed(&session->background.results, site->op, site->addr);
  if (at->a) draw_of_a(canvas, row, at->a - 1, session, site);
  if (at->clocks && probed)
    canvas_printf(canvas, row, 0, at->clocks, STYLE_MEASURED, "%8.2f", probed->clocks);
  if (row.cols > at->bar + 2 && share >= 0)
    canvas_bar(canvas, row, 0, at->bar, row.cols - at->bar - 1, share, STYLE_BAR);
  canvas_spot(canvas, all, SPOT_SITE, index);
  if (index == session_at(session) && !own_shown(session))
    canvas_over(canvas, (Rect){all.row, all.col, 1, BAR_COL - 1 + more}, STYLE_CURSOR);
}

// A typed access, in the same columns; it runs in no kernel.
static void draw_own_row(Canvas *canvas, Rect row, const Session *session) {
  const OwnAccess *access = &own_of(session)->access;
  const BankCount *count = &access->count;
  char badge[16], text[128];
  Style style;
  const Rect all = row;
  const int more = name_cols(row) - NAME_COLS;
  card_badge(count, badge, &style);
  snprintf(text, sizeof text, "%s  %.96s", access->input.op->sass, access->text);
  canvas_glyph(canvas, row, 0, 2, STYLE_KEY, GLYPH_POINTER);
  canvas_fit(canvas, row, 0, 4, name_cols(row) - 1, ALIGN_LEFT, STYLE_SITE, text);
  rect_take_left(&row, more);
  canvas_fit(canvas, row, 0, 28, 4, ALIGN_LEFT, style, badge);
  draw_count(canvas, row, count);
  canvas_text(canvas, row, 0, 61, STYLE_DIM, "   yours");
  canvas_spot(canvas, all, SPOT_SITE, session_site_count(session));
  if (own_shown(session))
    canvas_over(canvas, (Rect){all.row, all.col, 1, BAR_COL - 1 + more}, STYLE_CURSOR);
}

// The rows that the cursor goes over: shared memory, global memory, then typed addresses.
static int rows_count(const Session *session) {
  return session_site_count(session) + own_here(session);
}

static int row_at(const Session *session) {
  return own_shown(session) ? session_site_count(session) : session_at(session);
}

// Rows of the list of shared memory, the typed one behind it.
static int shared_rows(const Session *session) {
  return session_accesses(session).n + own_here(session);
}

static int shared_row_at(const Session *session) {
  const int last = session_accesses(session).n - 1;
  return own_shown(session) ? last + 1 : min_int(session_at(session), last);
}

static void draw_sites(Canvas *canvas, Rect in, const Session *session) {
  const Accesses all = session_accesses(session);
  Rect head = rect_take_top(&in, 1);
  canvas_text(canvas, head, 0, 1, STYLE_HEADER, " # access");
  rect_take_left(&head, name_cols(head) - NAME_COLS);
  const Columns at = columns_of(session, head.cols);
  canvas_text(canvas, head, 0, 31, STYLE_HEADER, "wavef.  ideal conflicts  ways");
  canvas_fit(canvas, head, 0, 61, 8, ALIGN_RIGHT, STYLE_HEADER, all.per);
  if (head.cols >= BAR_COL) canvas_text(canvas, head, 0, 70, STYLE_HEADER, "share");
  if (at.a) canvas_text(canvas, head, 0, at.a, STYLE_SIDE_A, "A wavef.");
  if (at.clocks) canvas_text(canvas, head, 0, at.clocks, STYLE_HEADER, "clk here");
  ViewList list = view_list(in, shared_row_at(session), shared_rows(session));
  while (view_list_next(canvas, &list)) {
    if (list.at < all.n)
      draw_site_row(canvas, list.row, session, list.at, &at);
    else
      draw_own_row(canvas, list.row, session);
  }
}

// ---- the view -----------------------------------------------------------------------------------

// A line of a source is cut, a sentence is not.
static void draw_sentence(Canvas *canvas, Rect *in, const char *text, bool is_source) {
  const int rows = is_source ? 1 : min_int(3, canvas_wrap_rows(text, in->cols - 1));
  Rect row = rect_take_bottom(in, rows);
  rect_take_left(&row, 1);
  if (rows == 1)
    canvas_fit(canvas, row, 0, 0, row.cols, ALIGN_LEFT, STYLE_TITLE, text);
  else
    canvas_wrap(canvas, row, STYLE_TITLE, text);
}

static bool global_shown(const Session *session) {
  return session_global(session) && !own_shown(session);
}

// Accesses to global memory that have a row.
static int global_rows(const Session *session) {
  return session_site_count(session) - session_accesses(session).n;
}

static int list_rows(const Session *session, Rect in) {
  int n = global_shown(session) ? global_rows(session) : shared_rows(session);
  n = min_int(n, own_shown(session) ? OWN_LIST_ROWS : LIST_ROWS_MAX);
  return in.rows >= 18 ? n + 1 : in.rows > 12 ? 3 : 0;
}

// The lists below: of what is selected, and the other kind where there is room for both.
static void draw_lists(Canvas *canvas, Rect *in, const Session *session) {
  const Rect all = *in;
  const bool both = in->rows >= BOTH_LISTS && global_rows(session) > 0,
             global = global_shown(session);
  const int shared = session_accesses(session).n;
  const int rows = global && both ? shared + (shared > 0) : list_rows(session, *in);
  Rect more = rect_take_bottom(in, both ? 1 + global_rows(session) : 0);
  Rect list = rect_take_bottom(in, rows), line = rect_take_bottom(in, 1);
  canvas_hline(canvas, all, line.row - all.row, 0, all.cols, STYLE_BORDER);
  if (both) banks_global_list(canvas, more, session, SPOT_SITE);
  if (rows && global && !both)
    banks_global_list(canvas, list, session, SPOT_SITE);
  else if (rows)
    draw_sites(canvas, list, session);
}

static void draw_own(Canvas *canvas, Rect in, const Session *session) {
  const Own *own = own_of(session);
  const int phase = session->at.phase <= own->access.count.phases ? session->at.phase - 1 : -1;
  const int picture = chosen_of(session)->picture;
  rect_take_left(&in, 1);
  own_draw(canvas, in, own, phase, (BanksPane)(picture % PANE_SLAB));
}

static void draw_global(Canvas *canvas, Rect in, const Session *session) {
  banks_global_legend(canvas, rect_take_bottom(&in, 1), session);
  rect_take_left(&in, 1);
  banks_global_draw(canvas, in, session);
}

static void draw_shared(Canvas *canvas, Rect in, const Session *session) {
  const BanksFrame *frame = session->prepared;
  const Site *site = session_site(session);
  const BankMap *map = site ? session_map(session, session_at(session)) : NULL;
  const char *sentence = frame->brief && in.rows < WHOLE_FROM ? frame->brief : frame->sentence;
  if (sentence && in.rows >= SENTENCE_FROM)
    draw_sentence(canvas, &in, sentence, session->at.subject != NULL);
  rect_take_left(&in, 1);
  if (!session_compares(session)) {
    draw_side(canvas, in, session, site, map, &frame->now, NULL, STYLE_TEXT);
    return;
  }
  const Rect left = view_take_a(canvas, &in, 2);
  const Picture *then = session->doc.then.picture;
  const int other = session_matching_site(session, then);
  draw_side(canvas, left, session, other < 0 ? NULL : &then->model->site[other],
            other < 0 ? NULL : &then->map[other], &frame->then, "A", STYLE_SIDE_A);
  draw_side(canvas, in, session, site, map, &frame->now, "B", STYLE_SIDE_B);
}

static void banks_draw(Canvas *canvas, Rect in, const Session *session) {
  draw_lists(canvas, &in, session);
  if (own_shown(session))
    draw_own(canvas, in, session);
  else if (session_global(session))
    draw_global(canvas, in, session);
  else
    draw_shared(canvas, in, session);
}

static void banks_go(Session *session, int i) {
  int n = rows_count(session), n_sites = session_site_count(session);
  if (n == 0) return;
  i = (int)clamp_index(i, n);
  own_of(session)->shown = i == n_sites;
  if (i < n_sites) session_choose(session, i);
  session->at.phase = 0;
}

static void banks_move(Session *session, int delta) { banks_go(session, row_at(session) + delta); }

static void step_phase(Session *session, int step) {
  const Site *site = session_site(session);
  if (!site && !own_of(session)->shown) return;  // lines of global memory have no phases
  const BankCount *count = own_of(session)->shown ? &own_of(session)->access.count : &site->count;
  int n = count->phases + 1;
  session->at.phase = (session->at.phase + step + n) % n;
}

static void phase_before(Session *s, const char *a) { (void)a, step_phase(s, -1); }
static void phase_after(Session *s, const char *a) { (void)a, step_phase(s, 1); }

static void change_picture(Session *session, const char *argument) {
  (void)argument;
  BanksChosen *chosen = chosen_of(session);
  int n = own_of(session)->shown                    ? PANE_SLAB
          : matrix_lines_fit(session_site(session)) ? PICTURES + 1
                                                    : PICTURES;
  chosen->picture = (chosen->picture + 1) % n;
}

static void probe(Session *session, const char *argument) {
  (void)argument;
  if (own_of(session)->shown || session->at.subject)
    session_say(session, SAID_NOTE,
                "addresses of your own are counted, not timed: "
                "gemmview probe times those of a schedule");
  else if (session_site(session))
    session->wishes.probe = true;
  else
    session_say(session, SAID_NOTE, "only accesses to shared memory are timed");
}

// ---- addresses that users type ------------------------------------------------------------------

static void say_finding(Session *session, const Diags *diags) {
  const Diag *diag = diags->first;
  session_say(session, SAID_ERROR, "%s%s%s", diag->text, diag->nearest ? "; nearest: " : "",
              diag->nearest ? diag->nearest : "");
}

static bool banks_command(Session *session, const char *argument, Diags *diags) {
  if (!own_read(own_of(session), argument, diags)) return false;
  session->at.phase = 0;
  return true;
}

// Everything but what only the command line can: files, lists, data.
static bool banks_takes(const char *argument) {
  for (const char *at = argument; (at = strstr(at, "--")); at += 2)
    if (!str_starts(at, "--op ") && !str_starts(at, "--addr ")) return false;
  return true;
}

static void banks_paste(Session *session, const char *text) {
  Diags diags = diags_new(session->frame);
  if (!banks_command(session, text, &diags)) say_finding(session, &diags);
}

static void banks_typed(Session *session, TextFieldResult result) {
  if (result == TEXTFIELD_ACCEPTED && session->prompt.field.text[0])
    banks_paste(session, session->prompt.field.text);
}

static void own_edit(Session *session, const char *argument) {
  if (argument && *argument) {
    banks_paste(session, argument);
    return;
  }
  const Own *own = own_of(session);
  session->prompt.kind = PROMPT_FIELD;
  session->prompt.field.history = NULL;
  const char *text = "lds32 ";
  if (own->set)
    text = arena_printf(session->frame, "%s %s%s%s", own->access.input.op->name,
                        own->access.expression ? own->access.unit : "",
                        own->access.expression ? " " : "", own->access.text);
  textfield_set(&session->prompt.field, text);
}

static void step_own(Session *session, bool (*step)(Own *, int, Diags *)) {
  Diags diags = diags_new(session->frame);
  if (!own_of(session)->shown)
    session_say(session, SAID_NOTE, "this needs addresses of your own: %s types them",
                view_key_name(session, "own"));
  else if (!step(own_of(session), 1, &diags))
    say_finding(session, &diags);
  session->at.phase = 0;
}

static void own_op(Session *s, const char *a) { (void)a, step_own(s, own_step_op); }

static void own_unit(Session *session, const char *argument) {
  (void)argument;
  if (own_of(session)->shown && !own_of(session)->access.expression)
    session_say(session, SAID_NOTE, "addresses are bytes; an expression has a unit");
  else
    step_own(session, own_step_unit);
}

static void own_forget(Session *s, const char *a) { (void)a, own_drop(own_of(s)); }

static const char *banks_line(const Session *session, int i) {
  const Accesses all = session_accesses(session);
  if (i < all.n) return all.site[i].text;
  if (i < session_site_count(session)) return session_model(session)->global.site[i - all.n].text;
  return own_line(own_of(session));
}

static void banks_click(Session *session, int what, int value) {
  if (what == SPOT_SITE) banks_go(session, value);
}

static void show_written(Session *session, const char *argument) {
  (void)argument;
  ViewState *state = session_view_state(session);
  state->as_written = !state->as_written;
  if (state->as_written)
    session_say(session, SAID_NOTE, "as written; %s: as compiled",
                view_key_name(session, "written"));
}

static void step_execution(Session *session, int step) {
  if (session->at.subject)
    session->at.subject->step_execution(session, step);
  else
    session_say(session, SAID_NOTE, "of a schedule, the costliest warp is shown");
}

static void execution_before(Session *s, const char *a) { (void)a, step_execution(s, -1); }
static void execution_after(Session *s, const char *a) { (void)a, step_execution(s, 1); }

static void open_solver(Session *session, const char *argument) {
  (void)argument;
  view_show(session, view_find("swizzle"));
  view_run(session, "solve", NULL);
}

static const Action actions[] = {
    {"phase-before", "Left h", "phase", "phase-after",
     "the phase before; the first page shows "
     "all phases",
     phase_before},
    {"phase-after", "Right l", NULL, NULL, "the next phase", phase_after},
    {"execution-before", ", <", "execution", "execution-after",
     "own kernel: the previous addresses of this access, the worst first", execution_before},
    {"execution-after", ". >", NULL, NULL, "the next addresses", execution_after},
    {"solver", "Enter", "solver", NULL, "find the best layout for this slab, in the swizzle view",
     open_solver},
    {"picture", "v", "picture", NULL,
     "change the picture: punch card, lanes by banks, the slab, ldmatrix lines", change_picture},
    {"written", "w", NULL, NULL, "show accesses as written, or as compiled (LDS merged to LDS.128)",
     show_written},
    {"own", "e", "own addresses", NULL,
     "count your own addresses: own lds32 (tid % 8) * 32 + lane / 8, or a list", own_edit},
    {"own-op", "o", NULL, NULL, "your own addresses by the next operation", own_op},
    {"own-unit", "t", NULL, NULL, "the next unit of your own expression: bytes, f16, f32, f64",
     own_unit},
    {"own-drop", "Backspace", NULL, NULL, "forget your own addresses", own_forget},
    {"probe", "p", "probe", NULL, "time this access on the GPU, beside its wavefronts", probe},
};

// The footer names an action that only one kind of kernel has at that kind.
static const char *banks_hint(const Session *session, const Action *action) {
  const bool execution = action->run == execution_before;
  return (execution && !session->at.subject) || (action->run == probe && session->at.subject)
             ? NULL
             : action->label;
}

static void banks_site_chosen(Session *session) { own_of(session)->shown = false; }

const ViewBody banks_view = {
    .chosen_bytes = sizeof(BanksChosen),
    .state_bytes = sizeof(Own),
    .open = own_init,
    .close = own_done,
    .site_chosen = banks_site_chosen,
    .shows_subject = true,
    .prepare = banks_prepare,
    .draw = banks_draw,
    .data = banks_data,
    .move = banks_move,
    .move_label = "site",
    .count = rows_count,
    .line = banks_line,
    .at = row_at,
    .go = banks_go,
    .click = banks_click,
    .typed = banks_typed,
    .field_label = "own ",
    .takes = banks_takes,
    .command = banks_command,
    .paste = banks_paste,
    .hint = banks_hint,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
