// PTX text → pieces → PTX text.
//
//   .visible .entry k(.param .u64 x) {     ENTRY, PARAM
//   .reg .b32 %r<9>;                       DECLARATION of %r0 …
//   $L1:                                   LABEL
//   { .reg .pred p; setp… p, %r1, 0; }     OPEN, DECLARATION, INST, CLOSE
//   @p bra $L1;                            INST
//
// Places in source files, sections and comments do not affect results: they are dropped.
#include <string.h>

#include "base/str.h"
#include "cli/open/against/reduce_parts.h"
#include "ptx/module/ptx_lex.h"

typedef struct Cutter {
  Arena *arena;
  PtxLexer lexer;
  PtxToken token;
  const char *kernel, *behind;  // behind the token before
  PieceText out;
  int capacity;
} Cutter;

static bool is_sign(const PtxToken *t, char sign) {
  return t->kind == PTX_TOKEN_SIGN && t->sign == sign;
}

static const char *end_of(const PtxToken *t) {
  return t->text + t->length + (t->kind == PTX_TOKEN_STRING);
}

static const char *begin_of(const PtxToken *t) { return t->text - (t->kind == PTX_TOKEN_STRING); }

static void advance(Cutter *c) {
  c->behind = end_of(&c->token);
  c->token = ptx_next(&c->lexer);
}

static bool at_end(const Cutter *c) { return c->token.kind == PTX_TOKEN_END; }

// The text between two places on one line, without comments.
static const char *clean(Arena *arena, const char *from, const char *to) {
  Str out = str_new(arena);
  PtxLexer lexer = ptx_lexer(from, (size_t)(to - from));
  const char *last = from;
  for (PtxToken t = ptx_next(&lexer); t.kind != PTX_TOKEN_END; t = ptx_next(&lexer)) {
    if (begin_of(&t) > last && out.length) str_add_char(&out, ' ');
    str_add_bytes(&out, begin_of(&t), (size_t)(end_of(&t) - begin_of(&t)));
    last = end_of(&t);
  }
  return out.text;
}

// ---- words --------------------------------------------------------------------------------------

static bool is_word(const PtxToken *t, const char *word) { return ptx_token_is(t, word); }

// ".func (.param .b32 out) name(…)": behind the results.
static const char *behind_results(const char *text) {
  const char *at = strstr(text, ".func");
  if (!at) return text;
  at += strlen(".func");
  at += strspn(at, " ");
  return *at == '(' && strchr(at, ')') ? strchr(at, ')') : at;
}

// A variable's names stand in front of its contents; all else declares one name, its first word
// that is no directive.
static void mark_names(Piece *p) {
  const bool is_variables =
      p->text[0] == '.' && p->kind != PIECE_PARAM && !strstr(p->text, ".func");
  const char *from = behind_results(p->text),
             *contents = is_variables ? strchr(p->text, '=') : NULL;
  bool found = false;
  for (int i = 0; i < p->n_words; i++) {
    PieceWord *w = &p->words[i];
    w->is_name = *w->at != '.' && w->at >= from && !(contents && w->at > contents) &&
                 (is_variables || !found);
    w->is_range = w->is_name && w->at[w->n] == '<';
    found |= w->is_name;
  }
}

void piece_set_text(Arena *arena, Piece *p, const char *text) {
  PtxLexer lexer = ptx_lexer(text, strlen(text));
  p->text = text;
  p->words = ARENA_ARRAY(arena, PieceWord, strlen(text) / 2 + 2);
  p->n_words = 0;
  for (PtxToken t = ptx_next(&lexer); t.kind != PTX_TOKEN_END; t = ptx_next(&lexer))
    if (t.kind == PTX_TOKEN_WORD) p->words[p->n_words++] = (PieceWord){.at = t.text, .n = t.length};
  if (p->kind == PIECE_HEAD || p->kind == PIECE_DECLARATION || p->kind == PIECE_PARAM ||
      p->kind == PIECE_LABEL)
    mark_names(p);
}

static bool is_digits(const char *at, int n) {
  for (int i = 0; i < n; i++)
    if (at[i] < '0' || at[i] > '9') return false;
  return n > 0;
}

