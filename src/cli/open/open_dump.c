// Names of arguments → their memory → files.
#include "cli/open/open_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "cli/common/cli.h"

static void say_none(Arena *arena, const PtxFunction *kernel, const OpenBuffers *buffers,
                     const char *name, Diags *diags) {
  const int n_names = buffers->n + kernel->n_params;
  const char **names = ARENA_ARRAY(arena, const char *, n_names + 1);
  Str all = str_new(arena);
  for (int i = 0; i < buffers->n; i++) {
    names[i] = open_buffer_text(arena, &buffers->items[i]);
    str_printf(&all, "%s%s", i ? ", " : "", names[i]);
  }
  for (int i = 0; i < kernel->n_params; i++) names[buffers->n + i] = kernel->params[i].name;
  Diag *diag = diag_add(diags, "dump", "--dump: \"%s\" is not the memory of one argument: %s%s",
                        str_sanitise(arena, name), buffers->n ? "there are " : "none has any",
                        buffers->n ? all.text : "");
  diag->nearest = nearest_name(name, names, n_names);
}

static bool read_dump(Arena *arena, const PtxFunction *kernel, const OpenBuffers *buffers,
                      const char *item, OpenDump *out, Diags *diags) {
  const char *equals = strchr(item, '=');
  if (!equals || equals == item || !equals[1]) {
    diag_add(diags, "dump", "--dump \"%s\": expected an argument's memory and a file, NAME=FILE",
             str_sanitise(arena, item))
        ->nearest = "--dump 0=out.bin";
    return false;
  }
  const char *name = arena_strndup(arena, item, (size_t)(equals - item));
  *out = (OpenDump){open_buffer_find(kernel, buffers, name, 0), equals + 1};
  if (!out->buffer) say_none(arena, kernel, buffers, name, diags);
  return out->buffer != NULL;
}

const OpenDump *open_read_dumps(Arena *arena, const PtxFunction *kernel, const OpenBuffers *buffers,
                                const char *const *items, int n, Diags *diags) {
  OpenDump *dumps = ARENA_ARRAY(arena, OpenDump, n + 1);
  for (int i = 0; i < n; i++)
    if (!read_dump(arena, kernel, buffers, items[i], &dumps[i], diags)) return NULL;
  return dumps;
}

int open_write_dumps(const OpenResult *r) {
  for (int i = 0; i < r->n_dumps; i++) {
    const OpenBuffer *buffer = r->dumps[i].buffer;
    const void *bytes = ptx_machine_bytes(r->machine, buffer->address, buffer->bytes);
    const int status = cli_write_bytes(r->arena, r->dumps[i].file, bytes, (size_t)buffer->bytes);
    if (status != CLI_OK) return status;
    const int64_t unknown = ptx_machine_unknown_bytes(r->machine, buffer->address, buffer->bytes);
    if (unknown > 0)
      fprintf(stderr, "gemmview: %" PRId64 " of the %" PRId64 " bytes in %s are unknown values\n",
              unknown, buffer->bytes, str_sanitise(r->arena, r->dumps[i].file));
  }
  return CLI_OK;
}
