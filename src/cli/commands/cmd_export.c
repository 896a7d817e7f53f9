// gemmview export: a standalone .cu with a main() that checks itself and times itself.
//
//   gemmview export -k BM=16,BN=16,FM=8,FN=8 -o matmul.cu
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o matmul matmul.cu && ./matmul
#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/options.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/export/export_cu.h"

typedef struct ExportOptions {
  const char *state, *output;
} ExportOptions;

static const Option options[] = {
    OPTION_STATE(ExportOptions),
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_KIND_TEXT,
     .offset = offsetof(ExportOptions, output)},
};

int cmd_export(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  ExportOptions given = {0};
  int n_options = sizeof options / sizeof options[0];
  if (!options_parse(options, n_options, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1)
    return cli_error(CLI_USAGE, "\"%s\" is not an option of export; give a state with -k: -k %s",
                     argv[1], argv[1]);
  const Model *model = cli_model(arena, given.state, &diags);
  if (!model) return cli_fail(&diags);
  const Emission *emission = emit_model(arena, model, model->program);
  const char *text = export_cu(arena, emission, model->program, model->target);
  if (given.output && !str_equal(given.output, "-")) return cli_write(arena, given.output, text);
  fputs(text, stdout);
  return CLI_OK;
}
