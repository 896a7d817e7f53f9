// Chooses the lines of the diff that have room: what is changed, then what waits or is waited for,
// then the loops around that, then what reads and writes slabs, the products, all the rest; of
// equals the nearest to a change.
//
// Worked example, fp32 staging without its last barrier on eight rows: the removed line, the first
// barrier, the loops over k_o and k_i, and the loads and stores between them. Where lines are left
// out the next one has dots before it.
#include "tui/views/lesson/lesson_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "tui/views/program/tier_style.h"

enum { RANK_CHANGED, RANK_WAITS, RANK_LOOPS, RANK_SLABS, RANK_PRODUCTS, RANK_REST };
enum { GUTTER = 4, LINES_MAX = 512 };

// ---- the diff -----------------------------------------------------------------------------------

static bool is_shared(const Access *operand) {
  return operand->buffer && operand->buffer->space == SPACE_SHARED;
}

static int rank_of_op(const Op *op, const Stmt *stmt) {
  bool counts = op_facts(op->kind)->completes != COMPLETES_AT_ONCE && !op_is_async_copy(op->kind);
  if (tier_is_barrier(stmt) || counts) return RANK_WAITS;
  if (is_shared(&op->dst) || is_shared(&op->src)) return RANK_SLABS;
  return op_multiplies(op->kind) ? RANK_PRODUCTS : RANK_REST;
}

static int rank_of_line(const ProgramLine *line) {
  const Stmt *stmt = line->stmt;
  if (!stmt) return line->kernel >= 0 && line->depth == 0 ? RANK_LOOPS : RANK_REST;
  if (stmt->kind == STMT_OP) return rank_of_op(&stmt->op, stmt);
  bool hardware =
      stmt->kind == STMT_LOOP && line->tier != TIER_SERIAL_OUTER && line->tier != TIER_STAGE_INNER;
  return hardware ? RANK_REST : RANK_LOOPS;
}

// In which kernel and how deep a line stands says nothing here: what is left out may be a kernel,
// and the only one that remains has no heading.
static const char **texts_of(Arena *arena, const ProgramText *text) {
  const char **out = ARENA_ARRAY(arena, const char *, text->n_lines);
  for (int i = 0; i < text->n_lines; i++) out[i] = text->line[i].text;
  return out;
}

static const LessonBreak *compare(Arena *arena, const Program *program, const Program *broken,
                                  BreakageId id) {
  ProgramText before = program_print(arena, program), after = program_print(arena, broken);
  TextDiff diff = text_diff(arena, texts_of(arena, &before), before.n_lines,
                            texts_of(arena, &after), after.n_lines);
  if (diff.n_lines > LINES_MAX) return NULL;
  LessonBreak *out = ARENA_NEW(arena, LessonBreak);
  BreakLine *line = ARENA_ARRAY(arena, BreakLine, diff.n_lines);
  *out = (LessonBreak){breakage_help(id), diff.n_lines, line};
  for (int i = 0; i < diff.n_lines; i++) {
    const DiffLine *d = &diff.line[i];
    const ProgramLine *at = d->to >= 0 ? &after.line[d->to] : &before.line[d->from];
    int rank = d->kind == DIFF_SAME ? rank_of_line(at) : RANK_CHANGED;
    line[i] = (BreakLine){d->kind, at->depth, rank, at->text};
  }
  return out;
}

const LessonBreak *lesson_break(Arena *arena, const LessonStep *step, const Program *program) {
  static const char asks[] = "finding ";
  if (!step || !step->ask.fact || !str_starts(step->ask.fact, asks)) return NULL;
  BreakageId id = breakage_find(step->ask.fact + strlen(asks));
  const Program *broken = id < BREAK_COUNT ? program_break(arena, program, id) : NULL;
  return broken ? compare(arena, program, broken, id) : NULL;
}

// ---- the picture --------------------------------------------------------------------------------

static int distance_to_change(const LessonBreak *broken, int line) {
  int least = LINES_MAX;
  for (int i = 0; i < broken->n_lines; i++)
    if (broken->line[i].rank == RANK_CHANGED && abs(i - line) < least) least = abs(i - line);
  return least;
}

// The line that is to be shown next; -1: all are.
static int next_line(const LessonBreak *broken, const bool shown[LINES_MAX]) {
  int best = -1, least = 0;
  for (int i = 0; i < broken->n_lines; i++) {
    int price = broken->line[i].rank * LINES_MAX + distance_to_change(broken, i);
    if (shown[i] || (best >= 0 && price >= least)) continue;
    best = i;
    least = price;
  }
  return best;
}

static void draw_line(Canvas *canvas, Rect row, const BreakLine *line, int indent) {
  static const char *const marks[] = {[DIFF_SAME] = " ", [DIFF_REMOVED] = "-", [DIFF_ADDED] = "+"};
  static const Style changed[] = {
      [DIFF_SAME] = STYLE_TEXT, [DIFF_REMOVED] = STYLE_DIFF_DELETE, [DIFF_ADDED] = STYLE_DIFF_ADD};
  Style style = changed[line->kind];
  if (line->kind == DIFF_SAME) style = line->rank == RANK_WAITS ? STYLE_TEXT : STYLE_DIM;
  canvas_text(canvas, row, 0, 1, style, marks[line->kind]);
  int col = GUTTER + 2 * indent;
  canvas_fit(canvas, row, 0, col, row.cols - col - 1, ALIGN_LEFT, style, line->text);
}

void lesson_break_draw(Canvas *canvas, Rect in, const LessonBreak *broken) {
  bool shown[LINES_MAX] = {false};
  int least = LINES_MAX, before = -1;
  for (int n = 0, at; n < in.rows && (at = next_line(broken, shown)) >= 0; n++) {
    shown[at] = true;
    if (broken->line[at].depth < least) least = broken->line[at].depth;
  }
  for (int i = 0; i < broken->n_lines && in.rows > 0; i++) {
    if (!shown[i]) continue;
    Rect row = rect_take_top(&in, 1);
    if (i != before + 1) canvas_glyph(canvas, row, 0, 0, STYLE_DIM, GLYPH_ELLIPSIS);
    draw_line(canvas, row, &broken->line[i], broken->line[i].depth - least);
    before = i;
  }
}
