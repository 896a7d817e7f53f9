// OSC 52 and tmux load-buffer.
//
// "M=64" in base64 is TT02NA==, so the request is  ESC ] 52 ; c ; TT02NA== BEL.  GNU screen passes
// device control strings on to the terminal outside, at most 768 bytes each, so there the request
// is cut into pieces of ESC P … ESC \ .
//
// tmux is run by its name with fixed arguments, never through a shell, and the text goes through a
// pipe. A tmux that hangs is not waited for longer than a second.
#include "tui/canvas/clipboard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

char *clipboard_base64(Arena *arena, const char *bytes, size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *in = (const unsigned char *)bytes;
  char *out = arena_alloc(arena, (n + 2) / 3 * 4 + 1), *at = out;
  for (size_t i = 0; i < n; i += 3) {
    unsigned long group = (unsigned long)in[i] << 16;
    if (i + 1 < n) group |= (unsigned long)in[i + 1] << 8;
    if (i + 2 < n) group |= in[i + 2];
    *at++ = digits[group >> 18];
    *at++ = digits[group >> 12 & 63];
    *at++ = i + 1 < n ? digits[group >> 6 & 63] : '=';
    *at++ = i + 2 < n ? digits[group & 63] : '=';
  }
  return out;
}

char *clipboard_sequence(Arena *arena, const char *text, bool screen) {
  enum { PIECE = 700 };
  const char *plain =
      arena_printf(arena, "\033]52;c;%s\a", clipboard_base64(arena, text, strlen(text)));
  if (!screen) return arena_strdup(arena, plain);
  Str out = str_new(arena);
  for (size_t n = strlen(plain), at = 0; at < n; at += PIECE)
    str_printf(&out, "\033P%.*s\033\\", PIECE, plain + at);
  return out.text;
}

static void run_tmux(int text_fd) {
  int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(text_fd, STDIN_FILENO);
  if (null_fd >= 0) {
    dup2(null_fd, STDOUT_FILENO);
    dup2(null_fd, STDERR_FILENO);
  }
  execlp("tmux", "tmux", "load-buffer", "-w", "-", (char *)NULL);
  _exit(127);
}

static bool write_all(int fd, const char *text) {
  for (size_t n = strlen(text); n > 0;) {
    struct pollfd ready = {fd, POLLOUT, 0};
    if (poll(&ready, 1, 1000) <= 0) return false;
    ssize_t written = write(fd, text, n);
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written > 0) text += written, n -= (size_t)written;
  }
  return true;
}

// True when the child ended well within a second; otherwise it is killed.
static bool ended_well(pid_t child) {
  const struct timespec step = {0, 5 * 1000 * 1000};
  int status;
  for (int i = 0; i < 200; i++) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0 && errno != EINTR) return false;
    nanosleep(&step, NULL);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

static bool copy_to_tmux(const char *text) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) return false;
  fcntl(ends[0], F_SETFL, 0);
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  sigaction(SIGPIPE, &ignore, &before);
  pid_t child = fork();
  if (child == 0) run_tmux(ends[0]);
  close(ends[0]);
  bool written = child > 0 && write_all(ends[1], text);
  close(ends[1]);
  bool good = child > 0 && ended_well(child) && written;
  sigaction(SIGPIPE, &before, NULL);
  return good;
}

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && *value;
}

const char *clipboard_copy(Arena *arena, const char *text,
                           void (*write_terminal)(void *context, const char *bytes, size_t n),
                           void *context) {
  size_t n = strlen(text);
  if (n > CLIPBOARD_MAX)
    return arena_printf(arena,
                        "not copied: %zu bytes are more than the %d that a terminal "
                        "takes",
                        n, CLIPBOARD_MAX);
  if (is_set("TMUX") && copy_to_tmux(text))
    return arena_printf(arena, "copied %zu bytes to the tmux buffer", n);
  if (!write_terminal) return "not copied: there is no terminal";
  const char *sequence = clipboard_sequence(arena, text, is_set("STY"));
  write_terminal(context, sequence, strlen(sequence));
  return arena_printf(arena, "asked the terminal to copy %zu bytes", n);
}
