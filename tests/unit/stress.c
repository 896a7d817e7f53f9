// One variable for every promise, so that `make stress` and the tests cannot disagree about it.
#include "stress.h"

#include <stdlib.h>
#include <unistd.h>

static double fraction(void) {
  const char *text = getenv("GEMMVIEW_STRESS");
  double value = text ? strtod(text, NULL) : 0;
  return value > 0 && value <= 1 ? value : value > 1 ? 1 : 0;
}

bool stress_is_on(void) { return fraction() > 0; }

bool stress_is_whole(void) { return fraction() >= 0.01; }

int stress_part(int n, int one_in) { return stress_is_on() ? n : (n + one_in - 1) / one_in; }

int stress_count(int sampled, int whole) {
  int n = (int)(fraction() * whole);
  return n > sampled ? n : stress_part(sampled, 3);
}

bool stress_has_turn(int which, int one_in) { return which % one_in == 0 || stress_is_on(); }

bool stress_has_dear_turn(int which, int one_in, int in_ci) {
  return which % (stress_is_on() ? in_ci : one_in) == 0 || stress_is_whole();
}

void stress_add_turns(TCase *tcase, const TTest *test, int n, int one_in) {
  static int first;
  for (int i = 0; i < n; i++)
    if (stress_has_turn(i + first, one_in)) tcase_add_loop_test(tcase, test, i, i + 1);
  first++;
}

bool stress_is_emulated(void) { return stress_patience() > 1; }

double stress_patience(void) {
  const char *text = getenv("GEMMVIEW_PATIENCE");
  double value = text ? strtod(text, NULL) : 1;
  return value >= 1 ? value : 1;
}

double stress_crowd(void) {
  double load = 1;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (getloadavg(&load, 1) != 1 || processors < 1) return 1;
  return load > (double)processors ? load / (double)processors : 1;
}

double stress_wall(double limit) { return limit * stress_patience() * stress_crowd(); }
