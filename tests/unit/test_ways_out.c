// However the program ends, the terminal is as it was.
//
// Each way is run a few times, and 50 times in `make stress`.
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/die.h"
#include "stress.h"
#include "tui/canvas/terminal.h"
#include "vterm_harness.h"

static int runs(void) { return stress_count(2, 50); }

// ---- the program in front -----------------------------------------------------------------------

typedef void (*Fault)(void);

static void by_die(void) { die("a rule of our own was broken: %d", 42); }
static void by_abort(void) { abort(); }
static void by_exit(void) { exit(0); }
static void by_wild_pointer(void) {
  volatile char *volatile wild = (volatile char *)16;  // or the compiler sees that it is wild
  *wild = 1;
}
static void by_raise_bus(void) { raise(SIGBUS); }
static void by_raise_fpe(void) { raise(SIGFPE); }

static int recurse(volatile char *above) {
  volatile char here[4096];
  here[0] = here[1] = above[0];
  return here[0] == 77 && here[1] == 78 ? 0 : recurse(here) + here[0];
}
static void by_stack_overflow(void) {
  volatile char start = 0;
  recurse(&start);
}

static void hang(void) {
  for (;;) pause();
}

// Prints a line, opens the terminal, draws, and does what the keys say: x the fault, q the end.
static int program_main(void *argument) {
  const Fault fault = *(const Fault *)argument;
  struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  Arena *arena = arena_new("program");
  Diags diags = diags_new(arena);
  static const char line[] = "typed before\r\n";
  if (write(STDOUT_FILENO, line, sizeof line - 1) < 0) return 9;
  Terminal *terminal = terminal_open(&(TerminalOptions){0}, &diags);
  const Theme *theme = theme_find(arena, "default", &diags);
  if (!terminal) return 8;
  for (int frame = 1;; frame++) {
    Canvas *canvas = canvas_new(arena, terminal_rows(terminal), terminal_cols(terminal), false);
    canvas_frame(canvas, canvas_rect(canvas), STYLE_BORDER_FOCUS, STYLE_TITLE, "LOOPS");
    canvas_printf(canvas, canvas_rect(canvas), 3, 3, STYLE_BAD, "frame %d", frame);
    canvas_set_cursor(canvas, canvas_rect(canvas), 2, 2);
    terminal_present(terminal, canvas, theme);
    Event event = terminal_wait(terminal, -1, -1);
    if (event.kind == EVENT_KEY && event.key == 'x') fault();
    if (event.kind == EVENT_KEY && event.key == 'q') break;
    if (event.kind == EVENT_END) {
      terminal_close(terminal);
      return 128 + event.signal;
    }
  }
  terminal_close(terminal);
  arena_free(arena);
  return 0;
}

static VtProgram *start_program(Fault *fault, const char *term) {
  VtProgram *program = vt_start(24, 80, (VtEnv){.term = term}, program_main, fault);
  vt_expect(program, "frame 1");
  ck_assert(!vt_restored(program));
  return program;
}

static void check_restored(VtProgram *program) {
  ck_assert(vt_wait_end(program));
  ck_assert(vt_restored(program));
  program->screen->reply_to = -1;
  size_t sent = program->screen->sent;
  vterm_keyboard_start_paste(program->screen->vterm);
  ck_assert_msg(program->screen->sent == sent, "bracketed paste was left on");
  ck_assert(vt_shows(program, "typed before"));
  ck_assert(!vt_shows(program, "LOOPS"));
}

// ---- the ways -----------------------------------------------------------------------------------

