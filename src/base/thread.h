// A thread with a stack of its own size: `ulimit -s` is about the program's first one, and where it
// is small, threads would get no more.
#pragma once
#include <pthread.h>
#include <stdbool.h>

// False where none can be started.
static inline bool thread_start(pthread_t *thread, void *(*main)(void *), void *context) {
  enum { STACK_BYTES = 8 << 20 };
  pthread_attr_t how;
  if (pthread_attr_init(&how) != 0) return false;
  const bool started = pthread_attr_setstacksize(&how, STACK_BYTES) == 0 &&
                       pthread_create(thread, &how, main, context) == 0;
  pthread_attr_destroy(&how);
  return started;
}
