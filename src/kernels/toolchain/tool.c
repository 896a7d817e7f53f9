// A child between two anonymous files.
//
// The input is a memory file that the child finds as descriptor 3, under the path /proc/self/fd/3;
// its output goes to another one. No pipe can fill up, nothing is left behind on a disk, and the
// parent has only to wait: it looks every 2 ms, and at the deadline ends the child's whole group.
// Worked example: nvdisasm of a 26 KiB cubin takes 30 to 400 ms and prints 100 KiB.
#include "kernels/toolchain/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

enum { ARGUMENTS_MAX = 16, OUTPUT_MAX = 64 << 20, INPUT_FD = 3 };

static int memory_file(const void *bytes, size_t n) {
  int fd = memfd_create("gemmview", MFD_CLOEXEC);
  for (size_t done = 0; fd >= 0 && done < n;) {
    ssize_t written = write(fd, (const char *)bytes + done, n - done);
    if (written <= 0) {
      close(fd);
      return -1;
    }
    done += (size_t)written;
  }
  return fd;
}

// Runs between fork and exec, so it makes only calls that are safe there.
static _Noreturn void become(char *const *argv, int input, int output) {
  const struct rlimit size = {OUTPUT_MAX, OUTPUT_MAX};
  setpgid(0, 0);
  setrlimit(RLIMIT_FSIZE, &size);
  // dup first: the two may lie on each other's target.
  int in = dup(input), out = dup(output);
  if (in < 0 || out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || dup2(in, INPUT_FD) < 0)
    _exit(126);
  execv(argv[0], argv);
  _exit(127);
}

// The status, or −1 when the deadline ended it.
static int wait_until(pid_t child, double deadline) {
  const struct timespec pause = {0, 2000000};
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (clock_seconds() > deadline) break;
    nanosleep(&pause, NULL);
  }
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
  }
  return -1;
}

static const char *read_all(Arena *arena, int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0 || status.st_size < 0) return "";
  const size_t bytes = (size_t)status.st_size;
  char *text = arena_alloc(arena, bytes + 1);
  size_t done = 0;
  while (done < bytes) {
    ssize_t got = pread(fd, text + done, bytes - done, (off_t)done);
    if (got <= 0) break;
    done += (size_t)got;
  }
  text[done] = '\0';
  return text;
}

static ToolResult judge(Arena *arena, const char *tool, int status, const char *output,
                        double deadline_s) {
  ToolResult result = {.output = output};
  if (status == -1)
    result.error = arena_printf(arena, "%s was ended at its deadline of %g s", tool, deadline_s);
  else if (WIFSIGNALED(status))
    result.error = arena_printf(arena, "%s was ended by signal %d", tool, WTERMSIG(status));
  else if (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126)
    result.error = arena_printf(arena, "%s could not be started", tool);
  else if (WEXITSTATUS(status) != 0)
    result.error = arena_printf(arena, "%s ended with status %d: %.200s", tool, WEXITSTATUS(status),
                                str_sanitise(arena, output));
  result.ok = !result.error;
  return result;
}

ToolResult tool_run(Arena *arena, const char *const *argv, const void *input, size_t bytes,
                    double deadline_s) {
  char *words[ARGUMENTS_MAX + 1] = {NULL};
  for (int i = 0; i < ARGUMENTS_MAX && argv[i]; i++)
    words[i] = arena_strdup(arena, str_equal(argv[i], "INPUT") ? "/proc/self/fd/3" : argv[i]);
  int in = memory_file(input, bytes), out = memory_file("", 0);
  pid_t child = in >= 0 && out >= 0 ? fork() : -1;
  if (child == 0) become(words, in, out);
  int status = -1;
  if (child > 0) {
    // Parent and child both set it, so that it holds before either goes on.
    setpgid(child, child);
    status = wait_until(child, clock_seconds() + deadline_s);
  }
  ToolResult result = {.output = ""};
  if (child > 0)
    result = judge(arena, argv[0], status, read_all(arena, out), deadline_s);
  else
    result.error =
        arena_printf(arena, "%s: no process could be made: %s", argv[0], strerror(errno));
  if (in >= 0) close(in);
  if (out >= 0) close(out);
  return result;
}
