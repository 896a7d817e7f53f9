// Slots and phases of a ring that run along with its loop instead of being divided out anew.
//
//   int slot = turn * 256 % 3, full_phase = turn * 256 / 3 % 2;
//   for (int k_o = 0; k_o < 256; ++k_o) {
//     mbarrier_wait(full, slot, full_phase);        not  (turn * 256 + k_o) % 3, … / 3 % 2
//     …
//     if (++slot == 3) {
//       slot = 0;
//       full_phase ^= 1;
//     }
//   }
//
// The program says a slot as a digit of what a ring counts (model/ir/ring.h), and so do the
// interpreter and all readings. Of a power of two that is a mask and a shift; of another number it
// is a multiplication by a reciprocal between a slot's release and the copy into it, and with three
// slots nothing hides it: the rung `wide` of the hopper ladder with B column-major went from 687 to
// 712 TFLOP/s at 16384³ by this alone (H200, 2026-11-23, one chip, medians of nine batches of 300
// ms).
#pragma once
#include "model/text/emitter.h"

// In front of a loop: if the phases of a ring stand in it, declares what runs along, and numbers
// are written by it until emit_ring_end. NULL: the loop has no such ring, and there is nothing to
// end.
const EmitRing *emit_ring_begin(Emitter *emitter, const Stmt *loop);
// Behind the loop's last statement, inside of it: on to the next slab.
void emit_ring_end(Emitter *emitter, const EmitRing *ring);
