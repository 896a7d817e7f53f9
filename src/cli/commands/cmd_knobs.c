// gemmview knobs: every knob with its range, default and meaning, as text, JSON or CSV.
#include <stdio.h>

#include "base/nearest.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "model/words/knob.h"

typedef struct KnobsOptions {
  bool json, csv;
} KnobsOptions;

static const Option options[] = {OPTION_JSON(KnobsOptions), OPTION_CSV(KnobsOptions)};

static const char *range_text(Arena *arena, const Knob *knob) {
  if (knob->type == KNOB_TYPE_FLAG) return "0 or 1";
  if (knob->type == KNOB_TYPE_STAGE) return "00 10 01 11";
  if (knob->type == KNOB_TYPE_INT || knob->type == KNOB_TYPE_POWER)
    return arena_printf(arena, "%lld to %lld%s", (long long)knob->lo, (long long)knob->hi,
                        knob->type == KNOB_TYPE_POWER ? ", powers of 2" : "");
  return "a name";
}

static void print_text(Arena *arena, int only) {
  Schedule defaults = schedule_default();
  const char *tier = "";
  for (int i = 0; i < KNOB_COUNT; i++) {
    if (only >= 0 && i != only) continue;
    const Knob *knob = &knob_table[i];
    if (!str_equal(tier, knob->tier)) printf("%s%s\n", *tier ? "\n" : "", knob->tier);
    tier = knob->tier;
    const char *follows = knob_auto_text((KnobId)i);
    printf("  %-20s %-24s default %-8s %s%s%s%s%s%s\n", knob->name, range_text(arena, knob),
           knob_value_text(arena, &defaults, (KnobId)i), knob->help, follows ? "; auto: " : "",
           follows ? follows : "", *knob->aliases ? " (also " : "", knob->aliases,
           *knob->aliases ? ")" : "");
  }
  if (only < 0) printf("\n%s\n", knob_auto_rule);
}

typedef struct KnobsShown {
  int n;
  const Knob *knob;
} KnobsShown;

static KnobId id_of(const Knob *knob) { return (KnobId)(knob - knob_table); }

#define FORM_FILE "cli/commands/forms/cmd_knobs.form"
#include "base/form_make.h"

static void print_json(Arena *arena, int only) {
  const Schedule defaults = schedule_default();
  const KnobsShown shown = {only < 0 ? KNOB_COUNT : 1, &knob_table[only < 0 ? 0 : only]};
  cli_print_document(arena, &knobs_form, &shown, &defaults);
}

#define COLUMNS "name,tier,unit,lo,hi,default,aliases,help,auto"

static void print_csv(Arena *arena, int only) {
  const Schedule defaults = schedule_default();
  form_csv_heading(stdout, COLUMNS);
  for (int i = 0; i < KNOB_COUNT; i++)
    if (only < 0 || i == only)
      form_csv_row(stdout, arena, &knob_form, COLUMNS, &knob_table[i], &defaults);
}

int cmd_knobs(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  KnobsOptions given = {0};
  int n_options = sizeof options / sizeof options[0];
  if (!options_parse(options, n_options, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 2) return cli_error(CLI_USAGE, "at most one name, not %d", argc - 1);
  if (given.json && given.csv) return cli_error(CLI_USAGE, "--json and --csv exclude each other");
  const char *nearest = NULL;
  int only = argc == 2 ? (int)knob_find(argv[1], &nearest) : -1;
  if (argc == 2 && only < 0) {
    diag_add(&diags, "unknown_knob", "there is no knob \"%s\"%s", str_sanitise(arena, argv[1]),
             nearest ? "" : "; gemmview knobs lists them")
        ->nearest = nearest;
    return cli_fail(&diags);
  }
  (given.json ? print_json : given.csv ? print_csv : print_text)(arena, only);
  return CLI_OK;
}
