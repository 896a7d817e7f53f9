// A limit on a line that is not there guards nothing: that is a mistake, not a success.
#include "cli/open/open_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static bool read_number(const char *text, int64_t most, int64_t *out) {
  char *end = NULL;
  if (*text < '0' || *text > '9' || strlen(text) > 18) return false;
  *out = strtoll(text, &end, 10);
  return !*end && *out <= most;
}

static bool read_limit(Arena *arena, const char *text, OpenLimit *out) {
  const char *colon = strrchr(text, ':');
  *out = (OpenLimit){0};
  if (!colon) return read_number(text, INT64_MAX, &out->wavefronts);
  const char *place = arena_strndup(arena, text, (size_t)(colon - text));
  const char *dash = strrchr(place, '-'), *again = strrchr(place, ':');
  if (again && (!dash || again > dash)) dash = again;
  int64_t line = 0;
  if (!dash || dash == place || !read_number(dash + 1, INT32_MAX, &line) || line < 1) return false;
  out->file = ptx_base_name(arena_strndup(arena, place, (size_t)(dash - place)));
  out->line = (int)line;
  return read_number(colon + 1, INT64_MAX, &out->wavefronts);
}

static const PtxLine *find_line(const OpenResult *r, const OpenLimit *limit) {
  for (int i = 0; i < r->lines->n; i++) {
    const PtxLine *line = &r->lines->items[i];
    if (line->shared && line->line == limit->line && str_equal(line->file, limit->file))
      return line;
  }
  return NULL;
}

// Holds a count against a limit; `what` is counted.
static bool exceeds(const char *what, int64_t wavefronts, bool countable, int64_t most) {
  if (countable && wavefronts <= most) return false;
  if (wavefronts > most)
    fprintf(stderr, "gemmview: %s: %" PRId64 " wavefronts, at most %" PRId64 " are allowed\n", what,
            wavefronts, most);
  else
    fprintf(stderr, "gemmview: %s: not all of its wavefronts can be counted\n", what);
  return true;
}

static bool judge(const OpenResult *r, const OpenLimit *limit, bool *above, Diags *diags) {
  const char *name = str_sanitise(r->arena, limit->file ? limit->file : ptx_base_name(r->path));
  if (!limit->file) {
    *above |= exceeds(name, r->lines->wavefronts, r->lines->countable, limit->wavefronts);
    return true;
  }
  const PtxLine *line = find_line(r, limit);
  if (!line) {
    diag_add(diags, "fail-above", "--fail-above: no access to shared memory ran at %s-%d", name,
             limit->line);
    return false;
  }
  *above |= exceeds(arena_printf(r->arena, "%s:%d", name, limit->line), line->wavefronts,
                    line->countable, limit->wavefronts);
  return true;
}

const OpenLimit *open_read_limits(Arena *arena, const char *const *texts, int n, Diags *diags) {
  OpenLimit *limits = ARENA_ARRAY(arena, OpenLimit, n + 1);
  for (int i = 0; i < n; i++) {
    if (read_limit(arena, texts[i], &limits[i])) continue;
    Diag *diag = diag_add(diags, "fail-above",
                          "--fail-above \"%s\": expected a number of wavefronts, or FILE-LINE:N "
                          "for one line",
                          str_sanitise(arena, texts[i]));
    diag->nearest = "--fail-above k.cu-39:1750";
    return NULL;
  }
  return limits;
}

bool open_above_limits(const OpenResult *r, const OpenLimit *limits, int n, bool *above,
                       Diags *diags) {
  for (int i = 0; i < n; i++)
    if (!judge(r, &limits[i], above, diags)) return false;
  return true;
}