static bool is_of(const PieceWord *name, const PieceWord *use) {
  if (use->n < name->n || memcmp(name->at, use->at, (size_t)name->n) != 0) return false;
  return name->is_range ? is_digits(use->at + name->n, use->n - name->n) : use->n == name->n;
}

static bool names(const Piece *declared, const Piece *user) {
  for (int i = 0; i < declared->n_words; i++)
    for (int k = 0; k < user->n_words && declared->words[i].is_name; k++)
      if (!user->words[k].is_name && is_of(&declared->words[i], &user->words[k])) return true;
  return false;
}

const char *piece_with(Arena *arena, const Piece *p, const char *from, const char *to) {
  Str out = str_new(arena);
  const char *at = p->text;
  const size_t n = strlen(from);
  for (int i = 0; i < p->n_words; i++) {
    const PieceWord *w = &p->words[i];
    if ((size_t)w->n != n || memcmp(w->at, from, n) != 0) continue;
    str_add_bytes(&out, at, (size_t)(w->at - at));
    str_add(&out, to);
    at = w->at + n;
  }
  str_add(&out, at);
  return out.text;
}

const char *piece_operand(Arena *arena, const Piece *p, int nth) {
  const char *at = p->text;
  if (*at == '@') at += strcspn(at, " ");
  at += strspn(at, " ");
  at += strcspn(at, " ;");  // the opcode
  int depth = 0;
  const char *from = at;
  for (;; at++) {
    depth += (*at == '{' || *at == '[' || *at == '(') - (*at == '}' || *at == ']' || *at == ')');
    if (*at && (depth > 0 || (*at != ',' && *at != ';'))) continue;
    if (nth-- == 0) break;
    if (*at != ',') return NULL;
    from = at + 1;
  }
  from += strspn(from, " ");
  while (at > from && at[-1] == ' ') at--;
  return at > from ? arena_strndup(arena, from, (size_t)(at - from)) : NULL;
}

// ---- cutting ------------------------------------------------------------------------------------

static Piece *add_piece(Cutter *c, PieceKind kind, const char *from, const char *to) {
  PieceText *t = &c->out;
  if (t->n == c->capacity) {
    c->capacity = 2 * c->capacity + 64;
    Piece *more = ARENA_ARRAY(c->arena, Piece, c->capacity);
    if (t->n) memcpy(more, t->pieces, sizeof *more * (size_t)t->n);
    t->pieces = more;
  }
  Piece *p = &t->pieces[t->n++];
  *p = (Piece){.kind = kind, .kept = true, .from = from, .behind = to};
  piece_set_text(c->arena, p, clean(c->arena, from, to));
  t->n_insts += kind == PIECE_INST;
  t->n_params += kind == PIECE_PARAM;
  return p;
}

static void skip_line(Cutter *c) {
  const int line = c->token.line;
  while (!at_end(c) && c->token.line == line) advance(c);
}

// Behind the semicolon that ends a statement; braces inside of it belong to it.
static void skip_statement(Cutter *c) {
  int depth = 0;
  while (!at_end(c)) {
    depth += is_sign(&c->token, '{') - is_sign(&c->token, '}');
    const bool ends = depth == 0 && is_sign(&c->token, ';');
    advance(c);
    if (ends) return;
  }
}

static void skip_braces(Cutter *c) {
  int depth = 0;
  do {
    depth += is_sign(&c->token, '{') - is_sign(&c->token, '}');
    advance(c);
  } while (!at_end(c) && depth > 0);
}

static void cut_params(Cutter *c) {
  advance(c);
  while (!at_end(c) && !is_sign(&c->token, ')')) {
    const char *from = begin_of(&c->token);
    while (!at_end(c) && !is_sign(&c->token, ',') && !is_sign(&c->token, ')')) advance(c);
    add_piece(c, PIECE_PARAM, from, c->behind);
    if (is_sign(&c->token, ',')) advance(c);
  }
  advance(c);
}

static void cut_tuning(Cutter *c) {
  while (!at_end(c) && !is_sign(&c->token, '{')) {
    const char *from = begin_of(&c->token);
    const bool is_cluster = strncmp(from, ".reqn", 5) == 0 || strncmp(from, ".explicit", 9) == 0;
    do advance(c);
    while (!at_end(c) && !is_sign(&c->token, '{') &&
           !(c->token.kind == PTX_TOKEN_WORD && c->token.text[0] == '.'));
    add_piece(c, PIECE_TUNING, from, c->behind)->needed = is_cluster;
  }
  advance(c);
}

