// The pty, the child and the comparison of two grids of cells.
#include "vterm_harness.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "tui/canvas/utf8.h"

enum { PATIENCE_MS = 20000 };

// ---- the screen ---------------------------------------------------------------------------------

static int on_property(VTermProp property, VTermValue *value, void *user) {
  VtScreen *vt = user;
  if (property == VTERM_PROP_ALTSCREEN) vt->altscreen = value->boolean;
  if (property == VTERM_PROP_CURSORVISIBLE) vt->cursor_visible = value->boolean;
  if (property == VTERM_PROP_MOUSE) vt->mouse = value->number;
  return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = on_property};

static int on_unknown_csi(const char *leader, const long args[], int argcount,
                          const char *intermediate, char command, void *user) {
  VtScreen *vt = user;
  (void)leader, (void)args, (void)argcount, (void)intermediate;
  vt->unknown += command != 't' && command != 'c';  // xterm's title stack, linux's cursor shape
  return 1;
}

static const VTermParserCallbacks fallbacks = {.csi = on_unknown_csi};

static void on_output(const char *bytes, size_t n, void *user) {
  VtScreen *vt = user;
  vt->sent += n;
  while (vt->reply_to >= 0 && n > 0) {
    ssize_t written = write(vt->reply_to, bytes, n);
    if (written <= 0) return;
    bytes += written;
    n -= (size_t)written;
  }
}

VtScreen *vt_new(int rows, int cols) {
  VtScreen *vt = calloc(1, sizeof *vt);
  vt->vterm = vterm_new(rows, cols);
  vt->rows = rows;
  vt->cols = cols;
  vt->reply_to = -1;
  vt->cursor_visible = true;
  vterm_set_utf8(vt->vterm, 1);
  vterm_output_set_callback(vt->vterm, on_output, vt);
  vt->screen = vterm_obtain_screen(vt->vterm);
  vterm_screen_enable_altscreen(vt->screen, 1);
  vterm_screen_set_callbacks(vt->screen, &callbacks, vt);
  vterm_screen_set_unrecognised_fallbacks(vt->screen, &fallbacks, vt);
  vterm_screen_reset(vt->screen, 1);
  return vt;
}

void vt_free(VtScreen *vt) {
  vterm_free(vt->vterm);
  free(vt);
}

// The bytes at the end that begin a character and do not finish it.
static size_t unfinished(const char *bytes, size_t n) {
  for (size_t back = 1; back <= 3 && back <= n; back++) {
    unsigned char c = (unsigned char)bytes[n - back];
    size_t whole = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    if ((c & 0xC0) != 0x80) return whole > back ? back : 0;
  }
  return 0;
}

// libvterm 0.1 loses characters that are split between two writes, so they are held back.
void vt_feed(VtScreen *vt, const char *bytes, size_t n) {
  char *all = malloc(vt->n_held + n);
  memcpy(all, vt->held, vt->n_held);
  memcpy(all + vt->n_held, bytes, n);
  vt->bytes += n;
  n += vt->n_held;
  vt->n_held = unfinished(all, n);
  memcpy(vt->held, all + n - vt->n_held, vt->n_held);
  n -= vt->n_held;
  for (size_t i = 0; i < n; i++) vt->tail[vt->tail_length++ % sizeof vt->tail] = all[i];
  vterm_input_write(vt->vterm, all, n);
  free(all);
}

bool vt_saw(const VtScreen *vt, const char *bytes) {
  char straight[sizeof vt->tail];
  size_t size = sizeof vt->tail, start = vt->tail_length > size ? vt->tail_length % size : 0;
  size_t n = vt->tail_length < size ? vt->tail_length : size;
  for (size_t i = 0; i < n; i++) straight[i] = vt->tail[(start + i) % size];
  return memmem(straight, n, bytes, strlen(bytes)) != NULL;
}

static VTermScreenCell cell_of(VtScreen *vt, int row, int col) {
  VTermScreenCell cell;
  vterm_screen_get_cell(vt->screen, (VTermPos){.row = row, .col = col}, &cell);
  return cell;
}

