// Sentences with numbers in them.
#include "order/order_words.h"

#include <stdlib.h>

const char *order_phases_text(Arena *arena, const OrderPhases *p) {
  return arena_printf(
      arena, "phase %u is under way, with %lld of %lld arrivals missing and %lld bytes %s",
      p->phase, (long long)p->pending, (long long)p->expected, llabs((long long)p->bytes),
      p->bytes < 0 ? "more than were expected" : "to come");
}
