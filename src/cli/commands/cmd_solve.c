// gemmview solve: the best layout of a slab for the accesses that are made to it.
//
//   gemmview solve --example tf32-b          a built-in problem
//   gemmview solve problem.json              the user's; "-" reads standard input
//   gemmview solve --example tf32-b --print  the problem itself, to start from
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/notation.h"
#include "banks/solver/solver.h"
#include "banks/solver/solver_input.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"

CommandRun cmd_solve;

enum { PROBLEM_BYTES_MAX = 1 << 20 };

typedef struct SolveOptions {
  const char *example;
  bool list, print, json, csv;
} SolveOptions;

static const Option OPTIONS[] = {
    {.name = "example", .kind = OPTION_KIND_TEXT, .offset = offsetof(SolveOptions, example)},
    {.name = "list", .kind = OPTION_KIND_FLAG, .offset = offsetof(SolveOptions, list)},
    {.name = "print", .kind = OPTION_KIND_FLAG, .offset = offsetof(SolveOptions, print)},
    OPTION_JSON(SolveOptions),
    OPTION_CSV(SolveOptions),
};

// The text of the problem, by example, file or stdin; NULL after a diagnostic.
static const char *read_text(Arena *arena, const SolveOptions *given, int argc, char **argv,
                             const char **what, Diags *diags) {
  if ((given->example != NULL) + (argc > 1) != 1 || argc > 2) {
    Diag *diag = diag_add(diags, "usage", "one problem is needed: a FILE, - or --example NAME");
    diag->nearest = "--example tf32-b";
    return NULL;
  }
  if (given->example) {
    const SolverExample *example = solver_example_find(given->example, diags);
    *what = example ? example->name : "";
    return example ? example->text : NULL;
  }
  bool from_stdin = str_equal(argv[1], "-");
  *what = from_stdin ? "stdin" : str_sanitise(arena, argv[1]);
  const char *why = NULL;
  FILE *file = from_stdin ? stdin : disk_open(argv[1], true, &why);
  if (!file) {
    diag_add(diags, "usage", "%s cannot be read: %s", *what, why);
    return NULL;
  }
  char *text = arena_alloc(arena, PROBLEM_BYTES_MAX + 1);
  size_t n = fread(text, 1, PROBLEM_BYTES_MAX, file);
  bool broken = ferror(file) || n == PROBLEM_BYTES_MAX || strlen(text) < n;
  if (!from_stdin) fclose(file);
  if (broken)
    diag_add(diags, "usage",
             "%s cannot be read: it is not a text of less than 1 "
             "MiB",
             *what);
  return broken ? NULL : text;
}

static void print_site(const SolverProblem *problem, const SolverResult *result, int i) {
  const SlabSite *site = &problem->sites[i];
  const SlabCost *cost = &result->costs[i];
  printf("  %-24s %-9s x%-6d", site->name, site->op->name, site->weight);
  if (cost->known)
    printf(" %10d %5d %8" PRId64 "\n", cost->wavefronts, cost->ways, result->site_floor[i]);
  else
    printf(" %10s %5s %8s\n", "unknown", "", "");
}

static LayoutForm form_of(Arena *arena, const SolverProblem *problem, const SolverResult *result) {
  Diags unused = diags_new(arena);
  return layout_form(arena, layout_parse(arena, &problem->slab, result->best.layout, &unused));
}

// In CuTe's words, and in the first of Triton's that can say it.
static void print_dialects(Arena *arena, const SolverProblem *problem, const SolverResult *result) {
  LayoutForm form = form_of(arena, problem, result);
  bool triton = false;
  for (int i = 0; i < notation_count; i++) {
    const Notation *notation = &notation_table[i];
    bool is_triton = notation_is_triton(notation) && !triton;
    if (!is_triton && !str_equal(notation->name, "cute")) continue;
    const char *why, *text = notation_print(arena, notation, &form, &why);
    if (!text) continue;
    printf("%-7s %s\n", is_triton ? "triton" : notation->name, text);
    triton |= is_triton;
  }
}

// A dialect that can say the best layout.
typedef struct SolveDialect {
  const char *name, *text;
} SolveDialect;

// A site beside what it costs.
typedef struct SolveSite {
  const SlabSite *site;
  const SlabCost *cost;
  bool known;
  int64_t floor;
} SolveSite;

typedef struct Solved {
  const SolverProblem *problem;
  const SolverResult *result;
  double ms;
} Solved;