// The cell's characters; a blank for a cell nothing was written to, nothing for a right half.
static const char *cell_text(const VTermScreenCell *cell, char text[32]) {
  int n = 0;
  if (cell->chars[0] == (uint32_t)-1) return "";
  for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell->chars[i]; i++)
    n += utf8_encode(cell->chars[i], text + n);
  if (n == 0) text[n++] = ' ';
  text[n] = 0;
  return text;
}

static void add_row(Str *out, VtScreen *vt, int row) {
  char text[32];
  size_t start = out->length, end = start;
  for (int col = 0; col < vt->cols; col++) {
    VTermScreenCell cell = cell_of(vt, row, col);
    str_add(out, cell_text(&cell, text));
    if (!str_equal(text, " ")) end = out->length;
  }
  out->length = end;
  out->text[end] = 0;
}

char *vt_row(Arena *arena, VtScreen *vt, int row) {
  Str out = str_new(arena);
  add_row(&out, vt, row);
  return out.text;
}

char *vt_text(Arena *arena, VtScreen *vt) {
  Str out = str_new(arena);
  for (int row = 0; row < vt->rows; row++) {
    add_row(&out, vt, row);
    str_add_char(&out, '\n');
  }
  return out.text;
}

static bool same_color(VTermColor shown, Color wanted, bool eight) {
  if (wanted.kind == COLOR_DEFAULT)
    return VTERM_COLOR_IS_DEFAULT_FG(&shown) || VTERM_COLOR_IS_DEFAULT_BG(&shown);
  if (VTERM_COLOR_IS_DEFAULT_FG(&shown) || VTERM_COLOR_IS_DEFAULT_BG(&shown)) return false;
  if (wanted.kind == COLOR_INDEX)
    return VTERM_COLOR_IS_INDEXED(&shown) &&
           shown.indexed.idx == (eight ? wanted.index % 8 : wanted.index);
  // An entry of the 256 that is the very colour will do.
  if (VTERM_COLOR_IS_INDEXED(&shown))
    return color_equal(color_from_index(shown.indexed.idx), wanted);
  return VTERM_COLOR_IS_RGB(&shown) && shown.rgb.red == wanted.r && shown.rgb.green == wanted.g &&
         shown.rgb.blue == wanted.b;
}

static bool same_look(const VTermScreenCell *cell, Look look, bool blank, bool eight) {
  bool bright = eight && look.fg.kind == COLOR_INDEX && look.fg.index >= 8;
  bool bold = look.attributes & LOOK_BOLD || bright;
  if (!same_color(cell->bg, look.bg, eight)) return false;
  if (cell->attrs.reverse != !!(look.attributes & LOOK_REVERSE)) return false;
  if (cell->attrs.underline != !!(look.attributes & LOOK_UNDERLINE)) return false;
  if (blank && !cell->attrs.reverse && !cell->attrs.underline) return true;
  return same_color(cell->fg, look.fg, eight) && cell->attrs.bold == bold &&
         cell->attrs.italic == !!(look.attributes & LOOK_ITALIC);
}

const char *vt_differs(Arena *arena, VtScreen *vt, const Canvas *canvas, const Theme *theme,
                       ColorDepth depth, bool eight) {
  char text[32];
  uint32_t code;
  for (int row = 0; row < canvas->rows && row < vt->rows; row++)
    for (int col = 0; col < canvas->cols && col < vt->cols; col++) {
      const Cell *wanted = canvas_cell(canvas, row, col);
      VTermScreenCell cell = cell_of(vt, row, col);
      const char *shown = cell_text(&cell, text);
      // libvterm 0.1 puts a combining character behind the last column in the place of its base.
      bool combined = wanted->text[0] && wanted->text[utf8_decode(wanted->text, &code)];
      if (combined && col == vt->cols - 1) continue;
      if (!str_equal(shown, wanted->text))
        return arena_printf(arena, "row %d, column %d: \"%s\" instead of \"%s\"", row, col, shown,
                            wanted->text);
      Look look = theme_look(theme, wanted->style, depth);
      if (wanted->width && !same_look(&cell, look, str_equal(shown, " "), eight))
        return arena_printf(arena, "row %d, column %d (\"%s\"): style %s over %s looks different",
                            row, col, shown, style_name((StyleRole)(wanted->style & 0xFF)),
                            style_name((StyleRole)(wanted->style >> 8)));
    }
  return NULL;
}

