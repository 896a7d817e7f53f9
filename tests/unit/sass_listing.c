#include "sass_listing.h"

#include <check.h>
#include <string.h>

#include "quick_check.h"

enum { LINES_MAX = 64, INSTRUCTION_BYTES = 16 };

const SassResult *sass_listing(Arena *arena, const char *text) {
  SassLine *lines = ARENA_ARRAY(arena, SassLine, LINES_MAX);
  SassResult *sass = ARENA_NEW(arena, SassResult);
  const char *kernel = "one";
  char *rest = NULL;
  for (char *at = strtok_r(arena_strdup(arena, text), ";", &rest); at;
       at = strtok_r(NULL, ";", &rest)) {
    ck_assert_int_lt(sass->n_lines, LINES_MAX);
    at += strspn(at, " ");
    if (*at == '|') kernel = "other", at++;
    const char *opcode = at + (*at == '@' ? strcspn(at, " ") + 1 : 0);
    SassLine line = {.kernel = kernel, .text = at, .address = -1};
    if (*at != '.') {
      line.address = INSTRUCTION_BYTES * sass->n_lines;
      line.opcode = arena_strndup(arena, opcode, strcspn(opcode, " "));
    }
    lines[sass->n_lines++] = line;
  }
  sass->ok = true, sass->lines = lines;
  return sass;
}
