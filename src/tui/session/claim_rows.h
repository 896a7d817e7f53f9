// The claims of a ladder's article (data/claims), each put beside the value found here.
//
//   const Published *said = published_of(session, session->doc.ladder);
//   said->list->row[i].what, said->found[i].says, said->found[i].model
//
// Worked out once for each ladder, with a model for each row: claims do not change while one types.
// Where a row asks for a run of the interpreter, published_of() waits for it and a screen does not:
//   said = published_so_far(session, session->doc.ladder);    said->waits[i]: its figure is to come
//   if (published_poll(session)) …                        it has come
#pragma once
#include "model/lessons/claims.h"
#include "tui/session/session.h"

typedef struct Published {
  const ClaimList *list;  // n = 0 where nothing is published
  ClaimFound *found;
  bool *waits;          // of a row: a run is under way that it asks for
  const char *trouble;  // the first finding about the file; NULL: none
} Published;

const Published *published_of(Session *session, const Ladder *ladder);
const Published *published_so_far(Session *session, const Ladder *ladder);
bool published_is_under_way(const Session *session);  // a run that a row asks for
bool published_poll(Session *session);  // without waiting; true: rows have what they asked for
