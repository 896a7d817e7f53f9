// Facts that cost something: runs of the interpreter and searches of the solver.
//
// A breakage is run on the problem cut down to what the interpreter does in a few milliseconds,
// with the same tiles, edges and ring. "intact" runs the program as it is. Worked example: a ring
// of three with cp.async and BREAK_LAX_WAIT finds "missing wait"; without a ring the same
// wait has nothing to be lax about, and the fact says so instead of answering.
#include "base/nearest.h"
#include "base/str.h"
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/lessons/fact_compute.h"
#include "model/schedules/reduce.h"
#include "model/schedules/slab_problem.h"
#include "model/words/fragment.h"

enum { RUN_WORK_MAX = 1 << 21 };

enum { WORDS_BEFORE = 2, FINDINGS_OF_A_RUN = FINDING_OPERAND };

// One list for every question of what is found. The last rows of the table say of a program that it
// could not be run: that is no answer.
static const char *const *finding_words(Arena *arena) {
  const char **words = ARENA_ARRAY(arena, const char *, WORDS_BEFORE + FINDINGS_OF_A_RUN + 1);
  words[0] = "nothing";
  words[1] = "wrong cells";
  for (int i = 0; i < FINDINGS_OF_A_RUN; i++)
    words[WORDS_BEFORE + i] = finding_name((FindingKind)i);
  return words;
}

// ---- breakages ----------------------------------------------------------------------------------

static const Program *break_program(const FactScene *scene, const Program *program,
                                    const char *name, Diags *diags) {
  const char *names[BREAK_COUNT + 1];
  if (str_equal(name, "intact")) return program;
  for (int i = 0; i < BREAK_COUNT; i++) {
    names[i] = breakage_name((BreakageId)i);
    if (!str_equal(names[i], name)) continue;
    const Program *broken = program_break(scene->arena, program, (BreakageId)i);
    if (!broken)
      diag_add(diags, "break", "%s: this program has nothing of the kind to break", name);
    return broken;
  }
  names[BREAK_COUNT] = "intact";
  Diag *diag =
      diag_add(diags, "break", "there is no breakage \"%s\"", str_sanitise(diags->arena, name));
  diag->nearest = nearest_name(name, names, BREAK_COUNT + 1);
  return NULL;
}

static bool run(const FactScene *scene, const FactArgs *args, InterpCheck *check, Diags *diags) {
  const Model *model = scene->model;
  Schedule small =
      schedule_reduce(scene->arena, scene->world->targets, &model->schedule, RUN_WORK_MAX);
  if (!schedule_same(&small, &model->schedule))
    model = model_build(scene->arena, scene->world->targets, &small);
  const Program *program = break_program(scene, model->program, args->word[0], diags);
  if (!program) return false;
  *check = interpret_check(scene->arena, program, &(InterpOptions){.seed = 1});
  return true;
}

// The table of findings begins with what is worst; a missing wait is a race that knows its cause.
static int rank(const Finding *finding) {
  return finding->kind == FINDING_MISSING_WAIT ? -1 : (int)finding->kind;
}

static const Finding *gravest(const InterpCheck *check) {
  const Finding *worst = NULL;
  for (int i = 0; i < check->n_findings; i++)
    if (!worst || rank(&check->finding[i]) < rank(worst)) worst = &check->finding[i];
  return worst;
}

bool fact_finding(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  InterpCheck check;
  if (!run(scene, args, &check, diags)) return false;
  value->words = finding_words(scene->arena);
  const Finding *worst = gravest(&check);
  value->word = worst ? finding_name(worst->kind) : value->words[check.n_wrong > 0];
  bool ran = !worst || (int)worst->kind < FINDINGS_OF_A_RUN;
  if (!ran) diag_add(diags, "break", "it could not be run: %s", worst->text);
  return ran;
}

bool fact_told(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  InterpCheck check;
  if (!run(scene, args, &check, diags)) return false;
  const Finding *worst = gravest(&check);
  value->word = worst ? worst->text : "nothing was found";
  return true;
}

bool fact_wrong(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  InterpCheck check;
  if (!run(scene, args, &check, diags)) return false;
  value->number = (double)check.n_wrong;
  return true;
}

// ---- layouts ------------------------------------------------------------------------------------

static bool find_slab(const FactScene *scene, const char *name, SlabProblem *slab, Diags *diags) {
  const Program *program = scene->model->program;
  const char *names[BUFFERS_MAX];
  int n = 0;
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (buffer->space != SPACE_SHARED) continue;
    names[n++] = buffer->name;
    if (str_equal(buffer->name, name))
      return slab_problem_build(scene->arena, scene->model, buffer, slab, diags);
  }
  Diag *diag =
      diag_add(diags, "fact", "this kernel has no slab \"%s\"", str_sanitise(diags->arena, name));
  diag->nearest = nearest_name(name, names, n);
  return false;
}

bool fact_slab_row_bytes(const FactScene *scene, const FactArgs *args, FactValue *value,
                         Diags *diags) {
  SlabProblem slab;
  if (!find_slab(scene, args->word[0], &slab, diags)) return false;
  value->number = slab.problem.slab.row_bytes;
  return true;
}

bool fact_slab_chunks(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  bool found = fact_slab_row_bytes(scene, args, value, diags);
  value->number /= LDMATRIX_ROW_BYTES;
  return found;
}

bool fact_slab_cost(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  SlabProblem slab;
  if (!find_slab(scene, args->word[0], &slab, diags)) return false;
  value->number = 0;
  for (int i = 0; i < slab.problem.n_sites; i++) {
    double each = slab_use_wavefronts(&slab, i, slab.layout);
    if (each > 0) value->number += each;
  }
  return true;
}

static bool solve(const FactScene *scene, const FactArgs *args, SolverResult *result,
                  Diags *diags) {
  SlabProblem slab;
  if (!find_slab(scene, args->word[0], &slab, diags)) return false;
  Arena *scratch = arena_new("solver");
  *result = solver_solve(scene->arena, scratch, &slab.problem);
  arena_free(scratch);
  return true;
}

bool fact_slab_best(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  SolverResult result;
  if (!solve(scene, args, &result, diags)) return false;
  value->number = (double)result.best.total;
  return true;
}

bool fact_slab_layout(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  SolverResult result;
  if (!solve(scene, args, &result, diags)) return false;
  value->word = result.best.layout;
  return true;
}
