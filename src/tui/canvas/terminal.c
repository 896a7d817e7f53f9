// ncurses reads, we write.
//
// ncurses knows terminals: it finds their description, takes keys and mouse reports apart, waits 25
// ms after an Esc. It is given /dev/null to write to, so it never draws: the picture is
// canvas_diff.c's, which shows truecolor on descriptions that know 256 colours, and what enters and
// leaves full-screen mode is put together here and kept by tty.c, which can send it whatever
// happens.
//
// ncurses hands over bytes; read_code() puts a character together however many readings it takes.
//
// Worked example: "\e[1;5D" arrives. define_keys() has told ncurses that this is code 2000 + 3 * 8
// + 4: row 3 of extra_keys (Left) with modifier bits 4 (Ctrl). translate() takes that apart again
// and the program sees Ctrl-Left.
#include "tui/canvas/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/clock.h"
#include "base/str.h"
#include "tui/canvas/canvas_diff.h"
#include "tui/canvas/tty.h"
#include "tui/canvas/utf8.h"

// Last, because its macros (KEY_UP, clear …) may rename what other headers declare.
#include <curses.h>
#include <term.h>

enum { PASTE_MAX = 1 << 16, ESC_DELAY_MS = 25, CODE_EXTRA = 2000 };

struct Terminal {
  Arena *arena, *frame;  // for its life; for one present or one event
  SCREEN *screen;
  WINDOW *keys;
  int rows, cols;
  bool ascii, mouse, eight, can_erase, ansi_moves, sgr_mouse;
  ColorDepth depth;
  Canvas *memory;  // what the terminal shows, unless `unknown`
  bool unknown;
  const Theme *theme;
  bool button_down;
  mbstate_t partial;  // the beginning of a character; its rest has not come
};

void terminal_write(void *terminal, const char *bytes, size_t n) {
  (void)terminal;
  tty_write(bytes, n);
}

// ---- capabilities -------------------------------------------------------------------------------

static const char *capability(const char *name) {
  const char *text = tigetstr(name);
  return text && text != (char *)-1 ? text : "";
}

// Without the "$<5>" that asks for a pause: no terminal of today needs it.
static void add_unpadded(Str *out, const char *sequence) {
  for (const char *at = sequence; *at; at++) {
    if (at[0] == '$' && at[1] == '<' && strchr(at, '>'))
      at = strchr(at, '>');
    else
      str_add_char(out, *at);
  }
}

static void add_capability(Str *out, const char *name) { add_unpadded(out, capability(name)); }

static void move_cursor(Str *out, int row, int col) {
  add_unpadded(out, tparm(capability("cup"), row, col));
}

static const char *mouse_sequence(const Terminal *terminal, bool on) {
  if (terminal->sgr_mouse) return on ? "\033[?1002h\033[?1006h" : "\033[?1006l\033[?1002l";
  return on ? "\033[?1000h" : "\033[?1000l";
}

// The sequences that enter and leave full-screen mode, with the mouse as it is set.
static void prepare_sequences(Terminal *terminal) {
  bool xterm_like = terminal->ansi_moves && *capability("smcup");
  Str in = str_new(terminal->frame), out = str_new(terminal->frame);
  add_capability(&in, "smcup");
  add_capability(&in, "smkx");
  add_capability(&in, "rmam");
  if (xterm_like) str_add(&in, "\033[?2004h");
  if (terminal->mouse) str_add(&in, mouse_sequence(terminal, true));
  if (*capability("kmous")) str_add(&out, mouse_sequence(terminal, false));
  if (xterm_like) str_add(&out, "\033[?2004l");
  add_capability(&out, "sgr0");
  if (!*capability("rmcup")) {
    move_cursor(&out, terminal->rows - 1, 0);
    add_capability(&out, "el");
  }
  add_capability(&out, "smam");
  add_capability(&out, "rmkx");
  add_capability(&out, "cnorm");
  add_capability(&out, "rmcup");
  tty_set_sequences(&in, &out);
}

