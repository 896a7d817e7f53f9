// --dump NAME=FILE: the memory of an argument as it is after the run.
#pragma once
#include "cli/open/open_result.h"

typedef struct OpenDump {
  int param;
  const char *file;
} OpenDump;

// Each names a parameter as PTX spells it ("k_param_0"), or by its number from 0, whose argument is
// memory of its own; NULL after findings. `buffers` are those of the kernel's parameters.
const OpenDump *open_read_dumps(Arena *arena, const PtxFunction *kernel, const OpenBuffer *buffers,
                                const char *const *items, int n, Diags *diags);
// Writes them; CLI_OK, or what the command ends with after a sentence on stderr.
int open_write_dumps(const OpenResult *result);
