// bytes:448,q@0=file:q.bin,48=u64:64 → the bytes of a struct; no piece: zero.
//
// A whole number has four bytes, one with a point is an f32; a type in front gives another size.
// Memory is a pointer of eight bytes, a tensor map has 128. Two pieces on one byte are a mistake.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/args/giver.h"
#include "ptx/module/float_format.h"

typedef struct Struct {
  ArgGiver *g;
  unsigned char *bytes;
  bool *given;
  int64_t n;
} Struct;

// "o@112=mem:16384" → its name, offset and value; false: it is none.
static bool read_head(ArgGiver *g, const char *piece, const char **value) {
  const size_t name = strcspn(piece, "@=");
  const char *offset = piece[name] == '@' ? piece + name + 1 : piece;
  char *end = NULL;
  const long long at = strtoll(offset, &end, 10);
  if (end == offset || *end != '=' || at < 0 || at > INT32_MAX) return false;
  g->at = (int)at;
  g->name = offset > piece + 1 ? arena_strndup(g->arena, piece, name) : NULL;
  *value = end + 1;
  return true;
}

static bool read_number(const char *value, uint64_t *bits, int64_t *size) {
  const char *colon = strchr(value, ':'), *number = colon ? colon + 1 : value;
  const bool is_hex = str_starts(value, "0x") || str_starts(value, "0X");
  const PtxType type = colon ? ptx_type_find(value, (int)(colon - value))
                       : !is_hex && strpbrk(value, ".eE") ? PTX_F32
                                                          : PTX_U32;
  if (!type || ptx_types[type].bits > 64) return false;
  const PtxFormat *format = ptx_format_of(type);
  *size = ptx_types[type].bits / 8;
  if (!format) return arg_read_whole(number, ptx_types[type].bits, bits);
  char *end = NULL;
  const long double twice = (long double)strtod(number, &end);
  *bits = ptx_float_round(format, twice, PTX_ROUND_NEAREST, false);
  return end != number && !*end;
}

// A sentence of what is wrong; NULL: it is put.
static const char *put(Struct *s, const char *value) {
  ArgGiver *g = s->g;
  unsigned char of[PTX_MAP_BYTES];
  const bool is_map = str_starts(value, "tma:"), is_pointer = arg_is_pointer(value);
  uint64_t bits = 0;
  int64_t size = is_map ? PTX_MAP_BYTES : (int64_t)sizeof bits;
  if (!is_map && !is_pointer && !read_number(value, &bits, &size))
    return "expected a number, TYPE:NUMBER, mem:BYTES, file:PATH, same:N or tma:… as value; a "
           "number without a type has 4 bytes";
  if (size > s->n - g->at)
    return arena_printf(g->arena, "%" PRId64 " bytes from %d on, and the struct has %" PRId64, size,
                        g->at, s->n);
  for (int64_t i = g->at; i < g->at + size; i++)
    if (s->given[i])
      return arena_printf(g->arena, "byte %" PRId64 " was given before: look at sizes and offsets",
                          i);
  memset(s->given + g->at, true, (size_t)size);
  const int before = g->diags->count;
  if (is_map)
    arg_read_tensor(g, value, of);
  else if (is_pointer)
    arg_read_pointer(g, value, &bits);
  if (g->diags->count > before) return NULL;
  memcpy(s->bytes + g->at, is_map ? of : (unsigned char *)&bits, (size_t)size);
  return NULL;
}

// A piece ends where the next one's name or offset begins: a map has commas of its own.
static size_t piece_length(const char *piece) {
  const char *end = piece;
  while (*(end += strcspn(end, ","))) {
    const char *next = end + 1, *at = next + strcspn(next, "@=,:");
    if (*at != '@') at = next - 1;
    const size_t digits = strspn(at + 1, "0123456789");
    if (digits && at[1 + digits] == '=') break;
    end++;
  }
  return (size_t)(end - piece);
}

void arg_give_pieces(ArgGiver *g, const char *arg) {
  const int64_t wanted = g->kernel->params[g->index].bytes;
  Struct s = {.g = g, .n = wanted};
  s.bytes = arena_alloc(g->arena, (size_t)wanted + 1);
  s.given = ARENA_ARRAY(g->arena, bool, wanted + 1);
  char *end = NULL;
  if (strtoll(arg + strlen("bytes:"), &end, 10) != wanted || *end != ',') {
    arg_say(g, arg,
            arena_printf(g->arena, "expected bytes:%" PRId64 ",OFFSET=VALUE,NAME@OFFSET=VALUE,…",
                         wanted));
    return;
  }
  const int before = g->diags->count;
  for (const char *at = end; *at && g->diags->count == before;) {
    const size_t n = piece_length(++at);
    const char *piece = arena_strndup(g->arena, at, n), *value = NULL;
    const char *wrong = NULL;
    if (read_head(g, piece, &value))
      wrong = put(&s, value);
    else
      arg_say(g, piece, "expected OFFSET=VALUE or NAME@OFFSET=VALUE");
    if (wrong) arg_say(g, value, wrong);
    g->at = -1;
    g->name = NULL;
    at += n;
  }
  if (g->diags->count == before) ptx_machine_param(g->machine, g->index, s.bytes, wanted);
}
