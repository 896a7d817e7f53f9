// A program as text, from a file: what `interpret`, `check` and `cuda` take instead of a state.
//
// Which of the two is meant is never guessed: a state stands behind -k, an argument is a file.
#pragma once
#include "base/diag.h"
#include "model/ir/names.h"

// The FILE among the arguments, "-" for stdin; NULL when there is none, or after a finding: more
// than one, or a state besides.
const char *cli_program_file(const char *command, int argc, char **argv, const char *state,
                             Diags *diags);

// The program in that file; NULL after a finding of rule "file", "syntax" or "program".
const Program *cli_program(Arena *arena, const char *path, Diags *diags);

// "stdin", or the path without what a terminal could act on.
const char *cli_program_name(Arena *arena, const char *path);

// The complete text on standard output, below a remark that says where it comes from.
void cli_print_program(Arena *arena, const Program *program, const char *from);
