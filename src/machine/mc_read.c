// Text → line, from left to right.
#include "machine/mc_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip(const char *at) { return at + strspn(at, " \t"); }

// ---- words --------------------------------------------------------------------------------------

const McWord *mc_word_of(const McLine *line, const char *class) {
  for (int i = 0; i < line->n_words; i++)
    if (line->words[i].word && str_equal(line->words[i].word->class, class))
      return line->words[i].word;
  return NULL;
}

static const char *read_name(Arena *arena, const char *at, McLine *out) {
  size_t n = strcspn(at, ". ;");
  out->name = arena_strndup(arena, at, n);
  at += n;
  while (*at == '.') {
    n = strcspn(++at, ". ;");
    if (out->n_words == MC_WORDS_MAX) return NULL;
    out->words[out->n_words].text = at;
    out->words[out->n_words].length = (int)n;
    out->words[out->n_words++].word = mc_word_find(at, (int)n);
    at += n;
  }
  return at;
}

// ---- operands -----------------------------------------------------------------------------------

// "R4", "RZ", "UR4", "URZ", "P0", "UPT", "B3": the name's end; NULL: it is none.
static const char *read_register(const char *at, McRead *out) {
  const bool uniform = at[0] == 'U' && (at[1] == 'R' || at[1] == 'P');
  const char *letter = at + uniform, *digits = letter + 1;
  if (*letter != 'R' && *letter != 'P' && !(*letter == 'B' && !uniform)) return NULL;
  out->kind = *letter == 'R' ? MC_REGISTER : *letter == 'P' ? MC_PREDICATE : MC_BARRIER;
  out->is_uniform = uniform;
  if (*letter == 'R' && *digits == 'Z') {
    out->number = uniform ? MC_URZ : MC_RZ;
    return digits + 1;
  }
  if (*letter == 'P' && *digits == 'T') {
    out->number = MC_PT;
    return digits + 1;
  }
  if (!is_digit(*digits)) return NULL;
  char *end;
  const long number = strtol(digits, &end, 10);
  const long most = *letter == 'P' ? MC_PT : *letter == 'B' ? 15 : uniform ? MC_URZ : MC_RZ;
  if (number > most) return NULL;
  out->number = (int)number;
  return end;
}

// Suffixes that change nothing where they stand.
static bool is_plain_suffix(const char *word, size_t n) {
  static const char *const plain[] = {"ROW", "COL"};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (strlen(plain[i]) == n && strncmp(plain[i], word, n) == 0) return true;
  return false;
}

// ".B2": a byte, ".H1": a half; the bits below it, or -1.
static int shift_of(const char *word, size_t n) {
  const bool part = n == 2 && (*word == 'B' || *word == 'H') && word[1] >= '0' && word[1] <= '3';
  return part ? (word[1] - '0') * (*word == 'B' ? 8 : 16) : -1;
}

// Suffixes of a register: ".reuse", ".64", ".H0_H0", ".U32", ".X4", ".B1".
static const char *read_suffixes(const char *at, McRead *out, bool *known) {
  while (*at == '.') {
    const char *word = at + 1;
    const size_t n = strcspn(word, ".,+- ]|;");
    if (n == 2 && strncmp(word, "64", n) == 0)
      out->is_wide = true;
    else if (n == 5 && strncmp(word, "H0_H0", n) == 0)
      out->half = 1;
    else if (n == 5 && strncmp(word, "H1_H1", n) == 0)
      out->half = 2;
    else if (word[0] == 'X' && is_digit(word[1]))
      out->scale = atoi(word + 1);
    else if (shift_of(word, n) >= 0)
      out->shift = shift_of(word, n);
    else if (n == 3 && strncmp(word, "U32", n) == 0)
      out->is_narrow = true;
    else if (n == 4 && strncmp(word, "SIGN", n) == 0)
      out->is_sign = true;
    else if (n == 5 && strncmp(word, "reuse", n) == 0)
      out->is_kept = true;
    else if (!is_plain_suffix(word, n))
      *known = false;
    at = word + n;
  }
  return at;
}

