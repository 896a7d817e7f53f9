// The disposable processes of a worker: `gemmview worker --job compile|bench|machine`.
//
// Each reads request lines of the protocol on stdin and answers on stdout exactly as the worker
// passes it on. Text that NVRTC, ptxas or a driver print by themselves goes to stderr.
//
//   compile  one request, then it ends: a compile is answered by its results; a bench or a trace is
//            only made ready (its cubins are in the cache afterwards)
//   bench    one request (bench, trace, probe) after the other with one GPU context, until stdin
//   ends or
//            the context is lost
//   machine  no request: says what this machine has, then ends
#pragma once
#include <stdbool.h>

// On the driver's GPU of this number, from 0. The exit status; 2 when there is no such job.
int job_child_run(const char *job, int gpu);
bool job_child_exists(const char *job);
