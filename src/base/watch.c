// Two states of a file compared.
#include "base/watch.h"

#include <string.h>

#include "base/str.h"

enum { NAMED = 4 };

WatchList watch_new(void) { return (WatchList){.arena = arena_new("watched files")}; }

void watch_free(WatchList *list) { arena_free(list->arena); }

static struct stat state_of(const char *path) {
  struct stat state;
  if (stat(path, &state) != 0) memset(&state, 0, sizeof state);
  return state;
}

static const WatchedFile *find(const WatchList *list, const char *path) {
  for (int i = 0; i < list->n; i++)
    if (str_equal(list->file[i].path, path)) return &list->file[i];
  return NULL;
}

void watch_set(WatchList *list, const char *const *paths, int n) {
  WatchList next = watch_new();
  next.file = ARENA_ARRAY(next.arena, WatchedFile, n + 1);
  for (int i = 0; i < n; i++) {
    const WatchedFile *known = find(list, paths[i]);
    if (find(&next, paths[i])) continue;
    next.file[next.n++] = (WatchedFile){.path = arena_strdup(next.arena, paths[i]),
                                        .last = known ? known->last : state_of(paths[i])};
  }
  watch_free(list);
  *list = next;
}

static bool is_another(const struct stat *a, const struct stat *b) {
  return a->st_mtim.tv_sec != b->st_mtim.tv_sec || a->st_mtim.tv_nsec != b->st_mtim.tv_nsec ||
         a->st_size != b->st_size || a->st_ino != b->st_ino;
}

bool watch_saved(WatchList *list) {
  bool saved = false;
  for (int i = 0; i < list->n; i++) {
    const struct stat now = state_of(list->file[i].path);
    if (now.st_size == 0 || !is_another(&now, &list->file[i].last)) continue;
    list->file[i].last = now;
    saved = true;
  }
  return saved;
}

const char *watch_text(Arena *arena, const WatchList *list) {
  Str out = str_new(arena);
  const int named = list->n <= NAMED ? list->n : NAMED - 1;
  for (int i = 0; i < named; i++) {
    const char *path = list->file[i].path, *slash = strrchr(path, '/');
    const char *joint = i == 0 ? "" : i + 1 < list->n ? ", " : " and ";
    str_printf(&out, "%s%s", joint, slash ? slash + 1 : path);
  }
  if (named < list->n) str_printf(&out, " and %d more", list->n - named);
  return str_sanitise(arena, out.text);
}
