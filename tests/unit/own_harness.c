#include "own_harness.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli_harness.h"
#include "tui/canvas/export.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette.h"
#include "tui/frame/view.h"
#include "tui/views/own/own_work.h"

Arena *own_arena;
Diags own_diags;
Session *own_session;
Canvas *own_canvas;
char own_folder[48];

void own_enter(int rows, int cols) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  strcpy(own_folder, "/tmp/gemmview-own-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(own_folder));
  setenv("XDG_STATE_HOME", own_folder, 1);
  own_arena = arena_new("test");
  own_diags = diags_new(own_arena);
  own_session = explorer_open(&(SessionOptions){.rung = "padded"}, &own_diags);
  ck_assert_ptr_nonnull(own_session);
  own_canvas = canvas_new(own_arena, rows, cols, false);
  view_show(own_session, view_find("own"));
  if (cli_has_program()) opened_run_program(own_work(own_session)->run, getenv("GEMMVIEW"));
}

void own_leave(void) {
  explorer_close(own_session);
  cli_shell(own_arena, arena_printf(own_arena, "rm -r %s", own_folder));
  arena_free(own_arena);
  unsetenv("GEMMVIEW_DATA");
}

void own_open(const char *words) {
  const char *command = arena_printf(own_arena, "own %s", words);
  ck_assert_msg(palette_run(own_session, command, &own_diags), "%s",
                diags_text(own_arena, &own_diags));
  drive_wait(own_session);
  drive_frame(own_session, own_canvas);
}

void own_keys(const char *names) {
  ck_assert_msg(drive_keys(own_session, own_canvas, names, &own_diags), "%s",
                diags_text(own_arena, &own_diags));
}

const char *own_shown(void) { return export_text(own_arena, own_canvas); }
bool own_shows(const char *text) { return strstr(own_shown(), text) != NULL; }
