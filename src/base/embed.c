// A search in the generated table, with $GEMMVIEW_DATA looked at first.
//
// The table is small (tens of files), so both the search and the merge with the folder are plain
// loops. A file that cannot be read, is no regular file or is larger than 16 MiB is as good as
// absent: the embedded one answers, and `gemmview doctor` is the place that talks about the folder.
#include "base/embed.h"
#include "base/disk.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"

enum { DISK_FILE_MAX = 16 << 20, FOLDER_DEPTH_MAX = 4 };

static const char *data_folder(void) {
  const char *folder = getenv("GEMMVIEW_DATA");
  return folder && *folder ? folder : NULL;
}

static bool path_stays_inside(const char *path) {
  if (*path == '/' || *path == '\0') return false;
  for (const char *at = path; at; at = strchr(at, '/')) {
    if (*at == '/') at++;
    size_t n = strcspn(at, "/");
    if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
      return false;
  }
  return true;
}

static const EmbeddedFile *disk_find(Arena *arena, const char *path) {
  const char *folder = data_folder();
  if (!folder || !path_stays_inside(path)) return NULL;
  FILE *in = disk_open(arena_printf(arena, "%s/%s", folder, path), false, NULL);
  if (!in) return NULL;
  struct stat about;
  EmbeddedFile *file = NULL;
  if (fstat(fileno(in), &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= DISK_FILE_MAX) {
    size_t size = (size_t)about.st_size;
    char *text = arena_alloc(arena, size + 1);
    if (fread(text, 1, size, in) == size) {
      file = ARENA_NEW(arena, EmbeddedFile);
      *file = (EmbeddedFile){.path = arena_strdup(arena, path), .text = text, .size = size};
    }
  }
  fclose(in);
  return file;
}

const EmbeddedFile *embed_find(Arena *arena, const char *path) {
  const EmbeddedFile *found = disk_find(arena, path);
  for (int i = 0; !found && i < embed_table_count; i++)
    if (str_equal(embed_table[i].path, path)) found = &embed_table[i];
  return found;
}

typedef struct Listing {
  Arena *arena;
  const char *prefix;
  EmbeddedList list;
  int capacity;
} Listing;

static void listing_add(Listing *l, const char *path) {
  if (!str_starts(path, l->prefix)) return;
  for (int i = 0; i < l->list.count; i++)
    if (str_equal(l->list.paths[i], path)) return;
  if (l->list.count == l->capacity) {
    int capacity = l->capacity ? 2 * l->capacity : 32;
    const char **paths = ARENA_ARRAY(l->arena, const char *, capacity);
    if (l->list.count) memcpy(paths, l->list.paths, sizeof *paths * (size_t)l->list.count);
    l->list.paths = paths;
    l->capacity = capacity;
  }
  l->list.paths[l->list.count++] = arena_strdup(l->arena, path);
}

// `below` is "" or ends in a slash: the path of this folder relative to the top.
static void listing_add_folder(Listing *l, const char *top, const char *below, int depth) {
  DIR *dir = opendir(arena_printf(l->arena, "%s/%s", top, below));
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') continue;
    struct stat about;
    char *path = arena_printf(l->arena, "%s%s", below, entry->d_name);
    if (stat(arena_printf(l->arena, "%s/%s", top, path), &about) != 0) continue;
    if (S_ISREG(about.st_mode)) listing_add(l, path);
    if (S_ISDIR(about.st_mode) && depth < FOLDER_DEPTH_MAX)
      listing_add_folder(l, top, arena_printf(l->arena, "%s/", path), depth + 1);
  }
  closedir(dir);
}

static int compare_paths(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

EmbeddedList embed_list(Arena *arena, const char *prefix) {
  Listing l = {.arena = arena, .prefix = prefix};
  for (int i = 0; i < embed_table_count; i++) listing_add(&l, embed_table[i].path);
  if (data_folder()) listing_add_folder(&l, data_folder(), "", 0);
  if (l.list.count > 1)
    qsort(l.list.paths, (size_t)l.list.count, sizeof *l.list.paths, compare_paths);
  return l.list;
}
