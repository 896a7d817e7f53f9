// The schedules with a clock number that is worth having while no key comes, the most wanted first:
// the one at hand, the one it is compared with, the neighbours that the screen tells of, the ones
// worth trying, and the rungs or the points of a sweep where these are shown.
//
//   ClockWanted wanted;
//   if (clock_ahead_next(session, is_asked, context, &wanted)) …    compile and play it
#pragma once
#include "tui/session/session.h"

typedef struct ClockWanted {
  Schedule schedule;
  uint64_t key;
} ClockWanted;

// Whether a schedule's number was asked for and has not come yet.
typedef bool ClockAsked(const void *context, uint64_t key);

// The first that is not known and not asked for; false: there is none.
bool clock_ahead_next(const Session *session, ClockAsked *asked, const void *context,
                      ClockWanted *out);
