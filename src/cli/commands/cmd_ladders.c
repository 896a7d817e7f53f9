// gemmview ladders: the ladders and their rungs, as text, JSON or CSV.
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/common/cli.h"
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

static void write_rung(JsonWriter *w, const Rung *rung, int number) {
  json_begin_object(w);
  json_member_int(w, "rung", number);
  json_member_string(w, "name", rung->name);
  json_member_string(w, "title", rung->title);
  json_member_string(w, "state", rung->state);
  json_member_string(w, "line", rung->line);
  json_member_bool(w, "aside", rung->aside);
  json_member_string(w, "not_built", rung->not_built);
  json_key(w, "claim");
  claim_put_json(w, rung->claim);
  json_end_object(w);
}

static void print_json(Arena *arena, const Ladders *all) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "command", "ladders");
  json_key(&w, "ladders");
  json_begin_array(&w);
  for (int i = 0; i < all->n; i++) {
    json_begin_object(&w);
    json_member_string(&w, "name", all->ladder[i]->name);
    json_member_string(&w, "title", all->ladder[i]->title);
    json_member_string(&w, "source", all->ladder[i]->source);
    json_key(&w, "rungs");
    json_begin_array(&w);
    for (int r = 0; r < all->ladder[i]->n_rungs; r++) write_rung(&w, &all->ladder[i]->rung[r], r);
    json_end_array(&w);
    json_end_object(&w);
  }
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
}

static void print_csv(const Ladders *all) {
  puts("ladder,rung,name,title,state");
  for (int i = 0; i < all->n; i++)
    for (int r = 0; r < all->ladder[i]->n_rungs; r++) {
      const Rung *rung = &all->ladder[i]->rung[r];
      printf("%s,%d,%s,", all->ladder[i]->name, r, rung->name);
      cli_csv_text(rung->title, ',');
      cli_csv_text(rung->state, '\n');
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
  if (ok && argc > 2) diag_add(&diags, "usage", "one ladder at a time, not %d", argc - 1);
  if (ok && given.json && given.csv)
    diag_add(&diags, "usage", "--json and --csv exclude each other");
  ok = !diags.count && read_ladders(arena, &all, argc > 1 ? argv[1] : NULL, &diags);
  if (ok && given.json) print_json(arena, &all);
  if (ok && given.csv) print_csv(&all);
  if (ok && !given.json && !given.csv && argc > 1) print_text(all.ladder[0]);
  if (ok && !given.json && !given.csv && argc <= 1) print_list(&all);
  return ok ? CLI_OK : cli_fail(&diags);
}
