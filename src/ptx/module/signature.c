// The parameters of a mangled name. (Itanium C++ ABI, 5.1.5: builtin types, P, K, substitutions.)
//
//   _Z14hgemm_ldmatrixPK6__halfS1_Pfiii
//      name: 14 letters      P K 6__half     const half *     S_ is __half, S0_ const __half,
//      S1_                                   the third that can be meant again: const half *
//
// A name that has more than this (nested names, function types) gives what PTX says.
#include "ptx/module/signature.h"

#include <string.h>

#include "base/str.h"

enum { MEANT_MAX = 32 };

typedef struct Reader {
  Arena *arena;
  const char *at;
  PtxParamType meant[MEANT_MAX];  // S_, S0_, …
  int n_meant;
  bool failed;
} Reader;

static const struct {
  char letter;
  PtxParamType type;
} builtins[] = {
    {'f', {"float", false, PTX_ELEMENT_F32, 4}},
    {'d', {"double", false, PTX_ELEMENT_F64, 8}},
    {'i', {"int", false, PTX_ELEMENT_INT, 4}},
    {'j', {"unsigned", false, PTX_ELEMENT_INT, 4}},
    {'c', {"char", false, PTX_ELEMENT_INT, 1}},
    {'a', {"signed char", false, PTX_ELEMENT_INT, 1}},
    {'h', {"unsigned char", false, PTX_ELEMENT_INT, 1}},
    {'b', {"bool", false, PTX_ELEMENT_INT, 1}},
    {'s', {"short", false, PTX_ELEMENT_INT, 2}},
    {'t', {"unsigned short", false, PTX_ELEMENT_INT, 2}},
    {'l', {"long", false, PTX_ELEMENT_INT, 8}},
    {'m', {"unsigned long", false, PTX_ELEMENT_INT, 8}},
    {'x', {"long long", false, PTX_ELEMENT_INT, 8}},
    {'y', {"unsigned long long", false, PTX_ELEMENT_INT, 8}},
    {'v', {"void", false, PTX_ELEMENT_UNKNOWN, 0}},
};

static const struct {
  const char *name;
  PtxParamType type;
} classes[] = {
    {"__half", {"half", false, PTX_ELEMENT_F16, 2}},
    {"__half2", {"half2", false, PTX_ELEMENT_F16, 2}},
    {"__nv_bfloat16", {"bf16", false, PTX_ELEMENT_BF16, 2}},
    {"__nv_bfloat162", {"bf162", false, PTX_ELEMENT_BF16, 2}},
    {"float2", {"float2", false, PTX_ELEMENT_F32, 4}},
    {"float3", {"float3", false, PTX_ELEMENT_F32, 4}},
    {"float4", {"float4", false, PTX_ELEMENT_F32, 4}},
    {"double2", {"double2", false, PTX_ELEMENT_F64, 8}},
    {"int2", {"int2", false, PTX_ELEMENT_INT, 4}},
    {"int4", {"int4", false, PTX_ELEMENT_INT, 4}},
    {"uint2", {"uint2", false, PTX_ELEMENT_INT, 4}},
    {"uint4", {"uint4", false, PTX_ELEMENT_INT, 4}},
};

static void mean(Reader *r, PtxParamType type) {
  if (r->n_meant == MEANT_MAX)
    r->failed = true;
  else
    r->meant[r->n_meant++] = type;
}

static int read_length(Reader *r) {
  int length = 0;
  while (*r->at >= '0' && *r->at <= '9' && length < 4096) length = length * 10 + (*r->at++ - '0');
  if (length == 0 || strlen(r->at) < (size_t)length) r->failed = true;
  return r->failed ? 0 : length;
}

static PtxParamType read_class(Reader *r) {
  const int length = read_length(r);
  const char *name = arena_strndup(r->arena, r->at, (size_t)length);
  PtxParamType type = {name, false, PTX_ELEMENT_UNKNOWN, 0};
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
    if (str_equal(classes[i].name, name)) type = classes[i].type;
  r->at += length;
  mean(r, type);
  return type;
}

