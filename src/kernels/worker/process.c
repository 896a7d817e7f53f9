// fork, pipes, exec, SIGKILL: and nothing that waits.
//
// The child leads a process group (or a session) of its own so that one kill(-pid) reaches what it
// started, and asks for SIGKILL when its parent thread dies, so that no worker survives a screen
// that was killed with -9. Between fork and exec only async-signal-safe calls are made, because the
// caller may be one thread of many: the error text of a failed exec is put together without stdio.
//
// Worked example: the command {"nosuch"} forks, fails in execvp with ENOENT, writes
// "gemmview: cannot execute nosuch: error 2\n" to its stderr and exits with 127; the owner sees the
// end of stdout, reads the words and shows them.
#include "kernels/worker/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

typedef struct Pipes {
  int fds[6];  // stdin read/write, stdout read/write, stderr read/write
} Pipes;

static void pipes_close(Pipes *pipes) {
  for (int i = 0; i < 6; i++)
    if (pipes->fds[i] >= 0) close(pipes->fds[i]);
}

static bool pipes_open(Pipes *pipes) {
  for (int i = 0; i < 6; i++) pipes->fds[i] = -1;
  for (int i = 0; i < 3; i++) {
    if (pipe2(pipes->fds + 2 * i, O_CLOEXEC) == 0) continue;
    int reason = errno;
    pipes_close(pipes);
    errno = reason;
    return false;
  }
  return true;
}

static void child_limit(int resource, size_t value) {
  struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
  setrlimit((__rlimit_resource_t)resource, &limit);
}

static void child_set_limits(const ProcessOptions *options) {
  child_limit(RLIMIT_CORE, 0);
  if (options->nice > 0) setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + options->nice);
  if (options->cpu_seconds > 0) child_limit(RLIMIT_CPU, (size_t)options->cpu_seconds);
  if (options->memory_bytes > 0) child_limit(RLIMIT_AS, options->memory_bytes);
}

// A handler that the parent installed is reset by exec; what it ignored or blocked is not.
static void child_reset_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
}

static void child_say(const char *text) {
  ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored;
}

static _Noreturn void child_fail(const char *program, int reason) {
  char digits[12] = {0};
  int at = (int)sizeof digits - 1;
  do digits[--at] = (char)('0' + reason % 10);
  while ((reason /= 10) > 0);
  child_say("gemmview: cannot execute ");
  child_say(program);
  child_say(": error ");
  child_say(digits + at);
  child_say("\n");
  _exit(127);
}

// 0, 1, 2 may be among our own ends when the parent had them closed; moving them up first keeps
// dup2 from overwriting one of them.
static void child_use_pipes(const Pipes *pipes) {
  const int ends[3] = {pipes->fds[0], pipes->fds[3], pipes->fds[5]};
  int high[3];
  for (int i = 0; i < 3; i++) high[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
  for (int i = 0; i < 3; i++) dup2(high[i], i);
  close_range(3, ~0U, 0);
}

static _Noreturn void child_run(const char *const *argv, const ProcessOptions *options,
                                const Pipes *pipes, pid_t parent) {
  if (options->new_session)
    setsid();
  else
    setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, options->leaves ? SIGTERM : SIGKILL);
  if (getppid() != parent) _exit(127);
  child_use_pipes(pipes);
  child_set_limits(options);
  child_reset_signals();
  execvp(argv[0], (char *const *)(uintptr_t)argv);
  child_fail(argv[0], errno);
}

static int parent_end(int keep, int drop) {
  close(drop);
  fcntl(keep, F_SETFL, fcntl(keep, F_GETFL) | O_NONBLOCK);
  return keep;
}

bool process_start(Process *process, const char *const *argv, const ProcessOptions *options) {
  Pipes pipes;
  *process = process_none();
  if (!pipes_open(&pipes)) return false;
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0) child_run(argv, options, &pipes, parent);
  if (pid < 0) {
    int reason = errno;
    pipes_close(&pipes);
    errno = reason;
    return false;
  }
  process->pid = pid;
  process->in = parent_end(pipes.fds[1], pipes.fds[0]);
  process->out = parent_end(pipes.fds[2], pipes.fds[3]);
  process->err = parent_end(pipes.fds[4], pipes.fds[5]);
  process->lines = line_reader_new(options->line_limit);
  return true;
}

Process process_none(void) { return (Process){.in = -1, .out = -1, .err = -1}; }

bool process_is_running(const Process *process) { return process->pid > 0; }