static void read_size(Terminal *terminal) {
  tty_size(&terminal->rows, &terminal->cols);
  if (terminal->rows > CANVAS_ROWS_MAX) terminal->rows = CANVAS_ROWS_MAX;
  if (terminal->cols > CANVAS_COLS_MAX) terminal->cols = CANVAS_COLS_MAX;
}

bool terminal_wants_ascii(void) {
  const char *term = getenv("TERM");
  setlocale(LC_CTYPE, "");
  return !str_equal(nl_langinfo(CODESET), "UTF-8") || (term && str_equal(term, "linux"));
}

// ---- opening and closing ------------------------------------------------------------------------

static const char *clean_term(Arena *arena) {
  const char *term = getenv("TERM");
  return term && *term ? str_sanitise(arena, term) : "";
}

// ncurses makes itself windows of the size that COLUMNS and LINES name, or the device, and gives up
// where no screen has that size. It never draws, so a small one will do; the size that counts is
// the device's (tty_size).
static SCREEN *new_screen(Arena *arena, const char *term, FILE *out, FILE *in) {
  static const char *const names[] = {"LINES", "COLUMNS"}, *const small[] = {"24", "80"};
  const char *kept[2];
  for (int i = 0; i < 2; i++) {
    const char *value = getenv(names[i]);
    kept[i] = value ? arena_strdup(arena, value) : NULL;
    setenv(names[i], small[i], 1);
  }
  SCREEN *screen = newterm(term, out, in);
  for (int i = 0; i < 2; i++) kept[i] ? setenv(names[i], kept[i], 1) : unsetenv(names[i]);
  return screen;
}

// A terminal's description that can place the cursor; an unknown TERM is taken for an xterm.
static bool find_description(Terminal *terminal, FILE *in, FILE *out, Diags *diags) {
  const char *term = clean_term(diags->arena);
  int error;
  bool known = *term && setupterm(term, STDOUT_FILENO, &error) == OK;
  bool usable = known && *capability("cup");
  if (known) del_curterm(cur_term);
  if (usable) {
    terminal->screen = new_screen(terminal->arena, term, out, in);
  } else {
    diag_add(diags, "term",
             "the terminfo database does not describe TERM=%s; xterm-256color is used", term);
    terminal->screen = new_screen(terminal->arena, "xterm-256color", out, in);
  }
  if (!terminal->screen)
    diag_add(diags, "term",
             "the terminfo database describes neither TERM=%s nor xterm-256color: install "
             "package ncurses-base",
             term);
  return terminal->screen != NULL;
}

static bool find_colors(Terminal *terminal, const char *option, Diags *diags) {
  int colors = tigetnum("colors");
  bool ansi = strstr(capability("setaf"), "\033[") || strstr(capability("bold"), "\033[1m");
  ColorSettings settings = {.option = option,
                            .no_color = getenv("NO_COLOR"),
                            .colorterm = getenv("COLORTERM"),
                            .term = getenv("TERM"),
                            .terminfo_colors = ansi ? (colors < 0 ? 0 : colors) : 0};
  terminal->eight = colors > 0 && colors < 16;
  return color_depth(&settings, &terminal->depth, diags);
}

// xterm's way of sending modifiers with the special keys, and pasted text: a code for each, which
// translate() takes apart again. "\e[1;5D" is Left with Ctrl.
typedef struct ExtraKey {
  const char *number;
  char final;
  Key key;
} ExtraKey;

static const ExtraKey extra_keys[] = {
    {"1", 'A', KEY_CODE_UP},        {"1", 'B', KEY_CODE_DOWN},   {"1", 'C', KEY_CODE_RIGHT},
    {"1", 'D', KEY_CODE_LEFT},      {"1", 'H', KEY_CODE_HOME},   {"1", 'F', KEY_CODE_END},
    {"2", '~', KEY_CODE_INSERT},    {"3", '~', KEY_CODE_DELETE}, {"5", '~', KEY_CODE_PAGE_UP},
    {"6", '~', KEY_CODE_PAGE_DOWN},
};
enum {
  EXTRA_KEYS = sizeof extra_keys / sizeof extra_keys[0],
  MODIFIERS = 8,
  CODE_PASTE = CODE_EXTRA + EXTRA_KEYS * MODIFIERS,
  CODE_PASTE_END,
};

