// Whole-file comparison that shows the first line that differs.
#include "golden.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"

static void make_folders(Arena *arena, const char *file) {
  for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/'))
    mkdir(arena_strndup(arena, file, (size_t)(slash - file)), 0777);
}

static void rewrite(Arena *arena, const char *file, const char *text) {
  make_folders(arena, file);
  FILE *out = fopen(file, "w");
  ck_assert_msg(out != NULL, "%s: %s", file, strerror(errno));
  size_t written = fwrite(text, 1, strlen(text), out);
  ck_assert_msg(fclose(out) == 0 && written == strlen(text), "%s: %s", file, strerror(errno));
}

static char *read_all(Arena *arena, const char *file) {
  FILE *in = fopen(file, "r");
  ck_assert_msg(in != NULL, "%s: %s; make accept writes it", file, strerror(errno));
  fseek(in, 0, SEEK_END);
  long size = ftell(in);
  rewind(in);
  char *text = arena_alloc(arena, (size_t)size + 1);
  size_t got = fread(text, 1, (size_t)size, in);
  fclose(in);
  ck_assert_uint_eq(got, (size_t)size);
  return text;
}

void golden_check(const char *path, const char *text) {
  // A failed assertion jumps out of here, so the memory belongs to the process and not to the call.
  static Arena *arena;
  if (!arena) arena = arena_new("golden");
  arena_reset(arena);
  const char *file = arena_printf(arena, "tests/golden/%s", path);
  if (getenv("GEMMVIEW_ACCEPT")) rewrite(arena, file, text);
  const char *want = read_all(arena, file), *got = text;
  int line = 1;
  while (strcmp(want, got) != 0) {
    size_t n_want = strcspn(want, "\n"), n_got = strcspn(got, "\n");
    bool same = n_want == n_got && memcmp(want, got, n_want) == 0 && want[n_want] == got[n_got];
    ck_assert_msg(same, "%s:%d: expected \"%.*s\", got \"%.*s\"", file, line, (int)n_want, want,
                  (int)n_got, got);
    want += n_want + 1;
    got += n_got + 1;
    line++;
  }
}