// ---- the program --------------------------------------------------------------------------------

static void set(const char *name, const char *value) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

static void become_child(int master, int slave, VtEnv env) {
  setsid();
  ioctl(slave, TIOCSCTTY, 0);
  for (int fd = 0; fd < 3; fd++) dup2(slave, fd);
  close(master);
  if (slave > 2) close(slave);
  set("TERM", env.term);
  set("LC_ALL", env.locale ? env.locale : "C.UTF-8");
  set("COLORTERM", env.colorterm);
  set("NO_COLOR", env.no_color);
  unsetenv("TMUX");
  unsetenv("STY");
}

static VtProgram *start(int rows, int cols, VtEnv env, int (*child)(void *), void *argument,
                        char *const argv[]) {
  VtProgram *program = calloc(1, sizeof *program);
  struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
  program->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ck_assert(program->master >= 0 && !grantpt(program->master) && !unlockpt(program->master));
  program->slave = open(ptsname(program->master), O_RDWR | O_NOCTTY);
  ck_assert(program->slave >= 0);
  ioctl(program->slave, TIOCSWINSZ, &size);
  fcntl(program->slave, F_SETFD, FD_CLOEXEC);
  program->screen = vt_new(rows, cols);
  program->screen->reply_to = program->master;
  fflush(NULL);
  program->pid = fork();
  ck_assert(program->pid >= 0);
  if (program->pid == 0) {
    become_child(program->master, program->slave, env);
    if (argv) execv(argv[0], argv);
    _exit(argv ? 127 : child(argument));
  }
  return program;
}

VtProgram *vt_start(int rows, int cols, VtEnv env, int (*child)(void *argument), void *argument) {
  return start(rows, cols, env, child, argument, NULL);
}

VtProgram *vt_exec(int rows, int cols, VtEnv env, char *const argv[]) {
  return start(rows, cols, env, NULL, NULL, argv);
}

