// Words → this very program as a child → one line of JSON.
//
// The stages come on stderr, one line each, and so does what went wrong, after "gemmview: ". A save
// while the child runs ends that child and starts another.
#include "tui/views/own/own_work.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/watch.h"
#include "base/whole.h"
#include "kernels/worker/process.h"

enum { WORDS = 64, DOCUMENT_BYTES_MAX = 256 << 20, END_MS = 50, ERROR_BYTES = 1024 };

struct OpenedRun {
  Arena *arena;
  const char *program;
  const char *word[WORDS + 8];
  int n_words;
  Process process;
  Reaper reaper;
  bool going, watches;
  WatchList watched;
  char stage[80], error[ERROR_BYTES];
  const char *document;
  size_t bytes;
  Arena *result;
};

OpenedRun *opened_run_new(void) {
  Arena *arena = arena_new("opened");
  OpenedRun *run = ARENA_NEW(arena, OpenedRun);
  run->arena = arena;
  run->program = "/proc/self/exe";
  run->result = arena_new("opened document");
  run->watched = watch_new();
  run->process = process_none();
  return run;
}

void opened_run_free(OpenedRun *run) {
  if (!run) return;
  opened_run_stop(run);
  watch_free(&run->watched);
  arena_free(run->result);
  arena_free(run->arena);
}

void opened_run_set(OpenedRun *run, const char *const *words, int n) {
  run->n_words = 0;
  for (int i = 0; i < n && i < WORDS; i++)
    run->word[run->n_words++] = arena_strdup(run->arena, words[i]);
  watch_set(&run->watched, run->word, min_int(1, run->n_words));
}

void opened_run_program(OpenedRun *run, const char *program) {
  run->program = arena_strdup(run->arena, program);
}

static int flags_at(const OpenedRun *run) {
  int i = 0;
  while (i < run->n_words && !str_equal(run->word[i], "--")) i++;
  return i;
}

// Whether word i is the option or its value: "--arg=4", "--arg", "4".
static bool is_option(const OpenedRun *run, int i, const char *option) {
  const size_t n = strlen(option);
  const char *word = run->word[i];
  if (strncmp(word, option, n) == 0 && (!word[n] || word[n] == '=')) return true;
  return i > 1 && str_equal(run->word[i - 1], option);
}

void opened_run_drop(OpenedRun *run, const char *option) {
  int n = min_int(1, run->n_words);
  const int end = flags_at(run);
  for (int i = 1; i < run->n_words; i++)
    if (i >= end || !is_option(run, i, option)) run->word[n++] = run->word[i];
  run->n_words = n;
}

bool opened_run_has(const OpenedRun *run, const char *option) {
  const int end = flags_at(run);
  for (int i = 1; i < end; i++)
    if (str_equal(run->word[i], option)) return true;
  return false;
}

void opened_run_put(OpenedRun *run, const char *const *words, int n) {
  if (run->n_words < 1 || run->n_words + n > WORDS) return;
  memmove(run->word + 1 + n, run->word + 1, sizeof run->word[0] * (size_t)(run->n_words - 1));
  for (int i = 0; i < n; i++) run->word[1 + i] = arena_strdup(run->arena, words[i]);
  run->n_words += n;
}

bool opened_run_given(const OpenedRun *run) { return run->n_words > 0; }
const char *opened_run_text(Arena *arena, const OpenedRun *run) {
  Str out = str_new(arena);
  for (int i = 0; i < run->n_words; i++) {
    const bool plain = !strpbrk(run->word[i], " '\"\\$`*?;&|<>()");
    str_printf(&out, plain ? "%s%s" : "%s'%s'", i ? " " : "", run->word[i]);
  }
  return str_sanitise(arena, out.text);
}
const char *opened_run_file(const OpenedRun *run) { return run->n_words ? run->word[0] : ""; }

// ---- the child ----------------------------------------------------------------------------------

