// Private to random_schedule.c and random_families.c: the tables to draw from, and draws that both
// have.
#pragma once
#include "model/schedules/random_schedule.h"

enum { RANDOM_ATOMS_MAX = 32 };

// The knobs that are drawn, up to where. The others keep their defaults: they name what the rules
// call not built, or follow from the problem.
typedef struct RandomKnob {
  KnobId knob;
  int64_t hi;
} RandomKnob;

void random_draw_all(uint64_t *state, const RandomKnob *drawn, int n, Schedule *schedule);
#define RANDOM_DRAW_ALL(state, table, schedule) \
  random_draw_all(state, table, (int)(sizeof(table) / sizeof *(table)), schedule)

// Holds what a schedule of Hopper's family has besides wgmma and TMA: drawn once, and kept while
// the knobs are drawn again. Else what the rules refuse most would be drawn least.
typedef struct RandomHopper {
  bool roles, cluster, persistent, lists, store, splits;
} RandomHopper;

// Holds what stays while the knobs are drawn again.
typedef struct RandomDraw {
  const Target *target;
  RandomFamily family;
  int64_t kind[RANDOM_ATOMS_MAX];
  int n_kinds;
  bool tensor, tma;
  RandomHopper hopper;  // of that family
} RandomDraw;

int64_t random_draw_order(uint64_t *state);  // of tiles
// Whether the schedule's atom is a warpgroup's.
bool random_is_of_warpgroups(const Schedule *schedule);

void random_draw_attention(uint64_t *state, const RandomDraw *draw, Schedule *schedule);
void random_draw_tensor(uint64_t *state, const RandomDraw *draw, Schedule *schedule);
