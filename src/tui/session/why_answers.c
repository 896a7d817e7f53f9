// One job at a time goes to a thread, with copies of all that it reads. It hands over what it has
// by a counter: what was counted is never written again.
#include "tui/session/why_answers.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/die.h"
#include "base/team.h"
#include "base/whole.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/program.h"

enum { KEPT = 6, STEPS_MAX = CLOCK_IFS + 2 };

typedef struct WhyJob {
  Arena *arena;  // NULL: the place is free
  uint64_t key;
  const TargetTable *targets;
  Schedule schedule;
  const KernelTexts *code;
  const SassResult *sass;  // NULL: there is none
  int n_kernels;
  KernelResources kernel[PLAN_MAX_KERNELS];
  atomic_int n_steps;  // of `step` that are there
  atomic_bool unwanted;
  int n_seen;
  ClockAnswer step[STEPS_MAX];
} WhyJob;

struct WhyAnswers {
  Team *team;
  WhyJob job[KEPT];
  int next, running;  // running -1: none is
};

// ---- on the thread ------------------------------------------------------------------------------

static bool hand_over(void *context, const ClockAnswer *so_far) {
  WhyJob *job = context;
  const int n = atomic_load_explicit(&job->n_steps, memory_order_relaxed);
  if (n < STEPS_MAX) {
    job->step[n] = *so_far;
    atomic_store_explicit(&job->n_steps, n + 1, memory_order_release);
  }
  return !atomic_load(&job->unwanted);
}

static ClockTexts texts_of(const WhyJob *job, const Emission *emission, int which) {
  ClockTexts out = {0};
  for (int i = 0; i < emission->n_kernels; i++)
    out.text[i] = kernel_text_bytes(job->arena, job->code, emission->kernel[i].name);
  if (which < job->n_kernels) out.stack_bytes = max_int(0, job->kernel[which].stack_bytes);
  return out;
}

static void play(void *context, int item) {
  WhyJob *job = context;
  (void)item;
  const Model *model = model_build(job->arena, job->targets, &job->schedule);
  const int which = model->program->main_kernel;
  const Emission *emission = emit_model(job->arena, model, model->program);
  const ClockTexts texts = texts_of(job, emission, which);
  if (which < job->n_kernels)
    model = model_compiled(job->arena, model, job->kernel[which].registers,
                           kernel_spill_bytes(&job->kernel[which]), NULL);
  const ClockAsk ask = {.what_if = true, .window = true, .heard = hand_over, .context = job};
  const ClockAnswer answer =
      clock_answer_state(job->arena, model, emission, &texts, job->sass, &ask);
  hand_over(job, &answer);
}

// ---- beside it ----------------------------------------------------------------------------------

WhyAnswers *why_answers_new(void) {
  WhyAnswers *answers = calloc(1, sizeof *answers);
  if (!answers) die("out of memory for the answers of the clock");
  answers->team = team_new(2);
  answers->running = -1;
  return answers;
}

void why_answers_free(WhyAnswers *answers) {
  if (!answers) return;
  for (int i = 0; i < KEPT; i++) atomic_store(&answers->job[i].unwanted, true);
  team_finish(answers->team);
  team_end(answers->team);
  for (int i = 0; i < KEPT; i++)
    if (answers->job[i].arena) arena_free(answers->job[i].arena);
  free(answers);
}

static WhyJob *find_job(const WhyAnswers *answers, uint64_t key) {
  for (int i = 0; i < KEPT; i++)
    if (answers->job[i].arena && answers->job[i].key == key)
      return (WhyJob *)(uintptr_t)&answers->job[i];
  return NULL;
}

static void begin(WhyJob *job, const TargetTable *targets, const Schedule *schedule,
                  const Compiled *compiled) {
  if (job->arena) arena_free(job->arena);
  *job = (WhyJob){.arena = arena_new("why"), .key = compiled->key, .schedule = *schedule};
  TargetTable *table = ARENA_NEW(job->arena, TargetTable);
  *table = *targets;
  job->targets = table;
  job->code = results_copy_code(job->arena, compiled->code);
  job->sass =
      compiled->sass && compiled->sass->ok ? results_copy_sass(job->arena, compiled->sass) : NULL;
  job->n_kernels = compiled->n_kernels;
  for (int i = 0; i < compiled->n_kernels; i++) job->kernel[i] = compiled->kernel[i];
}

void why_answers_ask(WhyAnswers *answers, const TargetTable *targets, const Schedule *schedule,
                     const Compiled *compiled) {
  if (!compiled->code || find_job(answers, compiled->key)) return;
  if (answers->running >= 0) {
    atomic_store(&answers->job[answers->running].unwanted, true);
    return;
  }
  answers->running = answers->next;
  answers->next = (answers->next + 1) % KEPT;
  WhyJob *job = &answers->job[answers->running];
  begin(job, targets, schedule, compiled);
  team_begin(answers->team, 1, play, job);
}

bool why_answers_are_under_way(const WhyAnswers *answers) {
  return answers && answers->running >= 0;
}

bool why_answers_poll(WhyAnswers *answers) {
  if (!why_answers_are_under_way(answers)) return false;
  WhyJob *job = &answers->job[answers->running];
  const bool done = !team_threads(answers->team) || team_is_done(answers->team);
  if (done) {
    team_finish(answers->team);
    answers->running = -1;
  }
  const int n = atomic_load_explicit(&job->n_steps, memory_order_acquire);
  const bool news = n > job->n_seen || done;
  job->n_seen = n;
  // All that was asked about another schedule while this one was played is begun by the next frame;
  // a job that was not wanted to its end is asked again when the user comes back to it.
  if (done && atomic_load(&job->unwanted)) job->key = 0;
  return news;
}

const ClockAnswer *why_answers_find(const WhyAnswers *answers, uint64_t key) {
  const WhyJob *job = find_job(answers, key);
  const int n = job ? atomic_load_explicit(&job->n_steps, memory_order_acquire) : 0;
  return n ? &job->step[n - 1] : NULL;
}
