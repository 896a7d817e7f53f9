// gemmview solve: the best layout of a slab for the accesses that are made to it.
//
//   gemmview solve --example tf32-b          a built-in problem
//   gemmview solve problem.json              one's own; "-" reads standard input
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
#include "base/json.h"
#include "base/str.h"
#include "cli/common/cli.h"
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
  if (broken) diag_add(diags, "usage", "%s cannot be read, is not text, or has 1 MiB", *what);
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

// Every dialect that can say the best layout.
static void put_dialects(JsonWriter *w, Arena *arena, const SolverProblem *problem,
                         const SolverResult *result) {
  json_key(w, "dialects");
  json_begin_array(w);
  LayoutForm form = {0};
  if (result->found) form = form_of(arena, problem, result);
  for (int i = 0; result->found && i < notation_count; i++) {
    const char *why, *text = notation_print(arena, &notation_table[i], &form, &why);
    if (!text) continue;
    json_begin_object(w);
    json_member_string(w, "name", notation_table[i].name);
    json_member_string(w, "text", text);
    json_end_object(w);
  }
  json_end_array(w);
}

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
             c->exact ? "none is legal for all sites" : "not searched");
  }
}

static void put_sites(JsonWriter *w, const SolverProblem *problem, const SolverResult *result) {
  json_key(w, "sites");
  json_begin_array(w);
  for (int i = 0; i < problem->n_sites; i++) {
    const SlabCost *cost = &result->costs[i];
    bool known = result->found && cost->known;
    json_begin_object(w);
    json_member_string(w, "name", problem->sites[i].name);
    json_member_string(w, "op", problem->sites[i].op->name);
    json_member_int(w, "weight", problem->sites[i].weight);
    json_member_known(w, "wavefronts", known, cost->wavefronts);
    json_member_known(w, "ideal", known, cost->ideal);
    json_member_known(w, "conflicts", known, cost->conflicts);
    json_member_known(w, "ways", known, cost->ways);
    json_member_known(w, "bound", problem->sites[i].op->counted, result->site_floor[i]);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_families(JsonWriter *w, const SolverResult *result) {
  json_key(w, "families");
  json_begin_array(w);
  for (int f = 0; f < SOLVER_FAMILIES; f++) {
    const SolverCandidate *c = &result->families[f];
    json_begin_object(w);
    json_member_string(w, "family", solver_family_name((SolverFamily)f));
    json_member_string(w, "layout", c->layout);
    json_member_known(w, "total", c->layout != NULL, c->total);
    json_member_known(w, "storage_bytes", c->layout != NULL, c->storage_bytes);
    json_member_bool(w, "exact", c->exact);
    json_end_object(w);
  }
  json_end_array(w);
}

static void print_json(Arena *arena, const SolverProblem *problem, const SolverResult *result,
                       double ms) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "name", problem->name);
  json_member_string(&w, "layout", result->best.layout);
  put_dialects(&w, arena, problem, result);
  put_sites(&w, problem, result);
  json_member_known(&w, "total", result->found, result->best.total);
  json_member_known(&w, "bound", result->found, result->bound);
  json_member_bool(&w, "optimal", result->optimal);
  json_member_known(&w, "storage_bytes", result->found, result->best.storage_bytes);
  json_member_int(&w, "whole_bytes", result->whole_bytes);
  json_member_string(&w, "proof", result->proof);
  put_families(&w, result);
  json_member_double(&w, "time_ms", ms);
  json_end_object(&w);
  puts(out.text);
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
  if (json)
    print_json(arena, problem, &result, ms);
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
