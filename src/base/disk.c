// XDG's folders, and files that are replaced by rename().
//
// Worked example: disk_replace("/home/ana/.config/gemmview/config.json", …) makes .config and
// gemmview where they are missing, writes config.json.4711-0 beside the old file, and renames it
// once it is on the disk. Where config.json is a link to dotfiles/gemmview.json, it stays one, and
// all of that happens in dotfiles.
#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct {
  const char *variable, *below_home;
} folders[] = {
    [DISK_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
    [DISK_STATE] = {"XDG_STATE_HOME", ".local/state"},
    [DISK_CACHE] = {"XDG_CACHE_HOME", ".cache"},
};

char *disk_path(Arena *arena, DiskFolder folder, const char *name) {
  const char *xdg = getenv(folders[folder].variable), *home = getenv("HOME");
  const char *slash = name ? "/" : "", *file = name ? name : "";
  if (xdg && xdg[0] == '/') return arena_printf(arena, "%s/gemmview%s%s", xdg, slash, file);
  if (!home || home[0] != '/') return NULL;
  return arena_printf(arena, "%s/%s/gemmview%s%s", home, folders[folder].below_home, slash, file);
}

// A home that is not there is a mistake somewhere else, and making it would hide that.
static bool lacks_its_home(const char *path) {
  const char *home = getenv("HOME");
  size_t n = home ? strlen(home) : 0;
  while (n > 0 && home[n - 1] == '/') n--;
  return n > 0 && strncmp(path, home, n) == 0 && path[n] == '/' && access(home, F_OK) != 0;
}

bool disk_make_folders(const char *path) {
  if (lacks_its_home(path)) return false;
  Arena *arena = arena_new("folders");
  char *folder = arena_strdup(arena, path);
  bool ok = true;
  for (char *slash = folder; ok && (slash = strchr(slash + 1, '/'));) {
    *slash = '\0';
    ok = mkdir(folder, 0700) == 0 || errno == EEXIST;
    *slash = '/';
  }
  int error = errno;
  arena_free(arena);
  errno = error;
  return ok;
}

// NULL where it is something that can be read.
static const char *no_file(mode_t mode, bool pipes) {
  if (S_ISREG(mode) || (S_ISFIFO(mode) && pipes)) return NULL;
  return S_ISDIR(mode)    ? "it is a folder, not a file"
         : S_ISFIFO(mode) ? "it is a pipe, not a file"
         : S_ISSOCK(mode) ? "it is a socket, not a file"
                          : "it is a device, not a file";
}

// Whether a process writes into the pipe, or comes to within two seconds. A read that does not wait
// gives the end without a writer, and EAGAIN where the writer has nothing to say yet. `first` gets
// the byte that was read to find out; EOF: none was.
static bool pipe_has_writer(int fd, int *first) {
  enum { TRIES = 100 };
  const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
  for (int i = 0; i < TRIES; i++) {
    unsigned char byte;
    const ssize_t n = read(fd, &byte, 1);
    *first = n > 0 ? byte : EOF;
    if (n > 0 || (n < 0 && errno == EAGAIN)) return true;
    if (n < 0 && errno != EINTR) return false;
    nanosleep(&pause, NULL);
  }
  return false;
}

FILE *disk_open(const char *path, bool pipes, const char **why) {
  struct stat status;
  int first = EOF;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  const bool there = fd >= 0 && fstat(fd, &status) == 0;
  const char *not_one = there ? no_file(status.st_mode, pipes) : NULL;
  const int error = there ? 0 : errno;
  if (there && !not_one && S_ISFIFO(status.st_mode) && !pipe_has_writer(fd, &first))
    not_one = "it is a pipe without a writer";
  FILE *file = there && !not_one && fcntl(fd, F_SETFL, 0) == 0 ? fdopen(fd, "rb") : NULL;
  if (file && first != EOF) ungetc(first, file);
  if (why) *why = not_one ? not_one : strerror(error);
  if (!file && fd >= 0) close(fd);
  errno = error;
  return file;
}

int disk_lock(const char *path) {
  Arena *arena = arena_new("lock");
  const char *slash = strrchr(path, '/');
  const char *folder = !slash          ? "."
                       : slash == path ? "/"
                                       : arena_strndup(arena, path, (size_t)(slash - path));
  const int fd = disk_make_folders(path) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
  arena_free(arena);
  return fd;
}

bool disk_write_all(int fd, const void *bytes, size_t n) {
  for (size_t at = 0; at < n;) {
    ssize_t put = write(fd, (const char *)bytes + at, n - at);
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) at += (size_t)put;
  }
  return true;
}

