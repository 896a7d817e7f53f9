// From a word that machine code leaves otherwise than its PTX does, back to the instruction that
// made it.
//
// The thread that stored the word is followed: each of its instructions with the values that it
// read and wrote, as all lanes of its warp have them. A value is right if the same line of the PTX
// computed it when the thread came by as often, or if a right value was made of it; where line and
// instruction are not one for one, if the PTX computed it anywhere in the thread. From the wrong
// value the way goes back through wrong values, and through shared memory to the thread that stored
// one there, to an instruction that has right values only and made a wrong one. A store that is
// missing, or goes elsewhere, leads to its guard or its address; of a register that another one
// should have written the second candidate tells.
//
//   STG [R2], R9        R9 is wrong
//   FFMA R9, R4, R6, R9     R9 was wrong before, too
//   FFMA R9, R5, R6, RZ     R5, R6 are right: it is this one
#pragma once
#include "machine/back/mc_follow.h"

enum { MC_WAY_MAX = 24, MC_BESIDE_MAX = 24, MC_EARLY_MAX = 8, MC_FLOW_HINTS = 10 };
enum { MC_FIRST_EARLY = 3 };
enum { MC_SLICE_MAX = 96 };

typedef struct McFault {
  bool found;
  int pc;            // of the machine code: the instruction; -1
  int or_pc;         // that made a value which the first lacks: it may have put it elsewhere; -1
  int store_pc;      // the machine instruction that stored the word; -1: none
  int ptx_store_pc;  // the same of the PTX
  int thread, block[3];
  int steps;     // instructions gone back
  bool is_step;  // of several that one PTX instruction became; any of them may be wrong
  int n_way, way[MC_WAY_MAX];  // the last instructions that the way came by, from the store on
  uint32_t value;              // that it made
  McSymptom symptom;           // the event that made it
  // The instructions behind its sources, then those that the PTX's line became, too.
  int n_beside, beside[MC_BESIDE_MAX];
  // Instructions that made the first early value and this one, the nearest first.
  int n_slice, slice[MC_SLICE_MAX];
  // Those whose values the PTX's line does not have, the first one of the thread that was followed
  // last in front.
  int n_early, early[MC_EARLY_MAX];
  McThread early_thread;  // of the one in front
} McFault;

// A proof tries these first: `pc`, `or_pc`, the early ones, those beside, the store, and back along
// the way; how many they are.
enum { MC_HINTS_MAX = MC_WAY_MAX + MC_BESIDE_MAX + MC_EARLY_MAX + 3 };
int mc_back_hints(const McFault *fault, int out[MC_HINTS_MAX]);
// The early ones, the few that the PTX line of the first one became, and those that the way back
// ends at and begins with, which a proof tries before all others; how many.
enum { MC_FIRST_BESIDE = 4, MC_FIRST_STEPS = 16 };
enum { MC_FIRST_HINTS = MC_FIRST_EARLY + MC_FIRST_BESIDE + MC_FIRST_STEPS + 3 };
int mc_first_hints(const McFault *fault, const int *line, int n_code, int out[MC_FIRST_HINTS]);
// The slice, then all others of mc_back_hints(), each once; how many.
int mc_all_hints(const McFault *fault, int out[MC_SLICE_MAX + MC_HINTS_MAX]);
// Those that read a register which no instruction in front of them writes, then, where they are
// few, those with a result that nobody reads.
int mc_flow_hints(Arena *arena, const PtxModule *module, int out[], int most);

// Whether the early one in front has a wrong value in another run, too: a change that leaves it as
// it is makes memory right by chance.
bool mc_is_early(Arena *arena, McAgain *again, void *self, const int *line, int n_code,
                 const McFault *fault);

// `address`: of the word, in global memory. `line`: for each instruction of the machine code the
// line of the PTX that it was made from, 0 where that is not known.
McFault mc_back(Arena *arena, McAgain *again, void *self, const int *line, int n_code,
                uint64_t address);
// From an access that found no memory: its address goes back. `thread`: of the block, the warp of
// the cluster times 32 and the lane.
McFault mc_back_from(Arena *arena, McAgain *again, void *self, const int *line, int n_code, int pc,
                     int thread, const int block[3]);
// From the loop that machine code without an end goes round in, by the thread that was the last
// one.
McFault mc_back_round(Arena *arena, McAgain *again, void *self, const int *line, int n_code);
