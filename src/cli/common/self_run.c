// fork, exec, and two pipes that are read until both end or time is up.
#include "cli/common/self_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/cli.h"

enum { STREAMS = 2, FIRST_ROOM = 1 << 14 };

typedef struct Stream {
  int fd;  // -1: it has ended
  char *bytes;
  size_t n, room;
} Stream;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void end_stream(Stream *stream) {
  close(stream->fd);
  stream->fd = -1;
}

// False: there is no more room.
static bool take(Stream *stream) {
  if (stream->n + 1 == stream->room) {
    const size_t room = stream->room * 2;
    char *more = room <= SELF_OUTPUT_MAX ? realloc(stream->bytes, room) : NULL;
    if (!more) return false;
    stream->bytes = more;
    stream->room = room;
  }
  const ssize_t got = read(stream->fd, stream->bytes + stream->n, stream->room - stream->n - 1);
  if (got > 0) stream->n += (size_t)got;
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) end_stream(stream);
  return true;
}

// CLI_OK where both streams ended, else the reason.
static int read_streams(Stream stream[STREAMS], double deadline) {
  while (stream[0].fd >= 0 || stream[1].fd >= 0) {
    struct pollfd wait[STREAMS] = {{stream[0].fd, POLLIN, 0}, {stream[1].fd, POLLIN, 0}};
    const double left = deadline - now();
    if (left <= 0) return CLI_TIMEOUT;
    poll(wait, STREAMS, (int)(left * 1000) + 1);
    for (int i = 0; i < STREAMS; i++)
      if (stream[i].fd >= 0 && wait[i].revents && !take(&stream[i])) return CLI_NO;
  }
  return CLI_OK;
}

static void become(char **argv, int out, int err) {
  const int nothing = open("/dev/null", O_RDONLY);
  setpgid(0, 0);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execv("/proc/self/exe", argv);
  _exit(CLI_MISSING);
}

static char *keep(Arena *arena, Stream *stream) {
  if (stream->fd >= 0) end_stream(stream);
  char *text = arena_strndup(arena, stream->bytes ? stream->bytes : "", stream->n);
  free(stream->bytes);
  return text;
}

// Its whole group is ended where it has to be: it may have started compilers.
static void finish(pid_t child, int ended, SelfRun *out) {
  int status = 0;
  if (ended != CLI_OK) kill(-child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  out->cut = ended == CLI_NO;
  out->status = ended == CLI_TIMEOUT ? CLI_TIMEOUT
                : WIFEXITED(status)  ? WEXITSTATUS(status)
                                     : CLI_BENCH;
}

SelfRun self_run(Arena *arena, int n, const char *const *argv, int seconds) {
  SelfRun out = {
      .status = CLI_MISSING, .out = arena_strdup(arena, ""), .err = arena_strdup(arena, "")};
  char *word[SELF_ARGS_MAX + 2] = {arena_strdup(arena, "gemmview")};
  int pipes[STREAMS][2];
  for (int i = 0; i < n && i < SELF_ARGS_MAX; i++) word[i + 1] = arena_strdup(arena, argv[i]);
  if (pipe2(pipes[0], O_CLOEXEC) < 0) return out;
  if (pipe2(pipes[1], O_CLOEXEC) < 0) {
    close(pipes[0][0]);
    close(pipes[0][1]);
    return out;
  }
  const pid_t child = fork();
  if (child == 0) become(word, pipes[0][1], pipes[1][1]);
  Stream stream[STREAMS];
  for (int i = 0; i < STREAMS; i++) {
    close(pipes[i][1]);
    stream[i] = (Stream){pipes[i][0], malloc(FIRST_ROOM), 0, FIRST_ROOM};
    if (!stream[i].bytes || child < 0) end_stream(&stream[i]);
  }
  const int ended = child > 0 ? read_streams(stream, now() + seconds) : CLI_OK;
  if (child > 0) finish(child, ended, &out);
  out.n_out = stream[0].n;
  out.out = keep(arena, &stream[0]);
  out.err = keep(arena, &stream[1]);
  return out;
}
