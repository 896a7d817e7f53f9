// A child between two anonymous files, with a keeper above it (tool_keeper.h).
//
// The input is a memory file that the child finds as descriptor 3, under the path /proc/self/fd/3;
// its output goes to another one. No pipe can fill up, and the parent has only to wait: it looks
// every 2 ms, and at the deadline tells the keeper, which ends the child's whole group.
// Worked example: nvdisasm of a 26 KiB cubin takes 30 to 400 ms and prints 100 KiB.
#include "kernels/toolchain/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "kernels/toolchain/tool_keeper.h"

enum { OUTPUT_MAX = 64 << 20, MEMORY_GIB_MAX = 16 };

size_t tool_memory_bytes(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const size_t most = (size_t)MEMORY_GIB_MAX << 30;
  const size_t here = pages > 0 && page > 0 ? (size_t)pages / 4 * 3 * (size_t)page : most;
  return here < most ? here : most;
}

const char *tool_folder(Arena *arena) {
  const char *base = getenv("TMPDIR");
  return mkdtemp(arena_printf(arena, "%s/gemmview-XXXXXX", base && base[0] == '/' ? base : "/tmp"));
}

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
  kill(child, SIGTERM);
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

// The words by which nvcc, cicc, ptxas and the C++ library say that memory was refused.
static bool lacked_memory(const char *output) {
  static const char *const words[] = {"emory allocation", "bad_alloc", "ut of memory",
                                      "emory exhausted", "annot allocate memory"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strstr(output, words[i])) return true;
  return false;
}

static ToolResult judge(Arena *arena, const char *tool, int status, const char *output,
                        double deadline_s) {
  ToolResult result = {.output = output, .limited = true};
  if (status == -1) {
    result.error = arena_printf(arena, "%s was stopped at its deadline of %g s", tool, deadline_s);
    return result;
  }
  if (status != 0 && lacked_memory(output)) {
    result.error = arena_printf(arena, "%s needs more memory than its limit of %.1f GiB", tool,
                                (double)tool_memory_bytes() / (1 << 30));
    return result;
  }
  result.limited = false;
  if (WIFSIGNALED(status))
    result.error = arena_printf(arena, "%s was ended by signal %d", tool, WTERMSIG(status));
  else if (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126)
    result.error = arena_printf(arena, "%s could not be started", tool);
  else if (WEXITSTATUS(status) != 0)
    result.error = arena_printf(arena, "%s ended with status %d: %.200s", tool, WEXITSTATUS(status),
                                str_sanitise(arena, output));
  result.ok = !result.error;
  return result;
}

static char **words_of(Arena *arena, const char *const *argv) {
  int n = 0;
  while (argv[n]) n++;
  char **words = ARENA_ARRAY(arena, char *, n + 1);
  for (int i = 0; i < n; i++)
    words[i] = arena_strdup(arena, str_equal(argv[i], "INPUT") ? "/proc/self/fd/3" : argv[i]);
  words[n] = NULL;
  return words;
}

// A tool of a recorded program is not recorded.
static bool is_of_recording(const char *variable) {
  return getenv("GEMMVIEW_RECORD") &&
         (str_starts(variable, "GEMMVIEW_RECORD=") || str_starts(variable, "LD_PRELOAD="));
}

static char **environment_of(Arena *arena, const char *folder) {
  int n = 0, kept = 0;
  while (environ[n]) n++;
  char **environment = ARENA_ARRAY(arena, char *, n + 2);
  for (int i = 0; i < n; i++)
    if (!(folder && str_starts(environ[i], "TMPDIR=")) && !is_of_recording(environ[i]))
      environment[kept++] = environ[i];
  if (folder) environment[kept++] = arena_printf(arena, "TMPDIR=%s", folder);
  environment[kept] = NULL;
  return environment;
}

ToolResult tool_run(Arena *arena, const char *const *argv, const void *input, size_t bytes,
                    const char *folder, double deadline_s) {
  const int in = memory_file(input, bytes), out = memory_file("", 0);
  const KeptTool tool = {.argv = words_of(arena, argv),
                         .environment = environment_of(arena, folder),
                         .input = in,
                         .output = out,
                         .memory_bytes = tool_memory_bytes(),
                         .output_bytes = OUTPUT_MAX,
                         .folder = folder,
                         .parent = getpid()};
  const pid_t keeper = in >= 0 && out >= 0 ? fork() : -1;
  if (keeper == 0) tool_keep(&tool);
  ToolResult result = {.output = ""};
  if (keeper > 0) {
    const int status = wait_until(keeper, clock_seconds() + deadline_s);
    result = judge(arena, argv[0], status, read_all(arena, out), deadline_s);
  } else {
    result.error =
        arena_printf(arena, "%s: no process could be made: %s", argv[0], strerror(errno));
  }
  if (in >= 0) close(in);
  if (out >= 0) close(out);
  return result;
}
