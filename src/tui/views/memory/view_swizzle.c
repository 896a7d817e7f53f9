// swizzle: how a slab lies in shared memory, what every access to it costs so, and what would be
// better.
//
// On the left the slab row after row (while A|B is on: as it lies in A), on the right as it lies:
// now, or in the layout that is being typed (e) or that the solver found (s). What the selected
// access asks for in one phase stands out in both. Below, every access to the slab with its
// wavefronts over all that a block executes for one slab, in each layout, and the weighted total.
// Enter sets the knobs that make the layout.
//
// Up and Down choose the access, Left and Right one of its phases, v the picture. ViewState: cursor
// is the phase, counted through all executions.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/readings/place/described.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/subject.h"
#include "tui/views/data/view_data.h"
#include "tui/views/memory/bank_card.h"
#include "tui/views/memory/swizzle.h"

typedef enum SwizzlePicture {
  PICTURE_BANKS,
  PICTURE_LINES,
  PICTURE_BITS,
  PICTURE_CARDS,
  PICTURES
} SwizzlePicture;

typedef struct SwizzleChosen {
  SwizzlePicture picture;
} SwizzleChosen;
enum {
  LEGEND_FROM_ROWS = 10,  // a picture of fewer rows needs them all
  SPOT_SITE = SPOT_VIEW,
  SITES_SHOWN = 8,
  WIDE_COLS = 116,
  NAME_COLS = 22,
  NAME_COLS_MAX = 30,
  COST_COLS = 11,  // wavefronts and ways of one layout
  LAYOUT_ROWS = 2
};

typedef struct CardPicture {
  const Site *site;  // NULL: there is no such access
  BankMap map;
  SlabCost cost;
} CardPicture;

// The data of a frame, made by swizzle_prepare in the frame's arena.
typedef struct SwizzleFrame {
  const Swizzle *work;
  int use;                      // of the selected site
  int step, n_steps, n_phases;  // phases through all executions
  SlabPicture before, after;
  CardPicture *card[2];  // a store and a read, where they cost most
} SwizzleFrame;

// ---- preparing ----------------------------------------------------------------------------------

static int find_use(const Swizzle *work, const Site *site) {
  for (int i = 0; i < work->slab.problem.n_sites; i++)
    if (work->slab.use[i].site == site) return i;
  return 0;
}

static BankMap map_of(const SlabSite *site, const Layout *layout, int repetition) {
  BankMap map;
  int64_t addr[BANK_LANES];
  slab_site_addresses(site, layout, repetition, addr);
  banks_map(&map, site->op, addr);
  return map;
}

// The execution that needs the most wavefronts, of the access that needs the most in all.
static CardPicture *make_card(Arena *arena, const Swizzle *work, bool store) {
  CardPicture *card = ARENA_NEW(arena, CardPicture);
  const SwizzleColumn *column = swizzle_after(work);
  int chosen = -1;
  for (int i = 0; column->cost && i < work->slab.problem.n_sites; i++) {
    bool wanted = work->slab.use[i].site->is_store == store && column->cost[i].known;
    if (!wanted || !column->cost[i].legal) continue;
    if (chosen < 0 || column->cost[i].wavefronts > column->cost[chosen].wavefronts) chosen = i;
  }
  if (chosen < 0) return card;
  const SlabSite *site = &work->slab.problem.sites[chosen];
  card->site = work->slab.use[chosen].site;
  card->cost = column->cost[chosen];
  for (int i = 0; i < site->repeat; i++) {
    BankMap map = map_of(site, column->layout, i);
    if (i == 0 || map.count.wavefronts > card->map.count.wavefronts) card->map = map;
    if (card->map.count.ways == card->cost.ways) break;
  }
  return card;
}

static void choose_step(SwizzleFrame *frame, const ViewState *state) {
  const SlabSite *site = &frame->work->slab.problem.sites[frame->use];
  int n_lanes;
  frame->n_phases = slab_site_phases(site, 0, &n_lanes);
  frame->n_steps = frame->n_phases * site->repeat;
  frame->step = state->cursor < frame->n_steps ? state->cursor : 0;
}

