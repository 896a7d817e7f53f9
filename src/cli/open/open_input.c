// Files and arguments of gemmview open. (What becomes PTX, and how: open_text.c.)
//
// Random contents are whole numbers from −4 to 4 (0 to 7 in integers), so that sums of products
// stay exact.
#include "cli/open/open_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/disk.h"
#include "base/embed.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "ptx/module/float_format.h"
#include "ptx/module/random_fill.h"
#include "ptx/module/signature.h"

enum { STREAM_BYTES = 1 << 16, FILE_MIB_MAX = 1024, STREAM_MIB_MAX = 256, MIB = 1 << 20 };

// "example:sums.ptx" is one of the files that the program brings along.
bool open_is_example(const char *path) { return str_starts(path, "example:"); }

static char *read_example(Arena *arena, const char *path, size_t *bytes, Diags *diags) {
  const char *name = arena_printf(arena, "examples/%s", path + strlen("example:"));
  const EmbeddedFile *file = embed_find(arena, name);
  if (!file) {
    const EmbeddedList all = embed_list(arena, "examples/");
    Diag *diag = diag_add(diags, "file", "there is no %s", str_sanitise(arena, path));
    for (int i = 0; i < all.count; i++)
      if (strstr(all.paths[i], ".ptx"))
        diag->nearest = arena_printf(arena, "example:%s", all.paths[i] + strlen("examples/"));
    return NULL;
  }
  *bytes = file->size;
  return arena_strndup(arena, file->text, file->size);
}

// All that comes, until its writer has gone; the part beyond a file's limit is left there.
static char *read_stream(Arena *arena, FILE *file, size_t *bytes) {
  size_t room = STREAM_BYTES;
  char *text = malloc(room);
  *bytes = 0;
  for (size_t n; text && (n = fread(text + *bytes, 1, room - *bytes, file)) > 0;) {
    *bytes += n;
    if (*bytes < room || room > (size_t)STREAM_MIB_MAX * MIB) continue;
    char *more = realloc(text, room *= 2);
    if (!more) free(text);
    text = more;
  }
  char *kept = text ? arena_strndup(arena, text, *bytes) : NULL;
  free(text);
  return kept;
}

static char *read_sized(Arena *arena, FILE *file, size_t size, size_t *bytes) {
  char *text = arena_alloc(arena, size + 1);
  *bytes = fread(text, 1, size, file);
  return text;
}

static char *read_whole(Arena *arena, const char *path, bool pipes, size_t *bytes, Diags *diags) {
  const char *why = NULL;
  FILE *file = pipes && open_is_stdin(path) ? stdin : disk_open(path, pipes, &why);
  struct stat status;
  const char *name = str_sanitise(arena, path);
  char *text = NULL;
  const bool is_there = file && fstat(fileno(file), &status) == 0;
  if (!is_there)
    diag_add(diags, "file", "%s cannot be read: %s", name, why ? why : strerror(errno));
  const bool is_sized = is_there && S_ISREG(status.st_mode) && file != stdin;
  const size_t most = (size_t)(is_sized ? FILE_MIB_MAX : STREAM_MIB_MAX) * MIB;
  if (is_there && (size_t)status.st_size <= most)
    text = is_sized ? read_sized(arena, file, (size_t)status.st_size, bytes)
                    : read_stream(arena, file, bytes);
  const bool broken = file && ferror(file) != 0,
             large = is_there && (text ? *bytes : (size_t)status.st_size) > most;
  if (file && file != stdin) fclose(file);
  if (large) diag_add(diags, "file", "%s has more than %d MiB", name, (int)(most / MIB));
  if (broken && !large) diag_add(diags, "file", "%s cannot be read", name);
  return broken || large ? NULL : text;
}

bool open_is_stdin(const char *path) { return str_equal(path, "-"); }

bool open_reads_once(const char *path) {
  struct stat status;
  return open_is_stdin(path) || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
}

char *open_read_file(Arena *arena, const char *path, size_t *bytes, Diags *diags) {
  return open_is_example(path) ? read_example(arena, path, bytes, diags)
                               : read_whole(arena, path, false, bytes, diags);
}

char *open_read_given(Arena *arena, const char *path, size_t *bytes, Diags *diags) {
  return open_is_example(path) ? read_example(arena, path, bytes, diags)
                               : read_whole(arena, path, true, bytes, diags);
}

