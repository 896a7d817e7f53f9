// Successive halving: the points to measure again, and the time for each.
//
//   brief   everything that is compiled, until the time for searching is over
//   short   the best 12 of those, for 0.2 s each
//   final   the best 4, or two for each GPU, a pair at a time in turns with cuBLAS, hot where there
//           is time for that
//
// A hot turn takes 300 ms whatever the kernel, so what the last two rounds take is known, and the
// first has the rest of the time. Worked example, 120 s on an H200: the 12 take 4 s, the choice of
// cuBLAS's row 9.3 s and each of two pairs 9.3 s, so brief turns end after 88 s, with some 2,000
// points. Two GPUs or more take a pair each, and search for 99 s.
#include <math.h>

#include "kernels/tune/tune_inside.h"

// One GPU has time for the second pair in searches from this many seconds on.
static const double hot_from_s = 45, pairs_from_s = 90;

bool tune_is_hot(const Tune *tune) { return tune->options.seconds >= hot_from_s; }

static int final_points(const Tune *tune, const Field *field) {
  enum { A_PAIR = 2, PAIRS_OF_ONE = 2 };
  const int n = field->told.n_workers;
  const bool in_haste = n == 1 && tune_is_hot(tune) && tune->options.seconds < pairs_from_s;
  const int points = A_PAIR * (in_haste ? 1 : n > PAIRS_OF_ONE ? n : PAIRS_OF_ONE);
  return points < TUNE_SHORT_POINTS ? points : TUNE_SHORT_POINTS;
}

double tune_search_ends(const Tune *tune, const Field *field) {
  static const double short_s = 0.35, row_s = 9.3, pair_s = 9.3, cool_share = 0.3;
  const double n = fmax(1, field->told.n_workers), all = tune->options.seconds;
  const double pairs = ceil(final_points(tune, field) / 2 / n);
  const double hot_s = ceil(TUNE_SHORT_POINTS / n) * short_s + pairs * pair_s +
                       (field->told.cublas_ns > 0 ? row_s : 0);
  if (tune->options.blind_points) return all;  // there are no other rounds
  return all - (tune_is_hot(tune) ? hot_s : cool_share * all);
}

// The points of the next round, the fastest first: those that have come furthest.
static void choose_best(Field *field, int most) {
  field->n_chosen = field->n_given = field->n_open = 0;
  for (int i = 0; i < field->told.n_order && field->n_chosen < most; i++)
    field->chosen[field->n_chosen++] = field->told.order[i];
}

// The first time may take seconds: nothing is best before it.
static bool time_is_over(const Tune *tune, const Field *field) {
  const double spent = tune_now(tune) + field->told.spent_s;
  return spent >= tune_search_ends(tune, field) &&
         (field->told.n_order > 0 || spent >= tune->options.seconds);
}

static bool round_is_over(const Tune *tune, const Field *field) {
  const TuneField *told = &field->told;
  if (told->round != TUNE_BRIEF) return field->n_given == field->n_chosen && field->n_open == 0;
  const int done = tune_n_settled(told);
  const bool enough = tune->options.points_max && done >= tune->options.points_max;
  const bool nothing_left = field->dry && done == told->n_points;
  return enough || nothing_left || time_is_over(tune, field);
}

// All that is still to be compiled for the first round comes too late.
static void call_back(Tune *tune, const Field *field) {
  for (int i = 0; i < field->told.n_points; i++)
    if (field->told.point[i].state == TUNE_COMPILING)
      client_cancel(tune->options.client, field->told.point[i].request);
}

void tune_advance(Tune *tune, Field *field) {
  TuneField *told = &field->told;
  while (told->round < TUNE_ROUNDS && round_is_over(tune, field)) {
    if (told->round == TUNE_BRIEF) call_back(tune, field);
    told->round = tune->options.blind_points ? TUNE_ROUNDS : told->round + 1;
    if (told->round == TUNE_SHORT) choose_best(field, TUNE_SHORT_POINTS);
    if (told->round == TUNE_FINAL) choose_best(field, final_points(tune, field));
  }
}

int tune_next_of_round(Field *field, int point[2]) {
  const int most = field->told.round == TUNE_FINAL ? 2 : 1;
  int n = 0;
  while (n < most && field->n_given < field->n_chosen) point[n++] = field->chosen[field->n_given++];
  if (n) field->n_open++;
  return n;
}
