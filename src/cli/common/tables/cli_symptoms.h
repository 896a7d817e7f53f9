// Breakages by what is seen of them on a GPU: from a symptom to what may be its cause.
//
//   gemmview interpret --symptom hangs                     all that hang
//   gemmview interpret --symptom all -k blackwell/roles    those that this program can have
#pragma once
#include "model/interp/breakage.h"

// `name` is a symptom's or "all"; `program` NULL: breakages of any program. False after a finding.
bool cli_print_symptoms(Arena *arena, const Program *program, const char *name, bool json,
                        Diags *diags);
