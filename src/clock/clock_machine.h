// The facts of an architecture's SM, read from data/clock/ARCH.json, each number with its source.
#pragma once
#include "base/diag.h"
#include "base/json.h"
#include "clock/clock_loop.h"

// The document {"arch":…,"sources":{…},"facts":{NAME:{"value":…,"source":…}}}; every fact of
// ClockMachine must be there, unless the document says "borrows". Its architecture then has the
// facts that it states; the others come from the document it borrows from, which was read before
// it. False with findings in `diags`.
bool clock_machine_read(const JsonValue *root, ClockMachine *machine, Diags *diags);
// The architecture with the facts that stand in for the missing ones; NULL: none.
const char *clock_machine_borrows(const JsonValue *root, Diags *diags);
