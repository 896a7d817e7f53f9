// Where the clusters of a launch are on the chip, as far as anybody knows.
//
//   ListShape shape = {.tiles = 1024, .cluster = 2, .blocks = 1};
//   const ChipMap *map = chip_map(arena, target, shape, deal);   NULL: no source says of this GPU
//   map->lists 64, map->of_list[17] 3: the cluster that claims list 17 is in the fourth place
//
// A place is a set of SMs that blocks of one cluster can share: a GPU processing cluster, or a part
// of one. Its size is what a source found on one GPU (data/gpus.json, place_sms); a launch looks
// for itself (kernels/device/probe/places_probe.c), so on another chip the same kernel has another
// map.
#pragma once
#include "model/words/places.h"
#include "model/words/target.h"

typedef struct ChipMap {
  int n;                        // places
  int sms[TARGET_PLACES_MAX];   // of each
  int room[TARGET_PLACES_MAX];  // clusters that each has room for
  int lists;                    // of tiles, one for each cluster that has work
  bool placed;                  // a list is meant for a place; else any cluster has it
  const int *of_list;           // [lists] its place; NULL: not placed
  int first_list[TARGET_PLACES_MAX], n_lists[TARGET_PLACES_MAX];  // of a place's own, neighbours
  const TargetSource *source;
} ChipMap;

// `shape.clusters` follows from the tiles and the room. `deal` says which list of tiles is meant
// for which place (op_deal()); NULL: clusters have the tiles of their number, wherever they run.
// NULL where no source knows the places of the target, or where no cluster fits in one.
const ChipMap *chip_map(Arena *arena, const Target *target, ListShape shape, ListDeal *deal);
