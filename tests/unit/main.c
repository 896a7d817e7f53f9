// Runs every suite, or those named on the command line, and ends with Check's summary.
//
// The list of suites is generated from the file names. Each suite runs in a process of its own, as
// many at a time as there are processors: a crash or a leak found by a sanitizer ends one suite and
// not the others, and its words are printed at the end. Within a suite nothing is forked.
//
//   banks            31 checks   0.42 s   0.40 s of CPU
//   100%: Checks: 31, Failures: 0, Errors: 0
//
// The second figure counts what the suite's own processes took, whatever else the machine does.
//
// Suites that wait for other processes most of their time run one at a time beside those that
// compute. TEST_JOBS=3 runs three at a time, and one that waits; TEST_JOBS=0 runs all in this
// process, for a debugger. TEST_STOP=1 ends all with the first assertion that does not hold.
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kept_tool.h"
#include "stress.h"

// What AddressSanitizer keeps of each allocation, a stack of 30 calls, and the 256 MiB of freed
// memory that it holds back cost a compiler that allocates all the time a fifth of its time, and
// every page anew. ASAN_OPTIONS=malloc_context_size=30:quarantine_size_mb=256 in the environment
// brings both back where a report asks for them. Programs that the tests start are given the same
// (main() below): a fifth of what they compute.
// What gcc asks of formats when it compiles, -Wformat, only make sanitized asks again.
#define ASAN_WORDS "malloc_context_size=2:quarantine_size_mb=4" ASAN_FORMATS
#ifdef SANITIZED_WHOLE
#define ASAN_FORMATS ""
#else
#define ASAN_FORMATS ":check_printf=0"
#endif
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return ASAN_WORDS; }

#define SUITE(name) Suite *suite_##name(void);
#include "suites.def"
#undef SUITE

enum { SUITE_SECONDS_MAX = 400, STRESS_SECONDS_MAX = 4 * 3600, JOBS_MAX = 16 };

// Nothing is put away: what else ends at an exit would take longer than the suite.
void stop_when_asked(const char *file, int line) {
  if (getenv("TEST_STOP") == NULL) return;
  fprintf(stderr, "%s:%d does not hold\n", file, line);
  fflush(NULL);
  _exit(1);
}

typedef struct Counts {
  int checks, failures, errors;
} Counts;

typedef struct Job {
  const char *name;
  Suite *(*make)(void);
  bool wanted, failed, waits;
  pid_t pid;
  FILE *words;  // what it prints
  int counts;   // read end of a pipe with its Counts
  double started;
} Job;

static Job jobs[] = {
#define SUITE(suite) {.name = #suite, .make = suite_##suite},
#include "suites.def"
#undef SUITE
};
enum { N_JOBS = sizeof jobs / sizeof jobs[0] };

// The suites that take longest start first, so that no processor waits for the last one.
static const char *const slow[] = {
    "property",    "open_rungs",    "attention",    "tune",        "mutants",
    "emit_run",    "tcgen05",       "export_cu",    "cluster",     "view",
    "pingpong",    "emit_compile",  "persistent",   "lesson_view", "tensor_scaled",
    "conventions", "counted",       "emit_atoms",   "stamp",       "own_view",
    "bench",       "hostile",       "work_lists",   "mbarrier",    "ops",
    "open_cli",    "parse",         "random_order", "timeline",    "register_probe",
    "open_styles", "compile_all",   "lesson",       "interp_cli",  "lesson_cli",
    "open_races",  "pipeline_view", "steps",        "tagged",      "timeline_measured",
    "knob_use",    "history_view",  "trace_run",    "tensor_map",  "clock",
    "schema",      "symptoms",      "echoes",       "injection",   "pipeline_broken"};

static const char *const waiting[] = {
    "tune",     "client",         "cuda_cli", "cli_probe", "history", "worker",   "terminal",
    "explorer", "client_history", "global",   "ways_out",  "device",  "clipboard"};

// Its place in a list, or behind it.
static int place_in(const char *const *list, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (strcmp(list[i], name) == 0) return i;
  return n;
}
#define PLACE_IN(list, name) place_in(list, sizeof list / sizeof *list, name)

static int compare_jobs(const void *a, const void *b) {
  const Job *left = a, *right = b;
  int by_slow = PLACE_IN(slow, left->name) - PLACE_IN(slow, right->name);
  int by_wait = PLACE_IN(waiting, left->name) - PLACE_IN(waiting, right->name);
  return by_slow ? by_slow : by_wait ? by_wait : strcmp(left->name, right->name);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool choose(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    bool known = false;
    for (int j = 0; j < N_JOBS; j++)
      if (strcmp(jobs[j].name, argv[i]) == 0) known = jobs[j].wanted = true;
    if (known) continue;
    fprintf(stderr, "there is no suite \"%s\": tests/unit/test_%s.c would define it\n", argv[i],
            argv[i]);
    return false;
  }
  for (int j = 0; j < N_JOBS && argc <= 1; j++) jobs[j].wanted = true;
  return true;
}

static Counts run_suite(const Job *job) {
  stress_begin_suite(job->name);
  SRunner *runner = srunner_create(job->make());
  const char *lost = stress_lost_row();
  srunner_set_fork_status(runner, getenv("CK_FORK") ? CK_FORK_GETENV : CK_NOFORK);
  srunner_run_all(runner, CK_NORMAL);
  Counts counts = {.checks = srunner_ntests_run(runner)};
  TestResult **results = srunner_failures(runner);
  for (int i = 0; i < srunner_ntests_failed(runner); i++)
    *(tr_rtype(results[i]) == CK_ERROR ? &counts.errors : &counts.failures) += 1;
  free(results);
  srunner_free(runner);
  if (lost) {
    printf("dear.def names %s of %s, which has no such test\n", lost, job->name);
    counts.failures++;
  }
  return counts;
}

