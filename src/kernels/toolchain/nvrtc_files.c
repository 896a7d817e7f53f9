// Whether a text could make the compiler read a file, by the phases of translation: trigraphs,
// lines joined by a backslash, comments as blanks, and then directives.
//
// A directive begins a line, or stands behind a comment that does; so each line and each end of a
// comment is looked at. What surrounds it is not judged: a reader that believed that a comment or a
// string is open there could be led to believe it. So one that stands in a comment counts, too.
//
// Worked example, four lines as one directive:
//
//   /* */ %\                 behind "*/": %: is #, and the line goes on
//   :/* *\                   the comment has no end here …
//   /in\                     … but here, and the word goes on
//   clude "/etc/passwd"      "include"
//
// NVRTC 13.0 leaves trigraphs alone where it compiles C++17; others may not, so both is asked.
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "kernels/toolchain/nvrtc.h"

// The rest of a text, and the number of its first line.
typedef struct Phases {
  const char *at;
  int line;
  bool trigraphs;
} Phases;

static char take_trigraph(Phases *p) {
  static const char from[] = "=/'()!<>-", to[] = "#\\^[]|{}~";
  const char *found = p->trigraphs && p->at[0] == '?' && p->at[1] == '?' && p->at[2]
                          ? strchr(from, p->at[2])
                          : NULL;
  const char c = found ? to[found - from] : *p->at;
  p->at += found ? 3 : *p->at != '\0';
  return c;
}

// The next character behind the first two phases; '\0' at the end.
static char take(Phases *p) {
  for (;;) {
    const char c = take_trigraph(p);
    const size_t end = p->at[0] == '\r' && p->at[1] == '\n' ? 2 : p->at[0] == '\n';
    if (c == '\n') p->line++;
    if (c != '\\' || end == 0) return c;
    p->at += end;
    p->line++;
  }
}

static bool takes(Phases *p, const char *word) {
  Phases ahead = *p;
  for (; *word; word++)
    if (take(&ahead) != *word) return false;
  *p = ahead;
  return true;
}

static bool is_blank(char c) { return c != '\n' && c != '\0' && (c <= ' ' || c == 0x7F); }

static void skip_blanks(Phases *p) {
  for (;;) {
    Phases ahead = *p;
    if (!is_blank(take(&ahead))) return;
    *p = ahead;
  }
}

static void skip_blanks_and_comments(Phases *p) {
  for (skip_blanks(p); takes(p, "/*"); skip_blanks(p))
    while (*p->at && !takes(p, "*/")) take(p);
}

static bool takes_hash(Phases *p) {
  skip_blanks(p);
  return takes(p, "#") || takes(p, "%:");
}

static bool takes_any(Phases *p, const char *const *words) {
  for (; *words; words++)
    if (takes(p, *words)) return true;
  return false;
}

// Whether a directive with one of these words begins here.
static bool is_directive(Phases p, const char *const *words) {
  if (!takes_hash(&p)) return false;
  skip_blanks_and_comments(&p);
  return takes_any(&p, words);
}

typedef struct Found {
  int reads, pastes, asks;  // lines, 0 where there is none
} Found;

static void look(Phases p, bool begins_line, Found *found) {
  static const char *const reads[] = {"include", "import", "embed", NULL};
  static const char *const conditions[] = {"if", "elif", NULL};
  static const char *const words[] = {"__has_include", "__has_embed", ".incbin", NULL};
  static const char *const pastes[] = {"##", "%:%:", NULL};
  Phases word = p, paste = p;
  if (takes_any(&word, words) || (begins_line && is_directive(p, reads))) found->reads = p.line;
  if (!found->asks && begins_line && is_directive(p, conditions)) found->asks = p.line;
  if (!found->pastes && takes_any(&paste, pastes)) found->pastes = p.line;
}

// #if can be made to ask for a file by a word that ## puts together: __has_ ## include.
static int line_that_reads(const char *cuda, bool trigraphs) {
  Found found = {0};
  Phases p = {cuda, 1, trigraphs};
  bool begins_line = true;
  while (*p.at && !found.reads) {
    look(p, begins_line, &found);
    if (takes(&p, "*/")) {
      begins_line = true;
      continue;
    }
    // A blank behind the backslash is to some a joined line and to others the end of one.
    const char c = take_trigraph(&p);
    p.line += c == '\n';
    begins_line = c == '\n' || c == '\r';
  }
  return found.reads ? found.reads : found.asks ? found.pastes : 0;
}

bool nvrtc_reads_files(const char *cuda, int *line) {
  *line = line_that_reads(cuda, false);
  if (!*line && strstr(cuda, "??")) *line = line_that_reads(cuda, true);
  return *line != 0;
}
