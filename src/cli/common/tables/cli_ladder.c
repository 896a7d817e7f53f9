// data/ladders, read through embed.h so that a folder of the user's can stand in.
#include "cli/common/tables/cli_ladder.h"

#include <string.h>

#include "base/embed.h"
#include "base/nearest.h"
#include "base/str.h"

const Ladder *const *cli_ladders(Arena *arena, Diags *diags) {
  EmbeddedList list = embed_list(arena, "ladders/");
  const Ladder **ladders = ARENA_ARRAY(arena, const Ladder *, list.count + 1);
  int n = 0;
  for (int i = 0; i < list.count; i++) {
    const EmbeddedFile *file = embed_find(arena, list.paths[i]);
    ladders[n] = ladder_read(arena, file->text, file->size, file->path, diags);
    n += ladders[n] != NULL;
  }
  ladders_sort(ladders, n);
  return diags->count ? NULL : ladders;
}

const Ladder *cli_ladder(Arena *arena, const char *name, Diags *diags) {
  const Ladder *const *ladders = cli_ladders(arena, diags);
  if (!ladders) return NULL;
  int n = 0;
  while (ladders[n]) n++;
  const char **names = ARENA_ARRAY(arena, const char *, n);
  for (int i = 0; i < n; i++) {
    names[i] = ladders[i]->name;
    if (str_equal_fold(names[i], name)) return ladders[i];
  }
  diag_add_unknown(diags, "ladder", "ladder", name, names, n);
  return NULL;
}

bool cli_choose_rungs(const Ladder *ladder, const char *list, bool *chosen, Diags *diags) {
  const int before = diags->count;
  for (int i = 0; i < ladder->n_rungs; i++) chosen[i] = !list;
  while (list) {
    const size_t n = strcspn(list, ",");
    const int rung = ladder_find_rung(ladder, arena_strndup(diags->arena, list, n), diags);
    if (rung >= 0) chosen[rung] = true;
    list = list[n] ? list + n + 1 : NULL;
  }
  return diags->count == before;
}
