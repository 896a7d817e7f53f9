// `gemmview worker`: the process beside the GPU. It reads requests on stdin and answers on stdout
// (protocol.h), compiles and runs in children of its own (job_child.h), and ends within a second of
// the end of its stdin, whatever its children are doing.
#pragma once

typedef struct WorkerOptions {
  const char *version;  // of the program, for the hello
  // Command of the children, to which "--job NAME" is appended. NULL: this program.
  const char *const *job_argv;
  int gpu;       // by the driver's number, from 0
  int compiles;  // at once; 0 = one for each core but one, which feeds the GPU
  int idle_ms;   // after which a child without work gives its GPU context back; 0 = 20 s
} WorkerOptions;

// Serves until stdin ends; the exit status.
int worker_run(const WorkerOptions *options);
