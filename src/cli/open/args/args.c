// --arg → parameters of a machine, and their memory. (Pieces of a struct: pieces.c.)
//
// Random contents are whole numbers from −4 to 4 (0 to 7 in integers), so that sums of products
// stay exact.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/args/giver.h"
#include "ptx/module/float_format.h"
#include "ptx/module/random_fill.h"

// The piece of a struct that is being read, "o@112"; "": the argument is no struct.
static const char *piece_name(const ArgGiver *g) {
  if (g->at < 0) return "";
  return arena_printf(g->arena, "%s%s%d", g->name ? g->name : "", g->name ? "@" : "", g->at);
}

void arg_say(const ArgGiver *g, const char *arg, const char *expected) {
  diag_add(g->diags, "arg", "argument %d (%s): \"%s%s%s\": %s", g->index + 1, g->type->text,
           str_sanitise(g->arena, piece_name(g)), g->at < 0 ? "" : "=", str_sanitise(g->arena, arg),
           expected);
}

// As findings name it: "argument 1", "argument 1, o@112".
static const char *memory_name(const ArgGiver *g) {
  return arena_printf(g->arena, "argument %d%s%s", g->index + 1, g->at < 0 ? "" : ", ",
                      piece_name(g));
}

static uint64_t give_buffer(ArgGiver *g, int64_t bytes, const void *contents, PtxContent content) {
  const uint64_t address = ptx_machine_buffer(g->machine, memory_name(g), bytes, contents, content);
  arg_add_buffer(g, address, bytes, false);
  return address;
}

// Numbers as they would come one after the other, argument after argument.
static uint64_t give_random(ArgGiver *g, int64_t bytes) {
  PtxRandomFill *fill = ARENA_NEW(g->arena, PtxRandomFill);
  const bool known = g->type->element != PTX_ELEMENT_UNKNOWN && g->type->bytes > 0;
  *fill = (PtxRandomFill){g->seed, g->type->element, known ? g->type->bytes : 4};
  g->seed = ptx_seed_after(g->seed, bytes / fill->size);
  const uint64_t address =
      ptx_machine_filled(g->machine, memory_name(g), bytes, ptx_fill_random, fill);
  arg_add_buffer(g, address, bytes, false);
  return address;
}

static bool takes_pointer(const ArgGiver *g, const char *arg) {
  if (g->kernel->params[g->index].bytes == 8) return true;
  arg_say(g, arg, "a pointer, but the parameter is not a 64-bit number");
  return false;
}

// Unknown values are followed through PTX alone.
static bool takes_unknown(const ArgGiver *g, const char *arg) {
  if (!g->machine_code) return true;
  arg_say(g, arg, "a run of machine code needs known values: leave out --machine");
  return false;
}

static void give_unknown(const ArgGiver *g, const char *arg) {
  if (takes_unknown(g, arg)) ptx_machine_param_unknown(g->machine, g->index);
}

// mem:BYTES[:CONTENTS]: random numbers have the type that the kernel's parameter points to, where
// that is known, unless they are asked for by a type.
static const struct {
  const char *name;
  PtxContent content;
  PtxElement element;
  int bytes;  // of a random number; 0: as the parameter says
} contents[] = {{"zero", PTX_CONTENT_ZERO, 0, 0},
                {"random", PTX_CONTENT_GIVEN, 0, 0},
                {"unwritten", PTX_CONTENT_UNWRITTEN, 0, 0},
                {"unknown", PTX_CONTENT_UNKNOWN, 0, 0},
                {"f16", PTX_CONTENT_GIVEN, PTX_ELEMENT_F16, 2},
                {"bf16", PTX_CONTENT_GIVEN, PTX_ELEMENT_BF16, 2},
                {"f32", PTX_CONTENT_GIVEN, PTX_ELEMENT_UNKNOWN, 4},
                {"f64", PTX_CONTENT_GIVEN, PTX_ELEMENT_F64, 8},
                {"i32", PTX_CONTENT_GIVEN, PTX_ELEMENT_INT, 4}};

