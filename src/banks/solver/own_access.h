// An access that a user brings along: read from a line, costed, and written anew without conflicts.
//
//   lds32 (tid % 8) * 32 + lane / 8      an index of floats; 8 wavefronts, best 1
//     write  (tid % 8) * 36 + lane / 8        rows of 36 instead of 32
//     or     i ^ ((i >> 3) & 28)              i is the expression as it was
//
// The line is [OP] [warp N] [bytes | f16 | f32 | f64 | …] TEXT, or --op OP --addr TEXT as on the
// command line. An expression is the index of an element, of four bytes unless another unit is
// named; lists and debuggers' addresses are bytes, and so is all that --addr brings.
//
// If a factor of the expression is the pitch of its rows ("* 32": what is left fits into a row),
// the slab has these rows and a pad is another factor. Else the slab is shared memory line by line
// of 128 bytes.
#pragma once
#include "banks/engine/bank_input.h"
#include "banks/solver/solver.h"
#include "base/form.h"
#include "base/json.h"

// One way to write the access.
typedef struct OwnLayout {
  const char *layout;      // as layout_parse reads it
  const char *expression;  // in the user's terms
  bool whole;              // it stands for itself; else it speaks of what was there before by name
  int pad;                 // units that every row gets; 0: none
  int64_t addr[BANK_LANES];
  BankCount count;
} OwnLayout;

enum { OWN_LAYOUTS = 2 };

typedef struct OwnAccess {
  const char *text;  // without the words before it
  BankInput input;
  const char *unit;  // "f32", "bytes"
  const char *name;  // of the text in a replacement: "i", "addr"
  bool expression;
  int64_t addr[BANK_LANES];
  BankCount count;
  int row;   // units in a row of the slab
  int step;  // units that a layout moves together
  bool pitch;
  int n_layouts;  // that cost less than it does now, the one without a pad first
  OwnLayout layout[OWN_LAYOUTS];
  const char *proof;  // of the best; NULL where nothing was looked for
} OwnAccess;

// `scratch` is reset along the way. `before` gives the operation where the line leaves it out;
// NULL: lds32. False after findings.
bool own_access_read(Arena *arena, Arena *scratch, const char *line, const OwnAccess *before,
                     OwnAccess *out, Diags *diags);
// The same from its parts: `unit` is one of the words above (rule "unit").
bool own_access_make(Arena *arena, Arena *scratch, const BankOp *op, const char *unit,
                     const char *text, OwnAccess *out, Diags *diags);
// The same text with another operation or unit, where that can be read.
bool own_access_as(Arena *arena, Arena *scratch, const OwnAccess *from, const BankOp *op,
                   const char *unit, OwnAccess *out, Diags *diags);

extern const Form own_layouts_form;  // "bytes", "f16", …: the n-th unit, NULL behind the last.
const char *own_access_unit(int n);
