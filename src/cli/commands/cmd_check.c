// gemmview check: every rule, whether it holds for a schedule, and what would mend it.
//
//   $ gemmview check -k BM=8,BN=256
//   BM=8,BN=256 on h200
//
//   FAILS  threads_fit        BM=8, BN=256: 2048 threads in a block, at most 1024 on h200
//                             nearest: BN=128
//   holds  cells_fit          a thread's cells and fragments fit in the registers …
//   open   smem_fits          the slabs fit in the shared memory one block may have
//   …
//   1 of 36 rules fails; 2 cannot be asked until then
//
// Above the rules stand the knobs that the state left out and that are on all the same, with the
// rule of each, and the same state with nothing left out:
//   auto   BUFFER_COUNT=2     2 once slabs are staged: a double buffer
//   pinned AUTO=0,BM=8,…,BUFFER_COUNT=2,…
//
// gemmview check FILE asks of a program that is written down whether it is sound; rules are of
// states:
//   mine.txt is sound: kernel matmul, 4 blocks of 256 threads
//
// Exit status 1 when a rule fails or the program is not sound; a state or a file that cannot be
// read at all is 2, as everywhere.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_every.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_program.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "model/interp/interp.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/readings/rules/knob_use.h"
#include "model/readings/rules/rule.h"

typedef struct CheckGiven {
  const char *state;
  bool json, csv, failing, every_order, strict;
} CheckGiven;

