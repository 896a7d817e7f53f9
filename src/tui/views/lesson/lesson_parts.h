// The texts of a step of a lesson, in parts that the lesson view lays out.
#pragma once
#include "tui/canvas/theme.h"
#include "tui/session/session.h"

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
// The class: the teacher sees who is here, who has guessed, and with the answer what; the
// followers that they are followed.
void parts_add_class(Session *session, LessonParts *parts);
// Which knobs were turned since the step began, and the teacher's notes.
void parts_add_remarks(Session *session, LessonParts *parts);

bool part_is(const Part *part, PartKind kind);
// Rows that a part, or all of one kind, takes in so many columns.
int part_rows(const Part *part, int cols);
int parts_rows(const LessonParts *parts, PartKind kind, int cols);
