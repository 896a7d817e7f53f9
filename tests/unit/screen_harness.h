// An explorer on a canvas, for the suites that press keys and read the screen. Each includes this
// once and says in its own setup where it stands:
//
//   static void setup(void) { screen_setup(&(SessionOptions){.rung = "padded"}, 40, 120); }
#pragma once
#include <check.h>

#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static inline void screen_setup(const SessionOptions *options, int rows, int columns) {
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(options, &diags);
  ck_assert_ptr_nonnull(session);
  canvas = canvas_new(arena, rows, columns, false);
  drive_frame(session, canvas);
}

static inline void teardown(void) {
  explorer_close(session);
  arena_free(arena);
}

static inline void keys(const char *names) {
  ck_assert_msg(drive_keys(session, canvas, names, &diags), "%s", names);
}
