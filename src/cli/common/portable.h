// The files that a copied folder brings along.
#pragma once

// Adds the terminal descriptions of the folder that the program was started from, if it has any, to
// those that the terminal library searches. To be called before the terminal is opened.
void portable_find_terminfo(void);