// ---- launch -------------------------------------------------------------------------------------

// "8x7x1": a number that is left out is 1.
static bool read_extents(const char *text, size_t n, int out[3]) {
  const char *end = text + n;
  for (int d = 0; d < 3; d++) {
    char *after = NULL;
    out[d] = 1;
    if (text >= end) continue;
    const long value = *text >= '0' && *text <= '9' ? strtol(text, &after, 10) : -1;
    if (value < 0 || value > INT32_MAX || after > end) return false;
    out[d] = (int)value;
    if (after < end && *after != 'x' && *after != 'X') return false;
    text = after < end ? after + 1 : after;
    if (after < end && text == end) return false;
  }
  return text >= end;
}

bool open_read_launch(const char *text, PtxLaunch *launch, Diags *diags) {
  const int before = diags->count;
  for (int d = 0; d < 3; d++) launch->grid[d] = 1;
  bool has_block = launch->block[0] > 0;
  while (*text) {
    const size_t n = strcspn(text, ",");
    const char *equals = memchr(text, '=', n);
    const size_t key = equals ? (size_t)(equals - text) : n;
    const char *value = equals ? equals + 1 : text + n;
    const size_t length = (size_t)(text + n - value);
    int extents[3];
    const bool ok = equals && length > 0 && read_extents(value, length, extents);
    if (ok && key == 4 && memcmp(text, "grid", 4) == 0) {
      memcpy(launch->grid, extents, sizeof extents);
    } else if (ok && key == 5 && memcmp(text, "block", 5) == 0) {
      memcpy(launch->block, extents, sizeof extents);
      has_block = true;
    } else if (ok && key == 7 && memcmp(text, "cluster", 7) == 0 && extents[0] > 0) {
      memcpy(launch->cluster, extents, sizeof extents);
    } else if (ok && key == 4 && memcmp(text, "smem", 4) == 0 && !memchr(value, 'x', length)) {
      launch->dynamic_smem = extents[0];
    } else if (ok && key == 11 && memcmp(text, "cooperative", 11) == 0 && extents[0] <= 1) {
      launch->cooperative = extents[0] == 1;
    } else {
      Diag *diag = diag_add(diags, "launch",
                            "--launch: \"%.*s\" is not one of grid=X[xY[xZ]], block=X[xY[xZ]], "
                            "smem=BYTES, cluster=X[xY[xZ]], cooperative=1",
                            (int)n, text);
      diag->nearest = "--launch grid=8x8,block=256,smem=0";
    }
    text += n + (text[n] == ',');
  }
  if (!has_block && diags->count == before)
    diag_add(diags, "launch", "--launch: block=X[xY[xZ]] is missing");
  return diags->count == before;
}

bool open_read_blocks(const char *text, const PtxLaunch *launch, OpenBlocks *blocks, Diags *diags) {
  *blocks = (OpenBlocks){0};
  if (text && str_equal(text, "all")) {
    blocks->all = true;
    for (int d = 0; d < 3; d++) blocks->last[d] = launch->grid[d] - 1;
    return true;
  }
  const char *at = text ? text : "0";
  for (int d = 0; d < 3 && *at; d++) {
    char *end = NULL;
    const long value = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
    if (value < 0 || value >= launch->grid[d] || (*end && *end != ',')) {
      diag_add(diags, "launch",
               "--blocks: \"%s\" is not a block of the grid (%dx%dx%d) and not all",
               text ? text : "0", launch->grid[0], launch->grid[1], launch->grid[2]);
      return false;
    }
    blocks->first[d] = blocks->last[d] = (int)value;
    at = *end ? end + 1 : end;
  }
  if (*at) diag_add(diags, "launch", "--blocks: \"%s\" has more than three numbers", text);
  return *at == '\0';
}

// ---- arguments ----------------------------------------------------------------------------------

typedef struct ArgGiver {
  Arena *arena;
  PtxMachine *machine;
  const PtxFunction *kernel;
  bool machine_code;
  int index;
  const PtxParamType *type;
  Diags *diags;
  uint64_t seed;
  OpenBuffer *buffers;  // by parameter
} ArgGiver;

static void say(const ArgGiver *g, const char *arg, const char *expected) {
  diag_add(g->diags, "arg", "argument %d (%s): \"%s\": %s", g->index + 1, g->type->text,
           str_sanitise(g->arena, arg), expected);
}

