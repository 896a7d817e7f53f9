// The GPU at hand, once the worker has told of it: views take its driver's word for its row. The
// explorer stands on it where the user chose no other, and says so.
#pragma once
#include "model/words/device.h"
#include "tui/session/session.h"

// The first GPU counts: of several workers, and of one that was started again.
void at_hand_take(Session *session, const Device *device);
// Whether a timing is of another GPU than the one at hand; where there is none, no timing is.
bool at_hand_is_other(const Session *session, const Timed *timed);
// The history's rooflines of the GPU at hand: estimates go by them from now on.
void at_hand_take_fits(Session *session, const HistoryCalibration *rows, int n);
// The best kernel that the history has of a problem on the GPU at hand; NULL: it has none. What can
// no longer be read, or is not legal any more, is none.
void at_hand_take_best(Session *session, const HistoryRow *row);
