// gemmview diff: what changed between two kernels, in accesses, registers, spills, findings and
// clocks.
//
//   gemmview diff fp32/naive fp32/padded                       two states
//   gemmview diff old.cu new.cu --launch … --arg …             two sources, run alike
//   gemmview diff old.cubin new.cubin --kernel NAME            two cubins
//
// Less is better in every row. Clocks are worse where they are beyond the interval in which the
// first side's are expected. Rows of single accesses are shown beside each other and decide
// nothing: the sum does. The exit status is 0 where nothing is worse, 1 where a row is, 2 where the
// two cannot be compared.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/open/diff_side.h"

CommandRun cmd_diff;

typedef struct DiffOptions {
  const char *kernel, *launch, *blocks, *budget;
  OptionList arg, trips;
  bool markdown, json;
} DiffOptions;

static const Option OPTIONS[] = {
    {.name = "kernel", .kind = OPTION_KIND_TEXT, .offset = offsetof(DiffOptions, kernel)},
    {.name = "launch", .kind = OPTION_KIND_TEXT, .offset = offsetof(DiffOptions, launch)},
    {.name = "arg", .kind = OPTION_KIND_LIST, .offset = offsetof(DiffOptions, arg)},
    {.name = "blocks", .kind = OPTION_KIND_TEXT, .offset = offsetof(DiffOptions, blocks)},
    {.name = "budget", .kind = OPTION_KIND_TEXT, .offset = offsetof(DiffOptions, budget)},
    {.name = "trips", .kind = OPTION_KIND_LIST, .offset = offsetof(DiffOptions, trips)},
    {.name = "markdown", .kind = OPTION_KIND_FLAG, .offset = offsetof(DiffOptions, markdown)},
    OPTION_JSON(DiffOptions),
};

typedef enum Verdict { SAME, BETTER, WORSE, ONLY_A, ONLY_B } Verdict;
static const char *const VERDICTS[] = {"same", "better", "worse", "only in a", "only in b"};

typedef struct DiffRow {
  const char *metric;
  const DiffMetric *a, *b;  // NULL: the side has none
  Verdict verdict;
} DiffRow;

typedef struct DiffShown {
  const DiffSide *a, *b;
  Verdict verdict;
  const char *note;
  int n_rows, n_accesses;
  DiffRow row[2 * DIFF_METRICS_MAX], access[2 * DIFF_METRICS_MAX];
} DiffShown;

#define FORM_FILE "cli/commands/forms/cmd_diff.form"
#include "base/form_make.h"

// ---- comparing ----------------------------------------------------------------------------------

static const DiffMetric *find(const DiffSide *side, const DiffMetric *like) {
  for (int i = 0; i < side->n; i++)
    if (side->metric[i].access == like->access && str_equal(side->metric[i].name, like->name))
      return &side->metric[i];
  return NULL;
}

static Verdict verdict_of(const DiffMetric *a, const DiffMetric *b) {
  if (!b) return ONLY_A;
  if (!a) return ONLY_B;
  return b->value > a->high ? WORSE : b->value < a->low ? BETTER : SAME;
}

static void add_row(DiffShown *shown, const DiffMetric *a, const DiffMetric *b) {
  const DiffMetric *any = a ? a : b;
  const DiffRow row = {any->name, a, b, verdict_of(a, b)};
  // Slabs of another shape are fewer or more: their wavefronts are no sum of the same work.
  const bool other_slabs =
      str_equal(any->name, "wavefronts_per_slab") && !str_equal(shown->a->slab, shown->b->slab);
  if (any->access || other_slabs)
    shown->access[shown->n_accesses++] = row;
  else
    shown->row[shown->n_rows++] = row;
}

static void compare(DiffShown *shown) {
  for (int i = 0; i < shown->a->n; i++)
    add_row(shown, &shown->a->metric[i], find(shown->b, &shown->a->metric[i]));
  for (int i = 0; i < shown->b->n; i++)
    if (!find(shown->a, &shown->b->metric[i])) add_row(shown, NULL, &shown->b->metric[i]);
  for (int i = 0; i < shown->n_rows; i++) {
    const Verdict verdict = shown->row[i].verdict;
    if (verdict == WORSE) shown->verdict = WORSE;
    if (verdict == BETTER && shown->verdict == SAME) shown->verdict = BETTER;
  }
}

// Why the two cannot be compared; NULL: they can.
static const char *obstacle(Arena *arena, const DiffSide *a, const DiffSide *b) {
  const DiffSide *failed = a->failed ? a : b;
  if (failed->failed) return arena_printf(arena, "%s: %s", failed->text, failed->failed);
  if (!str_equal(a->target, b->target))
    return arena_printf(arena, "one is built for %s, the other for %s", a->target, b->target);
  if (!str_equal(a->problem, b->problem))
    return arena_printf(arena, "they solve different problems: %s and %s", a->problem, b->problem);
  return NULL;
}

// ---- text ---------------------------------------------------------------------------------------

