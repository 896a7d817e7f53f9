// The facts of an architecture's SM, read from data/clock/ARCH.json, each number with its source.
#pragma once
#include "base/diag.h"
#include "base/json.h"
#include "clock/clock_loop.h"

// The document {"arch":…,"sources":{…},"facts":{NAME:{"value":…,"source":…}}}; every fact of
// ClockMachine must be there, unless the document says "borrows": its architecture then has facts
// of its own where it states them, and those of another's document, which was read before it, else.
// False with findings in `diags`.
bool clock_machine_read(const JsonValue *root, ClockMachine *machine, Diags *diags);
// The architecture whose facts stand in for those that the document does not state; NULL: none.
const char *clock_machine_borrows(const JsonValue *root, Diags *diags);
