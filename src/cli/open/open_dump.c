// Names of parameters -> buffers -> files.
#include "cli/open/open_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "cli/common/cli.h"

// The parameter's number from 0, as a number or by its name; -1: there is none.
static int param_of(const PtxFunction *kernel, const char *name) {
  char *end = NULL;
  const long number = name[0] >= '0' && name[0] <= '9' ? strtol(name, &end, 10) : -1;
  if (end && !*end) return number < kernel->n_params ? (int)number : -1;
  for (int i = 0; i < kernel->n_params; i++)
    if (str_equal(kernel->params[i].name, name)) return i;
  return -1;
}

static void say_unknown(Arena *arena, const PtxFunction *kernel, const char *name, Diags *diags) {
  const char **names = ARENA_ARRAY(arena, const char *, kernel->n_params + 1);
  for (int i = 0; i < kernel->n_params; i++) names[i] = kernel->params[i].name;
  const char *text = str_sanitise(arena, name);
  Diag *diag = diag_add(diags, "dump",
                        "--dump: there is no parameter \"%s\": give its name in PTX, or its number "
                        "from 0 to %d",
                        text, kernel->n_params - 1);
  diag->nearest = nearest_name(name, names, kernel->n_params);
}

static bool read_dump(Arena *arena, const PtxFunction *kernel, const OpenBuffer *buffers,
                      const char *item, OpenDump *out, Diags *diags) {
  const char *equals = strchr(item, '=');
  if (!equals || equals == item || !equals[1]) {
    diag_add(diags, "dump", "--dump \"%s\": expected a parameter and a file, NAME=FILE",
             str_sanitise(arena, item))
        ->nearest = "--dump 0=out.bin";
    return false;
  }
  const char *name = arena_strndup(arena, item, (size_t)(equals - item));
  *out = (OpenDump){param_of(kernel, name), equals + 1};
  if (out->param < 0) {
    say_unknown(arena, kernel, name, diags);
    return false;
  }
  if (buffers[out->param].bytes > 0) return true;
  diag_add(diags, "dump",
           "--dump: the argument of \"%s\" has no memory; only mem:, file: and tma: have",
           str_sanitise(arena, name));
  return false;
}

const OpenDump *open_read_dumps(Arena *arena, const PtxFunction *kernel, const OpenBuffer *buffers,
                                const char *const *items, int n, Diags *diags) {
  OpenDump *dumps = ARENA_ARRAY(arena, OpenDump, n + 1);
  for (int i = 0; i < n; i++)
    if (!read_dump(arena, kernel, buffers, items[i], &dumps[i], diags)) return NULL;
  return dumps;
}

int open_write_dumps(const OpenResult *r) {
  for (int i = 0; i < r->n_dumps; i++) {
    const OpenBuffer *buffer = &r->buffers[r->dumps[i].param];
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
