// Copying: base64, OSC 52, and tmux.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "tui/canvas/clipboard.h"
#include "tui/canvas/terminal.h"
#include "vterm_harness.h"

static Arena *arena;
static char sent[4096];

static void setup(void) {
  arena = arena_new("test");
  sent[0] = 0;
  unsetenv("TMUX");
  unsetenv("STY");
}
static void teardown(void) { arena_free(arena); }

static void keep(void *context, const char *bytes, size_t n) {
  (void)context;
  memcpy(sent, bytes, n);
  sent[n] = 0;
}

START_TEST(base64_is_that_of_rfc_4648) {
  static const char *const cases[][2] = {{"", ""},
                                         {"f", "Zg=="},
                                         {"fo", "Zm8="},
                                         {"foo", "Zm9v"},
                                         {"foob", "Zm9vYg=="},
                                         {"fooba", "Zm9vYmE="},
                                         {"foobar", "Zm9vYmFy"},
                                         {"\xff\xfe\xfd", "//79"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    ck_assert_str_eq(clipboard_base64(arena, cases[i][0], strlen(cases[i][0])), cases[i][1]);
}
END_TEST

START_TEST(the_terminal_is_asked) {
  const char *says = clipboard_copy(arena, "M=64", keep, NULL);
  ck_assert_str_eq(says, "asked the terminal to copy 4 bytes");
  ck_assert_str_eq(sent, "\033]52;c;TT02NA==\a");
  ck_assert_str_eq(clipboard_copy(arena, "M=64", NULL, NULL), "not copied: there is no terminal");
}
END_TEST

START_TEST(screen_gets_pieces_that_pass_through) {
  char text[2000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  const char *sequence = clipboard_sequence(arena, text, true);
  Str joined = str_new(arena);
  for (const char *at = sequence; *at;) {
    ck_assert(!strncmp(at, "\033P", 2));
    const char *end = strstr(at, "\033\\");
    ck_assert(end && end - at <= 768);
    str_add_bytes(&joined, at + 2, (size_t)(end - at - 2));
    at = end + 2;
  }
  ck_assert_str_eq(joined.text, clipboard_sequence(arena, text, false));
}
END_TEST

START_TEST(too_much_is_refused) {
  char *text = arena_alloc(arena, CLIPBOARD_MAX + 2);
  memset(text, 'x', CLIPBOARD_MAX + 1);
  ck_assert_str_eq(clipboard_copy(arena, text, keep, NULL),
                   "not copied: 74001 bytes are more than the 74000 that a terminal takes");
  ck_assert_str_eq(sent, "");
}
END_TEST

// A tmux that writes down what it was given stands in for the real one.
static void with_fake_tmux(const char *script, char folder[32]) {
  strcpy(folder, "/tmp/gemmview-tmux-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  const char *path = arena_printf(arena, "%s/tmux", folder);
  FILE *file = fopen(path, "w");
  fputs(script, file);
  fclose(file);
  chmod(path, 0755);
  setenv("TMUX", "/tmp/socket,1,0", 1);
  setenv("PATH", arena_printf(arena, "%s:%s", folder, getenv("PATH")), 1);
}

static void without_fake_tmux(const char *folder, const char *path) {
  unlink(arena_printf(arena, "%s/tmux", folder));
  unlink(arena_printf(arena, "%s/out", folder));
  rmdir(folder);
  setenv("PATH", path, 1);
  unsetenv("TMUX");
}

START_TEST(tmux_takes_it) {
  char folder[32], text[256] = "";
  char *path = arena_strdup(arena, getenv("PATH"));
  with_fake_tmux("#!/bin/sh\n(echo \"$@\"; cat) > \"$(dirname \"$0\")/out\"\n", folder);
  const char *says = clipboard_copy(arena, "BM=64;$(reboot)", keep, NULL);
  FILE *out = fopen(arena_printf(arena, "%s/out", folder), "r");
  ck_assert_ptr_nonnull(out);
  ck_assert_uint_gt(fread(text, 1, sizeof text - 1, out), 0);
  fclose(out);
  without_fake_tmux(folder, path);
  ck_assert_str_eq(says, "copied 15 bytes to the tmux buffer");
  ck_assert_str_eq(text, "load-buffer -w -\nBM=64;$(reboot)");
  ck_assert_str_eq(sent, "");
}
END_TEST

START_TEST(a_tmux_that_fails_or_hangs_is_not_relied_on) {
  static const char *const scripts[] = {"#!/bin/sh\nexit 1\n", "#!/bin/sh\nexec sleep 60\n"};
  for (int i = 0; i < 2; i++) {
    char folder[32];
    char *path = arena_strdup(arena, getenv("PATH"));
    with_fake_tmux(scripts[i], folder);
    const char *says = clipboard_copy(arena, "M=64", keep, NULL);
    without_fake_tmux(folder, path);
    ck_assert_str_eq(says, "asked the terminal to copy 4 bytes");
  }
}
END_TEST

static int copier(void *argument) {
  Arena *mine = arena_new("copier");
  Diags diags = diags_new(mine);
  Terminal *terminal = terminal_open(&(TerminalOptions){0}, &diags);
  clipboard_copy(mine, argument, terminal_write, terminal);
  terminal_wait(terminal, -1, -1);
  terminal_close(terminal);
  return 0;
}

START_TEST(it_reaches_the_terminal) {
  VtProgram *program = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, copier, "BM=8,BN=8");
  for (int i = 0; i < 100 && !vt_saw(program->screen, "\033]52;c;Qk09OCxCTj04\a"); i++)
    vt_pump(program, 20);
  ck_assert(vt_saw(program->screen, "\033]52;c;Qk09OCxCTj04\a"));
  vt_keys(program, "q");
  ck_assert(vt_wait_end(program));
  vt_finish(program);
}
END_TEST

Suite *suite_clipboard(void);
Suite *suite_clipboard(void) {
  Suite *suite = suite_create("clipboard");
  TCase *tcase = tcase_create("clipboard");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, base64_is_that_of_rfc_4648);
  tcase_add_test(tcase, the_terminal_is_asked);
  tcase_add_test(tcase, screen_gets_pieces_that_pass_through);
  tcase_add_test(tcase, too_much_is_refused);
  tcase_add_test(tcase, tmux_takes_it);
  tcase_add_test(tcase, a_tmux_that_fails_or_hangs_is_not_relied_on);
  tcase_add_test(tcase, it_reaches_the_terminal);
  suite_add_tcase(suite, tcase);
  return suite;
}
