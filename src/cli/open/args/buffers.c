// Memory that arguments brought along, by argument, by offset in a struct, or by name.
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/args/giver.h"

void arg_add_buffer(ArgGiver *g, uint64_t address, int64_t bytes, bool is_shared) {
  if (g->n == g->capacity) {
    g->capacity = 2 * g->capacity + 8;
    OpenBuffer *more = ARENA_ARRAY(g->arena, OpenBuffer, g->capacity);
    if (g->n) memcpy(more, g->buffers, sizeof *more * (size_t)g->n);
    g->buffers = more;
  }
  g->buffers[g->n++] = (OpenBuffer){.param = g->index,
                                    .at = g->at,
                                    .name = g->name,
                                    .address = address,
                                    .bytes = bytes,
                                    .is_shared = is_shared};
}

static bool is_number(const char *text, size_t n) {
  return n > 0 && n < 10 && strspn(text, "0123456789") >= n;
}

// The parameter that is named, by its number or as PTX does; -1: none.
static int param_of(const PtxFunction *kernel, const char *name, size_t n, int first) {
  if (is_number(name, n)) return atoi(name) - first;
  for (int i = 0; i < kernel->n_params; i++)
    if (strlen(kernel->params[i].name) == n && memcmp(kernel->params[i].name, name, n) == 0)
      return i;
  return -1;
}

const OpenBuffer *open_buffer_find(const PtxFunction *kernel, const OpenBuffers *all,
                                   const char *name, int first) {
  const size_t n = strcspn(name, "@");
  const char *offset = name[n] ? name + n + 1 : NULL;
  if (offset && !is_number(offset, strlen(offset))) return NULL;
  const int param = param_of(kernel, name, n, first), at = offset ? atoi(offset) : -1;
  const OpenBuffer *found = NULL;
  for (int i = 0; i < all->n; i++) {
    const OpenBuffer *b = &all->items[i];
    const bool is_piece = !offset && b->name && str_equal(b->name, name);
    if (!is_piece && (b->param != param || (offset && b->at != at))) continue;
    // The memory of a struct is one of several, unless there is one alone.
    if (found && (found->param != b->param || found->at != b->at)) return NULL;
    if (!found) found = b;
  }
  return found;
}

const char *open_buffer_text(Arena *arena, const OpenBuffer *b) {
  if (b->at < 0) return arena_printf(arena, "%d", b->param);
  return b->name ? b->name : arena_printf(arena, "%d@%d", b->param, b->at);
}