static void cut_word(Cutter *c) {
  const PtxToken word = c->token;
  const char *from = begin_of(&word);
  PieceKind kind = PIECE_INST;
  if (is_word(&word, ".loc")) {
    skip_line(c);
    return;
  }
  if (word.kind == PTX_TOKEN_WORD && word.text[0] == '.')
    kind = is_word(&word, ".pragma") ? PIECE_HINT : PIECE_DECLARATION;
  advance(c);
  if (kind == PIECE_INST && word.kind == PTX_TOKEN_WORD && is_sign(&c->token, ':')) {
    advance(c);
    kind = c->token.kind == PTX_TOKEN_WORD && c->token.text[0] == '.' &&
                   (is_word(&c->token, ".branchtargets") || is_word(&c->token, ".callprototype") ||
                    is_word(&c->token, ".calltargets"))
               ? PIECE_DECLARATION
               : PIECE_LABEL;
  }
  if (kind != PIECE_LABEL) skip_statement(c);
  add_piece(c, kind, from, c->behind);
}

static void cut_body(Cutter *c) {
  for (int depth = 1; !at_end(c);) {
    if (is_sign(&c->token, ';')) {
      advance(c);
    } else if (is_sign(&c->token, '{') || is_sign(&c->token, '}')) {
      const bool opens = is_sign(&c->token, '{');
      depth += opens ? 1 : -1;
      advance(c);
      if (depth == 0) return;
      add_piece(c, opens ? PIECE_OPEN : PIECE_CLOSE, opens ? "{" : "}", (opens ? "{" : "}") + 1);
    } else {
      cut_word(c);
    }
  }
}

// A variable, a function, or the kernel; another kernel is dropped.
static void cut_head(Cutter *c) {
  const char *from = begin_of(&c->token);
  bool is_entry = false, is_function = false;
  while (!at_end(c) && !is_sign(&c->token, ';') && !is_sign(&c->token, '{')) {
    const bool named = is_entry && ptx_token_is(&c->token, c->kernel);
    is_function |= is_word(&c->token, ".func");
    is_entry |= is_word(&c->token, ".entry");
    advance(c);
    if (!named) continue;
    add_piece(c, PIECE_ENTRY, from, c->behind)->needed = true;
    if (is_sign(&c->token, '(')) cut_params(c);
    cut_tuning(c);
    cut_body(c);
    return;
  }
  const bool has_body = is_sign(&c->token, '{') && (is_function || is_entry);
  if (has_body)
    skip_braces(c);
  else
    skip_statement(c);
  if (!is_entry) add_piece(c, PIECE_HEAD, from, c->behind);
}

static void set_scopes(PieceText *t) {
  int depth = 0, *open = ARENA_ARRAY(t->arena, int, t->n + 1);
  for (int i = 0; i < t->n; i++) t->pieces[i].scope = t->n;
  for (int i = 0; i < t->n; i++) {
    if (t->pieces[i].kind == PIECE_OPEN) open[depth++] = i;
    if (t->pieces[i].kind != PIECE_CLOSE || depth == 0) continue;
    for (int k = open[--depth]; k < i; k++)
      if (t->pieces[k].scope == t->n) t->pieces[k].scope = i;
  }
}

PieceText pieces_read(Arena *arena, const char *text, size_t bytes, const char *kernel) {
  Cutter c = {.arena = arena, .lexer = ptx_lexer(text, bytes), .kernel = kernel, .behind = text};
  c.out.arena = arena;
  c.token = ptx_next(&c.lexer);
  while (!at_end(&c)) {
    const char *from = begin_of(&c.token);
    const bool is_line = is_word(&c.token, ".version") || is_word(&c.token, ".target") ||
                         is_word(&c.token, ".address_size");
    if (is_word(&c.token, ".file") || is_word(&c.token, ".loc")) {
      skip_line(&c);
    } else if (is_word(&c.token, ".section")) {
      while (!at_end(&c) && !is_sign(&c.token, '{')) advance(&c);
      skip_braces(&c);
    } else if (is_line) {
      skip_line(&c);
      add_piece(&c, PIECE_HEAD, from, c.behind)->needed = true;
    } else {
      cut_head(&c);
    }
  }
  set_scopes(&c.out);
  return c.out;
}

