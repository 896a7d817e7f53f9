// gemmview ptx: what NVRTC makes of a schedule, before ptxas. No GPU is needed.
//
//   gemmview ptx -k BM=16,BN=16             the PTX as NVRTC gives it
//   gemmview ptx -k … --lines               code alone, the line of `gemmview cuda` in front
//   gemmview ptx -k … --counts              the number of instructions of each kind
#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_compile.h"
#include "cli/common/documents.h"
#include "kernels/toolchain/machine/ptx_lines.h"

static void print_lines(const PtxListing *listing) {
  for (int i = 0; i < listing->n_lines; i++) {
    const PtxLine *line = &listing->lines[i];
    if (line->cuda_line > 0)
      printf("%5d | %s\n", line->cuda_line, line->text);
    else
      printf("      | %s\n", line->text);
  }
}

static void print_counts(const PtxListing *listing) {
  for (int i = 0; i < listing->n_counts; i++)
    printf("%6d  %s\n", listing->counts[i].count, listing->counts[i].opcode);
}

#define FORM_FILE "cli/commands/forms/cmd_ptx.form"
#include "base/form_make.h"

static void show(const Compiled *c) {
  const char *ptx = c->answer->ptx->ptx;
  const PtxListing *listing = ptx_read(c->arena, ptx);
  if (c->given->json)
    cli_print_document(c->arena, &ptx_form, c, listing);
  else if (c->given->counts)
    print_counts(listing);
  else if (c->given->lines)
    print_lines(listing);
  else
    fputs(ptx, stdout);
}

CommandRun cmd_ptx;
int cmd_ptx(Arena *arena, int argc, char **argv) {
  static const CompileCommand command = {
      .name = "ptx", .want = "ptx", .takes_listing = true, .show = show};
  return cli_compile_run(&command, arena, argc, argv);
}
