// One timing at a time per GPU, across processes and users.
//
// The lock lives in $GEMMVIEW_CLASSROOM (a group-writable folder that everybody in the workshop
// shares), else in XDG_RUNTIME_DIR, else in XDG_STATE_HOME: those two keep one user's own processes
// apart. Never in /tmp. A holder or a waiter that dies leaves nothing behind that blocks others.
#pragma once
#include <stdbool.h>

#include "base/arena.h"

typedef struct DeviceLock DeviceLock;

// The folder that holds it, made when it is a user's own; NULL with a sentence in `error`.
// `shared`: it is the classroom's.
const char *device_lock_folder(Arena *arena, bool *shared, const char **error);

// `gpu_uuid` names the lock. NULL with a sentence in `error` when the folder cannot be used.
DeviceLock *device_lock_open(Arena *arena, const char *gpu_uuid, const char **error);
// Whether the folder is shared with other users.
bool device_lock_shared(const DeviceLock *lock);

typedef enum DeviceLockStatus {
  DEVICE_LOCK_HELD,
  DEVICE_LOCK_WAITING,
  DEVICE_LOCK_FAILED
} DeviceLockStatus;

// Takes a place in the queue (first call) and tries once; never sleeps. `ahead` counts the ones
// that come first, the holder included. Users take turns: a user's second request comes after the
// first request of every other user. Call it every 20 ms or so until it is held, then release.
DeviceLockStatus device_lock_try(DeviceLock *lock, int *ahead);
// Gives the lock back, or leaves the queue.
void device_lock_release(DeviceLock *lock);
void device_lock_close(DeviceLock *lock);
