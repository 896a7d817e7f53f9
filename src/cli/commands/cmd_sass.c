// gemmview sass: the instructions themselves, where the toolkit's nvdisasm is installed.
//
//   gemmview sass -k BM=16,BN=16            address, instruction
//   gemmview sass -k … --lines              with the line of `gemmview cuda` and the live registers
//   1a40! FFMA R8, R4, R6, R8               three registers of one bank; r: .reuse spares it
//   gemmview sass -k … --counts             the instructions of each kind, for each kernel
#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_compile.h"
#include "cli/common/documents.h"
#include "kernels/toolchain/machine/register_banks.h"
#include "kernels/toolchain/machine/saved_predicates.h"
#include "kernels/worker/result_json.h"

static const char *number_text(Arena *arena, int number) {
  return number < 0 ? "" : arena_printf(arena, "%d", number);
}

static void print_listing(const Compiled *c, const SassResult *sass) {
  const ClockMarks banks = register_banks_read(c->arena, sass, c->model->target->cc);
  const char *kernel = "";
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *line = &sass->lines[i];
    if (!str_equal(line->kernel, kernel)) printf("%s%s:\n", *kernel ? "\n" : "", line->kernel);
    kernel = line->kernel;
    if (c->given->lines)
      printf("%5s %3s | ", number_text(c->arena, line->cuda_line),
             number_text(c->arena, line->live_registers));
    if (line->address < 0)
      printf("%s\n", line->text);
    else
      printf("  %04x%-2s%s\n", (unsigned)line->address, register_bank_sign(banks.mark[i]),
             line->text);
  }
  if (banks.n_ffma) printf("\n%s\n", register_banks_sentence(c->arena, &banks));
  if (banks.n_ffma)
    printf("register banks of sm_%d: %s\n", c->model->target->cc,
           register_bank_rule(c->model->target->cc)->source);
  const LostPredicates lost = predicates_lost(c->arena, sass);
  if (lost.n) printf("\n%s\n", predicates_lost_sentence(c->arena, sass, &lost));
}

static void print_counts(const SassResult *sass) {
  const char *kernel = "";
  for (int i = 0; i < sass->n_counts; i++) {
    const SassCount *count = &sass->counts[i];
    if (!str_equal(count->kernel, kernel)) printf("%s%s:\n", *kernel ? "\n" : "", count->kernel);
    kernel = count->kernel;
    printf("%6d  %s\n", count->count, count->opcode);
  }
}

typedef struct SassShown {
  const Compiled *c;
  const SassResult *sass;
  ClockMarks banks;
  LostPredicates lost;
} SassShown;

// The indices of the lines, so that a reader needs no rule of its own; *n gets their number.
static const int *marked(Arena *arena, const SassShown *shown, ClockBankMark mark, int *n) {
  int *out = ARENA_ARRAY(arena, int, shown->sass->n_lines);
  *n = 0;
  for (int i = 0; i < shown->sass->n_lines; i++)
    if (shown->banks.mark[i] == mark) out[(*n)++] = i;
  return out;
}

#define FORM_FILE "cli/commands/forms/cmd_sass.form"
#include "base/form_make.h"

static void print_json(const Compiled *c, const SassResult *sass) {
  const SassShown shown = {c, sass, register_banks_read(c->arena, sass, c->model->target->cc),
                           predicates_lost(c->arena, sass)};
  cli_print_document(c->arena, &sass_form, &shown, NULL);
}

static void show(const Compiled *c) {
  const SassResult *sass = c->answer->sass;
  if (c->given->json)
    print_json(c, sass);
  else if (c->given->counts)
    print_counts(sass);
  else
    print_listing(c, sass);
}

CommandRun cmd_sass;
int cmd_sass(Arena *arena, int argc, char **argv) {
  static const CompileCommand command = {
      .name = "sass", .want = "cubin,sass", .takes_listing = true, .show = show};
  return cli_compile_run(&command, arena, argc, argv);
}
