// Names, links and the turns at mending.
//
// SQLite resolves links itself and would follow one that another user planted as history.db, so the
// path it gets is resolved here, all but the last name in a shared folder, and is opened with
// SQLITE_OPEN_NOFOLLOW. Its companions (-wal, -shm) take the file's mode and follow no links.
//
// Worked example, twelve processes that find the same damaged file: each opens it in a turn that it
// shares with the others, so that no file is renamed under it: SQLite opens history.db, then
// history.db-wal by its name, which may be that of a new file meanwhile. Each gives its turn up and
// waits for one alone. The first renames the file and makes a new one; the others, when it is their
// turn, find that one and just open it.
#include "kernels/device/history/history_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/str.h"

enum { OWN_MODE = 0600, SHARED_MODE = 0664, NAMES_MAX = 1000 };

// ---- where it is --------------------------------------------------------------------------------

// Magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, AFS, Coda, Ceph, Lustre, GPFS, FUSE, 9P,
// BeeGFS.
static bool is_network_folder(const char *folder) {
  static const unsigned long kinds[] = {0x6969,     0x517B,     0xFF534D42, 0xFE534D42,
                                        0x5346414F, 0x73757245, 0x00C36400, 0x0BD00BD0,
                                        0x47504653, 0x65735546, 0x01021997, 0x19830326};
  struct statfs info;
  if (statfs(folder, &info) != 0) return false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (((unsigned long)info.f_type & 0xFFFFFFFF) == kinds[i]) return true;
  return false;
}

// Another user's folder of that name is not to be trusted.
static char *local_path(Arena *arena) {
  char *folder = arena_printf(arena, "/var/tmp/gemmview-%u", (unsigned)getuid());
  struct stat info;
  mkdir(folder, 0700);
  if (lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != getuid() ||
      (info.st_mode & 077) != 0)
    return NULL;
  return arena_printf(arena, "%s/history.db", folder);
}

static char *classroom_path(Arena *arena) {
  const char *classroom = getenv("GEMMVIEW_CLASSROOM");
  if (!classroom || classroom[0] != '/') return NULL;
  return arena_printf(arena, "%s/history.db", classroom);
}

static char *folder_of(Arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? arena_strndup(arena, path, (size_t)(slash - path) + (slash == path))
               : arena_strdup(arena, ".");
}

char *history_file_path(Arena *arena) {
  char *shared = classroom_path(arena);
  if (shared) return shared;
  char *path = disk_path(arena, DISK_STATE, "history.db");
  if (!path || !disk_make_folders(path)) return local_path(arena);
  if (!is_network_folder(folder_of(arena, path))) return path;
  char *local = local_path(arena);
  return local ? local : path;
}

// Whether it is the one in $GEMMVIEW_CLASSROOM, which several users write.
static bool history_file_is_shared(Arena *arena, const char *path) {
  const char *shared = classroom_path(arena);
  return shared && str_equal(path, shared);
}

// ---- making it ----------------------------------------------------------------------------------

// The folder may be reached by links, which are its owner's business; the file of a shared folder
// may not, and the user's own may.
static const char *resolve(Arena *arena, const char *path, bool shared) {
  char real[PATH_MAX];
  if (!shared && realpath(path, real)) return arena_strdup(arena, real);
  if (!realpath(folder_of(arena, path), real)) return NULL;
  const char *slash = strrchr(path, '/');
  return arena_printf(arena, "%s/%s", real, slash ? slash + 1 : path);
}

bool history_file_prepare(Arena *arena, const char *path, const char **real) {
  const bool shared = history_file_is_shared(arena, path);
  *real = resolve(arena, path, shared);
  if (!*real) return false;
  int fd = disk_create(*real, shared ? SHARED_MODE : OWN_MODE);
  if (fd >= 0) close(fd);
  return fd >= 0 || errno == EEXIST;
}

// ---- putting it aside ---------------------------------------------------------------------------

// Whether the file is the user's own; a file that is not there is anybody's.
static bool is_mine(const char *path) {
  struct stat info;
  if (lstat(path, &info) != 0) return errno == ENOENT;
  return S_ISREG(info.st_mode) && info.st_uid == getuid();
}

// The folder is what they take turns at: it stays the same while files of one name come and go.
int history_file_turn(Arena *arena, const char *path, HistoryTurn kind) {
  const bool mends = kind == HISTORY_MENDS;
  const char *slash = strrchr(path, '/');
  const char *folder = slash ? arena_strndup(arena, path, (size_t)(slash - path + 1)) : ".";
  if (mends && !is_mine(path)) return HISTORY_NO_TURN;
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return HISTORY_NO_TURN;
  if (flock(fd, (mends ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return fd;
  const bool is_taken = errno == EWOULDBLOCK || errno == EINTR;
  close(fd);
  return is_taken ? HISTORY_TURN_TAKEN : HISTORY_NO_TURN;
}

void history_file_end_turn(int turn) {
  if (turn >= 0) close(turn);
}

// A name that is taken at the moment it is found to be free.
static const char *free_name(Arena *arena, const char *path) {
  const long long now = (long long)time(NULL);
  for (int i = 1; i < NAMES_MAX; i++) {
    const char *number = i > 1 ? arena_printf(arena, ".%d", i) : "";
    const char *name = arena_printf(arena, "%s.damaged-%lld%s", path, now, number);
    int fd = disk_create(name, OWN_MODE);
    if (fd >= 0) close(fd);
    if (fd >= 0) return name;
    if (errno != EEXIST) return NULL;
  }
  return NULL;
}

bool history_file_put_aside(Arena *arena, const char *path) {
  static const char *const ends[] = {"-wal", "-shm", ""};
  const char *name = is_mine(path) ? free_name(arena, path) : NULL;
  bool ok = name != NULL;
  for (int i = 0; ok && i < 3; i++) {
    const char *from = arena_printf(arena, "%s%s", path, ends[i]);
    const char *to = arena_printf(arena, "%s%s", name, ends[i]);
    ok = rename(from, to) == 0 || (i < 2 && errno == ENOENT);
  }
  return ok;
}

int history_file_count_aside(Arena *arena, const char *path, const char **last) {
  const char *slash = strrchr(path, '/');
  const char *prefix = arena_printf(arena, "%s.damaged-", slash ? slash + 1 : path);
  DIR *folder = opendir(folder_of(arena, path));
  int n = 0;
  *last = "";
  for (struct dirent *at; folder && (at = readdir(folder));) {
    const char *digits = at->d_name + strlen(prefix);
    if (!str_starts(at->d_name, prefix) || digits[strspn(digits, "0123456789.")]) continue;
    n++;
    if (strcmp(at->d_name, *last) > 0) *last = arena_strdup(arena, at->d_name);
  }
  if (folder) closedir(folder);
  return n;
}

const char *history_file_why_not(Arena *arena, const char *path) {
  struct stat link, info;
  if (lstat(path, &link) != 0) return NULL;
  if (S_ISLNK(link.st_mode)) {
    if (history_file_is_shared(arena, path)) return "it is a link, and its folder is shared";
    if (stat(path, &info) != 0) return "it is a link that leads to no file";
    link = info;
  }
  return S_ISREG(link.st_mode)    ? NULL
         : S_ISDIR(link.st_mode)  ? "it is a folder, not a file"
         : S_ISFIFO(link.st_mode) ? "it is a pipe, not a file"
                                  : "it is a device or a socket, not a file";
}
