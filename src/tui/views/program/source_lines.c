// Lines of CUDA, PTX or SASS as rows of the screen: number, mark, words in their colours.
//
//     9 K   for (int k_o = 0; …      K: the tier of a loop
//    10┃12    load_slab(…            ┃ inside the loop under the cursor; 12: the access, as in the
//    nest 11  +    store_slab(…           A|B: this line came 12   !FFMA R4, R8, R12, R4      SASS:
//    waits for a register bank
//
// The number has the columns that the longest of its text needs, so nothing stands upon another.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/stmt.h"
#include "sass/sass_text.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/views/program/source.h"
#include "tui/views/program/tier_style.h"

// Behind the number: the loop's bar, an access or a tier, what the line is to A|B or to its bank.
enum { NUMBER_MIN_COLS = 4, BAR_COLS = 1, MARK_COLS = 2, SIGN_COLS = 1 };
// A control word between mark and sign: " 1y  0 - - a   ".
enum { CONTROL_COLS = 17 };

static int number_cols(const Source *source) {
  const int cols = snprintf(NULL, 0, "%d", source->n_whole);
  return cols > NUMBER_MIN_COLS ? cols : NUMBER_MIN_COLS;
}

int source_gutter_cols(const Source *source) {
  return number_cols(source) + BAR_COLS + MARK_COLS + SIGN_COLS +
         (source->has_control ? CONTROL_COLS : 0);
}

// Stall, yield, wait mask, scoreboards, reuse.
static void draw_control(Canvas *canvas, Rect row, int col, const SassInst *inst) {
  const SassControl control = sass_control(inst);
  col = canvas_printf(canvas, row, 0, col, STYLE_DIM, "%3s%c", control.stall, control.yield);
  col = canvas_printf(canvas, row, 0, col, inst->wait ? STYLE_ACCENT : STYLE_DIM, "%4s ",
                      control.wait);
  canvas_printf(canvas, row, 0, col, STYLE_DIM, "%c %c %3s", control.writes, control.reads,
                control.reuse);
}

static void draw_control_names(Canvas *canvas, Rect row, const Source *source) {
  canvas_text(canvas, row, 0, number_cols(source) + BAR_COLS + MARK_COLS, STYLE_HEADER,
              "stl wait w r use");
}

// ---- words -------------------------------------------------------------------------------------

static const struct {
  const char *word;
  Style style;
} words[] = {
    {"for", STYLE_KEYWORD},
    {"if", STYLE_KEYWORD},
    {"else", STYLE_KEYWORD},
    {"while", STYLE_KEYWORD},
    {"return", STYLE_KEYWORD},
    {"const", STYLE_KEYWORD},
    {"constexpr", STYLE_KEYWORD},
    {"static", STYLE_KEYWORD},
    {"extern", STYLE_KEYWORD},
    {"struct", STYLE_KEYWORD},
    {"asm", STYLE_KEYWORD},
    {"volatile", STYLE_KEYWORD},
    {"__global__", STYLE_KEYWORD},
    {"__device__", STYLE_KEYWORD},
    {"__shared__", STYLE_KEYWORD},
    {"__restrict__", STYLE_KEYWORD},
    {"__forceinline__", STYLE_KEYWORD},
    {"__launch_bounds__", STYLE_KEYWORD},
    {"__align__", STYLE_KEYWORD},
    {"int", STYLE_TYPE},
    {"unsigned", STYLE_TYPE},
    {"float", STYLE_TYPE},
    {"double", STYLE_TYPE},
    {"void", STYLE_TYPE},
    {"char", STYLE_TYPE},
    {"bool", STYLE_TYPE},
    {"long", STYLE_TYPE},
    {"float2", STYLE_TYPE},
    {"float4", STYLE_TYPE},
    {"uint2", STYLE_TYPE},
    {"uint4", STYLE_TYPE},
    {"f16", STYLE_TYPE},
    {"bf16", STYLE_TYPE},
    {"short", STYLE_TYPE},
};

static Style word_style(const char *word, size_t n) {
  if (isdigit((unsigned char)*word)) return STYLE_LITERAL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].word) == n && strncmp(words[i].word, word, n) == 0) return words[i].style;
  return STYLE_TEXT;
}

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The end of the piece that begins at `text` and has one colour.
static size_t piece_at(const char *text, Style *style) {
  *style = STYLE_TEXT;
  if (str_starts(text, "//")) {
    *style = STYLE_COMMENT;
    return strlen(text);
  }
  size_t n = 1;
  if (in_word(*text)) {
    while (in_word(text[n])) n++;
    *style = word_style(text, n);
    return n;
  }
  while (text[n] && !in_word(text[n]) && !str_starts(text + n, "//")) n++;
  return n;
}

static void draw_pieces(Canvas *canvas, Rect area, int col, const char *text) {
  char piece[256];
  for (const char *at = text; *at;) {
    Style style;
    size_t n = piece_at(at, &style), kept = n < sizeof piece ? n : sizeof piece - 1;
    memcpy(piece, at, kept);
    piece[kept] = '\0';
    col = canvas_text(canvas, area, 0, col, style, piece);
    at += kept;
  }
}