// "0x10", "-0x10", "3", "1.5", "+INF", "-QNAN".
static const char *read_number(const char *at, McRead *out) {
  const char *digits = at + (*at == '-' || *at == '+');
  char *end;
  out->kind = MC_NUMBER;
  if (digits[0] == '0' && digits[1] == 'x') {
    out->value = (int64_t)strtoull(digits + 2, &end, 16);
    if (*at == '-') out->value = -out->value;
    return end;
  }
  out->is_float = true;
  if (strncmp(digits, "INF", 3) == 0) return digits + 3;
  if (strncmp(digits, "QNAN", 4) == 0 || strncmp(digits, "SNAN", 4) == 0) return digits + 4;
  if (!is_digit(*digits)) return NULL;
  strtod(digits, &end);
  const bool whole = strspn(digits, "0123456789") == (size_t)(end - digits);
  if (whole) out->value = strtoll(at, NULL, 10);
  return end;
}

// The inside of brackets: registers and numbers with plus signs between.
static const char *read_sum(const char *at, McRead *out) {
  bool known = true;
  while (*at && *at != ']') {
    McRead part = {0};
    at += *at == '+';
    const char *end = read_register(at, &part);
    if (end) {
      end = read_suffixes(end, &part, &known);
      if (part.kind != MC_REGISTER || !known) return NULL;
      if (part.is_uniform && out->uniform == MC_NO_REGISTER) {
        out->uniform = part.number;
        out->uniform_is_wide = part.is_wide;
      } else if (!part.is_uniform && out->number == MC_NO_REGISTER) {
        out->number = part.number;
        out->is_wide = part.is_wide;
        out->is_narrow = part.is_narrow;
        out->scale = part.scale;
      } else {
        return NULL;
      }
    } else {
      end = read_number(at, &part);
      if (!end || part.is_float) return NULL;
      out->value += part.value;
    }
    at = end;
  }
  return *at == ']' ? at + 1 : NULL;
}

// c[0x0][0x210], c[0x3][R4+0x10], c[0x2][UR4]; of halves c[0x0] [0x1a0].H0_H0.
static const char *read_constant(const char *at, McRead *out) {
  char *end;
  out->bank = (int)(strtoul(at + 2, &end, 16) & 31);
  if (*end != ']') return NULL;
  const char *place = skip(end + 1);
  if (*place != '[') return NULL;
  out->kind = MC_CONSTANT;
  return read_sum(place + 1, out);
}

static const char *read_word(Arena *arena, const char *at, McRead *out) {
  const size_t n = *at == '{' ? strcspn(at, "};") + (strchr(at, '}') != NULL) : strcspn(at, ", ;");
  const bool is_label = *at == '`';
  out->kind = is_label ? MC_LABEL : MC_SPECIAL;
  if (!is_label) {
    out->text = arena_strndup(arena, at, n);
    return at + n;
  }
  const char *close = strchr(at, ')');
  if (!close) return NULL;
  out->text = arena_strndup(arena, at + 2, (size_t)(close - at - 2));
  return close + 1;
}

// ".tnspA", ".tnspB" behind a descriptor.
static const char *read_turned(const char *at, McRead *out) {
  for (; at && str_starts(at, ".tnsp"); at += 6) {
    out->turned |= at[5] == 'A' ? 1 : at[5] == 'B' ? 2 : 4;
    if (out->turned & 4) return NULL;
  }
  return at;
}

static const char *read_bare(Arena *arena, const char *at, McRead *out, bool *known) {
  if (strncmp(at, "gdesc[", 6) == 0) {
    out->kind = MC_DESCRIPTOR;
    return read_turned(read_sum(at + 6, out), out);
  }
  if (strncmp(at, "desc[", 5) == 0) {
    at = strchr(at, ']');
    if (!at) return NULL;
    at++;
  }
  if (at[0] == 'c' && at[1] == '[') return read_constant(at, out);
  if (*at == '[') {
    out->kind = MC_ADDRESS;
    return read_sum(at + 1, out);
  }
  const char *end = read_register(at, out);
  if (end && (*end == '\0' || strchr(" ,.;|", *end))) return read_suffixes(end, out, known);
  if (is_digit(*at) || *at == '+' || strncmp(at, "INF", 3) == 0 || strncmp(at, "QNAN", 4) == 0)
    return read_number(at, out);
  return read_word(arena, at, out);
}