static SwizzleChosen *chosen_of(const Session *session) {
  return view_chosen(session, &swizzle_view);
}
static Swizzle *workbench(const Session *session) { return view_own(session, &swizzle_view); }

static void swizzle_prepare(Session *session) {
  SwizzleFrame *frame = ARENA_NEW(session->frame, SwizzleFrame);
  swizzle_follow(workbench(session), session);
  frame->work = workbench(session);
  session->prepared = frame;
  if (!frame->work->built) return;
  if (frame->work->slab.problem.n_sites == 0) {
    frame->before =
        slab_picture_of_layout(session->frame, frame->work->column[SWIZZLE_PLAIN].layout);
    frame->after = slab_picture_of_layout(session->frame, swizzle_after(frame->work)->layout);
    return;
  }
  const Site *selected = session_slab_site(session);
  frame->use = find_use(frame->work, selected);
  choose_step(frame, session_view_state(session));
  const SlabSite *site = &frame->work->slab.problem.sites[frame->use];
  int repetition = frame->step / frame->n_phases, phase = frame->step % frame->n_phases;
  const Layout *after = swizzle_after(frame->work)->layout;
  const Layout *before = frame->work->column[SWIZZLE_PLAIN].layout;
  frame->before = slab_picture_make(session->frame, site, before, repetition, phase);
  frame->after = slab_picture_make(session->frame, site, after, repetition, phase);
  if (chosen_of(session)->picture != PICTURE_CARDS) return;
  for (int i = 0; i < 2; i++) frame->card[i] = make_card(session->frame, frame->work, i == 0);
}

// ---- the slab and the phase ---------------------------------------------------------------------

// The place of the next part of the title: on the row it is on while it fits, else on one of its
// own.
typedef struct Flow {
  Canvas *canvas;  // NULL: rows are counted only
  Rect in;
  int row, col;
} Flow;

static void flow_layout(Flow *flow, Style style, const char *name, const char *text) {
  int indent = utf8_columns(name) + 1, cols = indent + utf8_columns(text);
  flow->col += 2;
  if (flow->col + cols > flow->in.cols) flow->row++, flow->col = 1;
  Rect rest = flow->in;
  rect_take_top(&rest, flow->row);
  rect_take_left(&rest, flow->col);
  if (flow->canvas) canvas_text(flow->canvas, rest, 0, 0, STYLE_DIM, name);
  rect_take_left(&rest, indent);
  rest.rows = rest.rows < LAYOUT_ROWS ? rest.rows : LAYOUT_ROWS;
  if (flow->canvas) canvas_wrap(flow->canvas, rest, style, text);
  int used = canvas_wrap_rows(text, rest.cols);
  flow->row += (used < LAYOUT_ROWS ? used : LAYOUT_ROWS) - 1;
  flow->col = used > 1 ? flow->in.cols : flow->col + cols;
}

// "128 rows of 128 B, bf16", "4 panels of 64 rows of 128 B, bf16"
static const char *say_shape(const SlabProblem *slab, char text[80]) {
  const Buffer *buffer = slab->slab;
  const LayoutSlab *shape = &slab->problem.slab;
  int rows = (int)buffer->dim[buffer->rank - 2], panels = shape->rows / rows, n = 0;
  if (panels > 1) n = snprintf(text, 80, "%d panels of ", panels);
  snprintf(text + n, (size_t)(80 - n), "%d rows of %d B, %s%s", rows, shape->row_bytes,
           slab->elements, buffer->transposed ? ", transposed" : "");
  return text;
}

