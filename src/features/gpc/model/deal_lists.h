// Places and a launch → which list of tiles is meant for which SM.
//
//   ListTable table;
//   deal_lists(&map, &(ListShape){.tiles = 1024, .clusters = 66, .cluster = 2, .blocks = 1},
//   &table); table.lists 64; table.of_sm[40] 17: the cluster whose first block runs on SM 40 is to
//   have tiles 17, 17 + 64, …
#pragma once
#include "model/words/places.h"

// A list for each cluster, or some fewer, where that costs next to no turns and they divide into
// groups better, shared out by place; neighbouring lists are of one place. Worked example, places
// of 8, 16, 16, 16, 16, 16, 18 and 18 SMs and four of 2, as one H200 was seen to have, clusters of
// 2, 1024 tiles: 66 clusters need 16 turns and so do 64. Seven places have 8 lists each, 0 to 55,
// the place of 8 SMs has 4 and the four small ones one each; the two clusters left over have empty
// lists.
ListDeal deal_lists;
