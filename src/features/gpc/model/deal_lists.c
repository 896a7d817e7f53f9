// Lists are shared out by place, so that neighbours in number are neighbours on the chip.
//
// Worked example, places of 5 and 4 SMs, clusters of 2, one block on an SM, 40 tiles: 4 clusters
// fit in the grid, 2 in each place, so each has 2 lists; SMs 0 and 1 are meant for list 0, 2 and 3
// for list 1, and SM 4, where no whole cluster fits, for whatever is left over.
#include "features/gpc/model/deal_lists.h"

#include "base/whole.h"

static int sms_of(const PlaceMap *map, int place) {
  return map->first[place + 1] - map->first[place];
}

static int power_of_two_in(int n) { return n & -n; }

// Among the numbers of lists that take at most a turn in 24 more than one for every cluster, the
// one in which the highest power of two goes: groups of tiles are powers of two wide, so that each
// turn begins with a whole group, and the lists of one place have a group to themselves.
static int number_of_lists(const ListShape *shape) {
  const int64_t turns = ceil_div(shape->tiles, shape->clusters), most = turns + turns / 24;
  int best = shape->clusters;
  for (int lists = shape->clusters - 1; lists > 0 && lists * most >= shape->tiles; lists--)
    if (power_of_two_in(lists) > power_of_two_in(best)) best = lists;
  return best;
}

// All that places get: own[place] lists, numbered in the order of rank[].
typedef struct Shares {
  int n, own[PLACES_SMS], rank[PLACES_SMS];
} Shares;

static int fullest(const Shares *shares) {
  int place = 0;
  for (int i = 1; i < shares->n; i++)
    if (shares->own[i] > shares->own[place]) place = i;
  return place;
}

static int places_alike(const Shares *shares, int place) {
  int n = 0;
  for (int i = 0; i < shares->n; i++) n += shares->own[i] == shares->own[place];
  return n;
}

// The commonest share first, so that the odd ones shift no other groups; then the larger.
static bool goes_before(const Shares *shares, int a, int b) {
  const int more = places_alike(shares, a) - places_alike(shares, b);
  if (more) return more > 0;
  if (shares->own[a] != shares->own[b]) return shares->own[a] > shares->own[b];
  return a < b;
}

static void rank_places(Shares *shares) {
  for (int i = 0; i < shares->n; i++) {
    int at = i;
    for (; at > 0 && goes_before(shares, i, shares->rank[at - 1]); at--)
      shares->rank[at] = shares->rank[at - 1];
    shares->rank[at] = i;
  }
}

// Each place has as many lists as clusters; where lists are fewer, the fullest give one away.
static int share_out(const PlaceMap *map, const ListShape *shape, int lists, Shares *shares) {
  int all = 0;
  shares->n = map->n_places;
  for (int i = 0; i < shares->n; i++) all += shares->own[i] = places_room(sms_of(map, i), shape);
  for (; all > lists; all--) shares->own[fullest(shares)]--;
  rank_places(shares);
  return all;
}

void deal_lists(const PlaceMap *map, const ListShape *shape, ListTable *table) {
  Shares shares;
  const int last = shape->clusters - 1;
  *table = (ListTable){.lists = number_of_lists(shape)};
  int first = 0, left_over = 0;  // a place's first list; SMs without one
  const int owned = share_out(map, shape, table->lists, &shares);
  for (int rank = 0; rank < shares.n; rank++) {
    const int place = shares.rank[rank], lists = shares.own[place];
    table->first_of_place[place] = first;
    table->n_of_place[place] = lists;
    for (int i = 0; i < sms_of(map, place); i++) {
      const int own = places_room(i, shape), spare = owned + places_room(left_over, shape);
      left_over += own >= lists;
      const int list = own < lists ? first + own : spare;
      table->of_sm[map->sm[map->first[place] + i]] = list < last ? list : last;
    }
    first += lists;
  }
}