START_TEST(keys_and_signals_end_it_in_order) {
  static const struct {
    const char *keys;
    int signal, status;
  } ways[] = {
      {"q", 0, 0},
      {"Ctrl-C", 0, 128 + SIGINT},
      {NULL, SIGINT, 128 + SIGINT},
      {NULL, SIGTERM, 128 + SIGTERM},
      {NULL, SIGHUP, 128 + SIGHUP},
      {NULL, SIGUSR1, 128 + SIGUSR1},
      {NULL, SIGUSR2, 128 + SIGUSR2},
  };
  enum { WAYS = sizeof ways / sizeof *ways };
  Fault fault = by_exit;
  for (int i = 0; i < WAYS * runs(); i++) {
    VtProgram *program = start_program(&fault, i % 2 ? "xterm-256color" : "tmux-256color");
    if (ways[i % WAYS].keys)
      vt_keys(program, ways[i % WAYS].keys);
    else
      kill(program->pid, ways[i % WAYS].signal);
    check_restored(program);
    ck_assert(WIFEXITED(program->status));
    ck_assert_int_eq(WEXITSTATUS(program->status), ways[i % WAYS].status);
    vt_finish(program);
  }
}
END_TEST

START_TEST(faults_restore_first) {
  static const struct {
    Fault fault;
    const char *says;
  } faults[] = {
      {by_die, "gemmview: a rule of our own was broken: 42"},
      {by_abort, NULL},
      {by_exit, NULL},
      {by_wild_pointer, NULL},
      {by_stack_overflow, NULL},
      {by_raise_bus, NULL},
      {by_raise_fpe, NULL},
  };
  for (int i = 0; i < 7 * runs(); i++) {
    Fault fault = faults[i % 7].fault;
    VtProgram *program = start_program(&fault, "xterm-256color");
    vt_keys(program, "x");
    ck_assert(vt_wait_end(program));
    ck_assert(vt_restored(program));
    ck_assert(fault == by_exit || program->status != 0);
    if (faults[i % 7].says) ck_assert(vt_shows(program, faults[i % 7].says));
    vt_finish(program);
  }
}
END_TEST

START_TEST(a_fatal_signal_from_outside_restores_first) {
  static const int signals[] = {SIGQUIT, SIGABRT,   SIGILL,  SIGTRAP, SIGSYS,   SIGXCPU,
                                SIGPROF, SIGVTALRM, SIGPOLL, SIGPWR,  SIGSTKFLT};
  enum { SIGNALS = sizeof signals / sizeof *signals };
  Fault fault = by_exit;
  for (int i = 0; i < SIGNALS * runs(); i++) {
    VtProgram *program = start_program(&fault, "xterm-256color");
    kill(program->pid, signals[i % SIGNALS]);
    ck_assert(vt_wait_end(program));
    ck_assert(vt_restored(program));
    ck_assert(program->status != 0);
    vt_finish(program);
  }
}
END_TEST

START_TEST(signals_ignored_by_the_parent_still_end_it) {
  static const int signals[] = {SIGQUIT, SIGINT, SIGHUP};
  Fault fault = by_exit;
  for (int i = 0; i < 3; i++) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(signals[i], &ignore, &before);
    VtProgram *program = start_program(&fault, "xterm-256color");
    sigaction(signals[i], &before, NULL);
    kill(program->pid, signals[i]);
    ck_assert(vt_wait_end(program));
    ck_assert(vt_restored(program));
    ck_assert(program->status != 0);
    vt_finish(program);
  }
}
END_TEST

START_TEST(a_hanging_program_is_ended_after_two_seconds) {
  Fault fault = hang;
  VtProgram *program = start_program(&fault, "xterm-256color");
  vt_keys(program, "x");
  vt_pump(program, 100);
  kill(program->pid, SIGTERM);
  check_restored(program);
  ck_assert(WIFSIGNALED(program->status) && WTERMSIG(program->status) == SIGTERM);
  vt_finish(program);
}
END_TEST

START_TEST(a_hanging_program_is_ended_at_once_by_the_second_signal) {
  Fault fault = hang;
  for (int i = 0; i < runs(); i++) {
    VtProgram *program = start_program(&fault, "xterm-256color");
    vt_keys(program, "x");
    vt_pump(program, 50);
    kill(program->pid, SIGINT);
    vt_pump(program, 50);
    ck_assert(!vt_restored(program));
    kill(program->pid, SIGINT);
    check_restored(program);
    ck_assert(WIFSIGNALED(program->status) && WTERMSIG(program->status) == SIGINT);
    vt_finish(program);
  }
}
END_TEST

