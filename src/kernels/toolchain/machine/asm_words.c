// Constraints of GCC's extended asm as nvcc reads them (Inline PTX Assembly, "Constraints").
//
// A line is read for the words and the short strings in it, each told once, in the order in which
// they come. Worked example, the second line of an mma:
//   : "+f"(c[0]), "+f"(c[1])     "+f" read and written: a 32-bit float register
#include "kernels/toolchain/machine/asm_words.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const struct {
  char letter;
  const char *what;
} registers[] = {
    {'h', "a 16-bit register"},
    {'r', "a 32-bit register"},
    {'l', "a 64-bit register, such as a global address"},
    {'f', "a 32-bit float register"},
    {'d', "a 64-bit float register"},
    {'n', "a constant, written into the text"},
};

static const struct {
  const char *text, *meaning;
} words[] = {
    {"asm volatile(", "asm volatile: PTX, kept in its place even if its results are unused"},
    {"asm(", "asm: PTX, dropped if its results are unused"},
    {"\"memory\"", "\"memory\": it touches memory, so no value is kept in a register across it"},
};

static const char *register_of(char letter) {
  for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
    if (registers[i].letter == letter) return registers[i].what;
  return NULL;
}

static void add(char *out, const char *text) {
  size_t used = strlen(out);
  snprintf(out + used, ASM_WORDS_BYTES - used, "%s%s", used ? "   " : "", text);
}

// The constraint that a quote begins: "r", "=f", "+r"; 0: it is none, else its bytes, quotes
// included.
static size_t constraint_length(const char *at) {
  size_t mark = at[1] == '=' || at[1] == '+';
  bool is = at[0] == '"' && at[1] && register_of(at[1 + mark]) && at[2 + mark] == '"';
  return is ? 3 + mark : 0;
}

static void add_constraint(char *out, const char *at, size_t length) {
  char text[96];
  const char *use = at[1] == '=' ? "written" : at[1] == '+' ? "read and written" : "read";
  snprintf(text, sizeof text, "%.*s %s: %s", (int)length, at, use, register_of(at[length - 2]));
  text[sizeof text - 1] = '\0';
  char name[8];
  snprintf(name, sizeof name, "%.*s ", (int)length, at);
  if (!strstr(out, name)) add(out, text);
}

bool asm_words(const char *line, char out[ASM_WORDS_BYTES]) {
  out[0] = '\0';
  for (size_t i = 0; i + 1 < sizeof words / sizeof *words; i++)
    if (strstr(line, words[i].text)) add(out, words[i].meaning);
  if (strstr(line, "asm") && strstr(line, "%0")) add(out, "%0, %1: the operands below, in order");
  for (const char *at = line; (at = strchr(at, '"')); at++) {
    size_t length = constraint_length(at);
    if (length) add_constraint(out, at, length);
    if (length) at += length - 1;
  }
  if (strstr(line, words[2].text)) add(out, words[2].meaning);
  return *out != '\0';
}
