// A text gets one finding, at the place where reading stopped: what follows a mistake is guesswork.
#include "banks/layouts/notation_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

Scan scan_new(Arena *arena, const char *text, Diags *diags) {
  return (Scan){.arena = arena, .diags = diags, .text = text, .at = text};
}

static void skip_blanks(Scan *scan) {
  while (isspace((unsigned char)*scan->at)) scan->at++;
}

bool scan_refuse(Scan *scan, const char *sentence) {
  if (!scan->failed)
    diag_add(scan->diags, "layout", "\"%s\", column %d: %s", str_sanitise(scan->arena, scan->text),
             (int)(scan->at - scan->text) + 1, sentence);
  scan->failed = true;
  return false;
}

bool scan_fail(Scan *scan, const char *expected) {
  skip_blanks(scan);
  size_t n = strcspn(scan->at, " ,:()<>[]{}=");
  if (n == 0 && *scan->at) n = 1;
  const char *found = str_sanitise(scan->arena, arena_strndup(scan->arena, scan->at, n));
  return scan_refuse(scan,
                     n ? arena_printf(scan->arena, "expected %s, found \"%s\"", expected, found)
                       : arena_printf(scan->arena, "expected %s, but the text ends", expected));
}

char scan_peek(Scan *scan) {
  skip_blanks(scan);
  return *scan->at;
}

bool scan_take(Scan *scan, const char *text) {
  skip_blanks(scan);
  if (!str_starts(scan->at, text)) return false;
  scan->at += strlen(text);
  return true;
}

bool scan_expect(Scan *scan, const char *text) {
  return scan_take(scan, text) || scan_fail(scan, arena_printf(scan->arena, "\"%s\"", text));
}

bool scan_end(Scan *scan) {
  return scan_peek(scan) == '\0' || scan_fail(scan, "the end of the layout");
}

bool scan_number(Scan *scan, const char *expected, long long *out) {
  const long long most = 1LL << 40;
  skip_blanks(scan);
  const char *digits = scan->at + (*scan->at == '_');
  if (!isdigit((unsigned char)*digits)) return scan_fail(scan, expected);
  bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  char *end;
  *out = strtoll(digits, &end, hex ? 16 : 10);
  if (*out > most) return scan_refuse(scan, "a number above 2^40");
  scan->at = end;
  return true;
}

bool scan_signed(Scan *scan, const char *expected, long long *out) {
  bool minus = scan_take(scan, "-");
  if (!scan_number(scan, expected, out)) return false;
  if (minus) *out = -*out;
  return true;
}

const char *scan_word(Scan *scan) {
  skip_blanks(scan);
  size_t n = 0;
  while (isalnum((unsigned char)scan->at[n]) || scan->at[n] == '_') n++;
  if (n == 0 || isdigit((unsigned char)*scan->at)) return NULL;
  scan->at += n;
  return arena_strndup(scan->arena, scan->at - n, n);
}