// The slab, how it lies and what is tried. Returns its rows.
static int draw_title(Canvas *canvas, Rect in, const SwizzleFrame *frame) {
  const Swizzle *work = frame->work;
  const SwizzleColumn *trial = &work->column[SWIZZLE_TRIAL];
  const char *name = work->slab.slab->name;
  char text[80];
  say_shape(&work->slab, text);
  if (canvas) {
    canvas_text(canvas, in, 0, 1, STYLE_TITLE, name);
    canvas_text(canvas, in, 0, 2 + utf8_columns(name), STYLE_TEXT, text);
  }
  Flow flow = {canvas, in, 0, 2 + utf8_columns(name) + utf8_columns(text)};
  if (work->beside_a)
    flow_layout(&flow, STYLE_SIDE_A, "A", work->column[SWIZZLE_PLAIN].layout->text);
  flow_layout(&flow, work->beside_a ? STYLE_SIDE_B : STYLE_SIDE_A, work->beside_a ? "B now" : "now",
              work->slab.layout_text);
  if (trial->layout) flow_layout(&flow, STYLE_SIDE_B, trial->name, trial->layout->text);
  if (trial->unit) flow_layout(&flow, STYLE_DIM, "typed", trial->unit);
  return flow.row + 1;
}

static const char *say_wavefronts(int n, char out[32]) {
  if (n < 0)
    snprintf(out, 32, "past L1");
  else
    snprintf(out, 32, "%d wavefront%s", n, plural_s(n));
  return out;
}

static void draw_phase(Canvas *canvas, Rect row, const SwizzleFrame *frame) {
  const SlabSite *site = &frame->work->slab.problem.sites[frame->use];
  const Site *shown = frame->work->slab.use[frame->use].site;
  int n_lanes, phase = frame->step % frame->n_phases;
  slab_site_phases(site, frame->step / frame->n_phases, &n_lanes);
  int col = canvas_printf(canvas, row, 0, 1, STYLE_HEADER, "SITE %d ", shown->number);
  col = canvas_text(canvas, row, 0, col + 1, STYLE_SITE, shown->text);
  const char *noun = site->op->kind == BANK_LDMATRIX ? "matrix" : "phase";
  char text[96];
  int n = snprintf(text, sizeof text, "%s %d of %d: lanes %d-%d", noun, phase + 1, frame->n_phases,
                   phase * n_lanes, (phase + 1) * n_lanes - 1);
  int execution = frame->step / frame->n_phases + 1;
  char *rest = text + n;
  const size_t room = sizeof text - (size_t)n;
  // Whole numbers only: where "of execution 1 of 128" has no room it is "run 1/128".
  if (col + 2 + n + snprintf(rest, room, " of execution %d of %d", execution, site->repeat) >=
      row.cols)
    snprintf(rest, room, ", run %d/%d", execution, site->repeat);
  canvas_fit(canvas, row, 0, col + 2, row.cols - col - 3, ALIGN_LEFT, STYLE_TEXT, text);
}

static void draw_half(Canvas *canvas, Rect in, const SlabPicture *picture, const char *name,
                      Style style, SwizzlePicture shown) {
  char text[32];
  int col = canvas_text(canvas, in, 0, 0, style, name);
  Style price = picture->wavefronts > 1   ? STYLE_BAD
                : picture->wavefronts < 0 ? STYLE_DIM
                                          : STYLE_OK;
  if (picture->access_bytes)
    col = canvas_text(canvas, in, 0, col + 2, price, say_wavefronts(picture->wavefronts, text));
  Rect head = rect_take_top(&in, 1);
  int hidden = shown == PICTURE_LINES ? slab_picture_draw_lines(canvas, in, picture)
                                      : slab_picture_draw_banks(canvas, in, picture);
  if (hidden) canvas_printf(canvas, head, 0, col + 1, STYLE_DIM, "+%d lines", hidden);
}

static const char *legend_of(const SwizzleFrame *frame, SwizzlePicture shown) {
  if (!frame->work->slab.problem.n_sites)
    return shown != PICTURE_LINES ? "row = 128 bytes of the slab, cell = bank of its word"
                                  : "L = 128-byte line, cell = row and chunk that lie there";
  if (shown != PICTURE_LINES)
    return "row = 128 B of the slab, cell = bank of its word; bright: in this phase";
  return frame->work->slab.problem.slab.row_bytes % BANK_LINE_BYTES
             ? "L = 128-byte line, cell = row and chunk that lie there; bright: in this phase"
             : "L = 128-byte line, cell = chunk that lies there, [cN] is read in this phase";
}

