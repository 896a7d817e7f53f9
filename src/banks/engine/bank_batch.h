// One access per line of JSON, answered line by line.
//
//   in   {"op":"lds128","name":"A tile","addr":[0,16,32,…]}
//   out  {"op":"lds128","name":"A tile","wavefronts":4,"conflicts":0,"ideal":4,"ways":1,"phases":4}
//
// "name" is optional and comes back as it was given; "addr" is an array of 32 integers (8 or 16 are
// enough for one or two matrices), -1 for an inactive lane, or a string in the language of
// bank_input.h. Other keys are ignored, except "wavefronts" and "conflicts", which are kept as what
// a measurement said.
#pragma once
#include "banks/engine/bank.h"
#include "base/form.h"
#include "base/json.h"

typedef struct BankLine {
  const BankOp *op;
  const char *name;  // NULL when the line has none
  int64_t addr[BANK_LANES];
  int64_t measured_wavefronts, measured_conflicts;  // -1 when the line does not say
} BankLine;

// `what` names the line in messages. False after at least one diagnostic.
bool bank_batch_read(Arena *arena, const char *text, size_t n, const char *what, BankLine *out,
                     Diags *diags);

// Whether the line's measurement, as far as it has one, is what the rules say.
bool bank_batch_agrees(const BankLine *line, BankCount count);

typedef struct BankAnswer {
  const BankOp *op;  // NULL: the line could not be read
  const char *name, *error;
  BankCount count;
} BankAnswer;

extern const Form bank_answer_form;  // of BankAnswer
extern const Form bank_map_form;  // of BankMap: phases, and what each bank does in each wavefront

// The whole answer, without a line break; for a line that could not be read, every member is null
// and "error" says why.
void bank_batch_write(Str *out, const BankLine *line, BankCount count);
void bank_batch_write_error(Str *out, const char *error);
