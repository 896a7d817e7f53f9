// The claims of a ladder's article (data/claims), each put beside what is found here.
//
//   const Published *said = published_of(session, session->ladder);
//   said->list->row[i].what, said->found[i].says, said->found[i].model
//
// Worked out once for each ladder, with a model for each row: claims do not change while one types.
#pragma once
#include "model/lessons/claims.h"
#include "tui/session/session.h"

typedef struct Published {
  const ClaimList *list;  // n = 0 where nothing is published
  const ClaimFound *found;
  const char *trouble;  // the first finding about the file; NULL: none
} Published;

const Published *published_of(Session *session, const Ladder *ladder);