static bool read_some(VtProgram *program, int timeout_ms) {
  char bytes[8192];
  struct pollfd ready = {program->master, POLLIN, 0};
  if (poll(&ready, 1, timeout_ms) <= 0 || !(ready.revents & POLLIN)) return false;
  ssize_t n = read(program->master, bytes, sizeof bytes);
  if (n <= 0) return false;
  vt_feed(program->screen, bytes, (size_t)n);
  return true;
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void vt_pump(VtProgram *program, int quiet_ms) {
  const int64_t deadline = now_ms() + PATIENCE_MS / 5;
  while (read_some(program, quiet_ms) && now_ms() < deadline) continue;
}

bool vt_shows(VtProgram *program, const char *text) {
  Arena *arena = arena_new("screen");
  bool shown = strstr(vt_text(arena, program->screen), text) != NULL;
  arena_free(arena);
  return shown;
}

void vt_expect(VtProgram *program, const char *text) {
  int64_t deadline = now_ms() + PATIENCE_MS;
  while (!vt_shows(program, text) && now_ms() < deadline) read_some(program, 20);
  if (vt_shows(program, text)) return;
  Arena *arena = arena_new("screen");
  fprintf(stderr, "%s", vt_text(arena, program->screen));
  arena_free(arena);
  ck_abort_msg("the screen above does not show \"%s\"", text);
}

void vt_send(VtProgram *program, const char *bytes, size_t n) {
  int64_t deadline = now_ms() + PATIENCE_MS;
  fcntl(program->master, F_SETFL, O_NONBLOCK);
  while (n > 0 && now_ms() < deadline) {
    ssize_t written = write(program->master, bytes, n);
    if (written > 0)
      bytes += written, n -= (size_t)written;
    else if (errno != EAGAIN)
      break;
    while (read_some(program, written > 0 ? 0 : 5)) continue;
  }
  fcntl(program->master, F_SETFL, 0);
}

static VTermModifier modifiers_of(Key key) {
  unsigned modifiers = (key & KEY_SHIFT ? VTERM_MOD_SHIFT : 0u) |
                       (key & KEY_ALT ? VTERM_MOD_ALT : 0u) |
                       (key & KEY_CTRL ? VTERM_MOD_CTRL : 0u);
  return (VTermModifier)modifiers;
}

static void send_key(VtProgram *program, Key key) {
  static const VTermKey special[] = {
      [KEY_CODE_ENTER - KEY_FIRST] = VTERM_KEY_ENTER,
      [KEY_CODE_TAB - KEY_FIRST] = VTERM_KEY_TAB,
      [KEY_CODE_ESCAPE - KEY_FIRST] = VTERM_KEY_ESCAPE,
      [KEY_CODE_BACKSPACE - KEY_FIRST] = VTERM_KEY_BACKSPACE,
      [KEY_CODE_UP - KEY_FIRST] = VTERM_KEY_UP,
      [KEY_CODE_DOWN - KEY_FIRST] = VTERM_KEY_DOWN,
      [KEY_CODE_LEFT - KEY_FIRST] = VTERM_KEY_LEFT,
      [KEY_CODE_RIGHT - KEY_FIRST] = VTERM_KEY_RIGHT,
      [KEY_CODE_HOME - KEY_FIRST] = VTERM_KEY_HOME,
      [KEY_CODE_END - KEY_FIRST] = VTERM_KEY_END,
      [KEY_CODE_PAGE_UP - KEY_FIRST] = VTERM_KEY_PAGEUP,
      [KEY_CODE_PAGE_DOWN - KEY_FIRST] = VTERM_KEY_PAGEDOWN,
      [KEY_CODE_INSERT - KEY_FIRST] = VTERM_KEY_INS,
      [KEY_CODE_DELETE - KEY_FIRST] = VTERM_KEY_DEL,
  };
  Key base = key & KEY_BASE;
  if (base >= KEY_CODE_F1 && base <= KEY_CODE_F12)
    vterm_keyboard_key(program->screen->vterm, (VTermKey)VTERM_KEY_FUNCTION(base - KEY_CODE_F1 + 1),
                       modifiers_of(key));
  else if (base > KEY_FIRST)
    vterm_keyboard_key(program->screen->vterm, special[base - KEY_FIRST], modifiers_of(key));
  else if (key & KEY_CTRL && base < 0x80)  // what terminals send, not libvterm's CSI u
    vt_send(program, (char[]){(char)(base & 0x1F)}, 1);
  else
    vterm_keyboard_unichar(program->screen->vterm, base, modifiers_of(key));
}

void vt_keys(VtProgram *program, const char *names) {
  char name[64];
  for (int n; sscanf(names, " %63s%n", name, &n) == 1; names += n) {
    Key key = key_parse(name, NULL);
    ck_assert_msg(key != KEY_NONE, "\"%s\" is not a key", name);
    send_key(program, key);
    if (key == KEY_CODE_ESCAPE) vt_pump(program, 60);  // or it becomes Alt of the next
  }
}

void vt_resize(VtProgram *program, int rows, int cols) {
  struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
  program->screen->rows = rows;
  program->screen->cols = cols;
  vterm_set_size(program->screen->vterm, rows, cols);
  ioctl(program->master, TIOCSWINSZ, &size);
}

bool vt_wait_end(VtProgram *program) {
  int64_t deadline = now_ms() + PATIENCE_MS;
  while (!program->ended && now_ms() < deadline) {
    program->ended = waitpid(program->pid, &program->status, WNOHANG) == program->pid;
    read_some(program, program->ended ? 0 : 5);
  }
  vt_pump(program, 0);
  return program->ended;
}

bool vt_restored(const VtProgram *program) {
  struct termios modes;
  const VtScreen *vt = program->screen;
  if (tcgetattr(program->slave, &modes)) return false;
  return !vt->altscreen && vt->cursor_visible && vt->mouse == VTERM_PROP_MOUSE_NONE &&
         modes.c_lflag & ICANON && modes.c_lflag & ECHO && modes.c_oflag & OPOST &&
         modes.c_iflag & ICRNL;
}

void vt_finish(VtProgram *program) {
  if (!program->ended) {
    kill(program->pid, SIGKILL);
    kill(program->pid, SIGCONT);
    waitpid(program->pid, &program->status, 0);
  }
  close(program->master);
  close(program->slave);
  vt_free(program->screen);
  free(program);
}