static void words_add(Process *process, const char *bytes, size_t n) {
  const size_t room = PROCESS_WORDS_BYTES - 1;
  if (n > room) {
    bytes += n - room;
    n = room;
  }
  size_t keep = process->n_words + n > room ? room - n : process->n_words;
  memmove(process->words, process->words + process->n_words - keep, keep);
  memcpy(process->words + keep, bytes, n);
  process->n_words = keep + n;
  process->words[process->n_words] = '\0';
}

void process_write(Process *process) {
  if (process->in < 0 || out_queue_flush(&process->queue, process->in, true)) return;
  close(process->in);
  process->in = -1;
  out_queue_free(&process->queue);
}

void process_read_words(Process *process) {
  char bytes[4096];
  while (process->err >= 0) {
    ssize_t got = read(process->err, bytes, sizeof bytes);
    if (got > 0) {
      words_add(process, bytes, (size_t)got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close(process->err);
      process->err = -1;
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

static void close_end(int *end) {
  if (*end >= 0) close(*end);
  *end = -1;
}

// The last words stay, for the screen that shows them.
static void process_release(Process *process) {
  close_end(&process->in);
  close_end(&process->out);
  close_end(&process->err);
  process->pid = 0;
  line_reader_free(&process->lines);
  out_queue_free(&process->queue);
}

// A full list means 256 children that outlive SIGKILL; the next one is left to init.
static void reaper_add(Reaper *reaper, Reaped reaped) {
  if (waitpid(reaped.pid, NULL, WNOHANG) == 0 && reaper->n < PROCESS_REAP_MAX) {
    reaper->left[reaper->n++] = reaped;
    return;
  }
  close_end(&reaped.out);
  close_end(&reaped.err);
}

static void send_signal(pid_t pid, int number) {
  kill(-pid, number);
  kill(pid, number);
}

void process_kill(Process *process, Reaper *reaper) {
  if (!process_is_running(process)) return;
  send_signal(process->pid, SIGKILL);
  reaper_add(reaper, (Reaped){process->pid, 0, -1, -1});
  process_release(process);
}

void process_dismiss(Process *process, Reaper *reaper, int patience_ms) {
  if (!process_is_running(process)) return;
  send_signal(process->pid, SIGTERM);
  reaper_add(reaper, (Reaped){process->pid, clock_ms() + patience_ms, process->out, process->err});
  process->out = process->err = -1;
  process_release(process);
}

// Whether it is still there; one past its time is killed.
static bool is_left(Reaped *reaped) {
  if (waitpid(reaped->pid, NULL, WNOHANG) != 0) {
    close_end(&reaped->out);
    close_end(&reaped->err);
    return false;
  }
  if (reaped->kill_at_ms && clock_ms() >= reaped->kill_at_ms) {
    send_signal(reaped->pid, SIGKILL);
    reaped->kill_at_ms = 0;
  }
  return true;
}

int reaper_collect(Reaper *reaper) {
  int left = 0;
  for (int i = 0; i < reaper->n; i++)
    if (is_left(&reaper->left[i])) reaper->left[left++] = reaper->left[i];
  reaper->n = left;
  return left;
}

// Looks without collecting, so that the pid still names this child's group afterwards.
static bool has_ended(pid_t pid, int timeout_ms, siginfo_t *info) {
  const int64_t until = clock_ms() + timeout_ms;
  for (;;) {
    *info = (siginfo_t){0};
    if (waitid(P_PID, (id_t)pid, info, WEXITED | WNOHANG | WNOWAIT) != 0) return false;
    if (info->si_pid == pid) return true;
    if (clock_ms() >= until) return false;
    poll(NULL, 0, 2);
  }
}

static const char *signal_name(int number) {
  const char *name = sigdescr_np(number);
  return name ? name : "unknown";
}

void process_describe_end(Process *process, Reaper *reaper, int timeout_ms, char *text,
                          size_t n_text) {
  siginfo_t info;
  process_read_words(process);
  if (!process_is_running(process))
    snprintf(text, n_text, "was not running");
  else if (!has_ended(process->pid, timeout_ms, &info))
    snprintf(text, n_text, "closed its output");
  else if (info.si_code == CLD_EXITED)
    snprintf(text, n_text, "ended with status %d", info.si_status);
  else
    snprintf(text, n_text, "ended by signal %d (%s)", info.si_status, signal_name(info.si_status));
  process_kill(process, reaper);
}
