// The terminal in a real pty before a terminal emulator: pictures, keys, mouse, sizes.
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "canvas_random.h"
#include "tui/canvas/terminal.h"
#include "vterm_harness.h"

static Arena *arena;

static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// Frame number `seed`: arbitrary drawing, and its number and the last event in the bottom row.
static Canvas *make_frame(Arena *into, int rows, int cols, bool ascii, int seed, const char *last) {
  Canvas *canvas = canvas_new(into, rows, cols, ascii);
  canvas_scribble(canvas, (uint64_t)seed, 25);
  Rect bottom = {rows - 1, 0, 1, cols};
  canvas_fill(canvas, bottom, STYLE_TEXT);
  canvas_printf(canvas, bottom, 0, 0, STYLE_TEXT, "#%d %dx%d %s.", seed, rows, cols, last);
  return canvas;
}

typedef struct Child {
  TerminalOptions options;
  const char *theme;
} Child;

static const char *describe(Arena *into, const Event *event) {
  static const char *const mouse[] = {"press", "release", "drag", "wheel-up", "wheel-down"};
  char name[KEY_PRINT_MAX];
  switch (event->kind) {
    case EVENT_KEY:
      return arena_strdup(into, key_print(event->key, name));
    case EVENT_MOUSE:
      return arena_printf(into, "%s %d at %d,%d", mouse[event->mouse], event->button, event->row,
                          event->col);
    case EVENT_PASTE:
      return arena_printf(into, "paste <%s>", event->text);
    case EVENT_WAKE:
      return "wake";
    case EVENT_NONE:
      return "timeout";
    case EVENT_RESIZE:
      return "resize";
    default:
      return "?";
  }
}

// Shows frames; n is the next one, q the end, everything else is shown by name.
static int painter(void *argument) {
  const Child *child = argument;
  Arena *mine = arena_new("painter");
  Diags diags = diags_new(mine);
  Terminal *terminal = terminal_open(&child->options, &diags);
  const Theme *theme = theme_find(mine, child->theme ? child->theme : "default", &diags);
  const char *last = diags.count ? diags.first->text : "start";
  if (!terminal || !theme) return 3;
  for (int seed = 0;;) {
    Canvas *canvas = make_frame(mine, terminal_rows(terminal), terminal_cols(terminal),
                                terminal_ascii(terminal), seed, last);
    terminal_present(terminal, canvas, theme);
    Event event = terminal_wait(terminal, -1, -1);
    if (event.kind == EVENT_END || event.key == 'q') break;
    if (event.key == (KEY_CTRL | 'l')) terminal_redraw(terminal);
    seed += event.key == 'n';
    last = describe(mine, &event);
  }
  terminal_close(terminal);
  arena_free(mine);
  return 0;
}

static void check_frame(VtProgram *program, int seed, const char *last, const Theme *theme,
                        ColorDepth depth, bool eight, bool ascii) {
  int rows = program->screen->rows, cols = program->screen->cols;
  char *status = arena_printf(arena, "#%d %dx%d %s.", seed, rows, cols, last);
  if ((int)strlen(status) <= cols) vt_expect(program, status);
  vt_pump(program, 5);  // the last row is drawn last
  Canvas *canvas = make_frame(arena, rows, cols, ascii, seed, last);
  const char *differs = vt_differs(arena, program->screen, canvas, theme, depth, eight);
  ck_assert_msg(!differs, "frame %d: %s", seed, differs);
}