static bool read_memory(ArgGiver *g, const char *arg, uint64_t *address) {
  char *end = NULL;
  const long long bytes = strtoll(arg + 4, &end, 10);
  const char *how = *end == ':' ? end + 1 : "random";
  if (end == arg + 4 || (*end && *end != ':') || bytes < 1 || bytes > (1ll << 31)) {
    arg_say(g, arg,
            "expected mem:BYTES[:zero|random|unwritten|unknown|TYPE], with 1 to 2^31 bytes");
    return false;
  }
  const int n = (int)(sizeof contents / sizeof *contents);
  int c = 0;
  while (c < n && !str_equal(how, contents[c].name)) c++;
  if (c == n) {
    arg_say(g, arg,
            "expected zero, random, unwritten, unknown, or f16, bf16, f32, f64, i32 for random "
            "numbers of that type, after the bytes");
    return false;
  }
  const PtxContent content = contents[c].content;
  if (content == PTX_CONTENT_UNKNOWN && !takes_unknown(g, arg)) return false;
  const PtxParamType *of_parameter = g->type;
  const PtxParamType typed = {
      .text = g->type->text, .element = contents[c].element, .bytes = contents[c].bytes};
  if (typed.bytes) g->type = &typed;
  *address =
      content == PTX_CONTENT_GIVEN ? give_random(g, bytes) : give_buffer(g, bytes, NULL, content);
  g->type = of_parameter;
  return true;
}

// same:1+4096, same:o: memory of an earlier argument, from 1 as in messages, or a part of it.
static bool read_same(ArgGiver *g, const char *arg, uint64_t *address) {
  const char *what = arg + strlen("same:"), *plus = strrchr(what, '+');
  const char *name = arena_strndup(g->arena, what, plus ? (size_t)(plus - what) : strlen(what));
  const OpenBuffers given = {g->buffers, g->n};
  const OpenBuffer *buffer = open_buffer_find(g->kernel, &given, name, 1);
  char *end = NULL;
  const long long from = plus ? strtoll(plus + 1, &end, 10) : 0;
  if (!buffer || (end && *end) || from < 0 || from >= buffer->bytes) {
    arg_say(g, arg,
            "expected same:N or same:N+BYTES, where argument N stands before and has memory; in a "
            "struct same:N@OFFSET or same:NAME");
    return false;
  }
  *address = buffer->address + (uint64_t)from;
  arg_add_buffer(g, *address, buffer->bytes - from, true);
  return true;
}

