// source: the CUDA text, and what the compiler made of it.
//
//   CUDA  PTX  SASS   178 lines                    SASS identical: yes   NVRTC 13.0  118 registers
//   A LLFFFFFFFFFFFFFFFFFFFFFF…B     the ribbon: what the instructions do, in order
//   B L·FFFFFFFFFFFFFFFFFFFFFF…B
//    12 T  for (int k_i = 0; …        tier or site, then the line
//
// Lines of the statement under the cursor are linked; below stands the knob that put the line
// there. CUDA, PTX and SASS open at one place: the line under the cursor and what was made of it.
// PTX and SASS come when a worker has compiled this state. With A|B, CUDA shows what
// differs, PTX and SASS how often each instruction is used in both. s goes to the next line that
// touches shared memory.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "tui/card.h"
#include "tui/explore.h"
#include "tui/fmt.h"
#include "tui/source.h"
#include "tui/tier_style.h"
#include "tui/utf8.h"
#include "tui/view.h"
#include "tui/view_json.h"

enum { SPOT_LINE = SPOT_VIEW, SPOT_TEXT, GUTTER = 7, SIDE_COLS = 44 };
enum { COUNTS_MIN_SCREEN = 76, SIDE_MIN_SCREEN = 110, NEST_MIN_SCREEN = 140 };

// ---- what is there ------------------------------------------------------------------------------

static const char *missing_text(const Session *session, const Source *source) {
  SourceMode mode = source->mode;
  const Compiled *compiled = source->compiled;
  if (mode == SOURCE_CUDA) return NULL;
  if (!compiled) {
    if (!session->worker.present)
      return "Nothing compiles on this screen, beside which no worker runs. The explorer and "
             "`gemmview ptx` compile; `gemmview doctor` says whether they can.";
    if (session->worker.line[0]) return session->worker.line;
    return "Compiling begins when the knobs rest.";
  }
  if (compiled->error) return compiled->error;
  if (mode == SOURCE_PTX) return compiled->listing ? NULL : "Compiling …";
  if (!compiled->sass)
    return compiled->running
               ? "SASS has not arrived yet."
               : "No SASS: nvdisasm is not installed here. `gemmview doctor` says where "
                 "it was looked for; PTX and register counts are there without it.";
  return compiled->sass->ok ? NULL : compiled->sass->error;
}

static const char *status_text(Session *session, const Compiled *compiled) {
  Str out = str_new(session->frame);
  if (!compiled) return "";
  if (compiled->compiler) str_printf(&out, "%s  ", compiled->compiler);
  if (compiled->ptx_ms >= 0) str_printf(&out, "PTX %.0f ms  ", compiled->ptx_ms);
  if (compiled->cubin_ms >= 0) str_printf(&out, "ptxas %.0f ms  ", compiled->cubin_ms);
  if (compiled->registers >= 0)
    str_printf(&out, "%d registers, %d B spilled", compiled->registers, compiled->spill_bytes);
  return out.text;
}

// ---- one place in three texts -----------------------------------------------------------------

// The line of CUDA that a line is, or was made from; 0 when neither is known.
static int cuda_line_of(const Source *source, const SourceLine *line) {
  if (source->mode != SOURCE_CUDA) return line->cuda_line > 0 ? line->cuda_line : 0;
  return line->text && line->kind != DIFF_REMOVED ? line->number : 0;
}

// That of the line under the cursor, or of the nearest above it.
static int cuda_line_here(const Source *source, int cursor) {
  if (cursor >= source->n_lines) cursor = source->n_lines - 1;
  for (; cursor > 0; cursor--)
    if (cuda_line_of(source, &source->line[cursor])) break;
  return cursor >= 0 && source->n_lines ? cuda_line_of(source, &source->line[cursor]) : 0;
}

