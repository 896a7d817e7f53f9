// {"launch":"grid=8,block=32","args":["mem:200000","250"],"slabs":["As:64"]} by file and kernel,
// {"kernel":"_Z9transposePfPKfii"} by file.
#include "cli/open/open_memory.h"

#include <stdlib.h>

#include "base/disk.h"
#include "base/form.h"
#include "base/hash.h"
#include "base/str.h"
#include "cli/open/open_input.h"

const char *open_memory_path(Arena *arena, const char *file, const char *entry) {
  char *whole = realpath(file, NULL);
  const uint64_t hash = hash_text(hash_text(HASH_START, whole ? whole : file), entry);
  free(whole);
  return disk_path(arena, DISK_STATE,
                   arena_printf(arena, "open/%016llx.json", (unsigned long long)hash));
}

#define FORM_FILE "cli/open/open_memory.form"
#include "base/form_make.h"

// Not being able to remember is no reason not to answer.
static void remember(Arena *arena, const char *path, const Form *form, const void *it) {
  Str out = str_new(arena);
  JsonWriter writer = json_writer(&out);
  form_write_document(&writer, arena, form, it, NULL);
  if (path) (void)disk_replace(path, out.text);
}

void open_remember(Arena *arena, const char *path, const OpenRequest *given) {
  remember(arena, path, &remembered_launch_form, given);
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
  remember(arena, open_memory_path(arena, file, ""), &remembered_kernel_form, entry);
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
