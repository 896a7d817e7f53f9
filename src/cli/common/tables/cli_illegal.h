// Tells what is illegal about a thing that was read well: as lines, and as a member of a document.
#pragma once
#include "base/diag.h"
#include "base/form.h"

// "illegal: SENTENCE; nearest: TEXT", a line each.
void cli_print_illegal(const Diags *findings);
// The findings, findings->count of them, for REFS of their form {"text":…,"nearest":…}.
const Diag **cli_illegal(Arena *arena, const Diags *findings);
extern const Form illegal_form;
