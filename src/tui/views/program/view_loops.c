// loops: the program after any pass, what the pass changed, and what separates it from the rung
// before; below, how m, n and k are rebuilt from their digits.
//
//   PASS 4 of 9  staging  STAGE BK   slabs of A and B go through shared memory, once per block
//   - for k in 0..4096
//   + for k_o in 0..256 SERIAL_OUTER
//   …
//   m = m_b·128 + m_t·8 + m_r      32 × 16 × 8
//
// Left and Right step through the passes, d changes what is shown, s shows what one iteration of
// k_o issues (loops_steps.c), p where its copies may stand (loops_places.c), t the tiles of a block
// and the sets of its registers (loops_tiles.c).
#include <string.h>

#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/stmt.h"
#include "model/passes/dialect.h"
#include "model/readings/time/barrier_use.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/frame/view_json.h"
#include "tui/views/memory/sector_card.h"
#include "tui/views/program/loops.h"
#include "tui/views/program/source.h"
#include "tui/views/program/tier_style.h"

typedef enum LoopsShown {
  SHOW_PROGRAM,
  SHOW_PASS,
  SHOW_CUDA,
  SHOW_RUNG,
  SHOW_COUNT,
  SHOW_STEPS = SHOW_COUNT,
  SHOW_PLACES,
  SHOW_TILES
} LoopsShown;

typedef struct LoopsChosen {
  LoopsShown shown;
  int back;  // passes before the last one
} LoopsChosen;

enum { CHROME_ROWS = 9 };  // tabs, state, head; a line, the axes, why, the footer
enum { CONTEXT = 3, PASSES_COLS = 34, PASSES_MIN_SCREEN = 112 };
enum { SPOT_LINE = SPOT_VIEW, SPOT_PASS };

typedef struct LoopLine {
  DiffKind kind;
  const char *text;  // NULL: lines were left out here
  int depth;
  const Stmt *stmt;
  Tier tier;
  KnobId knob;
  int site;
  const char *use;  // of a barrier; NULL: it is none
} LoopLine;

typedef struct Loops {
  int n_lines, n_added, n_removed, stage;
  LoopLine *line;
  AxesPicture axes;
  const char *title;
  const char *dialect;      // the pass in the words of another compiler; NULL: it has none
  StepsPicture *steps;      // NULL: not shown
  const LoopsTiles *tiles;  // likewise
  bool cuda;                // the lines are a difference of CUDA
} Loops;

static const Pipeline *pipeline_of(const Session *session) {
  return &session_model(session)->pipeline;
}

static LoopsChosen *chosen_of(const Session *session) { return view_chosen(session, &loops_view); }
static PlacesWork *places_of(const Session *session) { return view_own(session, &loops_view); }

// A|B opens with what differs: the difference from A and the program change places then.
static LoopsShown shown_of(const Session *session) {
  const LoopsShown shown = chosen_of(session)->shown;
  if (!session->doc.comparing || (shown != SHOW_PROGRAM && shown != SHOW_RUNG)) return shown;
  return shown == SHOW_PROGRAM ? SHOW_RUNG : SHOW_PROGRAM;
}

static int stage_of(const Session *session) {
  int n = pipeline_of(session)->n_stages, back = chosen_of(session)->back;
  if (shown_of(session) >= SHOW_RUNG) back = 0;
  return back < n ? n - 1 - back : 0;
}

// ---- lines --------------------------------------------------------------------------------------

static void list_program(Session *session, Loops *loops, const Program *program) {
  ProgramText text = program_print(session->frame, program);
  const BarrierUses uses = barrier_uses(program);
  loops->line = ARENA_ARRAY(session->frame, LoopLine, text.n_lines);
  for (int i = 0; i < text.n_lines; i++) {
    const ProgramLine *from = &text.line[i];
    loops->line[loops->n_lines++] =
        (LoopLine){DIFF_SAME,
                   from->text,
                   from->depth,
                   from->stmt,
                   from->tier,
                   from->knob,
                   model_site_number(session_model(session), from->stmt),
                   barrier_use_text(session->frame, barrier_use_of(&uses, from->stmt))};
  }
}

