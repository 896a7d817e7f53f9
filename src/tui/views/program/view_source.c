// source: the CUDA text, and what the compiler made of it.
//
//   CUDA  PTX  SASS   178 lines                    SASS identical: yes   NVRTC 13.0  118 registers
//   A LLFFFFFFFFFFFFFFFFFFFFFF…B     the ribbon: what the instructions do, in order
//   B L·FFFFFFFFFFFFFFFFFFFFFF…B
//    12 T  for (int k_i = 0; …        tier or site, then the line
//
// Lines of the statement under the cursor are linked; below stands the knob that put the line
// there. CUDA, PTX and SASS show one place: the line under the cursor and what was made of it; on a
// wide screen they stand side by side and move together. PTX and SASS come when a worker has
// compiled this state; SASS has its control words in front. With A|B, CUDA shows what differs, PTX
// and SASS how often each instruction is used in both. SASS marks FFMA that wait for a register
// bank with "!", those that .reuse spares with "r", and counts them above. s goes to the next line
// that touches shared memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "kernels/toolchain/machine/asm_words.h"
#include "model/ir/stmt.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/subject.h"
#include "tui/views/data/view_data.h"
#include "tui/views/memory/bank_card.h"
#include "tui/views/program/explore.h"
#include "tui/views/program/source.h"
#include "tui/views/program/tier_style.h"

enum { SIDE_COLS = 44, COUNTS_MIN_SCREEN = 76, SIDE_MIN_SCREEN = 110, NEST_MIN_SCREEN = 140 };
enum { BESIDE_MIN_SCREEN = 160, BESIDE_CONTROL_COLS = 66, ACROSS_STEP = 16 };

static const char *const text_names[] = {"CUDA", "PTX", "SASS"};

// ---- what is there ------------------------------------------------------------------------------

static const char *missing_text(const Session *session, const Source *source) {
  SourceMode mode = source->mode;
  const Compiled *compiled = source->compiled;
  if (mode == SOURCE_CUDA) return NULL;
  if (!compiled) {
    if (!session->background.worker.present)
      return "No worker runs beside this screen, so nothing is compiled. The explorer and "
             "`gemmview ptx` compile; `gemmview doctor` tells whether they can.";
    if (session->background.worker.line[0]) return session->background.worker.line;
    return "Compiling begins when you stop turning knobs.";
  }
  if (compiled->error) return compiled->error;
  if (mode == SOURCE_PTX && compiled->no_ptx) return compiled->no_ptx;
  if (mode == SOURCE_PTX) return compiled->listing ? NULL : "Compiling …";
  if (!compiled->sass)
    return compiled->running
               ? "SASS has not arrived yet."
               : "No SASS: nvdisasm is not installed here. `gemmview doctor` lists the places "
                 "where it was searched. PTX and register counts do not need it.";
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
  if (compiled->note) str_printf(&out, "  %s", compiled->note);
  return out.text;
}

// ---- one place in three texts -----------------------------------------------------------------

// Once the text is there, the cursor goes to the first line made from the one that is sought, else
// to the one from nearest by.
static void follow_line(Session *session, const Source *source) {
  SourceChosen *chosen = source_chosen(session);
  if (chosen->sought == 0 || source->missing) return;
  int best = source_nearest(source, chosen->sought);
  if (best < 0) return;
  session_view_state(session)->cursor = best;
  chosen->sought = 0;
}

static void list_lines(Session *session, Source *source) {
  bool comparing = session_compares(session);
  if (source->mode == SOURCE_CUDA && comparing) source_list_diff(session, source);
  if (source->mode == SOURCE_CUDA && !comparing) source_list_cuda(session, source);
  if (source->missing) return;
  if (source->mode == SOURCE_PTX) source_list_ptx(session, source);
  if (source->mode == SOURCE_SASS) source_list_sass(session, source);
  source->whole = source->line;
  source->n_whole = source->n_lines;
  if (!comparing && !session->at.subject && !source_chosen(session)->unfolded)
    source_fold(session->frame, source, side_emission(&session->doc.now));
}

static Source *make_text(Session *session, SourceMode mode) {
  Source *source = ARENA_NEW(session->frame, Source);
  Results *results = &session->background.results;
  source->mode = mode;
  source->compiled = session->at.subject ? session->at.subject->text(session).compiled
                                         : results_compiled(results, session->doc.now.picture->key);
  source->compiled_a =
      session_compares(session) ? results_compiled(results, session->doc.then.picture->key) : NULL;
  source->missing = missing_text(session, source);
  list_lines(session, source);
  return source;
}

