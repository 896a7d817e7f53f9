// PTX text → module: directives, lines, functions. (PTX ISA, chapters 4, 5 and 11.)
//
// One pass: in PTX everything but a label is declared before it is used. After a mistake the reader
// goes on behind the next semicolon, so that one text gives up to twenty findings at once.
#include "ptx/read/ptx_parse.h"

#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "ptx/run/run.h"

// A kernel takes 32,764 bytes of parameters. (PTX ISA, 5.2 "Parameter State Space", from sm_70 on.)
enum { EXTENT_MAX = 1 << 16, PARAM_BYTES_MAX = 32764 };

// Goes on behind the next semicolon, or before a brace.
void ptx_skip_statement(PtxParser *p) {
  while (p->token.kind != PTX_TOKEN_END) {
    if (ptx_accept(p, ';')) return;
    if (p->token.kind == PTX_TOKEN_SIGN && (p->token.sign == '{' || p->token.sign == '}')) return;
    ptx_advance(p);
  }
}

int64_t ptx_parse_int(PtxParser *p) {
  const bool negative = ptx_accept(p, '-');
  if (p->token.kind != PTX_TOKEN_INT) {
    ptx_error(p, p->token.line, "expected a whole number, not \"%s\"",
              ptx_token_text(p, &p->token));
    return 0;
  }
  const int64_t value = (int64_t)p->token.bits;
  ptx_advance(p);
  return negative ? (int64_t)(0 - (uint64_t)value) : value;
}

static void skip_braces(PtxParser *p) {
  int depth = 0;
  do {
    if (p->token.kind == PTX_TOKEN_SIGN) depth += (p->token.sign == '{') - (p->token.sign == '}');
    ptx_advance(p);
  } while (depth > 0 && p->token.kind != PTX_TOKEN_END);
}

// ---- lines --------------------------------------------------------------------------------------

static int find_loc(const PtxModule *module, int file, int line, int column) {
  for (int i = module->n_locs - 1; i >= 0; i--) {
    const PtxLoc *loc = &module->locs[i];
    if (loc->file == file && loc->line == line && loc->column == column) return i;
  }
  return -1;
}

static int add_loc(PtxParser *p, PtxLoc loc) {
  PtxModule *module = p->module;
  PTX_GROW(p, module->locs, p->cap_locs, module->n_locs + 1);
  module->locs[module->n_locs] = loc;
  return module->n_locs++;
}

// .loc 2 5122 1, function_name $L__info_string0, inlined_at 1 71 17
static void parse_loc(PtxParser *p) {
  const int line = p->token.line;
  PtxLoc loc = {.file = (int)ptx_parse_int(p), .inlined_at = -1};
  loc.line = (int)ptx_parse_int(p);
  if (p->token.kind == PTX_TOKEN_INT) loc.column = (int)ptx_parse_int(p);
  while (p->token.line == line && p->token.kind != PTX_TOKEN_END) {
    if (!ptx_accept_word(p, "inlined_at")) {
      ptx_advance(p);
      continue;
    }
    const int file = (int)ptx_parse_int(p), at = (int)ptx_parse_int(p),
              column = (int)ptx_parse_int(p);
    loc.inlined_at = find_loc(p->module, file, at, column);
    if (loc.inlined_at < 0)
      loc.inlined_at =
          add_loc(p, (PtxLoc){.file = file, .line = at, .column = column, .inlined_at = -1});
  }
  const PtxLoc *last = p->loc >= 0 ? &p->module->locs[p->loc] : NULL;
  const bool same = last && memcmp(last, &loc, sizeof loc) == 0;
  if (!same) p->loc = add_loc(p, loc);
}

