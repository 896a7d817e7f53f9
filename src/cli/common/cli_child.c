// fork, and a watch on the clock.
//
// The child is polled rather than waited for with an alarm, because the parent has threads and
// signals of its own (cli_worker.c). What the child prints goes where the parent's output goes.
#include "cli/common/cli_child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/cli.h"

enum { TICK_NS = 20000000, TICKS_PER_SECOND = 50 };

static int wait_for(pid_t child, int seconds) {
  const struct timespec tick = {.tv_nsec = TICK_NS};
  int status = 0;
  for (long i = 0; i < (long)seconds * TICKS_PER_SECOND; i++) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child && WIFEXITED(status)) return WEXITSTATUS(status);
    if (ended == child)
      return cli_error(CLI_BENCH, "the process on the GPU was ended by signal %d",
                       WTERMSIG(status));
    if (ended < 0 && errno != EINTR) break;
    nanosleep(&tick, NULL);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return cli_error(CLI_TIMEOUT, "the process on the GPU was ended after %d s", seconds);
}

int cli_in_child(int (*work)(void *context), void *context, int seconds) {
  fflush(stdout);
  fflush(stderr);
  const pid_t child = fork();
  if (child < 0) return cli_error(CLI_MISSING, "no process could be started for the GPU");
  if (child > 0) return wait_for(child, seconds);
  const int status = work(context);
  fflush(stdout);
  fflush(stderr);
  _exit(status);
}
