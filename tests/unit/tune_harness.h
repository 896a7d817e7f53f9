// A search for tests: workers by script, a problem by text, points told of.
#pragma once
#include "base/clock.h"
#include "base/embed.h"
#include "base/str.h"
#include "cli/common/tune_input.h"
#include "client_harness.h"
#include "kernels/tune/tune_run.h"

#define HELLO "{\"on\":\"start\",\"do\":\"hello\"}\n"
#define MACHINE(name) "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"" name "\"}\n"
#define SIMULATED(delay)                       \
  "{\"on\":\"compile\",\"do\":\"simulate\"}\n" \
  "{\"on\":\"bench\",\"delay_ms\":" delay ",\"do\":\"simulate\"}\n"

extern TargetTable targets;
extern char history_file[80];  // of its own for each test, gone afterwards

void setup_tune(void);
void teardown_tune(void);
Schedule problem(const char *text);

typedef struct Asked {
  const char *problem;
  int workers, points;
  double seconds;
  const Schedule *seeds;
  int n_seeds;
  History *resume;
} Asked;

extern int n_told, n_first_times;
extern double *first_times;  // when each of the first points was told of; NULL: nobody asks

TuneOptions options_of(const Asked *asked);
Tune *search_by(const TuneOptions *how);
Tune *search(const Asked *asked);
// The same points in the same order whatever else the machine does.
Tune *search_in_turn(const Asked *asked);
int settled(const TuneField *field);
