#include "cli/load.h"

#include "base/embed.h"

bool cli_load_targets(Arena *arena, Diags *diags, TargetTable *table) {
  const EmbeddedFile *file = embed_find(arena, "gpus.json");
  return targets_parse(arena, file->text, file->size, diags, table);
}