// ViewState.pane is the line of CUDA that the other text showed: once this text is there, the
// cursor goes to the first line made from it, else to the one from nearest by.
static void follow_line(ViewState *state, const Source *source) {
  int best = -1, least = INT_MAX;
  if (state->pane == 0 || source->missing) return;
  for (int i = 0; i < source->n_lines; i++) {
    int line = cuda_line_of(source, &source->line[i]);
    if (line == 0 || abs(line - state->pane) >= least) continue;
    least = abs(line - state->pane);
    best = i;
  }
  if (best < 0) return;
  state->cursor = best;
  state->pane = 0;
}

static void list_lines(Session *session, Source *source) {
  bool comparing = session->comparing;
  if (source->mode == SOURCE_CUDA && comparing) source_list_diff(session, source);
  if (source->mode == SOURCE_CUDA && !comparing) source_list_cuda(session, source);
  if (source->missing || source->mode == SOURCE_CUDA) return;
  if (source->mode == SOURCE_PTX) source_list_ptx(session, source);
  if (source->mode == SOURCE_SASS) source_list_sass(session, source);
  source_count(session->frame, source);
  source_make_ribbons(session->frame, source);
}

static void source_prepare(Session *session) {
  Source *source = ARENA_NEW(session->frame, Source);
  Results *results = &session->results;
  bool comparing = session->comparing;
  source->mode = (SourceMode)session_view_state(session)->mode;
  source->compiled = results_compiled(results, session->now.picture->key);
  source->compiled_a = comparing ? results_compiled(results, session->then.picture->key) : NULL;
  source->missing = missing_text(session, source);
  source->status = status_text(session, source->compiled);
  source->identity = source_identity(session->frame, source->compiled_a, source->compiled);
  session->prepared = source;
  list_lines(session, source);
  follow_line(session_view_state(session), source);
}

// ---- drawing ------------------------------------------------------------------------------------

static int cursor_of(const Session *session, const Source *source) {
  int cursor = session_view_state_const(session)->cursor;
  return cursor < source->n_lines ? cursor : source->n_lines - 1;
}

static void draw_head(Canvas *canvas, Rect in, const Session *session) {
  static const char *const names[] = {"CUDA", "PTX", "SASS"};
  const Source *source = session->prepared;
  int col = 1;
  for (int i = 0; i < SOURCE_MODES; i++) {
    bool here = i == (int)source->mode;
    Rect area = {in.row, in.col + col, 1, utf8_columns(names[i])};
    col = canvas_text(canvas, in, 0, col, here ? STYLE_TITLE : STYLE_DIM, names[i]) + 2;
    if (here) canvas_over(canvas, area, STYLE_SELECTED);
    canvas_spot(canvas, area, SPOT_TEXT, i);
  }
  if (source->n_added + source->n_removed) {
    col = canvas_printf(canvas, in, 0, col + 1, STYLE_DIFF_ADD, "+%d", source->n_added);
    col = canvas_printf(canvas, in, 0, col + 1, STYLE_DIFF_DELETE, "-%d", source->n_removed);
  } else if (session->comparing && source->mode == SOURCE_CUDA) {
    col = canvas_text(canvas, in, 0, col + 1, STYLE_OK, "CUDA identical: yes");
  } else {
    col = canvas_printf(canvas, in, 0, col + 1, STYLE_DIM, "%d lines", source->n_lines);
  }
  if (*source->identity) col = canvas_text(canvas, in, 0, col + 2, STYLE_ACCENT, source->identity);
  int width = utf8_columns(source->status);
  if (in.cols - width > col + 2)
    canvas_text(canvas, in, 0, in.cols - width - 1, STYLE_MEASURED, source->status);
}

// ---- the ribbon ---------------------------------------------------------------------------------

