// The child that runs a kernel of one's own, and the file that it is made of.
//
//   OpenedRun *run = opened_run_new();
//   opened_run_set(run, argv, n);                 {"k.cu", "--launch", …}
//   opened_run_start(run);
//   while (…) if (opened_run_poll(run)) …         a document, an error or a stage came
//
// Nothing waits: a key that is pressed meanwhile is answered at once, and opened_run_stop() ends
// the child.
#pragma once
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

typedef struct OpenedRun OpenedRun;

OpenedRun *opened_run_new(void);
void opened_run_free(OpenedRun *run);
// The words behind `gemmview open`; the first is the file.
void opened_run_set(OpenedRun *run, const char *const *words, int n);
// Takes an option and its values out of the words, as often as it is there: "--arg".
void opened_run_drop(OpenedRun *run, const char *option);
// Puts words behind the file.
void opened_run_put(OpenedRun *run, const char *const *words, int n);
// The program that runs it, where it is not this very one.
void opened_run_program(OpenedRun *run, const char *program);
bool opened_run_given(const OpenedRun *run);  // false: no file is known
// The words again, quoted for a shell where they need it.
const char *opened_run_text(Arena *arena, const OpenedRun *run);
const char *opened_run_file(const OpenedRun *run);

bool opened_run_start(OpenedRun *run);  // false: no child could be made
void opened_run_stop(OpenedRun *run);
bool opened_run_going(const OpenedRun *run);
const char *opened_run_stage(const OpenedRun *run);  // "running block 3 of 56"; "" when not going

// The files that the kernel is made of, in place of the one that was opened.
void opened_run_files(OpenedRun *run, const char *const *paths, int n);
int opened_run_n_watched(const OpenedRun *run);
const char *opened_run_watched(Arena *arena, const OpenedRun *run);  // "k.cu and tile.h"
// Runs again after every save of one of them.
void opened_run_watch(OpenedRun *run, bool on);
bool opened_run_watches(const OpenedRun *run);

// Takes what has come, without waiting; true when there is something new. A document is given out
// once; what went wrong stays until the next start.
bool opened_run_poll(OpenedRun *run);
const char *opened_run_take(OpenedRun *run, size_t *bytes);  // NULL: none
const char *opened_run_error(const OpenedRun *run);          // "": none
