// A PTX text that runs otherwise than its machine code → a small one that still does.
//
// The oracle is the disagreement itself: a text is kept that our reader takes, whose registers are
// all written before they are read, whose run ends as before, whose threads store to words of their
// own where they did, that ptxas takes, and whose memory or end differs. The order of what is tried
// is fixed: the same text and ptxas give the same answer.
#pragma once
#include "cli/open/against/against_sides.h"
#include "cli/open/open_cubin.h"

// ---- reduce_pieces.c: a text, cut into pieces that can be left out ------------------------------

typedef enum PieceKind {
  PIECE_HEAD,         // outside of the kernel: .version, a variable, a function
  PIECE_ENTRY,        // ".visible .entry k"
  PIECE_PARAM,        // of the kernel
  PIECE_TUNING,       // .maxntid
  PIECE_HINT,         // .pragma
  PIECE_OPEN,         // a brace inside the kernel
  PIECE_CLOSE,        //
  PIECE_DECLARATION,  // .reg, .shared, .branchtargets
  PIECE_LABEL,
  PIECE_INST,
} PieceKind;

typedef struct PieceWord {
  const char *at;
  int n;
  bool is_name;   // that the piece declares
  bool is_range;  // %r<9>: the name, a number behind it
} PieceWord;

typedef struct Piece {
  PieceKind kind;
  bool kept, needed;          // needed: never left out
  const char *text;           // on one line, without comments
  const char *from, *behind;  // where it stands in the whole text
  PieceWord *words;
  int n_words;
  int scope;  // names of this piece hold in front of that piece
} Piece;

typedef struct PieceText {
  Arena *arena;
  Piece *pieces;
  int n, n_insts, n_params;
} PieceText;

// The kernel's part of a text that is known to be PTX; other kernels are left out.
PieceText pieces_read(Arena *arena, const char *text, size_t bytes, const char *kernel);
int pieces_find(const PieceText *t, PieceKind kind, int nth);  // -1: there are fewer
// Leaves out labels and declarations that no instruction names any more, and braces around nothing.
void pieces_settle(PieceText *t);
bool piece_is_named(const PieceText *t, int at);  // by another one that is kept
const char *pieces_text(const PieceText *t);
// The same text with its shared memory PIECES_GAP bytes further.
enum { PIECES_GAP = 1024 };
const char *pieces_moved(Arena *arena, const char *text);
void piece_set_text(Arena *arena, Piece *piece, const char *text);
// The piece with another word for each `from`.
const char *piece_with(Arena *arena, const Piece *piece, const char *from, const char *to);
// The nth operand, from 0; NULL: there are fewer.
const char *piece_operand(Arena *arena, const Piece *piece, int nth);

// ---- reduce_flow.c: what an instruction reads and writes ----------------------------------------

// Leaves out, with what is left out already, instructions that read a register without a writer, or
// write one without a reader; with `keeps_dead` only one that has lost its readers. Instruction n
// of the pieces is code[kernel->first + n].
void flow_close(PieceText *t, const PtxModule *module, const PtxFunction *kernel, bool keeps_dead);

// A run of the PTX tells: the first register that was read before it was written, and values.
typedef struct FlowRun {
  Arena *arena;
  const PtxFunction *kernel;
  int unwritten_pc;  // -1: none
  // By instruction of the kernel: the result that the first and the last thread had, and a hash of
  // those of all lanes, each time.
  uint64_t *first, *last, *all;
  bool *has_run;
  struct FlowWarp *warps;
  int n_warps;
} FlowRun;

FlowRun flow_run_new(Arena *arena, const PtxFunction *kernel);
PtxTrace flow_trace;  // of FlowRun

// ---- reduce_try.c: whether a text still shows it ------------------------------------------------

typedef struct ReduceState {
  const char *text;
  size_t bytes;
  PtxLaunch launch;
  OpenBlocks blocks;
  OptionList args;
} ReduceState;

#define REDUCE_VERDICTS(X)                                             \
  X(SHOWS, "still different")                                          \
  X(NO_PTX, "no PTX")                                                  \
  X(UNWRITTEN, "a register is read before it is written")              \
  X(OTHER_END, "the PTX ends in another way, or with another finding") \
  X(DISPUTED, "several threads store to one word")                     \
  X(PLACED, "it depends on where shared memory lies")                  \
  X(NOT_ASSEMBLED, "ptxas does not take it")                           \
  X(EQUAL, "the difference is gone")                                   \
  X(SEEN, "tried before")

typedef enum ReduceVerdict {
#define VERDICT(id, text) REDUCE_##id,
  REDUCE_VERDICTS(VERDICT)
#undef VERDICT
      REDUCE_N_VERDICTS
} ReduceVerdict;

