// The swizzle view's workbench: a slab with all its accesses, and up to three layouts of it side by
// side. It outlives frames, because a slab is walked once and not at every key.
//
//   Swizzle *work = view_own(session, &swizzle_view);
//   swizzle_follow(work, session);         the selected site's slab, walked when it changed
//   swizzle_try(work, "xor:'col ^ 4'");    a typed layout: work->error or a third column
//   swizzle_solve(work);                   the solver's answer becomes the third column
#pragma once
#include "model/ir/role.h"
#include "model/schedules/slab_problem.h"
#include "tui/canvas/canvas.h"

struct Session;

enum { SWIZZLE_PLAIN, SWIZZLE_NOW, SWIZZLE_TRIAL, SWIZZLE_COLUMNS };

// A layout and what the sites cost in it.
typedef struct SwizzleColumn {
  const char *name;      // "none" or "A's layout", "now", "trial"
  const Layout *layout;  // NULL: there is none
  const char *unit;  // what a swizzle that was typed counts (layout_unit.h); NULL: no such thing
  LayoutFacts facts;
  const SlabCost *cost;  // [n_sites], without the weight; NULL where two bytes share a place
  double total;          // weighted wavefronts of the sites that have counts
  bool legal;            // no site is taken apart
} SwizzleColumn;

typedef struct Swizzle {
  Arena *slab_arena, *trial_arena, *scratch;
  bool built;         // there is a slab
  int generation;     // of the kernel that was brought; 0: it is the schedule's
  int brought;        // that kernel's slab
  int *at;            // [n_sites] the accesses that they are of
  Schedule schedule;  // that it is of
  Schedule a;         // of the A it was held against; only where `comparing`
  bool comparing;
  bool beside_a;    // the first column is A's layout, not "none": same slab, A|B is on
  BufferRole role;  // of it
  int described;    // 0: the slab of the access that is chosen; from 1 on one of those that no lane
                    // addresses (model/readings/place/described.h)
  SlabProblem slab;
  const char *why;  // why there is no slab; NULL when there is one
  SwizzleColumn column[SWIZZLE_COLUMNS];
  const char *error;  // what is wrong with the layout that was typed; NULL: nothing
  bool solved;
  SolverResult result;
} Swizzle;

void swizzle_init(void *state);
void swizzle_done(void *state);

void swizzle_follow(Swizzle *work, struct Session *session);
// The next of the slabs that no lane addresses; behind the last one the chosen access's slab.
void swizzle_next_described(Swizzle *work, const struct Session *session);
void swizzle_try(Swizzle *work, const char *text);
void swizzle_solve(Swizzle *work);
void swizzle_drop(Swizzle *work);  // the third column goes

// The column beside "none": the trial where there is one, else how the slab lies now.
const SwizzleColumn *swizzle_after(const Swizzle *work);

// The words below the accesses (swizzle_says.c): their rows on a screen of that many.
int swizzle_says_rows(int screen_rows, const Swizzle *work, int cols);
void swizzle_draw_says(Canvas *canvas, Rect in, const Swizzle *work);

// ---- pictures -----------------------------------------------------------------------------------

// One layout drawn: where everything lies, and what the lanes of one phase ask for.
typedef struct SlabPicture {
  const Layout *layout;
  const int32_t *logical_of_word;  // [storage / 4]: the logical byte that lies there, -1: a pad
  int64_t addr[BANK_LANES];        // of the phase; -1: inactive or in another phase
  int32_t logical[BANK_LANES];     // the same before the layout
  int access_bytes;
  int wavefronts;  // of this phase; -1 unknown
} SlabPicture;

SlabPicture slab_picture_make(Arena *arena, const SlabSite *site, const Layout *layout,
                              int repetition, int phase);

// A layout alone: no access asks for anything.
SlabPicture slab_picture_of_layout(Arena *arena, const Layout *layout);

enum { SLAB_PICTURE_LABEL = 5, SLAB_PICTURE_COLS = SLAB_PICTURE_LABEL + BANK_COUNT };

// A line of the picture is 128 bytes of the slab in the order of its elements. A cell is a word and
// says its bank, lit where the phase asks for it: lit cells that say the same bank in different
// places are the conflict. Returns the number of lines that the phase touches and that had no room.
int slab_picture_draw_banks(Canvas *canvas, Rect in, const SlabPicture *picture);
// A line of the picture is a line of shared memory; a cell is a 16-byte chunk and says which row
// and chunk of the slab lies there. The chunks asked for stand in brackets.
int slab_picture_draw_lines(Canvas *canvas, Rect in, const SlabPicture *picture);

// The matrix of a linear layout: rows are bits of the offset, columns of the index.
void swizzle_draw_bits(Canvas *canvas, Rect in, const LayoutFacts *facts);
int swizzle_bits_cols(const LayoutFacts *facts);
// Which bits are xored onto which, in words; returns the rows used.
int swizzle_draw_terms(Canvas *canvas, Rect in, const LayoutFacts *facts);
// Bijection, what stays whole, which accesses survive; returns the rows used.
int swizzle_draw_facts(Canvas *canvas, Rect in, const SwizzleColumn *column);
