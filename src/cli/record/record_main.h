// gemmview open prog.cu --main -- args: a source that is a whole program becomes a capsule.
#pragma once
#include "base/diag.h"

typedef struct RecordMain {
  const char *source, *flags;  // of nvcc, NULL
  char *const *words;          // of the program
  const char *kernel;          // glob; NULL: any
  const char *launch;          // its number; NULL: the first
  const char *blocks;          // NULL: as record has it
  bool aside;                  // what it prints goes to stderr
  // Afterwards.
  const char *capsule, *folder;
  int status;  // where there is no capsule
} RecordMain;

// Compiles, runs and records; the launches are told on stderr. False after a finding, or after what
// was told already.
bool record_main(Arena *arena, RecordMain *given, Diags *diags);
void record_main_end(const RecordMain *given);
