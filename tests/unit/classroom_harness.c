#include "classroom_harness.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"

Arena *class_arena;
Diags class_diags;
char class_folder[64];

void class_setup(void) {
  class_arena = arena_new("test class");
  class_diags = diags_new(class_arena);
  snprintf(class_folder, sizeof class_folder, "/tmp/gemmview-class-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(class_folder));
  setenv("GEMMVIEW_CLASSROOM", class_folder, 1);
  setenv("XDG_STATE_HOME", class_folder, 1);
}

void class_teardown(void) {
  unsetenv("GEMMVIEW_CLASSROOM");
  unsetenv("XDG_STATE_HOME");
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", class_folder);
  ck_assert_int_eq(system(command), 0);
  arena_free(class_arena);
}

End end_open(void) {
  End end = {.session = explorer_open(&(SessionOptions){0}, &class_diags)};
  ck_assert_msg(end.session != NULL, "%s", diags_text(class_arena, &class_diags));
  end.canvas = canvas_new(class_arena, 40, 120, false);
  ck_assert(tutor_load(end.session, &class_diags));
  view_show(end.session, view_find("lesson"));
  drive_frame(end.session, end.canvas);
  return end;
}

End end_teach(const char *lesson, int step) {
  End end = end_open();
  ck_assert(tutor_open(end.session, lesson, step, &class_diags));
  end.class = classroom_teach(class_arena, end.session, lesson, &class_diags);
  ck_assert_msg(end.class != NULL, "%s", diags_text(class_arena, &class_diags));
  return end;
}

End end_join(const char *room, const char *name) {
  End end = end_open();
  end.class = classroom_join(class_arena, end.session, room, name, &class_diags);
  ck_assert_msg(end.class != NULL, "%s", diags_text(class_arena, &class_diags));
  return end;
}

void end_leave(End *end) {
  classroom_close(end->class);
  explorer_close(end->session);
}

void ends_settle(End *end, int n) {
  for (int round = 0; round < 6; round++)
    for (int i = 0; i < n; i++) {
      classroom_poll(end[i].class);
      classroom_tick(end[i].class, (int64_t)round * CLASS_RETRY_MS * 2);
    }
}

const char *end_screen(End *end) {
  drive_frame(end->session, end->canvas);
  return export_text(class_arena, end->canvas);
}

const ClassState *end_state(const End *end) { return &tutor_of(end->session)->class; }
LessonRun *end_run(const End *end) { return &tutor_of(end->session)->run; }
