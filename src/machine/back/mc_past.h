// Instructions that a thread of the machine code did not come to, and the PTX's did: why. All
// answers are MC_NOBODY where there is none.
#pragma once
#include "machine/back/mc_source.h"
#include "machine/back/mc_writer.h"

// The event of the branch, or the end, that took a thread past an instruction when the PTX's
// carried it out.
int mc_past(const McWay *w, int pc, int64_t when);
// The event of a line's store that begins nearest below an address: it stores too little to come
// there.
int mc_store_below(const McWay *w, int line, const McWriter *ptx);
// The branch, an instruction, with which a loop would end that a thread does not leave, and the
// event in front of which its guard counts.
int mc_endless(const McFollowed *t, int *before);
// The first time that a thread comes by the instruction of an event more often than the PTX's comes
// by its line: whatever is right, it does not.
int mc_once_more(const McWay *w, int event);
