// gemmview ladders: the ladders and their rungs, as text, JSON or CSV.
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/common/tables/cli_ladder.h"

typedef struct LaddersOptions {
  bool json, csv;
} LaddersOptions;

static const Option options[] = {OPTION_JSON(LaddersOptions), OPTION_CSV(LaddersOptions)};

typedef struct Ladders {
  int n;
  const Ladder **ladder;
} Ladders;

// All of them, or the one of that name.
static bool read_ladders(Arena *arena, Ladders *all, const char *name, Diags *diags) {
  const Ladder *const *ladders = cli_ladders(arena, diags);
  const Ladder *one = ladders && name ? cli_ladder(arena, name, diags) : NULL;
  if (!ladders || (name && !one)) return false;
  while (ladders[all->n]) all->n++;
  if (one) all->n = 1;
  all->ladder = ARENA_ARRAY(arena, const Ladder *, all->n);
  for (int i = 0; i < all->n; i++) all->ladder[i] = one ? one : ladders[i];
  return true;
}

// A time as a speed too, as everything is shown that is found here.
static void print_claim(const Claim *claim) {
  const double tflops = claim_tflops(claim);
  printf("   claim (%s): %s", claim->gpu ? claim->gpu : "?", claim->text);
  if (!isnan(tflops) && !str_equal(claim->unit, "TFLOP/s"))
    printf("; that is %.3g TFLOP/s", tflops);
  putchar('\n');
}

static void print_text(const Ladder *ladder) {
  printf("%s: %s\n", ladder->name, ladder->title);
  if (*ladder->source) printf("from %s\n", ladder->source);
  for (int i = 0; i < ladder->n_rungs; i++) {
    const Rung *rung = &ladder->rung[i];
    printf("\n%2d %s  %s%s\n   %s\n   %s\n", i, rung->name, rung->title,
           rung->aside ? "  (side branch)" : "", rung->state, rung->line);
    if (rung->not_built) printf("   not built: %s\n", rung->not_built);
    if (rung->claim) print_claim(rung->claim);
  }
}

typedef struct NumberedRung {
  int number;
  const Rung *rung;
} NumberedRung;

// A line of the list of all rungs.
typedef struct ListedRung {
  const Ladder *ladder;
  NumberedRung rung;
} ListedRung;

static const NumberedRung *rungs_of(Arena *arena, const Ladder *ladder) {
  NumberedRung *out = ARENA_ARRAY(arena, NumberedRung, ladder->n_rungs);
  for (int i = 0; i < ladder->n_rungs; i++) out[i] = (NumberedRung){i, &ladder->rung[i]};
  return out;
}

#define FORM_FILE "cli/commands/forms/cmd_ladders.form"
#include "base/form_make.h"

#define COLUMNS "ladder,rung,name,title,state"

static void print_csv(Arena *arena, const Ladders *all) {
  form_csv_heading(stdout, COLUMNS);
  for (int i = 0; i < all->n; i++)
    for (int r = 0; r < all->ladder[i]->n_rungs; r++) {
      const ListedRung listed = {all->ladder[i], {r, &all->ladder[i]->rung[r]}};
      form_csv_row(stdout, arena, &listed_rung_form, COLUMNS, &listed, NULL);
    }
}

static void print_list(const Ladders *all) {
  for (int i = 0; i < all->n; i++)
    printf("%-10s %2d rungs  %s\n", all->ladder[i]->name, all->ladder[i]->n_rungs,
           all->ladder[i]->title);
}

int cmd_ladders(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  LaddersOptions given = {0};
  Ladders all = {0};
  bool ok = options_parse(options, sizeof options / sizeof *options, &given, &argc, argv, &diags);
  if (ok && argc > 2) diag_add(&diags, "usage", "one ladder is needed, not %d", argc - 1);
  if (ok && given.json && given.csv)
    diag_add(&diags, "usage", "--json and --csv exclude each other");
  ok = !diags.count && read_ladders(arena, &all, argc > 1 ? argv[1] : NULL, &diags);
  if (ok && given.json) cli_print_document(arena, &ladders_form, &all, NULL);
  if (ok && given.csv) print_csv(arena, &all);
  if (ok && !given.json && !given.csv && argc > 1) print_text(all.ladder[0]);
  if (ok && !given.json && !given.csv && argc <= 1) print_list(&all);
  return ok ? CLI_OK : cli_fail(&diags);
}
