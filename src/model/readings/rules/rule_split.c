// Rules of products of parts, and of the promotion of their sums.
#include "base/whole.h"
#include "model/readings/rules/rule_facts.h"
#include "model/words/schedule_atom.h"

static int64_t value(const Facts *f, KnobId knob) { return f->schedule->value[knob]; }

#define TELL(f, ...) ((f)->arena ? arena_printf((f)->arena, __VA_ARGS__) : "")

// Elements that a thread cuts into parts at a time, neighbours in memory.
enum { CUT = 4 };

static int64_t run_of(const Facts *f, bool b) {
  const bool along_k = b ? value(f, KNOB_B_COL) != 0 : !value(f, KNOB_A_COL);
  return value(f, along_k ? KNOB_K : b ? KNOB_N : KNOB_M);
}

const char *rule_split_fault(const Facts *f) {
  if (!value(f, KNOB_SPLIT_F32)) return NULL;
  if (rule_is_attention(f)) return "PROGRAM=attention: a product of matrices is split";
  if (value(f, KNOB_DTYPE)) return "another DTYPE than f32: elements of f32 are cut into parts";
  if (!rule_atom_of(f)) return "ATOM_KIND=fma, which multiplies f32 as it is";
  if (value(f, KNOB_STAGE) != (STAGE_A | STAGE_B))
    return "STAGE other than 11: slabs are of one part";
  if (value(f, KNOB_SERPENTINE_K) && value(f, KNOB_PROMOTE))
    return "SERPENTINE_K=1 and PROMOTE: the small products are summed first";
  if (value(f, KNOB_SPLITK) > 1 || value(f, KNOB_TAIL_SPLIT) > 1)
    return "SPLITK or TAIL_SPLIT: workspaces and kernels are those of the parts";
  if (value(f, KNOB_K) % rule_depth(f))
    return TELL(f, "K=%lld, which is no whole number of slabs of %lld", (long long)value(f, KNOB_K),
                (long long)rule_depth(f));
  for (int b = 0; b < 2; b++)
    if (run_of(f, b) % CUT)
      return TELL(f, "rows of %lld elements in %s: they are cut %d at a time",
                  (long long)run_of(f, b), b ? "B" : "A", CUT);
  return NULL;
}

const char *rule_promotion_fault(const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  const int64_t every = value(f, KNOB_PROMOTE);
  if (!every) return NULL;
  if (!atom || !atom_is_of_warpgroup(atom) || rule_is_attention(f))
    return "not an atom of wgmma: its sums are rounded, or lie in tensor memory";
  if (!value(f, KNOB_STAGE)) return "STAGE=00: there are no slabs to count";
  if (value(f, KNOB_MMA_GROUPS)) return "MMA_GROUPS=1: the sums of the slab at hand are in flight";
  if (value(f, KNOB_SPLITK) > 1 || value(f, KNOB_TAIL_SPLIT) > 1)
    return "SPLITK or TAIL_SPLIT: a tile has all of its slabs";
  const int64_t slabs = ceil_div(value(f, KNOB_K), rule_depth(f));
  if (slabs % every == 0) return NULL;
  return TELL(f, "%lld slabs along K: the last one ends a run", (long long)slabs);
}
