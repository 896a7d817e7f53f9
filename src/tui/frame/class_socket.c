// A Unix socket FOLDER/class-NAME.sock, mode 0660 in a group's folder and 0600 in the user's own.
//
// A socket file stays behind when its owner dies. A process that wants to teach there tries to
// connect first: a refusal means that the file is dead and may go. Any other answer means that the
// file has an owner, even if the queue of waiting followers is full (EAGAIN), because its owner is
// suspended.
#include "tui/frame/class_socket.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "kernels/device/device_lock.h"

enum { ROOM_NAME_MAX = 32, ROOMS_MAX = 64, OUT_BYTES_MAX = 64 * 1024, BACKLOG = 32 };

#define PREFIX "class-"
#define SUFFIX ".sock"

// ---- where --------------------------------------------------------------------------------------

static bool is_name(const char *room) {
  size_t n = strlen(room);
  for (const char *c = room; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') return false;
  return n > 0 && n <= ROOM_NAME_MAX;
}

static const char *find_folder(Arena *arena, bool *shared, Diags *diags) {
  const char *error = NULL;
  const char *folder = device_lock_folder(arena, shared, &error);
  if (!folder) diag_add(diags, "class", "%s", error);
  return folder;
}

const char *class_socket_path(Arena *arena, const char *room, bool *shared, Diags *diags) {
  struct sockaddr_un address;
  if (!is_name(room)) {
    diag_add(diags, "class",
             "\"%s\" is not a name for a class: use letters, digits, - and _, at "
             "most %d",
             str_sanitise(diags->arena, room), ROOM_NAME_MAX);
    return NULL;
  }
  const char *folder = find_folder(arena, shared, diags);
  if (!folder) return NULL;
  const char *path = arena_printf(arena, "%s/" PREFIX "%s" SUFFIX, folder, room);
  if (strlen(path) < sizeof address.sun_path) return path;
  diag_add(diags, "class",
           "%s is too long for a socket: at most %zu bytes; GEMMVIEW_CLASSROOM may "
           "name a shorter folder",
           path, sizeof address.sun_path - 1);
  return NULL;
}

const char **class_socket_list(Arena *arena, Diags *diags) {
  bool shared;
  const char *folder = find_folder(arena, &shared, diags);
  DIR *dir = folder ? opendir(folder) : NULL;
  const char **rooms = ARENA_ARRAY(arena, const char *, ROOMS_MAX + 1);
  int n = 0;
  if (!folder) return NULL;
  for (struct dirent *entry; dir && n < ROOMS_MAX && (entry = readdir(dir));) {
    size_t length = strlen(entry->d_name), ends = strlen(PREFIX) + strlen(SUFFIX);
    if (!str_starts(entry->d_name, PREFIX) || length <= ends) continue;
    if (!str_equal(entry->d_name + length - strlen(SUFFIX), SUFFIX)) continue;
    const char *room = arena_strndup(arena, entry->d_name + strlen(PREFIX), length - ends);
    int fd = class_socket_connect(arena_printf(arena, "%s/%s", folder, entry->d_name));
    if (fd < 0 || !is_name(room)) continue;
    close(fd);
    rooms[n++] = room;
  }
  if (dir) closedir(dir);
  return rooms;
}

const char *class_socket_way_out(Arena *arena) {
  bool shared = false;
  const char *error = NULL, *folder = device_lock_folder(arena, &shared, &error);
  if (!folder) return error;
  if (shared)
    return arena_printf(arena,
                        "classes are looked up in %s ($GEMMVIEW_CLASSROOM): teacher and students "
                        "set the same folder",
                        folder);
  return arena_printf(arena,
                      "only your own classes are in %s; for others, make a folder with `gemmview "
                      "classroom init FOLDER` and name it in GEMMVIEW_CLASSROOM",
                      folder);
}

// ---- sockets ------------------------------------------------------------------------------------

static int new_socket(const char *path, struct sockaddr_un *address) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address->sun_path) return -1;
  strcpy(address->sun_path, path);
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int class_socket_connect(const char *path) {
  struct sockaddr_un address;
  int fd = new_socket(path, &address);
  if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return -1;
}

ino_t class_socket_node(const char *path) {
  struct stat about;
  return lstat(path, &about) == 0 && S_ISSOCK(about.st_mode) ? about.st_ino : 0;
}

void class_socket_leave(const char *path, ino_t node) {
  if (node && class_socket_node(path) == node) unlink(path);
}

int class_socket_listen(const char *path, bool shared, Diags *diags) {
  struct sockaddr_un address;
  int answers = class_socket_connect(path);
  bool taken = answers >= 0 || errno == EAGAIN || errno == EACCES;
  if (answers >= 0) close(answers);
  if (taken) {
    diag_add(diags, "class", "%s: a class of this name is open already", path);
    return -1;
  }
  class_socket_leave(path, class_socket_node(path));
  int fd = new_socket(path, &address);
  mode_t mask = umask(shared ? 0117 : 0177);
  bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
  umask(mask);
  if (ok && listen(fd, BACKLOG) == 0) return fd;
  diag_add(diags, "class", "%s: %s", path, strerror(errno));
  if (fd >= 0) close(fd);
  return -1;
}

// ---- peers --------------------------------------------------------------------------------------

void class_peer_open(ClassPeer *peer, int fd, size_t line_limit) {
  *peer = (ClassPeer){.fd = fd, .in = line_reader_new(line_limit)};
}

void class_peer_close(ClassPeer *peer) {
  if (peer->fd < 0) return;
  close(peer->fd);
  line_reader_free(&peer->in);
  out_queue_free(&peer->out);
  peer->fd = -1;
}

bool class_peer_read(ClassPeer *peer) { return line_reader_fill(&peer->in, peer->fd) != 0; }

// A program that lists the rooms connects and is gone before anything is sent: that is the end of a
// peer, not (by SIGPIPE) of the class.
bool class_peer_flush(ClassPeer *peer) {
  OutQueue *out = &peer->out;
  while (!out_queue_is_empty(out)) {
    ssize_t put = send(peer->fd, out->bytes + out->start, out->end - out->start, MSG_NOSIGNAL);
    if (put < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    out->start += (size_t)put;
  }
  return true;
}

bool class_peer_send(ClassPeer *peer, const char *line) {
  out_queue_add(&peer->out, line, strlen(line));
  out_queue_add(&peer->out, "\n", 1);
  return class_peer_flush(peer) && peer->out.end - peer->out.start <= OUT_BYTES_MAX;
}
