// Values that lanes give each other. (PTX ISA, 9.7.9.6 shfl, 9.7.14.6 to 9.7.14.10.)
#include <math.h>

#include "ptx/run/run_sync.h"

// The lanes that an instruction with a mask runs for; 0: it is run again when more have come.
static uint32_t meet(PtxMachine *m, PtxWarp *w, uint32_t wanted, uint32_t mask) {
  const uint32_t living = wanted & w->exists & ~w->exited;
  if (!(living & ~mask)) return mask;
  if (ptx_awaits(w, living, mask)) return 0;
  ptx_find(m, w, PTX_FINDING_MISSING_LANES, w->pc, -1, living & ~mask);
  return mask;
}

// The lane that lane `l` reads from, and whether that lies within its segment.
static uint32_t source_lane(const PtxInst *i, uint32_t l, uint32_t b, uint32_t c, bool *inside) {
  const uint32_t segment = c >> 8 & 31, clamp = c & 31;
  const uint32_t most = (l & segment) | (clamp & ~segment), least = l & segment;
  int32_t j;
  if (ptx_has(i, PTX_MOD_up)) {
    j = (int32_t)l - (int32_t)(b & 31);
    *inside = j >= (int32_t)most;
  } else if (ptx_has(i, PTX_MOD_down)) {
    j = (int32_t)(l + (b & 31));
    *inside = j <= (int32_t)most;
  } else if (ptx_has(i, PTX_MOD_bfly)) {
    j = (int32_t)(l ^ (b & 31));
    *inside = j <= (int32_t)most;
  } else {
    j = (int32_t)(least | (b & 31 & ~segment));
    *inside = j <= (int32_t)most;
  }
  return *inside ? (uint32_t)j & 31 : l;
}

void run_shfl(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (i->n_groups > 4) {
    const uint32_t wanted = ptx_members(m, w, &i->groups[4], &mask);
    if (!(mask = meet(m, w, wanted, mask))) return;
  }
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0), *B = ptx_lanes(m, w, &i->groups[2], 0),
                 *C = ptx_lanes(m, w, &i->groups[3], 0);
  uint64_t result[PTX_LANES];
  uint32_t holds = 0;
  FOR_LANES(mask) {
    bool inside = false;
    const uint32_t from = source_lane(i, l, (uint32_t)B[l], (uint32_t)C[l], &inside);
    result[l] = (uint32_t)A[from];
    holds |= (uint32_t)inside << l;
    if (!(mask >> from & 1)) ptx_find(m, w, PTX_FINDING_MISSING_LANES, w->pc, -1, 1u << from);
  }
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = result[l];
  ptx_put_pred(m, w, &i->pair, mask, holds);
}

void run_vote_ballot(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  uint32_t wanted = mask;
  if (i->n_groups > 2) wanted = ptx_members(m, w, &i->groups[2], &mask);
  if (!(mask = meet(m, w, wanted, mask))) return;
  const uint32_t bits = ptx_pred(m, w, &i->groups[1]) & mask & wanted;
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = bits;
}

void run_vote(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  uint32_t wanted = mask;
  if (i->n_groups > 2) wanted = ptx_members(m, w, &i->groups[2], &mask);
  if (!(mask = meet(m, w, wanted, mask))) return;
  const uint32_t bits = ptx_pred(m, w, &i->groups[1]) & mask & wanted, all = mask & wanted;
  const bool holds = ptx_has(i, PTX_MOD_all)   ? bits == all
                     : ptx_has(i, PTX_MOD_any) ? bits != 0
                                               : bits == 0 || bits == all;
  ptx_put_pred(m, w, &i->groups[0], mask, holds ? ~0u : 0);
}

