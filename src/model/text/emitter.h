// The state of one emission; shared by emit_cuda.c (text, headings, declarations), emit_stmt.c
// (statements), emit_op.c (operations) and emit_value.c (elements). Others use emit.h.
#pragma once
#include "model/text/emit.h"
#include "model/text/emit_expr.h"
#include "model/text/prelude.h"

typedef struct EmitRow {
  const char *text;  // one line, indented, without newline
  const Stmt *stmt;
  KnobId knob;
  int kernel;
} EmitRow;

typedef struct EmitRows {
  int n, capacity;
  EmitRow *row;
} EmitRows;

enum { EMIT_BASES_MAX = 24, EMIT_HELPERS_MAX = 64 };

// A pointer to where a thread begins in a buffer; see emit_parts.h.
typedef struct EmitBase {
  const Buffer *buffer;
  const Expr *offset;
  const char *name;  // "A_s_at"
} EmitBase;

typedef struct EmitBases {
  int n;
  EmitBase base[EMIT_BASES_MAX];
} EmitBases;

// The places that are stamped; see emit_parts.h.
typedef struct EmitStamps {
  int n;
  EmitStamp *site;
  int *before, *behind;  // by statement: the place that begins or ends there, from 1 on; NULL: none
} EmitStamps;

typedef struct Emitter {
  Arena *arena;
  const Program *program;
  const EmitOptions *options;
  EmitRows rows;
  int kernel;            // being printed; -1 outside
  const char **names;    // of its variables, by id
  int64_t n_threads;     // of its block, those that multiply
  int block_warps;       // of its block, all of them
  bool elects;           // elect.sync picks lanes in it (emit_parts.h)
  const WarpRole *role;  // the role with the body being printed; NULL: every warp
  int depth;             // of indentation
  const Stmt *stmt;      // the lines to come belong to it
  KnobId knob;
  const char *predicate;  // the condition that copies carry themselves; NULL: none
  EmitStamps stamps;      // of the kernel being printed, if it is traced
  EmitSymbols symbols;
  EmitBases bases;           // of the kernel being printed
  bool tensor_allocated;     // in the lines above; and
  bool tensor_known;         // every thread has read where its tensor memory begins
  bool packed[BUFFERS_MAX];  // by id: registers that hold several values each
  int n_helpers;
  Prelude helper[EMIT_HELPERS_MAX];  // what the text uses, in the order of the prelude
} Emitter;

// One line at the present depth. Texts of more than 100 columns go on in a second line, broken at
// an argument or an operator.
void emitter_line(Emitter *emitter, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emitter_blank(Emitter *emitter);
void emitter_row(Emitter *emitter, const char *text);  // as it stands
// Puts the remarks behind the rows from `first` on below each other.
void emitter_align_remarks(Emitter *emitter, int first);

// "BK=16", or "BK" when no schedule is known.
const char *emitter_knob(const Emitter *emitter, KnobId knob);

// The name of a definition that the text uses.
const char *emit_helper(Emitter *emitter, Prelude helper);
const char *emit_type_name(Emitter *emitter, DType type);  // "float"

// Whether anything in the list reads the variable.
bool emit_list_reads(Emitter *emitter, const Stmt *list, const Var *var);

// A list of statements and everything below. `group` is the remark that stands above the list
// already (NULL: none).
void emit_stmts(Emitter *emitter, const Stmt *first, const char *group);
