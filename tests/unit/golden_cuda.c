// A helper is a paragraph of the text: comments, a line of its template, then a line that begins
// with `__device__` or `struct`, down to the brace that closes it in the first column.
#include "golden_cuda.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "base/str.h"
#include "golden.h"

enum { HELPERS_MAX = 512 };

typedef struct Helper {
  const char *first, *text;  // the line that names it, the whole paragraph
  int which;                 // from 1 on, of those with the same first line
} Helper;

struct GoldenHelpers {
  Arena *arena;
  int n;
  Helper helper[HELPERS_MAX];
};

GoldenHelpers *golden_helpers_new(Arena *arena) {
  GoldenHelpers *helpers = ARENA_NEW(arena, GoldenHelpers);
  helpers->arena = arena;
  return helpers;
}

static const char *next_line(const char *line) {
  const char *end = strchr(line, '\n');
  return end ? end + 1 : line + strlen(line);
}

// The line that names the helper whose paragraph begins here; NULL: none does.
static const char *naming_line(const char *at) {
  while (str_starts(at, "//") || str_starts(at, "template ")) at = next_line(at);
  return str_starts(at, "__device__ ") || str_starts(at, "struct ") ? at : NULL;
}

// Where its body begins, behind the brace; NULL: it is a line or two, which stay.
static const char *body_of(const char *naming) {
  const char *brace = strstr(naming, "{\n"), *end = strstr(naming, "\n\n");
  return brace && (!end || brace < end) ? brace + 1 : NULL;
}

static const char *end_of(const char *body) {
  const char *end = strstr(body, "\n}");
  ck_assert_ptr_nonnull(end);
  return next_line(end + 1);
}

static int keep(GoldenHelpers *helpers, const char *first, const char *text) {
  int which = 1;
  for (int i = 0; i < helpers->n; i++) {
    const Helper *helper = &helpers->helper[i];
    if (strcmp(helper->text, text) == 0) return helper->which;
    which += strcmp(helper->first, first) == 0;
  }
  ck_assert_int_lt(helpers->n, HELPERS_MAX);
  helpers->helper[helpers->n++] = (Helper){first, text, which};
  return which;
}

// Behind the helper that begins at `at`, of which `out` gets the first line.
static const char *leave_out(GoldenHelpers *helpers, Str *out, const char *at, const char *naming,
                             const char *body) {
  const char *end = end_of(body),
             *first = arena_strndup(out->arena, naming, (size_t)(body - naming));
  const int which = keep(helpers, first, arena_strndup(out->arena, at, (size_t)(end - at)));
  str_printf(out, "%s…}", first);
  if (which > 1) str_printf(out, "  // (%d)", which);
  str_add_char(out, '\n');
  return end;
}

const char *golden_without_helpers(GoldenHelpers *helpers, const char *text) {
  Str out = str_new(helpers->arena);
  bool begins = true;  // a paragraph
  for (const char *at = text; *at;) {
    const char *naming = begins ? naming_line(at) : NULL, *body = naming ? body_of(naming) : NULL;
    const char *end = body ? leave_out(helpers, &out, at, naming, body) : next_line(at);
    if (!body) str_add_bytes(&out, at, (size_t)(end - at));
    // Helpers that follow each other need no blank line between them.
    const char *behind = end + (body && *end == '\n');
    const char *next = body ? naming_line(behind) : NULL;
    begins = *at == '\n' || body;
    at = next && body_of(next) ? behind : end;
  }
  return out.text;
}

void golden_check_helpers(const char *path, const GoldenHelpers *helpers) {
  Str out = str_new(helpers->arena);
  for (int i = 0; i < helpers->n; i++) {
    const Helper *helper = &helpers->helper[i];
    if (i) str_add_char(&out, '\n');
    if (helper->which > 1) str_printf(&out, "// (%d)\n", helper->which);
    str_add(&out, helper->text);
  }
  golden_check(path, out.text);
}
