// Source text → names of numbers → extents of arrays.
//
// No compiler: a line is taken where its words are these and left where they are not. What comes
// out is a proposal; an array of another size than the declaration's goes by its strides.
//
// Worked example: "constexpr int BK = 32, PAD = 8;" gives BK and PAD; "__shared__ half As[2][64][BK
// + PAD];" then has rows of 40 elements of 2 bytes and 10240 bytes in all.
#include "cli/open/open_declared.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/formula.h"
#include "base/str.h"

enum { NAMES_MAX = 256, DECLARED_MAX = 64, EXTENTS_MAX = 6 };

static const struct {
  const char *name;
  int bytes;
} types[] = {{"float", 4},      {"double", 8},        {"half", 2},          {"__half", 2},
             {"half2", 4},      {"__half2", 4},       {"__nv_bfloat16", 2}, {"nv_bfloat16", 2},
             {"bf16", 2},       {"int", 4},           {"unsigned", 4},      {"uint", 4},
             {"int32_t", 4},    {"uint32_t", 4},      {"int64_t", 8},       {"uint64_t", 8},
             {"int16_t", 2},    {"uint16_t", 2},      {"short", 2},         {"char", 1},
             {"int8_t", 1},     {"uint8_t", 1},       {"float2", 8},        {"float4", 16},
             {"int4", 16},      {"uint4", 16},        {"int2", 8},          {"uint2", 8},
             {"__half_raw", 2}, {"__nv_fp8_e4m3", 1}, {"__nv_fp8_e5m2", 1}, {"double2", 16}};

typedef struct Names {
  Arena *arena;
  FormulaName name[NAMES_MAX];
  int64_t value[NAMES_MAX];
  int n;
} Names;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
  return at;
}

static const char *take_word(const Names *names, const char **at) {
  const char *from = skip_blanks(*at), *to = from;
  while (is_word(*to)) to++;
  *at = to;
  return to == from ? NULL : arena_strndup(names->arena, from, (size_t)(to - from));
}

static bool evaluate(const Names *names, const char *text, size_t n, int64_t *out) {
  Diags ignored = diags_new(names->arena);
  if (n == 0 || n > 200) return false;
  const Formula *formula = formula_parse(names->arena, arena_strndup(names->arena, text, n),
                                         names->name, names->n, &ignored);
  const char *why;
  return formula && formula_eval(formula, names->value, out, &why);
}

static void add_name(Names *names, const char *name, const char *text, size_t n) {
  int64_t value;
  if (names->n == NAMES_MAX || !name || !evaluate(names, text, n, &value)) return;
  names->name[names->n] = (FormulaName){name, names->n};
  names->value[names->n++] = value;
}

// "int BM = 128, BK = 32;" behind const or constexpr.
static void take_constants(Names *names, const char *at) {
  const char *name = NULL;
  for (const char *word; (word = take_word(names, &at));) name = word;
  while (name) {
    at = skip_blanks(at);
    if (*at != '=') return;
    const size_t n = strcspn(++at, ",;\n");
    add_name(names, name, at, n);
    at += n;
    if (*at != ',') return;
    at++;
    name = take_word(names, &at);
  }
}

static void take_define(Names *names, const char *at) {
  const char *name = take_word(names, &at);
  if (*at == ' ' || *at == '\t') add_name(names, name, at, strcspn(at, "\n/"));
}

static int type_bytes(const char *word) {
  for (size_t i = 0; word && i < sizeof types / sizeof types[0]; i++)
    if (str_equal(types[i].name, word)) return types[i].bytes;
  return 0;
}

// "[64][BK + PAD]": false where an extent is no number.
static bool take_extents(const Names *names, const char *at, int64_t *extent, int *n) {
  for (*n = 0; *(at = skip_blanks(at)) == '['; at++) {
    const char *close = strchr(at, ']');
    if (!close || *n == EXTENTS_MAX) return false;
    if (!evaluate(names, at + 1, (size_t)(close - at - 1), &extent[*n])) return false;
    if (extent[*n] < 1 || extent[*n] > 1 << 20) return false;
    ++*n;
    at = close;
  }
  return *n > 0;
}

// Behind "__shared__": attributes with their parentheses, the type, the name, the extents.
static bool take_array(const Names *names, const char *at, PtxPitch *out) {
  const char *word = NULL;
  *out = (PtxPitch){.from = "declared"};
  for (const char *next; (next = take_word(names, &at));) {
    if (type_bytes(next)) out->elem_bytes = type_bytes(next);
    word = next;
    at = skip_blanks(at);
    if (*at == '(') at += strcspn(at, ")") + 1;
  }
  int64_t extent[EXTENTS_MAX], all = out->elem_bytes;
  int n;
  if (!word || !out->elem_bytes || !take_extents(names, at, extent, &n)) return false;
  for (int i = 0; i < n && all < 1 << 30; i++) all *= extent[i];
  out->name = word;
  out->array_bytes = all;
  out->bytes = n > 1 ? extent[n - 1] * out->elem_bytes : 0;
  return true;
}

static bool stands_alone(const char *text, const char *at, size_t n) {
  return (at == text || !is_word(at[-1])) && !is_word(at[n]);
}

const PtxPitch *open_declared(Arena *arena, const char *cuda, int *n) {
  static const char *const words[] = {"#define", "constexpr", "const", "__shared__"};
  Names *names = ARENA_NEW(arena, Names);
  PtxPitch *out = ARENA_ARRAY(arena, PtxPitch, DECLARED_MAX);
  names->arena = arena;
  *n = 0;
  for (const char *at = cuda; *at; at++) {
    if (at[0] == '/' && at[1] == '/') at += strcspn(at, "\n");
    if (!*at) break;
    for (int w = 0; w < 4; w++) {
      const size_t length = strlen(words[w]);
      if (strncmp(at, words[w], length) != 0 || !stands_alone(cuda, at, length)) continue;
      if (w == 0) take_define(names, at + length);
      if (w == 1 || w == 2) take_constants(names, at + length);
      if (w == 3 && *n < DECLARED_MAX) *n += take_array(names, at + length, &out[*n]);
    }
  }
  return out;
}

bool open_read_slab(const char *text, PtxPitch *out, Arena *arena, Diags *diags) {
  const char *colon = strrchr(text, ':');
  char *end = NULL;
  const long bytes = colon && isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : 0;
  if (!colon || colon == text || bytes < 1 || bytes > 1 << 20 || *end) {
    Diag *diag = diag_add(diags, "slab",
                          "--slab \"%s\": expected the name of an array and the bytes of its "
                          "rows, NAME:PITCH",
                          str_sanitise(arena, text));
    diag->nearest = "--slab As:64";
    return false;
  }
  *out = (PtxPitch){
      .name = arena_strndup(arena, text, (size_t)(colon - text)), .bytes = bytes, .from = "given"};
  return true;
}