int disk_create(const char *path, mode_t mode) {
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0700);
  if (fd < 0 || fchmod(fd, mode) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// The file that holds the bytes of `path`: links are followed one by one, for the last may lead to
// nothing.
static const char *behind_links(Arena *arena, const char *path) {
  enum { LINKS_MAX = 40, TARGET_MAX = 4096 };
  char target[TARGET_MAX];
  for (int links = 0; links < LINKS_MAX; links++) {
    ssize_t n = readlink(path, target, sizeof target);
    if (n < 0 || n == sizeof target) return path;
    const char *slash = target[0] == '/' ? NULL : strrchr(path, '/');
    path =
        arena_printf(arena, "%.*s%.*s", slash ? (int)(slash - path) + 1 : 0, path, (int)n, target);
  }
  errno = ELOOP;
  return NULL;
}

// The bytes that a file is to have.
typedef struct DiskText {
  const void *bytes;
  size_t n;
} DiskText;

// Everything that is to be done before the rename; `old` NULL: there is no mode to keep.
static bool fill(int fd, DiskText text, const struct stat *old) {
  bool ok = disk_write_all(fd, text.bytes, text.n) &&
            (!old || fchmod(fd, old->st_mode & 0777) == 0) && fsync(fd) == 0;
  int error = errno;
  bool closed = close(fd) == 0;
  if (!ok) errno = error;
  return ok && closed;
}

// Beside the file: "config.json.4711-0"; the umask acts on its mode. mkstemp would use 0600, and
// the umask cannot be asked without being changed for other threads.
static int open_scratch(Arena *arena, const char *path, mode_t mode, const char **scratch) {
  enum { NAMES_MAX = 100 };
  int fd = -1;
  for (int i = 0; fd < 0 && i < NAMES_MAX; i++) {
    *scratch = arena_printf(arena, "%s.%d-%d", path, (int)getpid(), i);
    fd = open(*scratch, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0 && errno != EEXIST) break;
  }
  return fd;
}

static bool replace(Arena *arena, const char *path, DiskText text, const struct stat *old,
                    mode_t mode) {
  const char *scratch;
  int fd = open_scratch(arena, path, mode, &scratch);
  if (fd < 0) return false;
  if (fill(fd, text, old) && rename(scratch, path) == 0) return true;
  int error = errno;
  unlink(scratch);
  errno = error;
  return false;
}

// A device or a pipe is written into; there is no old text to keep. A pipe without a reader is an
// error (ENXIO), not waited for.
static bool write_into(const char *path, DiskText text) {
  int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0 || fcntl(fd, F_SETFL, 0) != 0) return false;
  bool ok = disk_write_all(fd, text.bytes, text.n);
  int error = errno;
  bool closed = close(fd) == 0;
  if (!ok) errno = error;
  return ok && closed;
}

static bool write_whole(const char *path, DiskText text, mode_t mode) {
  struct stat old;
  Arena *arena = arena_new("replace");
  bool exists = stat(path, &old) == 0, ok = false;
  const char *file = behind_links(arena, path);
  if (exists && !S_ISREG(old.st_mode))
    ok = write_into(path, text);
  else if (file)
    ok = replace(arena, file, text, exists ? &old : NULL, mode);
  int error = errno;
  arena_free(arena);
  errno = error;
  return ok;
}

bool disk_write_bytes(const char *path, const void *bytes, size_t n) {
  return write_whole(path, (DiskText){bytes, n}, 0666);
}

bool disk_write(const char *path, const char *text) {
  return disk_write_bytes(path, text, strlen(text));
}

bool disk_replace(const char *path, const char *text) {
  return disk_make_folders(path) && write_whole(path, (DiskText){text, strlen(text)}, 0600);
}
