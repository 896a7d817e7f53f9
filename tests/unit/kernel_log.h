// Everything that runs of small PTX kernels say, held by a golden file: suites look at what a test
// is about, the log at the rest, such as which lanes, which bytes, how often.
//
// A suite begins its log when it is made and has kernel_log_check() as its last test; harnesses add
// each run. Where no log has begun nothing is kept.
#pragma once
#include "ptx/run/machine.h"
#include "ptx/tally/tally.h"

void kernel_log_begin(void);
// The watcher of a machine whose run is added later: accesses go on to the tally, which may be
// NULL.
void kernel_log_watch(PtxMachine *machine, PtxTally *tally);
// A run of `machine`, and the `n` words that it left at the address. `tally` may be NULL.
void kernel_log_add(const PtxMachine *machine, const PtxModule *module, PtxOutcome outcome,
                    const PtxTally *tally, uint64_t address, int n);
// Compares with tests/golden/`golden`.
void kernel_log_check(const char *golden);
