// Takes off the text that stands around addresses where people copy them from.
//
// bank_paste_plain turns a paste into a list as bank_input.h reads it, in the order of the lanes:
//   $1 = {0, 16, 32}          int row[32] = {0, 16};          addr: [0, 16]      the brackets'
//   inside $2 = (@shared float *) 0x400                                                 0x400
//   $3 = (@generic float * @local [32]) {0x7fffd9000000 <row>, …}        the brackets' inside,
//                                                                        symbols left out
//   0x7fffe000 <row+16>: 0x0 0x4                 a debugger's memory, line by line: 0x0 0x4
//   lane 3: 0x80    3 -> 128    [3] = 128    T3=128    tid 3 addr 0x80           lane 3 reads 0x80
//   0 0x0 ⏎ 1 0x80 ⏎ …                           32 lines of a lane and its address
// Threads are taken modulo 32 when all of them are of one warp: "tid 40" is lane 8 beside "tid 32".
// One access per line, comma or semicolon where lanes are named; lanes that are not named are
// inactive. Any other text comes back as it is.
#pragma once
#include "base/diag.h"

// NULL after a diagnostic (rule "addr_syntax"): a lane named twice, beyond 31, or a line without.
const char *bank_paste_plain(const char *text, Diags *diags);
