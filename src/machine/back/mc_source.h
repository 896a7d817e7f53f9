// Sources of a thread's instructions: whether they are right, and who made the values that they
// lack. All answers with an instruction are MC_NOBODY where there is none.
#pragma once
#include "machine/back/mc_follow.h"

// One thread of the machine code on the way back, and the PTX's.
typedef struct McWay {
  struct McBack *back;  // mc_back.c's own
  McFollowed t;
  McKnown known;
  bool turned;  // a wrong turn was looked for
} McWay;

// Whether the nth source of an event is the value of an event that is right.
bool mc_is_source_right(const McWay *w, const McEvent *e, int n);
// An instruction that would have written the register in between: its guard, or a branch past it,
// left it out. The PTX did not.
int mc_left_out(const McWay *w, const McEvent *e, int n);
// Whether no line of the PTX tells of an event's values.
bool mc_is_untold(const McWay *w, const McEvent *e);

// The last instruction in front of an event with a value that is never read: no compiler leaves
// one.
int mc_dead_before(const McWay *w, int at);
// The instruction behind a value that the PTX reads here and this event does not: it put it into
// another register, or another one took the register from it. `is_plain`: a value that is the same
// in all lanes counts, too, which many instructions make.
int mc_maker_of_missing(const McWay *w, int at, bool is_plain);
// The instruction behind a source whose value the PTX reads elsewhere, where the machine code reads
// another one: it was written to a wrong register, and this event came by it.
int mc_misdirected_source(const McWay *w, int at);
// The instruction behind a source of which no line of the PTX tells, and no right value was made.
int mc_untold_source(const McWay *w, int at);
// The instruction behind a source with a right value of its own, which the PTX does not read there:
// it belongs into another register.
int mc_strange_source(const McWay *w, int at);
// The instruction that made the address of the PTX, less what this event adds to its register; or
// the one that took the register from it.
int mc_maker_of_place(const McWay *w, int at);
