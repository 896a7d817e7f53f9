// Tells what a self test is asked, what it has found, and how that is told.
//
//   Check *check = selftest_begin(t, "banks", "accesses measured … against the bank rules");
//   selftest_passed(t, check, "line 3");      selftest_failed(t, check, "line 4", NULL, "another
//   number"); selftest_end(t, check);
#pragma once
#include "cli/common/cli_worker.h"
#include "cli/common/options.h"
#include "model/words/device.h"
#include "model/words/ladder.h"

typedef struct SelftestGiven {
  bool gpu, json, verbose, hopper;
  int random, seed;
  const char *only, *ladder;
  OptionList worker;
} SelftestGiven;

typedef struct Failure {
  const char *check, *what, *state, *error;
  struct Failure *next;
} Failure;

typedef struct Check {
  const char *name, *help;
  int passed, failed;
  int elsewhere;        // rungs of GPUs of another architecture than the one at hand
  const char *skipped;  // why; NULL: it ran
  const char *differs;  // what is otherwise than expected and no failure; NULL: nothing
} Check;

enum { SELFTEST_CHECKS_MAX = 9 };

typedef struct Selftest {
  Arena *arena;
  const SelftestGiven *given;
  CliWorker *worker;  // NULL until one is needed
  TargetTable targets;
  DeviceWord word;  // of the GPU's driver, with --gpu
  const Ladder *const *ladders;
  int n_checks;
  Check check[SELFTEST_CHECKS_MAX];
  Failure *first, **last;
} Selftest;

Check *selftest_begin(Selftest *t, const char *name, const char *help);
void selftest_passed(const Selftest *t, Check *check, const char *what);
// `state`: the state line that shows it again; NULL: there is none. Texts are kept, not copied.
void selftest_failed(Selftest *t, Check *check, const char *what, const char *state,
                     const char *error);
void selftest_end(const Selftest *t, const Check *check);  // tells the check, unless JSON is asked

void selftest_print_json(const Selftest *t, bool ok);