static void list_diff(Session *session, Loops *loops, TextDiff diff) {
  loops->line = ARENA_ARRAY(session->frame, LoopLine, diff.n_lines + 1);
  loops->n_added = diff.n_added;
  loops->n_removed = diff.n_removed;
  // A text that fits on the screen is shown whole, with its changes in their places.
  bool whole = diff.n_lines <= session->rows - CHROME_ROWS;
  for (int i = 0; i < diff.n_lines; i++) {
    const DiffLine *from = &diff.line[i];
    LoopLine line = {.kind = from->kind, .text = from->text, .depth = from->depth};
    line.knob = KNOB_NONE;
    if (!whole && !diff_is_near_change(&diff, i, CONTEXT)) line.text = NULL;
    if (!line.text && loops->n_lines && !loops->line[loops->n_lines - 1].text) continue;
    loops->line[loops->n_lines++] = line;
  }
}

// Finds what a pass changes in the CUDA text. Texts too long to be held against each other, those
// of a body unrolled by hand, are not: false.
static bool list_cuda_diff(Session *session, Loops *loops, const Program *before,
                           const Program *after) {
  Arena *arena = session->frame;
  const Model *model = session_model(session);
  const Emission *a = emit_model(arena, model, before), *b = emit_model(arena, model, after);
  if ((int64_t)a->n_lines * b->n_lines > SOURCE_DIFF_CELLS_MAX) return false;
  list_diff(
      session, loops,
      text_diff(arena, source_texts(arena, a), a->n_lines, source_texts(arena, b), b->n_lines));
  return true;
}

// The program to compare with: A, or the rung before; `then` gets its model on demand.
static const Program *other_program(Session *session) {
  if (session->doc.comparing) return session->doc.then.picture->model->program;
  const Schedule *schedule = &session_rung(session)->schedule;
  if (session_edits(session) == 0 && session->doc.rung > 0)
    schedule = &session->doc.ladder->rung[session->doc.rung - 1].schedule;
  const Model *model = model_build(session->frame, &session->doc.targets, schedule);
  return model->ok ? model->program : NULL;
}

static const char *other_name(const Session *session) {
  if (session->doc.comparing) return session->doc.then_name;
  return session_edits(session) || session->doc.rung == 0 ? "this rung without edits"
                                                          : "the rung before";
}

static void loops_prepare(Session *session) {
  Loops *loops = ARENA_NEW(session->frame, Loops);
  const Pipeline *pipeline = pipeline_of(session);
  const LoopsShown shown = shown_of(session);
  loops->stage = stage_of(session);
  if (shown == SHOW_PLACES) places_look(places_of(session), session);
  if (shown == SHOW_STEPS) loops->steps = steps_picture(session->frame, session_model(session));
  const Program *program = pipeline->stage[loops->stage].program;
  if (shown == SHOW_TILES)
    loops->tiles = loops_tiles(session->frame, session_model(session)->program);
  const Program *before = NULL;
  bool pass = shown == SHOW_PASS || shown == SHOW_CUDA;
  if (pass && loops->stage > 0) before = pipeline->stage[loops->stage - 1].program;
  if (shown == SHOW_RUNG) before = other_program(session);
  loops->cuda = shown == SHOW_CUDA && before && list_cuda_diff(session, loops, before, program);
  if (before && !loops->cuda)
    list_diff(session, loops, program_diff(session->frame, before, program));
  else if (!before)
    list_program(session, loops, program);
  loops->axes = axes_picture(session->frame, program);
  if (shown != SHOW_RUNG) loops->dialect = dialect_text(session->frame, pipeline, loops->stage);
  session->prepared = loops;
}

// ---- drawing ------------------------------------------------------------------------------------

static void draw_steps_head(Canvas *canvas, Rect in, const Steps *steps) {
  int col = canvas_text(canvas, in, 0, 1, STYLE_HEADER, "STEPS");
  col = canvas_printf(canvas, in, 0, col + 2, STYLE_TITLE, "one iteration of %s",
                      steps->n_slots ? "k_o" : "k");
  if (steps->n_slots)
    col = canvas_printf(canvas, in, 0, col + 2, STYLE_TEXT, "%d slab%s", steps->n_slots,
                        steps->n_slots == 1 ? "" : "s in the ring");
  const char *unit = "no operand goes through registers: the tensor core reads tiles";
  if (steps->moved > 0) {
    col = canvas_printf(canvas, in, 0, col + 2, STYLE_SIMULATED, "%.3g", steps_intensity(steps));
    unit = "computations per transfer";
  }
  canvas_fit(canvas, in, 0, col + 1, in.cols - col - 1, ALIGN_LEFT, STYLE_DIM, unit);
}

