// gemmview cuda: the CUDA C++ of a schedule, its line map, and what one pass changes in it.
//
//   gemmview cuda -k BM=16,BN=16,FM=8,FN=8            the text, ready for a file
//   gemmview cuda FILE                                the same of a program that is written down
//   gemmview cuda -k … --lines                        with line number, statement and knob in front
//   gemmview cuda -k … --pass vectorize               the lines this pass takes away and adds
#include <stdio.h>

#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_program.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/interp/interp.h"
#include "model/ir/buffer.h"

typedef struct CudaOptions {
  bool json, lines;
  const char *state, *pass;
} CudaOptions;

static const Option options[] = {
    OPTION_JSON(CudaOptions),
    OPTION_STATE(CudaOptions),
    {.name = "lines", .kind = OPTION_KIND_FLAG, .offset = offsetof(CudaOptions, lines)},
    {.name = "pass", .kind = OPTION_KIND_TEXT, .offset = offsetof(CudaOptions, pass)},
};

static const Emission *emit_stage(Arena *arena, const Model *model, int stage) {
  return emit_model(arena, model, model->pipeline.stage[stage].program);
}

static const char *line_text(Arena *arena, const Emission *emission, int line) {
  const EmitLine *at = &emission->lines[line];
  return arena_strndup(arena, emission->text + at->begin, at->length);
}

static const char *const *all_lines(Arena *arena, const Emission *emission) {
  const char **lines = ARENA_ARRAY(arena, const char *, emission->n_lines);
  for (int i = 0; i < emission->n_lines; i++) lines[i] = line_text(arena, emission, i);
  return lines;
}

static const char *knob_name(KnobId knob) {
  return knob == KNOB_NONE ? NULL : knob_table[knob].name;
}

// ---- text ---------------------------------------------------------------------------------------

static void print_lines(Arena *arena, const Emission *emission) {
  for (int i = 0; i < emission->n_lines; i++) {
    const EmitLine *line = &emission->lines[i];
    const char *knob = knob_name(line->knob);
    const char *stmt = line->stmt ? arena_printf(arena, "%d", stmt_id(line->stmt)) : "";
    printf("%4d %4s %-16s|%s%s\n", i + 1, stmt, knob ? knob : "", line->length ? " " : "",
           line_text(arena, emission, i));
  }
}

static TextDiff stage_diff(Arena *arena, const Model *model, int stage) {
  const Emission *before = emit_stage(arena, model, stage - 1);
  const Emission *after = emit_stage(arena, model, stage);
  return text_diff(arena, all_lines(arena, before), before->n_lines, all_lines(arena, after),
                   after->n_lines);
}

static void print_diff(const TextDiff *diff) {
  static const char marks[] = {[DIFF_SAME] = ' ', [DIFF_REMOVED] = '-', [DIFF_ADDED] = '+'};
  for (int i = 0; i < diff->n_lines; i++) {
    const DiffLine *line = &diff->line[i];
    printf("%c%s%s\n", marks[line->kind], *line->text ? " " : "", line->text);
  }
}

// ---- JSON ---------------------------------------------------------------------------------------

static const char **argument_names(Arena *arena, const EmitKernel *kernel) {
  const char **out = ARENA_ARRAY(arena, const char *, kernel->n_args);
  for (int i = 0; i < kernel->n_args; i++) out[i] = kernel->arg[i].buffer->name;
  return out;
}

// Holds the text to show: of a state its last stage, or the changes of one pass; of a file its
// program.
typedef struct CudaShown {
  const Model *model;  // NULL: a file
  int stage;
  const Emission *emission;
  const TextDiff *diff;  // NULL: the text itself
} CudaShown;

static int line_index(const CudaShown *shown, const EmitLine *line) {
  return (int)(line - shown->emission->lines);
}

#define FORM_FILE "cli/commands/forms/cmd_cuda.form"
#include "base/form_make.h"

// ---- the command --------------------------------------------------------------------------------

static int show(Arena *arena, const CudaShown *shown, const CudaOptions *given) {
  if (given->json)
    cli_print_document(arena, &cuda_form, shown, shown);
  else if (shown->diff)
    print_diff(shown->diff);
  else if (given->lines)
    print_lines(arena, shown->emission);
  else
    fputs(shown->emission->text, stdout);
  return CLI_OK;
}

static int show_state(Arena *arena, const CudaOptions *given, Diags *diags) {
  const Model *model = cli_model(arena, given->state, diags);
  if (!model) return cli_fail(diags);
  int last = model->pipeline.n_stages - 1;
  int stage = given->pass ? cli_find_stage(model, given->pass, diags) : last;
  if (stage < 0) return cli_fail(diags);
  const TextDiff diff = given->pass ? stage_diff(arena, model, stage) : (TextDiff){0};
  const CudaShown shown = {model, stage, emit_stage(arena, model, stage),
                           given->pass ? &diff : NULL};
  return show(arena, &shown, given);
}

static int show_file(Arena *arena, const CudaOptions *given, const char *file, Diags *diags) {
  if (given->pass) diag_add(diags, "usage", "--pass goes with a state: no pass made this program");
  const Program *program = diags->count ? NULL : cli_program(arena, file, diags);
  const char *fault = program ? interpret_fault(arena, program) : NULL;
  if (program && !fault) fault = emit_fault(arena, program);
  if (fault) diag_add(diags, "program", "%s: %s", cli_program_name(arena, file), fault);
  if (diags->count) return cli_fail(diags);
  const CudaShown shown = {.emission = emit_cuda(arena, program, &(EmitOptions){0})};
  return show(arena, &shown, given);
}

int cmd_cuda(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  CudaOptions given = {0};
  const char *file = NULL;
  int n_options = sizeof options / sizeof options[0];
  if (options_parse(options, n_options, &given, &argc, argv, &diags))
    file = cli_program_file("cuda", argc, argv, given.state, &diags);
  if (diags.count) return cli_fail(&diags);
  return file ? show_file(arena, &given, file, &diags) : show_state(arena, &given, &diags);
}