static void draw_halves(Canvas *canvas, Rect in, const SwizzleFrame *frame, SwizzlePicture shown) {
  const SwizzleColumn *after = swizzle_after(frame->work);
  if (frame->work->slab.problem.n_sites) draw_phase(canvas, rect_take_top(&in, 1), frame);
  Rect legend = rect_take_bottom(&in, in.rows > LEGEND_FROM_ROWS);
  canvas_text(canvas, legend, 0, 1, STYLE_DIM, legend_of(frame, shown));
  rect_take_left(&in, 1);
  Rect left = rect_take_left(&in, SLAB_PICTURE_COLS + 1);
  rect_take_left(&in, 1);
  bool a = frame->work->beside_a;
  draw_half(canvas, left, &frame->before, a ? "A's layout" : "no layout",
            a ? STYLE_SIDE_A : STYLE_TEXT, shown);
  draw_half(canvas, in, &frame->after, after->name,
            after == &frame->work->column[SWIZZLE_NOW] && !a ? STYLE_SIDE_A : STYLE_SIDE_B, shown);
}

static void draw_matrix(Canvas *canvas, Rect in, const SwizzleFrame *frame) {
  const SwizzleColumn *column = swizzle_after(frame->work);
  rect_take_left(&in, 1);
  Rect left = rect_take_left(&in, swizzle_bits_cols(&column->facts) + 2);
  swizzle_draw_bits(canvas, left, &column->facts);
  int used = swizzle_draw_terms(canvas, in, &column->facts);
  rect_take_top(&in, used);
  swizzle_draw_facts(canvas, in, column);
}

// Bits and facts one below the other, beside the grids of a wide screen.
static void draw_aside(Canvas *canvas, Rect in, const SwizzleFrame *frame) {
  const SwizzleColumn *column = swizzle_after(frame->work);
  swizzle_draw_bits(canvas, rect_take_top(&in, column->facts.n_bits + 2), &column->facts);
  int used = swizzle_draw_terms(canvas, in, &column->facts);
  rect_take_top(&in, used);
  swizzle_draw_facts(canvas, in, column);
}

static void draw_card(Canvas *canvas, Rect in, const CardPicture *card, const char *name) {
  int col = canvas_text(canvas, in, 0, 0, STYLE_HEADER, name);
  if (!card->site) {
    canvas_text(canvas, in, 0, col + 1, STYLE_DIM, "(none has a count)");
    return;
  }
  canvas_text(canvas, in, 0, col + 1, STYLE_SITE, card->site->text);
  Style style = card->cost.conflicts ? STYLE_BAD : STYLE_OK;
  canvas_printf(canvas, in, 1, 0, style, "%d wavefronts in all, worst phase %d",
                card->cost.wavefronts, card->cost.ways);
  rect_take_top(&in, 2);
  card_draw(canvas, in, &card->map, -1);
}

static void draw_cards(Canvas *canvas, Rect in, const SwizzleFrame *frame) {
  rect_take_left(&in, 1);
  Rect left = rect_take_left(&in, CARD_COLS + 4);
  draw_card(canvas, left, frame->card[0], "store");
  draw_card(canvas, in, frame->card[1], "read");
}

// ---- what it costs ------------------------------------------------------------------------------

static void draw_cost(Canvas *canvas, Rect row, int col, const SlabCost *cost, int weight) {
  Style style = cost->conflicts ? STYLE_BAD : STYLE_OK;
  if (!cost->known)
    canvas_text(canvas, row, 0, col, STYLE_UNKNOWN, "     –   –");
  else if (!cost->legal)
    canvas_text(canvas, row, 0, col, STYLE_BAD, " cut apart");
  else
    canvas_printf(canvas, row, 0, col, style, "%6lld%4d", (long long)cost->wavefronts * weight,
                  cost->ways);
}

static int columns_of(const Swizzle *work) { return work->column[SWIZZLE_TRIAL].layout ? 3 : 2; }

// No half of a number: a column is there with all its digits, or not.
static bool fits(Rect row, int col) { return col + COST_COLS <= row.cols; }

static const char *fragment_head(Rect row, const Swizzle *work) {
  return columns_of(work) > 2 && row.cols < 84 ? "/fragment" : "per fragment";
}

