// A line for each check on stdout, failures on stderr as they happen; or one JSON object at the
// end.
#include "cli/common/selftest.h"

#include <stdio.h>

#include "base/json.h"

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

void selftest_print_json(const Selftest *t, bool ok) {
  Str out = str_new(t->arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "command", "selftest");
  json_member_bool(&w, "ok", ok);
  json_member_int(&w, "seed", t->given->seed);
  json_key(&w, "checks");
  json_begin_array(&w);
  for (int i = 0; i < t->n_checks; i++) {
    json_begin_object(&w);
    json_member_string(&w, "name", t->check[i].name);
    json_member_string(&w, "help", t->check[i].help);
    json_member_int(&w, "passed", t->check[i].passed);
    json_member_int(&w, "failed", t->check[i].failed);
    json_member_int(&w, "elsewhere", t->check[i].elsewhere);
    json_member_string(&w, "skipped", t->check[i].skipped);
    json_member_string(&w, "differs", t->check[i].differs);
    json_end_object(&w);
  }
  json_end_array(&w);
  json_key(&w, "failures");
  json_begin_array(&w);
  for (const Failure *f = t->first; f; f = f->next) {
    json_begin_object(&w);
    json_member_string(&w, "check", f->check);
    json_member_string(&w, "what", f->what);
    json_member_string(&w, "state", f->state);
    json_member_string(&w, "error", f->error);
    json_end_object(&w);
  }
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
}
