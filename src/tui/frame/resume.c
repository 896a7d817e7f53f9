// A few palette commands in a file. Worked example:
//
//   :ladder hgemm
//   :rung ldmatrix
//   :state ATOM_KIND=mma_m16n8k16_f16,…,SWIZZLE=3
//   :view banks
//
// The file is written whole or not at all, and removed before it is run, so that a state that
// breaks the program is tried once.
#include "tui/frame/resume.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/str.h"
#include "tui/frame/palette.h"
#include "tui/frame/view.h"

enum { BYTES_MAX = 1 << 16 };

static const char *script_path(Arena *arena) { return disk_path(arena, DISK_STATE, "lost.keys"); }

// Every knob that A has otherwise, the defaults among them.
static void add_comparison(Str *out, const Session *session) {
  const Schedule *then = &session->doc.then.pictured;
  int n = 0;
  for (int i = 0; i < KNOB_COUNT; i++)
    if (schedule_differs(then, &session->doc.now.schedule, (KnobId)i))
      str_printf(out, "%s%s=%s", n++ ? "," : ":compare ", knob_table[i].name,
                 knob_value_text(out->arena, then, (KnobId)i));
  str_add(out, n ? "\n" : "");
}

// The commands that lead back: ladder, rung, state, what it is compared with, view.
static const char *script_text(Arena *arena, const Session *session) {
  Str out = str_new(arena);
  str_printf(&out, ":ladder %s\n:rung %s\n:state %s\n", session->doc.ladder->name,
             session_rung(session)->name, session_state_text(arena, session));
  if (session->doc.comparing) add_comparison(&out, session);
  str_printf(&out, ":view %s\n", view_table[session->at.view].name);
  return out.text;
}

bool resume_save(const Session *session) {
  Arena *arena = arena_new("resume");
  const char *path = script_path(arena);
  bool ok = path && disk_replace(path, script_text(arena, session));
  arena_free(arena);
  return ok;
}

static void run_line(Session *session, const char *line) {
  Diags ignored = diags_new(session->frame);
  palette_run(session, line, &ignored);
}

bool resume_take(Session *session) {
  Arena *arena = arena_new("resume");
  const char *path = script_path(arena);
  FILE *file = path ? disk_open(path, false, NULL) : NULL;
  char *text = ARENA_ARRAY(arena, char, BYTES_MAX);
  bool some = file && fread(text, 1, BYTES_MAX - 1, file) > 0;
  if (file) fclose(file);
  if (file) unlink(path);
  for (char *rest = text, *line; some && (line = strsep(&rest, "\n"));)
    if (*line == ':') run_line(session, line);
  arena_free(arena);
  return some;
}