static void start(Job *job) {
  int ends[2];
  job->words = tmpfile();
  // What a suite leaves running must not keep its counts from ending.
  if (!job->words || pipe2(ends, O_CLOEXEC) != 0) {
    perror("a test process could not be started");
    exit(2);
  }
  fflush(NULL);
  job->started = now();
  job->pid = fork();
  if (job->pid == 0) {
    dup2(fileno(job->words), STDOUT_FILENO);
    dup2(fileno(job->words), STDERR_FILENO);
    close(ends[0]);
    Counts counts = run_suite(job);
    bool told = write(ends[1], &counts, sizeof counts) == sizeof counts;
    exit(told && counts.failures + counts.errors == 0 ? 0 : 1);
  }
  close(ends[1]);
  job->counts = ends[0];
}

// What the failed suites printed, last of all: the end of a log is what everybody reads first.
static void print_failed(void) {
  for (Job *job = jobs; job < jobs + N_JOBS; job++) {
    char bytes[4096];
    if (!job->failed) continue;
    printf("\n%s printed:\n", job->name);
    rewind(job->words);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, job->words)) > 0;)
      fwrite(bytes, 1, n, stdout);
  }
}

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

// Adds what the ended process counted; a process that ended otherwise than by its counts is an
// error of its own.
static void finish(Job *job, int status, const struct rusage *used, Counts *total) {
  Counts counts = {0};
  bool told = read(job->counts, &counts, sizeof counts) == sizeof counts;
  bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  bool broke = !told || (!clean && counts.failures + counts.errors == 0);
  if (broke) {
    counts.checks++;
    counts.errors++;
  }
  printf("%-24s %5d checks %7.2f s %7.2f s of CPU%s\n", job->name, counts.checks,
         now() - job->started, seconds(used->ru_utime) + seconds(used->ru_stime),
         broke   ? "  ended by a signal or a sanitizer"
         : clean ? ""
                 : "  FAILED");
  fflush(stdout);
  job->failed = !clean || broke;
  close(job->counts);
  job->pid = 0;
  total->checks += counts.checks;
  total->failures += counts.failures;
  total->errors += counts.errors;
}

static void reap(Counts *total) {
  int most = stress_is_on() ? STRESS_SECONDS_MAX : (int)stress_wall(SUITE_SECONDS_MAX);
  for (Job *job = jobs; job < jobs + N_JOBS; job++) {
    int status;
    struct rusage used;
    if (job->pid <= 0) continue;
    if (now() - job->started > most) {
      printf("%s took longer than %d s and is ended\n", job->name, most);
      kill(job->pid, SIGKILL);
    }
    if (wait4(job->pid, &status, WNOHANG, &used) != job->pid) continue;
    finish(job, status, &used, total);
  }
}

static int count_running(bool waiting_ones) {
  int n = 0;
  for (const Job *job = jobs; job < jobs + N_JOBS; job++)
    n += job->pid > 0 && job->waits == waiting_ones;
  return n;
}

// The next one to be started; NULL: none is left.
static Job *next_job(bool waiting_one) {
  for (Job *job = jobs; job < jobs + N_JOBS; job++)
    if (job->wanted && job->started <= 0 && job->waits == waiting_one) return job;
  return NULL;
}

static void start_some(int at_once) {
  for (Job *next; count_running(false) < at_once && (next = next_job(false));) start(next);
  for (Job *next; count_running(false) + count_running(true) <= at_once && (next = next_job(true));)
    start(next);
}

static void end_all(void) {
  for (Job *job = jobs; job < jobs + N_JOBS; job++)
    if (job->pid > 0) kill(job->pid, SIGKILL);
}

static Counts run_apart(int at_once) {
  Counts total = {0};
  const bool stops = getenv("TEST_STOP") != NULL;
  for (start_some(at_once); count_running(false) + count_running(true) > 0; start_some(at_once)) {
    reap(&total);
    if (stops && total.failures + total.errors > 0) {
      end_all();
      break;
    }
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  }
  return total;
}

static Counts run_here(void) {
  Counts total = {0};
  for (Job *job = jobs; job < jobs + N_JOBS; job++) {
    if (!job->wanted) continue;
    Counts counts = run_suite(job);
    total.checks += counts.checks;
    total.failures += counts.failures;
    total.errors += counts.errors;
  }
  return total;
}

int main(int argc, char **argv) {
  if (!choose(argc, argv)) return 2;
  setenv("GEMMVIEW_GPU", "", 1);  // what is read is the same with a GPU and without
  setenv("ASAN_OPTIONS", ASAN_WORDS, 0);
  kept_tool_begin();
  qsort(jobs, N_JOBS, sizeof jobs[0], compare_jobs);
  for (Job *job = jobs; job < jobs + N_JOBS; job++)
    job->waits = PLACE_IN(waiting, job->name) < (int)(sizeof waiting / sizeof *waiting);
  const char *given = getenv("TEST_JOBS");
  long at_once = given ? strtol(given, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
  if (at_once > JOBS_MAX) at_once = JOBS_MAX;
  Counts total = at_once < 1 ? run_here() : run_apart((int)at_once);
  print_failed();
  int bad = total.failures + total.errors;
  int percent = total.checks == 0 ? 100 : 100 * (total.checks - bad) / total.checks;
  printf("%d%%: Checks: %d, Failures: %d, Errors: %d\n", percent, total.checks, total.failures,
         total.errors);
  return bad == 0 ? 0 : 1;
}
