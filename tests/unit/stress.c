// One variable for every promise, so that `make stress` and the tests cannot disagree about it.
#include "stress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// From the first on CI's turns are asked, then every turn, and then what takes minutes as well.
static const double turns_of_ci = 0.0001, every_turn = 0.001, everything = 0.01;

static double fraction(void) {
  const char *text = getenv("GEMMVIEW_STRESS");
  double value = text ? strtod(text, NULL) : 0;
  return value > 0 && value <= 1 ? value : value > 1 ? 1 : 0;
}

// Turns are those of `make test`; what dear.def lists is left out only where nothing is asked for.
static bool is_make_test(void) { return fraction() < turns_of_ci; }
static bool leaves_the_dear(void) { return fraction() <= 0; }

bool stress_is_on(void) { return fraction() >= every_turn; }

bool stress_is_whole(void) { return fraction() >= everything; }

// One in so many of what `make test` asks one of `one_in`: in CI one in 3 of what it asks one in 4
// of, one in 6 of 9, one in 9 of 18.
static int asked_one_in(int one_in) {
  return stress_is_on() ? 1 : is_make_test() ? one_in : (int)ceil(pow(one_in, 0.75));
}

int stress_part(int n, int one_in) {
  const int asked = asked_one_in(one_in);
  return (n + asked - 1) / asked;
}

int stress_count(int sampled, int whole) {
  int n = (int)(fraction() * whole);
  return n > sampled ? n : is_make_test() ? stress_part(sampled, 3) : sampled;
}

bool stress_has_turn(int which, int one_in) { return which % asked_one_in(one_in) == 0; }

bool stress_has_dear_turn(int which, int one_in, int in_ci) {
  return which % (is_make_test() ? one_in : in_ci) == 0 || stress_is_whole();
}

void stress_add_turns(TCase *tcase, const TTest *test, int n, int one_in) {
  static int first;
  const int most = one_in < n ? one_in : n;  // of few cases one is asked, too
  for (int i = 0; i < n; i++)
    if (stress_has_turn(i + first, most)) tcase_add_loop_test(tcase, test, i, i + 1);
  first++;
}

// ---- what is dear -------------------------------------------------------------------------------

typedef struct Dear {
  const char *suite, *test;
  int one_in;  // asked by `make test`; 0: none
  bool found;
} Dear;

static Dear dear[] = {
#define DEAR(suite, test, one_in) {#suite, #test, one_in, false},
#include "dear.def"
#undef DEAR
};
enum { N_DEAR = sizeof dear / sizeof *dear };

// The suite of tests/unit/test_NAME.c is NAME.
static bool is_of_suite(const char *file, const char *suite) {
  const char *name = strstr(file, "test_");
  const size_t length = strlen(suite);
  return name && strncmp(name + 5, suite, length) == 0 && strcmp(name + 5 + length, ".c") == 0;
}

static int dear_one_in(const TTest *test) {
  for (Dear *row = dear; row < dear + N_DEAR; row++) {
    if (strcmp(row->test, test->name) != 0 || !is_of_suite(test->file, row->suite)) continue;
    row->found = true;
    return row->one_in;
  }
  return 1;
}

void stress_add(TCase *tcase, const TTest *test, int signal, int status, int begin, int end) {
  const int one_in = dear_one_in(test);
  if (one_in == 1 || !leaves_the_dear()) {
    (_tcase_add_test)(tcase, test, signal, status, begin, end);
    return;
  }
  for (int i = begin; one_in && i < end; i++)
    if (i % one_in == 0) (_tcase_add_test)(tcase, test, signal, status, i, i + 1);
}

const char *stress_lost_row(const char *suite) {
  for (const Dear *row = dear; row < dear + N_DEAR; row++)
    if (!row->found && strcmp(row->suite, suite) == 0) return row->test;
  return NULL;
}

// ---- time ---------------------------------------------------------------------------------------

bool stress_is_emulated(void) { return stress_patience() > 1; }

double stress_patience(void) {
  const char *text = getenv("GEMMVIEW_PATIENCE");
  double value = text ? strtod(text, NULL) : 1;
  return value >= 1 ? value : 1;
}

// Those that want to run right now, this process among them: the average of a minute learns late of
// a crowd that has just come.
static double running_now(void) {
  int running = 1;
  FILE *file = fopen("/proc/loadavg", "r");
  if (file && fscanf(file, "%*f %*f %*f %d", &running) != 1) running = 1;
  if (file) fclose(file);
  return running;
}

double stress_crowd(void) {
  double load = 1;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (getloadavg(&load, 1) != 1 || processors < 1) load = 1;
  load = fmax(load, running_now());
  return load > (double)processors ? load / (double)processors : 1;
}

double stress_wall(double limit) { return limit * stress_patience() * stress_crowd(); }
