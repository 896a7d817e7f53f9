// ATOM_KIND names a row of atom.def, ACC chooses its sums where the row leaves a choice.
#include "model/words/schedule_atom.h"

const Atom *schedule_atom_row(const Schedule *schedule) {
  return atom_find_knob(knob_enum_text(KNOB_ATOM_KIND, schedule->value[KNOB_ATOM_KIND]));
}

const Atom *schedule_atom(Arena *arena, const Schedule *schedule) {
  const Atom *row = schedule_atom_row(schedule);
  if (!row) return NULL;
  Atom *atom = ARENA_NEW(arena, Atom);
  *atom = *row;
  if (schedule->value[KNOB_ACC] && atom->f16_acc) atom_set_f16_acc(atom);
  return atom;
}