// A line that goes beyond either end shows it there.
void source_draw_text(Canvas *canvas, Rect row, int col, const SourceLine *line, int across) {
  Rect area = row;
  rect_take_left(&area, col);
  const int blanks = (int)strspn(line->text, " ");  // are not underlined
  Style style = line->kind == DIFF_ADDED     ? STYLE_DIFF_ADD
                : line->kind == DIFF_REMOVED ? STYLE_DIFF_DELETE
                                             : line->style;
  if (style == STYLE_TEXT)
    draw_pieces(canvas, area, -across, line->text);
  else
    canvas_text(canvas, area, 0, blanks - across, style, line->text + blanks);
  if (across && line->text[blanks]) canvas_glyph(canvas, area, 0, 0, STYLE_DIM, GLYPH_ELLIPSIS);
  if (area.cols > 0 && utf8_columns(line->text) - across > area.cols)
    canvas_glyph(canvas, area, 0, area.cols - 1, STYLE_DIM, GLYPH_ELLIPSIS);
}

// ---- rows ---------------------------------------------------------------------------------------

static void draw_fold(Canvas *canvas, Rect row, const Session *session, const Source *source,
                      const SourceLine *line) {
  canvas_printf(canvas, row, 0, source_gutter_cols(source), STYLE_DIM,
                "… %d lines folded, %s opens them", line->n_folded, view_key_name(session, "fold"));
}

static void draw_match(Canvas *canvas, Rect row, const Session *session, const Source *source,
                       const SourceLine *line, int across) {
  SourceMatch match = source_match(session->frame, line->text, session->prompt.search);
  Rect area = row;
  rect_take_left(&area, source_gutter_cols(source));
  Rect found = {row.row, area.col + match.col - across, 1, match.cols};
  if (match.cols) canvas_over(canvas, rect_intersect(area, found), STYLE_MATCH);
}

bool source_line_is_code(const SourceLine *line) {
  const char *at = line->text ? line->text + strspn(line->text, " ") : "";
  return *at && *at != '#' && !str_starts(at, "//");
}

static void draw_gutter(Canvas *canvas, Rect row, const Source *source, const SourceLine *line) {
  const int digits = number_cols(source), mark = digits + BAR_COLS,
            sign = source_gutter_cols(source) - SIGN_COLS;
  canvas_printf(canvas, row, 0, 0, STYLE_DIM, "%*d", digits, line->number);
  const bool is_loop = line->stmt && line->stmt->kind == STMT_LOOP,
             is_code = source_line_is_code(line);
  if (is_code && line->site)
    canvas_printf(canvas, row, 0, mark, STYLE_ACCENT, "%*d", MARK_COLS, line->site);
  else if (is_code && is_loop)
    canvas_printf(canvas, row, 0, mark, tier_style(line->stmt->var->tier), "%*c", MARK_COLS,
                  tier_mark(line->stmt->var->tier));
  if (source->has_control && line->inst) draw_control(canvas, row, mark + MARK_COLS, line->inst);
  if (line->kind == DIFF_ADDED) canvas_text(canvas, row, 0, sign, STYLE_DIFF_ADD, "+");
  if (line->kind == DIFF_REMOVED) canvas_text(canvas, row, 0, sign, STYLE_DIFF_DELETE, "-");
  if (line->bank_mark)
    canvas_text(canvas, row, 0, sign, line->bank_mark == BANK_MARK_CONFLICT ? STYLE_BAD : STYLE_OK,
                register_bank_sign(line->bank_mark));
}

// Number and words; a line without words has nothing to be linked by.
static void link_line(Canvas *canvas, Rect row, const Source *source, const SourceLine *line,
                      int across) {
  const int blanks = (int)strspn(line->text, " \t");
  if (!line->text[blanks]) return;
  const int begin = blanks > across ? blanks - across : 0;
  const int cols = utf8_columns(line->text) - across - begin;
  Rect text = row;
  canvas_over(canvas, (Rect){row.row, row.col, 1, number_cols(source)}, STYLE_LINKED);
  rect_take_left(&text, source_gutter_cols(source) + begin);
  if (cols > 0) canvas_over(canvas, rect_take_left(&text, cols), STYLE_LINKED);
}

static void draw_line(Canvas *canvas, Rect row, const Session *session, const Source *source,
                      int index, const SourcePlace *place) {
  const SourceLine *line = &source->line[index];
  canvas_spot(canvas, row, SOURCE_SPOT_LINE + (int)source->mode, index);
  if (!line->text) {
    if (line->n_folded) draw_fold(canvas, row, session, source, line);
    if (!line->n_folded) canvas_text(canvas, row, 0, 3, STYLE_DIM, "…");
    return;
  }
  draw_gutter(canvas, row, source, line);
  source_draw_text(canvas, row, source_gutter_cols(source), line, place->across);
  bool made = place->cuda_line && source_cuda_line(source, line) == place->cuda_line;
  if (made || (place->stmt && line->stmt == place->stmt))
    link_line(canvas, row, source, line, place->across);
  if (place->has_cursor) draw_match(canvas, row, session, source, line, place->across);
}

void source_draw_lines(Canvas *canvas, Rect in, const Session *session, const Source *source,
                       const SourcePlace *place) {
  if (source->missing) {
    canvas_wrap(canvas, rect_inset(in, 1, 2), STYLE_DIM, source->missing);
    return;
  }
  if (source->has_control) draw_control_names(canvas, rect_take_top(&in, 1), source);
  int cursor = source->cursor, first = view_scroll(cursor, source->n_lines, in.rows);
  for (int i = 0; i < in.rows && first + i < source->n_lines; i++) {
    Rect row = {in.row + i, in.col, 1, in.cols};
    draw_line(canvas, row, session, source, first + i, place);
    if (source_stmt_holds(place->stmt, source->line[first + i].stmt))
      canvas_text(canvas, row, 0, number_cols(source), STYLE_ACCENT, "┃");
    if (place->has_cursor && first + i == cursor) canvas_over(canvas, row, STYLE_CURSOR);
  }
}