static const struct {
  const char *name;
  VtEnv env;
  Child child;
  ColorDepth depth;
  bool eight, ascii;
} terminals[] = {
    {"xterm", {.term = "xterm-256color"}, {{0}, "default"}, DEPTH_256, false, false},
    {"truecolor",
     {.term = "xterm-256color", .colorterm = "truecolor"},
     {{0}, "light"},
     DEPTH_TRUE,
     false,
     false},
    {"256 of rgb", {.term = "xterm-256color"}, {{0}, "colour-blind"}, DEPTH_256, false, false},
    {"--color=16",
     {.term = "xterm-256color", .colorterm = "truecolor"},
     {{.color = "16"}, "colour-blind"},
     DEPTH_16,
     false,
     false},
    {"8 colours", {.term = "xterm"}, {{0}, "default"}, DEPTH_16, true, false},
    {"tmux", {.term = "tmux-256color"}, {{0}, "default"}, DEPTH_256, false, false},
    {"screen", {.term = "screen"}, {{0}, "light"}, DEPTH_16, true, false},
    {"NO_COLOR",
     {.term = "xterm-256color", .no_color = "1"},
     {{0}, "default"},
     DEPTH_MONO,
     false,
     false},
    {"linux", {.term = "linux"}, {{0}, "default"}, DEPTH_16, true, true},
    {"vt100", {.term = "vt100"}, {{0}, "default"}, DEPTH_MONO, false, false},
    {"C locale",
     {.term = "xterm-256color", .locale = "C"},
     {{0}, "default"},
     DEPTH_256,
     false,
     true},
    {"--ascii", {.term = "xterm-256color"}, {{.ascii = true}, "mono"}, DEPTH_256, false, true},
};
enum { TERMINALS = sizeof terminals / sizeof terminals[0] };

START_TEST(every_terminal_shows_the_canvas) {
  static const int sizes[][2] = {{24, 80}, {40, 120}, {60, 200}, {12, 40}};
  Child child = terminals[_i].child;
  Diags diags = diags_new(arena);
  const Theme *theme = theme_find(arena, child.theme, &diags);
  int rows = sizes[_i % 4][0], cols = sizes[_i % 4][1];
  VtProgram *program = vt_start(rows, cols, terminals[_i].env, painter, &child);
  check_frame(program, 0, "start", theme, terminals[_i].depth, terminals[_i].eight,
              terminals[_i].ascii);
  for (int seed = 1; seed < 12; seed++) {
    vt_keys(program, "n");
    check_frame(program, seed, "n", theme, terminals[_i].depth, terminals[_i].eight,
                terminals[_i].ascii);
  }
  ck_assert_msg(program->screen->unknown == 0, "%s: %d unknown sequences", terminals[_i].name,
                program->screen->unknown);
  vt_keys(program, "q");
  ck_assert(vt_wait_end(program));
  ck_assert_int_eq(program->status, 0);
  ck_assert(vt_restored(program));
  vt_finish(program);
}
END_TEST

static VtProgram *start_painter(Child *child) {
  VtProgram *program = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, painter, child);
  vt_expect(program, "start.");
  return program;
}

static const Theme *default_theme(void) {
  Diags diags = diags_new(arena);
  return theme_find(arena, "default", &diags);
}

START_TEST(resizing_draws_anew) {
  Child child = {0};
  Random random = random_new(11);
  VtProgram *program = start_painter(&child);
  for (int i = 0; i < 40; i++) {
    int rows = random_between(&random, 1, 60), cols = random_between(&random, i % 4 ? 24 : 1, 150);
    if (rows == program->screen->rows && cols == program->screen->cols) cols++;
    vt_resize(program, rows, cols);
    check_frame(program, 0, "resize", default_theme(), DEPTH_256, false, false);
  }
  vt_finish(program);
}
END_TEST

START_TEST(a_garbled_screen_is_redrawn) {
  Child child = {0};
  VtProgram *program = start_painter(&child);
  vt_feed(program->screen, "\033[Hxxxxx\033[2Jyyyy", 17);
  vt_keys(program, "Ctrl-L");
  check_frame(program, 0, "Ctrl-L", default_theme(), DEPTH_256, false, false);
  vt_finish(program);
}
END_TEST

START_TEST(keys_have_their_names) {
  static const char *const keys[] = {
      "a",         "Z",         "?",          "Up",    "Down",     "Left",
      "Right",     "Home",      "End",        "PgUp",  "PgDn",     "Ins",
      "Del",       "Backspace", "Enter",      "Tab",   "Esc",      "S-Tab",
      "F1",        "F2",        "F5",         "F12",   "Ctrl-D",   "Ctrl-U",
      "Ctrl-R",    "Ctrl-L",    "Ctrl-Left",  "S-Up",  "Alt-Down", "Ctrl-S-Right",
      "Ctrl-Home", "Ctrl-PgDn", "Alt-x",      "é",     "漢",       "Ctrl-S",
      "Ctrl-Q",    "Ctrl-V",    "Ctrl-Space", "S-Del", "Ctrl-W",   "Ctrl-O",
      "Ctrl-Y",
  };
  Child child = {0};
  VtProgram *program = start_painter(&child);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    vt_keys(program, keys[i]);
    vt_expect(program, arena_printf(arena, "24x80 %s.", keys[i]));
  }
  vt_finish(program);
}
END_TEST

