// source: the CUDA text, and what the compiler made of it.
//
// Mode 0 is CUDA with, at the left of each line, the tier of the loop it comes from and, below, the
// knob that put it there; modes 1 and 2 are PTX and SASS once a worker has compiled this state. The
// lines of the statement that the nest's cursor stands on are linked, and the other way round:
// moving here moves the selected site. s goes to the next line that touches shared memory.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tui/card.h"
#include "tui/fmt.h"
#include "tui/tier_style.h"
#include "tui/utf8.h"
#include "tui/view.h"

enum { SHOW_CUDA, SHOW_PTX, SHOW_SASS, SHOW_COUNT };
enum { SPOT_LINE = SPOT_VIEW, GUTTER = 7, SIDE_MIN_SCREEN = 130, SIDE_COLS = 44 };

typedef struct SourceLine {
  const char *text;
  Style style;
  KnobId knob;
  const Stmt *stmt;
  int site;
  int cuda_line;  // of PTX and SASS; -1 not known
} SourceLine;

typedef struct Source {
  int n_lines;
  SourceLine *line;
  const Compiled *compiled;
  const char *missing;  // why there is no text of this kind; NULL: there is
  const char *status;   // "PTX 12 ms, ptxas 180 ms, NVRTC 13.0: 118 registers, no spills"
} Source;

// ---- lines ------------------------------------------------------------------------------------

static Style cuda_style(const char *text, const Stmt *stmt) {
  const char *at = text + strspn(text, " ");
  if (str_starts(at, "//") || str_starts(at, "/*") || *at == '*') return STYLE_COMMENT;
  if (str_starts(at, "#")) return STYLE_LABEL;
  if (strstr(at, "__syncthreads") || strstr(at, "cp_async_wait")) return STYLE_BARRIER;
  if (str_starts(at, "for (") && stmt && stmt->kind == STMT_LOOP)
    return tier_style(stmt->var->tier);
  if (strstr(at, "__global__") || strstr(at, "__shared__")) return STYLE_KEYWORD;
  return STYLE_TEXT;
}

static int site_number(const Model *model, const Stmt *stmt) {
  for (int i = 0; stmt && i < model->n_sites; i++)
    if (model->site[i].stmt == stmt) return model->site[i].number;
  return 0;
}

static void list_cuda(Session *session, Source *source) {
  const Emission *emission = side_emission(&session->now);
  source->line = ARENA_ARRAY(session->frame, SourceLine, emission->n_lines);
  for (int i = 0; i < emission->n_lines; i++) {
    const EmitLine *from = &emission->lines[i];
    const char *text = arena_strndup(session->frame, emission->text + from->begin, from->length);
    int site = site_number(session->now.picture->model, from->stmt);
    Style style = site ? STYLE_SITE : cuda_style(text, from->stmt);
    source->line[source->n_lines++] = (SourceLine){text, style, from->knob, from->stmt, site, -1};
  }
}

static Style ptx_style(const char *text) {
  const char *at = text + strspn(text, " \t");
  if (str_starts(at, "//")) return STYLE_COMMENT;
  if (*at == '.' || *at == '$') return STYLE_LABEL;
  if (strstr(at, ".shared")) return STYLE_SITE;
  if (str_starts(at, "fma")) return STYLE_ACCENT;
  return str_starts(at, "bar") ? STYLE_BARRIER : STYLE_TEXT;
}

// An instruction takes over the statement and the knob of the CUDA line it was made from, which is
// counted from 1.
static SourceLine from_cuda(const Session *session, const Emission *emission, const char *text,
                            Style style, int cuda_line) {
  SourceLine line = {text, style, KNOB_NONE, NULL, 0, cuda_line};
  if (cuda_line < 1 || cuda_line > emission->n_lines) return line;
  line.stmt = emission->lines[cuda_line - 1].stmt;
  line.knob = emission->lines[cuda_line - 1].knob;
  line.site = site_number(session->now.picture->model, line.stmt);
  return line;
}

static void list_ptx(Session *session, Source *source) {
  const PtxListing *listing = source->compiled->listing;
  const Emission *emission = side_emission(&session->now);
  source->line = ARENA_ARRAY(session->frame, SourceLine, listing->n_lines);
  for (int i = 0; i < listing->n_lines; i++) {
    const PtxLine *from = &listing->lines[i];
    source->line[source->n_lines++] =
        from_cuda(session, emission, from->text, ptx_style(from->text), from->cuda_line);
  }
}