// The letter that occurs most often among instructions first … end. A barrier always shows, and
// what has no letter, the addresses around everything else, only where it is alone.
static char letter_of(const Ribbon *ribbon, int first, int end) {
  int counts[128] = {0};
  char most = '.';
  for (int i = first; i < end; i++) {
    char letter = ribbon->letter[i];
    if (letter == 'B') return letter;
    if (letter != '.' && ++counts[(int)letter] > counts[(int)most]) most = letter;
  }
  return most;
}

static void draw_ribbon(Canvas *canvas, Rect row, const char *label, Style label_style,
                        const Ribbon *ribbon, int longest) {
  int cols = row.cols - 4;
  if (ribbon->n == 0 || cols < 8) return;
  int each = (int)ceil_div(longest, cols);
  canvas_text(canvas, row, 0, 1, label_style, label);
  for (int i = 0; i * each < ribbon->n; i++) {
    int end = (i + 1) * each < ribbon->n ? (i + 1) * each : ribbon->n;
    char text[2] = {letter_of(ribbon, i * each, end), 0};
    canvas_text(canvas, row, 0, 3 + i, source_class_style(text[0]), text);
  }
}

// B alone, or A above B at the same scale.
static int draw_ribbons(Canvas *canvas, Rect in, const Source *source) {
  const Ribbon *a = &source->ribbon_a, *b = &source->ribbon;
  int longest = a->n > b->n ? a->n : b->n;
  if (b->n == 0 || in.rows < 8) return 0;
  Rect row = {in.row, in.col, 1, in.cols};
  if (a->n) {
    draw_ribbon(canvas, row, "A", STYLE_SIDE_A, a, longest);
    row.row++;
  }
  draw_ribbon(canvas, row, "B", STYLE_SIDE_B, b, longest);
  row.row++;
  canvas_fit(canvas, row, 0, 3, row.cols - 3, ALIGN_LEFT, STYLE_DIM,
             "F fma  M mma  L S shared  G W global  A async  B barrier  J jump  . other");
  return row.row + 1 - in.row;
}

// ---- lines --------------------------------------------------------------------------------------

static void draw_line(Canvas *canvas, Rect row, const Session *session, int index, bool linked) {
  const Source *source = session->prepared;
  const SourceLine *line = &source->line[index];
  if (!line->text) {
    canvas_text(canvas, row, 0, 3, STYLE_DIM, "…");
    return;
  }
  const Stmt *stmt = line->stmt;
  canvas_printf(canvas, row, 0, 0, STYLE_DIM, "%4d", line->number);
  if (stmt && stmt->kind == STMT_LOOP) {
    char mark[2] = {tier_mark(stmt->var->tier), 0};
    canvas_text(canvas, row, 0, 5, tier_style(stmt->var->tier), mark);
  }
  if (line->site) canvas_printf(canvas, row, 0, 5, STYLE_ACCENT, "%d", line->site);
  if (line->kind == DIFF_ADDED) canvas_text(canvas, row, 0, 5, STYLE_DIFF_ADD, "+");
  if (line->kind == DIFF_REMOVED) canvas_text(canvas, row, 0, 5, STYLE_DIFF_DELETE, "-");
  source_draw_text(canvas, row, GUTTER, line);
  if (linked) canvas_over(canvas, row, STYLE_LINKED);
  canvas_spot(canvas, row, SPOT_LINE, index);
}

static void draw_lines(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  if (source->missing) {
    canvas_wrap(canvas, rect_inset(in, 1, 2), STYLE_DIM, source->missing);
    return;
  }
  int cursor = cursor_of(session, source), first = view_scroll(cursor, source->n_lines, in.rows);
  const Stmt *stmt = cursor >= 0 ? source->line[cursor].stmt : NULL;
  for (int i = 0; i < in.rows && first + i < source->n_lines; i++) {
    Rect row = {in.row + i, in.col, 1, in.cols};
    const Stmt *other = source->line[first + i].stmt;
    draw_line(canvas, row, session, first + i, stmt && other == stmt);
    if (source_stmt_holds(stmt, other)) canvas_text(canvas, row, 0, 4, STYLE_ACCENT, "┃");
    if (first + i == cursor) canvas_over(canvas, row, STYLE_CURSOR);
  }
}

