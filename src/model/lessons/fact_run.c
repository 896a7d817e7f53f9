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
#include "model/interp/load_places.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/lessons/fact_compute.h"
#include "model/schedules/every_turn.h"
#include "model/schedules/reduce.h"
#include "model/schedules/slab_problem.h"
#include "model/words/fragment.h"

enum { RUN_WORK_MAX = 1 << 21 };

enum { WORDS_BEFORE = 2, FINDINGS_OF_A_RUN = FINDING_OPERAND };

// One list for every question about findings. The last rows of the table say that a program could
// not be run: that is no answer.
static const char *const *finding_words(Arena *arena) {
  const char **words = ARENA_ARRAY(arena, const char *, WORDS_BEFORE + FINDINGS_OF_A_RUN + 1);
  words[0] = "nothing";
  words[1] = "wrong cells";
  for (int i = 0; i < FINDINGS_OF_A_RUN; i++)
    words[WORDS_BEFORE + i] = finding_name((FindingKind)i);
  return words;
}

// ---- breakages ----------------------------------------------------------------------------------

static const Program *break_program(Arena *arena, const Program *program, const char *name,
                                    Diags *diags) {
  const char *names[BREAK_COUNT + 1];
  if (str_equal(name, "intact")) return program;
  for (int i = 0; i < BREAK_COUNT; i++) {
    names[i] = breakage_name((BreakageId)i);
    if (!str_equal(names[i], name)) continue;
    const Program *broken = program_break(arena, program, (BreakageId)i);
    if (!broken) diag_add(diags, "break", "%s: this program has nothing that it could break", name);
    return broken;
  }
  names[BREAK_COUNT] = "intact";
  Diag *diag =
      diag_add(diags, "break", "there is no breakage \"%s\"", str_sanitise(diags->arena, name));
  diag->nearest = nearest_name(name, names, BREAK_COUNT + 1);
  return NULL;
}

// Holds the answers of a run: the gravest finding, and the number of wrong cells of C.
struct FactRun {
  const char *of;    // schedule and breakage
  const char *text;  // of the finding; NULL: there is none
  FindingKind kind;
  unsigned kinds;    // a bit for each kind of finding that there was
  int64_t n_wrong;   // or places that are safe, or states that were searched
  const char *cure;  // of a search through all orders: of what is found; its kind
  SearchFault fault;
  const FactRun *next;
};

static const FactRun *new_run(Arena *arena, const char *of, const InterpCheck *check) {
  FactRun *run = ARENA_NEW(arena, FactRun);
  const Finding *worst = interp_gravest(check);
  *run = (FactRun){.of = arena_strdup(arena, of), .n_wrong = check->n_wrong};
  for (int i = 0; i < check->n_findings; i++) run->kinds |= 1u << check->finding[i].kind;
  if (!worst) return run;
  run->kind = worst->kind;
  run->text = arena_strdup(arena, worst->text);
  return run;
}

static FactQuestion **find_wanted(FactRuns *runs, const char *of) {
  FactQuestion **link = &runs->wanted;
  while (*link && !str_equal((*link)->of, of)) link = &(*link)->next;
  return link;
}

static void want(FactRuns *runs, const FactQuestion *question) {
  if (*find_wanted(runs, question->of)) return;
  FactQuestion *wanted = ARENA_NEW(runs->arena, FactQuestion);
  *wanted = *question;
  wanted->of = arena_strdup(runs->arena, question->of);
  wanted->breakage = arena_strdup(runs->arena, question->breakage);
  wanted->next = runs->wanted;
  runs->wanted = wanted;
}

static const FactRun *find_run(const FactRuns *runs, const char *of) {
  for (const FactRun *run = runs ? runs->first : NULL; run; run = run->next)
    if (str_equal(run->of, of)) return run;
  return NULL;
}

void fact_run_keep(FactRuns *runs, const FactRun *run) {
  FactRun *kept = ARENA_NEW(runs->arena, FactRun);
  *kept = *run;
  kept->of = arena_strdup(runs->arena, run->of);
  if (run->text) kept->text = arena_strdup(runs->arena, run->text);
  if (run->cure) kept->cure = arena_strdup(runs->arena, run->cure);
  kept->next = runs->first;
  runs->first = kept;
  FactQuestion **link = find_wanted(runs, run->of);
  if (*link) *link = (*link)->next;
}