static void draw_head(Canvas *canvas, Rect in, const Session *session) {
  const Loops *loops = session->prepared;
  const Pipeline *pipeline = pipeline_of(session);
  const Pass *pass = pipeline->stage[loops->stage].pass;
  const LoopsShown shown = shown_of(session);
  if (loops->steps) {
    draw_steps_head(canvas, in, &loops->steps->steps);
    return;
  }
  if (loops->tiles) {
    loops_tiles_draw_head(canvas, in, loops->tiles);
    return;
  }
  if (shown == SHOW_PLACES) {
    places_draw_head(canvas, in, places_of(session));
    return;
  }
  if (shown == SHOW_RUNG) {
    int col = canvas_printf(canvas, in, 0, 1, STYLE_TEXT, "against %s: ", other_name(session));
    col = canvas_printf(canvas, in, 0, col, STYLE_DIFF_ADD, "+%d ", loops->n_added);
    canvas_printf(canvas, in, 0, col, STYLE_DIFF_DELETE, "-%d", loops->n_removed);
    return;
  }
  int col = canvas_printf(canvas, in, 0, 1, STYLE_HEADER, "PASS %d of %d", loops->stage,
                          pipeline->n_stages - 1);
  col = canvas_text(canvas, in, 0, col + 2, STYLE_TITLE, pass ? pass->title : "the naive nest");
  if (pass) col = canvas_text(canvas, in, 0, col + 2, STYLE_KNOB, pass->knobs);
  if (loops->cuda) {
    col = canvas_text(canvas, in, 0, col + 2, STYLE_TEXT, "in CUDA: ");
    col = canvas_printf(canvas, in, 0, col, STYLE_DIFF_ADD, "+%d ", loops->n_added);
    canvas_printf(canvas, in, 0, col, STYLE_DIFF_DELETE, "-%d", loops->n_removed);
    return;
  }
  const char *help = pass ? pass->help : "three loops over C = A·B, before any pass";
  canvas_fit(canvas, in, 0, col + 2, in.cols - col - 2, ALIGN_LEFT, STYLE_TEXT, help);
}

static Style line_style(const LoopLine *line) {
  if (line->kind == DIFF_ADDED) return STYLE_DIFF_ADD;
  if (line->kind == DIFF_REMOVED) return STYLE_DIFF_DELETE;
  if (line->site) return STYLE_SITE;
  if (!line->stmt) return STYLE_DIM;
  if (line->stmt->kind == STMT_LOOP) return tier_style(line->tier);
  if (line->stmt->role) return tier_style(TIER_WARP);
  return tier_is_barrier(line->stmt) ? STYLE_BARRIER : STYLE_TEXT;
}

// At the end of the row; returns the columns it takes.
static int draw_badge(Canvas *canvas, Rect row, const Session *session, int site) {
  char badge[16];
  Style style;
  site_badge(session_model(session), site, badge, &style);
  int cols = utf8_columns(badge) + 4 + (site > 9);
  int col = canvas_printf(canvas, row, 0, row.cols - cols, STYLE_DIM, " %d ", site);
  canvas_text(canvas, row, 0, col, style, badge);
  return cols;
}

// The long lines of global memory keep their text where there is no room for both.
static bool has_badge(const Session *session, const LoopLine *line, int room) {
  enum { BADGE_COLS = 8 };
  bool shared = line->site <= session_model(session)->n_sites;
  return line->site && (shared || utf8_columns(line->text) + BADGE_COLS <= room);
}

static void draw_line(Canvas *canvas, Rect row, const Session *session, const LoopLine *line) {
  static const char marks[] = {[DIFF_SAME] = ' ', [DIFF_REMOVED] = '-', [DIFF_ADDED] = '+'};
  if (!line->text) {
    canvas_text(canvas, row, 0, 1, STYLE_DIM, "  …");
    return;
  }
  Style style = line_style(line);
  char mark[2] = " ";
  bool loop = line->stmt && line->stmt->kind == STMT_LOOP && line->kind == DIFF_SAME;
  if (loop) mark[0] = tier_mark(line->tier);
  if (!loop) mark[0] = marks[line->kind];
  if (mark[0] != ' ') canvas_text(canvas, row, 0, 1, style, mark);
  int col = 3 + 2 * line->depth;
  bool badge = has_badge(session, line, row.cols - col);
  int badge_cols = badge ? draw_badge(canvas, row, session, line->site) : 0;
  // No wider than the text: where a style underlines, blanks behind it are not.
  const int room = row.cols - col - badge_cols;
  canvas_fit(canvas, row, 0, col, min_int(room, utf8_columns(line->text)), ALIGN_LEFT, style,
             line->text);
  if (!line->use) return;
  col += utf8_columns(line->text) + 3;
  canvas_fit(canvas, row, 0, col, row.cols - col, ALIGN_LEFT, STYLE_DIM, line->use);
}

