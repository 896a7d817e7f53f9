// A child process on three pipes that can be ended at any moment without waiting for it.
//
// The client's thread owns workers this way, and a worker owns its compile and bench children. The
// argument vector is executed as it is, never through a shell. A child that outlives its SIGKILL
// for a while (a driver tearing down a hung kernel) goes to the Reaper, which never waits.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernels/worker/lines.h"

enum { PROCESS_REAP_MAX = 256, PROCESS_WORDS_BYTES = 2048 };

typedef struct ProcessOptions {
  bool leaves;          // is asked to end (SIGTERM) when its parent thread dies, not killed
  bool new_session;     // a session of its own: no terminal, no Ctrl-C or Ctrl-Z from the screen
  int cpu_seconds;      // RLIMIT_CPU; 0 = none
  int nice;             // how far it stands behind its parent where processors are few, 0 to 19
  size_t memory_bytes;  // RLIMIT_AS; 0 = none (CUDA reserves address space by the terabyte)
  size_t line_limit;    // longest line accepted on its stdout
} ProcessOptions;

typedef struct Process {
  pid_t pid;                        // 0 when there is no child
  int in, out, err;                 // our ends, non-blocking and close-on-exec; -1 when closed
  LineReader lines;                 // its stdout
  OutQueue queue;                   // what its stdin has not taken yet
  char words[PROCESS_WORDS_BYTES];  // the end of its stderr, terminated
  size_t n_words;
} Process;

typedef struct Reaped {
  pid_t pid;
  int64_t kill_at_ms;  // on clock_ms()'s clock; 0: it was killed
  int out, err;        // what it may still write to, so that no SIGPIPE ends it; -1: closed
} Reaped;

typedef struct Reaper {
  Reaped left[PROCESS_REAP_MAX];
  int n;
} Reaper;

// False with errno when no child could be made; a command that cannot be executed is seen later, as
// an exit status of 127 with the reason on its stderr.
bool process_start(Process *process, const char *const *argv, const ProcessOptions *options);

// A process that was never started or is gone.
Process process_none(void);
bool process_is_running(const Process *process);

// Writes what waits for its stdin. A child that is gone or going is told nothing more: the end of
// its stdout says why.
void process_write(Process *process);

// Reads stderr until it is empty, keeping the last bytes.
void process_read_words(Process *process);

// SIGKILL to the child and its group, pipes closed, handed to the reaper. Nothing when not running.
void process_kill(Process *process, Reaper *reaper);

// The same with SIGTERM first, for a command that has something elsewhere to end, such as srun its
// job: the reaper kills it if it is there `patience_ms` later.
void process_dismiss(Process *process, Reaper *reaper, int patience_ms);

// Collects every child that has ended, without waiting. Returns the number still to come.
int reaper_collect(Reaper *reaper);

// Describes the exit of a child whose stdout has ended ("ended by signal 9 (Killed)", "ended with
// status 127"): waits up to `timeout_ms` for the exit status, and kills a child that closed its
// stdout but lives on.
void process_describe_end(Process *process, Reaper *reaper, int timeout_ms, char *text,
                          size_t n_text);