bool opened_run_start(OpenedRun *run) {
  const char *argv[WORDS + 8] = {run->program, "open"};
  int n = 2;
  opened_run_stop(run);
  const int flags = flags_at(run);
  for (int i = 0; i < flags; i++) argv[n++] = run->word[i];
  argv[n++] = "--detail";
  for (int i = flags; i < run->n_words; i++) argv[n++] = run->word[i];
  argv[n] = NULL;
  const ProcessOptions options = {.new_session = true, .line_limit = DOCUMENT_BYTES_MAX};
  (void)watch_saved(&run->watched);  // the run sees all saves up to now
  run->error[0] = '\0';
  run->document = NULL;
  run->going = run->n_words > 0 && process_start(&run->process, argv, &options);
  snprintf(run->stage, sizeof run->stage, "starting");
  if (!run->going) return false;
  close(run->process.in);  // it gets no input
  run->process.in = -1;
  return true;
}

void opened_run_stop(OpenedRun *run) {
  if (!run->going) return;
  process_kill(&run->process, &run->reaper);
  reaper_collect(&run->reaper);
  run->going = false;
  run->stage[0] = '\0';
}

bool opened_run_going(const OpenedRun *run) { return run->going; }
const char *opened_run_stage(const OpenedRun *run) { return run->stage; }
const char *opened_run_error(const OpenedRun *run) { return run->error; }
// ---- what it says -------------------------------------------------------------------------------

static bool take_stage(OpenedRun *run) {
  process_read_words(&run->process);
  const char *words = run->process.words, *end = strrchr(words, '\n');
  if (!end) return false;
  const char *from = end;
  while (from > words && from[-1] != '\n') from--;
  char stage[sizeof run->stage];
  snprintf(stage, sizeof stage, "%.*s", (int)(end - from), from);
  if (str_equal(stage, run->stage)) return false;
  memcpy(run->stage, stage, sizeof stage);
  return true;
}

static void take_document(OpenedRun *run) {
  char *line;
  size_t n;
  while (line_reader_next(&run->process.lines, &line, &n) == LINE_READY) {
    arena_reset(run->result);
    run->document = arena_strndup(run->result, line, n);
    run->bytes = n;
  }
}

// From the first "gemmview: " on; without one, how the child ended.
static void take_error(OpenedRun *run) {
  char how[128] = "";
  process_read_words(&run->process);
  const char *said = strstr(run->process.words, "gemmview: ");
  if (said) {
    char *clean = str_sanitise(run->result, said + strlen("gemmview: "));
    snprintf(run->error, sizeof run->error, "%s", clean);
  }
  process_describe_end(&run->process, &run->reaper, END_MS, how, sizeof how);
  if (!run->document && !said)
    snprintf(run->error, sizeof run->error, "the run %s", *how ? how : "said nothing");
  if (run->document) run->error[0] = '\0';
}

static bool poll_child(OpenedRun *run) {
  long got;
  while ((got = line_reader_fill(&run->process.lines, run->process.out)) > 0) take_document(run);
  if (got < 0) return take_stage(run);
  take_error(run);
  run->going = false;
  run->stage[0] = '\0';
  return true;
}

const char *opened_run_take(OpenedRun *run, size_t *bytes) {
  const char *document = run->going ? NULL : run->document;
  *bytes = run->bytes;
  if (document) run->document = NULL;
  return document;
}

// ---- the file -----------------------------------------------------------------------------------

void opened_run_watch(OpenedRun *run, bool on) { run->watches = on && run->n_words > 0; }
bool opened_run_watches(const OpenedRun *run) { return run->watches; }

void opened_run_files(OpenedRun *run, const char *const *paths, int n) {
  if (n > 0) watch_set(&run->watched, paths, n);
}

int opened_run_n_watched(const OpenedRun *run) { return run->watched.n; }

const char *opened_run_watched(Arena *arena, const OpenedRun *run) {
  return watch_text(arena, &run->watched);
}

bool opened_run_poll(OpenedRun *run) {
  bool news = false;
  reaper_collect(&run->reaper);
  if (run->watches && watch_saved(&run->watched)) news = opened_run_start(run);
  return (run->going && poll_child(run)) || news;
}