static uint64_t give_buffer(const ArgGiver *g, int64_t bytes, const void *contents,
                            PtxContent content) {
  const char *name = arena_printf(g->arena, "argument %d", g->index + 1);
  const uint64_t address = ptx_machine_buffer(g->machine, name, bytes, contents, content);
  g->buffers[g->index] = (OpenBuffer){address, bytes};
  return address;
}

// Numbers as they would come one after the other, argument after argument.
static uint64_t give_random(ArgGiver *g, int64_t bytes) {
  PtxRandomFill *fill = ARENA_NEW(g->arena, PtxRandomFill);
  const bool known = g->type->element != PTX_ELEMENT_UNKNOWN && g->type->bytes > 0;
  *fill = (PtxRandomFill){g->seed, g->type->element, known ? g->type->bytes : 4};
  g->seed = ptx_seed_after(g->seed, bytes / fill->size);
  const char *name = arena_printf(g->arena, "argument %d", g->index + 1);
  const uint64_t address = ptx_machine_filled(g->machine, name, bytes, ptx_fill_random, fill);
  g->buffers[g->index] = (OpenBuffer){address, bytes};
  return address;
}

static void set_pointer(const ArgGiver *g, uint64_t address) {
  ptx_machine_param(g->machine, g->index, &address, sizeof address);
}

static bool takes_pointer(const ArgGiver *g, const char *arg) {
  if (g->kernel->params[g->index].bytes == 8) return true;
  say(g, arg, "a pointer, but the parameter is not a 64-bit number");
  return false;
}

// Unknown values are followed through PTX alone.
static bool takes_unknown(const ArgGiver *g, const char *arg) {
  if (!g->machine_code) return true;
  say(g, arg, "a run of machine code needs known values: leave out --machine");
  return false;
}

static void give_unknown(const ArgGiver *g, const char *arg) {
  if (takes_unknown(g, arg)) ptx_machine_param_unknown(g->machine, g->index);
}

// mem:BYTES[:zero|random|unwritten|unknown]
static bool read_memory(ArgGiver *g, const char *arg, uint64_t *address) {
  char *end = NULL;
  const long long bytes = strtoll(arg + 4, &end, 10);
  const char *how = *end == ':' ? end + 1 : "random";
  if (end == arg + 4 || (*end && *end != ':') || bytes < 1 || bytes > (1ll << 31)) {
    say(g, arg, "expected mem:BYTES[:zero|random|unwritten|unknown], with 1 to 2^31 bytes");
    return false;
  }
  static const struct {
    const char *name;
    PtxContent content;
  } contents[] = {{"zero", PTX_CONTENT_ZERO},
                  {"random", PTX_CONTENT_GIVEN},
                  {"unwritten", PTX_CONTENT_UNWRITTEN},
                  {"unknown", PTX_CONTENT_UNKNOWN}};
  const int n = (int)(sizeof contents / sizeof *contents);
  int c = 0;
  while (c < n && !str_equal(how, contents[c].name)) c++;
  if (c == n) {
    say(g, arg, "expected zero, random, unwritten or unknown after the bytes");
    return false;
  }
  const PtxContent content = contents[c].content;
  if (content == PTX_CONTENT_UNKNOWN && !takes_unknown(g, arg)) return false;
  *address =
      content == PTX_CONTENT_GIVEN ? give_random(g, bytes) : give_buffer(g, bytes, NULL, content);
  return true;
}

// same:1, same:1+4096: the memory of an earlier argument, from 1 as in messages, or a part of it.
static bool read_same(const ArgGiver *g, const char *arg, OpenBuffer *out) {
  char *end = NULL;
  const long long of = strtoll(arg + strlen("same:"), &end, 10);
  const bool has = end > arg + strlen("same:") && of >= 1 && of <= g->index;
  const OpenBuffer *buffer = has ? &g->buffers[of - 1] : NULL;
  long long from = 0;
  if (has && *end == '+') from = strtoll(end + 1, &end, 10);
  if (!has || *end || buffer->bytes == 0 || from < 0 || from >= buffer->bytes) {
    say(g, arg, "expected same:N or same:N+BYTES, where argument N stands before and has memory");
    return false;
  }
  *out = (OpenBuffer){buffer->address + (uint64_t)from, buffer->bytes - from};
  return true;
}

