// A letter and two numbers, whatever brackets, blanks and commas stand between.
#include "tui/views/places/element_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool element_read(const char *text, AtomOperand *operand, int64_t index[2]) {
  while (isspace((unsigned char)*text)) text++;
  char letter = (char)toupper((unsigned char)*text);
  bool named = letter >= 'A' && letter <= 'C';
  if (named) text++;
  for (int n = 0; n < 2; n++) {
    while (*text && strchr(" ,[](:", *text)) text++;
    if (!isdigit((unsigned char)*text)) return false;
    char *end;
    index[n] = strtoll(text, &end, 10);
    text = end;
  }
  while (*text && strchr(" ])", *text)) text++;
  if (*text) return false;
  if (named) *operand = letter == 'A' ? ATOM_A : letter == 'B' ? ATOM_B : ATOM_C;
  return true;
}