static void parse_file(PtxParser *p) {
  PtxModule *module = p->module;
  const int line = p->token.line, number = (int)ptx_parse_int(p);
  if (p->token.kind == PTX_TOKEN_STRING) {
    PTX_GROW(p, module->files, p->cap_files, module->n_files + 1);
    const char *name = arena_strndup(p->arena, p->token.text, (size_t)p->token.length);
    module->files[module->n_files++] = (PtxFile){number, str_sanitise(p->arena, name)};
  }
  while (p->token.line == line && p->token.kind != PTX_TOKEN_END) ptx_advance(p);
}

// ---- functions ----------------------------------------------------------------------------------

static void place_param(PtxParser *p, PtxFunction *f, PtxParam *param, const PtxToken *name) {
  if (param->in_register) {
    const bool is_pred = param->type == PTX_PRED;
    param->reg = is_pred ? p->n_preds++ : p->n_regs++;
    if (!is_pred) {
      PTX_GROW(p, p->reg_bits, p->cap_reg_bits, p->n_regs);
      p->reg_bits[param->reg] = (uint8_t)ptx_types[param->type].bits;
    }
    ptx_name_add(p, name->text, name->length, is_pred ? PTX_NAME_PRED : PTX_NAME_REG, param->reg);
    return;
  }
  int64_t *end = f->is_kernel ? &f->param_bytes : &p->module->local_bytes;
  const int64_t before = f->is_kernel ? *end : 0;
  if (param->bytes > PARAM_BYTES_MAX - before) {
    ptx_error(p, name->line, "%.*s: parameters of more than %d bytes", name->length, name->text,
              PARAM_BYTES_MAX);
    param->bytes = 0;
  }
  param->offset = round_up(*end, f->is_kernel ? param->align : 16);
  *end = param->offset + param->bytes;
  ptx_name_add(p, name->text, name->length, f->is_kernel ? PTX_NAME_PARAM : PTX_NAME_SLOT,
               param->offset);
}

static PtxParam *parse_params(PtxParser *p, PtxFunction *f, int *n) {
  PtxParam *params = NULL;
  int capacity = 0;
  while (p->token.kind != PTX_TOKEN_END && !ptx_accept(p, ')')) {
    const bool is_reg = ptx_accept_word(p, ".reg");
    if (!is_reg && !ptx_accept_word(p, ".param")) {
      ptx_error(p, p->token.line, "expected a parameter, not \"%s\"", ptx_token_text(p, &p->token));
      return params;
    }
    PtxQualifiers q;
    if (!ptx_parse_qualifiers(p, &q)) return params;
    const PtxToken name = p->token;
    ptx_advance(p);
    bool is_array = false;
    const int64_t count = ptx_parse_dimensions(p, &is_array);
    const int element = ptx_type_bytes(q.type) * q.vector;
    PtxParam param = {.is_pointer = q.is_pointer,
                      .name = arena_strndup(p->arena, name.text, (size_t)name.length),
                      .type = is_array ? PTX_B8 : q.type,
                      .bytes = count * element,
                      .align = is_array && q.align > 0 ? q.align : element,
                      .in_register = is_reg};
    place_param(p, f, &param, &name);
    PTX_GROW(p, params, capacity, *n + 1);
    params[(*n)++] = param;
    ptx_accept(p, ',');
  }
  return params;
}

static void parse_triple(PtxParser *p, int out[3]) {
  for (int i = 0; i < 3; i++) {
    const int64_t value = ptx_parse_int(p);
    out[i] = value < 0 || value > EXTENT_MAX ? EXTENT_MAX : (int)value;
    if (!ptx_accept(p, ',')) {
      for (int rest = i + 1; rest < 3; rest++) out[rest] = 1;
      return;
    }
  }
}