static void give_same(ArgGiver *g, const char *arg) {
  OpenBuffer same;
  if (!read_same(g, arg, &same) || !takes_pointer(g, arg)) return;
  set_pointer(g, same.address);
  g->buffers[g->index] = same;
}

static void give_file(ArgGiver *g, const char *arg) {
  size_t bytes = 0;
  const char *contents = open_read_given(g->arena, arg + 5, &bytes, g->diags);
  if (contents && bytes == 0) say(g, arg, "the file is empty");
  if (contents && bytes > 0 && takes_pointer(g, arg))
    set_pointer(g, give_buffer(g, (int64_t)bytes, contents, PTX_CONTENT_GIVEN));
}

static const PtxParamType *element_type(const ArgGiver *g, const TmaBox *box) {
  static const struct {
    const char *name;
    PtxElement element;
  } elements[] = {{"f16", PTX_ELEMENT_F16},
                  {"bf16", PTX_ELEMENT_BF16},
                  {"f64", PTX_ELEMENT_F64},
                  {"f32", PTX_ELEMENT_UNKNOWN},
                  {"tf32", PTX_ELEMENT_UNKNOWN}};
  PtxParamType *type = ARENA_NEW(g->arena, PtxParamType);
  *type =
      (PtxParamType){.text = g->type->text, .element = PTX_ELEMENT_INT, .bytes = box->elem_bytes};
  for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
    if (str_equal(box->type, elements[i].name)) type->element = elements[i].element;
  return type;
}

// tma:shape=512x256,box=64x64,swizzle=128B,type=f16: a tensor of its own, random, and its map.
static bool read_tensor(ArgGiver *g, const char *arg, unsigned char map[PTX_MAP_BYTES]) {
  TmaBox box;
  if (!tma_box_parse(g->arena, arg + 4, &box, g->diags) || !tma_box_check(&box, g->diags))
    return false;
  if (box.shape[0] == 0) {
    say(g, arg, "shape=… is missing: the size of the tensor");
    return false;
  }
  const int last = box.rank - 1;
  const int64_t bytes =
      last ? box.shape[last] * box.stride[last] : tma_box_global_bytes(&box, box.shape[0]);
  if (bytes > (1ll << 31)) {
    say(g, arg, "expected a tensor of at most 2^31 bytes");
    return false;
  }
  const PtxParamType *of_parameter = g->type;
  g->type = element_type(g, &box);
  const uint64_t address = give_random(g, bytes);
  g->type = of_parameter;
  return ptx_machine_tensor(g->machine, &box, address, map, g->diags);
}

static void give_tensor(ArgGiver *g, const char *arg) {
  unsigned char map[PTX_MAP_BYTES];
  if (g->kernel->params[g->index].bytes != PTX_MAP_BYTES)
    say(g, arg, "a tensor map, but the parameter does not have 128 bytes");
  else if (read_tensor(g, arg, map))
    ptx_machine_param(g->machine, g->index, map, sizeof map);
}

// mem:tma:shape=…: a map that lies in memory.
static bool read_map_in_memory(ArgGiver *g, const char *arg, uint64_t *address) {
  unsigned char map[PTX_MAP_BYTES];
  if (!read_tensor(g, arg + 4, map)) return false;
  *address = give_buffer(g, PTX_MAP_BYTES, map, PTX_CONTENT_GIVEN);
  return true;
}

// The address that a pointer is given.
static bool read_pointer(ArgGiver *g, const char *arg, uint64_t *address) {
  OpenBuffer same;
  if (str_starts(arg, "mem:tma:")) return read_map_in_memory(g, arg, address);
  if (str_starts(arg, "mem:")) return read_memory(g, arg, address);
  if (!read_same(g, arg, &same)) return false;
  *address = same.address;
  return true;
}

