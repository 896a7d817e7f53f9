// One timing at a time: order, turns, deaths, and folders that are refused.
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "kernels/device/device_lock.h"

static Arena *arena;
static char folder[64];

static void setup(void) {
  arena = arena_new("test lock");
  snprintf(folder, sizeof folder, "/tmp/gemmview-lock-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("GEMMVIEW_CLASSROOM", folder, 1);
}

static void teardown(void) {
  unsetenv("GEMMVIEW_CLASSROOM");
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  ck_assert_int_eq(system(command), 0);
  arena_free(arena);
}

static DeviceLock *open_lock(void) {
  const char *error = NULL;
  DeviceLock *lock = device_lock_open(arena, "GPU-1f/..", &error);
  ck_assert_msg(lock != NULL, "%s", error);
  return lock;
}

static DeviceLockStatus try_lock(DeviceLock *lock, int expected_ahead) {
  int ahead = -1;
  DeviceLockStatus status = device_lock_try(lock, &ahead);
  ck_assert_int_eq(ahead, expected_ahead);
  return status;
}

START_TEST(test_first_come_first_served) {
  DeviceLock *a = open_lock(), *b = open_lock(), *c = open_lock();
  ck_assert(device_lock_shared(a));
  ck_assert_int_eq(try_lock(a, 0), DEVICE_LOCK_HELD);
  ck_assert_int_eq(try_lock(b, 1), DEVICE_LOCK_WAITING);
  ck_assert_int_eq(try_lock(c, 2), DEVICE_LOCK_WAITING);
  ck_assert_int_eq(try_lock(a, 0), DEVICE_LOCK_HELD);
  device_lock_release(a);
  ck_assert_int_eq(try_lock(c, 1), DEVICE_LOCK_WAITING);
  ck_assert_int_eq(try_lock(b, 0), DEVICE_LOCK_HELD);
  ck_assert_int_eq(try_lock(a, 2), DEVICE_LOCK_WAITING);
  device_lock_release(c);
  ck_assert_int_eq(try_lock(a, 1), DEVICE_LOCK_WAITING);
  device_lock_close(b);
  ck_assert_int_eq(try_lock(a, 0), DEVICE_LOCK_HELD);
  device_lock_close(a);
  device_lock_close(c);
}
END_TEST

static int foreign_ticket(const char *name, bool alive) {
  char path[256];
  snprintf(path, sizeof path, "%s/gpu-GPU-1f___.queue/%s", folder, name);
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  ck_assert_int_ge(fd, 0);
  if (alive) ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
  return fd;
}

START_TEST(test_users_take_turns) {
  DeviceLock *a = open_lock();
  int first = foreign_ticket("00000000000000000001-77777-1", true);
  int second = foreign_ticket("00000000000000000002-77777-2", true);
  int third = foreign_ticket("00000000000000000003-77777-3", true);
  // All three are older, but two of them are their user's second and third.
  ck_assert_int_eq(try_lock(a, 1), DEVICE_LOCK_WAITING);
  close(first);
  // The user's second request is its first now.
  ck_assert_int_eq(try_lock(a, 1), DEVICE_LOCK_WAITING);
  close(second);
  close(third);
  ck_assert_int_eq(try_lock(a, 0), DEVICE_LOCK_HELD);
  device_lock_close(a);
}
END_TEST

START_TEST(test_dead_tickets_vanish) {
  DeviceLock *a = open_lock();
  close(foreign_ticket("00000000000000000001-77777-1", false));
  close(foreign_ticket("not a ticket", false));
  ck_assert_int_eq(try_lock(a, 0), DEVICE_LOCK_HELD);
  char path[256];
  snprintf(path, sizeof path, "%s/gpu-GPU-1f___.queue/00000000000000000001-77777-1", folder);
  ck_assert_int_ne(access(path, F_OK), 0);
  device_lock_close(a);
}
END_TEST

START_TEST(test_killed_holder) {
  int ready[2];
  char byte;
  ck_assert_int_eq(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    int ahead;
    DeviceLock *lock = open_lock();
    device_lock_try(lock, &ahead);
    ssize_t told = write(ready[1], "x", 1);
    pause();
    _exit(told != 1);
  }
  ck_assert_int_eq(read(ready[0], &byte, 1), 1);
  DeviceLock *a = open_lock();
  ck_assert_int_eq(try_lock(a, 1), DEVICE_LOCK_WAITING);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  ck_assert_int_eq(try_lock(a, 0), DEVICE_LOCK_HELD);
  device_lock_close(a);
  close(ready[0]);
  close(ready[1]);
}
END_TEST

// Takes the lock `turns` times; each time nobody else may be inside.
static int contend(int turns) {
  char inside[128];
  snprintf(inside, sizeof inside, "%s/inside", folder);
  DeviceLock *lock = open_lock();
  for (int i = 0; i < turns; i++) {
    int ahead;
    while (device_lock_try(lock, &ahead) == DEVICE_LOCK_WAITING) usleep(500);
    int fd = open(inside, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0) return 1;
    usleep(200);
    unlink(inside);
    close(fd);
    device_lock_release(lock);
  }
  return 0;
}

START_TEST(test_contention) {
  enum { N = 6 };
  pid_t children[N];
  for (int i = 0; i < N; i++) {
    children[i] = fork();
    if (children[i] == 0) _exit(contend(25));
  }
  for (int i = 0; i < N; i++) {
    int status = -1;
    ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
    ck_assert_int_eq(status, 0);
  }
}
END_TEST

// Somebody of the group may have linked it from a private folder.
START_TEST(test_a_file_that_was_there_keeps_its_mode) {
  const char *error = NULL;
  struct stat info;
  char *path = arena_printf(arena, "%s/gpu-GPU-1.lock", folder);
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  ck_assert_int_ge(fd, 0);
  close(fd);
  DeviceLock *lock = device_lock_open(arena, "GPU-1", &error);
  ck_assert_msg(lock != NULL, "%s", error);
  try_lock(lock, 0);
  ck_assert(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
  device_lock_close(lock);
}
END_TEST

START_TEST(test_refused_folders) {
  const char *error = NULL;
  chmod(folder, 0777);
  ck_assert_ptr_null(device_lock_open(arena, "GPU-1", &error));
  ck_assert_ptr_nonnull(strstr(error, "everybody can write"));
  chmod(folder, 0700);
  setenv("GEMMVIEW_CLASSROOM", "/dev/null/none/folder", 1);
  ck_assert_ptr_null(device_lock_open(arena, "GPU-1", &error));
  ck_assert_ptr_nonnull(strstr(error, "/dev/null/none/folder cannot be used"));
}
END_TEST

Suite *suite_device_lock(void);
Suite *suite_device_lock(void) {
  Suite *suite = suite_create("device_lock");
  TCase *tests = tcase_create("device_lock");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_first_come_first_served);
  tcase_add_test(tests, test_users_take_turns);
  tcase_add_test(tests, test_dead_tickets_vanish);
  tcase_add_test(tests, test_killed_holder);
  tcase_add_test(tests, test_contention);
  tcase_add_test(tests, test_a_file_that_was_there_keeps_its_mode);
  tcase_add_test(tests, test_refused_folders);
  suite_add_tcase(suite, tests);
  return suite;
}