static void define_keys(void) {
  char text[16];
  static const short plain[] = {KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT, KEY_HOME, KEY_END};
  for (int i = 0; i < EXTRA_KEYS; i++) {
    for (int modifier = 2; modifier <= MODIFIERS; modifier++) {
      snprintf(text, sizeof text, "\033[%s;%d%c", extra_keys[i].number, modifier,
               extra_keys[i].final);
      define_key(text, CODE_EXTRA + i * MODIFIERS + modifier - 1);
    }
  }
  for (int i = 0; i < 6; i++) {
    snprintf(text, sizeof text, "\033[%c", extra_keys[i].final);
    define_key(text, plain[i]);
    snprintf(text, sizeof text, "\033O%c", extra_keys[i].final);
    define_key(text, plain[i]);
  }
  define_key("\033[200~", CODE_PASTE);
  define_key("\033[201~", CODE_PASTE_END);
}

// ncurses does not tell a description that is not there from one that it could not open: what
// "ulimit -n" leaves is tried before.
static FILE *open_nowhere(Diags *diags) {
  FILE *nowhere = fopen("/dev/null", "we");
  int one_more = nowhere ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
  if (one_more < 0)
    diag_add(diags, "terminal", "no file can be opened: %s", strerror(errno));
  else
    close(one_more);
  if (one_more < 0 && nowhere) fclose(nowhere);
  return one_more < 0 ? NULL : nowhere;
}

static bool open_keys(Terminal *terminal, Diags *diags) {
  FILE *nowhere = open_nowhere(diags);
  if (!nowhere || !find_description(terminal, stdin, nowhere, diags)) return false;
  terminal->keys = newpad(1, 1);
  keypad(terminal->keys, TRUE);
  meta(terminal->keys, TRUE);  // all eight bits of a byte
  nodelay(terminal->keys, TRUE);
  set_escdelay(ESC_DELAY_MS);
  mouseinterval(0);
  mousemask(ALL_MOUSE_EVENTS | REPORT_MOUSE_POSITION, NULL);
  define_keys();
  char moved[32];
  snprintf(moved, sizeof moved, "\033[%d;%dH", 3, 5);
  terminal->ansi_moves = str_equal(tparm(capability("cup"), 2, 4), moved);
  terminal->can_erase = str_equal(capability("el"), "\033[K");
  terminal->sgr_mouse = str_equal(capability("kmous"), "\033[<");
  return true;
}

static void release(Terminal *terminal) {
  tty_close();
  if (terminal->keys) delwin(terminal->keys);
  if (terminal->screen) delscreen(terminal->screen);
  arena_free(terminal->frame);
  arena_free(terminal->arena);
}

Terminal *terminal_open(const TerminalOptions *options, Diags *diags) {
  if (!tty_open(diags)) return NULL;
  Arena *arena = arena_new("terminal");
  Terminal *terminal = ARENA_NEW(arena, Terminal);
  terminal->arena = arena;
  terminal->frame = arena_new("terminal frame");
  terminal->ascii = terminal_wants_ascii() || options->ascii;
  if (!open_keys(terminal, diags) || !find_colors(terminal, options->color, diags)) {
    release(terminal);
    return NULL;
  }
  terminal->mouse = !options->no_mouse && *capability("kmous");
  read_size(terminal);
  prepare_sequences(terminal);
  terminal->memory = canvas_new(arena, terminal->rows, terminal->cols, terminal->ascii);
  terminal->unknown = true;
  tty_enter();
  return terminal;
}

void terminal_close(Terminal *terminal) {
  if (terminal) release(terminal);
}

int terminal_rows(const Terminal *terminal) { return terminal->rows; }
int terminal_cols(const Terminal *terminal) { return terminal->cols; }
bool terminal_ascii(const Terminal *terminal) { return terminal->ascii; }
bool terminal_mouse(const Terminal *terminal) { return terminal->mouse; }

