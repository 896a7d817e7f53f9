// The accesses to shared memory in a program's machine code.
#pragma once
#include "kernels/toolchain/machine/sass.h"
#include "model/readings/model.h"
#include "model/text/emit.h"

// The widths in which `sass` executes the sites of `model`, whose text is `emission`; sites that
// its loops leave open are not named. NULL when it names none.
const MachineAccesses *machine_accesses(Arena *arena, const SassResult *sass,
                                        const Emission *emission, const Model *model);