extern const char *const reduce_verdict_texts[REDUCE_N_VERDICTS];

typedef struct Reduce {
  Arena *arena;
  const char *path, *kernel, *ptxas;
  ReduceState state;  // the smallest that shows it
  bool is_memory;     // memory differs; else machine code ends with `end`
  PtxFindingKind end;
  PtxOutcome outcome;  // of the machine code
  unsigned findings;   // of the PTX, as it was: a bit for each kind
  int64_t budget;
  int block[3];        // that the first difference is of
  bool is_disputed;    // several threads store to one word: who is last nobody says
  bool is_placed;      // memory depends on where shared memory lies
  bool keeps_dead;     // it is not seen without code that has no reader
  int unwritten_line;  // of the text tried last
  int counts[REDUCE_N_VERDICTS];
  int assembled, most;  // machine codes made, and the limit of that
  OpenListings listings;
  uint64_t *seen;
  int n_seen, cap_seen;
} Reduce;

unsigned reduce_kinds(const PtxMachine *m);  // of its findings: a bit for each

// A text under trial.
typedef struct ReduceTrial {
  Arena *arena;
  ReduceState state;
  Sides sides;
  Side side[SIDES];
  bool is_disputed;
  const char *cubin;
  size_t bytes;
} ReduceTrial;

// The cheap questions. REDUCE_SHOWS: it stands now in `out`, assembled, for reduce_finish(); else
// the verdict. `arena` goes to the trial, or is freed.
ReduceVerdict reduce_begin(Reduce *r, Arena *arena, const ReduceState *candidate, ReduceTrial *out);
// Runs the machine code of the trials, in their order, up to the first that shows it, which becomes
// the state; -1: none does. Frees them all.
int reduce_finish(Reduce *r, ReduceTrial *trials, int n);
// PTX and machine code of the state; NULL modules after a finding.
Sides reduce_sides(Arena *arena, Reduce *r, const ReduceState *state, const char **cubin,
                   size_t *bytes, Diags *diags);

// ---- reduce_stores.c: words that several threads store to ---------------------------------------

typedef struct StoredWord {
  uint64_t address;
  int thread;  // 1 + its number in the block; 0: the place is free
} StoredWord;

typedef struct StoredWords {
  Arena *arena;
  bool is_disputed;
  StoredWord *words;  // by hash; a power of two of them
  int n, cap;
} StoredWords;

// A plain store: to global memory beside all before it, to shared memory beside its own lanes, for
// barriers order the others.
void stored_words_note(StoredWords *words, const PtxAccess *access);

// ---- one edit of the state, in reduce_edits.c and reduce_same.c ---------------------------------

typedef struct Scratch {
  Arena *arena;
  PieceText t;
  const PtxModule *module;
  const PtxFunction *kernel;
  ReduceState next;
  bool rewritten;  // pieces have other words than the module
} Scratch;

// False: nothing was changed.
typedef bool Edit(const Reduce *r, Scratch *s, int at, int n);

const PtxInst *scratch_inst(const Scratch *s, int at);  // NULL: there are fewer
Piece *scratch_piece(const Scratch *s, int at);
// Its one result, a register or a predicate; NULL.
const PtxGroup *scratch_result(const PtxInst *inst);
int scratch_bits(const Scratch *s, const PtxGroup *g);
// Whether one of these instructions writes a register.
bool scratch_is_written(const Scratch *s, int from, int to, PtxArg arg);
// Another word in place of a register's, from an instruction on.
void scratch_put(Scratch *s, int from, const char *result, const char *source);
// A run of the PTX as it stands; false: it cannot be run.
bool scratch_run(const Reduce *r, Scratch *s, FlowRun *flow);

// An instruction has the result of an earlier one, each time in all lanes: that one's register
// stands in place of its own. `at` -1: all such instructions at once.
Edit edit_same;
// A number in place of the register that it is moved to. `at` -1: in place of all such registers.
Edit edit_inline;
// The nth number of an instruction is 0, wherever the kernel has it or there alone, or smaller; a
// float of 0 is 1.
enum { EDIT_WAYS = 4, EDIT_NUMBERS = 3 * EDIT_WAYS };
Edit edit_plain;
// A number of an instruction is that of another one of its name.
enum { EDIT_TWINS = 4 };
Edit edit_twin;
// One element of a vector in place of all.
enum { EDIT_ELEMENTS = 4 };
Edit edit_scalar;

// ---- reduce_edits.c: what is tried --------------------------------------------------------------

// Makes the state smaller until nothing is left to try, or too much was tried.
void reduce_shrink(Reduce *r, int store_line);