void run_match_any(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint32_t wanted = ptx_members(m, w, &i->groups[2], &mask);
  if (!(mask = meet(m, w, wanted, mask))) return;
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  const int bits = ptx_types[i->form.types[0]].bits;
  uint32_t same[PTX_LANES] = {0};
  for (uint32_t k = 0; k < PTX_LANES; k++) FOR_LANES(mask & wanted)
  if (mask >> k & 1 && ptx_cut(A[k], bits) == ptx_cut(A[l], bits)) same[k] |= 1u << l;
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = same[l];
}

void run_match_all(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint32_t wanted = ptx_members(m, w, &i->groups[2], &mask);
  if (!(mask = meet(m, w, wanted, mask))) return;
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  const int bits = ptx_types[i->form.types[0]].bits;
  const uint64_t first = ptx_cut(A[__builtin_ctz(mask)], bits);
  bool all = true;
  FOR_LANES(mask) all &= ptx_cut(A[l], bits) == first;
  if (i->groups[0].kind == PTX_GROUP_VALUE) {
    uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
    FOR_LANES(mask) D[l] = all ? mask & wanted : 0;
  }
  ptx_put_pred(m, w, &i->pair, mask, all ? ~0u : 0);
}

// A NaN gives way to a number, but for .NaN.
static uint64_t reduce_f32(const PtxInst *i, float a, float b) {
  if (isnan(a) || isnan(b)) {
    if (ptx_has(i, PTX_MOD_NaN) || (isnan(a) && isnan(b))) return 0x7fffffff;
    return ptx_f32_bits(isnan(a) ? b : a);
  }
  return ptx_f32_bits((a < b) == (i->form.logic == PTX_MOD_min) ? a : b);
}

static uint64_t reduce(const PtxInst *i, uint64_t a, uint64_t b) {
  const PtxType type = i->form.types[0];
  if (type == PTX_F32) return reduce_f32(i, ptx_f32(a), ptx_f32(b));
  const bool less = type == PTX_S32 ? (int32_t)a < (int32_t)b : (uint32_t)a < (uint32_t)b;
  switch (i->form.logic) {
    case PTX_MOD_add:
      return (uint32_t)(a + b);
    case PTX_MOD_and:
      return a & b;
    case PTX_MOD_or:
      return a | b;
    case PTX_MOD_xor:
      return a ^ b;
    case PTX_MOD_min:
      return less ? a : b;
    default:
      return less ? b : a;
  }
}

void run_redux(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint32_t wanted = ptx_members(m, w, &i->groups[2], &mask);
  if (!(mask = meet(m, w, wanted, mask))) return;
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  const uint32_t first = (uint32_t)__builtin_ctz(mask);
  FOR_LANES(mask) w->named[l] = wanted;
  // .abs takes the signs away first.
  const uint32_t kept = ptx_has(i, PTX_MOD_abs) ? 0x7fffffff : ~0u;
  uint64_t result = (uint32_t)A[first] & kept;
  FOR_LANES(mask & ~(1u << first)) result = reduce(i, result, (uint32_t)A[l] & kept);
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = result;
}

void run_activemask(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = mask;
}

// The lowest lane is the one.
void run_elect(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint32_t wanted = ptx_members(m, w, &i->groups[1], &mask);
  if (!(mask = meet(m, w, wanted, mask))) return;
  const uint32_t leader = (uint32_t)__builtin_ctz(mask);
  if (i->groups[0].kind == PTX_GROUP_VALUE) {
    uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
    FOR_LANES(mask) D[l] = leader;
  }
  ptx_put_pred(m, w, &i->pair, mask, 1u << leader);
}

// Lane l holds word l % 4 of row l / 4 of an 8 × 8 matrix of halves.
void run_movmatrix(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  uint64_t result[PTX_LANES];
  for (uint32_t l = 0; l < PTX_LANES; l++) {
    result[l] = 0;
    for (uint32_t h = 0; h < 2; h++) {
      const uint32_t row = 2 * (l % 4) + h, col = l / 4;
      const uint64_t half = A[4 * row + col / 2] >> (16 * (col % 2)) & 0xffff;
      result[l] |= half << (16 * h);
    }
  }
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = result[l];
}
