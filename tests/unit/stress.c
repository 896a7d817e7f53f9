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

int stress_count(int sampled, int whole) {
  int n = (int)(fraction() * whole);
  return n > sampled ? n : sampled;
}

bool stress_has_turn(int which, int one_in) { return which % one_in == 0 || stress_is_on(); }

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
