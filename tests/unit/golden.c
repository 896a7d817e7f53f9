// Whole-file comparison that shows the first line that differs; and a text told as what is
// different in it from another one, as "+int warp = 1;" between lines that both have.
#include "golden.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/str.h"

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

// ---- what is different --------------------------------------------------------------------------

enum { LINES_MAX = 2048, AROUND = 1 };

typedef struct Line {
  const char *text;
  size_t n;
} Line;

typedef struct Lines {
  int n;
  Line line[LINES_MAX];
} Lines;

static Lines *lines_of(Arena *arena, const char *text) {
  Lines *lines = ARENA_NEW(arena, Lines);
  for (const char *at = text; *at;) {
    const size_t n = strcspn(at, "\n");
    ck_assert_int_lt(lines->n, LINES_MAX);
    lines->line[lines->n++] = (Line){at, n};
    at += n + (at[n] == '\n');
  }
  return lines;
}

static bool same_line(const Line *a, const Line *b) {
  return a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
}

// One step on the way from one text to the other: ' ' both have the line, '-' it goes, '+' it
// comes.
typedef struct Step {
  char mark;
  const Line *line;
} Step;

// The way with the most lines in common; of ways that are as good lines go before others come.
static Step *steps_between(Arena *arena, const Lines *a, const Lines *b, int *n_steps) {
  const int columns = b->n + 1;
  uint16_t *common = ARENA_ARRAY(arena, uint16_t, (a->n + 1) * columns);
  for (int i = a->n - 1; i >= 0; i--)
    for (int j = b->n - 1; j >= 0; j--) {
      const uint16_t down = common[(i + 1) * columns + j], right = common[i * columns + j + 1];
      common[i * columns + j] = same_line(&a->line[i], &b->line[j])
                                    ? (uint16_t)(common[(i + 1) * columns + j + 1] + 1)
                                : down >= right ? down
                                                : right;
    }
  Step *steps = ARENA_ARRAY(arena, Step, a->n + b->n + 1);
  int n = 0, i = 0, j = 0;
  while (i < a->n || j < b->n) {
    const bool both = i < a->n && j < b->n && same_line(&a->line[i], &b->line[j]);
    const bool goes =
        i < a->n && (j == b->n || common[(i + 1) * columns + j] >= common[i * columns + j + 1]);
    if (both)
      steps[n++] = (Step){' ', &a->line[i]}, i++, j++;
    else if (goes)
      steps[n++] = (Step){'-', &a->line[i++]};
    else
      steps[n++] = (Step){'+', &b->line[j++]};
  }
  *n_steps = n;
  return steps;
}

static bool is_near_change(const Step *steps, int n, int at) {
  for (int i = at - AROUND; i <= at + AROUND; i++)
    if (i >= 0 && i < n && steps[i].mark != ' ') return true;
  return false;
}

static int count_changes(const Step *steps, int n) {
  int changes = 0;
  for (int i = 0; i < n; i++) changes += steps[i].mark != ' ';
  return changes;
}

void golden_check_change(const char *path, const GoldenText *before, int n_before,
                         const char *text) {
  static Arena *arena;
  int n = 0, fewest = 0;
  const char *from = "";
  const Step *steps = NULL;
  if (!arena) arena = arena_new("change");
  arena_reset(arena);
  const Lines *lines = lines_of(arena, text);
  for (int i = 0; i < n_before; i++) {
    int n_tried;
    const Step *tried = steps_between(arena, lines_of(arena, before[i].text), lines, &n_tried);
    const int changes = count_changes(tried, n_tried);
    if (steps && changes >= fewest) continue;
    steps = tried, n = n_tried, fewest = changes, from = before[i].name;
  }
  Str out = str_new(arena);
  str_printf(&out, "# from %s\n", from);
  for (int i = 0; i < n; i++) {
    if (!is_near_change(steps, n, i)) continue;
    if (i > 0 && !is_near_change(steps, n, i - 1)) str_add(&out, "...\n");
    str_printf(&out, "%c%.*s\n", steps[i].mark, (int)steps[i].line->n, steps[i].line->text);
  }
  golden_check(path, out.text);
}
