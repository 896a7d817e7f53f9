// Declarations of PTX text: variables, registers, .param slots, and where each lies. (PTX ISA,
// chapter 5.)
//
// Shared variables of the module come first in shared memory, then the variables of a kernel: two
// kernels of one text lie over each other there, as they never run together. The dynamic part
// begins at the end of the kernel's own part (run.c), which is why an extern array is a special
// register.
#include "ptx/read/ptx_parse.h"

#include <string.h>

#include "base/whole.h"
#include "ptx/run/run.h"

enum { VARIABLE_BYTES_MAX = 1 << 28, ALIGN_MAX = 4096 };
#define ARRAY_MAX (INT64_C(1) << 32)

// A power of two that some memory here has; the type's own alignment after a finding.
static int parse_align(PtxParser *p) {
  const int line = p->token.line;
  const int64_t align = ptx_parse_int(p);
  if (align > 0 && align <= ALIGN_MAX && (align & (align - 1)) == 0) return (int)align;
  ptx_error(p, line, "an alignment of %lld: expected a power of two up to %d", (long long)align,
            ALIGN_MAX);
  return 0;
}

bool ptx_parse_qualifiers(PtxParser *p, PtxQualifiers *q) {
  *q = (PtxQualifiers){.align = 0, .vector = 1, .type = PTX_NO_TYPE};
  while (p->token.kind == PTX_TOKEN_WORD && p->token.text[0] == '.') {
    const PtxToken word = p->token;
    ptx_advance(p);
    if (ptx_token_is(&word, ".align")) {
      q->align = parse_align(p);
    } else if (ptx_token_is(&word, ".v2") || ptx_token_is(&word, ".v4")) {
      q->vector = word.text[2] - '0';
    } else if (ptx_token_is(&word, ".attribute")) {
      while (p->token.kind != PTX_TOKEN_END && !ptx_accept(p, ')')) ptx_advance(p);
    } else if (ptx_token_is(&word, ".ptr")) {
      q->is_pointer = true;
    } else if (ptx_token_is(&word, ".global") || ptx_token_is(&word, ".shared") ||
               ptx_token_is(&word, ".const") || ptx_token_is(&word, ".local") ||
               ptx_token_is(&word, ".managed") || ptx_token_is(&word, ".noalias")) {
      continue;
    } else {
      const PtxType type = ptx_type_find(word.text + 1, word.length - 1);
      if (type == PTX_NO_TYPE) {
        ptx_error(p, word.line, "%s is not a known type of PTX", ptx_token_text(p, &word));
        return false;
      }
      q->type = type;
    }
  }
  if (q->type == PTX_NO_TYPE) ptx_error(p, p->token.line, "expected a type");
  return q->type != PTX_NO_TYPE;
}

int ptx_type_bytes(PtxType type) { return ptx_types[type].bits < 8 ? 1 : ptx_types[type].bits / 8; }

int64_t ptx_parse_dimensions(PtxParser *p, bool *is_array) {
  int64_t count = 1;
  *is_array = false;
  while (ptx_accept(p, '[')) {
    *is_array = true;
    if (ptx_accept(p, ']')) {
      count = 0;
      continue;
    }
    const int64_t extent = ptx_parse_int(p);
    if (extent < 0 || extent > ARRAY_MAX || (extent > 0 && count > ARRAY_MAX / extent)) {
      ptx_error(p, p->token.line, "an array of more than 4 GiB");
      count = 0;
    } else {
      count *= extent;
    }
    ptx_expect(p, ']');
  }
  return count;
}

// An address as a first value: "name", "generic(name)", "name+8".
static bool parse_address(PtxParser *p, uint64_t *bits) {
  const bool generic = ptx_accept_word(p, "generic") && ptx_accept(p, '(');
  const PtxToken word = p->token;
  int64_t value = 0;
  const PtxName *name = ptx_name_find(p, word.text, word.length, &value);
  ptx_advance(p);
  if (generic) ptx_expect(p, ')');
  if (name && name->kind == PTX_NAME_FUNCTION) {
    *bits = PTX_FUNCTION_TAG | (uint64_t)value;
  } else if (name && name->kind == PTX_NAME_VARIABLE) {
    const PtxVariable *v = &p->module->variables[value];
    *bits = (uint64_t)v->offset + (v->space == PTX_SPACE_GLOBAL  ? PTX_GLOBAL_VARIABLES
                                   : v->space == PTX_SPACE_CONST ? PTX_CONST_VARIABLES
                                                                 : PTX_SHARED_WINDOW);
  } else {
    ptx_error(p, word.line, "%s is not declared", ptx_token_text(p, &word));
    return false;
  }
  if (ptx_accept(p, '+')) *bits += (uint64_t)ptx_parse_int(p);
  return true;
}

// Values in braces of any depth, one after the other.
static void parse_initializer(PtxParser *p, const PtxVariable *v, unsigned char *bytes) {
  int64_t at = 0;
  const int size = ptx_type_bytes(v->type);
  int depth = 0;
  do {
    if (ptx_accept(p, '{')) {
      depth++;
    } else if (ptx_accept(p, '}')) {
      depth--;
    } else if (ptx_accept(p, ',')) {
      continue;
    } else {
      uint64_t bits = 0;
      const bool is_word = p->token.kind == PTX_TOKEN_WORD;
      if (is_word ? !parse_address(p, &bits) : !ptx_parse_number(p, v->type, &bits)) return;
      if (at + size <= v->bytes) memcpy(bytes + at, &bits, (size_t)size);
      at += size;
    }
  } while (depth > 0);
}

