// What is illegal about a thing that was read well: as lines, and as a member of a document.
#pragma once
#include "base/diag.h"
#include "base/json.h"

// "illegal: SENTENCE; nearest: TEXT", a line each.
void cli_print_illegal(const Diags *findings);
// "illegal": [{"text": …, "nearest": …}, …]
void cli_put_illegal(JsonWriter *writer, const Diags *findings);
