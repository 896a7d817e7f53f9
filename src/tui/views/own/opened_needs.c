// JSON → questions.
#include "tui/views/own/own_work.h"

#include "base/json.h"
#include "base/str.h"

static const char *text_of(Arena *arena, const JsonValue *object, const char *key) {
  Diags ignored = diags_new(arena);
  const char *text = NULL;
  json_optional_string(object, key, &text, &ignored);
  return text ? str_sanitise(arena, text) : NULL;
}

const OpenedNeeds *opened_needs_read(Arena *arena, const char *json, size_t n) {
  Diags ignored = diags_new(arena);
  const JsonValue *root = json_parse(arena, json, n, &ignored, "open");
  const char *sentence = root ? text_of(arena, root, "sentence") : NULL;
  if (!sentence || !text_of(arena, root, "needs")) return NULL;
  OpenedNeeds *out = ARENA_NEW(arena, OpenedNeeds);
  const JsonValue *list = json_object_get(root, "kernels");
  *out = (OpenedNeeds){.sentence = sentence,
                       .signature = text_of(arena, root, "signature"),
                       .options = text_of(arena, root, "options"),
                       .entry = ARENA_ARRAY(arena, const char *, json_count(list) + 1),
                       .signature_of = ARENA_ARRAY(arena, const char *, json_count(list) + 1)};
  for (int i = 0; i < json_count(list); i++) {
    const char *entry = text_of(arena, json_at(list, i), "entry"),
               *signature = text_of(arena, json_at(list, i), "signature");
    if (!entry || !signature) continue;
    out->entry[out->n] = entry;
    out->signature_of[out->n++] = signature;
  }
  return out->n || out->options ? out : NULL;
}
