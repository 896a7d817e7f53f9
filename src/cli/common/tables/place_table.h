// Where each copy of the loop over slabs may stand, as the interpreter tried it, and what the
// compiler makes of the kernel with the copy there: registers, bytes that are spilled, machine
// instructions.
//
//   gemmview resources -k attention/eager_kv --places
#pragma once
#include "cli/common/cli_worker.h"
#include "tui/session/placed_loads.h"

bool place_table_is_asked(int argc, char **argv);  // whether there is a --places
int place_table_run(Arena *arena, int argc, char **argv);

// Compiles the places that are not compiled yet, all at once, and files it; an exit status, after
// saying on stderr what went wrong. `ptxas_opt` and `compiler`, which gets "NVRTC 13.0", may be
// NULL.
int cli_compile_places(Arena *arena, CliWorker *worker, PlacedLoads *placed, const char *ptxas_opt,
                       const char **compiler);
