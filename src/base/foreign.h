// Texts from outside on their way into a language that would act on them: a comment of C, a cell
// of a spreadsheet. For terminals there is str_sanitise(), for JSON json_put_string().
#pragma once
#include <stdio.h>

#include "base/arena.h"

// The text as it may stand in a comment of C, of either style: one line that ends no comment and
// goes on to no other line.
char *foreign_comment(Arena *arena, const char *text);
// A field of a CSV row in quotes, its own quotes doubled, and what follows it; NULL is an empty
// field. A text that a spreadsheet would take for a formula gets an apostrophe in front; a number
// stays what it is.
void foreign_cell(FILE *file, const char *text, char after);
