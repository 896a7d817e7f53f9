// Modes, signals and the way out.
//
// Signal handlers leave a letter in a pipe that the event loop polls together with the keyboard and
// the worker: W window size, Z stop, C continued, E end. A program that has not restored the
// terminal two seconds after an E is ended by SIGALRM, and at once when the signal comes again.
//
// Worked example: SIGTERM arrives while a frame is drawn. The handler writes 'E', arms the alarm
// and returns; the loop sees end_signal 15, saves the session and closes the terminal, which
// disarms the alarm. SIGSEGV instead restores at once and hands on to the handler before.
#include "tui/canvas/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

#include "base/die.h"

enum { GRACE_S = 2, ALT_STACK = 1 << 16, SEQUENCE_MAX = 512 };

static struct {
  struct termios before, during;
  char enter[SEQUENCE_MAX], leave[SEQUENCE_MAX];
  size_t enter_length, leave_length;
  volatile sig_atomic_t active, end_signal;
  bool end_told, handlers, at_exit;
  int pipe[2];
} tty;

// ---- bytes and modes: everything here may be called by a signal handler -------------------------

void tty_write(const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t written = write(STDOUT_FILENO, bytes, n);
    if (written > 0) {
      bytes += written;
      n -= (size_t)written;
    } else if (written < 0 && errno == EAGAIN) {
      struct pollfd ready = {STDOUT_FILENO, POLLOUT, 0};
      if (poll(&ready, 1, 1000) <= 0) return;
    } else if (!(written < 0 && errno == EINTR)) {
      return;
    }
  }
}

static void restore(void) {
  if (!tty.active) return;
  int saved = errno;
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  tty.active = 0;
  sigaction(SIGTTOU, &ignore, &before);  // in the background tcsetattr would stop us
  tty_write(tty.leave, tty.leave_length);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &tty.before);
  sigaction(SIGTTOU, &before, NULL);
  errno = saved;
}

// ---- signals ------------------------------------------------------------------------------------

static void leave_letter(char letter) {
  int saved = errno;
  ssize_t written = write(tty.pipe[1], &letter, 1);
  (void)written;  // a full pipe already has what wakes the reader
  errno = saved;
}

static void end_with(int signal) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  sigset_t set;
  restore();
  sigaction(signal, &usual, NULL);
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  kill(getpid(), signal);
}

static void on_end(int signal) {
  if (tty.end_signal || !tty.active) end_with(signal);
  tty.end_signal = signal;
  struct itimerval grace = {.it_value = {.tv_sec = GRACE_S}};
  setitimer(ITIMER_REAL, &grace, NULL);
  leave_letter('E');
}

static void on_alarm(int signal) {
  (void)signal;
  end_with(tty.end_signal ? tty.end_signal : SIGTERM);
}

static void on_letter(int signal) {
  leave_letter(signal == SIGWINCH ? 'W' : signal == SIGTSTP ? 'Z' : 'C');
}

typedef struct Handled {
  int signal;
  void (*handler)(int signal);
  int flags;
  struct sigaction before;
} Handled;

static void on_fatal(int signal);

// Every signal that would end a program without asking it.
static Handled handled[] = {
    {.signal = SIGINT, .handler = on_end},
    {.signal = SIGTERM, .handler = on_end},
    {.signal = SIGHUP, .handler = on_end},
    {.signal = SIGUSR1, .handler = on_end},
    {.signal = SIGUSR2, .handler = on_end},
    {.signal = SIGALRM, .handler = on_alarm},
    {.signal = SIGWINCH, .handler = on_letter},
    {.signal = SIGTSTP, .handler = on_letter},
    {.signal = SIGCONT, .handler = on_letter},
    {.signal = SIGSEGV, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGBUS, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGFPE, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGILL, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGABRT, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGQUIT, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGTRAP, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGSYS, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGXCPU, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGVTALRM, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGPROF, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGPOLL, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGPWR, .handler = on_fatal, .flags = SA_ONSTACK},
    {.signal = SIGSTKFLT, .handler = on_fatal, .flags = SA_ONSTACK},
};
enum { HANDLED = sizeof handled / sizeof handled[0] };

