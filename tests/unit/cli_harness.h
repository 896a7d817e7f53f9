// Runs the program under test as a shell would, and writes scripts for a worker that only pretends.
#pragma once
#include "base/json.h"
#include "kernels/device/bench.h"
#include "kernels/toolchain/nvrtc.h"

// Where the runner of the tests names no program in $GEMMVIEW there is nothing to run.
bool cli_has_program(void);

typedef struct CliRun {
  int status;
  const char *out, *err;
} CliRun;

// `arguments` are words for the shell.
CliRun cli_run(Arena *arena, const char *arguments);
// The same for a whole command line.
CliRun cli_shell(Arena *arena, const char *command);
// The document on stdout; fails the test when it is none.
const JsonValue *cli_json(Arena *arena, const CliRun *run);

// A folder of the tests' own, empty but for the history: to stand in for the user's.
const char *cli_own_folder(Arena *arena);

// A file of its own in the folder for temporary files; the name.
const char *cli_write_file(Arena *arena, const char *name, const char *text);

// A worker that says hello, has a GPU of this name (NULL: none, with a reason) and answers every
// compile and every bench with these results (NULL: with done alone). What is returned are the
// options to give: "--worker '…'".
const char *cli_fake_worker(Arena *arena, const char *gpu, const CompileResult *cubin,
                            const BenchResult *bench);
// The same with rules of one's own after the hello.
const char *cli_fake_worker_rules(Arena *arena, const char *rules);

// Results as a healthy GPU gives them: 3.0 ms at 4096³, cuBLAS 2.7 ms.
CompileResult cli_good_cubin(void);
BenchResult cli_good_bench(void);
