// One file per entry, named by a hash of the key, complete from the moment it has that name.
//
//   gemmview-cache 1 <key bytes> <json bytes> <blob bytes> <hash of what follows>\n
//   key json blob
//
// The file is written under a name of its own and renamed, so a reader sees all of it or none, and
// of two writers the last one wins with the same content. The hash (FNV-1a, 64 bits) only spreads
// names and finds torn files; that the entry is the right one is decided by comparing the key:
// "NVRTC 13.0\0ptx sm_90a sgemm\0<text>". Loading touches the file, and trimming removes the oldest
// first, so what is used stays.
#include "kernels/toolchain/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/hash.h"
#include "base/str.h"

enum { HEADER_BYTES = 128, PATH_BYTES = 4096, ENTRIES_MAX = 1 << 16 };

const char *cache_folder(Arena *arena) {
  char *path = disk_path(arena, DISK_CACHE, "compile");
  if (!path || !disk_make_folders(path)) return NULL;
  mkdir(path, 0700);  // what cannot be made cannot be accessed
  return access(path, R_OK | W_OK | X_OK) == 0 ? path : NULL;
}

static Str key_bytes(Arena *arena, const CacheKey *key) {
  Str bytes = str_new(arena);
  str_add_bytes(&bytes, key->compiler, strlen(key->compiler) + 1);
  str_add_bytes(&bytes, key->flags, strlen(key->flags) + 1);
  str_add(&bytes, key->text);
  return bytes;
}

static bool entry_path(char path[PATH_BYTES], const char *folder, const Str *key) {
  uint64_t name = hash_bytes(HASH_START, key->text, key->length);
  int n = snprintf(path, PATH_BYTES, "%s/%016llx", folder, (unsigned long long)name);
  return n > 0 && n < PATH_BYTES;
}

typedef struct Header {
  size_t n_key, n_json, n_blob;
  uint64_t hash;
} Header;

static bool header_read(const char *bytes, size_t n, Header *header, size_t *length) {
  const char *newline = memchr(bytes, '\n', n < HEADER_BYTES ? n : HEADER_BYTES);
  char line[HEADER_BYTES + 1] = {0};
  unsigned long long hash = 0;
  if (!newline) return false;
  memcpy(line, bytes, (size_t)(newline - bytes));
  if (sscanf(line, "gemmview-cache 1 %zu %zu %zu %llx", &header->n_key, &header->n_json,
             &header->n_blob, &hash) != 4)
    return false;
  header->hash = hash;
  *length = (size_t)(newline - bytes) + 1;
  return header->n_key <= n && header->n_json <= n && header->n_blob <= n &&
         *length + header->n_key + header->n_json + header->n_blob == n;
}

static char *file_read(Arena *arena, const char *path, size_t *n) {
  struct stat info;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  char *bytes = NULL;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size < (off_t)CACHE_MAX_MIB << 20) {
    *n = (size_t)info.st_size;
    bytes = arena_alloc(arena, *n + 1);
    for (size_t at = 0; bytes && at < *n;) {
      ssize_t got = read(fd, bytes + at, *n - at);
      if (got > 0) at += (size_t)got;
      if (got == 0 || (got < 0 && errno != EINTR)) bytes = NULL;
    }
  }
  close(fd);
  return bytes;
}

bool cache_load(Arena *arena, const char *folder, const CacheKey *key, CacheEntry *entry) {
  char path[PATH_BYTES];
  Header header;
  size_t n = 0, at = 0;
  Str wanted = key_bytes(arena, key);
  if (!folder || !entry_path(path, folder, &wanted)) return false;
  const char *bytes = file_read(arena, path, &n);
  if (!bytes || !header_read(bytes, n, &header, &at)) return false;
  if (hash_bytes(HASH_START, bytes + at, n - at) != header.hash) return false;
  if (header.n_key != wanted.length || memcmp(bytes + at, wanted.text, wanted.length) != 0)
    return false;
  at += header.n_key;
  entry->json = arena_strndup(arena, bytes + at, header.n_json);
  entry->n_blob = header.n_blob;
  entry->blob = header.n_blob ? (const unsigned char *)bytes + at + header.n_json : NULL;
  utimensat(AT_FDCWD, path, NULL, 0);
  return true;
}

static bool entry_write(int fd, const Str *key, const CacheEntry *entry) {
  char header[HEADER_BYTES];
  const size_t n_json = strlen(entry->json);
  uint64_t hash = hash_bytes(HASH_START, key->text, key->length);
  hash = hash_bytes(hash, entry->json, n_json);
  if (entry->n_blob) hash = hash_bytes(hash, entry->blob, entry->n_blob);
  int n = snprintf(header, sizeof header, "gemmview-cache 1 %zu %zu %zu %016llx\n", key->length,
                   n_json, entry->n_blob, (unsigned long long)hash);
  return disk_write_all(fd, header, (size_t)n) && disk_write_all(fd, key->text, key->length) &&
         disk_write_all(fd, entry->json, n_json) && disk_write_all(fd, entry->blob, entry->n_blob);
}

bool cache_store(const char *folder, const CacheKey *key, const CacheEntry *entry) {
  char path[PATH_BYTES], scratch[PATH_BYTES];
  if (!folder) return false;
  Arena *arena = arena_new("cache");
  Str wanted = key_bytes(arena, key);
  bool ok = entry_path(path, folder, &wanted) &&
            snprintf(scratch, sizeof scratch, "%s/new-XXXXXX", folder) < PATH_BYTES;
  int fd = ok ? mkostemp(scratch, O_CLOEXEC) : -1;
  ok = fd >= 0 && entry_write(fd, &wanted, entry);
  if (fd >= 0) ok = close(fd) == 0 && ok;
  ok = ok && rename(scratch, path) == 0;
  if (fd >= 0 && !ok) unlink(scratch);
  arena_free(arena);
  return ok;
}

typedef struct Stored {
  char name[32];
  int64_t bytes, used_ns;
} Stored;

static int by_use(const void *a, const void *b) {
  const Stored *x = a, *y = b;
  return (x->used_ns > y->used_ns) - (x->used_ns < y->used_ns);
}

static int list_entries(DIR *folder, Stored *stored, int64_t *total) {
  int n = 0;
  for (struct dirent *at = readdir(folder); at && n < ENTRIES_MAX; at = readdir(folder)) {
    struct stat info;
    if (strlen(at->d_name) >= sizeof stored->name) continue;
    if (fstatat(dirfd(folder), at->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(info.st_mode)) continue;
    strcpy(stored[n].name, at->d_name);
    stored[n].bytes = info.st_size;
    stored[n].used_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    *total += stored[n++].bytes;
  }
  return n;
}

void cache_trim(const char *folder, int64_t max_bytes) {
  DIR *dir = folder ? opendir(folder) : NULL;
  if (!dir) return;
  Arena *arena = arena_new("cache");
  Stored *stored = ARENA_ARRAY(arena, Stored, ENTRIES_MAX);
  int64_t total = 0;
  int n = list_entries(dir, stored, &total);
  qsort(stored, (size_t)n, sizeof *stored, by_use);
  for (int i = 0; i < n && total > max_bytes; i++)
    if (unlinkat(dirfd(dir), stored[i].name, 0) == 0) total -= stored[i].bytes;
  arena_free(arena);
  closedir(dir);
}