// ---- the rest -----------------------------------------------------------------------------------

int pieces_find(const PieceText *t, PieceKind kind, int nth) {
  for (int i = 0; i < t->n; i++)
    if (t->pieces[i].kind == kind && nth-- == 0) return i;
  return -1;
}

bool piece_is_named(const PieceText *t, int at) {
  const Piece *p = &t->pieces[at];
  for (int i = p->kind == PIECE_DECLARATION ? at : 0; i < p->scope; i++)
    if (i != at && t->pieces[i].kept && names(p, &t->pieces[i])) return true;
  return false;
}

static bool holds_names(const PieceText *t, int at) {
  const int end = t->pieces[at].scope;
  for (int i = at + 1; i < end; i++)
    if (t->pieces[i].kept &&
        (t->pieces[i].kind == PIECE_DECLARATION || t->pieces[i].kind == PIECE_LABEL))
      return true;
  return false;
}

void pieces_settle(PieceText *t) {
  for (bool again = true; again;) {
    again = false;
    for (int i = t->n - 1; i >= 0; i--) {
      Piece *p = &t->pieces[i];
      const bool declares =
          p->kind == PIECE_HEAD || p->kind == PIECE_DECLARATION || p->kind == PIECE_LABEL;
      const bool empty = p->kind == PIECE_OPEN && !holds_names(t, i);
      if (!p->kept || p->needed || !(empty || (declares && !piece_is_named(t, i)))) continue;
      p->kept = false;
      if (empty && p->scope < t->n) t->pieces[p->scope].kept = false;
      again = true;
    }
  }
}

// ".visible .entry k(.param .u64 x) .maxntid 128 {": up to the kernel's first statement.
static int print_entry(const PieceText *t, int at, Str *out) {
  const char *between = "";
  str_printf(out, "%s(", t->pieces[at++].text);
  for (; at < t->n && t->pieces[at].kind == PIECE_PARAM; at++) {
    if (!t->pieces[at].kept) continue;
    str_printf(out, "%s%s", between, t->pieces[at].text);
    between = ", ";
  }
  str_add(out, ")");
  for (; at < t->n && t->pieces[at].kind == PIECE_TUNING; at++)
    if (t->pieces[at].kept) str_printf(out, " %s", t->pieces[at].text);
  str_add(out, " {\n");
  return at;
}

const char *pieces_text(const PieceText *t) {
  Str out = str_new(t->arena);
  bool inside = false;
  for (int i = 0; i < t->n;) {
    const Piece *p = &t->pieces[i];
    if (p->kind == PIECE_ENTRY) {
      i = print_entry(t, i, &out);
      inside = true;
      continue;
    }
    if (inside && p->kind == PIECE_HEAD) {
      str_add(&out, "}\n");
      inside = false;
    }
    if (p->kept) str_printf(&out, "%s\n", p->text);
    i++;
  }
  if (inside) str_add(&out, "}\n");
  return out.text;
}

// ---- elsewhere ----------------------------------------------------------------------------------

static bool is_header(const char *line) {
  return str_starts(line, ".version") || str_starts(line, ".target") ||
         str_starts(line, ".address_size");
}

const char *pieces_moved(Arena *arena, const char *text) {
  static const char gap[] = ".shared .align 16 .b8 gemmview_gap[1024];\n";
  static const char use[] = ".reg .b32 %gemmview_gap;\nmov.u32 %gemmview_gap, gemmview_gap;\n";
  Str out = str_new(arena);
  bool has_gap = false, has_use = false;
  for (const char *line = text; *line;) {
    const size_t n = strcspn(line, "\n") + 1;
    if (!has_gap && !is_header(line)) str_add(&out, gap);
    has_gap |= !is_header(line);
    str_add_bytes(&out, line, n);
    const char *entry = strstr(line, ".entry");
    if (!has_use && entry && entry < line + n) {
      str_add(&out, use);
      has_use = true;
    }
    line += n;
  }
  return out.text;
}
