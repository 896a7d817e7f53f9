// Every legal schedule compiles, for every target that NVRTC knows: whatever the rules let pass,
// the emitter has words for. A few for each target here, 200 in `make compile-all`. Passed over
// where there is no NVRTC.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/readings/model.h"
#include "model/schedules/random_schedule.h"
#include "property.h"
#include "stress.h"

enum { TARGETS = 11, EXTENT_MAX = 512, FMA_MAX = 1 << 24, BATCH = 20 };

static Arena *arena;
static TargetTable targets;

static void setup(void) {
  arena = arena_new("test compile all");
  targets = *property_gpus();
  ck_assert_int_eq(targets.count, TARGETS);
}

static void teardown(void) { arena_free(arena); }

// NULL, or what is wrong. A digit that a tile of one does not need is the one thing that NVRTC may
// remark upon.
static const char *fault_of(Arena *job, const Schedule *schedule) {
  const Model *model = model_build(job, &targets, schedule);
  const char *state = schedule_text(job, schedule);
  const Plan *plan = plan_from_model(job, model, state);
  const CompileResult *result = compile_once(job, plan, COMPILE_CUBIN);
  bool fine = result->ok;
  for (const char *at = result->log; fine && (at = strstr(at, "warning #")); at++)
    fine = strncmp(at, "warning #177-D", 14) == 0;
  return fine ? NULL
              : arena_printf(job, "%s\n%s\n%.2000s", state, result->error ? result->error : "",
                             result->log);
}

// Where the target has tensor memory, half of them have their sums there.
static int compile_some(const Target *target, uint64_t state, int n) {
  RandomLimits limits = {.extent_max = EXTENT_MAX, .fma_max = FMA_MAX};
  const bool tensor = random_family_on(RANDOM_BLACKWELL, target);
  int n_faults = 0;
  for (int i = 0; i < n; i++) {
    limits.family = tensor && i % 2 ? RANDOM_BLACKWELL : RANDOM_ANY;
    Arena *job = arena_new("job");
    Schedule schedule = schedule_random(job, &targets, target->id, &limits, &state, NULL);
    const char *fault = fault_of(job, &schedule);
    if (fault) fprintf(stderr, "%s\n", fault);
    n_faults += fault != NULL;
    arena_free(job);
  }
  return n_faults;
}

// NVRTC keeps some of what it has compiled, so that a process of its own does every 20 of them.
START_TEST(legal_schedules_compile) {
  const Target *target = &targets.targets[_i];
  const char *known = NULL;
  const int n = stress_count(1, 200);
  int n_faults = 0;
  if (!nvrtc_supports(arena, target->arch, &known)) return;
  for (int first = 0; first < n; first += BATCH) {
    int status = 0, some = n - first < BATCH ? n - first : BATCH;
    fflush(stderr);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) _exit(compile_some(target, (uint64_t)(1000 * _i + first), some));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "%s, from %d on: ended by a signal", target->id, first);
    n_faults += WEXITSTATUS(status);
  }
  ck_assert_msg(n_faults == 0, "%s: %d of %d do not compile", target->id, n_faults, n);
}
END_TEST

// What a T4 has of mma.sync rounds its f32 sums to f16; converting two at a time came with sm_80.
START_TEST(sums_of_f32_are_rounded_on_sm_75) {
  static const char *const states[] = {
      "TARGET=t4,ATOM_KIND=mma_m16n8k8_f16,STAGE=11",
      "TARGET=t4,ATOM_KIND=mma_m16n8k8_f16,WM=2,WN=2,FM=2,FN=4,BK=4,STAGE=11,EPILOGUE=1",
      "TARGET=t4,ATOM_KIND=mma_m16n8k8_f16,WM=2,WN=2,FM=2,FN=4,BK=4,STAGE=11,ACC=f16",
  };
  const char *known = NULL;
  if (!nvrtc_supports(arena, "sm_75", &known)) return;
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    Schedule schedule = schedule_default();
    Diags diags = diags_new(arena);
    ck_assert_msg(schedule_parse(&schedule, states[i], &diags), "%s", diags_text(arena, &diags));
    const char *fault = fault_of(arena, &schedule);
    ck_assert_msg(!fault, "%s", fault);
  }
}
END_TEST

Suite *suite_compile_all(void);
Suite *suite_compile_all(void) {
  Suite *suite = suite_create("compile_all");
  TCase *tests = tcase_create("NVRTC");
  tcase_set_timeout(tests, 4 * 3600);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, sums_of_f32_are_rounded_on_sm_75);
  tcase_add_loop_test(tests, legal_schedules_compile, 0, TARGETS);
  suite_add_tcase(suite, tests);
  return suite;
}
