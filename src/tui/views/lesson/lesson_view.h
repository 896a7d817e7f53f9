// Parts of the lesson view.
#pragma once
#include "model/interp/breakage.h"
#include "model/ir/notation/print.h"
#include "model/lessons/lesson.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/theme.h"
#include "tui/frame/tutor.h"
#include "tui/session/session.h"

// ---- lesson_break.c -----------------------------------------------------------------------------
// A step that asks what happens when something is left out shows just that: the program beside the
// broken one, as a diff.
//
//     for k_o in 0..6 SERIAL_OUTER
//       barrier
//       …
//   -   barrier

typedef struct BreakLine {
  DiffKind kind;
  int depth, rank;  // rank: 0 matters most
  const char *text;
} BreakLine;

typedef struct LessonBreak {
  const char *help;  // "the last barrier is left out"
  int n_lines;
  const BreakLine *line;
} LessonBreak;

// NULL where the step asks about no breakage, or the program has nothing that it could break.
const LessonBreak *lesson_break(Arena *arena, const LessonStep *step, const Program *program);
void lesson_break_draw(Canvas *canvas, Rect in, const LessonBreak *broken);

// ---- lesson_list.c ------------------------------------------------------------------------------
// The list of lessons, as the lesson view shows it before one is open and with L.

// `spot` is what a click on a row means; its value is the lesson.
void lesson_draw_list(Canvas *canvas, Rect in, const Tutor *tutor, int spot);

// ---- lesson_parts.c -----------------------------------------------------------------------------
// The texts of a step of a lesson, in parts that the lesson view lays out.

enum { PARTS_MAX = 32 };

// A gap stands between text and question where they share a column.
typedef enum PartKind { PART_TOLD, PART_ASKED, PART_GAP, PART_ANY } PartKind;

typedef struct Part {
  PartKind kind;
  Style style;
  const char *text;  // "" is an empty line
} Part;

typedef struct LessonParts {
  int n;
  Part part[PARTS_MAX];
} LessonParts;

void parts_tell(LessonParts *parts, Style style, const char *text);
void parts_add_question(Session *session, LessonParts *parts);  // none where the step asks nothing
void parts_add_answer(Session *session, LessonParts *parts);    // once it is revealed
// The class: the teacher sees the followers who are here, the ones who have guessed, and with the
// answer their guesses; the followers see that they are followed.
void parts_add_class(Session *session, LessonParts *parts);
// Which knobs were turned since the step began, and the teacher's notes.
void parts_add_remarks(Session *session, LessonParts *parts);

bool part_is(const Part *part, PartKind kind);
// Rows that a part, or all of one kind, takes in `cols` columns.
int parts_rows(const LessonParts *parts, PartKind kind, int cols);
