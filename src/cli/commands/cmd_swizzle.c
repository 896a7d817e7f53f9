// gemmview swizzle: a layout of a slab, looked at from every side.
//
//   gemmview swizzle swizzle:2,4,3 --rows 128 --row-bytes 64 --elem 4
//   gemmview swizzle "xor:'col ^ (((row >> 1) & 3) << 2)'" --example tf32-b
//
// With --example or --problem the slab and its sites come from there; otherwise the costs shown are
// those of a few accesses that most kernels make. A layout that puts two elements in one place is
// shown with both of them, without costs, and the exit status is 2.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/layout.h"
#include "banks/solver/slab_standard.h"
#include "banks/solver/solver_input.h"
#include "base/disk.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/layouts/layout_view.h"
#include "cli/common/options.h"

CommandRun cmd_swizzle;

enum { PROBLEM_BYTES_MAX = 1 << 20 };

typedef struct SwizzleOptions {
  int rows, row_bytes, elem;
  const char *example, *problem;
  bool json, map;
} SwizzleOptions;

static const Option OPTIONS[] = {
    {.name = "rows",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(SwizzleOptions, rows),
     .lo = 1,
     .hi = BANK_SMEM_BYTES_MAX},
    {.name = "row-bytes",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(SwizzleOptions, row_bytes),
     .lo = 1,
     .hi = BANK_SMEM_BYTES_MAX},
    {.name = "elem",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(SwizzleOptions, elem),
     .lo = 1,
     .hi = 16},
    {.name = "example", .kind = OPTION_KIND_TEXT, .offset = offsetof(SwizzleOptions, example)},
    {.name = "problem", .kind = OPTION_KIND_TEXT, .offset = offsetof(SwizzleOptions, problem)},
    {.name = "map", .kind = OPTION_KIND_FLAG, .offset = offsetof(SwizzleOptions, map)},
    OPTION_JSON(SwizzleOptions),
};

// ---- input --------------------------------------------------------------------------------------

static bool read_problem(Arena *arena, const char *path, SolverProblem *out, Diags *diags) {
  const char *why = NULL;
  FILE *file = disk_open(path, true, &why);
  char *text = arena_alloc(arena, PROBLEM_BYTES_MAX);
  const char *shown = str_sanitise(arena, path);
  if (!file) {
    diag_add(diags, "usage", "%s cannot be read: %s", shown, why);
    return false;
  }
  size_t n = fread(text, 1, PROBLEM_BYTES_MAX, file);
  bool broken = ferror(file) || n == PROBLEM_BYTES_MAX;
  fclose(file);
  if (broken)
    diag_add(diags, "usage",
             "%s cannot be read: it is not a file of less than 1 "
             "MiB",
             shown);
  return !broken && solver_problem_read(arena, text, n, shown, out, diags);
}

static bool read_slab(Arena *arena, const SwizzleOptions *given, SolverProblem *out, Diags *diags) {
  bool sizes = given->rows || given->row_bytes || given->elem;
  if (sizes + (given->example != NULL) + (given->problem != NULL) != 1) {
    Diag *diag =
        diag_add(diags, "usage",
                 "the slab is given by --rows, --row-bytes and --elem, or by --example, or "
                 "by --problem");
    diag->nearest = "--rows 128 --row-bytes 64 --elem 4";
    return false;
  }
  if (given->problem) return read_problem(arena, given->problem, out, diags);
  if (given->example) {
    const SolverExample *example = solver_example_find(given->example, diags);
    return example && solver_problem_read(arena, example->text, strlen(example->text),
                                          example->name, out, diags);
  }
  if (!given->rows || !given->row_bytes || !given->elem) {
    diag_add(diags, "usage", "--rows, --row-bytes and --elem are needed, all three");
    return false;
  }
  out->slab = (LayoutSlab){given->rows, given->row_bytes, given->elem};
  if (!layout_check_slab(&out->slab, diags)) return false;
  out->sites = slab_standard_sites(arena, &out->slab, &out->n_sites);
  return true;
}

#define FORM_FILE "cli/commands/forms/cmd_swizzle.form"
#include "base/form_make.h"

static int run_given(Arena *arena, const SwizzleOptions *given, int argc, char **argv,
                     Diags *diags) {
  if (argc != 2) {
    Diag *diag = diag_add(diags, "usage", argc < 2 ? "a layout is needed" : "one layout is needed");
    diag->nearest = "swizzle:3,4,3";
    return cli_fail(diags);
  }
  SolverProblem problem = {.name = ""};
  if (!read_slab(arena, given, &problem, diags)) return cli_fail(diags);
  const Layout *layout = layout_parse(arena, &problem.slab, argv[1], diags);
  if (!layout) return cli_fail(diags);
  LayoutView view = layout_view(arena, layout, problem.sites, problem.n_sites);
  view.map = given->map;
  if (given->json)
    cli_print_document(arena, &swizzle_form, &view, NULL);
  else
    layout_view_print(&view, given->map);
  return layout_view_status(&view);
}

int cmd_swizzle(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  SwizzleOptions given = {0};
  int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  return run_given(arena, &given, argc, argv, &diags);
}
