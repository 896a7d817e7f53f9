// Arbitrary drawing, the same for the same seed: input of every test that says "for any canvas".
#pragma once
#include <stdint.h>

#include "tui/canvas/canvas.h"

typedef struct Random {
  uint64_t state;
} Random;

Random random_new(uint64_t seed);
uint32_t random_bits(Random *random);
int random_between(Random *random, int low, int high);  // both included

// A text of up to `most` characters: ASCII, lines, wide, combining, control and broken ones.
const char *random_text(Random *random, Arena *arena, int most);
Style random_style(Random *random);
// One call of some canvas function with arguments around `in`, often reaching outside it.
void random_draw(Random *random, Arena *arena, Canvas *canvas, Rect in);
// `calls` of them over the whole canvas.
void canvas_scribble(Canvas *canvas, uint64_t seed, int calls);
// NULL when every cell is well formed: UTF-8 of the width it claims, both halves of wide
// characters.
const char *canvas_fault(Arena *arena, const Canvas *canvas);
