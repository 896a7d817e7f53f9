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

#include "banks/layout.h"
#include "banks/slab_site.h"
#include "banks/solver_input.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/options.h"

CommandRun cmd_swizzle;

enum { N_STANDARD = 4, PROBLEM_BYTES_MAX = 1 << 20, GROUP_ROWS = 16 };

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

// The data to show: a layout, the facts about it, and sites with their costs in it and row by row.
typedef struct Swizzle {
  Arena *arena;
  const Layout *layout, *plain;
  LayoutFacts facts;
  const SlabSite *sites;
  int n_sites;
} Swizzle;

// ---- input --------------------------------------------------------------------------------------

static bool read_problem(Arena *arena, const char *path, SolverProblem *out, Diags *diags) {
  FILE *file = fopen(path, "r");
  char *text = arena_alloc(arena, PROBLEM_BYTES_MAX);
  const char *shown = str_sanitise(arena, path);
  if (!file) {
    diag_add(diags, "usage", "%s cannot be read: %m", shown);
    return false;
  }
  size_t n = fread(text, 1, PROBLEM_BYTES_MAX, file);
  bool broken = ferror(file) || n == PROBLEM_BYTES_MAX;
  fclose(file);
  if (broken) diag_add(diags, "usage", "%s cannot be read, or has 1 MiB or more", shown);
  return !broken && solver_problem_read(arena, text, n, shown, out, diags);
}

// Accesses that most kernels make, as far as the slab has room for them.
static void standard_sites(Arena *arena, SolverProblem *out) {
  const LayoutSlab *slab = &out->slab;
  int chunks = slab->row_bytes / 16, chunk = 16 / slab->elem_bytes, words = slab->row_bytes / 4;
  int word = slab->elem_bytes < 4 ? 4 / slab->elem_bytes : 1;
  bool has_chunks = slab->row_bytes % 16 == 0, has_words = slab->row_bytes % 4 == 0;
  const SlabSiteText texts[N_STANDARD] = {
      {"ldmatrix, 8 rows", "ldsm_x1", arena_printf(arena, "i/%d*8 + lane", chunks),
       arena_printf(arena, "i%%%d*%d", chunks, chunk), 1, has_chunks ? slab->rows / 8 * chunks : 0},
      {"16 bytes along rows", "lds128", arena_printf(arena, "(i*32 + lane)/%d", chunks),
       arena_printf(arena, "(i*32 + lane)%%%d*%d", chunks, chunk), 1,
       has_chunks ? slab->rows * chunks / 32 : 0},
      {"4 bytes along rows", "lds32", arena_printf(arena, "(i*32 + lane)/%d", words),
       arena_printf(arena, "(i*32 + lane)%%%d*%d", words, word), 1,
       has_words ? slab->rows * words / 32 : 0},
      {"4 bytes down columns", "lds32", arena_printf(arena, "i/%d*32 + lane", words),
       arena_printf(arena, "i%%%d*%d", words, word), 1, has_words ? slab->rows / 32 * words : 0},
  };
  SlabSite *sites = ARENA_ARRAY(arena, SlabSite, N_STANDARD);
  Diags unused = diags_new(arena);
  for (int i = 0; i < N_STANDARD; i++) {
    SlabSiteText text = texts[i];
    if (text.repeat == 0 || slab->elem_bytes > 4) continue;
    if (text.repeat > SLAB_REPEAT_MAX) text.repeat = SLAB_REPEAT_MAX;
    if (slab_site_build(arena, slab, &text, &sites[out->n_sites], &unused)) out->n_sites++;
  }
  out->sites = sites;
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
  standard_sites(arena, out);
  return true;
}

// ---- text ---------------------------------------------------------------------------------------

static char *place_of(const Swizzle *sw, int logical) {
  const LayoutSlab *slab = &sw->layout->slab;
  int inside = logical % slab->row_bytes, byte = inside % slab->elem_bytes;
  char *at = arena_printf(sw->arena, "row %d, col %d", logical / slab->row_bytes,
                          inside / slab->elem_bytes);
  return byte ? arena_printf(sw->arena, "%s, byte %d", at, byte) : at;
}

static const char *yes(bool value) { return value ? "yes" : "no"; }

