// Worked example: "64,8192,8192,bf16" is the state M=64,N=8192,K=8192,DTYPE=bf16 over auto. Of a
// history that has 128×8192×8192 and 4096³ of bf16 the former is tried first: its extents are 1
// binary order away, those of the latter 8.
#include "cli/common/tune_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_ladder.h"
#include "model/words/dtype.h"

enum { ROWS_MAX = 2000, NEAREST_MAX = 8 };

// ---- problems -----------------------------------------------------------------------------------

static const char *next_field(Arena *arena, const char **at) {
  const size_t n = strcspn(*at, ",");
  const char *field = arena_strndup(arena, *at, n);
  *at += n + ((*at)[n] == ',');
  return field;
}

static bool is_number(const char *text) {
  return *text && text[strspn(text, "0123456789")] == '\0';
}

bool tune_read_problem(const char *text, Schedule *out, Diags *diags) {
  static const char *const names[] = {"M", "N", "K"};
  Str state = str_new(diags->arena);
  const char *at = text;
  for (int i = 0; i < 3; i++) {
    const char *extent = next_field(diags->arena, &at);
    if (!is_number(extent)) {
      diag_add(diags, "usage",
               "a problem is M,N,K and what else is said of it; \"%s\" has \"%s\" for %s",
               str_sanitise(diags->arena, text), str_sanitise(diags->arena, extent), names[i])
          ->nearest = "4096,4096,4096,bf16";
      return false;
    }
    str_printf(&state, "%s%s=%s", i ? "," : "", names[i], extent);
  }
  const size_t n = strcspn(at, ",=");
  const bool has_type = *at && at[n] != '=';
  str_printf(&state, ",DTYPE=%s", has_type ? next_field(diags->arena, &at) : dtype_name(DTYPE_F32));
  if (*at) str_printf(&state, ",%s", at);
  *out = schedule_default();
  return schedule_parse(out, state.text, diags);
}

static bool add_line(Arena *arena, char *line, int number, Schedule *out, int *n, Diags *diags) {
  line[strcspn(line, "#\r\n")] = '\0';
  char *end = line + strlen(line);
  while (end > line && end[-1] == ' ') *--end = '\0';
  while (*line == ' ') line++;
  const bool heading = number == 1 && (*line == 'M' || *line == 'm');
  if (!*line || heading) return true;
  if (tune_read_problem(line, &out[*n], diags)) {
    ++*n;
    return true;
  }
  diag_add(diags, "usage", "that is line %d of the file", number);
  (void)arena;
  return false;
}

int tune_read_file(Arena *arena, const char *path, const Schedule **out, Diags *diags) {
  enum { PROBLEMS_MAX = 4096, LINE_MAX_BYTES = 1024 };
  FILE *file = str_equal(path, "-") ? stdin : fopen(path, "re");
  if (!file) {
    diag_add(diags, "usage", "--file %s cannot be read", str_sanitise(arena, path));
    return -1;
  }
  Schedule *problems = ARENA_ARRAY(arena, Schedule, PROBLEMS_MAX);
  char line[LINE_MAX_BYTES];
  int n = 0;
  for (int number = 1; n < PROBLEMS_MAX && fgets(line, sizeof line, file); number++)
    if (!add_line(arena, line, number, problems, &n, diags)) break;
  if (file != stdin) fclose(file);
  if (n == 0 && !diags->count) diag_add(diags, "usage", "--file %s has no problem in it", path);
  *out = problems;
  return diags->count ? -1 : n;
}

// ---- seeds --------------------------------------------------------------------------------------

static double orders_apart(const Schedule *a, const Schedule *b) {
  double apart = 0;
  for (int i = KNOB_M; i <= KNOB_K; i++)
    apart += fabs(log2((double)a->value[i] / (double)b->value[i]));
  return apart;
}

static bool same_kind(const Schedule *a, const Schedule *b) {
  for (int i = KNOB_K + 1; i < KNOB_COUNT; i++)
    if (knob_is_problem((KnobId)i) && i != KNOB_TARGET && schedule_differs(a, b, (KnobId)i))
      return false;
  return true;
}

