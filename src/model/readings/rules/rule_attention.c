// Tells what the knobs of attention come to: which it takes, and what its products need of each
// other.
//
// Worked example, ATOM_KIND=mma_m16n8k16_bf16, WM=4, FM=1, FN=8, K=128: a block of 64 queries and
// blocks of 64 keys; a thread holds 64 registers of O, 32 of S and, of one step of either product,
// 4 of Q or P beside 32 of V.
#include "base/str.h"
#include "base/whole.h"
#include "model/readings/derive.h"
#include "model/readings/rules/rule_facts.h"

static int64_t value(const Facts *f, KnobId knob) { return f->schedule->value[knob]; }

bool rule_is_attention(const Facts *f) { return value(f, KNOB_PROGRAM) == COMPUTES_ATTENTION; }

// Knobs that attention takes; all others are a matmul's.
static const bool taken[KNOB_COUNT] = {[KNOB_M] = true,
                                       [KNOB_N] = true,
                                       [KNOB_K] = true,
                                       [KNOB_DTYPE] = true,
                                       [KNOB_ACC] = true,
                                       [KNOB_TARGET] = true,
                                       [KNOB_AUTO] = true,
                                       [KNOB_BM] = true,
                                       [KNOB_BN] = true,
                                       [KNOB_FM] = true,
                                       [KNOB_FN] = true,
                                       [KNOB_WM] = true,
                                       [KNOB_WN] = true,
                                       [KNOB_ATOM_KIND] = true,
                                       [KNOB_ATOM_N] = true,
                                       [KNOB_STAGE] = true,
                                       [KNOB_PAD_SMEM] = true,
                                       [KNOB_SWIZZLE] = true,
                                       [KNOB_LDMATRIX] = true,
                                       [KNOB_ASYNC_COPY] = true,
                                       [KNOB_L2_HINT] = true,
                                       [KNOB_FRAG_BUFFER] = true,
                                       [KNOB_FRAG_ORDER] = true,
                                       [KNOB_UNROLL_K] = true,
                                       [KNOB_MIN_BLOCKS] = true,
                                       [KNOB_PROGRAM] = true,
                                       [KNOB_HEADS] = true,
                                       [KNOB_CAUSAL] = true,
                                       [KNOB_FUSE] = true,
                                       [KNOB_EAGER_KV] = true,
                                       [KNOB_BK] = true,
                                       [KNOB_TMA] = true,
                                       [KNOB_ELECT] = true,
                                       [KNOB_DEPENDENT_LAUNCH] = true,
                                       [KNOB_BUFFER_COUNT] = true,
                                       [KNOB_WARP_SPECIALIZE] = true,
                                       [KNOB_PRODUCER_WARPS] = true,
                                       [KNOB_PRODUCER_REGS] = true,
                                       [KNOB_MMA_GROUPS] = true,
                                       [KNOB_ROLE_SCHEDULE] = true,
                                       [KNOB_TILE_ORDER] = true,
                                       [KNOB_A_REGS] = true};

const char *rule_knob_of_other(const Facts *f) {
  static const KnobId own[] = {KNOB_CAUSAL, KNOB_FUSE, KNOB_EAGER_KV, KNOB_HEADS};
  const Schedule rest = schedule_plain();
  if (!rule_is_attention(f)) {
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
      if (value(f, own[i]) != rest.value[own[i]]) return knob_table[own[i]].name;
    return NULL;
  }
  for (int i = 0; i < KNOB_COUNT; i++)
    if (!taken[i] && schedule_differs(f->schedule, &rest, (KnobId)i)) return knob_table[i].name;
  return NULL;
}

// Without an atom a thread computes one cell. Tiles of V run along the head dimension, which those
// of 16 bits alone can.
const char *rule_products_fault(const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  if (!rule_is_attention(f)) return NULL;
  if (!atom)
    return value(f, KNOB_FM) * value(f, KNOB_FN) > 1
               ? "without an atom a thread has one cell: FM=1, FN=1"
               : NULL;
  if (atom_scales(atom))
    return arena_printf(f->arena, "weights have no scale factors, and %s needs them", atom->name);
  if (!atom_in_lanes(atom, ATOM_A))
    return arena_printf(f->arena,
                        "scores are weighed in registers, but sums of %s are in tensor memory",
                        atom->name);
  if (atom_reads_tiles(atom) && atom->bits != 16)
    return arena_printf(f->arena, "tiles of %d bits run along K, but V runs along N", atom->bits);
  if (str_equal(atom->acc, "f32")) return NULL;
  return arena_printf(f->arena, "scores are weighed in f32, but %s sums in %s", atom->name,
                      atom->acc);
}

// Elements of operand A that lie where they are sums, of all: "128 of 512".
const char *rule_relayout_fault(const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  Relayout map;
  if (rule_in_tensor_memory(f)) return NULL;  // another rule has it
  if (!rule_is_attention(f) || !value(f, KNOB_FUSE) || !atom) return NULL;
  if (!atom_in_lanes(atom, ATOM_A)) return NULL;  // which attention_atom refuses
  if (fragment_relayout(atom, atom, &map) || map.kept == map.elements) return NULL;
  return arena_printf(f->arena, "%d of %d elements", map.kept, map.elements);
}

