// The cursor's place in a text, and in three texts at once.
//
// The line of CUDA that a line was made from is the place: the cursor of one text leads to the
// nearest line of another, whatever the compiler made of it. Worked example, texts of 178, 420 and
// 310 lines: from CUDA line 140, a multiply-add, PTX shows its first fma of that line and SASS the
// FFMA.
//
// Text before the first kernel (wrappers of instructions, types) or before the first instruction
// (declarations) is folded into a row of its own until the user asks for it. The whole list stays:
// readers of the data get every line.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/rewrite.h"
#include "tui/canvas/utf8.h"
#include "tui/views/program/source.h"

enum { FOLD_MIN = 4 };

int source_cuda_line(const Source *source, const SourceLine *line) {
  if (source->mode != SOURCE_CUDA) return line->cuda_line > 0 ? line->cuda_line : 0;
  return line->text && line->kind != DIFF_REMOVED ? line->number : 0;
}

int source_place(const Source *source, int cursor) {
  if (cursor >= source->n_lines) cursor = source->n_lines - 1;
  for (; cursor > 0; cursor--)
    if (source_cuda_line(source, &source->line[cursor])) break;
  return cursor >= 0 && source->n_lines ? source_cuda_line(source, &source->line[cursor]) : 0;
}

int source_nearest(const Source *source, int cuda_line) {
  int best = -1, least = INT_MAX;
  for (int i = 0; i < source->n_lines; i++) {
    int line = source_cuda_line(source, &source->line[i]);
    if (line == 0 || abs(line - cuda_line) >= least) continue;
    least = abs(line - cuda_line);
    best = i;
  }
  return best;
}

int source_numbered(const Source *source, int number) {
  for (int i = 0; i < source->n_lines; i++)
    if (source->line[i].text && source->line[i].number == number &&
        source->line[i].kind != DIFF_REMOVED)
      return i;
  return -1;
}

// Blank lines, comments and pragmas before a loop are the loop's too.
static bool is_head(const char *text) { return str_starts(text + strspn(text, " "), "for ("); }

int source_main_loop(const Source *source, const Model *model) {
  const Stmt *loop = program_outer_k_loop(model->program);
  for (int i = 0; i < source->n_lines; i++)
    if (loop && source->line[i].stmt == loop && is_head(source->line[i].text)) return i;
  return -1;
}

// ---- folding ------------------------------------------------------------------------------------

// The lines from `first` on that are folded.
static int folded_from(const Source *source, const Emission *emission, int *first) {
  *first = 0;
  if (source->mode == SOURCE_SASS || source->n_added + source->n_removed) return 0;
  if (source->mode == SOURCE_CUDA) {
    while (*first < source->n_lines && str_starts(source->line[*first].text, "//")) ++*first;
    return emission->n_kernels ? emission->kernel[0].first_line - *first : 0;
  }
  const PtxListing *listing = source->compiled->listing;
  int n = 0;
  while (n < listing->n_lines && !listing->lines[n].opcode) n++;
  return n < listing->n_lines ? n : 0;
}

void source_fold(Arena *arena, Source *source, const Emission *emission) {
  int first, n = folded_from(source, emission, &first);
  source->whole = source->line;
  source->n_whole = source->n_lines;
  if (n < FOLD_MIN) return;
  SourceLine *line = ARENA_ARRAY(arena, SourceLine, source->n_lines - n + 1);
  memcpy(line, source->line, (size_t)first * sizeof *line);
  line[first] = (SourceLine){.n_folded = n, .knob = KNOB_NONE, .cuda_line = -1};
  memcpy(line + first + 1, source->line + first + n,
         (size_t)(source->n_lines - first - n) * sizeof *line);
  source->line = line;
  source->n_lines -= n - 1;
  source->n_folded = n;
}

// ---- sideways -----------------------------------------------------------------------------------

int source_across_max(const Source *source, int cols) {
  int longest = 0;
  for (int i = 0; i < source->n_lines; i++) {
    int width = source->line[i].text ? utf8_columns(source->line[i].text) : 0;
    if (width > longest) longest = width;
  }
  return longest > cols ? longest - cols : 0;
}

SourceMatch source_match(Arena *arena, const char *text, const char *sought) {
  const char *at = text && *sought ? strcasestr(text, sought) : NULL;
  if (!at) return (SourceMatch){0};
  const char *before = arena_strndup(arena, text, (size_t)(at - text));
  return (SourceMatch){.col = utf8_columns(before), .cols = utf8_columns(sought)};
}

// The column before the cut is an ellipsis.
int source_across_for(SourceMatch match, int across, int cols) {
  if (match.col + match.cols > across + cols - 1) across = match.col + match.cols - cols + 1;
  return match.col < across ? match.col : across;
}
