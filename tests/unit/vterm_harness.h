// A terminal without a screen: libvterm behind the end of a pty, with a program in front.
//
//   VtProgram *p = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, child_function, argument);
//   vt_expect(p, "SITE 4 of 4");        waits until the screen shows it
//   vt_keys(p, "j j Ctrl-D Enter");     names as key_parse reads them
//   ck_assert(vt_restored(p->screen));
//   vt_finish(p);
//
// VtScreen alone eats bytes from anywhere; it is how written escape sequences are checked.
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <vterm.h>

#include "tui/canvas/canvas.h"
#include "tui/canvas/key.h"

typedef struct VtScreen {
  VTerm *vterm;
  VTermScreen *screen;
  int rows, cols;
  bool altscreen, cursor_visible;
  int mouse;     // VTERM_PROP_MOUSE_*
  size_t bytes;  // eaten so far
  char held[4];  // the beginning of a character whose rest has not come
  size_t n_held;
  size_t sent;      // keys and answers, in bytes
  int unknown;      // escape sequences libvterm did not recognise
  int reply_to;     // where keys and answers go; -1: nowhere
  char tail[8192];  // the last bytes eaten, for what leaves no mark on the screen
  size_t tail_length;
} VtScreen;

VtScreen *vt_new(int rows, int cols);
void vt_free(VtScreen *vt);
void vt_feed(VtScreen *vt, const char *bytes, size_t n);
// Whether those bytes are among the last 8 KiB.
bool vt_saw(const VtScreen *vt, const char *bytes);
// A row as UTF-8 without blanks at its end; rows joined by '\n' for the whole screen.
char *vt_row(Arena *arena, VtScreen *vt, int row);
char *vt_text(Arena *arena, VtScreen *vt);
// NULL when the screen shows the canvas in this theme and depth, else what differs first.
const char *vt_differs(Arena *arena, VtScreen *vt, const Canvas *canvas, const Theme *theme,
                       ColorDepth depth, bool eight);

typedef struct VtEnv {
  const char *term, *locale, *colorterm, *no_color;  // locale: NULL is C.UTF-8
} VtEnv;

typedef struct VtProgram {
  VtScreen *screen;
  pid_t pid;
  int master, slave;
  int status;  // of waitpid, once ended
  bool ended;
} VtProgram;

// Runs `child` in a process of its own whose terminal this is; it ends with what `child` returns.
VtProgram *vt_start(int rows, int cols, VtEnv env, int (*child)(void *argument), void *argument);
// The same with a program, found by its path.
VtProgram *vt_exec(int rows, int cols, VtEnv env, char *const argv[]);
// Reads what the program writes until it was silent for `quiet_ms` or ended, at most a second: one
// that shows progress is never silent.
void vt_pump(VtProgram *program, int quiet_ms);
// Waits at most five seconds for the text to appear; fails the running test otherwise.
void vt_expect(VtProgram *program, const char *text);
bool vt_shows(VtProgram *program, const char *text);
void vt_send(VtProgram *program, const char *bytes, size_t n);
void vt_keys(VtProgram *program, const char *names);
void vt_resize(VtProgram *program, int rows, int cols);
// Waits at most five seconds for the end; true when it came.
bool vt_wait_end(VtProgram *program);
// Left as it was found: main screen, cursor, no mouse, no bracketed paste, echo and line mode.
bool vt_restored(const VtProgram *program);
// Kills what still runs.
void vt_finish(VtProgram *program);
