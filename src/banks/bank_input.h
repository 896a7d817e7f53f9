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
// Or it is one expression in `lane` (alias lane_id, laneid, tid, threadIdx.x), computed for each
// lane; -1 again means inactive:
//   lane * 16        (lane % 8) * 128 + (lane / 8) * 16        lane < 16 ? lane * 8 : -1
//
// All 32 lanes must be given, except that ldmatrix and stmatrix of one or two matrices are content
// with the 8 or 16 that carry addresses.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "banks/bank.h"
#include "base/diag.h"

// The operation of that name, or NULL after a diagnostic (rule "bank_op") with the nearest name.
const BankOp *bank_input_op(const char *name, Diags *diags);

// The same, of global memory too (sector.h): its kind is BANK_GLOBAL then.
const BankOp *bank_input_any_op(const char *name, Diags *diags);

// Reads and checks a list or an expression. False after at least one diagnostic; rules:
// "addr_syntax", "addr_count", "addr_range", "addr_align", "addr_more" (how many), "expression".
bool bank_input_addresses(const BankOp *op, const char *text, int64_t addr[BANK_LANES],
                          Diags *diags);

// Checks `n` addresses that were read elsewhere and spreads them over the lanes: lanes without an
// address of their own become inactive.
bool bank_input_check(const BankOp *op, const int64_t *values, int n, int64_t addr[BANK_LANES],
                      Diags *diags);