static const char *value_text(Arena *arena, const DiffMetric *metric) {
  if (!metric) return "-";
  if (metric->low == metric->high) return arena_printf(arena, "%.0f", metric->value);
  return arena_printf(arena, "%.0f (%.0f to %.0f)", metric->value, metric->low, metric->high);
}

static void print_rows(Arena *arena, const DiffRow *row, int n, bool markdown) {
  for (int i = 0; i < n; i++) {
    const char *name = str_line(arena, row[i].metric);
    const char *a = value_text(arena, row[i].a), *b = value_text(arena, row[i].b);
    if (markdown)
      printf("| %s | %s | %s | %s |\n", name, a, b, VERDICTS[row[i].verdict]);
    else
      printf("  %-34s %24s %24s  %s\n", name, a, b, VERDICTS[row[i].verdict]);
  }
}

static void print_table(Arena *arena, const DiffRow *row, int n, const char *heading,
                        bool markdown) {
  if (n == 0) return;
  if (markdown)
    printf("\n| %s | a | b | |\n|---|---:|---:|---|\n", heading);
  else
    printf("\n  %-34s %24s %24s\n", heading, "a", "b");
  print_rows(arena, row, n, markdown);
}

static void print_text(Arena *arena, const DiffShown *shown, bool markdown) {
  const char *mark = markdown ? "`" : "";
  if (markdown) printf("**%s**\n\n", VERDICTS[shown->verdict]);
  printf("%sa%s: %s%s%s\n%sb%s: %s%s%s\n", markdown ? "- " : "", "", mark,
         str_line(arena, shown->a->text), mark, markdown ? "- " : "", "", mark,
         str_line(arena, shown->b->text), mark);
  print_table(arena, shown->row, shown->n_rows, "metric", markdown);
  print_table(arena, shown->access, shown->n_accesses, "wavefronts of an access", markdown);
  if (shown->note) printf("\n%s\n", str_line(arena, shown->note));
  if (!markdown)
    printf("\nb is %s\n", shown->verdict == SAME ? "the same" : VERDICTS[shown->verdict]);
}

// ---- the command --------------------------------------------------------------------------------

enum { WORDS_MAX = 128 };

static void push(const char **words, int *n, const char *option, const char *value) {
  if (!value || *n + 2 > WORDS_MAX) return;
  words[(*n)++] = option;
  words[(*n)++] = value;
}

// The options that are handed on to both sides.
static int words_of(const DiffOptions *given, const char **words) {
  int n = 0;
  push(words, &n, "--launch", given->launch);
  push(words, &n, "--blocks", given->blocks);
  push(words, &n, "--budget", given->budget);
  for (int i = 0; i < given->arg.count; i++) push(words, &n, "--arg", given->arg.items[i]);
  for (int i = 0; i < given->trips.count; i++) push(words, &n, "--trips", given->trips.items[i]);
  return n;
}

static int run(Arena *arena, const DiffOptions *given, char **side, const DiffAsk *ask) {
  if (diff_side_kind_of(side[0]) != diff_side_kind_of(side[1]))
    return cli_error(CLI_USAGE, "a %s and a %s cannot be compared",
                     diff_side_kind(diff_side_kind_of(side[0])),
                     diff_side_kind(diff_side_kind_of(side[1])));
  DiffSide *both = ARENA_ARRAY(arena, DiffSide, 2);
  for (int i = 0; i < 2; i++) diff_side_read(arena, side[i], ask, &both[i]);
  const char *why = obstacle(arena, &both[0], &both[1]);
  if (why) return cli_error(CLI_USAGE, "%s", str_line(arena, why));
  DiffShown *shown = ARENA_NEW(arena, DiffShown);
  *shown = (DiffShown){.a = &both[0], .b = &both[1]};
  shown->note = both[0].note ? both[0].note : both[1].note;
  compare(shown);
  if (given->json)
    cli_print_document(arena, &diff_form, shown, NULL);
  else
    print_text(arena, shown, given->markdown);
  return shown->verdict == WORSE ? CLI_NO : CLI_OK;
}

// Words behind "--" go to nvcc.
static int flags_at(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (str_equal(argv[i], "--")) return i;
  return argc;
}

int cmd_diff(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  DiffOptions given = {0};
  const int flags = flags_at(argc, argv);
  const int n_flags = argc - flags - (flags < argc);
  const char *words[WORDS_MAX];
  const char **flag = ARENA_ARRAY(arena, const char *, n_flags + 1);
  for (int i = 0; i < n_flags; i++) flag[i] = argv[flags + 1 + i];
  argc = flags;
  options_parse(OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], &given, &argc, argv, &diags);
  if (given.json && given.markdown)
    diag_add(&diags, "usage", "--json and --markdown exclude each other");
  if (argc != 3)
    diag_add(&diags, "usage", "two states, sources, cubins or capsules are needed")->nearest =
        "fp32/naive fp32/padded";
  if (diags.count) return cli_fail(&diags);
  const int n_words = words_of(&given, words);
  const DiffAsk ask = {n_words, words, n_flags, flag, given.kernel};
  return run(arena, &given, &argv[1], &ask);
}
