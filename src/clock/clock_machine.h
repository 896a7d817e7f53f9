// The facts of an architecture's SM, read from data/clock/ARCH.json, each number with its source.
#pragma once
#include "base/diag.h"
#include "base/json.h"
#include "clock/clock_loop.h"

// The document {"arch":…,"sources":{…},"facts":{NAME:{"value":…,"source":…}}}; every fact of
// ClockMachine must be there but far_bytes, which is the GPU's: what L2 gives one of its SMs in a
// clock. False with findings in `diags`.
bool clock_machine_read(const JsonValue *root, ClockMachine *machine, Diags *diags);
