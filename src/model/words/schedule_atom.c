// ATOM_KIND names a row of atom.def, ACC chooses its sums and ATOM_N its N where the row leaves a
// choice.
#include "model/words/schedule_atom.h"
#include "model/words/split.h"

const Atom *schedule_atom_row(const Schedule *schedule) {
  return atom_find_knob(knob_enum_text(KNOB_ATOM_KIND, schedule->value[KNOB_ATOM_KIND]));
}

bool schedule_atom_is(const Schedule *schedule, Atom *atom) {
  const Atom *row = schedule_atom_row(schedule);
  if (!row) return false;
  *atom = *row;
  int n = (int)schedule->value[KNOB_ATOM_N];
  if (row->n_step && atom_has_n(row, n)) atom_set_n(atom, n);
  if (schedule->value[KNOB_ACC] && atom->f16_acc) atom_set_f16_acc(atom);
  atom_in_units(atom);
  return true;
}

const Atom *schedule_atom(Arena *arena, const Schedule *schedule) {
  Atom *atom = ARENA_NEW(arena, Atom);
  return schedule_atom_is(schedule, atom) ? atom : NULL;
}

static const Split32 *split_of(const Schedule *schedule) {
  return split_facts((SplitKind)schedule->value[KNOB_SPLIT_F32]);
}

DType schedule_operand_type(const Schedule *schedule) {
  return schedule->value[KNOB_SPLIT_F32] ? split_of(schedule)->type
                                         : (DType)schedule->value[KNOB_DTYPE];
}

int schedule_products(const Schedule *schedule) {
  return schedule->value[KNOB_SPLIT_F32] ? split_of(schedule)->products : 1;
}
