// What every test of a class begins with: a folder for its rooms, and ends of it in one process.
#ifndef TESTS_CLASSROOM_HARNESS_H
#define TESTS_CLASSROOM_HARNESS_H

#include "base/arena.h"
#include "base/diag.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/classroom.h"
#include "tui/frame/tutor.h"
#include "tui/session/session.h"

// Of the test that runs: memory, what was reported, and the folder with its rooms and its state.
extern Arena *class_arena;
extern Diags class_diags;
extern char class_folder[64];

// A checked fixture.
void class_setup(void);
void class_teardown(void);

// One end: a session with a screen of its own, 120 columns by 40 lines.
typedef struct End {
  Session *session;
  Canvas *canvas;
  Classroom *class;
} End;

End end_open(void);
// Fails the test where there is no such lesson or room.
End end_teach(const char *lesson, int step);
End end_join(const char *room, const char *name);
void end_leave(End *end);

// Everybody says and hears what there is, a few times over.
void ends_settle(End *end, int n);

// The screen as text, drawn now.
const char *end_screen(End *end);

const ClassState *end_state(const End *end);
LessonRun *end_run(const End *end);

#endif
