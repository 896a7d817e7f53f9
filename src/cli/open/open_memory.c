// {"launch":"grid=8,block=32","args":["mem:200000","250"],"slabs":["As:64"]} by file and kernel,
// {"kernel":"_Z9transposePfPKfii"} by file.
#include "cli/open/open_memory.h"

#include <stdlib.h>

#include "base/disk.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/open/open_input.h"

const char *open_memory_path(Arena *arena, const char *file, const char *entry) {
  char *whole = realpath(file, NULL);
  const uint64_t hash = hash_text(hash_text(HASH_START, whole ? whole : file), entry);
  free(whole);
  return disk_path(arena, DISK_STATE,
                   arena_printf(arena, "open/%016llx.json", (unsigned long long)hash));
}

static void put_list(JsonWriter *w, const char *key, OptionList list) {
  json_key(w, key);
  json_begin_array(w);
  for (int i = 0; i < list.count; i++) json_put_string(w, list.items[i]);
  json_end_array(w);
}

void open_remember(Arena *arena, const char *path, const OpenRequest *given) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "launch", given->launch);
  put_list(&w, "args", given->args);
  put_list(&w, "slabs", given->slabs);
  json_end_object(&w);
  // Not being able to remember is no reason not to answer.
  if (path) (void)disk_replace(path, out.text);
}

static bool take_list(Arena *arena, const JsonValue *list, OptionList *out) {
  Diags ignored = diags_new(arena);
  if (out->count > 0 || json_count(list) == 0) return false;
  const char **made = ARENA_ARRAY(arena, const char *, json_count(list));
  for (int i = 0; i < json_count(list); i++)
    if (!json_read_string(json_at(list, i), &made[i], &ignored)) return false;
  *out = (OptionList){made, json_count(list)};
  return true;
}

static const JsonValue *read_memory(Arena *arena, const char *path) {
  Diags ignored = diags_new(arena);
  size_t bytes = 0;
  const char *text = path ? open_read_file(arena, path, &bytes, &ignored) : NULL;
  return text ? json_parse(arena, text, bytes, &ignored, "memory") : NULL;
}

void open_remember_kernel(Arena *arena, const char *file, const char *entry) {
  const char *path = open_memory_path(arena, file, "");
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "kernel", entry);
  json_end_object(&w);
  if (path) (void)disk_replace(path, out.text);
}

const char *open_recall_kernel(Arena *arena, const char *file) {
  Diags ignored = diags_new(arena);
  const JsonValue *root = read_memory(arena, open_memory_path(arena, file, ""));
  const char *kernel = NULL;
  if (root) json_optional_string(root, "kernel", &kernel, &ignored);
  return kernel;
}

bool open_recall(Arena *arena, const char *path, OpenRequest *given) {
  Diags ignored = diags_new(arena);
  const JsonValue *root = read_memory(arena, path);
  if (!root) return false;
  const bool launch = !given->launch &&
                      json_optional_string(root, "launch", &given->launch, &ignored) &&
                      given->launch;
  const bool args = take_list(arena, json_object_get(root, "args"), &given->args);
  take_list(arena, json_object_get(root, "slabs"), &given->slabs);
  return launch || args;
}

const char *open_launch_text(Arena *arena, const OpenRequest *given) {
  Str out = str_new(arena);
  str_printf(&out, "--launch %s", given->launch);
  for (int i = 0; i < given->args.count; i++) str_printf(&out, " --arg %s", given->args.items[i]);
  return str_sanitise(arena, out.text);
}