// Puts `seed` among the nearest so far.
static void offer(Schedule *nearest, int *n, const Schedule *seed, const Schedule *problem) {
  int at = *n < NEAREST_MAX ? (*n)++ : NEAREST_MAX;
  if (at == NEAREST_MAX && orders_apart(seed, problem) >= orders_apart(&nearest[at - 1], problem))
    return;
  if (at == NEAREST_MAX) at--;
  for (; at > 0 && orders_apart(seed, problem) < orders_apart(&nearest[at - 1], problem); at--)
    nearest[at] = nearest[at - 1];
  nearest[at] = *seed;
}

static int from_history(Arena *arena, History *history, const Schedule *problem, Schedule *out) {
  HistoryRow *rows = ARENA_ARRAY(arena, HistoryRow, ROWS_MAX);
  const int n_rows = history_best(history, arena, rows, ROWS_MAX);
  int n = 0;
  for (int i = 0; i < n_rows; i++) {
    Diags diags = diags_new(arena);
    Schedule seed = schedule_plain();
    if (*rows[i].state && schedule_parse(&seed, rows[i].state, &diags) && same_kind(&seed, problem))
      offer(out, &n, &seed, problem);
  }
  return n;
}

const Schedule *tune_seeds(Arena *arena, History *history, const Schedule *problem, int *n,
                           Diags *diags) {
  const Ladder *const *ladders = cli_ladders(arena, diags);
  if (!ladders) return NULL;
  int n_rungs = 0;
  for (int i = 0; ladders[i]; i++) n_rungs += ladders[i]->n_rungs;
  Schedule *seeds = ARENA_ARRAY(arena, Schedule, n_rungs + NEAREST_MAX + 1);
  *n = from_history(arena, history, problem, seeds);
  for (int i = 0; ladders[i]; i++)
    for (int rung = ladders[i]->n_rungs - 1; rung >= 0; rung--)
      if (!ladders[i]->rung[rung].not_built) seeds[(*n)++] = ladders[i]->rung[rung].schedule;
  return seeds;
}

// ---- workers ------------------------------------------------------------------------------------

// GPUs of the host of one worker; 0: it does not say.
static int n_gpus(Arena *arena, const char *command, Diags *diags) {
  const OptionList alone = {&command, command != NULL};
  CliWorker *worker = cli_worker_open(arena, &alone, false, diags);
  if (!worker) return 0;
  const WorkerMachine machine = cli_worker_machine(worker);
  cli_worker_close(worker);
  if (machine.n_gpus == 0)
    diag_add(diags, "worker", "--gpus all: %s%s%s", command ? command : "this machine",
             *machine.gpu_error ? ": " : " names no GPU", machine.gpu_error);
  return machine.n_gpus;
}

// The program itself, for a worker that no command was given for.
static const char *own_command(Arena *arena) {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return "gemmview worker";
  path[n] = '\0';
  return arena_printf(arena, "'%s' worker", path);
}

bool tune_workers(Arena *arena, const OptionList *commands, bool all_gpus, OptionList *out,
                  Diags *diags) {
  *out = *commands;
  if (!all_gpus) return true;
  const char **items = ARENA_ARRAY(arena, const char *, CLIENT_WORKERS_MAX);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  *out = (OptionList){items, 0};
  for (int i = 0; i < (commands->count ? commands->count : 1); i++) {
    const char *command = commands->count ? commands->items[i] : NULL;
    const int n = n_gpus(arena, command, diags);
    const char *named = command ? command : own_command(arena);
    for (int gpu = 0; gpu < n && out->count < CLIENT_WORKERS_MAX; gpu++)
      items[out->count++] = command ? arena_printf(arena, "%s --gpu %d", named, gpu)
                                    : arena_printf(arena, "%s --gpu %d --compiles %ld", named, gpu,
                                                   cores / n > 1 ? cores / n : 1);
  }
  return diags->count == 0;
}