static const FactRun *run_program(Arena *arena, const Program *program, const char *of) {
  Arena *scratch = arena_new("run of a fact");
  InterpCheck check = interpret_check(scratch, program, &(InterpOptions){.seed = 1});
  const FactRun *run = new_run(arena, of, &check);
  arena_free(scratch);
  return run;
}

static const FactRun *search_orders(Arena *arena, const TargetTable *targets,
                                    const FactQuestion *question) {
  FactRun *run = ARENA_NEW(arena, FactRun);
  *run = (FactRun){.of = arena_strdup(arena, question->of)};
  EveryTurn every = every_turn_search(targets, &question->schedule,
                                      breakage_find(question->breakage), &(SearchOptions){0});
  const SearchResult *r = &every.result;
  const char *none = "no order does harm";
  const bool found = r->verdict == SEARCH_FOUND;
  run->fault = every.fault || r->verdict == SEARCH_BOUNDED ? SEARCH_FAULTS
               : found                                     ? r->fault
                                                           : SEARCH_NO_FAULT;
  run->n_wrong = r->states;
  run->text = arena_strdup(arena, found ? r->root : every.fault ? every.fault : none);
  run->cure = arena_strdup(arena, found ? r->cure : none);
  every_turn_free(&every);
  return run;
}

const FactRun *fact_run_make(Arena *arena, const TargetTable *targets,
                             const FactQuestion *question) {
  if (question->every_order) return search_orders(arena, targets, question);
  const Model *model = model_build(arena, targets, &question->schedule);
  Diags diags = diags_new(arena);
  const Program *program = break_program(arena, model->program, question->breakage, &diags);
  return run_program(arena, program, question->of);
}

// NULL after findings.
static const FactRun *run(const FactScene *scene, const FactArgs *args, Diags *diags) {
  const Model *model = scene->model;
  const FactWorld *world = scene->world;
  FactRuns *runs = world->runs;
  Schedule small = schedule_reduce(scene->arena, world->targets, &model->schedule, RUN_WORK_MAX);
  const char *of =
      arena_printf(scene->arena, "%s %s", schedule_text(scene->arena, &small), args->word[0]);
  const FactRun *known = find_run(runs, of);
  if (known) return known;
  if (!schedule_same(&small, &model->schedule))
    model = model_build(scene->arena, world->targets, &small);
  const Program *program = break_program(scene->arena, model->program, args->word[0], diags);
  if (!program) return NULL;
  if (runs && runs->later) {
    want(runs, &(FactQuestion){.of = of, .schedule = small, .breakage = args->word[0]});
    diag_add(diags, "run", "a run of the interpreter is under way");
    return NULL;
  }
  known = run_program(scene->arena, program, of);
  if (runs) fact_run_keep(runs, known);
  return known;
}

// All that is true of the run: a guess that names one of them has found it too.
static const char *const *all_found(Arena *arena, const FactRun *run, const char *const *words) {
  const char **found = ARENA_ARRAY(arena, const char *, WORDS_BEFORE + FINDINGS_OF_A_RUN + 1);
  int n = 0;
  if (run->n_wrong > 0) found[n++] = words[1];
  for (int i = 0; i < FINDINGS_OF_A_RUN; i++)
    if (run->kinds >> i & 1) found[n++] = words[WORDS_BEFORE + i];
  return found;
}

bool fact_finding(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const FactRun *found = run(scene, args, diags);
  if (!found) return false;
  value->words = finding_words(scene->arena);
  value->word = found->text ? finding_name(found->kind) : value->words[found->n_wrong > 0];
  value->also = all_found(scene->arena, found, value->words);
  bool ran = !found->text || (int)found->kind < FINDINGS_OF_A_RUN;
  if (!ran) diag_add(diags, "break", "it could not be run: %s", found->text);
  return ran;
}

bool fact_told(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const FactRun *found = run(scene, args, diags);
  if (!found) return false;
  value->word = found->text ? found->text : "nothing was found";
  return true;
}

bool fact_wrong(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const FactRun *found = run(scene, args, diags);
  if (!found) return false;
  value->number = (double)found->n_wrong;
  return true;
}

// ---- every order --------------------------------------------------------------------------------