// The nest beside the text, with the row of the cursor's statement linked.
static void draw_nest(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  const Nest *nest = &session->now.picture->nest;
  int cursor = cursor_of(session, source);
  const Stmt *stmt = cursor >= 0 ? source->line[cursor].stmt : NULL;
  canvas_text(canvas, in, 0, 1, STYLE_HEADER, "NEST");
  for (int i = 0; i < nest->n_rows && i + 1 < in.rows; i++) {
    const NestRow *row = &nest->row[i];
    Rect line = {in.row + 1 + i, in.col, 1, in.cols};
    canvas_text(canvas, line, 0, 1, nest_style(row->group), nest_group_name(row->group));
    canvas_fit(canvas, line, 0, 9 + 2 * row->depth, in.cols - 9 - 2 * row->depth, ALIGN_LEFT,
               row->site ? STYLE_SITE : STYLE_TEXT, row->text);
    if (stmt && row->stmt == stmt) canvas_over(canvas, line, STYLE_CURSOR);
  }
}

// How often each instruction stands in the text, in A and in B: of a loop that one compilation
// unrolled and another did not the lines differ and the work is the same.
static void draw_opcodes(Canvas *canvas, Rect in, const Source *source) {
  bool both = source->compiled_a && source->ribbon_a.n;
  int end = canvas_text(canvas, in, 0, 1, STYLE_HEADER,
                        both ? "OPCODES       A       B" : "OPCODES  count");
  canvas_fit(canvas, in, 0, end + 2, in.cols - end - 2, ALIGN_LEFT, STYLE_DIM, "in the text");
  for (int i = 0; i < source->n_opcodes && i + 1 < in.rows; i++) {
    const OpcodeRow *row = &source->opcode[i];
    Rect line = {in.row + 1 + i, in.col, 1, in.cols};
    bool differs = both && row->a != row->b;
    if (both) canvas_printf(canvas, line, 0, 9, STYLE_SIDE_A, "%6d", row->a);
    canvas_printf(canvas, line, 0, both ? 17 : 9, both ? STYLE_SIDE_B : STYLE_NUMBER, "%6d",
                  row->b);
    if (differs) canvas_printf(canvas, line, 0, 1, STYLE_CHANGED, "%+6d", row->b - row->a);
    int col = both ? 25 : 17;
    canvas_fit(canvas, line, 0, col, in.cols - col, ALIGN_LEFT,
               source_class_style(source_class_of(row->opcode)), row->shown);
  }
}

static void draw_why(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  int cursor = cursor_of(session, source), col = 1;
  if (cursor < 0 || source->missing) return;
  const SourceLine *line = &source->line[cursor];
  if (line->knob != KNOB_NONE) {
    col = canvas_text(canvas, in, 0, col, STYLE_KNOB, knob_table[line->knob].name) + 2;
    const char *help = knob_table[line->knob].help;
    int cols = utf8_columns(help) < in.cols - col ? utf8_columns(help) : in.cols - col;
    col = canvas_fit(canvas, in, 0, col, cols, ALIGN_LEFT, STYLE_DIM, help) + 2;
  }
  if (line->cuda_line > 0)
    col = canvas_printf(canvas, in, 0, col, STYLE_DIM, "CUDA line %d", line->cuda_line) + 2;
  if (line->stmt && line->stmt->note)
    canvas_fit(canvas, in, 0, col, in.cols - col, ALIGN_LEFT, STYLE_TEXT, line->stmt->note);
}

static void draw_side(Canvas *canvas, Rect side, const Session *session) {
  const Source *source = session->prepared;
  canvas_vline(canvas, side, 0, 0, side.rows, STYLE_BORDER);
  rect_take_left(&side, 1);
  if (source->mode != SOURCE_CUDA && !source->missing)
    draw_opcodes(canvas, side, source);
  else
    draw_nest(canvas, side, session);
}

