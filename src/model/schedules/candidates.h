// Legal schedules of one problem: drawn, changed and crossed by what the tables of knobs and rules
// say, whatever the family.
//
//   SearchSpace *space = search_space(arena, &targets, &base);
//   uint64_t random = 7;
//   Schedule schedule, changed;
//   if (candidate_draw(space, &random, &schedule)) …            anything legal
//   if (candidate_change(space, &random, &best, &changed)) …    near to the best one
//
// `base` is the problem, and the knobs that it names beside the problem's stay as they are.
#pragma once
#include "model/readings/model.h"

typedef struct SearchSpace SearchSpace;

// The targets must outlive it.
SearchSpace *search_space(Arena *arena, const TargetTable *targets, const Schedule *base);

// Each gives a schedule that breaks no rule about knobs, or false where the draw came to none: then
// it is asked again. The same state of *random gives the same schedule.
bool candidate_draw(const SearchSpace *space, uint64_t *random, Schedule *out);
// One to three knobs of `from` moved, and what the rules ask for with it.
bool candidate_change(const SearchSpace *space, uint64_t *random, const Schedule *from,
                      Schedule *out);
// Knobs of both.
bool candidate_cross(const SearchSpace *space, uint64_t *random, const Schedule *a,
                     const Schedule *b, Schedule *out);
// `from`, which is of another problem or GPU, at this one: its knobs as far as the rules allow.
bool candidate_transfer(const SearchSpace *space, const Schedule *from, Schedule *out);

// The schedule's model in `arena`, NULL unless it is legal and an SM has room for a block.
// `program` (may be NULL) gets a number that tells its program from others, whatever knobs led to
// it.
const Model *candidate_model(Arena *arena, const TargetTable *targets, const Schedule *schedule,
                             uint64_t *program);
