// gemmview without a subcommand, or gemmview explore: the explorer in the terminal.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "tui/app.h"

enum { WORKER_WORDS_MAX = 32 };

typedef struct ExploreOptions {
  const char *state, *ladder, *rung, *color, *theme, *script;
  OptionList worker;
  bool ascii, no_mouse, no_worker;
} ExploreOptions;

#define TEXT(key) \
  { .name = #key, .kind = OPTION_KIND_TEXT, .offset = offsetof(ExploreOptions, key) }
#define FLAG(key, field) \
  { .name = key, .kind = OPTION_KIND_FLAG, .offset = offsetof(ExploreOptions, field) }

static const Option options[] = {
    OPTION_STATE(ExploreOptions),
    TEXT(ladder),
    TEXT(rung),
    TEXT(color),
    TEXT(theme),
    TEXT(script),
    {.name = "worker", .kind = OPTION_KIND_LIST, .offset = offsetof(ExploreOptions, worker)},
    FLAG("ascii", ascii),
    FLAG("no-mouse", no_mouse),
    FLAG("no-worker", no_worker),
};

// "ssh box gemmview worker" as an argument vector: words between blanks, no shell.
static const char *const *split_words(Arena *arena, const char *command) {
  const char **words = ARENA_ARRAY(arena, const char *, WORKER_WORDS_MAX + 1);
  int n = 0;
  for (const char *at = command; *at && n < WORKER_WORDS_MAX;) {
    at += strspn(at, " ");
    size_t length = strcspn(at, " ");
    if (length) words[n++] = arena_strndup(arena, at, length);
    at += length;
  }
  return words;
}

static ClientOptions client_options(Arena *arena, const ExploreOptions *given) {
  int n = given->worker.count;
  const char *const **workers = ARENA_ARRAY(arena, const char *const *, n);
  for (int i = 0; i < n; i++) workers[i] = split_words(arena, given->worker.items[i]);
  return (ClientOptions){
      .version = cli_version, .user = getenv("USER"), .workers = workers, .n_workers = n};
}

static int explore(int argc, char **argv, Arena *arena, Diags *diags) {
  ExploreOptions given = {0};
  int n = sizeof options / sizeof *options;
  if (!options_parse(options, n, &given, &argc, argv, diags)) return cli_fail(diags);
  if (argc > 1) return cli_error(CLI_USAGE, "\"%s\" is left over", argv[1]);
  if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
    return cli_error(CLI_USAGE,
                     "the explorer needs a terminal; gemmview show prints its screens without one");
  ClientOptions client = client_options(arena, &given);
  AppOptions app = {.session = {given.state, given.ladder, given.rung, given.ascii},
                    .terminal = {given.color, given.ascii, given.no_mouse},
                    .theme = given.theme,
                    .script = given.script,
                    .client = given.no_worker ? NULL : &client};
  AppEnd end = app_run(&app, diags);
  if (end == APP_FAILED || end == APP_NO_TERMINAL) return cli_fail(diags);
  return end == APP_INTERRUPTED ? CLI_INTERRUPTED : CLI_OK;
}

int cmd_explore(int argc, char **argv) {
  Arena *arena = arena_new("explore");
  Diags diags = diags_new(arena);
  int status = explore(argc, argv, arena, &diags);
  arena_free(arena);
  return status;
}
