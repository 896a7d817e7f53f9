// Decoded instructions as text, for machine code that no disassembler has printed.
//
//   @!P0 BRA 0x150
//   FFMA R84, R8.reuse, R35, R84
//   LDS.128 R44, R60                 operands are registers alone: no modifiers, no constants
#pragma once
#include "base/arena.h"
#include "sass/sass_code.h"

const char *sass_text(Arena *arena, const SassInst *inst);

// A control word as listings show it, piece by piece.
typedef struct SassControl {
  char stall[4];                    // clocks to the warp's next issue: "1"
  char wait[SASS_SCOREBOARDS + 1];  // scoreboards that are waited for: "02"; "." for none
  char writes, reads;               // the scoreboard that the result, the read releases; '-': none
  char yield;                       // 'y': another warp may go first; ' '
  char reuse[SASS_SLOTS + 2];       // slots whose operand stays in the cache: "ab"; "." for none
} SassControl;

SassControl sass_control(const SassInst *inst);
