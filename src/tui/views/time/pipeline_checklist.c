// The checklist: what a kernel with roles must contain, line by line, with where it stands.
//
//   CHECKLIST  30 of 31 ok                                          loops  CUDA
//   in front of the roles
//    ok      one thread of the block initialises the mbarriers, in no role   12   208
//    wrong   one whole warp allocates tensor memory, with no lane guard      24   219
//
// For a broken program it is the broken one's (model/readings/rules/skeleton.h), so that a breakage
// shows as the line that it breaks. Lines are about what must stand where, not about values: a
// breakage that leaves all of it in its place is said to have none.
//   CHECKLIST  27 of 27 ok; none is about last_barrier           loops  CUDA
// Numbers are those of `gemmview loops` and of the CUDA text.
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/notation/print.h"
#include "model/ir/stmt.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

enum { STATE_COLS = 9, NUMBER_COLS = 6, SAID_ROWS = 4 };

static int line_in_loops(const ProgramText *text, const Stmt *stmt) {
  for (int i = 0; stmt && i < text->n_lines; i++)
    if (text->line[i].stmt == stmt) return i + 1;
  return 0;
}

static int line_in_cuda(const Emission *emission, const Stmt *stmt) {
  for (int i = 0; emission && stmt && i < emission->n_lines; i++)
    if (emission->lines[i].stmt == stmt) return i + 1;
  return 0;
}

Checklist pipeline_checklist(Arena *arena, const Model *model, const Program *program,
                             const char *broken) {
  Checklist list = {.program = program, .skeleton = skeleton_of(arena, program), .broken = broken};
  const ProgramText text = program_print(arena, program);
  const bool says = list.skeleton->n && !emit_fault(arena, program);
  const Emission *emission = says ? emit_model(arena, model, program) : NULL;
  ChecklistPlace *place = ARENA_ARRAY(arena, ChecklistPlace, SKELETON_LINES_MAX);
  for (int i = 0; i < list.skeleton->n; i++) {
    const Stmt *at = list.skeleton->line[i].at;
    const int row = line_in_loops(&text, at);
    place[i] =
        (ChecklistPlace){row, line_in_cuda(emission, at), row ? text.line[row - 1].text : ""};
  }
  list.place = place;
  return list;
}

int checklist_first_bad(const Checklist *list) {
  for (int i = 0; i < list->skeleton->n; i++)
    if (list->skeleton->line[i].state != SKELETON_OK) return i;
  return 0;
}

const char *checklist_no_line_about(const Checklist *list) {
  return list->skeleton->n_bad ? NULL : list->broken;
}

// ---- drawing ------------------------------------------------------------------------------------

static Style style_of(SkeletonState state) {
  return state == SKELETON_OK ? STYLE_OK : state == SKELETON_WRONG ? STYLE_WARN : STYLE_BAD;
}

static void draw_number(Canvas *canvas, Rect row, int col, int number) {
  if (number)
    canvas_printf(canvas, row, 0, col, STYLE_DIM, "%*d", NUMBER_COLS, number);
  else
    canvas_printf(canvas, row, 0, col, STYLE_DIM, "%*s", NUMBER_COLS, "-");
}

static void draw_line(Canvas *canvas, Rect row, const Checklist *list, int i, bool here) {
  const SkeletonLine *line = &list->skeleton->line[i];
  const int right = row.cols - 2 * NUMBER_COLS - 1;
  if (here) canvas_glyph(canvas, row, 0, 0, STYLE_SITE, GLYPH_POINTER);
  canvas_text(canvas, row, 0, 2, style_of(line->state), skeleton_state_name(line->state));
  canvas_fit(canvas, row, 0, 2 + STATE_COLS, right - 2 - STATE_COLS, ALIGN_LEFT,
             here ? STYLE_TITLE : STYLE_TEXT, line->asked);
  draw_number(canvas, row, right, list->place[i].loops);
  draw_number(canvas, row, right + NUMBER_COLS, list->place[i].cuda);
}