static const SolveDialect *dialects(Arena *arena, const Solved *s, int *n) {
  SolveDialect *out = ARENA_ARRAY(arena, SolveDialect, notation_count);
  LayoutForm form = {0};
  *n = 0;
  if (!s->result->found) return out;
  form = form_of(arena, s->problem, s->result);
  for (int i = 0; i < notation_count; i++) {
    const char *why, *text = notation_print(arena, &notation_table[i], &form, &why);
    if (text) out[(*n)++] = (SolveDialect){notation_table[i].name, text};
  }
  return out;
}

static const SolveSite *sites(Arena *arena, const Solved *s) {
  const SolverProblem *problem = s->problem;
  SolveSite *out = ARENA_ARRAY(arena, SolveSite, problem->n_sites);
  for (int i = 0; i < problem->n_sites; i++) {
    const SlabCost *cost = &s->result->costs[i];
    out[i] = (SolveSite){&problem->sites[i], cost, s->result->found && cost->known,
                         s->result->site_floor[i]};
  }
  return out;
}

static const char *family_name(const Solved *s, const SolverCandidate *candidate) {
  return solver_family_name((SolverFamily)(candidate - s->result->families));
}

#define FORM_FILE "cli/commands/forms/cmd_solve.form"
#include "base/form_make.h"

static void print_text(Arena *arena, const SolverProblem *problem, const SolverResult *result,
                       double ms) {
  printf("%s: %d rows of %d bytes, elements of %d\n\n", str_sanitise(arena, problem->name),
         problem->slab.rows, problem->slab.row_bytes, problem->slab.elem_bytes);
  if (result->found) {
    printf("layout  %s\n", result->best.layout);
    print_dialects(arena, problem, result);
    printf("total   %" PRId64 " wavefronts, bound %" PRId64 ": %s\n", result->best.total,
           result->bound, result->optimal ? "optimal" : "not proven optimal");
    printf("\n  %-24s %-9s %-7s %10s %5s %8s\n", "site", "op", "weight", "wavefronts", "ways",
           "at least");
    for (int i = 0; i < problem->n_sites; i++) print_site(problem, result, i);
  }
  printf("\n%s\n\nthe best of each family (%.1f ms)\n", result->proof, ms);
  for (int f = 0; f < SOLVER_FAMILIES; f++) {
    const SolverCandidate *c = &result->families[f];
    if (c->layout)
      printf("  %-8s %8" PRId64 " wavefronts %7d bytes  %s%s\n",
             solver_family_name((SolverFamily)f), c->total, c->storage_bytes, c->layout,
             c->exact ? "" : "  (not all tried)");
    else
      printf("  %-8s %s\n", solver_family_name((SolverFamily)f),
             c->exact ? "no layout is legal for all accesses" : "not searched");
  }
}

static int list_examples(bool csv) {
  if (csv) puts("name,help");
  for (int i = 0; i < solver_example_count(); i++) {
    const SolverExample *example = solver_example_at(i);
    printf(csv ? "%s," : "%-12s ", example->name);
    if (csv)
      cli_csv_text(example->help, '\n');
    else
      puts(example->help);
  }
  return CLI_OK;
}

static int solve(Arena *arena, const SolverProblem *problem, bool json) {
  double started = clock_seconds();
  Arena *scratch = arena_new("solver");
  SolverResult result = solver_solve(arena, scratch, problem);
  arena_free(scratch);
  double ms = (clock_seconds() - started) * 1e3;
  const Solved solved = {problem, &result, ms};
  if (json)
    cli_print_document(arena, &solve_form, &solved, &solved);
  else
    print_text(arena, problem, &result, ms);
  return result.found ? CLI_OK : CLI_NO;
}

static int run_given(Arena *arena, const SolveOptions *given, int argc, char **argv, Diags *diags) {
  if (given->csv && !given->list)
    return cli_error(CLI_USAGE, "--csv goes with --list; a solution has --json");
  if (given->list) return list_examples(given->csv);
  const char *what = "";
  const char *text = read_text(arena, given, argc, argv, &what, diags);
  if (!text) return cli_fail(diags);
  SolverProblem problem;
  if (!solver_problem_read(arena, text, strlen(text), what, &problem, diags))
    return cli_fail(diags);
  if (!given->print) return solve(arena, &problem, given->json);
  puts(text);
  return CLI_OK;
}

int cmd_solve(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  SolveOptions given = {0};
  int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  return run_given(arena, &given, argc, argv, &diags);
}