// NULL after findings.
static const FactRun *orders(const FactScene *scene, const FactArgs *args, Diags *diags) {
  const FactWorld *world = scene->world;
  FactRuns *runs = world->runs;
  const Schedule *schedule = &scene->model->schedule;
  if (!break_program(scene->arena, scene->model->program, args->word[0], diags)) return NULL;
  const FactQuestion question = {
      .of = arena_printf(scene->arena, "%s, %s in every order",
                         schedule_text(scene->arena, schedule), args->word[0]),
      .schedule = *schedule,
      .breakage = args->word[0],
      .every_order = true};
  const FactRun *known = find_run(runs, question.of);
  if (!known && runs && runs->later) {
    want(runs, &question);
    diag_add(diags, "run", "a search of all orders is under way");
    return NULL;
  }
  if (!known) {
    known = search_orders(scene->arena, world->targets, &question);
    if (runs) fact_run_keep(runs, known);
  }
  if (known->fault < SEARCH_FAULTS) return known;
  diag_add(diags, "break", "its orders were not searched: %s", known->text);
  return NULL;
}

static const char *const *fault_words(Arena *arena) {
  const char **words = ARENA_ARRAY(arena, const char *, SEARCH_SEEN + 1);
  for (int i = 0; i < SEARCH_SEEN; i++) words[i] = search_fault_name((SearchFault)i);
  return words;
}

bool fact_order(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const FactRun *found = orders(scene, args, diags);
  if (!found) return false;
  value->words = fault_words(scene->arena);
  value->word = search_fault_name(found->fault);
  return true;
}

bool fact_order_root(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const FactRun *found = orders(scene, args, diags);
  if (found) value->word = found->text;
  return found != NULL;
}

bool fact_order_cure(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const FactRun *found = orders(scene, args, diags);
  if (found) value->word = found->cure;
  return found != NULL;
}

bool fact_order_states(const FactScene *scene, const FactArgs *args, FactValue *value,
                       Diags *diags) {
  const FactRun *found = orders(scene, args, diags);
  if (found) value->number = (double)found->n_wrong;
  return found != NULL;
}

// ---- where copies may stand ---------------------------------------------------------------------

// For the problem cut down; NULL after findings.
static LoadPlaces *places_of(const FactScene *scene, Diags *diags) {
  const Model *model = scene->model;
  Schedule small =
      schedule_reduce(scene->arena, scene->world->targets, &model->schedule, RUN_WORK_MAX);
  model = model_build(scene->arena, scene->world->targets, &small);
  LoadPlaces *places = load_places_new(scene->arena, model->program);
  if (places->n_copies) return places;
  diag_add(diags, "fact", "no copy in the background stands in the loop over slabs");
  return NULL;
}

bool fact_places(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  (void)args;
  const LoadPlaces *places = places_of(scene, diags);
  if (!places) return false;
  value->number = places->n_lines + 1;
  return true;
}

static int find_copy(const LoadPlaces *places, const char *slab, Diags *diags) {
  const char *names[LOAD_COPIES_MAX];
  for (int i = 0; i < places->n_copies; i++) {
    names[i] = places->copy[i].slabs;
    if (str_equal(names[i], slab)) return i;
  }
  Diag *diag = diag_add(diags, "fact", "nothing copies to \"%s\" in the loop over slabs",
                        str_sanitise(diags->arena, slab));
  diag->nearest = nearest_name(slab, names, places->n_copies);
  return -1;
}

// The number of safe places; each place is a run of its own, so its finding was kept.
static int64_t count_safe(LoadPlaces *places, int copy) {
  int64_t n = 0;
  for (int place = 0; place <= places->n_lines; place++) {
    load_places_try(places, copy, place);
    n += places->copy[copy].place[place].verdict == LOAD_SAFE;
  }
  return n;
}

bool fact_safe_places(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  LoadPlaces *places = places_of(scene, diags);
  const int copy = places ? find_copy(places, args->word[0], diags) : -1;
  if (copy < 0) return false;
  FactRuns *runs = scene->world->runs;
  const char *of =
      arena_printf(scene->arena, "%s places of %s",
                   schedule_text(scene->arena, &scene->model->schedule), args->word[0]);
  const FactRun *known = find_run(runs, of);
  const int64_t n = known ? known->n_wrong : count_safe(places, copy);
  if (!known && runs) fact_run_keep(runs, &(FactRun){.of = of, .n_wrong = n});
  value->number = (double)n;
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
