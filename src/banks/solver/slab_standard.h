// Accesses that most kernels make to a slab: ldmatrix, and 16 or 4 bytes of each lane along rows or
// down columns, as far as the slab has room for them.
#pragma once
#include "banks/solver/slab_site.h"

// *n of them, each over the whole slab.
const SlabSite *slab_standard_sites(Arena *arena, const LayoutSlab *slab, int *n);
