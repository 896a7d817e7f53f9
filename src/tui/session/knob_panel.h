// The knobs that are shown at first sight; the others wait behind the picker (frame/menu.h).
//
//   KnobShown shown[KNOB_COUNT];
//   knobs_shown(session, shown);
//
// Shown are those that do something in this schedule, those that the user touched, the knob in
// hand, and, up to KNOBS_AT_FIRST in all, those that the main line of the ladder uses, the nearest
// rungs first. A knob that is turned to rest stays where it was, since it is then a touched one.
#pragma once
#include "tui/session/session.h"

enum { KNOBS_AT_FIRST = 24 };

// Whether the knob does nothing at its value: the lowest that it has, or none at all.
bool knob_at_rest(const Schedule *schedule, KnobId knob);
// KNOB_USEFUL: the ladder uses it, so it is shown where there is room.
typedef enum KnobShown { KNOB_HIDDEN, KNOB_USEFUL, KNOB_WANTED } KnobShown;
void knobs_shown(const Session *session, KnobShown shown[KNOB_COUNT]);