static void draw_lines(Canvas *canvas, Rect in, const Session *session) {
  const Loops *loops = session->prepared;
  int cursor = session_view_state_const(session)->cursor;
  if (cursor >= loops->n_lines) cursor = loops->n_lines - 1;
  ViewList list = view_list(in, cursor, loops->n_lines);
  while (view_list_next(canvas, &list)) {
    draw_line(canvas, list.row, session, &loops->line[list.at]);
    view_list_mark(canvas, &list, SPOT_LINE, in.cols);
  }
}

static const char *line_why(const LoopLine *line) {
  if (!line->stmt) return line->knob != KNOB_NONE ? knob_table[line->knob].help : "";
  if (line->stmt->note) return line->stmt->note;
  if (line->stmt->kind == STMT_LOOP) return tier_help(line->tier);
  return line->stmt->kind == STMT_OP ? nest_op_help(&line->stmt->op) : "";
}

// A loop of the naive nest has no tier: its turns follow each other.
static const char *tier_word(Tier tier) { return *tier_name(tier) ? tier_name(tier) : "serial"; }

// The whole of a line that the screen cuts; otherwise why the line is there.
static void draw_why(Canvas *canvas, Rect in, const Session *session, int cols) {
  const Loops *loops = session->prepared;
  int cursor = session_view_state_const(session)->cursor;
  if (loops->n_lines == 0) return;
  const LoopLine *line = &loops->line[cursor < loops->n_lines ? cursor : loops->n_lines - 1];
  int col = 1;
  const bool in_hand = line->knob == session->at.knob;
  if (line->text && 3 + 2 * line->depth + utf8_columns(line->text) > cols) {
    canvas_fit(canvas, in, 0, 1, in.cols - 1, ALIGN_LEFT, STYLE_TEXT, line->text);
    return;
  }
  if (line->stmt && line->stmt->kind == STMT_LOOP)
    col = canvas_printf(canvas, in, 0, col, tier_style(line->tier), "%c = %s",
                        tier_mark(line->tier), tier_word(line->tier)) +
          2;
  if (line->knob != KNOB_NONE && !in_hand)
    col = canvas_text(canvas, in, 0, col, STYLE_DIM, "this line is by") + 1;
  if (line->knob != KNOB_NONE)
    col = canvas_text(canvas, in, 0, col, STYLE_KNOB, knob_table[line->knob].name) + 2;
  canvas_fit(canvas, in, 0, col, in.cols - col, ALIGN_LEFT, STYLE_DIM, line_why(line));
}

static bool has_tier(const Loops *loops, Tier tier) {
  for (int i = 0; i < loops->n_lines; i++)
    if (loops->line[i].stmt && loops->line[i].stmt->kind == STMT_LOOP &&
        loops->line[i].tier == tier)
      return true;
  return false;
}

static bool has_site(const Loops *loops) {
  for (int i = 0; i < loops->n_lines; i++)
    if (loops->line[i].site) return true;
  return false;
}

// Explains the letters before the loops, those that are there, and the numbers behind accesses.
static void draw_letters(Canvas *canvas, Rect in, const Loops *loops) {
  canvas_text(canvas, rect_take_top(&in, 1), 0, 1, STYLE_HEADER, "LETTERS");
  for (int i = 0; i < TIER_COUNT; i++) {
    if (!has_tier(loops, (Tier)i)) continue;
    Rect row = rect_take_top(&in, 1);
    canvas_printf(canvas, row, 0, 2, tier_style((Tier)i), "%c", tier_mark((Tier)i));
    canvas_text(canvas, row, 0, 4, STYLE_TEXT, tier_word((Tier)i));
  }
  if (!has_site(loops)) return;
  rect_take_top(&in, 1);
  canvas_text(canvas, rect_take_top(&in, 1), 0, 1, STYLE_HEADER, "AT THE RIGHT");
  rect_take_left(&in, 2);
  canvas_wrap(canvas, in, STYLE_TEXT,
              "The number of an access in view 3. ok: as few wavefronts or sectors as its bytes "
              "need; ×n: n times that; –: not counted.");
}

