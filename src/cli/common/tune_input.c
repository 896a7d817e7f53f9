// Worked example: "64,8192,8192,bf16" is the state M=64,N=8192,K=8192,DTYPE=bf16 over auto.
#include "cli/common/tune_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/disk.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/portable.h"
#include "cli/common/tables/cli_ladder.h"
#include "kernels/tune/tune.h"
#include "kernels/worker/lines.h"
#include "model/words/dtype.h"

// ---- problems -----------------------------------------------------------------------------------

static const char blanks[] = " \t";

// Up to the next comma, without the blanks around it.
static const char *next_field(Arena *arena, const char **at) {
  const size_t n = strcspn(*at, ",");
  const char *from = *at + strspn(*at, blanks), *to = *at + n;
  while (to > from && strchr(blanks, to[-1])) to--;
  *at += n + ((*at)[n] == ',');
  return from < to ? arena_strndup(arena, from, (size_t)(to - from)) : "";
}

static bool is_number(const char *text) {
  return *text && text[strspn(text, "0123456789")] == '\0';
}

// The numbers that there are, with commas; for a missing number, the last one again.
static const char *nearest_problem(Arena *arena, const char *text) {
  const char *number[3] = {"4096"};
  int n = 0;
  for (const char *at = text; n < 3 && *at;) {
    at += strcspn(at, "123456789");
    const size_t digits = strspn(at, "0123456789");
    if (digits) number[n++] = arena_strndup(arena, at, digits < 7 ? digits : 7);
    at += digits;
  }
  for (int i = n ? n : 1; i < 3; i++) number[i] = number[i - 1];
  return arena_printf(arena, "%s,%s,%s", number[0], number[1], number[2]);
}

bool tune_read_problem(const char *text, Schedule *out, Diags *diags) {
  static const char *const names[] = {"M", "N", "K"};
  Str state = str_new(diags->arena);
  const char *at = text;
  for (int i = 0; i < 3; i++) {
    const char *extent = next_field(diags->arena, &at);
    if (!is_number(extent)) {
      diag_add(diags, "usage", "a problem is M,N,K[,DTYPE][,KNOB=V...]; \"%s\" has \"%s\" for %s",
               str_sanitise(diags->arena, text), str_sanitise(diags->arena, extent), names[i])
          ->nearest = nearest_problem(diags->arena, text);
      return false;
    }
    str_printf(&state, "%s%s=%s", i ? "," : "", names[i], extent);
  }
  const size_t n = strcspn(at, ",=");
  const bool has_type = *at && at[n] != '=';
  str_printf(&state, ",DTYPE=%s", has_type ? next_field(diags->arena, &at) : dtype_name(DTYPE_F32));
  while (*at) str_printf(&state, ",%s", next_field(diags->arena, &at));
  *out = schedule_default();
  return schedule_parse(out, state.text, diags);
}

enum { PROBLEMS_MAX = 4096, BAD_LINES_MAX = 20 };

// Holds what a file's lines came to.
typedef struct Shapes {
  Schedule *out;  // [PROBLEMS_MAX]
  int n, n_bad;
  bool begun;  // something stood on a line before
  int number;  // of the line
  Diags *diags;
} Shapes;

// The line without remark and blanks.
static char *bare(char *line) {
  line[strcspn(line, "#\r\n")] = '\0';
  line += strspn(line, blanks);
  char *end = line + strlen(line);
  while (end > line && strchr(blanks, end[-1])) *--end = '\0';
  return line;
}

static void add_finding(Shapes *shapes, int number, const Diag *finding, Diags *diags) {
  if (shapes->n_bad == BAD_LINES_MAX)
    diag_add(diags, "usage",
             "line %d: more lines like "
             "these",
             number);
  if (shapes->n_bad++ >= BAD_LINES_MAX) return;
  diag_add(diags, finding->rule, "line %d: %s", number, finding->text)->nearest = finding->nearest;
}

static void add_problem(Shapes *shapes, const char *line, int number, Diags *diags) {
  Diags found = diags_new(diags->arena);
  const bool heading = !shapes->begun && (*line == 'M' || *line == 'm');
  if (!*line) return;
  shapes->begun = true;
  if (heading) return;
  if (shapes->n == PROBLEMS_MAX)
    diag_add(&found, "usage", "more than %d problems", PROBLEMS_MAX);
  else if (tune_read_problem(line, &shapes->out[shapes->n], &found))
    shapes->n++;
  if (found.first) add_finding(shapes, number, found.first, diags);
}

