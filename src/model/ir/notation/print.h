// The program as text: one line per statement, and the difference of two programs.
#pragma once
#include "model/ir/names.h"
#include "model/ir/notation/print_span.h"

typedef struct ProgramLine {
  const char *text;  // without indentation
  int n_spans;       // its pieces, and what they are
  const TextSpan *span;
  int depth;
  int kernel;            // index of its kernel; -1 for a declaration
  const Stmt *stmt;      // NULL for declarations and kernel headings
  const Buffer *buffer;  // declaration lines of shared and register buffers
  KnobId knob;           // the knob that put the line there
  Tier tier;             // LOOP lines; TIER_SERIAL otherwise
} ProgramLine;

typedef struct ProgramText {
  int n_lines;
  const ProgramLine *line;
} ProgramText;

// Prints what a person reads of a program, and the complete text, which is read back (parse.h): the
// same lines, longer, below a head that says the problem and its axes.
ProgramText program_print(Arena *arena, const Program *program);
// The lines, indented by two blanks each.
char *program_text(Arena *arena, const Program *program);
char *program_text_full(Arena *arena, const Program *program);

// Line diff (longest common subsequence of the texts).
typedef enum DiffKind { DIFF_SAME, DIFF_REMOVED, DIFF_ADDED } DiffKind;
const char *diff_kind_name(DiffKind kind);  // "same", "removed", "added"
typedef struct DiffLine {
  DiffKind kind;
  const char *text;
  int depth;
  int from, to;  // line numbers in the two texts, -1 where it does not stand
} DiffLine;
typedef struct TextDiff {
  int n_lines, n_added, n_removed;
  const DiffLine *line;
} TextDiff;
// Whether line i is a change, or at most `around` lines from one.
bool diff_is_near_change(const TextDiff *diff, int i, int around);
TextDiff program_diff(Arena *arena, const Program *before, const Program *after);
TextDiff text_diff(Arena *arena, const char *const *before, int n_before, const char *const *after,
                   int n_after);
