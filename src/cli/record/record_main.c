// prog.cu → a program in a folder of its own, with PTX and line numbers in it → its run → a
// capsule.
#include "cli/record/record_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/options.h"
#include "cli/open/open_input.h"
#include "cli/record/record_run.h"
#include "kernels/toolchain/tool.h"
#include "kernels/toolchain/tool_keeper.h"

enum { COMPILE_SECONDS = 300, BUDGET_MILLIONS = 2000, LAUNCH_MAX = 1000000000 };

static const char *program_name(Arena *arena, const char *source) {
  const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
  return arena_strndup(arena, name, strcspn(name, "."));
}

// PTX for one architecture: nvcc asks no assembler, and what runs is what is shown.
static const char *compile(Arena *arena, RecordMain *given, const char *nvcc, Diags *diags) {
  const char *program =
      arena_printf(arena, "%s/%s", given->folder, program_name(arena, given->source));
  int n_flags = 0, n = 0;
  char **flags = open_split_words(arena, given->flags ? given->flags : "", &n_flags);
  enum { OURS = 8 };
  const char **argv = ARENA_ARRAY(arena, const char *, n_flags + OURS);
  argv[n++] = nvcc;
  argv[n++] = "-lineinfo";
  argv[n++] = "-o";
  argv[n++] = program;
  argv[n++] = given->source;
  if (!open_names_arch(n_flags, flags)) {
    const char *arch = open_arch_of(arena, given->source);
    argv[n++] = "-gencode";
    argv[n++] = arena_printf(arena, "arch=compute_%s,code=compute_%s", arch, arch);
  }
  for (int i = 0; i < n_flags; i++) argv[n++] = flags[i];
  const ToolResult result = tool_run(arena, argv, "", 0, given->folder, COMPILE_SECONDS);
  if (result.ok) return program;
  given->status = CLI_COMPILE;
  diag_add(diags, "compile", "nvcc: %s",
           !result.limited && *result.output
               ? arena_printf(arena, "it does not compile\n%s", str_sanitise(arena, result.output))
               : result.error);
  return NULL;
}

static bool run(Arena *arena, RecordMain *given, const char *program, Diags *diags) {
  TargetTable targets;
  int n = 0;
  while (given->words[n]) n++;
  char **argv = ARENA_ARRAY(arena, char *, n + 2);
  argv[0] = (char *)(uintptr_t)program;
  for (int i = 0; i < n; i++) argv[i + 1] = given->words[i];
  RecordRequest request = {.kernel = given->kernel,
                           .capsule = arena_printf(arena, "%s.capsule", program),
                           .blocks = given->blocks ? given->blocks : "0",
                           .limit = CAPSULE_LIMIT_MB,
                           .budget = BUDGET_MILLIONS,
                           .seconds = RECORD_SECONDS,
                           .cpu = true,
                           .aside = given->aside,
                           .argv = argv};
  if (given->launch &&
      !option_parse_int(given->launch, 0, LAUNCH_MAX, "--launch", &request.launch, diags))
    return false;
  if (!cli_targets(arena, &targets, diags)) return false;
  const bool tensor = strstr(open_arch_of(arena, given->source), "100") != NULL;
  request.target = target_find(&targets, tensor ? "sm_100a" : "h200", diags);
  RecordOutcome outcome;
  if (!request.target || !record_run(arena, &request, &outcome, diags)) return false;
  record_print_launches(arena, &outcome);
  given->capsule = outcome.capsule;
  if (outcome.capsule) return true;
  given->status = CLI_NO;
  diag_add(diags, "record", "%s ended with status %d and made no such launch", given->source,
           outcome.status);
  return false;
}

bool record_main(Arena *arena, RecordMain *given, Diags *diags) {
  const char *nvcc = open_find_nvcc(arena);
  given->status = nvcc ? CLI_USAGE : CLI_MISSING;
  if (!nvcc) {
    diag_add(diags, "compile", "--main: nvcc was not found, and it must compile the program");
    return false;
  }
  given->folder = tool_folder(arena);
  if (!given->folder) {
    diag_add(diags, "file", "cannot make a folder for the output of nvcc: %s", strerror(errno));
    return false;
  }
  const char *program = compile(arena, given, nvcc, diags);
  if (program && run(arena, given, program, diags)) return true;
  record_main_end(given);
  return false;
}

void record_main_end(const RecordMain *given) {
  if (given->folder) tool_folder_remove(given->folder);
}
