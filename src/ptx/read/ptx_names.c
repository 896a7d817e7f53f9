// Names in scopes, findings, and growing arrays of the reader.
//
// A name is found through a bucket of its hash; the newest comes first, so that closing a scope is
// taking its names off the heads of their buckets. `.reg .b32 %r<29>` is one name with a count:
// "%r7" is looked for whole, then as "%r" with number 7.
#include <stdarg.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "ptx/read/ptx_parse.h"

void *ptx_grow(Arena *arena, void *items, int *capacity, int n, size_t size) {
  if (n <= *capacity) return items;
  const int wanted = n > *capacity * 2 ? n + 16 : *capacity * 2;
  void *larger = arena_alloc(arena, size * (size_t)wanted);
  if (items) memcpy(larger, items, size * (size_t)*capacity);
  *capacity = wanted;
  return larger;
}

void ptx_error(PtxParser *p, int line, const char *format, ...) {
  if (++p->n_errors > PTX_ERRORS_MAX) return;
  va_list args;
  va_start(args, format);
  Str text = str_new(p->arena);
  str_vprintf(&text, format, args);
  va_end(args);
  diag_add(p->diags, "ptx", "%s:%d: %s", p->module->what, line, str_sanitise(p->arena, text.text));
}

const char *ptx_token_text(PtxParser *p, const PtxToken *token) {
  if (token->kind == PTX_TOKEN_END) return "the end of the text";
  return arena_strndup(p->arena, token->text, (size_t)(token->length > 80 ? 80 : token->length));
}

void ptx_advance(PtxParser *p) { p->token = ptx_next(&p->lexer); }

bool ptx_accept(PtxParser *p, char sign) {
  if (p->token.kind != PTX_TOKEN_SIGN || p->token.sign != sign) return false;
  ptx_advance(p);
  return true;
}

bool ptx_expect(PtxParser *p, char sign) {
  if (ptx_accept(p, sign)) return true;
  ptx_error(p, p->token.line, "'%c' is expected before \"%s\"", sign, ptx_token_text(p, &p->token));
  return false;
}

bool ptx_accept_word(PtxParser *p, const char *word) {
  if (!ptx_token_is(&p->token, word)) return false;
  ptx_advance(p);
  return true;
}

static uint32_t bucket_of(const char *text, int length) {
  return (uint32_t)(hash_bytes(HASH_START, text, (size_t)length) % PTX_BUCKETS);
}

PtxName *ptx_name_add(PtxParser *p, const char *text, int length, PtxNameKind kind, int64_t value) {
  PTX_GROW(p, p->names, p->cap_names, p->n_names + 1);
  PtxName *name = &p->names[p->n_names];
  *name = (PtxName){.text = text, .length = length, .kind = kind, .value = value};
  name->bucket = bucket_of(text, length);
  name->next = p->buckets[name->bucket];
  p->buckets[name->bucket] = p->n_names++;
  return name;
}

static const PtxName *find_whole(const PtxParser *p, const char *text, int length) {
  for (int i = p->buckets[bucket_of(text, length)]; i >= 0; i = p->names[i].next)
    if (p->names[i].length == length && memcmp(p->names[i].text, text, (size_t)length) == 0)
      return &p->names[i];
  return NULL;
}

const PtxName *ptx_name_find(PtxParser *p, const char *text, int length, int64_t *value) {
  const PtxName *name = find_whole(p, text, length);
  if (name && name->count == 0) {
    *value = name->value;
    return name;
  }
  int stem = length;
  while (stem > 0 && text[stem - 1] >= '0' && text[stem - 1] <= '9') stem--;
  if (stem == length || stem == 0 || length - stem > 8) return NULL;
  int64_t number = 0;
  for (int i = stem; i < length; i++) number = number * 10 + (text[i] - '0');
  name = find_whole(p, text, stem);
  if (!name || number >= name->count) return NULL;
  *value = name->value + number * (name->kind == PTX_NAME_WIDE ? 2 : 1);
  return name;
}

void ptx_scope_open(PtxParser *p) {
  if (p->n_scopes == PTX_SCOPES_MAX) {
    ptx_error(p, p->token.line, "scopes are nested deeper than %d", PTX_SCOPES_MAX);
    p->lexer.at = p->lexer.end;
    return;
  }
  p->scopes[p->n_scopes++] = (PtxScope){p->n_names, p->n_fixups, p->n_regs, p->n_preds};
}

// Labels that were used are resolved where they are found; the others go on to the scope outside.
static void resolve(PtxParser *p, int first) {
  int kept = first;
  for (int i = first; i < p->n_fixups; i++) {
    const PtxFixup *fixup = &p->fixups[i];
    int64_t value = 0;
    const PtxName *name = ptx_name_find(p, fixup->text, fixup->length, &value);
    if (!name || name->kind != PTX_NAME_LABEL) {
      p->fixups[kept++] = *fixup;
      continue;
    }
    if (fixup->inst >= 0)
      p->module->code[fixup->inst].target = (int)value;
    else
      p->module->targets[-1 - fixup->inst] = (int)value;
  }
  p->n_fixups = kept;
}

void ptx_scope_close(PtxParser *p) {
  if (p->n_scopes == 0) return;
  const PtxScope *scope = &p->scopes[--p->n_scopes];
  resolve(p, scope->n_fixups);
  while (p->n_names > scope->n_names) {
    const PtxName *name = &p->names[--p->n_names];
    p->buckets[name->bucket] = name->next;
  }
  p->n_regs = scope->n_regs;
  p->n_preds = scope->n_preds;
}

PtxArg ptx_constant(PtxParser *p, uint64_t bits, int zeros) {
  return ptx_constant_of(p, bits, zeros, -1);
}

PtxArg ptx_constant_of(PtxParser *p, uint64_t bits, int zeros, int variable) {
  PtxModule *module = p->module;
  for (int i = module->n_constants - 1; i >= 0 && i >= module->n_constants - 64; i--)
    if (module->constants[i] == bits && module->constant_zeros[i] == zeros &&
        module->constant_variable[i] == variable)
      return ~(PTX_SPECIALS + i);
  int capacity = p->cap_constants, same = p->cap_constants;
  PTX_GROW(p, module->constants, capacity, module->n_constants + 1);
  PTX_GROW(p, module->constant_variable, same, module->n_constants + 1);
  PTX_GROW(p, module->constant_zeros, p->cap_constants, module->n_constants + 1);
  module->constants[module->n_constants] = bits;
  module->constant_zeros[module->n_constants] = (uint8_t)zeros;
  module->constant_variable[module->n_constants] = variable;
  return ~(PTX_SPECIALS + module->n_constants++);
}

static const char *const specials[PTX_SPECIALS] = {
#define SPECIAL(id, name) [PTX_SPECIAL_##id] = name,
#include "ptx/module/special.def"
};

PtxArg ptx_special(PtxParser *p, const char *text, int length) {
  (void)p;
  for (int i = 0; i < PTX_SPECIALS; i++)
    if (strncmp(specials[i], text, (size_t)length) == 0 && specials[i][length] == '\0') return ~i;
  return 0;
}
