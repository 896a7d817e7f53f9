// The socket of a class: its place, the users who may come in, and lines to and fro. classroom.c
// gives the lines their meaning.
#pragma once
#include <sys/types.h>

#include "base/arena.h"
#include "base/diag.h"
#include "kernels/worker/lines.h"

// One end of a connection.
typedef struct ClassPeer {
  int fd;  // -1: none
  LineReader in;
  OutQueue out;
} ClassPeer;

// The path of a room; NULL after a finding of rule "class": no folder, one that is not safe, a name
// that is none, a path too long for a socket. `shared`: the folder belongs to a group.
const char *class_socket_path(Arena *arena, const char *room, bool *shared, Diags *diags);
// The names of the rooms there are now, NULL-terminated; NULL after a finding.
const char **class_socket_list(Arena *arena, Diags *diags);

// A sentence for a user who finds no class: the classes there are, and how to find others.
const char *class_socket_way_out(Arena *arena);

// A listening socket, -1 after a finding. The socket of a teacher who died is replaced, and nothing
// else: a suspended teacher does not answer, and teaches still.
int class_socket_listen(const char *path, bool shared, Diags *diags);
// The inode of the socket at the path, to be asked right after class_socket_listen;
// class_socket_leave takes away that one and not what another user has put there since.
ino_t class_socket_node(const char *path);
void class_socket_leave(const char *path, ino_t node);
int class_socket_connect(const char *path);  // -1: no listener

void class_peer_open(ClassPeer *peer, int fd, size_t line_limit);
void class_peer_close(ClassPeer *peer);
// Reads what there is. False when the other end is gone.
bool class_peer_read(ClassPeer *peer);
// Queues a line and writes what goes without waiting. False when the other end is gone, or does not
// read what it is sent.
bool class_peer_send(ClassPeer *peer, const char *line);
bool class_peer_flush(ClassPeer *peer);
