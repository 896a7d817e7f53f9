// The findings of gemmview open as text, JSON or Markdown.
#pragma once
#include "cli/open/open_result.h"

void open_print_text(const OpenResult *result);
// With the record's detail where there is one.
void open_print_json(const OpenResult *result);
void open_print_markdown(const OpenResult *result);
// Kernels of a module with their signatures.
// Where each lies among the parameters of a kernel, a line each.
void open_print_parameters(const PtxFunction *kernel);
void open_print_kernels(Arena *arena, const PtxModule *module, bool json);
// Every instruction that is known, and whether it is run.
void open_print_opcodes(void);
// True when something was found that makes the numbers or the kernel doubtful, and is not allowed.
bool open_has_findings(const OpenResult *result);
// The first one that is about the order of accesses, as a sentence: it holds in every order, for it
// goes by what is ordered, not by what happened. NULL: there is none. `cure`: how it can be mended;
// NULL: not said.
const char *open_order_finding(const OpenResult *result, const char **cure);
// Findings that may be right, since the PTX ISA leaves it open, each once: at most `most`
// texts into `out`; returns their number.
int open_order_questions(const OpenResult *result, const char *out[], int most);