static const char *read_operand(Arena *arena, const char *at, McRead *out, bool *known) {
  *out = (McRead){.number = MC_NO_REGISTER, .uniform = MC_NO_REGISTER};
  const bool number = at[0] == '-' && (is_digit(at[1]) || strncmp(at + 1, "INF", 3) == 0 ||
                                       strncmp(at + 1, "QNAN", 4) == 0);
  if (number) return read_number(at, out);
  for (; *at == '-' || *at == '!' || *at == '~'; at++) {
    out->negated |= *at != '~';
    out->inverted |= *at == '~';
  }
  out->absolute = *at == '|';
  at = read_bare(arena, at + out->absolute, out, known);
  if (at && out->absolute) at += *at == '|';
  return at ? read_suffixes(at, out, known) : NULL;
}

static const char *read_guard(const char *at, McLine *out) {
  McRead guard = {0};
  out->has_guard = *at == '@';
  if (!out->has_guard) return at;
  at++;
  out->guard_not = *at == '!';
  at = read_register(at + out->guard_not, &guard);
  out->guard = guard.number;
  out->guard_is_uniform = guard.is_uniform;
  return at && guard.kind == MC_PREDICATE ? skip(at) : NULL;
}

// Two halves in a row, "1.875, 0", are one operand.
static bool is_second_half(const McLine *line) {
  const int n = line->n;
  if (line->name[0] != 'H' || n < 2) return false;
  if (line->operands[n - 1].kind != MC_NUMBER || line->operands[n - 2].kind != MC_NUMBER)
    return false;
  return line->operands[n - 1].is_float && line->operands[n - 2].is_float;
}

// LDG.E R17, [R20]: where no descriptor stands in front of it, .E alone says that R21 is the upper
// half of the address.
static void widen_addresses(McLine *line) {
  bool extended = false;
  for (int i = 0; i < line->n_words; i++)
    extended |= line->words[i].length == 1 && line->words[i].text[0] == 'E';
  for (int i = 0; extended && i < line->n; i++) {
    McRead *read = &line->operands[i];
    if (read->kind == MC_ADDRESS && read->number != MC_NO_REGISTER &&
        read->uniform == MC_NO_REGISTER && !read->is_narrow)
      read->is_wide = true;
  }
}

// PLOP3.LUT P0, PT, R0.SIGN, R5.SIGN, R4.SIGN, 0x2, 0x0: registers in place of predicates are said
// by a modifier of the whole, for rows to ask for.
static const char *add_sign(McLine *line) {
  int signs = 0, registers = 0;
  for (int i = 0; i < line->n; i++) {
    signs += line->operands[i].is_sign;
    registers += line->operands[i].kind == MC_REGISTER;
  }
  if (!signs) return NULL;
  if (signs != registers) return "signs beside whole registers are not understood";
  if (line->n_words == MC_WORDS_MAX) return "it has too many modifiers";
  line->words[line->n_words].text = "SIGN";
  line->words[line->n_words].length = 4;
  line->words[line->n_words++].word = mc_word_find("SIGN", 4);
  return NULL;
}

const char *mc_read(Arena *arena, const char *text, McLine *out) {
  *out = (McLine){0};
  const char *at = read_guard(skip(text + (*text == '{')), out);
  if (!at) return "its guard is not understood";
  at = read_name(arena, at, out);
  if (!at || !*out->name) return "its name is not understood";
  bool known = true;
  for (at = skip(at); *at && *at != ';' && strncmp(at, "(*", 2) != 0; at = skip(at)) {
    if (out->n == MC_OPERANDS_MAX) return "it has too many operands";
    const char *from = at;
    at = read_operand(arena, at, &out->operands[out->n++], &known);
    if (!at || !known)
      return arena_printf(arena, "its operand %s is not understood",
                          arena_strndup(arena, from, strcspn(from, ",;")));
    if (is_second_half(out)) out->n--;
    at = skip(at);
    at += *at == ',';
  }
  widen_addresses(out);
  return add_sign(out);
}
