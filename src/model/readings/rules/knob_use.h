// Tells which knobs say anything about a schedule: with a tensor-core atom warps are tiled by WM
// and WN, and BM and BN mean nothing; with plain FMA it is the other way round.
//
//   for (int i = 0; i < KNOB_COUNT; i++)
//     if (knob_is_used((KnobId)i, schedule)) …
#pragma once
#include "model/words/knob.h"

// False only where no value of the knob, whatever the others of the same family are set to, changes
// the program.
bool knob_is_used(KnobId knob, const Schedule *schedule);