// S_ is the first, S0_ the second, S1_ the third.
static PtxParamType read_meant(Reader *r) {
  const char *at = r->at + 1;
  int index = 0;
  if (*at != '_') {
    for (; (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z'); at++)
      index = index * 36 + (*at <= '9' ? *at - '0' : *at - 'A' + 10);
    index++;
  }
  if (*at != '_' || index >= r->n_meant || index < 0) {
    r->failed = true;
    return (PtxParamType){0};
  }
  r->at = at + 1;
  return r->meant[index];
}

static PtxParamType read_type(Reader *r, int depth) {
  if (r->failed || depth > 8) r->failed = true;
  if (r->failed) return (PtxParamType){0};
  const char c = *r->at;
  if (c == 'P' || c == 'R' || c == 'K' || c == 'V' || c == 'r') {
    r->at++;
    PtxParamType type = read_type(r, depth + 1);
    if (r->failed || c == 'r') return type;
    if (c == 'K' || c == 'V') {
      type.text = arena_printf(r->arena, "%s %s", c == 'K' ? "const" : "volatile", type.text);
    } else {
      type.text = arena_printf(r->arena, "%s *", type.text);
      if (type.is_pointer) type.element = PTX_ELEMENT_UNKNOWN;
      type.is_pointer = true;
    }
    mean(r, type);
    return type;
  }
  if (c == 'S') return read_meant(r);
  if (c >= '0' && c <= '9') return read_class(r);
  for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
    if (builtins[i].letter == c) {
      r->at++;
      return builtins[i].type;
    }
  r->failed = true;
  return (PtxParamType){0};
}

// ILi64ELj512EfE: literals and plain types only.
static void skip_template_args(Reader *r) {
  for (r->at++; !r->failed && *r->at != 'E';) {
    if (*r->at == 'L') {
      const char *end = strchr(r->at, 'E');
      r->at = end ? end + 1 : r->at;
      r->failed |= !end;
    } else {
      read_type(r, 0);
    }
  }
  if (!r->failed) r->at++;
}

static bool read_mangled(Arena *arena, const PtxFunction *kernel, PtxParamType *types) {
  Reader reader = {.arena = arena, .at = kernel->name}, *r = &reader;
  if (!str_starts(r->at, "_Z")) return false;
  r->at += 2;
  const int length = read_length(r);
  r->at += length;
  if (!r->failed && *r->at == 'I') {
    mean(r, (PtxParamType){"", false, PTX_ELEMENT_UNKNOWN, 0});
    skip_template_args(r);
    if (!r->failed) read_type(r, 0);
  }
  for (int i = 0; i < kernel->n_params && !r->failed; i++) types[i] = read_type(r, 0);
  return !r->failed && *r->at == '\0';
}

const PtxParamType *ptx_signature(Arena *arena, const PtxFunction *kernel) {
  PtxParamType *types = ARENA_ARRAY(arena, PtxParamType, kernel->n_params + 1);
  if (read_mangled(arena, kernel, types)) return types;
  for (int i = 0; i < kernel->n_params; i++) {
    const PtxParam *p = &kernel->params[i];
    const PtxTypeRow *row = &ptx_types[p->type];
    const bool is_array = p->bytes * 8 != row->bits;
    types[i] = (PtxParamType){
        .text = is_array ? arena_printf(arena, "%lld bytes", (long long)p->bytes)
                         : arena_printf(arena, ".%s%s", row->name, p->is_pointer ? " .ptr" : ""),
        .is_pointer = p->is_pointer};
    if (row->class == 'F') types[i].element = row->bits == 64 ? PTX_ELEMENT_F64 : PTX_ELEMENT_F32;
  }
  return types;
}

const char *ptx_signature_text(Arena *arena, const PtxFunction *kernel) {
  const PtxParamType *types = ptx_signature(arena, kernel);
  Str out = str_new(arena);
  str_printf(&out, "%s(", ptx_plain_name(arena, kernel->name));
  for (int i = 0; i < kernel->n_params; i++) str_printf(&out, "%s%s", i ? ", " : "", types[i].text);
  str_add_char(&out, ')');
  return str_sanitise(arena, out.text);
}
