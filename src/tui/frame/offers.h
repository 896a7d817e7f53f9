// Everything that may be typed at a prompt, a line on each: the menu above it, and Tab.
//
//   Offers all = offers_of(session, "rung pad");      all.offer[0] is {"padded", "padding"}
//   offers_word("rung pad")                           "pad": the word that an offer replaces
#pragma once
#include "tui/session/session.h"

enum { OFFERS_MAX = 320 };

typedef struct Offer {
  const char *name, *line;  // line: what it is or does; "" where nothing is to be said
} Offer;

typedef struct Offers {
  int n;
  Offer offer[OFFERS_MAX];
  const char *usage;  // "export FILE": the arguments of the command that is typed; NULL: none is
} Offers;

Offers offers_of(const Session *session, const char *text);
// The knobs of this family of kernels that have the filter in their name, an alias or their help.
Offers offers_of_knobs(const Session *session, const char *filter);
const char *offers_word(const char *text);
