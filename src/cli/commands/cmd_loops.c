// gemmview loops: the loop nest of a schedule, and what each pass makes of it.
//
//   gemmview loops -k BM=16,BN=16,FM=8,FN=8             the nest as it is run
//   gemmview loops -k … --full                          the complete text, which interpret, check
//   and
//                                                       cuda read back
//   gemmview loops -k … --knobs                         with the knob that put each line there
//   gemmview loops -k … --pass register_tile            the lines this pass takes away and adds
//   gemmview loops -k … --diff                          the same for every pass, in order
#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_program.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/dialect.h"

typedef struct LoopsGiven {
  const char *state, *pass;
  bool json, diff, knobs, full;
} LoopsGiven;

static const Option options[] = {
    OPTION_STATE(LoopsGiven),
    OPTION_JSON(LoopsGiven),
    {.name = "pass", .kind = OPTION_KIND_TEXT, .offset = offsetof(LoopsGiven, pass)},
    {.name = "diff", .kind = OPTION_KIND_FLAG, .offset = offsetof(LoopsGiven, diff)},
    {.name = "full", .kind = OPTION_KIND_FLAG, .offset = offsetof(LoopsGiven, full)},
    {.name = "knobs", .kind = OPTION_KIND_FLAG, .offset = offsetof(LoopsGiven, knobs)},
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

// The stages with diffs to show: from … to, both included; from > to: none, the nest itself.
typedef struct Range {
  int from, to;
} Range;

static const char *knob_name(KnobId knob) {
  return knob == KNOB_NONE ? NULL : knob_table[knob].name;
}

static TextDiff stage_diff(Arena *arena, const Model *model, int stage) {
  return program_diff(arena, model->pipeline.stage[stage - 1].program,
                      model->pipeline.stage[stage].program);
}

// ---- text ---------------------------------------------------------------------------------------

static void print_nest(const Model *model, bool knobs) {
  for (int i = 0; i < model->text.n_lines; i++) {
    const ProgramLine *line = &model->text.line[i];
    const char *knob = knob_name(line->knob);
    if (knobs) printf("%-16s| ", knob ? knob : "");
    printf("%*s%s\n", 2 * line->depth, "", line->text);
  }
}

static void print_diff(Arena *arena, const Model *model, int stage) {
  static const char marks[] = {[DIFF_SAME] = ' ', [DIFF_REMOVED] = '-', [DIFF_ADDED] = '+'};
  const Pass *pass = model->pipeline.stage[stage].pass;
  const TextDiff diff = stage_diff(arena, model, stage);
  const char *there = dialect_text(arena, &model->pipeline, stage);
  printf("%s (%s): %s\n", pass->name, pass->knobs, pass->help);
  if (there) printf("in deplodock, the article's compiler: %s\n", there);
  printf("%d lines added, %d removed\n\n", diff.n_added, diff.n_removed);
  for (int i = 0; i < diff.n_lines; i++)
    printf("%c %*s%s\n", marks[diff.line[i].kind], 2 * diff.line[i].depth, "", diff.line[i].text);
}

static void print_text(Arena *arena, const Model *model, Range range, bool knobs) {
  if (range.from > range.to) print_nest(model, knobs);
  for (int i = range.from; i <= range.to; i++) {
    if (i > range.from) putchar('\n');
    print_diff(arena, model, i);
  }
}

// ---- JSON ---------------------------------------------------------------------------------------

// A pass with what it changes.
typedef struct LoopsPass {
  const Pass *pass;
  const char *dialect;  // in the article's compiler; NULL: nothing
  TextDiff diff;
} LoopsPass;

typedef struct LoopsShown {
  const Model *model;
  bool with_diff;
  int n_passes;
  LoopsPass *pass;
} LoopsShown;

#define FORM_FILE "cli/commands/forms/cmd_loops.form"
#include "base/form_make.h"

static void print_json(Arena *arena, const Model *model, Range range) {
  LoopsShown shown = {.model = model, .with_diff = range.from <= range.to};
  if (!shown.with_diff) range = (Range){1, model->pipeline.n_stages - 1};
  shown.pass = ARENA_ARRAY(arena, LoopsPass, model->pipeline.n_stages);
  for (int i = range.from; i <= range.to; i++)
    shown.pass[shown.n_passes++] =
        (LoopsPass){model->pipeline.stage[i].pass, dialect_text(arena, &model->pipeline, i),
                    stage_diff(arena, model, i)};
  cli_print_document(arena, &loops_form, &shown, &shown);
}

int cmd_loops(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  LoopsGiven given = {0};
  if (options_parse(options, N_OPTIONS, &given, &argc, argv, &diags) && argc > 1)
    diag_add(&diags, "usage", "loops takes no argument \"%s\"; give a state with -k",
             str_sanitise(arena, argv[1]));
  if (given.pass && given.diff)
    diag_add(&diags, "usage", "give --pass (one pass) or --diff (all passes), not both");
  if (given.full && (given.pass || given.diff || given.knobs || given.json))
    diag_add(&diags, "usage",
             "--full prints the complete text of the nest: leave out the other "
             "options");
  const Model *model = diags.count ? NULL : cli_model(arena, given.state, &diags);
  if (!model) return cli_fail(&diags);
  Range range = {1, given.diff ? model->pipeline.n_stages - 1 : 0};
  if (given.pass) range.from = range.to = cli_find_stage(model, given.pass, &diags);
  if (diags.count) return cli_fail(&diags);
  const char *state = schedule_text(arena, &model->schedule);
  if (given.json)
    print_json(arena, model, range);
  else if (given.full)
    cli_print_program(arena, model->program, arena_printf(arena, "gemmview loops -k %s", state));
  else
    print_text(arena, model, range, given.knobs);
  return CLI_OK;
}
