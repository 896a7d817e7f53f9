// Words → the explorer, which runs them as a child.
#include "cli/open/open_screen.h"

#include "cli/common/cli.h"
#include "cli/common/cli_worker.h"
#include "tui/app.h"

int open_screen(Arena *arena, const char *const *words, int n, bool watches, Diags *diags) {
  const OptionList no_worker = {0};
  ClientOptions client;
  Config config;
  Diags faults = diags_new(arena);
  const bool whole = config_load(arena, config_path(arena), &config, &faults);
  Verb *verbs = ARENA_ARRAY(arena, Verb, cli_command_count);
  for (int i = 0; i < cli_command_count; i++)
    verbs[i] = (Verb){cli_commands[i].name, cli_commands[i].usage};
  if (!cli_client_options(arena, &no_worker, &client, diags)) return cli_fail(diags);
  const AppOptions app = {.terminal = {config.color, config.ascii, !config.mouse},
                          .theme = config.theme,
                          .client = &client,
                          .config = &config,
                          .verbs = verbs,
                          .n_verbs = cli_command_count,
                          .opened = words,
                          .n_opened = n,
                          .watches = watches,
                          .notice = whole ? NULL : faults.first->text};
  const AppEnd end = app_run(&app, diags);
  if (end == APP_FAILED || end == APP_NO_TERMINAL) return cli_fail(diags);
  return end == APP_INTERRUPTED ? CLI_INTERRUPTED : CLI_OK;
}
