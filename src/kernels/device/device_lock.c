// A lock file, and a folder of tickets that gives the order.
//
//   FOLDER/gpu-GPU-1f….lock      flock'ed by the process that times right now
//   FOLDER/gpu-GPU-1f….queue/    one ticket per waiter: TIME-UID-PID, flock'ed by its owner
//
// flock is the kernel's: it ends with the process. So a ticket without a lock is a dead waiter's,
// and any process that sees it removes it. A ticket is made under a hidden name, locked, and only
// then renamed into the queue, so it is never seen unlocked while its owner lives.
//
// The order is by turns of users: first every user's oldest ticket by age, then every user's
// second. Worked example: ana has tickets of 10:00 and 10:01, ben one of 10:02. The order is ana
// 10:00, ben 10:02, ana 10:01. Only the first in this order tries the lock file, and keeps its
// ticket until it releases, so that it counts as ahead of the others.
//
// Files are made readable and writable for the group where the folder itself is the group's.
#include "kernels/device/device_lock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/str.h"

enum { TICKETS_MAX = 512 };

struct DeviceLock {
  Arena *arena;
  const char *lock_path, *queue_path, *ticket;  // ticket: its name in the queue; NULL = none
  int lock_fd, ticket_fd;                       // −1 = none
  bool shared;
};

typedef struct Ticket {
  char name[64];
  unsigned long long time_ns;
  unsigned long uid;
  int turn;  // the number of older tickets of its user
} Ticket;

// The folder, which is made later where it is missing; NULL with a sentence.
static const char *find_folder(Arena *arena, bool *shared, const char **error) {
  const char *classroom = getenv("GEMMVIEW_CLASSROOM"), *runtime = getenv("XDG_RUNTIME_DIR");
  *shared = classroom && classroom[0];
  if (*shared) return classroom;
  if (runtime && runtime[0]) return arena_printf(arena, "%s/gemmview", runtime);
  const char *folder = disk_path(arena, DISK_STATE, NULL);
  if (folder) {
    disk_make_folders(folder);
    return folder;
  }
  *error =
      "no folder for the lock: set GEMMVIEW_CLASSROOM, XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME";
  return NULL;
}

// A classroom must exist and belong to a group, not to the world: a stranger could take every turn.
static bool check_folder(Arena *arena, const char *folder, bool shared, const char **error) {
  struct stat status;
  if (!shared) mkdir(folder, 0700);  // what cannot be made cannot be looked at
  if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode)) {
    *error =
        arena_printf(arena, "the lock's folder %s cannot be used: %s", folder, strerror(errno));
    return false;
  }
  if (status.st_mode & S_IWOTH) {
    *error = arena_printf(arena,
                          "everybody can write to the lock's folder %s; let only a group write "
                          "to it (chmod 3770)",
                          folder);
    return false;
  }
  if (access(folder, W_OK | X_OK) != 0) {
    *error = arena_printf(arena, "this user cannot write to the lock's folder %s", folder);
    return false;
  }
  return true;
}

static const char *safe_name(Arena *arena, const char *uuid) {
  char *name = arena_printf(arena, "gpu-%.80s", uuid);
  for (char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '-') *c = '_';
  return name;
}

// The folder that was just made, unless a link was put in its place since.
static void open_to_group(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  fchmod(fd, 02770);
  close(fd);
}

// A file that is there already is opened as it is: another user may have put it there.
static int open_file(const char *path, bool shared) {
  int fd = disk_create(path, shared ? 0660 : 0600);
  return fd < 0 && errno == EEXIST ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : fd;
}

const char *device_lock_folder(Arena *arena, bool *shared, const char **error) {
  const char *folder = find_folder(arena, shared, error);
  return folder && check_folder(arena, folder, *shared, error) ? folder : NULL;
}

DeviceLock *device_lock_open(Arena *arena, const char *gpu_uuid, const char **error) {
  bool shared = false;
  const char *folder = device_lock_folder(arena, &shared, error);
  if (!folder) return NULL;
  DeviceLock *lock = ARENA_NEW(arena, DeviceLock);
  const char *name = safe_name(arena, gpu_uuid);
  *lock = (DeviceLock){.arena = arena, .lock_fd = -1, .ticket_fd = -1, .shared = shared};
  lock->lock_path = arena_printf(arena, "%s/%s.lock", folder, name);
  lock->queue_path = arena_printf(arena, "%s/%s.queue", folder, name);
  if (mkdir(lock->queue_path, shared ? 02770 : 0700) == 0) {
    if (shared) open_to_group(lock->queue_path);
  } else if (errno != EEXIST) {
    *error = arena_printf(arena, "%s: %s", lock->queue_path, strerror(errno));
    return NULL;
  }
  *error = NULL;
  return lock;
}

bool device_lock_shared(const DeviceLock *lock) { return lock->shared; }

static const char *ticket_path(const DeviceLock *lock, const char *name, char path[4096]) {
  int length = snprintf(path, 4096, "%s/%s", lock->queue_path, name);
  return length > 0 && length < 4096 ? path : NULL;
}

