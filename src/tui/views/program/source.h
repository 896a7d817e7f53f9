// The source view's data, of one kernel or of two: lines, counts of instructions, the ribbon.
//
// Everything is made in the frame arena by source_text.c, source_place.c and source_opcodes.c;
// source_lines.c, source_counts.c and view_source.c draw.
#pragma once
#include "kernels/toolchain/machine/register_banks.h"
#include "model/ir/notation/print.h"
#include "sass/sass_code.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/view.h"
#include "tui/session/session.h"

typedef enum SourceMode { SOURCE_CUDA, SOURCE_PTX, SOURCE_SASS, SOURCE_MODES } SourceMode;

// The choices in the view.
typedef struct SourceChosen {
  SourceMode mode;
  int across;     // columns of its lines that are left of the screen
  bool unfolded;  // it shows what it leaves out at first
  bool compared;  // its lines were those of A|B; the cursor was at
  int place;      // this one of them, by its number
  int sought;     // the line of CUDA that another text showed, till this text is there; 0: none
} SourceChosen;

static inline SourceChosen *source_chosen(const Session *session) {
  return view_chosen(session, &source_view);
}

typedef struct SourceLine {
  const char *text;  // NULL: lines that are alike were left out here
  Style style;
  DiffKind kind;  // of A|B; DIFF_SAME otherwise
  int number;     // of the line in its text, from 1
  KnobId knob;
  const Stmt *stmt;  // of B
  int site;
  int cuda_line;            // of PTX and SASS; -1 not known
  ClockBankMark bank_mark;  // of SASS
  ClockBankPair bank_pair;  // of a conflict
  const SassInst *inst;     // of SASS whose machine code has come; NULL
  const SassCode *code;     // of its kernel
  int n_folded;             // the row stands for this many lines; it has no text of its own
} SourceLine;

typedef struct OpcodeRow {
  const char *opcode, *shown;
  int a, b;
} OpcodeRow;

// Where products begin behind a barrier: reads of shared memory before the first of them, and the
// instructions of other kinds from the last of those reads to the next one; -1: there is none.
typedef struct Burst {
  int reads, others;
} Burst;
enum { BURSTS_MAX = 4 };

// The instructions of a text in order, one letter each (source_class_of).
typedef struct Ribbon {
  int n;
  const char *letter;
  int n_bursts;
  Burst burst[BURSTS_MAX];
} Ribbon;

typedef struct Source {
  SourceMode mode;
  int n_lines, n_added, n_removed;
  SourceLine *line;  // as shown
  int n_whole, n_folded;
  const SourceLine *whole;                    // without folds
  int cursor;                                 // the line at the place
  const struct Source *beside[SOURCE_MODES];  // this one and the others, in columns; or NULLs
  const Compiled *compiled, *compiled_a;      // NULL: not there (yet)
  const char *missing;                        // why there is no text of this kind; NULL: there is
  const char *status;          // "PTX 12 ms, ptxas 180 ms, NVRTC 13.0: 118 registers, no spills"
  const char *register_banks;  // of SASS with FFMA: what its register banks cost; else ""
  bool has_control;            // lines have their control words in front
  const char *bank_words;      // about the registers of the line under the cursor; NULL
  const char *identity;  // "PTX identical: yes  SASS identical: no"; "" when nothing is compared
  int n_opcodes;
  OpcodeRow *opcode;  // the largest difference first; without A|B the most frequent first
  Ribbon ribbon, ribbon_a;
} Source;

void source_list_cuda(Session *session, Source *source);
// The lines of a text; two texts are held against each other while their product is within the
// most.
enum { SOURCE_DIFF_CELLS_MAX = 4 << 20 };
const char **source_texts(Arena *arena, const Emission *emission);
void source_list_ptx(Session *session, Source *source);
void source_list_sass(Session *session, Source *source);
// About a line of SASS that reads one register bank twice, and what would avoid it; NULL: it does
// not.
const char *source_bank_words(Session *session, const SourceLine *line);
// The CUDA text of B against A: what differs, with a little around it.
void source_list_diff(Session *session, Source *source);

