// A class: one teacher's lesson on many screens of one machine.
//
//   Classroom *class = classroom_teach(arena, session, "banks", &diags);   or classroom_join(…)
//   poll(classroom_fd(class)) → classroom_poll(class);       true: the screen has to be drawn
//   classroom_tick(class, now_ms);                           sends what changed; ms until the next
//   classroom_close(class);
//
// The room is a Unix socket in $GEMMVIEW_CLASSROOM (else in the user's own runtime or state
// folder), one JSON object a line. The teacher sends where the class is, whole, whenever that
// changes:
//   {"type":"step","lesson":"banks","step":3,"state":"BM=16,…","revealed":false}
// and followers send
//   {"type":"hello","name":"ana"}      {"type":"guess","lesson":"banks","step":3,"guess":"8"}
//
// No guess is judged until the teacher reveals. A follower who loses the teacher waits and comes
// back by itself, with its guess. Whatever a follower sends, at worst it is let go.
#pragma once
#include <stdint.h>

#include "base/diag.h"
#include "tui/session/session.h"

enum {
  CLASS_LINE_MAX = 1024,
  CLASS_FOLLOWERS_MAX = 128,
  CLASS_RETRY_MS = 500,
  CLASS_HELLO_MS = 3000  // that a connection may be silent before its hello
};

typedef struct Classroom Classroom;

// The class is taught the lesson that tutor_of(session) has open; `room` names it for followers.
// NULL after a finding: no folder, a folder that strangers can write to, a room that is taken.
Classroom *classroom_teach(Arena *arena, Session *session, const char *room, Diags *diags);
// `room` NULL: the only one there is. The teacher reads `name`. NULL after a finding when there is
// no folder or no such room; the follower waits for a teacher who is away later.
Classroom *classroom_join(Arena *arena, Session *session, const char *room, const char *name,
                          Diags *diags);
void classroom_close(Classroom *class);
// Every answer that is revealed adds a line for each follower to this file: time, lesson, step,
// name, guess, and whether it was right. False after a finding.
bool classroom_keep_results(Classroom *class, const char *path, Diags *diags);

int classroom_fd(const Classroom *class);  // readable when classroom_poll has something to do
bool classroom_poll(Classroom *class);
int classroom_tick(Classroom *class, int64_t now_ms);
