// One schedule and the pictures of it: what A, or B, of the screen is.
//
// Two model generations live in two arenas. side_build() makes the new one where the picture is
// not; only when it is legal does it become the picture. So a knob that breaks a rule leaves the
// last good picture standing, and the reasons beside it:
//
//   side_edit(side, KNOB_FM, 64);      side->schedule has FM=64
//   side_build(side, targets);         side->reasons: "registers: 4400 needed, …; nearest: FM=16"
//   side->picture                      still the one of FM=8
#pragma once
#include "base/arena.h"
#include "kernels/toolchain/machine/sass.h"
#include "model/readings/model.h"
#include "model/text/emit.h"
#include "tui/session/nest.h"

typedef struct Grid Grid;  // model/readings/place/grid.h

// The numbers by which a change of knobs is measured.
typedef struct PictureNumbers {
  Resources resources;
  Traffic traffic;
} PictureNumbers;

// Everything drawn of one legal schedule. Const once built, except the parts made when they are
// first read, and the model when the compiler has counted registers.
typedef struct Picture {
  uint64_t key;  // schedule_identity()
  int serial;    // of the pictures of its side: no two share one, though they may share a place
  const Model *model;      // with the compiler's word where it is known
  const Model *estimate;   // without: what the trials of knobs are compared with
  const Model *counted;    // with the latest word; NULL: there was none
  const SassResult *sass;  // the code with the widths in `counted`; NULL: none
  Nest nest;               // folded: a thought per row
  Nest listing;            // every statement
  const BankMap *map;      // [model->n_sites]
  const BankMap *map_estimate, *map_counted, *map_written;
  const Model *written;             // NULL until it is asked for
  int worst_site;                   // index of the site with the most conflicts; -1: none conflicts
  const Emission *emission;         // NULL until asked for
  const Grid *grid, *grid_counted;  // the same, of the estimate and of the count
  bool has_before;                  // the numbers of the picture before the last change
  PictureNumbers before, before_estimate;
  int *before_wavefronts;  // [model->n_sites] of the same access; -1: there was none, no count
  const TextDiff *diff;    // of the full listing, from the picture before; NULL: none
} Picture;

typedef struct Side {
  Arena *arena[2];
  int at;  // arena of `picture`
  int n_built;
  bool ascii;  // how the nest is written
  Schedule schedule;
  Picture *picture;      // NULL only until the first legal schedule
  const Diags *reasons;  // why `schedule` has no picture; NULL when the picture is its own
  Schedule pictured;     // the schedule of the picture
} Side;

// The access of `model` that is the one of this text elsewhere: it fills the same buffer. -1: none.
int side_find_site(const Model *model, const char *text);
// The access of global memory that is to this matrix. -1: none.
int side_find_global(const Model *model, const char *matrix);

// The wavefronts per slab and block that an access loses to conflicts; 0 where it has no count.
double side_site_price(const Site *site);

void side_init(Side *side, const char *name);
void side_free(Side *side);

// Derives everything from side->schedule. True when it is legal.
bool side_build(Side *side, const TargetTable *targets);

// Gives the picture the compiler's word: registers per thread (negative: not known) and the machine
// code of its text (NULL: not known). Without either it goes by the model's own estimates again.
void side_set_compiled(Side *side, int registers, int spill_bytes, const SassResult *sass);
// Until the next of those: the accesses as the program says them.
void side_show_written(Side *side);
PictureNumbers picture_numbers(const Model *model);

// The CUDA text of the picture.
const Emission *side_emission(Side *side);
// The grid of the picture.
const Grid *side_grid(Side *side);
