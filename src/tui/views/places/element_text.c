// A letter and two numbers, whatever brackets, blanks and commas stand between.
#include "tui/views/places/element_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// The operand with a name of one letter.
static bool named_by(char letter, const char *const names[ATOM_OPERANDS], AtomOperand *operand) {
  for (int o = 0; o < ATOM_OPERANDS; o++)
    if (names[o][0] == toupper((unsigned char)letter) && !names[o][1]) {
      *operand = (AtomOperand)o;
      return true;
    }
  return false;
}

bool element_read(const char *text, const char *const names[ATOM_OPERANDS], AtomOperand *operand,
                  int64_t index[2]) {
  AtomOperand named = *operand;
  while (isspace((unsigned char)*text)) text++;
  if (isalpha((unsigned char)*text) && !named_by(*text++, names, &named)) return false;
  for (int n = 0; n < 2; n++) {
    while (*text && strchr(" ,[](:", *text)) text++;
    if (!isdigit((unsigned char)*text)) return false;
    char *end;
    index[n] = strtoll(text, &end, 10);
    text = end;
  }
  while (*text && strchr(" ])", *text)) text++;
  if (*text) return false;
  *operand = named;
  return true;
}
