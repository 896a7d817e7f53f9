// gemmview without a subcommand, or gemmview explore: the explorer in the terminal, with what the
// user's configuration says where the command line says nothing.
#include <stdio.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_worker.h"
#include "tui/app.h"

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
    OPTION_WORKER(ExploreOptions),
    FLAG("ascii", ascii),
    FLAG("no-mouse", no_mouse),
    FLAG("no-worker", no_worker),
};

// The file that is there; a sentence when something in it is wrong.
static const char *read_config(Arena *arena, Config *config) {
  Diags diags = diags_new(arena);
  if (config_load(arena, config_path(arena), config, &diags)) return NULL;
  const char *nearest = diags.first->nearest;
  return arena_printf(arena, "%s%s%s%s", diags.first->text, nearest ? "; nearest: " : "",
                      nearest ? nearest : "",
                      diags.count > 1 ? "; gemmview config check lists the others" : "");
}

// Options that the command line leaves open are taken from the file.
static void fill_in(ExploreOptions *given, Config *config) {
  if (!given->theme) given->theme = config->theme;
  if (!given->color) given->color = config->color;
  given->ascii |= config->ascii;
  given->no_mouse |= !config->mouse;
  if (given->worker.count == 0) given->worker = (OptionList){config->worker.item, config->worker.n};
}

int cmd_explore(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  ExploreOptions given = {0};
  int n = sizeof options / sizeof *options;
  if (!options_parse(options, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  cli_take_rung(&given.state, &given.ladder, &given.rung, &diags);
  if (diags.count) return cli_fail(&diags);
  if (argc > 1) return cli_error(CLI_USAGE, "\"%s\": gemmview explore takes only options", argv[1]);
  if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
    return cli_error(CLI_USAGE,
                     "the explorer needs a terminal; gemmview show prints its screens without one");
  Config config;
  ClientOptions client;
  Verb *verbs = ARENA_ARRAY(arena, Verb, cli_command_count);
  for (int i = 0; i < cli_command_count; i++)
    verbs[i] = (Verb){cli_commands[i].name, cli_commands[i].usage};
  const char *notice = read_config(arena, &config);
  fill_in(&given, &config);
  if (!cli_client_options(arena, &given.worker, &client, &diags)) return cli_fail(&diags);
  client.history = true;
  AppOptions app = {.session = {given.state, given.ladder, given.rung, given.ascii},
                    .terminal = {given.color, given.ascii, given.no_mouse},
                    .theme = given.theme,
                    .script = given.script,
                    .client = given.no_worker ? NULL : &client,
                    .config = &config,
                    .resumes = !given.state && !given.ladder && !given.rung && !given.script,
                    .verbs = verbs,
                    .n_verbs = cli_command_count,
                    .notice = notice};
  AppEnd end = app_run(&app, &diags);
  if (end == APP_FAILED || end == APP_NO_TERMINAL) return cli_fail(&diags);
  return end == APP_INTERRUPTED ? CLI_INTERRUPTED : CLI_OK;
}