// Tells what the head dimension is a multiple of: columns of an atom, or of a warpgroup's the least
// that there can be; all of it are one atom's.
static int head_step(const Atom *atom) { return atom->n_step ? atom->n_step : atom->n; }

const char *rule_steps_fault(const Facts *f) {
  enum { DIM_MAX = 256 };
  const Atom *atom = rule_atom_of(f);
  if (!rule_is_attention(f) || !atom) return NULL;
  const int64_t dim = value(f, KNOB_K), keys = value(f, KNOB_FN) * atom->n;
  if (dim % atom->k || dim % head_step(atom) || dim > DIM_MAX)
    return arena_printf(f->arena,
                        "a head dimension of %lld, which is whole steps of %d and %d, at most %d",
                        (long long)dim, atom->k, head_step(atom), DIM_MAX);
  if (!value(f, KNOB_FUSE)) return NULL;
  if (keys % atom->k || (atom->n > atom->k && atom->n % atom->k))
    return arena_printf(f->arena, "blocks of %lld keys, which are whole steps of %d",
                        (long long)keys, atom->k);
  return NULL;
}

static AttentionPart part_of(const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  return (AttentionPart){.atom = atom,
                         .rows = value(f, KNOB_FM) * atom->m,
                         .keys = value(f, KNOB_FN) * atom->n,
                         .dim = value(f, KNOB_K),
                         .keeps_queries = value(f, KNOB_A_REGS)};
}

// P lies where S was, unless the next block's scores are under way while it is multiplied.
int64_t rule_group_registers(const Facts *f) {
  const AttentionPart part = part_of(f);
  const int64_t bits = 32 * atom_lanes(part.atom);
  const int64_t weights = value(f, KNOB_MMA_GROUPS) ? part.rows * part.keys * part.atom->bits : 0;
  return attention_sums(&part) + weights / bits;
}

int64_t rule_attention_registers(const Facts *f) {
  const AttentionPart part = part_of(f);
  return attention_sums(&part) + attention_fragments(&part);
}

const char *rule_queries_fault(const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  if (!rule_is_attention(f) || !value(f, KNOB_A_REGS)) return NULL;
  if (!value(f, KNOB_FUSE)) return "FUSE=0: no loop over keys reads Q anew";
  if (!value(f, KNOB_STAGE)) return "STAGE=00: Q is read from global memory";
  if (atom && atom_reads_tiles(atom)) return "wgmma, which reads Q from shared memory";
  if (value(f, KNOB_FRAG_BUFFER) > 1) return "FRAG_BUFFER=2: a step of Q is read ahead too";
  return NULL;
}

const char *rule_fusion_fault(const Facts *f) {
  static const KnobId fused[] = {KNOB_STAGE, KNOB_FRAG_ORDER, KNOB_LDMATRIX};
  if (!rule_is_attention(f)) return NULL;
  if (value(f, KNOB_FUSE)) {
    if (!rule_atom_of(f)) return "FUSE=1 with ATOM_KIND=fma: no lane has whole rows of scores";
    if (value(f, KNOB_WN) > 1) return "FUSE=1 with WN over 1: a warp has whole rows of scores";
  }
  if (rule_atom_of(f) && value(f, KNOB_WN) > 1)
    return "WN over 1: each warp must have all columns of O";
  for (size_t i = 0; i < sizeof fused / sizeof *fused && !value(f, KNOB_FUSE); i++)
    if (value(f, fused[i]))
      return arena_printf(f->arena, "%s with FUSE=0: three kernels are not staged",
                          knob_table[fused[i]].name);
  const int64_t stage = value(f, KNOB_STAGE);
  if (stage && stage != (STAGE_A | STAGE_B)) return "STAGE=11 or 00: Q, K and V, or none of them";
  if (value(f, KNOB_FRAG_ORDER) > 1) return "FRAG_ORDER=2: rows of P are not read";
  if (!value(f, KNOB_EAGER_KV) || (stage && (value(f, KNOB_ASYNC_COPY) || value(f, KNOB_TMA))))
    return NULL;
  return "EAGER_KV=1 without STAGE=11 and ASYNC_COPY=1 or TMA=1: no copy is on its way";
}

const char *rule_attention_roles_fault(const Facts *f) {
  if (!rule_is_attention(f)) return NULL;
  if (!value(f, KNOB_WARP_SPECIALIZE))
    return value(f, KNOB_BUFFER_COUNT) > 1
               ? "BUFFER_COUNT over 1 without WARP_SPECIALIZE=1: all threads meet before each "
                 "product, so no slot is filled ahead"
               : NULL;
  if (value(f, KNOB_FRAG_BUFFER) > 1)
    return "FRAG_BUFFER=2 with WARP_SPECIALIZE=1: not built: fragments read ahead with rings of "
           "K and V";
  if (value(f, KNOB_EAGER_KV))
    return "EAGER_KV=1 with WARP_SPECIALIZE=1: the producer runs ahead by itself";
  if (value(f, KNOB_ROLE_SCHEDULE) != ROLES_PINGPONG) return NULL;
  return value(f, KNOB_WM) < 2 ? "ROLE_SCHEDULE=pingpong with WM=1: there is no other warpgroup"
                               : NULL;
}
