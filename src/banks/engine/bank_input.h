// Addresses as people paste them, checked.
//
// A list has one address per lane, separated by commas, semicolons or blanks; brackets and braces
// around it are ignored, so lists copied from C, Python or a debugger work:
//   0, 16, 32, …     0x0 0x10 0x20 …     [0, 4, 8, …]
//   -1  _  x  .      a lane that takes no part
//   lane 3: 0x80     lanes by name, one per line and in any order; those not named are inactive
//   0 <repeats 32 times>, $1 = {…}, int row[32] = {…}     as debuggers and sources have them;
//                    bank_paste.h lists what is taken off
//   0:512:16         start:stop:step, stop not included, here 32 addresses; 0:512 steps by the
//                    access size; several may follow each other
// Or it is one expression in `lane` (alias lane_id, laneid), `tid` (threadIdx.x) and `warp`,
// computed for each lane; -1 again means inactive:
//   lane * 16        (lane % 8) * 128 + (lane / 8) * 16        lane < 16 ? lane * 8 : -1
//
// Generic 64-bit addresses, as %p and debuggers print them, lie in the window of 16 MiB through
// which a CTA sees its shared memory: where all lanes are in one window, its begin is taken off.
//
// All 32 lanes must be given, except that ldmatrix and stmatrix of one or two matrices are content
// with the 8 or 16 that carry addresses.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "banks/engine/bank.h"
#include "base/diag.h"

// The operation of that name, or NULL after a diagnostic (rule "bank_op") with the nearest name.
const BankOp *bank_input_op(const char *name, Diags *diags);
const BankOp *bank_input_op_find(const char *name);  // NULL: none

// The same, of global memory too (sector.h): its kind is BANK_GLOBAL then.
const BankOp *bank_input_any_op(const char *name, Diags *diags);

// Reads and checks a list or an expression. False after at least one diagnostic; rules:
// "addr_syntax", "addr_count", "addr_range", "addr_align", "addr_more" (how many), "expression".
bool bank_input_addresses(const BankOp *op, const char *text, int64_t addr[BANK_LANES],
                          Diags *diags);

// The same with more said about an expression: what it counts in, and whose lanes they are.
typedef struct BankInput {
  const BankOp *op;
  int unit_bytes;  // 1: byte offsets; 4: the index of a float
  int warp;        // tid is 32 * warp + lane
} BankInput;

bool bank_input_read(const BankInput *input, const char *text, int64_t addr[BANK_LANES],
                     Diags *diags);
// Whether the text is an expression: a lane or a thread is named in it.
bool bank_input_is_expression(const char *text);
// Evaluates an expression for the lanes that give an address, in its own unit and unchecked.
bool bank_input_values(const BankInput *input, const char *expression, int64_t values[BANK_LANES],
                       Diags *diags);

// Checks `n` addresses that were read elsewhere and spreads them over the lanes: lanes without an
// address of their own become inactive.
bool bank_input_check(const BankOp *op, const int64_t *values, int n, int64_t addr[BANK_LANES],
                      Diags *diags);
