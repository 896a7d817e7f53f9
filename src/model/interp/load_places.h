// Where a copy may stand in the loop over slabs: each place tried by the interpreter.
//
//   LoadPlaces *places = load_places_new(arena, program);  n_copies 0: there is nothing to be moved
//   while (load_places_try(places, 0, LOAD_ANYWHERE)) …    one run each
//   places->copy[0].place[7].text                          "race on K_s[6, 0]: warp 3 …"
//
// A copy is a group asked for together: statements side by side in the body of the loop that only
// copy into shared memory in the background, the guard, the fence and the commit among them. Lines
// are the other statements of the body. Place p is in front of line p, behind all copies that stand
// there; the last one is the end of the body.
//
// Worked example, attention with EAGER_KV: V is safe from behind the first barrier, where all have
// read the last block's, up to the wait in front of the second. The next block's K is safe from
// behind the second barrier to the end of the body: it needs the wait of the next turn.
#pragma once
#include "model/ir/names.h"

enum { LOAD_COPIES_MAX = 4, LOAD_LINES_MAX = 64, LOAD_ANYWHERE = -1 };

typedef enum LoadVerdict { LOAD_UNTRIED, LOAD_SAFE, LOAD_UNSAFE } LoadVerdict;

typedef struct LoadPlace {
  LoadVerdict verdict;
  const char *text;  // UNSAFE: the gravest finding, or the number of wrong cells of C
  int meets;         // UNSAFE: the line that the finding is about besides the copy; -1: none
} LoadPlace;

typedef struct LoadCopy {
  const char *slabs;  // "V_s", "A_s, B_s"
  int begin, n;       // its statements, among all of the body
  int at;             // the place where it stands
  LoadPlace place[LOAD_LINES_MAX + 1];
} LoadCopy;

typedef struct LoadPlaces {
  Arena *arena;
  const Program *program;
  int n_lines;
  const Stmt *line[LOAD_LINES_MAX];
  int n_copies;
  LoadCopy copy[LOAD_COPIES_MAX];
} LoadPlaces;

// Nothing is tried yet. `program` should be small: every try runs it twice.
LoadPlaces *load_places_new(Arena *arena, const Program *program);

// Tries a place of a copy, or with LOAD_ANYWHERE the next one of all copies that is untried, those
// near to where copies stand first; false when there is nothing left to try.
bool load_places_try(LoadPlaces *places, int copy, int place);

// The program with the copy at that place.
Program *load_places_move(Arena *arena, const LoadPlaces *places, int copy, int place);
