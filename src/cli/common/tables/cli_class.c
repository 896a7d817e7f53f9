// The two commands differ in one word and in what their argument names: a lesson to teach, or the
// class to join, which is called like the lesson it began with.
#include "cli/common/tables/cli_class.h"

#include <unistd.h>

#include "base/user.h"
#include "cli/common/cli.h"
#include "cli/common/cli_worker.h"
#include "cli/common/options.h"

typedef struct ClassOptions {
  const char *who, *results, *color, *theme;
  int at;
  bool ascii, no_mouse, no_worker;
  OptionList worker;
} ClassOptions;

#define TEXT(key, field) \
  { .name = key, .kind = OPTION_KIND_TEXT, .offset = offsetof(ClassOptions, field) }
#define FLAG(key, field) \
  { .name = key, .kind = OPTION_KIND_FLAG, .offset = offsetof(ClassOptions, field) }

// The first two are the teacher's, the last a follower's.
static const Option options[] = {
    TEXT("results", results),
    {.name = "at",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(ClassOptions, at),
     .lo = 1,
     .hi = LESSON_AT_MAX},
    TEXT("color", color),
    TEXT("theme", theme),
    FLAG("ascii", ascii),
    FLAG("no-mouse", no_mouse),
    FLAG("no-worker", no_worker),
    OPTION_WORKER(ClassOptions),
    TEXT("as", who),
};
enum { N_OPTIONS = sizeof options / sizeof options[0], N_TEACHERS = 2 };

int cli_class(Arena *arena, int argc, char **argv, ClassRole role) {
  Diags diags = diags_new(arena);
  ClassOptions given = {0};
  bool teaches = role == CLASS_TEACHER;
  if (!options_parse(teaches ? options : options + N_TEACHERS,
                     teaches ? N_OPTIONS - 1 : N_OPTIONS - N_TEACHERS, &given, &argc, argv, &diags))
    return cli_fail(&diags);
  if (argc > 2)
    return cli_error(CLI_USAGE,
                     "one class is needed; \"%s\" is one argument too "
                     "many",
                     argv[2]);
  const char *name = argc > 1 ? argv[1] : NULL;
  if (teaches && !name)
    return cli_error(CLI_USAGE, "teach needs a lesson; gemmview lesson --list names them");
  if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
    return cli_error(CLI_USAGE, "a class needs a terminal");
  ClientOptions client;
  if (!cli_client_options(arena, &given.worker, &client, &diags)) return cli_fail(&diags);
  AppOptions app = {.client = given.no_worker ? NULL : &client,
                    .terminal = {given.color, given.ascii, given.no_mouse},
                    .theme = given.theme,
                    .lesson = teaches ? name : "",
                    .lesson_step = given.at,
                    .role = role,
                    .room = teaches ? NULL : name,
                    .results = given.results,
                    .who = given.who ? given.who : user_name(arena)};
  AppEnd end = app_run(&app, &diags);
  if (end == APP_FAILED || end == APP_NO_TERMINAL) return cli_fail(&diags);
  return end == APP_INTERRUPTED ? CLI_INTERRUPTED : CLI_OK;
}
