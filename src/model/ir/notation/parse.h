// The complete text of a program, read back.
//
//   Program *program = program_parse(arena, text, size, "mine.txt", &diags);
//   if (!program) …  diags: mine.txt:12:31: expected "]", found "*"
//
// Facts that the text says twice (bytes, guards, threads) are checked, not believed. Blanks between
// words are free, indentation is what makes bodies, # begins a remark. A statement's id is the
// number of its line, so that findings name lines; loops that share a line have ids behind the last
// line's, but for the first.
#pragma once
#include "base/diag.h"
#include "model/ir/names.h"

enum { PARSE_BYTES_MAX = 4 << 20 };

// NULL after adding one finding, of rule "syntax" (what was expected and what stands there) or
// "program" (program_check has something against it). `name` is what findings call the text.
Program *program_parse(Arena *arena, const char *text, size_t size, const char *name, Diags *diags);
