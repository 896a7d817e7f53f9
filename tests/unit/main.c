// Runs every suite, or those named on the command line, in one process and prints Check's summary.
//
// The list of suites is generated from the file names. Nothing is forked, so that the sanitizers
// stop at the first fault with the stack of the test that caused it; CK_FORK=yes overrides.
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUITE(name) Suite *suite_##name(void);
#include "suites.def"
#undef SUITE

static const struct {
  const char *name;
  Suite *(*make)(void);
} suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.def"
#undef SUITE
};
enum { N_SUITES = sizeof suites / sizeof suites[0] };

static bool is_wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], name) == 0) return true;
  return argc <= 1;
}

static bool names_exist(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    bool known = false;
    for (int s = 0; s < N_SUITES; s++) known |= strcmp(suites[s].name, argv[i]) == 0;
    if (known) continue;
    fprintf(stderr, "there is no suite \"%s\": tests/unit/test_%s.c would define it\n", argv[i],
            argv[i]);
    return false;
  }
  return true;
}

int main(int argc, char **argv) {
  if (!names_exist(argc, argv)) return 2;
  SRunner *runner = srunner_create(NULL);
  for (int s = 0; s < N_SUITES; s++)
    if (is_wanted(suites[s].name, argc, argv)) srunner_add_suite(runner, suites[s].make());
  if (!getenv("CK_FORK")) srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
