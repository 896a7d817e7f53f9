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

#include "base/json.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_program.h"
#include "cli/common/options.h"
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

// The stages whose diffs are shown: from … to, both included; from > to: none, the nest itself.
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

static void put_line(JsonWriter *w, const Model *model, const ProgramLine *line) {
  json_begin_object(w);
  json_member_int(w, "depth", line->depth);
  json_member_string(w, "text", line->text);
  json_member_string(w, "kernel",
                     line->kernel < 0 ? NULL : model->program->kernel[line->kernel].name);
  json_key(w, "statement");
  line->stmt ? json_put_int(w, line->stmt->id) : json_put_null(w);
  json_member_string(w, "knob", knob_name(line->knob));
  bool is_loop = line->stmt && line->stmt->kind == STMT_LOOP;
  json_member_string(w, "tier", is_loop ? tier_name(line->tier) : NULL);
  json_end_object(w);
}

static void put_nest(JsonWriter *w, const Model *model) {
  json_key(w, "lines");
  json_begin_array(w);
  for (int i = 0; i < model->text.n_lines; i++) put_line(w, model, &model->text.line[i]);
  json_end_array(w);
}

static void put_diff_lines(JsonWriter *w, const TextDiff *diff) {
  static const char *const kinds[] = {
      [DIFF_SAME] = "same", [DIFF_REMOVED] = "removed", [DIFF_ADDED] = "added"};
  json_key(w, "diff");
  json_begin_array(w);
  for (int i = 0; i < diff->n_lines; i++) {
    json_begin_object(w);
    json_member_string(w, "kind", kinds[diff->line[i].kind]);
    json_member_int(w, "depth", diff->line[i].depth);
    json_member_string(w, "text", diff->line[i].text);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_pass(Arena *arena, JsonWriter *w, const Model *model, int stage, bool with_diff) {
  const Pass *pass = model->pipeline.stage[stage].pass;
  const TextDiff diff = stage_diff(arena, model, stage);
  json_begin_object(w);
  json_member_string(w, "name", pass->name);
  json_member_string(w, "title", pass->title);
  json_member_string(w, "knobs", pass->knobs);
  json_member_string(w, "help", pass->help);
  json_member_string(w, "deplodock", dialect_text(arena, &model->pipeline, stage));
  json_member_int(w, "added", diff.n_added);
  json_member_int(w, "removed", diff.n_removed);
  if (with_diff) put_diff_lines(w, &diff);
  json_end_object(w);
}

static void print_json(Arena *arena, const Model *model, Range range) {
  const bool with_diff = range.from <= range.to;
  if (!with_diff) range = (Range){1, model->pipeline.n_stages - 1};
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "command", "loops");
  json_member_string(&w, "state", schedule_text(arena, &model->schedule));
  json_member_string(&w, "target", model->target->id);
  json_key(&w, "passes");
  json_begin_array(&w);
  for (int i = range.from; i <= range.to; i++) put_pass(arena, &w, model, i, with_diff);
  json_end_array(&w);
  if (!with_diff) put_nest(&w, model);
  json_end_object(&w);
  puts(out.text);
}

int cmd_loops(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  LoopsGiven given = {0};
  if (options_parse(options, N_OPTIONS, &given, &argc, argv, &diags) && argc > 1)
    diag_add(&diags, "usage", "loops takes no argument \"%s\"; a state is given with -k",
             str_sanitise(arena, argv[1]));
  if (given.pass && given.diff)
    diag_add(&diags, "usage", "--pass shows one pass, --diff all of them: give one of the two");
  if (given.full && (given.pass || given.diff || given.knobs || given.json))
    diag_add(&diags, "usage", "--full prints the complete text of the nest, and nothing besides");
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