static void print_facts(const Swizzle *sw) {
  const LayoutFacts *facts = &sw->facts;
  const LayoutSlab *slab = &sw->layout->slab;
  printf("%s\n%d rows of %d bytes, elements of %d; %d bytes of shared memory\n\n",
         str_sanitise(sw->arena, sw->layout->text), slab->rows, slab->row_bytes, slab->elem_bytes,
         sw->layout->storage_bytes);
  if (facts->bijective)
    printf("bijection           yes\n");
  else
    printf("bijection           no: %s and %s both lie at byte %d\n", place_of(sw, facts->clash[0]),
           place_of(sw, facts->clash[1]), sw->layout->offset_of[facts->clash[0]]);
  printf("linear over bits    %s%s\n", yes(facts->linear),
         facts->linear && facts->constant ? " (and a constant)" : "");
  printf("chunks kept whole   %d bytes\n", facts->whole_bytes);
  printf("vectors of 4 8 16   %s %s %s\n", yes(facts->whole_bytes >= 4),
         yes(facts->whole_bytes >= 8), yes(facts->whole_bytes >= 16));
  printf("ldmatrix, cp.async 16  %s\n", yes(facts->whole_bytes >= 16));
}

static void print_cost(const SlabCost *cost) {
  if (!cost->known)
    printf("  %18s", "unknown");
  else if (!cost->legal)
    printf("  %18s", "not aligned");
  else
    printf("  %10d %7d", cost->wavefronts, cost->ways);
}

static void print_sites(const Swizzle *sw) {
  if (sw->n_sites == 0) return;
  printf("\n%-24s %-9s  %18s  %18s\n", "", "", "row by row", "in this layout");
  printf("%-24s %-9s  %10s %7s  %10s %7s\n", "site", "op", "wavefronts", "ways", "wavefronts",
         "ways");
  for (int i = 0; i < sw->n_sites; i++) {
    SlabCost before = slab_site_cost(&sw->sites[i], sw->plain);
    SlabCost after = slab_site_cost(&sw->sites[i], sw->layout);
    printf("%-24s %-9s", str_sanitise(sw->arena, sw->sites[i].name), sw->sites[i].op->name);
    print_cost(&before);
    print_cost(&after);
    putchar('\n');
  }
}

