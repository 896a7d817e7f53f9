// Any bytes as a JSON document: refused with one finding, or read and rewritten to a fixed point;
// and the same bytes as a table of GPUs.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "model/words/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *rewritten(Arena *arena, const JsonValue *value) {
  Str out = str_new(arena);
  JsonWriter writer = json_writer(&out);
  json_put_value(&writer, value);
  return out.text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *arena = arena_new("fuzz");
  Diags diags = diags_new(arena);
  const JsonValue *value = json_parse(arena, (const char *)data, size, &diags, "fuzz");
  assert(diags.count == (value ? 0 : 1));
  if (value) {
    const char *once = rewritten(arena, value);
    const JsonValue *again = json_parse(arena, once, strlen(once), &diags, "again");
    assert(again && strcmp(rewritten(arena, again), once) == 0);
    TargetTable table;
    if (targets_parse(arena, (const char *)data, size, &diags, &table)) assert(table.count > 0);
  }
  arena_free(arena);
  return 0;
}
