// Worked examples:
//
//   as a comment   H200 */ int x; /*        H200 _/ int x; /_
//                  a\                        a_           or the next line were a comment too
//                  what??/                  what__/      a trigraph is a backslash
//   as a cell      =1+1                     "'=1+1"
//                  -12.5                    "-12.5"
#include "base/foreign.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"

char *foreign_comment(Arena *arena, const char *text) {
  char *line = str_line(arena, text);
  for (char *at = line; *at; at++) {
    const bool marks = *at == '*' && (at[1] == '/' || (at > line && at[-1] == '/'));
    if (marks || *at == '\\' || *at == '?') *at = '_';
  }
  return line;
}

static bool is_number(const char *text) {
  const char *digits = "0123456789.";
  text += *text == '-' || *text == '+';
  size_t n = strspn(text, digits);
  text += n;
  if (n > 0 && (*text == 'e' || *text == 'E')) {
    text += 1 + (text[1] == '-' || text[1] == '+');
    text += strspn(text, digits);
  }
  return n > 0 && *text == '\0';
}

// Blanks in front do not keep every spreadsheet from calculating.
static bool is_formula(const char *text) {
  const char *first = text + strspn(text, " \t\r\n");
  const bool begins = *first && strchr("=+-@", *first) && first[1];
  return (begins && !is_number(text)) || *text == '\t' || *text == '\r';
}

void foreign_cell(FILE *file, const char *text, char after) {
  Arena *arena = arena_new("cell");
  if (text) {
    fputs(is_formula(text) ? "\"'" : "\"", file);
    for (const char *at = str_sanitise(arena, text); *at; at++) {
      if (*at == '"') fputc('"', file);
      fputc(*at, file);
    }
    fputc('"', file);
  }
  fputc(after, file);
  arena_free(arena);
}
