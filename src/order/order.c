// States and clocks: runs of words, larger ones standing for more that is known.
//
// A clock is one run of words after the other, a run for each fact and in it a word for each party,
// so that to join two is to take the larger of each pair.
#include "order/order.h"

#include <string.h>

#include "base/hash.h"

Order *order_new(Arena *arena, int parties, int most, int facts) {
  Order *order = ARENA_NEW(arena, Order);
  *order = (Order){.arena = arena, .parties = parties, .most = most, .facts = facts};
  return order;
}

// ---- states -------------------------------------------------------------------------------------

void *order_piece(Order *o, size_t bytes) {
  if (o->n_pieces == o->capacity) {
    o->capacity = o->capacity ? 2 * o->capacity : 64;
    OrderPiece *more = ARENA_ARRAY(o->arena, OrderPiece, o->capacity);
    if (o->n_pieces) memcpy(more, o->piece, sizeof *more * (size_t)o->n_pieces);
    o->piece = more;
  }
  o->piece[o->n_pieces] = (OrderPiece){arena_alloc(o->arena, bytes), bytes};
  return o->piece[o->n_pieces++].at;
}

void order_reset(Order *o, int parties) {
  o->parties = parties;
  for (int i = 0; i < o->n_pieces; i++) memset(o->piece[i].at, 0, o->piece[i].bytes);
}

void order_copy(Order *into, const Order *from) {
  into->parties = from->parties;
  for (int i = 0; i < from->n_pieces; i++)
    memcpy(into->piece[i].at, from->piece[i].at, from->piece[i].bytes);
}

bool order_same(const Order *a, const Order *b) {
  bool same = a->parties == b->parties && a->n_pieces == b->n_pieces;
  for (int i = 0; same && i < a->n_pieces; i++)
    same = a->piece[i].bytes == b->piece[i].bytes &&
           memcmp(a->piece[i].at, b->piece[i].at, a->piece[i].bytes) == 0;
  return same;
}

uint64_t order_hash(const Order *o) {
  uint64_t hash = hash_bytes(HASH_START, &o->parties, sizeof o->parties);
  for (int i = 0; i < o->n_pieces; i++) hash = hash_bytes(hash, o->piece[i].at, o->piece[i].bytes);
  return hash;
}

// ---- clocks -------------------------------------------------------------------------------------

uint32_t *order_clock(Order *o) { return order_piece(o, order_clock_bytes(o)); }

void order_clear(const Order *o, uint32_t *clock) { memset(clock, 0, order_clock_bytes(o)); }

void order_forget(const Order *o, uint32_t *clock, int party) {
  for (int fact = 0; fact < o->facts; fact++) clock[fact * o->most + party] = 0;
}

void order_fill(const Order *o, uint32_t *clock, uint32_t tick) {
  for (int i = 0; i < order_clock_words(o); i++) clock[i] = tick;
}

// The facts that are handed on.
static int told_facts(const Order *o) { return o->facts < ORDER_AFTER ? o->facts : ORDER_AFTER; }

static void copy_facts(const Order *o, uint32_t *into, const uint32_t *from, int facts) {
  for (int fact = 0; fact < facts; fact++)
    memcpy(into + fact * o->most, from + fact * o->most, sizeof *into * (size_t)o->parties);
}

void order_assign(const Order *o, uint32_t *into, const uint32_t *from) {
  copy_facts(o, into, from, o->facts);
}

void order_adopt(const Order *o, uint32_t *into, const uint32_t *from) {
  copy_facts(o, into, from, told_facts(o));
}

static void take_larger(uint32_t *into, const uint32_t *from, int n) {
  for (int i = 0; i < n; i++) into[i] = from[i] > into[i] ? from[i] : into[i];
}

void order_join(const Order *o, uint32_t *into, const uint32_t *from) {
  const int facts = told_facts(o);
  for (int fact = 0; fact < facts; fact++)
    take_larger(into + fact * o->most, from + fact * o->most, o->parties);
}

void order_join_fact(const Order *o, uint32_t *into, const uint32_t *from, OrderFact fact) {
  if (o->facts <= (int)fact) return;
  take_larger(into + (int)fact * o->most, from + (int)fact * o->most, o->parties);
}

void order_tell(const Order *o, uint32_t *into, uint32_t *own, int party, uint32_t tick) {
  own[party] = tick;
  if (o->facts > ORDER_PASSED) order_fact(o, own, ORDER_PASSED)[party] = tick;
  order_join(o, into, own);
}

void order_tell_done(const Order *o, uint32_t *into, int party, uint32_t tick) {
  into[party] = tick;
  if (o->facts > ORDER_BEFORE) order_fact(o, into, ORDER_BEFORE)[party] = tick;
}

void order_fence(const Order *o, uint32_t *clock, int first, int n) {
  take_larger(order_fact(o, clock, ORDER_FENCED) + first, clock + first, n);
}

void order_come_after(const Order *o, uint32_t *clock) {
  memcpy(order_fact(o, clock, ORDER_AFTER), order_fact(o, clock, ORDER_BEFORE),
         sizeof *clock * (size_t)o->parties);
}
