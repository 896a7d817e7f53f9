// Successive halving: who is measured again, and for how long.
//
//   brief   everything that is compiled, until the time for searching is over
//   short   the best 12 of those, for 0.2 s each
//   final   the best 4, two at a time in turns with cuBLAS, hot where there is time for that
//
// Worked example, 120 s: 84 s of brief turns, some 800 points; 12 · 0.5 s; two pairs of 2 · 300 ms
// turns for 4 s each, behind the choice of cuBLAS's row.
#include "kernels/tune/tune_inside.h"

// The points of the next round, the fastest first. Only those of the round that ends come into it.
static void choose_best(Field *field, int most) {
  field->n_chosen = field->n_given = field->n_open = 0;
  for (int i = 0; i < field->told.n_order && field->n_chosen < most; i++)
    field->chosen[field->n_chosen++] = field->told.order[i];
}

static bool round_is_over(const Tune *tune, const Field *field) {
  const TuneField *told = &field->told;
  if (told->round != TUNE_BRIEF) return field->n_given == field->n_chosen && field->n_open == 0;
  const int done = tune_n_settled(told);
  const bool enough = tune->options.points_max && done >= tune->options.points_max;
  const bool nothing_left = field->dry && done == told->n_points;
  return enough || nothing_left || tune_now(tune) + told->spent_s >= tune->search_ends;
}

// What is still to be compiled for the first round comes too late.
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
    if (told->round == TUNE_FINAL) choose_best(field, TUNE_FINAL_POINTS);
  }
}

int tune_next_of_round(Field *field, int point[2]) {
  const int most = field->told.round == TUNE_FINAL ? 2 : 1;
  int n = 0;
  while (n < most && field->n_given < field->n_chosen) point[n++] = field->chosen[field->n_given++];
  if (n) field->n_open++;
  return n;
}
