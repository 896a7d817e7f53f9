// gemmview selftest: proof of what the pictures claim, on this machine.
//
//   banks      the bank engine against every measured access that the program brings along
//   interpret  every rung of every ladder on the CPU, cut down: right, no race, nothing unwritten
//   compile    every rung through NVRTC, where there is one
//   row        (--gpu) what the driver says of the GPU against its row in gpus.json; what differs
//              is told and fails nothing, since views take the driver's word
//   fragments  (--gpu) every form of ldmatrix and every mma.sync the GPU has, on tagged data: what
//              each lane receives against the fragment maps
//   order      (--gpu) that copies by TMA come after the reads which a fence covers
//   gpu        (--gpu) the path from a text to a timing: right kernels pass, wrong ones are caught
//   run        (--gpu) every rung at small sizes, most of which no tile divides, every cell checked
//   random     (--random N) that many legal schedules drawn from --seed: interpreted, and with
//              --gpu run and checked; with --hopper all of wgmma, with what goes with it
//
// A failure is told with the state line that shows it again. Exit status 1 when anything failed, 3
// when --gpu finds no GPU.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "banks/engine/bank_batch.h"
#include "base/embed.h"
#include "base/nearest.h"
#include "cli/common/cli.h"
#include "cli/common/cli_child.h"
#include "cli/common/cli_model.h"
#include "cli/common/selftest.h"
#include "cli/common/tables/cli_ladder.h"
#include "cli/common/tables/cli_timing.h"
#include "kernels/device/fragment_check.h"
#include "kernels/device/gpu_selftest.h"
#include "kernels/device/late_reads.h"
#include "model/interp/interp.h"
#include "model/schedules/random_schedule.h"
#include "model/schedules/reduce.h"

