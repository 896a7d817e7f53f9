// A search over all orders of a small ring: states are copied before each step, compared and hashed
// behind it, and no state is looked at twice.
//
//   producer   wait empty[s] · expect full[s], ask for a box · …
//   consumer   wait full[s] · read the slot · arrive at empty[s] · …
//   a box      lands whenever it likes
#include <check.h>

#include "order/order_mbar.h"

Suite *suite_order_search(void);

enum { PRODUCER, CONSUMER, WARPS, STAGES = 2, TURNS = 5, BYTES = 64, PARTIES = WARPS + STAGES };
enum { STATES_MAX = 4096 };

// What is wrong with the ring.
typedef enum Fault { NOTHING, ONE_ARRIVAL_MORE, RELEASES_EARLY, NO_EMPTY_WAIT } Fault;

// What a driver has besides: where each warp stands, the boxes that are under way, the slots.
typedef struct Driver {
  int turn[WARPS], step[WARPS];
  int under_way[STAGES];
  uint32_t read[STAGES];  // the consumer's tick in which it read last
} Driver;

typedef struct State {
  Order *order;
  uint32_t *clock[WARPS];
  OrderMbar *full[STAGES], *empty[STAGES];
  Driver *driver;
} State;

static Arena *arena;
static void setup(void) { arena = arena_new("test search"); }
static void teardown(void) { arena_free(arena); }

static State make(Fault fault) {
  State s = {.order = order_new(arena, PARTIES, PARTIES, ORDER_PASSED + 1)};
  for (int w = 0; w < WARPS; w++) {
    s.clock[w] = order_clock(s.order);
    s.clock[w][w] = 1;
  }
  for (int i = 0; i < STAGES; i++) {
    s.full[i] = order_mbar(s.order, WARPS + i, WARPS);
    s.empty[i] = order_mbar(s.order, -1, WARPS);
    order_mbar_init(s.order, s.full[i], 1);
    order_mbar_init(s.order, s.empty[i], fault == ONE_ARRIVAL_MORE ? 2 : 1);
  }
  s.driver = order_piece(s.order, sizeof *s.driver);
  return s;
}

typedef struct Search {
  Fault fault;
  State seen[STATES_MAX];
  uint64_t hash[STATES_MAX];
  int n_seen, ends, stuck, races, late;
} Search;

// ---- steps --------------------------------------------------------------------------------------

static void end_phase(Search *search, const State *s, OrderMbar *bar) {
  if (!order_phases_are_complete(&bar->phases)) return;
  search->late += order_mbar_late(s->order, bar, 0, 1) >= 0;
  order_mbar_next(s->order, bar);
}

static void arrive(Search *search, const State *s, OrderMbar *bar, int warp) {
  order_phases_arrive(&bar->phases, 1);
  order_tell(s->order, order_mbar_gathered(bar), s->clock[warp], warp, s->clock[warp][warp] + 1);
  end_phase(search, s, bar);
}

static bool wait_for(const State *s, OrderMbar *bar, int warp, uint32_t bit) {
  if (!order_phases_passes(&bar->phases, bit)) return false;
  order_mbar_wait(s->order, bar, warp, (OrderWait){.tick = s->clock[warp][warp]});
  order_join(s->order, s->clock[warp], order_mbar_ended(s->order, bar));
  return true;
}

static void next(Driver *d, int warp, int steps) {
  d->step[warp] = (d->step[warp] + 1) % steps;
  d->turn[warp] += d->step[warp] == 0;
}

static bool produce(Search *search, const State *s) {
  Driver *d = s->driver;
  const int turn = d->turn[PRODUCER], slot = turn % STAGES;
  if (turn == TURNS) return false;
  if (d->step[PRODUCER] == 0) {
    const bool free = search->fault == NO_EMPTY_WAIT;
    if (!free && !wait_for(s, s->empty[slot], PRODUCER, (uint32_t)(turn / STAGES + 1) & 1))
      return false;
  } else {
    search->races +=
        d->read[slot] && !order_is_over(s->order, s->clock[PRODUCER], CONSUMER, d->read[slot]);
    s->full[slot]->phases.bytes += BYTES;
    d->under_way[slot]++;
    arrive(search, s, s->full[slot], PRODUCER);
  }
  next(d, PRODUCER, 2);
  return true;
}