static void draw_passes(Canvas *canvas, Rect in, const Session *session) {
  const Loops *loops = session->prepared;
  const Pipeline *pipeline = pipeline_of(session);
  canvas_text(canvas, in, 0, 1, STYLE_HEADER, "PASSES");
  for (int i = 0; i < pipeline->n_stages && i + 1 < in.rows; i++) {
    const Pass *pass = pipeline->stage[i].pass;
    Rect row = {in.row + 1 + i, in.col, 1, in.cols};
    canvas_printf(canvas, row, 0, 1, STYLE_DIM, "%2d", i);
    int col = canvas_text(canvas, row, 0, 4, STYLE_TEXT, pass ? pass->title : "naive nest");
    if (pass)
      canvas_fit(canvas, row, 0, col + 1, in.cols - col - 1, ALIGN_LEFT, STYLE_KNOB, pass->knobs);
    canvas_spot(canvas, row, SPOT_PASS, i);
    if (i == loops->stage) canvas_over(canvas, row, STYLE_SELECTED);
  }
  rect_take_top(&in, pipeline->n_stages + 2);
  if (shown_of(session) == SHOW_PROGRAM) draw_letters(canvas, in, loops);
}

// On the line that ends the program: the same pass in the words of another compiler, cut behind a
// whole word.
static void draw_dialect(Canvas *canvas, Rect line, const Session *session) {
  const char *text = ((const Loops *)session->prepared)->dialect;
  if (!text) return;
  const char *said =
      arena_printf(session->frame, " deplodock, the article's compiler, writes: %s ", text);
  if (utf8_columns(said) + 2 > line.cols)
    said = arena_printf(session->frame, " article: %s ", text);
  if (utf8_columns(said) + 2 > line.cols) {
    size_t fits = utf8_fit(said, line.cols - 5);
    while (fits > 0 && said[fits] != ' ') fits--;
    said = arena_printf(session->frame, "%.*s… ", (int)fits, said);
  }
  const int col = line.cols - utf8_columns(said) - 2;
  if (col > 0) canvas_text(canvas, line, 0, col, STYLE_DIM, said);
}

static void draw_steps(Canvas *canvas, Rect in, const Session *session) {
  const StepsPicture *steps = ((const Loops *)session->prepared)->steps;
  int cursor = session_view_state_const(session)->cursor, n = steps->steps.n;
  if (cursor >= n) cursor = n ? n - 1 : 0;
  steps_picture_why(canvas, rect_take_bottom(&in, 2), steps, cursor);
  steps_picture_draw(canvas, in, steps, cursor, SPOT_LINE);
}

static void loops_draw(Canvas *canvas, Rect in, const Session *session) {
  Rect all = in;
  draw_head(canvas, rect_take_top(&in, 1), session);
  if (((const Loops *)session->prepared)->steps) {
    draw_steps(canvas, in, session);
    return;
  }
  if (shown_of(session) == SHOW_TILES) {
    loops_tiles_draw(canvas, in, ((const Loops *)session->prepared)->tiles,
                     session_view_state_const(session)->cursor, SPOT_LINE);
    return;
  }
  if (shown_of(session) == SHOW_PLACES) {
    places_draw(canvas, in, session->frame, places_of(session),
                session_view_state_const(session)->cursor, SPOT_LINE);
    return;
  }
  Rect why = rect_take_bottom(&in, 1);
  Rect axes = rect_take_bottom(&in, AXIS_COUNT);
  rect_take_bottom(&in, 1);
  canvas_hline(canvas, all, axes.row - 1 - all.row, 0, all.cols, STYLE_BORDER);
  if (all.cols >= PASSES_MIN_SCREEN) {
    Rect passes = rect_take_right(&in, PASSES_COLS);
    canvas_vline(canvas, all, 1, passes.col, axes.row - 1 - all.row, STYLE_BORDER);
    rect_take_left(&passes, 1);
    draw_passes(canvas, passes, session);
  }
  draw_dialect(canvas, (Rect){axes.row - 1, in.col, 1, in.cols}, session);
  draw_lines(canvas, in, session);
  axes_picture_draw(canvas, axes, &((const Loops *)session->prepared)->axes);
  draw_why(canvas, why, session, in.cols);
}

// ---- data ---------------------------------------------------------------------------------------

static const char *shown_name(LoopsShown shown) {
  static const char *const shows[] = {"program", "pass",   "cuda", "rung",
                                      "steps",   "places", "tiles"};
  return shows[shown];
}

