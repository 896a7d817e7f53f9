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
  int n;       // cases that came by
} Dear;

static Dear dear[] = {
#define DEAR(suite, test, one_in) {#suite, #test, one_in, 0},
#include "dear.def"
#undef DEAR
};
enum { N_DEAR = sizeof dear / sizeof *dear };

static const char *making;  // the suite whose tests are added

void stress_begin_suite(const char *suite) { making = suite; }

static bool is_of(const Dear *row, const char *suite) {
  return suite && strcmp(row->suite, suite) == 0;
}

// Whether `make test` leaves out the next case of a test.
static bool is_left_out(const TTest *test) {
  for (Dear *row = dear; row < dear + N_DEAR; row++)
    if (strcmp(row->test, test->name) == 0 && is_of(row, making)) {
      const int which = row->n++;
      return leaves_the_dear() && (row->one_in == 0 || which % row->one_in != 0);
    }
  return false;
}

void stress_add(TCase *tcase, const TTest *test, int signal, int status, int begin, int end) {
  for (int i = begin; i < end; i++)
    if (!is_left_out(test)) (_tcase_add_test)(tcase, test, signal, status, i, i + 1);
}

const char *stress_lost_row(void) {
  for (const Dear *row = dear; row < dear + N_DEAR; row++)
    if (row->n == 0 && is_of(row, making)) return row->test;
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
