// Tells what scale factors ask of a schedule: whole blocks along K, a factor for each, in words or
// not.
//
// Worked example, m16n8k32.mxf8: an instruction takes 32 elements along K and one factor of each
// row; a word of four factors is for four k-steps, so that BK is a multiple of 4 and K of 128.
#include "model/readings/rules/rule_facts.h"

static int64_t value(const Facts *f, KnobId knob) { return f->schedule->value[knob]; }

#define TELL(f, ...) ((f)->arena ? arena_printf((f)->arena, __VA_ARGS__) : "")

// Elements along K of one instruction, where each block of them needs its factor; else 1.
int64_t rule_scale_step(const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  return atom && atom_scales(atom) ? (int64_t)atom->k * atom->unit : 1;
}

// Bytes of two elements lie along K, and factors are read with the step that they are for.
const char *rule_scaled_fault(const Facts *f) {
  if (rule_scale_step(f) == 1) return NULL;
  if (f->atom.unit > 1 && value(f, KNOB_A_COL))
    return "A_COL=1: a byte holds two neighbours along K";
  if (f->atom.unit > 1 && !value(f, KNOB_B_COL))
    return "B_COL=0: a byte holds two neighbours along K";
  if (value(f, KNOB_STAGE) && value(f, KNOB_FRAG_ORDER))
    return TELL(f, "FRAG_ORDER=%lld: factors are read with their k-step",
                (long long)value(f, KNOB_FRAG_ORDER));
  return NULL;
}

// The steps that a word of factors is for divide a slab's, and words begin every four factors in a
// row of them.
const char *rule_words_fault(const Facts *f) {
  enum { WORD_FACTORS = 4 };
  const Atom *atom = rule_atom_of(f);
  if (atom_is_of_thread(atom)) return "factors in tensor memory, which come in words by themselves";
  if (!atom || !atom_scales(atom))
    return TELL(f, "ATOM_KIND=%s, which takes no factors",
                knob_enum_text(KNOB_ATOM_KIND, value(f, KNOB_ATOM_KIND)));
  const int64_t steps = WORD_FACTORS / atom_scales(atom);
  if (!value(f, KNOB_STAGE)) return "STAGE=00: there are no slabs";
  if (value(f, KNOB_BK) % steps)
    return TELL(f, "BK=%lld: a word is for %lld k-steps", (long long)value(f, KNOB_BK),
                (long long)steps);
  if (value(f, KNOB_K) % (steps * rule_scale_step(f)) == 0) return NULL;
  return TELL(f, "K=%lld: a word is for %lld elements", (long long)value(f, KNOB_K),
              (long long)(steps * rule_scale_step(f)));
}