static int side_cols(const Session *session, const Source *source) {
  // Counts are worth more room than the nest, and most where there are two of each.
  bool counts = source->mode != SOURCE_CUDA && !source->missing;
  int least =
      counts ? session_compares(session) ? COUNTS_MIN_SCREEN : SIDE_MIN_SCREEN : NEST_MIN_SCREEN;
  return source->beside[0] || (session->at.subject && !counts) || session->cols < least ? 0
                                                                                        : SIDE_COLS;
}

// Columns that a line of the text under the cursor has for itself.
static int text_cols(const Session *session, const Source *source) {
  int cols = source->beside[0] ? session->cols / SOURCE_MODES : session->cols;
  return cols - side_cols(session, source) - source_gutter_cols(source);
}

// The three texts in columns, where there is room and a compiler; the others at the place of this.
static void put_beside(Session *session, Source *source) {
  bool compiles = source->compiled || session->background.worker.present;
  if (session->cols < BESIDE_MIN_SCREEN || session_compares(session) || !compiles) return;
  int place = source_chosen(session)->place;
  Source *text[SOURCE_MODES];
  for (int i = 0; i < SOURCE_MODES; i++) {
    text[i] = i == (int)source->mode ? source : make_text(session, (SourceMode)i);
    if (text[i] != source) text[i]->cursor = source_nearest(text[i], place);
  }
  for (int i = 0; i < SOURCE_MODES; i++) {
    source->beside[i] = text[i];
    text[i]->has_control &= session->cols / SOURCE_MODES >= BESIDE_CONTROL_COLS;
  }
}

static void source_prepare(Session *session) {
  const ViewState *state = session_view_state(session);
  SourceChosen *chosen = source_chosen(session);
  Source *source = make_text(session, chosen->mode);
  source->status = status_text(session, source->compiled);
  source->identity = source_identity(session->frame, source->compiled_a, source->compiled);
  session->prepared = source;
  if (chosen->compared != session_compares(session) && chosen->place)
    chosen->sought = chosen->place;
  chosen->compared = session_compares(session);
  follow_line(session, source);
  source->cursor = state->cursor < source->n_lines ? state->cursor : source->n_lines - 1;
  chosen->place = source->missing ? chosen->sought : source_place(source, source->cursor);
  if (source->cursor >= 0 && !source->missing)
    source->bank_words = source_bank_words(session, &source->line[source->cursor]);
  put_beside(session, source);
  if (source->mode != SOURCE_CUDA && !source->missing) {
    source_count(session->frame, source);
    source_make_ribbons(session->frame, source);
  }
  if (!chosen->across) return;
  int most = source_across_max(source, text_cols(session, source));
  if (chosen->across > most) chosen->across = most;
}

// ---- drawing ------------------------------------------------------------------------------------

// The name of a text, which is what is clicked on to get there.
static int draw_name(Canvas *canvas, Rect in, int row, int col, const Source *source, int mode) {
  bool here = mode == (int)source->mode;
  Rect area = {in.row + row, in.col + col, 1, utf8_columns(text_names[mode])};
  col = canvas_text(canvas, in, row, col, here ? STYLE_TITLE : STYLE_DIM, text_names[mode]);
  if (here) canvas_over(canvas, area, STYLE_SELECTED);
  canvas_spot(canvas, area, SOURCE_SPOT_NAME, mode);
  return col;
}

// The marks between number and text, where there is room for their words.
static void draw_marks(Canvas *canvas, Rect in, int col, int end, const Source *source) {
  static const char *const says = "┃ this loop  R tier  1 access of view 3";
  if (source->missing || col + utf8_columns(says) > end) return;
  canvas_text(canvas, in, 0, col, STYLE_DIM, says);
}

