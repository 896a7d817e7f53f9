// Events in, frames out. After every event a frame is prepared and drawn, as it would be on a
// terminal: so the prepared data of a view belongs to the screen on which the key was pressed.
#include "tui/frame/drive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/disk.h"
#include "base/str.h"
#include "tui/canvas/export.h"
#include "tui/frame/palette.h"
#include "tui/frame/script.h"
#include "tui/frame/view.h"
#include "tui/frame/view_json.h"

enum { SCRIPT_BYTES_MAX = 1 << 20, WAIT_NS = 5000000 };

void drive_frame(Session *session, Canvas *canvas) {
  view_prepare(session, canvas->rows, canvas->cols);
  view_draw(canvas, session);
}

void drive_wait(Session *session) {
  const struct timespec pause = {0, WAIT_NS};
  while (views_wait(session) == VIEW_EXPECTS)
    if (!views_poll(session)) nanosleep(&pause, NULL);
}

static bool screen_shows(const Canvas *canvas, Arena *arena, const char *text) {
  for (int row = 0; row < canvas->rows; row++)
    if (strstr(export_row(arena, canvas, row), text)) return true;
  return false;
}

static bool expect(Session *session, const Canvas *canvas, const Event *event, Diags *diags) {
  if (screen_shows(canvas, session->frame, event->text) != event->absent) return true;
  diag_add(diags, "expect", "line %d: the screen %s \"%s\"", event->line,
           event->absent ? "shows" : "does not show", event->text);
  return false;
}

// Lets all idle work happen, and takes the results under way.
static void settle(Session *session) {
  bool news;
  drive_wait(session);
  while (view_idle(session, &news)) {
  }
}

bool drive_event(Session *session, Canvas *canvas, const Event *event, Diags *diags) {
  bool ok = true;
  if (event->kind == EVENT_KEY) view_key(session, event->key);
  if (event->kind == EVENT_MOUSE) view_mouse(session, canvas, event);
  if (event->kind == EVENT_PASTE) view_paste(session, event->text);
  if (event->kind == EVENT_RESIZE) canvas_resize(canvas, event->rows, event->cols);
  if (event->kind == EVENT_COMMAND) ok = palette_run(session, event->text, diags);
  if (event->kind == EVENT_WAIT) settle(session);
  if (event->kind == EVENT_EXPECT) ok = expect(session, canvas, event, diags);
  drive_frame(session, canvas);
  if (!session->wishes.save_path) return ok;
  drive_save(session, canvas, session->wishes.save_path);
  session->wishes.save_path = NULL;
  drive_frame(session, canvas);  // with what was said of it
  return ok;
}

bool drive_script(Session *session, Canvas *canvas, const char *text, const char *name,
                  Diags *diags) {
  Arena *arena = arena_new("script");
  Script *script = script_read(arena, text, name, diags);
  Event event;
  bool ok = script != NULL;
  while (ok && !session->wishes.quit && script_next(script, &event))
    ok = drive_event(session, canvas, &event, diags);
  arena_free(arena);
  return ok;
}

bool drive_keys(Session *session, Canvas *canvas, const char *keys, Diags *diags) {
  const char *text = arena_printf(diags->arena, "keys %s\n", keys);
  return drive_script(session, canvas, text, "--keys", diags);
}

bool drive_script_file(Session *session, Canvas *canvas, const char *path, Diags *diags) {
  const char *why = NULL;
  FILE *file = disk_open(path, true, &why);
  char *text = ARENA_ARRAY(diags->arena, char, SCRIPT_BYTES_MAX);
  size_t n = file ? fread(text, 1, SCRIPT_BYTES_MAX - 1, file) : 0;
  bool whole = file && !ferror(file) && feof(file);
  if (!whole) diag_add(diags, "script", "%s: %s", path, file ? "too long" : why);
  if (file) fclose(file);
  text[n] = '\0';
  return whole && drive_script(session, canvas, text, path, diags);
}

// ---- saving -------------------------------------------------------------------------------------

static const char *suffix_of(const char *path) {
  const char *dot = strrchr(path, '.');
  if (!dot || str_equal(dot, ".txt")) return "text";
  return dot + 1;
}

static char *render(Arena *arena, Session *session, const Canvas *canvas, ExportFormat format,
                    Diags *diags) {
  const Theme *theme = theme_find(arena, "default", diags);
  if (format == EXPORT_SVG) return export_svg(arena, canvas, theme, DEPTH_TRUE, "gemmview");
  if (format == EXPORT_ANSI) return export_ansi(arena, canvas, theme, DEPTH_TRUE);
  if (format == EXPORT_TEXT) return export_text(arena, canvas);
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  view_document(&w, session, canvas, NULL);
  return out.text;
}

// The frame as it is once the prompt that asked for it is gone.
void drive_save(Session *session, Canvas *canvas, const char *path) {
  drive_frame(session, canvas);
  Arena *arena = arena_new("save");
  Diags diags = diags_new(arena);
  ExportFormat format;
  if (!export_format(suffix_of(path), &format, &diags)) {
    session_say(session, SAID_ERROR, "%s", diags.first->text);
    arena_free(arena);
    return;
  }
  const char *text = render(arena, session, canvas, format, &diags);
  if (disk_write(path, text))
    session_say(session, SAID_NOTE, "saved %s", path);
  else
    session_say(session, SAID_ERROR, "%s: %s", path, strerror(errno));
  arena_free(arena);
}
