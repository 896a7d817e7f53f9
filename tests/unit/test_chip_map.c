// Which place of the chip has which list: a chip drawn up by hand, rooms that do not divide, and no
// room at all.
#include "model/readings/place/chip_map.h"

#include <check.h>

#include "base/arena.h"

Suite *suite_chip_map(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const Target chip = {.n_places = 4, .place_sms = {5, 1, 0, 8}};

// Two lists for the last place, one for the first, none for the others.
static PlaceMap given;
static ListShape asked;
static void deal(const PlaceMap *map, const ListShape *shape, ListTable *table) {
  given = *map;
  asked = *shape;
  *table = (ListTable){.lists = 3, .first_of_place = {2, 0, 0, 0}, .n_of_place = {1, 0, 0, 2}};
}

START_TEST(rooms_are_rounded_down) {
  static const struct {
    int cluster, blocks, room[4], all;
  } rows[] = {{1, 1, {5, 1, 0, 8}, 14}, {2, 1, {2, 0, 0, 4}, 6}, {4, 1, {1, 0, 0, 2}, 3},
              {4, 2, {2, 0, 0, 4}, 6},  {3, 2, {3, 0, 0, 5}, 8}, {8, 1, {0, 0, 0, 1}, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    // As many lists as clusters have room, or as there are tiles.
    for (int tiles = 1; tiles <= rows[i].all + 1; tiles++) {
      const ListShape shape = {
          .tiles = tiles, .cluster = rows[i].cluster, .blocks = rows[i].blocks};
      const ChipMap *map = chip_map(arena, &chip, shape, NULL);
      ck_assert_ptr_nonnull(map);
      ck_assert_int_eq(map->n, 4);
      for (int place = 0; place < 4; place++) {
        ck_assert_int_eq(map->room[place], rows[i].room[place]);
        ck_assert_int_eq(map->sms[place], chip.place_sms[place]);
      }
      ck_assert_int_eq(map->lists, tiles < rows[i].all ? tiles : rows[i].all);
      ck_assert(!map->placed && !map->of_list);
    }
  }
}
END_TEST

START_TEST(no_place_has_no_map) {
  const ListShape shape = {.tiles = 9, .cluster = 9, .blocks = 1},
                  one = {.tiles = 9, .cluster = 1, .blocks = 1};
  const Target unknown = {.n_places = 0};
  ck_assert_ptr_null(chip_map(arena, &chip, shape, deal));
  ck_assert_ptr_null(chip_map(arena, &unknown, one, deal));
}
END_TEST

START_TEST(a_list_has_the_place_that_it_was_dealt_to) {
  const ListShape shape = {.tiles = 100, .cluster = 4, .blocks = 1};
  const ChipMap *map = chip_map(arena, &chip, shape, deal);
  static const int of_list[] = {3, 3, 0}, first[] = {0, 5, 6, 6, 14};
  ck_assert(map->placed);
  ck_assert_int_eq(map->lists, 3);
  for (int i = 0; i < 3; i++) ck_assert_int_eq(map->of_list[i], of_list[i]);
  ck_assert_int_eq(map->n_lists[0], 1);
  ck_assert_int_eq(map->first_list[0], 2);
  ck_assert_int_eq(map->n_lists[3], 2);
  ck_assert_int_eq(map->first_list[3], 0);
  // SMs are numbered one place after the other.
  ck_assert_int_eq(given.n_places, 4);
  ck_assert_int_eq(given.n_sms, 14);
  for (int place = 0; place <= 4; place++) ck_assert_int_eq(given.first[place], first[place]);
  for (int sm = 0; sm < 14; sm++) ck_assert_int_eq(given.sm[sm], sm);
  ck_assert_int_eq(asked.clusters, 3);
}
END_TEST

Suite *suite_chip_map(void) {
  Suite *suite = suite_create("chip_map");
  TCase *tcase = tcase_create("chip_map");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, rooms_are_rounded_down);
  tcase_add_test(tcase, no_place_has_no_map);
  tcase_add_test(tcase, a_list_has_the_place_that_it_was_dealt_to);
  suite_add_tcase(suite, tcase);
  return suite;
}
