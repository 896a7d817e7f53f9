// A line for each check on stdout, failures on stderr as they happen; or one JSON object at the
// end.
#include "cli/common/selftest.h"

#include <stdio.h>

#include "cli/common/documents.h"

Check *selftest_begin(Selftest *t, const char *name, const char *help) {
  Check *check = &t->check[t->n_checks++];
  *check = (Check){.name = name, .help = help};
  return check;
}

void selftest_passed(const Selftest *t, Check *check, const char *what) {
  check->passed++;
  if (t->given->verbose) fprintf(stderr, "%s: %s: passed\n", check->name, what);
}

void selftest_failed(Selftest *t, Check *check, const char *what, const char *state,
                     const char *error) {
  Failure *failure = ARENA_NEW(t->arena, Failure);
  *failure = (Failure){check->name, what, state, error, NULL};
  *t->last = failure;
  t->last = &failure->next;
  check->failed++;
  fprintf(stderr, "%s: %s: %s%s%s%s\n", check->name, what, error, state ? "\n  -k " : "",
          state ? state : "", "");
}

static const char *elsewhere_text(Arena *arena, const Check *check) {
  if (!check->elsewhere) return "";
  return arena_printf(arena, ", %d of other architectures", check->elsewhere);
}

void selftest_end(const Selftest *t, const Check *check) {
  if (t->given->json) return;
  if (check->skipped)
    printf("%-10s skipped: %s\n", check->name, check->skipped);
  else
    printf("%-10s %s: %d passed, %d failed%s\n", check->name, check->help, check->passed,
           check->failed, elsewhere_text(t->arena, check));
  if (check->differs) printf("%-10s differs: %s\n", "", check->differs);
  fflush(stdout);
}

typedef struct SelftestShown {
  const Selftest *t;
  bool ok;
  int n_failures;
  const Failure **failure;
} SelftestShown;

#define FORM_FILE "cli/common/selftest.form"
#include "base/form_make.h"

void selftest_print_json(const Selftest *t, bool ok) {
  SelftestShown shown = {.t = t, .ok = ok};
  for (const Failure *f = t->first; f; f = f->next) shown.n_failures++;
  shown.failure = ARENA_ARRAY(t->arena, const Failure *, shown.n_failures);
  int n = 0;
  for (const Failure *f = t->first; f; f = f->next) shown.failure[n++] = f;
  cli_print_document(t->arena, &selftest_form, &shown, NULL);
}
