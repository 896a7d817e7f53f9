// The compile cache: what was stored is found under its whole key and nothing else is, however the
// files are damaged, whoever writes at the same time.
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/toolchain/cache.h"

static Arena *arena;
static char folder[64];

static void setup(void) {
  arena = arena_new("test cache");
  strcpy(folder, "/tmp/gemmview-cache-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void) {
  ck_assert_int_eq(system(arena_printf(arena, "rm -rf '%s'", folder)), 0);
  arena_free(arena);
}

static const CacheKey key = {"NVRTC 13.0", "ptx sm_90a", "text"};
static const CacheEntry entry = {"{\"ok\":true}", (const unsigned char *)"\x7f" "ELF\0\1\2", 7};

static bool finds(const CacheKey *asked) {
  CacheEntry found;
  return cache_load(arena, folder, asked, &found);
}

START_TEST(test_round_trip) {
  CacheEntry found;
  ck_assert(!finds(&key));
  ck_assert(cache_store(folder, &key, &entry));
  ck_assert(cache_load(arena, folder, &key, &found));
  ck_assert_str_eq(found.json, entry.json);
  ck_assert_uint_eq(found.n_blob, 7);
  ck_assert_int_eq(memcmp(found.blob, entry.blob, 7), 0);
  const CacheKey others[] = {{"NVRTC 13.1", "ptx sm_90a", "text"},
                             {"NVRTC 13.0", "ptx sm_90", "text"},
                             {"NVRTC 13.0", "ptx sm_90a", "text "},
                             {"NVRTC 13.0", "ptx sm_90at", "ext"}};
  for (int i = 0; i < 4; i++) ck_assert(!finds(&others[i]));
  ck_assert(!cache_load(arena, NULL, &key, &found));
  ck_assert(!cache_store("/dev/null/none", &key, &entry));
}
END_TEST

static char *only_file(void) {
  DIR *dir = opendir(folder);
  char *path = NULL;
  for (struct dirent *at = readdir(dir); at; at = readdir(dir))
    if (at->d_name[0] != '.') path = arena_printf(arena, "%s/%s", folder, at->d_name);
  closedir(dir);
  return path;
}

static int count_files(void) {
  DIR *dir = opendir(folder);
  int n = 0;
  for (struct dirent *at = readdir(dir); at; at = readdir(dir)) n += at->d_name[0] != '.';
  closedir(dir);
  return n;
}

// An entry under another key's name (a collision of hashes) is a miss.
START_TEST(test_collision) {
  const CacheKey other = {"NVRTC 13.0", "ptx sm_90a", "other"};
  ck_assert(cache_store(folder, &other, &entry));
  char *theirs = only_file();
  ck_assert(cache_store(folder, &key, &entry));
  ck_assert_int_eq(count_files(), 2);
  char *ours = NULL;
  DIR *dir = opendir(folder);
  for (struct dirent *at = readdir(dir); at; at = readdir(dir)) {
    char *path = arena_printf(arena, "%s/%s", folder, at->d_name);
    if (at->d_name[0] != '.' && strcmp(path, theirs) != 0) ours = path;
  }
  closedir(dir);
  ck_assert_int_eq(rename(theirs, ours), 0);
  ck_assert(!finds(&key));
}
END_TEST

START_TEST(test_every_damage_is_a_miss) {
  ck_assert(cache_store(folder, &key, &entry));
  char *path = only_file(), bytes[512];
  int fd = open(path, O_RDWR);
  const ssize_t n = read(fd, bytes, sizeof bytes);
  ck_assert_int_gt(n, 50);
  for (ssize_t at = 0; at < n; at++) {
    const char spoiled = (char)(bytes[at] ^ 4);
    ck_assert_int_eq(pwrite(fd, &spoiled, 1, at), 1);
    ck_assert_msg(!finds(&key), "byte %zd", at);
    ck_assert_int_eq(pwrite(fd, bytes + at, 1, at), 1);
  }
  ck_assert(finds(&key));
  for (ssize_t length = n - 1; length >= 0; length--) {
    ck_assert_int_eq(ftruncate(fd, length), 0);
    ck_assert(!finds(&key));
  }
  close(fd);
}
END_TEST

START_TEST(test_writers_at_once) {
  pid_t pids[4];
  for (int i = 0; i < 4; i++) {
    pids[i] = fork();
    ck_assert_int_ge(pids[i], 0);
    if (pids[i] > 0) continue;
    for (int k = 0; k < 200; k++)
      if (!cache_store(folder, &key, &entry)) _exit(1);
    _exit(0);
  }
  CacheEntry found;
  for (int i = 0; i < 200; i++) {
    if (!cache_load(arena, folder, &key, &found)) continue;
    ck_assert_str_eq(found.json, entry.json);
  }
  for (int i = 0, status = 0; i < 4; i++) {
    ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
    ck_assert_int_eq(status, 0);
  }
  ck_assert(finds(&key));
  ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(test_trim_keeps_what_is_used) {
  CacheKey keys[4];
  for (int i = 0; i < 4; i++) {
    keys[i] = (CacheKey){"c", "f", arena_printf(arena, "%d", i)};
    ck_assert(cache_store(folder, &keys[i], &entry));
    usleep(20000);
  }
  struct stat info;
  ck_assert_int_eq(stat(only_file(), &info), 0);
  ck_assert(finds(&keys[0]));  // now the one used last
  cache_trim(folder, 2 * info.st_size);
  ck_assert_int_eq(count_files(), 2);
  ck_assert(finds(&keys[0]));
  ck_assert(!finds(&keys[1]));
  ck_assert(finds(&keys[3]));
  cache_trim(NULL, 0);
}
END_TEST

START_TEST(test_folder) {
  setenv("XDG_CACHE_HOME", arena_printf(arena, "%s/a/b", folder), 1);
  const char *made = cache_folder(arena);
  ck_assert_str_eq(made, arena_printf(arena, "%s/a/b/gemmview/compile", folder));
  setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
  ck_assert_ptr_null(cache_folder(arena));
  unsetenv("XDG_CACHE_HOME");
}
END_TEST

Suite *suite_cache(void);
Suite *suite_cache(void) {
  Suite *suite = suite_create("cache");
  TCase *tests = tcase_create("cache");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_round_trip);
  tcase_add_test(tests, test_collision);
  tcase_add_test(tests, test_every_damage_is_a_miss);
  tcase_add_test(tests, test_writers_at_once);
  tcase_add_test(tests, test_trim_keeps_what_is_used);
  tcase_add_test(tests, test_folder);
  suite_add_tcase(suite, tests);
  return suite;
}