void terminal_set_mouse(Terminal *terminal, bool on) {
  if (!*capability("kmous")) return;
  terminal->mouse = on;
  const char *sequence = mouse_sequence(terminal, on);
  tty_write(sequence, strlen(sequence));
  arena_reset(terminal->frame);
  prepare_sequences(terminal);
}

// ---- the picture --------------------------------------------------------------------------------

void terminal_redraw(Terminal *terminal) { terminal->unknown = true; }

static void place_cursor(Str *out, const Canvas *canvas) {
  if (!canvas->cursor_shown) return;
  move_cursor(out, canvas->cursor_row, canvas->cursor_col);
  add_capability(out, "cnorm");
}

static void remember(Terminal *terminal, const Canvas *canvas, const Theme *theme) {
  size_t cells = (size_t)canvas->rows * (size_t)canvas->cols;
  canvas_resize(terminal->memory, canvas->rows, canvas->cols);
  memcpy(terminal->memory->cells, canvas->cells, sizeof(Cell) * cells);
  terminal->memory->cursor_shown = canvas->cursor_shown;
  terminal->theme = theme;
  terminal->unknown = false;
}

void terminal_present(Terminal *terminal, const Canvas *canvas, const Theme *theme) {
  arena_reset(terminal->frame);
  Str out = str_new(terminal->frame);
  Present how = {theme, terminal->depth, terminal->eight, terminal->can_erase,
                 terminal->ansi_moves ? NULL : move_cursor};
  bool whole = terminal->unknown || terminal->theme != theme ||
               terminal->memory->rows != canvas->rows || terminal->memory->cols != canvas->cols;
  if (whole || terminal->memory->cursor_shown) add_capability(&out, "civis");
  if (whole) add_capability(&out, "sgr0");
  if (whole) add_capability(&out, "clear");
  present_difference(&out, &how, whole ? NULL : terminal->memory, canvas, terminal->rows,
                     terminal->cols);
  place_cursor(&out, canvas);
  tty_write(out.text, out.length);
  remember(terminal, canvas, theme);
}

static Event resized(Terminal *terminal) {
  read_size(terminal);
  terminal_redraw(terminal);
  return (Event){.kind = EVENT_RESIZE, .rows = terminal->rows, .cols = terminal->cols};
}

void terminal_suspend(Terminal *terminal) {
  tty_suspend();
  terminal_redraw(terminal);
}

// ---- events -------------------------------------------------------------------------------------

static const struct {
  int curses;
  Key key;
} special_keys[] = {
    {KEY_UP, KEY_CODE_UP},
    {KEY_DOWN, KEY_CODE_DOWN},
    {KEY_LEFT, KEY_CODE_LEFT},
    {KEY_RIGHT, KEY_CODE_RIGHT},
    {KEY_HOME, KEY_CODE_HOME},
    {KEY_END, KEY_CODE_END},
    {KEY_PPAGE, KEY_CODE_PAGE_UP},
    {KEY_NPAGE, KEY_CODE_PAGE_DOWN},
    {KEY_IC, KEY_CODE_INSERT},
    {KEY_DC, KEY_CODE_DELETE},
    {KEY_ENTER, KEY_CODE_ENTER},
    {KEY_BACKSPACE, KEY_CODE_BACKSPACE},
    {KEY_BTAB, KEY_SHIFT | KEY_CODE_TAB},
    {KEY_SLEFT, KEY_SHIFT | KEY_CODE_LEFT},
    {KEY_SRIGHT, KEY_SHIFT | KEY_CODE_RIGHT},
    {KEY_SR, KEY_SHIFT | KEY_CODE_UP},
    {KEY_SF, KEY_SHIFT | KEY_CODE_DOWN},
    {KEY_A1, KEY_CODE_HOME},
    {KEY_C1, KEY_CODE_END},
    {KEY_A3, KEY_CODE_PAGE_UP},
    {KEY_C3, KEY_CODE_PAGE_DOWN},
};