// Where some access fills fragments.
static bool fragments_fit(Rect row, const Swizzle *work, int col) {
  bool any = false;
  for (int i = 0; i < work->slab.problem.n_sites; i++) any |= work->slab.use[i].fragments > 0;
  return any && col + 1 + (int)strlen(fragment_head(row, work)) <= row.cols;
}

// The room that the other columns leave, up to "A_s <- A  LDGSTS.E.BYPASS.128".
static int name_cols(Rect row, const Swizzle *work) {
  int room = row.cols - 12 - COST_COLS * columns_of(work) - (int)strlen(fragment_head(row, work));
  return room < NAME_COLS ? NAME_COLS : room > NAME_COLS_MAX ? NAME_COLS_MAX : room;
}

// Number, name and runs stand before it.
static int cost_col(Rect row, const Swizzle *work) { return 5 + name_cols(row, work) + 6; }

static void draw_site(Canvas *canvas, Rect row, const SwizzleFrame *frame, int use) {
  const Swizzle *work = frame->work;
  const SlabUse *at = &work->slab.use[use];
  int col = 5 + name_cols(row, work), n = columns_of(work);
  canvas_printf(canvas, row, 0, 1, STYLE_DIM, "%2d", at->site->number);
  canvas_fit(canvas, row, 0, 4, name_cols(row, work), ALIGN_LEFT, STYLE_SITE, at->site->text);
  col = canvas_printf(canvas, row, 0, col, STYLE_DIM, "%5lld×", (long long)at->executions);
  for (int i = 0; i < n && fits(row, col); i++, col += COST_COLS)
    if (work->column[i].cost)
      draw_cost(canvas, row, col, &work->column[i].cost[use], work->slab.problem.sites[use].weight);
  const SwizzleColumn *after = swizzle_after(work);
  if (fragments_fit(row, work, col) && at->fragments > 0 && after->cost && after->cost[use].legal)
    canvas_printf(canvas, row, 0, col + 1, STYLE_TEXT, "%5.4g",
                  slab_use_wavefronts(&work->slab, use, after->layout) / at->fragments);
  canvas_spot(canvas, row, SPOT_SITE, at->site->number - 1);
  if (use == frame->use) canvas_over(canvas, (Rect){row.row, row.col, 1, row.cols}, STYLE_CURSOR);
}

static void draw_total(Canvas *canvas, Rect row, const SwizzleFrame *frame) {
  const Swizzle *work = frame->work;
  int col = cost_col(row, work);
  canvas_text(canvas, row, 0, 4, STYLE_TITLE, "weighted total");
  for (int i = 0; i < columns_of(work) && fits(row, col); i++, col += COST_COLS) {
    const SwizzleColumn *column = &work->column[i];
    if (!column->cost || !column->legal) continue;
    canvas_printf(canvas, row, 0, col, STYLE_TITLE, "%6.0f", column->total);
  }
}

static void draw_sites(Canvas *canvas, Rect in, const SwizzleFrame *frame) {
  const Swizzle *work = frame->work;
  int n = work->slab.problem.n_sites, col = cost_col(in, work);
  canvas_text(canvas, in, 0, 2, STYLE_HEADER, "#");
  canvas_text(canvas, in, 0, 4, STYLE_HEADER, "wavefronts, ways");
  canvas_text(canvas, in, 0, col - 5, STYLE_HEADER, "runs");
  for (int i = 0; i < columns_of(work) && fits(in, col); i++, col += COST_COLS)
    canvas_fit(canvas, in, 0, col, COST_COLS - 1, ALIGN_RIGHT, STYLE_HEADER, work->column[i].name);
  if (fragments_fit(in, work, col))
    canvas_text(canvas, in, 0, col + 1, STYLE_HEADER, fragment_head(in, work));
  rect_take_top(&in, 1);
  draw_total(canvas, rect_take_bottom(&in, 1), frame);
  ViewList list = view_list(in, frame->use, n);
  while (view_list_next(canvas, &list)) draw_site(canvas, list.row, frame, list.at);
}

// ---- the view -----------------------------------------------------------------------------------