static const Option options[] = {
    OPTION_STATE(CheckGiven),
    OPTION_JSON(CheckGiven),
    OPTION_CSV(CheckGiven),
    {.name = "every-order", .kind = OPTION_KIND_FLAG, .offset = offsetof(CheckGiven, every_order)},
    {.name = "strict", .kind = OPTION_KIND_FLAG, .offset = offsetof(CheckGiven, strict)},
    {.name = "failing", .kind = OPTION_KIND_FLAG, .offset = offsetof(CheckGiven, failing)},
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

static const char *const verdict_words[] = {
    [RULE_HOLDS] = "holds", [RULE_FAILS] = "FAILS", [RULE_OPEN] = "open"};

// The finding of a rule that fails; NULL otherwise.
static const Diag *judge(Arena *arena, const Model *model, int rule, RuleVerdict *verdict) {
  Diags diags = diags_new(arena);
  *verdict = rule_judge(model, rule, &diags);
  return diags.first;
}

static int count_failing(Arena *arena, const Model *model) {
  int n = 0;
  for (int i = 0; i < rule_count; i++) {
    RuleVerdict verdict;
    n += judge(arena, model, i, &verdict) != NULL;
  }
  return n;
}

// Whether a knob was left out and is not what it would be without the rule.
static bool follows_to_on(const Schedule *schedule, KnobId knob) {
  return knob_is_auto(schedule, knob) && knob_is_used(knob, schedule) &&
         schedule->value[knob] != knob_table[knob].value;
}

// Prints the knobs that were left out and are on, and why; then the state that says all.
static void print_auto(Arena *arena, const Schedule *schedule) {
  int n = 0;
  for (int i = 0; i < KNOB_COUNT; i++) {
    KnobId knob = (KnobId)i;
    if (!follows_to_on(schedule, knob)) continue;
    const char *value = knob_value_text(arena, schedule, knob);
    printf("auto   %-18s %s\n", arena_printf(arena, "%s=%s", knob_table[i].name, value),
           knob_auto_text(knob));
    n++;
  }
  if (n)
    printf("pinned %s\n\n", schedule_record_text(arena, schedule));
  else if (schedule->value[KNOB_AUTO])
    printf("auto   no knob was set by auto\n\n");
}

static void print_text(Arena *arena, const Model *model, bool failing) {
  const char *state = schedule_text(arena, &model->schedule);
  int n_failing = 0, n_open = 0;
  printf("%s on %s\n\n", *state ? state : "the defaults", model->target->id);
  print_auto(arena, &model->schedule);
  for (int i = 0; i < rule_count; i++) {
    RuleVerdict verdict;
    const Diag *diag = judge(arena, model, i, &verdict);
    n_failing += verdict == RULE_FAILS;
    n_open += verdict == RULE_OPEN;
    if (failing && verdict != RULE_FAILS) continue;
    printf("%-6s %-18s %s\n", verdict_words[verdict], rule_table[i].id,
           diag ? diag->text : rule_table[i].help);
    if (diag && diag->nearest) printf("%-6s %-18s nearest: %s\n", "", "", diag->nearest);
  }
  printf("\n%d of %d rules fail%s%s\n", n_failing, rule_count, n_failing == 1 ? "s" : "",
         n_open ? arena_printf(arena, "; %d depend on these", n_open) : "");
}

// A knob that was left out, and a rule with its verdict.
typedef struct AutoKnob {
  KnobId knob;
} AutoKnob;

typedef struct JudgedRule {
  int rule;
  RuleVerdict verdict;
  const Diag *diag;  // NULL: it does not fail
} JudgedRule;

typedef struct CheckedState {
  const Model *model;
  bool ok;
} CheckedState;

typedef struct CheckedFile {
  const char *name, *fault;  // fault NULL: it is sound
} CheckedFile;

static const AutoKnob *auto_knobs(Arena *arena, const Schedule *schedule, int *n) {
  AutoKnob *out = ARENA_ARRAY(arena, AutoKnob, KNOB_COUNT);
  *n = 0;
  for (int i = 0; i < KNOB_COUNT; i++)
    if (knob_is_auto(schedule, (KnobId)i)) out[(*n)++].knob = (KnobId)i;
  return out;
}

static const JudgedRule *judge_all(Arena *arena, const Model *model) {
  JudgedRule *out = ARENA_ARRAY(arena, JudgedRule, rule_count);
  for (int i = 0; i < rule_count; i++) {
    out[i].rule = i;
    out[i].diag = judge(arena, model, i, &out[i].verdict);
  }
  return out;
}

// "BM,BN" as its words; *n gets their number.
static const char **words_of(Arena *arena, const char *knobs, int *n) {
  const char **out = ARENA_ARRAY(arena, const char *, strlen(knobs) + 1);
  *n = 0;
  for (const char *at = knobs; *at;) {
    const size_t length = strcspn(at, ",");
    out[(*n)++] = arena_strndup(arena, at, length);
    at += length + (at[length] == ',');
  }
  return out;
}

#define FORM_FILE "cli/commands/forms/cmd_check.form"
#include "base/form_make.h"

static void print_csv(Arena *arena, const Model *model, bool failing) {
  puts("rule,verdict,text,nearest");
  for (int i = 0; i < rule_count; i++) {
    RuleVerdict verdict;
    const Diag *diag = judge(arena, model, i, &verdict);
    if (failing && verdict != RULE_FAILS) continue;
    printf("%s,%s,", rule_table[i].id, verdict_words[verdict]);
    cli_csv_text(diag ? diag->text : rule_table[i].help, ',');
    cli_csv_text(diag ? diag->nearest : NULL, '\n');
  }
}

// ---- a program out of a file --------------------------------------------------------------------

static void print_sound(const Program *program, const char *name) {
  printf("%s is sound:", name);
  for (int k = 0; k < program->n_kernels; k++) {
    Launch launch = kernel_launch(&program->kernel[k]);
    printf("%s kernel %s, %lld %s%s of %lld thread%s", k ? ";" : "", program->kernel[k].name,
           (long long)launch.n_blocks, launch.tiles ? "tile" : "block", plural_s(launch.n_blocks),
           (long long)launch.block_threads, plural_s(launch.block_threads));
  }
  int64_t bytes = program_smem_bytes(program);
  if (bytes) printf("; %lld B of shared memory", (long long)bytes);
  putchar('\n');
}

// A text that cannot be read is the user's mistake; one that is read and not sound is the answer
// no.
static int check_file(Arena *arena, const CheckGiven *given, const char *file, Diags *diags) {
  const char *name = cli_program_name(arena, file);
  if (given->csv || given->failing)
    diag_add(diags, "usage", "--csv and --failing list rules, and a FILE has none: leave them out");
  const Program *program = diags->count ? NULL : cli_program(arena, file, diags);
  const char *fault = program ? interpret_fault(arena, program) : NULL;
  if (fault) fault = arena_printf(arena, "%s: %s", name, fault);
  if (diags->first && str_equal(diags->first->rule, "program")) fault = diags->first->text;
  if (diags->count && !fault) return cli_fail(diags);
  if (given->json)
    cli_print_document(arena, &check_program_form, &(CheckedFile){name, fault}, NULL);
  else if (fault)
    puts(fault);
  else
    print_sound(program, name);
  return fault ? CLI_NO : CLI_OK;
}

// ---- the command --------------------------------------------------------------------------------

static int check_state(Arena *arena, const CheckGiven *given, Diags *diags) {
  Schedule schedule;
  TargetTable targets;
  bool read = cli_schedule(given->state, &schedule, diags);
  if (!cli_targets(arena, &targets, diags) || !read || diags->count) return cli_fail(diags);
  cli_note_gpu(arena, &targets, &schedule);
  const Model *model = model_build(arena, &targets, &schedule);
  if (!model->target) return cli_fail(&model->diags);
  const bool ok = count_failing(arena, model) == 0;
  if (given->json)
    cli_print_document(arena, &check_form, &(CheckedState){model, ok}, &model->schedule);
  else if (given->csv)
    print_csv(arena, model, given->failing);
  else
    print_text(arena, model, given->failing);
  return ok ? CLI_OK : CLI_NO;
}

// A schedule that is not legal has no orders: that is said as the other commands say it.
static int check_orders(Arena *arena, const CheckGiven *given, const char *file, Diags *diags) {
  EveryGiven how = {.json = given->json, .strict = given->strict};
  if (file) {
    const Program *program = cli_program(arena, file, diags);
    how.what = cli_program_name(arena, file);
    return program ? cli_every_program(arena, program, &how) : cli_fail(diags);
  }
  const Model *model = cli_model(arena, given->state, diags);
  if (!model || diags->count) return cli_fail(diags);
  how.what = schedule_text(arena, &model->schedule);
  if (!*how.what) how.what = "the defaults";
  return cli_every_order(arena, &model->schedule, BREAK_COUNT, &how, diags);
}

int cmd_check(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  CheckGiven given = {0};
  const char *file = NULL;
  if (options_parse(options, N_OPTIONS, &given, &argc, argv, &diags))
    file = cli_program_file("check", argc, argv, given.state, &diags);
  if (given.json && given.csv) diag_add(&diags, "usage", "--json and --csv exclude each other");
  if (given.every_order && (given.csv || given.failing))
    diag_add(&diags, "usage",
             "--csv and --failing list rules, --every-order checks none: give "
             "one of them");
  if (given.every_order && !diags.count) return check_orders(arena, &given, file, &diags);
  return file ? check_file(arena, &given, file, &diags) : check_state(arena, &given, &diags);
}