static const LoopLine **written_lines(Arena *arena, const Loops *loops) {
  const LoopLine **line = ARENA_ARRAY(arena, const LoopLine *, loops->n_lines + 1);
  for (int i = 0; i < loops->n_lines; i++) line[i] = loops->line[i].text ? &loops->line[i] : NULL;
  return line;
}

#define FORM_FILE "tui/views/program/view_loops.form"
#include "base/form_make.h"

// ---- keys ---------------------------------------------------------------------------------------

static void step_pass(Session *session, int step) {
  LoopsChosen *chosen = chosen_of(session);
  int n = pipeline_of(session)->n_stages, stage = stage_of(session) + step;
  if (shown_of(session) >= SHOW_RUNG) chosen->shown = SHOW_PASS;
  if (stage < 0 || stage >= n) return;
  chosen->back = n - 1 - stage;
}

// Left and Right: the passes, or where copies are moved the copies.
static void step_aside(Session *session, int step) {
  if (shown_of(session) == SHOW_PLACES)
    places_turn(places_of(session), step);
  else
    step_pass(session, step);
}

static void pass_before(Session *s, const char *a) { (void)a, step_aside(s, -1); }
static void pass_after(Session *s, const char *a) { (void)a, step_aside(s, 1); }

static void change_mode(Session *session, const char *argument) {
  (void)argument;
  LoopsChosen *chosen = chosen_of(session);
  chosen->shown = chosen->shown < SHOW_COUNT ? (chosen->shown + 1) % SHOW_COUNT : SHOW_PROGRAM;
  session_view_state(session)->cursor = 0;
}

static void show_or_leave(Session *session, LoopsShown what) {
  LoopsChosen *chosen = chosen_of(session);
  chosen->shown = chosen->shown == what ? SHOW_PROGRAM : what;
  session_view_state(session)->cursor = 0;
}

static void show_steps(Session *s, const char *a) { (void)a, show_or_leave(s, SHOW_STEPS); }
static void show_places(Session *s, const char *a) { (void)a, show_or_leave(s, SHOW_PLACES); }
static void show_tiles(Session *s, const char *a) { (void)a, show_or_leave(s, SHOW_TILES); }

static int loops_count(const Session *session) {
  const Loops *loops = session->prepared;
  if (loops && loops->steps) return loops->steps->steps.n;
  if (loops && loops->tiles) return loops->tiles->tiles.n;
  if (loops && shown_of(session) == SHOW_PLACES) return places_count(places_of(session));
  return loops ? loops->n_lines : 0;
}

static const char *loops_line(const Session *session, int i) {
  const Loops *loops = session->prepared;
  if (shown_of(session) == SHOW_PLACES) return places_text(places_of(session), i);
  if (loops->tiles) return loops->tiles->text[i];
  return loops->steps ? loops->steps->text[i].line : loops->line[i].text;
}

static bool loops_idle(Session *session) {
  const bool shown = shown_of(session) == SHOW_PLACES && session->prepared;
  return shown && places_idle(places_of(session), session_view_state(session)->cursor);
}

static void loops_click(Session *session, int what, int value) {
  if (what == SPOT_LINE) session_view_state(session)->cursor = value;
  if (what == SPOT_PASS) chosen_of(session)->back = pipeline_of(session)->n_stages - 1 - value;
}

static const Action actions[] = {
    {"pass-before", "Left h", "pass", "pass-after",
     "the program before this pass; in the places picture, the copy before", pass_before},
    {"pass-after", "Right l", NULL, NULL,
     "the program after the next pass; in the places picture, the next copy", pass_after},
    {"diff", "d", "program/diff", NULL,
     "change the picture: the program, the pass's changes, the same in CUDA, the difference from A",
     change_mode},
    {"steps", "s", "steps", NULL,
     "show the instructions of one turn of k_o, and other orders of reading", show_steps},
    {"places", "p", "places", NULL,
     "move each copy within the loop: legal places, and what breaks at the others", show_places},
    {"block-tiles", "t", "tiles", NULL,
     "show the tiles of a block, their part in registers, and when each set is loaded", show_tiles},
};

const ViewBody loops_view = {
    .chosen_bytes = sizeof(LoopsChosen),
    .state_bytes = sizeof(PlacesWork),
    .idle = loops_idle,
    .prepare = loops_prepare,
    .draw = loops_draw,
    .data = view_prepared,
    .count = loops_count,
    .line = loops_line,
    .click = loops_click,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
