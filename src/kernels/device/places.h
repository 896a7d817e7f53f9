// Where SMs are on the chip, and which cluster of a persistent kernel has which list of tiles.
//
//   PlaceMap map = one place per SM, or what places_probe() finds;
//   ListTable table;
//   lists_assign(&map, &(ListShape){.tiles = 1024, .clusters = 66, .cluster = 2, .blocks = 1},
//                &table);
//   table.lists 64; table.of_sm[40] 17: the cluster whose first block runs on SM 40 is to have
//   tiles 17, 17 + 64, …
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { PLACES_SMS = 1024 };  // %smid is below: what kernels ask of the table (EMIT_PLACES)

typedef struct PlaceMap {
  int n_sms, n_places;
  int sm[PLACES_SMS];     // %smid of each, growing within a place
  int first[PLACES_SMS];  // [n_places + 1]: where the SMs of a place begin
} PlaceMap;

// A launch: tiles of a cluster each, clusters in the grid, blocks of a cluster, blocks that an SM
// holds.
typedef struct ListShape {
  int64_t tiles;
  int clusters, cluster, blocks;
} ListShape;

typedef struct ListTable {
  int lists;              // that have tiles; the rest, up to the number of clusters, are empty
  int of_sm[PLACES_SMS];  // by %smid: the list that is meant for who runs there
} ListTable;

// Builds a map from sets: set[sm] is the name of its place, negative: there is no such SM.
void places_from_sets(const int set[PLACES_SMS], PlaceMap *map);

// As many lists for each place, if that takes no more turns than a list for every cluster.
// Neighbouring lists are of one place. Worked example, places of 16, 16, 16, 18, 16, 16, 16 and 18
// SMs, clusters of 2, 1024 tiles: 66 clusters need 16 turns and so do 64, so each place has 8
// lists, and the two clusters left over have empty ones.
void lists_assign(const PlaceMap *map, const ListShape *shape, ListTable *table);