static Style sass_style(const SassLine *line) {
  if (!line->opcode) return STYLE_LABEL;
  if (str_starts(line->opcode, "LDS") || str_starts(line->opcode, "STS")) return STYLE_SITE;
  if (str_starts(line->opcode, "FFMA")) return STYLE_ACCENT;
  return str_starts(line->opcode, "BAR") ? STYLE_BARRIER : STYLE_TEXT;
}

static void list_sass(Session *session, Source *source) {
  const SassResult *sass = source->compiled->sass;
  const Emission *emission = side_emission(&session->now);
  source->line = ARENA_ARRAY(session->frame, SourceLine, sass->n_lines);
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *from = &sass->lines[i];
    source->line[source->n_lines++] =
        from_cuda(session, emission, from->text, sass_style(from), from->cuda_line);
  }
}

// ---- what is there ----------------------------------------------------------------------------

static const char *missing_text(const Session *session, const Source *source, int mode) {
  const Compiled *compiled = source->compiled;
  if (mode == SHOW_CUDA) return NULL;
  if (!compiled) {
    if (!session->worker.present)
      return "Nothing compiles here: no worker runs. `gemmview doctor` says what is missing.";
    if (session->worker.line[0]) return session->worker.line;
    return "Compiling begins when the knobs rest.";
  }
  if (compiled->error) return compiled->error;
  if (mode == SHOW_PTX) return compiled->listing ? NULL : "Compiling …";
  if (!compiled->sass) return "SASS has not arrived yet.";
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

static void source_prepare(Session *session) {
  Source *source = ARENA_NEW(session->frame, Source);
  int mode = session_view_state(session)->mode;
  source->compiled = results_compiled(&session->results, session->now.picture->key);
  source->missing = missing_text(session, source, mode);
  source->status = status_text(session, source->compiled);
  if (mode == SHOW_CUDA) list_cuda(session, source);
  if (!source->missing && mode == SHOW_PTX) list_ptx(session, source);
  if (!source->missing && mode == SHOW_SASS) list_sass(session, source);
  session->prepared = source;
}

// ---- drawing ----------------------------------------------------------------------------------

static int cursor_of(const Session *session, const Source *source) {
  int cursor = session_view_state_const(session)->cursor;
  return cursor < source->n_lines ? cursor : source->n_lines - 1;
}

static void draw_head(Canvas *canvas, Rect in, const Session *session) {
  static const char *const names[] = {"CUDA", "PTX", "SASS"};
  const Source *source = session->prepared;
  int col = 1, mode = session_view_state_const(session)->mode;
  for (int i = 0; i < SHOW_COUNT; i++) {
    int begin = col;
    col = canvas_text(canvas, in, 0, col, i == mode ? STYLE_TITLE : STYLE_DIM, names[i]);
    if (i == mode)
      canvas_over(canvas, (Rect){in.row, in.col + begin, 1, col - begin}, STYLE_SELECTED);
    col += 2;
  }
  canvas_printf(canvas, in, 0, col + 1, STYLE_DIM, "%d lines", source->n_lines);
  int width = utf8_columns(source->status);
  if (in.cols - width > col + 14)
    canvas_text(canvas, in, 0, in.cols - width - 1, STYLE_MEASURED, source->status);
}

static void draw_line(Canvas *canvas, Rect row, const Session *session, int index, bool linked) {
  const Source *source = session->prepared;
  const SourceLine *line = &source->line[index];
  const Stmt *stmt = line->stmt;
  canvas_printf(canvas, row, 0, 0, STYLE_DIM, "%4d", index + 1);
  if (stmt && stmt->kind == STMT_LOOP) {
    char mark[2] = {tier_mark(stmt->var->tier), 0};
    canvas_text(canvas, row, 0, 5, tier_style(stmt->var->tier), mark);
  }
  if (line->site) canvas_printf(canvas, row, 0, 5, STYLE_ACCENT, "%d", line->site);
  canvas_fit(canvas, row, 0, GUTTER, row.cols - GUTTER, ALIGN_LEFT, line->style, line->text);
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
    bool linked = stmt && source->line[first + i].stmt == stmt;
    draw_line(canvas, row, session, first + i, linked);
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

static void draw_opcode(Canvas *canvas, Rect in, int row, int count, const char *opcode) {
  canvas_printf(canvas, in, row, 1, STYLE_NUMBER, "%6d", count);
  canvas_text(canvas, in, row, 9, STYLE_TEXT, opcode);
}

// How often the compiler used each instruction.
static void draw_opcodes(Canvas *canvas, Rect in, const Compiled *compiled, int mode) {
  const SassResult *sass = compiled->sass;
  const PtxListing *ptx = compiled->listing;
  canvas_text(canvas, in, 0, 1, STYLE_HEADER, "OPCODES");
  for (int i = 0; mode == SHOW_SASS && i < sass->n_counts; i++)
    draw_opcode(canvas, in, i + 1, sass->counts[i].count, sass->counts[i].opcode);
  for (int i = 0; mode == SHOW_PTX && i < ptx->n_counts; i++)
    draw_opcode(canvas, in, i + 1, ptx->counts[i].count, ptx->counts[i].opcode);
}

static void draw_why(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  int cursor = cursor_of(session, source), col = 1;
  if (cursor < 0 || source->missing) return;
  const SourceLine *line = &source->line[cursor];
  if (line->knob != KNOB_NONE) {
    col = canvas_text(canvas, in, 0, col, STYLE_KNOB, knob_table[line->knob].name) + 2;
    col = canvas_text(canvas, in, 0, col, STYLE_DIM, knob_table[line->knob].help) + 2;
  }
  if (line->cuda_line > 0)
    col = canvas_printf(canvas, in, 0, col, STYLE_DIM, "CUDA line %d", line->cuda_line) + 2;
  if (line->stmt && line->stmt->note)
    canvas_fit(canvas, in, 0, col, in.cols - col, ALIGN_LEFT, STYLE_TEXT, line->stmt->note);
}

static void source_draw(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  int mode = session_view_state_const(session)->mode;
  Rect all = in;
  draw_head(canvas, rect_take_top(&in, 1), session);
  Rect why = rect_take_bottom(&in, 1);
  rect_take_bottom(&in, 1);
  canvas_hline(canvas, all, why.row - 1 - all.row, 0, all.cols, STYLE_BORDER);
  if (all.cols >= SIDE_MIN_SCREEN) {
    Rect side = rect_take_right(&in, SIDE_COLS);
    canvas_vline(canvas, all, 1, side.col - all.col, in.rows, STYLE_BORDER);
    rect_take_left(&side, 1);
    if (mode != SHOW_CUDA && !source->missing)
      draw_opcodes(canvas, side, source->compiled, mode);
    else
      draw_nest(canvas, side, session);
  }
  draw_lines(canvas, in, session);
  draw_why(canvas, why, session);
}

// ---- keys -------------------------------------------------------------------------------------

static void change_text(Session *session, int step) {
  ViewState *state = session_view_state(session);
  state->mode = (state->mode + step + SHOW_COUNT) % SHOW_COUNT;
  state->cursor = 0;
}

static void text_before(Session *s, const char *a) { (void)a, change_text(s, -1); }
static void text_after(Session *s, const char *a) { (void)a, change_text(s, 1); }

static int source_count(const Session *session) {
  const Source *source = session->prepared;
  return source ? source->n_lines : 0;
}

static const char *source_line(const Session *session, int i) {
  const Source *source = session->prepared;
  return source->line[i].text;
}

// The next line that touches shared memory; it becomes the selected site.
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
  session_say(session, SAID_NOTE, "no line here touches shared memory");
}

static void source_click(Session *session, int what, int value) {
  if (what == SPOT_LINE) session_view_state(session)->cursor = value;
}

static const Action actions[] = {
    {"text-before", "Left h", "CUDA/PTX/SASS", "text-after", "the text before: CUDA, PTX, SASS",
     text_before},
    {"text-after", "Right l", NULL, NULL, "the next text", text_after},
    {"site-next", "s", "next access", NULL, "the next line that touches shared memory", site_line},
};

const ViewBody source_view = {
    .prepare = source_prepare,
    .draw = source_draw,
    .count = source_count,
    .line = source_line,
    .click = source_click,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