static void give_memory(ArgGiver *g, const char *arg) {
  uint64_t address = 0;
  if (takes_pointer(g, arg) && read_pointer(g, arg, &address)) set_pointer(g, address);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char letter = (char)(c | 32);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// The pieces of a struct, by their offsets: "0=mem:16384", "16=64", "20=f32:1.5". A whole number
// has four bytes, unless a type in front of it gives another size; memory is a pointer of eight.
static bool put_piece(ArgGiver *g, const char *piece, unsigned char *bytes, int64_t n) {
  char *end = NULL;
  const long long at = strtoll(piece, &end, 10);
  if (end == piece || *end != '=' || at < 0 || at >= n) return false;
  const char *value = end + 1;
  uint64_t bits = 0;
  int64_t size = 4;
  if (str_starts(value, "tma:"))
    return n - at >= PTX_MAP_BYTES && read_tensor(g, value, bytes + at);
  if (str_starts(value, "mem:") || str_starts(value, "same:")) {
    if (!read_pointer(g, value, &bits)) return false;
    size = 8;
  } else {
    const char *colon = strchr(value, ':');
    const PtxType named = colon ? ptx_type_find(value, (int)(colon - value)) : PTX_U32;
    const PtxFormat *format = named ? ptx_format_of(named) : NULL;
    const char *number = colon ? colon + 1 : value;
    if (!named || ptx_types[named].bits > 64) return false;
    size = ptx_types[named].bits / 8;
    bits = format ? ptx_float_round(format, (long double)strtod(number, &end), PTX_ROUND_NEAREST,
                                    false)
                  : (uint64_t)strtoll(number, &end, 0);
    if (end == number || *end) return false;
  }
  if (size > n - at) return false;
  memcpy(bytes + at, &bits, (size_t)size);
  return true;
}

// A piece ends where the next one's offset begins: a map has commas of its own.
static size_t piece_length(const char *piece) {
  const char *end = piece;
  while (*(end += strcspn(end, ","))) {
    const size_t digits = strspn(end + 1, "0123456789");
    if (digits && end[1 + digits] == '=') break;
    end++;
  }
  return (size_t)(end - piece);
}

// bytes:56,0=mem:16384,16=64: what no piece names is zero.
static void give_pieces(ArgGiver *g, const char *arg) {
  const int64_t wanted = g->kernel->params[g->index].bytes;
  unsigned char *bytes = arena_alloc(g->arena, (size_t)wanted + sizeof(uint64_t));
  char *end = NULL;
  bool ok = strtoll(arg + 6, &end, 10) == wanted;
  for (const char *at = end; ok && *at;) {
    const size_t n = piece_length(++at);
    ok = put_piece(g, arena_strndup(g->arena, at, n), bytes, wanted);
    at += n;
  }
  if (ok)
    ptx_machine_param(g->machine, g->index, bytes, wanted);
  else
    say(g, arg,
        arena_printf(g->arena,
                     "expected bytes:%lld,OFFSET=VALUE,…: a value is a number, TYPE:NUMBER, "
                     "mem:BYTES, same:N or tma:…",
                     (long long)wanted));
}

static void give_bytes(ArgGiver *g, const char *arg) {
  if (strchr(arg, ',')) {
    give_pieces(g, arg);
    return;
  }
  const char *hex = arg + 6;
  const size_t n = strlen(hex);
  const int64_t wanted = g->kernel->params[g->index].bytes;
  unsigned char *bytes = arena_alloc(g->arena, n / 2 + 1);
  bool ok = n % 2 == 0 && (int64_t)(n / 2) == wanted;
  for (size_t i = 0; ok && i < n; i += 2) {
    const int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
    ok = high >= 0 && low >= 0;
    bytes[i / 2] = (unsigned char)(high << 4 | (low & 15));
  }
  if (ok)
    ptx_machine_param(g->machine, g->index, bytes, wanted);
  else
    say(g, arg,
        arena_printf(g->arena, "bytes:HEX with two digits for each of %lld bytes",
                     (long long)wanted));
}

// The type that a number is read as: the one in front of it, "f32:1", else the parameter's own.
// Only the bytes of a parameter of machine code are known: a point or an exponent says that it is a
// float.
static PtxType type_of_number(const ArgGiver *g, const char **arg) {
  static const PtxType floats[] = {[2] = PTX_F16, [4] = PTX_F32, [8] = PTX_F64};
  const PtxParam *param = &g->kernel->params[g->index];
  const char *colon = strchr(*arg, ':');
  const PtxType named = colon ? ptx_type_find(*arg, (int)(colon - *arg)) : PTX_NO_TYPE;
  if (named) {
    *arg = colon + 1;
    return named;
  }
  const bool is_hex = strstr(*arg, "0x") || strstr(*arg, "0X");
  const bool is_float = !is_hex && strpbrk(*arg, ".eE");
  const bool has_float = param->bytes == 2 || param->bytes == 4 || param->bytes == 8;
  return g->machine_code && is_float && has_float ? floats[param->bytes] : param->type;
}

static bool give_float(const ArgGiver *g, const char *arg, PtxType type) {
  char *end = NULL;
  const double twice = strtod(arg, &end);
  const uint64_t bits =
      ptx_float_round(ptx_format_of(type), (long double)twice, PTX_ROUND_NEAREST, false);
  if (end == arg || *end) return false;
  ptx_machine_param(g->machine, g->index, &bits, ptx_types[type].bits / 8);
  return true;
}

static bool give_whole(const ArgGiver *g, const char *arg, int bits) {
  char *end = NULL;
  errno = 0;
  const bool negative = arg[0] == '-';
  const uint64_t value =
      negative ? (uint64_t)strtoll(arg, &end, 0) : (uint64_t)strtoull(arg, &end, 0);
  const uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  const bool fits = negative ? 0 - value <= most / 2 + 1 : value <= most;
  if (end == arg || *end || errno || !fits) return false;
  ptx_machine_param(g->machine, g->index, &value, bits / 8);
  return true;
}

static void give_number(const ArgGiver *g, const char *arg) {
  const PtxParam *param = &g->kernel->params[g->index];
  const char *number = arg;
  const PtxType type = type_of_number(g, &number);
  const PtxTypeRow *row = &ptx_types[type];
  if (row->bits != param->bytes * 8 || row->bits > 64) {
    say(g, arg,
        number > arg ? arena_printf(g->arena, "the parameter has %lld bytes, not %d",
                                    (long long)param->bytes, row->bits / 8)
                     : arena_printf(g->arena, "the parameter has %lld bytes: expected bytes:HEX",
                                    (long long)param->bytes));
  } else if (row->class == 'F' || row->class == 'H') {
    if (!give_float(g, number, type)) say(g, arg, "expected a number");
  } else if (!give_whole(g, number, row->bits)) {
    say(g, arg,
        arena_printf(
            g->arena,
            "expected a whole number of %d bits, or mem:BYTES, file:PATH, bytes:HEX, unknown",
            row->bits));
  }
}

const OpenBuffer *open_give_args(Arena *arena, PtxMachine *machine, const PtxModule *module,
                                 const PtxFunction *kernel, int n, const char *const *args,
                                 Diags *diags) {
  const int before = diags->count, n_all = n;
  const char **of_parameters = ARENA_ARRAY(arena, const char *, n + 1);
  n = 0;
  for (int i = 0; i < n_all; i++)
    if (!open_is_symbol(args[i]))
      of_parameters[n++] = args[i];
    else if (!open_give_symbol(arena, machine, module, args[i], diags))
      return NULL;
  args = of_parameters;
  if (n != kernel->n_params) {
    diag_add(diags, "arg", "%s takes %d argument%s, %d %s given", ptx_signature_text(arena, kernel),
             kernel->n_params, plural_s(kernel->n_params), n, n == 1 ? "is" : "are");
    return NULL;
  }
  ArgGiver giver = {.arena = arena,
                    .machine = machine,
                    .kernel = kernel,
                    .diags = diags,
                    .machine_code = module->machine != NULL,
                    .seed = 1,
                    .buffers = ARENA_ARRAY(arena, OpenBuffer, n + 1)};
  const PtxParamType *types = ptx_signature(arena, kernel);
  for (int i = 0; i < n; i++) {
    giver.index = i;
    giver.type = &types[i];
    if (str_starts(args[i], "mem:"))
      give_memory(&giver, args[i]);
    else if (str_equal(args[i], "unknown"))
      give_unknown(&giver, args[i]);
    else if (str_starts(args[i], "same:"))
      give_same(&giver, args[i]);
    else if (str_starts(args[i], "file:"))
      give_file(&giver, args[i]);
    else if (str_starts(args[i], "tma:"))
      give_tensor(&giver, args[i]);
    else if (str_starts(args[i], "bytes:"))
      give_bytes(&giver, args[i]);
    else
      give_number(&giver, args[i]);
  }
  return diags->count == before ? giver.buffers : NULL;
}