static bool read_contents(ArgGiver *g, const char *arg, uint64_t *address) {
  size_t bytes = 0;
  const char *contents_of = open_read_given(g->arena, arg + strlen("file:"), &bytes, g->diags);
  if (contents_of && bytes == 0) arg_say(g, arg, "the file is empty");
  if (!contents_of || bytes == 0) return false;
  *address = give_buffer(g, (int64_t)bytes, contents_of, PTX_CONTENT_GIVEN);
  return true;
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

// tma:shape=512x256,box=64x64,swizzle=128B,type=f16.
bool arg_read_tensor(ArgGiver *g, const char *arg, unsigned char map[PTX_MAP_BYTES]) {
  TmaBox box;
  if (!tma_box_parse(g->arena, arg + 4, &box, g->diags) || !tma_box_check(&box, g->diags))
    return false;
  if (box.shape[0] == 0) {
    arg_say(g, arg, "shape=… is missing: the size of the tensor");
    return false;
  }
  const int last = box.rank - 1;
  const int64_t bytes =
      last ? box.shape[last] * box.stride[last] : tma_box_global_bytes(&box, box.shape[0]);
  if (bytes > (1ll << 31)) {
    arg_say(g, arg, "expected a tensor of at most 2^31 bytes");
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
    arg_say(g, arg, "a tensor map, but the parameter does not have 128 bytes");
  else if (arg_read_tensor(g, arg, map))
    ptx_machine_param(g->machine, g->index, map, sizeof map);
}

// mem:tma:shape=…: a map that lies in memory.
static bool read_map_in_memory(ArgGiver *g, const char *arg, uint64_t *address) {
  unsigned char map[PTX_MAP_BYTES];
  if (!arg_read_tensor(g, arg + 4, map)) return false;
  *address = give_buffer(g, PTX_MAP_BYTES, map, PTX_CONTENT_GIVEN);
  return true;
}

static const struct {
  const char *prefix;
  bool (*read)(ArgGiver *, const char *, uint64_t *);
} pointers[] = {{"mem:tma:", read_map_in_memory},
                {"mem:", read_memory},
                {"file:", read_contents},
                {"same:", read_same}};

static int pointer_kind(const char *arg) {
  enum { KINDS = sizeof pointers / sizeof *pointers };
  int i = 0;
  while (i < KINDS && !str_starts(arg, pointers[i].prefix)) i++;
  return i < KINDS ? i : -1;
}

bool arg_is_pointer(const char *arg) { return pointer_kind(arg) >= 0; }

bool arg_read_pointer(ArgGiver *g, const char *arg, uint64_t *address) {
  return pointers[pointer_kind(arg)].read(g, arg, address);
}

static void give_pointer(ArgGiver *g, const char *arg) {
  uint64_t address = 0;
  if (takes_pointer(g, arg) && arg_read_pointer(g, arg, &address))
    ptx_machine_param(g->machine, g->index, &address, sizeof address);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char letter = (char)(c | 32);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static void give_bytes(ArgGiver *g, const char *arg) {
  if (strchr(arg, ',')) {
    arg_give_pieces(g, arg);
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
    arg_say(g, arg,
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

bool arg_read_whole(const char *text, int bits, uint64_t *value) {
  char *end = NULL;
  errno = 0;
  const bool negative = text[0] == '-';
  *value = negative ? (uint64_t)strtoll(text, &end, 0) : (uint64_t)strtoull(text, &end, 0);
  const uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  const bool fits = negative ? 0 - *value <= most / 2 + 1 : *value <= most;
  return end != text && !*end && !errno && fits;
}

static bool give_whole(const ArgGiver *g, const char *arg, int bits) {
  uint64_t value;
  if (!arg_read_whole(arg, bits, &value)) return false;
  ptx_machine_param(g->machine, g->index, &value, bits / 8);
  return true;
}

static void give_number(const ArgGiver *g, const char *arg) {
  const PtxParam *param = &g->kernel->params[g->index];
  const char *number = arg;
  const PtxType type = type_of_number(g, &number);
  const PtxTypeRow *row = &ptx_types[type];
  if (row->bits != param->bytes * 8 || row->bits > 64) {
    arg_say(g, arg,
            number > arg
                ? arena_printf(g->arena, "the parameter has %lld bytes, not %d",
                               (long long)param->bytes, row->bits / 8)
                : arena_printf(g->arena, "the parameter has %lld bytes: expected bytes:HEX",
                               (long long)param->bytes));
  } else if (row->class == 'F' || row->class == 'H') {
    if (!give_float(g, number, type)) arg_say(g, arg, "expected a number");
  } else if (!give_whole(g, number, row->bits)) {
    arg_say(g, arg,
            arena_printf(
                g->arena,
                "expected a whole number of %d bits, or mem:BYTES, file:PATH, bytes:HEX, unknown",
                row->bits));
  }
}

// @FILE: an argument that is too long to type: its lines, with commas between; behind # stand words
// for people.
static const char *in_file(const ArgGiver *g, const char *arg) {
  size_t bytes = 0;
  const char *text = open_read_given(g->arena, arg + 1, &bytes, g->diags);
  Str out = str_new(g->arena);
  for (const char *at = text; at && *at;) {
    const size_t n = strcspn(at, "\n");
    for (const char *c = at, *end = at + strcspn(at, "#\n"); c < end; c++)
      if (*c != ' ' && *c != '\t' && *c != '\r') str_add_char(&out, *c);
    at += n + (at[n] == '\n');
    if (out.length && out.text[out.length - 1] != ',') str_add_char(&out, ',');
  }
  if (out.length) out.text[--out.length] = '\0';
  return text ? out.text : NULL;
}

static void give(ArgGiver *g, const char *arg) {
  if (arg_is_pointer(arg))
    give_pointer(g, arg);
  else if (str_equal(arg, "unknown"))
    give_unknown(g, arg);
  else if (str_starts(arg, "tma:"))
    give_tensor(g, arg);
  else if (str_starts(arg, "bytes:"))
    give_bytes(g, arg);
  else
    give_number(g, arg);
}

bool open_give_args(Arena *arena, PtxMachine *machine, const PtxModule *module,
                    const PtxFunction *kernel, int n, const char *const *args, OpenBuffers *out,
                    Diags *diags) {
  const int before = diags->count, n_all = n;
  const char **of_parameters = ARENA_ARRAY(arena, const char *, n + 1);
  n = 0;
  for (int i = 0; i < n_all; i++)
    if (!open_is_symbol(args[i]))
      of_parameters[n++] = args[i];
    else if (!open_give_symbol(arena, machine, module, args[i], diags))
      return false;
  if (n != kernel->n_params) {
    diag_add(diags, "arg", "%s takes %d argument%s, %d %s given", ptx_signature_text(arena, kernel),
             kernel->n_params, plural_s(kernel->n_params), n, n == 1 ? "is" : "are");
    return false;
  }
  ArgGiver giver = {.arena = arena,
                    .machine = machine,
                    .kernel = kernel,
                    .diags = diags,
                    .machine_code = module->machine != NULL,
                    .at = -1,
                    .seed = 1};
  const PtxParamType *types = ptx_signature(arena, kernel);
  for (int i = 0; i < n; i++) {
    giver.index = i;
    giver.type = &types[i];
    const char *arg = of_parameters[i];
    if (*arg == '@') arg = in_file(&giver, arg);
    if (arg) give(&giver, arg);
  }
  *out = (OpenBuffers){giver.buffers, giver.n};
  return diags->count == before;
}
