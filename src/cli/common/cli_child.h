// Work on the GPU that has no place in the worker, in a process of its own: a kernel that hangs or
// crashes costs that process only.
#pragma once

// Runs work(context) in a child and gives back the exit status it returns. A child that is not done
// after `seconds` is ended: CLI_TIMEOUT; one that a signal ends: CLI_BENCH. Both are told on
// stderr.
int cli_in_child(int (*work)(void *context), void *context, int seconds);
