// A limit on a line that is not there guards nothing: that is a mistake, not a success.
#include "cli/open/open_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

typedef struct Limit {
  const char *file;  // NULL: of the whole
  int line;
  int64_t wavefronts;
} Limit;

static bool read_number(const char *text, int64_t most, int64_t *out) {
  char *end = NULL;
  if (*text < '0' || *text > '9' || strlen(text) > 18) return false;
  *out = strtoll(text, &end, 10);
  return !*end && *out <= most;
}

static bool read_limit(Arena *arena, const char *text, Limit *out) {
  const char *colon = strrchr(text, ':');
  *out = (Limit){0};
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

static const PtxLine *find_line(const OpenResult *r, const Limit *limit) {
  for (int i = 0; i < r->lines->n; i++) {
    const PtxLine *line = &r->lines->items[i];
    if (line->shared && line->line == limit->line && str_equal(line->file, limit->file))
      return line;
  }
  return NULL;
}

static bool judge(const OpenResult *r, const Limit *limit, bool *above, Diags *diags) {
  if (!limit->file) {
    *above |= r->lines->wavefronts > limit->wavefronts || !r->lines->countable;
    return true;
  }
  const PtxLine *line = find_line(r, limit);
  if (!line) {
    diag_add(diags, "fail-above", "--fail-above: no access to shared memory ran at %s-%d",
             str_sanitise(r->arena, limit->file), limit->line);
    return false;
  }
  *above |= line->wavefronts > limit->wavefronts || !line->countable;
  if (line->wavefronts > limit->wavefronts)
    fprintf(stderr, "%s:%d: %" PRId64 " wavefronts, at most %" PRId64 " are allowed\n",
            str_sanitise(r->arena, line->file), line->line, line->wavefronts, limit->wavefronts);
  return true;
}

bool open_above_limits(const OpenResult *r, const char *const *limits, int n, bool *above,
                       Diags *diags) {
  for (int i = 0; i < n; i++) {
    Limit limit;
    if (!read_limit(r->arena, limits[i], &limit)) {
      Diag *diag = diag_add(diags, "fail-above",
                            "--fail-above: \"%s\": a number of wavefronts is expected, or "
                            "FILE-LINE:N for one line",
                            str_sanitise(r->arena, limits[i]));
      diag->nearest = "--fail-above k.cu-39:1750";
      return false;
    }
    if (!judge(r, &limit, above, diags)) return false;
  }
  return true;
}