#define FLAG(key) \
  { .name = #key, .kind = OPTION_KIND_FLAG, .offset = offsetof(SelftestGiven, key) }
#define NUMBER(key, low, high)                                                                \
  {                                                                                           \
    .name = #key, .kind = OPTION_KIND_INT, .offset = offsetof(SelftestGiven, key), .lo = low, \
    .hi = high                                                                                \
  }

static const Option options[] = {
    FLAG(gpu),
    FLAG(verbose),
    FLAG(hopper),
    OPTION_JSON(SelftestGiven),
    OPTION_WORKER(SelftestGiven),
    NUMBER(random, 0, 100000),
    NUMBER(seed, 0, 2147483647),
    {.name = "only", .kind = OPTION_KIND_TEXT, .offset = offsetof(SelftestGiven, only)},
    {.name = "ladder", .kind = OPTION_KIND_TEXT, .offset = offsetof(SelftestGiven, ladder)},
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

enum {
  BATCH = 32,
  PATH_SECONDS = 180,
  FRAGMENT_SECONDS = 60,
  FRAGMENT_CASES_MAX = 128,
  ORDER_SECONDS = 30,
  INTERPRET_FMA_MAX = 1 << 21,
  RANDOM_FMA_MAX = 1 << 24
};

// ---- banks --------------------------------------------------------------------------------------

static void check_bank_line(Selftest *t, Check *check, const char *text, size_t n, int number) {
  Arena *scratch = arena_new("bank line");
  Diags diags = diags_new(scratch);
  BankLine line;
  const char *what = arena_printf(scratch, "line %d", number);
  bool read = bank_batch_read(scratch, text, n, what, &line, &diags);
  if (read && bank_batch_agrees(&line, banks_count(line.op, line.addr)))
    selftest_passed(t, check, what);
  else
    selftest_failed(
        t, check, arena_strdup(t->arena, what), NULL,
        read ? "the rules and the measurement differ" : arena_strdup(t->arena, diags.first->text));
  arena_free(scratch);
}

static void check_banks(Selftest *t) {
  Check *check = selftest_begin(t, "banks", "accesses measured on an H200 against the bank rules");
  const EmbeddedFile *file = embed_find(t->arena, "facts/h200_wavefronts.jsonl");
  if (!file) check->skipped = "the measurements are not in the data folder";
  int number = 0;
  for (const char *at = file ? file->text : ""; *at;) {
    size_t n = strcspn(at, "\n");
    number++;
    if (n) check_bank_line(t, check, at, n, number);
    at += n + (at[n] == '\n');
  }
  selftest_end(t, check);
}

// ---- the interpreter ----------------------------------------------------------------------------

static const char *interpret_error(Arena *arena, const InterpCheck *result) {
  if (result->n_findings) return arena_strdup(arena, result->finding[0].text);
  return arena_printf(arena, "%lld cells of C are wrong, the first C[%lld, %lld]",
                      (long long)result->n_wrong, (long long)result->wrong_row,
                      (long long)result->wrong_column);
}

static void interpret_one(Selftest *t, Check *check, const char *what, const Schedule *schedule) {
  Arena *scratch = arena_new("interpreted");
  const Model *model = model_build(scratch, &t->targets, schedule);
  const InterpOptions how = {.seed = (uint64_t)t->given->seed, .runs = 1};
  const char *state = schedule_text(t->arena, schedule);
  if (!model->ok) {
    selftest_failed(t, check, what, state, arena_strdup(t->arena, model->diags.first->text));
  } else {
    InterpCheck result = interpret_check(scratch, model->program, &how);
    if (result.ok)
      selftest_passed(t, check, what);
    else
      selftest_failed(t, check, what, state, interpret_error(t->arena, &result));
  }
  arena_free(scratch);
}

static void check_interpreter(Selftest *t) {
  Check *check = selftest_begin(t, "interpret", "rungs on the CPU against the float64 loop");
  for (int l = 0; t->ladders[l]; l++)
    for (int i = 0; i < t->ladders[l]->n_rungs; i++) {
      const Rung *rung = &t->ladders[l]->rung[i];
      if (rung->not_built) continue;
      Schedule small = schedule_reduce(t->arena, &t->targets, &rung->schedule, INTERPRET_FMA_MAX);
      interpret_one(t, check, rung->name, &small);
    }
  selftest_end(t, check);
}

// ---- through the worker -------------------------------------------------------------------------

// The cases to compile or run: schedules with a name, in the order they are told.
typedef struct Jobs {
  int n, capacity;
  CliTiming *timing;
} Jobs;

static Jobs jobs_new(Arena *arena, int capacity) {
  return (Jobs){0, capacity, ARENA_ARRAY(arena, CliTiming, capacity)};
}

// Schedules that are not legal are left out: a small problem has fewer splits, say.
static void add_job(Selftest *t, Jobs *jobs, const char *what, const Schedule *schedule) {
  Diags unused = diags_new(t->arena);
  const Model *model = cli_model_of(t->arena, &t->targets, schedule, &unused);
  if (model && jobs->n < jobs->capacity)
    jobs->timing[jobs->n++] = cli_timing(t->arena, model, what);
}

static bool answer_compile(Selftest *t, Check *check, const CliTiming *job) {
  if (cli_worker_wait(t->worker, job->compile)) return true;
  selftest_failed(t, check, job->rung, job->state, job->compile->error);
  return false;
}

static void run_one(Selftest *t, Check *check, CliTiming *job) {
  const CliTimingOptions how = {.no_reference = true, .verify_only = true};
  cli_timing_run(t->worker, job, NULL, &how);
  if (job->status == CLI_OK)
    selftest_passed(t, check, job->rung);
  else
    selftest_failed(t, check, job->rung, job->state,
                    job->row.error ? job->row.error : "it did not finish");
}

// Compiles in batches, so that the compiler's processes are busy while C is checked.
static void run_jobs(Selftest *t, Check *check, Jobs *jobs, bool on_gpu) {
  for (int from = 0; from < jobs->n && !cli_worker_interrupted(t->worker); from += BATCH) {
    int to = from + BATCH < jobs->n ? from + BATCH : jobs->n;
    for (int i = from; i < to; i++) cli_timing_compile(t->worker, &jobs->timing[i]);
    for (int i = from; i < to && !cli_worker_interrupted(t->worker); i++) {
      CliTiming *job = &jobs->timing[i];
      if (!answer_compile(t, check, job)) continue;
      if (on_gpu)
        run_one(t, check, job);
      else
        selftest_passed(t, check, job->rung);
    }
  }
  selftest_end(t, check);
}

static int count_rungs(const Selftest *t) {
  int n = 0;
  for (int l = 0; t->ladders[l]; l++) n += t->ladders[l]->n_rungs;
  return n;
}

static void check_compiler(Selftest *t) {
  Check *check = selftest_begin(t, "compile", "rungs through NVRTC");
  Jobs jobs = jobs_new(t->arena, count_rungs(t));
  WorkerMachine machine = cli_worker_machine(t->worker);
  if (!machine.can_compile) {
    check->skipped = *machine.nvrtc ? machine.nvrtc : machine.gpu_error;
    selftest_end(t, check);
    return;
  }
  for (int l = 0; t->ladders[l]; l++)
    for (int i = 0; i < t->ladders[l]->n_rungs; i++)
      if (!t->ladders[l]->rung[i].not_built)
        add_job(t, &jobs, t->ladders[l]->rung[i].name, &t->ladders[l]->rung[i].schedule);
  run_jobs(t, check, &jobs, false);
}

// ---- on the GPU ---------------------------------------------------------------------------------

// Sizes that every tile divides, that none does, and one cell.
static const int run_sizes[][3] = {{512, 512, 1280}, {333, 217, 1031}, {1, 1, 1}};
enum { N_RUN_SIZES = sizeof run_sizes / sizeof run_sizes[0] };

// Whether the target, which a rung may name, has the architecture of the GPU at hand.
static bool runs_here(const Selftest *t, const Target *target) {
  const WorkerMachine machine = cli_worker_machine(t->worker);
  const Target *own = device_target(&t->targets, &machine.device);
  return !own || str_equal(own->arch, target->arch);
}

static void add_run(Selftest *t, Check *check, Jobs *jobs, const Rung *rung, const int size[3]) {
  const int before = jobs->n;
  Schedule schedule = rung->schedule;
  schedule_resize_mnk(&schedule, size);
  cli_worker_set_target(t->worker, &t->targets, &schedule);
  if (rung->not_built) return;
  add_job(t, jobs, arena_printf(t->arena, "%s %dx%dx%d", rung->name, size[0], size[1], size[2]),
          &schedule);
  if (jobs->n == before || runs_here(t, jobs->timing[before].model->target)) return;
  jobs->n = before;
  check->elsewhere++;
}

static void check_runs(Selftest *t) {
  Check *check = selftest_begin(t, "run", "rungs on the GPU, every cell against float64");
  Jobs jobs = jobs_new(t->arena, count_rungs(t) * N_RUN_SIZES);
  for (int l = 0; t->ladders[l]; l++)
    for (int i = 0; i < t->ladders[l]->n_rungs; i++)
      for (int s = 0; s < N_RUN_SIZES; s++)
        add_run(t, check, &jobs, &t->ladders[l]->rung[i], run_sizes[s]);
  run_jobs(t, check, &jobs, true);
}

// Zeroed memory that a child sees too; NULL, and the check has failed, when there is none.
static void *share(Selftest *t, Check *check, size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) return memory;
  selftest_failed(t, check, "all", NULL, "no memory to share with the process on the GPU");
  return NULL;
}

// The child's notes of one case: a case it did not come to stays untold.
typedef struct FragmentNote {
  bool told, absent, ok;  // absent: the GPU does not have the instruction
  char error[400];
} FragmentNote;

static void note_case(Arena *scratch, Gpu *gpu, int index, FragmentNote *note) {
  note->absent = !tagged_on(index, gpu_cc(gpu));
  const char *error = note->absent ? NULL : tagged_check(scratch, gpu, index);
  note->ok = error == NULL;
  if (error) snprintf(note->error, sizeof note->error, "%s", error);
  note->told = true;
}

// In a child: a kernel that hangs or loses the context costs that child.
static int run_fragments(void *context) {
  FragmentNote *notes = context;
  const char *why = NULL;
  Arena *arena = arena_new("fragments"), *scratch = arena_new("tagged");
  Gpu *gpu = gpu_open(arena, 0, &why);
  if (!gpu) return cli_error(CLI_MISSING, "no GPU was found: %s", why);
  for (int i = 0; i < tagged_count() && !gpu_poisoned(gpu); i++) {
    note_case(scratch, gpu, i, &notes[i]);
    arena_reset(scratch);
  }
  if (!gpu_poisoned(gpu)) gpu_close(gpu);
  return CLI_OK;
}

static void tell_fragments(Selftest *t, Check *check, const FragmentNote *notes) {
  for (int i = 0; i < tagged_count(); i++) {
    const char *name = tagged_name(t->arena, i);
    if (notes[i].absent) continue;
    if (notes[i].ok)
      selftest_passed(t, check, name);
    else
      selftest_failed(t, check, name, NULL,
                      notes[i].told ? arena_strdup(t->arena, notes[i].error)
                                    : "not tried, or it did not "
                                      "finish");
  }
}

static void check_fragments(Selftest *t) {
  Check *check = selftest_begin(
      t, "fragments", "the elements that lanes receive from ldmatrix and mma, on tagged data");
  const size_t bytes = FRAGMENT_CASES_MAX * sizeof(FragmentNote);
  FragmentNote *notes = share(t, check, bytes);
  if (notes) {
    cli_in_child(run_fragments, notes, FRAGMENT_SECONDS);
    if (notes[0].told)
      tell_fragments(t, check, notes);
    else
      selftest_failed(t, check, "all", NULL, "the first case did not finish");
    munmap(notes, bytes);
  }
  selftest_end(t, check);
}

typedef struct OrderNotes {
  bool absent;  // the GPU has no copies by TMA
  int n_told;
  LateReads counts[LATE_N];
  char error[400];
} OrderNotes;

static int run_order(void *context) {
  OrderNotes *notes = context;
  const char *error = NULL;
  Arena *arena = arena_new("order");
  Gpu *gpu = gpu_open(arena, 0, &error);
  if (!gpu) return cli_error(CLI_MISSING, "no GPU was found: %s", error);
  notes->absent = !late_reads_on(gpu_cc(gpu));
  while (!notes->absent && !error && notes->n_told < LATE_N) {
    error = late_reads(arena, gpu, (LateRow)notes->n_told, notes->counts);
    if (!error) notes->n_told++;
  }
  if (error) snprintf(notes->error, sizeof notes->error, "%s", error);
  if (!gpu_poisoned(gpu)) gpu_close(gpu);
  return CLI_OK;
}

static void tell_order(Selftest *t, Check *check, LateRow row, const LateReads *counts) {
  const char *what =
      arena_printf(t->arena, "%s, %lld of %lld reads late, %.0f clocks a turn", late_row_name(row),
                   (long long)counts->n_late, (long long)counts->n_reads, counts->clocks);
  if (!late_row_must_hold(row)) {
    if (t->given->verbose) fprintf(stderr, "%s: %s\n", check->name, what);
  } else if (counts->n_late) {
    selftest_failed(t, check, what, NULL, "a copy by TMA has overtaken reads that were fenced");
  } else {
    selftest_passed(t, check, what);
  }
}

static void check_order(Selftest *t) {
  Check *check =
      selftest_begin(t, "order", "copies by TMA come after the reads that a fence covers");
  OrderNotes *notes = share(t, check, sizeof *notes);
  if (notes) {
    cli_in_child(run_order, notes, ORDER_SECONDS);
    for (int i = 0; i < notes->n_told; i++) tell_order(t, check, (LateRow)i, &notes->counts[i]);
    if (notes->absent)
      check->skipped = "copies by TMA need sm_90 or later";
    else if (notes->n_told < LATE_N)
      selftest_failed(t, check, late_row_name((LateRow)notes->n_told), NULL,
                      *notes->error ? arena_strdup(t->arena, notes->error) : "it did not finish");
    munmap(notes, sizeof *notes);
  }
  selftest_end(t, check);
}

// In a child: its last check destroys the CUDA context, and a kernel may hang.
static int run_path(void *context) {
  static char name[] = "selftest", size[] = "1024";
  const Selftest *t = context;
  if (t->given->json) dup2(STDERR_FILENO, STDOUT_FILENO);
  return gpu_selftest_main(2, (char *[]){name, size, NULL});
}

static void check_row(Selftest *t) {
  Check *check = selftest_begin(t, "row", "numbers of the GPU as its driver has them");
  const DeviceWord *word = &t->word;
  if (!word->row)
    check->skipped =
        arena_printf(t->arena, "gpus.json has no row for %s", cli_worker_machine(t->worker).gpu);
  if (word->n) check->differs = device_word_text(t->arena, word);
  check->passed = word->row ? DEVICE_FIELDS - word->n : 0;
  selftest_end(t, check);
}

static void check_path(Selftest *t) {
  Check *check = selftest_begin(t, "gpu", "the path from a text to a timing");
  const int status = cli_in_child(run_path, t, PATH_SECONDS);
  if (status == CLI_OK)
    selftest_passed(t, check, "path");
  else
    selftest_failed(t, check, "path", NULL, "see above");
  selftest_end(t, check);
}

// ---- random schedules ---------------------------------------------------------------------------

static RandomFamily family_of(const Selftest *t) {
  return t->given->hopper ? RANDOM_HOPPER : RANDOM_ANY;
}

static Schedule draw(Selftest *t, uint64_t *state, const Schedule *like, int64_t fma_max) {
  const RandomLimits limits = {.extent_max = 512, .fma_max = fma_max, .family = family_of(t)};
  Arena *scratch = arena_new("draw");
  Schedule schedule = schedule_random(scratch, &t->targets, like->target, &limits, state, NULL);
  arena_free(scratch);
  return schedule;
}

static void check_random(Selftest *t) {
  Check *check = selftest_begin(t, "random",
                                t->given->gpu ? "random legal schedules run on the GPU"
                                              : "random legal schedules on the CPU");
  Jobs jobs = jobs_new(t->arena, t->given->random);
  uint64_t state = (uint64_t)t->given->seed;
  Schedule like = schedule_default();
  if (t->given->gpu) cli_worker_set_target(t->worker, &t->targets, &like);
  const Target *target = target_find(&t->targets, like.target, NULL);
  if (!random_family_on(family_of(t), target)) {
    check->skipped =
        arena_printf(t->arena, "%s is %s, wgmma needs sm_90a", target->id, target->arch);
    selftest_end(t, check);
    return;
  }
  if (!t->given->json) printf("%-10s from seed %d\n", check->name, t->given->seed);
  for (int i = 0; i < t->given->random; i++) {
    Schedule schedule = draw(t, &state, &like, t->given->gpu ? RANDOM_FMA_MAX : INTERPRET_FMA_MAX);
    const char *what = arena_printf(t->arena, "schedule %d of seed %d", i + 1, t->given->seed);
    if (t->given->gpu)
      add_job(t, &jobs, what, &schedule);
    else
      interpret_one(t, check, what, &schedule);
  }
  if (t->given->gpu)
    run_jobs(t, check, &jobs, true);
  else
    selftest_end(t, check);
}

// ---- the command --------------------------------------------------------------------------------

static bool wants(const Selftest *t, const char *name) {
  return !t->given->only || str_equal(t->given->only, name);
}

// The rows of the self test, in order.
static const struct {
  const char *name;
  void (*run)(Selftest *t);
  bool needs_gpu, is_random;
} checks[] = {
    {"banks", check_banks, false, false},
    {"interpret", check_interpreter, false, false},
    {"compile", check_compiler, false, false},
    {"row", check_row, true, false},
    {"fragments", check_fragments, true, false},
    {"order", check_order, true, false},
    {"gpu", check_path, true, false},
    {"run", check_runs, true, false},
    {"random", check_random, false, true},
};
enum { N_CHECKS = sizeof checks / sizeof checks[0] };

static int run(Selftest *t) {
  int status = t->given->gpu ? cli_worker_need_gpu(t->worker) : CLI_OK;
  if (status) return status;
  if (t->given->gpu) t->word = cli_worker_take_device(t->worker, &t->targets);
  for (int i = 0; i < N_CHECKS && !cli_worker_interrupted(t->worker); i++) {
    bool applies = !checks[i].needs_gpu || t->given->gpu;
    if (checks[i].is_random) applies = t->given->random > 0;
    if (applies && wants(t, checks[i].name)) checks[i].run(t);
  }
  if (cli_worker_interrupted(t->worker)) return cli_error(CLI_INTERRUPTED, "interrupted");
  if (t->given->json) selftest_print_json(t, !t->first);
  if (!t->given->json) puts(t->first ? "NOT all as claimed" : "all as claimed");
  return t->first ? CLI_NO : CLI_OK;
}

static bool read_given(Selftest *t, int argc, char **argv, Diags *diags) {
  if (argc > 1)
    diag_add(diags, "usage", "selftest takes no argument \"%s\"", str_sanitise(t->arena, argv[1]));
  const char *names[N_CHECKS];
  bool known = !t->given->only;
  for (int i = 0; i < N_CHECKS; i++) {
    names[i] = checks[i].name;
    known = known || wants(t, names[i]);
  }
  if (!known) diag_add_unknown(diags, "usage", "check", t->given->only, names, N_CHECKS);
  if (diags->count || !cli_targets(t->arena, &t->targets, diags)) return false;
  t->ladders = cli_ladders(t->arena, diags);
  if (!t->ladders || !t->given->ladder) return t->ladders != NULL;
  const Ladder **one = ARENA_ARRAY(t->arena, const Ladder *, 2);
  one[0] = cli_ladder(t->arena, t->given->ladder, diags);
  t->ladders = one;
  return one[0] != NULL;
}

int cmd_selftest(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  SelftestGiven given = {.seed = 1};
  Selftest t = {.arena = arena, .given = &given};
  t.last = &t.first;
  bool parsed = options_parse(options, N_OPTIONS, &given, &argc, argv, &diags);
  if (!parsed || !read_given(&t, argc, argv, &diags)) return cli_fail(&diags);
  t.worker = cli_worker_open(arena, &given.worker, false, &diags);
  if (!t.worker) return cli_fail(&diags);
  int status = run(&t);
  cli_worker_close(t.worker);
  return status;
}
