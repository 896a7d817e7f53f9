// The SMs of each place and a launch → which list of tiles has which place.
//
// Lists are dealt out as a launch does it; here SMs are numbered one place after
// the other, since no list depends on their numbers. Worked example, an H200 with places of 8, 16
// (five times), 18 and 18 SMs and four of 2, clusters of 2, 1024 clusters of tiles: 64 lists, 8 of
// each of the large places, 4 of the half one and one of each single TPC.
#include "model/readings/place/chip_map.h"

static PlaceMap number_sms(const Target *target) {
  PlaceMap places = {.n_places = target->n_places};
  for (int place = 0; place < target->n_places; place++) {
    places.first[place] = places.n_sms;
    for (int i = 0; i < target->place_sms[place]; i++, places.n_sms++)
      places.sm[places.n_sms] = places.n_sms;
  }
  places.first[places.n_places] = places.n_sms;
  return places;
}

static void place_lists(Arena *arena, const ListTable *table, ChipMap *map) {
  int *of_list = ARENA_ARRAY(arena, int, table->lists);
  for (int place = 0; place < map->n; place++) {
    map->first_list[place] = table->first_of_place[place];
    map->n_lists[place] = table->n_of_place[place];
    for (int i = 0; i < map->n_lists[place]; i++) of_list[map->first_list[place] + i] = place;
  }
  map->lists = table->lists;
  map->of_list = of_list;
}

// Clusters that the whole chip has room for.
static int count_room(ChipMap *map, const ListShape *shape) {
  int all = 0;
  for (int place = 0; place < map->n; place++)
    all += map->room[place] = places_room(map->sms[place], shape);
  return all;
}

const ChipMap *chip_map(Arena *arena, const Target *target, ListShape shape, ListDeal *deal) {
  if (target->n_places == 0) return NULL;
  const PlaceMap places = number_sms(target);
  ChipMap *map = ARENA_NEW(arena, ChipMap);
  *map = (ChipMap){.n = target->n_places, .placed = deal != NULL, .source = target->place_source};
  for (int place = 0; place < map->n; place++) map->sms[place] = target->place_sms[place];
  const int64_t room = count_room(map, &shape);
  if (room == 0) return NULL;
  map->lists = shape.clusters = (int)(shape.tiles < room ? shape.tiles : room);
  if (!deal) return map;
  ListTable table;
  deal(&places, &shape, &table);
  place_lists(arena, &table, map);
  return map;
}
