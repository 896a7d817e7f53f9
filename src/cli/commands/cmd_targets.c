// gemmview targets: the table of GPUs as text, JSON or CSV.
//
// As text: one line per GPU, or with a name every number of one GPU with its unit and source. An
// unknown number is a dash in text, an empty cell in CSV and null in JSON.
#include <stdio.h>

#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/common/tables/text_table.h"
#include "model/words/target.h"

typedef struct TargetsOptions {
  bool json, csv;
} TargetsOptions;

static const Option options[] = {OPTION_JSON(TargetsOptions), OPTION_CSV(TargetsOptions)};

static const char *number_text(Arena *arena, double number) {
  return target_knows(number) ? arena_printf(arena, "%.10g", number) : "-";
}

static bool has_feature(const Target *target, int feature) {
  return *(const bool *)((const char *)target + target_features[feature].offset);
}

static void print_one(Arena *arena, const Target *t) {
  printf("%s: %s, %s, compute capability %d.%d\n\n", t->id, t->name, t->arch, t->cc / 10,
         t->cc % 10);
  for (int f = 0; f < TARGET_FIELD_COUNT; f++) {
    const TargetFieldInfo *info = &target_fields[f];
    const TargetSource *source = t->source[f];
    printf("%-24s %12s %-8s %s%s%s%s\n", info->name,
           number_text(arena, target_number(t, (TargetField)f)), info->unit, info->help,
           source ? " [" : "", source ? source->id : "", source ? "]" : "");
  }
  printf("\nhas:");
  for (int i = 0; i < target_feature_count; i++)
    if (has_feature(t, i)) printf("%s %s", i ? "," : "", target_features[i].help);
  printf("\n\n");
  for (int f = 0; f < TARGET_FIELD_COUNT; f++) {
    bool seen = !t->source[f];
    for (int g = 0; g < f && !seen; g++) seen = t->source[g] == t->source[f];
    if (!seen) printf("[%s] %s\n", t->source[f]->id, t->source[f]->title);
  }
}

typedef struct TargetsShown {
  const TargetTable *table;
  int n;
  const Target *target;
} TargetsShown;

// The source of each number that is known.
static const FormPair *sources_of(Arena *arena, const Target *t, int *n) {
  FormPair *out = ARENA_ARRAY(arena, FormPair, TARGET_FIELD_COUNT);
  *n = 0;
  for (int f = 0; f < TARGET_FIELD_COUNT; f++)
    if (t->source[f]) out[(*n)++] = (FormPair){target_fields[f].name, t->source[f]->id};
  return out;
}

static const char *source_id(const void *source) { return ((const TargetSource *)source)->id; }

#define FORM_FILE "cli/commands/forms/cmd_targets.form"
#include "base/form_make.h"

static void print_json(Arena *arena, const TargetTable *table, const Target *only) {
  const TargetsShown shown = {table, only ? 1 : table->count, only ? only : table->targets};
  cli_print_document(arena, &targets_form, &shown, NULL);
}

static const char *smem_text(Arena *arena, const void *it) {
  return arena_printf(arena, "%d", ((const Target *)it)->smem_per_block / 1024);
}

static void print_table(Arena *arena, const TargetTable *table) {
  static const TextColumn columns[] = {
      {"id", "target", .least = 15},
      {"name", "GPU", .least = 24},
      {"arch", "arch", .least = 8},
      {"sm_count", "SMs", .least = 4, .right = true},
      {"smem_per_block", "smem/block", "KiB", .least = 10, .right = true, .text = smem_text},
      {"boost_mhz", "MHz", "boost", .least = 6, .right = true},
      {"fp32_tflops", "fp32", "TFLOP/s", .least = 9, .right = true},
      {"bf16_tflops", "bf16", "TFLOP/s", .least = 9, .right = true},
      {"dram_gbps", "DRAM", "GB/s", .least = 9, .right = true}};
  text_table_print(arena, &(TextTable){&gpu_form, TEXT_COLUMNS(columns), " "}, table->targets,
                   sizeof *table->targets, table->count, NULL);
}

static const char *csv_columns(Arena *arena) {
  Str out = str_new(arena);
  str_add(&out, "id,name,arch,cc");
  for (int f = 0; f < TARGET_FIELD_COUNT; f++) str_printf(&out, ",%s", target_fields[f].name);
  return out.text;
}

static void print_csv(Arena *arena, const TargetTable *table, const Target *only) {
  const char *columns = csv_columns(arena);
  form_csv_heading(stdout, columns);
  for (int i = 0; i < table->count; i++)
    if (!only || only == &table->targets[i])
      form_csv_row(stdout, arena, &gpu_form, columns, &table->targets[i], NULL);
}

int cmd_targets(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  TargetsOptions given = {0};
  int n_options = sizeof options / sizeof options[0];
  if (!options_parse(options, n_options, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 2) return cli_error(CLI_USAGE, "at most one name, not %d", argc - 1);
  if (given.json && given.csv) return cli_error(CLI_USAGE, "--json and --csv exclude each other");
  TargetTable table;
  if (!cli_targets(arena, &table, &diags)) return cli_fail(&diags);
  const Target *only = argc == 2 ? target_find(&table, argv[1], &diags) : NULL;
  if (diags.count) return cli_fail(&diags);
  if (given.json)
    print_json(arena, &table, only);
  else if (given.csv)
    print_csv(arena, &table, only);
  else if (only)
    print_one(arena, only);
  else
    print_table(arena, &table);
  return CLI_OK;
}