static int64_t place_shared(PtxParser *p, PtxVariable *v) {
  int64_t *end = v->function < 0 ? &p->shared_module : &p->shared_function;
  v->offset = round_up(*end, v->align);
  *end = v->offset + v->bytes;
  return v->offset;
}

static void place(PtxParser *p, PtxVariable *v) {
  PtxModule *module = p->module;
  if (v->space == PTX_SPACE_SHARED) {
    place_shared(p, v);
  } else if (v->space == PTX_SPACE_LOCAL) {
    v->offset = round_up(module->local_bytes, v->align);
    module->local_bytes = v->offset + v->bytes;
  } else {
    int64_t end = 0;
    for (int i = 0; i < module->n_variables; i++) {
      const PtxVariable *other = &module->variables[i];
      if (other->space == v->space && other->offset + other->bytes > end)
        end = other->offset + other->bytes;
    }
    v->offset = round_up(end, v->align > 256 ? v->align : 256);
  }
}

static void declare_variable(PtxParser *p, PtxSpace space, bool is_extern, const PtxQualifiers *q) {
  const PtxToken name = p->token;
  ptx_advance(p);
  bool is_array = false;
  const int64_t count = ptx_parse_dimensions(p, &is_array);
  const int element = ptx_type_bytes(q->type) * q->vector;
  PtxVariable v = {.name = arena_strndup(p->arena, name.text, (size_t)name.length),
                   .space = space,
                   .type = q->type,
                   .align = q->align > 0 ? q->align : element,
                   .bytes = count * element,
                   .function = p->function,
                   .line = name.line,
                   .is_extern = is_extern,
                   .vector = q->vector};
  if (v.bytes > VARIABLE_BYTES_MAX) {
    ptx_error(p, name.line, "%s has more than 256 MiB", v.name);
    v.bytes = 0;
  }
  if (ptx_accept(p, '=')) {
    const bool keeps = v.bytes > 0 && v.bytes <= (1 << 26);
    unsigned char *bytes = arena_alloc(p->arena, keeps ? (size_t)v.bytes : 8);
    if (!keeps) v.bytes = 0;
    parse_initializer(p, &v, bytes);
    v.init = bytes;
  }
  place(p, &v);
  PtxModule *module = p->module;
  PTX_GROW(p, module->variables, p->cap_variables, module->n_variables + 1);
  module->variables[module->n_variables] = v;
  ptx_name_add(p, name.text, name.length, PTX_NAME_VARIABLE, module->n_variables++);
}

static void declare_register(PtxParser *p, PtxType type) {
  const PtxToken name = p->token;
  ptx_advance(p);
  int count = 0;
  if (ptx_accept(p, '<')) {
    count = (int)ptx_parse_int(p);
    ptx_expect(p, '>');
  }
  const bool is_pred = type == PTX_PRED;
  int *next = is_pred ? &p->n_preds : &p->n_regs;
  const bool is_wide = ptx_types[type].bits == 128;
  const int n = (count > 0 ? count : 1) * (is_wide ? 2 : 1);
  if (count < 0 || count > (1 << 20) || n > (1 << 20) || *next + n > (1 << 20)) {
    ptx_error(p, name.line, "too many registers");
    return;
  }
  const PtxNameKind kind = is_pred ? PTX_NAME_PRED : is_wide ? PTX_NAME_WIDE : PTX_NAME_REG;
  PtxName *entry = ptx_name_add(p, name.text, name.length, kind, *next);
  entry->count = count;
  if (!is_pred) {
    PTX_GROW(p, p->reg_bits, p->cap_reg_bits, *next + n);
    const uint8_t bits = is_wide ? 64 : (uint8_t)ptx_types[type].bits;
    for (int i = 0; i < n; i++) p->reg_bits[*next + i] = bits;
  }
  *next += n;
  PtxFunction *function = &p->module->functions[p->function];
  if (p->n_regs > function->n_regs) function->n_regs = p->n_regs;
  if (p->n_preds > function->n_preds) function->n_preds = p->n_preds;
}

// A .param inside a function: what a call hands over.
static void declare_slot(PtxParser *p, const PtxQualifiers *q) {
  const PtxToken name = p->token;
  ptx_advance(p);
  bool is_array = false;
  const int64_t bytes = ptx_parse_dimensions(p, &is_array) * ptx_type_bytes(q->type) * q->vector;
  PtxModule *module = p->module;
  if (bytes > VARIABLE_BYTES_MAX || module->local_bytes > VARIABLE_BYTES_MAX) {
    ptx_error(p, name.line, "%.*s has more than 256 MiB", name.length, name.text);
    return;
  }
  const int64_t offset = round_up(module->local_bytes, q->align > 16 ? q->align : 16);
  module->local_bytes = offset + bytes;
  ptx_name_add(p, name.text, name.length, PTX_NAME_SLOT, offset);
}

void ptx_parse_declaration(PtxParser *p, PtxSpace space, bool is_reg, bool is_extern) {
  PtxQualifiers q;
  if (!ptx_parse_qualifiers(p, &q)) {
    ptx_skip_statement(p);
    return;
  }
  do {
    if (p->token.kind != PTX_TOKEN_WORD) {
      ptx_error(p, p->token.line, "expected a name, not \"%s\"", ptx_token_text(p, &p->token));
      break;
    }
    if (is_reg)
      declare_register(p, q.type);
    else if (space == PTX_SPACE_PARAM)
      declare_slot(p, &q);
    else
      declare_variable(p, space, is_extern, &q);
  } while (ptx_accept(p, ','));
  if (!ptx_expect(p, ';')) ptx_skip_statement(p);
}