static void source_draw(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  Rect all = in;
  draw_head(canvas, rect_take_top(&in, 1), session);
  rect_take_top(&in, draw_ribbons(canvas, in, source));
  Rect why = rect_take_bottom(&in, 1);
  rect_take_bottom(&in, 1);
  canvas_hline(canvas, all, why.row - 1 - all.row, 0, all.cols, STYLE_BORDER);
  // Counts are worth more room than the nest, and most where there are two of each.
  bool counts = source->mode != SOURCE_CUDA && !source->missing;
  int least = counts ? session->comparing ? COUNTS_MIN_SCREEN : SIDE_MIN_SCREEN : NEST_MIN_SCREEN;
  if (all.cols >= least) draw_side(canvas, rect_take_right(&in, SIDE_COLS), session);
  draw_lines(canvas, in, session);
  draw_why(canvas, why, session);
}

// ---- keys ---------------------------------------------------------------------------------------

static void change_text(Session *session, int step) {
  ViewState *state = session_view_state(session);
  const Source *source = session->prepared;
  // A text that has not come, or has no line map, keeps the line that the one before it asked for.
  int here = source && !source->missing ? cuda_line_here(source, state->cursor) : 0;
  if (here) state->pane = here;
  state->mode = (state->mode + step + SOURCE_MODES) % SOURCE_MODES;
  state->cursor = 0;
}

static void text_before(Session *s, const char *a) { (void)a, change_text(s, -1); }
static void text_after(Session *s, const char *a) { (void)a, change_text(s, 1); }

static int count_lines(const Session *session) {
  const Source *source = session->prepared;
  return source ? source->n_lines : 0;
}

static const char *source_line(const Session *session, int i) {
  const Source *source = session->prepared;
  return source->line[i].text;
}

// The next line that touches shared or global memory; it becomes the selected site.
static void site_line(Session *session, const char *argument) {
  (void)argument;
  const Source *source = session->prepared;
  ViewState *state = session_view_state(session);
  for (int i = 1; source && i <= source->n_lines; i++) {
    int at = (state->cursor + i) % source->n_lines;
    if (!source->line[at].site) continue;
    state->cursor = at;
    session->site = source->line[at].site - 1;
    return;
  }
  session_say(session, SAID_NOTE, "no line here touches memory");
}

static void source_click(Session *session, int what, int value) {
  ViewState *state = session_view_state(session);
  if (what == SPOT_LINE) state->cursor = value;
  if (what == SPOT_TEXT && state->mode != value) change_text(session, value - state->mode);
}

// From the nest of the explore view one comes to the lines of the row under its cursor.
static void source_enter(Session *session) {
  int explore = view_find("explore");
  const ViewState *from = &session->state[explore];
  if (session->view_before != explore || from->pane != 1 || session->comparing) return;
  Source source = {.mode = SOURCE_CUDA};
  source_list_cuda(session, &source);
  const Nest *nest = explore_nest(session);
  int first = from->cursor < nest->n_rows ? source_first_of(&source, &nest->row[from->cursor]) : -1;
  if (first < 0) return;
  ViewState *state = session_view_state(session);
  *state = (ViewState){.cursor = first, .mode = SOURCE_CUDA};
}

static const Action actions[] = {
    {"text-before", "Left h", "CUDA/PTX/SASS", "text-after", "the text before: CUDA, PTX, SASS",
     text_before},
    {"text-after", "Right l", NULL, NULL, "the next text", text_after},
    {"site-next", "s", "next access", NULL, "the next line that touches shared or global memory",
     site_line},
};

const ViewBody source_view = {
    .enter = source_enter,
    .prepare = source_prepare,
    .draw = source_draw,
    .json = source_json,
    .count = count_lines,
    .line = source_line,
    .click = source_click,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
