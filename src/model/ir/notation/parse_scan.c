// Words, numbers and names of a line, and what was expected where reading came furthest.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/notation/parser.h"

const SourceLine *parse_line(const Parser *p) { return &p->line[p->at_line]; }

void parse_next_line(Parser *p) {
  p->at_line++;
  p->at = parse_line(p)->text;
}

// ---- what was expected --------------------------------------------------------------------------

static bool is_expected(const Parser *p, const char *what) {
  for (int i = 0; i < p->n_expected; i++)
    if (str_equal(p->expected[i], what)) return true;
  return false;
}

bool parse_fail_at(Parser *p, const char *at, const char *what) {
  while (*at == ' ') at++;
  bool further = !p->failed_at || p->at_line > p->failed_line ||
                 (p->at_line == p->failed_line && at > p->failed_at);
  if (further) {
    p->failed_line = p->at_line;
    p->failed_at = at;
    p->n_expected = 0;
  }
  bool here = p->failed_line == p->at_line && p->failed_at == at;
  if (here && p->n_expected < EXPECTED_MAX && !is_expected(p, what))
    p->expected[p->n_expected++] = what;
  return false;
}

bool parse_fail(Parser *p, const char *what) { return parse_fail_at(p, p->at, what); }

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

// A whole word or number, or one sign.
static const char *found_here(const Parser *p) {
  const char *at = p->failed_at;
  int n = 0;
  if (!*at) return p->line[p->failed_line].number ? "the end of the line" : "the end of the text";
  if (*at == '\t') return "a tab";
  while (is_word_char(at[n])) n++;
  char *word = arena_strndup(p->arena, at, (size_t)(n ? n : 1));
  return arena_printf(p->arena, "\"%s\"", str_sanitise(p->arena, word));
}

void parse_report(const Parser *p, const char *name, Diags *diags) {
  const SourceLine *line = &p->line[p->failed_line];
  int number = line->number ? line->number : p->n_lines ? line[-1].number + 1 : 1;
  int column = line->indent + (int)(p->failed_at - line->text) + 1;
  Str what = str_new(p->arena);
  for (int i = 0; i < p->n_expected; i++) {
    const char *between = i == 0 ? "" : i + 1 < p->n_expected ? ", " : " or ";
    str_printf(&what, "%s%s", between, p->expected[i]);
  }
  diag_add(diags, "syntax", "%s:%d:%d: expected %s, found %s", name, number, column, what.text,
           found_here(p));
}

// ---- words --------------------------------------------------------------------------------------

void parse_blanks(Parser *p) {
  while (*p->at == ' ') p->at++;
}

bool parse_at_end(Parser *p) {
  parse_blanks(p);
  return *p->at == '\0';
}

bool parse_end(Parser *p) { return parse_at_end(p) || parse_fail(p, "the end of the line"); }

// The text behind `word`, NULL when another word stands there: a word ends where its letters do.
static const char *behind_word(const char *at, const char *word) {
  while (*at == ' ') at++;
  for (; *word; word++) {
    if (*word == ' ') {
      while (*at == ' ') at++;
      continue;
    }
    if (*at != *word) return NULL;
    at++;
    bool ends = word[1] == '\0' || word[1] == ' ';
    if (ends && is_word_char(*word) && is_word_char(*at)) return NULL;
  }
  return at;
}

bool parse_peek(Parser *p, const char *word) { return behind_word(p->at, word) != NULL; }

bool parse_maybe(Parser *p, const char *word) {
  const char *behind = behind_word(p->at, word);
  if (behind) p->at = behind;
  return behind != NULL;
}

bool parse_word(Parser *p, const char *word) {
  return parse_maybe(p, word) || parse_fail(p, arena_printf(p->arena, "\"%s\"", word));
}

bool parse_comma(Parser *p) { return parse_word(p, ","); }

const char *parse_name(Parser *p, const char *what) {
  int n = 0;
  parse_blanks(p);
  if (!isdigit((unsigned char)*p->at))
    while (is_word_char(p->at[n])) n++;
  if (n == 0) {
    parse_fail(p, what);
    return NULL;
  }
  const char *name = arena_strndup(p->arena, p->at, (size_t)n);
  p->at += n;
  return name;
}

bool parse_number(Parser *p, int64_t lo, int64_t hi, int64_t *out) {
  parse_blanks(p);
  const char *at = p->at;
  int64_t value = 0;
  bool fits = true;
  while (isdigit((unsigned char)*at) && fits) {
    fits = value <= (INT64_MAX - 9) / 10;
    if (fits) value = value * 10 + (*at++ - '0');
  }
  if (at == p->at || !fits || value < lo || value > hi) {
    const char *one = arena_printf(p->arena, "%lld", (long long)lo);
    const char *range =
        arena_printf(p->arena, "a number from %lld to %lld", (long long)lo, (long long)hi);
    return parse_fail(p, lo == hi ? one : range);
  }
  p->at = at;
  *out = value;
  return true;
}

bool parse_int(Parser *p, int lo, int hi, int *out) {
  int64_t value;
  if (!parse_number(p, lo, hi, &value)) return false;
  *out = (int)value;
  return true;
}
