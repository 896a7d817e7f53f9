// The accesses a kernel makes to a slab, in rows and columns, and what they cost in a layout.
//
// A site is one access statement: an operation, and formulas for the row and the column (in
// elements) that each lane addresses. It runs `repeat` times, with i = 0, 1, …:
//
//   {"name":"store B","op":"sts32","repeat":64,"row":"4*lane + i%4","col":"i/4"}
//
// -1 for the row or the column means that the lane takes no part. `weight` says how often the whole
// site runs, compared with others.
#pragma once
#include "banks/engine/bank.h"
#include "banks/layouts/layout.h"

enum { SLAB_REPEAT_MAX = 4096, SLAB_WEIGHT_MAX = 1000000 };

// The site as it is written.
typedef struct SlabSiteText {
  const char *name, *op, *row, *col;
  int weight, repeat;
} SlabSiteText;

typedef struct SlabSite {
  const char *name;
  const BankOp *op;
  int weight, repeat;
  const int32_t (*logical)[BANK_LANES];  // [repeat]: logical byte of each lane, -1 inactive
} SlabSite;

// False after diagnostics (rules "site", "bank_op", "expression") that name the site, the lane and
// what it reaches for.
bool slab_site_build(Arena *arena, const LayoutSlab *slab, const SlabSiteText *text, SlabSite *out,
                     Diags *diags);

typedef struct SlabCost {
  bool legal;      // false: some lane's address is not aligned in this layout, or not whole
  bool known;      // false: the operation has no counts
  int wavefronts;  // over all repetitions, without the weight
  int ideal, conflicts;
  int ways;  // the worst phase of all repetitions
} SlabCost;

SlabCost slab_site_cost(const SlabSite *site, const Layout *layout);

// The phases of repetition i and the lanes in each. The pair merge depends on which addresses are
// equal, which no layout changes, so it is settled on logical bytes.
int slab_site_phases(const SlabSite *site, int i, int *n_lanes);

// Computes the address in shared memory of each lane l in repetition i, for a punch card of it.
void slab_site_addresses(const SlabSite *site, const Layout *layout, int i,
                         int64_t addr[BANK_LANES]);