// Tables of some spreadsheets begin with a mark of their encoding.
static char *behind_mark(char *text) {
  static const char mark[] = "\xef\xbb\xbf";
  return strncmp(text, mark, strlen(mark)) == 0 ? text + strlen(mark) : text;
}

static void take_line(void *context, char *line, size_t n) {
  Shapes *shapes = context;
  (void)n;
  if (++shapes->number == 1) line = behind_mark(line);
  add_problem(shapes, bare(line), shapes->number, shapes->diags);
}

int tune_read_file(Arena *arena, const char *path, const Schedule **out, Diags *diags) {
  const char *why = NULL, *shown = str_sanitise(arena, path);
  FILE *file = str_equal(path, "-") ? stdin : disk_open(path, true, &why);
  if (!file) {
    diag_add(diags, "usage", "--file %s cannot be read: %s", shown, why);
    return -1;
  }
  Shapes shapes = {.out = ARENA_ARRAY(arena, Schedule, PROBLEMS_MAX), .diags = diags};
  int n_lines = 0;
  why = lines_each(fileno(file), take_line, &shapes, &n_lines);
  if (file != stdin) fclose(file);
  if (why) diag_add(diags, "usage", "--file %s, line %d: %s", shown, n_lines + 1, why);
  if (shapes.n == 0 && !diags->count)
    diag_add(diags, "usage", "--file %s has no problem in it", str_sanitise(arena, path));
  *out = shapes.out;
  return diags->count ? -1 : shapes.n;
}

// ---- seeds --------------------------------------------------------------------------------------

const Schedule *tune_seeds(Arena *arena, History *history, const Schedule *problem, int *n,
                           Diags *diags) {
  const Ladder *const *ladders = cli_ladders(arena, diags);
  if (!ladders) return NULL;
  int n_rungs = 0;
  for (int i = 0; ladders[i]; i++) n_rungs += ladders[i]->n_rungs;
  Schedule *seeds = ARENA_ARRAY(arena, Schedule, n_rungs + TUNE_NEAR_MAX + 1);
  *n = tune_near(arena, history, problem, seeds);
  for (int i = 0; ladders[i]; i++)
    for (int rung = ladders[i]->n_rungs - 1; rung >= 0; rung--)
      if (!ladders[i]->rung[rung].not_built) seeds[(*n)++] = ladders[i]->rung[rung].schedule;
  return seeds;
}

// ---- workers ------------------------------------------------------------------------------------

// The host of one worker, as it says; no GPUs: it does not.
static WorkerMachine machine_of(Arena *arena, const char *command, Diags *diags) {
  const OptionList alone = {&command, command != NULL};
  CliWorker *worker = cli_worker_open(arena, &alone, false, diags);
  if (!worker) return (WorkerMachine){.n_gpus = 0};
  const WorkerMachine machine = cli_worker_machine(worker);
  cli_worker_close(worker);
  if (machine.n_gpus == 0)
    diag_add(diags, "worker", "--gpus all: %s%s%s", command ? command : "this machine",
             *machine.gpu_error ? ": " : " names no GPU", machine.gpu_error);
  return machine;
}

// The program itself, for a worker that no command was given for.
static const char *own_command(Arena *arena) {
  char path[PATH_MAX];
  return portable_program(path) ? arena_printf(arena, "'%s' worker", path) : "gemmview worker";
}

// Compilers share the host's processors: the ones that one worker alone takes, and the one that it
// leaves. A host that does not tell its number of processors is asked for no share.
static const char *command_for(Arena *arena, const char *worker, int gpu,
                               const WorkerMachine *machine) {
  const char *text = arena_printf(arena, "%s --gpu %d", worker, gpu);
  const int share = (machine->n_compiles + 1) / machine->n_gpus;
  if (!machine->n_compiles) return text;
  return arena_printf(arena, "%s --compiles %d", text, share ? share : 1);
}

bool tune_workers(Arena *arena, const OptionList *commands, bool all_gpus, OptionList *out,
                  Diags *diags) {
  *out = *commands;
  if (!all_gpus) return true;
  const char **items = ARENA_ARRAY(arena, const char *, CLIENT_WORKERS_MAX);
  *out = (OptionList){items, 0};
  for (int i = 0; i < (commands->count ? commands->count : 1); i++) {
    const char *command = commands->count ? commands->items[i] : NULL;
    const WorkerMachine machine = machine_of(arena, command, diags);
    const char *worker = command ? command : own_command(arena);
    for (int gpu = 0; gpu < machine.n_gpus && out->count < CLIENT_WORKERS_MAX; gpu++)
      items[out->count++] = command_for(arena, worker, gpu, &machine);
  }
  return diags->count == 0;
}