static bool take_ticket(DeviceLock *lock) {
  struct timespec now;
  char hidden[4096], shown[4096];
  clock_gettime(CLOCK_REALTIME, &now);
  const char *name =
      arena_printf(lock->arena, "%020llu-%lu-%ld",
                   (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec,
                   (unsigned long)getuid(), (long)getpid());
  if (!ticket_path(lock, arena_printf(lock->arena, ".%s", name), hidden) ||
      !ticket_path(lock, name, shown))
    return false;
  int fd = open_file(hidden, lock->shared);
  if (fd < 0) return false;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 || rename(hidden, shown) != 0) {
    unlink(hidden);
    close(fd);
    return false;
  }
  lock->ticket = name;
  lock->ticket_fd = fd;
  return true;
}

static void drop_ticket(DeviceLock *lock) {
  char path[4096];
  if (!lock->ticket) return;
  if (ticket_path(lock, lock->ticket, path)) unlink(path);
  close(lock->ticket_fd);
  lock->ticket = NULL;
  lock->ticket_fd = -1;
}

// Whether the ticket's owner lives; a dead one's ticket is removed.
static bool is_alive(const DeviceLock *lock, const char *name) {
  char path[4096];
  if (lock->ticket && str_equal(name, lock->ticket)) return true;
  if (!ticket_path(lock, name, path)) return false;
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return errno != ENOENT && errno != ELOOP;
  bool alive = flock(fd, LOCK_EX | LOCK_NB) != 0;
  if (!alive) unlink(path);
  close(fd);
  return alive;
}

static bool read_name(const char *name, Ticket *ticket) {
  long pid = 0;
  int end = 0;
  const size_t bytes = strlen(name) + 1;
  if (bytes > sizeof ticket->name) return false;
  if (sscanf(name, "%20llu-%lu-%ld%n", &ticket->time_ns, &ticket->uid, &pid, &end) != 3)
    return false;
  if (name[end]) return false;
  memcpy(ticket->name, name, bytes);
  return true;
}

static int by_age(const void *a, const void *b) {
  return strcmp(((const Ticket *)a)->name, ((const Ticket *)b)->name);
}

static int by_turn(const void *a, const void *b) {
  const Ticket *x = a, *y = b;
  return x->turn != y->turn ? (x->turn > y->turn) - (x->turn < y->turn) : by_age(a, b);
}

// Living tickets in the order they are served; −1 when the queue cannot be read.
static int read_queue(const DeviceLock *lock, Ticket tickets[TICKETS_MAX]) {
  DIR *queue = opendir(lock->queue_path);
  int n = 0;
  if (!queue) return -1;
  for (struct dirent *entry; n < TICKETS_MAX && (entry = readdir(queue));)
    if (read_name(entry->d_name, &tickets[n]) && is_alive(lock, entry->d_name)) n++;
  closedir(queue);
  qsort(tickets, (size_t)n, sizeof *tickets, by_age);
  for (int i = 0; i < n; i++) {
    tickets[i].turn = 0;
    for (int j = 0; j < i; j++) tickets[i].turn += tickets[j].uid == tickets[i].uid;
  }
  qsort(tickets, (size_t)n, sizeof *tickets, by_turn);
  return n;
}

// The lock file itself may be held by one that is not in the queue: it left the queue first and is
// about to close the file.
static bool try_file(DeviceLock *lock, bool *failed) {
  lock->lock_fd = open_file(lock->lock_path, lock->shared);
  *failed = lock->lock_fd < 0;
  if (*failed) return false;
  if (flock(lock->lock_fd, LOCK_EX | LOCK_NB) == 0) return true;
  close(lock->lock_fd);
  lock->lock_fd = -1;
  return false;
}

DeviceLockStatus device_lock_try(DeviceLock *lock, int *ahead) {
  *ahead = 0;
  if (lock->lock_fd >= 0) return DEVICE_LOCK_HELD;
  if (!lock->ticket && !take_ticket(lock)) return DEVICE_LOCK_FAILED;
  Ticket *tickets = malloc(sizeof *tickets * TICKETS_MAX);
  if (!tickets) return DEVICE_LOCK_FAILED;
  int n = read_queue(lock, tickets);
  int place = 0;
  while (place < n && !str_equal(tickets[place].name, lock->ticket)) place++;
  free(tickets);
  *ahead = place;
  bool failed = n < 0;
  // A user cleaned the folder by hand: stand in line again.
  if (place == n && !failed) drop_ticket(lock);
  if (place == n || place > 0 || failed) return failed ? DEVICE_LOCK_FAILED : DEVICE_LOCK_WAITING;
  if (try_file(lock, &failed)) return DEVICE_LOCK_HELD;
  *ahead = 1;
  return failed ? DEVICE_LOCK_FAILED : DEVICE_LOCK_WAITING;
}

void device_lock_release(DeviceLock *lock) {
  drop_ticket(lock);
  if (lock->lock_fd >= 0) close(lock->lock_fd);
  lock->lock_fd = -1;
}

void device_lock_close(DeviceLock *lock) {
  if (lock) device_lock_release(lock);
}