// xterm adds 1 for Shift, 2 for Alt and 4 for Ctrl to a modifier that starts at 1.
static Key translate(int code) {
  static const Key bits[] = {KEY_SHIFT, KEY_ALT, KEY_CTRL};
  if (code >= KEY_F(1) && code <= KEY_F(12)) return (Key)(KEY_CODE_F1 + code - KEY_F(1));
  for (size_t i = 0; i < sizeof special_keys / sizeof special_keys[0]; i++)
    if (special_keys[i].curses == code) return special_keys[i].key;
  if (code < CODE_EXTRA || code >= CODE_PASTE) return KEY_NONE;
  Key key = extra_keys[(code - CODE_EXTRA) / MODIFIERS].key;
  for (int bit = 0; bit < 3; bit++)
    if ((code - CODE_EXTRA) % MODIFIERS >> bit & 1) key |= bits[bit];
  return key;
}

static Event mouse_event(Terminal *terminal) {
  MEVENT report;
  Event event = {.kind = EVENT_MOUSE, .button = 1};
  if (getmouse(&report) != OK) return (Event){0};
  event.row = report.y;
  event.col = report.x;
  mmask_t state = report.bstate;
  if (state & BUTTON4_PRESSED)
    event.mouse = MOUSE_WHEEL_UP;
  else if (state & BUTTON5_PRESSED)
    event.mouse = MOUSE_WHEEL_DOWN;
  else if (state & (BUTTON1_PRESSED | BUTTON2_PRESSED | BUTTON3_PRESSED))
    event.mouse = MOUSE_PRESS;
  else if (state & (BUTTON1_RELEASED | BUTTON2_RELEASED | BUTTON3_RELEASED))
    event.mouse = MOUSE_RELEASE;
  else if (state & REPORT_MOUSE_POSITION && terminal->button_down)
    event.mouse = MOUSE_DRAG;
  else
    return (Event){0};
  if (state & (BUTTON2_PRESSED | BUTTON2_RELEASED)) event.button = 2;
  if (state & (BUTTON3_PRESSED | BUTTON3_RELEASED)) event.button = 3;
  if (event.mouse == MOUSE_PRESS) terminal->button_down = true;
  if (event.mouse == MOUSE_RELEASE) terminal->button_down = false;
  return event;
}

// A character (OK), a key that ncurses knows (KEY_CODE_YES), or ERR when nothing whole is waiting.
// wget_wch() loses what came of a character that arrives in two pieces. Bytes that are no character
// in this locale are left out; the one that broke a character off may begin the next.
static int read_code(Terminal *terminal, wint_t *code) {
  for (int got; (got = wgetch(terminal->keys)) != ERR;) {
    bool begun = !mbsinit(&terminal->partial), key = got > UCHAR_MAX;
    wchar_t character = 0;
    size_t used = key ? 0 : mbrtowc(&character, &(char){(char)got}, 1, &terminal->partial);
    if (used == (size_t)-2) continue;
    if (key || used == (size_t)-1) terminal->partial = (mbstate_t){0};
    *code = key ? (wint_t)got : (wint_t)character;
    if (key || used <= 1) return key ? KEY_CODE_YES : OK;
    if (begun) ungetch(got);
  }
  return ERR;
}

// No more keys will come: the terminal is gone. Asked anew, because what was waiting a moment ago
// has been read.
static bool hung_up(void) {
  struct pollfd now = {STDIN_FILENO, POLLIN, 0};
  int waiting = 0;
  if (poll(&now, 1, 0) <= 0) return false;
  if (now.revents & (POLLHUP | POLLERR | POLLNVAL)) return true;
  return ioctl(STDIN_FILENO, FIONREAD, &waiting) || waiting == 0;
}

// Whether more of a pasted text comes within 200 ms.
static bool more_comes(void) {
  struct pollfd ready = {STDIN_FILENO, POLLIN, 0};
  return poll(&ready, 1, 200) > 0 && !hung_up();
}

