// Where this program lies, and the files that a copied folder brings along.
#pragma once
#include <limits.h>
#include <stdbool.h>

// The path of this very program; false when it is not known.
bool portable_program(char path[PATH_MAX]);

// Adds the terminal descriptions of the folder that the program was started from, if it has any, to
// those that the terminal library searches. To be called before the terminal is opened.
void portable_find_terminfo(void);