// .maxntid 128, 1, 1 and the like, between the parameters and the body.
static void parse_tuning(PtxParser *p, PtxFunction *f) {
  while (p->token.kind == PTX_TOKEN_WORD && p->token.text[0] == '.') {
    const PtxToken word = p->token;
    int ignored[3];
    ptx_advance(p);
    if (ptx_token_is(&word, ".maxntid"))
      parse_triple(p, f->maxntid);
    else if (ptx_token_is(&word, ".reqntid"))
      parse_triple(p, f->reqntid);
    else if (ptx_token_is(&word, ".reqnctapercluster"))
      parse_triple(p, f->cluster);
    else if (ptx_token_is(&word, ".pragma"))
      ptx_skip_statement(p);
    else if (p->token.kind == PTX_TOKEN_INT)
      parse_triple(p, ignored);
  }
}

static void parse_statement(PtxParser *p);

static void parse_body(PtxParser *p, int index) {
  PtxModule *module = p->module;
  p->function = index;
  p->loc = -1;
  p->shared_function = p->shared_module;
  module->functions[index].first = module->n_code;
  const int depth = p->n_scopes;
  ptx_scope_open(p);
  while (p->token.kind != PTX_TOKEN_END && p->n_scopes > depth) {
    if (ptx_accept(p, '{'))
      ptx_scope_open(p);
    else if (ptx_accept(p, '}'))
      ptx_scope_close(p);
    else
      parse_statement(p);
  }
  if (p->n_scopes > depth) {
    ptx_error(p, p->token.line, "the text ends inside %s", module->functions[index].name);
    while (p->n_scopes > depth) ptx_scope_close(p);
  }
  ptx_parse_end(p);
  PtxFunction *f = &module->functions[index];
  f->end = module->n_code;
  f->has_body = true;
  f->reg_bits = p->reg_bits;
  if (!f->is_kernel) p->shared_module = p->shared_function;
  p->reg_bits = NULL;
  p->cap_reg_bits = 0;
}

// A name belongs to the scope outside, where a forward declaration may have put it before; the body
// knows it as well.
static void name_function(PtxParser *p, const PtxToken *name, int index) {
  int64_t ignored;
  if (!ptx_name_find(p, name->text, name->length, &ignored))
    ptx_name_add(p, name->text, name->length, PTX_NAME_FUNCTION, index);
}

static void parse_function(PtxParser *p, bool is_kernel) {
  PtxModule *module = p->module;
  PtxFunction f = {.is_kernel = is_kernel, .line = p->token.line};
  ptx_scope_open(p);
  p->n_regs = p->n_preds = 0;
  if (ptx_accept(p, '(')) f.results = parse_params(p, &f, &f.n_results);
  const PtxToken name = p->token;
  if (name.kind != PTX_TOKEN_WORD) {
    ptx_error(p, name.line, "expected the name of a function");
    ptx_scope_close(p);
    ptx_skip_statement(p);
    return;
  }
  ptx_advance(p);
  f.name = arena_strndup(p->arena, name.text, (size_t)name.length);
  if (ptx_accept(p, '(')) f.params = parse_params(p, &f, &f.n_params);
  f.n_regs = p->n_regs;
  f.n_preds = p->n_preds;
  parse_tuning(p, &f);
  PTX_GROW(p, module->functions, p->cap_functions, module->n_functions + 1);
  int index = module->n_functions;
  for (int i = 0; i < module->n_functions; i++)
    if (str_equal(module->functions[i].name, f.name) && !module->functions[i].has_body) index = i;
  module->functions[index] = f;
  if (index == module->n_functions) module->n_functions++;
  name_function(p, &name, index);
  if (ptx_accept(p, '{'))
    parse_body(p, index);
  else
    ptx_expect(p, ';');
  ptx_scope_close(p);
  for (int i = 0; i < p->n_fixups; i++)
    ptx_error(p, p->fixups[i].line, "the label %.*s is not in %s", p->fixups[i].length,
              p->fixups[i].text, f.name);
  p->n_fixups = 0;
  p->function = -1;
  name_function(p, &name, index);
}

// ---- statements ---------------------------------------------------------------------------------