// Rows of the picture: a heading in front of each part's lines; -1 - part stands for a heading.
static int rows_of(const Checklist *list, int row[SKELETON_LINES_MAX + SKELETON_PARTS]) {
  int n = 0, part = -1;
  for (int i = 0; i < list->skeleton->n; i++) {
    const int its = (int)list->skeleton->line[i].part;
    if (its != part) row[n++] = -1 - its;
    part = its;
    row[n++] = i;
  }
  return n;
}

static void draw_head(Canvas *canvas, Rect in, const Checklist *list) {
  const Skeleton *skeleton = list->skeleton;
  int col = canvas_text(canvas, in, 0, 1, STYLE_HEADER, "CHECKLIST");
  col = canvas_printf(canvas, in, 0, col + 2, STYLE_TEXT, "%d of %d ok",
                      skeleton->n - skeleton->n_bad, skeleton->n);
  if (checklist_no_line_about(list))
    canvas_printf(canvas, in, 0, col, STYLE_BAD, "; none is about %s", list->broken);
  else if (list->broken)
    canvas_printf(canvas, in, 0, col + 2, STYLE_BAD, "broken: %s", list->broken);
  canvas_printf(canvas, in, 0, in.cols - 2 * NUMBER_COLS - 1, STYLE_DIM, "%*s%*s", NUMBER_COLS,
                "loops", NUMBER_COLS, "CUDA");
}

static void draw_said(Canvas *canvas, Rect in, const Checklist *list, int at) {
  const SkeletonLine *line = &list->skeleton->line[at];
  Rect row = rect_take_top(&in, 1);
  int col = canvas_text(canvas, row, 0, 1, style_of(line->state), skeleton_state_name(line->state));
  canvas_fit(canvas, row, 0, col + 1, row.cols - col - 1, ALIGN_LEFT, STYLE_TITLE, line->asked);
  row = rect_take_top(&in, 1);
  const bool missed = line->state == SKELETON_MISSING && line->at;
  canvas_text(canvas, row, 0, 1, STYLE_WARN,
              line->found                                 ? line->found
              : line->state == SKELETON_MISSING && missed ? "not here; it is at:"
              : line->state == SKELETON_MISSING           ? "nowhere in the program"
                                                          : "");
  row = rect_take_top(&in, 1);
  canvas_fit(canvas, row, 0, 1, row.cols - 1, ALIGN_LEFT, STYLE_SITE, list->place[at].text);
}

void checklist_draw(Canvas *canvas, Rect in, const Checklist *list, int cursor) {
  int row[SKELETON_LINES_MAX + SKELETON_PARTS], here = 0;
  const int n = rows_of(list, row);
  draw_head(canvas, rect_take_top(&in, 1), list);
  if (!n) {
    canvas_text(canvas, in, 0, 1, STYLE_DIM,
                "this kernel has neither roles nor tensor memory: the list does not apply");
    return;
  }
  for (int i = 0; i < n; i++)
    if (row[i] == cursor) here = i;
  Rect said = rect_take_bottom(&in, SAID_ROWS);
  canvas_hline(canvas, rect_take_top(&said, 1), 0, 0, said.cols, STYLE_BORDER);
  ViewList rows = view_list(in, here, n);
  while (view_list_next(canvas, &rows)) {
    const Rect at = rows.row;
    const int line = row[rows.at];
    if (line < 0)
      canvas_text(canvas, at, 0, 1, STYLE_DIM, skeleton_part_name((SkeletonPart)(-1 - line)));
    else
      draw_line(canvas, at, list, line, line == cursor);
    if (line >= 0) canvas_spot(canvas, at, PIPELINE_SPOT_LINE, line);
  }
  draw_said(canvas, said, list, cursor);
}

// ---- JSON ---------------------------------------------------------------------------------------

#define FORM_FILE "tui/views/time/pipeline_checklist.form"
#include "base/form_make.h"
