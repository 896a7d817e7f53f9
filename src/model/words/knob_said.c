// Values of knobs as a screen shows them: "A+B" for STAGE=11, and an atom with the N that it has,
// "wgmma_m64n128k16_bf16" for ATOM_KIND=wgmma_m64n256k16_bf16 with ATOM_N=128.
#include "model/words/fragment.h"
#include "model/words/knob.h"

static const char *atom_said(Arena *arena, const Schedule *schedule, const char *text) {
  const Atom *atom = atom_find_knob(text);
  const int n = (int)schedule->value[KNOB_ATOM_N];
  if (!atom || n == atom->n || !atom_has_n(atom, n)) return text;
  char name[sizeof atom->name];
  atom_name_with_n(name, sizeof name, text, atom->m, n);
  return arena_strdup(arena, name);
}

const char *knob_value_said(Arena *arena, const Schedule *schedule, KnobId knob) {
  const KnobType type = knob_table[knob].type;
  if (type == KNOB_TYPE_STAGE) return knob_operands_said(schedule->value[knob]);
  const char *text = knob_value_text(arena, schedule, knob);
  return type == KNOB_TYPE_ATOM ? atom_said(arena, schedule, text) : text;
}
