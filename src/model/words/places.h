// The places of SMs on the chip, and the list of tiles of each cluster of a persistent kernel.
//
//   PlaceMap map = one place per SM, or what places_probe() finds
//   table.of_sm[40] 17: of 64 lists the cluster whose first block runs on SM 40 is to have the one
//   with tiles 17, 17 + 64, …
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { PLACES_SMS = 1024 };  // more than any GPU has (%nsmid); the size of the kernels' table

typedef struct PlaceMap {
  int n_sms, n_places;
  int sm[PLACES_SMS];         // %smid of each, growing within a place
  int first[PLACES_SMS + 1];  // [n_places + 1]: where the SMs of a place begin
} PlaceMap;

// A launch: tiles of a cluster each, clusters in the grid, blocks of a cluster, blocks that an SM
// holds.
typedef struct ListShape {
  int64_t tiles;
  int clusters, cluster, blocks;
} ListShape;

typedef struct ListTable {
  int lists;              // that have tiles; the rest, up to the number of clusters, are empty
  int of_sm[PLACES_SMS];  // by %smid: the list meant for the cluster that runs there
  // By place: the lists that are meant for its SMs, neighbours.
  int first_of_place[PLACES_SMS], n_of_place[PLACES_SMS];
} ListTable;

// Clusters that fit at once into a place of `sms` SMs.
int places_room(int sms, const ListShape *shape);

// Builds a map from sets: set[sm] is the name of its place, negative: there is no such SM.
void places_from_sets(const int set[PLACES_SMS], PlaceMap *map);

// Deals lists of tiles out to the SMs of a chip.
typedef void ListDeal(const PlaceMap *map, const ListShape *shape, ListTable *table);