// The handler that was installed before runs once more, after the terminal is back. Ignoring it (a
// shell starts background jobs with SIGQUIT ignored) would let a program go on that cannot.
static void on_fatal(int signal) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  restore();
  for (int i = 0; i < HANDLED; i++) {
    if (handled[i].signal != signal) continue;
    bool ignored = handled[i].before.sa_handler == SIG_IGN;
    sigaction(signal, ignored ? &usual : &handled[i].before, NULL);
  }
  kill(getpid(), signal);
}

// A stack overflow needs another stack to be told about.
static void give_signals_a_stack(void) {
  static _Alignas(16) char stack[ALT_STACK];
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack}, old;
  if (!sigaltstack(NULL, &old) && old.ss_flags & SS_DISABLE) sigaltstack(&alternate, NULL);
}

static void take_signals(void) {
  if (tty.handlers) return;
  give_signals_a_stack();
  for (int i = 0; i < HANDLED; i++) {
    struct sigaction action = {.sa_handler = handled[i].handler, .sa_flags = handled[i].flags};
    sigaction(handled[i].signal, &action, &handled[i].before);
  }
  tty.handlers = true;
}

static void give_signals_back(void) {
  for (int i = 0; i < HANDLED && tty.handlers; i++)
    sigaction(handled[i].signal, &handled[i].before, NULL);
  tty.handlers = false;
}

// ---- in and out ---------------------------------------------------------------------------------

bool tty_open(Diags *diags) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &tty.before)) {
    diag_add(diags, "terminal",
             "the explorer needs a terminal as its input and output; \"gemmview show VIEW\" prints "
             "a view without one");
    return false;
  }
  if (pipe2(tty.pipe, O_CLOEXEC | O_NONBLOCK)) {
    diag_add(diags, "terminal", "the explorer cannot open a pipe: %s", strerror(errno));
    return false;
  }
  tty.during = tty.before;
  tty.during.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | IGNCR | ISTRIP);
  tty.during.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
  tty.during.c_oflag &= ~(tcflag_t)OPOST;
  tty.during.c_cc[VMIN] = 1;
  tty.during.c_cc[VTIME] = 0;
  tty.end_signal = 0;
  tty.end_told = false;
  return true;
}

void tty_close(void) {
  restore();
  tty_forgive();
  give_signals_back();
  die_set_restore(NULL);
  close(tty.pipe[0]);
  close(tty.pipe[1]);
}

static size_t keep(char into[SEQUENCE_MAX], const Str *text) {
  if (text->length > SEQUENCE_MAX)
    die("the sequences of this terminal take %zu bytes", text->length);
  memcpy(into, text->text, text->length);
  return text->length;
}

void tty_set_sequences(const Str *enter, const Str *leave) {
  tty.enter_length = keep(tty.enter, enter);
  tty.leave_length = keep(tty.leave, leave);
}

void tty_enter(void) {
  take_signals();
  if (!tty.at_exit) atexit(restore);
  tty.at_exit = true;
  die_set_restore(restore);
  tty.active = 1;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &tty.during);
  tty_write(tty.enter, tty.enter_length);
}

void tty_suspend(void) {
  static const int signals[] = {SIGTSTP, SIGCONT};
  struct sigaction usual = {.sa_handler = SIG_DFL}, ours[2];
  restore();
  for (int i = 0; i < 2; i++) sigaction(signals[i], &usual, &ours[i]);
  raise(SIGTSTP);
  for (int i = 0; i < 2; i++) sigaction(signals[i], &ours[i], NULL);
  tty_enter();
}

void tty_size(int *rows, int *cols) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
    size = (struct winsize){.ws_row = 24, .ws_col = 80};
  *rows = size.ws_row;
  *cols = size.ws_col;
}

int tty_news_fd(void) { return tty.pipe[0]; }

TtyNews tty_news(void) {
  char letters[64];
  TtyNews news = {0};
  ssize_t n = read(tty.pipe[0], letters, sizeof letters);
  for (ssize_t i = 0; i < n; i++) {
    news.resized |= letters[i] == 'W';
    news.stop |= letters[i] == 'Z';
    news.continued |= letters[i] == 'C';
    if (letters[i] == 'E') news.end_signal = tty.end_signal;
  }
  tty.end_told |= news.end_signal != 0;
  return news;
}

void tty_forgive(void) {
  struct itimerval none = {0};
  if (!tty.end_told) return;
  setitimer(ITIMER_REAL, &none, NULL);
  tty.end_signal = 0;
  tty.end_told = false;
}
