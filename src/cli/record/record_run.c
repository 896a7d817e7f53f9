// A folder of this run has the library and what it is to do; the program is started with the folder
// first in LD_LIBRARY_PATH. What it did stands in a table that its processes share, so that it is
// there however the program ends. The folder goes with the run.
#include "cli/record/record_run.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/str.h"
#include "cli/open/open_input.h"
#include "cli/record/driver_bytes.h"
#include "kernels/toolchain/cuda_api.h"
#include "kernels/toolchain/tool.h"
#include "kernels/toolchain/tool_keeper.h"

enum { NOT_STARTED = 127, SIGNALLED = 128 };

// ---- the real driver ----------------------------------------------------------------------------

// In the child: a process that has asked a driver keeps it for good.
static void tell_driver(int fd) {
  typedef int Init(unsigned);
  typedef int Count(int *);
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  Init *init = library ? (Init *)dlsym(library, "cuInit") : NULL;
  Count *count = library ? (Count *)dlsym(library, "cuDeviceGetCount") : NULL;
  int n = 0;
  Dl_info info;
  if (init && count && init(0) == CU_SUCCESS && count(&n) == CU_SUCCESS && n > 0 &&
      dladdr((void *)init, &info) && info.dli_fname)
    (void)disk_write_all(fd, info.dli_fname, strlen(info.dli_fname));
  _exit(0);
}

const char *record_real_driver(Arena *arena) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) tell_driver(ends[1]);
  close(ends[1]);
  char path[4096];
  size_t n = 0;
  for (ssize_t got; n < sizeof path && (got = read(ends[0], path + n, sizeof path - n)) > 0;)
    n += (size_t)got;
  close(ends[0]);
  if (child > 0) waitpid(child, NULL, 0);
  return n > 0 ? arena_strndup(arena, path, n) : NULL;
}

// ---- the folder ---------------------------------------------------------------------------------