static void draw_picture(Canvas *canvas, Rect in, const SwizzleFrame *frame, SwizzlePicture shown) {
  if (shown == PICTURE_BITS) {
    draw_matrix(canvas, in, frame);
  } else if (shown == PICTURE_CARDS && frame->work->slab.problem.n_sites) {
    draw_cards(canvas, in, frame);
  } else if (in.cols >= WIDE_COLS && in.rows >= 16) {
    Rect left = rect_take_left(&in, 2 * SLAB_PICTURE_COLS + 6);
    draw_halves(canvas, left, frame, shown);
    draw_aside(canvas, in, frame);
  } else {
    draw_halves(canvas, in, frame, shown);
  }
}

// A slab that only descriptors find: who touches it, and its layout.
static void draw_described(Canvas *canvas, Rect in, const Session *session) {
  const SwizzleFrame *frame = session->prepared;
  const DescribedSlabs slabs = described_slabs(session_model(session)->program);
  draw_title(canvas, rect_take_top(&in, draw_title(NULL, in, frame)), frame);
  const char *said = described_sentence(session->frame, &slabs);
  Rect sentence = rect_take_top(&in, canvas_wrap_rows(said, in.cols - 1) + 1);
  rect_take_left(&sentence, 1);
  canvas_wrap(canvas, sentence, STYLE_TEXT, said);
  Rect says = rect_take_bottom(&in, swizzle_says_rows(session->rows, frame->work, in.cols));
  draw_picture(canvas, in, frame, chosen_of(session)->picture);
  swizzle_draw_says(canvas, says, frame->work);
}

static void swizzle_draw(Canvas *canvas, Rect in, const Session *session) {
  const SwizzleFrame *frame = session->prepared;
  const Swizzle *work = frame->work;
  if (!work->built) canvas_wrap(canvas, rect_inset(in, 1, 1), STYLE_TEXT, work->why);
  if (work->built && !work->slab.problem.n_sites) draw_described(canvas, in, session);
  if (!work->built || !work->slab.problem.n_sites) return;
  Rect all = in;
  int title_rows = draw_title(NULL, in, frame), most = in.rows < 8 ? 1 : in.rows < 16 ? 2 : 6;
  Rect title = rect_take_top(&in, title_rows < most ? title_rows : most);
  draw_title(canvas, title, frame);
  Rect says = rect_take_bottom(&in, swizzle_says_rows(session->rows, work, in.cols));
  int n = work->slab.problem.n_sites < SITES_SHOWN ? work->slab.problem.n_sites : SITES_SHOWN;
  Rect table = rect_take_bottom(&in, in.rows >= n + 6 ? n + 2 : in.rows > 6 ? 3 : 0);
  Rect line = rect_take_bottom(&in, 1);
  draw_picture(canvas, in, frame, chosen_of(session)->picture);
  canvas_hline(canvas, all, line.row - all.row, 0, all.cols, STYLE_BORDER);
  if (table.rows) draw_sites(canvas, table, frame);
  swizzle_draw_says(canvas, says, work);
}

// ---- keys ---------------------------------------------------------------------------------------

static void show_described(Session *session, const char *argument) {
  (void)argument;
  if (!session->at.subject) swizzle_next_described(workbench(session), session);
}

static void swizzle_move(Session *session, int delta) {
  const int n = session_accesses(session).n;
  if (n == 0) show_described(session, NULL);
  if (n == 0) return;
  session_choose(session, (int)clamp_index(session_at(session) + delta, n));
  session_view_state(session)->cursor = 0;
}

static void step_phase(Session *session, int step) {
  swizzle_prepare(session);
  const SwizzleFrame *frame = session->prepared;
  if (frame->n_steps == 0) return;
  session_view_state(session)->cursor = (frame->step + step + frame->n_steps) % frame->n_steps;
}

static void phase_before(Session *s, const char *a) { (void)a, step_phase(s, -1); }
static void phase_after(Session *s, const char *a) { (void)a, step_phase(s, 1); }

static void change_picture(Session *session, const char *argument) {
  (void)argument;
  SwizzleChosen *chosen = chosen_of(session);
  chosen->picture = (chosen->picture + 1) % PICTURES;
}

