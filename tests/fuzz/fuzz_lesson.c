// Lesson files: any bytes give findings or a lesson; of a lesson one step is computed, and what is
// computed judges any guess.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli_model.h"
#include "cli/common/tables/cli_ladder.h"
#include "model/lessons/lesson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const LessonWorld *whole_world(void) {
  static const char *const views[] = {"explore", "loops", "banks", "fragments"};
  static TargetTable targets;
  static LessonWorld world;
  static Arena *keep;
  if (keep) return &world;
  keep = arena_new("world");
  Diags diags = diags_new(keep);
  const Ladder *const *ladders = cli_ladders(keep, &diags);
  if (!ladders || !cli_targets(keep, &targets, &diags)) abort();
  int n = 0;
  while (ladders[n]) n++;
  world = (LessonWorld){.facts = {.targets = &targets, .ladders = ladders, .n_ladders = n},
                        .views = views,
                        .n_views = 4};
  return &world;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const LessonWorld *world = whole_world();
  Arena *arena = arena_new("fuzz");
  Diags diags = diags_new(arena);
  const Lesson *lesson = lesson_read(arena, (const char *)data, size, "fuzz.json", world, &diags);
  if ((lesson == NULL) != (diags.count > 0)) abort();
  StepFacts facts;
  int step = lesson ? (int)(size % (size_t)lesson->n_steps) : 0;
  if (lesson && lesson_compute(arena, world, lesson, step, &facts, &diags)) {
    const LessonStep *at = &lesson->step[step];
    if (!lesson_answer(arena, at, &facts)) abort();
    if (!lesson_check(arena, world, at, &facts, at->title).text) abort();
  } else if (diags.count == 0) {
    abort();
  }
  arena_free(arena);
  return 0;
}