static void draw_head(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  int col = 1;
  for (int i = 0; i < SOURCE_MODES && !source->beside[0]; i++)
    col = draw_name(canvas, in, 0, col, source, i) + 2;
  if (source->n_added + source->n_removed) {
    col = canvas_printf(canvas, in, 0, col + 1, STYLE_DIFF_ADD, "+%d", source->n_added);
    col = canvas_printf(canvas, in, 0, col + 1, STYLE_DIFF_DELETE, "-%d", source->n_removed);
  } else if (session_compares(session) && source->mode == SOURCE_CUDA) {
    col = canvas_text(canvas, in, 0, col + 1, STYLE_OK, "CUDA identical: yes");
  } else if (source->beside[0]) {
    col = canvas_text(canvas, in, 0, col, STYLE_DIM, "compiled from the line under the cursor");
  } else {
    col = canvas_printf(canvas, in, 0, col + 1, STYLE_DIM, "%d lines", source->n_whole);
  }
  if (*source->identity) col = canvas_text(canvas, in, 0, col + 2, STYLE_ACCENT, source->identity);
  const int width = utf8_columns(source->status);
  const bool fits = in.cols - width > col + 2;
  if (fits) canvas_text(canvas, in, 0, in.cols - width - 1, STYLE_MEASURED, source->status);
  if (fits && source->mode == SOURCE_CUDA && !source->beside[0])
    draw_marks(canvas, in, col + 2, in.cols - width - 2, source);
}

// CUDA, PTX and SASS under their names.
static void draw_columns(Canvas *canvas, Rect in, const Session *session, SourcePlace place) {
  const Source *source = session->prepared;
  const int across = place.across;
  for (int i = 0; i < SOURCE_MODES; i++) {
    const Source *text = source->beside[i];
    Rect column = rect_take_left(&in, i < SOURCE_MODES - 1 ? canvas->cols / SOURCE_MODES : in.cols);
    if (i) canvas_vline(canvas, column, 0, 0, column.rows, STYLE_BORDER);
    if (i) rect_take_left(&column, 1);
    int col = draw_name(canvas, column, 0, 1, source, i);
    if (!text->missing)
      col = canvas_printf(canvas, column, 0, col + 2, STYLE_DIM, "%d lines", text->n_whole);
    if (!text->missing && text->register_banks)
      canvas_fit(canvas, column, 0, col + 2, column.cols - col - 2, ALIGN_LEFT, STYLE_TEXT,
                 text->register_banks);
    rect_take_top(&column, 1);
    place.has_cursor = text == source;
    place.across = place.has_cursor ? across : 0;
    source_draw_lines(canvas, column, session, text, &place);
  }
}