// With an argument the layout is tried at once, as in ":layout swizzle:3,4,3".
static void edit(Session *session, const char *argument) {
  Swizzle *work = workbench(session);
  swizzle_follow(work, session);
  if (!work->built) return;
  if (argument && *argument) {
    swizzle_try(work, argument);
    return;
  }
  session->prompt.kind = PROMPT_FIELD;
  session->prompt.field.history = NULL;
  const char *text = swizzle_after(work)->layout->text;
  textfield_set(&session->prompt.field,
                str_equal(text, "none") ? "" : text);  // it is to be typed over
}

static void swizzle_typed(Session *session, TextFieldResult result) {
  if (result == TEXTFIELD_CANCELLED)
    swizzle_drop(workbench(session));
  else
    swizzle_try(workbench(session), session->prompt.field.text);
}

static void solve(Session *session, const char *argument) {
  (void)argument;
  swizzle_follow(workbench(session), session);
  if (workbench(session)->built && !workbench(session)->slab.problem.n_sites)
    session_say(session, SAID_NOTE, "no lane addresses this slab: the solver has nothing to do");
  else
    swizzle_solve(workbench(session));
}

static void drop(Session *s, const char *a) { (void)a, swizzle_drop(workbench(s)); }

static void apply(Session *session, const char *argument) {
  (void)argument;
  Swizzle *work = workbench(session);
  swizzle_follow(work, session);
  const SwizzleColumn *trial = &work->column[SWIZZLE_TRIAL];
  if (!work->built || !trial->layout) {
    session_say(session, SAID_NOTE, "nothing to apply: e types a layout, s looks for the best one");
    return;
  }
  Diags diags = diags_new(session->frame);
  const char *said = session_lay(session, work->slab.slab, trial->layout->text, &diags);
  if (!said)
    session_say(session, SAID_ERROR, "%s", diags.first->text);
  else if (!session->doc.now.reasons)
    session_say(session, SAID_NOTE, "%s", said);
}

static int sites_count(const Session *session) { return session_accesses(session).n; }
static int swizzle_at(const Session *session) { return session_at(session); }
static void swizzle_go(Session *session, int i) { swizzle_move(session, i - session_at(session)); }
static const char *sites_line(const Session *session, int i) {
  return session_accesses(session).site[i].text;
}
static void swizzle_click(Session *session, int what, int value) {
  if (what == SPOT_SITE) swizzle_go(session, value);
}

static const Action actions[] = {
    {"edit", "e", "edit", NULL,
     "type a layout: pad:4, swizzle:3,4,3 (bytes), swizzle_elem:3,3,3, xor:'col ^ …', xoroff:'off "
     "^ …'",
     edit},
    {"solve", "s", "solve", NULL, "find the best layout for these accesses, with the proof", solve},
    {"apply", "Enter", "apply", NULL,
     "set the knobs for this layout; for an array of your own, show what to write", apply},
    {"phase-before", "Left h", "phase", "phase-after", "the phase before", phase_before},
    {"phase-after", "Right l", NULL, NULL, "the next phase that is served", phase_after},
    {"picture", "v", "picture", NULL,
     "banks of the slab, lines of shared memory, bits, punch cards", change_picture},
    {"described", "d", "by descriptor", NULL,
     "the next slab that no lane addresses, TMA writes and a descriptor finds", show_described},
    {"layout", "", NULL, NULL, "a layout as typed with e: layout swizzle:3,4,3", edit},
    {"drop", "Backspace", NULL, NULL, "drop the layout that was typed or found", drop},
};

const ViewBody swizzle_view = {
    .chosen_bytes = sizeof(SwizzleChosen),
    .shows_subject = true,
    .state_bytes = sizeof(Swizzle),
    .open = swizzle_init,
    .close = swizzle_done,
    .prepare = swizzle_prepare,
    .draw = swizzle_draw,
    .data = swizzle_data,
    .move = swizzle_move,
    .move_label = "site",
    .count = sites_count,
    .line = sites_line,
    .at = swizzle_at,
    .go = swizzle_go,
    .click = swizzle_click,
    .typed = swizzle_typed,
    .field_label = "layout ",
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