START_TEST(both_forms_of_arrows_are_read) {
  static const char *const sent[][2] = {
      {"\033[A", "Up"},      {"\033OA", "Up"},      {"\033[D", "Left"},  {"\033OF", "End"},
      {"\033[H", "Home"},    {"\033[3~", "Del"},    {"\033[Z", "S-Tab"}, {"\033\033[A", "Alt-Up"},
      {"\177", "Backspace"}, {"\010", "Backspace"}, {"\r", "Enter"},     {"\n", "Enter"},
  };
  Child child = {0};
  VtProgram *program = start_painter(&child);
  for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
    vt_send(program, sent[i][0], strlen(sent[i][0]));
    vt_expect(program, arena_printf(arena, "24x80 %s.", sent[i][1]));
    vt_keys(program, "z");
    vt_expect(program, "24x80 z.");
  }
  vt_finish(program);
}
END_TEST

static void check_mouse(const char *term, int row, int col) {
  Child child = {0};
  VtProgram *program = vt_start(60, 200, (VtEnv){.term = term}, painter, &child);
  vt_expect(program, "start.");
  VTerm *vterm = program->screen->vterm;
  vterm_mouse_move(vterm, row, col, VTERM_MOD_NONE);
  vterm_mouse_button(vterm, 1, true, VTERM_MOD_NONE);
  vt_expect(program, arena_printf(arena, "press 1 at %d,%d.", row, col));
  vterm_mouse_button(vterm, 1, false, VTERM_MOD_NONE);
  vt_expect(program, arena_printf(arena, "release 1 at %d,%d.", row, col));
  vterm_mouse_button(vterm, 4, true, VTERM_MOD_NONE);
  vt_expect(program, "wheel-up");
  vterm_mouse_button(vterm, 5, true, VTERM_MOD_NONE);
  vt_expect(program, "wheel-down");
  vterm_mouse_button(vterm, 3, true, VTERM_MOD_NONE);
  vt_expect(program, "press 3");
  vt_finish(program);
}

START_TEST(the_mouse_is_read) {
  check_mouse("xterm-256color", 7, 33);
  check_mouse("xterm-256color", 59, 199);
  check_mouse("tmux-256color", 7, 33);
}
END_TEST

START_TEST(dragging_is_read) {
  Child child = {0};
  VtProgram *program = start_painter(&child);
  vterm_mouse_move(program->screen->vterm, 2, 3, VTERM_MOD_NONE);
  vterm_mouse_button(program->screen->vterm, 1, true, VTERM_MOD_NONE);
  vt_expect(program, "press 1 at 2,3.");
  vterm_mouse_move(program->screen->vterm, 5, 9, VTERM_MOD_NONE);
  vt_expect(program, "drag 1 at 5,9.");
  vt_finish(program);
}
END_TEST

START_TEST(no_mouse_means_none) {
  Child child = {.options = {.no_mouse = true}};
  VtProgram *program = start_painter(&child);
  ck_assert_int_eq(program->screen->mouse, VTERM_PROP_MOUSE_NONE);
  vt_finish(program);
  child.options.no_mouse = false;
  program = start_painter(&child);
  ck_assert_int_ne(program->screen->mouse, VTERM_PROP_MOUSE_NONE);
  vt_finish(program);
}
END_TEST

START_TEST(pasted_text_comes_in_one_piece) {
  Child child = {0};
  VtProgram *program = start_painter(&child);
  vterm_keyboard_start_paste(program->screen->vterm);
  vt_send(program, "q 0 16\r32 \xC3\xA9", 12);
  vterm_keyboard_end_paste(program->screen->vterm);
  vt_expect(program, "paste <q 0 16?32 é>.");
  vt_keys(program, "q");
  ck_assert(vt_wait_end(program));
  vt_finish(program);
}
END_TEST

