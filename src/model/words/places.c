// Sets of SMs → places.
#include "model/words/places.h"

void places_from_sets(const int set[PLACES_SMS], PlaceMap *map) {
  bool taken[PLACES_SMS] = {false};
  *map = (PlaceMap){0};
  for (int sm = 0; sm < PLACES_SMS; sm++) {
    if (set[sm] < 0 || taken[sm]) continue;
    map->first[map->n_places++] = map->n_sms;
    for (int other = sm; other < PLACES_SMS; other++) {
      if (set[other] != set[sm]) continue;
      taken[other] = true;
      map->sm[map->n_sms++] = other;
    }
  }
  map->first[map->n_places] = map->n_sms;
}

int places_room(int sms, const ListShape *shape) { return sms * shape->blocks / shape->cluster; }