START_TEST(a_lost_connection_ends_it) {
  Fault fault = by_exit;
  for (int i = 0; i < runs(); i++) {
    VtProgram *program = start_program(&fault, "xterm-256color");
    close(program->slave);
    close(program->master);
    program->master = open("/dev/null", O_RDWR);
    program->slave = open("/dev/null", O_RDWR);
    program->screen->reply_to = -1;
    ck_assert(vt_wait_end(program));
    ck_assert(WIFEXITED(program->status));
    ck_assert_int_eq(WEXITSTATUS(program->status), 128 + SIGHUP);
    vt_finish(program);
  }
}
END_TEST

// ---- stopping and going on ----------------------------------------------------------------------

// A shell with one job: runs the program in a group of its own; when it stops, says so, reads a
// line in the terminal's usual mode and lets it go on.
static int shell(void *argument) {
  char line[64];
  int status;
  signal(SIGTTOU, SIG_IGN);
  pid_t job = fork();
  if (job == 0) {
    setpgid(0, 0);
    tcsetpgrp(STDIN_FILENO, getpid());
    signal(SIGTTOU, SIG_DFL);
    _exit(program_main(argument));
  }
  for (int stops = 1; waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status); stops++) {
    tcsetpgrp(STDIN_FILENO, getpid());
    if (dprintf(STDOUT_FILENO, "job stopped %d\r\n", stops) < 0) return 9;
    if (read(STDIN_FILENO, line, sizeof line) <= 0) return 9;
    tcsetpgrp(STDIN_FILENO, job);
    kill(-job, SIGCONT);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 7;
}

START_TEST(suspending_gives_the_terminal_back) {
  Fault fault = by_exit;
  VtProgram *program = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, shell, &fault);
  vt_expect(program, "frame 1");
  for (int i = 0; i < 1 + runs(); i++) {
    char message[32];
    snprintf(message, sizeof message, "job stopped %d", i + 1);
    vt_send(program, "\032", 1);
    vt_expect(program, message);
    ck_assert(vt_restored(program));
    ck_assert(!vt_shows(program, "LOOPS"));
    vt_send(program, "fg\n", 3);
    vt_expect(program, "LOOPS");
    vt_expect(program, "frame");
    ck_assert(!vt_restored(program));
  }
  vt_keys(program, "q");
  ck_assert(vt_wait_end(program));
  ck_assert_int_eq(program->status, 0);
  ck_assert(vt_restored(program));
  vt_finish(program);
}
END_TEST

START_TEST(stopped_and_continued_from_outside_it_draws_anew) {
  Fault fault = by_exit;
  VtProgram *program = start_program(&fault, "xterm-256color");
  kill(program->pid, SIGSTOP);
  waitpid(program->pid, NULL, WUNTRACED);
  vt_feed(program->screen, "\033[2J\033[?1049l", 12);
  kill(program->pid, SIGCONT);
  vt_expect(program, "frame 2");
  ck_assert(program->screen->altscreen);
  vt_keys(program, "q");
  ck_assert(vt_wait_end(program));
  ck_assert(vt_restored(program));
  vt_finish(program);
}
END_TEST

Suite *suite_ways_out(void);
Suite *suite_ways_out(void) {
  Suite *suite = suite_create("ways_out");
  TCase *tcase = tcase_create("ways_out");
  tcase_set_timeout(tcase, 600);
  tcase_add_test(tcase, keys_and_signals_end_it_in_order);
  tcase_add_test(tcase, faults_restore_first);
  tcase_add_test(tcase, a_fatal_signal_from_outside_restores_first);
  tcase_add_test(tcase, signals_ignored_by_the_parent_still_end_it);
  tcase_add_test(tcase, a_hanging_program_is_ended_after_two_seconds);
  tcase_add_test(tcase, a_hanging_program_is_ended_at_once_by_the_second_signal);
  tcase_add_test(tcase, a_lost_connection_ends_it);
  tcase_add_test(tcase, suspending_gives_the_terminal_back);
  tcase_add_test(tcase, stopped_and_continued_from_outside_it_draws_anew);
  suite_add_tcase(suite, tcase);
  return suite;
}