START_TEST(an_unknown_terminal_is_an_xterm) {
  static const char *const terms[] = {"no-such-terminal", "", "dumb", "\033[2J"};
  for (int i = 0; i < 4; i++) {
    Child child = {0};
    VtProgram *program = vt_start(24, 100, (VtEnv){.term = terms[i]}, painter, &child);
    vt_expect(program, "xterm-256color is used");
    vt_keys(program, "q");
    ck_assert(vt_wait_end(program));
    ck_assert(vt_restored(program));
    vt_finish(program);
  }
}
END_TEST

START_TEST(a_wrong_color_option_is_refused) {
  Child child = {.options = {.color = "mauve"}};
  VtProgram *program = vt_start(24, 80, (VtEnv){.term = "xterm"}, painter, &child);
  ck_assert(vt_wait_end(program));
  ck_assert_int_eq(WEXITSTATUS(program->status), 3);
  ck_assert(vt_restored(program));
  vt_finish(program);
}
END_TEST

START_TEST(without_a_terminal_there_is_a_sentence) {
  Diags diags = diags_new(arena);
  int saved = dup(STDIN_FILENO), none = open("/dev/null", O_RDWR);
  dup2(none, STDIN_FILENO);
  ck_assert_ptr_null(terminal_open(&(TerminalOptions){0}, &diags));
  dup2(saved, STDIN_FILENO);
  close(saved);
  close(none);
  ck_assert_str_eq(diags.first->rule, "terminal");
  ck_assert_ptr_nonnull(strstr(diags.first->text, "gemmview show"));
}
END_TEST

// COLUMNS is the shell's word; the size is the device's. It was once taken for a missing terminfo.
START_TEST(columns_of_the_environment_are_not_asked) {
  static const char *const columns[] = {"40000", "0", "-3", "x"};
  Child child = {0};
  for (int i = 0; i < 4; i++) {
    setenv("COLUMNS", columns[i], 1);
    setenv("LINES", columns[i], 1);
    VtProgram *program = start_painter(&child);
    vt_expect(program, "24x80 start.");
    vt_keys(program, "q");
    ck_assert(vt_wait_end(program));
    vt_finish(program);
  }
  unsetenv("COLUMNS");
  unsetenv("LINES");
}
END_TEST

// The painter where `*spare` more files can be opened; prints why it has no terminal.
static int starve(void *spare) {
  Diags diags = diags_new(arena);
  int next = dup(STDIN_FILENO);
  struct rlimit limit = {(rlim_t)(next + *(int *)spare), (rlim_t)(next + *(int *)spare)};
  close_range((unsigned)next, ~0U, 0);  // what a shell has left open higher up would not be counted
  setrlimit(RLIMIT_NOFILE, &limit);
  Terminal *terminal = terminal_open(&(TerminalOptions){0}, &diags);
  if (!terminal && printf("%s", diags.first->text) > 0) fflush(stdout);
  int status = terminal ? 0 : 3;
  terminal_close(terminal);
  return status;
}

START_TEST(too_few_files_are_called_that) {
  for (int spare = 0; spare < 6; spare++) {
    VtProgram *program = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, starve, &spare);
    ck_assert(vt_wait_end(program));
    ck_assert(WIFEXITED(program->status));
    ck_assert_int_eq(WEXITSTATUS(program->status), spare < 4 ? 3 : 0);
    if (spare < 4) vt_expect(program, "Too many open files");
    vt_finish(program);
  }
}
END_TEST

