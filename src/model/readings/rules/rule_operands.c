// Rules of knobs that may be for one operand alone: ASYNC_OPERANDS and PAD_OPERANDS.
//
// Worked example, STAGE=10,ASYNC_COPY=1,ASYNC_OPERANDS=01: the slab that is there does not come by
// cp.async, and none that does is there.
#include "model/readings/rules/rule_facts.h"

static int64_t value(const Facts *f, KnobId id) { return f->schedule->value[id]; }

// A caller that only asks whether there is a fault brings no arena for its sentence.
#define TELL(f, ...) ((f)->arena ? arena_printf((f)->arena, __VA_ARGS__) : "")

const char *rule_operands_text(const Facts *f, KnobId id) {
  return TELL(f, "%s=%s", knob_table[id].name, knob_enum_text(id, value(f, id)));
}

const char *rule_async_operands_fault(const Facts *f) {
  int64_t staged = value(f, KNOB_STAGE), by = value(f, KNOB_ASYNC_OPERANDS);
  if (!value(f, KNOB_ASYNC_COPY) || value(f, KNOB_TMA) || (staged & ~by) == 0) return NULL;
  if ((staged & by) == 0)
    return TELL(f, "STAGE=%s: no slab comes by cp.async", knob_enum_text(KNOB_STAGE, staged));
  if (value(f, KNOB_COPY_STEPS) == 0) return NULL;
  return TELL(f, "COPY_STEPS=%lld: copies through registers stay in one place",
              (long long)value(f, KNOB_COPY_STEPS));
}

const char *rule_pad_operands_fault(const Facts *f) {
  bool padded = value(f, KNOB_PAD_SMEM) || value(f, KNOB_PAD_CELLS);
  int64_t staged = value(f, KNOB_STAGE);
  if (!padded || !staged || (staged & value(f, KNOB_PAD_OPERANDS))) return NULL;
  return TELL(f, "STAGE=%s: no slab is padded", knob_enum_text(KNOB_STAGE, staged));
}