// Reads up to the end of the pasted text.
static Event paste_event(Terminal *terminal) {
  arena_reset(terminal->frame);
  Str text = str_new(terminal->frame);
  char bytes[4];
  for (wint_t code;;) {
    int kind = read_code(terminal, &code);
    if (kind == ERR && more_comes()) continue;
    if (kind == ERR || (kind == KEY_CODE_YES && code == CODE_PASTE_END)) break;
    if (kind == KEY_CODE_YES || text.length >= PASTE_MAX) continue;
    if (code == '\r') code = '\n';
    if (code) str_add_bytes(&text, bytes, (size_t)utf8_encode((uint32_t)code, bytes));
  }
  return (Event){.kind = EVENT_PASTE, .text = text.text};
}

// A byte that comes at once after an Esc belongs to it: the key was pressed with Alt.
static Key escaped(Terminal *terminal) {
  wint_t next;
  int kind = read_code(terminal, &next);
  if (kind == OK && next != 27) return KEY_ALT | key_from_character((uint32_t)next);
  if (kind == OK) unget_wch((wchar_t)next);
  Key key = kind == KEY_CODE_YES ? translate((int)next) : KEY_NONE;
  if (key) return KEY_ALT | key;
  if (kind == KEY_CODE_YES) ungetch((int)next);
  return KEY_CODE_ESCAPE;
}

// EVENT_NONE when no key is waiting; *read tells whether anything was read at all.
static Event read_key(Terminal *terminal, bool *read) {
  wint_t code;
  int kind = read_code(terminal, &code);
  *read = kind != ERR;
  if (kind == ERR) return (Event){0};
  if (kind == KEY_CODE_YES && code == KEY_MOUSE) return mouse_event(terminal);
  if (kind == KEY_CODE_YES && code == CODE_PASTE) return paste_event(terminal);
  Key key = kind == KEY_CODE_YES ? translate((int)code) : key_from_character((uint32_t)code);
  if (key == KEY_CODE_ESCAPE) key = escaped(terminal);
  return (Event){.kind = key ? EVENT_KEY : EVENT_NONE, .key = key};
}

static Event read_news(Terminal *terminal) {
  TtyNews news = tty_news();
  if (news.end_signal) return (Event){.kind = EVENT_END, .signal = news.end_signal};
  if (news.stop)
    terminal_suspend(terminal);
  else if (news.continued)
    tty_enter();
  return news.resized || news.stop || news.continued ? resized(terminal) : (Event){0};
}

// One round: EVENT_NONE and *again when nothing came of it.
static Event next_event(Terminal *terminal, int timeout_ms, int extra_fd, bool *again) {
  struct pollfd from[] = {
      {tty_news_fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}, {extra_fd, POLLIN, 0}};
  bool read = true;
  Event event = {0};
  int ready = poll(from, extra_fd < 0 ? 2 : 3, timeout_ms);
  if (ready > 0 && from[0].revents)
    event = read_news(terminal);
  else if (ready > 0 && from[1].revents)
    event = read_key(terminal, &read);
  else if (ready > 0)
    event.kind = EVENT_WAKE;
  if (!read && hung_up()) event = (Event){.kind = EVENT_END, .signal = SIGHUP};
  *again = ready != 0 && event.kind == EVENT_NONE;
  return event;
}

// Signals first, then keys that ncurses took in together with an earlier one.
static Event waiting_event(Terminal *terminal) {
  bool read = true;
  Event event = read_news(terminal);
  while (read && event.kind == EVENT_NONE) event = read_key(terminal, &read);
  return event;
}

Event terminal_wait(Terminal *terminal, int timeout_ms, int extra_fd) {
  tty_forgive();
  Event event = waiting_event(terminal);
  int64_t deadline = clock_ms() + timeout_ms;
  for (bool again = true; again && event.kind == EVENT_NONE;) {
    int64_t left = timeout_ms < 0 ? -1 : deadline - clock_ms();
    if (timeout_ms >= 0 && left < 0) left = 0;
    event = next_event(terminal, (int)left, extra_fd, &again);
  }
  return event;
}