static bool consume(Search *search, const State *s) {
  Driver *d = s->driver;
  const int turn = d->turn[CONSUMER], slot = turn % STAGES;
  if (turn == TURNS) return false;
  const int reads = search->fault == RELEASES_EARLY ? 2 : 1;
  if (d->step[CONSUMER] == 0) {
    if (!wait_for(s, s->full[slot], CONSUMER, (uint32_t)(turn / STAGES) & 1)) return false;
  } else if (d->step[CONSUMER] == reads) {
    search->races += d->under_way[slot] > 0;
    d->read[slot] = s->clock[CONSUMER][CONSUMER];
  } else {
    arrive(search, s, s->empty[slot], CONSUMER);
  }
  next(d, CONSUMER, 3);
  return true;
}

static bool land(Search *search, const State *s, int slot) {
  if (s->driver->under_way[slot] == 0) return false;
  s->driver->under_way[slot]--;
  s->full[slot]->phases.bytes -= BYTES;
  end_phase(search, s, s->full[slot]);
  return true;
}

static bool take(Search *search, const State *s, int choice) {
  return choice == PRODUCER   ? produce(search, s)
         : choice == CONSUMER ? consume(search, s)
                              : land(search, s, choice - WARPS);
}

// ---- the search ---------------------------------------------------------------------------------

static bool is_new(const Search *search, const State *s) {
  const uint64_t hash = order_hash(s->order);
  for (int i = 0; i < search->n_seen; i++)
    if (search->hash[i] == hash && order_same(search->seen[i].order, s->order)) return false;
  return true;
}

// Depth first; what is looked at twice is looked at no further.
static void look(Search *search, const State *s) {
  ck_assert_int_lt(search->n_seen, STATES_MAX);
  search->hash[search->n_seen] = order_hash(s->order);
  search->seen[search->n_seen++] = *s;
  int moved = 0;
  for (int choice = 0; choice < WARPS + STAGES; choice++) {
    const State after = make(search->fault);
    order_copy(after.order, s->order);
    if (!take(search, &after, choice)) continue;
    moved++;
    if (is_new(search, &after)) look(search, &after);
  }
  const Driver *d = s->driver;
  const bool over = d->turn[PRODUCER] == TURNS && d->turn[CONSUMER] == TURNS;
  search->ends += over && !moved;
  search->stuck += !over && !moved;
}

static Search *search_all(Fault fault) {
  Search *search = ARENA_NEW(arena, Search);
  search->fault = fault;
  const State first = make(fault);
  look(search, &first);
  return search;
}

START_TEST(a_ring_is_right_in_every_order) {
  const Search *search = search_all(NOTHING);
  ck_assert(search->ends > 0 && search->stuck == 0 && search->races == 0 && search->late == 0);
  ck_assert_int_gt(search->n_seen, 5 * TURNS);  // more states than one order has
}
END_TEST

// Whatever the order was, what is known at its end is the same.
START_TEST(all_orders_end_in_one_state) { ck_assert_int_eq(search_all(NOTHING)->ends, 1); }
END_TEST

START_TEST(an_arrival_that_never_comes_leaves_all_waiting) {
  const Search *search = search_all(ONE_ARRIVAL_MORE);
  ck_assert(search->ends == 0 && search->stuck > 0);
}
END_TEST

START_TEST(a_slot_that_is_released_early_is_overwritten_in_some_order) {
  const Search *search = search_all(RELEASES_EARLY);
  ck_assert(search->stuck == 0 && search->races > 0);
}
END_TEST

START_TEST(a_phase_is_lapped_where_nobody_waits_for_the_slot) {
  const Search *search = search_all(NO_EMPTY_WAIT);
  ck_assert(search->races > 0 && search->late + search->stuck > 0);
}
END_TEST

Suite *suite_order_search(void) {
  Suite *suite = suite_create("order_search");
  TCase *tcase = tcase_create("every order");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, a_ring_is_right_in_every_order);
  tcase_add_test(tcase, all_orders_end_in_one_state);
  tcase_add_test(tcase, an_arrival_that_never_comes_leaves_all_waiting);
  tcase_add_test(tcase, a_slot_that_is_released_early_is_overwritten_in_some_order);
  tcase_add_test(tcase, a_phase_is_lapped_where_nobody_waits_for_the_slot);
  suite_add_tcase(suite, tcase);
  return suite;
}
