// gemmview config: the configuration file.
//
//   gemmview config                       what counts now: the file over the defaults
//   gemmview config path                  where it is looked for
//   gemmview config defaults              a whole file, with every key of the program
//   gemmview config check [FILE]          what is wrong in it, line by line; 2 when something is
//   gemmview config set theme=light keys.explore.x=fix
//                                         writes the file, the only thing that ever does
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "tui/frame/config.h"
#include "tui/frame/view.h"

typedef struct ConfigOptions {
  bool json;
} ConfigOptions;

static const Option options[] = {OPTION_JSON(ConfigOptions)};

typedef struct Job {
  Arena *arena;
  bool json;
  const char *path;
  int n;  // of arguments
  char **argument;
} Job;

// Where the file is, whether it is there, and what it says.
typedef struct ConfigShown {
  const Job *job;
  const Config *config;
  bool all_keys;
} ConfigShown;

static void write_config(JsonWriter *w, const void *it, const void *in, Arena *arena) {
  (void)in;
  const ConfigShown *shown = it;
  Diags diags = diags_new(arena);
  const char *text = config_text(arena, shown->config, shown->all_keys);
  json_put_value(w, json_parse(arena, text, strlen(text), &diags, "config"));
}

#define FORM_FILE "cli/commands/forms/cmd_config.form"
#include "base/form_make.h"

static void print_json(const Job *job, const Config *config, bool all_keys) {
  cli_print_document(job->arena, &config_form, &(ConfigShown){job, config, all_keys}, NULL);
}

static void print(const Job *job, const Config *config, bool all_keys) {
  if (job->json)
    print_json(job, config, all_keys);
  else
    fputs(config_text(job->arena, config, all_keys), stdout);
}

static int need_path(const Job *job) {
  if (job->path) return CLI_OK;
  return cli_error(CLI_MISSING, "neither XDG_CONFIG_HOME nor HOME is set");
}

static int run_path(const Job *job) {
  if (job->json) {
    Config config = config_default();
    print_json(job, &config, false);
    return CLI_OK;
  }
  if (need_path(job) != CLI_OK) return CLI_MISSING;
  printf("%s%s\n", job->path,
         access(job->path, F_OK) == 0 ? "" : "  (there is none; the defaults apply)");
  return CLI_OK;
}

static int run_defaults(const Job *job) {
  Config config = config_default();
  print(job, &config, true);
  return CLI_OK;
}

static int run_show(const Job *job) {
  Config config;
  Diags diags = diags_new(job->arena);
  bool ok = config_load(job->arena, job->path, &config, &diags);
  if (ok) print(job, &config, false);
  return ok ? CLI_OK : cli_fail(&diags);
}

static int run_check(const Job *job) {
  Config config;
  Diags diags = diags_new(job->arena);
  const char *path = job->n ? job->argument[0] : job->path;
  if (job->n && access(path, F_OK) != 0)
    return cli_error(CLI_USAGE, "there is no file \"%s\"", str_sanitise(job->arena, path));
  bool ok = config_load(job->arena, path, &config, &diags);
  Keymap *keymap = keymap_new(job->arena);
  view_bind_keys(keymap);
  config_bind(&config, keymap, &diags);
  if (!ok || diags.count) return cli_fail(&diags);
  if (job->json) {
    Job checked = *job;
    checked.path = path;
    print_json(&checked, &config, false);
    return CLI_OK;
  }
  bool there = path && access(path, F_OK) == 0;
  printf("%s: %s\n", path ? path : "config.json", there ? "nothing is wrong" : "there is none");
  return CLI_OK;
}

static int run_set(const Job *job) {
  Config config;
  Diags diags = diags_new(job->arena);
  if (job->n == 0) return cli_error(CLI_USAGE, "config set needs NAME=VALUE, such as theme=light");
  if (need_path(job) != CLI_OK) return CLI_MISSING;
  const int lock = disk_lock(job->path);  // till it is written: another process may set a key
  bool ok = config_load(job->arena, job->path, &config, &diags);
  for (int i = 0; i < job->n; i++)
    ok = config_set(job->arena, &config, job->argument[i], &diags) && ok;
  ok = ok && config_save(job->arena, job->path, &config, &diags);
  if (lock >= 0) close(lock);
  if (!ok) return cli_fail(&diags);
  if (job->json)
    print_json(job, &config, false);
  else
    printf("%s is written\n", job->path);
  return CLI_OK;
}

static const struct {
  const char *name;
  int n_max;  // arguments after the name
  int (*run)(const Job *job);
} verbs[] = {
    {"", 0, run_show},       {"path", 0, run_path}, {"defaults", 0, run_defaults},
    {"check", 1, run_check}, {"set", 64, run_set},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

int cmd_config(Arena *arena, int argc, char **argv) {
  ConfigOptions given = {0};
  Diags diags = diags_new(arena);
  if (!options_parse(options, 1, &given, &argc, argv, &diags)) return cli_fail(&diags);
  const char *name = argc > 1 ? argv[1] : "", *names[VERBS];
  Job job = {arena, given.json, config_path(arena), argc > 2 ? argc - 2 : 0, argv + 2};
  for (int i = 0; i < VERBS; i++) {
    names[i] = verbs[i].name;
    if (!str_equal(name, names[i])) continue;
    if (job.n > verbs[i].n_max)
      return cli_error(CLI_USAGE,
                       "\"%s\" is one argument too "
                       "many",
                       argv[argc - 1]);
    return verbs[i].run(&job);
  }
  diag_add(&diags, "usage", "\"%s\": choose path, defaults, check or set",
           str_sanitise(arena, name))
      ->nearest = nearest_name(name, names, VERBS);
  return cli_fail(&diags);
}
