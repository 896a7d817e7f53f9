// The state of one printing: print.c (statements, kernels) and print_head.c (declarations). Others
// use print.h.
#pragma once
#include "model/ir/notation/print.h"

typedef struct Printer {
  Arena *arena;
  const Program *program;
  bool full;              // the complete text
  const Program *placed;  // full: the program with its shared memory laid out one after the other
  int n_lines, capacity;
  ProgramLine *line;
  KnobId around;  // of the statement around the list being printed
  int kernel;     // index of the one being printed; -1 in the head
} Printer;

// Adds a line; text, spans and kernel are filled in.
void printer_line(Printer *printer, const Spans *spans, ProgramLine line);

void print_head(Printer *printer);  // the declarations

// "m_t in 0..16 THREAD", and without the name
void print_var(Spans *out, const Var *var);
void print_range(Spans *out, const Var *var);
void print_knob(Spans *out, KnobId knob);     // " @STAGE", " @-" for none
void print_bytes(Spans *out, int64_t bytes);  // "  10 KiB"
