// The commands of the command line at the explorer's prompt: ":check", ":banks --op lds32 …".
//
// Each runs as a process of its own, this very program, with the present state where it takes one;
// the screen never waits for it. What it prints is read line by line and shown by the help view
// until q; leaving ends it.
//
//   Verbs *verbs = verbs_new(table, n);
//   if (verbs_start(verbs, "check --failing", state, &diags)) …
//   while (verbs_running(verbs)) if (verbs_poll(verbs)) draw again
#pragma once
#include "base/arena.h"
#include "base/diag.h"

typedef struct Verb {
  const char *name, *usage;  // "check", "[-k STATE] [--failing] [--json]"
} Verb;

typedef struct Verbs Verbs;

// The state that the help view keeps between frames.
typedef struct Pager {
  Verbs *verbs;     // NULL: no command can be run
  bool shown;       // what one of them printed, instead of the keys
  char filter[64];  // lines of help without it are left out
} Pager;

struct Session;
Pager *pager_of(const struct Session *session);

Verbs *verbs_new(const Verb *table, int n);  // the table must live as long
void verbs_free(Verbs *verbs);               // ends what runs; NULL is allowed

int verbs_count(const Verbs *verbs);  // 0 for NULL
const char *verbs_name(const Verbs *verbs, int i);
const char *verbs_usage(const Verbs *verbs, int i);
bool verbs_has(const Verbs *verbs, const char *name);

// `line` is a name and its arguments; quotes keep blanks together. False after findings.
bool verbs_start(Verbs *verbs, const char *line, const char *state, Diags *diags);
bool verbs_running(const Verbs *verbs);  // false for NULL
// Takes what has come, without waiting; true when there is something new to show.
bool verbs_poll(Verbs *verbs);
void verbs_stop(Verbs *verbs);

// The output so far: the command in line 0, how it ended in the last one.
int verbs_lines(const Verbs *verbs);
const char *verbs_line(const Verbs *verbs, int i);
