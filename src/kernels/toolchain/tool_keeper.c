// The kernel tells one process of its parent's death, not a group: nvcc would die, and the ptxas
// that it has started would live on. So the one that is told is a process of our own, which kills
// the group.
//
//   gemmview ── keeper, a group of its own: waits for SIGCHLD and SIGTERM
//                 └── nvcc ── cicc, ptxas …: one group, killed as a whole
//
// Worked example: Ctrl-C ends gemmview. The keeper has asked for SIGTERM at that moment
// (PR_SET_PDEATHSIG, which holds for SIGKILL too), kills nvcc's group, removes the folder and ends.
// All other signals are blocked in it, so that a Ctrl-C at the terminal is gemmview's to answer.
#include "kernels/toolchain/tool_keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INPUT_FD = 3, OUTPUT_FD = 4 };

void tool_folder_remove(const char *folder) {
  DIR *open = opendir(folder);
  for (struct dirent *at; open && (at = readdir(open));) unlinkat(dirfd(open), at->d_name, 0);
  if (open) closedir(open);
  rmdir(folder);
}

static void limit(int resource, size_t value) {
  const struct rlimit both = {.rlim_cur = value, .rlim_max = value};
  setrlimit((__rlimit_resource_t)resource, &both);
}

// Descriptors of the parent stay with the parent: a worker would not see its end while a keeper
// held its pipe open. Both files are moved up first, for they may lie on each other's target.
static void take_files(const KeptTool *tool) {
  const int in = fcntl(tool->input, F_DUPFD, OUTPUT_FD + 1);
  const int out = fcntl(tool->output, F_DUPFD, OUTPUT_FD + 1);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in < 0 || out < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(out, 1) < 0 ||
      dup2(out, 2) < 0 || dup2(in, INPUT_FD) < 0)
    _exit(126);
  close_range(INPUT_FD + 1, ~0U, 0);
}

static _Noreturn void become(const KeptTool *tool, pid_t keeper) {
  sigset_t none;
  sigemptyset(&none);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(126);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, tool->output_bytes);
  if (tool->memory_bytes > 0) limit(RLIMIT_AS, tool->memory_bytes);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(tool->argv[0], tool->argv, tool->environment);
  _exit(127);
}

static _Noreturn void end_as(int status) {
  sigset_t none;
  sigemptyset(&none);
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  limit(RLIMIT_CORE, 0);
  signal(WTERMSIG(status), SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  raise(WTERMSIG(status));
  _exit(126);
}

static _Noreturn void give_up(const KeptTool *tool, pid_t child) {
  if (child > 0) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  if (getppid() != tool->parent && tool->folder) tool_folder_remove(tool->folder);
  _exit(126);
}

_Noreturn void tool_keep(const KeptTool *tool) {
  sigset_t all, told;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  sigemptyset(&told);
  sigaddset(&told, SIGCHLD);
  sigaddset(&told, SIGTERM);
  signal(SIGCHLD, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != tool->parent) give_up(tool, 0);
  take_files(tool);
  const pid_t keeper = getpid(), child = fork();
  if (child == 0) become(tool, keeper);
  if (child < 0) _exit(126);
  setpgid(child, child);
  for (int status = 0, number = 0; number != SIGTERM; number = sigwaitinfo(&told, NULL)) {
    if (waitpid(child, &status, WNOHANG) != child) continue;
    kill(-child, SIGKILL);  // what it has left running
    end_as(status);
  }
  give_up(tool, child);
}