static void print_text(const Swizzle *sw, bool map) {
  print_facts(sw);
  Str out = str_new(sw->arena);
  if (sw->facts.linear) {
    str_add(&out, "\nbits of the byte index (columns) and of the offset in shared memory (rows)\n");
    layout_print_bits(&out, &sw->facts);
  }
  if (sw->layout->slab.row_bytes >= 16 && sw->facts.whole_bytes >= 16) {
    str_add(&out, "\nbank group (0-7: four banks each) of each 16-byte chunk\n");
    layout_print_groups(&out, sw->layout, map ? sw->layout->slab.rows : GROUP_ROWS);
  }
  fputs(out.text, stdout);
  print_sites(sw);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_cost(JsonWriter *w, const char *key, const SlabCost *cost) {
  json_key(w, key);
  json_begin_object(w);
  bool shown = cost->known && cost->legal;
  const struct {
    const char *key;
    int value;
  } members[] = {{"wavefronts", cost->wavefronts},
                 {"ideal", cost->ideal},
                 {"conflicts", cost->conflicts},
                 {"ways", cost->ways}};
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
    if (shown)
      json_member_int(w, members[i].key, members[i].value);
    else
      json_member_null(w, members[i].key);
  json_member_bool(w, "aligned", cost->legal);
  json_end_object(w);
}

static void put_sites(JsonWriter *w, const Swizzle *sw) {
  json_key(w, "sites");
  json_begin_array(w);
  for (int i = 0; i < sw->n_sites; i++) {
    SlabCost before = slab_site_cost(&sw->sites[i], sw->plain);
    SlabCost after = slab_site_cost(&sw->sites[i], sw->layout);
    json_begin_object(w);
    json_member_string(w, "name", sw->sites[i].name);
    json_member_string(w, "op", sw->sites[i].op->name);
    put_cost(w, "plain", &before);
    put_cost(w, "layout", &after);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_place(JsonWriter *w, const Swizzle *sw, int logical) {
  const LayoutSlab *slab = &sw->layout->slab;
  json_begin_array(w);
  json_put_int(w, logical / slab->row_bytes);
  json_put_int(w, logical % slab->row_bytes / slab->elem_bytes);
  json_end_array(w);
}

static void put_clash(JsonWriter *w, const Swizzle *sw) {
  json_key(w, "clash");
  if (sw->facts.bijective) {
    json_put_null(w);
    return;
  }
  json_begin_object(w);
  json_key(w, "row_col");
  json_begin_array(w);
  put_place(w, sw, sw->facts.clash[0]);
  put_place(w, sw, sw->facts.clash[1]);
  json_end_array(w);
  json_member_int(w, "offset_bytes", sw->layout->offset_of[sw->facts.clash[0]]);
  json_end_object(w);
}

// For each bit of the index, the offset that it alone adds.
static void put_columns(JsonWriter *w, const LayoutFacts *facts) {
  json_key(w, "bit_columns");
  if (!facts->linear) {
    json_put_null(w);
    return;
  }
  json_begin_array(w);
  for (int bit = 0; bit < facts->n_bits; bit++) json_put_int(w, facts->column[bit]);
  json_end_array(w);
}

static void put_map(JsonWriter *w, const Layout *layout) {
  const LayoutSlab *slab = &layout->slab;
  json_key(w, "map");
  json_begin_array(w);
  for (int row = 0; row < slab->rows; row++) {
    json_begin_array(w);
    for (int byte = 0; byte < slab->row_bytes; byte += slab->elem_bytes)
      json_put_int(w, layout->offset_of[row * slab->row_bytes + byte]);
    json_end_array(w);
  }
  json_end_array(w);
}

static void print_json(const Swizzle *sw, bool map) {
  Str out = str_new(sw->arena);
  JsonWriter w = json_writer(&out);
  const LayoutSlab *slab = &sw->layout->slab;
  json_begin_document(&w);
  json_member_string(&w, "layout", sw->layout->text);
  json_member_int(&w, "rows", slab->rows);
  json_member_int(&w, "row_bytes", slab->row_bytes);
  json_member_int(&w, "elem_bytes", slab->elem_bytes);
  json_member_int(&w, "storage_bytes", sw->layout->storage_bytes);
  json_member_bool(&w, "bijective", sw->facts.bijective);
  put_clash(&w, sw);
  json_member_bool(&w, "linear", sw->facts.linear);
  json_member_int(&w, "constant", sw->facts.constant);
  put_columns(&w, &sw->facts);
  json_member_int(&w, "whole_bytes", sw->facts.whole_bytes);
  json_member_bool(&w, "vector4", sw->facts.whole_bytes >= 4);
  json_member_bool(&w, "vector8", sw->facts.whole_bytes >= 8);
  json_member_bool(&w, "vector16", sw->facts.whole_bytes >= 16);
  json_member_bool(&w, "ldmatrix", sw->facts.whole_bytes >= 16);
  json_member_bool(&w, "cpasync16", sw->facts.whole_bytes >= 16);
  put_sites(&w, sw);
  if (map) put_map(&w, sw->layout);
  json_end_object(&w);
  puts(out.text);
}

static int run_given(Arena *arena, const SwizzleOptions *given, int argc, char **argv,
                     Diags *diags) {
  if (argc != 2) {
    Diag *diag = diag_add(diags, "usage", argc < 2 ? "a layout is needed" : "one layout is needed");
    diag->nearest = "swizzle:3,4,3";
    return cli_fail(diags);
  }
  SolverProblem problem = {.name = ""};
  if (!read_slab(arena, given, &problem, diags)) return cli_fail(diags);
  Swizzle sw = {.arena = arena, .sites = problem.sites, .n_sites = problem.n_sites};
  sw.layout = layout_parse(arena, &problem.slab, argv[1], diags);
  if (!sw.layout) return cli_fail(diags);
  sw.plain = layout_parse(arena, &problem.slab, "none", diags);
  sw.facts = layout_examine(arena, sw.layout);
  if (!sw.facts.bijective) sw.n_sites = 0;
  if (given->json)
    print_json(&sw, given->map);
  else
    print_text(&sw, given->map);
  if (sw.facts.bijective) return CLI_OK;
  return cli_error(CLI_USAGE, "not a bijection: %s and %s both lie at byte %d of shared memory",
                   place_of(&sw, sw.facts.clash[0]), place_of(&sw, sw.facts.clash[1]),
                   sw.layout->offset_of[sw.facts.clash[0]]);
}

int cmd_swizzle(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  SwizzleOptions given = {0};
  int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  return run_given(arena, &given, argc, argv, &diags);
}