typedef enum Directive {
  DIRECTIVE_REG,
  DIRECTIVE_SPACE,
  DIRECTIVE_LOC,
  DIRECTIVE_FILE,
  DIRECTIVE_SKIP,     // to the semicolon
  DIRECTIVE_LINE,     // to the end of the line
  DIRECTIVE_SECTION,  // with braces
  DIRECTIVE_LINKING,
  DIRECTIVE_ENTRY,
  DIRECTIVE_FUNC,
  DIRECTIVE_VERSION,
  DIRECTIVE_TARGET,
} Directive;

static const struct {
  const char *name;
  Directive what;
  PtxSpace space;
} directives[] = {
    {".reg", DIRECTIVE_REG, 0},
    {".shared", DIRECTIVE_SPACE, PTX_SPACE_SHARED},
    {".global", DIRECTIVE_SPACE, PTX_SPACE_GLOBAL},
    {".const", DIRECTIVE_SPACE, PTX_SPACE_CONST},
    {".local", DIRECTIVE_SPACE, PTX_SPACE_LOCAL},
    {".param", DIRECTIVE_SPACE, PTX_SPACE_PARAM},
    {".tex", DIRECTIVE_SKIP, 0},
    {".loc", DIRECTIVE_LOC, 0},
    {".file", DIRECTIVE_FILE, 0},
    {".pragma", DIRECTIVE_SKIP, 0},
    {".alias", DIRECTIVE_SKIP, 0},
    {".section", DIRECTIVE_SECTION, 0},
    {".address_size", DIRECTIVE_LINE, 0},
    {".language", DIRECTIVE_LINE, 0},
    {".visible", DIRECTIVE_LINKING, 0},
    {".extern", DIRECTIVE_LINKING, 0},
    {".weak", DIRECTIVE_LINKING, 0},
    {".common", DIRECTIVE_LINKING, 0},
    {".internal", DIRECTIVE_LINKING, 0},
    {".entry", DIRECTIVE_ENTRY, 0},
    {".func", DIRECTIVE_FUNC, 0},
    {".version", DIRECTIVE_VERSION, 0},
    {".target", DIRECTIVE_TARGET, 0},
};

// .target sm_90a, texmode_independent, debug
static void parse_target(PtxParser *p, int line) {
  PtxModule *module = p->module;
  if (p->token.kind == PTX_TOKEN_WORD) module->target = ptx_token_text(p, &p->token);
  for (const char *c = module->target ? module->target : ""; *c; c++)
    if (*c >= '0' && *c <= '9' && module->cc < 1000) module->cc = module->cc * 10 + (*c - '0');
  while (p->token.line == line && p->token.kind != PTX_TOKEN_END) ptx_advance(p);
}

static void parse_version(PtxParser *p, int line) {
  const double version = p->token.kind == PTX_TOKEN_FLOAT ? p->token.value : (double)p->token.bits;
  p->module->version = version < 1 || version > 99 ? 99 : (int)version;
  if (p->module->version < 6 || p->module->version > 9)
    ptx_error(p, line, ".version %.*s: only versions 6 to 9 are read", p->token.length,
              p->token.text);
  ptx_advance(p);
}

static void run_directive(PtxParser *p, Directive what, PtxSpace space, int line, bool is_extern) {
  switch (what) {
    case DIRECTIVE_REG:
    case DIRECTIVE_SPACE:
      if (p->function < 0 &&
          (what == DIRECTIVE_REG || space == PTX_SPACE_PARAM || space == PTX_SPACE_LOCAL)) {
        ptx_error(p, line, "a register, a parameter or a local variable outside a function");
        ptx_skip_statement(p);
        return;
      }
      ptx_parse_declaration(p, space, what == DIRECTIVE_REG, is_extern);
      return;
    case DIRECTIVE_LOC:
      parse_loc(p);
      return;
    case DIRECTIVE_FILE:
      parse_file(p);
      return;
    case DIRECTIVE_SKIP:
    case DIRECTIVE_LINKING:
      ptx_skip_statement(p);
      return;
    case DIRECTIVE_LINE:
      while (p->token.line == line && p->token.kind != PTX_TOKEN_END) ptx_advance(p);
      return;
    case DIRECTIVE_SECTION:
      while (p->token.kind == PTX_TOKEN_WORD) ptx_advance(p);
      skip_braces(p);
      return;
    case DIRECTIVE_ENTRY:
    case DIRECTIVE_FUNC:
      if (p->function >= 0) {
        ptx_error(p, line, "a function inside a function");
        ptx_skip_statement(p);
        return;
      }
      parse_function(p, what == DIRECTIVE_ENTRY);
      return;
    case DIRECTIVE_VERSION:
      parse_version(p, line);
      return;
    case DIRECTIVE_TARGET:
      parse_target(p, line);
      return;
  }
}