// The nest beside the text, with the row of the cursor's statement linked.
static void draw_nest(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  const Nest *nest = &session->doc.now.picture->nest;
  const Stmt *stmt = source->cursor >= 0 ? source->line[source->cursor].stmt : NULL;
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

static void draw_why(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  int col = 1;
  if (source->cursor < 0 || source->missing) return;
  enum { NOTE_COLS_MIN = 12 };  // no room for words
  const SourceLine *line = &source->line[source->cursor];
  if (source->bank_words) col = canvas_text(canvas, in, 0, col, STYLE_BAD, source->bank_words) + 2;
  if (line->knob != KNOB_NONE) {
    if (line->knob != session->at.knob)
      col = canvas_text(canvas, in, 0, col, STYLE_DIM, "this line is by") + 1;
    col = canvas_text(canvas, in, 0, col, STYLE_KNOB, knob_table[line->knob].name) + 2;
    const char *help = knob_table[line->knob].help;
    int cols = utf8_columns(help) < in.cols - col ? utf8_columns(help) : in.cols - col;
    col = canvas_fit(canvas, in, 0, col, cols, ALIGN_LEFT, STYLE_DIM, help) + 2;
  }
  if (line->cuda_line > 0 && in.cols - col >= NOTE_COLS_MIN)
    col = canvas_printf(canvas, in, 0, col, STYLE_DIM, "CUDA line %d", line->cuda_line) + 2;
  if (line->stmt && line->stmt->note && in.cols - col >= NOTE_COLS_MIN)
    canvas_fit(canvas, in, 0, col, in.cols - col, ALIGN_LEFT, STYLE_TEXT, line->stmt->note);
  char asked[ASM_WORDS_BYTES];
  if (col == 1 && line->text && asm_words(line->text, asked))
    canvas_fit(canvas, in, 0, col, in.cols - col, ALIGN_LEFT, STYLE_TEXT, asked);
}

static void draw_side(Canvas *canvas, Rect side, const Session *session) {
  const Source *source = session->prepared;
  canvas_vline(canvas, side, 0, 0, side.rows, STYLE_BORDER);
  rect_take_left(&side, 1);
  if (source->mode != SOURCE_CUDA && !source->missing)
    source_draw_opcodes(canvas, side, source);
  else
    draw_nest(canvas, side, session);
}

static void source_draw(Canvas *canvas, Rect in, const Session *session) {
  const Source *source = session->prepared;
  Rect all = in;
  draw_head(canvas, rect_take_top(&in, 1), session);
  if (!source->beside[0]) {
    rect_take_top(&in, source_draw_ribbons(canvas, in, source));
    rect_take_top(&in, source_draw_register_banks(canvas, in, source));
  }
  Rect why = rect_take_bottom(&in, 1);
  rect_take_bottom(&in, 1);
  canvas_hline(canvas, all, why.row - 1 - all.row, 0, all.cols, STYLE_BORDER);
  SourcePlace place = {.has_cursor = true, .across = source_chosen(session)->across};
  if (source->cursor >= 0 && !source->missing) {
    place.stmt = source->line[source->cursor].stmt;
    if (source->beside[0])
      place.cuda_line = source_cuda_line(source, &source->line[source->cursor]);
  }
  int side = side_cols(session, source);
  if (side) draw_side(canvas, rect_take_right(&in, side), session);
  if (source->beside[0])
    draw_columns(canvas, in, session, place);
  else
    source_draw_lines(canvas, in, session, source, &place);
  draw_why(canvas, why, session);
}

// ---- keys ---------------------------------------------------------------------------------------

static void change_text(Session *session, int step) {
  ViewState *state = session_view_state(session);
  SourceChosen *chosen = source_chosen(session);
  const Source *source = session->prepared;
  // A text that has not come, or has no line map, keeps the line that the one before it asked for.
  int here = source && !source->missing ? source_place(source, state->cursor) : 0;
  if (here) chosen->sought = here;
  chosen->mode = (SourceMode)(((int)chosen->mode + step + SOURCE_MODES) % SOURCE_MODES);
  chosen->across = 0;
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

// Whether an access begins at line i; several lines may be one.
static bool begins_site(const Source *source, int i) {
  if (!source->line[i].site || !source_line_is_code(&source->line[i])) return false;
  int before = i - 1;
  while (before >= 0 && !source_line_is_code(&source->line[before])) before--;
  return before < 0 || source->line[before].site != source->line[i].site;
}

// The next access to shared or global memory; it becomes the selected site.
static void site_line(Session *session, const char *argument) {
  (void)argument;
  const Source *source = session->prepared;
  ViewState *state = session_view_state(session);
  for (int i = 1; source && i <= source->n_lines; i++) {
    int at = (state->cursor + i) % source->n_lines;
    if (!begins_site(source, at)) continue;
    state->cursor = at;
    session_choose(session, source->line[at].site - 1);
    return;
  }
  session_say(session, SAID_NOTE, "no line here touches memory");
}

// ---- going there --------------------------------------------------------------------------------

// The line with what was searched for comes into sight, and so does its match.
static void go_line(Session *session, int i) {
  const Source *source = session->prepared;
  int *across = &source_chosen(session)->across;
  session_view_state(session)->cursor = i;
  SourceMatch match = source_match(session->frame, source->line[i].text, session->prompt.search);
  if (match.cols) *across = source_across_for(match, *across, text_cols(session, source));
}

// The folded lines open, or fold again; the cursor stays on its line.
static void fold(Session *session, const char *argument) {
  (void)argument;
  const Source *source = session->prepared;
  ViewState *state = session_view_state(session);
  if (!source || source->missing || session->doc.comparing || session->at.subject) return;
  const SourceLine *line = source->n_lines ? &source->line[source->cursor] : NULL;
  int number = line && line->text ? line->number : 1;
  source_chosen(session)->unfolded = !source_chosen(session)->unfolded;
  Source *other = make_text(session, source->mode);
  int at = source_numbered(other, number);
  for (int i = 0; at < 0 && i < other->n_lines; i++)
    if (other->line[i].n_folded) at = i;
  state->cursor = at < 0 ? 0 : at;
}

static void go_number(Session *session, const char *text) {
  char *end;
  const Source *source = session->prepared;
  ViewState *state = session_view_state(session);
  long number = strtol(text, &end, 10);
  if (!source || source->missing) return;
  if (end == text || *end || number < 1 || number > source->n_whole) {
    session_say(session, SAID_NOTE, "lines here are 1 to %d, not \"%s\"", source->n_whole, text);
    return;
  }
  if (source_numbered(source, (int)number) < 0 && !session_compares(session)) {
    source_chosen(session)->unfolded = true;
    source = make_text(session, source->mode);
  }
  int at = source_numbered(source, (int)number);
  if (at < 0) session_say(session, SAID_NOTE, "line %ld is left out of the comparison", number);
  if (at >= 0) state->cursor = at;
}

// ":line 174", ":174", or a number asked for.
static void line(Session *session, const char *argument) {
  if (argument && *argument) {
    go_number(session, argument);
    return;
  }
  session->prompt.kind = PROMPT_FIELD;
  session->prompt.field.history = NULL;
  textfield_set(&session->prompt.field, "");
}

static void source_typed(Session *session, TextFieldResult result) {
  if (result == TEXTFIELD_ACCEPTED && session->prompt.field.text[0])
    go_number(session, session->prompt.field.text);
}

static void scroll(Session *session, int by) {
  const Source *source = session->prepared;
  int most = source ? source_across_max(source, text_cols(session, source)) : 0;
  int to = source_chosen(session)->across + by;
  source_chosen(session)->across = to < 0 ? 0 : to > most ? most : to;
}

static void scroll_left(Session *s, const char *a) { (void)a, scroll(s, -ACROSS_STEP); }
static void scroll_right(Session *s, const char *a) { (void)a, scroll(s, ACROSS_STEP); }

static void source_click(Session *session, int what, int value) {
  SourceChosen *chosen = source_chosen(session);
  int mode = what == SOURCE_SPOT_NAME ? value : what - SOURCE_SPOT_LINE;
  if ((int)chosen->mode != mode) change_text(session, mode - (int)chosen->mode);
  if (what == SOURCE_SPOT_NAME) return;
  session_view_state(session)->cursor = value;
  chosen->sought = 0;
}

// From the nest of the explore view one comes to the lines of the row under its cursor; from
// anywhere, the first time, to the loop over slabs.
static void source_enter(Session *session) {
  int explore = view_find("explore");
  const ViewState *from = &session->at.state[explore];
  SourceChosen *chosen = source_chosen(session);
  ViewState *state = session_view_state(session);
  if (session->at.subject) {  // at the line that it is at, in the text that was looked at last
    *state = (ViewState){0};
    *chosen = (SourceChosen){.mode = chosen->mode, .sought = session->at.subject->line};
    return;
  }
  if (session->doc.comparing) return;
  Source *source = make_text(session, SOURCE_CUDA);
  const Nest *nest = explore_nest(session);
  bool of_row =
      session->at.view_before == explore && from->pane == 1 && from->cursor < nest->n_rows;
  bool is_new = state->cursor == 0 && chosen->mode == SOURCE_CUDA;
  int first = of_row   ? source_first_of(source, &nest->row[from->cursor])
              : is_new ? source_main_loop(source, session_model(session))
                       : -1;
  if (first < 0) return;
  *state = (ViewState){.cursor = first};
  *chosen = (SourceChosen){.unfolded = chosen->unfolded};
}

static const Action actions[] = {
    {"text-before", "Left h", "CUDA/PTX/SASS", "text-after", "the text before: CUDA, PTX, SASS",
     text_before},
    {"text-after", "Right l", NULL, NULL, "the next text", text_after},
    {"site-next", "s", "next access", NULL, "the next line that touches shared or global memory",
     site_line},
    {"line", "#", NULL, NULL, "go to a line by its number; :174 does the same", line},
    {"scroll-left", "<", "sideways", "scroll-right", "long lines: scroll left", scroll_left},
    {"scroll-right", ">", NULL, NULL, "long lines: scroll right", scroll_right},
    {"fold", "z", NULL, NULL, "show or fold the text before the kernel", fold},
};

const ViewBody source_view = {
    .chosen_bytes = sizeof(SourceChosen),
    .shows_subject = true,
    .enter = source_enter,
    .prepare = source_prepare,
    .draw = source_draw,
    .data = view_prepared,
    .count = count_lines,
    .line = source_line,
    .go = go_line,
    .click = source_click,
    .typed = source_typed,
    .field_label = "line ",
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