// Arbitrary bytes, among them halves of sequences, neither stop the program nor reach its screen.
START_TEST(arbitrary_bytes_are_survived) {
  static const char pieces[][8] = {"\033[", "\033[<", "\033[M", "\033O", "\033[200~", "\033[201~",
                                   "1;5",   "~",      "m",      "\033",  "\xE2\x94",  "\xFF",
                                   "M !\"", "a",      "A",      "0;3;4"};
  Child child = {0};
  Random random = random_new((uint64_t)_i + 77);
  VtProgram *program = start_painter(&child);
  for (int i = 0; i < 60; i++) {
    Str bytes = str_new(arena);
    for (int n = 0; n < 30; n++) {
      if (random_bits(&random) % 3)
        str_add(&bytes, pieces[random_bits(&random) % 16]);
      else
        str_add_char(&bytes, (char)random_between(&random, 0, 255));
    }
    // What ends or stops the painter on purpose is left out.
    for (size_t n = 0; n < bytes.length; n++)
      if (strchr("q\003\034\032\031", bytes.text[n])) bytes.text[n] = 'x';
    vt_send(program, bytes.text, bytes.length);
    vt_pump(program, 0);
  }
  vt_pump(program, 300);
  vt_send(program, "\033[201~", 6);
  vt_pump(program, 100);
  vt_keys(program, "z");
  vt_expect(program, "z.");
  vt_keys(program, "q");
  ck_assert(vt_wait_end(program));
  ck_assert_int_eq(program->status, 0);
  ck_assert(vt_restored(program));
  vt_finish(program);
}
END_TEST

// Each of them once was taken for the end of the terminal.
START_TEST(a_byte_that_is_no_character_ends_nothing) {
  Child child = {0};
  VtProgram *program = start_painter(&child);
  for (int byte = 0x80; byte < 0x100; byte++) {
    vt_send(program, &(char){(char)byte}, 1);
    vt_pump(program, 2);
    vt_keys(program, "n");
    vt_expect(program, arena_printf(arena, "#%d ", byte - 0x7F));
  }
  vt_keys(program, "q");
  ck_assert(vt_wait_end(program));
  ck_assert_int_eq(program->status, 0);
  vt_finish(program);
}
END_TEST

// A slow line delivers bytes one by one.
START_TEST(a_character_in_pieces_is_read) {
  static const char *const pieces[][5] = {
      {"\xC3", "\xA9", NULL, "é."},
      {"\xE2", "\x94", "\x80", "─."},
      {"\xE2", "\xC3", "\xA9", "é."},  // the first was broken off
      {"\xC3", "\033[A", NULL, "Up."},
  };
  Child child = {0};
  VtProgram *program = start_painter(&child);
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    for (int n = 0; n < 3 && pieces[i][n]; n++) {
      vt_send(program, pieces[i][n], strlen(pieces[i][n]));
      vt_pump(program, 60);
    }
    vt_expect(program, pieces[i][3]);
  }
  vt_keys(program, "q");
  ck_assert(vt_wait_end(program));
  ck_assert_int_eq(program->status, 0);
  vt_finish(program);
}
END_TEST

Suite *suite_terminal(void);
Suite *suite_terminal(void) {
  Suite *suite = suite_create("terminal");
  TCase *tcase = tcase_create("terminal");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, every_terminal_shows_the_canvas, 0, TERMINALS);
  tcase_add_test(tcase, resizing_draws_anew);
  tcase_add_test(tcase, a_garbled_screen_is_redrawn);
  tcase_add_test(tcase, keys_have_their_names);
  tcase_add_test(tcase, both_forms_of_arrows_are_read);
  tcase_add_test(tcase, the_mouse_is_read);
  tcase_add_test(tcase, dragging_is_read);
  tcase_add_test(tcase, no_mouse_means_none);
  tcase_add_test(tcase, pasted_text_comes_in_one_piece);
  tcase_add_test(tcase, a_byte_that_is_no_character_ends_nothing);
  tcase_add_test(tcase, a_character_in_pieces_is_read);
  tcase_add_test(tcase, an_unknown_terminal_is_an_xterm);
  tcase_add_test(tcase, a_wrong_color_option_is_refused);
  tcase_add_test(tcase, columns_of_the_environment_are_not_asked);
  tcase_add_test(tcase, too_few_files_are_called_that);
  tcase_add_test(tcase, without_a_terminal_there_is_a_sentence);
  tcase_add_loop_test(tcase, arbitrary_bytes_are_survived, 0, 3);
  suite_add_tcase(suite, tcase);
  return suite;
}