static int find_directive(const PtxToken *token) {
  for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++)
    if (ptx_token_is(token, directives[i].name)) return (int)i;
  return -1;
}

static void parse_directive(PtxParser *p) {
  const int line = p->token.line;
  bool is_extern = false;
  int i = find_directive(&p->token);
  while (i >= 0 && directives[i].what == DIRECTIVE_LINKING) {
    is_extern |= ptx_token_is(&p->token, ".extern");
    ptx_advance(p);
    i = find_directive(&p->token);
  }
  if (i < 0) {
    ptx_error(p, p->token.line, "%s is not a known directive", ptx_token_text(p, &p->token));
    ptx_advance(p);
    ptx_skip_statement(p);
    return;
  }
  ptx_advance(p);
  run_directive(p, directives[i].what, directives[i].space, line, is_extern);
}

static void parse_statement(PtxParser *p) {
  const char *before = p->lexer.at;
  if (p->token.kind == PTX_TOKEN_WORD && p->token.text[0] == '.')
    parse_directive(p);
  else if (ptx_accept(p, ';'))
    return;
  else if (p->function >= 0 && (p->token.kind == PTX_TOKEN_WORD || p->token.sign == '@'))
    ptx_parse_instruction(p);
  else {
    ptx_error(p, p->token.line, "\"%s\" does not begin a directive or an instruction",
              ptx_token_text(p, &p->token));
    ptx_advance(p);
    ptx_skip_statement(p);
  }
  if (p->lexer.at == before) ptx_advance(p);
}

PtxModule *ptx_module_read(Arena *arena, const char *text, size_t bytes, const char *what,
                           Diags *diags) {
  // NVRTC's size of a text counts the NUL behind it, and many programs save that one, too; an
  // editor adds a newline.
  while (bytes > 0 && memchr("\0 \t\r\n", text[bytes - 1], 5)) bytes--;
  PtxParser *p = ARENA_NEW(arena, PtxParser);
  PtxModule *module = ARENA_NEW(arena, PtxModule);
  *p = (PtxParser){.arena = arena,
                   .diags = diags,
                   .lexer = ptx_lexer(text, bytes),
                   .module = module,
                   .function = -1,
                   .loc = -1};
  for (int i = 0; i < PTX_BUCKETS; i++) p->buckets[i] = -1;
  module->what = what;
  module->source = arena_strndup(arena, text, bytes);
  ptx_advance(p);
  while (p->token.kind != PTX_TOKEN_END) {
    if (p->token.kind == PTX_TOKEN_SIGN && p->token.sign == '}') {
      ptx_error(p, p->token.line, "a '}' that closes nothing");
      ptx_advance(p);
    }
    parse_statement(p);
  }
  if (module->version == 0) ptx_error(p, 1, "not a PTX text: .version is missing");
  if (p->n_errors > PTX_ERRORS_MAX)
    diag_add(diags, "ptx", "%s: %d more findings", what, p->n_errors - PTX_ERRORS_MAX);
  if (p->n_errors > 0) return NULL;
  ptx_flow(arena, module);
  return module;
}