// ---- places (source_place.c) --------------------------------------------------------------------

// The line of CUDA that a line is, or was made from; 0 when neither is known.
int source_cuda_line(const Source *source, const SourceLine *line);
// The statement of a line, or of the nearest line above that has one.
int source_place(const Source *source, int cursor);
// Indices of lines, -1: none. The first of those made from the CUDA line nearest to this one; the
// line of that number; the first of the loop over slabs.
int source_nearest(const Source *source, int cuda_line);
int source_numbered(const Source *source, int number);
int source_main_loop(const Source *source, const Model *model);
// Puts one row in the place of what stands before the kernels.
void source_fold(Arena *arena, Source *source, const Emission *emission);

// How far the longest line goes beyond `cols` columns.
int source_across_max(const Source *source, int cols);
// Where `sought` stands in a text, in columns; cols is 0 where it does not.
typedef struct SourceMatch {
  int col, cols;
} SourceMatch;
SourceMatch source_match(Arena *arena, const char *text, const char *sought);
// The nearest offset from `across` at which the match is within `cols` columns.
int source_across_for(SourceMatch match, int across, int cols);

// The lines that a row of the nest stands for.
typedef struct SourcePart {
  int n, n_all, first, last;  // shown, in all, the first and last number; 0 and -1: none
  SourceLine *line;
} SourcePart;

SourcePart source_part(Session *session, const NestRow *row);

// The kernel that multiplies, all of it, and the index of the line at which its loop over K begins.
typedef struct SourceKernel {
  SourcePart part;
  int loop;
} SourceKernel;

SourceKernel source_kernel(Session *session);
// The first line to show in `rows` rows: the loop, and before it what has room.
int source_kernel_first(const SourceKernel *kernel, int rows);
int source_first_of(const Source *source, const NestRow *row);  // an index; -1: none
// Whether `stmt` is `outer` or inside it.
bool source_stmt_holds(const Stmt *outer, const Stmt *stmt);

void source_count(Arena *arena, Source *source);
void source_make_ribbons(Arena *arena, Source *source);
const char *source_identity(Arena *arena, const Compiled *a, const Compiled *b);

// The class of an instruction: 'M' multiplies on tensor cores, 'F' multiplies, 'L' reads shared
// memory, 'S' writes it, 'G' reads global memory, 'W' writes it, 'A' copies in the background, 'B'
// waits, 'J' jumps, '.' anything else. `opcode` of PTX or SASS.
char source_class_of(const char *opcode);
const char *source_short_opcode(Arena *arena, const char *opcode);  // as the counts show it
Style source_class_style(char letter);

// ---- rows (source_lines.c) ----------------------------------------------------------------------

// The target of a click: the name of a text, by its mode; a line, SOURCE_SPOT_LINE + the mode.
enum { SOURCE_SPOT_NAME = SPOT_VIEW, SOURCE_SPOT_LINE };

// By what lines are drawn: the place of the text that has the cursor.
typedef struct SourcePlace {
  const Stmt *stmt;
  int cuda_line;  // 0: lines are linked by their statements alone
  bool has_cursor;
  int across;
} SourcePlace;

// Not blank, no remark, no pragma: where the marks of a statement stand, which these belong to too.
bool source_line_is_code(const SourceLine *line);
// Columns of number and marks in front of the words.
int source_gutter_cols(const Source *source);
void source_draw_lines(Canvas *canvas, Rect in, const Session *session, const Source *source,
                       const SourcePlace *place);
// CUDA, PTX or SASS with its words in their colours, from column `across` of the line on, cut at
// the end of the row.
void source_draw_text(Canvas *canvas, Rect row, int col, const SourceLine *line, int across);

// ---- counts (source_counts.c) -------------------------------------------------------------------

// B alone, or A above B; returns the number of rows that it took.
int source_draw_ribbons(Canvas *canvas, Rect in, const Source *source);
int source_draw_register_banks(Canvas *canvas, Rect in, const Source *source);
void source_draw_opcodes(Canvas *canvas, Rect in, const Source *source);