// The answers of cuDeviceGetAttribute (CUdevice_attribute): limits that all of today's GPUs have,
// and those of the target.
static void add_attributes(Str *out, const Target *t) {
  enum { THREADS = 1, GRID_X = 5, GRID_Y, GRID_Z, CONSTANT = 9, WARP = 10, OPTIN = 97 };
  const int rows[][2] = {
      {THREADS, t->max_threads_per_block},
      {2, 1024},
      {3, 1024},
      {4, 64},
      {GRID_X, INT32_MAX},
      {GRID_Y, 65535},
      {GRID_Z, 65535},
      {8, 49152},  // shared memory of a block that does not ask for more
      {CONSTANT, 65536},
      {WARP, 32},
      {11, INT32_MAX},  // pitch
      {12, t->regs_per_sm},
      {CU_DEVICE_CLOCK_RATE, target_knows(t->boost_mhz) ? (int)(t->boost_mhz * 1000) : 0},
      {14, 512},  // alignment of textures
      {CU_DEVICE_MULTIPROCESSOR_COUNT, t->sm_count},
      {19, 1},  // host memory can be mapped
      {31, 1},  // kernels run side by side
      {CU_DEVICE_L2_CACHE_SIZE, t->l2_bytes},
      {CU_DEVICE_MAX_THREADS_PER_SM, t->max_threads_per_sm},
      {40, 1},  // copies beside kernels
      {41, 1},  // addresses of host and device are one space
      {CU_DEVICE_CAPABILITY_MAJOR, t->cc / 10},
      {CU_DEVICE_CAPABILITY_MINOR, t->cc % 10},
      {78, 1},  // streams have priorities
      {CU_DEVICE_SMEM_PER_SM, t->smem_per_sm},
      {CU_DEVICE_REGISTERS_PER_SM, t->regs_per_sm},
      {95, 1},  // cooperative launches
      {OPTIN, t->smem_per_block},
      {CU_DEVICE_MAX_BLOCKS_PER_SM, t->max_blocks_per_sm},
      {111, t->smem_reserved_per_block},
      {115, 1},            // memory pools
      {120, t->cc >= 90},  // clusters
      {127, t->cc >= 90},  // tensor maps
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    str_printf(out, "attribute %d %d\n", rows[i][0], rows[i][1]);
}

static void add_line(Arena *arena, Str *out, const char *key, const char *value) {
  if (value) str_printf(out, "%s %s\n", key, str_line(arena, value));
}

static const char *settings_text(Arena *arena, const RecordRequest *request, const char *real,
                                 const char *folder) {
  Str out = str_new(arena), words = str_new(arena);
  for (int i = 0; request->argv[i]; i++) str_printf(&words, "%s%s", i ? " " : "", request->argv[i]);
  add_line(arena, &out, "real", real);
  add_line(arena, &out, "kernel", request->kernel);
  add_line(arena, &out, "capsule", request->capsule);
  add_line(arena, &out, "blocks", request->blocks);
  add_line(arena, &out, "command", words.text);
  add_line(arena, &out, "device",
           arena_printf(arena, "gemmview's CPU as %s", request->target->name));
  add_line(arena, &out, "seen", arena_printf(arena, "%s/seen", folder));
  str_printf(&out, "launch %d\n", request->launch);
  if (request->budget > 0) str_printf(&out, "budget %d000000\n", request->budget);
  str_printf(&out, "seconds %d\n", request->seconds);
  if (request->no_data) str_add(&out, "no-data\n");
  if (request->skips) str_add(&out, "skips\n");
  if (request->times) str_add(&out, "times\n");
  if (request->capsule && strstr(request->capsule, "%p")) str_add(&out, "each-process\n");
  add_attributes(&out, request->target);
  return out.text;
}

static bool write_new(Arena *arena, const char *folder, const char *name, const void *bytes,
                      size_t n) {
  const mode_t readable = 0700;
  const int fd = disk_create(arena_printf(arena, "%s/%s", folder, name), readable);
  const bool ok = fd >= 0 && disk_write_all(fd, bytes, n);
  return fd >= 0 && close(fd) == 0 && ok;
}

static bool fill_folder(Arena *arena, const RecordRequest *request, const char *real,
                        const char *folder) {
  const char *settings = settings_text(arena, request, real, folder);
  SeenTable *empty = calloc(1, sizeof *empty);
  if (!empty) return false;
  empty->magic = SEEN_MAGIC;
  const bool ok = write_new(arena, folder, "libcuda.so.1", driver_bytes,
                            (size_t)(driver_bytes_end - driver_bytes)) &&
                  write_new(arena, folder, "settings", settings, strlen(settings)) &&
                  write_new(arena, folder, "seen", empty, sizeof *empty) &&
                  symlink("libcuda.so.1", arena_printf(arena, "%s/libcuda.so", folder)) == 0;
  free(empty);
  return ok;
}

// ---- the program --------------------------------------------------------------------------------

static void put_first(Arena *arena, const char *name, const char *value) {
  const char *old = getenv(name);
  setenv(name, old && *old ? arena_printf(arena, "%s:%s", value, old) : value, 1);
}

// Without a real driver the library has to be there before the program's own code: hooks.
// `trouble` is a pipe that the program itself does not get: errno comes through it where there is
// no program to run.
static pid_t start(Arena *arena, const RecordRequest *request, const char *folder, bool preload,
                   const int trouble[2]) {
  fflush(NULL);
  const pid_t child = fork();
  if (child != 0) return child;
  put_first(arena, "LD_LIBRARY_PATH", folder);
  if (preload) put_first(arena, "LD_PRELOAD", arena_printf(arena, "%s/libcuda.so.1", folder));
  setenv("GEMMVIEW_RECORD", arena_printf(arena, "%s/settings", folder), 1);
  signal(SIGINT, SIG_DFL);
  if (request->aside) dup2(STDERR_FILENO, STDOUT_FILENO);
  execvp(request->argv[0], request->argv);
  const int why = errno;
  const ssize_t ignored = write(trouble[1], &why, sizeof why);
  (void)ignored;
  _exit(NOT_STARTED);
}

// 0: the program runs; else why it does not.
static int hear_of_start(const int trouble[2]) {
  int why = 0;
  close(trouble[1]);
  while (read(trouble[0], &why, sizeof why) < 0 && errno == EINTR) continue;
  close(trouble[0]);
  return why;
}

static int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static const SeenTable *read_seen(Arena *arena, const char *folder) {
  SeenTable *seen = ARENA_NEW(arena, SeenTable);
  FILE *file = fopen(arena_printf(arena, "%s/seen", folder), "rbe");
  const bool whole = file && fread(seen, sizeof *seen, 1, file) == 1;
  if (file) fclose(file);
  for (int i = 0; i < SEEN_ROWS; i++) {
    seen->rows[i].name[SEEN_NAME - 1] = '\0';
    seen->rows[i].note[SEEN_NOTE - 1] = '\0';
  }
  seen->failed[sizeof seen->failed - 1] = '\0';
  return whole && seen->magic == SEEN_MAGIC ? seen : NULL;
}

// ---- the capsules -------------------------------------------------------------------------------

static const char *with_process(Arena *arena, const char *path, pid_t process) {
  const char *at = strstr(path, "%p");
  if (!at) return path;
  return arena_printf(arena, "%.*s%d%s", (int)(at - path), path, (int)process, at + 2);
}

static bool put(void *self, const void *bytes, size_t n) {
  return disk_write_all(*(int *)self, bytes, n);
}

// Only when a program has ended all its launches are known: its capsule is written once more, with
// their list and without the memory that the asked block does not touch, beside the first and put
// in its place. Where that fails the first one stays.
static void finish(Arena *arena, const char *path, const RecordRequest *request,
                   const SeenTable *seen) {
  const uint64_t limit = (uint64_t)request->limit * 1000000;
  const char *unfinished = arena_printf(arena, "%s.%d.part", path, (int)getpid());
  const mode_t mine = 0600;
  Diags ignored = diags_new(arena);
  size_t n = 0;
  const char *bytes = open_read_file(arena, path, &n, &ignored);
  Capsule *capsule = bytes ? capsule_read(arena, bytes, n, path, &ignored) : NULL;
  if (!capsule) return;
  capsule->launches = record_seen_launches(arena, seen, &capsule->n_launches);
  record_trim(arena, path, request->blocks, limit, capsule);
  unlink(unfinished);
  int fd = disk_create(unfinished, mine);
  bool ok = fd >= 0 && capsule_write(arena, capsule, put, &fd);
  if (fd >= 0 && close(fd) != 0) ok = false;
  if (!ok || rename(unfinished, path) != 0) unlink(unfinished);
}

// Those of processes that wrote one; what another left unfinished goes.
static void find_capsules(Arena *arena, const RecordRequest *request, pid_t child,
                          RecordOutcome *out) {
  const uint32_t written = out->seen ? out->seen->written : 0;
  const int n = written < SEEN_WRITERS ? (int)written : SEEN_WRITERS;
  const char *first = with_process(arena, request->capsule, child);
  unlink(arena_printf(arena, "%s.%d.part", first, (int)child));
  out->capsules = ARENA_ARRAY(arena, const char *, n + 1);
  for (int i = 0; i < n; i++) {
    const char *path = with_process(arena, request->capsule, out->seen->writer[i]);
    if (access(path, R_OK) != 0) continue;
    finish(arena, path, request, out->seen);
    out->capsules[out->n_capsules++] = path;
  }
  out->capsule = out->n_capsules ? out->capsules[0] : NULL;
}

bool record_run(Arena *arena, const RecordRequest *request, RecordOutcome *out, Diags *diags) {
  const char *real = request->cpu ? NULL : record_real_driver(arena);
  const char *folder = tool_folder(arena);
  if (!folder || !fill_folder(arena, request, real, folder)) {
    diag_add(diags, "file", "cannot make a folder for the recording: %s", strerror(errno));
    if (folder) tool_folder_remove(folder);
    return false;
  }
  int trouble[2];
  if (pipe2(trouble, O_CLOEXEC) != 0) {
    diag_add(diags, "file", "cannot start a process: %s", strerror(errno));
    tool_folder_remove(folder);
    return false;
  }
  void (*before)(int) = signal(SIGINT, SIG_IGN);
  const pid_t child = start(arena, request, folder, !real, trouble);
  const int why = hear_of_start(trouble);
  *out = (RecordOutcome){.status = NOT_STARTED, .by_gpu = real != NULL};
  if (child > 0) out->status = wait_for(child);
  signal(SIGINT, before);
  out->seen = read_seen(arena, folder);
  tool_folder_remove(folder);
  if (child < 0) diag_add(diags, "file", "cannot start a process: %s", strerror(errno));
  if (child > 0 && why)
    diag_add(diags, "program", "%s cannot be started: %s", str_line(arena, request->argv[0]),
             strerror(why));
  if (child < 0 || why) return false;
  if (request->capsule) find_capsules(arena, request, child, out);
  return true;
}
